package settings

import (
	"errors"
	"maps"
	"os"
	"slices"

	"octavo/ext"
	"octavo/ext/model"
)

// Provider is one [providers.NAME] table.
type Provider struct {
	Name      string // CheckProviderName
	Label     string // for a person; "" means Name
	Wire      string // the protocol spoken; DefaultWire when the table names none
	Endpoint  string // CheckEndpoint; no trailing slash
	APIKeyEnv string // variable that holds the key when auth.json has none; "" for none
	// APIKeyCommand is a line of /bin/sh that prints the key when neither auth.json nor the variable has one; "" for none.
	APIKeyCommand string
	NoAuth        bool // no key is sent
	Headers       map[string]string
	Models        map[string]model.Info // what the person says of models, by id
}

// check applies the rules between the keys of one table.
func (p Provider) check() error {
	switch {
	case p.Endpoint == "":
		return errors.New("needs an endpoint, such as http://127.0.0.1:1234/v1")
	case p.NoAuth && p.APIKeyEnv != "":
		return errors.New("has both no_auth and api_key_env; keep one")
	case p.NoAuth && p.APIKeyCommand != "":
		return errors.New("has both no_auth and api_key_command; keep one")
	}
	return nil
}

// label is the provider's name for a person.
func (p Provider) label() string {
	if p.Label != "" {
		return p.Label
	}
	return p.Name
}

// table is the provider as it stands in a file: what is unset or built in is left out.
func (p Provider) table() map[string]any {
	t := fields("providers.NAME.", &p)
	models := map[string]any{}
	for id, info := range p.Models {
		m := fields("providers.NAME.models.ID.", &info)
		if info.Price != nil {
			price := fields("providers.NAME.models.ID.price.", &info)
			price["input"], price["output"] = info.Price.Input, info.Price.Output // 0 is a price, not an unset one
			m["price"] = price
		}
		models[id] = m
	}
	if len(models) > 0 {
		t["models"] = models
	}
	return t
}

// fields reads the keys directly below prefix from target.
func fields(prefix string, target any) map[string]any {
	t := map[string]any{}
	for _, r := range rows {
		name, ok := r.below(prefix)
		if !ok {
			continue
		}
		switch v := tree(load(r.field(target))).(type) {
		case nil:
		case map[string]any:
			if len(v) > 0 {
				t[name] = v
			}
		case []any:
			if len(v) > 0 {
				t[name] = v
			}
		default:
			if v != r.Default {
				t[name] = v
			}
		}
	}
	return t
}

// Profiles lists the configured endpoints by name, ready to be given to a provider. Their Key looks for
// the key each time it is called, and only then asks the keyring or runs a command; neither is done again once it gave a key.
func (s *Settings) Profiles() []ext.Profile {
	var profiles []ext.Profile
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		profiles = append(profiles, s.profile(s.Providers[name]))
	}
	return profiles
}

// Profile makes a provider that is not configured yet ready to be asked, as it would be once home's config.toml had it. nil lookup
// is os.LookupEnv.
func (p Provider) Profile(home string, lookup func(string) (string, bool)) ext.Profile {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	s := &Settings{Home: home, Providers: map[string]Provider{p.Name: p}, lookup: lookup}
	return s.profile(p)
}

func (s *Settings) profile(p Provider) ext.Profile {
	profile := ext.Profile{
		Name: p.Name, Label: p.label(), Wire: p.Wire, Endpoint: p.Endpoint,
		Headers: maps.Clone(p.Headers), Models: maps.Clone(p.Models),
	}
	if !p.NoAuth {
		profile.Key = func() (string, error) { return s.key(p) }
		profile.KeySource = s.KeyState(p.Name).Source
	}
	return profile
}
