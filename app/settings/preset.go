package settings

import (
	"errors"
	"maps"
	"slices"

	"octavo/ext"
)

// The demo needs no configuration: a script inside octavo answers.
const (
	DemoProvider = "demo"
	DemoModel    = "demo/scripted" // as a person writes it; DemoProvider alone means it, too
)

// provider finds a provider by its name: one of the configuration, else a preset, else the demo. What is preset needs no
// configuration, only a key where it takes one.
func (s *Settings) provider(name string) (Provider, bool) {
	if p, ok := s.Providers[name]; ok {
		return p, true
	}
	if name == DemoProvider {
		return Provider{Name: DemoProvider, Label: "octavo's demo, a script", Wire: DemoProvider, NoAuth: true}, true
	}
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return Provider{Name: name}.withPreset(presets[i]), true
}

// Unconfigured lists the presets that no configuration names and whose key is at hand, in the order in which one of them is chosen
// when nobody chose a model.
func (s *Settings) Unconfigured() []ext.Profile {
	return s.presets(func(p Provider) bool { return !p.NoAuth && s.KeyState(p.Name).Set })
}

// Local lists the presets of this machine that no configuration names. Whether anything answers there is not known.
func (s *Settings) Local() []ext.Profile {
	return s.presets(func(p Provider) bool { return p.NoAuth })
}

func (s *Settings) presets(wanted func(Provider) bool) []ext.Profile {
	var profiles []ext.Profile
	for _, preset := range presets {
		if _, configured := s.Providers[preset.Name]; configured {
			continue
		}
		if p, _ := s.provider(preset.Name); wanted(p) {
			profiles = append(profiles, s.profile(p))
		}
	}
	return profiles
}

// providerNames lists what is configured, then what is preset.
func (s *Settings) providerNames() []string {
	names := slices.Sorted(maps.Keys(s.Providers))
	for _, p := range presets {
		if _, configured := s.Providers[p.Name]; !configured {
			names = append(names, p.Name)
		}
	}
	return append(names, DemoProvider)
}

// KeyProblems says which keys are there and cannot be used: an auth.json that others can read, a variable with a line feed in it. A key
// that is simply missing is none.
func (s *Settings) KeyProblems() []error {
	var problems []error
	said := map[string]bool{}
	for _, name := range s.providerNames() {
		if state := s.KeyState(name); state.Err != nil && !errors.Is(state.Err, ErrNoKey) && !said[state.Err.Error()] {
			said[state.Err.Error()] = true
			problems = append(problems, state.Err)
		}
	}
	return problems
}
