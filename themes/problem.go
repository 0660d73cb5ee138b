package themes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a theme that cannot be used. Its text is one line without control characters.
type Error struct {
	File         string // as Parse was told
	Line, Column int    // from 1, Column in bytes; 0 when the whole file is meant
	Key          string // dotted; "" when no key is meant
	Err          error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(oneLine(e.File))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + " ")
	}
	return b.String() + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// showLimit is how much of a value or key an error shows, in bytes.
const showLimit = 40

// show quotes what a file says, so that it stays one line.
func show(s string) string {
	if short := shorten(s); short != s {
		return strconv.Quote(strings.TrimSuffix(short, "…")) + "…"
	}
	return strconv.Quote(s)
}

func shorten(s string) string {
	if len(s) <= showLimit {
		return s
	}
	n := showLimit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// dotted writes a path as TOML does.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = shorten(p)
		if !isBare(p) {
			parts[i] = show(p)
		}
	}
	return strings.Join(parts, ".")
}

func isBare(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// choice writes what may be used: a, b or c.
func choice(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// isOneLine reports whether s shows as one line and moves nothing around it: no controls, no characters of format.
func isOneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, disturbs)
}

func disturbs(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// oneLine puts a question mark for whatever would not stay one line.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if disturbs(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// offer goes on after a name that is none: what was probably meant, which is what is at most two slips away, and what there is.
func offer(name string, names []string, all string) string {
	const most = 2
	best, near := most+1, ""
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < best && d <= len(n)/3 {
			best, near = d, n
		}
	}
	if near == "" {
		return ": use " + all
	}
	return fmt.Sprintf("; did you mean %s? Use %s", near, all)
}

// distance is how many letters have to be put in, left out or changed to make b of a; names of very different length are as far
// apart as they are long.
func distance(a, b string) int {
	if len(a) > 2*len(b) {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			slip := 1
			if a[i] == b[j] {
				slip = 0
			}
			row[j+1] = min(before[j]+slip, before[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
