package themes_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"octavo/themes"
)

var everywhere = []themes.Background{themes.Dark, themes.Light, themes.Unknown}

func load(t testing.TB, name string) *themes.Source {
	t.Helper()
	src, err := themes.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestBuiltins(t *testing.T) {
	want := []string{"terminal", "inkwell", "lamplight", "vellum", "galley", "etching"}
	if got := themes.Builtin(); !slices.Equal(got, want) {
		t.Errorf("built in are %v", got)
	}
	for _, name := range themes.Builtin() {
		src := load(t, name)
		if src.Name() != name || src.Title() == name || src.Description() == "" || src.Terminal() != themes.AnyTerminal {
			t.Errorf("%s: %q, %q, %q, %s", name, src.Name(), src.Title(), src.Description(), src.Terminal())
		}
		if load(t, name) != src {
			t.Errorf("%s is parsed twice", name)
		}
		if _, err := themes.Parse("copy.toml", themes.File(name)); err != nil {
			t.Error(err)
		}
	}
	if f := themes.File("../builtin"); f != nil {
		t.Errorf("%q", f)
	}
}

// TestTerminalIsItsFile holds the theme that is written in Go against the file that people see.
func TestTerminalIsItsFile(t *testing.T) {
	file, err := themes.Parse("copy.toml", themes.File(themes.TerminalName))
	if err != nil {
		t.Fatal(err)
	}
	src := load(t, themes.TerminalName)
	if file.Title() != src.Title() || file.Description() != src.Description() || file.Terminal() != src.Terminal() {
		t.Errorf("%q, %q, %q", file.Title(), file.Description(), file.Terminal())
	}
	// An empty theme takes everything from terminal. With its colours replaced it shows that the file leaves none of them out.
	for _, at := range everywhere {
		want, got := themes.Resolve(src, at, themes.Options{}), themes.Resolve(file, at, themes.Options{})
		if d := cmp.Diff(want, got, cmp.AllowUnexported(themes.Theme{}, themes.Colour{}), cmpopts.IgnoreFields(themes.Theme{}, "Name")); d != "" {
			t.Errorf("on %s the file differs (-Go +file):\n%s", at, d)
		}
	}
}

func TestReservedNames(t *testing.T) {
	for name, want := range map[string][3]string{ // on an unknown, dark and light background
		"auto":     {"terminal", "inkwell", "vellum"},
		"dark":     {"inkwell", "inkwell", "inkwell"},
		"light":    {"vellum", "vellum", "vellum"},
		"terminal": {"terminal", "terminal", "terminal"},
	} {
		for _, at := range everywhere {
			if th := themes.Resolve(load(t, name), at, themes.Options{}); th.Name != want[at] || th.On != at {
				t.Errorf("%s on %s is %s", name, at, th.Name)
			}
		}
	}
	if w := load(t, "auto").Warnings(); w != nil {
		t.Error(w)
	}
	_, err := themes.Load("inkwel")
	if want := `there is no theme "inkwel"; did you mean inkwell? Use auto, dark, light, terminal, inkwell, lamplight, vellum, galley or etching`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestTerminalKeepsToTheTerminal: its own colours without black, white and the bright ones, which are on one of dark and light
// no colour to read (ui.md 15).
func TestTerminalKeepsToTheTerminal(t *testing.T) {
	for _, at := range everywhere {
		th := themes.Resolve(load(t, themes.TerminalName), at, themes.Options{})
		for _, r := range themes.Roles() {
			s := th.Style(r)
			if n, ok := s.Foreground.Index(); ok && (n < 1 || n > 6) || !ok && !s.Foreground.IsDefault() || !s.Background.IsDefault() {
				t.Errorf("%s is %s", r, style(s))
			}
		}
		if !th.Ground.IsDefault() {
			t.Errorf("ground %s", th.Ground)
		}
	}
}

// marks are the roles of lines and bars.
var marks = []themes.Role{themes.RoleBorder, themes.RoleRule, themes.RoleFocus}

// TestContrastOfBuiltins is the test of ui.md 15, and more: what is drawn over a selection or a diff can be read there, and a theme
// of high contrast is one.
func TestContrastOfBuiltins(t *testing.T) {
	for _, name := range themes.Builtin() {
		for _, w := range load(t, name).Warnings() {
			t.Errorf("%s: %s", name, w)
		}
		if name == themes.TerminalName {
			continue
		}
		text, mark := themes.TextContrast, themes.MarkContrast
		if name == "etching" {
			text, mark = 7, 4.5
		}
		for _, at := range everywhere {
			th := themes.Resolve(load(t, name), at, themes.Options{})
			hold := func(over, under themes.Role, need float64) {
				s := th.Style(over).Over(th.Style(under))
				ground := s.Background
				if ground.IsDefault() {
					ground = th.Ground
				}
				if ratio, ok := themes.Contrast(s.Foreground, ground); !ok || ratio < need || s.Dim || s.Inverse {
					t.Errorf("%s on %s: %s over %s is %s on %s: %.2f, needs %.1f", name, at, over, under, style(s), ground, ratio, need)
				}
			}
			for _, r := range themes.Roles() {
				if slices.Contains(marks, r) {
					hold(r, themes.RoleText, mark)
					continue
				}
				hold(r, themes.RoleText, text)
				if strings.HasPrefix(string(r), "diff.") {
					continue
				}
				if r != themes.RoleSubtle {
					hold(r, themes.RoleSelection, themes.TextContrast)
				}
				if strings.HasPrefix(string(r), "syntax.") {
					hold(r, themes.RoleDiffAdd, themes.TextContrast)
					hold(r, themes.RoleDiffRemove, themes.TextContrast)
				}
			}
			// A selection has to be seen beside what is not selected, and a ground of a diff beside no ground.
			for _, r := range []themes.Role{themes.RoleSelection, themes.RoleDiffAdd, themes.RoleDiffRemove} {
				if ratio, ok := themes.Contrast(th.Style(r).Background, th.Ground); !ok || ratio < 1.1 {
					t.Errorf("%s on %s: %s is hardly seen: %.2f", name, at, r, ratio)
				}
			}
		}
	}
}

// The simulation of Machado, Oliveira and Fernandes (2009) for linear RGB at full severity.
var blindness = map[string][3][3]float64{
	"full colour":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// oklab is how a colour looks to an eye, in the space of Ottosson (2020), where distances are about what is seen.
func oklab(c themes.Colour, eye [3][3]float64) [3]float64 {
	r, g, b, _ := c.RGB()
	var in, rgb [3]float64
	for i, channel := range [...]uint8{r, g, b} {
		if in[i] = float64(channel) / 255; in[i] <= 0.04045 {
			in[i] /= 12.92
		} else {
			in[i] = math.Pow((in[i]+0.055)/1.055, 2.4)
		}
	}
	times := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i := range m {
			out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
		}
		return out
	}
	for i, v := range times(eye, in) {
		rgb[i] = min(1, max(0, v))
	}
	lms := times([3][3]float64{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}, rgb)
	for i := range lms {
		lms[i] = math.Cbrt(lms[i])
	}
	return times([3][3]float64{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}, lms)
}

func distance(a, b themes.Colour, eye [3][3]float64) float64 {
	x, y := oklab(a, eye), oklab(b, eye)
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// TestColoursAreToldApart: what tells states apart does so for eyes that lack a colour too. 0.02 is about what is just seen.
func TestColoursAreToldApart(t *testing.T) {
	for _, name := range themes.Builtin()[1:] {
		for _, at := range everywhere {
			th := themes.Resolve(load(t, name), at, themes.Options{})
			for eye, m := range blindness {
				apart := func(what string, a, b themes.Colour, least float64) {
					if d := distance(a, b, m); d < least {
						t.Errorf("%s on %s, %s: %s, %s and %s, are %.3f apart", name, at, eye, what, a, b, d)
					}
				}
				add, remove := th.Style(themes.RoleDiffAdd), th.Style(themes.RoleDiffRemove)
				apart("lines of a diff", add.Foreground, remove.Foreground, 0.05)
				apart("grounds of a diff", add.Background, remove.Background, 0.025)
				states := []themes.Role{themes.RoleSuccess, themes.RoleWarning, themes.RoleError, themes.RoleAccent}
				for i, a := range states {
					for _, b := range states[:i] {
						apart(string(a)+" and "+string(b), th.Style(a).Foreground, th.Style(b).Foreground, 0.03)
					}
				}
			}
		}
	}
}
