package editor

// Selection is what is selected, as bytes of Value. It is not ok when nothing is.
func (b *Buffer) Selection() (from, to int, ok bool) {
	start, end, ok := b.selected()
	if !ok {
		return 0, 0, false
	}
	return b.offset(start), b.offset(end), true
}

// Select runs a movement that selects: from where the cursor was, or the selection began, to where it goes. For example
// b.Select(b.WordRight).
func (b *Buffer) Select(move func() bool) bool {
	b.extending = true
	defer func() { b.extending = false }()
	return move()
}

// SelectAll selects the whole text.
func (b *Buffer) SelectAll() bool { return b.choose(place{}, b.end()) }

// SelectWord selects the word, the run of spaces or the chip at the cursor.
func (b *Buffer) SelectWord() bool {
	from, to := b.cursor, b.cursor
	text := b.lines[from.line].text
	at := from
	if at.at == len(text) && at.at > 0 {
		at = b.previous(at)
	}
	if at.at == len(text) {
		return b.choose(from, to)
	}
	from, to = at, b.next(at)
	kind := classOf(text, at.at)
	for kind != chipClass && to.at < len(text) && classOf(text, to.at) == kind {
		to = b.next(to)
	}
	for p := range b.before(from) {
		if kind == chipClass || p.line != from.line || classOf(text, p.at) != kind {
			break
		}
		from = p
	}
	return b.choose(from, to)
}

// SelectLine selects the line of the cursor, without its newline.
func (b *Buffer) SelectLine() bool {
	line := b.cursor.line
	return b.choose(place{line, 0}, place{line, len(b.lines[line].text)})
}

// Unselect drops the selection.
func (b *Buffer) Unselect() bool { return b.choose(b.cursor, b.cursor) }

// Copy is the selected text, with what its chips stand for in place of their labels; "" when nothing is selected.
func (b *Buffer) Copy() string {
	from, to, _ := b.selected()
	return b.cut(from, to).paid()
}

// Cut removes what Copy gives, and keeps it for Yank too.
func (b *Buffer) Cut() string {
	s := b.Copy()
	if from, to, ok := b.selected(); ok {
		b.last = other // it joins no other kill
		b.kill(from, to, false)
		b.last = other
	}
	return s
}

// choose selects from..to, with the cursor at its end.
func (b *Buffer) choose(from, to place) bool {
	next := caret{cursor: to}
	if from != to {
		next.anchor, next.selecting = from, true
	}
	b.last = other
	changed := next != b.caret
	b.caret = next
	return changed
}

// selectedIn is what is selected of a line, as its bytes.
func (s *state) selectedIn(line int) (from, to int) {
	start, end, _ := s.selected()
	if line < start.line || line > end.line {
		return 0, 0
	}
	to = len(s.lines[line].text)
	if line == start.line {
		from = start.at
	}
	if line == end.line {
		to = end.at
	}
	return from, to
}

// selected is what is selected; without a selection it is empty and at the cursor.
func (s *state) selected() (from, to place, ok bool) {
	switch {
	case !s.selecting:
		return s.cursor, s.cursor, false
	case s.anchor.before(s.cursor):
		return s.anchor, s.cursor, true
	}
	return s.cursor, s.anchor, true
}
