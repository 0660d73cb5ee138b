package editor

import (
	"slices"
	"strings"
)

// Insert puts typed text in the place of the selection or at the cursor. Text that is typed on makes one step with what came
// before it in the same word. The error is a *TextFullError.
func (b *Buffer) Insert(s string) (bool, error) {
	f, err := b.cleaned(s)
	if err != nil {
		return false, err
	}
	return b.put(f, typed)
}

// InsertNewline is Insert of a newline.
func (b *Buffer) InsertNewline() (bool, error) { return b.Insert("\n") }

// SetText makes s the whole text, as one step, with the cursor at its end. A label of a chip of the draft goes on standing for that
// chip, once, so that Value can be given to another editor and taken back (product.md 2.4). The error is a *TextFullError.
func (b *Buffer) SetText(s string) (bool, error) {
	f, err := b.cleaned(s)
	if err != nil {
		return false, err
	}
	return b.replace(place{}, b.end(), b.recognise(f), other)
}

// Clear empties the draft, as one step. Chips are numbered from 1 again.
func (b *Buffer) Clear() bool {
	changed := b.apply(place{}, b.end(), fragment{}, other)
	b.numbers = [kinds]int{}
	return changed
}

// Replace puts s in the place of the bytes from..to of Value, as one step, with the cursor behind it. The error is a
// *TextFullError.
func (b *Buffer) Replace(from, to int, s string) (bool, error) {
	f, err := b.cleaned(s)
	if err != nil {
		return false, err
	}
	start := b.place(from)
	return b.replace(start, b.place(max(from, to)), f, other)
}

// Backspace removes the selection, or else what is before the cursor: one character as a reader sees it, or a chip with what it
// stands for.
func (b *Buffer) Backspace() bool {
	if from, to, ok := b.selected(); ok {
		return b.apply(from, to, fragment{}, other)
	}
	return b.apply(b.previous(b.cursor), b.cursor, fragment{}, backspaced)
}

// Delete removes the selection, or else what is behind the cursor.
func (b *Buffer) Delete() bool {
	if from, to, ok := b.selected(); ok {
		return b.apply(from, to, fragment{}, other)
	}
	return b.apply(b.cursor, b.next(b.cursor), fragment{}, deleted)
}

// cleaned is a text from outside as it may stand in the draft.
func (b *Buffer) cleaned(s string) (fragment, error) {
	if len(s) > maxRaw {
		return fragment{}, &TextFullError{b.size + len(s)}
	}
	return fragment{text: clean(s)}, nil
}

// recognise makes chips of the draft of their labels in a text, from left to right.
func (s *state) recognise(f fragment) fragment {
	type found struct {
		*Chip
		at int // where its label is next
	}
	var left []found
	for _, c := range s.chips {
		if i := strings.Index(f.text, c.Label()); i >= 0 {
			left = append(left, found{c.Chip, i})
		}
	}
	var out fragment
	var b strings.Builder
	done := 0
	for len(left) > 0 {
		first := 0
		for i := range left {
			if left[i].at < left[first].at {
				first = i
			}
		}
		c := left[first]
		left = slices.Delete(left, first, first+1)
		if c.at < done { // that was in the name of another one
			if i := strings.Index(f.text[done:], c.Label()); i >= 0 {
				left = append(left, found{c.Chip, done + i})
			}
			continue
		}
		b.WriteString(f.text[done:c.at])
		b.WriteString(mark)
		out.chips = append(out.chips, c.Chip)
		done = c.at + len(c.Label())
	}
	b.WriteString(f.text[done:])
	out.text = b.String()
	return out
}

// put is replace for the selection or at the cursor; nothing leaves a selection as it is.
func (b *Buffer) put(with fragment, a action) (bool, error) {
	if with.empty() {
		return false, nil
	}
	from, to, ok := b.selected()
	if !ok {
		from, to = b.cursor, b.cursor
	}
	return b.replace(from, to, with, a)
}

// replace is apply for what has to fit.
func (b *Buffer) replace(from, to place, with fragment, a action) (bool, error) {
	if err := b.fits(from, to, with); err != nil {
		return false, err
	}
	return b.apply(from, to, with, a), nil
}

// apply puts with in the place of from..to, the cursor behind it, and remembers how to undo it. Where the same stands already
// only the cursor moves.
func (s *state) apply(from, to place, with fragment, a action) bool {
	removed := s.cut(from, to)
	before := s.caret
	if removed.same(with) {
		s.caret, s.last = caret{cursor: to}, other
		return s.caret != before
	}
	s.splice(from, to, removed, with)
	s.caret = caret{cursor: s.ceil(from.after(with.text))}
	s.record(step{at: from, removed: removed, inserted: with, before: before, after: s.caret}, a)
	s.last = a
	return true
}

// splice puts with in the place of from..to, where removed is.
func (s *state) splice(from, to place, removed, with fragment) {
	s.seek(from.line) // so that the sums stay true
	first, last := s.chipAt(from), s.chipAt(to)
	lines := strings.Count(with.text, "\n")
	head, tail := s.lines[from.line].text[:from.at], s.lines[to.line].text[to.at:]

	s.size += with.size() - removed.size()
	s.bytes += with.bytes() - removed.bytes()
	for i := last; i < len(s.chips); i++ {
		s.chips[i].line += lines - (to.line - from.line)
	}
	s.chips = slices.Replace(s.chips, first, last, with.placedFrom(from.line)...)
	for _, l := range s.lines[from.line : to.line+1] {
		s.rows -= l.rows()
	}
	if lines == 0 && from.line == to.line {
		l := &s.lines[from.line]
		l.text = head + with.text + tail
		l.more = rewrap(l.more, l.text, s.chipsOf(from.line), s.room(), from.at, len(with.text), len(with.text)-len(removed.text))
		s.rows += l.rows()
		return
	}
	fresh := make([]line, 0, lines+1)
	rest := with.text
	for i := range lines + 1 {
		var text string
		text, rest, _ = strings.Cut(rest, "\n")
		if i == 0 {
			text = head + text
		}
		if i == lines {
			text += tail
		}
		fresh = append(fresh, line{text: text})
	}
	s.lines = slices.Replace(s.lines, from.line, to.line+1, fresh...)
	for i := range lines + 1 {
		s.wrapLine(from.line + i)
		s.rows += s.lines[from.line+i].rows()
	}
}
