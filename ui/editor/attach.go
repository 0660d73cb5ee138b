package editor

import "strings"

// Paste puts pasted text in the place of the selection or at the cursor, as one step. More than MaxInlinePaste bytes or
// MaxInlineLines lines become a chip. The error is a *TextFullError or a *ChipsFullError.
func (b *Buffer) Paste(s string) (bool, error) {
	f, err := b.cleaned(s)
	if err != nil {
		return false, err
	}
	if len(f.text) <= MaxInlinePaste && lineCount(f.text) <= MaxInlineLines {
		return b.put(f, other)
	}
	return b.attach(&Chip{Kind: TextChip, Text: f.text})
}

// Attach puts chips in the place of the selection or at the cursor, as one step, all or none of them (product.md 2.4), with spaces
// between them. Their numbers are given here; Data is kept and not to be changed. The error is a *TextFullError, *ChipsFullError,
// *ImagesTooLargeError or *BadNameError.
func (b *Buffer) Attach(chips ...Chip) (bool, error) {
	if len(chips) == 0 {
		return false, nil
	}
	own := make([]*Chip, len(chips))
	for i, c := range chips {
		c.Number = 0
		switch c.Kind {
		case ImageChip:
			c.Text = ""
		case FileChip:
			if clean(c.Text) != c.Text {
				return false, &BadNameError{c.Text}
			}
		default:
			c.Kind = TextChip
			f, err := b.cleaned(c.Text)
			if err != nil {
				return false, err
			}
			c.Text = f.text
		}
		own[i] = &c
	}
	return b.attach(own...)
}

// Expand puts its text in the place of the chip before the cursor, or else behind it, as one step, with the cursor behind it. It
// does nothing where there is no chip and for an image.
func (b *Buffer) Expand() bool {
	at := b.cursor
	from := b.previous(at)
	if b.class(from) != chipClass || from.line != at.line {
		from = at
	}
	if b.class(from) != chipClass {
		return false
	}
	c := b.chips[b.chipAt(from)]
	if c.Kind == ImageChip {
		return false
	}
	return b.apply(from, b.next(from), fragment{text: c.Text}, other)
}

func (b *Buffer) attach(chips ...*Chip) (bool, error) {
	from, to, _ := b.selected()
	text := strings.TrimSuffix(strings.Repeat(mark+" ", len(chips)), " ")
	numbers := b.numbers
	f := b.adopt(from, to, fragment{text, chips})
	changed, err := b.replace(from, to, f, other)
	if err != nil {
		b.numbers = numbers
	}
	return changed, err
}

// adopt numbers chips that take the place of from..to: those without a number, and those whose number is in use.
func (s *state) adopt(from, to place, f fragment) fragment {
	if len(f.chips) == 0 {
		return f
	}
	first, last := s.chipAt(from), s.chipAt(to)
	type name struct {
		ChipKind
		int
	}
	used := map[name]bool{}
	for i, c := range s.chips {
		s.numbers[c.Kind] = max(s.numbers[c.Kind], c.Number)
		if i < first || i >= last {
			used[name{c.Kind, c.Number}] = true
		}
	}
	out := fragment{text: f.text, chips: make([]*Chip, len(f.chips))}
	for i, c := range f.chips {
		if c.Number == 0 || used[name{c.Kind, c.Number}] {
			c = c.numbered(s.numbers[c.Kind] + 1)
		}
		s.numbers[c.Kind] = max(s.numbers[c.Kind], c.Number)
		used[name{c.Kind, c.Number}] = true
		out.chips[i] = c
	}
	return out
}
