package app

import (
	"errors"
	"fmt"
	"sync"

	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/model"
)

// models finds the models of the configuration through the extensions that speak their wires.
type models struct {
	settings   *settings.Settings
	byWire     map[string]ext.Provider
	catalogues []ext.Catalogue // the first that lists a model describes it
	scope      Scope

	mu    sync.Mutex
	found map[string]*model.Upstream
}

func newModels(s *settings.Settings, extensions []ext.Extension) (*models, error) {
	m := &models{settings: s, byWire: map[string]ext.Provider{}, found: map[string]*model.Upstream{}}
	var err error
	if m.scope, err = ParseScope(s.ModelScope); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	for _, e := range extensions {
		m.catalogues = append(m.catalogues, e.Models...)
		for _, p := range e.Providers {
			if _, taken := m.byWire[p.Wire]; !taken {
				m.byWire[p.Wire] = p
			}
		}
	}
	return m, nil
}

// Resolve implements session.Models.
func (m *models) Resolve(id string) (*model.Upstream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if up, ok := m.found[id]; ok {
		return up, nil
	}
	profile, modelID, err := m.settings.ResolveModel(id)
	if errors.Is(err, settings.ErrNoModel) {
		return nil, api.NoModelError(m.settings.NoModel())
	}
	if err != nil {
		return nil, err
	}
	if _, configured := m.settings.Providers[profile.Name]; !configured && profile.Key != nil {
		if key := m.settings.KeyState(profile.Name); !key.Set {
			return nil, fmt.Errorf("model %s: %w", id, key.Err) // a preset is only there with a key
		}
	}
	provider, ok := m.byWire[profile.Wire]
	if !ok {
		return nil, fmt.Errorf("provider %s: no extension speaks the wire %q; wire in config.toml names another", profile.Name, profile.Wire)
	}
	// The wire reads it there, and so the configuration's words and the catalogue's reach it alike (plugins.md 1.7).
	described := ext.Describe(m.catalogues, profile, modelID)
	if profile.Models == nil {
		profile.Models = map[string]model.Info{}
	}
	profile.Models[modelID] = described // the map is the profile's own
	up, err := provider.Resolve(profile, modelID)
	if err != nil {
		return nil, err
	}
	m.found[id] = up
	return up, nil
}

// titler chooses the model that gives sessions their titles; nil when none does. A server of this machine gives none unless it was
// asked to: it has one thing to do at a time.
func (a *App) titler() func(*model.Upstream) *model.Upstream {
	const none = "off"
	wanted := a.o.Settings.TitleModel
	if !a.o.Titles || wanted == none {
		return nil
	}
	return func(chosen *model.Upstream) *model.Upstream {
		id := wanted
		for _, c := range a.models.catalogues {
			if id != "" || c.Choices == nil {
				continue
			}
			if _, small := c.Choices(chosen.Endpoint); small != "" {
				id = chosen.Provider + "/" + small
			}
		}
		if id == "" {
			return nil
		}
		up, err := a.models.Resolve(id)
		if err != nil {
			return nil // a title is not worth a word about it
		}
		return up
	}
}

// Known implements session.Models.
func (m *models) Known() []string { return m.settings.Models() }

// Catalogued implements session.Models.
func (m *models) Catalogued(up *model.Upstream) int {
	known := map[string]bool{}
	for _, c := range m.catalogues {
		provider, ok := c.Provider(up.Endpoint)
		if !ok {
			continue
		}
		for _, row := range c.List() {
			if row.Provider == provider {
				known[row.ID] = true
			}
		}
	}
	return len(known)
}
