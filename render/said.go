package render

import (
	"strconv"
	"strings"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/themes"
)

// Word is a word about a change, with the role it has.
type Word struct {
	Text string
	Role themes.Role
}

// NoNewline is said below a line that ends a file without a line ending.
const NoNewline = `\ no newline at the end of the file`

// DiffWords says beside its path what kind of change a diff is and how large.
func DiffWords(d pages.Diff) []Word {
	var words []Word
	muted := func(s string) { words = append(words, Word{s, themes.RoleMuted}) }
	switch {
	case d.New:
		muted("new")
	case d.Removed:
		muted("removed")
	}
	if d.Binary {
		muted("binary")
	}
	switch {
	case d.Added != 0 || d.Deleted != 0:
		words = append(words, Word{"+" + strconv.Itoa(d.Added), themes.RoleDiffAdd}, Word{"−" + strconv.Itoa(d.Deleted), themes.RoleDiffRemove})
	case d.Binary: // which counts as no lines
	case d.New || d.Removed:
		muted("(empty)")
	default:
		muted("(no change)")
	}
	return words
}

// DiffPath is the path of a diff on one line, everything in it visible.
func DiffPath(d pages.Diff) string { return oneLine(d.Path) }

// DiffRest says what a cut diff does not show, "" for nothing. A diff of which only long lines were cut says so in those lines.
func DiffRest(d pages.Diff) string {
	if !d.Cut {
		return ""
	}
	added, deleted := d.Added, d.Deleted
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case pages.LineAdded:
				added--
			case pages.LineDeleted:
				deleted--
			}
		}
	}
	if added <= 0 && deleted <= 0 {
		return ""
	}
	return "… +" + strconv.Itoa(max(0, added)) + " −" + strconv.Itoa(max(0, deleted)) + " more not shown"
}

// DiffText is what a line of a diff says, on one line, with tabs and otherwise nothing that cannot be seen. The \r before a line
// ending shows where returns says so; ends shows the spaces and tabs that a changed line ends with.
func DiffText(l pages.DiffLine, returns, ends bool) string {
	s := l.Text
	if !returns {
		s = strings.TrimSuffix(s, "\r")
	}
	s = oneLine(s)
	if ends && l.Op != pages.LineSame {
		s = showEnd(s)
	}
	return s
}

// MixedReturns reports whether some lines of a diff end in \r and some do not: then it is a change of line endings, perhaps.
func MixedReturns(d pages.Diff) bool {
	var with, without bool
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if strings.HasSuffix(l.Text, "\r") {
				with = true
			} else {
				without = true
			}
		}
	}
	return with && without
}

// oneLine shows everything in what has to be one line.
func oneLine(s string) string { return strings.ReplaceAll(text.Visible(s), "\n", "␊") }

// showEnd makes the spaces and tabs that end a line visible.
func showEnd(s string) string {
	end := len(strings.TrimRight(s, " \t"))
	if end == len(s) {
		return s
	}
	return s[:end] + strings.NewReplacer(" ", "␠", "\t", "␉").Replace(s[end:])
}
