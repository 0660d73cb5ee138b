package settings_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"octavo/app/settings"
	"octavo/ext/model"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// left lists the names in a directory.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func mode(t *testing.T, file string) os.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestSetCreatesChangesAndTakesOut(t *testing.T) {
	p := newPlace(t)
	p.home = filepath.Join(p.home, "new", ".octavo") // not there yet
	ctx := t.Context()
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model", "a/b", "model = \"a/b\"\n"},
		{"max_turns", 5, "model = \"a/b\"\nmax_turns = 5\n"},
		{"enabled_extensions", []string{"mcp", "browse"}, "model = \"a/b\"\nmax_turns = 5\nenabled_extensions = [\"mcp\", \"browse\"]\n"},
		{"model", nil, "max_turns = 5\nenabled_extensions = [\"mcp\", \"browse\"]\n"},
		{"plain", false, "max_turns = 5\nenabled_extensions = [\"mcp\", \"browse\"]\nplain = false\n"},
	} {
		if err := settings.Set(ctx, p.home, c.key, c.value); err != nil {
			t.Fatalf("%s: %v", c.key, err)
		}
		if got := p.read(p.config()); got != c.want {
			t.Errorf("after %s = %v:\n%s\nwant\n%s", c.key, c.value, got, c.want)
		}
	}
	if mode(t, p.home) != 0o700 || mode(t, p.config()) != 0o600 {
		t.Errorf("modes %v and %v", mode(t, p.home), mode(t, p.config()))
	}
	if got := left(t, p.home); !cmp.Equal(got, []string{"config.toml", "config.toml.lock"}) {
		t.Errorf("left in the home: %v", got)
	}
	p.must()
}

func TestSetRefusesWithoutWriting(t *testing.T) {
	p := newPlace(t)
	p.write(p.config(), "plain = true # mine\n")
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"modle", "x", `did you mean "model"?`},
		{"providers.x.label", "x", "unknown key"},
		{"max_turns", 0, "must be a whole number from 1"},
		{"max_turns", "5", "must be a whole number from 1"},
		{"shell_path", "bash", "must be an absolute path"},
	} {
		if err := settings.Set(t.Context(), p.home, c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v, want %q", c.key, c.value, err, c.want)
		}
	}
	for file, want := range map[string]string{"a = = 1": ":1:5: ", "#" + strings.Repeat("x", settings.MaxFile-2) + "\n": "would be larger than 1048576 bytes"} {
		p.write(p.config(), file)
		if err := settings.Set(t.Context(), p.home, "model", "a/b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", file, err, want)
		}
		if p.read(p.config()) != file {
			t.Errorf("%.20q was changed", file)
		}
	}
	if err := settings.Set(t.Context(), "relative", "model", "x"); !errors.Is(err, settings.ErrNoHome) {
		t.Errorf("relative home: %v", err)
	}
	if _, err := os.Stat("relative"); err == nil {
		t.Error("a folder was made in the current directory")
	}
}

func TestSetKeepsALinkAndNarrowsTheMode(t *testing.T) {
	p := newPlace(t)
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.toml")
	if err := os.WriteFile(real, []byte("# dotfiles\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, p.config()); err != nil {
		t.Fatal(err)
	}
	if err := settings.Set(t.Context(), p.home, "model", "a/b"); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(p.config()); err != nil || to != real {
		t.Errorf("the link is gone: %v", err)
	}
	if got := p.read(real); got != "# dotfiles\nmodel = \"a/b\"\n" || mode(t, real) != 0o600 {
		t.Errorf("%q, mode %v", got, mode(t, real))
	}
	if got := left(t, dir); len(got) != 1 {
		t.Errorf("left beside the file: %v", got)
	}
}

// TestWritersInSeveralProcessesLoseNothing starts this test's own binary as further writers.
func TestWritersInSeveralProcessesLoseNothing(t *testing.T) {
	const processes, writers, each = 2, 4, 3
	if home := os.Getenv("SETTINGS_TEST_WRITER_HOME"); home != "" {
		writeProviders(t, home, os.Getenv("SETTINGS_TEST_WRITER"), writers, each)
		return
	}
	p := newPlace(t)
	p.write(p.config(), "# kept\nplain = true\n")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range processes {
		c := exec.CommandContext(t.Context(), exe, "-test.run=^TestWritersInSeveralProcessesLoseNothing$")
		c.Env = append(os.Environ(), "SETTINGS_TEST_WRITER_HOME="+p.home, fmt.Sprint("SETTINGS_TEST_WRITER=process", i))
		all.Go(func() {
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("writer: %v\n%s", err, out)
			}
		})
	}
	all.Wait()
	s := p.must()
	if len(s.Providers) != processes*writers*each || !strings.HasPrefix(p.read(p.config()), "# kept\nplain = true\n") {
		t.Errorf("%d providers of %d are left in\n%s", len(s.Providers), processes*writers*each, p.read(p.config()))
	}
}

func writeProviders(t *testing.T, home, name string, writers, each int) {
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				provider := settings.Provider{Name: fmt.Sprintf("%s-%d-%d", name, w, i), Endpoint: "http://h/v1", NoAuth: true}
				if err := settings.WriteProvider(t.Context(), home, provider); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestHeldLockEndsWithTheContext(t *testing.T) {
	p := newPlace(t)
	f, err := os.Create(p.config() + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := settings.Set(ctx, p.home, "plain", true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if got := left(t, p.home); len(got) != 1 {
		t.Errorf("written without the lock: %v", got)
	}
}

func TestWriteProviderSaysWhatLoadReads(t *testing.T) {
	yes, read := true, int64(3)
	full := settings.Provider{
		Name: "local", Label: "Mine \"x\"", Wire: "openai-chat", Endpoint: "http://127.0.0.1:1234/v1", APIKeyEnv: "KEY",
		Headers: map[string]string{"X-Title": "octavo", "X.y": "z"},
		Models: map[string]model.Info{
			"qwen/qwen3-8b": {ContextTokens: 32768, MaxOutputTokens: 8192, Efforts: []string{"low", "high"}, Images: &yes,
				Price: &model.Price{Input: 0, Output: 5, CacheRead: &read}},
			"plain": {},
		},
	}
	p := newPlace(t)
	p.write(p.config(), "# top\nplain = true\n\n[providers.other] # o\nendpoint = 'http://o/v1'\n")
	check := func(want settings.Provider) {
		t.Helper()
		if err := settings.WriteProvider(t.Context(), p.home, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.must().Providers["local"]); diff != "" {
			t.Errorf("(-written +read):\n%s\n%s", diff, p.read(p.config()))
		}
	}
	check(full)
	p.write(p.config(), strings.Replace(p.read(p.config()), "label = ", "# my words\nlabel = ", 1))
	less := full
	less.Endpoint, less.APIKeyEnv, less.NoAuth, less.Headers = "https://h/v2", "", true, nil
	less.Models = map[string]model.Info{"plain": {ContextTokens: 5}}
	check(less)
	text := p.read(p.config())
	for _, kept := range []string{"# top\nplain = true\n", "[providers.other] # o\n", "# my words\nlabel"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is gone from\n%s", kept, text)
		}
	}
	if err := settings.RemoveProvider(t.Context(), p.home, "local"); err != nil {
		t.Fatal(err)
	}
	if s := p.must(); len(s.Providers) != 1 || s.Providers["other"].Endpoint == "" {
		t.Errorf("after removal: %v", s.Providers)
	}
	if got := p.read(p.config()); got != "# top\nplain = true\n\n[providers.other] # o\nendpoint = 'http://o/v1'\n" {
		t.Errorf("after removal:\n%s", got)
	}
}

func TestProviderRules(t *testing.T) {
	long := strings.Repeat("n", settings.MaxProviderName)
	for _, c := range []struct {
		table, want string // "" accepts
	}{
		{"[providers." + long + "]\nendpoint = 'http://h'", ""},
		{"[providers." + long + "n]\nendpoint = 'http://h'", "has no usable name"},
		{"[providers.Local]\nendpoint = 'http://h'", "has no usable name"},
		{"[providers.\"a/b\"]\nendpoint = 'http://h'", "has no usable name"},
		{"[providers.\"\"]\nendpoint = 'http://h'", "has no usable name"},
		{"[providers.-a]\nendpoint = 'http://h'", "has no usable name"},
		{"[providers.\"a.b_c-1\"]\nendpoint = 'http://h'", ""},
		{"[providers.x]", "needs an endpoint"},
		{"providers.x = 3", "must be a table"},
		{"providers = 3", "must be a table"},
		{"[providers.x]\nendpoint = 'http://h'\nmodels = ['a']", "must be a table"},
		{"[providers.x]\nendpoint = 'http://h'\nno_auth = true\napi_key_env = 'K'", "both no_auth and api_key_env"},
		{"[providers.x]\nendpoint = 'http://h'\napi_key_env = 'sk-abc-secret'", "must be the name of an environment variable"},
		{"[providers.x]\nendpoint = 'http://h'\napi_key_env = '1A'", "must be the name of an environment variable"},
		{"[providers.x]\nendpoint = 'http://h'\nwire = 'Open AI'", "must be the name of a wire"},
		{"[providers.x]\nendpoint = 'http://h'\nheaders = { Authorization = 'Bearer secret' }", "must not set Authorization"},
		{"[providers.x]\nendpoint = 'http://h'\nheaders = { 'x y' = 'a' }", "must have names of HTTP headers"},
		{"[providers.x]\nendpoint = 'http://h'\nheaders = { x = \"a\\r\\nHost: b\" }", "control characters"},
		{"[providers.x]\nendpoint = 'http://h'\nheaders = { content-length = '0' }", "belongs to the connection"},
		{"[providers.x]\nendpoint = 'http://h'\nheaders = { x = 1 }", "must be a table of strings"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.'a ']", "no space"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models." + strings.Repeat("m", settings.MaxModelID) + "]", ""},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models." + strings.Repeat("m", settings.MaxModelID+1) + "]", "use 1 to 256 bytes"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.m]\nprice = { input = 1 }", "needs both input and output"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.m]\nprice = { input = 0, output = 0 }", ""},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.m]\nprice = { input = -1, output = 0 }", "whole number from 0"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.m]\nefforts = ['low', 'huge']", "must be a list of off, minimal"},
		{"[providers.x]\nendpoint = 'http://h'\n[providers.x.models.m]\ncontext_tokens = 0", "whole number from 1"},
	} {
		p := newPlace(t)
		p.write(p.config(), c.table)
		_, _, err := p.load()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %q", c.table, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a key: %v", err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:1234/v1": "", "https://h": "", "https://h/a/b/": "", "http://[::1]:80/v1": "", "https://host:": "",
		"h/v1": "begin with", "ftp://h": "begin with", "http:///v1": "name a host", "http://": "name a host", "https:h": "name a host",
		"https://user:secret@h/v1": "user name or password", "https://user@h": "user name or password",
		"https://h?a=b": "query", "https://h?": "query", "https://h#x": "fragment", "https://h#": "fragment",
		"https://h/\n": "control", "https://h:port": "must be a URL", "": "begin with", "https://h/%zz": "must be a URL",
	} {
		err := settings.CheckEndpoint(endpoint)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v, want %q", endpoint, err, want)
		}
	}
}
