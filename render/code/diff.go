package code

import (
	"context"
	"strconv"
	"strings"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

// Unified shows a change in one column: a header `path  +a −d` in the words of render.Diff, then for each hunk a header, unless it
// begins with the file, and its lines: numbers of both sides where there is room (MinBothNumbers, MinNumbers), sign, text. Lines are
// whole, however wide, so that a screen scrolls sideways; only the header is cut at the width. In lines that were changed and not
// replaced the words that changed are bold and underlined. Numbers and signs are the gutter.
//
// What cannot be seen is shown as marks, so what is shown cannot be applied; for that see render.Unified. Who is asked about a change
// has to see it with Options.Review.
//
// It waits for its colours, for all hunks together (Patience); what is not there by then is plain, and may be there the next time.
func Unified(d pages.Diff, h *Highlighter, o Options) []render.Line {
	ctx, cancel := h.waiting(context.Background())
	defer cancel()
	v := newView(d, h, o)
	lines := []render.Line{v.header()}
	for i, hunk := range d.Hunks {
		if head, ok := v.hunkHeader(i); ok {
			lines = append(lines, head)
		}
		for _, r := range v.rows(ctx, hunk) {
			lines = append(lines, v.unified(r))
			if r.noEOL {
				lines = append(lines, v.note(o.said(render.NoNewline), themes.RoleMuted))
			}
		}
	}
	return v.rest(lines)
}

// view is one diff being laid out.
type view struct {
	Options
	diff     pages.Diff
	h        *Highlighter
	language string
	returns  bool
	numbers  int    // for how many sides
	digits   [2]int // that the numbers of a side have; 0 for a side without lines
}

func newView(d pages.Diff, h *Highlighter, o Options) *view {
	v := &view{Options: o, diff: d, h: h, returns: o.Review || render.MixedReturns(d), numbers: o.numbers()}
	first := ""
	for i, hunk := range d.Hunks {
		if i == 0 && hunk.NewStart <= 1 && len(hunk.Lines) > 0 {
			first = hunk.Lines[0].Text
		}
		old, new := hunk.OldStart, hunk.NewStart
		for _, l := range hunk.Lines {
			if l.Op != pages.LineAdded {
				v.digits[0] = max(v.digits[0], digits(old))
				old++
			}
			if l.Op != pages.LineDeleted {
				v.digits[1] = max(v.digits[1], digits(new))
				new++
			}
		}
	}
	if h != nil {
		v.language = Language("", d.Path, first)
	}
	return v
}

// row is a line of a hunk before it is laid out.
type row struct {
	op       pages.LineOp
	old, new int // numbers; 0 where it stands only on the other side
	text     string
	runs     []render.Run
	noEOL    bool
	mate     int // index of the row that this one is a change of; -1 for none
}

func (r row) role() themes.Role {
	switch r.op {
	case pages.LineAdded:
		return themes.RoleDiffAdd
	case pages.LineDeleted:
		return themes.RoleDiffRemove
	}
	return themes.RoleDiffContext
}

func (r row) changed() bool { return r.op == pages.LineAdded || r.op == pages.LineDeleted }

func (r row) sign() string {
	if r.changed() {
		return string(r.op)
	}
	return " "
}

// rows gives the lines of a hunk with their roles, changed words included, and tabs expanded.
func (v *view) rows(ctx context.Context, h pages.Hunk) []row {
	rows := make([]row, len(h.Lines))
	var old, new side
	oldAt, newAt := h.OldStart, h.NewStart
	for i, l := range h.Lines {
		r := row{op: l.Op, text: render.DiffText(l, v.returns, v.Review), noEOL: l.NoEOL, mate: -1}
		if l.Op != pages.LineAdded {
			r.old = oldAt
			oldAt++
			old.add(i, r.text)
		}
		if l.Op != pages.LineDeleted {
			r.new = newAt
			newAt++
			new.add(i, r.text)
		}
		rows[i] = r
	}
	// Lines that stay have what they are in the new text.
	v.colour(ctx, rows, old)
	v.colour(ctx, rows, new)
	for i := range rows {
		rows[i].runs = warned(rows[i].text, rows[i].runs)
	}
	v.compare(rows)
	for i := range rows {
		rows[i].text, rows[i].runs = expand(rows[i].text, rows[i].runs, v.tab())
	}
	return rows
}

// side is one text of a hunk, and of which rows its lines are.
type side struct {
	lines []string
	rows  []int
}

func (s *side) add(row int, line string) {
	s.rows = append(s.rows, row)
	s.lines = append(s.lines, line)
}

func (v *view) colour(ctx context.Context, rows []row, s side) {
	if v.language == "" {
		return
	}
	// A last line that is empty has to stay one.
	for i, l := range v.h.colour(ctx, v.language, strings.Join(s.lines, "\n")+"\n") {
		rows[s.rows[i]].runs = l.Runs
	}
}

// compare finds the rows that are changes of each other and marks the words that changed.
func (v *view) compare(rows []row) {
	for i := 0; i < len(rows); {
		if !rows[i].changed() {
			i++
			continue
		}
		var old, new []int
		for ; i < len(rows) && rows[i].op == pages.LineDeleted; i++ {
			old = append(old, i)
		}
		for ; i < len(rows) && rows[i].op == pages.LineAdded; i++ {
			new = append(new, i)
		}
		if len(old) == 0 || len(new) == 0 {
			continue
		}
		known := vocabulary{}
		words := func(at []int) []lineWords {
			all := make([]lineWords, len(at))
			for i, r := range at {
				all[i] = known.line(rows[r].text)
			}
			return all
		}
		oldWords, newWords := words(old), words(new)
		for _, p := range pairs(oldWords, newWords) {
			a, b := &rows[old[p.old]], &rows[new[p.new]]
			a.mate, b.mate = new[p.new], old[p.old]
			inOld, inNew := changes(oldWords[p.old], newWords[p.new])
			a.runs = marked(a.runs, inOld, a.role())
			b.runs = marked(b.runs, inNew, b.role())
		}
	}
}

// strong is how a changed word stands out of its line.
const strong = render.Bold | render.Underline

// marked gives runs with the attributes of changed words; words without a role have that of the line.
func marked(runs []render.Run, parts []part, role themes.Role) []render.Run {
	return repainted(runs, parts, func(r render.Run) render.Run {
		if r.Role == "" {
			r.Role = role
		}
		r.Attr |= strong
		return r
	})
}

// header says path, kind and size of the change. When it is too wide the path gives way, from its start: its end tells more.
func (v *view) header() render.Line {
	words := ""
	var runs []render.Run
	for i, w := range render.DiffWords(v.diff) {
		words += strings.Repeat(" ", max(1, 2-i))
		from := len(words)
		words += v.said(w.Text)
		runs = append(runs, render.Run{From: from, To: len(words), Role: w.Role})
	}
	path := text.Clean(render.DiffPath(v.diff))
	if v.Width > 0 && text.Width(path)+text.Width(words) > v.Width {
		room := v.Width - text.Width(words)
		if room < 2 {
			words, runs = "", nil
			path = text.Cut(path, v.Width, v.ellipsis())
		} else {
			path = text.CutLeft(path, room, v.ellipsis())
		}
	}
	all := append([]render.Run{{To: len(path), Role: themes.RoleStrong}}, shifted(runs, len(path))...)
	if path == "" {
		all = all[1:]
	}
	return render.Line{Text: path + words, Runs: all, Role: themes.RoleText}
}

// hunkHeader says where a hunk stands, unless it begins with the file.
func (v *view) hunkHeader(i int) (render.Line, bool) {
	h := v.diff.Hunks[i]
	if i == 0 && h.OldStart <= 1 && h.NewStart <= 1 {
		return render.Line{}, false
	}
	at := func(sign string, start, lines int) string {
		if lines == 1 {
			return " " + sign + strconv.Itoa(start)
		}
		return " " + sign + strconv.Itoa(start) + "," + strconv.Itoa(lines)
	}
	gap := "⋯"
	if v.ASCII {
		gap = ":"
	}
	var gutter string
	for _, digits := range v.columns() {
		gutter += strings.Repeat(" ", digits-1) + gap + " "
	}
	head := "@@" + at("-", h.OldStart, h.OldLines) + at("+", h.NewStart, h.NewLines) + " @@"
	return render.Line{Text: gutter + "  " + head, Role: themes.RoleDiffHunk, Gutter: len(gutter) + 2, Fill: true}, true
}

// columns are the columns of numbers that there is room for, in digits.
func (v *view) columns() []int {
	switch {
	case v.numbers == 2 && v.digits[0] > 0 && v.digits[1] > 0:
		return v.digits[:]
	case v.numbers > 0 && max(v.digits[0], v.digits[1]) > 0:
		return []int{max(v.digits[0], v.digits[1])}
	}
	return nil
}

// note is a line about the diff, where its text stands.
func (v *view) note(s string, role themes.Role) render.Line {
	indent := "  "
	for _, digits := range v.columns() {
		indent += pad(" ", digits+1)
	}
	return render.Line{Text: indent + s, Role: role, Gutter: len(indent)}
}

// rest adds what a cut diff does not show.
func (v *view) rest(lines []render.Line) []render.Line {
	if rest := render.DiffRest(v.diff); rest != "" {
		lines = append(lines, v.note(v.said(rest), themes.RoleWarning))
	}
	return lines
}

// gutter is the numbers of a row. Where there is one column it is that in the new text, and of a deleted line that in the old one.
func (v *view) gutter(r row) string {
	number := func(n, digits int) string {
		if n == 0 {
			return pad("", digits+1)
		}
		return pad(strconv.Itoa(n), digits) + " "
	}
	switch columns := v.columns(); len(columns) {
	case 2:
		return number(r.old, columns[0]) + number(r.new, columns[1])
	case 1:
		if r.op == pages.LineDeleted {
			return number(r.old, columns[0])
		}
		return number(r.new, columns[0])
	}
	return ""
}

func (v *view) unified(r row) render.Line {
	numbers := v.gutter(r)
	gutter := numbers + r.sign() + " "
	var runs []render.Run
	if numbers != "" {
		runs = append(runs, render.Run{To: len(numbers), Role: themes.RoleDiffHunk})
	}
	if r.changed() {
		runs = append(runs, render.Run{From: len(numbers), To: len(numbers) + 1, Role: r.role(), Attr: render.Bold})
	}
	return render.Line{
		Text: gutter + r.text, Runs: append(runs, shifted(r.runs, len(gutter))...), Role: r.role(), Gutter: len(gutter), Fill: r.changed(),
	}
}
