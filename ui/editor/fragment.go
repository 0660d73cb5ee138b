package editor

import (
	"slices"
	"strings"
)

// mark stands for a chip in a text. It is a noncharacter, which the cleaner takes out of everything from outside, so that no text
// can claim to hold a chip.
const mark = "\ufdd0"

// fragment is a piece of a draft: a text, and the chips that its marks stand for, in order.
type fragment struct {
	text  string
	chips []*Chip
}

// placed is a chip in a draft.
type placed struct {
	*Chip
	line int
}

// empty reports whether nothing is in it.
func (f fragment) empty() bool { return f.text == "" }

// same reports whether nothing changes when one takes the place of the other.
func (f fragment) same(g fragment) bool { return f.text == g.text && slices.Equal(f.chips, g.chips) }

// size is what it counts against MaxText.
func (f fragment) size() int {
	n := len(f.text) - len(mark)*len(f.chips)
	for _, c := range f.chips {
		n += max(len(c.Label()), len(c.Payload()))
	}
	return n
}

// bytes is the length of labelled.
func (f fragment) bytes() int {
	n := len(f.text) - len(mark)*len(f.chips)
	for _, c := range f.chips {
		n += len(c.Label())
	}
	return n
}

// labelled is the text with labels, as it is shown.
func (f fragment) labelled() string { return f.render((*Chip).Label) }

// paid is the text with what the chips stand for, as it is sent and copied.
func (f fragment) paid() string { return f.render((*Chip).Payload) }

func (f fragment) render(of func(*Chip) string) string {
	if len(f.chips) == 0 {
		return f.text
	}
	var b strings.Builder
	rest := f.text
	for _, c := range f.chips {
		before, after, _ := strings.Cut(rest, mark)
		b.WriteString(before)
		b.WriteString(of(c))
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

// join is two pieces as one.
func join(a, b fragment) fragment {
	return fragment{a.text + b.text, slices.Concat(a.chips, b.chips)}
}

// placedFrom puts the chips on their lines, of which the first is given.
func (f fragment) placedFrom(line int) []placed {
	if len(f.chips) == 0 {
		return nil
	}
	out := make([]placed, 0, len(f.chips))
	rest := f.text
	for _, c := range f.chips {
		before, after, _ := strings.Cut(rest, mark)
		line += strings.Count(before, "\n")
		out = append(out, placed{c, line})
		rest = after
	}
	return out
}

// after is where a text ends that begins at a place.
func (p place) after(s string) place {
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		return place{p.line + strings.Count(s, "\n"), len(s) - i - 1}
	}
	return place{p.line, p.at + len(s)}
}
