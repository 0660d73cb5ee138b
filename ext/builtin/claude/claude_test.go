package claude

import (
	"testing"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

// The version decides how the key is sent, and a profile chooses the version.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		headers                 map[string]string
		version, bearer, apiKey string
	}{
		{nil, Version, "", wiretest.Key},
		{map[string]string{"X-Other": "1"}, Version, "", wiretest.Key},
		{map[string]string{"anthropic-version": "2023-06-01"}, Version, "", wiretest.Key},
		{map[string]string{"Anthropic-Version": "2026-10-21"}, BearerVersion, "Bearer " + wiretest.Key, ""},
		{map[string]string{"anthropic-version": "2027-01-01"}, "2027-01-01", "Bearer " + wiretest.Key, ""},
	} {
		s := modeltest.New(t)
		s.Script(modeltest.Say("x"))
		client := model.NewClient(model.Limits{})
		u := over.Resolve(t, client, ext.Profile{Name: "prov", Endpoint: s.URL(), Headers: c.headers}, "big")
		if _, err := wiretest.Ask(t, u, wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
		client.Close()
		h := s.Requests()[0].Header
		if len(h.Values("Anthropic-Version")) != 1 || h.Get("Anthropic-Version") != c.version || h.Get("Authorization") != c.bearer || h.Get("X-Api-Key") != c.apiKey {
			t.Errorf("%v: %v", c.headers, h)
		}
		if c.headers["X-Other"] != h.Get("X-Other") || c.headers != nil && len(c.headers) != 1 {
			t.Errorf("headers of the profile: %v, sent %v", c.headers, h)
		}
	}
}

// What configuration says of a model reaches the request, and a whole turn of levels does.
func TestLimitsAndEffort(t *testing.T) {
	s := modeltest.New(t)
	client := model.NewClient(model.Limits{})
	defer client.Close()
	for _, c := range []struct{ id, effort, thinking, output string }{
		{"claude-sonnet-5", "high", `{"type":"adaptive","display":"summarized"}`, `{"effort":"high"}`},
		{"claude-sonnet-4-5", "max", `{"type":"enabled","budget_tokens":3072}`, ``},
		{"claude-sonnet-5", "", ``, ``},
	} {
		s.Script(modeltest.Say("x"))
		u := over.Resolve(t, client, ext.Profile{Name: "prov", Endpoint: s.URL(), Models: map[string]model.Info{c.id: {MaxOutputTokens: 4096}}}, c.id)
		if _, err := wiretest.Ask(t, u, model.Request{Effort: c.effort, Messages: wiretest.Hello().Messages}); err != nil {
			t.Fatal(err)
		}
		sent := s.Requests()
		f := sent[len(sent)-1].Chat.Fields
		if string(f["max_tokens"]) != "4096" || string(f["thinking"]) != c.thinking || string(f["output_config"]) != c.output {
			t.Errorf("%s %s: %s", c.id, c.effort, sent[len(sent)-1].Body)
		}
	}
}
