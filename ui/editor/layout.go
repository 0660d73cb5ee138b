package editor

const (
	// MinWidth is the narrowest width a draft is laid out for, in cells: a tab, and the cell of the cursor. Below it the same rows
	// are given.
	MinWidth = 5
	// MaxHeight is how many rows of a draft the composer shows at most (ui.md 2).
	MaxHeight = 6

	defaultWidth = 80
)

// layout is the draft as rows of a width, and what they show of it.
type layout struct {
	width int
	rows  int // of all lines
	bytes int // of Value
	sum   sums
	top   int // the row that View begins with
	goal  int // column that movements up and down aim at
}

// Height is how many rows a composer with so many rows of text has on a screen of some height: 1 to min(6, (height-8)/2) (ui.md 2).
func Height(rows, screen int) int {
	return max(1, min(rows, MaxHeight, (screen-8)/2))
}

// room is how many cells of a row are for text. The last one is the cursor's.
func (s *state) room() int { return s.width - 1 }

// resize lays the draft out for a width.
func (s *state) resize(width int) {
	width = max(width, MinWidth)
	if width == s.width {
		return
	}
	s.width, s.rows, s.sum, s.top = width, 0, sums{}, 0
	for i := range s.lines {
		s.wrapLine(i)
		s.rows += s.lines[i].rows()
	}
}

// wrapLine breaks a line into rows.
func (s *state) wrapLine(i int) {
	s.lines[i].more = wrap(s.lines[i].text, s.chipsOf(i), s.room(), 0, nil)
}

// rowOf is the row where a place is, and its column.
func (s *state) rowOf(p place) (row, column int) {
	s.seek(p.line)
	l := &s.lines[p.line]
	k := l.row(p.at)
	w := s.walkRow(p.line, k)
	for w.at < p.at {
		if !w.plain(p.at) {
			w.pass(w.peek())
		}
	}
	return s.sum.rows + k, w.column
}

// at is the place in a row that is nearest to a column: the one before it, or with round the one that is closer.
func (s *state) at(row, column int, round bool) place {
	k := s.seekRow(row)
	line := s.sum.line
	l := &s.lines[line]
	end, soft := l.end(k), k < len(l.more)
	w := s.walkRow(line, k)
	for w.at < end {
		u := w.peek()
		if soft && u.to == end {
			break // behind it is the next row
		}
		if to := w.column + u.cells; column < to && (!round || 2*column+1 <= w.column+to) {
			break
		}
		w.pass(u)
	}
	return place{line, w.at}
}

// walkRow goes through a row of a line.
func (s *state) walkRow(line, row int) walk {
	l := &s.lines[line]
	from := l.start(row)
	return walk{text: l.text, at: from, chips: s.chips[s.chipAt(place{line, from}):], room: s.room(), apart: true}
}
