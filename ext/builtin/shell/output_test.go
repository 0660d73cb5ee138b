package shell_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"octavo/ext/builtin/shell"
	"octavo/ext/model"
)

var took = regexp.MustCompile(`duration=[0-9.]+m?s`)

func TestResults(t *testing.T) {
	s := start(t, shell.Options{})
	for command, want := range map[string]string{
		"true":                  "exit_status=0 duration=T\n(no output)",
		"echo hi":               "exit_status=0 duration=T\n[complete_stdout=3 bytes]\nhi",
		"echo oops >&2; exit 3": "nonzero_exit exit_status=3 duration=T\n[complete_stderr=5 bytes]\noops",
		"echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c": "exit_status=0 duration=T\n[complete_stdout=4 bytes complete_stderr=2 bytes, in the order they arrived]\na\nb\nc",
		"printf a; sleep 0.1; printf b >&2":                "exit_status=0 duration=T\n[complete_stdout=1 byte complete_stderr=1 byte, in the order they arrived]\na\nb",
		"kill -SEGV $$":                                    "nonzero_exit signal=SIGSEGV duration=T\n(no output)",
		"(kill -9 $BASHPID); exit $?":                      "nonzero_exit exit_status=137 (SIGKILL) duration=T\n",
		"exit 129":                                         "nonzero_exit exit_status=129 (SIGHUP) duration=T\n(no output)",
		"exit 255":                                         "nonzero_exit exit_status=255 duration=T\n(no output)",
		"cat; echo end":                                    "exit_status=0 duration=T\n[complete_stdout=4 bytes]\nend",
		"pwd":                                              "exit_status=0 duration=T\n[complete_stdout=" + strconv.Itoa(len(s.workspace)+1) + " bytes]\n" + s.workspace,
		"printf '\\033[31mred\\033[0m\\n'":                 "exit_status=0 duration=T\n[complete_stdout=13 bytes]\nred",
		"printf 'a\\tb\\n'":                                "exit_status=0 duration=T\n[complete_stdout=4 bytes]\na\tb",
		"printf '10%%\\r50%%\\r100%%\\nok\\r\\n'":          "exit_status=0 duration=T\n[complete_stdout=17 bytes]\n100%\nok",
		"printf 'a\\0b\\0'":                                "exit_status=0 duration=T\n[complete_stdout=4 bytes]\na\nb",
		"printf 'caf\\351 is text with one odd byte\\n'":   "exit_status=0 duration=T\n[complete_stdout=31 bytes]\ncaf\ufffd is text with one odd byte",
		"sleep 1000 & echo hi":                             "exit_status=0 duration=T\n[1 process that the command left running ended with it]\n[complete_stdout=3 bytes]\nhi",
		"echo '$x' \"a\nb\"":                               "exit_status=0 duration=T\n[complete_stdout=7 bytes]\n$x a\nb",
		"[[ ab == a* ]] && echo $((1+1)) # bash":           "exit_status=0 duration=T\n[complete_stdout=2 bytes]\n2",
	} {
		got, out := s.run(t, command)
		if got = took.ReplaceAllString(got, "duration=T"); got != want && !(strings.HasSuffix(want, "T\n") && strings.HasPrefix(got, want)) {
			t.Errorf("%q gives\n%s\nwant\n%s", command, got, want)
		}
		if out.IsError != strings.HasPrefix(want, "nonzero_exit") {
			t.Errorf("%q: IsError is %v", command, out.IsError)
		}
	}
}

func TestDisplayIsCleanForAScreen(t *testing.T) {
	s := start(t, shell.Options{})
	_, out := s.run(t, `printf 'a\tb\033]0;title\007\n'; exit 2`)
	if d := out.Display; d == nil || d.Text != "a   b\n" || !strings.HasPrefix(d.Title, "exit 2, ") {
		t.Errorf("%+v", d)
	}
}

func TestProgressIsCoalescedAndClean(t *testing.T) {
	s := start(t, shell.Options{})
	s.run(t, `for i in {1..2000}; do echo line $i; done; printf '\033[1mé\xc3'; sleep 0.1; printf '\xa9\tx\n' >&1`)
	shown := s.shown()
	if !utf8.ValidString(shown) || strings.ContainsRune(shown, '\x1b') || !strings.HasPrefix(shown, "line 1\nline 2\n") || !strings.HasSuffix(shown, "éé  x\n") {
		t.Errorf("%.50q … %q", shown, shown[max(0, len(shown)-50):])
	}
	if n := len(s.progress); n > 200 {
		t.Errorf("%d calls for 2000 writes", n)
	}
	for _, d := range s.progress {
		if !utf8.ValidString(d) || d == "" {
			t.Errorf("delta %q", d)
		}
	}
}

func TestHugeOutputIsBounded(t *testing.T) {
	const size = 200 << 20
	s := start(t, shell.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got, out := s.run(t, fmt.Sprintf("echo first; yes 'a line of forty characters, all the same.' | head -c %d; echo last; echo error >&2; exit 1", size))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("keeps %d bytes", grown)
	}
	if len(got) > shell.DefaultOutputBytes || len(got) < shell.DefaultOutputBytes*8/10 {
		t.Errorf("the result has %d bytes", len(got))
	}
	if !out.IsError || !strings.HasPrefix(got, "nonzero_exit exit_status=1 ") || !strings.Contains(got, "]\nfirst\na line") || !strings.Contains(got, "last\n") ||
		!strings.Contains(got, "[complete_stderr=6 bytes]\nerror") || !strings.Contains(got, fmt.Sprintf("[truncated_stdout=%d bytes, the first 16 MiB are in partial_output_path=", size+11)) {
		t.Errorf("%.300s\n…\n%s", got, got[len(got)-300:])
	}
	if m := regexp.MustCompile(`… \d+ bytes \((\d+) lines\) left out …`).FindStringSubmatch(got); m == nil {
		t.Error("does not say what is missing")
	}
	path := regexp.MustCompile(`partial_output_path=([^\]]+)`).FindStringSubmatch(got)[1]
	if info, err := os.Stat(path); err != nil || info.Size() != 16<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	for _, d := range s.progress {
		if len(d) > 70<<10 {
			t.Errorf("a delta of %d bytes", len(d))
		}
	}
	s.Close()
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s stays when the session is closed: %v", filepath.Dir(path), err)
	}
}

func TestEveryResultFitsItsBound(t *testing.T) {
	for _, limit := range []int{1, shell.MinOutputBytes, 3000, 2 * shell.MaxOutputBytes} {
		bound := min(max(limit, shell.MinOutputBytes), shell.MaxOutputBytes)
		s := start(t, shell.Options{MaxOutputBytes: limit})
		for _, command := range []string{
			"head -c %d /dev/zero | tr '\\0' x",
			"head -c %d /dev/zero | tr '\\0' x >&2",
			"head -c %[1]d /dev/zero | tr '\\0' x; head -c %[1]d /dev/zero | tr '\\0' y >&2",
			"yes é | head -c %d",
			"yes $'\\033[31mred\\033[0m' | head -c %d",
		} {
			for _, n := range []int{bound / 2, bound - 200, bound, bound + 1, 3*bound + 7} {
				got, _ := s.run(t, fmt.Sprintf(command, n))
				if len(got) > bound || !utf8.ValidString(got) {
					t.Errorf("%d bytes of %q give %d, the bound is %d", n, command, len(got), bound)
				}
			}
		}
	}
}

func TestWholeOutputIsInTheFile(t *testing.T) {
	s := start(t, shell.Options{MaxOutputBytes: 2000})
	got, _ := s.run(t, "seq 1 2000; printf '\\033[1mraw' >&2; seq 1 2000 >&2")
	paths := regexp.MustCompile(`full_output_path=([^\]]+)\]`).FindAllStringSubmatch(got, -1)
	if len(paths) != 2 {
		t.Fatal(got)
	}
	var want strings.Builder
	for i := 1; i <= 2000; i++ {
		fmt.Fprintln(&want, i)
	}
	for i, prefix := range []string{"", "\x1b[1mraw"} {
		if b, err := os.ReadFile(paths[i][1]); err != nil || string(b) != prefix+want.String() {
			t.Errorf("%d: %d bytes %v", i, len(b), err)
		}
	}
	// A stream that the result has whole leaves no file.
	entries, err := os.ReadDir(filepath.Dir(paths[0][1]))
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	if got, _ = s.run(t, "seq 1 2000; echo few >&2"); !strings.Contains(got, "[complete_stderr=4 bytes]\nfew") {
		t.Error(got)
	}
	if entries, _ = os.ReadDir(filepath.Dir(paths[0][1])); len(entries) != 3 {
		t.Error(entries)
	}
}

// hides is what a session gives a call for Redact when octavo has one key.
func hides(key string) func() (func(string) string, func() string) {
	return func() (func(string) string, func() string) {
		held := ""
		write := func(s string) string {
			held = strings.ReplaceAll(held+s, key, "[redacted]")
			n := max(0, len(held)-len(key)+1)
			out := held[:n]
			held = held[n:]
			return out
		}
		return write, func() string { return held }
	}
}

// TestKeysStayOutOfEverything: a key that a command prints, cut anywhere, is neither in its result nor in a file.
func TestKeysStayOutOfEverything(t *testing.T) {
	const key = "sk-planted-0123"
	for _, pause := range []string{"", "[ $(($i%30)) = 0 ] && sleep 0.01;"} {
		for name, c := range map[string]struct {
			limit int
			to    string
		}{"result": {shell.MaxOutputBytes, ""}, "file": {shell.MinOutputBytes, ""}, "errors": {shell.MinOutputBytes, ">&2"}} {
			s := start(t, shell.Options{MaxOutputBytes: c.limit})
			call := s.call(t.Context())
			call.Redact = hides(key)
			out, err := s.tool.Invoke(call, arguments("k="+key+"; {\n"+
				`for i in {1..300}; do n=$((i%16)); printf %s "$i a ${k:0:$n}"; `+pause+` echo "${k:$n} b"; done; printf %s $k; } `+c.to))
			if err != nil {
				t.Fatal(err)
			}
			all := model.PlainText(out.Parts)
			text := all + out.Display.Text + s.shown()
			if path := regexp.MustCompile(`full_output_path=([^\]]+)\]`).FindStringSubmatch(all); path != nil {
				b, err := os.ReadFile(path[1])
				if err != nil {
					t.Fatal(err)
				}
				all = string(b)
				text += all
			}
			if strings.Contains(text, "sk-planted") || strings.Count(all, "[redacted]") != 301 || !strings.Contains(all, "\n300 a [redacted] b\n[redacted]") {
				t.Errorf("%s: %d marks in %.300q", name, strings.Count(all, "[redacted]"), text)
			}
		}
	}
}

func TestOldestFilesGo(t *testing.T) {
	dir := t.TempDir()
	s := start(t, shell.Options{MaxOutputBytes: shell.MinOutputBytes, TempDir: dir})
	var paths []string
	file := regexp.MustCompile(`full_output_path=([^\]]+)\]`)
	for range 34 {
		got, _ := s.run(t, "seq 1 1000")
		paths = append(paths, file.FindStringSubmatch(got)[1])
	}
	for i, p := range paths {
		if _, err := os.Stat(p); (err == nil) != (i >= 2) {
			t.Errorf("file %d of 34: %v", i, err)
		}
	}
	// Five of 16 MiB are more than 64 MiB.
	var large []string
	for range 5 {
		got, _ := s.run(t, "head -c 16777216 /dev/zero | tr '\\0' x")
		large = append(large, file.FindStringSubmatch(got)[1])
	}
	var total int64
	for i, p := range large {
		info, err := os.Stat(p)
		if (err == nil) != (i >= 1) {
			t.Errorf("large file %d of 5: %v", i, err)
		} else if err == nil {
			total += info.Size()
		}
	}
	if total != 64<<20 {
		t.Errorf("%d bytes are kept", total)
	}
	// Something that tidies up takes nothing from what follows.
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, entries[0].Name())); err != nil {
		t.Fatal(err)
	}
	got, _ := s.run(t, "seq 1 1000")
	if m := file.FindStringSubmatch(got); m == nil {
		t.Error(got)
	} else if _, err := os.Stat(m[1]); err != nil {
		t.Error(err)
	}
}

func TestOutputThatCannotBeKept(t *testing.T) {
	s := start(t, shell.Options{MaxOutputBytes: shell.MinOutputBytes, TempDir: "/no/such/dir"})
	got, out := s.run(t, "seq 1 1000")
	if out.IsError || !strings.Contains(got, "the rest could not be kept: ") || !strings.HasSuffix(got, "\n1000") {
		t.Error(got)
	}
}

func TestBinaryOutputIsNotShown(t *testing.T) {
	s := start(t, shell.Options{})
	got, out := s.run(t, "head -c 3000 /bin/sh; echo note >&2")
	if !strings.Contains(got, "[binary_stdout=3000 bytes, not shown, full_output_path=") || !strings.Contains(got, "[complete_stderr=5 bytes]\nnote") || len(got) > 400 {
		t.Errorf("%q", got)
	}
	if !strings.Contains(out.Display.Text, "2.9 KiB of binary output on stdout") {
		t.Errorf("%+v", out.Display)
	}
	path := regexp.MustCompile(`full_output_path=([^\]]+)\]`).FindStringSubmatch(got)[1]
	if info, err := os.Stat(path); err != nil || info.Size() != 3000 {
		t.Error(info, err)
	}
	// Text in another script, byte by byte, is no binary.
	if got, _ := s.run(t, "for i in {1..50}; do printf '日本語'; done"); strings.Contains(got, "binary") {
		t.Error(got)
	}
}
