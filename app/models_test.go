package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/model"
)

// catalogued is an extension that knows model m at http://known, beside one that nobody configured.
func catalogued(i model.Info) ext.Extension {
	const endpoint = "http://known.test/v1"
	return ext.Extension{Name: "catalogue", Models: []ext.Catalogue{{
		Provider: func(e string) (string, bool) { return "known", e == endpoint },
		Lookup:   func(e, id string) (model.Info, bool) { return i, e == endpoint && id == "m" },
		List: func() []ext.CatalogueModel {
			return []ext.CatalogueModel{{Provider: "known", ID: "m"}, {Provider: "other", ID: "m"}, {Provider: "known", ID: "n"}}
		},
	}}}
}

// wire resolves to an upstream that says what its profile told it.
var wire = ext.Extension{Name: "wire", Providers: []ext.Provider{{Wire: settings.DefaultWire,
	Resolve: func(p ext.Profile, id string) (*model.Upstream, error) {
		return &model.Upstream{Provider: p.Name, Model: id, Endpoint: p.Endpoint, Info: p.Models[id]}, nil
	}}}}

func TestResolveFillsWhatConfigurationLeavesUnknown(t *testing.T) {
	no, yes := false, true
	known := model.Info{ContextTokens: 1000, MaxOutputTokens: 100, Efforts: []string{"low", "high"}, Images: &yes, Price: &model.Price{Input: 1, Output: 2}}
	said := model.Info{ContextTokens: 500, Images: &no}
	m := newModels(&settings.Settings{Providers: map[string]settings.Provider{
		"plain":  {Name: "plain", Wire: settings.DefaultWire, Endpoint: "http://known.test/v1", NoAuth: true},
		"chosen": {Name: "chosen", Wire: settings.DefaultWire, Endpoint: "http://known.test/v1", NoAuth: true, Models: map[string]model.Info{"m": said, "n": {}}},
		"local":  {Name: "local", Wire: settings.DefaultWire, Endpoint: "http://127.0.0.1:1/v1", NoAuth: true},
	}}, []ext.Extension{wire, {Name: "nothing"}, catalogued(known), catalogued(model.Info{ContextTokens: 7})})

	mixed := known
	mixed.ContextTokens, mixed.Images = 500, &no
	for id, want := range map[string]model.Info{"plain/m": known, "chosen/m": mixed, "chosen/n": {}, "plain/x": {}, "local/m": {}} {
		up, err := m.Resolve(id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, up.Info); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
		count := 2
		if strings.HasPrefix(id, "local/") {
			count = 0
		}
		if got := m.Catalogued(up); got != count {
			t.Errorf("%s: %d models of its provider are known, want %d", id, got, count)
		}
	}
	if d := cmp.Diff(said, m.settings.Providers["chosen"].Models["m"]); d != "" {
		t.Errorf("the settings were changed:\n%s", d)
	}

	up, err := m.Resolve("plain/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := effort(up, "max", "max"); err == nil || !strings.Contains(err.Error(), "plain/m takes the efforts low, high") {
		t.Errorf("an effort that the catalogue does not list: %v", err)
	}
	if got, err := effort(up, "", "max"); got != "" || err != nil {
		t.Errorf("an effort meant for another model stays %q, %v", got, err)
	}
}
