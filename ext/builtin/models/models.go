// Package models contributes what is known of well-known providers' models: windows, efforts, pictures and prices (plugins.md 4.14,
// decision 8). The source is embedded in the program; a file in octavo's home, which Update downloads when a person asks for it,
// refreshes it. The package knows providers' endpoints only as addresses, asks none of them, and no session.
package models

import (
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"octavo/ext"
	"octavo/ext/model"
)

// Name is the extension's name, and its catalogue's.
const Name = "models"

// off is the effort of a model that does not think.
const off = "off"

// maxTokens is the largest window or answer that is believed, in tokens.
const maxTokens = 1_000_000_000

// Options is what the extension is told.
type Options struct {
	Home string // octavo's, absolute; "" for no refreshed catalogue
}

// New makes the extension. Of its two catalogues the refreshed one answers first, and knows nothing while there is no usable file.
func New(o Options) ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "what is known of models of well-known providers: windows, efforts, pictures, prices",
		Required:    true,
		Source:      "built-in",
		Models:      []ext.Catalogue{refreshed(o.Home), Catalogue()},
	}
}

// Catalogue is the embedded catalogue, for a caller who has no session. It is decoded when a model of a provider in it is first
// asked for, or all are listed: never for an endpoint that it does not know.
func Catalogue() ext.Catalogue {
	return ext.Catalogue{
		Name:     Name,
		Provider: providerAt,
		Lookup:   lookup,
		List:     func() []ext.CatalogueModel { return slices.Clone(rows().list) },
		Choices:  choices,
	}
}

func lookup(endpoint, modelID string) (model.Info, bool) {
	provider, ok := providerAt(endpoint)
	if !ok {
		return model.Info{}, false
	}
	row, ok := rows().row(provider, modelID)
	return row.Info, ok
}

// choices are what the data recommends behind an endpoint.
func choices(endpoint string) (main, small string) {
	provider, ok := providerAt(endpoint)
	if !ok {
		return "", ""
	}
	c := rows().choices[provider]
	return c.main, c.small
}

type (
	key    struct{ provider, model string }
	choice struct{ main, small string }
	table  struct {
		list    []ext.CatalogueModel
		at      map[key]int       // where in list
		choices map[string]choice // by provider; only models of the list
	}
)

// row is what the table says of a model.
func (t *table) row(provider, modelID string) (ext.CatalogueModel, bool) {
	i, ok := t.at[key{provider, modelID}]
	if !ok {
		return ext.CatalogueModel{}, false
	}
	return t.list[i], true
}

// rows are decoded once in a process: they are a constant that costs some milliseconds and a few MiB.
var (
	rows   = sync.OnceValue(func() *table { loaded.Store(true); return newTable(embedded.GetAll()) })
	loaded atomic.Bool
)

// Embedded says which data the program holds: its version, "" where the build does not tell, and how much it is.
func Embedded() (version string, providers, models int) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "charm.land/catwalk" {
				version = m.Version
			}
		}
	}
	return version, countProviders(rows().list), len(rows().list)
}

// Loaded reports whether this process has decoded the catalogue, for tests of what must not.
func Loaded() bool { return loaded.Load() }

func newTable(providers []catwalk.Provider) *table {
	n := 0
	for _, p := range providers {
		n += len(p.Models)
	}
	t := &table{list: make([]ext.CatalogueModel, 0, n), at: make(map[key]int, n), choices: make(map[string]choice, len(providers))}
	for _, p := range providers {
		for _, m := range p.Models {
			k := key{string(p.ID), m.ID}
			if _, twice := t.at[k]; twice || k.provider == "" || k.model == "" {
				continue
			}
			t.at[k] = len(t.list)
			t.list = append(t.list, ext.CatalogueModel{Provider: k.provider, ID: k.model, Name: m.Name, Reasons: m.CanReason, Info: infoOf(p.Type, m)})
		}
		listed := func(id string) string {
			if _, ok := t.at[key{string(p.ID), id}]; !ok {
				return ""
			}
			return id
		}
		t.choices[string(p.ID)] = choice{listed(p.DefaultLargeModelID), listed(p.DefaultSmallModelID)}
	}
	return t
}

// infoOf is what a row says. Its limit of an answer is the one that the catalogue asks for when nobody chooses: the model's own,
// or below it.
func infoOf(wire catwalk.Type, m catwalk.Model) model.Info {
	images := m.SupportsImages
	i := model.Info{
		ContextTokens:   tokens(m.ContextWindow),
		MaxOutputTokens: tokens(m.DefaultMaxTokens),
		Efforts:         effortsOf(wire, m),
		Images:          &images,
		Price:           priceOf(m),
	}
	if i.ContextTokens > 0 && i.MaxOutputTokens > i.ContextTokens {
		i.MaxOutputTokens = 0 // one of the two is wrong, and more is lost by a window that seems too small
	}
	return i
}

func tokens(n int64) int {
	if n < 0 || n > maxTokens {
		return 0
	}
	return int(n)
}

// effortsOf are the levels that a row lists, in octavo's words and order. A model that does not think takes none but off. One that
// thinks while its row lists no level takes nobody knows which: nil. On Anthropic's wire thinking is a switch beside the levels, so
// off is always one of them there.
func effortsOf(wire catwalk.Type, m catwalk.Model) []string {
	if !m.CanReason {
		return []string{off}
	}
	return levels(m.ReasoningLevels, wire == catwalk.TypeAnthropic)
}

// levels are those of listed that octavo knows, in its words and order; off is a switch beside them where switched.
func levels(listed []string, switched bool) []string {
	var known []string
	for _, level := range model.Efforts {
		if slices.Contains(listed, level) || level == off && slices.Contains(listed, "none") { // what OpenAI's wires call it
			known = append(known, level)
		}
	}
	if len(known) > 0 && known[0] != off && switched {
		known = slices.Insert(known, 0, off)
	}
	return known
}
