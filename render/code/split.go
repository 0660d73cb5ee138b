package code

import (
	"context"
	"strconv"
	"strings"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// MinSplit is from which width on, in cells, there is room for two sides.
const MinSplit = 100

// Split shows a change side by side: the old text left, the new one right, lines that are changes of each other in one row, each side
// cut at its half. What it says is what Unified says, which it gives where there is no room (MinSplit). Because it cuts lines it is
// nothing for a person who decides on the change.
//
// The gutter of a row is all that stands before the new text: copying takes the new side.
func Split(d pages.Diff, h *Highlighter, o Options) []render.Line {
	if o.Width < MinSplit {
		return Unified(d, h, o)
	}
	ctx, cancel := h.waiting(context.Background())
	defer cancel()
	v := &halves{view: newView(d, h, o), rule: " │ "}
	if o.ASCII {
		v.rule = " | "
	}
	room := o.Width - text.Width(v.rule)
	v.left = room / 2
	v.right = room - v.left
	lines := []render.Line{v.header()}
	for i, hunk := range d.Hunks {
		if head, ok := v.hunkHeader(i); ok {
			lines = append(lines, head)
		}
		lines = append(lines, v.hunk(ctx, hunk)...)
	}
	return v.rest(lines)
}

// halves is a view with two sides.
type halves struct {
	*view
	left, right int // cells
	rule        string
}

// hunk puts the rows of a hunk side by side.
func (v *halves) hunk(ctx context.Context, h pages.Hunk) []render.Line {
	rows := v.rows(ctx, h)
	var lines []render.Line
	for i := 0; i < len(rows); {
		if r := &rows[i]; !r.changed() {
			lines = v.both(lines, r, r)
			i++
			continue
		}
		from := i
		for i < len(rows) && rows[i].op == pages.LineDeleted {
			i++
		}
		middle := i
		for i < len(rows) && rows[i].op == pages.LineAdded {
			i++
		}
		lines = v.block(lines, rows, from, middle, i)
	}
	return lines
}

// block puts deleted rows [old, new) beside added rows [new, end): mates in one row, and what stands between them side by side as it
// comes.
func (v *halves) block(lines []render.Line, rows []row, old, new, end int) []render.Line {
	oldEnd := new
	for old < oldEnd || new < end {
		var left, right *row
		switch {
		case old < oldEnd && rows[old].mate >= 0 && rows[old].mate == new, old < oldEnd && rows[old].mate < 0 && new < end && rows[new].mate < 0:
			left, right = &rows[old], &rows[new]
			old, new = old+1, new+1
		case old < oldEnd && (rows[old].mate < 0 || new == end):
			left = &rows[old]
			old++
		default:
			right = &rows[new]
			new++
		}
		lines = v.both(lines, left, right)
	}
	return lines
}

// both adds a row with its two sides, of which one may be nil, and below it what is to say of their ends.
func (v *halves) both(lines []render.Line, left, right *row) []render.Line {
	lines = append(lines, v.join(v.half(left, v.left, 0), v.half(right, v.right, 1)))
	var notes [2]half
	for i, r := range [2]*row{left, right} {
		notes[i] = half{gutter: strings.Repeat(" ", v.digits[i]+3), cells: v.left}
		if r != nil && r.noEOL {
			s := v.said(render.NoNewline)
			notes[i].text = s
			notes[i].runs = []render.Run{{To: len(s), Role: themes.RoleMuted}}
		}
	}
	if notes[0].text == "" && notes[1].text == "" {
		return lines
	}
	notes[1].cells = v.right
	return append(lines, v.join(notes[0].fill(), notes[1].fill()))
}

// half is one side of a row.
type half struct {
	gutter, text string
	runs         []render.Run // over gutter and text
	role         themes.Role
	cells        int
}

// half lays out one side. A row that is nil has nothing there.
func (v *halves) half(r *row, cells, side int) half {
	if r == nil {
		return half{gutter: strings.Repeat(" ", cells), cells: cells}
	}
	number := r.old
	if side == 1 {
		number = r.new
	}
	numbers := pad(strconv.Itoa(number), v.digits[side]) + " "
	h := half{gutter: numbers + r.sign() + " ", cells: cells, role: r.role()}
	h.runs = append(h.runs, render.Run{To: len(numbers), Role: themes.RoleDiffHunk})
	if r.changed() {
		h.runs = append(h.runs, render.Run{From: len(numbers), To: len(numbers) + 1, Role: r.role(), Attr: render.Bold})
	}
	h.text = text.Cut(r.text, cells-len(h.gutter), v.ellipsis())
	kept := len(h.text)
	if h.text != r.text {
		kept = len(strings.TrimSuffix(h.text, v.ellipsis()))
	}
	for _, run := range shifted(r.runs, len(h.gutter)) {
		if run.To = min(run.To, len(h.gutter)+kept); run.From < run.To {
			h.runs = append(h.runs, run)
		}
	}
	if kept < len(h.text) {
		h.runs = append(h.runs, render.Run{From: len(h.gutter) + kept, To: len(h.gutter) + len(h.text), Role: themes.RoleMuted})
	}
	return h.fill()
}

// fill pads a side to its cells and gives all of it its role.
func (h half) fill() half {
	// A mark that begins the text may join the gutter.
	h.text += strings.Repeat(" ", max(0, h.cells-text.Width(h.gutter+h.text)))
	if h.role == "" || h.role == themes.RoleDiffContext {
		return h
	}
	var runs []render.Run
	at := 0
	for _, r := range h.runs {
		if at < r.From {
			runs = append(runs, render.Run{From: at, To: r.From, Role: h.role})
		}
		if r.Role != h.role {
			r.On = h.role
		}
		runs = append(runs, r)
		at = r.To
	}
	if end := len(h.gutter) + len(h.text); at < end {
		runs = append(runs, render.Run{From: at, To: end, Role: h.role})
	}
	h.runs = runs
	return h
}

// join puts two sides into one line.
func (v *halves) join(left, right half) render.Line {
	before := left.gutter + left.text
	runs := append([]render.Run(nil), left.runs...)
	runs = append(runs, render.Run{From: len(before), To: len(before) + len(v.rule), Role: themes.RoleRule})
	before += v.rule
	runs = append(runs, shifted(right.runs, len(before))...)
	return render.Line{Text: before + right.gutter + right.text, Runs: runs, Role: themes.RoleDiffContext, Gutter: len(before) + len(right.gutter)}
}
