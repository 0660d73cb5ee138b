package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/pages/text"
)

// inline reads the marks within a paragraph, a heading or a cell. It makes a row of nodes, on which emphasis is only noted where it
// begins and where it ends: whatever stands in what, the work grows with the text.
type inline struct {
	definitions *definitions
	// partial says that the text may go on. A mark that may still turn out to be one is not shown as a character then, since it
	// would have to vanish.
	partial bool
	missed  bool // a link would stand here if its label were defined

	src      string
	nodes    []node
	delims   []delim
	top      int // of the stack of delims, -1 for none
	brackets []bracket
	ticks    map[int]int // by length of a run of backticks, where the last one stands; nil when not looked yet
	last     int         // where the last word of src begins
}

// nodeKind is what a node adds to the text.
type nodeKind uint8

const (
	words nodeKind = iota
	inlineCode
	softBreak
	hardBreak
	delimRun
	linkStart
	linkEnd
	imageStart
	imageEnd
	address // that stands for itself
)

type node struct {
	kind nodeKind
	text string // words, code, or what an address shows
	at   int    // of a delimRun in delims
	to   target
}

// bracket is a [ that no ] has closed.
type bracket struct {
	node   int // in nodes
	pos    int // in src, behind it
	below  int // the top of delims when it was read
	image  bool
	closed bool // a link stands in it, so that it is none
	inner  bool // a bracket stands in it, so that it is no label
	word   bool // it begins no link: it stands in a word, or before a footnote
}

// marks are the bytes at which something may begin.
var marks = [256]bool{
	'\n': true, '\\': true, '`': true, '*': true, '_': true, '~': true, '[': true, ']': true, '!': true, '<': true, '&': true,
	':': true, '.': true,
}

// read makes nodes of src. They are good until the next call.
func (p *inline) read(src string) {
	p.src, p.nodes, p.delims, p.brackets = src, p.nodes[:0], p.delims[:0], p.brackets[:0]
	p.top, p.ticks, p.missed = -1, nil, false
	if p.partial {
		p.last = strings.LastIndexAny(src, " \n") + 1
	}
	from := 0 // of words that are no node yet
	for i := 0; i < len(src); {
		if !marks[src[i]] {
			i++
			continue
		}
		i = p.mark(&from, i)
	}
	p.words(from, len(src))
	p.emphasize(-1)
	if p.partial {
		p.hide()
	}
}

// words makes a node of plain text.
func (p *inline) words(from, to int) {
	if from < to {
		p.nodes = append(p.nodes, node{text: p.src[from:to]})
	}
}

// add makes a node of what stands at i, behind the words from from.
func (p *inline) add(from *int, i int, n node, end int) int {
	p.words(*from, i)
	p.nodes = append(p.nodes, n)
	*from = end
	return end
}

// mark reads what may begin at i and gives where to go on. from is moved when what is before i became a node.
func (p *inline) mark(from *int, i int) int {
	rest := p.src[i:]
	switch rest[0] {
	case '\n':
		return p.lineBreak(from, i)
	case '\\':
		return p.escape(from, i)
	case '`':
		return p.backticks(from, i)
	case '*', '_', '~':
		n := run(rest, rest[0])
		if rest[0] == '~' && n != 2 {
			if p.partial && n == 1 && len(rest) == 1 {
				p.words(*from, i)
				*from = i + 1
			}
			return i + n
		}
		p.delimiter(i, n)
		return p.add(from, i, node{kind: delimRun, at: len(p.delims) - 1}, i+n)
	case '!':
		if len(rest) > 1 && rest[1] == '[' {
			return p.open(from, i, 2)
		}
	case '[':
		return p.open(from, i, 1)
	case ']':
		return p.close(from, i)
	case '<':
		if to, shown, n := autolink(rest); n > 0 {
			return p.add(from, i, node{kind: address, text: shown, to: to}, i+n)
		}
		if n := tagLength(rest); n > 0 && strings.IndexByte(rest[:n], '\n') < 0 {
			return i + n // a tag is the text that it is
		}
	case '&':
		if means, n := parseEntity(rest); n > 0 {
			means = strings.ReplaceAll(text.Clean(means), "\n", " ")
			return p.add(from, i, node{text: means}, i+n)
		}
	case ':', '.':
		start, end, prefix := p.bare(*from, i)
		if end > 0 {
			shown := p.src[start:end]
			return p.add(from, start, node{kind: address, text: shown, to: follow(prefix + shown)}, end)
		}
	}
	return i + 1
}

// lineBreak ends a line: two spaces before it, like a backslash, make it one that stays.
func (p *inline) lineBreak(from *int, i int) int {
	end := i
	for end > *from && p.src[end-1] == ' ' {
		end--
	}
	kind := softBreak
	if i-end >= 2 {
		kind = hardBreak
	}
	p.words(*from, end)
	*from = i + 1 + spaces(p.src[i+1:])
	p.nodes = append(p.nodes, node{kind: kind})
	return *from
}

// escape takes a backslash off a mark, which is a character then.
func (p *inline) escape(from *int, i int) int {
	switch {
	case i+1 == len(p.src):
		if p.partial {
			p.words(*from, i)
			*from = i + 1
		}
	case p.src[i+1] == '\n':
		end := i + 2
		end += spaces(p.src[end:])
		return p.add(from, i, node{kind: hardBreak}, end)
	case isPunct(p.src[i+1]):
		p.words(*from, i)
		*from = i + 1
		return i + 2
	}
	return i + 1
}

// backticks reads code, whose end is a run of as many backticks as it begins with.
func (p *inline) backticks(from *int, i int) int {
	n := run(p.src[i:], '`')
	if p.ticks == nil {
		p.ticks = map[int]int{}
		for at := i; at < len(p.src); {
			length := run(p.src[at:], '`')
			if length > 0 {
				p.ticks[length] = at
				at += length
			}
			next := strings.IndexByte(p.src[at:], '`')
			if next < 0 {
				break
			}
			at += next
		}
	}
	if p.ticks[n] <= i {
		if p.partial && !wordBefore(p.src[:i]) {
			p.words(*from, i)
			p.words(i+n, len(p.src))
			*from = len(p.src)
			return *from
		}
		return i + n
	}
	at := i + n
	for {
		at += strings.IndexByte(p.src[at:], '`')
		length := run(p.src[at:], '`')
		if length == n {
			break
		}
		at += length
	}
	inside := strings.ReplaceAll(p.src[i+n:at], "\n", " ")
	if last := len(inside) - 1; last > 0 && inside[0] == ' ' && inside[last] == ' ' && strings.Trim(inside, " ") != "" {
		inside = inside[1:last]
	}
	return p.add(from, i, node{kind: inlineCode, text: inside}, at+n)
}

// open notes a [ or ![ that a link or picture may begin with.
func (p *inline) open(from *int, i, n int) int {
	for b := len(p.brackets) - 1; b >= 0 && !p.brackets[b].inner; b-- {
		p.brackets[b].inner = true
	}
	p.words(*from, i)
	p.brackets = append(p.brackets, bracket{
		node: len(p.nodes), pos: i + n, below: p.top, image: n == 2,
		word: n == 1 && (wordBefore(p.src[:i]) || strings.HasPrefix(p.src[i+n:], "^")),
	})
	p.nodes = append(p.nodes, node{text: p.src[i : i+n]})
	*from = i + n
	return *from
}

// close looks whether a ] makes a link or picture of what its bracket holds.
func (p *inline) close(from *int, i int) int {
	last := len(p.brackets) - 1
	if last < 0 {
		return i + 1
	}
	b := p.brackets[last]
	if b.closed {
		p.brackets = p.brackets[:last]
		return i + 1
	}
	raw, end := p.destination(b, i+1)
	if end == 0 {
		if p.partial && p.unfinished(b, i+1) {
			p.nodes[b.node].text = ""
			p.words(*from, i)
			*from = len(p.src)
			return *from
		}
		p.brackets = p.brackets[:last]
		return i + 1
	}
	p.words(*from, i)
	p.emphasize(b.below)
	p.drop(b.below)
	start, stop := linkStart, linkEnd
	if b.image {
		start, stop = imageStart, imageEnd
	}
	to := follow(unescape(raw))
	p.nodes[b.node] = node{kind: start, to: to}
	p.nodes = append(p.nodes, node{kind: stop, to: to})
	p.brackets = p.brackets[:last]
	if !b.image { // links do not stand in links
		for b := last - 1; b >= 0 && !p.brackets[b].closed; b-- {
			if !p.brackets[b].image {
				p.brackets[b].closed = true
			}
		}
	}
	*from = end
	return end
}

// destination finds where the link leads whose ] is before i. end is 0 where there is no link.
func (p *inline) destination(b bracket, i int) (raw string, end int) {
	rest := p.src[i:]
	if strings.HasPrefix(rest, "(") {
		if raw, n := parseDestination(rest); n > 0 {
			return raw, i + n
		}
	}
	label, n := "", 0
	if strings.HasPrefix(rest, "[") {
		label, n = parseLabel(rest)
	}
	if n == 0 && b.inner {
		return "", 0
	}
	if n == 0 {
		if i-b.pos > maxLabel {
			return "", 0
		}
		if label = folded(p.src[b.pos : i-1]); strings.HasPrefix(rest, "[]") {
			n = 2
		}
	}
	if label == "" || label[0] == '^' {
		return "", 0
	}
	raw, ok := p.definitions.links[label]
	if !ok {
		p.missed = true
		return "", 0
	}
	return raw, i + n
}

// parseDestination reads (address "title") behind the text of a link. n is 0 where there is none.
func parseDestination(s string) (raw string, n int) {
	i := 1 + blanks(s[1:])
	if i < len(s) && s[i] == ')' {
		return "", i + 1
	}
	raw, size := parseAddress(s[i:])
	if size == 0 {
		return "", 0
	}
	i += size
	gap := blanks(s[i:])
	i += gap
	if gap > 0 {
		i += titleLength(s[i:])
		i += blanks(s[i:])
	}
	if i == len(s) || s[i] != ')' {
		return "", 0
	}
	return raw, i + 1
}

// unfinished reports whether what stands behind a ] may still become a link: nothing does, or an address that is not closed.
func (p *inline) unfinished(b bracket, i int) bool {
	rest := p.src[i:]
	if rest == "" {
		return !b.word
	}
	return rest[0] == '(' && i >= p.last
}

// hide takes characters out of the nodes that may still turn out to be marks.
func (p *inline) hide() {
	for at := p.top; at >= 0; at = p.delims[at].below {
		d := &p.delims[at]
		d.hidden = d.opens && !d.word
	}
	if last := len(p.delims) - 1; last >= 0 && p.delims[last].pos == len(p.src) {
		p.delims[last].hidden = true // more of the same may follow
	}
	for _, b := range p.brackets {
		if !b.closed && !b.word {
			p.nodes[b.node].text = ""
		}
	}
}

// bare reads an address without brackets around its : or the first . of its www. It is found no further back than from. end is 0
// where there is none, and prefix is what the address lacks.
func (p *inline) bare(from, i int) (start, end int, prefix string) {
	scheme := strings.ToLower(p.src[max(from, i-len("https")):i])
	rest := p.src[i:]
	switch {
	case rest[0] == '.' && strings.HasSuffix(scheme, "www"):
		start, prefix = i-len("www"), "http://"
	case !strings.HasPrefix(rest, "://"):
		return 0, 0, ""
	case scheme == "https":
		start = i - len("https")
	case strings.HasSuffix(scheme, "http"):
		start = i - len("http")
	default:
		return 0, 0, ""
	}
	if wordBefore(p.src[:start]) {
		return 0, 0, ""
	}
	end = i + addressLength(rest, len(p.brackets) > 0)
	host := strings.TrimPrefix(strings.TrimPrefix(p.src[i:end], "."), "://")
	if host == "" || !isLetter(host[0]) && !isDigit(host[0]) && host[0] != '[' && host[0] < utf8.RuneSelf {
		return 0, 0, ""
	}
	return start, end, prefix
}

// addressLength is how far an address goes on that began before s: to a space or a character that ends one, without the
// punctuation that belongs to the sentence.
func addressLength(s string, inBrackets bool) int {
	end, depth := 0, 0
scan:
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		switch {
		case r <= ' ', r == '<', r == '>', r == '"', r == '`', r == '|', r == '\\', r == ']' && inBrackets:
			break scan
		case 0x3000 <= r && r < 0x3040, 0xff00 <= r && r < 0xfff0, 0x2018 <= r && r < 0x2020:
			break scan
		case unicode.IsSpace(r):
			break scan
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
		end += size
	}
	for end > 0 {
		c := s[end-1]
		if strings.IndexByte("?!.,:*_~';", c) < 0 && (c != ')' || depth >= 0) {
			break
		}
		if c == ')' {
			depth++
		}
		end--
	}
	return end
}

// autolink reads <address>, of the web or of a mailbox.
func autolink(s string) (to target, shown string, n int) {
	end := strings.IndexAny(s[1:], "> <\n") + 1
	if end == 0 || s[end] != '>' {
		return target{}, "", 0
	}
	shown = s[1:end]
	scheme, _, found := strings.Cut(shown, ":")
	switch {
	case found && isScheme(scheme):
		to = follow(shown)
	case isMailbox(shown):
		to = follow("mailto:" + shown)
	default:
		return target{}, "", 0
	}
	return to, shown, end + 1
}

func isScheme(s string) bool {
	if len(s) < 2 || len(s) > 32 || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && strings.IndexByte("+.-", s[i]) < 0 {
			return false
		}
	}
	return true
}

func isMailbox(s string) bool {
	name, host, found := strings.Cut(s, "@")
	if !found || name == "" || host == "" || strings.Trim(host, ".-") != host {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte(".!#$%&'*+/=?^_`{|}~-@", c) < 0 {
			return false
		}
	}
	return strings.IndexByte(host, '@') < 0
}

// wordBefore reports whether s ends within a word.
func wordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
