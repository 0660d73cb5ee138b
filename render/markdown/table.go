package markdown

import (
	"slices"
	"strings"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// alignment is on which side a column has its spare room.
type alignment uint8

const (
	alignLeft alignment = iota
	alignRight
	alignCentre
)

// cells splits a row at its bars into at most so many cells, the last of which has what is left; except at a bar with a backslash
// before it, which it takes off.
func cells(row string, most int) []string {
	row = strings.Trim(row, " ")
	row = strings.TrimPrefix(row, "|")
	var all []string
	from, escaped := 0, false
	cell := func(to int) {
		c := strings.Trim(row[from:to], " ")
		if escaped {
			c = strings.ReplaceAll(c, `\|`, "|")
		}
		all = append(all, c)
		from, escaped = to+1, false
	}
	for at := 0; at < len(row); at++ {
		switch row[at] {
		case '\\':
			if at++; at < len(row) && row[at] == '|' {
				escaped = true
			}
		case '|':
			if len(all) < most-1 || at == len(row)-1 {
				cell(at)
			}
		}
	}
	if from < len(row) {
		cell(len(row))
	}
	return all
}

// alignments reads the line under the head of a table, nil when it is none.
func alignments(s string) []alignment {
	if strings.IndexByte(s, '|') < 0 || strings.IndexByte(s, '-') < 0 || strings.Trim(s, " |:-") != "" {
		return nil
	}
	var all []alignment
	for _, mark := range cells(s, maxColumns+1) {
		left, right := strings.HasPrefix(mark, ":"), strings.HasSuffix(mark, ":")
		dashes := strings.TrimSuffix(strings.TrimPrefix(mark, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" || len(all) == maxColumns {
			return nil
		}
		switch {
		case left && right:
			all = append(all, alignCentre)
		case right:
			all = append(all, alignRight)
		default:
			all = append(all, alignLeft)
		}
	}
	return all
}

const (
	// minColumn is down to how many cells a column gives way. Where that is not enough a table becomes a list of its rows.
	minColumn = 10
	// columnGap is what stands between two columns, in cells: a bar with a space on each side.
	columnGap = 3
)

// cell is what a cell of a table says, and how many cells of the screen that takes in one line.
type cell struct {
	phrase
	cells int
}

// grid is a table being laid out.
type grid struct {
	head    []cell
	aligned []alignment
	widths  []int // of the columns; nil for a list of rows
	wrapped bool  // the row above took more than one line
	rows    int   // laid out so far
}

// table lays out a whole table, its columns as wide as what is in them.
func (r *painter) table(dst []render.Line, l *leaf) []render.Line {
	g := grid{head: r.tableHead(l), aligned: l.aligned}
	widths := make([]int, len(l.aligned))
	rows := make([][]cell, len(l.rows))
	rows[0] = g.head
	for i := range rows {
		if i > 0 {
			rows[i] = r.tableRow(l.rows[i], len(l.aligned))
		}
		for j, c := range rows[i] {
			widths[j] = max(widths[j], c.cells)
		}
	}
	g.widths = fitColumns(widths, r.o.Wide-r.rest.cells)
	dst = r.gridHead(dst, &g)
	for _, row := range rows[1:] {
		dst = r.gridRow(dst, &g, row)
	}
	return dst
}

// openGrid is the layout of a table whose rows are still to come, so that none of them moves one above it: its columns share the
// width of prose, those with long names getting more of it.
func (r *painter) openGrid(l *leaf) grid {
	const least, most = 6, 24 // cells of a name that count
	g := grid{head: r.tableHead(l), aligned: l.aligned}
	n := len(g.head)
	spare := r.o.Width - r.rest.cells - columnGap*(n-1) - minColumn*n
	if spare < 0 {
		return g
	}
	named := 0
	for _, c := range g.head {
		named += min(max(c.cells, least), most)
	}
	g.widths = make([]int, n)
	for i, c := range g.head {
		g.widths[i] = minColumn + spare*min(max(c.cells, least), most)/named
	}
	return g
}

// tableHead reads the first row of a table, which names its columns.
func (r *painter) tableHead(l *leaf) []cell {
	role := r.role
	r.role = themes.RoleStrong
	head := r.tableRow(l.rows[0], len(l.aligned))
	r.role = role
	for i := range head {
		head[i].runs = weighted(head[i].phrase, themes.RoleStrong)
	}
	return head
}

// tableRow reads the marks of a row. What it has beyond its columns stands in the last.
func (r *painter) tableRow(row string, columns int) []cell {
	found := cells(row, columns)
	all := make([]cell, len(found))
	for i := range all {
		all[i].phrase = r.phrase(found[i], r.role)
		all[i].cells = text.Width(all[i].text)
	}
	return all
}

// fitColumns makes the widest columns give way until all find room in width. nil says that they do not.
func fitColumns(widths []int, width int) []int {
	width -= columnGap * (len(widths) - 1)
	total := 0
	for i, w := range widths {
		widths[i] = max(w, 1)
		total += widths[i]
	}
	if total <= width {
		return widths
	}
	// Columns narrower than an even share keep what they have; what they leave is shared by the rest.
	order := slices.Clone(widths)
	slices.Sort(order)
	most := 0
	for i, w := range order {
		if most = width / (len(order) - i); w > most {
			break
		}
		width -= w
	}
	if most < minColumn {
		return nil
	}
	spare := 0
	for _, w := range order {
		if w > most {
			spare++
		}
	}
	spare = width - most*spare
	for i, w := range widths {
		if w > most {
			widths[i] = most
			if spare > 0 && w > most {
				widths[i]++
				spare--
			}
		}
	}
	return widths
}

// gridHead lays out the head of a table and the line under it. A list of rows has none.
func (r *painter) gridHead(dst []render.Line, g *grid) []render.Line {
	if g.widths == nil {
		return dst
	}
	return r.gridRule(r.gridLines(dst, g, g.head), g)
}

// gridRow lays out a row. Where one takes several lines a rule sets it apart from its neighbours.
func (r *painter) gridRow(dst []render.Line, g *grid, row []cell) []render.Line {
	if g.widths == nil {
		return r.listRow(dst, g, row)
	}
	wraps := false
	for i, c := range row {
		wraps = wraps || c.cells > g.widths[i]
	}
	if g.rows > 0 && (wraps || g.wrapped) {
		dst = r.gridRule(dst, g)
	}
	g.wrapped = wraps
	g.rows++
	return r.gridLines(dst, g, row)
}

// gridLines lays out the lines of a row.
func (r *painter) gridLines(dst []render.Line, g *grid, row []cell) []render.Line {
	columns := make([]breaker, len(g.widths))
	for i := range columns {
		if i < len(row) {
			columns[i].phrase = row[i].phrase
		}
	}
	for y := 0; ; y++ {
		var text strings.Builder
		var runs []render.Run
		any := false
		for i := range columns {
			if i > 0 {
				text.WriteByte(' ')
				runs = append(runs, render.Run{From: text.Len(), To: text.Len() + len(r.glyphs.down), Role: themes.RoleBorder})
				text.WriteString(r.glyphs.down + " ")
			}
			if columns[i].next(g.widths[i]) {
				any = true
			} else {
				columns[i].line, columns[i].runs = "", nil
			}
			runs = columns[i].align(&text, runs, g.widths[i], g.aligned[i])
		}
		if !any {
			return dst
		}
		before := r.before()
		l := render.Line{Role: r.role, Gutter: before.rails}
		r.compose(&l, before, strings.TrimRight(text.String(), " "), runs, 0)
		dst = append(dst, l)
	}
}

// align writes the current line of a cell into a column, and adds its runs to those of the row.
func (b *breaker) align(row *strings.Builder, runs []render.Run, width int, side alignment) []render.Run {
	spare := width - text.Width(b.line)
	left := 0
	switch side {
	case alignRight:
		left = spare
	case alignCentre:
		left = spare / 2
	}
	row.WriteString(strings.Repeat(" ", left))
	for _, run := range b.runs {
		if run.From >= b.from+len(b.line) {
			break
		}
		run.From = max(run.From-b.from, 0) + row.Len()
		run.To = min(run.To-b.from, len(b.line)) + row.Len()
		runs = append(runs, run)
	}
	row.WriteString(b.line)
	row.WriteString(strings.Repeat(" ", spare-left))
	return runs
}

// gridRule is a line across all columns.
func (r *painter) gridRule(dst []render.Line, g *grid) []render.Line {
	var b strings.Builder
	for i, width := range g.widths {
		if i > 0 {
			b.WriteString(r.glyphs.rule + r.glyphs.across + r.glyphs.rule)
		}
		b.WriteString(strings.Repeat(r.glyphs.rule, width))
	}
	return r.ruleLine(dst, b.String(), themes.RoleBorder)
}

// listRow lays out a row as a line for each of its cells, named by the head.
func (r *painter) listRow(dst []render.Line, g *grid, row []cell) []render.Line {
	if g.rows > 0 {
		dst = append(dst, r.emptyLine(len(r.rest.text)))
	}
	g.rows++
	for i, c := range row {
		name := g.head[i].text
		if c.text == "" {
			continue
		}
		ph := phrase{text: c.text}
		shift := 0
		if name != "" {
			name += ":"
			ph.text = name + " " + c.text
			ph.runs = append(ph.runs, render.Run{To: len(name), Role: themes.RoleMuted})
			shift = len(name) + 1
		}
		for _, run := range c.runs {
			run.From, run.To = run.From+shift, run.To+shift
			ph.runs = append(ph.runs, run)
		}
		dst = r.lines(dst, breaker{phrase: ph}, r.o.Wide, 2, r.role)
	}
	return dst
}
