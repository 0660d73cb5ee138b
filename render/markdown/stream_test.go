package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/pages/text"
	"octavo/render"
	"octavo/render/markdown"
)

// shown is everything that a stream shows.
func shown(s *markdown.Stream) []render.Line {
	stable, tail := s.Lines()
	return append(slices.Clone(stable), tail...)
}

// What may still become a mark is not shown, and everything else is at once.
func TestStreamShows(t *testing.T) {
	tests := []struct{ source, want string }{
		{"Hello wor", "Hello wor"},
		{"a\nb", "a b"},
		{"a **bo", "a bo"},
		{"a **bold*", "a bold"},
		{"a **bold**", "a {strong bold: bold}"},
		{"a *", "a"},
		{"5*x and snake_ca", "5*x and snake_ca"},
		{"a ~~str", "a str"},
		{"a ~~struck~", "a struck"},
		{"a `co *d*", "a co *d*"},
		{"a `co` d", "a {code: co} d"},
		{"see [te", "see te"},
		{"see [text]", "see text"},
		{"see [text](https://a.exam", "see text"},
		{"see [text] and", "see [text] and"},
		{"row[i]", "row[i]"},
		{"see [^1]", "see [^1]"},
		{"a\\", "a"},
		{"text\n-", "text"},
		{"text\n- ", "text"},
		{"text\n1.", "text"},
		{"text\n- a", "text\n{muted: •} a"},
		{"- [x", ""},
		{"- [x] a", "{success: ✓} a"},
		{"text\n> ", "text"},
		{"text\n##", "text"},
		{"## Tit", "{heading bold: Tit}"},
		{"text\n``", "text"},
		{"text\n```go", "text"},
		{"```foo``` b", "{code: foo} b"},
		{"text\n```go\n", "text\n{muted:" + strings.Repeat(" ", 28) + "go}"},
		{"text\n```go\nf(", "text\n{muted:" + strings.Repeat(" ", 28) + "go}\n  f("},
		{"```\nf()\n``", "  f()"},
		{"```\nf()\n```", "  f()"},
		{"| a | b |", ""},
		{"text\n| a | b |\n|--", "text"},
		{"| a | b |\nc", "| a | b | c"},
		{"| a | b |\n|--|--|\n| c |", "{strong bold: a}             {border: │} {strong bold: b}\n──────────────┼──────────────"},
		{"[a]: https://a", ""},
		{"[a]: https://a.example\ntext", "text"},
		{"text [a]\n\n[a]: https://a.example", "text [a]"},
		{"<div", "<div"},
		{"text\n===", "text"},
	}
	for _, test := range tests {
		s := markdown.NewStream(markdown.Options{Width: 30})
		s.Write(test.source)
		var lines []string
		for _, l := range shown(s) {
			if line := spelled([]render.Line{l}); line != "\n" {
				if l.Role == "muted" {
					line = "{muted:" + l.Text + "}\n"
				}
				lines = append(lines, line)
			}
		}
		if got := strings.TrimSuffix(strings.Join(lines, ""), "\n"); got != test.want {
			t.Errorf("%q shows\n%s, not\n%s", test.source, got, test.want)
		}
	}
}

// Marks that are closed in the end are never on the screen, whatever was written so far.
func TestStreamHidesMarks(t *testing.T) {
	source := "# A **b** c\n\nSome **bold and *both* text**, `code`, ~~gone~~ and [a *link*](https://a.example) to it.\n\n" +
		"- **x**: y\n- [ ] `z`\n\n> *quoted*\n\n| a | `b` |\n|---|:--|\n| **c** | d |\n\n```go\nf()\n```\n\n***done***\n"
	s := markdown.NewStream(markdown.Options{Width: 40, Code: comments})
	for i := range len(source) {
		s.Write(source[i : i+1])
		for _, l := range shown(s) {
			if strings.ContainsAny(l.Text, "*`~[]|#>") {
				t.Fatalf("after %q the screen has %q", source[:i+1], l.Text)
			}
		}
	}
}

// While a table is open no row moves what stands above it; then its columns are those of Render.
func TestStreamTable(t *testing.T) {
	o := markdown.Options{Width: 40, Wide: 60}
	s := markdown.NewStream(o)
	s.Write("| a | b |\n|---|--:|\n")
	var before []render.Line
	for i := range 20 {
		now := shown(s)
		if len(now) <= len(before) {
			t.Fatalf("%d lines after row %d, and %d before it", len(now), i, len(before))
		}
		checkSame(t, "earlier rows", now[:len(before)], before)
		before = now
		s.Write(fmt.Sprintf("| %s | %d |\n", strings.Repeat("word ", i), i))
	}
	s.Write("\nend\n\n")
	stable, tail := s.Lines()
	checkSame(t, "the end", append(stable, tail...), markdown.Render(s.Source(), o))
}

// Open code waits for its colours for so long, and then stands without them; where nothing gives any it stands at once.
func TestStreamCode(t *testing.T) {
	const most = 256
	line := "x // y\n"
	plain := markdown.Options{Width: 40}
	coloured := markdown.Options{Width: 40, Code: comments}
	for _, test := range []struct {
		name         string
		o            markdown.Options
		rows         int
		stable, tail int // with the empty line above
		end          bool
	}{
		{name: "without colours", o: plain, rows: 3, stable: 4},
		{name: "held", o: coloured, rows: most, tail: most + 1},
		{name: "not held any more", o: coloured, rows: most + 1, stable: most + 2},
		{name: "held until the end", o: coloured, rows: most, end: true, stable: most + 1},
	} {
		s := markdown.NewStream(test.o)
		s.Write("text\n\n```\n")
		for range test.rows {
			s.Write(line)
			s.Lines()
		}
		if test.end {
			s.Write("```\n")
		}
		stable, tail := s.Lines()
		if len(stable)-1 != test.stable || len(tail) != test.tail {
			t.Errorf("%s: %d stable lines and %d of the tail, not %d and %d", test.name, len(stable)-1, len(tail), test.stable, test.tail)
		}
		if runs := len(stable[len(stable)-1].Runs); (runs > 0) != test.end {
			t.Errorf("%s: the last line has %d runs", test.name, runs)
		}
		s.Write("last")
		if stable, tail := s.Lines(); test.stable > most+1 && (len(stable) != most+3 || len(tail) != 1) {
			t.Errorf("%s: %d stable lines and a tail of %d", test.name, len(stable), len(tail))
		}
		checkSame(t, test.name, s.Finish(), markdown.Render(s.Source(), test.o))
	}
}

// In lists and quotations, too, a closed paragraph is stable: the tail is small however long they are.
func TestStreamTailIsSmall(t *testing.T) {
	for _, source := range []string{"- item\n", "1. item\n\n", "> line\n>\n", "- a\n  - b\n", "# head\n", "    code\n", "<p>\nx\n\n", strings.Repeat("word ", 4000) + "\n"} {
		s := markdown.NewStream(markdown.Options{Width: 40})
		for range 500 {
			s.Write(source)
			if _, tail := s.Lines(); len(tail) > 500 {
				t.Fatalf("%q: a tail of %d lines", source, len(tail))
			}
		}
		if stable, _ := s.Lines(); len(stable) < 400 {
			t.Errorf("%q: %d stable lines", source, len(stable))
		}
	}
}

// A definition at the end changes what was stable only when the answer is finished.
func TestStreamDefinitions(t *testing.T) {
	s := markdown.NewStream(markdown.Options{Width: 40})
	s.Write("see [a]\n\n")
	s.Lines()
	s.Write("[a]: https://a.example\n\nsee [a]\n\n")
	stable, _ := s.Lines()
	if got, want := spelled(stable), "see [a]\n\nsee {link underline https://a.example: a}{muted:  (a.example)}\n"; got != want {
		t.Errorf("it shows %q, not %q", got, want)
	}
	if got := spelled(s.Finish()); strings.Count(got, "https://a.example: a}") != 2 {
		t.Errorf("in the end it shows %q", got)
	}
	s.Write("more")
	if got := spelled(s.Finish()); !strings.HasSuffix(got, "\nmore\n") {
		t.Errorf("written on, it shows %q", got)
	}
}

// Each bound, on both sides.
func TestBounds(t *testing.T) {
	o := markdown.Options{Width: 200, Wide: 400}
	all := func(source string) string { return spelled(markdown.Render(source, o)) }
	address := func(n int) string { return "https://a.example/" + strings.Repeat("x", n-len("https://a.example/")) }
	label := func(n int) string { l := strings.Repeat("l", n); return "[" + l + "]: /x\n\n[t][" + l + "]" }
	definitions := func(n int) string {
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, "[%d]: /x\n\n", i)
		}
		return b.String() + "[last]: /x\n\n[t][last]"
	}
	columns := func(n int) string { return strings.Repeat("|h", n) + "\n" + strings.Repeat("|-", n) + "|\n|x" }
	bold := func(n int) string {
		return "**" + strings.Repeat("x ", 2000) + "\n" + strings.Repeat("y", n-4005) + "**"
	}
	for _, test := range []struct {
		name           string
		inside, beyond string
		sign           string // in what is made of inside, and not of beyond
	}{
		{"boxes", strings.Repeat(">", 24) + "x", strings.Repeat(">", 25) + "x", "} x\n"},
		{"digits of a number", "999999999. x", "9999999999. x", "{muted: 999999999.}"},
		{"a link", "[t](" + address(2048) + ")", "[t](" + address(2049) + ")", "{link"},
		{"a label", label(999), label(1000), "t{muted:  (/x)}"},
		{"definitions", definitions(10_000), definitions(10_001), "t{muted:  (/x)}"},
		{"columns", columns(64), columns(65), "┼"},
		{"an address", "[t](/" + strings.Repeat("x", 59) + ")", "[t](/" + strings.Repeat("x", 60) + ")", "x)}"},
		{"a language", "```" + strings.Repeat("g", 24), "```" + strings.Repeat("g", 25), "gggg\n"},
		{"a paragraph", bold(8192), bold(8193), "{strong bold: "},
	} {
		if a, b := all(test.inside), all(test.beyond); !strings.Contains(a, test.sign) || strings.Contains(b, test.sign) {
			t.Errorf("%s: %q, and beyond %q", test.name, a, b)
		}
	}

	// Of what is beyond, nothing is lost.
	for _, source := range []string{strings.Repeat("word ", 5000) + "end", strings.Repeat("x", 30_000), strings.Repeat("日本", 9000)} {
		if got := render.Copied(markdown.Render(source, o)); got != source {
			t.Errorf("of %d bytes %d are left", len(source), len(got))
		}
		if got, want := render.Copied(markdown.Render("```\n"+source+"\n```", o)), source; got != want {
			t.Errorf("of %d bytes of code %d are left", len(want), len(got))
		}
	}

	narrow := markdown.Render(strings.Join(samples, "\n\n"), markdown.Options{})
	checkSame(t, "no width", narrow, markdown.Render(strings.Join(samples, "\n\n"), markdown.Options{Width: markdown.MinWidth, Wide: markdown.MinWidth}))
	for _, test := range []struct {
		wide int
		want string
	}{{23, "a          │ b\n"}, {22, "a: long long long\nb: long long long\n"}} {
		lines := markdown.Render("|a|b|\n|-|-|\n|long long long|long long long|", markdown.Options{Width: 10, Wide: test.wide})
		if got := plain(lines); !strings.HasPrefix(got, test.want) {
			t.Errorf("a table in %d cells:\n%s", test.wide, got)
		}
	}
}

// Hostile texts of some length: that it ends is part of the test.
func TestHostile(t *testing.T) {
	o := markdown.Options{Width: 40, Wide: 60}
	for _, source := range hostile {
		if source == "" {
			continue
		}
		source = strings.Repeat(source, 1+200_000/len(source))
		check(t, markdown.Render(source, o), o)
		check(t, markdown.Render(strings.ReplaceAll(source, "\n", " "), o), o)
	}
	if w := text.Width(markdown.Render(strings.Repeat("a", 1<<20), o)[0].Text); w != o.Width {
		t.Errorf("a line of a megabyte is %d cells wide", w)
	}
}
