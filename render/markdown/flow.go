package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// phrase is text in one piece with what its parts are, before it is broken into lines. A line feed in it is a break that stays.
type phrase struct {
	text string
	runs []render.Run
}

// phrases writes nodes as a phrase. Its slices are used again for the next.
type phrases struct {
	role themes.Role // of what has none of its own
	tail string      // of an address that is cut
	text []byte
	runs []render.Run

	depth [styles]int // of emphasis
	links []target    // that are open, from the outermost
	from  []int       // where their texts begin
}

// phrase reads the marks of src and gives what they make of it. role is that of the text around.
func (r *painter) phrase(src string, role themes.Role) phrase {
	if !strings.ContainsAny(src, "\n\\`*_~[]!<&:.") {
		return phrase{text: src}
	}
	r.inline.read(src)
	r.missed = r.missed || r.inline.missed
	w := &r.phrases
	*w = phrases{role: role, tail: r.glyphs.ellipsis, text: w.text[:0], runs: w.runs[:0], links: w.links[:0], from: w.from[:0]}
	for i := range r.inline.nodes {
		w.node(&r.inline, &r.inline.nodes[i])
	}
	return phrase{text: string(w.text), runs: slices.Clone(w.runs)}
}

func (w *phrases) node(p *inline, n *node) {
	switch n.kind {
	case words:
		w.add(n.text, w.style())
	case inlineCode:
		style := w.style()
		style.Role = themes.RoleCode
		w.add(n.text, style)
	case softBreak:
		w.add(" ", w.style())
	case hardBreak:
		w.add("\n", render.Run{})
	case delimRun:
		d := &p.delims[n.at]
		for i := range w.depth {
			w.depth[i] -= d.end[i]
		}
		if !d.hidden && d.left > 0 {
			w.add(p.src[d.pos-d.left:d.pos], w.style())
		}
		for i := range w.depth {
			w.depth[i] += d.begin[i]
		}
	case linkStart:
		w.begin(n.to)
	case linkEnd:
		w.end(n.to)
	case imageStart:
		w.begin(n.to)
		w.add("[image: ", w.style())
	case imageEnd:
		if from := w.from[len(w.from)-1]; string(w.text[from:]) == "[image: " {
			w.cut(from + len("[image"))
		}
		w.add("]", w.style())
		w.end(n.to)
	case address:
		w.begin(n.to)
		w.add(n.text, w.style())
		w.end(n.to)
	}
}

func (w *phrases) begin(to target) {
	w.links = append(w.links, to)
	w.from = append(w.from, len(w.text))
}

// end ends a link, and says where it leads unless its text does.
func (w *phrases) end(to target) {
	last := len(w.links) - 1
	said := string(w.text[w.from[last]:])
	w.links, w.from = w.links[:last], w.from[:last]
	switch {
	case to.shown == "":
	case to.link == "" && (to.shown[0] == '#' || strings.Contains(said, to.shown)):
	case to.link != "" && names(said, to.shown):
	default:
		shown := text.Cut(to.shown, maxShown, w.tail)
		if said != "" {
			shown = " (" + shown + ")"
		}
		w.add(shown, render.Run{Role: themes.RoleMuted})
	}
}

// style is what text has here. Of links in each other the outermost counts, since that is what a reader sees as one.
func (w *phrases) style() render.Run {
	style := render.Run{Role: w.role}
	if w.depth[emphasized] > 0 {
		style.Attr |= render.Italic
		style.Role = w.weighty(themes.RoleEmphasis)
	}
	if w.depth[strong] > 0 {
		style.Attr |= render.Bold
		style.Role = w.weighty(themes.RoleStrong)
	}
	if w.depth[struck] > 0 {
		style.Attr |= render.Strike
	}
	for _, to := range w.links {
		if to.link != "" {
			style.Role, style.Link = themes.RoleLink, to.link
			style.Attr |= render.Underline
			break
		}
	}
	return style
}

// weighty is the role of emphasis, which in a heading keeps to the heading's.
func (w *phrases) weighty(role themes.Role) themes.Role {
	if w.role == themes.RoleHeading {
		return w.role
	}
	return role
}

// add appends text with a style.
func (w *phrases) add(s string, style render.Run) {
	from := len(w.text)
	w.text = append(w.text, s...)
	if s == "" || style.Role == w.role && style.Attr == 0 || style.Role == "" {
		return
	}
	style.From, style.To = from, len(w.text)
	if last := len(w.runs) - 1; last >= 0 {
		before := &w.runs[last]
		if before.To == from && before.Role == style.Role && before.Attr == style.Attr && before.Link == style.Link {
			before.To = style.To
			return
		}
	}
	w.runs = append(w.runs, style)
}

// cut shortens the text.
func (w *phrases) cut(to int) {
	w.text = w.text[:to]
	for last := len(w.runs) - 1; last >= 0 && w.runs[last].To > to; last-- {
		if w.runs[last].To = to; w.runs[last].From >= to {
			w.runs = w.runs[:last]
		}
	}
}

// breaker breaks a phrase into lines.
type breaker struct {
	phrase
	line  string // the current one
	from  int    // where it begins in the phrase
	soft  bool   // it goes on where the one before was broken
	joint string // what stood between the two

	at    int    // where the next one begins
	gap   string // what stands before it; a line feed for a break that stays
	begun bool
	ended bool
}

// next moves to the next line, at most width cells wide. There is at least one.
func (b *breaker) next(width int) bool {
	if b.ended {
		return false
	}
	b.soft, b.joint = b.begun && b.gap != "\n", b.gap
	b.at += invisible(b.text[b.at:])
	for len(b.runs) > 0 && b.runs[0].To <= b.at {
		b.runs = b.runs[1:]
	}
	line, next, gap := breakLine(b.text[b.at:], width)
	b.line, b.from, b.gap, b.begun = line, b.at, gap, true
	b.at += next
	b.ended = b.at == len(b.text) && gap != "\n"
	return true
}

// lines adds what a breaker gives: lines of a role, at most width cells wide with what stands before them. Those that go on stand
// hang cells further in.
func (r *painter) lines(dst []render.Line, b breaker, width, hang int, role themes.Role) []render.Line {
	further := prefix{text: r.rest.text + strings.Repeat(" ", hang), runs: r.rest.runs, cells: r.rest.cells + hang}
	for {
		before := r.before()
		if b.begun && b.gap != "\n" {
			before = &further
		}
		if !b.next(width - before.cells) {
			return dst
		}
		l := render.Line{Role: role, Gutter: before.rails, Soft: b.soft}
		if b.soft {
			l.Joint, l.Gutter = b.joint, len(before.text)
		}
		r.compose(&l, before, b.line, b.runs, b.from)
		dst = append(dst, l)
	}
}

// compose puts a line together. It begins at byte at of the text that runs are about, none of which end before.
func (r *painter) compose(l *render.Line, before *prefix, line string, runs []render.Run, at int) {
	l.Text = line
	if before.text != "" {
		l.Text = before.text + line
	}
	if line == "" && !l.Fill {
		l.Text = strings.TrimRight(l.Text, " ")
		l.Gutter = min(l.Gutter, len(l.Text))
	}
	n := 0
	for n < len(runs) && runs[n].From < at+len(line) {
		n++
	}
	if len(before.runs)+n == 0 {
		return
	}
	l.Runs = append(r.room(len(before.runs)+n), before.runs...)
	for _, run := range runs[:n] {
		run.From = max(run.From-at, 0) + len(before.text)
		run.To = min(run.To-at, len(line)) + len(before.text)
		if run.From < run.To {
			l.Runs = append(l.Runs, run)
		}
	}
}

// room is an empty slice for n runs. They are made many at a time.
func (r *painter) room(n int) []render.Run {
	const many = 128
	if n > cap(r.spare)-len(r.spare) {
		r.spare = make([]render.Run, 0, max(n, many))
	}
	from := len(r.spare)
	r.spare = r.spare[:from+n]
	return r.spare[from:from:len(r.spare)]
}

// breakLine gives the start of clean text that finds room in width cells, where the text goes on, and what stands between: a line
// feed where the break stays, spaces, or nothing.
func breakLine(s string, width int) (line string, next int, gap string) {
	end := strings.IndexByte(s, '\n')
	if end < 0 {
		end = len(s)
	}
	at := len(text.Cut(s[:end], width, ""))
	switch {
	case at == end:
	case at == 0: // no character is that wide
		_, at = utf8.DecodeRuneInString(s)
	case s[at] != ' ':
		at = breakBefore(s[:end], at)
	}
	line = strings.TrimRight(s[:at], " ")
	next = at + spaces(s[at:end])
	if next == end && end < len(s) {
		return line, end + 1, "\n"
	}
	return line, next, s[len(line):next]
}

// breakBefore is where a line that has no room for s[fits:] is best broken: behind a space, a hyphen between letters, beside an
// East Asian character, or in the middle of a word that is alone.
func breakBefore(s string, fits int) int {
	word := len(s) - len(strings.TrimLeft(s, " "))
	for i := fits; i > word; i-- {
		if s[i-1] == ' ' {
			return i
		}
		if s[i-1] == '-' && i > 1 && s[i-2] < utf8.RuneSelf && isLetter(s[i-2]) && isLetter(s[i]) {
			return i
		}
		if (s[i] >= 0xe2 || s[i-1] >= 0x80) && utf8.RuneStart(s[i]) && breaksEastAsian(s, i) {
			return i
		}
	}
	return fits
}

// breaksEastAsian reports whether a line may be broken at i because an East Asian character stands beside it.
func breaksEastAsian(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	if !isEastAsian(before) && !isEastAsian(after) || unicode.IsMark(after) || after == '\u200d' || before == '\u200d' {
		return false
	}
	return !strings.ContainsRune("、。，．・：；！？）」』】〕〉》ー々,.:;!?)]}'\"%…", after) && !strings.ContainsRune("（「『【〔〈《([{'\"", before)
}

// invisible counts the bytes at the start of a line that change what stands before them, which is not of the text: selectors that
// make an emoji of it.
func invisible(s string) int {
	return len(s) - len(strings.TrimLeft(s, "\ufe0e\ufe0f"))
}
