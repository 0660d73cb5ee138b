package render

import (
	"slices"
	"strings"

	"octavo/pages/text"
)

// columnGap is what stands between two columns of a table, in cells.
const columnGap = 2

// minColumn is down to how many cells a column gives way before the last column is left out.
const minColumn = 4

// Table shows rows as aligned columns, one line a row, without a newline at the end. Rows may differ in length. When they are
// wider than Width the widest columns give way, and where each would be down to a few cells the last columns are left out: put
// first what matters most.
func Table(rows [][]string, o Options) string { return table(nil, rows, o) }

// HeadedTable is Table with a head that names its columns.
func HeadedTable(head []string, rows [][]string, o Options) string { return table(head, rows, o) }

func table(head []string, rows [][]string, o Options) string {
	cells := make([][]string, 0, len(rows)+1)
	if len(head) > 0 {
		cells = append(cells, head)
	}
	cells = append(cells, rows...)
	var widths []int
	for i, row := range cells {
		clean := make([]string, len(row))
		for column, cell := range row {
			clean[column] = text.CleanLine(cell)
			if column == len(widths) {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], text.Width(clean[column]))
		}
		cells[i] = clean
	}
	fit(widths, o.Width)

	lines := make([]string, len(cells))
	for i, row := range cells {
		var b strings.Builder
		for column, cell := range row {
			if widths[column] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			b.WriteString(text.Pad(text.Cut(cell, widths[column], "…"), widths[column]))
		}
		lines[i] = strings.TrimRight(b.String(), " ")
		if i == 0 && len(head) > 0 {
			lines[i] = o.Palette.Muted.Paint(lines[i])
		}
	}
	return strings.Join(lines, "\n")
}

// fit leaves out the last columns and then takes cells from the widest ones until all find room in width. A column without
// cells has width 0 and is not shown.
func fit(widths []int, width int) {
	if width <= 0 {
		return
	}
	for i := range widths {
		widths[i] = min(widths[i], width)
	}
	for last := len(widths) - 1; last > 0 && total(widths, minColumn) > width; last-- {
		widths[last] = 0
	}
	for total(widths, width) > width {
		widest := slices.Index(widths, slices.Max(widths))
		widths[widest]--
	}
}

// total is the width of a table whose columns are at most so many cells wide.
func total(widths []int, most int) int {
	total := -columnGap
	for _, w := range widths {
		if w > 0 {
			total += columnGap + min(w, most)
		}
	}
	return total
}
