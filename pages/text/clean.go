// Package text makes text of any origin fit to be shown: it is the one cleaner of outside text, and it measures, wraps and cuts
// what it cleaned and writes numbers for people. It knows no document, no colour and no terminal.
package text

import (
	"strings"
	"unicode/utf8"
)

// TabStop is the distance of tab stops, in cells (ui.md 1).
const TabStop = 4

// Clean takes out of a text from outside everything that could do more than be read, and gives valid UTF-8 whose only control
// characters are newlines (ui.md 1, deps.md 5). Cleaning twice changes nothing. Text that is clean already is returned as it is,
// without a copy. A Cleaner does the same to text that comes in pieces.
//
//   - Escape sequences go, with whatever they carry: CSI, and the strings OSC, DCS, APC, PM, SOS and screen's title, whether they
//     begin with ESC or with a C1 character. A string ends with ST, BEL, CAN or SUB, and at the latest with its line: an
//     unterminated one must not swallow what follows, because a person would be shown less than there is.
//   - C0 except newline and tab, DEL, and C1 go. A byte 80–9F that is no part of a character goes alone, and what follows it
//     stays: in UTF-8 it is the rest of a character that was cut more often than a control.
//   - \r\n, and any run of \r before \n, is a newline. A \r that returns to the start of a line with text in it, and is followed
//     by more, begins a new line, so that the states of a progress bar stand under each other; LastOverwrites keeps only the last.
//     U+2028 and U+2029 are newlines.
//   - Tabs become spaces up to the next stop, counted in cells from the start of the line.
//   - The controls that reorder what a reader sees, U+202A–202E and U+2066–2069, become visible marks such as ‹RLO›. A run of
//     tag characters (U+E0000–E007F), which can carry a whole hidden message, becomes one ‹TAG›.
//   - Characters of no width and no effect on their neighbours go: zero-width space, word joiner, soft hyphen, byte order
//     mark, invisible operators, annotation anchors, supplementary variation selectors, noncharacters. Joiners, variation
//     selectors and directional marks, which emoji and scripts need, stay.
//   - A run of bytes that is not UTF-8 becomes one U+FFFD.
func Clean(s string) string {
	if plain(s) == len(s) {
		return s
	}
	var c Cleaner
	dst := c.appendClean(make([]byte, 0, len(s)+len(s)/8), s)
	return string(c.appendRest(dst))
}

// CleanLine is Clean for what has to stay one line, such as a title or a name: newlines at its ends go, a run of others becomes ⏎.
func CleanLine(s string) string {
	s = strings.Trim(Clean(s), "\n")
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		b.WriteString(line)
		if s = strings.TrimLeft(rest, "\n"); s != "" {
			b.WriteString("⏎")
		}
	}
	return b.String()
}

// LastOverwrites leaves of each line what a program that redraws it, such as a progress bar, wrote last: the text after the last
// \r that has any. It is for whole outputs before Clean, and does not move back over single characters.
func LastOverwrites(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		line, rest, found := strings.Cut(s, "\n")
		line = strings.TrimRight(line, "\r")
		b.WriteString(line[strings.LastIndexByte(line, '\r')+1:])
		if found {
			b.WriteByte('\n')
		}
		s = rest
	}
	return b.String()
}

// plain is the length of the start of s that Clean leaves as it is.
func plain(s string) int {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if class[b] != printed {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || wide(r) != printed {
			return i
		}
		i += size
	}
	return len(s)
}

// kind is what Clean does with a character outside a sequence.
type kind uint8

const (
	printed kind = iota
	dropped
	tab
	carriageReturn
	newline // U+2028, U+2029; \n is printed
	escape
	controlSequence // C1 CSI
	controlString   // C1 OSC, DCS, APC, PM, SOS
	direction       // bidirectional override or isolate
	tag
)

// class is the kind of each ASCII character.
var class = func() (class [utf8.RuneSelf]kind) {
	for c := range ' ' {
		class[c] = dropped
	}
	class['\n'], class['\t'], class['\r'], class['\x1b'], class['\x7f'] = printed, tab, carriageReturn, escape, dropped
	return class
}()

// wide is the kind of a character beyond ASCII.
func wide(r rune) kind {
	switch {
	case r < 0xa0:
		switch r {
		case 0x9b:
			return controlSequence
		case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
			return controlString
		}
		return dropped
	case r == 0xad, r == 0x180e, r == 0x200b, r == 0xfeff:
		return dropped
	case r < 0x2028:
		return printed
	case r <= 0x2029:
		return newline
	case r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return direction
	case 0x2060 <= r && r <= 0x206f, 0xfff9 <= r && r <= 0xfffb:
		return dropped
	case 0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe:
		return dropped
	case 0xe0000 <= r && r <= 0xe007f:
		return tag
	case 0xe0100 <= r && r <= 0xe01ef:
		return dropped
	}
	return printed
}

const tagMark = "‹TAG›"

// directionMark names a bidirectional control as Unicode does.
func directionMark(r rune) string {
	switch r {
	case 0x202a:
		return "‹LRE›"
	case 0x202b:
		return "‹RLE›"
	case 0x202c:
		return "‹PDF›"
	case 0x202d:
		return "‹LRO›"
	case 0x202e:
		return "‹RLO›"
	case 0x2066:
		return "‹LRI›"
	case 0x2067:
		return "‹RLI›"
	case 0x2068:
		return "‹FSI›"
	}
	return "‹PDI›"
}
