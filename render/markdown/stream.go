package markdown

import (
	"slices"
	"strings"

	"octavo/pages/text"
	"octavo/render"
)

// heldRows is how many rows an open block of code may have and still wait for its end, where it gets its colours. Those of a longer
// one become stable without, and get them when the answer is finished.
const heldRows = 256

// Stream is one answer while it is written (ui.md 19). It is not for concurrent use.
type Stream struct {
	source  strings.Builder
	cleaner text.Cleaner
	partial []byte // the line that has not ended yet, clean
	goesOn  bool   // the start of that line was taken as a piece

	parser parser
	paint  *painter

	closed []laid // leaves of which no more comes
	stable []render.Line
	open   open
}

// laid is a closed leaf that was laid out.
type laid struct {
	leaf
	from, to int  // its stable lines
	final    bool // which are those of Render, but for definitions
	missed   bool // it would look different if one more label were defined
	known    int  // how many were
}

// open is what was laid out of the open leaf, if that is code, HTML or a table: row by row.
type open struct {
	serial  int // of the leaf; 0 for none
	rows    int // laid out
	lines   []render.Line
	grid    grid
	spilled bool // its rows are stable lines, from from on
	from    int
}

// NewStream begins an answer.
func NewStream(o Options) *Stream {
	d := &definitions{}
	return &Stream{parser: parser{definitions: d}, paint: newPainter(o, d)}
}

// Write adds to the answer. It costs what delta is long and lays nothing out.
func (s *Stream) Write(delta string) {
	s.source.WriteString(delta)
	clean := s.cleaner.Write(delta)
	for {
		i := strings.IndexByte(clean, '\n')
		if i < 0 {
			break
		}
		line := clean[:i]
		if len(s.partial) > 0 {
			s.partial = append(s.partial, line...)
			line = string(s.partial)
			s.partial = s.partial[:0]
		}
		s.parser.take(line, s.goesOn)
		s.goesOn = false
		clean = clean[i+1:]
	}
	if s.partial = append(s.partial, clean...); len(s.partial) > maxLine+lineSlack {
		var rest string
		rest, s.goesOn = s.parser.pieces(string(s.partial), s.goesOn)
		s.partial = append(s.partial[:0], rest...)
	}
}

// Source is all that was written.
func (s *Stream) Source() string { return s.source.String() }

// Resize lays the answer out in another way. All lines are made anew.
func (s *Stream) Resize(o Options) {
	s.paint = newPainter(o, s.parser.definitions)
	s.stable, s.open = nil, open{}
	for i := range s.closed {
		s.lay(&s.closed[i])
	}
}

// Lines gives what stands by now. stable only grows until the next Resize; tail is what may still look different, and good until
// the next call of a method. Neither is to be changed. It costs what was written since the last call, and the open paragraph or row.
func (s *Stream) Lines() (stable, tail []render.Line) {
	s.settle()
	s.layOpen()
	tail = s.tail()
	return slices.Clip(s.stable), tail
}

// Finish gives the whole answer as Render does, of what was written by now. It is safe to go on writing.
func (s *Stream) Finish() []render.Line {
	s.settle()
	cleaner := s.cleaner
	p := s.parser.copied(s.parser.definitions.copied())
	goesOn := s.goesOn
	for rest := string(s.partial) + cleaner.Flush(); rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		p.take(line, goesOn)
		rest, goesOn = after, false
	}
	p.end()

	paint := newPainter(s.paint.o, p.definitions)
	all := make([]render.Line, 0, len(s.stable)+len(p.leaves))
	for i := range s.closed {
		l := &s.closed[i]
		if l.final && (!l.missed || l.known == len(p.definitions.links)) {
			all = append(all, s.stable[l.from:l.to]...)
		} else {
			all = paint.leaf(all, &l.leaf)
		}
	}
	for i := range p.leaves {
		all = paint.leaf(all, &p.leaves[i])
	}
	return all
}

// settle lays out what was closed.
func (s *Stream) settle() {
	for i := range s.parser.leaves {
		s.closed = append(s.closed, laid{leaf: s.parser.leaves[i]})
		s.lay(&s.closed[len(s.closed)-1])
	}
	clear(s.parser.leaves)
	s.parser.leaves = s.parser.leaves[:0]
}

// lay makes stable lines of a closed leaf.
func (s *Stream) lay(l *laid) {
	if o := &s.open; o.spilled && o.serial == l.serial {
		l.from = o.from
		s.stable = s.layRows(s.stable, &l.leaf, o.rows)
		l.final = s.rowsAreFinal(&l.leaf)
	} else {
		l.from = len(s.stable)
		s.stable = s.paint.leaf(s.stable, &l.leaf)
		l.final, l.missed, l.known = true, s.paint.missed, len(s.parser.definitions.links)
	}
	l.to = len(s.stable)
}

// rowsAreFinal reports whether the rows of an open leaf already look as they do in the end.
func (s *Stream) rowsAreFinal(l *leaf) bool {
	return l.kind == literal || l.kind == code && s.paint.o.Code == nil
}

// layOpen lays out the new rows of the open leaf.
func (s *Stream) layOpen() {
	l, o := &s.parser.open, &s.open
	if l.kind != code && l.kind != literal && l.kind != table {
		*o = open{}
		return
	}
	if o.serial != l.serial {
		*o = open{serial: l.serial}
		s.paint.frame(l)
		switch {
		case l.kind == code:
			o.lines = s.paint.codeHead(nil, l)
		case l.gap:
			o.lines = []render.Line{s.paint.emptyLine(s.paint.above)}
		}
		if l.kind == table {
			o.grid = s.paint.openGrid(l)
			o.lines = s.paint.gridHead(o.lines, &o.grid)
			o.rows = 1
		}
	}
	if o.rows == len(l.rows) {
		return
	}
	if o.spilled {
		s.stable = s.layRows(s.stable, l, o.rows)
	} else {
		o.lines = s.layRows(o.lines, l, o.rows)
	}
	o.rows = len(l.rows)
	if !o.spilled && (s.rowsAreFinal(l) || l.kind == code && o.rows > heldRows) {
		o.spilled, o.from = true, len(s.stable)
		s.stable = append(s.stable, o.lines...)
		o.lines = nil
	}
}

// layRows lays out the rows of a leaf from a row on, as far as that can be said while it is open.
func (s *Stream) layRows(dst []render.Line, l *leaf, from int) []render.Line {
	s.paint.frame(l)
	s.paint.started = from > 0
	switch l.kind {
	case code:
		return s.paint.codeRows(dst, l, from, nil)
	case literal:
		return s.paint.literalRows(dst, l, from)
	}
	for _, row := range l.rows[from:] {
		dst = s.paint.gridRow(dst, &s.open.grid, s.paint.tableRow(row, len(l.aligned)))
	}
	return dst
}

// tail lays out what is open, as if the answer ended here, but for what cannot be told from marks yet.
func (s *Stream) tail() []render.Line {
	tail := slices.Clip(s.open.lines)
	p := s.parser.copied(&definitions{links: s.parser.definitions.links, sealed: true})
	if line := string(s.partial); s.goesOn {
		p.take(line, true)
	} else if p.tells(line) {
		p.line(line)
	}
	p.veil()
	p.end()
	for i := range p.leaves {
		l := &p.leaves[i]
		if l.serial == s.open.serial {
			if l.kind != table && len(l.rows) > s.open.rows {
				tail = s.layRows(tail, l, s.open.rows)
			}
			continue
		}
		s.paint.inline.partial = i == len(p.leaves)-1
		tail = s.paint.leaf(tail, l)
		s.paint.inline.partial = false
	}
	return tail
}

// tells reports whether the start of a line tells what the line will be. Of one that does not nothing is shown: marks that would
// vanish, and rows of a table that are not complete.
func (p *parser) tells(s string) bool {
	depth, s := p.enter(s)
	if depth == len(p.boxes) {
		switch t := s[spaces(s):]; {
		case p.open.kind == table:
			return false
		case p.open.kind == literal:
			return s != ""
		case p.open.kind == code && p.fence.char != 0:
			return t != "" && run(t, p.fence.char) < len(t)
		}
	}
	for {
		n := spaces(s)
		if n == len(s) {
			return false
		}
		if s[n] == '>' {
			s = s[n+1:]
			continue
		}
		it, ok := parseItem(s, n)
		if !ok || it.blank {
			s = s[n:]
			break
		}
		if s = s[it.indent:]; s[0] == '[' && len(s) <= len("[ ]") {
			return false // the box of a task, perhaps
		}
	}
	switch {
	case strings.Trim(s, "-+*=_#~`|: ") == "", strings.Trim(strings.TrimRight(s, ".) "), "0123456789") == "":
		return false
	case strings.HasPrefix(s, "```"):
		return strings.IndexByte(s[run(s, '`'):], '`') >= 0
	}
	return s[0] != '|' && !strings.HasPrefix(s, "~~~")
}

// veil takes from the open paragraph what may still turn out to be the head of a table or a definition.
func (p *parser) veil() {
	if p.open.kind != paragraph {
		return
	}
	s := string(p.written)
	if from := strings.LastIndexByte(s, '\n') + 1; strings.HasPrefix(s[from:], "|") {
		s = s[:max(0, from-1)]
	}
	if !p.open.joined {
		s = p.define(s)
		if label, n := parseLabel(s); n > 0 && n < len(s) && s[0] == '[' && s[n] == ':' && label[0] != '^' {
			s = ""
		}
	}
	p.written = append(p.written[:0], s...)
	if s == "" {
		p.open.kind = noLeaf
	}
}
