package themes

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Colour is one of the terminal's own, one of the fixed 240 of a terminal with 256, or an RGB triple. The zero value is the
// default: the terminal's own foreground or background.
type Colour struct {
	kind    colourKind
	r, g, b uint8 // r is the number of an indexed one
}

type colourKind uint8

const (
	kindDefault colourKind = iota
	kindIndex
	kindRGB
)

func indexed(n uint8) Colour     { return Colour{kind: kindIndex, r: n} }
func rgb(r, g, b uint8) Colour   { return Colour{kindRGB, r, g, b} }
func (c Colour) IsDefault() bool { return c.kind == kindDefault }

// Index is the number of a colour of the palette, 0 to 255; 0 to 15 are the terminal's own.
func (c Colour) Index() (n uint8, ok bool) { return c.r, c.kind == kindIndex }

// RGB is what a colour looks like. It is not ok for the terminal's own, which nobody knows.
func (c Colour) RGB() (r, g, b uint8, ok bool) {
	switch {
	case c.kind == kindRGB:
		return c.r, c.g, c.b, true
	case c.kind == kindIndex && c.r >= 232:
		grey := 8 + 10*(c.r-232)
		return grey, grey, grey, true
	case c.kind == kindIndex && c.r >= 16:
		n := c.r - 16
		return cube(n / 36), cube(n / 6 % 6), cube(n % 6), true
	}
	return 0, 0, 0, false
}

// cube is a level of the colour cube that the indexes from 16 on are.
func cube(n uint8) uint8 {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}

// Color is the colour as drawing libraries take it: nil for the default, ansi.BasicColor, ansi.IndexedColor or color.RGBA.
func (c Colour) Color() color.Color {
	switch {
	case c.kind == kindRGB:
		return color.RGBA{c.r, c.g, c.b, 0xff}
	case c.kind == kindIndex && c.r < 16:
		return ansi.BasicColor(c.r)
	case c.kind == kindIndex:
		return ansi.IndexedColor(c.r)
	}
	return nil
}

// String writes it as a theme does.
func (c Colour) String() string {
	switch {
	case c.kind == kindRGB:
		return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
	case c.kind == kindIndex && c.r < 8:
		return ansiPrefix + ansiNames[c.r]
	case c.kind == kindIndex && c.r < 16:
		return ansiPrefix + brightPrefix + ansiNames[c.r-8]
	case c.kind == kindIndex:
		return strconv.Itoa(int(c.r))
	}
	return defaultColour
}

const (
	defaultColour = "default"
	ansiPrefix    = "ansi:"
	brightPrefix  = "bright-"
)

// ansiNames are the terminal's own colours 0 to 7; 8 to 15 are their bright forms.
var ansiNames = [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// paint is a colour of a theme file: not said, a colour, or the name of one in [colors].
type paint struct {
	said   bool
	colour Colour
	name   string
}

// parsePaint reads a colour of a theme file.
func parsePaint(s string) (paint, error) {
	switch {
	case s == defaultColour:
		return paint{said: true}, nil
	case strings.HasPrefix(s, "#"):
		n, err := strconv.ParseUint(s[1:], 16, 32)
		if err != nil || len(s) != len("#rrggbb") {
			return paint{}, fmt.Errorf(`%s is no colour: write "#rrggbb" with six digits of 0-9 a-f`, show(s))
		}
		return paint{said: true, colour: rgb(uint8(n>>16), uint8(n>>8), uint8(n))}, nil
	case strings.HasPrefix(s, ansiPrefix):
		name, bright := strings.CutPrefix(s[len(ansiPrefix):], brightPrefix)
		n := slices.Index(ansiNames[:], name)
		if n < 0 {
			return paint{}, fmt.Errorf("%s is no colour of the terminal: use %s%s, or %s%s before one of the names", show(s),
				ansiPrefix, choice(ansiNames[:]), ansiPrefix, brightPrefix)
		}
		if bright {
			n += len(ansiNames)
		}
		return paint{said: true, colour: indexed(uint8(n))}, nil
	case s != "" && strings.Trim(s, "0123456789") == "":
		return parseIndex(s)
	case isColourName(s):
		return paint{said: true, name: s}, nil
	}
	return paint{}, fmt.Errorf("%s is no colour: use %s", show(s), colourForms)
}

// colourForms is what a colour may be.
const colourForms = `"#rrggbb", "ansi:red" and the like, 0 to 255, "default" or a name from [colors]`

// parseIndex reads a number of the palette.
func parseIndex(s string) (paint, error) {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return paint{}, fmt.Errorf("%s is no colour: use 0 to 255", shorten(s))
	}
	return paint{said: true, colour: indexed(uint8(n))}, nil
}

const (
	// MaxColours bounds the names in all [colors] of a theme together.
	MaxColours = 256
	// MaxColourName bounds one of them, in bytes.
	MaxColourName = 32
)

// isColourName reports whether s can be a name in [colors]: letters, digits, - and _, beginning with a letter.
func isColourName(s string) bool {
	if s == "" || len(s) > MaxColourName || s == defaultColour {
		return false
	}
	for i := range len(s) {
		letter := 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z'
		if !letter && (i == 0 || s[i] != '-' && s[i] != '_' && (s[i] < '0' || s[i] > '9')) {
			return false
		}
	}
	return true
}
