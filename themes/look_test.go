package themes_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"

	"octavo/themes"
)

// look writes what the themes look like, to be seen by a person:
//
//	go test ./themes -run TestLook -look /tmp/look.html
var look = flag.String("look", "", "write a page of all themes to this file")

// sixteen are the terminal's own colours in the page, on dark and on light: those of a common terminal.
var sixteen = map[themes.Background][16]string{
	themes.Dark: {"#171421", "#c01c28", "#26a269", "#a2734c", "#2a7bde", "#a347ba", "#2aa1b3", "#d0cfcc",
		"#5e5c64", "#f66151", "#33d17a", "#e9ad0c", "#6aa4f0", "#c061cb", "#33c7de", "#ffffff"},
	themes.Light: {"#171421", "#c01c28", "#26a269", "#a2734c", "#12488b", "#a347ba", "#2aa1b3", "#d0cfcc",
		"#5e5c64", "#f66151", "#33d17a", "#e9ad0c", "#2a7bde", "#c061cb", "#33c7de", "#ffffff"},
}

// page draws into HTML what a terminal would show.
type page struct {
	strings.Builder
	*themes.Theme
	paper, ink string // the terminal's own
}

func (p *page) hex(c themes.Colour, own string) string {
	if c.IsDefault() {
		return own
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	n, _ := c.Index()
	on := p.On
	if on == themes.Unknown {
		on = themes.Dark
	}
	return sixteen[on][n]
}

func (p *page) put(s themes.Style, text string) {
	ground := p.hex(p.Ground, p.paper)
	ink, back := p.hex(s.Foreground, p.ink), p.hex(s.Background, ground)
	if s.Inverse {
		ink, back = back, ink
	}
	css := "color:" + ink
	if s.Dim {
		css = fmt.Sprintf("color:color-mix(in srgb, %s 60%%, %s)", ink, back)
	}
	if back != ground {
		css += ";background:" + back
	}
	for _, add := range []struct {
		on  bool
		css string
	}{{s.Bold, "font-weight:700"}, {s.Italic, "font-style:italic"}, {s.Underline, "text-decoration:underline"}} {
		if add.on {
			css += ";" + add.css
		}
	}
	fmt.Fprintf(p, "<span style=%q>%s</span>", css, html.EscapeString(text))
}

// line draws pieces, each "role|text"; a {glyph} in a text is its character.
func (p *page) line(pieces ...string) {
	for _, piece := range pieces {
		role, text, _ := strings.Cut(piece, "|")
		for _, g := range themes.Glyphs() {
			text = strings.ReplaceAll(text, "{"+string(g)+"}", p.Glyph(g))
		}
		var s themes.Style
		for _, r := range strings.Split(role, "+") { // a later one lies over an earlier one
			s = p.Style(themes.Role(r)).Over(s)
		}
		p.put(s, text)
	}
	p.WriteString("\n")
}

func (p *page) rule() { p.line("rule|" + strings.Repeat(p.Glyph(themes.GlyphRule), 78)) }

// screen is everything a theme dresses.
func (p *page) screen() {
	p.line("header|~/src/harbor ", "rule|"+strings.Repeat(p.Glyph(themes.GlyphRule), 40), "header| pending work 4  links 1")
	p.line()
	p.line("prompt|{prompt} add a bounded retry to the uploader")
	p.line()
	p.line("muted|{closed} thought 6s {dot} read 3 files {dot} ran go test {times}2   ", "diff.add|+18", "muted| ", "diff.remove|{minus}4")
	p.line("accent|{reply}", "text| Put now retries ", "strong|four times", "text| and stops when the ", "code|context", "text| ends. ",
		"emphasis|One test", "text| fails, see")
	p.line("text|  ", "link|https://example.com/retry", "text| and ", "subtle|(12 rows more, ctrl+o){ellipsis}")
	p.line("text|  ", "heading|Why", "text|   {bullet} first   {bullet} second")
	p.line("border|  {quote} ", "quote|Retries without a bound are how an outage becomes a flood.")
	p.line()
	p.line("diff.hunk|  @@ {minus}12,5 +12,6 @@ func Put")
	p.line("diff.context|  12  ", "syntax.comment|// Put stores b under key.")
	p.line("diff.remove|  13{gutter}{minus}", "diff.remove+syntax.keyword|func ", "diff.remove+syntax.function|Put", "diff.remove+syntax.operator|(",
		"diff.remove|key ", "diff.remove+syntax.type|string", "diff.remove+syntax.operator|) ", "diff.remove+syntax.type|error", "diff.remove+syntax.operator| {                    ")
	p.line("diff.add|  13{gutter}+", "diff.add+syntax.keyword|func ", "diff.add+syntax.function|Put", "diff.add+syntax.operator|(", "diff.add|ctx ",
		"diff.add+syntax.type|context.Context", "diff.add+syntax.operator|, ", "diff.add|key ", "diff.add+syntax.type|string", "diff.add+syntax.operator|) ",
		"diff.add+syntax.type|error", "diff.add+syntax.operator| {")
	p.line("diff.add|  14{gutter}+    log.Printf(", "diff.add+syntax.string|\"try %d\"", "diff.add|, ", "diff.add+syntax.number|4", "diff.add|)                       ")
	p.line("diff.context|  15      ", "syntax.keyword|return ", "syntax.function|send", "syntax.operator|(", "text|key", "syntax.operator|, ", "syntax.string|\"PUT\"",
		"syntax.operator|, ", "syntax.number|0x1f", "syntax.operator|)")
	p.line()
	p.line("badge|doing ", "rule|"+strings.Repeat(p.Glyph(themes.GlyphRule), 30), "badge| 1", "rule|   {vertical} ", "strong|Refactor the store", "badge| #11")
	p.line("focus|{cursor}", "tone.active|{circle_full}", "strong| Refactor the ", "match|st", "strong|ore         ", "badge|#11")
	p.line("tone.warning| {bang}", "text| Flaky upload test           ", "badge|#14")
	p.line("muted| {circle}", "text| Document retry policy       ", "badge|#15", "subtle|   {thumb}")
	p.line("tone.muted| {dot} Drop the old flag           #16", "subtle|   {track}")
	p.line("selection| ", "selection+state.active|{circle_half}", "selection| running    ", "selection+match|test", "selection|-review ", "selection+muted|checking  ", "selection+badge|#2 ")
	p.line("state.success| {check}", "text| succeeded ", "state.error| {cross}", "text| failed ", "state.warning| {bang}", "text| cancelled ", "state.active| {circle_half}", "text| running")
	p.line("subtle| {branch}", "text| test-review  ", "muted|{up}12.8K {down}220~")
	p.line("subtle| {last}", "text| explore-auth ", "muted|{up}31.0K {down}1.9K   {left} {right}  {mask}{mask}{mask}  {stem} {junction} {open} "+strings.Join(p.Spinner, ""))
	p.line("success|completed", "text| {dot} ", "warning|completed with warnings", "text| {dot} ", "error|failed {dot} 12s")
	p.rule()
	p.line("composer|> and have someone check the te")
	p.rule()
	p.line("footer|sonnet:high {dot} 41% of 200k   ", "key|{up}{down}", "footer| move {dot} ", "key|a", "footer| add {dot} ", "key|esc", "footer| back    full access {dot} $0.62")
}

func TestLook(t *testing.T) {
	var all strings.Builder
	all.WriteString(`<meta charset="utf-8"><style>body{margin:0;display:grid;grid-template-columns:repeat(2,760px);font:14px/19px "DejaVu Sans Mono"}` +
		`pre{font:inherit;margin:0;padding:14px 18px}h2{font:bold 15px sans-serif;margin:0;padding:8px 18px;background:#888;color:#fff}</style>`)
	for _, o := range []themes.Options{{}, {NoColour: true, NoMotion: true, ASCII: true}} {
		for _, name := range themes.Builtin() {
			src, err := themes.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []themes.Background{themes.Dark, themes.Light} {
				p := page{Theme: themes.Resolve(src, at, o), paper: "#1e1e1e", ink: "#d0cfcc"}
				if at == themes.Light {
					p.paper, p.ink = "#ffffff", "#171421"
				}
				p.screen()
				drawn := p.String()
				for _, g := range themes.Glyphs() {
					if !strings.Contains(drawn, html.EscapeString(p.Glyph(g))) {
						t.Errorf("%s: the page has no %s", name, g)
					}
				}
				if strings.ContainsAny(drawn, "{}") && strings.Count(drawn, "{") != 2 {
					t.Errorf("%s: a glyph of the page has another name", name)
				}
				fmt.Fprintf(&all, "<div style='background:%s'><h2>%s on %s %+v</h2><pre>%s</pre></div>", p.hex(p.Ground, p.paper), name, at, o, drawn)
			}
			if o.NoColour && name == themes.DarkTheme {
				break
			}
		}
	}
	if *look == "" {
		return
	}
	if err := os.WriteFile(*look, []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
