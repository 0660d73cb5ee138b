package settings_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"octavo/app/settings"
)

// withCommand configures a provider whose key a command prints; the command runs in p.home.
func withCommand(t *testing.T, line string) *place {
	p := newPlace(t)
	p.write(p.config(), "[providers.vault]\nendpoint = \"https://h/v1\"\napi_key_command = '''"+line+"'''\n")
	return p
}

// runs counts the lines that a command has added to a file.
func (p *place) runs() int {
	data, err := os.ReadFile(filepath.Join(p.home, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func TestKeyCommandRunsOnceHoweverManyAsk(t *testing.T) {
	p := withCommand(t, "echo run >>runs; while [ ! -e go ]; do sleep 0.01; done; echo "+secret)
	s := p.must()
	key := profile(t, s, "vault").Key
	if st := s.KeyState("vault"); st.Source != "command: echo run >>runs; while [ ! -e go ]; do sleep 0.01; done; ec…" || !st.Set || st.Err != nil {
		t.Errorf("state %+v", st)
	}
	if p.runs() != 0 {
		t.Fatal("the command ran before anybody needed the key")
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			if k, err := key(); k != secret || err != nil {
				t.Errorf("%q, %v", k, err)
			}
		})
	}
	asking.Go(func() {
		if st := s.CheckKey(t.Context(), "vault"); !st.Set || st.Err != nil {
			t.Errorf("checked: %+v", st)
		}
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if st := s.CheckKey(ended, "vault"); st.Set || !errors.Is(st.Err, context.Canceled) { // it does not wait for the command
		t.Errorf("an ended context: %+v", st)
	}
	p.write(filepath.Join(p.home, "go"), "")
	asking.Wait()
	if k, err := key(); k != secret || err != nil || p.runs() != 1 {
		t.Errorf("%q, %v, ran %d times, want once", k, err, p.runs())
	}
	if got := s.Redactor().Redact("a " + secret); got != "a [redacted]" {
		t.Errorf("the redactor does not know the key of a command: %q", got)
	}
}

func TestKeyCommandThatFailsIsRunAgain(t *testing.T) {
	p := withCommand(t, "echo run >>runs; [ -e ready ] || { echo locked >&2; exit 3; }; echo "+secret)
	s := p.must()
	key := profile(t, s, "vault").Key
	for range 2 {
		if _, err := key(); err == nil || !strings.Contains(err.Error(), "exited with 3: locked") {
			t.Errorf("%v", err)
		}
	}
	p.write(filepath.Join(p.home, "ready"), "")
	for range 2 {
		if k, err := key(); k != secret || err != nil {
			t.Errorf("%q, %v", k, err)
		}
	}
	if p.runs() != 3 {
		t.Errorf("ran %d times, want 3", p.runs())
	}
}

func TestWhatAKeyCommandMayPrint(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("head -c %d /dev/zero | tr '\\0' k", n) }
	for line, want := range map[string]string{
		"printf k":                                     "k",
		"echo k":                                       "k",
		`printf ' k \r\n\n'`:                           "k",
		long(settings.MaxKey):                          strings.Repeat("k", settings.MaxKey),
		long(settings.MaxKey) + "; echo":               strings.Repeat("k", settings.MaxKey),
		long(settings.MaxKey + 1):                      "error: bytes",
		long(settings.MaxKey + 3):                      "error: printed more than a key",
		"yes " + secret:                                "error: printed more than a key",
		"echo " + secret + "; echo more":               "error: gave 2 lines",
		"echo " + secret + " more":                     "error: a space",
		`printf '` + secret + `\033[31m'`:              "error: a control character",
		":":                                            "error: printed nothing; run it",
		"echo; echo nothing there >&2":                 "error: printed nothing: nothing there",
		"echo " + secret + "; exit 9":                  "error: exited with 9; run it in a shell",
		"echo " + secret + " | tee /dev/stderr; false": "error: exited with 1: [redacted]",
		`printf '\n\033[31mno \ntwo' >&2; exit 1`:      "error: exited with 1: no; run it",
		"no-such-program":                              "error: exited with 127: ",
		"kill -KILL $$":                                "error: was ended by a signal (killed)",
		`cat; echo "$PROBE_TOKEN"`:                     "probe", // the person's environment, and no standard input
		`echo "$PWD:$(pwd)"`:                           "home",
	} {
		t.Setenv("PROBE_TOKEN", "probe")
		p := withCommand(t, line)
		if want == "home" {
			want = p.home + ":" + p.home
		}
		s := p.must()
		key, err := profile(t, s, "vault").Key()
		why, fails := strings.CutPrefix(want, "error: ")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "api_key_command of vault ")):
			t.Errorf("%s: %.60q, %v; want %q", line, key, err, why)
		case fails && strings.Contains(strings.Replace(err.Error(), line, "", 1), "k-0123"):
			t.Errorf("%s: the error repeats the key: %v", line, err)
		case !fails && (err != nil || key != want):
			t.Errorf("%s: %.60q, %v; want %.60q", line, key, err, want)
		}
	}
}

// The other side of the limit, a command that takes a while and ends in time, is TestKeyCommandRunsOnceHoweverManyAsk.
func TestKeyCommandTakesItsTime(t *testing.T) {
	p := withCommand(t, "echo run >>runs; exec sleep 600")
	s := p.must()
	s.SetKeyTimes(50*time.Millisecond, 0)
	for n := 1; n <= 2; n++ {
		if _, err := profile(t, s, "vault").Key(); err == nil || !strings.Contains(err.Error(), "did not end within 50ms") || p.runs() > n {
			t.Errorf("%v", err)
		}
	}
}

// TestKeyCommandLeavesAnAgent: what a password store starts to remember a passphrase lives on when the key is there.
func TestKeyCommandLeavesAnAgent(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs setsid, and a system where spawn finds what left the session")
	}
	p := withCommand(t, "setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 600' </dev/null >/dev/null 2>&1 & while [ ! -e pid ]; do sleep 0.01; done; echo "+secret)
	if k, err := profile(t, p.must(), "vault").Key(); k != secret || err != nil {
		t.Fatalf("%q, %v", k, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(p.read(filepath.Join(p.home, "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		t.Errorf("the agent is gone: %s%v", stat, err)
	}
}

func TestAProjectCannotNameAKeyCommand(t *testing.T) {
	p := withCommand(t, "echo "+secret)
	p.write(p.project(), "[providers.vault]\nendpoint = \"https://evil/v1\"\napi_key_command = 'touch "+p.workspace+"/ran; echo k'\n")
	s, warnings, err := p.load()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "cannot configure providers") {
		t.Fatalf("%v, %v", warnings, err)
	}
	if k, err := profile(t, s, "vault").Key(); k != secret || err != nil {
		t.Errorf("%q, %v", k, err)
	}
	if _, err := os.Stat(filepath.Join(p.workspace, "ran")); err == nil {
		t.Error("the project's command ran")
	}
}

func TestKeyCommandInConfiguration(t *testing.T) {
	fill := func(n int) string { return "pass " + strings.Repeat("x", n-len("pass ")) }
	for line, want := range map[string]string{
		"pass show openai": "", "op read op://vault/key": "", "secret": "", "/home/me/bin/show-key-number-1": "", "echo $K1234567890123456": "",
		fill(settings.MaxKeyCommand):     "",
		fill(settings.MaxKeyCommand + 1): "must be of 1 to 4096 bytes",
		"":                               "must be of 1 to 4096 bytes",
		"pass\u001bshow":                 "without control characters",
		"k2345678901234567890":           "must be a command",
		"k234567890123456789":            "", // shorter than a key
		"sk-proj-A1b2C3d4E5f6G7h8":       "must be a command",
		"sk-proj-AbbbCcccEeeeGggg":       "", // no digit: a program may be called so
	} {
		p := newPlace(t)
		p.write(p.config(), "[providers.vault]\nendpoint = \"https://h/v1\"\napi_key_command = "+strconv.Quote(line)+"\n")
		_, _, err := p.load()
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40q: %v, want %q", line, err, want)
		case want == "must be a command" && strings.Contains(err.Error(), line):
			t.Errorf("the error repeats what may be a key: %v", err)
		}
	}
	p := newPlace(t)
	p.write(p.config(), "[providers.vault]\nendpoint = \"https://h/v1\"\nno_auth = true\napi_key_command = 'pass'\n")
	if _, _, err := p.load(); err == nil || !strings.Contains(err.Error(), "both no_auth and api_key_command") {
		t.Errorf("%v", err)
	}
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"", "k", " k\r\n\n", "a b", "a\nb", "\x00", "é", strings.Repeat("k", settings.MaxKey+1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		key, err := settings.ParseKey(given, "the fuzz")
		if err != nil {
			if key != "" || len(given) > 30 && strings.Contains(err.Error(), given) {
				t.Errorf("%q, %v", key, err)
			}
			return
		}
		if key == "" || len(key) > settings.MaxKey || strings.TrimSpace(given) != key || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q of %q", key, given)
		}
		if again, err := settings.ParseKey(key, "the fuzz"); again != key || err != nil {
			t.Errorf("%q, %v of %q", again, err, key)
		}
	})
}
