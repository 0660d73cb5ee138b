package editor

// Left moves by one character, or to the start of the selection.
func (b *Buffer) Left() bool {
	if from, _, ok := b.selected(); ok && !b.extending {
		return b.move(from)
	}
	return b.move(b.previous(b.cursor))
}

// Right moves by one character, or to the end of the selection.
func (b *Buffer) Right() bool {
	if _, to, ok := b.selected(); ok && !b.extending {
		return b.move(to)
	}
	return b.move(b.next(b.cursor))
}

// WordLeft moves to where the word before the cursor begins, WordRight to where the one behind it ends.
func (b *Buffer) WordLeft() bool  { return b.move(b.wordBefore(b.cursor)) }
func (b *Buffer) WordRight() bool { return b.move(b.wordAfter(b.cursor)) }

// LineStart and LineEnd move within the line, however many rows it takes.
func (b *Buffer) LineStart() bool { return b.move(place{b.cursor.line, 0}) }
func (b *Buffer) LineEnd() bool   { return b.move(b.lineEnd()) }

// DocumentStart and DocumentEnd move to where the text begins and ends.
func (b *Buffer) DocumentStart() bool { return b.move(place{}) }
func (b *Buffer) DocumentEnd() bool   { return b.move(b.end()) }

// MoveTo moves to an offset, or to the nearest place before it where the cursor may stand.
func (b *Buffer) MoveTo(offset int) bool { return b.move(b.place(offset)) }

// JumpForward moves to the next place where a character stands, JumpBackward to the last one before the cursor. They look in all
// lines and tell upper from lower case.
func (b *Buffer) JumpForward(character string) bool {
	if character == "" {
		return false
	}
	for p := b.next(b.cursor); p != b.end(); p = b.next(p) {
		text := b.lines[p.line].text
		if p.at < len(text) && text[p.at:p.at+size(text, p.at)] == character {
			return b.move(p)
		}
	}
	return false
}

func (b *Buffer) JumpBackward(character string) bool {
	if character == "" {
		return false
	}
	for p := range b.before(b.cursor) {
		text := b.lines[p.line].text
		if p.at < len(text) && text[p.at:p.at+size(text, p.at)] == character {
			return b.move(p)
		}
	}
	return false
}

// Up and Down move by rows of a width and keep the column where they began. On the first or the last row they do nothing and say
// so: there history begins (ui.md 13).
func (b *Buffer) Up(width int) bool   { return b.climb(width, -1) }
func (b *Buffer) Down(width int) bool { return b.climb(width, 1) }

// PageUp and PageDown move by the rows of a window less one.
func (b *Buffer) PageUp(width, height int) bool   { return b.climb(width, -max(1, height-1)) }
func (b *Buffer) PageDown(width, height int) bool { return b.climb(width, max(1, height-1)) }

func (b *Buffer) climb(width, by int) bool {
	b.resize(width)
	row, column := b.rowOf(b.cursor)
	if b.last == climbed {
		column = b.goal
	}
	to := min(max(row+by, 0), b.rows-1)
	if to == row {
		return false
	}
	b.move(b.at(to, column, false))
	b.goal, b.last = column, climbed
	return true
}

// move puts the cursor somewhere, and drops the selection or extends it.
func (b *Buffer) move(to place) bool {
	next := caret{cursor: to}
	if b.extending {
		next.anchor = b.cursor
		if b.selecting {
			next.anchor = b.anchor
		}
		next.selecting = next.anchor != to
	}
	if !next.selecting {
		next.anchor = place{}
	}
	b.last = other
	changed := next != b.caret
	b.caret = next
	return changed
}

func (s *state) lineEnd() place { return place{s.cursor.line, len(s.lines[s.cursor.line].text)} }
