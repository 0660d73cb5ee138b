package themes

import (
	"fmt"
	"math"
)

// What WCAG asks for (ui.md 15).
const (
	TextContrast = 4.5 // of words
	MarkContrast = 3.0 // of lines and bars
)

// Contrast is the WCAG 2 contrast ratio of two colours, 1 to 21. It is not ok when one is the terminal's own.
func Contrast(a, b Colour) (ratio float64, ok bool) {
	la, okA := luminance(a)
	lb, okB := luminance(b)
	if !okA || !okB {
		return 0, false
	}
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05), true
}

// luminance is the relative luminance of WCAG 2, 0 to 1.
func luminance(c Colour) (float64, bool) {
	r, g, b, ok := c.RGB()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b), ok
}

func linear(channel uint8) float64 {
	c := float64(channel) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

// Warning is a role that may be hard to read.
type Warning struct {
	Role       Role
	On         Background
	Foreground Colour
	Background Colour  // default where it is the terminal's own
	Dim        bool    // the foreground is made dim: terminals differ in how much, and half is taken
	Ratio      float64 // at worst
	Need       float64
}

// String is one line for a person.
func (w Warning) String() string {
	ground := w.Background.String()
	if w.Background.IsDefault() {
		ground = fmt.Sprintf("a background that is %s", w.On)
	}
	dim, remedy := "", "choose colours further apart"
	switch {
	case w.Dim:
		dim, remedy = " made dim", "give it a colour in place of dim"
	case w.Background.IsDefault():
		remedy = fmt.Sprintf("give it another colour in [variants.%s], or the role text a background", w.On)
	}
	return fmt.Sprintf("roles.%s: %s%s on %s has a contrast of %.1f and needs %.1f: %s",
		w.Role, w.Foreground, dim, ground, w.Ratio, w.Need, remedy)
}

// What a terminal may have that says no more than dark or light: from here to there.
var (
	darkGrounds  = []Colour{rgb(0, 0, 0), rgb(0x1e, 0x1e, 0x1e)}
	lightGrounds = []Colour{rgb(0xff, 0xff, 0xff), rgb(0xf0, 0xf0, 0xf0)}
	darkInks     = []Colour{rgb(0, 0, 0), rgb(0x40, 0x40, 0x40)}          // text on a light ground
	lightInks    = []Colour{rgb(0xff, 0xff, 0xff), rgb(0xc0, 0xc0, 0xc0)} // text on a dark ground
)

// Warnings lists the roles whose colours are too near to each other, on the backgrounds for which the theme was made. A role that
// takes its look from a parent is not listed beside it, nor the same colours twice, nor an unknown background beside a known one.
// The terminal's own sixteen colours are left to it.
func (s *Source) Warnings() []Warning {
	var (
		all    []Warning
		listed = map[Role]Warning{}
	)
	for _, at := range backgrounds {
		if !s.terminal.Suits(at) {
			continue
		}
		t := Resolve(s, at, Options{})
		for i, row := range roles {
			if i > 0 && sameColours(t.styles[i], t.Style(row.parent)) {
				continue
			}
			w, bad := t.check(row.role, row.mark)
			before, known := listed[row.role]
			again := known && (at == Unknown || w.Ratio == before.Ratio && w.Foreground == before.Foreground && w.Background == before.Background)
			if bad && !again {
				all, listed[row.role] = append(all, w), w
			}
		}
	}
	return all
}

func sameColours(a, b Style) bool {
	return a.Foreground == b.Foreground && a.Background == b.Background && a.Dim == b.Dim && a.Inverse == b.Inverse
}

// check holds the colours of a role against each other.
func (t *Theme) check(r Role, mark bool) (Warning, bool) {
	style := t.Style(r)
	ink, ground := style.Foreground, style.Background
	if ground.IsDefault() {
		ground = t.Ground
	}
	if ink.IsDefault() && ground.IsDefault() {
		return Warning{}, false
	}
	w := Warning{Role: r, On: t.On, Foreground: ink, Background: ground, Dim: style.Dim, Ratio: math.Inf(1), Need: TextContrast}
	if mark {
		w.Need = MarkContrast
	}
	known := true
	for _, g := range possible(ground, t.On, darkGrounds, lightGrounds) {
		for _, i := range possible(ink, t.On, lightInks, darkInks) {
			if style.Dim {
				i = halfway(i, g)
			}
			ratio, ok := Contrast(i, g)
			w.Ratio, known = min(w.Ratio, ratio), known && ok
		}
	}
	return w, known && w.Ratio < w.Need
}

// possible is what a colour may be: itself, or for the default what terminals have.
func possible(c Colour, at Background, onDark, onLight []Colour) []Colour {
	switch {
	case !c.IsDefault():
		return []Colour{c}
	case at == Dark:
		return onDark
	case at == Light:
		return onLight
	}
	return append(append([]Colour{}, onDark...), onLight...)
}

// halfway is what dim makes of a colour, more or less.
func halfway(c, ground Colour) Colour {
	r, g, b, ok := c.RGB()
	gr, gg, gb, known := ground.RGB()
	if !ok || !known {
		return c
	}
	half := func(a, b uint8) uint8 { return uint8((int(a) + int(b)) / 2) }
	return rgb(half(r, gr), half(g, gg), half(b, gb))
}
