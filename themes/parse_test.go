package themes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"octavo/themes"
)

// parse reads a theme that has to be sound.
func parse(t *testing.T, lines ...string) *themes.Source {
	t.Helper()
	src, err := themes.Parse("harbour.toml", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

const (
	colourForms = `"#rrggbb", "ansi:red" and the like, 0 to 255, "default" or a name from [colors]`
	roleNames   = "text, muted, subtle, accent, heading, emphasis, strong, link, code, quote, border, rule, selection, focus, match, success, " +
		"warning, error, tone.active, tone.warning, tone.muted, state.active, state.success, state.warning, state.error, prompt, composer, " +
		"header, footer, badge, key, diff.add, diff.remove, diff.context, diff.hunk, syntax.comment, syntax.keyword, syntax.function, " +
		"syntax.string, syntax.number, syntax.type, syntax.operator, or extension.<namespace>.<role> of at most 96 bytes"
	glyphNames = "cursor, prompt, reply, bullet, closed, open, branch, last, stem, rule, vertical, junction, quote, gutter, ellipsis, check, cross, " +
		"bang, circle, circle_half, circle_full, dot, up, down, left, right, times, minus, mask, thumb, track or spinner"
	ansiNames = "ansi:black, red, green, yellow, blue, magenta, cyan or white, or ansi:bright- before one of the names"
)

// TestErrors holds what a person is told of each way in which a file can be wrong: where, what, and what is allowed there.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"syntax", "[roles\n", "1:7: expected ']' to close table name"},
		{"defined twice", "[colors]\nsea = 1\nsea = 2\n", "3:1: key sea is already defined"},
		{"not UTF-8", "[colors]\nsea = \"\xff\"", "2:8: a byte that is not UTF-8: save the file as UTF-8"},
		{"escape", "# \x1b[31m", "1:3: a control character, U+001B: take it out"},
		{"C1", "# \u009b", "1:3: a control character, U+009B: take it out"},
		{"override", "# \u202e", "1:3: a control character, U+202E: take it out"},
		{"lone return", "a\rb", "1:2: a control character, U+000D: take it out"},

		{"section", "[color]\n", "1:2: color is no section; did you mean colors? Use metadata, colors, roles, glyphs, glyphs_ascii, layout or variants"},
		{"root", "bold = true", "1:1: bold is no section: use metadata, colors, roles, glyphs, glyphs_ascii, layout or variants"},
		{"section of a variant", "[variants.dark.metadata]", "1:2: variants.dark.metadata is no section: use colors, roles, glyphs, glyphs_ascii or layout"},
		{"variant", "[variants.ligth.colors]", "1:2: variants.ligth is no variant: use universal, unknown, dark or light"},
		{"list of tables", "[[roles]]", "1:3: roles is a list of tables: write [one] pair of brackets"},
		{"value for a section", "colors = 1", "1:1: colors must be a table"},
		{"value for variants", "[variants]\ndark = 1", "2:1: variants.dark must be a table"},
		{"table in a section", "[colors.sea]", "1:2: colors.sea is a table, and colors has none inside"},
		{"keys too deep", "[colors]\nsea.blue = 1", "2:1: colors.sea.blue is in a table, and colors has none inside"},
		{"table for a field", "[metadata]\nname = {}", "2:1: metadata.name is a table, and metadata has none inside"},

		{"metadata", "[metadata]\nauthor = 'me'", "2:1: metadata.author is no field: use name, description or terminal"},
		{"name", "[metadata]\nname = ' '", "2:1: metadata.name must be one line of 1 to 128 bytes without control characters"},
		{"name of two lines", "[metadata]\nname = \"a\\nb\"", "2:1: metadata.name must be one line of 1 to 128 bytes without control characters"},
		{"name with an escape", "[metadata]\nname = \"\\u001b[2J\"", "2:1: metadata.name must be one line of 1 to 128 bytes without control characters"},
		{"name of a kind", "[metadata]\nname = 1", "2:1: metadata.name must be one line of 1 to 128 bytes without control characters"},
		{"terminal", "[metadata]\nterminal = 'both'", `2:1: metadata.terminal must be any, light, dark or light-dark, not "both"`},
		{"density", "[layout]\ndensity = 'wide'", `2:1: layout.density must be normal or compact, not "wide"`},
		{"layout", "[layout]\npadding = 1", "2:1: layout.padding is no field: use density"},

		{"role", "[roles]\naccnt.bold = true", "2:1: roles.accnt is no role; did you mean accent? Use " + roleNames},
		{"role as a header", "[roles.toolbar]", "1:2: roles.toolbar is no role: use " + roleNames},
		{"role of an extension", "[roles.'extension.Git.branch']", `1:2: roles."extension.Git.branch" is no role: use ` + roleNames},
		{"role without an extension", "[roles]\nextension.git.bold = true", "2:1: roles.extension.git is no role: use " + roleNames},
		{"field", "[roles.accent]\ncolour = 1", "2:1: roles.accent.colour is no field: use foreground, background, bold, dim, italic, underline or inverse"},
		{"field that is near", "[roles.accent]\nforegruond = 1", "2:1: roles.accent.foregruond is no field; did you mean foreground? Use foreground, background, bold, dim, italic, underline or inverse"},
		{"flag", "[roles.accent]\nbold = 1", "2:1: roles.accent.bold must be true or false"},
		{"role as a value", "[roles]\naccent = 'red'", `2:1: roles.accent must be a table such as {foreground = "#4e9bd4"}`},
		{"role by both names", "[roles.'tone.muted']\nbold = true\n[roles.tone.muted]\nbold = true", "4:1: roles.tone.muted.bold is there twice"},

		{"colour", "[roles.accent]\nforeground = 'sae'\n[colors]\nsea = 1", `2:1: roles.accent.foreground "sae" is no colour where the background is dark: use ` + colourForms},
		{"colour that is near", "[roles.accent]\nforeground = 'sean'\n[colors]\nsean2 = 1", `2:1: roles.accent.foreground "sean" is no colour where the background is dark; did you mean sean2? Use ` + colourForms},
		{"colour of one background", "[roles.accent]\nforeground = 'sea'\n[variants.dark.colors]\nsea = 1", `2:1: roles.accent.foreground "sea" is no colour where the background is light: use ` + colourForms},
		{"colour of a kind", "[roles.accent]\nforeground = true", "2:1: roles.accent.foreground must be a colour: use " + colourForms},
		{"colour with a space", "[roles.accent]\nforeground = 'dark blue'", `2:1: roles.accent.foreground "dark blue" is no colour: use ` + colourForms},
		{"no colour", "[roles.accent]\nforeground = ''", `2:1: roles.accent.foreground "" is no colour: use ` + colourForms},
		{"hex", "[colors]\nsea = '#49d'", `2:1: colors.sea "#49d" is no colour: write "#rrggbb" with six digits of 0-9 a-f`},
		{"hex with a sign", "[colors]\nsea = '#+12345'", `2:1: colors.sea "#+12345" is no colour: write "#rrggbb" with six digits of 0-9 a-f`},
		{"ansi", "[colors]\nsea = 'ansi:pink'", `2:1: colors.sea "ansi:pink" is no colour of the terminal: use ` + ansiNames},
		{"bright", "[colors]\nsea = 'ansi:bright-'", `2:1: colors.sea "ansi:bright-" is no colour of the terminal: use ` + ansiNames},
		{"index", "[colors]\nsea = 256", "2:1: colors.sea 256 is no colour: use 0 to 255"},
		{"index below", "[colors]\nsea = -1", "2:1: colors.sea -1 is no colour: use 0 to 255"},
		{"index as text", "[colors]\nsea = '300'", "2:1: colors.sea 300 is no colour: use 0 to 255"},
		{"colour's name", "[colors]\n'deep sea' = 1", `2:1: colors."deep sea" is no name for a colour: use 1 to 32 letters, digits, - and _, beginning with a letter, and not default`},
		{"colour named default", "[colors]\ndefault = 1", "2:1: colors.default is no name for a colour: use 1 to 32 letters, digits, - and _, beginning with a letter, and not default"},
		{"circle of one", "[colors]\nsea = 'sea'", "2:1: colors.sea leads back to itself: sea -> sea"},
		{"circle", "[colors]\nsky = 'sea'\nsea = 'lake'\nlake = 'sea'", "3:1: colors.sea leads back to itself: sea -> lake -> sea"},
		{"circle on one background", "[colors]\nsea = 'lake'\nlake = 1\n[variants.light.colors]\nlake = 'sea'", "2:1: colors.sea leads back to itself: sea -> lake -> sea"},

		{"glyph", "[glyphs]\ncurser = '>'", "2:1: glyphs.curser is no glyph; did you mean cursor? Use " + glyphNames},
		{"wide", "[glyphs]\ncursor = '宽'", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not "宽"`},
		{"emoji", "[glyphs]\ncursor = '👉'", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not "👉"`},
		{"empty", "[glyphs]\ncursor = ''", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not ""`},
		{"space", "[glyphs]\ncursor = \"\\u00a0\"", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not "\u00a0"`},
		{"blank", "[glyphs]\ncursor = \"\\u2800\"", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not "⠀"`},
		{"mark", "[glyphs]\ncursor = \"\\u0301\"", "2:1: glyphs.cursor must be one character that is seen and takes one cell, not \"\u0301\""},
		{"two", "[glyphs]\ncursor = '>>'", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not ">>"`},
		{"control", "[glyphs]\ncursor = \"\\u0007\"", `2:1: glyphs.cursor must be one character that is seen and takes one cell, not "\a"`},
		{"glyph of a kind", "[glyphs]\ncursor = 1", "2:1: glyphs.cursor must be one character that is seen and takes one cell, not a value of another kind"},
		{"ASCII", "[glyphs_ascii]\ncursor = '›'", `2:1: glyphs_ascii.cursor must be one character of ASCII that is seen, not "›"`},
		{"spinner", "[glyphs]\nspinner = '|'", "2:1: glyphs.spinner must be a list of 1 to 32 strings, each one character that is seen and takes one cell"},
		{"no frames", "[glyphs]\nspinner = []", "2:1: glyphs.spinner must be a list of 1 to 32 strings, each one character that is seen and takes one cell"},
		{"wide frame", "[glyphs_ascii]\nspinner = ['|', '']", "2:1: glyphs_ascii.spinner must be a list of 1 to 32 strings, each one character of ASCII that is seen"},

		{"circle of many", "[colors]\na='b'\nb='c'\nc='d'\nd='e'\ne='f'\nf='a'", "2:1: colors.a leads back to itself: a -> b -> c -> … -> e -> f -> a"},
		{"role in braces", "[roles]\ntoolbar = {bold = true}", "2:1: roles.toolbar is no role: use " + roleNames},
		{"frame of a kind", "[glyphs]\nspinner = [1]", "2:1: glyphs.spinner must be a list of 1 to 32 strings, each one character that is seen and takes one cell"},
		{"escape in a key that is there twice", "[colors]\n\"\\u001b[2J\" = 1\n\"\\u001b[2J\" = 1", "3:1: key ?[2J is already defined"},
		{"long key that is there twice", "[colors]\n" + strings.Repeat(strings.Repeat("x", 1000)+" = 1\n", 2), "3:1: key " + strings.Repeat("x", 196) + "…"},
		{"long key", "[roles]\n" + strings.Repeat("x", 1000) + ".bold = true", "2:1: roles." + strings.Repeat("x", 40) + "… is no role: use " + roleNames},
		{"long value", "[layout]\ndensity = '" + strings.Repeat("宽", 100) + "'", "2:1: layout.density must be normal or compact, not \"" + strings.Repeat("宽", 13) + "\"…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := themes.Parse("harbour.toml", []byte(c.file))
			var e *themes.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v, not an *Error", err)
			}
			if got := strings.TrimPrefix(e.Error(), "harbour.toml:"); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestBounds goes up to each bound and over it.
func TestBounds(t *testing.T) {
	colours := func(n int) string {
		var b strings.Builder
		b.WriteString("[colors]\n")
		for i := range n {
			fmt.Fprintf(&b, "c%d = 1\n", i)
			if i == n/2 {
				b.WriteString("[variants.dark.colors]\n") // the bound is on both together
			}
		}
		return b.String()
	}
	frames := func(n int) string { return "[glyphs]\nspinner = [" + strings.Repeat("'x',", n) + "]" }
	role := func(n int) string {
		return "[roles.'extension.git." + strings.Repeat("x", n-len("extension.git.")) + "']\nbold = true"
	}
	for name, c := range map[string]struct {
		most int
		file func(n int) string
	}{
		"file":        {themes.MaxFile, func(n int) string { return "#" + strings.Repeat("x", n-1) }},
		"colours":     {themes.MaxColours, colours},
		"colour":      {themes.MaxColourName, func(n int) string { return "[colors]\n" + strings.Repeat("x", n) + " = 1" }},
		"role":        {themes.MaxRole, role},
		"frames":      {themes.MaxFrames, frames},
		"title":       {themes.MaxTitle, func(n int) string { return "[metadata]\nname = '" + strings.Repeat("x", n) + "'" }},
		"description": {themes.MaxTitle, func(n int) string { return "[metadata]\ndescription = '" + strings.Repeat("x", n) + "'" }},
	} {
		if _, err := themes.Parse("x.toml", []byte(c.file(c.most))); err != nil {
			t.Errorf("%s of %d: %.200v", name, c.most, err)
		}
		if _, err := themes.Parse("x.toml", []byte(c.file(c.most+1))); err == nil {
			t.Errorf("%s of %d is taken", name, c.most+1)
		}
	}
	name := strings.Repeat("x", themes.MaxName)
	if src, err := themes.Parse("/a/b/"+name+".toml", nil); err != nil || src.Name() != name || src.Title() != name {
		t.Error(err)
	}
	if _, err := themes.Parse(name+"x.toml", nil); err == nil {
		t.Error("a longer name is taken")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"auto":    "auto.toml: the name auto is octavo's own: give the file another one",
		"light":   "light.toml: the name light is octavo's own: give the file another one",
		"a\x1b[m": `a?[m.toml: the name "a\x1b[m" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
		"a b":     `a b.toml: the name "a b" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
		"-x":      `-x.toml: the name "-x" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
		"":        `.toml: the name "" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
		"...":     `....toml: the name "..." cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
	} {
		if _, err := themes.Parse(name+".toml", nil); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", name, err, want)
		}
	}
	if _, err := themes.Parse("", nil); err == nil {
		t.Error("no name is taken")
	}
	src := parse(t, "[metadata]", "name = 'Harbour at night'", "description = 'Ships'", "terminal = 'light-dark'")
	if src.Name() != "harbour" || src.Title() != "Harbour at night" || src.Description() != "Ships" || src.Terminal() != themes.KnownTerminals {
		t.Errorf("%q %q %q %q", src.Name(), src.Title(), src.Description(), src.Terminal())
	}
}

// FuzzParse makes sure that a file is an error of one line, or a theme that can be drawn in every mode.
func FuzzParse(f *testing.F) {
	for _, name := range themes.Builtin() {
		f.Add(themes.File(name))
	}
	for _, seed := range []string{
		"", "[colors]\na = 'b'\nb = 'a'", "[roles]\ntext = {inverse = true, bold = true}\n\"tone.muted\" = {foreground = 'ansi:red', dim = true}",
		"[roles.'extension.git.branch']\ninverse = true", "[glyphs]\ncursor = '\ue0b0'\nspinner = ['a', 'b']\n[glyphs_ascii]\ncursor = '~'",
		"[variants.light.roles.muted]\nforeground = '#5a5a5a'", "roles = {accent = {foreground = 12}}", "[layout]\ndensity = 'compact'",
		"[roles.selection]\nbackground = 4\nbold = true\n[roles.warning]\ninverse = true\nbold = true", "[glyphs]\ncursor = \"e\u0301\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := themes.Parse("fuzz.toml", data)
		if err != nil {
			var e *themes.Error
			if !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r\x1b\x07\u009b\u202e") || len(err.Error()) > 2000 {
				t.Fatalf("%q", err)
			}
			return
		}
		src.Warnings()
		for _, at := range []themes.Background{themes.Unknown, themes.Dark, themes.Light} {
			for i := range 8 {
				o := themes.Options{NoColour: i&1 != 0, ASCII: i&2 != 0, NoMotion: i&4 != 0}
				th := themes.Resolve(src, at, o)
				chars := th.Spinner
				for _, g := range themes.Glyphs() {
					chars = append(chars[:len(chars):len(chars)], th.Glyph(g))
				}
				for _, c := range chars {
					if ansi.StringWidth(c) != 1 || strings.TrimSpace(c) == "" || o.ASCII && len(c) != 1 {
						t.Fatalf("%+v: %q", o, c)
					}
				}
				if o.NoColour {
					distinguishable(t, th)
				}
			}
		}
	})
}
