package settings_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"octavo/app/settings"
)

func TestSetupWritesWhatItShows(t *testing.T) {
	p := newPlace(t)
	q := settings.Setup{Preset: "lm-studio", Model: "qwen/qwen3-8b", Available: []string{"other", "qwen/qwen3-8b"}}
	plan, err := q.Plan(p.home, p.lookup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.config()); err == nil {
		t.Fatal("a plan wrote something")
	}
	want := "octavo will create " + p.config() + `:

  model = "lm-studio/qwen/qwen3-8b"

  [providers.lm-studio]
  endpoint = "http://127.0.0.1:1234/v1"
  label = "LM Studio"
  no_auth = true

Provider: LM Studio at http://127.0.0.1:1234/v1
Key:      none is sent
Model:    lm-studio/qwen/qwen3-8b
`
	if plan.Text != want {
		t.Errorf("text:\n%s\nwant:\n%s", plan.Text, want)
	}
	if err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := p.must()
	if profile, id, err := s.ResolveModel(s.Model); err != nil || profile.Name != "lm-studio" || id != "qwen/qwen3-8b" {
		t.Errorf("%+v, %q, %v", profile, id, err)
	}
	if again, err := q.Plan(p.home, p.lookup); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("the same again: %v, %v", again, err)
	}
	if err := plan.Apply(t.Context()); !errors.Is(err, settings.ErrChanged) {
		t.Errorf("applied twice: %v", err)
	}
}

func TestSetupReplacesAndKeepsTheDefault(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "model = 'local/old' # mine\n\n[providers.local]\n# where\nendpoint = 'http://127.0.0.1:1/v1'\nno_auth = true\n")
	plan, err := settings.Setup{Provider: "local", Endpoint: "http://example.com/v1", APIKeyEnv: "KEY", ManualModel: "new", Replace: true}.Plan(p.home, p.lookup)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"octavo will change " + p.config(), `-endpoint = 'http://127.0.0.1:1/v1'`, `+endpoint = "http://example.com/v1"`, "-no_auth = true", `+api_key_env = "KEY"`,
		"+[providers.local.models.new]", "in place of the present one", "from auth.json, else $KEY",
		"local/old stays the default; --default makes it this one, octavo --model local/new uses it once", "Warning:  http://example.com/v1 is not encrypted", "Warning:  no API key for local: $KEY is not set",
	} {
		if !strings.Contains(plan.Text, want) {
			t.Errorf("text lacks %q:\n%s", want, plan.Text)
		}
	}
	if err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := p.must()
	if text := p.read(p.config()); !strings.HasPrefix(text, "model = 'local/old' # mine\n\n[providers.local]\n# where\nendpoint = \"http://example.com/v1\"\n") {
		t.Errorf("file:\n%s", text)
	}
	if l := s.Providers["local"]; l.NoAuth || l.APIKeyEnv != "KEY" || len(l.Models) != 1 {
		t.Errorf("%+v", l)
	}
}

func TestSetupChoosesTheOnlyModel(t *testing.T) {
	for _, c := range []struct {
		available []string
		want      string
	}{
		{[]string{"one"}, "ollama/one"}, {[]string{"one", "two"}, ""}, {[]string{}, ""}, {nil, ""}, {[]string{"bad\x1b"}, ""},
	} {
		p := newPlace(t)
		plan, err := settings.Setup{Preset: "ollama", Available: c.available}.Plan(p.home, p.lookup)
		if err != nil || plan.Model != c.want || strings.Contains(plan.Text, "\x1b") {
			t.Errorf("%q: %+v, %v", c.available, plan, err)
			continue
		}
		if err := plan.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := p.must(); s.Model != c.want {
			t.Errorf("%q: model %q", c.available, s.Model)
		}
	}
}

func TestSetupRefuses(t *testing.T) {
	ok := settings.Setup{Provider: "p", Endpoint: "http://127.0.0.1/v1", NoAuth: true}
	with := func(change func(*settings.Setup)) settings.Setup { q := ok; change(&q); return q }
	for want, q := range map[string]settings.Setup{
		"": ok,
		"setup needs --endpoint URL, or --preset with one of anthropic": with(func(q *settings.Setup) { q.Endpoint = "" }),
		"setup needs --provider NAME":                                   with(func(q *settings.Setup) { q.Provider = "" }),
		"setup needs --api-key-env VARIABLE":                            with(func(q *settings.Setup) { q.NoAuth = false }),
		"exclude each other":                                            with(func(q *settings.Setup) { q.APIKeyEnv = "K" }),
		"--model and --manual-model":                                    with(func(q *settings.Setup) { q.Model, q.ManualModel = "a", "b" }),
		"no preset is named \"lmstudio\"":                               with(func(q *settings.Setup) { q.Preset = "lmstudio" }),
		"beginning with a letter":                                       with(func(q *settings.Setup) { q.Provider = "A b" }),
		"must begin with http":                                          with(func(q *settings.Setup) { q.Endpoint = "file:///etc" }),
		"must not have a query":                                         with(func(q *settings.Setup) { q.Endpoint += "?key=x" }),
		"name of an environment variable":                               with(func(q *settings.Setup) { q.NoAuth, q.APIKeyEnv = false, "sk-abc" }),
		"model id":                                                      with(func(q *settings.Setup) { q.Model = " x" }),
		"Did you mean \"qwen3\"?":                                       with(func(q *settings.Setup) { q.Model, q.Available = "qwn3", []string{"qwen3", "z"} }),
		"must be one line":                                              with(func(q *settings.Setup) { q.Label = "a\x1b[2J" }),
	} {
		p := newPlace(t)
		_, err := q.Plan(p.home, p.lookup)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
	p := newPlace(t)
	p.write(p.config(), "a = = 1")
	if _, err := ok.Plan(p.home, p.lookup); err == nil || !strings.Contains(err.Error(), ":1:5:") {
		t.Errorf("broken file: %v", err)
	}
	if _, err := ok.Plan("", p.lookup); !errors.Is(err, settings.ErrNoHome) {
		t.Errorf("no home: %v", err)
	}
}

func TestSetupWarnsOfKeysInTheClear(t *testing.T) {
	p := newPlace(t)
	p.env["K"] = "some-key"
	for endpoint, warned := range map[string]bool{
		"http://127.0.0.1/v1": false, "http://localhost:80/v1": false, "http://[::1]/v1": false, "https://example.com/v1": false,
		"http://192.168.1.5/v1": true, "http://example.com": true, "http://127.0.0.1.example.com": true,
	} {
		plan, err := settings.Setup{Provider: "p", Endpoint: endpoint, APIKeyEnv: "K"}.Plan(p.home, p.lookup)
		if err != nil || (len(plan.Warnings) > 0) != warned {
			t.Errorf("%s: %v, %v", endpoint, plan, err)
		}
	}
}

func TestEveryPresetCanBeSetUp(t *testing.T) {
	for _, preset := range settings.Presets() {
		p := newPlace(t)
		plan, err := settings.Setup{Preset: preset.Name}.Plan(p.home, p.lookup)
		if err != nil {
			t.Errorf("%s: %v", preset.Name, err)
			continue
		}
		if err := plan.Apply(t.Context()); err != nil {
			t.Errorf("%s: %v", preset.Name, err)
		}
		got := p.must().Providers[preset.Name]
		if got.Endpoint != preset.Endpoint || got.Label != preset.Label || got.APIKeyEnv != preset.APIKeyEnv || got.NoAuth != (preset.APIKeyEnv == "") {
			t.Errorf("%s: %+v", preset.Name, got)
		}
	}
	p := newPlace(t)
	plan, err := settings.Setup{Preset: "ollama", Provider: "box", Endpoint: "http://10.0.0.2:11434/v1", APIKeyEnv: "BOX"}.Plan(p.home, p.lookup)
	if err != nil || plan.Provider.Name != "box" || plan.Provider.Endpoint != "http://10.0.0.2:11434/v1" || plan.Provider.NoAuth || plan.Provider.APIKeyEnv != "BOX" {
		t.Errorf("flags above the preset: %+v, %v", plan, err)
	}
}

func TestSetupMakesTheDefaultWhenAsked(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "model = 'local/old' # mine\n")
	plan, err := settings.Setup{Provider: "new", Endpoint: "http://127.0.0.1:1/v1", NoAuth: true, ManualModel: "m", Default: true}.Plan(p.home, p.lookup)
	if err != nil || !plan.Changes() {
		t.Fatalf("%v", err)
	}
	if err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.must(); s.Model != "new/m" {
		t.Errorf("the default is %q", s.Model)
	}
	again, err := settings.Setup{Provider: "new", Endpoint: "http://127.0.0.1:1/v1", NoAuth: true, ManualModel: "m", Default: true, Replace: true}.Plan(p.home, p.lookup)
	if err != nil || again.Changes() {
		t.Errorf("the same again changes nothing: %v\n%s", err, again.Text)
	}
}
