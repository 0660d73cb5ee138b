package themes

import "maps"

// Source is a theme as it was written: its base and what it has for each background. It is not changed after it was made.
type Source struct {
	name     string
	title    string
	about    string
	terminal Terminal
	auto     bool // another stands in for it, chosen by the background

	base     layer
	variants [len(variantNames)]layer
}

// variantNames are the tables of [variants]. The first lies over the base on every background; the others are Background + 1.
var variantNames = [...]string{"universal", "unknown", "dark", "light"}

// layer is the sections of a theme that may differ by background.
type layer struct {
	colours     map[string]paint
	roles       map[Role]look
	glyphs      map[Glyph]string
	ascii       map[Glyph]string
	frames      []string // nil leaves those underneath
	asciiFrames []string // the same in ASCII
	density     Density  // "" leaves the one underneath
}

// Name is the file without its ending, or the name of a built-in.
func (s *Source) Name() string { return s.name }

// Title is one line for people; Name where the theme gives none.
func (s *Source) Title() string {
	if s.title == "" {
		return s.name
	}
	return s.title
}

// Description is one line; "" where the theme gives none.
func (s *Source) Description() string { return s.about }

// Terminal says for which terminals it was made.
func (s *Source) Terminal() Terminal { return s.terminal }

// layer is the theme on one background.
func (s *Source) layer(at Background) layer {
	var l layer
	for _, over := range [...]*layer{&s.base, &s.variants[0], &s.variants[at+1]} {
		l.colours = laid(l.colours, over.colours)
		l.glyphs = laid(l.glyphs, over.glyphs)
		l.ascii = laid(l.ascii, over.ascii)
		if len(over.roles) > 0 && l.roles == nil {
			l.roles = make(map[Role]look, len(roles))
		}
		for role, look := range over.roles {
			l.roles[role] = look.over(l.roles[role])
		}
		if over.frames != nil {
			l.frames = over.frames
		}
		if over.asciiFrames != nil {
			l.asciiFrames = over.asciiFrames
		}
		if over.density != "" {
			l.density = over.density
		}
	}
	return l
}

// laid is under with over laid on it. It may be one of them, which is not to be changed then; the result is only read.
func laid[K comparable, V any](under, over map[K]V) map[K]V {
	switch {
	case len(over) == 0:
		return under
	case len(under) == 0:
		return over
	}
	both := maps.Clone(under)
	maps.Copy(both, over)
	return both
}

// look is what the layer says of a role, with its colours found. Parse has seen to it that they are there, and in no circle.
func (l *layer) look(r Role) look {
	look := l.roles[r]
	for look.foreground.name != "" {
		look.foreground = l.colours[look.foreground.name]
	}
	for look.background.name != "" {
		look.background = l.colours[look.background.name]
	}
	return look
}
