package themes

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed builtin/*.toml
var files embed.FS

// Names that no file can take (ui.md 15).
const (
	AutoName     = "auto"     // DarkTheme, LightTheme or TerminalName, by the background
	DarkName     = "dark"     // DarkTheme
	LightName    = "light"    // LightTheme
	TerminalName = "terminal" // the default
)

// What the reserved names stand for.
const (
	DarkTheme  = "inkwell"
	LightTheme = "vellum"
)

var reserved = []string{AutoName, DarkName, LightName, TerminalName}

// library is the built-ins in the order in which they are offered. Each file is parsed when it is first asked for.
var library = [...]struct {
	name string
	load func() *Source
}{
	{TerminalName, terminal},
	{DarkTheme, sync.OnceValue(func() *Source { return embedded(DarkTheme) })},
	{"lamplight", sync.OnceValue(func() *Source { return embedded("lamplight") })},
	{LightTheme, sync.OnceValue(func() *Source { return embedded(LightTheme) })},
	{"galley", sync.OnceValue(func() *Source { return embedded("galley") })},
	{"etching", sync.OnceValue(func() *Source { return embedded("etching") })},
}

// embedded parses a built-in.
func embedded(name string) *Source {
	s, err := parse(name+Extension, name, File(name))
	if err != nil {
		panic("themes: " + err.Error()) // the file was so at build time; a test loads them all
	}
	return s
}

// Builtin lists the built-in themes in the order in which they are offered. The slice is the caller's.
func Builtin() []string {
	var names []string
	for _, b := range library {
		names = append(names, b.name)
	}
	return names
}

// Load gives a built-in theme, or what a reserved name stands for. For auto, Resolve chooses by the background.
func Load(name string) (*Source, error) {
	switch name {
	case AutoName:
		return &Source{
			name: AutoName, title: "Auto", about: "Dark, light or the terminal's own colours, by the background", terminal: AnyTerminal,
			auto: true,
		}, nil
	case DarkName:
		name = DarkTheme
	case LightName:
		name = LightTheme
	}
	for _, b := range library {
		if b.name == name {
			return b.load(), nil
		}
	}
	return nil, noTheme(name, slices.Concat(reserved[:3], Builtin()))
}

func noTheme(name string, names []string) error {
	return fmt.Errorf("there is no theme %s%s", show(name), offer(name, names, choice(names)))
}

// standIn is what auto is on a background.
func standIn(at Background) *Source {
	name := [...]string{Unknown: TerminalName, Dark: DarkTheme, Light: LightTheme}[at]
	i := slices.Index(Builtin(), name)
	return library[i].load()
}

// File is the file of a built-in theme, to begin one's own with; nil when there is none of the name.
func File(name string) []byte {
	b, err := files.ReadFile("builtin/" + name + Extension)
	if err != nil {
		return nil
	}
	return b
}

// checkName says whether a file can have this name.
func checkName(name string) error {
	switch {
	case slices.Contains(reserved, name):
		return fmt.Errorf("the name %s is octavo's own: give the file another one", name)
	case len(name) > MaxName || !isBare(strings.ReplaceAll(name, ".", "")) || strings.Trim(name[:1], "-_.") == "":
		return fmt.Errorf("the name %s cannot be a theme's: use 1 to %d letters, digits, - _ and dots, beginning with a letter or digit",
			show(name), MaxName)
	}
	return nil
}
