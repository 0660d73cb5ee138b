package markdown

import (
	"strings"

	"octavo/pages/text"
)

// spaces counts those that a line begins with. There are no tabs in clean text.
func spaces(s string) int {
	n := 0
	for n < len(s) && s[n] == ' ' {
		n++
	}
	return n
}

// run counts how often c stands at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// parseHeading reads a heading that begins with #. level is 0 where there is none.
func parseHeading(s string) (level int, title string) {
	level = run(s, '#')
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' {
		return 0, ""
	}
	title = strings.Trim(s[level:], " ")
	if end := strings.TrimRight(title, "#"); end == "" || end[len(end)-1] == ' ' {
		title = strings.TrimRight(end, " ")
	}
	return level, title
}

// underline is the level of the heading that a line makes of the paragraph above it, 0 for none.
func underline(s string) int {
	n := run(s, s[0])
	switch {
	case spaces(s[n:]) < len(s)-n:
		return 0
	case s[0] == '=':
		return 1
	}
	return 2
}

// isDivider reports whether a line is three or more * - or _, apart or not.
func isDivider(s string) bool {
	c := s[0]
	if c != '*' && c != '-' && c != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case c:
			n++
		case ' ':
		default:
			return false
		}
	}
	return n >= 3
}

// fence is what a block of code began with.
type fence struct {
	char   byte
	length int
	indent int // that its lines may have more than the code
	info   string
}

// parseFence reads the first line of a block of code, behind n spaces.
func parseFence(s string, n int) (fence, bool) {
	t := s[n:]
	f := fence{char: t[0], length: run(t, t[0]), indent: n}
	if f.char != '`' && f.char != '~' || f.length < 3 {
		return fence{}, false
	}
	f.info = strings.Trim(t[f.length:], " ")
	if f.char == '`' && strings.IndexByte(f.info, '`') >= 0 {
		return fence{}, false
	}
	return f, true
}

// closedBy reports whether a line is the end of the block.
func (f fence) closedBy(s string) bool {
	n := spaces(s)
	if n > 3 {
		return false
	}
	s = s[n:]
	length := run(s, f.char)
	return length >= f.length && spaces(s[length:]) == len(s)-length
}

// language is the first word of what a fence says.
func language(info string) string {
	if info == "" {
		return ""
	}
	word := text.CleanLine(unescape(info))
	if end := strings.IndexAny(word, " ,{"); end >= 0 {
		word = word[:end]
	}
	return word
}

// item is the mark of an item of a list.
type item struct {
	segment
	mark   byte // - + * or, behind a number, . )
	indent int  // columns of what stands before the content
	blank  bool // nothing stands behind the mark
}

// maxNumber is how many digits an item's number may have (CommonMark).
const maxNumber = 9

// parseItem reads the mark of an item, behind n spaces.
func parseItem(s string, n int) (item, bool) {
	end := n
	var it item
	switch c := s[n]; {
	case c == '-' || c == '+' || c == '*':
		it.mark = c
	case '0' <= c && c <= '9':
		for end < len(s) && '0' <= s[end] && s[end] <= '9' {
			it.number = 10*it.number + int(s[end]-'0')
			if end++; end-n > maxNumber {
				return item{}, false
			}
		}
		if end == len(s) || s[end] != '.' && s[end] != ')' {
			return item{}, false
		}
		it.mark, it.delim = s[end], s[end]
	default:
		return item{}, false
	}
	end++
	after := spaces(s[end:])
	switch {
	case end+after == len(s):
		it.blank = true
		after = 1
	case after == 0:
		return item{}, false
	case after > 4:
		after = 1 // the rest indents code
	}
	it.indent = end + after
	return it, true
}

// interrupts reports whether an item may follow a paragraph without an empty line: not an empty one, and no number that a line may
// happen to begin with.
func (it item) interrupts() bool { return !it.blank && (it.delim == 0 || it.number == 1) }

// startsBlock reports whether a line, behind n spaces, begins a block that ends a table.
func startsBlock(s string, n int) bool {
	t := s[n:]
	if _, ok := parseFence(s, n); ok {
		return true
	}
	_, isItem := parseItem(s, n)
	level, _ := parseHeading(t)
	return isItem || level > 0 || t[0] == '>' || isDivider(t) || t[0] == '<' && htmlStart(t, true) != htmlNone
}
