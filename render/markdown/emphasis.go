package markdown

import (
	"unicode"
	"unicode/utf8"
)

// delim is a run of * or _, or ~~, that may begin or end emphasis.
type delim struct {
	char   byte
	opens  bool
	closes bool
	word   bool // it stands behind a letter
	hidden bool // it may still turn out to be a mark
	length int
	left   int // how many are characters, or not yet marks
	pos    int // behind it
	below  int // in the stack, -1 for none
	above  int
	begin  [styles]int // what begins behind it
	end    [styles]int // what ends before it
}

// Styles that marks give.
const (
	emphasized = iota
	strong
	struck
	styles
)

// delimiter pushes the run of n marks at i on the stack (CommonMark 6.2). Beside what CommonMark says, characters of East Asian
// scripts, between which no spaces stand, are no hindrance to a mark beside punctuation.
func (p *inline) delimiter(i, n int) {
	before, _ := utf8.DecodeLastRuneInString(p.src[:i])
	after, _ := utf8.DecodeRuneInString(p.src[i+n:])
	spaceBefore, spaceAfter := i == 0 || unicode.IsSpace(before), i+n == len(p.src) || unicode.IsSpace(after)
	punctBefore, punctAfter := isPunctuation(before), isPunctuation(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore || isEastAsian(before))
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter || isEastAsian(after))
	d := delim{
		char: p.src[i], opens: left, closes: right, word: wordBefore(p.src[:i]), length: n, left: n, pos: i + n, below: p.top, above: -1,
	}
	if d.char == '_' {
		d.opens, d.closes = left && (!right || punctBefore), right && (!left || punctAfter)
	}
	if p.top >= 0 {
		p.delims[p.top].above = len(p.delims)
	}
	p.top = len(p.delims)
	p.delims = append(p.delims, d)
}

// emphasize joins the delims above bottom into emphasis. Those that are left on the stack found nothing to join with yet.
func (p *inline) emphasize(bottom int) {
	closer := p.top
	for closer > bottom && p.delims[closer].below > bottom {
		closer = p.delims[closer].below
	}
	var searched [3][2][3]int // by kind of closer, down to where there is nothing for it
	for i := range searched {
		for j := range searched[i] {
			searched[i][j] = [3]int{bottom, bottom, bottom}
		}
	}
	for closer > bottom {
		c := &p.delims[closer]
		if !c.closes {
			closer = c.above
			continue
		}
		lowest := &searched[charIndex(c.char)][boolIndex(c.opens)][c.length%3]
		opener := c.below
		for opener > *lowest && !matches(&p.delims[opener], c) {
			opener = p.delims[opener].below
		}
		if opener <= *lowest {
			*lowest = c.below
			next := c.above
			if !c.opens {
				p.unlink(closer)
			}
			closer = next
			continue
		}
		o := &p.delims[opener]
		if p.partial && c.char != '~' && c.pos == len(p.src) && c.left == 1 && o.left > 1 {
			c.hidden = true // the second of two has not come yet
			break
		}
		o.above, c.below = closer, opener // what stands between them joins nothing
		style, n := emphasized, 1
		switch {
		case c.char == '~':
			style, n = struck, 2
		case o.left > 1 && c.left > 1:
			style, n = strong, 2
		}
		o.begin[style]++
		c.end[style]++
		o.left -= n
		c.left -= n
		if o.left == 0 {
			p.unlink(opener)
		}
		if c.left == 0 {
			next := c.above
			p.unlink(closer)
			closer = next
		}
	}
}

// drop takes the delims above bottom off the stack: what they are by now, they stay.
func (p *inline) drop(bottom int) {
	p.top = bottom
	if bottom >= 0 {
		p.delims[bottom].above = -1
	}
}

// unlink takes a delim out of the stack.
func (p *inline) unlink(i int) {
	d := &p.delims[i]
	if d.below >= 0 {
		p.delims[d.below].above = d.above
	}
	if d.above >= 0 {
		p.delims[d.above].below = d.below
	} else {
		p.top = d.below
	}
}

// matches reports whether a delim begins what another ends.
func matches(o, c *delim) bool {
	if o.char != c.char || !o.opens {
		return false
	}
	if o.char == '~' {
		return true
	}
	return !(o.closes || c.opens) || (o.length+c.length)%3 != 0 || o.length%3 == 0 && c.length%3 == 0
}

func charIndex(c byte) int {
	switch c {
	case '*':
		return 0
	case '_':
		return 1
	}
	return 2
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return isPunct(byte(r))
	}
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// isEastAsian reports whether r belongs to a script that puts no spaces between words, its punctuation included.
func isEastAsian(r rune) bool {
	return 0x2e80 <= r && r < 0xa4d0 || 0xac00 <= r && r < 0xd7b0 || 0xf900 <= r && r < 0xfb00 || 0xff00 <= r && r < 0xfff0 ||
		0x20000 <= r && r < 0x40000
}
