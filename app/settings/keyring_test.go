package settings_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octavo/app/settings"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

// mockKeyring has the library keep keys in memory for one test, or fail; octavo believes in a session bus meanwhile.
func mockKeyring(t *testing.T, failing error) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	if keyring.MockInit(); failing != nil {
		keyring.MockInitWithError(failing)
	}
	t.Cleanup(keyring.MockInit)
}

const ringMark = `{"providers":{"vault":{"keyring":true}}}`

// TestFirstOfFourWins goes through all that can be said of where a key is.
func TestFirstOfFourWins(t *testing.T) {
	mockKeyring(t, nil)
	if err := keyring.Set(settings.KeyringService, "vault", "from-keyring"); err != nil {
		t.Fatal(err)
	}
	order := []struct{ key, source string }{
		{"from-file", "auth.json"}, {"from-keyring", "the system keyring"}, {"from-env", "$VAULT_KEY"}, {"from-command", "command: echo from-command"},
	}
	for has := range 1 << len(order) {
		in := func(n int) bool { return has>>n&1 == 1 }
		p := newPlace(t)
		entry := map[string]any{}
		if in(0) {
			entry["api_key"] = order[0].key
		}
		if in(1) {
			entry["keyring"] = true
		}
		text, err := json.Marshal(map[string]any{"providers": map[string]any{"vault": entry}})
		if err != nil {
			t.Fatal(err)
		}
		p.write(p.auth(), string(text))
		if in(2) {
			p.env["VAULT_KEY"] = order[2].key
		}
		config := "[providers.vault]\nendpoint = \"https://h/v1\"\napi_key_env = \"VAULT_KEY\"\n"
		if in(3) {
			config += "api_key_command = 'echo from-command'\n"
		}
		p.write(p.config(), config)
		s := p.must()
		first := 0
		for first < len(order) && !in(first) {
			first++
		}
		before, checked := s.KeyState("vault"), s.CheckKey(t.Context(), "vault")
		key, err := profile(t, s, "vault").Key()
		if first == len(order) {
			if !errors.Is(err, settings.ErrNoKey) || !errors.Is(checked.Err, settings.ErrNoKey) || before.Set || checked.Set || before.Source != "$VAULT_KEY" {
				t.Errorf("nothing: %q, %v, %+v, %+v", key, err, before, checked)
			}
			continue
		}
		want := settings.KeyState{Source: order[first].source, Set: true}
		if key != order[first].key || err != nil || before != want || checked != want || profile(t, s, "vault").KeySource != want.Source {
			t.Errorf("%04b: %q, %v, %+v, %+v; want %+v", has, key, err, before, checked, order[first])
		}
		p.write(p.config(), "[providers.vault]\nendpoint = \"https://h/v1\"\nno_auth = true\n")
		s = p.must()
		if x := profile(t, s, "vault"); x.Key != nil || x.KeySource != "" || s.CheckKey(t.Context(), "vault") != (settings.KeyState{NoAuth: true}) {
			t.Errorf("%04b: no_auth takes a key", has)
		}
	}
}

// withMark says that the keyring has the key of a provider that the environment and a command have, too.
func withMark(t *testing.T) *place {
	p := withCommand(t, "echo run >>runs; echo from-command")
	p.write(p.config(), p.read(p.config())+"api_key_env = \"VAULT_KEY\"\n")
	p.env["VAULT_KEY"] = "from-env"
	return p.write(p.auth(), ringMark)
}

func TestKeyringThatFailsIsNotPassedOver(t *testing.T) {
	p := withMark(t)
	fails := func(s *settings.Settings, says ...string) {
		t.Helper()
		key, err := profile(t, s, "vault").Key()
		for _, want := range append(says, "octavo --login vault") {
			if err == nil || key != "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%q, %v; want %q", key, err, want)
			}
		}
		if st := s.CheckKey(t.Context(), "vault"); st.Set || st.Err == nil || st.Source != "the system keyring" {
			t.Errorf("%+v", st)
		}
	}
	mockKeyring(t, errors.New("locked away"))
	fails(p.must(), "locked away", "unlock it", "without --keyring")
	keyring.MockInit()
	s := p.must()
	fails(s, "no API key for vault", "auth.json says", "--keyring")
	if err := keyring.Set("octavo", "vault", "two words"); err != nil {
		t.Fatal(err)
	}
	s.SetKeyring(func(string, string) (string, error) { panic("the bus went away") })
	fails(s, "the bus went away")
	s.SetKeyring(nil)
	if _, err := profile(t, s, "vault").Key(); err == nil || !strings.Contains(err.Error(), "the key from the system keyring holds a space") {
		t.Errorf("%v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err != nil {
		fails(s, "there is no session bus", "dbus-run-session")
	}
	if p.runs() != 0 {
		t.Error("the command ran")
	}
}

func TestKeyringThatIsSlowIsAskedOnce(t *testing.T) {
	mockKeyring(t, nil)
	p := withMark(t)
	s := p.must()
	var asked atomic.Int32
	answer := make(chan struct{})
	s.SetKeyring(func(service, user string) (string, error) {
		asked.Add(1)
		<-answer
		return service + "/" + user, nil
	})
	s.SetKeyTimes(0, 20*time.Millisecond)
	key := profile(t, s, "vault").Key
	for range 2 {
		if k, err := key(); err == nil || !strings.Contains(err.Error(), "does not answer") || !strings.Contains(err.Error(), "unlock") {
			t.Errorf("%q, %v", k, err)
		}
	}
	close(answer)
	s.SetKeyTimes(0, 0)
	for range 2 {
		if k, err := key(); k != "octavo/vault" || err != nil {
			t.Errorf("who answers late: %q, %v", k, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

func TestKeysMoveBetweenFileAndKeyring(t *testing.T) {
	mockKeyring(t, nil)
	p := withMark(t)
	const rest = `"version": 1, "logins": {"a": [1, 2]}`
	p.write(p.auth(), `{`+rest+`, "providers": {"vault": {"api_key": "old", "note": "n"}, "x": {"keyring": true, "other": 3}}}`)
	holds := func(entry map[string]any, inKeyring string) {
		t.Helper()
		var got map[string]any
		if err := json.Unmarshal([]byte(p.read(p.auth())), &got); err != nil {
			t.Fatal(err)
		}
		entry["note"] = "n"
		want := map[string]any{"version": 1.0, "logins": map[string]any{"a": []any{1.0, 2.0}},
			"providers": map[string]any{"vault": entry, "x": map[string]any{"keyring": true, "other": 3.0}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("auth.json (-want +got):\n%s", diff)
		}
		if mode(t, p.auth()) != 0o600 {
			t.Errorf("mode %v", mode(t, p.auth()))
		}
		if key, err := keyring.Get("octavo", "vault"); key != inKeyring || err != nil && inKeyring != "" {
			t.Errorf("the keyring has %q, %v; want %q", key, err, inKeyring)
		}
	}
	stored := func(want settings.Stored) {
		t.Helper()
		if got, err := settings.StoredKey(p.home, "vault"); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	stored(settings.Stored{File: true})
	if err := settings.WriteKeyring(t.Context(), p.home, "vault", " "+secret+"\n"); err != nil {
		t.Fatal(err)
	}
	holds(map[string]any{"keyring": true}, secret)
	stored(settings.Stored{Keyring: true})
	if err := settings.WriteKey(t.Context(), p.home, "vault", secret); err != nil {
		t.Fatal(err)
	}
	holds(map[string]any{"api_key": secret}, secret)
	for range 2 { // what is not there is forgotten, too
		if err := settings.ForgetKeyring(t.Context(), "vault"); err != nil {
			t.Fatal(err)
		}
	}
	holds(map[string]any{"api_key": secret}, "")

	p.write(p.auth(), strings.Replace(p.read(p.auth()), `"note"`, `"keyring": true, "note"`, 1))
	if err := keyring.Set("octavo", "vault", "k"); err != nil {
		t.Fatal(err)
	}
	if was, err := settings.RemoveKey(t.Context(), p.home, "vault"); was != (settings.Stored{File: true, Keyring: true}) || err != nil {
		t.Errorf("%+v, %v", was, err)
	}
	holds(map[string]any{}, "")
	if was, err := settings.RemoveKey(t.Context(), p.home, "vault"); was != (settings.Stored{}) || err != nil {
		t.Errorf("%+v, %v", was, err)
	}
	stored(settings.Stored{})
}

func TestWritingFailsBeforeAnythingIsChanged(t *testing.T) {
	mockKeyring(t, nil)
	p := withMark(t)
	if err := os.Chmod(p.auth(), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := settings.WriteKeyring(t.Context(), p.home, "vault", secret); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if _, err := settings.RemoveKey(t.Context(), p.home, "vault"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(p.auth(), 0o600); err != nil {
		t.Fatal(err)
	}
	for provider, key := range map[string]string{"No Name": secret, "vault": "two " + secret, "b": "", "c": strings.Repeat("k", settings.MaxKey+1)} {
		if err := settings.WriteKeyring(t.Context(), p.home, provider, key); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", provider, err)
		}
		if _, err := keyring.Get("octavo", provider); !errors.Is(err, keyring.ErrNotFound) {
			t.Errorf("%s: the keyring has it (%v)", provider, err)
		}
	}
	keyring.MockInitWithError(errors.New("locked away"))
	if err := settings.WriteKeyring(t.Context(), p.home, "vault", secret); err == nil || !strings.Contains(err.Error(), "locked away") || !strings.Contains(err.Error(), "without --keyring") {
		t.Errorf("%v", err)
	}
	if was, err := settings.RemoveKey(t.Context(), p.home, "vault"); was != (settings.Stored{}) || err == nil || !strings.Contains(err.Error(), "out of auth.json yourself") {
		t.Errorf("%+v, %v", was, err)
	}
	if got := p.read(p.auth()); got != ringMark {
		t.Errorf("auth.json was changed: %s", got)
	}
}

func TestChangingTheKeyringEndsWithItsTime(t *testing.T) {
	mockKeyring(t, nil)
	if err := settings.ChangeKeyring(t.Context(), func() error { return nil }); err != nil {
		t.Error(err)
	}
	over := errors.New("over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, over)
	defer cancel()
	unlock, gone := make(chan struct{}), make(chan struct{})
	err := settings.ChangeKeyring(ctx, func() error {
		defer close(gone)
		<-unlock
		return nil
	})
	if !errors.Is(err, over) || !strings.Contains(err.Error(), "or do without") {
		t.Errorf("%v", err)
	}
	close(unlock)
	<-gone
}
