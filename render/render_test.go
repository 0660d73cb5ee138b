package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/pages/textdiff"
	"octavo/render"
)

// picture is lines as a person would draw them into a test: without the newline that a raw string begins with.
func picture(s string) string { return strings.TrimPrefix(s, "\n") }

func checkPicture(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(picture(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// visible spells escape sequences out: "\x1b[32m" is «32».
func visible(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		code, after, _ := strings.Cut(rest, "m")
		b.WriteString("«" + code + "»")
		s = after
	}
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	long := lines(1, 7) + "short\n" + lines(9, 20) + "tail"
	changed := lines(1, 7) + "a line that is longer than it was\nand one more\n" + lines(9, 19) + "tail\n"
	tests := []struct {
		name     string
		old, new string
		options  textdiff.Options
		width    int
		want     string
	}{
		{name: "two hunks", old: long, new: changed, want: `
internal/put.go  +3 −3
 5   line 5
 6   line 6
 7   line 7
 8 - short
 8 + a line that is longer than it was
 9 + and one more
10   line 9
11   line 10
12   line 11
   ⋯
18   line 17
19   line 18
20   line 19
20 - line 20
21 - tail
   \ no newline at the end of the file
21 + tail`},
		{name: "cut at 24 cells", old: long, new: changed, width: 24, want: `
internal/put.go  +3 −3
 5   line 5
 6   line 6
 7   line 7
 8 - short
 8 + a line that is lon…
 9 + and one more
10   line 9
11   line 10
12   line 11
   ⋯
18   line 17
19   line 18
20   line 19
20 - line 20
21 - tail
   \ no newline at the …
21 + tail`},
		{name: "the path gives way from its start", old: "a\n", new: "b\n", width: 16, want: `
…l/put.go  +1 −1
1 - a
1 + b`},
		{name: "a width for hardly anything", old: "a\n", new: "b\n", width: 3, want: `
in…
1 …
1 …`},
		{name: "a width of one", old: "a\n", new: "b\n", width: 1, want: `
…
…
…`},
		{name: "new", new: "a\n\tb\n", options: textdiff.Options{New: true}, want: `
internal/put.go  new +2 −0
1 + a
2 +     b`},
		{name: "removed", old: "a\n", options: textdiff.Options{Removed: true}, want: `
internal/put.go  removed +0 −1
1 - a`},
		{name: "new and empty", options: textdiff.Options{New: true}, want: `
internal/put.go  new (empty)`},
		{name: "no change", old: "a\n", new: "a\n", want: `
internal/put.go  (no change)`},
		{name: "line endings, where they differ", old: "a\r\nb\r\n", new: "a\nb\r\n", want: `
internal/put.go  +1 −1
1 - a␍
1 + a
2   b␍`},
		{name: "line endings, where they do not", old: "a\r\nb\r\n", new: "x\r\nb\r\n", want: `
internal/put.go  +1 −1
1 - a
1 + x
2   b`},
		{name: "hostile lines", old: "\x1b[31m日本\x1b]52;c;x\a\n", new: "\u202ex\rcd\x9b\xff\n", want: `
internal/put.go  +1 −1
1 - ␛[31m日本␛]52;c;x␇
1 + ‹U+202E›x␍cd‹0x9B›‹0xFF›`},
		{name: "hostile lines, cut", old: "echo ok\b\x1b]0;touch hidden\n", new: "a\x00b\u200b\n", width: 24, want: `
internal/put.go  +1 −1
1 - echo ok␈␛]0;touch h…
1 + a␀b‹U+200B›`},
		{name: "wide characters, cut", old: "日本語\n", new: "日本語のテキスト\n", width: 13, want: `
put.go  +1 −1
1 - 日本語
1 + 日本語の…`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := textdiff.Make("internal/put.go", []byte(test.old), []byte(test.new), test.options)
			if test.width == 13 {
				d.Path = "put.go"
			}
			got := render.Diff(*d, render.Options{Width: test.width})
			checkPicture(t, got, test.want)
			for _, l := range strings.Split(got, "\n") {
				if test.width > 0 && text.Width(l) > test.width {
					t.Errorf("%q is wider than %d", l, test.width)
				}
			}
		})
	}
}

func TestDiffPainted(t *testing.T) {
	d := textdiff.Make("a\x1b[31m.go", []byte(lines(1, 8)+"x"), []byte("line 1\n"+lines(3, 8)+"y\n"), textdiff.Options{})
	got := visible(render.Diff(*d, render.Options{Palette: render.NewPalette(termenv.TrueColor)}))
	checkPicture(t, got, `
«1»a␛[31m.go«0»  «32»+1«0» «31»−2«0»
«2»1 «0»  line 1
«2»2 «0»«31»- line 2«0»
«2»2 «0»  line 3
«2»3 «0»  line 4
«2»4 «0»  line 5
«2»5 «0»  line 6
«2»6 «0»  line 7
«2»7 «0»  line 8
«2»9 «0»«31»- x«0»
«2»  \ no newline at the end of the file«0»
«2»8 «0»«32»+ y«0»`)
}

func TestDiffCut(t *testing.T) {
	d := textdiff.Make("f", []byte(lines(1, 2500)), []byte(lines(3001, 4000)), textdiff.Options{})
	got := strings.Split(render.Diff(*d, render.Options{}), "\n")
	if want := "     … +0 −1500 more not shown"; got[len(got)-1] != want {
		t.Errorf("last line %q, want %q", got[len(got)-1], want)
	}
	d = textdiff.Make("f", nil, []byte(strings.Repeat("x", pages.MaxDiffLineBytes+1)), textdiff.Options{New: true})
	if got := render.Diff(*d, render.Options{}); !d.Cut || strings.Contains(got, "not shown") {
		t.Errorf("a diff of which only a line was cut says %q", got[len(got)-40:])
	}
}

func TestWholeDiff(t *testing.T) {
	far := "echo ok" + strings.Repeat(" ", 40) + "; touch FAR"
	for _, test := range []struct {
		name     string
		old, new string
		options  textdiff.Options
		width    int
		want     string
	}{
		{name: "wrapped", old: "a\nb\n", new: "a\n" + far + "\n", width: 24, want: `
scripts/put.sh  +1 −1
1   a
2 - b
2 + echo ok
  ↪
  ↪        ; touch FAR`},
		{name: "no width, no wrapping", old: "b\n", new: strings.Repeat("x", 300) + "\n", want: `
scripts/put.sh  +1 −1
1 - b
1 + ` + strings.Repeat("x", 300)},
		{name: "a width that a line fills, and one cell less", old: "12345678\n", new: "123456789\n", width: 12, want: `
scripts/put.sh  +1 −1
1 - 12345678
1 + 12345678
  ↪ 9`},
		{name: "wide characters stay whole", new: "日本語のテキスト\n", width: 13, options: textdiff.Options{New: true}, want: `
scripts/put.sh  new +1 −0
1 + 日本語の
  ↪ テキスト`},
		{name: "too narrow is exceeded", new: "12345678\n↪ forged\n", width: 1, options: textdiff.Options{New: true}, want: `
scripts/put.sh  new +2 −0
1 + 12345678
2 + ↪ forged`},
		{name: "what cannot be seen", old: "ok\n", new: "ok \x1b]0;x\a\rnew\n\u202e\u200b\x00\xff\n", want: `
scripts/put.sh  +2 −1
1 - ok
1 + ok ␛]0;x␇␍new
2 + ‹U+202E›‹U+200B›␀‹0xFF›`},
		{name: "what ends a line", old: "a \nb\nc\n", new: "a \nb \t \nc\r\n", want: `
scripts/put.sh  +2 −2
1   a
2 - b
3 - c
2 + b␠␉␠
3 + c␍`},
		{name: "every line ends in a return", new: "a\r\nb\r\n", options: textdiff.Options{New: true}, want: `
scripts/put.sh  new +2 −0
1 + a␍
2 + b␍`},
		{name: "no newline at the end, narrow", new: "a", width: 9, options: textdiff.Options{New: true}, want: `
scripts/put.sh  new +1 −0
1 + a
  \ no newline at the end of the file`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := textdiff.Whole("scripts/put.sh", []byte(test.old), []byte(test.new), test.options)
			if err != nil {
				t.Fatal(err)
			}
			checkPicture(t, render.WholeDiff(*d, render.Options{Width: test.width}), test.want)
		})
	}
}

// TestWholeDiffLosesNothing joins the rows of a wrapped line again.
func TestWholeDiffLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.NewReplacer("\n", "", "\t", "").Replace(rapid.String().Draw(t, "line")) + "."
		width := rapid.IntRange(1, 40).Draw(t, "width")
		d := pages.Diff{Path: "f", Added: 1, Hunks: []pages.Hunk{{NewStart: 1, NewLines: 1, Lines: []pages.DiffLine{{Op: pages.LineAdded, Text: line}}}}}
		rows := strings.Split(render.WholeDiff(d, render.Options{Width: width}), "\n")[1:]
		var got string
		for i, row := range rows {
			sign := "1 + "
			if i > 0 {
				sign = "  ↪ "
			}
			// What fills a row up with spaces ends before them; a row without any is shorter.
			text, ok := strings.CutPrefix(row+strings.Repeat(" ", max(0, len(sign)-len(row))), sign)
			if !ok {
				t.Fatalf("row %q of %q", row, line)
			}
			got += text
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if want := text.Visible(line); squeeze(got) != squeeze(want) {
			t.Fatalf("%q at %d cells is shown as %q", line, width, got)
		}
	})
}

func TestDiffBinary(t *testing.T) {
	d := pages.Diff{Path: "f", New: true, Binary: true}
	checkPicture(t, render.Diff(d, render.Options{}), "f  new binary")
	d = pages.Diff{Path: "f", Binary: true, Added: 2}
	checkPicture(t, render.Diff(d, render.Options{}), "f  binary +2 −0")
}

// TestForeignDiff draws what no honest maker of diffs would send.
func TestForeignDiff(t *testing.T) {
	d := pages.Diff{Path: "a\nb\x1b[2J", Added: -5, Cut: true, Hunks: []pages.Hunk{
		{OldStart: -1 << 63, NewStart: 1<<63 - 1, NewLines: 1 << 62, Lines: []pages.DiffLine{{Op: "evil\n", Text: "x\n+++ b/etc\x1b]0;t\a"}}},
		{},
	}}
	for width := range 30 {
		for _, l := range strings.Split(render.Diff(d, render.Options{Width: width}), "\n") {
			if width > 0 && text.Width(l) > width || text.Clean(l) != l {
				t.Errorf("width %d: %q", width, l)
			}
		}
	}
	if got := render.WholeDiff(d, render.Options{Width: 20}); strings.Contains(got, "\n+++") || text.Clean(got) != got {
		t.Errorf("a line brings lines of its own: %q", got)
	}
	if got := render.Unified(d); strings.Contains(got, "\n+++ b/etc") || strings.Contains(got, "evil") {
		t.Errorf("a line brings lines of its own: %q", got)
	}
}

func TestDisplay(t *testing.T) {
	diff := &pages.Diff{Path: "a.go"}
	for _, test := range []struct {
		name    string
		display pages.Display
		width   int
		want    string
	}{
		{name: "nothing"},
		{name: "a title is one line, and cut", display: pages.Display{Title: "ran\ngo test\x1b[0m ./..."}, width: 10, want: "«1»ran⏎go te…«0»"},
		{name: "text is wrapped", display: pages.Display{Title: "out", Text: "\nthe quick\r\n\tbrown \x1b[7mfox\n\n"}, width: 9, want: "«1»out«0»\nthe quick\n    brown\nfox"},
		{name: "diff", display: pages.Display{Title: "edit", Diff: diff}, want: "«1»edit«0»\n«1»a.go«0»  «2»(no change)«0»"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := render.Display(test.display, render.Options{Width: test.width, Palette: render.NewPalette(termenv.ANSI)})
			checkPicture(t, visible(got), test.want)
		})
	}
}

func TestTable(t *testing.T) {
	rows := [][]string{
		{"4f2a", "Refactor the session store", "3m", ""},
		{"77c1", "日本語のテキスト\n二", "1h02m"},
		{"9", "\x1b[31mred\ttext\x1b[0m", "", "", "", "extra"},
		{},
	}
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, `
4f2a  Refactor the session store  3m
77c1  日本語のテキスト⏎二         1h02m
9     red text                           extra
`},
		{40, `
4f2a  Refactor the sessio…  3m
77c1  日本語のテキスト⏎二   1h02m
9     red text                     extra
`},
		{21, `
4f2a  Refacto…  3m
77c1  日本語…   1h02m
9     red text
`},
		{12, `
4f2a  Refac…
77c1  日本…
9     red t…
`},
		{10, `
4f2a  Ref…
77c1  日…
9     red…
`},
		{9, `
4f2a
77c1
9
`},
		{1, `
…
…
9
`},
	} {
		t.Run(fmt.Sprint(test.width), func(t *testing.T) {
			got := render.Table(rows, render.Options{Width: test.width})
			checkPicture(t, got, test.want)
			for _, l := range strings.Split(got, "\n") {
				if test.width > 0 && text.Width(l) > test.width {
					t.Errorf("%q is wider than %d", l, test.width)
				}
			}
		})
	}
	head := render.HeadedTable([]string{"ID", "Title"}, [][]string{{"1", "a"}}, render.Options{Palette: render.NewPalette(termenv.ANSI256)})
	checkPicture(t, visible(head), "«2»ID  Title«0»\n1   a")
	if got := render.Table(nil, render.Options{}); got != "" {
		t.Errorf("no rows: %q", got)
	}
}

func TestPalette(t *testing.T) {
	if got := render.NewPalette(termenv.Ascii); got != (render.Palette{}) {
		t.Errorf("a terminal without colour gets %+v", got)
	}
	p := render.NewPalette(termenv.ANSI)
	for name, style := range map[string]render.Style{
		"added": p.Added, "deleted": p.Deleted, "hunk": p.Hunk, "muted": p.Muted, "strong": p.Strong, "accent": p.Accent,
		"success": p.Success, "warning": p.Warning, "error": p.Error,
	} {
		if got := style.Paint("a"); !strings.HasPrefix(got, "\x1b[") || !strings.HasSuffix(got, "a\x1b[0m") {
			t.Errorf("%s paints %q", name, got)
		}
	}
	if got := visible(p.Error.Paint("a\n\nb")); got != "«1;31»a«0»\n\n«1;31»b«0»" {
		t.Errorf("lines painted %q", got)
	}
}

func BenchmarkDiff(b *testing.B) {
	var old, new strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&old, "\tline %d of the text\n", i)
		fmt.Fprintf(&new, "\tline %d of the text, changed\n", i*(i%7))
	}
	d := textdiff.Make("internal/put.go", []byte(old.String()), []byte(new.String()), textdiff.Options{})
	o := render.Options{Width: 120, Palette: render.NewPalette(termenv.ANSI)}
	b.ReportAllocs()
	for b.Loop() {
		render.Diff(*d, o)
	}
}

func BenchmarkTable(b *testing.B) {
	var rows [][]string
	for i := range 200 {
		rows = append(rows, []string{fmt.Sprintf("%08x", i*7919), strings.Repeat("word ", i%20), "3m05s", "$0.62"})
	}
	b.ReportAllocs()
	for b.Loop() {
		render.Table(rows, render.Options{Width: 100})
	}
}
