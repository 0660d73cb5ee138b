package export

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// proseMarkdown reads Markdown as GitHub does, except that it knows no HTML: a tag is the text that it is.
var proseMarkdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			prioritized(parser.NewSetextHeadingParser(), 100),
			prioritized(parser.NewThematicBreakParser(), 200),
			prioritized(parser.NewListParser(), 300),
			prioritized(parser.NewListItemParser(), 400),
			prioritized(parser.NewCodeBlockParser(), 500),
			prioritized(parser.NewATXHeadingParser(), 600),
			prioritized(parser.NewFencedCodeBlockParser(), 700),
			prioritized(parser.NewBlockquoteParser(), 800),
			prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			prioritized(boxes{}, 0),
			prioritized(parser.NewCodeSpanParser(), 100),
			prioritized(parser.NewLinkParser(), 200),
			prioritized(parser.NewAutoLinkParser(), 300),
			prioritized(parser.NewEmphasisParser(), 500),
			prioritized(strikes{}, 500),
		),
		parser.WithParagraphTransformers(
			prioritized(parser.LinkReferenceParagraphTransformer, 100),
			prioritized(tables{}, 200),
		))
})

// prose writes Markdown from outside as HTML. It loses no text: what may not be followed or loaded is named.
func (p *htmlPage) prose(markdown string) {
	markdown = block(markdown)
	if markdown == "" {
		return
	}
	if !readable(markdown) {
		p.write(`<pre class="said">%s</pre>`+"\n", markdown)
		return
	}
	source := []byte(markdown)
	w := proseWriter{htmlPage: p, source: source}
	p.write("<div class=\"prose\">\n")
	_ = ast.Walk(proseMarkdown().Parse(text.NewReader(source)), w.node)
	p.write("</div>\n")
}

// proseWriter writes one document. Each kind of node opens and closes its own tags, so they are balanced whatever the text.
type proseWriter struct {
	*htmlPage
	source []byte
	links  int // that are open: none stands in another
}

func (w *proseWriter) node(n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch n := n.(type) {
	case *ast.Heading:
		level := strconv.Itoa(min(n.Level+2, 6)) // below those of the page
		w.pair(entering, "<h"+level+">", "</h"+level+">\n")
	case *ast.Paragraph:
		w.pair(entering, "<p>", "</p>\n")
	case *ast.TextBlock:
		if !entering && n.NextSibling() != nil {
			w.write("\n")
		}
	case *ast.Blockquote:
		w.pair(entering, "<blockquote>\n", "</blockquote>\n")
	case *ast.List:
		open, end := "<ul>\n", "</ul>\n"
		if n.IsOrdered() {
			open, end = "<ol>\n", "</ol>\n"
			if n.Start != 1 {
				open = `<ol start="` + strconv.Itoa(n.Start) + "\">\n"
			}
		}
		w.pair(entering, open, end)
	case *ast.ListItem:
		w.pair(entering, "<li>", "</li>\n")
	case *ast.ThematicBreak:
		w.pair(entering, "<hr>\n", "")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		if entering {
			w.write("<pre><code>%s</code></pre>\n", strings.TrimSuffix(string(n.Lines().Value(w.source)), "\n"))
		}
		return ast.WalkSkipChildren, nil
	case *ast.Emphasis:
		tag := "em"
		if n.Level == 2 {
			tag = "strong"
		}
		w.pair(entering, "<"+tag+">", "</"+tag+">")
	case *extast.Strikethrough:
		w.pair(entering, "<del>", "</del>")
	case *extast.TaskCheckBox:
		if entering {
			w.write("<span class=\"box\">" + map[bool]string{true: "☑", false: "☐"}[n.IsChecked] + "</span>")
		}
	case *ast.CodeSpan:
		if entering {
			w.write("<code>%s</code>", w.codeSpan(n))
		}
		return ast.WalkSkipChildren, nil
	case *ast.Link:
		w.link(n, entering)
	case *ast.Image:
		if entering {
			w.image(n)
		}
		return ast.WalkSkipChildren, nil
	case *ast.AutoLink:
		if entering {
			w.autoLink(n)
		}
	case *ast.Text:
		if entering {
			w.text(n)
		}
	case *extast.Table, *extast.TableHeader, *extast.TableRow, *extast.TableCell:
		w.table(n, entering)
	}
	return ast.WalkContinue, nil
}

// pair writes the tag that opens something or the one that ends it.
func (w *proseWriter) pair(entering bool, open, end string) {
	if entering {
		w.write(open)
	} else {
		w.write(end)
	}
}

func (w *proseWriter) text(n *ast.Text) {
	if value := n.Segment.Value(w.source); n.IsRaw() {
		w.write("%s", string(value))
	} else {
		w.write("%s", w.resolved(value))
	}
	switch {
	case n.HardLineBreak():
		w.write("<br>\n")
	case n.SoftLineBreak():
		w.write("\n")
	}
}

// resolved is what a text says once its backslashes and references, such as &amp; and &#27;, are taken for what they mean.
func (w *proseWriter) resolved(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	var out bytes.Buffer
	buffer := bufio.NewWriter(&out)
	html.DefaultWriter.Write(buffer, b)
	buffer.Flush() // into memory, which does not fail
	return unescape.Replace(out.String())
}

// unescape undoes what goldmark's writer escapes, no more.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&")

func (w *proseWriter) codeSpan(n *ast.CodeSpan) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(w.source))
		}
	}
	s := strings.ReplaceAll(b.String(), "\n", " ")
	if _, inTable := n.Parent().(*extast.TableCell); inTable {
		s = strings.ReplaceAll(s, `\|`, "|")
	}
	return s
}

const anchor = `<a href="%s" rel="noopener noreferrer nofollow">`

// destination is an address as a link may have it, and whether it may be followed: only what leads into the web or to a mailbox.
func destination(raw []byte) (string, bool) {
	d := string(util.URLEscape(raw, true))
	scheme, _, _ := strings.Cut(d, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return d, true
	}
	return d, false
}

func (w *proseWriter) link(n *ast.Link, entering bool) {
	d, follows := destination(n.Destination)
	switch {
	case entering && follows:
		w.links++
		w.write(anchor, d)
	case entering:
	case follows:
		w.links--
		w.write("</a>")
	case d != "":
		w.write(" (<code>%s</code>)", d)
	}
}

func (w *proseWriter) autoLink(n *ast.AutoLink) {
	address := string(n.URL(w.source))
	target := address
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(target), "mailto:") {
		target = "mailto:" + target
	}
	if d, follows := destination([]byte(target)); follows && w.links == 0 {
		w.write(anchor+"%s</a>", d, address)
		return
	}
	w.write("%s", address)
}

// image names a picture, which is not loaded: it would tell its server who reads.
func (w *proseWriter) image(n *ast.Image) {
	var alt strings.Builder
	walk(n, func(c ast.Node) {
		if t, ok := c.(*ast.Text); ok {
			alt.WriteString(w.resolved(t.Segment.Value(w.source)))
		}
	})
	name := "picture"
	if alt.Len() > 0 {
		name += ": " + alt.String()
	}
	d, follows := destination(n.Destination)
	switch {
	case follows && w.links == 0:
		w.write(anchor+"[%s]</a>", d, name)
	case strings.HasPrefix(d, "data:") || d == "":
		w.write("[%s]", name)
	default:
		w.write("[%s] (<code>%s</code>)", name, d)
	}
}

func (w *proseWriter) table(n ast.Node, entering bool) {
	switch n := n.(type) {
	case *extast.Table:
		w.pair(entering, "<div class=\"wide\"><table>\n", "</tbody></table></div>\n")
	case *extast.TableHeader:
		w.pair(entering, "<thead><tr>", "</tr></thead>\n<tbody>\n")
	case *extast.TableRow:
		w.pair(entering, "<tr>", "</tr>\n")
	case *extast.TableCell:
		tag := "td"
		if _, head := n.Parent().(*extast.TableHeader); head {
			tag = "th"
		}
		class := ""
		switch n.Alignment {
		case extast.AlignRight:
			class = ` class="right"`
		case extast.AlignCenter:
			class = ` class="center"`
		}
		w.pair(entering, "<"+tag+class+">", "</"+tag+">")
	}
}
