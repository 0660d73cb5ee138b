package export

import (
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// plainMarkdown reads Markdown as every reader of it does, HTML included.
var plainMarkdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

const (
	// maxMarkdown is up to where a text is read as Markdown, in bytes. A longer one is shown as the lines that it is.
	maxMarkdown = 128 << 10
	// maxMarks is how many marks may stand between two empty lines: goldmark's work grows with the square of their number, and 8000
	// cost it some tenths of a second. Several such stretches count by their squares, too.
	maxMarks = 8000
	// maxMends is how often HTML is taken out of a text: what was code may be none after the HTML before it is gone.
	maxMends = 4
)

// readable reports whether a text can be read as Markdown in reasonable time.
func readable(s string) bool {
	if len(s) > maxMarkdown {
		return false
	}
	marks, squares := 0, 0
	for line := range strings.Lines(s) {
		if strings.Trim(line, " \t\r\n") == "" {
			squares += marks * marks
			marks = 0
			continue
		}
		for _, c := range []byte(line) {
			switch c {
			case '*', '_', '~', '[', ']', '>':
				marks++
			}
		}
	}
	return squares+marks*marks <= maxMarks*maxMarks
}

// contained makes a Markdown text from outside end where it ends, and is that text as it was written wherever that does no harm.
// HTML in it, of which a reader would hide some and obey the rest, becomes text; a block of code that was never closed is closed.
// A text that cannot be mended so stands as a block of code.
func contained(s string) string {
	s = block(s)
	if !strings.ContainsAny(s, "<`~") {
		return s // no other block goes on after an empty line and a heading
	}
	if !readable(s) {
		return fenced(s, "")
	}
	for range maxMends {
		tags := rawHTML(s)
		if len(tags) == 0 {
			if ends(s) {
				return s
			}
			break
		}
		s = escapeAt(s, tags)
	}
	if fence := openFence(s); fence != "" {
		if closed := s + "\n" + fence; len(rawHTML(closed)) == 0 && ends(closed) {
			return closed
		}
	}
	return fenced(s, "")
}

// rawHTML is where in s a < begins HTML or stands within it.
func rawHTML(s string) []int {
	if strings.IndexByte(s, '<') < 0 {
		return nil
	}
	source := []byte(s)
	var at []int
	add := func(segments *text.Segments) {
		for i := range segments.Len() {
			for j := segments.At(i).Start; j < segments.At(i).Stop; j++ {
				if source[j] == '<' {
					at = append(at, j)
				}
			}
		}
	}
	walk(plainMarkdown().Parse(text.NewReader(source)), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.RawHTML:
			add(n.Segments)
		case *ast.HTMLBlock:
			add(n.Lines())
			if n.HasClosure() {
				closure := text.NewSegments()
				closure.Append(n.ClosureLine)
				add(closure)
			}
		}
	})
	slices.Sort(at)
	return slices.Compact(at)
}

// walk calls see for n and everything under it.
func walk(n ast.Node, see func(ast.Node)) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			see(n)
		}
		return ast.WalkContinue, nil
	})
}

// escapeAt puts a backslash before each place.
func escapeAt(s string, places []int) string {
	var b strings.Builder
	done := 0
	for _, at := range places {
		b.WriteString(s[done:at])
		b.WriteByte('\\')
		done = at
	}
	return b.String() + s[done:]
}

// ends reports whether a heading after s would be one.
func ends(s string) bool {
	doc := plainMarkdown().Parse(text.NewReader([]byte(s + "\n\n# -\n")))
	last, ok := doc.LastChild().(*ast.Heading)
	return ok && last.Level == 1
}

// openFence is what closes the block of code that s ends in, "" when it ends in none.
func openFence(s string) string {
	open := ""
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimLeft(line, " ")
		if len(line)-len(bare) > 3 || bare == "" {
			continue
		}
		if bare[0] != '`' && bare[0] != '~' {
			continue
		}
		rest := strings.TrimLeft(bare, bare[:1])
		mark := bare[:len(bare)-len(rest)]
		switch {
		case len(mark) < 3:
		case open == "":
			if mark[0] == '~' || !strings.Contains(rest, "`") {
				open = mark
			}
		case mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(rest) == "":
			open = ""
		}
	}
	return open
}
