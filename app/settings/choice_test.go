package settings_test

import (
	"errors"
	"strings"
	"testing"

	"octavo/app/settings"
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
		{"other/x", "", "", `no provider is named "other". Providers: bare, local, remote`},
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
	for _, want := range []string{"no model is configured", "octavo setup --preset NAME", "--endpoint URL", "--model ID"} {
		if !strings.Contains(s.NoModel(), want) {
			t.Errorf("without providers: %q lacks %q", s.NoModel(), want)
		}
	}
	if _, _, err := s.ResolveModel(""); !errors.Is(err, settings.ErrNoModel) || err.Error() != s.NoModel() {
		t.Errorf("%v", err)
	}
	if _, _, err := s.ResolveModel("a/b"); err == nil || !strings.Contains(err.Error(), "octavo setup") {
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
