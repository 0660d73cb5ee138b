package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/zalando/go-keyring"

	"octavo/app/settings"
)

const apiKey = "sk-live-0123456789abcdef"

// guarded is an endpoint that lists two models to whoever has apiKey, and repeats any other key in its refusal.
func guarded(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if given := r.Header.Get("Authorization"); given != "Bearer "+apiKey {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "Incorrect key: " + given}})
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"large"},{"id":"small"}]}`)
	}))
	t.Cleanup(server.Close)
	return server
}

// remote configures a provider whose key $REMOTE_KEY may hold.
func (d *desk) remote(endpoint string) *desk {
	d.t.Helper()
	d.ok("", "setup", "--offline", "--endpoint", endpoint+"/v1", "--provider", "remote", "--label", "Remote", "--manual-model", "large", "--api-key-env", "REMOTE_KEY", "--yes")
	return d
}

// auth is auth.json, "" when there is none.
func (d *desk) auth() string {
	d.t.Helper()
	file := filepath.Join(d.home, settings.AuthFile)
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		d.t.Fatalf("auth.json: %v, %v", info.Mode(), err)
	}
	return string(data)
}

// says runs octavo and checks how it ends, what it says, and that it never says a key.
func (d *desk) says(stdin string, code int, want []string, args ...string) {
	d.t.Helper()
	o := d.run(stdin, args...)
	all := o.stdout + o.stderr
	if o.code != code {
		d.t.Errorf("octavo %v: exit %d, want %d: %s", args, o.code, code, all)
	}
	for _, w := range want {
		if !strings.Contains(all, w) {
			d.t.Errorf("octavo %v does not say %q: %s", args, w, all)
		}
	}
	if strings.Contains(all, "0123456789") {
		d.t.Errorf("octavo %v shows the key: %s", args, all)
	}
}

// afterwards runs octavo as a shell does, which outlives it, and says what it left behind: how the terminal is set, and what was typed
// and not read. It hears of ctrl+c too, and goes on.
const afterwards = `trap : INT QUIT TSTP
"$0" "$@"
code=$?
stty -a
stty -icanon min 0 time 0
printf '<left: '; cat; printf '>'
exit $code`

// terminal starts octavo on a terminal; read is closed when all that it wrote is in the talk.
func (d *desk) terminal(args ...string) (x *talk, read chan struct{}) {
	d.t.Helper()
	cmd := d.command(args...)
	cmd.Args = append([]string{"sh", "-c", afterwards}, cmd.Args...)
	cmd.Path = "/bin/sh"
	ours, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { ours.Close() })
	x, read = &talk{d: d, cmd: cmd, stdin: ours, done: make(chan error, 1)}, make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(x, ours)
	}()
	go func() { x.done <- cmd.Wait() }()
	return x, read
}

func TestLoginOnATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		code  int
		says  string
	}{
		"key":      {apiKey + "\n", 0, "Remote: accepted, 2 models."},
		"wrong":    {"sk-wrong-0123456789\n", 1, "nothing was written"},
		"nothing":  {" \n", 1, "no key was typed"},
		"ctrl+d":   {"\x04", 1, "no key was typed"},
		"ctrl+z":   {"\x1a" + apiKey + "\n", 0, "accepted"},
		"paste":    {apiKey + "\necho 0123456789\n", 0, "accepted"},
		"ctrl+c":   {apiKey[:9] + "\x03", 130, ""},
		"ctrl+\\":  {apiKey[:9] + "\x1c", 131, ""},
		"too long": {strings.Repeat("0123456789", maxTyped/10) + "x\n", 1, "pipe it in"},
		"longest":  {strings.Repeat("0123456789", maxTyped/10) + "\n", 1, "nothing was written"}, // and refused as a key
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t).remote(guarded(t).URL)
			x, read := d.terminal("--login", "remote")
			x.see("Key for Remote (input is hidden): ")
			if _, err := io.WriteString(x.stdin, c.typed); err != nil {
				t.Fatal(err)
			}
			code := x.end()
			<-read
			all := x.all()
			if code != c.code || !strings.Contains(all, c.says) || strings.Contains(all, "0123456789") || strings.Contains(all, "sk-") {
				t.Errorf("exit %d, want %d: %s", code, c.code, all)
			}
			if !strings.Contains(all, " icanon ") || !strings.Contains(all, " echo ") || !strings.HasSuffix(all, "<left: >") {
				t.Errorf("how octavo left the terminal: %s", all)
			}
			if stored := strings.Contains(d.auth(), apiKey); stored != (c.code == 0) || !stored && d.auth() != "" {
				t.Errorf("auth.json: %q", d.auth())
			}
		})
	}
}

func TestLoginFromAPipe(t *testing.T) {
	d := newDesk(t)
	server := guarded(t)
	d.remote(server.URL)
	d.says("\n", 1, []string{"the key from standard input is of 0 bytes"}, "--login", "remote")
	d.says(apiKey+"\nmore\n", 1, []string{"standard input gave 2 lines"}, "--login", "remote")
	d.says(apiKey+" more", 1, []string{"holds a space"}, "--login", "remote")
	d.says(strings.Repeat("k", settings.MaxKey+1), 1, []string{"use 1 to 16384"}, "--login", "remote", "--offline")
	d.says("sk-wrong-0123456789\n", 1, []string{"the key was refused: Incorrect key: Bearer [redacted]", "nothing was written"}, "--login", "remote")
	if d.auth() != "" {
		t.Fatalf("written: %s", d.auth())
	}
	d.says(apiKey+"\r\n", 0, []string{"Remote: accepted, 2 models.", "stored in " + filepath.Join(d.home, "auth.json"),
		"The default model, remote/large, uses it: octavo"}, "--login", "remote")
	if got := d.auth(); !strings.Contains(got, `"api_key": "`+apiKey+`"`) {
		t.Fatalf("auth.json: %s", got)
	}
	d.says("", 0, []string{"key from auth.json, 2 models"}, "doctor")
	d.env = []string{"REMOTE_KEY=from-env-0123456789"}
	d.says(strings.Repeat("k", settings.MaxKey)+"\n", 0, []string{"not tried (--offline)", "It comes before $REMOTE_KEY"}, "--login", "remote", "--offline")
	server.Close()
	d.says("another", 0, []string{"Warning: the key could not be tried: ", "refused; is the server running?", "The key is stored in "}, "--login", "remote")
	if got := d.auth(); !strings.Contains(got, `"another"`) {
		t.Errorf("auth.json: %s", got)
	}
	d.says(apiKey, 0, []string{"stored in ", "Next: octavo --model openai/MODEL"}, "--login", "openai", "--offline")
	d.says(apiKey, 1, []string{"Ollama takes no key"}, "--login", "ollama")
	if err := os.Chmod(filepath.Join(d.home, settings.AuthFile), 0o644); err != nil {
		t.Fatal(err)
	}
	d.says(apiKey, 1, []string{"chmod 600"}, "--login", "remote")
}

func TestLoginWhereModelsAreListedToAnyone(t *testing.T) {
	d := newDesk(t)
	d.remote(strings.TrimSuffix(d.server.URL(), "/v1"))
	d.says(apiKey, 0, []string{"has 1 model, and tells that without a key, too", "stored in"}, "--login", "remote")
	if d.server.Probes() != 2 {
		t.Errorf("asked %d times", d.server.Probes())
	}
}

func TestLogout(t *testing.T) {
	d := newDesk(t).remote(guarded(t).URL)
	d.says("", 0, []string{"There was no stored key of Remote."}, "--logout", "remote")
	d.says(apiKey, 0, nil, "--login", "remote")
	d.says("other", 0, nil, "--login", "anthropic", "--offline")
	d.says("", 0, []string{"The key of Remote was removed from " + filepath.Join(d.home, "auth.json")}, "--logout", "remote")
	if got := d.auth(); strings.Contains(got, "remote") || !strings.Contains(got, "other") {
		t.Errorf("auth.json: %s", got)
	}
	d.env = []string{"REMOTE_KEY=from-env-0123456789"}
	d.says("", 0, []string{"no stored key", "Warning: octavo goes on using the key of $REMOTE_KEY"}, "--logout", "remote")
}

func TestLoginThatCannotBeMeant(t *testing.T) {
	d := newDesk(t).remote("http://127.0.0.1:9")
	const all = "use one of remote, anthropic, openai"
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--login and --print exclude each other", []string{"--login", "remote", "-p"}},
		{2, "--logout and --mode exclude each other", []string{"--logout", "remote", "--mode", "json"}},
		{2, "--login and --continue exclude", []string{"--continue", "--login", "remote"}},
		{2, "--logout and --login exclude", []string{"--login", "remote", "--logout", "remote"}},
		{2, "--logout and --keyring exclude", []string{"--logout", "remote", "--keyring"}},
		{2, "a key is asked for", []string{"--login", "remote", apiKey}},
		{2, "--keyring goes with --login", []string{"--keyring", "-p", "hi"}},
		{2, "--login", []string{"--login"}},
		{1, all, []string{"--login", apiKey}},
		{1, all, []string{"--login="}},
		{1, all, []string{"--logout", "nobody"}},
	} {
		d.says("", c.code, []string{c.want}, c.args...)
	}
	if d.auth() != "" {
		t.Errorf("written: %s", d.auth())
	}
}

// here runs octavo in this process, which has the keyring's library keep its keys in memory.
func (d *desk) here(stdin string, args ...string) (code int, said string) {
	d.t.Helper()
	var files [3]*os.File
	for i := range files {
		var err error
		if files[i], err = os.Create(filepath.Join(d.t.TempDir(), "stream")); err != nil {
			d.t.Fatal(err)
		}
		defer files[i].Close()
	}
	if _, err := files[0].WriteAt([]byte(stdin), 0); err != nil {
		d.t.Fatal(err)
	}
	code = run(args, files[0], files[1], files[2])
	for _, f := range files[1:] {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			d.t.Fatal(err)
		}
		said += string(text)
	}
	return code, said
}

func TestLoginWithTheKeyring(t *testing.T) {
	d := newDesk(t).remote(guarded(t).URL)
	t.Setenv("OCTAVO_HOME", d.home)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	keyring.MockInit()
	t.Cleanup(keyring.MockInit)
	step := func(stdin string, want int, says string, inKeyring bool, args ...string) {
		t.Helper()
		code, said := d.here(stdin, args...)
		if code != want || !strings.Contains(said, says) || strings.Contains(said, "0123456789") {
			t.Errorf("octavo %v: exit %d, want %d with %q: %s", args, code, want, says, said)
		}
		if key, err := keyring.Get("octavo", "remote"); (err == nil && key == apiKey) != inKeyring {
			t.Errorf("octavo %v: the keyring has %q (%v)", args, key, err)
		}
	}
	step(apiKey, 0, "stored in the system keyring (service octavo, user remote)", true, "--login", "remote", "--keyring")
	if got := d.auth(); !strings.Contains(got, `"keyring": true`) || strings.Contains(got, apiKey) {
		t.Errorf("auth.json: %s", got)
	}
	step("", 0, "key from the system keyring, 2 models", true, "doctor")
	step(apiKey, 0, "auth.json", false, "--login", "remote") // the file takes its place
	step(apiKey, 0, "the system keyring", true, "--login", "remote", "--keyring")
	step("", 0, "was removed from the system keyring", false, "--logout", "remote")
	if got := d.auth(); strings.Contains(got, "remote") {
		t.Errorf("auth.json: %s", got)
	}
	step(apiKey, 0, "", true, "--login", "remote", "--keyring")
	keyring.MockInitWithError(errors.New("locked away"))
	step("", 1, "locked away; unlock it, or create its default keyring, and try again, or take its entry out of auth.json yourself", false, "--logout", "remote")
	step("", 1, "provider remote  the system keyring cannot be used: locked away", false, "doctor")
	step(apiKey, 1, "without --keyring", false, "--login", "remote", "--keyring")
	step(apiKey, 0, "Warning: the former key is still in the system keyring", false, "--login", "remote")
}

func TestLoginWithoutAKeyring(t *testing.T) {
	if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err == nil {
		t.Skip("this system has a session bus")
	}
	d := newDesk(t).remote(guarded(t).URL)
	d.env = []string{"DBUS_SESSION_BUS_ADDRESS="}
	d.says(apiKey, 1, []string{"there is no session bus", "dbus-run-session", "octavo --login remote, without --keyring"}, "--login", "remote", "--keyring")
	if d.auth() != "" {
		t.Errorf("written: %s", d.auth())
	}
}

func TestDoctorRunsTheKeyCommandToCheckIt(t *testing.T) {
	d := newDesk(t)
	config := "model = \"remote/large\"\n[providers.remote]\nendpoint = \"" + guarded(t).URL + "/v1\"\napi_key_command = 'echo run >>runs; echo " + apiKey[:8] + "$REST'\n"
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, settings.ConfigFile), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = []string{"REST=" + apiKey[8:]}
	d.says("", 0, []string{"key from command: echo run >>runs; ", "not asked (--offline)"}, "doctor", "--offline")
	if _, err := os.Stat(filepath.Join(d.home, "runs")); err == nil {
		t.Error("the command ran")
	}
	d.says("", 0, []string{"key from command: echo run >>runs; ", "2 models"}, "doctor")
	if got, err := os.ReadFile(filepath.Join(d.home, "runs")); string(got) != "run\n" || err != nil {
		t.Errorf("ran %q, %v", got, err)
	}
	d.says("", 0, []string{"Warning: octavo goes on using the key of api_key_command"}, "--logout", "remote")
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	got := make(chan error)
	go func() {
		_, err := receive(ctx, r, 10, false)
		got <- err
	}()
	if _, err := w.Write([]byte("begun")); err != nil {
		t.Fatal(err)
	}
	cancel(signalled{syscall.SIGTERM})
	if err := <-got; !errors.Is(err, signalled{syscall.SIGTERM}) {
		t.Errorf("%v", err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("x"), 11)); err != nil { // a writer that does not end
		t.Fatal(err)
	}
	if s, err := receive(t.Context(), r, 10, false); len(s) <= 10 || err != nil {
		t.Errorf("%q, %v", s, err)
	}
}
