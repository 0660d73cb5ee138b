package themes

// Style is how something looks. The zero value is the terminal's own text. A default Background leaves what is underneath, in
// the end Theme.Ground.
type Style struct {
	Foreground, Background                Colour
	Bold, Dim, Italic, Underline, Inverse bool
}

// Over is s drawn on top of what has the style under, such as a match in a selected row: colours that s leaves at their default
// show through, and what either has of weight, slant, underline and inverse stays. On what is inverse the colours and the
// dimness of s do not show, since they would make patches of its ground.
func (s Style) Over(under Style) Style {
	if under.Inverse {
		s.Foreground, s.Background, s.Dim = Colour{}, Colour{}, false
	}
	if s.Foreground.IsDefault() {
		s.Foreground = under.Foreground
	}
	if s.Background.IsDefault() {
		s.Background = under.Background
	}
	s.Bold = s.Bold || under.Bold
	s.Dim = s.Dim || under.Dim
	s.Italic = s.Italic || under.Italic
	s.Underline = s.Underline || under.Underline
	s.Inverse = s.Inverse || under.Inverse
	return s
}

// withoutColour is s in Options.NoColour, with at least what its role needs there.
func (s Style) withoutColour(least bare) Style {
	return Style{
		Bold:      s.Bold || least&bareBold != 0,
		Dim:       s.Dim || least&bareDim != 0,
		Italic:    s.Italic || least&bareItalic != 0,
		Underline: s.Underline || least&bareUnderline != 0,
		Inverse:   s.Inverse || least&bareInverse != 0,
	}
}

// look is a Style of a theme file, where each part may be left out.
type look struct {
	foreground, background                paint
	bold, dim, italic, underline, inverse said
}

// said is a part that is true or false, or left out.
type said uint8

const (
	unsaid said = iota
	off
	on
)

func saying(b bool) said {
	if b {
		return on
	}
	return off
}

func (s said) or(under said) said {
	if s == unsaid {
		return under
	}
	return s
}

// over takes what l leaves out from under. Dim and inverse change what colours look like: where l has a colour of its own they
// do not come from underneath, or a grey that was chosen to be readable would be dimmed once more.
func (l look) over(under look) look {
	if l.foreground.said || l.background.said {
		under.dim, under.inverse = unsaid, unsaid
	}
	if !l.foreground.said {
		l.foreground = under.foreground
	}
	if !l.background.said {
		l.background = under.background
	}
	l.bold = l.bold.or(under.bold)
	l.dim = l.dim.or(under.dim)
	l.italic = l.italic.or(under.italic)
	l.underline = l.underline.or(under.underline)
	l.inverse = l.inverse.or(under.inverse)
	return l
}

// style is the look with everything that is still left out taken as default.
func (l look) style() Style {
	return Style{
		Foreground: l.foreground.colour, Background: l.background.colour,
		Bold: l.bold == on, Dim: l.dim == on, Italic: l.italic == on, Underline: l.underline == on, Inverse: l.inverse == on,
	}
}
