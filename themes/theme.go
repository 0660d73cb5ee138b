// Package themes says what a screen looks like: a style for each role and a character for each glyph, from a TOML file or built in
// (ui.md 15 and 16). A Source is a file as it was written; Resolve makes of it the Theme for one terminal, which is plain data that
// never changes. Who draws holds roles, never colours, and swaps the whole Theme at once. The package reads only the folders it is
// given, knows no terminal and starts nothing; building and embedding cost nothing before the first Load.
package themes

import "sync"

// Background is what is known of the ground a terminal draws on.
type Background uint8

const (
	Unknown Background = iota // not asked, or not answered yet
	Dark
	Light
)

// String names it as a variant of a theme does.
func (b Background) String() string { return [...]string{"unknown", "dark", "light"}[b] }

// backgrounds are all there are.
var backgrounds = [...]Background{Dark, Light, Unknown}

// Terminal says for which terminals a theme was made.
type Terminal string

const (
	AnyTerminal    Terminal = "any"
	LightTerminals Terminal = "light"
	DarkTerminals  Terminal = "dark"
	KnownTerminals Terminal = "light-dark" // it needs to know which
)

// Suits reports whether the theme was made for a terminal of this background.
func (t Terminal) Suits(on Background) bool {
	switch t {
	case LightTerminals:
		return on == Light
	case DarkTerminals:
		return on == Dark
	case KnownTerminals:
		return on != Unknown
	}
	return true
}

// Density is how much air a screen has.
type Density string

const (
	Normal  Density = "normal"
	Compact Density = "compact"
)

// Options is what the person or the terminal asks of every theme (ui.md 16).
type Options struct {
	NoColour bool // NO_COLOR, or a terminal without colour: weight, underline and inverse stay, and set apart what colour did
	ASCII    bool // every glyph in its ASCII form
	NoMotion bool // the spinner stands still
}

// Theme is a look made ready for one terminal. It is not changed after Resolve, so that many may read it at once.
type Theme struct {
	Name     string // the file without its ending, or the built-in; never auto, light or dark, but what they stand for
	Title    string // one line for people; Name where the theme gives none
	Terminal Terminal
	Density  Density
	On       Background // what it was resolved for
	Options  Options
	// Ground is what every cell without a background of its own is painted with: the background of the role text. The default
	// leaves the terminal's own.
	Ground Colour
	// Spinner is the frames that show work going on, one cell each, at least one. With Options.NoMotion it is a single one.
	Spinner []string

	styles     [len(roles)]Style
	extensions map[Role]Style
	glyphs     [len(glyphs)]string
}

// Style is the look of a role. A role of an extension that the theme does not know, and a name that is no role, looks like text.
// It allocates nothing.
func (t *Theme) Style(r Role) Style {
	if i, ok := roleIndex()[r]; ok {
		return t.styles[i]
	}
	if s, ok := t.extensions[r]; ok {
		return s
	}
	return t.styles[0]
}

// Glyph is the character of a glyph, which takes one cell. A name that is no glyph is "?". It allocates nothing.
func (t *Theme) Glyph(g Glyph) string {
	if i, ok := glyphIndex()[g]; ok {
		return t.glyphs[i]
	}
	return "?"
}

// roleIndex and glyphIndex find a name in its table.
var (
	roleIndex = sync.OnceValue(func() map[Role]int {
		m := make(map[Role]int, len(roles))
		for i, row := range roles {
			m[row.role] = i
		}
		return m
	})
	glyphIndex = sync.OnceValue(func() map[Glyph]int {
		m := make(map[Glyph]int, len(glyphs))
		for i, row := range glyphs {
			m[row.glyph] = i
		}
		return m
	})
)
