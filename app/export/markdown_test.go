package export_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"octavo/app/api"
	"octavo/app/export"
)

// own is the HTML that octavo itself writes into Markdown.
var own = regexp.MustCompile(`^(?:<details><summary>(?:Reasoning|What the model read)</summary>|</details>)\n*$`)

// checkMarkdown reads an export as CommonMark and holds it to its outline: nothing that was said hides a heading that follows, and
// there is no HTML but octavo's own, which opens and closes in turn. It answers the headings of level 2.
func checkMarkdown(t testing.TB, md string) (speakers []string) {
	t.Helper()
	source := []byte(md)
	doc := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...)).Parse(gtext.NewReader(source))
	open := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			t.Errorf("there is HTML %q", n.Segments.Value(source))
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			if !own.MatchString(html) || n.Parent() != doc {
				t.Errorf("there is HTML %q", html)
			}
			if strings.HasPrefix(html, "</") {
				open--
			} else {
				open++
			}
			if open < 0 || open > 1 {
				t.Errorf("%q is out of order", html)
			}
		case *ast.Heading:
			if n.Level == 2 && n.Parent() == doc {
				speakers = append(speakers, string(n.Lines().Value(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	if open != 0 {
		t.Error("something stays folded")
	}
	return speakers
}

func TestMarkdown(t *testing.T) {
	md := write(t, export.Markdown, sample(), export.Options{})
	got := strings.Join(checkMarkdown(t, md), "; ")
	const want = "What was before, in short; You; octavo; What I changed; You; octavo; You, meanwhile; You ran; octavo; You; octavo; You; octavo; You; octavo; You; You; You; octavo; You ran (no model read it); octavo"
	if got != want {
		t.Errorf("its headings are\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(md, "base64,i") || strings.Contains(md, "iVBOR") {
		t.Error("a picture is in it")
	}
}

func TestMarkdownContains(t *testing.T) {
	for _, tt := range [][2]string{
		{"plain *text* with a & b < c", "plain *text* with a & b < c"},
		{"\n\n    code\n\n", "    code"},
		{"```go\nx\n```", "```go\nx\n```"},
		{"```go\nx", "```go\nx\n```"},
		{"~~~~\n```\nx\n", "~~~~\n```\nx\n~~~~"},
		{"- a\n  ```\n  x", "- a\n  ```\n  x"},
		{"> ```\n> x", "> ```\n> x"},
		{"a <b>c</b> `<i>`", "a \\<b>c\\</b> `<i>`"},
		{"<!-- never closed\n\n## x", "\\<!-- never closed\n\n## x"},
		{"<details>\n\n```\n</details>", "\\<details>\n\n```\n</details>\n```"},
		{"<https://example.com> <ada@example.com>", "<https://example.com> <ada@example.com>"},
		{"<pre>\n```\n</pre>\n\n<b>", "\\<pre>\n```\n\\</pre>\n\n\\<b>\n```"},
		{strings.Repeat("<[", export.MaxMarks+1), "```\n" + strings.Repeat("<[", export.MaxMarks+1) + "\n```"},
		{strings.Repeat("<", export.MaxMarkdown), strings.Repeat("<", export.MaxMarkdown)},
		{strings.Repeat("<", export.MaxMarkdown+1), "```\n" + strings.Repeat("<", export.MaxMarkdown+1) + "\n```"},
	} {
		md := write(t, export.Markdown, one(api.Entry{Kind: api.EntryUser, Parts: words(tt[0])}), export.Options{})
		checkMarkdown(t, md)
		if _, got, _ := strings.Cut(md, "## You\n\n"); got != tt[1]+"\n\n" {
			t.Errorf("%.80q stands as %.200q, want %.80q", tt[0], got, tt[1])
		}
	}
}

// TestMarkdownFences is about results, which have their own fences.
func TestMarkdownFences(t *testing.T) {
	for _, marks := range []int{0, 2, 3, 7} {
		out := "a" + strings.Repeat("`", marks) + "b\n" + strings.Repeat("`", marks) + "\n<script>"
		md := write(t, export.Markdown, one(api.Entry{Kind: api.EntryResult, Call: &api.Call{Tool: "bash", Title: out}, Result: &api.Result{Outcome: api.ResultOK}, Parts: words(out)}), export.Options{})
		checkMarkdown(t, md)
		fence := strings.Repeat("`", max(3, marks+1))
		if !strings.Contains(md, fmt.Sprintf("\n%s\n%s\n%s\n", fence, out, fence)) {
			t.Errorf("%q stands as %q", out, md)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// The last heading is octavo's: all that was said before has ended.
		last := everywhere(s)
		entries := last.Entries
		last.Entries = func(yield func(api.Entry, error) bool) {
			for e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			yield(api.Entry{Kind: api.EntryUser, Turn: "the end", Origin: "steer", Parts: words("end")}, nil)
		}
		speakers := checkMarkdown(t, write(t, export.Markdown, last, export.Options{}))
		own := 0
		for _, who := range speakers {
			if who == "You, meanwhile" {
				own++
			}
		}
		if len(speakers) == 0 || speakers[len(speakers)-1] != "You, meanwhile" || own < 2 {
			t.Errorf("of %q the headings are %q", s, speakers)
		}
	})
}
