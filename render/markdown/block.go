package markdown

import (
	"bytes"
	"slices"
	"strings"

	"octavo/pages/text"
)

// leafKind is what a leaf is.
type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraph
	heading
	code
	literal // HTML
	table
	divider
	empty // an item of a list without anything in it
)

// apart reports whether a leaf always has empty lines around it.
func (k leafKind) apart() bool { return k == code || k == table }

// segment is one box around a leaf: a quotation or an item of a list.
type segment struct {
	quote  bool
	number int  // of an ordered item
	delim  byte // '.' or ')' of an ordered item; 0 for a bullet
}

// leaf is one closed block: all that is needed to lay it out, at any width.
type leaf struct {
	kind  leafKind
	level uint8 // of a heading
	gap   bool  // an empty line stands before it
	task  task
	// joined says that it goes on where the paragraph before was cut, behind joint.
	joined bool
	joint  string

	boxes []segment // around it, from the outermost; shared, not to be changed
	fresh int       // boxes[fresh:] begin with this leaf

	serial  int      // counts leaves as they are opened
	text    string   // of a paragraph or heading, its lines apart
	rows    []string // of code, HTML and a table, whose first is its head
	joins   []int    // which rows go on in the one before
	info    string   // of a fence
	aligned []alignment
}

// begins reports whether a box begins with the leaf.
func (l *leaf) begins() bool { return l.fresh < len(l.boxes) }

// rowJoint reports whether a row goes on in the one before, and what spaces that ends with, which no line shows.
func (l *leaf) rowJoint(i int) (joint string, joined bool) {
	if _, joined = slices.BinarySearch(l.joins, i); !joined {
		return "", false
	}
	before := l.rows[i-1]
	return before[len(strings.TrimRight(before, " ")):], true
}

// task is the box at the start of an item.
type task uint8

const (
	noTask task = iota
	openTask
	doneTask
)

// box is a quotation or an item that is open.
type box struct {
	segment
	indent int  // columns that the content of an item stands in, counted in the box around it
	first  bool // it is the first item of its list
	used   bool // something was opened in it
	list   list // the last one in it
}

// list is a list that the next item may belong to.
type list struct {
	mark byte // - + * . ) or 0 for none
	next int  // number of the next item
}

// parser cuts a clean text into leaves. It takes whole lines and never goes back. Its zero value with definitions is ready.
type parser struct {
	definitions *definitions
	leaves      []leaf // closed; whoever drives the parser may take them

	boxes []box
	root  list // the last list outside of any box
	fresh int  // boxes[fresh:] have had no leaf

	open    leaf   // kind is noLeaf when none is
	written []byte // of an open paragraph
	fence   fence  // of open code; its char is 0 for code that is indented
	html    htmlEnd
	blanks  []string // lines of indented code that belong to it if more follows

	shape  []segment // boxes for leaves, nil when that has to be made anew
	serial int
	last   leafKind // of the leaf before
	within int      // in how many boxes that stands
	blank  bool     // an empty line stood before this one
}

// copied is a parser that goes on from here by itself, with definitions of its own. The rows of an open leaf have one backing, so that
// of the two only one may go on at a time, and the copy's leaves are good until the other does.
func (p *parser) copied(d *definitions) parser {
	c := *p
	c.definitions, c.leaves = d, nil
	c.boxes, c.written, c.blanks = slices.Clone(p.boxes), slices.Clone(p.written), slices.Clone(p.blanks)
	return c
}

// take takes a line without its line feed, or what goes on in one. A long one is taken in pieces.
func (p *parser) take(s string, goesOn bool) {
	rest, goesOn := p.pieces(s, goesOn)
	switch {
	case !goesOn:
		p.line(rest)
	case rest != "":
		p.more(rest)
	}
}

// pieces takes pieces of a line for as long as it is too long. Where they end depends on nothing behind them.
func (p *parser) pieces(s string, goesOn bool) (rest string, _ bool) {
	for len(s) > maxLine+lineSlack {
		n := maxLine + 1 + strings.IndexByte(s[maxLine:maxLine+lineSlack], ' ')
		if n == maxLine {
			n = len(text.CutBytes(s, maxLine))
		}
		if goesOn {
			p.more(s[:n])
		} else {
			p.line(s[:n])
		}
		s, goesOn = s[n:], true
	}
	return s, goesOn
}

// line takes the next line, without its line feed.
func (p *parser) line(s string) {
	depth, s := p.enter(s)
	if depth == len(p.boxes) && p.verbatim(s) {
		return
	}
	opened := false
	for {
		n := spaces(s)
		if n == len(s) {
			p.blankLine(depth, opened)
			return
		}
		if n > 3 {
			if p.open.kind == paragraph && !opened {
				break // which it belongs to
			}
			p.closeTo(depth)
			p.begin(code)
			p.fence = fence{}
			p.row(s[4:])
			return
		}
		rest, begun := p.start(depth, s, n)
		if begun == leafBegun {
			return
		}
		if begun == nothingBegun {
			break
		}
		s, opened = rest, true
		depth = len(p.boxes)
	}
	lazy := !opened && depth < len(p.boxes) && p.open.kind == paragraph
	if !lazy {
		p.closeTo(depth)
	}
	p.prose(s, lazy)
}

// more takes what goes on in a line that was taken in pieces.
func (p *parser) more(s string) {
	switch p.open.kind {
	case code:
		if len(p.open.rows) == 0 {
			return // which is what a fence says, of which the start is enough
		}
		p.open.joins = append(p.open.joins, len(p.open.rows))
		p.row(s)
	case literal:
		p.open.joins = append(p.open.joins, len(p.open.rows))
		p.htmlRow(s)
	case paragraph:
		p.write(s, "")
	default:
		p.closeLeaf()
		p.begin(paragraph)
		p.write(s, "")
	}
}

// end closes everything.
func (p *parser) end() { p.closeTo(0); p.closeLeaf() }

// enter takes the marks of the boxes off a line that it goes on in. depth is how many those are.
func (p *parser) enter(s string) (depth int, rest string) {
	for ; depth < len(p.boxes); depth++ {
		b := &p.boxes[depth]
		n := spaces(s)
		switch {
		case b.quote:
			if n > 3 || n == len(s) || s[n] != '>' {
				return depth, s
			}
			s = strings.TrimPrefix(s[n+1:], " ")
		case n == len(s):
			if !b.used {
				return depth, s
			}
			s = s[min(n, b.indent):]
		case n >= b.indent:
			s = s[b.indent:]
		default:
			return depth, s
		}
	}
	return depth, s
}

// verbatim gives a line to the open leaf if that takes lines as they are. s is without the marks of the boxes.
func (p *parser) verbatim(s string) bool {
	n := spaces(s)
	blank := n == len(s)
	switch p.open.kind {
	case code:
		switch {
		case p.fence.char != 0:
			if p.fence.closedBy(s) {
				p.closeLeaf()
			} else {
				p.row(s[min(n, p.fence.indent):])
			}
			return true
		case blank:
			p.blanks = append(p.blanks, s[min(n, 4):])
			return true
		case n > 3:
			p.row(s[4:])
			return true
		}
	case literal:
		if blank && p.html == htmlBlank {
			p.closeLeaf()
			return false
		}
		p.htmlRow(s)
		return true
	case table:
		if !blank && n <= 3 && !startsBlock(s, n) {
			p.row(s)
			return true
		}
		p.closeLeaf()
	}
	return false
}

// blankLine takes a line without anything but marks of boxes.
func (p *parser) blankLine(depth int, opened bool) {
	if opened {
		return // the box begins with it
	}
	p.closeTo(depth)
	if p.open.kind == paragraph {
		p.closeLeaf()
	}
	p.blank = true
}

// begun is what a line begins.
type begun uint8

const (
	nothingBegun begun = iota
	leafBegun          // which has the whole line
	boxBegun           // which the rest of the line stands in
)

// start begins the block that a line begins behind n spaces, in the first depth boxes.
func (p *parser) start(depth int, s string, n int) (rest string, _ begun) {
	t := s[n:]
	inParagraph := p.open.kind == paragraph && depth == len(p.boxes)
	switch t[0] {
	case '>':
		if depth >= maxBoxes {
			return "", nothingBegun
		}
		p.push(depth, box{segment: segment{quote: true}}, 0)
		return strings.TrimPrefix(t[1:], " "), boxBegun
	case '#':
		if level, title := parseHeading(t); level > 0 {
			p.closeTo(depth)
			p.begin(heading)
			p.open.level, p.open.text = uint8(level), title
			p.closeLeaf()
			return "", leafBegun
		}
	case '`', '~':
		if f, ok := parseFence(s, n); ok {
			p.closeTo(depth)
			p.begin(code)
			p.fence, p.open.info = f, f.info
			return "", leafBegun
		}
	case '<':
		if end := htmlStart(t, p.open.kind == paragraph); end != htmlNone {
			p.closeTo(depth)
			p.begin(literal)
			p.html = end
			p.htmlRow(s)
			return "", leafBegun
		}
	case '=', '-':
		if level := underline(t); level > 0 && inParagraph && p.setext(level) {
			return "", leafBegun
		}
	}
	if isDivider(t) {
		p.closeTo(depth)
		p.begin(divider)
		p.closeLeaf()
		return "", leafBegun
	}
	it, ok := parseItem(s, n)
	if !ok || inParagraph && !it.interrupts() || depth >= maxBoxes {
		return "", nothingBegun
	}
	p.push(depth, box{segment: it.segment, indent: it.indent}, it.mark)
	return s[min(it.indent, len(s)):], boxBegun
}

// push closes what is open below depth and opens a box there: an item of a list with a mark, or a quotation, whose mark is 0.
func (p *parser) push(depth int, b box, mark byte) {
	p.closeTo(depth)
	p.closeLeaf()
	around := p.listAt(depth)
	if b.first = mark != around.mark; b.first {
		*around = list{mark: mark, next: b.number}
	}
	b.number = around.next
	around.next++
	if depth > 0 {
		p.boxes[depth-1].used = true
	}
	p.boxes = append(p.boxes, b)
	p.shape = nil
}

// listAt is the list that items at a depth belong to.
func (p *parser) listAt(depth int) *list {
	if depth == 0 {
		return &p.root
	}
	return &p.boxes[depth-1].list
}

// closeTo closes the boxes below depth, and first the leaf if it stands in one of them. An item that never had a leaf is shown as
// an empty one.
func (p *parser) closeTo(depth int) {
	if depth >= len(p.boxes) {
		return
	}
	p.closeLeaf()
	for len(p.boxes) > depth {
		last := len(p.boxes) - 1
		if p.fresh <= last && !p.boxes[last].quote {
			p.begin(empty)
			p.closeLeaf()
		}
		p.boxes = p.boxes[:last]
		p.fresh = min(p.fresh, last)
		p.shape = nil
	}
}

// prose takes a line of a paragraph. A lazy one may go on in it only.
func (p *parser) prose(s string, lazy bool) {
	s = s[spaces(s):]
	if p.open.kind == paragraph {
		if !lazy && p.tableHead(s) {
			return
		}
		p.write(s, "\n")
		return
	}
	p.begin(paragraph)
	p.write(s, "")
}

// begin opens a leaf in the boxes that are open.
func (p *parser) begin(kind leafKind) {
	p.closeLeaf()
	if p.shape == nil {
		p.shape = make([]segment, len(p.boxes))
		for i := range p.boxes {
			p.shape[i] = p.boxes[i].segment
		}
	}
	*p.listAt(len(p.boxes)) = list{}
	if n := len(p.boxes); n > 0 {
		p.boxes[n-1].used = true
	}
	p.serial++
	p.open = leaf{kind: kind, serial: p.serial, boxes: p.shape, fresh: p.fresh}
	p.open.gap = p.last != noLeaf && (p.blank || p.last.apart() || kind.apart() && !p.open.begins() || !p.tight())
	p.written = p.written[:0]
	p.blank = false
}

// tight reports whether words stand right under those before unless an empty line was written: in lists, under headings, and where
// a list follows its introduction. There a person's own spacing is kept. Elsewhere blocks are set apart.
func (p *parser) tight() bool {
	if p.fresh > 0 && !p.boxes[p.fresh-1].quote {
		return true // in an item
	}
	here := p.within == p.fresh
	if p.fresh < len(p.boxes) && !p.boxes[p.fresh].quote {
		return !p.boxes[p.fresh].first || here && (p.last == paragraph || p.last == heading)
	}
	return here && p.last == heading
}

// write adds to the open paragraph, behind a joint. One that grows too long is closed, and goes on as another leaf.
func (p *parser) write(s, joint string) {
	if len(p.written) > 0 && len(p.written)+len(joint)+len(s) > maxPiece {
		if p.written[len(p.written)-1] == ' ' || joint != "" {
			joint = " "
		}
		before := len(p.leaves)
		p.begin(paragraph)
		if len(p.leaves) > before {
			p.open.gap, p.open.joined, p.open.joint = false, true, joint
		}
		joint = ""
	}
	if len(p.written) > 0 {
		p.written = append(p.written, joint...)
	}
	p.written = append(p.written, s...)
}

// row adds a row to the open leaf.
func (p *parser) row(s string) {
	p.open.rows = append(append(p.open.rows, p.blanks...), s)
	p.blanks = p.blanks[:0]
}

// htmlRow adds a row to open HTML, and closes it if it ends there.
func (p *parser) htmlRow(s string) {
	p.row(s)
	if p.html.endedBy(s) {
		p.closeLeaf()
	}
}

// setext makes the open paragraph a heading. One that only defines links is none.
func (p *parser) setext(level int) bool {
	if p.open.joined {
		return false
	}
	title := p.define(string(p.written))
	p.written = append(p.written[:0], title...)
	if title == "" {
		return false
	}
	p.open.kind, p.open.level, p.open.text = heading, uint8(level), title
	p.closeLeaf()
	return true
}

// tableHead makes a table of the last line of the open paragraph, if s is the line of dashes under its head. Lines before it stay a
// paragraph.
func (p *parser) tableHead(s string) bool {
	aligned := alignments(s)
	if aligned == nil {
		return false
	}
	from := bytes.LastIndexByte(p.written, '\n') + 1
	head := string(p.written[from:])
	if len(cells(head, maxColumns+1)) != len(aligned) {
		return false
	}
	p.written = p.written[:max(0, from-1)]
	if from > 0 {
		p.closeLeaf()
		p.begin(table)
	} else {
		p.open.kind, p.open.joined = table, false
		p.open.gap = p.open.gap || p.last != noLeaf && !p.open.begins()
	}
	p.open.aligned = aligned
	p.open.rows = []string{head}
	return true
}

// closeLeaf closes the open leaf, if any.
func (p *parser) closeLeaf() {
	l := p.open
	if l.kind == noLeaf {
		return
	}
	p.open.kind = noLeaf
	if len(p.blanks) > 0 {
		p.blank = true
		p.blanks = p.blanks[:0]
	}
	switch l.kind {
	case paragraph:
		l.text = string(p.written)
		if !l.joined {
			l.text = p.define(l.text)
		}
		if strings.Trim(l.text, " \n") == "" {
			return
		}
		l.takeTask()
	case heading:
		l.text = strings.Trim(l.text, " \n")
	}
	p.last, p.within = l.kind, len(p.boxes)
	p.fresh = len(p.boxes)
	p.leaves = append(p.leaves, l)
}

// takeTask takes [ ] or [x] off the first paragraph of an item.
func (l *leaf) takeTask() {
	if !l.begins() || l.boxes[len(l.boxes)-1].quote || len(l.text) < 4 || l.text[0] != '[' || l.text[2] != ']' || l.text[3] != ' ' {
		return
	}
	switch l.text[1] {
	case ' ':
		l.task = openTask
	case 'x', 'X':
		l.task = doneTask
	default:
		return
	}
	l.text = strings.TrimLeft(l.text[4:], " ")
}
