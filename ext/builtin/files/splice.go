package files

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

const (
	// maxCounted is where counting the places of an ambiguous text stops: "1000 or more".
	maxCounted = 1000
	// maxListed is how many lines of an ambiguous text are named.
	maxListed = 10
)

// replacement is one change that a model asks for: the only place that reads old is to read new.
type replacement struct {
	old, new string
	label    string // how the result names it when there are several, for example "edits[1]: "
}

// span is a part of a text that is to read otherwise.
type span struct {
	start, end int
	new        string
	label      string
}

// original turns an offset in f.text into one in the text it was made from. An offset at a line ending is the one before it.
func (f flat) original(offset int) int {
	return offset + sort.SearchInts(f.dropped, offset)
}

// splice applies every replacement to text at once, or none. Each old is looked for in the text as it was, so the order of the
// replacements does not matter; what they replace must not overlap. Line endings are matched as one and kept: what is new
// takes the ending of what it replaces, or the file's own.
func splice(text string, all []replacement) (string, error) {
	f := flatten(text)
	spans := make([]span, 0, len(all))
	for _, r := range all {
		old := strings.ReplaceAll(r.old, crlf, lf)
		at, err := f.only(old, r.label)
		if err != nil {
			return "", err
		}
		spans = append(spans, span{f.original(at), f.original(at + len(old)), r.new, r.label})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.start < a.end {
			return "", refuse(badArguments, "%sit overlaps %s near line %d; join them into one edit",
				b.label, strings.TrimSuffix(a.label, ": "), lineAt(text, b.start))
		}
	}

	ending, _ := endings(text)
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s.start])
		b.WriteString(withEnding(s.new, endingOf(text[s.start:s.end], ending)))
		from = s.end
	}
	b.WriteString(text[from:])
	return b.String(), nil
}

// endingOf is the line ending of a part of a file whose ending is otherwise.
func endingOf(part, otherwise string) string {
	if !strings.Contains(part, lf) {
		return otherwise
	}
	ending, _ := endings(part)
	return ending
}

// only finds the one place of old. Places may overlap: "aa" is twice in "aaa".
func (f flat) only(old, label string) (int, error) {
	if old == "" {
		return 0, refuse(badArguments, "%sold is empty; give the text to replace, or use write for a whole file", label)
	}
	first := strings.Index(f.text, old)
	if first < 0 {
		return 0, refuse(noMatch, "%s%s", label, f.advise(old))
	}
	if !strings.Contains(f.text[first+1:], old) {
		return first, nil
	}
	count, lines := 0, []string(nil)
	line, counted := 1, 0 // line is the number of the line that holds the offset counted
	for at := 0; count < maxCounted; count++ {
		i := strings.Index(f.text[at:], old)
		if i < 0 {
			break
		}
		if len(lines) < maxListed {
			line += strings.Count(f.text[counted:at+i], lf)
			counted = at + i
			lines = append(lines, fmt.Sprint(line))
		}
		at += i + 1
	}
	more := ""
	if count > len(lines) {
		more = ", …"
	}
	times := fmt.Sprint(count)
	if count == maxCounted {
		times += " or more"
	}
	return 0, refuse(ambiguous, "%sold is in the file %s times, at lines %s%s; give more of the text around the one you mean",
		label, times, strings.Join(lines, ", "), more)
}

// lineAt is the number of the line that holds an offset.
func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], lf) }
