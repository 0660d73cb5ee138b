// Package render makes text, and later pictures, out of data: pure functions of what is shown, a width and a palette. It reads
// nothing, knows no screen, session or theme, and cleans everything from outside before it styles it.
package render

import (
	"strings"

	"github.com/muesli/termenv"
)

// Palette is what each role looks like. The zero value is plain text without any escape sequence.
type Palette struct {
	Added, Deleted, Hunk    Style // of a diff
	Muted, Strong, Accent   Style
	Success, Warning, Error Style
}

// NewPalette gives the default look for a terminal of a profile. It uses the terminal's own sixteen colours without white,
// black and their bright forms, so that it reads on dark and on light ground (ui.md 15), and says what matters in more than
// colour. Under termenv.Ascii it is plain.
func NewPalette(p termenv.Profile) Palette {
	colour := func(c termenv.ANSIColor) string {
		if p == termenv.Ascii {
			return ""
		}
		return c.Sequence(false)
	}
	bold, faint := termenv.BoldSeq, termenv.FaintSeq
	if p == termenv.Ascii {
		bold, faint = "", ""
	}
	return Palette{
		Added:   newStyle(colour(termenv.ANSIGreen)),
		Deleted: newStyle(colour(termenv.ANSIRed)),
		Hunk:    newStyle(colour(termenv.ANSICyan)),
		Muted:   newStyle(faint),
		Strong:  newStyle(bold),
		Accent:  newStyle(colour(termenv.ANSIMagenta)),
		Success: newStyle(colour(termenv.ANSIGreen)),
		Warning: newStyle(colour(termenv.ANSIYellow)),
		Error:   newStyle(bold, colour(termenv.ANSIRed)),
	}
}

// Style is the look of one role. The zero value leaves text as it is.
type Style struct{ open string }

const closeStyle = termenv.CSI + termenv.ResetSeq + "m"

func newStyle(codes ...string) Style {
	if open := strings.Trim(strings.Join(codes, ";"), ";"); open != "" {
		return Style{open: termenv.CSI + open + "m"}
	}
	return Style{}
}

// Paint gives clean text in this style. It styles each line by itself, so that lines can be shown apart; styles do not nest.
func (s Style) Paint(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	if strings.IndexByte(text, '\n') < 0 {
		return s.open + text + closeStyle
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = s.Paint(l)
	}
	return strings.Join(lines, "\n")
}
