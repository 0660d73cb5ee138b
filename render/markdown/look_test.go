package markdown_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/pages/text"
	"octavo/render"
	"octavo/render/markdown"
)

func plain(lines []render.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// spelled writes what parts of lines have a role or a weight of their own into the text.
func spelled(lines []render.Line) string {
	var b strings.Builder
	for _, l := range lines {
		at := 0
		for _, run := range l.Runs {
			b.WriteString(l.Text[at:run.From] + "{" + string(run.Role))
			for i, name := range []string{" bold", " italic", " underline", " strike"} {
				if run.Attr&(1<<i) != 0 {
					b.WriteString(name)
				}
			}
			if run.Link != "" {
				b.WriteString(" " + run.Link)
			}
			b.WriteString(": " + l.Text[run.From:run.To] + "}")
			at = run.To
		}
		b.WriteString(l.Text[at:] + "\n")
	}
	return b.String()
}

// picture is lines as a person would draw them into a test: without the line feed that a raw string begins with.
func picture(s string) string { return strings.TrimPrefix(s, "\n") }

func checkPicture(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(picture(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBlocks(t *testing.T) {
	tests := []struct {
		name, source string
		ascii        bool
		want         string
	}{
		{name: "prose is wrapped", source: "One two three four five six seven eight.\nnine ten\\\neleven  \ntwelve", want: `
One two three four five six
seven eight. nine ten
eleven
twelve
`},
		{name: "words that are too long, hyphens, and flags that stay whole",
			source: "see averyveryverylongwordwithoutanyspaces-and-well-known go test -race --count=1", want: `
see
averyveryverylongwordwithoutan
yspaces-and-well-known go test
-race --count=1
`},
		{name: "headings", source: "text\n# One\n## Two\nThree\n===\n\n### Four\ntext", want: `
text

One
───
Two
Three
─────

Four
text
`},
		{name: "lists", source: "Look:\n- a\n- b that goes on and on for two lines\n  - c\n    1. d\n    2. e\n\n  more of b\n- [x] done\n- [ ] open\n9. i\n1. j\n", want: `
Look:
• a
• b that goes on and on for
  two lines
  ◦ c
    1. d
    2. e

  more of b
✓ done
○ open

9. i
10. j
`},
		{name: "the same in ASCII", ascii: true, source: "# One\n- b\n  - c\n- [x] done\n- [ ] open\n1. [x] e\n> q\n\n---", want: `
One
===
- b
  * c
[x] done
[ ] open

1. [x] e

| q

------------------------------
`},
		{name: "quotations", source: "> one\ntwo three four five six seven eight\n>\n> > deeper\n> - a\n>   - b\n\nout", want: `
▎ one two three four five six
▎ seven eight
▎
▎ ▎ deeper
▎
▎ • a
▎   ◦ b

out
`},
		{name: "code", source: "text\n```go run\nif x {\n\n\ty(\"a line that is too wide for it all\")\n}\n```\n- ```\n  in an item\n  ```\n  ```sh\n  ls\n  ```", want: `
text
                            go
  if x {
  
      y("a line that is too wide
↪ for it all")
  }

•   in an item
                            sh
    ls
`},
		{name: "HTML is text", source: "<div class='a'>\n  *b* &amp;\n</div>\n\nc <b>d</b> &amp; <!-- e -->", want: `
<div class='a'>
  *b* &amp;
</div>

c <b>d</b> & <!-- e -->
`},
		{name: "a table", source: "| a | *b* | c\n|---|:-:|--:|\n| long \\| cell | x | `1|2` |\n| short |\n\nend", want: `
a           │ b │   c
────────────┼───┼────
long | cell │ x │ 1|2
short       │   │

end
`},
		{name: "a table that has to give way", source: "|name|meaning|\n|-|-|\n|a|some words that do not fit beside it|\n|b|c|", want: `
name │ meaning
─────┼──────────────────────────────────
a    │ some words that do not fit beside
     │ it
─────┼──────────────────────────────────
b    │ c
`},
		{name: "a table that finds no room", source: "|name|one|two|three|\n|-|-|-|-|\n|a|quite some words|other words here|and words that wrap again|\n|b||c|", want: `
name: a
one: quite some words
two: other words here
three: and words that wrap again

name: b
two: c
`},
		{name: "East Asian text", source: "日本語の文章（とても長い）を書く。**読点、**そして「括弧」も行の頭に来ない。", want: `
日本語の文章（とても長い）を書
く。読点、そして「括弧」も行の
頭に来ない。
`},
		{name: "what could harm", source: "a\x1b[31mb\u202ec &#x202e; &#27;[0m\r\n`\x9bx`\u2028d", want: `
ab‹RLO›c ‹RLO› [0m x d
`},
		{name: "an item deeper than there is room", source: strings.Repeat("- ", 14) + "text", want: `
• ◦ ▪ • ◦ ▪ • ◦ ▪ • ◦ ▪ • ◦
                    text
`},
		{name: "definitions and footnotes", source: "[a]: https://a.example\n[^1]: note\n\n[x][a] [^1]", want: `
[^1]: note

x (a.example) [^1]
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := markdown.Options{Width: 30, Wide: 40, ASCII: test.ascii}
			if test.name == "code" {
				o.Wide = 32
			}
			lines := markdown.Render(test.source, o)
			check(t, lines, o)
			checkPicture(t, plain(lines), test.want)
		})
	}
}

func TestInline(t *testing.T) {
	tests := []struct{ source, want string }{
		{"*a* __b__ ***c*** ~~d~~ `e` a\\*b\\*", "{emphasis italic: a} {strong bold: b} {strong bold italic: c} {text strike: d} {code: e} a*b*"},
		{"2 * 3 * 4 snake_case_word ~5 to ~6 a*b*c", "2 * 3 * 4 snake_case_word ~5 to ~6 a{emphasis italic: b}c"},
		{"**bold *both* `code`** `` a`b `` `**not**`",
			"{strong bold: bold }{strong bold italic: both}{strong bold:  }{code bold: code} {code: a`b} {code: **not**}"},
		{"**「x」**は *（y）*z", "{strong bold: 「x」}は *（y）*z"},
		{"# a *b* `c`", "{heading bold: a }{heading bold italic: b}{heading bold:  }{code bold: c}\n─────"},
		{"> a **b**", "{border: ▎} a {strong bold: b}"},
		{"- [x] *a*", "{success: ✓} {emphasis italic: a}"},
		{"&copy; &#65; &nope; &amp", "© A &nope; &amp"},
		{"|*a*|\n|-|\n|`b`|", "{emphasis bold italic: a}\n─\n{code: b}"},
	}
	for _, test := range tests {
		lines := markdown.Render(test.source, markdown.Options{Width: 100})
		if got := strings.TrimSuffix(spelled(lines), "\n"); got != test.want {
			t.Errorf("%q is\n%s, not\n%s", test.source, got, test.want)
		}
	}
}

func TestLinks(t *testing.T) {
	const link = "{link underline "
	tests := []struct{ source, want string }{
		{"[text](https://a.example/x \"title\")", link + "https://a.example/x: text}{muted:  (a.example)}"},
		{"[a.example](https://www.a.example)", link + "https://www.a.example: a.example}"},
		{"[see www.A.example.](http://a.example)", link + "http://a.example: see www.A.example.}"},
		{"[data.example](https://a.example)", link + "https://a.example: data.example}{muted:  (a.example)}"},
		{"[a.example](https://a.example.evil.example)", link + "https://a.example.evil.example: a.example}{muted:  (a.example.evil.example)}"},
		{"[a.example](https://a.example@evil.example)", link + "https://a.example@evil.example: a.example}{muted:  (evil.example)}"},
		{"[a](https://x.example/ö \"\")[b](<https://x.example/a b>)",
			link + "https://x.example/%C3%B6: a}{muted:  (x.example)}" + link + "https://x.example/a%20b: b}{muted:  (x.example)}"},
		{"[mail](mailto:me@a.example?subject=x)", link + "mailto:me@a.example?subject=x: mail}{muted:  (me@a.example)}"},
		{"[x](javascript:alert(1)) [y](cmd/main.go) [cmd/z](cmd/z) [s](#s) [e](https://)",
			"x{muted:  (javascript:alert(1))} y{muted:  (cmd/main.go)} cmd/z s e{muted:  (https://)}"},
		{"[x](\x1b]8;;https://evil.example\x07https://a.example)", link + "https://a.example: x}{muted:  (a.example)}"},
		{"https://a.example/b_c_(d), (http://b.example) WWW.c.example!", link + "https://a.example/b_c_(d): https://a.example/b_c_(d)}, (" +
			link + "http://b.example: http://b.example}) " + link + "http://WWW.c.example: WWW.c.example}!"},
		{"**https://a.example** xhttp://b.example http:// https://例え.example。次",
			"{link bold underline https://a.example: https://a.example} xhttp://b.example http:// " + link +
				"https://%E4%BE%8B%E3%81%88.example: https://例え.example}。次"},
		{"<https://a.example/?b=c&d> <me@a.example> <tel:1>", link + "https://a.example/?b=c&d: https://a.example/?b=c&d} " + link +
			"mailto:me@a.example: me@a.example} tel:1"},
		{"![alt *x*](https://a.example/p.png) ![](p.png)", link + "https://a.example/p.png: [image: alt }" +
			"{link italic underline https://a.example/p.png: x}" + link + "https://a.example/p.png: ]}{muted:  (a.example)} [image]{muted:  (p.png)}"},
		{"[![alt](https://i.example/p.svg)](https://a.example)", link + "https://a.example: [image: alt]}{muted:  (i.example) (a.example)}"},
		{"[https://a.example](https://a.example)", link + "https://a.example: https://a.example}"},
		{"[a][B c] [b  C][] [B C]\n\n[b c]: https://a.example", strings.Repeat(link+"https://a.example: %}{muted:  (a.example)} ", 3)},
	}
	for _, test := range tests {
		want := test.want
		for _, text := range []string{"a", "b  C", "B C"} {
			want = strings.Replace(want, "%}", text+"}", 1)
		}
		lines := markdown.Render(test.source, markdown.Options{Width: 200})
		if got := strings.TrimSuffix(spelled(lines), "\n"); got != strings.TrimSuffix(want, " ") {
			t.Errorf("%q is\n%s, not\n%s", test.source, got, want)
		}
	}
}

func TestCopied(t *testing.T) {
	source := "# Title\n\nProse that is long enough to be wrapped at this width, **twice**.\n\n- an item that is wrapped as well, of course\n  1. nested\n\n" +
		"> quoted words that are wrapped, too, behind their bar\n\n```go\nif x {\n  call(\"with a long line\",    \"with gaps\")\n\n}\n```\n\n" +
		"text\n\n    indented\n      code\n\n長い日本語の文章は空白なしで折り返される。"
	want := `
Title

Prose that is long enough to be wrapped at this width, twice.

• an item that is wrapped as well, of course
  1. nested

quoted words that are wrapped, too, behind their bar

if x {
  call("with a long line",    "with gaps")

}

text

indented
  code

長い日本語の文章は空白なしで折り返される。`
	for width := 10; width < 60; width += 7 {
		lines := markdown.Render(source, markdown.Options{Width: width, Code: comments})
		checkPicture(t, render.Copied(lines), want)
	}
}

// Colours of code come from outside: they are used where they fit the text, and only there.
func TestCode(t *testing.T) {
	var asked []string
	code := func(change func([]render.Line) []render.Line) func(string, string) []render.Line {
		return func(language, source string) []render.Line {
			asked = append(asked, language+":"+source)
			return change(comments(language, source))
		}
	}
	const source = "```go x\na // b\nc  \n\n```\n\n    d"
	tests := []struct {
		name   string
		change func([]render.Line) []render.Line
		want   string
	}{
		{"as it should be", func(l []render.Line) []render.Line { return l }, "  a {syntax.comment: // b}"},
		{"an empty run, and spaces less", func(l []render.Line) []render.Line {
			for i := range l {
				l[i].Text = strings.TrimRight(l[i].Text, " ")
			}
			l[0].Runs = append([]render.Run{{From: 2, To: 2, Role: "accent"}}, l[0].Runs...)
			return l
		}, "  a {syntax.comment: // b}"},
		{"without empty lines at the end", func(l []render.Line) []render.Line {
			if last := len(l) - 1; l[last].Text == "" {
				l = l[:last]
			}
			return l
		}, "  a {syntax.comment: // b}"},
		{"none", func([]render.Line) []render.Line { return nil }, "  a // b"},
		{"a line less", func(l []render.Line) []render.Line { return l[1:] }, "  a // b"},
		{"another text", func(l []render.Line) []render.Line { l[0].Text = "x // b"; return l }, "  a // b"},
		{"runs beyond it", func(l []render.Line) []render.Line { l[0].Runs = []render.Run{{To: 99}}; return l }, "  a // b"},
		{"runs in disorder", func(l []render.Line) []render.Line {
			l[0].Runs = []render.Run{{From: 2, To: 3}, {From: 1, To: 2}}
			return l
		}, "  a // b"},
	}
	for _, test := range tests {
		asked = nil
		lines := markdown.Render(source, markdown.Options{Width: 20, Code: code(test.change)})
		if diff := cmp.Diff([]string{"go:a // b\nc  \n", ":d"}, asked); diff != "" {
			t.Errorf("%s: asked for (-want +got):\n%s", test.name, diff)
		}
		if got := strings.Split(spelled(lines), "\n")[1]; got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
		for _, l := range lines {
			if isCode := text.Width(l.Text) > 0 && l.Gutter == 2; isCode != l.Fill || isCode != (l.Role == "code") {
				t.Errorf("%s: %+v", test.name, l)
			}
		}
	}
}
