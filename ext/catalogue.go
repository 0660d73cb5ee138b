package ext

import (
	"cmp"

	"octavo/ext/model"
)

// Catalogue knows models by the endpoint that serves them (plugins.md 1.7). It answers only for models it lists: unknown stays
// unknown. Its functions ask nobody on the network, though the first call may read a file; they are safe for concurrent use, and what they return is read-only.
type Catalogue struct {
	Name string // for a person
	// Provider is the catalogue's own name of who answers behind an endpoint, a base URL. It must be cheap: every resolved model
	// passes through it, also one on this machine that no catalogue can know.
	Provider func(endpoint string) (provider string, ok bool)
	// Lookup says what is known of a model behind an endpoint.
	Lookup func(endpoint, modelID string) (model.Info, bool)
	// List is everything the catalogue knows, a provider's models together.
	List func() []CatalogueModel
	// Choices are the models that the catalogue recommends behind an endpoint: for work, and for small tasks such as a title. ""
	// when it recommends none.
	Choices func(endpoint string) (main, small string)
}

// CatalogueModel is one row of a catalogue.
type CatalogueModel struct {
	Provider string // as Catalogue.Provider names it
	ID       string // as the provider's API takes it
	Name     string // for a person
	// Reasons reports that the model thinks, also where Info.Efforts does not say at which levels.
	Reasons bool
	Info    model.Info
}

// Describe is all that is known of a model: what the profile's configuration says of it, and for each field that it leaves unknown
// what the first catalogue says that lists the model. A price is one field: prices of two sources are never mixed, for together
// they might be nobody's.
func Describe(catalogues []Catalogue, p Profile, modelID string) model.Info {
	known := p.Models[modelID]
	for _, c := range catalogues {
		found, ok := c.Lookup(p.Endpoint, modelID)
		if !ok {
			continue
		}
		known.ContextTokens = cmp.Or(known.ContextTokens, found.ContextTokens)
		known.MaxOutputTokens = cmp.Or(known.MaxOutputTokens, found.MaxOutputTokens)
		known.Images = cmp.Or(known.Images, found.Images)
		known.Price = cmp.Or(known.Price, found.Price)
		if len(known.Efforts) == 0 {
			known.Efforts = found.Efforts
		}
		break
	}
	return known
}
