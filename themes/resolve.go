package themes

import "slices"

// Resolve makes a theme ready for a terminal. What the theme leaves out of a role comes from the role's parent, and what no
// parent has from the theme terminal.
func Resolve(src *Source, at Background, o Options) *Theme {
	if src.auto {
		src = standIn(at)
	}
	own, under := src.layer(at), terminal().layer(at)
	t := &Theme{
		Name: src.name, Title: src.Title(), Terminal: src.terminal, Density: own.density, On: at, Options: o,
		Spinner: frames(&own, o),
	}
	if t.Density == "" {
		t.Density = Normal
	}

	var looks [len(roles)]look
	for i, row := range roles {
		l := own.look(row.role).over(under.look(row.role))
		if i == 0 {
			t.Ground = l.background.colour
			l.background = paint{}
			if o.NoColour {
				t.Ground, l = Colour{}, look{} // plain, so that all else can differ from it
			}
		} else {
			l = l.over(looks[roleIndex()[row.parent]])
		}
		looks[i] = l
		t.styles[i] = l.style()
	}
	for role := range own.roles {
		if !role.isExtension() {
			continue
		}
		if t.extensions == nil {
			t.extensions = map[Role]Style{}
		}
		t.extensions[role] = own.look(role).over(looks[0]).style()
	}
	if o.NoColour {
		t.takeColour()
	}
	for i, row := range glyphs {
		t.glyphs[i] = row.char
		over := own.glyphs
		if o.ASCII {
			t.glyphs[i], over = row.ascii, own.ascii
		}
		if s, ok := over[row.glyph]; ok {
			t.glyphs[i] = s
		}
	}
	return t
}

// takeColour leaves no colour in a theme and gives each role what sets it apart all the same. Nothing looks like the selection.
func (t *Theme) takeColour() {
	selection := roleIndex()[RoleSelection]
	selected := t.styles[selection].withoutColour(roles[selection].bare)
	without := func(s Style, least bare) Style {
		if s = s.withoutColour(least); s == selected {
			s.Inverse = false
		}
		return s
	}
	for i, row := range roles {
		t.styles[i] = without(t.styles[i], row.bare)
	}
	t.styles[selection] = selected
	for role, s := range t.extensions {
		t.extensions[role] = without(s, 0)
	}
}

// frames is the spinner. Without motion it is the glyph of what runs.
func frames(l *layer, o Options) []string {
	at, own, over := glyphIndex()[GlyphCircleHalf], l.frames, l.glyphs
	still, moving := glyphs[at].char, spinner
	if o.ASCII {
		own, over = l.asciiFrames, l.ascii
		still, moving = glyphs[at].ascii, asciiSpinner
	}
	switch {
	case o.NoMotion:
		if s, ok := over[GlyphCircleHalf]; ok {
			still = s
		}
		return []string{still}
	case own != nil:
		return slices.Clone(own)
	}
	return moving()
}
