package markdown

import (
	"strings"
	"unicode/utf8"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// codeGutter is what stands before a line of code.
const codeGutter = "  "

// label is the language of a block, "" where there is none or no place for it.
func (r *painter) label(l *leaf) string {
	name := text.Cut(language(l.info), maxLanguage, r.glyphs.ellipsis)
	if l.begins() || text.Width(name) > r.o.Width-r.rest.cells-len(codeGutter) {
		return ""
	}
	return name
}

// codeHead adds what stands above a block of code: its label at the right, in the empty line if there is one.
func (r *painter) codeHead(dst []render.Line, l *leaf) []render.Line {
	name := r.label(l)
	if name == "" {
		if l.gap {
			dst = append(dst, r.emptyLine(r.above))
		}
		return dst
	}
	head := render.Line{Role: themes.RoleMuted}
	r.compose(&head, &r.rest, strings.Repeat(" ", r.o.Width-r.rest.cells-text.Width(name))+name, nil, 0)
	head.Gutter = len(head.Text)
	return append(dst, head)
}

// highlighted is the lines of a block with the runs of its highlighter, or nil.
func (r *painter) highlighted(l *leaf) []render.Line {
	if r.o.Code == nil || len(l.joins) > 0 || len(l.rows) == 0 {
		return nil
	}
	lines := r.o.Code(language(l.info), strings.Join(l.rows, "\n"))
	if len(lines) > len(l.rows) {
		return nil
	}
	for i, row := range l.rows {
		var line render.Line // empty ones at the end may be missing
		if i < len(lines) {
			line = lines[i]
		}
		if strings.TrimRight(line.Text, " ") != strings.TrimRight(row, " ") || !fits(line.Runs, row) {
			return nil
		}
	}
	return lines
}

// fits reports whether runs are over a text, in order and between characters.
func fits(runs []render.Run, s string) bool {
	at := 0
	for _, run := range runs {
		if run.From < at || run.To < run.From || run.To > len(s) || !startsRune(s, run.From) || !startsRune(s, run.To) {
			return false
		}
		at = run.To
	}
	return true
}

// codeRows lays out code from a row on: each as it was written, one that is too wide in pieces. colours may be nil.
func (r *painter) codeRows(dst []render.Line, l *leaf, from int, colours []render.Line) []render.Line {
	rows := l.rows
	if len(rows) == 0 {
		rows = []string{""}
	}
	first, rest, further := r.first.under(codeGutter), r.rest.under(codeGutter), r.rest.under(r.glyphs.wrapped+" ")
	for i := from; i < len(rows); i++ {
		before := &rest
		joint, soft := l.rowJoint(i)
		switch {
		case i == 0:
			before, soft = &first, !l.gap && r.label(l) != "" // which no copy has
		case soft:
			before = &further
		}
		var runs []render.Run
		if i < len(colours) {
			runs = colours[i].Runs
		}
		dst = r.codeRow(dst, rows[i], runs, before, &further, soft, joint)
	}
	return dst
}

// codeRow lays out a line of code. A soft one goes on in the line above, behind a joint.
func (r *painter) codeRow(dst []render.Line, row string, runs []render.Run, before, further *prefix, soft bool, joint string) []render.Line {
	room := r.o.Wide - further.cells
	for at := 0; ; {
		at += invisible(row[at:])
		size := codeBreak(row[at:], room)
		piece := strings.TrimRight(row[at:at+size], " ")
		for len(runs) > 0 && runs[0].To <= at {
			runs = runs[1:]
		}
		l := render.Line{Role: themes.RoleCode, Fill: true, Gutter: len(before.text), Soft: soft, Joint: joint}
		r.compose(&l, before, piece, runs, at)
		dst = append(dst, l)
		joint = row[at+len(piece) : at+size]
		if at += size; spaces(row[at:]) == len(row)-at {
			return dst
		}
		before, soft = further, true
	}
}

// codeBreak is how much of a line of code finds room in width cells: to the last space, if there is one not far from the end.
func codeBreak(s string, width int) int {
	size := len(text.Cut(s, width, ""))
	switch {
	case size == len(s):
	case s[size] == ' ':
		size += spaces(s[size:])
	case size == 0:
		_, size = utf8.DecodeRuneInString(s) // no character is that wide
	default:
		if space := strings.LastIndexByte(s[:size], ' '); space > size*2/3 {
			size = space + 1
		}
	}
	return size
}

// under is the prefix with a gutter behind it, all of it with a role of its own, so that the ground of code begins behind it.
func (p *prefix) under(gutter string) prefix {
	under := prefix{text: p.text + gutter, cells: p.cells + text.Width(gutter)}
	at := 0
	for _, run := range p.runs {
		if at < run.From {
			under.runs = append(under.runs, render.Run{From: at, To: run.From, Role: themes.RoleText})
		}
		under.runs = append(under.runs, run)
		at = run.To
	}
	if at < len(p.text) {
		under.runs = append(under.runs, render.Run{From: at, To: len(p.text), Role: themes.RoleText})
	}
	if mark := strings.TrimRight(gutter, " "); mark != "" {
		under.runs = append(under.runs, render.Run{From: len(p.text), To: len(p.text) + len(mark), Role: themes.RoleSubtle})
	}
	return under
}

func startsRune(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
