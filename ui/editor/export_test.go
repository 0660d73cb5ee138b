package editor

import (
	"fmt"
	"slices"
	"strings"
)

// Check recounts everything that a Buffer keeps up to date, from the text alone.
func (b *Buffer) Check() error {
	var rows, bytes int
	var chips []placed
	for i, l := range b.lines {
		if strings.Contains(l.text, "\n") {
			return fmt.Errorf("line %d is %q", i, l.text)
		}
		of := b.chipsOf(i)
		if n := strings.Count(l.text, mark); n != len(of) {
			return fmt.Errorf("line %d has %d marks and %d chips", i, n, len(of))
		}
		chips = append(chips, of...)
		if fresh := wrap(l.text, of, b.room(), 0, nil); !slices.Equal(fresh, l.more) {
			return fmt.Errorf("line %d, %q in %d cells, has rows at %v and should at %v", i, l.text, b.room(), l.more, fresh)
		}
		rows += l.rows()
		bytes += b.lineBytes(i)
	}
	if !slices.Equal(chips, b.chips) {
		return fmt.Errorf("chips are out of order")
	}
	if rows != b.rows {
		return fmt.Errorf("%d rows, should be %d", b.rows, rows)
	}
	if bytes += len(b.lines) - 1; bytes != b.bytes || bytes != len(b.Value()) {
		return fmt.Errorf("%d bytes, should be %d; Value has %d", b.bytes, bytes, len(b.Value()))
	}
	if size := b.whole().size(); size != b.size || size > MaxText {
		return fmt.Errorf("size %d, should be %d", b.size, size)
	}
	sum := sums{}
	for sum.line < b.sum.line {
		sum = sums{sum.line + 1, sum.rows + b.lines[sum.line].rows(), sum.bytes + b.lineBytes(sum.line) + 1}
	}
	if sum != b.sum {
		return fmt.Errorf("sums %v, should be %v", b.sum, sum)
	}
	for _, p := range []place{b.cursor, b.anchor} {
		if !b.border(p) {
			return fmt.Errorf("the cursor or anchor %v stands in a character of %q", p, b.lines[p.line].text)
		}
	}
	return nil
}

// border reports whether a place is between two units, counted from the start of the line.
func (b *Buffer) border(p place) bool {
	at := 0
	for at < p.at {
		at += size(b.lines[p.line].text, at)
	}
	return at == p.at
}

// Held is what undo and the kill ring hold: steps, and bytes of text and payload.
func (b *Buffer) Held() (steps, text, killed int) {
	for _, s := range slices.Concat(b.past, b.future) {
		text += s.bytes()
	}
	return len(b.past) + len(b.future), text, len(b.kills.kills)
}

// Clean is what happens to text from outside.
var Clean = clean
