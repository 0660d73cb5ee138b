package settings

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where something stands in a file. Line and Column begin with 1, Column counts bytes; 0 is unknown.
type Place struct {
	File         string
	Line, Column int
}

// String writes file:line:column, as far as they are known.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is a value or a file that cannot be used. Load joins all it finds; errors.As finds the first.
type Error struct {
	// Place is where it stands. For values that come from elsewhere File names the source: "OCTAVO_MODEL", "--model".
	Place
	Key string // dotted; "" when the whole file is meant
	Err error
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %v", e.Place, e.Err)
	}
	return fmt.Sprintf("%s: %s %v", e.Place, e.Key, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Warning is something that Load passed over.
type Warning struct {
	Place
	Key        string // dotted
	Text       string // what is wrong, without the place
	Suggestion string // the key that may have been meant; "" when none is near
	Unknown    bool   // no such key; an error under strict_config
}

// String is one line for a person.
func (w Warning) String() string {
	text := w.Place.String() + ": " + w.Text
	if w.Place.File == "" {
		text = w.Text
	}
	if w.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", w.Suggestion)
	}
	return text
}

// closest finds the name that was probably meant: the nearest within a third of its length, at most three slips of a finger
// away, where two letters in the wrong order are one slip; else the first that goes on where it ends. Ties go to the first.
func closest(name string, names []string) string {
	const most = 3
	best, near := most+1, ""
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < best && d <= (len(n)+2)/3 {
			best, near = d, n
		}
	}
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name) }); near == "" && i >= 0 && len(name) >= 3 {
		near = names[i]
	}
	return near
}

// longestName is beyond every key, so that a key of a kilobyte costs nothing.
const longestName = 128

// distance is the optimal string alignment distance of two short names.
func distance(a, b string) int {
	if len(a) > longestName || len(b) > longestName {
		return longestName
	}
	var rows [3][longestName + 1]int // rows[0] is the present one, then the two before it
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		rows[2], rows[1] = rows[1], rows[0]
		rows[0][0] = i
		for j := 1; j <= len(b); j++ {
			slip := 1
			if a[i-1] == b[j-1] {
				slip = 0
			}
			d := min(rows[1][j]+1, rows[0][j-1]+1, rows[1][j-1]+slip)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[2][j-2]+1)
			}
			rows[0][j] = d
		}
	}
	return rows[0][len(b)]
}
