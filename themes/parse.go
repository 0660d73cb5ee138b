package themes

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

const (
	// MaxFile bounds a theme file, in bytes (ui.md 15).
	MaxFile = 256 << 10
	// MaxName bounds the name of a theme, in bytes.
	MaxName = 64
	// MaxTitle bounds metadata.name and metadata.description, in bytes.
	MaxTitle = 128
	// Extension ends the name of a theme file.
	Extension = ".toml"
)

// Parse reads a theme file. file is what errors call it; without folder and ending it is the name of the theme. Every error is an
// *Error that names the place, and what is allowed there.
func Parse(file string, data []byte) (*Source, error) {
	name := strings.TrimSuffix(filepath.Base(file), Extension)
	if err := checkName(name); err != nil {
		return nil, &Error{File: file, Err: err}
	}
	return parse(file, name, data)
}

// parse is Parse without a look at the name.
func parse(file, name string, data []byte) (*Source, error) {
	if len(data) > MaxFile {
		return nil, &Error{File: file, Err: fmt.Errorf("is larger than %d KiB", MaxFile>>10)}
	}
	r := reader{file: file, data: data, src: &Source{name: name, terminal: AnyTerminal}, written: map[string]bool{}}
	if err := r.checkBytes(); err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil { // finds what no grammar does, such as a table that is there twice
		return nil, r.syntax(err)
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := r.checkColours(); err != nil {
		return nil, err
	}
	return r.src, nil
}

// reader turns one file into a Source. Its methods stop at the first error.
type reader struct {
	file    string
	data    []byte
	src     *Source
	written map[string]bool // keys, with the parts of a role joined: TOML takes tone.warning and "tone.warning" for two
	colours int             // names in all [colors]
	uses    []use
}

// use is a place where a name of [colors] stands in place of a colour.
type use struct {
	at      place
	colour  string // the name that is being given a meaning here; "" in a role
	name    string
	variant int // index of variantNames; -1 in the base
}

// place is a key and where it begins.
type place struct {
	path   []string
	offset int
}

func (r *reader) fail(at place, err error) error {
	e := r.at(at.offset, err)
	e.Key = dotted(at.path)
	return e
}

func (r *reader) at(offset int, err error) *Error {
	before := r.data[:offset]
	return &Error{
		File: r.file, Line: bytes.Count(before, []byte("\n")) + 1, Column: offset - bytes.LastIndexByte(before, '\n'), Err: err,
	}
}

// checkBytes finds what no text has.
func (r *reader) checkBytes() error {
	for i := 0; i < len(r.data); {
		c, size := utf8.DecodeRune(r.data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return r.at(i, errors.New("a byte that is not UTF-8: save the file as UTF-8"))
		case c == '\r' && i+1 < len(r.data) && r.data[i+1] == '\n', c == '\n', c == '\t':
		case disturbs(c):
			return r.at(i, fmt.Errorf("a control character, %U: take it out", c))
		}
		i += size
	}
	return nil
}

func (r *reader) syntax(err error) error {
	e := &Error{File: r.file, Err: errors.New(oneLine(cutLong(strings.TrimPrefix(err.Error(), "toml: "))))}
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		e.Line, e.Column = at.Position()
	}
	return e
}

// cutLong shortens a message that may quote a key of any length.
func cutLong(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// read goes through the expressions of a file that is sound TOML.
func (r *reader) read() error {
	var (
		p     unstable.Parser
		table []string
	)
	p.Reset(r.data)
	for p.NextExpression() {
		var (
			n   = p.Expression()
			err error
		)
		switch n.Kind {
		case unstable.Table:
			at := keysOf(n, nil)
			table = at.path
			err = r.header(at)
		case unstable.ArrayTable:
			err = r.fail(keysOf(n, nil), errors.New("is a list of tables: write [one] pair of brackets"))
		case unstable.KeyValue:
			err = r.keyValue(n, table)
		}
		if err != nil {
			return err
		}
	}
	if err := p.Error(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// keysOf reads the keys of a header or a key with its value.
func keysOf(n *unstable.Node, table []string) place {
	at := place{path: slices.Clone(table), offset: -1}
	for k := n.Key(); k.Next(); {
		if at.offset < 0 {
			at.offset = int(k.Node().Raw.Offset)
		}
		at.path = append(at.path, string(k.Node().Data))
	}
	return at
}

// header looks at a table by itself, which may be empty.
func (r *reader) header(at place) error {
	_, section, rest, err := r.section(at)
	if err != nil || section == "" || len(rest) == 0 {
		return err
	}
	if section != "roles" {
		return r.fail(at, fmt.Errorf("is a table, and %s has none inside", section))
	}
	if name := strings.Join(rest, "."); !Role(name).begins() {
		return r.fail(at, noRole(name))
	}
	return nil
}

// begins reports whether r is a role, or begins one where TOML has a table for each of its parts.
func (r Role) begins() bool {
	return r.isExtension() || (r + ".x").isExtension() || (r + ".x.x").isExtension() ||
		slices.ContainsFunc(roles[:], func(row roleRow) bool { return strings.HasPrefix(string(row.role)+".", string(r)+".") })
}

func (r *reader) keyValue(n *unstable.Node, table []string) error {
	at := keysOf(n, table)
	v := n.Value()
	if v.Kind != unstable.InlineTable {
		return r.value(at, v)
	}
	if err := r.header(at); err != nil {
		return err
	}
	for c := v.Children(); c.Next(); {
		if err := r.keyValue(c.Node(), at.path); err != nil {
			return err
		}
	}
	return nil
}

var sections = []string{"metadata", "colors", "roles", "glyphs", "glyphs_ascii", "layout", "variants"}

// section finds where a path leads: into the base (variant -1) or a variant, and there into a section with the rest of the path.
// The section is "" for the tables variants and variants.X themselves.
func (r *reader) section(at place) (variant int, section string, rest []string, err error) {
	path, allowed := at.path, sections
	variant = -1
	if path[0] == "variants" {
		if len(path) == 1 {
			return variant, "", nil, nil
		}
		if variant = slices.Index(variantNames[:], path[1]); variant < 0 {
			return variant, "", nil, r.fail(place{at.path[:2], at.offset},
				fmt.Errorf("is no variant%s", offer(path[1], variantNames[:], choice(variantNames[:]))))
		}
		if len(path) == 2 {
			return variant, "", nil, nil
		}
		path, allowed = path[2:], sections[1:len(sections)-1] // neither metadata nor variants
	}
	if !slices.Contains(allowed, path[0]) {
		return variant, "", nil, r.fail(place{at.path[:len(at.path)-len(path)+1], at.offset},
			fmt.Errorf("is no section%s", offer(path[0], allowed, choice(allowed))))
	}
	return variant, path[0], path[1:], nil
}

// value stores one value of the file.
func (r *reader) value(at place, v *unstable.Node) error {
	variant, section, rest, err := r.section(at)
	if err != nil {
		return err
	}
	depth := 1
	if section == "roles" {
		depth = 2
	}
	switch {
	case section == "" || len(rest) == 0:
		return r.fail(at, errors.New("must be a table"))
	case len(rest) < depth:
		return r.fail(at, errors.New(`must be a table such as {foreground = "#4e9bd4"}`))
	case depth == 1 && len(rest) > 1:
		return r.fail(at, fmt.Errorf("is in a table, and %s has none inside", section))
	}
	l := &r.src.base
	if variant >= 0 {
		l = &r.src.variants[variant]
	}
	switch section {
	case "metadata":
		return r.metadata(at, rest[0], v)
	case "colors":
		return r.colour(at, variant, l, rest[0], v)
	case "roles":
		return r.role(at, variant, l, rest, v)
	case "layout":
		return r.layout(at, l, rest[0], v)
	}
	return r.glyph(at, l, section, rest[0], v)
}

func (r *reader) metadata(at place, field string, v *unstable.Node) error {
	allowed := []string{"name", "description", "terminal"}
	if !slices.Contains(allowed, field) {
		return r.fail(at, noField(field, allowed))
	}
	s, ok := stringOf(v)
	switch {
	case field == "terminal":
		terminals := []string{string(AnyTerminal), string(LightTerminals), string(DarkTerminals), string(KnownTerminals)}
		if !ok || !slices.Contains(terminals, s) {
			return r.fail(at, fmt.Errorf("must be %s, not %s", choice(terminals), shown(v)))
		}
		r.src.terminal = Terminal(s)
		return nil
	case !ok || !isOneLine(s) || strings.TrimSpace(s) == "" || len(s) > MaxTitle:
		return r.fail(at, fmt.Errorf("must be one line of 1 to %d bytes without control characters", MaxTitle))
	case field == "name":
		r.src.title = s
	default:
		r.src.about = s
	}
	return nil
}

func (r *reader) colour(at place, variant int, l *layer, name string, v *unstable.Node) error {
	if !isColourName(name) {
		return r.fail(at, fmt.Errorf("is no name for a colour: use 1 to %d letters, digits, - and _, beginning with a letter, and not %s",
			MaxColourName, defaultColour))
	}
	if r.colours++; r.colours > MaxColours {
		return r.fail(at, fmt.Errorf("is one name too many: use at most %d in all [colors]", MaxColours))
	}
	p, err := r.paint(at, v)
	if err != nil {
		return err
	}
	if p.name != "" {
		r.uses = append(r.uses, use{at, name, p.name, variant})
	}
	put(&l.colours, name, p)
	return nil
}

// paint reads a colour.
func (r *reader) paint(at place, v *unstable.Node) (p paint, err error) {
	switch s, ok := stringOf(v); {
	case ok:
		p, err = parsePaint(s)
	case v.Kind == unstable.Integer:
		p, err = parseIndex(string(v.Data))
	default:
		err = fmt.Errorf("must be a colour: use %s", colourForms)
	}
	if err != nil {
		return p, r.fail(at, err)
	}
	return p, nil
}

var fields = []string{"foreground", "background", "bold", "dim", "italic", "underline", "inverse"}

func (r *reader) role(at place, variant int, l *layer, path []string, v *unstable.Node) error {
	name, field := strings.Join(path[:len(path)-1], "."), path[len(path)-1]
	role := Role(name)
	if _, closed := roleIndex()[role]; !closed && !role.isExtension() {
		return r.fail(place{at.path[:len(at.path)-1], at.offset}, noRole(name))
	}
	key := fmt.Sprint(variant, "\x00", name, "\x00", field)
	if r.written[key] {
		return r.fail(at, errors.New("is there twice"))
	}
	r.written[key] = true

	look := l.roles[role]
	switch field {
	case "foreground", "background":
		p, err := r.paint(at, v)
		if err != nil {
			return err
		}
		if p.name != "" {
			r.uses = append(r.uses, use{at, "", p.name, variant})
		}
		if field == "foreground" {
			look.foreground = p
		} else {
			look.background = p
		}
	default:
		part := look.part(field)
		if part == nil {
			return r.fail(at, noField(field, fields))
		}
		if v.Kind != unstable.Bool {
			return r.fail(at, errors.New("must be true or false"))
		}
		*part = saying(string(v.Data) == "true")
	}
	put(&l.roles, role, look)
	return nil
}

// part is the field of a look that is true or false; nil for another name.
func (l *look) part(field string) *said {
	switch field {
	case "bold":
		return &l.bold
	case "dim":
		return &l.dim
	case "italic":
		return &l.italic
	case "underline":
		return &l.underline
	case "inverse":
		return &l.inverse
	}
	return nil
}

func (r *reader) layout(at place, l *layer, field string, v *unstable.Node) error {
	if field != "density" {
		return r.fail(at, noField(field, []string{"density"}))
	}
	s, ok := stringOf(v)
	if !ok || Density(s) != Normal && Density(s) != Compact {
		return r.fail(at, fmt.Errorf("must be %s or %s, not %s", Normal, Compact, shown(v)))
	}
	l.density = Density(s)
	return nil
}

func (r *reader) glyph(at place, l *layer, section, name string, v *unstable.Node) error {
	fits, must, chars, frames := oneCell, "one character that is seen and takes one cell", &l.glyphs, &l.frames
	if section == "glyphs_ascii" {
		fits, must, chars, frames = oneASCII, "one character of ASCII that is seen", &l.ascii, &l.asciiFrames
	}
	if name == spinnerKey {
		list, ok := stringsOf(v)
		if !ok || len(list) == 0 || len(list) > MaxFrames || slices.ContainsFunc(list, func(s string) bool { return !fits(s) }) {
			return r.fail(at, fmt.Errorf("must be a list of 1 to %d strings, each %s", MaxFrames, must))
		}
		*frames = list
		return nil
	}
	if _, ok := glyphIndex()[Glyph(name)]; !ok {
		names := append(namesOf(Glyphs()), spinnerKey)
		return r.fail(at, fmt.Errorf("is no glyph%s", offer(name, names, choice(names))))
	}
	s, ok := stringOf(v)
	if !ok || !fits(s) {
		return r.fail(at, fmt.Errorf("must be %s, not %s", must, shown(v)))
	}
	put(chars, Glyph(name), s)
	return nil
}

// checkColours sees to it that each name of a colour leads to one, on every background on which it is used.
func (r *reader) checkColours() error {
	if len(r.uses) == 0 {
		return nil
	}
	var palettes [len(backgrounds)]map[string]paint
	for i, b := range backgrounds {
		palettes[i] = r.src.layer(b).colours
	}
	for _, u := range r.uses {
		for i, b := range backgrounds {
			if u.variant > 0 && u.variant != int(b)+1 {
				continue
			}
			if err := checkUse(u, palettes[i], b); err != nil {
				return r.fail(u.at, err)
			}
		}
	}
	return nil
}

func checkUse(u use, palette map[string]paint, b Background) error {
	if _, there := palette[u.name]; !there {
		var names []string
		for n := range palette {
			names = append(names, n)
		}
		slices.Sort(names)
		return fmt.Errorf("%s is no colour where the background is %s%s", show(u.name), b, offer(u.name, names, colourForms))
	}
	if u.colour == "" || palette[u.colour].name != u.name { // a variant gives it another meaning
		return nil
	}
	way := []string{u.colour}
	for name := u.name; name != "" && len(way) <= len(palette); name = palette[name].name {
		if way = append(way, name); name == u.colour {
			return fmt.Errorf("leads back to itself: %s", strings.Join(shortWay(way), " -> "))
		}
	}
	return nil
}

// shortWay leaves the middle out of a long way.
func shortWay(way []string) []string {
	const most = 6
	if len(way) <= most {
		return way
	}
	return slices.Concat(way[:most/2], []string{"…"}, way[len(way)-most/2:])
}

func noRole(name string) error {
	names := namesOf(Roles())
	return fmt.Errorf("is no role%s", offer(name, names,
		fmt.Sprintf("%s, or extension.<namespace>.<role> of at most %d bytes", strings.Join(names, ", "), MaxRole)))
}

func noField(name string, allowed []string) error {
	return fmt.Errorf("is no field%s", offer(name, allowed, choice(allowed)))
}

func namesOf[S ~string](all []S) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return names
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func stringOf(v *unstable.Node) (string, bool) { return string(v.Data), v.Kind == unstable.String }

// stringsOf reads a list of strings.
func stringsOf(v *unstable.Node) (list []string, ok bool) {
	if v.Kind != unstable.Array {
		return nil, false
	}
	for c := v.Children(); c.Next(); {
		s, ok := stringOf(c.Node())
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// shown is a value of the file as an error shows it.
func shown(v *unstable.Node) string {
	if s, ok := stringOf(v); ok {
		return show(s)
	}
	return "a value of another kind"
}
