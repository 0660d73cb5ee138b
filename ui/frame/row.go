// Package frame is one picture of the screen: rows of text with roles, composed side by side and on top of one another, and their way
// into a terminal's own language. It knows no screen, no key and no session.
package frame

import (
	"strings"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// Row is one row of a frame. Rows of a finished frame have its width; what is drawn into them may be shorter.
type Row = render.Line

// Plain is a row of one role.
func Plain(s string, role themes.Role) Row { return Row{Text: s, Role: role} }

// Blank is an empty row.
func Blank() Row { return Row{} }

// Width is how many cells a row takes.
func Width(r Row) int { return text.Width(r.Text) }

// Join puts parts behind one another. The row has the role of the first; what the others have of their own they keep.
func Join(parts ...Row) Row {
	if len(parts) == 0 {
		return Row{}
	}
	out := Row{Role: parts[0].Role, Gutter: parts[0].Gutter, Soft: parts[0].Soft, Joint: parts[0].Joint, Fill: parts[len(parts)-1].Fill}
	size, runs := 0, 0
	for _, p := range parts {
		size += len(p.Text)
		runs += len(p.Runs) + 1
	}
	var b strings.Builder
	b.Grow(size)
	out.Runs = make([]render.Run, 0, runs)
	for _, p := range parts {
		at := b.Len()
		b.WriteString(p.Text)
		out.Runs = appendRuns(out.Runs, p, at, out.Role)
	}
	out.Text = b.String()
	return out
}

// appendRuns adds the runs of p, which stands at byte at of a row with the role whole. What p's runs leave uncovered becomes runs of
// p's own role where that is another.
func appendRuns(runs []render.Run, p Row, at int, whole themes.Role) []render.Run {
	done := 0
	cover := func(to int) {
		if done < to && p.Role != whole {
			runs = append(runs, render.Run{From: at + done, To: at + to, Role: p.Role})
		}
		done = max(done, to)
	}
	for _, r := range p.Runs {
		cover(r.From)
		if r.On == "" && p.Role != whole && filled(p) {
			r.On = p.Role
		}
		r.From, r.To = r.From+at, r.To+at
		runs = append(runs, r)
		done = r.To - at
	}
	cover(len(p.Text))
	return runs
}

// filled reports whether a row's role lies under its runs.
func filled(r Row) bool { return r.Fill }

// Pad fills a row with spaces up to a width.
func Pad(r Row, width int) Row {
	if missing := width - Width(r); missing > 0 {
		r.Text += strings.Repeat(" ", missing)
	}
	return r
}

// Cut is a row of at most width cells. What was cut off is marked by tail, which may be "" and is at most as wide as the row.
func Cut(r Row, width int, tail string) Row {
	if Width(r) <= width {
		return r
	}
	r.Text = text.Cut(r.Text, max(0, width), tail)
	r.Runs = within(r.Runs, len(r.Text)-len(tail))
	r.Gutter = min(r.Gutter, len(r.Text))
	return r
}

// within cuts runs at a byte.
func within(runs []render.Run, end int) []render.Run {
	for i, x := range runs {
		if x.To <= end {
			continue
		}
		out := append([]render.Run(nil), runs[:i]...)
		if x.From < end {
			x.To = end
			out = append(out, x)
		}
		return out
	}
	return runs
}

// Fit is a row of exactly width cells.
func Fit(r Row, width int, tail string) Row { return Pad(Cut(r, width, tail), width) }

// Beside puts right into the row from a column on. What left has there is cut.
func Beside(left Row, column int, right Row, tail string) Row {
	return Join(Fit(left, column, tail), right)
}

// Ends puts left at the beginning and right at the end of a row of width cells, and cuts left when both do not fit with a space between.
func Ends(left, right Row, width int, tail string) Row {
	w := Width(right)
	if w == 0 {
		return Fit(left, width, tail)
	}
	if w >= width {
		return Fit(right, width, tail)
	}
	return Join(Fit(Cut(left, max(0, width-w-1), tail), width-w, ""), right)
}

// Skip is a row without its first cells, as a sideways scroll shows it. A wide character that is cut in two becomes a space. Gutters
// stay where they are.
func Skip(r Row, cells int) Row {
	if cells <= 0 {
		return r
	}
	gutter, rest := r.Text[:r.Gutter], r.Text[r.Gutter:]
	kept := text.CutLeft(rest, max(0, text.Width(rest)-cells), "")
	lost := len(rest) - len(kept)
	out := r
	out.Text = gutter + kept
	out.Runs = nil
	for _, x := range r.Runs {
		from, to := move(x.From, r.Gutter, lost), move(x.To, r.Gutter, lost)
		if from < to {
			x.From, x.To = from, to
			out.Runs = append(out.Runs, x)
		}
	}
	return out
}

// move is where a byte goes when lost bytes behind gutter are taken out.
func move(at, gutter, lost int) int {
	if at <= gutter {
		return at
	}
	return max(gutter, at-lost)
}

// Mark gives a range of bytes of a row a role on top of what it has, for a match or a selection.
func Mark(r Row, from, to int, on themes.Role) Row {
	from, to = max(0, from), min(to, len(r.Text))
	if from >= to {
		return r
	}
	var runs []render.Run
	put := func(x render.Run) {
		if x.From < x.To {
			runs = append(runs, x)
		}
	}
	at := from
	for _, x := range r.Runs {
		if x.To <= from || x.From >= to {
			if x.From >= to && at < to {
				put(render.Run{From: at, To: to, Role: r.Role, On: on})
				at = to
			}
			put(x)
			continue
		}
		before, inside, after := x, x, x
		before.To = min(x.To, from)
		inside.From, inside.To = max(x.From, from), min(x.To, to)
		after.From = max(x.From, to)
		put(before)
		put(render.Run{From: at, To: inside.From, Role: r.Role, On: on})
		inside.On = on
		put(inside)
		at = inside.To
		put(after)
	}
	put(render.Run{From: at, To: to, Role: r.Role, On: on})
	sortRuns(runs)
	r.Runs = runs
	return r
}

// sortRuns orders runs by where they begin. There are few, and they are nearly in order.
func sortRuns(runs []render.Run) {
	for i := 1; i < len(runs); i++ {
		for j := i; j > 0 && runs[j].From < runs[j-1].From; j-- {
			runs[j], runs[j-1] = runs[j-1], runs[j]
		}
	}
}
