package themes

import "sync"

// terminal is the theme on which the first frame waits, and from which every other theme takes what it leaves out. It is Go so
// that it costs no parsing; a test holds it against builtin/terminal.toml. Only roles high up in the table of roles have a colour
// here, so that a theme that sets a parent gives its children their colour.
var terminal = sync.OnceValue(func() *Source {
	named := func(name string) paint { return paint{said: true, name: name} }
	const red, green, yellow, blue, magenta, cyan = 1, 2, 3, 4, 5, 6
	colour := func(n uint8) paint { return paint{said: true, colour: indexed(n)} }
	s := &Source{
		name: TerminalName, title: "Terminal", about: "Your terminal's own colours on its own background", terminal: AnyTerminal,
		base: layer{
			colours: map[string]paint{"lead": colour(magenta), "second": colour(cyan)},
			roles: map[Role]look{
				RoleMuted:      {dim: on},
				RoleAccent:     {foreground: named("lead")},
				RoleHeading:    {bold: on},
				RoleEmphasis:   {italic: on},
				RoleStrong:     {bold: on},
				RoleLink:       {underline: on},
				RoleCode:       {foreground: named("second")},
				RoleSelection:  {inverse: on},
				RoleFocus:      {bold: on},
				RoleMatch:      {bold: on, underline: on},
				RoleSuccess:    {foreground: colour(green)},
				RoleWarning:    {foreground: colour(yellow)},
				RoleError:      {foreground: colour(red), bold: on},
				RolePrompt:     {bold: on},
				RoleDiffRemove: {bold: off},
			},
		},
	}
	s.variants[Light+1].colours = map[string]paint{"second": colour(blue)} // cyan is pale on white, blue dark on black
	return s
})
