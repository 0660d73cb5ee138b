package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// step is one change: at a place, removed became inserted.
type step struct {
	at                place
	removed, inserted fragment
	before, after     caret
}

// bytes is the text that the step holds.
func (s *step) bytes() int { return len(s.removed.text) + len(s.inserted.text) }

// undo is what was done and what was undone, newest last.
type undo struct {
	past, future []step
	last         action
}

// Undo takes back the newest step: a word typed or deleted, a paste, or whatever else changed the text (product.md 2.4).
func (b *Buffer) Undo() bool {
	if len(b.past) == 0 {
		return false
	}
	s := b.past[len(b.past)-1]
	b.past = drop(b.past)
	b.splice(s.at, s.at.after(s.inserted.text), s.inserted, s.removed)
	b.caret, b.last = s.before, other
	b.future = append(b.future, s)
	return true
}

// Redo does again what Undo took back last. Any other change ends that.
func (b *Buffer) Redo() bool {
	if len(b.future) == 0 {
		return false
	}
	s := b.future[len(b.future)-1]
	b.future = drop(b.future)
	b.splice(s.at, s.at.after(s.removed.text), s.removed, s.inserted)
	b.caret, b.last = s.after, other
	b.past = append(b.past, s)
	return true
}

// drop takes the last step off a list, which lets go of what it holds.
func drop(steps []step) []step {
	steps[len(steps)-1] = step{}
	return steps[:len(steps)-1]
}

// record remembers a step, or lets the newest one grow by it when both are typing, or deleting, within a word.
func (s *state) record(next step, a action) {
	clear(s.future)
	s.future = s.future[:0]
	if n := len(s.past); n == 0 || a != s.last || !s.past[n-1].grow(next, a) {
		s.past = append(s.past, next)
	}
	drop := 0
	for drop < len(s.past)-1 && s.tooMuch(s.past[drop:]) {
		drop++
	}
	clear(s.past[:drop])
	s.past = s.past[drop:]
}

// grow joins two steps that follow one another, if they belong together.
func (s *step) grow(next step, a action) bool {
	switch a {
	case typed:
		if !next.removed.empty() || next.at != s.at.after(s.inserted.text) || newWord(s.inserted.text, next.inserted.text) {
			return false
		}
		s.inserted = join(s.inserted, next.inserted)
	case backspaced:
		if next.at.after(next.removed.text) != s.at || newWord(next.removed.text, s.removed.text) {
			return false
		}
		s.at = next.at
		s.removed = join(next.removed, s.removed)
	case deleted:
		if next.at != s.at || newWord(s.removed.text, next.removed.text) {
			return false
		}
		s.removed = join(s.removed, next.removed)
	default:
		return false
	}
	s.after = next.after
	return true
}

// newWord reports whether a word begins between two texts.
func newWord(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return unicode.IsSpace(last) && !unicode.IsSpace(first) || strings.HasSuffix(a, mark) || strings.HasPrefix(b, mark)
}

// tooMuch reports whether so many steps cross a bound. Nothing is left to redo when it is asked, so what they hold beyond the
// draft is what they removed.
func (s *state) tooMuch(steps []step) bool {
	bytes := 0
	var gone map[*Chip]bool
	for i := range steps {
		bytes += steps[i].bytes()
		for _, c := range steps[i].removed.chips {
			if gone == nil {
				gone = map[*Chip]bool{}
			}
			gone[c] = true
		}
	}
	payload := 0
	for c := range gone {
		payload += c.weight()
	}
	return len(steps) > MaxUndo || bytes > MaxUndoBytes || payload > MaxUndoPayload
}
