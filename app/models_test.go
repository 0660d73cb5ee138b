package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/builtin/openai"
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
	m, err := newModels(&settings.Settings{Providers: map[string]settings.Provider{
		"plain":  {Name: "plain", Wire: settings.DefaultWire, Endpoint: "http://known.test/v1", NoAuth: true},
		"chosen": {Name: "chosen", Wire: settings.DefaultWire, Endpoint: "http://known.test/v1", NoAuth: true, Models: map[string]model.Info{"m": said, "n": {}}},
		"local":  {Name: "local", Wire: settings.DefaultWire, Endpoint: "http://127.0.0.1:1/v1", NoAuth: true},
	}}, []ext.Extension{wire, {Name: "nothing"}, catalogued(known), catalogued(model.Info{ContextTokens: 7})})

	if err != nil {
		t.Fatal(err)
	}
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

// served answers a list of models at its endpoint, after it was let go.
func served(t *testing.T, hold <-chan struct{}, ids ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
				return
			}
		}
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"id":%q}`, id))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(list, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func TestDiscover(t *testing.T) {
	client := model.NewClient(model.Limits{})
	defer client.Close()
	cat := catalogued(model.Info{})
	cat.Models[0].Choices = func(endpoint string) (main, small string) {
		if endpoint == "http://known.test/v1" {
			return "m", "n"
		}
		return "", ""
	}
	m, err := newModels(&settings.Settings{}, []ext.Extension{openai.New(client), {Models: []ext.Catalogue{{}}}, cat})
	if err != nil {
		t.Fatal(err)
	}
	never := make(chan struct{})
	at := func(name, endpoint string) ext.Profile {
		return ext.Profile{Name: name, Label: strings.ToUpper(name), Wire: settings.DefaultWire, Endpoint: endpoint, KeySource: "$KEY"}
	}
	known, strange := at("known", "http://known.test/v1"), at("strange", "http://strange.test/v1")
	off, hung := at("off", "http://127.0.0.1:1/v1"), at("hung", served(t, never, "slow"))
	vectors, mixed := at("vectors", served(t, nil, "text-embedding-3")), at("mixed", served(t, nil, "nomic-EMBED", "qwen3:8b", "other"))
	for _, c := range []struct {
		keyed, local []ext.Profile
		want, why    string
	}{
		{nil, nil, "", ""},
		{[]ext.Profile{strange, known}, []ext.Profile{mixed}, "known/m", "there is a key of KNOWN ($KEY)"},
		{[]ext.Profile{strange}, []ext.Profile{off, vectors, mixed}, "mixed/other", "MIXED answers at " + mixed.Endpoint},
		{nil, []ext.Profile{hung, mixed}, "mixed/other", "MIXED answers at " + mixed.Endpoint},
		{nil, []ext.Profile{off, vectors}, "", ""},
	} {
		if got := m.discover(t.Context(), c.keyed, c.local); got.model != c.want || got.why != c.why {
			t.Errorf("%v %v: %+v", c.keyed, c.local, got)
		}
	}
}

func TestListModels(t *testing.T) {
	yes := true
	s, _, err := settings.Load(settings.Sources{Home: t.TempDir(), Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	s.ModelScope = []string{"*/n:high", "local/*", "gone/*"}
	s.Providers = map[string]settings.Provider{
		"mine":  {Name: "mine", Label: "Mine", Wire: settings.DefaultWire, Endpoint: "http://known.test/v1", NoAuth: true, Models: map[string]model.Info{"m": {ContextTokens: 5}}},
		"local": {Name: "local", Wire: settings.DefaultWire, Endpoint: "http://127.0.0.1:1/v1", NoAuth: true, Models: map[string]model.Info{"x": {}}},
	}
	m, err := newModels(s, []ext.Extension{catalogued(model.Info{ContextTokens: 9, Images: &yes})})
	if err != nil {
		t.Fatal(err)
	}
	a := &App{o: Options{Settings: s}, models: m}
	list, err := a.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range list {
		line := fmt.Sprintf("%s %d", i.ID, i.Context)
		if i.Scoped {
			line += " scoped " + i.Effort
		}
		if i.Configured {
			line += " configured"
		}
		if i.Scripted {
			line += " scripted"
		}
		got = append(got, line)
	}
	want := []string{"mine/n 0 scoped high", "local/x 0 scoped  configured", "mine/m 5 configured", "demo/scripted 0 scripted"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if misses := m.missing(); !slices.Equal(misses, []string{"gone/*"}) {
		t.Errorf("misses %q", misses)
	}
	for present, want := range map[string]string{"mine/n": "local/x ", "local/x": "mine/n high", "else": "mine/n high"} {
		if id, effort, ok := m.Next(present, 1); !ok || id+" "+effort != want {
			t.Errorf("after %s: %s %s", present, id, effort)
		}
	}
	if _, err := newModels(&settings.Settings{ModelScope: []string{":high"}}, nil); err == nil {
		t.Error("a scope without a model is taken")
	}
}
