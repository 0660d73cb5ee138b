package render

import (
	"strings"

	"octavo/pages"
	"octavo/pages/text"
)

// Options is how something is shown.
type Options struct {
	Width   int // cells; 0 and less is as wide as it takes
	Palette Palette
}

// cut shortens a clean line to the width of the options.
func (o Options) cut(line string) string {
	if o.Width <= 0 {
		return line
	}
	return text.Cut(line, o.Width, "…")
}

// Display shows what a tool has for a person, as lines without a newline at the end: the title, then the diff or the text, whose
// lines are wrapped. An empty Display is an empty string.
func Display(d pages.Display, o Options) string {
	var parts []string
	if title := text.CleanLine(d.Title); title != "" {
		parts = append(parts, o.Palette.Strong.Paint(o.cut(title)))
	}
	if d.Diff != nil {
		parts = append(parts, Diff(*d.Diff, o))
	}
	if body := strings.Trim(text.Clean(d.Text), "\n"); body != "" {
		parts = append(parts, text.Wrap(body, o.Width))
	}
	return strings.Join(parts, "\n")
}
