package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"octavo/app/settings"
	"octavo/ext/policy"

	"github.com/google/go-cmp/cmp"
)

// place is a home and a workspace of one test.
type place struct {
	t               *testing.T
	home, workspace string
	env             map[string]string
	flags           settings.Layer
	trusted         bool
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, home: filepath.Join(dir, "home"), workspace: filepath.Join(dir, "work"), env: map[string]string{}, trusted: true}
	for _, d := range []string{p.home, filepath.Join(p.workspace, ".octavo")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) config() string  { return filepath.Join(p.home, "config.toml") }
func (p *place) project() string { return filepath.Join(p.workspace, ".octavo", "config.toml") }

func (p *place) write(file, text string) *place {
	p.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p
}

func (p *place) read(file string) string {
	p.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *place) lookup(name string) (string, bool) {
	v, ok := p.env[name]
	return v, ok
}

func (p *place) load() (*settings.Settings, []settings.Warning, error) {
	return settings.Load(settings.Sources{Home: p.home, Workspace: p.workspace, Trusted: p.trusted, Lookup: p.lookup, Flags: &p.flags})
}

// must loads without errors or warnings.
func (p *place) must() *settings.Settings {
	p.t.Helper()
	s, warnings, err := p.load()
	if err != nil || len(warnings) > 0 {
		p.t.Fatalf("Load: %v, warnings %v", err, warnings)
	}
	return s
}

// values are what s holds, by key, and why.
func values(s *settings.Settings) (held map[string]any, origin map[string]string) {
	held, origin = map[string]any{}, map[string]string{}
	for _, v := range s.Values() {
		held[v.Key.Name], origin[v.Key.Name] = v.Value, v.Origin
	}
	return held, origin
}

func hostKeys() []settings.Key {
	return slices.DeleteFunc(settings.Keys(), func(k settings.Key) bool { return strings.Contains(k.Name, ".") })
}

func TestEmptyHomeGivesTheDefaultsOfTheTable(t *testing.T) {
	p := newPlace(t)
	s := p.must()
	held, origin := values(s)
	for _, k := range hostKeys() {
		if diff := cmp.Diff(k.Default, held[k.Name]); diff != "" {
			t.Errorf("%s (-default +held):\n%s", k.Name, diff)
		}
		if want := map[bool]string{true: "built-in", false: ""}[k.Default != nil]; origin[k.Name] != want {
			t.Errorf("%s comes from %q, want %q", k.Name, origin[k.Name], want)
		}
	}
	if s.BashTimeout != 2*time.Minute || s.EffectPolicy != policy.UnsafeHost || !s.AllowExternalPaths || s.SystemPrompt != nil {
		t.Errorf("defaults are %+v", s)
	}
}

// sample gives two different values of a key, as text of the environment and of TOML.
func sample(k settings.Key) (a, b any, envA, envB, tomlA, tomlB string) {
	switch {
	case k.Type == settings.Bool:
		return true, false, "yes", "off", "true", "false"
	case k.Type == settings.Int:
		lo, hi := k.Min, k.Max
		return lo, hi, fmt.Sprint(lo), fmt.Sprint(hi), fmt.Sprint(lo), fmt.Sprint(hi)
	case k.Type == settings.List:
		return []string{"aa"}, []string{"bb"}, "aa,", " bb ", `["aa"]`, `["bb"]`
	case len(k.Allowed) > 0:
		x, y := k.Allowed[0], k.Allowed[len(k.Allowed)-1]
		return x, y, x, y, `"` + x + `"`, `"` + y + `"`
	default:
		return "/x", "/y", "/x", "/y", `"/x"`, `'/y'`
	}
}

func TestEveryKeyIsTakenFromEveryLayerAndTheStrongerOneWins(t *testing.T) {
	for _, k := range hostKeys() {
		t.Run(k.Name, func(t *testing.T) {
			a, b, envA, envB, tomlA, _ := sample(k)
			list := k.Type == settings.List
			check := func(p *place, want any, origin string) {
				t.Helper()
				held, from := values(p.must())
				if diff := cmp.Diff(want, held[k.Name]); diff != "" {
					t.Errorf("(-want +held):\n%s", diff)
				}
				if from[k.Name] != origin {
					t.Errorf("origin %q, want %q", from[k.Name], origin)
				}
			}
			both := func() any {
				if list && !k.Ordered {
					return []string{"aa", "bb"}
				}
				return b
			}

			p := newPlace(t)
			p.write(p.config(), "# mine\n"+k.Name+" = "+tomlA+"\n")
			check(p, a, p.config()+":2:1")
			p.env[k.Env] = "" // an empty variable is none
			check(p, a, p.config()+":2:1")
			p.env[k.Env] = envB
			check(p, both(), "$"+k.Env)

			p = newPlace(t)
			p.env[k.Env] = envA
			check(p, a, "$"+k.Env)
			if err := p.flags.Parse(k.Name, "--flag", envB); err != nil {
				t.Fatal(err)
			}
			check(p, both(), "--flag")
			if err := p.flags.Put(k.Name, "--other", a); err != nil {
				t.Fatal(err)
			}
			check(p, a, "--other")
		})
	}
}

func TestEmptySystemPromptIsNotAnUnsetOne(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), `system_prompt = ""`)
	if s := p.must(); s.SystemPrompt == nil || *s.SystemPrompt != "" {
		t.Errorf("system_prompt = %v, want an empty one", s.SystemPrompt)
	}
}

func TestBoundsAreTakenAndRefusedOnEachSide(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	path := func(n int) string { return `"/` + strings.Repeat("x", n-1) + `"` }
	type row struct {
		toml string
		ok   bool
	}
	rows := map[string][]row{
		"model":         {{`""`, false}, {`"m"`, true}, {long(settings.MaxProviderName + 1 + settings.MaxModelID), true}, {long(settings.MaxProviderName + 2 + settings.MaxModelID), false}, {`"a\u001bb"`, false}, {`3`, false}},
		"reasoning":     {{`"max"`, true}, {`"on"`, false}, {`""`, false}},
		"system_prompt": {{long(settings.MaxSystemPrompt), true}, {long(settings.MaxSystemPrompt + 1), false}, {"\"\"\"a\nb\"\"\"", true}},
		"shell_path":    {{`""`, false}, {`"/"`, true}, {`"sh"`, false}, {path(settings.MaxPath), true}, {path(settings.MaxPath + 1), false}},
		"plain":         {{`1`, false}, {`"true"`, false}},
		"max_turns":     {{`5.0`, false}, {`"5"`, false}, {`1979-05-27`, false}, {`[5]`, false}, {`{ a = 1 }`, false}},
		"enabled_extensions": {{`[]`, true}, {`["web-search"]`, true}, {`["Web"]`, false}, {`[1]`, false}, {`"web"`, false},
			{`["` + strings.Repeat("a", 64) + `"]`, true}, {`["` + strings.Repeat("a", 65) + `"]`, false}},
		"trusted_extensions": {{`["mcp@/a/b/extension.toml"]`, true}, {`["mcp@a/extension.toml"]`, false}, {`["mcp@/a/../b/extension.toml"]`, false},
			{`["mcp@/a/b/other.toml"]`, false}, {`["@/a/extension.toml"]`, false}},
	}
	for _, k := range hostKeys() {
		if k.Type == settings.Int {
			rows[k.Name] = append(rows[k.Name],
				row{fmt.Sprint(k.Min - 1), false}, row{fmt.Sprint(k.Min), true}, row{fmt.Sprint(k.Max), true}, row{fmt.Sprint(k.Max + 1), false}, row{"-1", false})
		}
		for _, name := range k.Allowed {
			rows[k.Name] = append(rows[k.Name], row{`"` + name + `"`, true}, row{`"` + name + `x"`, false})
		}
	}
	for name, cases := range rows {
		for _, c := range cases {
			p := newPlace(t)
			p.write(p.config(), "\n"+name+" = "+c.toml)
			_, _, err := p.load()
			short := c.toml[:min(len(c.toml), 40)]
			if (err == nil) != c.ok {
				t.Errorf("%s = %s: error %v, want accepted: %v", name, short, err, c.ok)
			}
			var e *settings.Error
			if err != nil && (!errors.As(err, &e) || e.File != p.config() || e.Line != 2 || e.Column != 1 || e.Key != name || !strings.Contains(err.Error(), "must ")) {
				t.Errorf("%s = %s: %v: want file, line, column, key and what is allowed", name, short, err)
			}
			if err != nil && len(err.Error()) > 400+len(p.config()) {
				t.Errorf("%s: error of %d bytes", name, len(err.Error()))
			}
		}
	}
}

func TestEveryFaultIsReportedAtOnceWithItsSource(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "plain = 3\nmax_turns = 0\n[providers.x]\nlabel = 1\n")
	p.write(p.project(), "max_turns = 'many'\n")
	p.env["OCTAVO_COLOR"] = "blue"
	_, _, err := p.load()
	for _, want := range []string{
		p.config() + ":1:1: plain must be true or false, not 3",
		p.config() + ":2:1: max_turns must be a whole number from 1 to 100000, not 0",
		p.config() + ":4:1: providers.x.label must be",
		p.project() + ":1:1: max_turns must be",
		`$OCTAVO_COLOR: color must be one of auto, always, never, not "blue"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nlacks %q", err, want)
		}
	}
	if err := p.flags.Parse("max_turns", "--max-turns", "x"); err == nil || !strings.HasPrefix(err.Error(), "--max-turns: max_turns must be") {
		t.Errorf("flag: %v", err)
	}
	if err := p.flags.Put("max_turn", "--max-turn", 1); err == nil || !strings.Contains(err.Error(), `did you mean "max_turns"?`) {
		t.Errorf("unknown flag key: %v", err)
	}
}

func TestUnknownKeysWarnWithPlaceAndSuggestion(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), strings.Join([]string{
		`modle = "x"`,                                  // 1
		`zzz = 1`,                                      // 2
		`  alow_write = true`,                          // 3
		`[provider.x]`,                                 // 4
		`[providers.local]`,                            // 5
		`endpoint = "http://h/v1"`,                     // 6
		`no_auht = true`,                               // 7
		`api_key = "sk-secret-secret"`,                 // 8
		`[providers.local.models."a.b"]`,               // 9
		`context_token = 5`,                            // 10
		`price = { input = 1, output = 2, inptu = 3 }`, // 11
		`[[arrays]]`,                                   // 12
		`[[arrays]]`,                                   // 13
	}, "\n"))
	p.write(p.project(), "efect_policy = 1\n")
	s, warnings, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		if !w.Unknown {
			t.Errorf("%v is not marked as unknown", w)
		}
		got = append(got, w.String())
	}
	c := p.config()
	want := []string{
		c + `:1:1: unknown key modle; did you mean "model"?`,
		c + `:2:1: unknown key zzz`,
		c + `:3:3: unknown key alow_write; did you mean "allow_write"?`,
		c + `:4:2: unknown key provider; did you mean "providers"?`,
		c + `:7:1: unknown key providers.local.no_auht; did you mean "no_auth"?`,
		c + `:8:1: unknown key providers.local.api_key; did you mean "api_key_env"?`,
		c + `:10:1: unknown key providers.local.models."a.b".context_token; did you mean "context_tokens"?`,
		c + `:11:34: unknown key providers.local.models."a.b".price.inptu; did you mean "input"?`,
		c + `:12:3: unknown key arrays`,
		p.project() + `:1:1: unknown key efect_policy; did you mean "effect_policy"?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if len(s.Providers) != 1 {
		t.Errorf("the rest of the file was not read: %v", s.Providers)
	}

	for name, strict := range map[string]func(){
		"home":    func() { p.write(p.config(), "strict_config = true\n"+p.read(p.config())) },
		"env":     func() { p.env["OCTAVO_STRICT_CONFIG"] = "1" },
		"project": func() { p.write(p.project(), "strict_config = true\nefect_policy = 1\n") },
	} {
		old, oldProject := p.read(c), p.read(p.project())
		strict()
		_, warnings, err := p.load()
		var e *settings.Error
		if !errors.As(err, &e) || e.Key != "modle" || !strings.Contains(err.Error(), `modle is unknown (strict_config); did you mean "model"?`) || len(warnings) != 0 {
			t.Errorf("strict by %s: %v, warnings %v", name, err, warnings)
		}
		if strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("the error repeats a value: %v", err)
		}
		delete(p.env, "OCTAVO_STRICT_CONFIG")
		p.write(c, old).write(p.project(), oldProject)
	}
}

// TestProjectTightensAndNeverLoosens tries every key on both sides.
func TestProjectTightensAndNeverLoosens(t *testing.T) {
	for _, k := range hostKeys() {
		t.Run(k.Name, func(t *testing.T) {
			a, b, _, _, tomlA, tomlB := sample(k)
			try := func(user, project string) (any, string, []settings.Warning) {
				t.Helper()
				p := newPlace(t)
				p.write(p.config(), user).write(p.project(), project)
				s, warnings, err := p.load()
				if err != nil {
					t.Fatal(err)
				}
				held, origin := values(s)
				return held[k.Name], strings.ReplaceAll(origin[k.Name], p.project(), "project"), warnings
			}
			line := func(v string) string { return k.Name + " = " + v + "\n" }
			expect := func(what string, held, want any, warnings []settings.Warning, warned bool) {
				t.Helper()
				if !cmp.Equal(held, want) || (len(warnings) > 0) != warned {
					t.Errorf("%s: held %v, want %v; warnings %v, want some: %v", what, held, want, warnings, warned)
				}
			}
			switch k.Project {
			case settings.Never:
				held, _, w := try(line(tomlA), line(tomlB))
				expect("project sets", held, a, w, true)
				held, origin, w := try("", line("{ no = 1 }"))
				expect("project sets nonsense", held, k.Default, w, true)
				if origin == "project" {
					t.Error("the project is named as origin")
				}
			case settings.Off:
				held, origin, w := try(line("true"), line("false"))
				expect("off", held, false, w, false)
				if origin != "project:1:1" {
					t.Errorf("origin %q", origin)
				}
				held, _, w = try(line("false"), line("true"))
				expect("on", held, false, w, true)
			case settings.On:
				held, _, w := try(line("false"), line("true"))
				expect("on", held, true, w, false)
				held, _, w = try(line("true"), line("false"))
				expect("off", held, true, w, true)
			case settings.Lower:
				held, _, w := try(line(tomlB), line(tomlA))
				expect("lower", held, a, w, false)
				held, _, w = try(line(tomlA), line(tomlB))
				expect("raise", held, a, w, true)
				if k.Default == nil {
					held, _, w = try("", line(tomlB))
					expect("limit where none is", held, b, w, false)
				}
			case settings.Stricter:
				for _, user := range policy.Names {
					for _, project := range policy.Names {
						held, _, w := try(line(`"`+string(user)+`"`), line(`"`+string(project)+`"`))
						got := policy.Name(held.(string))
						if got != user && got != project {
							t.Errorf("user %s, project %s: got %s", user, project, got)
						}
						expect(string(user)+"+"+string(project), held, held, w, got != project)
						looser(t, user, got)
						looser(t, project, got)
					}
				}
			case settings.Suggest:
				held, _, w := try(line(tomlA), line(tomlB))
				expect("suggest", held, a, w, false)
			}
		})
	}
}

// looser fails when policy got lets anything happen that limit does not.
func looser(t *testing.T, limit, got policy.Name) {
	t.Helper()
	for _, class := range []policy.Class{policy.Pure, policy.WorkspaceRead, policy.HostRead, policy.WorkspaceWrite, policy.HostWrite,
		policy.HostProcess, policy.Network, policy.Delegation, policy.Extension, policy.Unknown} {
		for _, readOnly := range []bool{false, true} {
			i := policy.Intent{Class: class, ReadOnly: readOnly}
			if g, l := policy.Decide(got, i).Verdict, policy.Decide(limit, i).Verdict; g > l {
				t.Errorf("%s lets a %s call (read-only %v) do more than %s", got, class, readOnly, limit)
			}
		}
	}
}

func TestProjectSuggestionsAreNotEnabled(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), `enabled_extensions = ["browse"]`)
	p.write(p.project(), `enabled_extensions = ["mcp", "browse", "mcp"]`)
	s := p.must()
	if !cmp.Equal(s.EnabledExtensions, []string{"browse"}) || !cmp.Equal(s.SuggestedExtensions, []string{"mcp"}) {
		t.Errorf("enabled %v, suggested %v", s.EnabledExtensions, s.SuggestedExtensions)
	}
}

func TestProjectCannotConfigureProviders(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "[providers.x]\nendpoint = 'https://good/v1'\n")
	p.write(p.project(), "plain = 5\n[providers.x]\nendpoint = 'https://evil/v1'\n[providers.y]\nendpoint = 3\n")
	s, warnings, err := p.load()
	if err != nil || len(warnings) != 2 || warnings[1].String() != p.project()+":2:2: a project cannot configure providers; ignored" {
		t.Fatalf("%v, warnings %v", err, warnings)
	}
	if len(s.Providers) != 1 || s.Providers["x"].Endpoint != "https://good/v1" {
		t.Errorf("providers %v", s.Providers)
	}
}

func TestUntrustedProjectIsNotRead(t *testing.T) {
	p := newPlace(t)
	p.trusted = false
	p.write(p.project(), "this is not TOML")
	p.must()
}

func TestEnvironmentAndFlagsStandAboveTheProject(t *testing.T) {
	p := newPlace(t)
	p.write(p.project(), "allow_write = false\nmax_turns = 5\n")
	p.env["OCTAVO_ALLOW_WRITE"] = "true"
	if err := p.flags.Put("max_turns", "--max-turns", 50); err != nil {
		t.Fatal(err)
	}
	if s := p.must(); !s.AllowWrite || s.MaxTurns != 50 {
		t.Errorf("allow_write %v, max_turns %d", s.AllowWrite, s.MaxTurns)
	}
}

func TestWhatFollowsFromOtherKeys(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "allow_external_paths = true\neffect_policy = 'controlled'\nallow_shell = true\nallow_process = false\n")
	s := p.must()
	_, origin := values(s)
	if s.AllowExternalPaths || origin["allow_external_paths"] != "effect_policy" {
		t.Error("a controlled policy must keep file tools inside the workspace")
	}
	if s.AllowShell || origin["allow_shell"] != "allow_process" {
		t.Error("without processes there is no shell")
	}
}

func TestWorkspaceWhoseFolderIsTheHomeHasNoProjectLayer(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "model = 'a/b'\n")
	if err := os.Remove(filepath.Join(p.workspace, ".octavo")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.home, filepath.Join(p.workspace, ".octavo")); err != nil {
		t.Fatal(err)
	}
	if s := p.must(); s.Model != "a/b" {
		t.Errorf("model %q", s.Model)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		make func(p *place, file string) error
		want string // "" when the file is as good as none
	}{
		"syntax": {func(p *place, f string) error { return os.WriteFile(f, []byte("plain = true\nmodel = = 3\n"), 0o600) }, ":2:9: "},
		"twice": {func(p *place, f string) error {
			return os.WriteFile(f, []byte("plain = true\n\n plain = true\n"), 0o600)
		}, ":3:2: "},
		"no UTF-8":   {func(p *place, f string) error { return os.WriteFile(f, []byte("model = \"\xff\""), 0o600) }, ":1:10: "},
		"NUL":        {func(p *place, f string) error { return os.WriteFile(f, []byte("model = \"a\x00\""), 0o600) }, ":1:"},
		"largest":    {func(p *place, f string) error { return os.WriteFile(f, filler(settings.MaxFile), 0o600) }, ""},
		"too large":  {func(p *place, f string) error { return os.WriteFile(f, filler(settings.MaxFile+1), 0o600) }, ": is larger than 1048576 bytes"},
		"directory":  {func(p *place, f string) error { return os.Mkdir(f, 0o700) }, ": is a directory, not a file"},
		"named pipe": {func(p *place, f string) error { return syscall.Mkfifo(f, 0o600) }, ": is a named pipe, not a file"},
		"not there":  {func(p *place, f string) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, layer := range []string{"home", "project"} {
				p := newPlace(t)
				file := map[string]string{"home": p.config(), "project": p.project()}[layer]
				if err := c.make(p, file); err != nil {
					t.Fatal(err)
				}
				_, _, err := p.load()
				if c.want == "" && err == nil {
					continue
				}
				var e *settings.Error
				if !errors.As(err, &e) || c.want == "" || !strings.Contains(err.Error(), file+c.want) {
					t.Errorf("%s: %v, want %q", layer, err, c.want)
				}
			}
		})
	}
}

// filler is a valid file of n bytes.
func filler(n int) []byte { return []byte("#" + strings.Repeat("x", n-2) + "\n") }

func TestSymbolicLinks(t *testing.T) {
	p := newPlace(t)
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.toml")
	p.write(elsewhere, "plain = true\n")
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(elsewhere, p.config())
	if s := p.must(); !s.Plain {
		t.Error("a linked config.toml must be read")
	}
	link(elsewhere, p.project())
	if _, _, err := p.load(); err != nil { // both lead to one file, which is the person's
		t.Errorf("one file twice: %v", err)
	}
	if err := os.Remove(p.config()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.load(); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a project's link must not lead out of the workspace: %v", err)
	}
	link(elsewhere+".gone", p.config())
	if _, _, err := p.load(); err == nil || !strings.Contains(err.Error(), "is a symbolic link to nothing") {
		t.Errorf("dangling link: %v", err)
	}
}

func TestHome(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"OCTAVO_HOME": "/o/../p", "HOME": "/h"}, "/p"},
		{map[string]string{"OCTAVO_HOME": "", "HOME": "/h"}, "/h/.octavo"},
		{map[string]string{"HOME": "/h"}, "/h/.octavo"},
		{map[string]string{"OCTAVO_HOME": "rel", "HOME": "/h"}, ""},
		{map[string]string{"HOME": "rel"}, ""},
		{nil, ""},
	} {
		got, err := settings.Home(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, settings.ErrNoHome) {
			t.Errorf("%v: %q, %v; want %q", c.env, got, err, c.want)
		}
	}
	s, warnings, err := settings.Load(settings.Sources{Lookup: func(string) (string, bool) { return "", false }})
	if err != nil || s == nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "OCTAVO_HOME") {
		t.Errorf("without a home: %v, %v", warnings, err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n, " models"), func(b *testing.B) {
			home := b.TempDir()
			var text strings.Builder
			text.WriteString("model = 'local/m0'\nplain = true\n[providers.local]\nendpoint = 'http://127.0.0.1:1234/v1'\nno_auth = true\n")
			for i := range n {
				fmt.Fprintf(&text, "[providers.local.models.m%d]\ncontext_tokens = 32768\nprice = { input = 1, output = 2 }\n", i)
			}
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text.String()), 0o600); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := settings.Load(settings.Sources{Home: home, Lookup: func(string) (string, bool) { return "", false }}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
