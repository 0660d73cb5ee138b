// Package code makes screen lines of source code and of changes to it: numbered, highlighted, with the words that changed marked. What
// a part is it says in roles, never in colours. It reads no file and knows no session and no terminal.
//
// Code is highlighted by chroma (core and lexers, neither its styles nor its formatters), because a well-kept library is preferred to
// grammars of our own even where it is slower. It has a price: at start it reads the head of some 280 grammars, 6 to 7 ms and 2.7 MB, in
// every program that links this package, whether it highlights or not. That is accepted for the full-screen program; nothing else may
// import this package. The first text of a language costs some milliseconds more, to compile its expressions.
//
// Chroma's expressions cannot be interrupted, so they run where nobody has to wait for them (Highlighter). A text that chroma does not
// give back letter by letter, and a language that it does not know, is shown plain. Expressions also keep a clock of regexp2's going, a
// goroutine that ends by itself about a second after the last of them.
//
// Lines share what a Highlighter remembers: who gets them changes nothing in them.
package code

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// Options is how code is laid out.
type Options struct {
	Width int  // cells; 0 and less is as wide as it takes
	ASCII bool // what is no content is plain ASCII
	Tab   int  // distance of tab stops in cells, up to MaxTab; 0 and less is text.TabStop
	// Review is for a person who decides on a change: the spaces and tabs that changed lines end with, and what stands before their
	// line ends, can be seen.
	Review bool
}

// MaxTab bounds the distance of tab stops.
const MaxTab = 16

// From these widths on, in cells, there is room for the numbers of one side and of both.
const (
	MinNumbers     = 32
	MinBothNumbers = 60
)

func (o Options) tab() int {
	if o.Tab <= 0 {
		return text.TabStop
	}
	return min(o.Tab, MaxTab)
}

// numbers is for how many sides there is room for line numbers.
func (o Options) numbers() int {
	switch {
	case o.Width <= 0 || o.Width >= MinBothNumbers:
		return 2
	case o.Width >= MinNumbers:
		return 1
	}
	return 0
}

func (o Options) ellipsis() string {
	if o.ASCII {
		return ">"
	}
	return "…"
}

// said is what octavo says itself, in the characters there are.
func (o Options) said(s string) string {
	if o.ASCII {
		return strings.NewReplacer("−", "-", "…", "...").Replace(s)
	}
	return s
}

// Source gives the lines of a file or of a part of it, whose first has the number from. Every character can be seen. The number of a
// line is its gutter. It waits for its colours (Patience) where they are not remembered.
func Source(path, source string, from int, h *Highlighter, o Options) []render.Line {
	shown := visible(source)
	first, _, _ := strings.Cut(shown, "\n")
	lines := h.colour(context.Background(), Language("", path, first), shown)
	wide := max(digits(from), digits(from+len(lines)-1))
	for i, l := range lines {
		l.Text, l.Runs = expand(l.Text, warned(l.Text, l.Runs), o.tab())
		if o.numbers() > 0 {
			l = beside(pad(strconv.Itoa(from+i), wide)+"  ", l)
		}
		lines[i] = l
	}
	return lines
}

// visible is a text in which everything but tabs and line ends can be seen. The \r before its line ends is shown where not all have it.
func visible(source string) string {
	if n := strings.Count(source, "\r\n"); n > 0 && n == strings.Count(source, "\n") {
		source = strings.ReplaceAll(source, "\r\n", "\n")
	}
	return text.Visible(source)
}

// beside puts a gutter of numbers before a line.
func beside(gutter string, l render.Line) render.Line {
	runs := make([]render.Run, 0, len(l.Runs)+1)
	runs = append(runs, render.Run{To: len(gutter), Role: themes.RoleDiffHunk})
	l.Runs = append(runs, shifted(l.Runs, len(gutter))...)
	l.Text = gutter + l.Text
	l.Gutter += len(gutter)
	return l
}

// shifted are runs n bytes further; those given stay as they are.
func shifted(runs []render.Run, n int) []render.Run {
	moved := make([]render.Run, len(runs))
	for i, r := range runs {
		r.From, r.To = r.From+n, r.To+n
		moved[i] = r
	}
	return moved
}

// warned gives runs in which the marks that stand for what cannot be seen (text.Visible) warn.
func warned(s string, runs []render.Run) []render.Run {
	var parts []part
	for i := 0; i < len(s); {
		// All of them begin with this byte of UTF-8.
		n := strings.IndexByte(s[i:], 0xe2)
		if n < 0 {
			break
		}
		i += n
		n = hidden(s[i:])
		switch last := len(parts) - 1; {
		case n == 0:
			n = 1
		case last >= 0 && parts[last].to == i:
			parts[last].to += n
		default:
			parts = append(parts, part{i, i + n})
		}
		i += n
	}
	return repainted(runs, parts, func(r render.Run) render.Run {
		r.Role = themes.RoleWarning
		return r
	})
}

// hidden is how many bytes the mark has that s begins with: ␛, ‹U+202E› or ‹0xFF›.
func hidden(s string) int {
	const firstPicture, lastPicture = 0x2400, 0x2421
	if r, size := utf8.DecodeRuneInString(s); firstPicture <= r && r <= lastPicture {
		return size
	}
	inside, ok := strings.CutPrefix(s, "‹")
	if !ok {
		return 0
	}
	end := strings.Index(inside[:min(len(inside), len("U+10FFFF›"))], "›")
	if end < 4 || inside[:2] != "U+" && inside[:2] != "0x" || strings.Trim(inside[2:end], "0123456789ABCDEF") != "" {
		return 0
	}
	return len("‹") + end + len("›")
}

// repainted gives runs in which parts are changed; what no run covers there comes as a run without a role. The runs given stay as
// they are.
func repainted(runs []render.Run, parts []part, change func(render.Run) render.Run) []render.Run {
	if len(parts) == 0 {
		return runs
	}
	out := make([]render.Run, 0, len(runs)+2*len(parts))
	add := func(r render.Run, from, to int) {
		if r.From, r.To = from, to; from >= to {
			return
		}
		if n := len(out); n > 0 && out[n-1].To == from && out[n-1].Role == r.Role && out[n-1].Attr == r.Attr {
			out[n-1].To = to
			return
		}
		out = append(out, r)
	}
	next, at := 0, 0 // what is before at is in out
	for _, p := range parts {
		for next < len(runs) && runs[next].To <= p.from {
			add(runs[next], max(at, runs[next].From), runs[next].To)
			next++
		}
		if next < len(runs) {
			add(runs[next], max(at, runs[next].From), p.from)
		}
		at = p.from
		for at < p.to {
			for next < len(runs) && runs[next].To <= at {
				next++
			}
			if next == len(runs) || runs[next].From >= p.to {
				add(change(render.Run{}), at, p.to)
				break
			}
			r := runs[next]
			add(change(render.Run{}), at, r.From)
			add(change(r), max(at, r.From), min(r.To, p.to))
			at = min(r.To, p.to)
		}
		at = p.to
	}
	for ; next < len(runs); next++ {
		add(runs[next], max(at, runs[next].From), runs[next].To)
	}
	return out
}

func digits(n int) int { return len(strconv.Itoa(n)) }

// pad puts blanks before a word of ASCII.
func pad(s string, width int) string { return strings.Repeat(" ", max(0, width-len(s))) + s }

// expand puts spaces for tabs, up to the next stop, and moves the runs with the text.
func expand(s string, runs []render.Run, stop int) (string, []render.Run) {
	if strings.IndexByte(s, '\t') < 0 {
		return s, runs
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	moved := shifted(runs, 0)
	next, column := 0, 0 // next counts the ends of runs that have been moved, two for each
	move := func(upTo, by int) {
		for ; next < 2*len(moved); next++ {
			end := &moved[next/2].From
			if next%2 == 1 {
				end = &moved[next/2].To
			}
			if *end > upTo {
				return
			}
			*end += by
		}
	}
	for at := 0; ; {
		n := strings.IndexByte(s[at:], '\t')
		by := b.Len() - at
		if n < 0 {
			move(len(s), by)
			b.WriteString(s[at:])
			return b.String(), moved
		}
		move(at+n, by)
		b.WriteString(s[at : at+n])
		column += text.Width(s[at : at+n])
		blanks := stop - column%stop
		b.WriteString(strings.Repeat(" ", blanks))
		column += blanks
		at += n + 1
	}
}
