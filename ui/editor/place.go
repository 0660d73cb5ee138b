package editor

import (
	"sort"
	"strings"
)

// place is a byte of a line, where a chip counts as its mark.
type place struct{ line, at int }

func (p place) before(q place) bool { return p.line < q.line || p.line == q.line && p.at < q.at }

// sums are the rows and the bytes of all lines before one. They follow the cursor: whatever asks for a row or an offset pays for
// the way from where somebody last asked, and not for the whole text.
type sums struct{ line, rows, bytes int }

// seek moves the sums to a line.
func (s *state) seek(line int) {
	if line < s.sum.line/2 {
		s.sum = sums{}
	}
	for s.sum.line < line {
		s.forth()
	}
	for s.sum.line > line {
		s.back()
	}
}

func (s *state) forth() {
	s.sum.rows += s.lines[s.sum.line].rows()
	s.sum.bytes += s.lineBytes(s.sum.line) + 1
	s.sum.line++
}

func (s *state) back() {
	s.sum.line--
	s.sum.rows -= s.lines[s.sum.line].rows()
	s.sum.bytes -= s.lineBytes(s.sum.line) + 1
}

// seekRow moves the sums to the line of a row, and gives which of its rows that is.
func (s *state) seekRow(row int) int {
	for row < s.sum.rows {
		s.back()
	}
	for row >= s.sum.rows+s.lines[s.sum.line].rows() {
		s.forth()
	}
	return row - s.sum.rows
}

// lineBytes is the length of a line in Value.
func (s *state) lineBytes(line int) int {
	n := len(s.lines[line].text)
	for _, c := range s.chipsOf(line) {
		n += len(c.Label()) - len(mark)
	}
	return n
}

// offset is a place in Value.
func (s *state) offset(p place) int {
	s.seek(p.line)
	n := s.sum.bytes + p.at
	if chips := s.chipsOf(p.line); len(chips) > 0 {
		for _, c := range chips[:strings.Count(s.lines[p.line].text[:p.at], mark)] {
			n += len(c.Label()) - len(mark)
		}
	}
	return n
}

// place is the place of an offset: the nearest one at or before it where the cursor may stand.
func (s *state) place(offset int) place {
	offset = min(max(offset, 0), s.bytes)
	for offset < s.sum.bytes {
		s.back()
	}
	for s.sum.line < len(s.lines)-1 && offset > s.sum.bytes+s.lineBytes(s.sum.line) {
		s.forth()
	}
	p := place{s.sum.line, 0}
	text, left := s.lines[p.line].text, offset-s.sum.bytes
	for _, c := range s.chipsOf(p.line) {
		i := strings.Index(text[p.at:], mark)
		if left < i+len(c.Label()) {
			p.at += min(left, i)
			return s.floor(p)
		}
		p.at += i + len(mark)
		left -= i + len(c.Label())
	}
	p.at += left
	return s.floor(p)
}

// chipsOf gives the chips of a line.
func (s *state) chipsOf(line int) []placed {
	if len(s.chips) == 0 {
		return nil
	}
	first := s.firstChip(line)
	last := first
	for last < len(s.chips) && s.chips[last].line == line {
		last++
	}
	return s.chips[first:last]
}

// firstChip is the index of the first chip on a line or after it.
func (s *state) firstChip(line int) int {
	return sort.Search(len(s.chips), func(i int) bool { return s.chips[i].line >= line })
}

// chipAt is the index of the first chip at a place or after it.
func (s *state) chipAt(p place) int {
	if len(s.chips) == 0 {
		return 0
	}
	i := s.firstChip(p.line)
	if i < len(s.chips) && s.chips[i].line == p.line {
		i += strings.Count(s.lines[p.line].text[:p.at], mark)
	}
	return i
}

// chipsFrom lists chips by their indexes.
func (s *state) chipsFrom(first, last int) []*Chip {
	var out []*Chip
	for _, c := range s.chips[first:last] {
		out = append(out, c.Chip)
	}
	return out
}

// cut copies what lies between two places.
func (s *state) cut(from, to place) fragment {
	f := fragment{chips: s.chipsFrom(s.chipAt(from), s.chipAt(to))}
	if from.line == to.line {
		// A copy, or a character that is kept would keep its whole line in memory.
		f.text = strings.Clone(s.lines[from.line].text[from.at:to.at])
		return f
	}
	n := len(s.lines[from.line].text) - from.at + to.at
	for i := from.line + 1; i < to.line; i++ {
		n += len(s.lines[i].text)
	}
	var b strings.Builder
	b.Grow(n + to.line - from.line)
	b.WriteString(s.lines[from.line].text[from.at:])
	for i := from.line + 1; i < to.line; i++ {
		b.WriteByte('\n')
		b.WriteString(s.lines[i].text)
	}
	b.WriteByte('\n')
	b.WriteString(s.lines[to.line].text[:to.at])
	f.text = b.String()
	return f
}
