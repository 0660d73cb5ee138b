package settings_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octavo/app/settings"
	"octavo/ext"
)

func TestResolveModel(t *testing.T) {
	s := withProviders(t).must()
	for _, c := range []struct{ text, provider, id, want string }{
		{"local/small", "local", "small", ""},
		{"remote/vendor/large", "remote", "vendor/large", ""},
		{"remote/not-listed:free", "remote", "not-listed:free", ""},
		{"small", "local", "small", ""},
		{"vendor/large", "", "", "write local/vendor/large or remote/vendor/large"},
		{"locl/small", "", "", `no provider is named "locl"; did you mean "local/small"? Providers: bare, local, remote`},
		{"elsewhere/x", "", "", `no provider is named "elsewhere". Providers: bare, local, remote`},
		{"huge", "", "", "Known models: local/small, local/vendor/large, remote/vendor/large."},
		{"local/", "", "", "use 1 to 256 bytes"},
		{"local/a\x1b[2J", "", "", "control characters"},
		{"/", "", "", "no provider is named"},
	} {
		p, id, err := s.ResolveModel(c.text)
		if p.Name != c.provider || id != c.id || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q %q, %v; want %q %q, %q", c.text, p.Name, id, err, c.provider, c.id, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: the error carries a control character", c.text)
		}
	}
}

func TestNoModelSaysWhatToType(t *testing.T) {
	s := newPlace(t).must()
	for _, want := range []string{"no model is configured", "octavo setup --preset NAME", "--login anthropic", "--model demo"} {
		if !strings.Contains(s.NoModel(), want) {
			t.Errorf("without providers: %q lacks %q", s.NoModel(), want)
		}
	}
	if _, _, err := s.ResolveModel(""); !errors.Is(err, settings.ErrNoModel) || err.Error() != s.NoModel() {
		t.Errorf("%v", err)
	}
	if _, _, err := s.ResolveModel("nobody-here/b"); err == nil || !strings.Contains(err.Error(), "octavo help models") {
		t.Errorf("%v", err)
	}
	if _, _, err := s.ResolveModel("b"); err == nil || !strings.Contains(err.Error(), "anthropic/") || !strings.Contains(err.Error(), "--model demo") {
		t.Errorf("%v", err)
	}
	s = withProviders(t).must()
	if got := s.NoModel(); !strings.Contains(got, "octavo --model local/small") || !strings.Contains(got, "bare, local, remote") {
		t.Errorf("with providers: %q", got)
	}
	if _, _, err := s.ResolveModel(""); !errors.Is(err, settings.ErrNoModel) || err.Error() != s.NoModel() {
		t.Errorf("%v", err)
	}
}

// TestWhatIsPresetNeedsNoConfiguration resolves a preset, which a key makes usable, and the demo.
func TestWhatIsPresetNeedsNoConfiguration(t *testing.T) {
	p := newPlace(t)
	s := p.must()
	for _, text := range []string{settings.DemoProvider, settings.DemoModel} {
		if profile, id, err := s.ResolveModel(text); err != nil || profile.Name+"/"+id != settings.DemoModel || profile.Key != nil {
			t.Errorf("%s: %+v %s, %v", text, profile, id, err)
		}
	}
	profile, id, err := s.ResolveModel("anthropic/claude")
	if err != nil || id != "claude" || profile.Wire != "anthropic-messages" || profile.Endpoint != "https://api.anthropic.com/v1" {
		t.Fatalf("%+v %s, %v", profile, id, err)
	}
	if _, err := profile.Key(); !errors.Is(err, settings.ErrNoKey) {
		t.Errorf("a key out of nothing: %v", err)
	}
	if got := s.Unconfigured(); len(got) != 0 {
		t.Errorf("without a key: %+v", got)
	}
	p.env["OPENAI_API_KEY"], p.env["ANTHROPIC_API_KEY"] = "sk-openai-1234", "sk-anthropic-1234"
	names := func(profiles []ext.Profile) (all []string) {
		for _, p := range profiles {
			all = append(all, p.Name)
		}
		return all
	}
	if got := names(p.must().Unconfigured()); !slices.Equal(got, []string{"anthropic", "openai"}) {
		t.Errorf("with two keys: %q", got)
	}
	if got := names(p.must().Local()); !slices.Equal(got, []string{"lm-studio", "ollama", "llama-cpp", "vllm"}) {
		t.Errorf("servers of this machine: %q", got)
	}
	// What is configured stands above what is preset.
	p.write(p.config(), "[providers.openai]\nendpoint = \"http://127.0.0.1:9/v1\"\nno_auth = true\n[providers.vllm]\nendpoint = \"http://127.0.0.1:10/v1\"\nno_auth = true\n")
	s = p.must()
	if profile, _, err := s.ResolveModel("openai/x"); err != nil || profile.Endpoint != "http://127.0.0.1:9/v1" || profile.Key != nil {
		t.Errorf("%+v, %v", profile, err)
	}
	if got := names(slices.Concat(s.Unconfigured(), s.Local())); !slices.Equal(got, []string{"anthropic", "lm-studio", "ollama", "llama-cpp"}) {
		t.Errorf("beside what is configured: %q", got)
	}
}

func TestKeyThatCannotBeUsedIsSaid(t *testing.T) {
	p := newPlace(t)
	p.env["OPENAI_API_KEY"] = "sk-one\ntwo-lines-12345"
	s := p.must()
	if got := s.KeyProblems(); len(got) != 1 || !strings.Contains(got[0].Error(), "$OPENAI_API_KEY") || strings.Contains(got[0].Error(), "sk-one") {
		t.Errorf("%v", got)
	}
	if got := s.NoModel(); !strings.Contains(got, "A key is there and cannot be used: the key from $OPENAI_API_KEY") {
		t.Errorf("%s", got)
	}
	p.write(filepath.Join(filepath.Dir(p.config()), settings.AuthFile), "{")
	if got := p.must().KeyProblems(); len(got) != 1 || !strings.Contains(got[0].Error(), settings.AuthFile) {
		t.Errorf("with a broken file: %v", got)
	}
}
