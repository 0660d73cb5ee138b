package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxHeld is how many bytes of its input a Cleaner keeps at most: the start of a character whose end has not come. Sequences are
// not kept but passed over, so one that never ends costs nothing.
const maxHeld = utf8.UTFMax - 1

// Cleaner is Clean for text that comes in pieces: however a text is cut, what Write and then Flush return makes up what Clean
// makes of the whole. The zero value is ready. It is not safe for concurrent use.
type Cleaner struct {
	state    state
	column   int  // cells since the start of the line
	returned bool // a \r was read, and nothing to print since
	broken   bool // the last thing written was U+FFFD for broken UTF-8
	tagged   bool // the last thing written was the mark of tag characters
	held     [maxHeld]byte
	heldLen  int
}

// state is where in an escape sequence the next character stands.
type state uint8

const (
	ground   state = iota
	escaped        // after ESC and any intermediate bytes
	sequence       // in a control sequence, before its final byte
	inString       // in a control string
)

// Write gives the clean text that delta adds. Clean ASCII comes back as it is, without allocation.
func (c *Cleaner) Write(delta string) string {
	if delta == "" {
		return ""
	}
	if c.state == ground && !c.returned && c.heldLen == 0 && plain(delta) == len(delta) {
		c.advance(delta)
		return delta
	}
	if c.heldLen > 0 {
		delta = string(c.held[:c.heldLen]) + delta
		c.heldLen = 0
	}
	return string(c.appendClean(make([]byte, 0, len(delta)+len(delta)/8), delta))
}

// Flush ends the text, gives what is left of it and makes the Cleaner ready for another.
func (c *Cleaner) Flush() string {
	return string(c.appendRest(nil))
}

// appendRest ends the text: the start of a character is broken UTF-8 now, an open sequence is dropped, and a \r returns to
// nothing.
func (c *Cleaner) appendRest(dst []byte) []byte {
	if c.heldLen > 0 && c.state == ground {
		dst = c.invalid(dst, c.held[0])
	}
	*c = Cleaner{}
	return dst
}

// appendClean appends what s adds to the clean text, and holds back the start of a character that s ends in.
func (c *Cleaner) appendClean(dst []byte, s string) []byte {
	for s != "" {
		if c.state == ground {
			if n := plain(s); n > 0 {
				dst = c.print(dst, s[:n])
				s = s[n:]
				continue
			}
		}
		r, size := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRuneInString(s) {
				c.heldLen = copy(c.held[:], s)
				return dst
			}
			r, size = utf8.DecodeRuneInString(s)
		}
		invalid := r == utf8.RuneError && size == 1
		switch {
		case c.state != ground && !c.leave(r, s[0], invalid):
			// The character belonged to the sequence.
		case invalid:
			dst = c.invalid(dst, s[0])
		default:
			dst = c.special(dst, r, s[:size])
		}
		s = s[size:]
	}
	return dst
}

// leave moves through a sequence by one character. It reports whether the character is not part of it and stands for itself,
// which makes an end of the sequence.
func (c *Cleaner) leave(r rune, first byte, invalid bool) bool {
	const can, sub, bel, st = 0x18, 0x1a, 0x07, 0x9c
	switch c.state {
	case inString:
		switch {
		case r == bel, r == can, r == sub, r == st, invalid && first == st:
			c.state = ground
		case r == '\n', r == '\r', r == 0x2028, r == 0x2029, r == 0x1b, 0x80 <= r && r < 0xa0:
			c.state = ground
			return true
		}
		return false
	case sequence:
		switch {
		case !invalid && 0x20 <= r && r <= 0x3f:
			return false
		case !invalid && 0x40 <= r && r <= 0x7e:
			c.state = ground
			return false
		}
	case escaped:
		switch {
		case r == '[':
			c.state = sequence
			return false
		case strings.ContainsRune("]P_^Xk", r):
			c.state = inString
			return false
		case !invalid && 0x20 <= r && r <= 0x2f:
			return false
		case !invalid && 0x30 <= r && r <= 0x7e:
			c.state = ground
			return false
		}
	}
	c.state = ground
	return true
}

// spaces is what a tab at the start of a line becomes.
const spaces = "    "

var _ = [1]struct{}{}[len(spaces)-TabStop] // one length, checked when compiled

// special deals with a character that is not printed as it is; text is that character. A printed one comes here only as what
// follows a broken sequence.
func (c *Cleaner) special(dst []byte, r rune, text string) []byte {
	var k kind
	if r < utf8.RuneSelf {
		k = class[r]
	} else {
		k = wide(r)
	}
	switch k {
	case printed:
		return c.print(dst, text)
	case tab:
		dst = c.begin(dst)
		return c.print(dst, spaces[c.column%TabStop:])
	case carriageReturn:
		c.returned = c.returned || c.column > 0
	case newline:
		return c.print(dst, "\n")
	case escape:
		c.state = escaped
	case controlSequence:
		c.state = sequence
	case controlString:
		c.state = inString
	case direction:
		return c.print(dst, directionMark(r))
	case tag:
		if !c.tagged {
			dst = c.print(dst, tagMark)
			c.tagged = true
		}
	}
	return dst
}

// invalid deals with a byte that is no part of a character.
func (c *Cleaner) invalid(dst []byte, b byte) []byte {
	if b < 0xa0 || c.broken {
		return dst
	}
	dst = c.print(dst, "\ufffd")
	c.broken = true
	return dst
}

// print appends clean text, which is not empty.
func (c *Cleaner) print(dst []byte, s string) []byte {
	if s[0] == '\n' {
		c.returned = false
	}
	dst = c.begin(dst)
	c.advance(s)
	return append(dst, s...)
}

// advance notes that s was printed.
func (c *Cleaner) advance(s string) {
	c.broken, c.tagged = false, false
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		c.column, s = 0, s[i+1:]
	}
	c.column += runeWidths(s)
}

// begin starts a new line if a \r asked for one.
func (c *Cleaner) begin(dst []byte) []byte {
	if !c.returned {
		return dst
	}
	c.returned, c.column = false, 0
	return append(dst, '\n')
}

// runeWidths adds up the cells of each character by itself. Characters that join take fewer cells together, but where a text is
// cut must make no difference to its tab stops.
func runeWidths(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return ansi.StringWidthWc(s)
		}
	}
	return len(s)
}
