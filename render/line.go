package render

import (
	"strings"

	"octavo/themes"
)

// Line is one row of a screen before it has colours: what a theme changes is not in it, so that a line is made once for a width and
// painted as often as the theme changes. Its text has passed pages/text and holds no control character.
type Line struct {
	Text string
	Runs []Run // ascending, not overlapping; what none of them covers has the role of the whole
	Role themes.Role
	// Gutter is how many bytes at the beginning are no content: indents, rails, bullets of a wrapped item, line numbers. Copying leaves
	// them out.
	Gutter int
	// Soft says that the line goes on where the one before was wrapped: copying joins the two with Joint instead of a line feed.
	Soft  bool
	Joint string
	// Fill paints the rest of the row in the line's role, as for code and changed lines.
	Fill bool
}

// Run is a part of a line with a role or attributes of its own.
type Run struct {
	From, To int // bytes of Text
	Role     themes.Role
	On       themes.Role // what it lies on where that is not the role of the line: one side of a row with two
	Attr     Attr
	Link     string // where it leads, http, https or mailto; "" for nowhere
}

// Attr is what a run has beside the style of its role.
type Attr uint8

const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Strike
	Inverse
)

// Copied is the text of lines as a person means it when they copy them: without gutters, with wrapped lines put together.
func Copied(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		switch {
		case i == 0:
		case l.Soft:
			b.WriteString(l.Joint)
		default:
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(l.Text[min(l.Gutter, len(l.Text)):], " "))
	}
	return b.String()
}
