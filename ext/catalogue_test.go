package ext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/model"
)

// catalogue answers for one model at any endpoint.
func catalogue(id string, i model.Info) ext.Catalogue {
	return ext.Catalogue{Lookup: func(_, modelID string) (model.Info, bool) { return i, modelID == id }}
}

func TestDescribe(t *testing.T) {
	yes, no := true, false
	price, dear := &model.Price{Input: 1, Output: 2, CacheRead: model.Count(1)}, &model.Price{Input: 30, Output: 40}
	full := model.Info{ContextTokens: 1000, MaxOutputTokens: 100, Efforts: []string{"low", "high"}, Images: &yes, Price: price}
	second := model.Info{ContextTokens: 7, MaxOutputTokens: 7, Efforts: []string{"max"}, Images: &no, Price: dear}

	for name, c := range map[string]struct {
		said       model.Info
		catalogues []ext.Catalogue
		want       model.Info
	}{
		"nobody knows":             {model.Info{}, nil, model.Info{}},
		"it is not listed":         {model.Info{ContextTokens: 5}, []ext.Catalogue{catalogue("other", full)}, model.Info{ContextTokens: 5}},
		"only the catalogue":       {model.Info{}, []ext.Catalogue{catalogue("m", full)}, full},
		"the first that lists it":  {model.Info{}, []ext.Catalogue{catalogue("other", second), catalogue("m", full), catalogue("m", second)}, full},
		"one answers, not several": {model.Info{}, []ext.Catalogue{catalogue("m", model.Info{ContextTokens: 9}), catalogue("m", full)}, model.Info{ContextTokens: 9}},
		"configuration wins whole": {second, []ext.Catalogue{catalogue("m", full)}, second},
		"field by field": {model.Info{MaxOutputTokens: 50, Images: &no}, []ext.Catalogue{catalogue("m", full)},
			model.Info{ContextTokens: 1000, MaxOutputTokens: 50, Efforts: full.Efforts, Images: &no, Price: price}},
		"prices are not mixed": {model.Info{Price: dear}, []ext.Catalogue{catalogue("m", full)},
			model.Info{ContextTokens: 1000, MaxOutputTokens: 100, Efforts: full.Efforts, Images: &yes, Price: dear}},
		"free is a price": {model.Info{Price: &model.Price{}}, []ext.Catalogue{catalogue("m", full)},
			model.Info{ContextTokens: 1000, MaxOutputTokens: 100, Efforts: full.Efforts, Images: &yes, Price: &model.Price{}}},
	} {
		p := ext.Profile{Models: map[string]model.Info{"m": c.said}}
		if d := cmp.Diff(c.want, ext.Describe(c.catalogues, p, "m")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(c.said, p.Models["m"]); d != "" {
			t.Errorf("%s: the configuration was changed:\n%s", name, d)
		}
	}
}
