// Package textdiff makes a pages.Diff out of two versions of a file. It works on bytes and lines alone: it reads no file, knows
// no encoding and no colour, and cleans nothing, so that what it makes can still be applied.
package textdiff

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"octavo/pages"
	"octavo/pages/text"
)

// Context is how many unchanged lines a hunk shows on each side of a change.
const Context = 3

// CutMark ends a line that was cut at pages.MaxDiffLineBytes; the bound includes it.
const CutMark = "…"

// Options says of a change what its two texts cannot.
type Options struct {
	New     bool // the file did not exist before; old is taken as empty
	Removed bool // the file does not exist after; new is taken as empty
}

// Make compares two versions of the file that a person knows as path. Lines end in \n alone, so a \r before it is part of the
// text and a change of line endings is a change. Added and Deleted count everything; Hunks hold at most pages.MaxDiffLines lines
// of at most pages.MaxDiffLineBytes bytes, and Cut is set as soon as either bound left something out. A change that crosses
// the bound shows the beginning of both its sides, and the counts of its hunk are those of the lines it shows.
//
// The work is bounded whatever the input: what differs between the common start and end of both texts is compared line by line
// up to MaxComparedLines, and beyond that shown as one replaced block. The result keeps nothing of old and new alive.
func Make(path string, old, new []byte, o Options) *pages.Diff {
	d, p, changes := compare(path, old, new, o)
	b := builder{pair: p, diff: d, maxLines: pages.MaxDiffLines, maxBytes: math.MaxInt}
	b.hunks(changes)
	return d
}

// TooLargeError is a change beyond what a person can review, and how large it is. Bytes is 0 when already the lines are too many.
type TooLargeError struct{ Lines, Bytes int }

func (e *TooLargeError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("a change of %s, with more than %s to look at", text.Plural(e.Lines, "line"), text.Bytes(pages.MaxReviewBytes))
	}
	return "a change of " + text.Plural(e.Lines, "line")
}

// Whole is Make for somebody who decides on the change: no line that changes is left out or cut, whatever its length; only lines of
// context are cut at pages.MaxDiffLineBytes. A change beyond pages.MaxReviewLines or pages.MaxReviewBytes is a *TooLargeError. So
// is, since its lines are not told apart, a change in a text beyond MaxComparedLines.
func Whole(path string, old, new []byte, o Options) (*pages.Diff, error) {
	d, p, changes := compare(path, old, new, o)
	changed := d.Added + d.Deleted
	if changed > pages.MaxReviewLines {
		return nil, &TooLargeError{Lines: changed}
	}
	b := builder{pair: p, diff: d, maxLines: math.MaxInt, maxBytes: pages.MaxReviewBytes, whole: true}
	b.hunks(changes)
	if b.bytes > b.maxBytes {
		return nil, &TooLargeError{Lines: changed, Bytes: b.bytes}
	}
	return d, nil
}

// compare finds the changes and counts their lines.
func compare(path string, old, new []byte, o Options) (*pages.Diff, pair, []change) {
	if o.New {
		old = nil
	}
	if o.Removed {
		new = nil
	}
	d := &pages.Diff{Path: path, New: o.New, Removed: o.Removed}
	if bytes.Equal(old, new) {
		return d, pair{}, nil
	}
	p := trim(old, new)
	changes := p.changes()
	for _, c := range changes {
		d.Deleted += c.End - c.Start
		d.Added += c.ReplEnd - c.ReplStart
	}
	return d, p, changes
}

// builder fills the hunks of one diff until the room for lines or bytes is used up.
type builder struct {
	pair
	diff               *pages.Diff
	maxLines, maxBytes int
	whole              bool // lines that change are not cut
	lines, bytes       int  // so far, over all hunks
}

func (b *builder) hunks(changes []change) {
	for len(changes) > 0 && !b.full() {
		n := 1
		for n < len(changes) && changes[n].Start-changes[n-1].End <= 2*Context {
			n++
		}
		b.hunk(changes[:n])
		changes = changes[n:]
	}
	if len(changes) > 0 {
		b.diff.Cut = true
	}
}

// hunk shows a run of changes that are near enough to share their context.
func (b *builder) hunk(changes []change) {
	first, last := changes[0], changes[len(changes)-1]
	lead := min(Context, first.Start)
	h := pages.Hunk{OldStart: first.Start - lead, NewStart: first.ReplStart - lead}
	at := h.OldStart
	for _, c := range changes {
		b.same(&h, at, c.Start)
		b.change(&h, c)
		at = c.End
	}
	b.same(&h, last.End, min(last.End+Context, b.old.count))

	h.OldStart = b.number(h.OldStart, h.OldLines)
	h.NewStart = b.number(h.NewStart, h.NewLines)
	if slices.ContainsFunc(h.Lines, changed) { // else only its context found room
		b.diff.Hunks = append(b.diff.Hunks, h)
	}
}

// number is what a hunk header says for a side that begins at the line index at: lines count from 1, and a side that has none
// names the line before.
func (b *builder) number(at, lines int) int {
	if lines == 0 {
		return b.before + at
	}
	return b.before + at + 1
}

func changed(l pages.DiffLine) bool { return l.Op != pages.LineSame }

func (b *builder) full() bool { return b.lines >= b.maxLines || b.bytes > b.maxBytes }

func (b *builder) same(h *pages.Hunk, from, to int) {
	for i := from; i < to; i++ {
		b.line(h, pages.LineSame, b.old, i)
	}
}

// change shows deleted lines before added ones. When not all of them find room both sides get half of it, and a side that needs
// less leaves the rest to the other, so that a large rewrite is not shown as a mere deletion.
func (b *builder) change(h *pages.Hunk, c change) {
	room := b.maxLines - b.lines
	deleted, added := c.End-c.Start, c.ReplEnd-c.ReplStart
	if deleted+added > room {
		b.diff.Cut = true
		deleted = min(deleted, max(room/2, room-added))
		added = min(added, room-deleted)
	}
	for i := range deleted {
		b.line(h, pages.LineDeleted, b.old, c.Start+i)
	}
	for i := range added {
		b.line(h, pages.LineAdded, b.new, c.ReplStart+i)
	}
}

func (b *builder) line(h *pages.Hunk, op pages.LineOp, s side, i int) {
	if b.full() {
		b.diff.Cut = true
		return
	}
	b.lines++
	raw, ended := bytes.CutSuffix(s.lines[i], []byte{'\n'})
	l := pages.DiffLine{Op: op, NoEOL: !ended}
	if len(raw) > pages.MaxDiffLineBytes && !(b.whole && op != pages.LineSame) {
		b.diff.Cut = true
		// Only the head is copied: the line may be the whole of a very large file.
		l.Text = text.CutBytes(string(raw[:pages.MaxDiffLineBytes]), pages.MaxDiffLineBytes-len(CutMark)) + CutMark
		b.bytes += len(l.Text)
	} else if b.bytes += len(raw); b.bytes <= b.maxBytes {
		l.Text = string(raw)
	}
	h.Lines = append(h.Lines, l)
	if op != pages.LineAdded {
		h.OldLines++
	}
	if op != pages.LineDeleted {
		h.NewLines++
	}
}
