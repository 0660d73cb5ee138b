package textdiff_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/pages"
	"octavo/pages/textdiff"
)

func same(s string) pages.DiffLine    { return pages.DiffLine{Op: pages.LineSame, Text: s} }
func added(s string) pages.DiffLine   { return pages.DiffLine{Op: pages.LineAdded, Text: s} }
func deleted(s string) pages.DiffLine { return pages.DiffLine{Op: pages.LineDeleted, Text: s} }
func noEOL(l pages.DiffLine) pages.DiffLine {
	l.NoEOL = true
	return l
}

func TestMake(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		options  textdiff.Options
		want     pages.Diff
	}{
		{name: "equal texts have no hunk", old: "a\nb\n", new: "a\nb\n"},
		{name: "two empty texts"},
		{
			name: "a new empty file is still new", options: textdiff.Options{New: true},
			want: pages.Diff{New: true},
		},
		{
			name: "a new file starts at line 0 of nothing", new: "a\nb\n", options: textdiff.Options{New: true},
			want: pages.Diff{New: true, Added: 2, Hunks: []pages.Hunk{{
				OldStart: 0, OldLines: 0, NewStart: 1, NewLines: 2,
				Lines: []pages.DiffLine{added("a"), added("b")},
			}}},
		},
		{
			name: "a removed file", old: "a\n", options: textdiff.Options{Removed: true},
			want: pages.Diff{Removed: true, Deleted: 1, Hunks: []pages.Hunk{{
				OldStart: 1, OldLines: 1, NewStart: 0, NewLines: 0,
				Lines: []pages.DiffLine{deleted("a")},
			}}},
		},
		{
			name: "three lines of context on each side",
			old:  "1\n2\n3\n4\n5\n6\n7\n8\n9\n", new: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
			want: pages.Diff{Added: 1, Deleted: 1, Hunks: []pages.Hunk{{
				OldStart: 2, OldLines: 7, NewStart: 2, NewLines: 7,
				Lines: []pages.DiffLine{same("2"), same("3"), same("4"), deleted("5"), added("five"), same("6"), same("7"), same("8")},
			}}},
		},
		{
			name: "six lines between changes join their hunks",
			old:  "a\n1\n2\n3\n4\n5\n6\nb\n", new: "1\n2\n3\n4\n5\n6\n",
			want: pages.Diff{Deleted: 2, Hunks: []pages.Hunk{{
				OldStart: 1, OldLines: 8, NewStart: 1, NewLines: 6,
				Lines: []pages.DiffLine{deleted("a"), same("1"), same("2"), same("3"), same("4"), same("5"), same("6"), deleted("b")},
			}}},
		},
		{
			name: "seven do not",
			old:  "a\n1\n2\n3\n4\n5\n6\n7\nb\n", new: "1\n2\n3\n4\n5\n6\n7\n",
			want: pages.Diff{Deleted: 2, Hunks: []pages.Hunk{
				{OldStart: 1, OldLines: 4, NewStart: 1, NewLines: 3, Lines: []pages.DiffLine{deleted("a"), same("1"), same("2"), same("3")}},
				{OldStart: 6, OldLines: 4, NewStart: 5, NewLines: 3, Lines: []pages.DiffLine{same("5"), same("6"), same("7"), deleted("b")}},
			}},
		},
		{
			name: "a line ending gained", old: "a\nb", new: "a\nb\n",
			want: pages.Diff{Added: 1, Deleted: 1, Hunks: []pages.Hunk{{
				OldStart: 1, OldLines: 2, NewStart: 1, NewLines: 2,
				Lines: []pages.DiffLine{same("a"), noEOL(deleted("b")), added("b")},
			}}},
		},
		{
			name: "no line ending on either side", old: "a\nb", new: "x\nb",
			want: pages.Diff{Added: 1, Deleted: 1, Hunks: []pages.Hunk{{
				OldStart: 1, OldLines: 2, NewStart: 1, NewLines: 2,
				Lines: []pages.DiffLine{deleted("a"), added("x"), noEOL(same("b"))},
			}}},
		},
		{
			name: "a carriage return belongs to the line", old: "a\r\n", new: "a\n",
			want: pages.Diff{Added: 1, Deleted: 1, Hunks: []pages.Hunk{{
				OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1,
				Lines: []pages.DiffLine{deleted("a\r"), added("a")},
			}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Path = "dir/file"
			got := textdiff.Make("dir/file", []byte(test.old), []byte(test.new), test.options)
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("Make (-want +got):\n%s", diff)
			}
		})
	}
}

// TestApply holds Make to its promise on texts of few different lines, in which a wrong match would be likely.
func TestApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "b", "a", "c\r", "\x00\xff", "日本"})
	body := rapid.Custom(func(t *rapid.T) []byte {
		s := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "\n")
		return []byte(s + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
	})
	rapid.Check(t, func(t *rapid.T) {
		old, new := body.Draw(t, "old"), body.Draw(t, "new")
		checkApplies(t, textdiff.Make("f", old, new, textdiff.Options{}), old, new)
	})
}

func FuzzMake(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\n"))
	f.Add([]byte("a\nb"), []byte("b\n"))
	f.Add([]byte(""), []byte("\n"))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		d := textdiff.Make("f", old, new, textdiff.Options{})
		if !d.Cut {
			checkApplies(t, d, old, new)
		}
	})
}

// TestManyChanges has more changes than lcs looks for: each must still be seen as the small change that it is.
func TestManyChanges(t *testing.T) {
	var old, new bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&old, "line %d\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&new, "changed %d\n", i)
		} else {
			fmt.Fprintf(&new, "line %d\n", i)
		}
	}
	d := textdiff.Make("f", old.Bytes(), new.Bytes(), textdiff.Options{})
	if d.Added != 500 || d.Deleted != 500 {
		t.Errorf("500 changed lines counted as +%d −%d", d.Added, d.Deleted)
	}

	random := rand.New(rand.NewPCG(1, 2))
	lines := strings.SplitAfter(strings.Repeat("}\n\nreturn nil\n", 300), "\n")
	for range 50 {
		a, b := slices.Clone(lines), slices.Clone(lines)
		for i := range 200 {
			a[random.IntN(len(a))] = fmt.Sprintf("old %d\n", i)
			b[random.IntN(len(b))] = fmt.Sprintf("new %d\n", i)
			anchor := fmt.Sprintf("anchor %d\n", i)
			a[random.IntN(len(a))], b[random.IntN(len(b))] = anchor, anchor
		}
		old, new := []byte(strings.Join(a, "")), []byte(strings.Join(b, ""))
		if d := textdiff.Make("f", old, new, textdiff.Options{}); !d.Cut {
			checkApplies(t, d, old, new)
		}
	}
}

func TestLineBound(t *testing.T) {
	for _, test := range []struct {
		lines int
		cut   bool
	}{{pages.MaxDiffLines, false}, {pages.MaxDiffLines + 1, true}} {
		body := []byte(strings.Repeat("x\n", test.lines))
		d := textdiff.Make("f", nil, body, textdiff.Options{New: true})
		if got := shown(d); d.Cut != test.cut || got != pages.MaxDiffLines || d.Added != test.lines {
			t.Errorf("%d added lines: cut %v, %d shown, %d counted", test.lines, d.Cut, got, d.Added)
		}
	}

	t.Run("both sides of a rewrite are shown", func(t *testing.T) {
		d := textdiff.Make("f", numbered("old", 5000), numbered("new", 1500), textdiff.Options{})
		var counts [2]int
		for _, l := range d.Hunks[0].Lines {
			if l.Op == pages.LineAdded {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		if counts != [2]int{1000, 1000} || d.Deleted != 5000 || d.Added != 1500 || !d.Cut {
			t.Errorf("shown %v, counted −%d +%d, cut %v", counts, d.Deleted, d.Added, d.Cut)
		}
	})

	t.Run("a hunk whose changes found no room is left out", func(t *testing.T) {
		old := append(numbered("same", 1000), numbered("old", 1)...)
		new := append(numbered("new", pages.MaxDiffLines-5), append(numbered("same", 1000), numbered("other", 1)...)...)
		d := textdiff.Make("f", old, new, textdiff.Options{})
		if len(d.Hunks) != 1 || !d.Cut || d.Deleted != 1 {
			t.Errorf("%d hunks, cut %v, −%d", len(d.Hunks), d.Cut, d.Deleted)
		}
	})
}

func TestLineLengthBound(t *testing.T) {
	for _, test := range []struct {
		name string
		line string
		cut  bool
	}{
		{"at the bound", strings.Repeat("x", pages.MaxDiffLineBytes), false},
		{"beyond it", strings.Repeat("x", pages.MaxDiffLineBytes+1), true},
		{"inside a rune", strings.Repeat("日", pages.MaxDiffLineBytes), true},
	} {
		d := textdiff.Make("f", nil, []byte(test.line+"\n"), textdiff.Options{New: true})
		got := d.Hunks[0].Lines[0].Text
		if d.Cut != test.cut || strings.HasSuffix(got, textdiff.CutMark) != test.cut {
			t.Errorf("%s: cut %v, ends in %q", test.name, d.Cut, got[len(got)-3:])
		}
		if len(got) > pages.MaxDiffLineBytes || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %v", test.name, len(got), utf8.ValidString(got))
		}
	}
}

// TestComparedBound crosses the bound above which the middle is one block, and looks at a text far above it.
func TestComparedBound(t *testing.T) {
	// One line is common, but not in the same place. It is seen up to the bound; beyond it it counts as changed on each side.
	compare := func(lines int) (d *pages.Diff, old, new int) {
		old, new = lines/2, lines-lines/2
		return textdiff.Make("f",
			slices.Concat(numbered("head", 9), numbered("old", old-1), []byte("common\n"), numbered("tail", 9)),
			slices.Concat(numbered("head", 9), []byte("common\n"), numbered("new", new-1), numbered("tail", 9)),
			textdiff.Options{}), old, new
	}
	if d, old, new := compare(textdiff.MaxComparedLines); d.Deleted != old-1 || d.Added != new-1 {
		t.Errorf("at the bound: −%d +%d, want −%d +%d", d.Deleted, d.Added, old-1, new-1)
	}
	d, old, new := compare(textdiff.MaxComparedLines + 1)
	if d.Deleted != old || d.Added != new {
		t.Errorf("beyond the bound: −%d +%d, want −%d +%d", d.Deleted, d.Added, old, new)
	}
	if h := d.Hunks[0]; h.OldStart != 7 || h.NewStart != 7 || len(h.Lines) != pages.MaxDiffLines || h.Lines[0].Text != "head 6" {
		t.Errorf("block starts at −%d +%d with %q, %d lines", h.OldStart, h.NewStart, h.Lines[0].Text, len(h.Lines))
	}
}

// TestHuge needs the memory of its two texts and little more; were it compared line by line it would not end.
func TestHuge(t *testing.T) {
	const size = 32 << 20
	old, new := bytes.Repeat([]byte("\n"), size), bytes.Repeat([]byte("x\n"), size/2)
	d := textdiff.Make("f", old, new, textdiff.Options{})
	if d.Deleted != size || d.Added != size/2 || !d.Cut || shown(d) != pages.MaxDiffLines {
		t.Errorf("−%d +%d cut %v shown %d", d.Deleted, d.Added, d.Cut, shown(d))
	}

	copy(new, old)
	new = append(new[:0], old...)
	new[size/2] = 'x' // joins a line to the next
	d = textdiff.Make("f", old, new, textdiff.Options{})
	if d.Deleted != 2 || d.Added != 1 || d.Cut || d.Hunks[0].OldStart != size/2+1-textdiff.Context {
		t.Errorf("one byte in a huge text: −%d +%d at %d, cut %v", d.Deleted, d.Added, d.Hunks[0].OldStart, d.Cut)
	}
}

func numbered(name string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", name, i)
	}
	return b.Bytes()
}

func shown(d *pages.Diff) (lines int) {
	for _, h := range d.Hunks {
		lines += len(h.Lines)
	}
	return lines
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkApplies applies d to old in the strictest way: every number must be right and every kept or deleted line must be there.
func checkApplies(t failer, d *pages.Diff, old, new []byte) {
	t.Helper()
	rest := strings.SplitAfter(string(old), "\n")
	if rest[len(rest)-1] == "" {
		rest = rest[:len(rest)-1]
	}
	var got strings.Builder
	var oldLine, newLine, sumAdded, sumDeleted int // lines passed
	take := func() string {
		if len(rest) == 0 {
			t.Fatalf("a hunk goes beyond the end of the old text\n%q\n%q", old, new)
		}
		l := rest[0]
		rest = rest[1:]
		oldLine++
		return l
	}
	start := func(at, lines int) int {
		if lines == 0 {
			return at
		}
		return at - 1
	}
	for i, h := range d.Hunks {
		for oldLine < start(h.OldStart, h.OldLines) {
			got.WriteString(take())
			newLine++
		}
		if oldLine != start(h.OldStart, h.OldLines) || newLine != start(h.NewStart, h.NewLines) {
			t.Fatalf("hunk %d starts at −%d +%d, want −%d +%d\n%q\n%q", i, h.OldStart, h.NewStart, oldLine, newLine, old, new)
		}
		oldEnd, newEnd := oldLine+h.OldLines, newLine+h.NewLines
		for _, l := range h.Lines {
			text := l.Text + "\n"
			if l.NoEOL {
				text = l.Text
			}
			if l.Op == pages.LineAdded {
				sumAdded++
			} else if was := take(); was != text {
				t.Fatalf("hunk %d says the old text has %q, it has %q\n%q\n%q", i, text, was, old, new)
			}
			if l.Op == pages.LineDeleted {
				sumDeleted++
			} else {
				got.WriteString(text)
				newLine++
			}
		}
		if oldLine != oldEnd || newLine != newEnd {
			t.Fatalf("hunk %d counts −%d +%d lines wrongly\n%q\n%q", i, h.OldLines, h.NewLines, old, new)
		}
	}
	got.WriteString(strings.Join(rest, ""))
	if got.String() != string(new) {
		t.Fatalf("applied gives %q, want %q (old %q)", got.String(), new, old)
	}
	if sumAdded != d.Added || sumDeleted != d.Deleted {
		t.Fatalf("counts +%d −%d, hunks have +%d −%d", d.Added, d.Deleted, sumAdded, sumDeleted)
	}
}

func TestWholeCutsNothingThatChanges(t *testing.T) {
	long := strings.Repeat("x", 100*pages.MaxDiffLineBytes)
	context := strings.Repeat("c", pages.MaxDiffLineBytes+1)
	old := context + "\nb\n"
	var new strings.Builder
	new.WriteString(context + "\n" + long + "\n")
	for i := range pages.MaxReviewLines - 2 {
		fmt.Fprintln(&new, i)
	}
	d, err := textdiff.Whole("f", []byte(old), []byte(new.String()), textdiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := d.Hunks[0].Lines
	if len(lines) != pages.MaxReviewLines+1 || d.Added+d.Deleted != pages.MaxReviewLines {
		t.Errorf("%d lines of +%d −%d", len(lines), d.Added, d.Deleted)
	}
	if lines[2].Text != long || lines[len(lines)-1].Text != fmt.Sprint(pages.MaxReviewLines-3) {
		t.Error("a changed line is cut")
	}
	if c := lines[0].Text; len(c) > pages.MaxDiffLineBytes || !strings.HasSuffix(c, textdiff.CutMark) {
		t.Errorf("a line of context has %d bytes", len(c))
	}
	if h := d.Hunks[0]; h.OldLines != 2 || h.NewLines != pages.MaxReviewLines {
		t.Errorf("the hunk counts −%d +%d", h.OldLines, h.NewLines)
	}
}

func TestWholeBounds(t *testing.T) {
	line := strings.Repeat("x", 1<<10)
	for _, test := range []struct {
		name     string
		old, new string
		want     string // the error, "" for none
	}{
		{"as many lines", "", strings.Repeat("\n", pages.MaxReviewLines), ""},
		{"a line too many", "", strings.Repeat("\n", pages.MaxReviewLines+1), "a change of 5001 lines"},
		{"deleted lines count", strings.Repeat("\n", pages.MaxReviewLines+1), "", "a change of 5001 lines"},
		{"as many bytes", "", strings.Repeat(line+"\n", pages.MaxReviewBytes>>10), ""},
		{"a byte too many", "", strings.Repeat(line+"\n", pages.MaxReviewBytes>>10-1) + line + "y\n", "a change of 512 lines, with more than 512 KiB to look at"},
		{"one line of as many bytes", "", strings.Repeat("x", pages.MaxReviewBytes), ""},
		{"one line of a byte too many", "", strings.Repeat("x", pages.MaxReviewBytes+1), "a change of 1 line, with more than 512 KiB to look at"},
		{"a large text that hardly changes", strings.Repeat("a\n", 100_000), strings.Repeat("a\n", 99_999) + "b\n", ""},
		{"too large to be compared", strings.Repeat("a\n", textdiff.MaxComparedLines), strings.Repeat("b\n", textdiff.MaxComparedLines), "a change of 400000 lines"},
		{"none", "a", "a", ""},
	} {
		d, err := textdiff.Whole("f", []byte(test.old), []byte(test.new), textdiff.Options{})
		var tooLarge *textdiff.TooLargeError
		switch {
		case err == nil && test.want == "":
			if d.Cut {
				t.Errorf("%s: it is cut", test.name)
			}
		case !errors.As(err, &tooLarge) || err.Error() != test.want:
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestWholeIsMake holds where both show everything.
func TestWholeIsMake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\n", "\x00d"}), 0, 60), func(s []string) string { return strings.Join(s, "") })
		old, new := []byte(text.Draw(t, "old")), []byte(text.Draw(t, "new"))
		got, err := textdiff.Whole("f", old, new, textdiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(textdiff.Make("f", old, new, textdiff.Options{}), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkMake(b *testing.B) {
	for _, bench := range []struct {
		name  string
		lines int
		every int
	}{{"5000 lines, 5 changed", 5000, 1000}, {"5000 lines, 500 changed", 5000, 10}, {"5000 lines, all changed", 5000, 1}} {
		var old, new bytes.Buffer
		for i := range bench.lines {
			fmt.Fprintf(&old, "\tline %d of the text\n", i)
			if i%bench.every == 0 {
				fmt.Fprintf(&new, "\tline %d is not what it was\n", i)
			} else {
				fmt.Fprintf(&new, "\tline %d of the text\n", i)
			}
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				textdiff.Make("f", old.Bytes(), new.Bytes(), textdiff.Options{})
			}
		})
	}
	b.Run("32 MiB, nothing common", func(b *testing.B) {
		old, new := bytes.Repeat([]byte("old text\n"), 32<<20/9), bytes.Repeat([]byte("new text\n"), 32<<20/9)
		b.ReportAllocs()
		for b.Loop() {
			textdiff.Make("f", old, new, textdiff.Options{})
		}
	})
}
