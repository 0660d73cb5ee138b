package render

import (
	"strconv"
	"strings"

	"octavo/pages"
	"octavo/pages/text"
)

// Diff shows a change to a person, as lines without a newline at the end: a header `path  +a −d`, then every line with its
// number, which counts in the new text for what stands there and in the old for what was deleted. Hunks are set apart by a line.
// Lines are cut at the width, not wrapped (ui.md 3), and what cannot be seen is shown as marks (text.Visible), so what is shown
// cannot be applied; for that see Unified. Who is asked about a change has to see it by WholeDiff.
func Diff(d pages.Diff, o Options) string {
	return draw(d, diffWriter{Options: o, returns: mixedReturns(d)})
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
	b.rest(d)
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
	type word struct {
		style Style
		text  string
	}
	var words []word
	p := b.Palette
	switch {
	case d.New:
		words = append(words, word{p.Muted, "new"})
	case d.Removed:
		words = append(words, word{p.Muted, "removed"})
	}
	if d.Binary {
		words = append(words, word{p.Muted, "binary"})
	}
	switch {
	case d.Added != 0 || d.Deleted != 0:
		words = append(words, word{p.Added, "+" + strconv.Itoa(d.Added)}, word{p.Deleted, "−" + strconv.Itoa(d.Deleted)})
	case d.Binary: // which counts as no lines
	case d.New || d.Removed:
		words = append(words, word{p.Muted, "(empty)"})
	default:
		words = append(words, word{p.Muted, "(no change)"})
	}

	path := oneLine(d.Path)
	var plain, painted string
	for i, w := range words {
		gap := " "
		if i == 0 {
			gap = "  "
		}
		plain += gap + w.text
		painted += gap + w.style.Paint(w.text)
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
			b.note(b.Palette.Muted, `\ no newline at the end of the file`)
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
	s := l.Text
	if !b.returns {
		s = strings.TrimSuffix(s, "\r")
	}
	s = oneLine(s)
	if b.whole && l.Op != pages.LineSame {
		s = showEnd(s)
	}
	return text.Clean(s) // of which only tabs are left to clean
}

// oneLine shows everything in what has to be one line.
func oneLine(s string) string { return strings.ReplaceAll(text.Visible(s), "\n", "␊") }

// showEnd makes the spaces and tabs that end a line visible.
func showEnd(s string) string {
	end := len(strings.TrimRight(s, " \t"))
	if end == len(s) {
		return s
	}
	return s[:end] + strings.NewReplacer(" ", "␠", "\t", "␉").Replace(s[end:])
}

// mixedReturns reports whether some lines of a diff end in \r and some do not.
func mixedReturns(d pages.Diff) bool {
	var with, without bool
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if strings.HasSuffix(l.Text, "\r") {
				with = true
			} else {
				without = true
			}
		}
	}
	return with && without
}

// rest says what a cut diff does not show. A diff of which only long lines were cut says so in those lines.
func (b *diffWriter) rest(d pages.Diff) {
	if !d.Cut {
		return
	}
	added, deleted := d.Added, d.Deleted
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case pages.LineAdded:
				added--
			case pages.LineDeleted:
				deleted--
			}
		}
	}
	if added > 0 || deleted > 0 {
		b.note(b.Palette.Warning, "… +"+strconv.Itoa(max(0, added))+" −"+strconv.Itoa(max(0, deleted))+" more not shown")
	}
}

// digits is how many the largest line number before end has.
func digits(end int) int { return len(strconv.Itoa(max(0, end-1))) }
