package export_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"octavo/app/api"
	"octavo/app/export"
	"octavo/pages"
)

// tag is a start tag of a page.
type tag struct {
	name string
	attr map[string]string
}

// allowed are the elements of a page and the attributes of each, beside class and id.
var allowed = map[string][]string{
	"html": {"lang"}, "head": nil, "meta": {"charset", "http-equiv", "content", "name"}, "title": nil, "link": {"rel", "href"}, "style": nil,
	"body": nil, "header": nil, "main": nil, "nav": {"aria-label"}, "section": nil, "footer": nil, "aside": nil, "div": nil, "p": nil, "span": nil, "b": nil, "i": nil,
	"bdi": nil, "ins": nil, "del": nil, "em": nil, "strong": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "dl": nil, "dt": nil, "dd": nil,
	"ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "hr": nil, "br": nil, "pre": nil, "code": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"th": nil, "td": nil, "a": {"href", "rel"}, "figure": nil, "figcaption": nil, "img": {"alt", "src"}, "details": {"open"}, "summary": nil,
	"button": {"type", "hidden"}, "script": nil,
}

var (
	void      = []string{"meta", "link", "hr", "br", "img"}
	tagName   = regexp.MustCompile(`^[a-z][a-z0-9]*`)
	attribute = regexp.MustCompile(`^ ([a-z-]+)(?:="([^"<>]*)")?`)
	entity    = regexp.MustCompile(`^&(?:amp|lt|gt|#34|#39);`)
)

// parsePage reads a page as strictly as a page that octavo wrote can be read, and fails on anything else: an element or an attribute
// that is not allowed, a < or & of a text, elements that do not close in order, a control character. It answers the start tags and the
// text, which has what style and script hold in it.
func parsePage(t testing.TB, page string) (tags []tag, text string) {
	t.Helper()
	page, ok := strings.CutPrefix(page, "<!doctype html>\n")
	if !ok || !utf8.ValidString(page) {
		t.Fatal("this is no page in UTF-8")
	}
	for _, r := range page {
		if r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || 0xe0000 <= r && r <= 0xe007f {
			t.Fatalf("there is a raw %U", r)
		}
	}
	near := func() string { return fmt.Sprintf("%.120q", page) }
	var b strings.Builder
	var open []string
	for page != "" {
		switch {
		case strings.HasPrefix(page, "</"):
			name := tagName.FindString(page[2:])
			if len(open) == 0 || open[len(open)-1] != name || !strings.HasPrefix(page[2+len(name):], ">") {
				t.Fatalf("in %v there is an end of %s", open, near())
			}
			open = open[:len(open)-1]
			page = page[2+len(name)+1:]
		case page[0] == '<':
			x := tag{name: tagName.FindString(page[1:]), attr: map[string]string{}}
			attributes, known := allowed[x.name]
			if !known {
				t.Fatalf("there is a tag %s", near())
			}
			rest := page[1+len(x.name):]
			for m := attribute.FindStringSubmatch(rest); m != nil; m = attribute.FindStringSubmatch(rest) {
				if !slices.Contains(append(attributes, "class", "id"), m[1]) {
					t.Fatalf("there is an attribute %s in %s", m[1], near())
				}
				x.attr[m[1]] = html.UnescapeString(m[2])
				rest = rest[len(m[0]):]
			}
			if !strings.HasPrefix(rest, ">") {
				t.Fatalf("there is a tag %s", near())
			}
			page = rest[1:]
			tags = append(tags, x)
			if x.name == "style" || x.name == "script" {
				inside, after, _ := strings.Cut(page, "</"+x.name+">")
				b.WriteString(inside)
				page = after
			} else if !slices.Contains(void, x.name) {
				open = append(open, x.name)
			}
		case page[0] == '&':
			e := entity.FindString(page)
			if e == "" {
				t.Fatalf("there is a reference %s", near())
			}
			b.WriteString(html.UnescapeString(e))
			page = page[len(e):]
		case page[0] == '>':
			t.Fatalf("there is a > %s", near())
		default:
			n := strings.IndexAny(page, "<&>")
			if n < 0 {
				n = len(page)
			}
			b.WriteString(page[:n])
			page = page[n:]
		}
	}
	if len(open) > 0 {
		t.Fatalf("%v stay open", open)
	}
	return tags, b.String()
}

// checkPage holds a page to loading nothing, obeying nothing and leading nowhere but into the web.
func checkPage(t testing.TB, page string) (tags []tag, text string) {
	t.Helper()
	tags, text = parsePage(t, page)
	ids := map[string]bool{}
	scripts, links := 0, []string(nil)
	for _, x := range tags {
		if id := x.attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("the id %s is there twice", id)
			}
			ids[id] = true
		}
		switch x.name {
		case "script":
			scripts++
		case "img":
			if !regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$`).MatchString(x.attr["src"]) {
				t.Errorf("a picture from %.80q", x.attr["src"])
			}
		case "link":
			if x.attr["href"] != "data:," {
				t.Errorf("something is loaded from %q", x.attr["href"])
			}
		case "a":
			href := x.attr["href"]
			if strings.HasPrefix(href, "#") {
				links = append(links, href[1:])
			} else if !regexp.MustCompile(`^(?i:https?|mailto):`).MatchString(href) || x.attr["rel"] != "noopener noreferrer nofollow" {
				t.Errorf("a link to %q, %q", href, x.attr["rel"])
			}
		}
	}
	for _, id := range links {
		if !ids[id] {
			t.Errorf("a link leads to %s, which is not there", id)
		}
	}
	if scripts != 1 || !strings.Contains(page, "<script>"+export.Opener+"</script>\n</body>") {
		t.Errorf("there are %d scripts, or it is not the page's own", scripts)
	}
	if strings.Count(page, "<style>") != 1 || !strings.Contains(page, "<style>\n"+export.Style+"</style>") {
		t.Error("the style is not the page's own")
	}
	return tags, text
}

func TestHTML(t *testing.T) {
	page := write(t, export.HTML, sample(), export.Options{})
	tags, text := checkPage(t, page)
	meta := map[string]string{}
	count := map[string]int{}
	for _, x := range tags {
		count[x.name]++
		count["."+x.attr["class"]]++
		if x.name == "meta" {
			meta[x.attr["name"]+x.attr["http-equiv"]] = x.attr["content"]
		}
	}
	hash := sha256.Sum256([]byte(export.Opener))
	want := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
	if meta["Content-Security-Policy"] != want || !strings.HasPrefix(meta["viewport"], "width=device-width") || meta["color-scheme"] != "light dark" {
		t.Errorf("the head says %v", meta)
	}
	if strings.Index(page, "Content-Security-Policy") > strings.Index(page, "<style>") {
		t.Error("the policy comes after what it is about")
	}
	for _, forbidden := range []string{"url(", "@import", "expression("} {
		if strings.Contains(export.Style, forbidden) {
			t.Errorf("the style has %s", forbidden)
		}
	}
	// One picture is there twice and stands once; the lost one and the drawing do not.
	if count["img"] != 1 || count[".again"] != 3 || !strings.Contains(text, "no such picture in the store") {
		t.Errorf("%d pictures, %d named", count["img"], count[".again"])
	}
	if count["nav"] != 1 || count[".prompt"] != 9 || count[".diff"] != 2 || count[".call bad"] != 5 || count[".end odd"] != 2 {
		t.Errorf("the page has %v", count)
	}
	for _, want := range []string{
		"Bounded retries", "Cost$1.23, without 1 request whose price is unknown", "Tokens351K read (312K from cache), 9.3K written (2.1K reasoning)",
		"</script></style></title>", "red \ufffd ‹RLO›gnp.exe‹PDF›", "‹RLO›[31m\ufffd<script>", `<div onclick="alert(1)">raw</div>`, "click (javascript:alert(1))", "[picture: pixel]",
		"漢字と絵文字 👩‍👩‍👧‍👦", "100%\n--- FAIL", "FAIL\toctavo/retry", "attempt > 4", "You ran (no model read it)", "You, meanwhile", "Interrupted here",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text, "10%\n50%") {
		t.Error("the states of a progress bar stand under each other")
	}
}

func TestHTMLProse(t *testing.T) {
	for _, tt := range [][2]string{
		{"a **b** *c* ~~d~~ ~e~ `f`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <del>e</del> <code>f</code></p>"},
		{"~~~~a~~~~ 5~6 ~~b~", "<pre><code></code></pre>"},
		{"x ~~~a~~~ 5~6 ~~b", "<p>x ~~~a~~~ 5~6 ~~b</p>"},
		{"# A\n\nB\n===\n\n###### C", "<h3>A</h3>\n<h3>B</h3>\n<h6>C</h6>"},
		{"- [x] a\n- [ ] b\n- [y] c", "<ul>\n<li><span class=\"box\">☑</span> a</li>\n<li><span class=\"box\">☐</span> b</li>\n<li>[y] c</li>\n</ul>"},
		{"7. a\n\n   b", "<ol start=\"7\">\n<li><p>a</p>\n<p>b</p>\n</li>\n</ol>"},
		{"|a|b|\n|:-:|-:|\n|`x\\|y`|*z*|more|\n|only", "<div class=\"wide\"><table>\n<thead><tr><th class=\"center\">a</th><th class=\"right\">b</th></tr></thead>\n<tbody>\n" +
			"<tr><td class=\"center\"><code>x|y</code></td><td class=\"right\"><em>z</em></td></tr>\n<tr><td class=\"center\">only</td></tr>\n</tbody></table></div>"},
		{"text\na | b\n--|--\n", "<p>text</p>\n<div class=\"wide\"><table>\n<thead><tr><th>a</th><th>b</th></tr></thead>\n<tbody>\n</tbody></table></div>"},
		{"a | b\n--|--|--\n", "<p>a | b\n--|--|--</p>"},
		{"[a](http://x.org \"t\") [b](JavaScript:x) [c](#d) [d](&#106;avascript:x) [e](x:y 'javascript')", "<p><a href=\"http://x.org\" rel=\"noopener noreferrer nofollow\">a</a> " +
			"b (<code>JavaScript:x</code>) c (<code>#d</code>) d (<code>javascript:x</code>) e (<code>x:y</code>)</p>"},
		{"[![a*b*](http://x.org/p)](http://y.org)", "<p><a href=\"http://y.org\" rel=\"noopener noreferrer nofollow\">[picture: ab] (<code>http://x.org/p</code>)</a></p>"},
		{"<ada@example.com> <https://x.org/?a=\"&b>", "<p><a href=\"mailto:ada@example.com\" rel=\"noopener noreferrer nofollow\">ada@example.com</a> " +
			"<a href=\"https://x.org/?a=%22&amp;b\" rel=\"noopener noreferrer nofollow\">https://x.org/?a=&#34;&amp;b</a></p>"},
		{"<b onclick=x>\n\n<!-- c -->\n\n<script>\nalert(1)", "<p>&lt;b onclick=x&gt;</p>\n<p>&lt;!-- c --&gt;</p>\n<p>&lt;script&gt;\nalert(1)</p>"},
		{"\\*a\\* &lt;b&gt; &copy; \\&lt; `&lt;`", "<p>*a* &lt;b&gt; © &amp;lt; <code>&amp;lt;</code></p>"},
		{"```go\"><script>\n\tx := \"<\"\n", "<pre><code>\tx := &#34;&lt;&#34;</code></pre>"},
		{"a  \nb\\\nc\n\n---\n\n> q", "<p>a<br>\nb<br>\nc</p>\n<hr>\n<blockquote>\n<p>q</p>\n</blockquote>"},
	} {
		page := write(t, export.HTML, one(api.Entry{Kind: api.EntryAssistant, Parts: words(tt[0])}), export.Options{})
		checkPage(t, page)
		_, got, _ := strings.Cut(page, "<div class=\"prose\">\n")
		got, _, _ = strings.Cut(got, "\n</div>\n</section>")
		if got != tt[1] {
			t.Errorf("%q is written as\n%s\nwant\n%s", tt[0], got, tt[1])
		}
	}
}

func TestHTMLBounds(t *testing.T) {
	user := func(text string) api.Entry { return api.Entry{Kind: api.EntryUser, Parts: words(text)} }
	for n, more := range map[int]bool{export.MaxContents: false, export.MaxContents + 1: true} {
		var prompts []api.Entry
		for i := range n {
			prompts = append(prompts, user("prompt "+strconv.Itoa(i)))
		}
		page := write(t, export.HTML, one(prompts...), export.Options{})
		if lines := strings.Count(page, "<li><a href=\"#e"); lines != export.MaxContents || strings.Contains(page, "<p>and 1 more prompt</p>") != more {
			t.Errorf("%d prompts: %d are listed", n, lines)
		}
	}
	for n, prose := range map[int]bool{export.MaxMarkdown: true, export.MaxMarkdown + 1: false} {
		s := strings.Repeat("word ", n/5) + strings.Repeat("x", n%5)
		if page := write(t, export.HTML, one(api.Entry{Kind: api.EntryAssistant, Parts: words(s)}), export.Options{}); strings.Contains(page, "<div class=\"prose\">") != prose || !strings.Contains(page, s) {
			t.Errorf("a text of %d bytes: prose is not %v, or the text is not whole", n, prose)
		}
	}
	for n, prose := range map[int]bool{export.MaxMarks: true, export.MaxMarks + 1: false} {
		s := strings.Repeat("[", n)
		if page := write(t, export.HTML, one(api.Entry{Kind: api.EntryAssistant, Parts: words(s)}), export.Options{}); strings.Contains(page, "<div class=\"prose\">") != prose || !strings.Contains(page, s) {
			t.Errorf("%d marks: prose is not %v, or the text is not whole", n, prose)
		}
	}
	for n, open := range map[int]bool{export.MaxOpenDiff: true, export.MaxOpenDiff + 1: false} {
		d := &pages.Diff{Path: "x", New: true, Added: n, Hunks: []pages.Hunk{{NewStart: 1, NewLines: n, Lines: slices.Repeat([]pages.DiffLine{{Op: pages.LineAdded, Text: "x"}}, n)}}}
		page := write(t, export.HTML, one(api.Entry{Kind: api.EntryResult, Call: &api.Call{Tool: "write"}, Result: &api.Result{Outcome: api.ResultOK, Display: &pages.Display{Diff: d}}}), export.Options{})
		if strings.Contains(page, `<details class="call good" open>`) != open {
			t.Errorf("a change of %d lines: open is not %v", n, open)
		}
	}
	for n, cut := range map[int]bool{export.MaxTitle: false, export.MaxTitle + 1: true} {
		s := one()
		s.Info.Name = strings.Repeat("ä", n)
		if page := write(t, export.HTML, s, export.Options{}); strings.Contains(page, s.Info.Name) == cut {
			t.Errorf("a name of %d characters: cut is not %v", n, cut)
		}
	}
	for n, cut := range map[int]bool{export.MaxHeading: false, export.MaxHeading + 1: true} {
		s := strings.Repeat("ä", n)
		if page := write(t, export.HTML, one(user(s), user("more")), export.Options{}); strings.Contains(page, "<bdi>"+s+"</bdi>") == cut {
			t.Errorf("a prompt of %d characters: cut in the list is not %v", n, cut)
		}
	}
}

// everywhere is a session that has s wherever a text can stand.
func everywhere(s string) export.Session {
	img := &api.Image{MIME: s, SHA256: s, Name: s}
	call := &api.Call{ID: s, Tool: s, Arguments: s, Title: s}
	d := &pages.Display{Title: s, Text: s + "\n" + s, Diff: &pages.Diff{Path: s, Added: 2, Deleted: 1, Hunks: []pages.Hunk{{Lines: []pages.DiffLine{
		{Op: pages.LineSame, Text: s}, {Op: pages.LineAdded, Text: s}, {Op: pages.LineDeleted, Text: s, NoEOL: true}, {Op: pages.LineOp(s), Text: s}}}}}}
	result := &api.Result{Outcome: api.ResultOutcome(s), Reason: s, Display: d}
	parts := []api.Part{said(s), thought(s), {Type: api.PartImage, Image: img}, {Type: api.PartType(s), Text: s}}
	quoted, _ := strings.CutPrefix(strconv.QuoteToASCII(s), "`")
	out := one(
		api.Entry{Turn: s, Kind: api.EntryUser, Parts: parts, Display: s, Origin: s},
		api.Entry{Turn: s, Kind: api.EntryUser, Parts: parts, Origin: "steer"},
		api.Entry{Turn: s, Kind: api.EntryAssistant, Parts: append(parts, api.Part{Type: api.PartCall, Call: call}), Model: s},
		api.Entry{Turn: s, Kind: api.EntryResult, Call: call, Result: result, Parts: parts},
		api.Entry{Turn: s, Kind: api.EntryCall, Call: &api.Call{ID: "open", Tool: "x", Arguments: `{"a":` + quoted + `,"b":[` + quoted + `]}`, Title: s}},
		api.Entry{Turn: s, Kind: api.EntryPartial, Parts: parts, Model: s},
		api.Entry{Turn: s, Kind: api.EntryNote, Parts: parts, Origin: s},
		api.Entry{Turn: s, Kind: api.EntrySettled, Settled: &api.Settled{Outcome: api.SettledOutcome(s), Error: s, Files: []string{s, s}}},
		api.Entry{Kind: api.EntrySummary, Parts: parts},
		api.Entry{Kind: api.EntryShell, Parts: parts, Call: call, Result: result, Origin: s},
		api.Entry{Kind: api.EntryKind(s), Parts: parts},
		api.Entry{Kind: api.EntryResult},
		api.Entry{Kind: api.EntrySettled},
	)
	out.Info = api.SessionInfo{ID: s, Name: s, Workspace: s, Model: s, Effort: s, Policy: s, Parent: s}
	out.Tags, out.Forks, out.Version = []string{s, s}, []api.SessionInfo{{ID: s, Preview: s}}, s
	return out
}

var seeds = []string{
	"", "a", hostile, answer, "'\"><svg/onload=alert(1)>", "<!--", "<![CDATA[", "<?php", "</details>\n\n## You\n\nx", "```", "~~~~\n<b>", "- ```\n  x", "> ~~~\n\nx", "1. a\n\n   ```\n   x",
	"<div>\n```\n<b>\n```\n</div>\n\n<i>", "&#x202e;&#27;]0;x&#7;&amp;lt;script&amp;gt;", "[a](javascript&colon;alert(1))", "[a]: javascript:x\n\n[a]", "![x](data:text/html,<script>)", "<javascript:alert(1)>",
	"|<b>|`|`|\n|-|-|\n|</td>|<script>|", "{\"a\":\"\\u003cscript\\u003e\",\"\\u001b[31m\":{}}", "\x1b]8;;javascript:x\x07link\x1b]8;;\x07", "a\r\nb\rc\u2028d\x00e\xffF\U000e0041", "`` ` `` ``` `",
	"\\", "\\<b>", "***a**b*", "\t- x\n\t\t- y", "<a\n\nb>", "+++\n---\n@@ x", "    indented\n\ttabbed",
	"<textarea>\n```\n</textarea>", "<script>\n\n```\n", "~~~\n```\n", "~~~\nS\n\u035b", "%s%d%!", "\ue000\ttab\ue001",
}

func FuzzHTML(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkPage(t, write(t, export.HTML, everywhere(s), export.Options{}))
		read(t, write(t, export.JSON, everywhere(s), export.Options{}))
	})
}
