package export

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"octavo/app/api"
	"octavo/pages"
	"octavo/pages/text"
)

// style is the whole look of a page, and opener all that it can do: opening everything at once.
//
//go:embed style.css
var style string

//go:embed open.js
var opener string

const (
	// maxContents is how many prompts the list of prompts has.
	maxContents = 1000
	// maxOpenDiff is up to how many lines a change is shown without being asked for.
	maxOpenDiff = 24
)

// htmlPage writes a session as one page for a browser. Nothing in it is loaded from anywhere and nothing from outside is obeyed: every
// text goes through write, which cleans and escapes it, and the page's policy forbids what could slip by.
type htmlPage struct {
	*output
	session  Session
	inTurn   bool
	speaker  string         // of the newest label in this turn
	model    string         // named last
	contents []heading      // of the list of prompts, which comes last and is shown first
	prompts  int            // so far
	shown    map[string]int // the number of each picture that is in the page
}

// heading is one line of the list of prompts.
type heading struct {
	seq  int64
	line string
}

// write writes markup, which is octavo's own, with a text from outside in the place of each %s: clean, and escaped for an element and
// for a quoted attribute alike.
func (p *htmlPage) write(markup string, texts ...string) {
	for _, s := range texts {
		before, after, _ := strings.Cut(markup, "%s")
		p.WriteString(before)
		if s = clean(s); strings.ContainsAny(s, "&<>\"'") {
			escaper.WriteString(p.Writer, s)
		} else {
			p.WriteString(s)
		}
		markup = after
	}
	p.WriteString(markup)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

func (p *htmlPage) head() {
	hash := sha256.Sum256([]byte(opener))
	name := title(p.session.Info)
	p.write(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-`+
		base64.StdEncoding.EncodeToString(hash[:])+`'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="octavo %s">
<title>%s</title>
<link rel="icon" href="data:,">
<style>
`+style+`</style>
</head>
<body>
<header>
<p class="brand">octavo session</p>
<h1><bdi>%s</bdi></h1>
`, p.session.Version, name, name)
	first, more := facts(p.session, p.hide.once != nil)
	p.facts(first)
	p.fold("more", "More")
	p.facts(more)
	p.unfold()
	p.write("<button id=\"open\" type=\"button\" hidden>Open everything</button>\n</header>\n<main>\n")
}

func (p *htmlPage) facts(list []fact) {
	p.write("<dl class=\"facts\">\n")
	for _, f := range list {
		p.write("<div><dt>%s</dt><dd><bdi>%s</bdi></dd></div>\n", f.name, f.value)
	}
	p.write("</dl>\n")
}

func (p *htmlPage) turn() {
	p.leaveTurn()
	p.inTurn, p.speaker = true, ""
	p.write("<section class=\"turn\">\n")
}

func (p *htmlPage) leaveTurn() {
	if p.inTurn {
		p.write("</section>\n")
	}
	p.inTurn = false
}

func (p *htmlPage) foot() {
	p.leaveTurn()
	p.write("</main>\n")
	if len(p.contents) > 1 {
		p.write("<nav aria-label=\"Prompts\">\n<h2>Prompts</h2>\n<ol>\n")
		for _, h := range p.contents {
			p.write("<li><a href=\"#e"+strconv.FormatInt(h.seq, 10)+"\"><bdi>%s</bdi></a></li>\n", h.line)
		}
		p.write("</ol>\n")
		if more := p.prompts - len(p.contents); more > 0 {
			p.write("<p>and %s</p>\n", text.Plural(more, "more prompt"))
		}
		p.write("</nav>\n")
	}
	p.write("<script>" + opener + "</script>\n</body>\n</html>\n")
}

// label says who speaks, with what else there is to say of it at the other end of the line.
func (p *htmlPage) label(who, class, aside string) {
	p.write("<p class=\"who "+class+"\"><b>%s</b>", who)
	if aside != "" {
		p.write(" <span>%s</span>", aside)
	}
	p.write("</p>\n")
}

func (p *htmlPage) prompt(e api.Entry) {
	who, full := you, block(said(e))
	if e.Origin == steered {
		who += ", meanwhile"
	}
	shown := full
	if e.Display != "" {
		shown = block(e.Display)
	}
	p.speaker = you
	if p.prompts++; len(p.contents) < maxContents {
		first, _, _ := strings.Cut(strings.TrimSpace(shown), "\n")
		p.contents = append(p.contents, heading{e.Seq, text.Clip(text.CleanLine(first), maxHeading)})
	}
	p.write("<div class=\"prompt\" id=\"e" + strconv.FormatInt(e.Seq, 10) + "\">\n")
	p.label(who, "you", when(e.Time, p.session.Exported.Location()))
	p.write("<div class=\"said\">%s</div>\n", shown)
	p.pictures(e)
	if shown != full && full != "" {
		p.fold("more", "What the model read")
		p.write("<div class=\"said\">%s</div>\n", full)
		p.unfold()
	}
	p.write("</div>\n")
}

// fold opens what is closed at first.
func (p *htmlPage) fold(class, name string) {
	p.write("<details class=\""+class+"\"><summary>%s</summary><div class=\"inside\">\n", name)
}

func (p *htmlPage) unfold() { p.write("</div></details>\n") }

// octavoSays writes octavo's label where a person, or another model, spoke before.
func (p *htmlPage) octavoSays(model string) {
	model = text.CleanLine(model)
	if p.speaker == octavo && (model == "" || model == p.model) {
		return
	}
	if model != "" {
		p.model = model
	}
	p.speaker = octavo
	p.label(octavo, "octavo", p.model)
}

func (p *htmlPage) answer(e api.Entry) {
	p.octavoSays(e.Model)
	for _, part := range e.Parts {
		switch {
		case strings.TrimSpace(part.Text) == "":
		case part.Type == api.PartReasoning:
			p.fold("reasoning", "Reasoning")
			p.prose(part.Text)
			p.unfold()
		default:
			p.prose(part.Text)
		}
	}
	p.pictures(e)
	if e.Kind == api.EntryPartial {
		p.write("<div class=\"end odd\"><p><span class=\"mark\">■</span> Interrupted here</p></div>\n")
	}
}

func (p *htmlPage) ran(e api.Entry) {
	p.speaker = you
	p.label(runBy(e), "you", when(e.Time, p.session.Exported.Location()))
	p.told(*e.Call, &e)
}

func (p *htmlPage) call(c api.Call, e *api.Entry) {
	p.octavoSays("")
	p.told(c, e)
}

// told writes a call and what it gave.
func (p *htmlPage) told(c api.Call, e *api.Entry) {
	s := callState(e)
	open := ""
	if e != nil && e.Result.Display != nil && e.Result.Display.Diff != nil && shownLines(*e.Result.Display.Diff) <= maxOpenDiff {
		open = " open"
	}
	p.write("<details class=\"call "+s.class+"\""+open+"><summary><span class=\"mark\">"+s.mark+"</span> "+
		"<bdi class=\"title\">%s</bdi> <span class=\"state\">%s</span></summary><div class=\"inside\">\n", callTitle(c), s.word)
	if e != nil {
		p.result(c, *e)
	}
	p.arguments(c.Arguments)
	p.unfold()
}

func (p *htmlPage) result(c api.Call, e api.Entry) {
	reason := block(e.Result.Reason)
	if reason != "" {
		p.write("<p class=\"reason\">%s</p>\n", reason)
	}
	out := programOutput(said(e))
	if d := e.Result.Display; d != nil {
		if line := headline(d, callTitle(c), out); line != "" {
			p.write("<p class=\"headline\">%s</p>\n", line)
		}
		if d.Diff != nil {
			p.diff(*d.Diff)
		}
		if lines := programOutput(d.Text); !strings.Contains(out, lines) {
			p.write("<pre>%s</pre>\n", lines)
		}
	}
	p.pictures(e)
	if out != "" && out != reason {
		p.write("<pre>%s</pre>\n", out)
	}
}

// arguments writes what a model wrote: name by name where that is an object, so that the lines of a text are lines.
func (p *htmlPage) arguments(written string) {
	if strings.TrimSpace(written) == "" {
		return
	}
	p.fold("more", "Arguments")
	if members, ok := members(written); ok {
		p.write("<dl class=\"arguments\">\n")
		for _, m := range members {
			// What was spelled out as \u002d is a dash only now.
			p.write("<dt>%s</dt><dd><pre>%s</pre></dd>\n", text.CleanLine(p.hide.text(m.name)), p.hide.text(m.value))
		}
		p.write("</dl>\n")
	} else {
		p.write("<pre>%s</pre>\n", written)
	}
	p.unfold()
}

// members are those of a JSON object in their order, strings as what they say; false for anything else.
func members(written string) ([]fact, bool) {
	d := json.NewDecoder(strings.NewReader(strings.ToValidUTF8(written, "\ufffd")))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var all []fact
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var raw json.RawMessage
		if err != nil || !ok || d.Decode(&raw) != nil {
			return nil, false
		}
		value, _ := indented(string(raw))
		var said string
		if json.Unmarshal(raw, &said) == nil && raw[0] == '"' {
			value = said
		}
		all = append(all, fact{name, value})
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return all, err == io.EOF && len(all) > 0
}

func (p *htmlPage) note(e api.Entry) {
	p.write("<aside class=\"note\"><b>%s</b> <span class=\"said\">%s</span></aside>\n", noteName(e), block(said(e)))
	p.pictures(e)
}

func (p *htmlPage) summary(e api.Entry) {
	p.label("What was before, in short", "octavo", "")
	p.prose(said(e))
}

func (p *htmlPage) settled(e api.Entry) {
	s := *e.Settled
	end := ending(s)
	p.write("<footer class=\"end "+end.class+"\"><p><span class=\"mark\">"+end.mark+"</span> %s</p>\n", end.word)
	if s.Error != "" {
		p.write("<p class=\"reason\">%s</p>\n", block(s.Error))
	}
	if len(s.Files) > 0 {
		p.write("<ul>")
		for _, f := range s.Files {
			p.write("<li><code>%s</code></li>", text.CleanLine(f))
		}
		p.write("</ul>\n")
	}
	p.write("</footer>\n")
}

// loadable are the kinds of pictures that a page carries: those that octavo takes, and of which none has a script in it.
func loadable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// pictures writes the pictures of an entry, each one once in a page.
func (p *htmlPage) pictures(e api.Entry) {
	for _, i := range images(e) {
		name, size := imageName(i), imageSize(i)
		if n, ok := p.shown[i.SHA256]; ok {
			p.write("<p class=\"again\">Again: <a href=\"#i"+strconv.Itoa(n)+"\">%s</a></p>\n", name)
			continue
		}
		data, missing := []byte(nil), "a picture of this kind is not shown"
		if loadable(i.MIME) {
			data, missing = p.picture(i.SHA256)
		}
		if missing != "" {
			p.write("<p class=\"again\">%s (%s): %s</p>\n", name, size, missing)
			continue
		}
		n := len(p.shown) + 1
		p.shown[i.SHA256] = n
		p.write("<figure id=\"i"+strconv.Itoa(n)+"\"><img alt=\"%s\" src=\"data:"+i.MIME+";base64,", name)
		encoder := base64.NewEncoder(base64.StdEncoding, p.Writer)
		encoder.Write(data) // into the output, which keeps its error
		encoder.Close()
		p.write("\"><figcaption>%s <span>%s</span></figcaption></figure>\n", name, size+", "+text.Bytes(int64(len(data))))
	}
}

func shownLines(d pages.Diff) int {
	n := 0
	for _, h := range d.Hunks {
		n += len(h.Lines)
	}
	return n
}

// diff writes a change with the numbers of its lines, which count in the new text for what stands there and in the old for what was
// deleted.
func (p *htmlPage) diff(d pages.Diff) {
	d = withoutReturns(d)
	p.write("<figure class=\"diff\"><figcaption><bdi>%s</bdi>", text.Visible(d.Path))
	for _, w := range changeWords(d) {
		p.write(" <span>" + w + "</span>")
	}
	if d.Added+d.Deleted > 0 {
		p.write(" <ins>+" + strconv.Itoa(d.Added) + "</ins> <del>−" + strconv.Itoa(d.Deleted) + "</del>")
	}
	p.write("</figcaption>\n")
	if len(d.Hunks) > 0 {
		p.write("<pre><code>")
		for i, h := range d.Hunks {
			if i > 0 {
				p.write("<span class=\"gap\">⋯\n</span>")
			}
			p.hunk(h)
		}
		p.write("</code></pre>\n")
	}
	if added, deleted := left(d); added+deleted > 0 {
		p.write("<p>+" + strconv.Itoa(added) + " −" + strconv.Itoa(deleted) + " more not shown</p>\n")
	}
	p.write("</figure>\n")
}

func (p *htmlPage) hunk(h pages.Hunk) {
	before, after := h.OldStart, h.NewStart
	for _, l := range h.Lines {
		number, sign, open := after, " ", "<span>"
		switch l.Op {
		case pages.LineAdded:
			sign, open = "+", "<span class=\"added\">"
			after++
		case pages.LineDeleted:
			number, sign, open = before, "−", "<span class=\"deleted\">"
			before++
		default:
			before, after = before+1, after+1
		}
		p.write(open+"<i>"+strconv.Itoa(number)+"</i><b>"+sign+"</b>%s\n</span>", strings.ReplaceAll(text.Visible(l.Text), "\n", "␊"))
		if l.NoEOL {
			p.write("<span class=\"gap\">no newline at the end of the file\n</span>")
		}
	}
}
