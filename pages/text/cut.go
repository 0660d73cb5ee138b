package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CutBytes gives the longest start of s that has at most n bytes and ends between two characters of its encoding.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return s[:runeBorder(s, n)]
}

// Clip shortens a line to n characters of its encoding, the "…" that ends a shortened one included. It is for what a model or a
// log reads; a screen wants Cut.
func Clip(line string, n int) string {
	if len(line) <= n {
		return line
	}
	if n <= 0 {
		return ""
	}
	count, last := 0, 0
	for i := range line {
		if count++; count == n {
			last = i
		} else if count > n {
			return line[:last] + "…"
		}
	}
	return line
}

// HeadTail keeps the start and the end of s and, on a line of its own between them, says how much was left out. The result has
// at most maxBytes bytes, or as much as that line alone needs. The parts are cut between lines, unless that would cost more than
// half of a part, and then between characters.
func HeadTail(s string, maxBytes int) string {
	if len(s) <= max(0, maxBytes) {
		return s
	}
	// The line is longest when everything is left out; the last byte is for a newline before it.
	room := max(0, maxBytes-len(leftOut(s))-1)
	head := s[:headEnd(s, room-room/2)]
	tail := s[tailStart(s, room/2):]
	mark := leftOut(s[len(head) : len(s)-len(tail)])
	if head != "" && !strings.HasSuffix(head, "\n") {
		mark = "\n" + mark
	}
	return head + mark + tail
}

// leftOut says what is missing, as one line.
func leftOut(s string) string {
	if lines := strings.Count(s, "\n"); lines > 0 {
		return fmt.Sprintf("… %s (%s) left out …\n", Plural(len(s), "byte"), Plural(lines, "line"))
	}
	return fmt.Sprintf("… %s left out …\n", Plural(len(s), "byte"))
}

// headEnd is where a head of at most n bytes ends, n < len(s).
func headEnd(s string, n int) int {
	if end := strings.LastIndexByte(s[:n], '\n') + 1; end > n/2 {
		return end
	}
	return runeBorder(s, n)
}

// tailStart is where a tail of at most n bytes begins, n < len(s).
func tailStart(s string, n int) int {
	at := len(s) - n
	if s[at-1] == '\n' {
		return at
	}
	if i := strings.IndexByte(s[at:], '\n') + 1; 0 < i && i < n/2 {
		return at + i
	}
	for end := min(at+utf8.UTFMax-1, len(s)); at < end && !utf8.RuneStart(s[at]); at++ {
	}
	return at
}

// runeBorder is the border between two characters at or next before n, 0 ≤ n < len(s).
func runeBorder(s string, n int) int {
	// A character has at most utf8.UTFMax bytes; where none of so many begins one s is not UTF-8, and any border will do.
	for i := n; i > n-utf8.UTFMax && i >= 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}
