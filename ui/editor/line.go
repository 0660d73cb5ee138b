package editor

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// line is a line of the text, without its newline, and how it is broken into rows.
type line struct {
	text string
	more []int32 // where the rows after the first begin
}

func (l *line) rows() int { return 1 + len(l.more) }

// row is the row that holds a byte. Between two rows it is the second.
func (l *line) row(at int) int {
	return sort.Search(len(l.more), func(i int) bool { return int(l.more[i]) > at })
}

func (l *line) start(row int) int {
	if row == 0 {
		return 0
	}
	return int(l.more[row-1])
}

func (l *line) end(row int) int {
	if row < len(l.more) {
		return int(l.more[row])
	}
	return len(l.text)
}

// wrap gives where rows begin after the one that begins at from: after spaces, between letters and digits after a hyphen, beside
// wide characters and chips, and inside words that find no room on a row. Nothing is left out: a space or a tab that finds no room
// stands in one cell more than room and ends its row, so that the cursor can be shown before it, and behind it on the next row.
// What the rows behind a start are depends on nothing before it, which rewrap builds on. It stops early when known says of a start
// that what follows is known.
func wrap(text string, chips []placed, room, from int, known func(start int) bool) []int32 {
	var starts []int32
	w := walk{text: text, at: from, chips: chips, room: room, apart: true}
	if len(chips) > 0 {
		w.chips = chips[strings.Count(text[:from], mark):]
	}
	start := from
	breakAt := from // where the row may end; start for nowhere
	word := false   // the row has more than spaces
	for w.at < len(text) {
		if w.plain(len(text)) {
			word = true
			continue
		}
		u := w.peek()
		if word && (u.chip != nil || u.wide() && !staysBehind(text[u.from:])) {
			breakAt = u.from
		}
		if (w.column+u.cells > room || u.to-start > maxRow) && u.from > start {
			switch {
			case u.blank && w.column == room:
				start = u.to
			case breakAt > start:
				start = breakAt
			default:
				start = u.from
			}
			starts = append(starts, int32(start))
			if known != nil && known(start) {
				return starts
			}
			w.at, w.column, w.apart = start, 0, true
			breakAt, word = start, false
			continue
		}
		w.pass(u)
		word = word || !u.blank
		if word && (u.blank || u.chip != nil || u.wide() && !staysBehind(text[u.to:]) || u.from > start && joinsWords(text, u.from)) {
			breakAt = u.to
		}
	}
	return starts
}

// maxRow is how many bytes a row has at most, unless one character has more: those that take no cell could go on and on.
const maxRow = 4096

// rewrap gives the rows of a line in which, from the byte at on, inserted bytes have taken the place of inserted-delta. Rows well
// before the change stay, and so do all from the first one that begins where one began before it.
func rewrap(more []int32, text string, chips []placed, room, at, inserted, delta int) []int32 {
	// A row breaks by what the next one begins with, so a change reaches back by one row, and one more for what joins.
	row := sort.Search(len(more), func(i int) bool { return int(more[i]) > at })
	keep := max(0, row-2)
	from := 0
	if keep > 0 {
		from = int(more[keep-1])
	}
	same := keep // the row that begins where one began before, if found
	found := false
	fresh := wrap(text, chips, room, from, func(start int) bool {
		if start < at+inserted {
			return false
		}
		for same < len(more) && int(more[same])+delta < start {
			same++
		}
		found = same < len(more) && int(more[same])+delta == start
		return found
	})
	rest := len(more)
	if found {
		rest = same + 1
	}
	for i := rest; i < len(more); i++ {
		more[i] += int32(delta)
	}
	return slices.Replace(more, keep, rest, fresh...)
}

// unbroken are the characters that no break beside a wide character may put at the start of a row.
const unbroken = " 、。，．・：；！？）」』】〕〉》ー々"

func staysBehind(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune(unbroken, r)
}

// joinsWords reports whether the byte at is a hyphen between letters or digits. One that begins an option must stay with it.
func joinsWords(s string, at int) bool {
	return s[at] == '-' && at > 0 && at+1 < len(s) && alphanumeric(s[at-1]) && alphanumeric(s[at+1])
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}
