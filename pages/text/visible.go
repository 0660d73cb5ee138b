package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows every character that a reader would not see, for text that somebody is about to approve: a shell or a compiler
// obeys what a terminal hides. Only newlines and tabs stay as they are; the other control characters become their pictures, such
// as ␛ for an escape, every other character without a picture of its own, spaces of other kinds included, its number, such as
// ‹U+202E›, and a byte that is no UTF-8 its value, such as ‹0xFF›. Unlike Clean it takes nothing out; of what it gives Clean
// changes no more than tabs. Text in which everything can be seen is returned as it is, without a copy.
func Visible(s string) string {
	n := seen(s)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for n < len(s) {
		b.WriteString(s[:n])
		s = s[n:]
		r, size := utf8.DecodeRuneInString(s)
		const pictures = 0x2400 // ␀, followed by those of the other control characters
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "‹0x%02X›", s[0])
		case r < ' ':
			b.WriteRune(pictures + r)
		case r == 0x7f:
			b.WriteRune(pictures + 0x21)
		default:
			fmt.Fprintf(&b, "‹U+%04X›", r)
		}
		s = s[size:]
		n = seen(s)
	}
	b.WriteString(s)
	return b.String()
}

// seen is the length of the start of s that shows itself.
func seen(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if (c < ' ' || c == 0x7f) && c != '\n' && c != '\t' {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !hasPicture(r) {
			return i
		}
		i += size
	}
	return len(s)
}

// hasPicture reports whether a character beyond ASCII is drawn as something. Some of what Unicode takes for letters, marks and
// symbols is not: the fillers of Hangul, the selectors of variants, the Braille pattern without a dot.
func hasPicture(r rune) bool {
	const noDots = 0x2800
	return unicode.IsPrint(r) && r != noDots && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
