package editor

import (
	"strings"

	"octavo/pages/text"
)

// Row is one visual row of a draft. Of the rows of a draft each begins where the one before it ends, or behind its newline.
type Row struct {
	From, To int  // bytes of Value that it shows
	Soft     bool // the line goes on in the next row
	Cells    int  // at most the width it was laid out for
	Runs     []Run
}

// Run is a part of a row that looks the same throughout.
type Run struct {
	Text     string // as it is drawn: a tab is spaces, a chip its label, cut where a row is too narrow for it
	Chip     *Chip  // not to be changed; nil for text
	Selected bool
}

// String is the row as it is drawn.
func (r Row) String() string {
	var b strings.Builder
	for _, run := range r.Runs {
		b.WriteString(run.Text)
	}
	return b.String()
}

// Rows lays the whole draft out in rows of at most width cells, of which text takes one less: the last is for the cursor, and for a
// space that finds no room. It is for small drafts and tests; a screen wants View.
func (b *Buffer) Rows(width int) []Row {
	b.resize(width)
	return b.window(0, b.rows)
}

// RowCount is the number of rows that Rows would give.
func (b *Buffer) RowCount(width int) int {
	b.resize(width)
	return b.rows
}

// Cursor is the row and the column of the cursor, both from 0; column is less than width (from MinWidth on).
func (b *Buffer) Cursor(width int) (row, column int) {
	b.resize(width)
	return b.rowOf(b.cursor)
}

// View gives the rows that a window of a size shows, and in it the place of the cursor, from 0; firstRow is the row it begins with.
// It moves over the draft as little as shows the cursor, so that the same call twice gives the same. Without height it is empty.
func (b *Buffer) View(width, height int) (rows []Row, cursorRow, cursorCol, firstRow int) {
	if height < 1 {
		return nil, 0, 0, 0
	}
	b.resize(width)
	row, column := b.rowOf(b.cursor)
	b.top = min(max(b.top, row-height+1), row, max(0, b.rows-height))
	return b.window(b.top, min(height, b.rows-b.top)), row - b.top, column, b.top
}

// Hit is the offset for MoveTo of what a person clicks on: the place nearest to the middle of a cell. row counts from the first
// row of the draft; one outside it is the nearest one.
func (b *Buffer) Hit(width, row, column int) int {
	b.resize(width)
	return b.offset(b.at(min(max(row, 0), b.rows-1), column, true))
}

// window gives n rows.
func (s *state) window(first, n int) []Row {
	rows := make([]Row, 0, n)
	k := s.seekRow(first)
	for line := s.sum.line; len(rows) < n; line++ {
		for ; k < s.lines[line].rows() && len(rows) < n; k++ {
			rows = append(rows, s.draw(line, k))
		}
		k = 0
	}
	return rows
}

// draw makes one row.
func (s *state) draw(line, k int) Row {
	l := &s.lines[line]
	end := l.end(k)
	w := s.walkRow(line, k)
	r := Row{From: s.offset(place{line, w.at}), To: s.offset(place{line, end}), Soft: k < len(l.more)}
	from, to := s.selectedIn(line)
	var b strings.Builder
	selected := false
	flush := func() {
		if b.Len() > 0 {
			r.Runs = append(r.Runs, Run{Text: b.String(), Selected: selected})
			b.Reset()
		}
	}
	for w.at < end {
		at := w.at
		if in := from <= at && at < to; in != selected {
			flush()
			selected = in
		}
		edge := end // up to where it looks the same
		switch {
		case at < from:
			edge = min(end, from)
		case at < to:
			edge = min(end, to)
		}
		if w.plain(edge) {
			b.WriteString(l.text[at:w.at])
			continue
		}
		u := w.peek()
		w.pass(u)
		switch {
		case u.chip != nil:
			flush()
			r.Runs = append(r.Runs, Run{Text: u.chip.shown(w.room), Chip: u.chip, Selected: selected})
		case l.text[at] == '\t':
			b.WriteString(spaces[:u.cells])
		case u.bare:
			b.WriteString(carrier + l.text[at:u.to])
		default:
			b.WriteString(l.text[at:u.to])
		}
	}
	flush()
	r.Cells = w.column
	return r
}

// spaces is what the widest tab is drawn as.
const spaces = "    "

var _ = [1]struct{}{}[len(spaces)-text.TabStop] // one length, checked when compiled
