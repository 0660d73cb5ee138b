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
	return slices.DeleteFunc(misses, func(id string) bool { // a person may know more than every list
		_, _, err := m.settings.ResolveModel(id)
		return err == nil && !strings.ContainsAny(id, "*?")
	})
}

// ListModels lists the models a person can choose without being asked for a key first: those of the configuration, then those that a
// catalogue knows of the providers that are configured or whose key is at hand, then the demo. It asks no endpoint. What several
// catalogues know is listed once, as a session would know it.
func ListModels(s *settings.Settings, catalogues []ext.Catalogue) []api.ModelInfo {
	usable, _ := listModels(s, catalogues)
	yes := true
	demo := api.ModelInfo{ID: settings.DemoModel, Name: "a script inside octavo, no model", Images: &yes, Price: &api.ModelCost{}, Scripted: true}
	return append(usable, demo)
}

// OtherModels lists what catalogues know of providers that are not configured and whose key is not at hand, as the first says.
func OtherModels(s *settings.Settings, catalogues []ext.Catalogue) []api.ModelInfo {
	_, others := listModels(s, catalogues)
	return others
}

func listModels(s *settings.Settings, catalogues []ext.Catalogue) (usable, others []api.ModelInfo) {
	profiles := slices.Concat(s.Profiles(), s.Unconfigured())
	var configured, known []api.ModelInfo
	said := s.Model                                  // the default is configured, too, whether or not its provider's table lists it
	at, added := map[string]int{}, map[string]bool{} // by id: where in configured; what is in known or others
	for _, p := range profiles {
		for _, id := range slices.Sorted(maps.Keys(p.Models)) {
			m := modelInfo(p.Name, id, ext.Describe(catalogues, p, id))
			m.Configured = true
			at[m.ID] = len(configured)
			configured = append(configured, m)
		}
		if id, mine := strings.CutPrefix(said, p.Name+"/"); mine && id != "" {
			if _, listed := at[said]; !listed {
				m := modelInfo(p.Name, id, ext.Describe(catalogues, p, id))
				m.Configured = true
				at[m.ID] = len(configured)
				configured = append(configured, m)
			}
		}
	}
	for _, c := range catalogues {
		behind := map[string][]ext.Profile{}
		for _, p := range profiles {
			if provider, ok := c.Provider(p.Endpoint); ok {
				behind[provider] = append(behind[provider], p)
			}
		}
		for _, row := range c.List() {
			for _, p := range behind[row.Provider] {
				id := p.Name + "/" + row.ID
				if i, there := at[id]; there {
					configured[i] = named(configured[i], row)
				} else if !added[id] {
					added[id] = true
					known = append(known, named(modelInfo(p.Name, row.ID, ext.Describe(catalogues, p, row.ID)), row))
				}
			}
			if id := row.Provider + "/" + row.ID; len(behind[row.Provider]) == 0 && !added[id] {
				added[id] = true
				others = append(others, named(modelInfo(row.Provider, row.ID, row.Info), row))
			}
		}
	}
	// A catalogue goes through its own order; a person looks for the provider.
	slices.SortStableFunc(known, func(a, b api.ModelInfo) int {
		ap, _, _ := strings.Cut(a.ID, "/")
		bp, _, _ := strings.Cut(b.ID, "/")
		return strings.Compare(ap, bp)
	})
	return slices.Concat(configured, known), others
}

// named adds what only a row of a catalogue says. That it does not think is no news: its one effort says so.
func named(m api.ModelInfo, row ext.CatalogueModel) api.ModelInfo {
	m.Name = cmp.Or(m.Name, row.Name)
	if m.Reasons == nil && row.Reasons {
		m.Reasons = &row.Reasons
	}
	return m
}

func modelInfo(provider, id string, i model.Info) api.ModelInfo {
	m := api.ModelInfo{ID: provider + "/" + id, Context: i.ContextTokens, MaxOutput: i.MaxOutputTokens, Images: i.Images,
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
