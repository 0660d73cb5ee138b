package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/model"
)

// Models implements api.Client.
func (a *App) Models(context.Context) ([]api.ModelInfo, error) {
	list := ListModels(a.o.Settings, a.models.catalogues)
	scoped, _ := a.models.scope.Match(ids(list))
	var first []api.ModelInfo
	for _, m := range scoped {
		i := slices.IndexFunc(list, func(l api.ModelInfo) bool { return l.ID == m.ID })
		info := api.ModelInfo{ID: m.ID}
		if i >= 0 {
			info = list[i]
			list = slices.Delete(list, i, i+1)
		}
		info.Scoped, info.Effort = true, m.Effort
		first = append(first, info)
	}
	return slices.Concat(first, list), nil
}

func ids(list []api.ModelInfo) []string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

// Next implements session.Models.
func (m *models) Next(present string, step int) (id, effort string, ok bool) {
	scoped, _ := m.scope.Match(ids(ListModels(m.settings, m.catalogues)))
	if len(scoped) == 0 {
		for _, id := range m.Known() {
			scoped = append(scoped, ScopedModel{ID: id})
		}
	}
	next, ok := m.scope.Next(scoped, present, step)
	return next.ID, next.Effort, ok
}

// missing are the patterns of the scope that no model fits. Without a scope nothing is looked up.
func (m *models) missing() []string {
	if len(m.settings.ModelScope) == 0 {
		return nil
	}
	_, misses := m.scope.Match(ids(ListModels(m.settings, m.catalogues)))
	return misses
}

// ListModels lists the models a person can choose without being asked for a key first: those of the configuration, then those that a
// catalogue knows of the providers that are configured or whose key is at hand, then the demo. It asks no endpoint.
func ListModels(s *settings.Settings, catalogues []ext.Catalogue) []api.ModelInfo {
	var listed, known []api.ModelInfo
	at := map[string]int{} // in listed
	profiles := slices.Concat(s.Profiles(), s.Unconfigured())
	for _, p := range profiles {
		for _, id := range slices.Sorted(maps.Keys(p.Models)) {
			m := modelInfo(p, id, ext.Describe(catalogues, p, id))
			m.Configured = true
			at[m.ID] = len(listed)
			listed = append(listed, m)
		}
	}
	seen := map[string]bool{}
	for _, c := range catalogues {
		behind := map[string][]ext.Profile{}
		for _, p := range profiles {
			if provider, ok := c.Provider(p.Endpoint); ok {
				behind[provider] = append(behind[provider], p)
			}
		}
		if len(behind) == 0 {
			continue // nothing it could add is worth being decoded for
		}
		for _, row := range c.List() {
			for _, p := range behind[row.Provider] {
				m := modelInfo(p, row.ID, ext.Describe(catalogues, p, row.ID))
				reasons := row.Reasons
				if i, ok := at[m.ID]; ok {
					listed[i].Name, listed[i].Reasons = cmp.Or(listed[i].Name, row.Name), cmp.Or(listed[i].Reasons, &reasons)
					continue
				}
				if !seen[m.ID] {
					seen[m.ID] = true
					m.Name, m.Reasons = row.Name, cmp.Or(m.Reasons, &reasons)
					known = append(known, m)
				}
			}
		}
	}
	slices.SortStableFunc(known, func(a, b api.ModelInfo) int {
		ap, _, _ := strings.Cut(a.ID, "/")
		bp, _, _ := strings.Cut(b.ID, "/")
		return strings.Compare(ap, bp)
	})
	demo := api.ModelInfo{ID: settings.DemoModel, Name: "a script inside octavo, no model", Provider: settings.DemoProvider, Scripted: true}
	return append(slices.Concat(listed, known), demo)
}

func modelInfo(p ext.Profile, id string, i model.Info) api.ModelInfo {
	m := api.ModelInfo{ID: p.Name + "/" + id, Provider: p.Label, Context: i.ContextTokens, MaxOutput: i.MaxOutputTokens, Images: i.Images,
		Efforts: i.Efforts, Scripted: i.Scripted}
	if len(i.Efforts) > 0 {
		reasons := !slices.Equal(i.Efforts, []string{model.Efforts[0]})
		m.Reasons = &reasons
	}
	if i.Price != nil {
		m.Price = &api.ModelCost{Input: i.Price.Input, Output: i.Price.Output, CacheRead: i.Price.CacheRead, CacheWrite: i.Price.CacheWrite}
	}
	return m
}
