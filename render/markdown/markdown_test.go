package markdown_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"octavo/pages/text"
	"octavo/render"
	"octavo/render/markdown"
	"octavo/themes"
)

// check holds lines against what every caller relies on.
func check(t *testing.T, lines []render.Line, o markdown.Options) {
	t.Helper()
	width := max(o.Width, markdown.MinWidth)
	wide := max(o.Wide, width)
	for i, l := range lines {
		if w := text.Width(l.Text); w > wide {
			t.Fatalf("line %d is %d cells wide, not %d: %q", i, w, wide, l.Text)
		}
		if clean := text.Clean(l.Text); clean != l.Text || strings.Contains(l.Text, "\n") || !utf8.ValidString(l.Text) {
			t.Fatalf("line %d is not clean: %q", i, l.Text)
		}
		if strings.TrimRight(l.Text, " ") != l.Text && len(l.Text) > l.Gutter {
			t.Fatalf("line %d ends with spaces: %q", i, l.Text)
		}
		if l.Gutter < 0 || l.Gutter > len(l.Text) || l.Gutter < len(l.Text) && !utf8.RuneStart(l.Text[l.Gutter]) {
			t.Fatalf("line %d has a gutter of %d: %q", i, l.Gutter, l.Text)
		}
		if l.Role == "" {
			t.Fatalf("line %d has no role: %q", i, l.Text)
		}
		at := 0
		for _, run := range l.Runs {
			if run.From < at || run.To <= run.From || run.To > len(l.Text) || !utf8.RuneStart(l.Text[run.From]) ||
				run.To < len(l.Text) && !utf8.RuneStart(l.Text[run.To]) || run.Role == "" {
				t.Fatalf("line %d has a run %+v behind byte %d: %q", i, run, at, l.Text)
			}
			at = run.To
			if strings.Trim(run.Link, printable) != "" {
				t.Fatalf("line %d has a link %q", i, run.Link)
			}
		}
	}
}

var printable = func() string {
	var b strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

// comments highlights what looks like a comment, to see that it is asked.
func comments(_, source string) []render.Line {
	var lines []render.Line
	for line := range strings.SplitSeq(source, "\n") {
		l := render.Line{Text: line}
		if i := strings.Index(line, "//"); i >= 0 {
			l.Runs = []render.Run{{From: i, To: len(line), Role: themes.RoleSyntaxComment}}
		}
		lines = append(lines, l)
	}
	return lines
}

func same(a, b render.Line) bool {
	return a.Text == b.Text && a.Role == b.Role && a.Gutter == b.Gutter && a.Soft == b.Soft && a.Joint == b.Joint && a.Fill == b.Fill &&
		slices.Equal(a.Runs, b.Runs)
}

func checkSame(t *testing.T, what string, got, want []render.Line) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%s: line %d is missing: %+v", what, i, want[i])
		case i >= len(want):
			t.Fatalf("%s: line %d is too many: %+v", what, i, got[i])
		case !same(got[i], want[i]):
			t.Fatalf("%s: line %d is\n%+v, not\n%+v", what, i, got[i], want[i])
		}
	}
}

// hostile are texts that make a careless reader slow or wrong.
var hostile = []string{
	"",
	"\n \n\t\n",
	strings.Repeat(">", 3000),
	strings.Repeat("> ", 3000) + "x",
	strings.Repeat("- ", 3000) + "x",
	strings.Repeat("1. ", 2000) + "x",
	strings.Repeat("[", 3000),
	strings.Repeat("[a](", 1500),
	strings.Repeat("![", 1500) + "a" + strings.Repeat("](b)", 1500),
	strings.Repeat("[a](<b", 1000) + strings.Repeat("[a](b \"", 1000),
	strings.Repeat("*", 4000),
	strings.Repeat("*a ", 2000) + strings.Repeat("a* ", 2000),
	strings.Repeat("a**b_c*", 1500),
	strings.Repeat("`", 3000) + "a",
	strings.Repeat("`a``", 1000),
	strings.Repeat("~~a", 2000),
	strings.Repeat("<a b=\"", 1000) + strings.Repeat("<!--", 500),
	strings.Repeat("&", 2000) + strings.Repeat("&#", 1000),
	strings.Repeat("|", 3000) + "\n" + strings.Repeat("|-", 3000) + "|\n",
	"|a|b|\n|-|-|\n" + strings.Repeat("|", 3000),
	strings.Repeat("a|", 60) + "\n" + strings.Repeat("-|", 60) + "\n" + strings.Repeat("x|", 60),
	strings.Repeat("http://", 1500),
	strings.Repeat("www.", 1500) + strings.Repeat("(", 500) + strings.Repeat(")", 700),
	strings.Repeat("[a]: b\n", 1000),
	"[" + strings.Repeat("a", 1200) + "]: b\n\n[" + strings.Repeat("a", 1200) + "]",
	strings.Repeat("a", 40_000),
	strings.Repeat("a ", 20_000) + "\n" + strings.Repeat("**b** ", 8000),
	"```\n" + strings.Repeat("x", 40_000) + "\n```",
	strings.Repeat("a\u0301\u0301\u0301", 3000),
	"\ufe0f\ufe0f *\ufe0f* \u200d|\ufe0f|\n|-|\n",
	strings.Repeat("\u202e", 200) + "\x1b]8;;http://x\x07[x](\x1b[31m)\x00\x9b",
	"&#27;[31m &#x202e; &#10; &Tab; &#xE0041; &#0; &ZeroWidthSpace;",
	strings.Repeat("🇩", 99) + strings.Repeat("👨‍👩‍👧", 50) + strings.Repeat("日本語、", 100),
	"1\r\xde",
	"* * *\n- - -\n+ + +\n_ _ _\n- * + - * +\n",
	"999999999. a\n1. b\n- \n  -\n\n   c\n",
}

// samples are ordinary texts, one of each thing.
var samples = []string{
	"Hello *there*, **you** and ~~them~~ `code`.\nNext line  \nhard break\\\nagain",
	"# One\n\nTwo\n===\n\nThree *x*\n---\n### Four ###\n#### Five\n#nothing",
	"- a\n- b\n\n  more\n  - c\n    1. d\n    2. e\n- [x] done\n- [ ] open\n10) ten\n11) eleven\n",
	"> quote\ngoes on\n> > deeper\n>\n> - item\n>   ```go\n>   code // c\n>   ```\n\nout",
	"```go\nfunc main() {\n\n\tx() // hm\n}\n```\n\n    indented\n\n      more\n\n\ntext",
	"| a | b |\n|:-:|--:|\n| 1 | *2* `x\\|y` |\n| long cell that wraps in a narrow place | 3 | 4 |\n\nafter",
	"before\na | b\n--|--\n1 | 2\nthen\n# head",
	"[text](https://example.com \"t\") [ref] [ref][] [x][ref] ![alt *a*](https://i.example/p.png) <https://auto.example> www.example.org.\n\n[ref]: <https://ref.example/a b>\n",
	"late [one] and [two]\n\n- in a list [one]\n\n```\ncode\n```\n\n[one]: https://one.example\n[two]: mailto:me@two.example\n",
	"<div>\n*not* emphasized\n</div>\n\n<!-- a\n\nb -->\nx <b>y</b> &amp; &copy; &nbsp;z",
	"日本語の文章（とても長い）を**書く。**そして*折り返す*\n\nעברית \u2067x\u2069 العربية",
	"a\n***\nb\n\n---\n\n_c_",
	"[^1]: a note\n\nsee [^1] and [1]",
	"text\r\nwith\r\rreturns\tand\ttabs\n\n-\ttabbed\n\n\tcode",
	"1. a\n\n   b\n2. c\n3) d\n- e\n* f",
	"***a** b* **a *b*** _a_b_ __a__ a*b*c 2 * 3 * 4 snake_case_word **\"q\"**x",
	"``a ` b`` ` `` ` `unclosed",
	"* a\n\n  > b\n  ```\n  c\n* d\n\n\n      e",
	"~~~python title=\"x\"\nprint()\n~~~~\n````md\n```\n````\n```",
}

func FuzzSplits(f *testing.F) {
	for i, s := range slices.Concat(samples, hostile) {
		f.Add(s, uint64(i)*7919+1, uint8(i*13))
	}
	f.Fuzz(func(t *testing.T, source string, seed uint64, size uint8) {
		if len(source) > 200_000 {
			return
		}
		width := markdown.MinWidth + int(size)%90
		o := markdown.Options{Width: width, Wide: width + int(size)%3*20, ASCII: size%5 == 0}
		if size%2 == 0 {
			o.Code = comments
		}
		whole := markdown.Render(source, o)
		check(t, whole, o)

		random := seed
		next := func(n int) int { // xorshift
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			return int(random % uint64(n))
		}
		s := markdown.NewStream(o)
		var stable []render.Line
		most := 1 + len(source)/40
		for rest := source; rest != ""; {
			n := min(len(rest), 1+next(most))
			s.Write(rest[:n])
			rest = rest[n:]
			if next(3) == 0 {
				continue
			}
			now, tail := s.Lines()
			if len(now) < len(stable) {
				t.Fatalf("%d stable lines are %d now", len(stable), len(now))
			}
			checkSame(t, "what was stable", now[:len(stable)], stable)
			check(t, now[len(stable):], o)
			check(t, tail, o)
			stable = slices.Clone(now)
			switch next(20) {
			case 0:
				other := o
				other.Width, other.Wide = other.Width+7, other.Wide+7
				s.Resize(other)
				s.Lines()
				s.Resize(o)
				stable = nil
			case 1:
				checkSame(t, "finished halfway", s.Finish(), markdown.Render(s.Source(), o))
			}
		}
		checkSame(t, "finished", s.Finish(), whole)
		if s.Source() != source {
			t.Fatal("the source is another")
		}
	})
}
