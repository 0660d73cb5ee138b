package editor

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"octavo/pages/text"
)

// unit is what the cursor does not enter: a character as a reader sees it, or a chip.
type unit struct {
	from, to int // bytes of the line
	cells    int
	chip     *Chip
	blank    bool // a space or a tab
	bare     bool // a mark that would join what is drawn before it
}

// wide reports whether it is a character of two cells.
func (u unit) wide() bool { return u.cells > 1 && u.chip == nil && !u.blank }

// walk goes through the units of a row.
type walk struct {
	text   string
	at     int      // begins a unit
	chips  []placed // of the line, from the next one on
	room   int      // cells of a row
	column int
	apart  bool // what comes next has no character before it in the row that it could have joined
}

// carrier is what a mark is drawn on that has no character of its own.
const carrier = "◌"

// peek gives the next unit, of which there is one.
func (w *walk) peek() unit {
	n, cells := cluster(w.text, w.at)
	u := unit{from: w.at, to: w.at + n, cells: cells}
	switch c := w.text[w.at]; {
	case n == 1:
		u.blank = c == ' ' || c == '\t'
		if c == '\t' {
			// To the next stop, but no further than the row goes. Beyond its end there is one cell more.
			u.cells = min(text.TabStop-w.column%text.TabStop, max(1, w.room-w.column))
		}
	case w.text[u.from:u.to] == mark:
		u.chip = w.chips[0].Chip
		u.cells = text.Width(u.chip.shown(w.room))
	case w.apart:
		if s := w.text[u.from:u.to]; size("x"+s, 0) > 1 {
			u.bare = true
			u.cells = text.Width(carrier + s)
		}
	}
	return u
}

// pass goes behind a unit.
func (w *walk) pass(u unit) {
	w.at = u.to
	w.column += u.cells
	w.apart = u.chip != nil || u.cells == 0 || w.text[u.from] == '\t'
	if u.chip != nil {
		w.chips = w.chips[1:]
	}
}

// plain goes over characters that are a byte and a cell each and make no place for a row to end, which most are, up to a byte of the
// line or the end of the row. It reports whether there were any.
func (w *walk) plain(end int) bool {
	from := w.at
	for end = min(end, from+w.room-w.column); w.at < end; w.at++ {
		c := w.text[w.at]
		if c <= ' ' || c >= utf8.RuneSelf || c == '-' || w.at+1 < len(w.text) && w.text[w.at+1] >= utf8.RuneSelf {
			break
		}
	}
	if w.at == from {
		return false
	}
	w.column += w.at - from
	w.apart = false
	return true
}

// cluster gives the bytes and cells of the unit that begins at a byte of a line. A tab and a chip are measured by peek.
func cluster(s string, at int) (n, cells int) {
	if s[at] < utf8.RuneSelf && (at+1 == len(s) || s[at+1] < utf8.RuneSelf) {
		return 1, 1
	}
	if strings.HasPrefix(s[at:], mark) {
		return len(mark), 0
	}
	c, cells := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
	// Some characters join whatever follows them, but nothing joins a chip.
	if i := strings.Index(c, mark); i > 0 {
		return i, text.Width(c[:i])
	}
	return len(c), cells
}

// size is the length of the unit that begins at a byte of a line.
func size(s string, at int) int {
	n, _ := cluster(s, at)
	return n
}

// next is the place behind the unit at p, or the start of the next line. At the end of the text it is p.
func (s *state) next(p place) place {
	switch text := s.lines[p.line].text; {
	case p.at < len(text):
		return place{p.line, p.at + size(text, p.at)}
	case p.line < len(s.lines)-1:
		return place{p.line + 1, 0}
	}
	return p
}

// previous is the place before the unit that ends at p, or the end of the line before. At the start of the text it is p.
func (s *state) previous(p place) place {
	switch {
	case p.at > 0:
		return s.floor(place{p.line, p.at - 1})
	case p.line > 0:
		return place{p.line - 1, len(s.lines[p.line-1].text)}
	}
	return p
}

// before goes back over the units and newlines before p. Each row is measured once, so that a long way back takes no longer than the
// same way forth.
func (s *state) before(p place) iter.Seq[place] {
	return func(yield func(place) bool) {
		var starts []int // of the units of a row that are still to come
		for p != (place{}) {
			switch {
			case p.at == 0:
				p = place{p.line - 1, len(s.lines[p.line-1].text)}
			case len(starts) == 0:
				l := &s.lines[p.line]
				for at := l.start(l.row(p.at - 1)); at < p.at; at += size(l.text, at) {
					starts = append(starts, at)
				}
				fallthrough
			default:
				p.at = starts[len(starts)-1]
				starts = starts[:len(starts)-1]
			}
			if !yield(p) {
				return
			}
		}
	}
}

// floor is the last place at p or before it that is not in a unit.
func (s *state) floor(p place) place {
	l := &s.lines[p.line]
	// Where a row begins a unit does.
	at := l.start(l.row(p.at))
	for at < p.at {
		n := size(l.text, at)
		if at+n > p.at {
			break
		}
		at += n
	}
	return place{p.line, at}
}

// ceil is the first place at p or after it that is not in a unit.
func (s *state) ceil(p place) place {
	q := s.floor(p)
	if q != p {
		q.at += size(s.lines[q.line].text, q.at)
	}
	return q
}
