package app

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/builtin"
	"octavo/ext/model"
)

// discoverTime is how long servers of this machine get to say which models they have.
const discoverTime = 500 * time.Millisecond

// found is a model that nobody chose.
type found struct {
	model string // provider/model; "" when there is none
	why   string // for a person
}

// discover finds a model when neither the command line nor the session nor the configuration names one: that of a provider whose key
// is at hand, else one of a server that answers on its usual port of this machine. It is told wherever it is used, since it may cost
// money that nobody meant to spend.
func (a *App) discover(ctx context.Context) found {
	var local []ext.Profile
	if !a.o.Settings.Offline {
		local = a.o.Settings.Local()
	}
	return a.models.discover(ctx, a.o.Settings.Unconfigured(), local)
}

// Discover says which model a session would run on if nobody chose one, and why; "" when there is none. For a caller who has no App.
func Discover(ctx context.Context, s *settings.Settings) (id, why string, err error) {
	client := model.NewClient(model.Limits{})
	defer client.Close()
	m, err := newModels(s, builtin.All(builtin.Deps{Client: client, Home: s.Home}))
	if err != nil {
		return "", "", err
	}
	chosen := (&App{o: Options{Settings: s}, models: m}).discover(ctx)
	return chosen.model, chosen.why, nil
}

// discover looks at keyed, whose keys are at hand, and then asks every one of local at once; the first of each that has a model counts.
func (m *models) discover(ctx context.Context, keyed, local []ext.Profile) found {
	for _, p := range keyed {
		for _, c := range m.catalogues {
			if c.Choices == nil {
				continue
			}
			if id, _ := c.Choices(p.Endpoint); id != "" {
				return found{p.Name + "/" + id, "there is a key of " + p.Label + " (" + p.KeySource + ")"}
			}
		}
	}
	answers := make([]string, len(local))
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	var asked sync.WaitGroup
	for i, p := range local {
		asked.Go(func() { answers[i] = m.served(ctx, p) })
	}
	asked.Wait()
	for i, p := range local {
		if answers[i] != "" {
			return found{p.Name + "/" + answers[i], p.Label + " answers at " + p.Endpoint}
		}
	}
	return found{}
}

// served is the first model for conversation, by its name, that a server says it has; "" when nothing answers.
func (m *models) served(ctx context.Context, p ext.Profile) string {
	provider, ok := m.byWire[p.Wire]
	if !ok {
		return ""
	}
	up, err := provider.Resolve(p, "any")
	if err != nil {
		return ""
	}
	ids, err := up.Probe(ctx)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(ids, func(id string) bool { return !strings.Contains(strings.ToLower(id), "embed") })
	if i < 0 {
		return ""
	}
	return ids[i]
}
