package editor

import (
	"fmt"
	"strings"

	"octavo/pages/text"
)

// ChipKind says what a chip stands for.
type ChipKind uint8

const (
	TextChip  ChipKind = iota // a long paste
	ImageChip                 // a picture
	FileChip                  // a file named by its path
	kinds
)

// Chip stands in a draft for something that is too large, or no text (product.md 2.4). It is one character for the cursor.
type Chip struct {
	Kind   ChipKind
	Number int    // counts each kind in a draft from 1
	Text   string // the text of a TextChip, the path of a FileChip
	Name   string // of an image or a file, for the label
	Data   []byte // of an image
	Width  int    // pixels, 0 unknown
	Height int    // pixels, 0 unknown
	Size   int64  // bytes of a file, 0 unknown

	label string
}

// Label is what the draft shows: [Pasted text #1, 512 lines], [Image #1 shot.png 640x480], [File #2 report.pdf 12 KiB].
func (c *Chip) Label() string {
	if c.label != "" {
		return c.label
	}
	var b strings.Builder
	switch c.Kind {
	case TextChip:
		fmt.Fprintf(&b, "[Pasted text #%d, ", c.Number)
		if n := lineCount(c.Text); n > 1 {
			b.WriteString(text.Plural(n, "line"))
		} else {
			b.WriteString(text.Bytes(int64(len(c.Text))))
		}
	case ImageChip:
		fmt.Fprintf(&b, "[Image #%d", c.Number)
		c.writeName(&b)
		if c.Width > 0 && c.Height > 0 {
			fmt.Fprintf(&b, " %dx%d", c.Width, c.Height)
		}
	case FileChip:
		fmt.Fprintf(&b, "[File #%d", c.Number)
		c.writeName(&b)
		if c.Size > 0 {
			b.WriteString(" " + text.Bytes(c.Size))
		}
	}
	b.WriteByte(']')
	return b.String()
}

func (c *Chip) writeName(b *strings.Builder) {
	if name := text.Cut(text.CleanLine(c.Name), MaxName, "…"); name != "" {
		b.WriteString(" " + name)
	}
}

// numbered is the chip with a number.
func (c *Chip) numbered(n int) *Chip {
	d := *c
	d.Number, d.label = n, ""
	d.label = d.Label()
	return &d
}

// Payload is what the chip stands for as text: a text or a path, and for an image its label.
func (c *Chip) Payload() string {
	if c.Kind == ImageChip {
		return c.Label()
	}
	return c.Text
}

// weight is the memory that the chip holds, in bytes.
func (c *Chip) weight() int { return len(c.Text) + len(c.Data) }

// shown is the label in a row of so many cells.
func (c *Chip) shown(room int) string { return text.Cut(c.Label(), room, "…]") }

// lineCount is how many lines a person would say a text has.
func lineCount(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
}
