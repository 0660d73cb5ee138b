package markdown

import (
	"strconv"
	"strings"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// prefix is what stands before the lines of a leaf.
type prefix struct {
	text  string
	runs  []render.Run
	rails int // bytes of it that no copy has, even where a line begins: to behind the last bar of a quotation
	cells int
}

func (p *prefix) add(s string, role themes.Role) {
	if mark := strings.TrimRight(s, " "); mark != "" {
		p.runs = append(p.runs, render.Run{From: len(p.text), To: len(p.text) + len(mark), Role: role})
	}
	p.text += s
	p.cells += text.Width(s)
}

// before is the prefix of the next line of the leaf.
func (r *painter) before() *prefix {
	if r.started {
		return &r.rest
	}
	r.started = true
	return &r.first
}

// minText is how many cells the text of a leaf has at least. Boxes beyond that are not indented.
const minText = 6

// frame makes ready for a leaf.
func (r *painter) frame(l *leaf) {
	r.first, r.rest, r.lead, r.started, r.missed = prefix{}, prefix{}, "", false, false
	r.role = themes.RoleText
	bullets := 0
	for i, s := range l.boxes {
		if i == l.fresh {
			r.above = len(r.rest.text)
		}
		if s.quote {
			r.quotation()
			continue
		}
		done := noTask
		if i == len(l.boxes)-1 {
			done = l.task
		}
		r.item(s, bullets, i >= l.fresh, done)
		if s.delim == 0 {
			bullets++
		}
	}
	if !l.begins() {
		r.above = len(r.rest.text)
	}
}

// roomForBoxes is how many cells may stand before text.
func (r *painter) roomForBoxes() int { return min(r.o.Width-minText, r.o.Width*2/3) }

// quotation puts a bar before the lines of the leaf.
func (r *painter) quotation() {
	r.role = themes.RoleQuote
	bar := r.glyphs.bar + " "
	if r.rest.cells+text.Width(bar) > r.roomForBoxes() {
		return
	}
	for _, p := range []*prefix{&r.first, &r.rest} {
		p.add(bar, themes.RoleBorder)
		p.rails = len(p.text)
	}
}

// item puts the mark of an item, in so many lists with bullets, before the first line of the leaf if it begins there, and room for
// it before the others.
func (r *painter) item(s segment, bullets int, begins bool, t task) {
	mark, role := r.glyphs.bullets[bullets%len(r.glyphs.bullets)]+" ", themes.RoleMuted
	switch {
	case s.delim != 0:
		mark = strconv.Itoa(s.number) + string(s.delim) + " "
	case t != noTask:
		mark, role = r.box(t)
	}
	cells := text.Width(mark)
	blank := strings.Repeat(" ", cells)
	switch fits := r.rest.cells+cells <= r.roomForBoxes(); {
	case fits && begins:
		r.first.add(mark, role)
		r.rest.add(blank, role)
	case fits:
		r.first.add(blank, role)
		r.rest.add(blank, role)
	case begins:
		r.lead += mark
	}
	if s.delim != 0 && t != noTask {
		mark, _ = r.box(t)
		r.lead += mark
	}
}

// box is what stands before an item of a task list.
func (r *painter) box(t task) (string, themes.Role) {
	if t == doneTask {
		return r.glyphs.done + " ", themes.RoleSuccess
	}
	return r.glyphs.open + " ", themes.RoleMuted
}

// emptyLine is a line with nothing but the bars in the first n bytes of what stands before the leaf.
func (r *painter) emptyLine(n int) render.Line {
	l := render.Line{Role: r.role, Text: strings.TrimRight(r.rest.text[:n], " ")}
	l.Gutter = len(l.Text)
	for _, run := range r.rest.runs {
		if run.To <= n {
			l.Runs = append(l.Runs, run)
		}
	}
	return l
}
