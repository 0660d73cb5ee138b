package plain

import (
	"strings"

	"octavo/pages/text"
)

// withoutKeys is a line that was typed at a terminal without what the terminal passes on of keys that write nothing, such as ^[[A for an
// arrow. An escape key that was pressed alone takes nothing along of what was typed after it. The rest is cleaned.
func withoutKeys(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 {
		return text.Clean(s)
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b")
		b.WriteString(before)
		if !found {
			return text.Clean(b.String())
		}
		s = rest[keyEnd(rest):]
	}
}

// keyEnd is how many bytes after an escape character belong to a key, or to something that the terminal reports; 0 when it stands alone.
func keyEnd(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '[':
		return csiEnd(s)
	case s[0] == 'O' && len(s) > 1 && strings.IndexByte("ABCDFHPQRS", s[1]) >= 0: // arrows, home, end, F1 to F4
		return 2
	case strings.IndexByte("]P_^X", s[0]) >= 0: // a string, which is one only with its end
		switch i := strings.IndexAny(s, "\a\x1b"); {
		case i >= 0 && s[i] == '\a':
			return i + 1
		case i >= 0 && strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		}
	}
	return 0
}

// csiEnd is the end of the control sequence that s begins with, behind its escape character; 0 when it is not one that a key sends.
func csiEnd(s string) int {
	if len(s) > 2 && s[1] == '[' && s[2] >= 'A' && s[2] <= 'E' { // F1 to F5 of a Linux console
		return 3
	}
	i := 1
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';') {
		i++
	}
	if i < len(s) && (s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 'a' && s[i] <= 'z' || strings.IndexByte("~^$@", s[i]) >= 0) {
		return i + 1
	}
	return 0
}
