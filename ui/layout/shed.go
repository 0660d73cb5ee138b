package layout

import (
	"slices"
	"strings"

	"octavo/pages/text"
)

// MinGap is how many cells are at least between the two sides of a row.
const MinGap = 2

// Part is a piece of a header, a status row or a footer. Text must be clean and without styling.
type Part struct {
	Name   string // for who styles it
	Text   string
	Short  []string // what may take its place, each shorter than the one before
	Before string   // what sets it apart from the part before it on its side
	Right  bool
	// Shed is when it gives way: the lowest first, of equals the last. It takes its short forms one by one and then goes. 0 stays for
	// ever, such as the model (ui.md 2).
	Shed int
}

// Shed drops and shortens parts until a row of at most width cells can hold them, with MinGap between its sides. Parts that never
// give way are cut, the last first, where even they are too wide.
func Shed(width int, parts []Part) []Part {
	kept := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Text == "" })
	for over := RowWidth(kept) - width; over > 0; over = RowWidth(kept) - width {
		at := next(kept)
		if at < 0 {
			return cut(width, kept)
		}
		if p := &kept[at]; len(p.Short) > 0 {
			p.Text, p.Short = p.Short[0], p.Short[1:]
		} else {
			p.Text = ""
		}
		if kept[at].Text == "" {
			kept = slices.Delete(kept, at, at+1)
		}
	}
	return kept
}

// next is the part that gives way now; -1 when none does.
func next(parts []Part) int {
	at := -1
	for i, p := range parts {
		if p.Shed > 0 && (at < 0 || p.Shed <= parts[at].Shed) {
			at = i
		}
	}
	return at
}

// cut shortens parts that never give way.
func cut(width int, parts []Part) []Part {
	for len(parts) > 0 {
		over := RowWidth(parts) - width
		if over <= 0 {
			return parts
		}
		last := &parts[len(parts)-1]
		if room := text.Width(last.Text) - over; room > 0 {
			last.Text = text.Cut(last.Text, room, "…")
			return parts
		}
		parts = parts[:len(parts)-1]
	}
	return parts
}

// RowWidth is how many cells parts take at least, with the gap between the sides.
func RowWidth(parts []Part) int {
	left, right := Sides(parts)
	w := text.Width(left) + text.Width(right)
	if left != "" && right != "" {
		w += MinGap
	}
	return w
}

// Sides are the texts of parts, in their order.
func Sides(parts []Part) (left, right string) {
	var sides [2]strings.Builder
	for _, p := range parts {
		side := &sides[0]
		if p.Right {
			side = &sides[1]
		}
		if side.Len() > 0 {
			side.WriteString(p.Before)
		}
		side.WriteString(p.Text)
	}
	return sides[0].String(), sides[1].String()
}
