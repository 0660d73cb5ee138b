package markdown

import (
	"strings"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// painter lays out leaves, one after the other.
type painter struct {
	o           Options
	glyphs      *glyphs
	definitions *definitions

	inline  inline
	phrases phrases
	spare   []render.Run
	missed  bool // the leaf would look different if a label were defined

	// Of the leaf being laid out:
	first, rest prefix // before its first line and before the others
	lead        string // what of the marks before it stands in its text, for want of room
	started     bool   // it has a line
	role        themes.Role
	above       int // how much of rest goes on from the line above it
}

func newPainter(o Options, d *definitions) *painter {
	r := &painter{o: o.normal(), definitions: d, glyphs: &unicodeGlyphs}
	if o.ASCII {
		r.glyphs = &asciiGlyphs
	}
	r.inline.definitions = d
	return r
}

// leaf lays out a leaf.
func (r *painter) leaf(dst []render.Line, l *leaf) []render.Line {
	r.frame(l)
	if l.kind == code {
		dst = r.codeHead(dst, l)
		return r.codeRows(dst, l, 0, r.highlighted(l))
	}
	if l.gap {
		dst = append(dst, r.emptyLine(r.above))
	}
	switch l.kind {
	case paragraph:
		b := breaker{phrase: r.phrase(r.lead+l.text, r.role), begun: l.joined, gap: l.joint}
		return r.lines(dst, b, r.o.Width, 0, r.role)
	case heading:
		return r.heading(dst, l)
	case literal:
		return r.literalRows(dst, l, 0)
	case table:
		return r.table(dst, l)
	case divider:
		return r.ruleLine(dst, strings.Repeat(r.glyphs.rule, r.o.Width-r.first.cells), themes.RoleRule)
	case empty:
		return r.lines(dst, breaker{phrase: phrase{text: r.lead}}, r.o.Width, 0, r.role)
	}
	return dst
}

// heading lays out a heading: what level it is of is told by weight, and a line under the first.
func (r *painter) heading(dst []render.Line, l *leaf) []render.Line {
	role := themes.RoleHeading
	if l.level > 3 {
		role = themes.RoleStrong
	}
	ph := r.phrase(r.lead+l.text, role)
	if l.level != 3 {
		ph.runs = weighted(ph, role)
	}
	from := len(dst)
	dst = r.lines(dst, breaker{phrase: ph}, r.o.Width, 0, role)
	if l.level > 1 {
		return dst
	}
	widest := 0
	for _, line := range dst[from:] {
		widest = max(widest, text.Width(line.Text)-r.rest.cells)
	}
	return r.ruleLine(dst, strings.Repeat(r.glyphs.top, max(1, widest)), themes.RoleRule)
}

// weighted is the runs of a phrase of a role, with all of it in bold.
func weighted(ph phrase, role themes.Role) []render.Run {
	var all []render.Run
	at := 0
	plain := func(to int) {
		if at < to {
			all = append(all, render.Run{From: at, To: to, Role: role, Attr: render.Bold})
		}
	}
	for _, run := range ph.runs {
		plain(run.From)
		run.Attr |= render.Bold
		all = append(all, run)
		at = run.To
	}
	plain(len(ph.text))
	return all
}

// ruleLine adds a line that no copy has.
func (r *painter) ruleLine(dst []render.Line, line string, role themes.Role) []render.Line {
	before := r.before()
	l := render.Line{Role: role}
	r.compose(&l, before, line, nil, 0)
	l.Gutter, l.Soft = len(l.Text), true
	return append(dst, l)
}

// literalRows lays out HTML from a row on: the text that it is, line by line.
func (r *painter) literalRows(dst []render.Line, l *leaf, from int) []render.Line {
	for i := from; i < len(l.rows); i++ {
		b := breaker{phrase: phrase{text: l.rows[i]}}
		b.gap, b.begun = l.rowJoint(i)
		dst = r.lines(dst, b, r.o.Width, 0, r.role)
	}
	return dst
}
