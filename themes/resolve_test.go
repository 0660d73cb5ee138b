package themes_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/themes"
)

var update = flag.Bool("update", false, "write testdata anew")

// describe writes a theme as text.
func describe(t *themes.Theme) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s %+v: %s, ground %s, spinner %s\n", t.Name, t.On, t.Options, t.Density, t.Ground, strings.Join(t.Spinner, ""))
	for _, r := range themes.Roles() {
		fmt.Fprintf(&b, "%-16s %s\n", r, style(t.Style(r)))
	}
	for _, g := range themes.Glyphs() {
		fmt.Fprintf(&b, "%s %s  ", g, t.Glyph(g))
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func style(s themes.Style) string {
	out := s.Foreground.String()
	if !s.Background.IsDefault() {
		out += " on " + s.Background.String()
	}
	for _, part := range []struct {
		on   bool
		name string
	}{{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Underline, "underline"}, {s.Inverse, "inverse"}} {
		if part.on {
			out += " " + part.name
		}
	}
	return out
}

func TestTerminalGolden(t *testing.T) {
	src, err := themes.Load(themes.TerminalName)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, c := range []struct {
		at themes.Background
		o  themes.Options
	}{
		{themes.Unknown, themes.Options{}}, {themes.Light, themes.Options{}}, {themes.Dark, themes.Options{NoColour: true, ASCII: true, NoMotion: true}},
	} {
		got += describe(themes.Resolve(src, c.at, c.o)) + "\n"
	}
	golden := filepath.Join("testdata", "terminal.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("go test ./themes -update writes the new one (-want +got):\n%s", d)
	}
}

// TestExample is the theme of ui.md 15 as it stands there.
func TestExample(t *testing.T) {
	src := parse(t, `[metadata]
name = "harbour"
terminal = "any"            # any, light, dark, light-dark
[colors]
sea = "#4e9bd4"
[roles.accent]
foreground = "sea"
[roles."tone.warning"]
foreground = "ansi:yellow"
bold = true
[roles."extension.git.branch"]
foreground = "default"
[glyphs]
cursor = "▌"
[glyphs_ascii]
cursor = ">"
[layout]
density = "normal"          # normal, compact
[variants.light.roles.muted]
foreground = "#5a5a5a"`)
	on := themes.Resolve(src, themes.Light, themes.Options{})
	for role, want := range map[themes.Role]string{
		"accent":                "#4e9bd4",
		"heading":               "#4e9bd4 bold",
		"syntax.keyword":        "#4e9bd4",
		"warning":               "ansi:yellow",
		"tone.warning":          "ansi:yellow bold",
		"extension.git.branch":  "default",
		"extension.git.nothing": "default",
		"muted":                 "#5a5a5a",
		"footer":                "#5a5a5a",
	} {
		if got := style(on.Style(role)); got != want {
			t.Errorf("%s is %s, not %s", role, got, want)
		}
	}
	if got := style(themes.Resolve(src, themes.Dark, themes.Options{}).Style(themes.RoleMuted)); got != "default dim" {
		t.Errorf("muted on dark is %s", got)
	}
}

func TestInheritance(t *testing.T) {
	src := parse(t, `[colors]
ink = "paper"      # names may lead to names
paper = "252"
[roles]
text = {foreground = "ink", background = "#101010", italic = true}
muted.bold = true
warning = {foreground = "#ffcc00", background = 4, dim = true}
state.warning.foreground = "#ffffff"
selection = {background = "ansi:bright-blue"}
error.bold = false
"extension.git.branch".underline = true
[layout]
density = "compact"
[variants.universal.roles]
badge.foreground = "ansi:red"
[variants.universal.colors]
paper = 250
[variants.dark.roles]
badge.foreground = "ansi:green"
[variants.unknown]
colors = {paper = 7}
roles = {badge = {bold = true}}
layout = {density = "normal"}
glyphs = {cursor = "x", spinner = ["y"]}
glyphs_ascii = {cursor = "z", spinner = ["1", "2"]}`)
	dark := themes.Resolve(src, themes.Dark, themes.Options{})
	for role, want := range map[themes.Role]string{
		"text":                 "250 italic",
		"composer":             "250 italic",
		"muted":                "250 bold dim italic", // dim is the built-in's, which has no colour that would be dimmed twice
		"footer":               "250 bold dim italic",
		"warning":              "#ffcc00 on ansi:blue dim italic",
		"tone.warning":         "#ffcc00 on ansi:blue dim italic",
		"state.warning":        "#ffffff on ansi:blue italic", // a colour of its own comes without its parent's dim
		"selection":            "250 on ansi:bright-blue italic",
		"error":                "ansi:red italic",
		"state.error":          "ansi:red italic",
		"badge":                "ansi:green bold italic",
		"link":                 "ansi:magenta italic underline",
		"extension.git.branch": "250 italic underline",
		"no.such.role":         "250 italic",
	} {
		if got := style(dark.Style(role)); got != want {
			t.Errorf("%s is %s, not %s", role, got, want)
		}
	}
	if dark.Ground.String() != "#101010" || dark.Density != themes.Compact || dark.Glyph(themes.GlyphCursor) != "▌" {
		t.Errorf("ground %s, density %s", dark.Ground, dark.Density)
	}
	unknown := themes.Resolve(src, themes.Unknown, themes.Options{})
	if got := style(unknown.Style(themes.RoleBadge)); got != "ansi:red bold italic" || unknown.Density != themes.Normal ||
		unknown.Style(themes.RoleText).Foreground.String() != "ansi:white" {
		t.Errorf("on an unknown background a badge is %s, density %s, text %s", got, unknown.Density, style(unknown.Style(themes.RoleText)))
	}
	for _, c := range []struct {
		o               themes.Options
		cursor, spinner string
	}{
		{themes.Options{}, "x", "y"},
		{themes.Options{ASCII: true}, "z", "12"},
		{themes.Options{NoMotion: true}, "x", "◐"},
		{themes.Options{NoMotion: true, ASCII: true}, "z", "*"},
	} {
		th := themes.Resolve(src, themes.Unknown, c.o)
		if g, s := th.Glyph(themes.GlyphCursor), strings.Join(th.Spinner, ""); g != c.cursor || s != c.spinner {
			t.Errorf("%+v: %s and %s", c.o, g, s)
		}
	}
	if p := themes.Role("extension.git.branch").Parent(); p != themes.RoleText || themes.RoleText.Parent() != "" || themes.RoleRule.Parent() != themes.RoleBorder {
		t.Errorf("the parent of an extension's role is %q", p)
	}
	if g := dark.Glyph("no such glyph"); g != "?" {
		t.Errorf("a glyph that is none is %q", g)
	}
}

// apart are pairs that a person has to tell apart where there is no colour, beside what has a glyph, a sign or a word of its own.
var apart = func() (pairs [][2]themes.Role) {
	for _, r := range []themes.Role{
		themes.RoleMuted, themes.RoleSubtle, themes.RoleHeading, themes.RoleEmphasis, themes.RoleStrong, themes.RoleLink, themes.RoleRule,
		themes.RoleFocus, themes.RoleMatch, themes.RoleError, themes.RoleStateError, themes.RoleToneMuted, themes.RolePrompt, themes.RoleFooter,
		themes.RoleBadge, themes.RoleDiffAdd, themes.RoleDiffHunk, themes.RoleSyntaxComment,
	} {
		pairs = append(pairs, [2]themes.Role{themes.RoleText, r})
	}
	for _, r := range append(themes.Roles(), "extension.git.branch") {
		if r != themes.RoleSelection {
			pairs = append(pairs, [2]themes.Role{themes.RoleSelection, r})
		}
	}
	return pairs
}()

func distinguishable(t *testing.T, th *themes.Theme) {
	t.Helper()
	for _, p := range apart {
		if a, b := th.Style(p[0]), th.Style(p[1]); a == b {
			t.Errorf("%s: without colour %s and %s are both %s", th.Name, p[0], p[1], style(a))
		}
	}
	for _, r := range themes.Roles() {
		if s := th.Style(r); !s.Foreground.IsDefault() || !s.Background.IsDefault() || !th.Ground.IsDefault() {
			t.Errorf("%s: without colour %s is %s on %s", th.Name, r, style(s), th.Ground)
		}
	}
	if s := th.Style(themes.RoleText); s != (themes.Style{}) {
		t.Errorf("%s: without colour text is %s", th.Name, style(s))
	}
}

func TestWithoutColour(t *testing.T) {
	o := themes.Options{NoColour: true}
	for _, name := range themes.Builtin() {
		src, err := themes.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []themes.Background{themes.Dark, themes.Light, themes.Unknown} {
			th := themes.Resolve(src, at, o)
			distinguishable(t, th)
			for _, pair := range [][2]themes.Role{
				{themes.RoleSuccess, themes.RoleError}, {themes.RoleWarning, themes.RoleError}, {themes.RoleStateSuccess, themes.RoleStateError},
				{themes.RoleToneActive, themes.RoleToneMuted}, {themes.RoleDiffAdd, themes.RoleDiffRemove}, {themes.RoleKey, themes.RoleFooter},
			} {
				if th.Style(pair[0]) == th.Style(pair[1]) {
					t.Errorf("%s: without colour %s and %s are the same", name, pair[0], pair[1])
				}
			}
		}
	}
	// A theme that tells everything by colour, and one that gives everything the look of the selection.
	for _, all := range []string{"bold = false, dim = false, italic = false, underline = false, inverse = false", "inverse = true", "inverse = true, bold = true, dim = true"} {
		lines := []string{"[roles]"}
		for _, r := range append(themes.Roles(), "extension.git.branch") {
			lines = append(lines, fmt.Sprintf("%q = {foreground = '#808080', background = '#101010', %s}", r, all))
		}
		distinguishable(t, themes.Resolve(parse(t, lines...), themes.Dark, o))
	}
}

func TestOver(t *testing.T) {
	src := parse(t, "[roles]", "muted = {foreground = 1, dim = true}", "match = {foreground = 2, underline = true, bold = false}",
		"selection = {background = 3, bold = true}", "focus = {inverse = true, bold = false}", "badge = {background = 5}")
	th := themes.Resolve(src, themes.Dark, themes.Options{})
	for _, c := range []struct {
		over, under themes.Role
		want        string
	}{
		{themes.RoleMatch, themes.RoleSelection, "ansi:green on ansi:yellow bold underline"},
		{themes.RoleMuted, themes.RoleSelection, "ansi:red on ansi:yellow bold dim"},
		{themes.RoleText, themes.RoleMatch, "ansi:green underline"},
		{themes.RoleBadge, themes.RoleSelection, "ansi:red on ansi:magenta bold"},
		{themes.RoleMuted, themes.RoleFocus, "ansi:magenta inverse"}, // no patch of red in the bar
		{themes.RoleMatch, themes.RoleFocus, "ansi:magenta underline inverse"},
	} {
		if got := style(th.Style(c.over).Over(th.Style(c.under))); got != c.want {
			t.Errorf("%s over %s is %s, not %s", c.over, c.under, got, c.want)
		}
	}
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	th := themes.Resolve(parse(t, "[roles.'extension.git.branch']", "bold = true"), themes.Dark, themes.Options{})
	if n := testing.AllocsPerRun(100, func() {
		if th.Style(themes.RoleSyntaxType) == th.Style("extension.git.branch") || th.Style("extension.git.x").Bold || th.Glyph(themes.GlyphTrack) == "" {
			t.Error("wrong styles")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStyle(b *testing.B) {
	src, _ := themes.Load(themes.TerminalName)
	th := themes.Resolve(src, themes.Dark, themes.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if th.Style(themes.RoleSyntaxOperator).Bold {
			b.Fatal("bold")
		}
	}
}

// BenchmarkFirstFrame is what the default theme costs before the first frame.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		src, err := themes.Load(themes.TerminalName)
		if err != nil {
			b.Fatal(err)
		}
		themes.Resolve(src, themes.Unknown, themes.Options{})
	}
}

// BenchmarkParse is what any other theme costs, without its file being read.
func BenchmarkParse(b *testing.B) {
	data := themes.File(themes.DarkTheme)
	for b.Loop() {
		src, err := themes.Parse("x.toml", data)
		if err != nil {
			b.Fatal(err)
		}
		themes.Resolve(src, themes.Dark, themes.Options{})
	}
}
