package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"octavo/ext/policy"
)

// Settings are the values every part of octavo starts with. They are read-only once loaded.
type Settings struct {
	Home      string // octavo's home, absolute; "" when there is none
	Workspace string // absolute
	Trusted   bool   // the person trusts the workspace's own configuration and instructions

	Model                   string        // as written; see ResolveModel
	ModelScope              []string      // patterns of models to switch among, in order
	TitleModel              string        // "": the catalogue's choice; "off": none
	Reasoning               string        // "": the model's default
	SystemPrompt            *string       // replaces all instructions; nil: octavo's own
	Plain                   bool          //
	Color                   string        // auto, always, never
	EffectPolicy            policy.Name   //
	AllowExternalPaths      bool          // false under every policy but unsafe_host
	AllowEdit               bool          //
	AllowWrite              bool          //
	AllowProcess            bool          //
	AllowShell              bool          // false when AllowProcess is
	ShellPath               string        // absolute; "": look for one
	BashTimeout             time.Duration // whole seconds, MinBashTimeoutSecs to MaxBashTimeoutSecs
	MaxOutputBytes          int           // MinOutputBytes to MaxOutputBytes
	MaxTurns                int           // 0: no limit
	MaxCostMicrodollars     int64         // 0: no limit
	CostWarningMicrodollars int64         // 0: no warning
	ContextFiles            bool          //
	Offline                 bool          //
	StrictConfig            bool          //
	EnabledExtensions       []string      // in the order first named, each once
	TrustedExtensions       []string      // likewise; name or name@manifest
	SuggestedExtensions     []string      // what the project would like enabled and is not

	Providers map[string]Provider // by name

	origins  map[string]string
	lookup   func(string) (string, bool)
	redactor Redactor
	fetches  fetches
	known    sync.Once // the redactor knows the keys that were there at first
}

// Sources is where Load reads.
type Sources struct {
	// Home is octavo's home (see Home). "" goes without the person's configuration, with a warning.
	Home string
	// Workspace is the root of the project, absolute. Its .octavo/config.toml is read only when Trusted.
	Workspace string
	Trusted   bool
	// Lookup reads the environment; nil is os.LookupEnv.
	Lookup func(string) (string, bool)
	// Flags are the values of the command line; nil for none.
	Flags *Layer
}

// ConfigFile is the name of the configuration, in octavo's home and in a project's .octavo folder.
const ConfigFile = "config.toml"

// ProjectFolder is where a workspace keeps what it brings for octavo.
const ProjectFolder = ".octavo"

// ErrNoHome means that there is no place for octavo's files.
var ErrNoHome = errors.New("no absolute home directory: set OCTAVO_HOME, or HOME, to an absolute path")

// Home finds octavo's home: OCTAVO_HOME, else ~/.octavo. It never falls back to the current directory: when neither is absolute
// the error is ErrNoHome. nil lookup is os.LookupEnv. The folder need not exist.
func Home(lookup func(string) (string, bool)) (string, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if home, ok := lookup("OCTAVO_HOME"); ok && home != "" {
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("OCTAVO_HOME is %s: %w", show(home), ErrNoHome)
		}
		return filepath.Clean(home), nil
	}
	if home, ok := lookup("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".octavo"), nil
	}
	return "", ErrNoHome
}

// Load reads every layer, weakest first: built-in values, the home's config.toml, the trusted project's, the environment, the
// command line (product.md 4). Warnings are for a person to see once. The error joins an *Error for every value and file that
// cannot be used; the settings are nil then.
func Load(src Sources) (*Settings, []Warning, error) {
	s := &Settings{
		Home: src.Home, Workspace: src.Workspace, Trusted: src.Trusted,
		Providers: map[string]Provider{}, origins: map[string]string{}, lookup: src.Lookup,
	}
	if s.lookup == nil {
		s.lookup = os.LookupEnv
	}
	for _, r := range rows {
		if r.isHost() && r.Default != nil {
			store(r.field(s), r.Default)
			s.origins[r.Name] = "built-in"
		}
	}
	user, project, err := s.files()
	if err != nil {
		return nil, nil, err
	}
	env, errs := environment(s.lookup)
	errs = slices.Concat(user.errs, project.errs, errs)

	if user.providers != nil {
		s.Providers = user.providers
	}
	s.apply(user.values)
	warnings := slices.Concat(user.unknown, project.unknown, project.refused, s.applyProject(project))
	s.apply(env)
	if src.Flags != nil {
		s.apply(*src.Flags)
	}
	s.settle()

	if s.Home == "" {
		warnings = append(warnings, Warning{Text: ErrNoHome.Error() + "; going on without config.toml and auth.json"})
	}
	if s.StrictConfig {
		warnings = slices.DeleteFunc(warnings, func(w Warning) bool {
			if w.Unknown {
				why := Warning{Text: "is unknown (strict_config)", Suggestion: w.Suggestion}
				errs = append(errs, &Error{Place: w.Place, Key: w.Key, Err: errors.New(why.String())})
			}
			return w.Unknown
		})
	}
	if len(errs) > 0 {
		return nil, warnings, errors.Join(errs...)
	}
	return s, warnings, nil
}

// files reads the configuration of the person and of the trusted project. A workspace whose .octavo is octavo's home has no
// configuration of its own: the person's would otherwise be taken for a project that tries to loosen itself.
func (s *Settings) files() (user, project contents, err error) {
	var userInfo fs.FileInfo
	if s.Home != "" {
		file := filepath.Join(s.Home, ConfigFile)
		data, info, err := readFile(file)
		if user, err = readContents(file, data, err, forPerson); err != nil {
			return user, project, err
		}
		userInfo = info
	}
	if s.Trusted && s.Workspace != "" {
		name := filepath.Join(ProjectFolder, ConfigFile)
		file := filepath.Join(s.Workspace, name)
		if info, err := os.Stat(file); err == nil && userInfo != nil && os.SameFile(userInfo, info) {
			return user, project, nil
		}
		data, _, err := readInside(s.Workspace, name)
		if project, err = readContents(file, data, err, forProject); err != nil {
			return user, project, err
		}
	}
	return user, project, nil
}

func readContents(file string, data []byte, err error, limit func(*document) []Warning) (contents, error) {
	if err != nil {
		return contents{}, &Error{Place: Place{File: file}, Err: err}
	}
	doc, err := parse(file, data)
	if err != nil {
		return contents{}, err
	}
	refused := limit(doc)
	c := read(doc)
	c.refused = refused
	return c, nil
}

func forPerson(*document) []Warning { return nil }

// forProject takes out what a project cannot set, whatever stands there, and warns of each.
func forProject(doc *document) []Warning {
	var refused []Warning
	refuse := func(name, what string) {
		if _, ok := doc.tree[name]; ok {
			delete(doc.tree, name)
			refused = append(refused, Warning{Place: doc.place([]string{name}), Key: name, Text: fmt.Sprintf("a project cannot %s; ignored", what)})
		}
	}
	for _, r := range rows {
		if r.isHost() && r.Project == Never {
			refuse(r.Name, "set "+r.Name)
		}
	}
	refuse("providers", "configure providers")
	return refused
}

// apply lays a layer over the present values. Lists add up unless they are Ordered; everything else is replaced.
func (s *Settings) apply(l Layer) {
	for _, r := range rows {
		from, ok := l.values[r.Name]
		if !ok || !r.isHost() {
			continue
		}
		if list, ok := from.value.([]string); ok && !r.Ordered {
			from.value = union(load(r.field(s)).([]string), list)
		}
		store(r.field(s), from.value)
		s.origins[r.Name] = from.at.String()
	}
}

// applyProject lets a project tighten and suggest, and warns of what would loosen.
func (s *Settings) applyProject(project contents) []Warning {
	var warnings []Warning
	for _, r := range rows {
		from, ok := project.values.values[r.Name]
		if !ok {
			continue
		}
		if r.Project == Suggest {
			s.SuggestedExtensions = from.value.([]string)
			continue
		}
		present := load(r.field(s))
		v, heldBack := tighten(r.Project, present, from.value)
		if heldBack {
			warnings = append(warnings, Warning{Place: from.at, Key: r.Name,
				Text: fmt.Sprintf("a project cannot loosen %s; it stays %v", r.Name, present)})
		} else if v != present {
			store(r.field(s), v)
			s.origins[r.Name] = from.at.String()
		}
	}
	return warnings
}

// settle applies what follows from the values themselves.
func (s *Settings) settle() {
	if s.EffectPolicy.WorkspaceOnly() && s.AllowExternalPaths {
		s.AllowExternalPaths = false
		s.origins["allow_external_paths"] = "effect_policy"
	}
	if !s.AllowProcess && s.AllowShell {
		s.AllowShell = false
		s.origins["allow_shell"] = "allow_process"
	}
	s.EnabledExtensions = union(nil, s.EnabledExtensions)
	s.TrustedExtensions = union(nil, s.TrustedExtensions)
	s.SuggestedExtensions = slices.DeleteFunc(union(nil, s.SuggestedExtensions), func(name string) bool {
		return slices.Contains(s.EnabledExtensions, name)
	})
}

// union lists a and then what only b has, each once.
func union(a, b []string) []string {
	all := make([]string, 0, len(a)+len(b))
	seen := map[string]bool{}
	for _, s := range slices.Concat(a, b) {
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}

// Value is what one of octavo's own keys holds and why.
type Value struct {
	Key    Key
	Value  any    // string, bool, int64 or []string; nil: unset
	Origin string // "built-in", file:line:column, "$OCTAVO_MODEL", "--model", or the key it follows from; "" when unset
}

// Values lists octavo's own keys with what they hold, for a listing.
func (s *Settings) Values() []Value {
	var values []Value
	for _, r := range rows {
		if r.isHost() {
			values = append(values, Value{r.Key, load(r.field(s)), s.origins[r.Name]})
		}
	}
	return values
}
