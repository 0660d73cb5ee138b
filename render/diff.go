package render

import (
	"strconv"
	"strings"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/themes"
)

// Diff shows a change to a person, as lines without a newline at the end: a header `path  +a −d`, then every line with its
// number, which counts in the new text for what stands there and in the old for what was deleted. Hunks are set apart by a line.
// Lines are cut at the width, not wrapped (ui.md 3), and what cannot be seen is shown as marks (text.Visible), so what is shown
// cannot be applied; for that see Unified. Who is asked about a change has to see it by WholeDiff.
func Diff(d pages.Diff, o Options) string {
	return draw(d, diffWriter{Options: o, returns: MixedReturns(d)})
}

// WholeDiff is Diff with nothing left out, for a person who decides on the change: a line wider than the width goes on below
// itself behind ↪, which stands where no text of a file can, and spaces at the end of what changes can be seen. A width for
// hardly anything is exceeded.
func WholeDiff(d pages.Diff, o Options) string {
	return draw(d, diffWriter{Options: o, returns: true, whole: true})
}

func draw(d pages.Diff, b diffWriter) string {
	b.line(b.header(d))
	for _, h := range d.Hunks {
		b.digits = max(b.digits, digits(h.OldStart+h.OldLines), digits(h.NewStart+h.NewLines))
	}
	for i, h := range d.Hunks {
		if i > 0 {
			b.note(b.Palette.Hunk, "⋯")
		}
		b.hunk(h)
	}
	if rest := DiffRest(d); rest != "" {
		b.note(b.Palette.Warning, rest)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type diffWriter struct {
	strings.Builder
	Options
	digits  int  // of the largest line number
	returns bool // \r at line ends is part of the change
	whole   bool // nothing is cut
}

func (b *diffWriter) line(s string) {
	b.WriteString(s)
	b.WriteByte('\n')
}

// cut shortens a clean line to the width, where lines may be cut.
func (b *diffWriter) cut(line string) string {
	if b.whole {
		return line
	}
	return b.Options.cut(line)
}

// note writes a line about the diff under the signs.
func (b *diffWriter) note(style Style, s string) {
	b.line(style.Paint(b.cut(strings.Repeat(" ", b.digits+1) + s)))
}

// header says path, kind and size of the change. When it is too wide the path gives way, from its start: its end tells more.
func (b *diffWriter) header(d pages.Diff) string {
	p := b.Palette
	path := DiffPath(d)
	var plain, painted string
	for i, w := range DiffWords(d) {
		gap := " "
		if i == 0 {
			gap = "  "
		}
		style := p.Muted
		switch w.Role {
		case themes.RoleDiffAdd:
			style = p.Added
		case themes.RoleDiffRemove:
			style = p.Deleted
		}
		plain += gap + w.Text
		painted += gap + style.Paint(w.Text)
	}
	if b.Width > 0 && !b.whole && text.Width(path)+text.Width(plain) > b.Width {
		room := b.Width - text.Width(plain)
		if room < 2 {
			return p.Strong.Paint(b.cut(path))
		}
		path = text.CutLeft(path, room, "…")
	}
	return p.Strong.Paint(path) + painted
}

func (b *diffWriter) hunk(h pages.Hunk) {
	old, new := h.OldStart, h.NewStart
	for _, l := range h.Lines {
		var number int
		var sign string
		var style Style
		switch l.Op {
		case pages.LineAdded:
			number, sign, style = new, "+ ", b.Palette.Added
			new++
		case pages.LineDeleted:
			number, sign, style = old, "- ", b.Palette.Deleted
			old++
		default:
			number, sign = new, "  "
			old, new = old+1, new+1
		}
		b.row(number, style, sign, b.text(l))
		if l.NoEOL {
			b.note(b.Palette.Muted, NoNewline)
		}
	}
}

// minRow is the least room for the text of a line that is wrapped, in cells.
const minRow = 8

// row writes a line with its number. A whole one goes on in rows without a number.
func (b *diffWriter) row(number int, style Style, sign, s string) {
	gutter := strconv.Itoa(number)
	gutter = strings.Repeat(" ", max(0, b.digits-len(gutter))) + gutter + " "
	if !b.whole || b.Width <= 0 {
		s = sign + s
		if b.Width > 0 {
			if s = text.Cut(s, b.Width-len(gutter), "…"); s == "" {
				gutter = b.cut(gutter)
			}
		}
		b.painted(gutter, style, s)
		return
	}
	room := max(minRow, b.Width-len(gutter)-text.Width(sign))
	for {
		head := text.Cut(s, room, "")
		if head == "" {
			head = s // no character is that wide
		}
		b.painted(gutter, style, sign+head)
		if s = s[len(head):]; s == "" {
			return
		}
		gutter, sign = strings.Repeat(" ", len(gutter)), "↪ "
	}
}

func (b *diffWriter) painted(gutter string, style Style, s string) {
	b.line(strings.TrimRight(b.Palette.Muted.Paint(gutter)+style.Paint(strings.TrimRight(s, " ")), " "))
}

// text is what a line says. The \r before a line ending shows where the change is one of line endings.
func (b *diffWriter) text(l pages.DiffLine) string {
	return text.Clean(DiffText(l, b.returns, b.whole)) // of which only tabs are left to clean
}

// digits is how many the largest line number before end has.
func digits(end int) int { return len(strconv.Itoa(max(0, end-1))) }
