// Package layout divides a screen: pure functions from a size and a few facts to rectangles (ui.md 2 and 4). It knows no text, no
// style and no terminal; what is drawn into a rectangle is cut to it by whoever draws.
package layout

// Rect is a part of the screen in cells, from 0 at the upper left. One without cells is not drawn.
type Rect struct{ X, Y, W, H int }

// Empty reports whether it has no cells.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether a cell lies in it, for what a mouse points at.
func (r Rect) Contains(x, y int) bool { return r.X <= x && x < r.X+r.W && r.Y <= y && y < r.Y+r.H }

// Size is what can be shown on a screen.
type Size uint8

const (
	None    Size = iota // no cell: nothing is drawn
	Small               // one line that asks for room
	Compact             // primary text, a state word and one hint
	Full
)

// Sizes (ui.md 1).
const (
	FullWidth     = 60
	FullHeight    = 16
	CompactWidth  = 40
	CompactHeight = 10
)

// Classify says what a screen has room for.
func Classify(width, height int) Size {
	switch {
	case width <= 0 || height <= 0:
		return None
	case width < CompactWidth || height < CompactHeight:
		return Small
	case width < FullWidth || height < FullHeight:
		return Compact
	}
	return Full
}

// padded is where the padding grows.
const padded = 50

// Padding is how many columns stay free at each side of a screen (ui.md 2).
func Padding(width int) int {
	if width >= padded {
		return 2
	}
	return 1
}

// inner is the width between the paddings.
func inner(width int) int { return max(0, width-2*Padding(width)) }

// message is the line that asks for room.
func message(width int) Rect { return Rect{W: width, H: 1} }

// rows hands out the rows of a screen from the top.
type rows struct {
	x, y, w int
}

// take gives the next rows; none leave no trace.
func (r *rows) take(h int) Rect {
	if h <= 0 || r.w <= 0 {
		return Rect{}
	}
	taken := Rect{r.x, r.y, r.w, h}
	r.y += h
	return taken
}

// give moves rows from what is left to whoever wants them.
func give(left *int, wanted int) int {
	given := max(0, min(*left, wanted))
	*left -= given
	return given
}
