package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells a line takes in a terminal: characters that join count once, escape sequences of our own styling not
// at all.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Pad fills a line with spaces up to width cells. A wider one stays as it is.
func Pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Cut shortens a line to at most width cells, tail included, which ends a line that was cut; where not even tail finds room it
// is left out. Of a long line no more is looked at than finds room. A line with styling keeps its escape sequences.
func Cut(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	room := width - Width(tail)
	if room < 0 {
		room, tail = width, ""
	}
	fits, column := 0, 0 // fits is the end of what leaves room for tail
	for i := 0; i < len(s); {
		if s[i] == '\x1b' {
			return ansi.Truncate(s, width, tail)
		}
		cluster, cells := first(s[i:])
		if column += cells; column > width {
			return s[:fits] + tail
		}
		if i += len(cluster); column <= room {
			fits = i
		}
	}
	return s
}

// CutLeft is Cut from the other side, for clean text without styling: it keeps the end of s, and head begins what was cut.
func CutLeft(s string, width int, head string) string {
	rest := Width(s)
	if rest <= width {
		return s
	}
	room := width - Width(head)
	if room < 0 {
		room, head = max(0, width), ""
	}
	for rest > room {
		cluster, cells := first(s)
		s = s[len(cluster):]
		rest -= cells
	}
	return head + s
}

// Wrap breaks the lines of clean text without styling that are wider than width cells: after spaces, which the break swallows,
// beside wide characters, and inside words that find no room on a line; never after a hyphen, because flags, ids and paths have some
// and have to be copied whole. Only a single character wider than width
// gives a wider line. A width below 1 breaks nothing.
func Wrap(s string, width int) string {
	if width < 1 || len(s) <= width && strings.IndexByte(s, '\n') < 0 && plain(s) == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/width)
	for {
		line, rest, more := strings.Cut(s, "\n")
		wrapLine(&b, line, width)
		if !more {
			return b.String()
		}
		b.WriteByte('\n')
		s = rest
	}
}

// unbroken are the characters that no break beside a wide character may put at the start of a line.
const unbroken = " 、。，．・：；！？）」』】〕〉》ー々"

func wrapLine(b *strings.Builder, s string, width int) {
	var (
		column  int  // cells of s[:i]
		breakAt int  // where s may be broken; 0 for nowhere
		word    bool // s[:i] has more than spaces
	)
	for i := 0; i < len(s); {
		cluster, cells := first(s[i:])
		space := cluster == " "
		if word && cells > 1 && !staysBehind(s[i:]) {
			breakAt = i
		}
		if column+cells > width && i > 0 {
			if space || breakAt == 0 {
				breakAt = i
			}
			b.WriteString(strings.TrimRight(s[:breakAt], " "))
			s = strings.TrimLeft(s[breakAt:], " ")
			if s == "" {
				return
			}
			b.WriteByte('\n')
			i, column, breakAt, word = 0, 0, 0, false
			continue
		}
		i += len(cluster)
		column += cells
		word = word || !space
		if word && (space || cells > 1 && !staysBehind(s[i:])) {
			breakAt = i
		}
	}
	b.WriteString(s)
}

// staysBehind reports whether s begins with what no line may begin with.
func staysBehind(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune(unbroken, r)
}

// first gives the character that s begins with, as a reader sees it, and its cells.
func first(s string) (cluster string, cells int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) && s[0] >= ' ' {
		return s[:1], 1
	}
	return ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
}
