package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octavo/app/settings"
	"octavo/ext"

	"github.com/google/go-cmp/cmp"
)

const secret = "sk-0123456789abcdef"

func (p *place) auth() string { return filepath.Join(p.home, "auth.json") }

// withProviders configures one provider of each kind.
func withProviders(t *testing.T) *place {
	p := newPlace(t)
	p.write(p.config(), `
[providers.remote]
label = "Remote"
endpoint = "https://API.example.com:443/v1/"
api_key_env = "REMOTE_KEY"
headers = { X-Title = "octavo" }
[providers.remote.models."vendor/large"]
context_tokens = 1000
[providers.local]
endpoint = "http://127.0.0.1:1234/v1"
no_auth = true
[providers.local.models."small"]
[providers.local.models."vendor/large"]
[providers.bare]
endpoint = "https://bare/v1"
`)
	return p
}

func profile(t *testing.T, s *settings.Settings, name string) ext.Profile {
	t.Helper()
	for _, p := range s.Profiles() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no profile %s", name)
	return ext.Profile{}
}

func TestProfiles(t *testing.T) {
	s := withProviders(t).must()
	var names []string
	for _, p := range s.Profiles() {
		names = append(names, p.Name)
	}
	if !cmp.Equal(names, []string{"bare", "local", "remote"}) {
		t.Errorf("profiles %v", names)
	}
	r, l := profile(t, s, "remote"), profile(t, s, "local")
	if r.Label != "Remote" || r.Endpoint != "https://api.example.com/v1" || r.Wire != "openai-chat" || r.KeySource != "$REMOTE_KEY" ||
		r.Headers["X-Title"] != "octavo" || r.Models["vendor/large"].ContextTokens != 1000 {
		t.Errorf("remote: %+v", r)
	}
	if l.Label != "local" || l.Key != nil || l.KeySource != "" {
		t.Errorf("local: %+v", l)
	}
	r.Headers["X-Title"] = "changed"
	if profile(t, s, "remote").Headers["X-Title"] != "octavo" {
		t.Error("a profile shares its headers with the settings")
	}
}

func TestKeysAreReadWhenTheyAreAskedForAndTheFileComesFirst(t *testing.T) {
	p := withProviders(t)
	s := p.must()
	key := profile(t, s, "remote").Key
	if _, err := key(); !errors.Is(err, settings.ErrNoKey) || !strings.Contains(err.Error(), "$REMOTE_KEY is not set") || !strings.Contains(err.Error(), p.auth()) {
		t.Errorf("no key anywhere: %v", err)
	}
	if st := s.KeyState("remote"); st.Set || st.Source != "$REMOTE_KEY" {
		t.Errorf("state %+v", st)
	}
	p.env["REMOTE_KEY"] = "  from-environment\n"
	if k, err := key(); k != "from-environment" || err != nil {
		t.Errorf("%q, %v", k, err)
	}
	if err := settings.WriteKey(t.Context(), p.home, "remote", secret); err != nil {
		t.Fatal(err)
	}
	if k, err := key(); k != secret || err != nil {
		t.Errorf("%q, %v", k, err)
	}
	if st := s.KeyState("remote"); !st.Set || st.Source != "auth.json" || profile(t, s, "remote").KeySource != "auth.json" {
		t.Errorf("state %+v", st)
	}
	if err := settings.WriteKey(t.Context(), p.home, "remote", ""); err != nil {
		t.Fatal(err)
	}
	if k, err := key(); k != "from-environment" || err != nil {
		t.Errorf("after the key was taken out: %q, %v", k, err)
	}
	if _, err := profile(t, s, "bare").Key(); !errors.Is(err, settings.ErrNoKey) || !strings.Contains(err.Error(), "no_auth = true") {
		t.Errorf("a provider with nowhere to look: %v", err)
	}
	if st := s.KeyState("local"); !st.NoAuth || st.Err != nil {
		t.Errorf("local: %+v", st)
	}
	if st := s.KeyState("gone"); st.Err == nil {
		t.Error("an unknown provider has a state")
	}
}

func TestAuthFileModes(t *testing.T) {
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false, 0o601: false, 0o644: false, 0o777: false} {
		p := withProviders(t)
		p.write(p.auth(), `{"providers":{"remote":{"api_key":"`+secret+`"}}}`)
		if err := os.Chmod(p.auth(), mode); err != nil {
			t.Fatal(err)
		}
		p.env["REMOTE_KEY"] = "never-instead"
		k, err := profile(t, p.must(), "remote").Key()
		if ok && (k != secret || err != nil) {
			t.Errorf("%04o: %q, %v", mode, k, err)
		}
		if !ok && (err == nil || k != "" || !strings.Contains(err.Error(), "chmod 600 "+p.auth()) || !strings.Contains(err.Error(), fmt.Sprintf("%04o", mode))) {
			t.Errorf("%04o: %q, %v; want a refusal with advice", mode, k, err)
		}
		if err := settings.WriteKey(t.Context(), p.home, "remote", secret); (err == nil) != ok {
			t.Errorf("%04o: WriteKey: %v", mode, err)
		}
	}
}

func TestAuthFileThatIsBrokenNamesNoSecret(t *testing.T) {
	for _, text := range []string{
		`{"providers":{"remote":{"api_key":"` + secret + `"`, `["` + secret + `"]`, `{"providers":["` + secret + `"]}`,
		`{"providers":{"remote":"` + secret + `"}}`, `{"providers":{"remote":{"api_key":["` + secret + `"]}}}`, secret,
		`{"providers":{"remote":{"api_key":"` + secret + ` x"}}}`, `{"providers":{"remote":{"api_key":"` + secret + `\n` + secret + `"}}}`,
		`{"providers":{"remote":{"api_key":"` + strings.Repeat(secret, 1000) + `"}}}`,
	} {
		p := withProviders(t)
		p.write(p.auth(), text)
		_, err := profile(t, p.must(), "remote").Key()
		if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), secret[:4]) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

func TestKeyLengthOnEachSideOfItsBound(t *testing.T) {
	p := withProviders(t)
	for n, ok := range map[int]bool{1: true, settings.MaxKey: true, settings.MaxKey + 1: false} {
		if err := settings.WriteKey(t.Context(), p.home, "remote", strings.Repeat("k", n)); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestWriteKeyKeepsWhatItDoesNotKnow(t *testing.T) {
	p := withProviders(t)
	p.write(p.auth(), `{"version": 1, "logins": {"a": [1, 2]}, "providers": {"remote": {"api_key": "old", "note": "n"}, "x": {"other": true}}}`)
	if err := settings.WriteKey(t.Context(), p.home, "remote", secret); err != nil {
		t.Fatal(err)
	}
	if err := settings.WriteKey(t.Context(), p.home, "new", "k2"); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"version": 1.0, "logins": map[string]any{"a": []any{1.0, 2.0}}, "providers": map[string]any{
		"remote": map[string]any{"api_key": secret, "note": "n"}, "x": map[string]any{"other": true}, "new": map[string]any{"api_key": "k2"}}}
	var got map[string]any
	if err := json.Unmarshal([]byte(p.read(p.auth())), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, provider := range []string{"remote", "new", "absent"} {
		if err := settings.WriteKey(t.Context(), p.home, provider, ""); err != nil {
			t.Fatal(err)
		}
	}
	if text := p.read(p.auth()); strings.Contains(text, "api_key") || !strings.Contains(text, "note") || strings.Contains(text, "absent") {
		t.Errorf("after taking the keys out:\n%s", text)
	}
	if mode(t, p.auth()) != 0o600 {
		t.Errorf("mode %v", mode(t, p.auth()))
	}
	if err := settings.WriteKey(t.Context(), p.home, "No Name", secret); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}

func TestRedactor(t *testing.T) {
	p := withProviders(t)
	p.env["REMOTE_KEY"] = "env-key-4567"
	p.write(p.auth(), `{"providers":{"bare":{"api_key":"ollama"},"other":{"api_key":"sk-0123"},"local":{"api_key":"`+secret+`+/x"}}}`)
	s := p.must()
	r := s.Redactor()
	for text, want := range map[string]string{
		"key env-key-4567, again env-key-4567.":            "key [redacted], again [redacted].",
		"?key=" + secret + "%2B%2Fx&a":                     "?key=[redacted]&a",
		secret + "+/x":                                     "[redacted]",
		"ollama runs on this machine":                      "ollama runs on this machine",
		"sent Bearer ollama to ollama":                     "sent Bearer [redacted] to ollama",
		"bearer sk-0123 and sk-0123":                       "bearer [redacted] and sk-0123",
		`Authorization: Bearer not-known`:                  `Authorization: Bearer [redacted]`,
		`map[Authorization:[Bearer not-known] Accept:[a]]`: `map[Authorization:[Bearer [redacted]] Accept:[a]]`,
		`{"authorization": "Basic dXNlcg=="}`:              `{"authorization": "Basic [redacted]"}`,
		"invalid bearer token":                             "invalid bearer token",
		"":                                                 "",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
	p.env["REMOTE_KEY"] = "rotated-key-1"
	if got := r.Redact("rotated-key-1"); got != "rotated-key-1" {
		t.Errorf("a key nobody read is known: %q", got)
	}
	if _, err := profile(t, s, "remote").Key(); err != nil {
		t.Fatal(err)
	}
	if got := r.Redact("rotated-key-1 env-key-4567"); got != "[redacted] [redacted]" {
		t.Errorf("after reading the new key: %q", got)
	}
}

func TestRedactorKnowsKeysFromTheirBoundOn(t *testing.T) {
	var r settings.Redactor
	long := strings.Repeat("k", settings.MinRedacted)
	r.Add(long[1:])
	if got := r.Redact("a " + long); got != "a "+long {
		t.Errorf("a key below the bound was replaced: %q", got)
	}
	r.Add(long)
	r.Add(long + "-and-more")
	r.Add("")
	if got := r.Redact("a " + long + " " + long + "-and-more"); got != "a [redacted] [redacted]" {
		t.Errorf("%q", got)
	}
}

func BenchmarkRedact(b *testing.B) {
	var r settings.Redactor
	for i := range 5 {
		r.Add(fmt.Sprintf("%s-%d", secret, i))
	}
	text := strings.Repeat("a line of a log that holds no key at all\n", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Redact(text)
	}
}
