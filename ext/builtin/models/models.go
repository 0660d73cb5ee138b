// Package models contributes the catalogue of well-known providers' models: windows, efforts, pictures and prices (plugins.md 4.14,
// decision 8), embedded in the program. It knows endpoints only as addresses, asks none of them, and no session.
package models

import (
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

// maxTokens is the largest window or answer that is believed, in tokens.
const maxTokens = 1_000_000_000

// New makes the extension.
func New() ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "what is known of models of well-known providers: windows, efforts, pictures, prices",
		Required:    true,
		Source:      "built-in",
		Models:      []ext.Catalogue{Catalogue()},
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
	}
}

func lookup(endpoint, modelID string) (model.Info, bool) {
	provider, ok := providerAt(endpoint)
	if !ok {
		return model.Info{}, false
	}
	t := rows()
	i, ok := t.at[key{provider, modelID}]
	if !ok {
		return model.Info{}, false
	}
	return t.list[i].Info, true
}

type (
	key   struct{ provider, model string }
	table struct {
		list []ext.CatalogueModel
		at   map[key]int // where in list
	}
)

// rows are decoded once in a process: they are a constant that costs some milliseconds and a few MiB.
var (
	rows   = sync.OnceValue(func() *table { loaded.Store(true); return newTable(embedded.GetAll()) })
	loaded atomic.Bool
)

// Loaded reports whether this process has decoded the catalogue, for tests of what must not.
func Loaded() bool { return loaded.Load() }

func newTable(providers []catwalk.Provider) *table {
	n := 0
	for _, p := range providers {
		n += len(p.Models)
	}
	t := &table{list: make([]ext.CatalogueModel, 0, n), at: make(map[key]int, n)}
	for _, p := range providers {
		for _, m := range p.Models {
			k := key{string(p.ID), m.ID}
			if _, twice := t.at[k]; twice || k.provider == "" || k.model == "" {
				continue
			}
			t.at[k] = len(t.list)
			t.list = append(t.list, ext.CatalogueModel{Provider: k.provider, ID: k.model, Name: m.Name, Reasons: m.CanReason, Info: infoOf(p.Type, m)})
		}
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
	const off = "off"
	if !m.CanReason {
		return []string{off}
	}
	listed := slices.Clone(m.ReasoningLevels)
	for i, level := range listed {
		if level == "none" { // what OpenAI's wires call it
			listed[i] = off
		}
	}
	var known []string
	for _, level := range model.Efforts {
		if slices.Contains(listed, level) {
			known = append(known, level)
		}
	}
	if len(known) > 0 && known[0] != off && wire == catwalk.TypeAnthropic {
		known = slices.Insert(known, 0, off)
	}
	return known
}
