package frame

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"octavo/render"
	"octavo/themes"
)

// Painter turns rows into a terminal's language. It is made for one theme and one terminal, and belongs to one goroutine.
type Painter struct {
	theme   *themes.Theme
	profile colorprofile.Profile
	ground  themes.Style
	codes   map[themes.Style]string
}

// NewPainter makes a painter.
func NewPainter(t *themes.Theme, p colorprofile.Profile) *Painter {
	return &Painter{theme: t, profile: p, ground: themes.Style{Background: t.Ground}, codes: map[themes.Style]string{}}
}

const reset = "\x1b[m"

// Row is a row of width cells as the terminal takes it: every attribute is set anew where it changes and none is left behind.
func (p *Painter) Row(r Row, width int) string {
	r = Fit(r, width, "")
	var b strings.Builder
	b.Grow(len(r.Text) + 16*(len(r.Runs)+1))
	whole := p.style(r.Role, "", 0)
	under := p.ground
	if r.Fill {
		under = whole
	}
	last, open := "", ""
	put := func(s string, style themes.Style, link string) {
		if s == "" {
			return
		}
		if link != open {
			b.WriteString(hyperlink(link))
			open = link
		}
		if code := p.code(style); code != last {
			if last != "" {
				b.WriteString(reset)
			}
			b.WriteString(code)
			last = code
		}
		b.WriteString(s)
	}
	at := 0
	for _, x := range r.Runs {
		put(r.Text[at:x.From], whole.Over(p.ground), "")
		on := under
		if x.On != "" {
			on = p.style(x.On, "", 0).Over(under)
		}
		put(r.Text[x.From:x.To], p.style(x.Role, r.Role, x.Attr).Over(on), x.Link)
		at = x.To
	}
	put(r.Text[at:], whole.Over(p.ground), "")
	if open != "" {
		b.WriteString(hyperlink(""))
	}
	if last != "" {
		b.WriteString(reset)
	}
	return b.String()
}

// style is the look of a role with attributes; one without a role looks like otherwise.
func (p *Painter) style(role, otherwise themes.Role, a render.Attr) themes.Style {
	if role == "" {
		role = otherwise
	}
	if role == "" {
		role = themes.RoleText
	}
	s := p.theme.Style(role)
	s.Bold = s.Bold || a&render.Bold != 0
	s.Italic = s.Italic || a&render.Italic != 0
	s.Underline = s.Underline || a&render.Underline != 0
	s.Inverse = s.Inverse != (a&render.Inverse != 0)
	s.Dim = s.Dim || a&render.Strike != 0 // struck-through text is not to be had everywhere; dim says that it is void
	return s
}

// code is the sequence that switches a style on, "" for the terminal's own.
func (p *Painter) code(s themes.Style) string {
	if code, ok := p.codes[s]; ok {
		return code
	}
	var parts []string
	for _, a := range []struct {
		set  bool
		code string
	}{{s.Bold, "1"}, {s.Dim, "2"}, {s.Italic, "3"}, {s.Underline, "4"}, {s.Inverse, "7"}} {
		if a.set {
			parts = append(parts, a.code)
		}
	}
	if p.profile >= colorprofile.ANSI {
		parts = append(parts, p.colour(s.Foreground, 30), p.colour(s.Background, 40))
	}
	code := ""
	if list := strings.Join(compact(parts), ";"); list != "" {
		code = "\x1b[" + list + "m"
	}
	p.codes[s] = code
	return code
}

// colour is the parameter of a colour whose first of eight is base, in the finest form that the terminal knows.
func (p *Painter) colour(c themes.Colour, base int) string {
	if c.IsDefault() {
		return ""
	}
	if n, ok := c.Index(); ok && n < 16 {
		return sixteen(int(n), base)
	}
	if p.profile == colorprofile.TrueColor {
		if r, g, b, ok := c.RGB(); ok {
			return strconv.Itoa(base+8) + ";2;" + strconv.Itoa(int(r)) + ";" + strconv.Itoa(int(g)) + ";" + strconv.Itoa(int(b))
		}
	}
	if n, ok := c.Index(); ok && p.profile >= colorprofile.ANSI256 {
		return strconv.Itoa(base+8) + ";5;" + strconv.Itoa(int(n))
	}
	switch near := p.profile.Convert(c.Color()).(type) {
	case ansi.BasicColor:
		return sixteen(int(near), base)
	case ansi.IndexedColor:
		return indexed(int(near), base)
	default:
		return ""
	}
}

func indexed(n, base int) string {
	if n < 16 {
		return sixteen(n, base)
	}
	return strconv.Itoa(base+8) + ";5;" + strconv.Itoa(n)
}

// sixteen is the parameter of one of the terminal's own colours.
func sixteen(n, base int) string {
	if n < 8 {
		return strconv.Itoa(base + n)
	}
	return strconv.Itoa(base + 60 + n - 8)
}

// hyperlink opens a link, or closes the open one.
func hyperlink(address string) string { return "\x1b]8;;" + address + "\x1b\\" }

// compact leaves out what says nothing.
func compact(parts []string) []string {
	out := parts[:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
