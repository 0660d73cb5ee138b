// Package editor is the text being composed: a draft with its cursor and rows, what was pasted into it and attached to it, how it
// came about, and the prompts before it (ui.md 2 and 13, product.md 2.4). It is data and functions on data, and knows no terminal,
// key, clock or file.
package editor

// Buffer is one draft. Its cursor, and the other end of a selection, only ever stand between two characters as a reader sees them,
// or beside a chip, never in one. All text in it is clean (pages/text), except that tabs stay tabs.
//
// Offsets are bytes of Value. Methods that change something report whether they did; those that let the draft grow also answer
// an error when it would cross a bound, and then change nothing. A Buffer is not safe for concurrent use.
type Buffer struct {
	state
	kills     *KillRing
	extending bool // the movement that runs was called by Select

	// What Yank or YankPop put there, and which kill that is, counted from the newest.
	yankFrom, yankTo place
	turn             int
}

// state is everything that belongs to one draft.
type state struct {
	lines   []line     // of the text, never none
	chips   []placed   // in the order of the text
	numbers [kinds]int // the last one given to a chip of each kind
	size    int        // bytes that count against MaxText
	caret
	undo
	layout
}

// caret is where a person is in the text.
type caret struct {
	cursor    place
	anchor    place // where the selection began
	selecting bool
}

// action is what was done last, where that makes a difference for what comes next.
type action uint8

const (
	other      action = iota
	typed             // goes on within a word
	backspaced        // goes on within a word
	deleted           // goes on within a word
	killed            // the next kill joins it
	yanked            // may be replaced by YankPop
	climbed           // the next movement up or down keeps the column
)

// New gives an empty draft. Buffers with the same ring can take what the others killed; nil is a ring of its own.
func New(ring *KillRing) *Buffer {
	if ring == nil {
		ring = &KillRing{}
	}
	return &Buffer{state: newState(defaultWidth), kills: ring}
}

func newState(width int) state {
	return state{lines: make([]line, 1), layout: layout{width: width, rows: 1}}
}

// Value is the text, with the label of each chip in its place.
func (b *Buffer) Value() string { return b.whole().labelled() }

// Len is the length of Value in bytes.
func (b *Buffer) Len() int { return b.bytes }

// Empty reports whether nothing was composed.
func (b *Buffer) Empty() bool { return b.bytes == 0 }

// Offset is where the cursor stands.
func (b *Buffer) Offset() int { return b.offset(b.cursor) }

// Chips lists what was pasted and attached, in the order of the text. The chips are not to be changed.
func (b *Buffer) Chips() []*Chip { return b.chipsFrom(0, len(b.chips)) }

// end is the place after everything.
func (s *state) end() place { return place{len(s.lines) - 1, len(s.lines[len(s.lines)-1].text)} }

// whole is all of the text.
func (s *state) whole() fragment { return s.cut(place{}, s.end()) }
