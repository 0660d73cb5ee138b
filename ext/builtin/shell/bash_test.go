package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"octavo/ext"
	"octavo/ext/builtin/shell"
	"octavo/ext/model"
	"octavo/ext/policy"
)

// ownerVariable makes the test binary an octavo that runs one command and is killed meanwhile.
const ownerVariable = "SHELL_TEST_OWNER"

func TestMain(m *testing.M) {
	if command := os.Getenv(ownerVariable); command != "" {
		s, err := open(shell.Options{}, os.TempDir())
		if err != nil {
			fmt.Println(err)
			return
		}
		s.tool.Invoke(s.call(context.Background()), arguments(command))
		return
	}
	goleak.VerifyTestMain(m)
}

// session is a contribution in use.
type session struct {
	*ext.Contribution
	tool      ext.Tool
	workspace string

	mu       sync.Mutex
	progress []string
}

func open(o shell.Options, workspace string) (*session, error) {
	c, err := shell.New(o).Prepare(context.Background(), ext.Prep{Session: "s", Workspace: workspace})
	if err != nil {
		return nil, err
	}
	return &session{Contribution: c, tool: c.Tools[0], workspace: workspace}, nil
}

// start prepares a session in a fresh workspace.
func start(t testing.TB, o shell.Options) *session {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	s, err := open(o, workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *session) call(ctx context.Context) *ext.Call {
	return &ext.Call{Context: ctx, ID: "1", Session: "s", Workspace: s.workspace, Progress: func(d string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.progress = append(s.progress, d)
	}}
}

func (s *session) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.progress, "")
}

// arguments are those of a call: a command, then pairs of names and values.
func arguments(command string, more ...any) json.RawMessage {
	m := map[string]any{"command": command}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// run runs a command that must give a result.
func (s *session) run(t testing.TB, command string, more ...any) (string, ext.Output) {
	t.Helper()
	out, err := s.tool.Invoke(s.call(t.Context()), arguments(command, more...))
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return model.PlainText(out.Parts), out
}

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

func TestRefusals(t *testing.T) {
	s := start(t, shell.Options{Policy: policy.Controlled})
	if err := os.WriteFile(filepath.Join(s.workspace, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(s.workspace, "root")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args json.RawMessage
		code string
	}{
		"blank":            {arguments(" \n\t"), "invalid_arguments"},
		"NUL":              {arguments("echo a\x00b"), "invalid_arguments"},
		"too long":         {arguments("#" + strings.Repeat("x", shell.MaxCommandBytes)), "invalid_arguments"},
		"not an object":    {json.RawMessage(`[]`), "invalid_arguments"},
		"not JSON":         {json.RawMessage(`{"command":`), "invalid_arguments"},
		"unknown name":     {arguments("true", "stdin", "x"), "invalid_arguments"},
		"more":             {json.RawMessage(`{"command":"true"}{}`), "invalid_arguments"},
		"timeout below":    {arguments("true", "timeout_ms", -1), "invalid_arguments"},
		"timeout above":    {arguments("true", "timeout_ms", 3600001), "invalid_arguments"},
		"timeout fraction": {arguments("true", "timeout_ms", 1.5), "invalid_arguments"},
		"no directory":     {arguments("true", "cwd", "missing"), "invalid_cwd"},
		"a file":           {arguments("true", "cwd", "file"), "invalid_cwd"},
		"below a file":     {arguments("true", "cwd", "file/x"), "invalid_cwd"},
		"long directory":   {arguments("true", "cwd", strings.Repeat("x", 5000)), "invalid_cwd"},
		"NUL directory":    {arguments("true", "cwd", "a\x00b"), "invalid_cwd"},
		"outside":          {arguments("true", "cwd", ".."), "not_permitted"},
		"absolute outside": {arguments("true", "cwd", "/"), "not_permitted"},
		"link to outside":  {arguments("true", "cwd", "root"), "not_permitted"},
	} {
		_, err := s.tool.Invoke(s.call(t.Context()), c.args)
		var refused ext.Refused
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), c.code+": ") {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if i := s.tool.Intent(c.args); c.code == "invalid_arguments" && i.Class != policy.Unknown {
			t.Errorf("%s: intent %+v", name, i)
		}
		s.tool.Describe(c.args)
	}
}

func TestBoundsFromTheInside(t *testing.T) {
	s := start(t, shell.Options{Policy: policy.UnsafeHost})
	if err := os.MkdirAll(filepath.Join(s.workspace, "sub dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]json.RawMessage{
		"longest command":   arguments("#" + strings.Repeat("x", shell.MaxCommandBytes-1)),
		"longest timeout":   arguments("true", "timeout_ms", 3600000),
		"whole float":       json.RawMessage(`{"command":"true","timeout_ms":60000.0}`),
		"relative":          arguments("[ -n \"$PWD\" ] && [ \"$PWD\" = \"$(pwd -P)\" ]", "cwd", "sub dir"),
		"absolute":          arguments("true", "cwd", s.workspace),
		"outside, unsafely": arguments("true", "cwd", "/"),
	} {
		out, err := s.tool.Invoke(s.call(t.Context()), args)
		if err != nil || out.IsError {
			t.Errorf("%s: %v %s", name, err, model.PlainText(out.Parts))
		}
	}
}

func TestSchemaIsStrict(t *testing.T) {
	s := start(t, shell.Options{Timeout: 90 * time.Second})
	var schema struct {
		AdditionalProperties *bool                      `json:"additionalProperties"`
		Properties           map[string]json.RawMessage `json:"properties"`
		Required             []string                   `json:"required"`
	}
	if err := json.Unmarshal(s.tool.Parameters, &schema); err != nil || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
		t.Errorf("%v %s", err, s.tool.Parameters)
	}
	if len(schema.Properties) != 3 || !slices.Equal(schema.Required, []string{"command"}) || !strings.Contains(string(s.tool.Parameters), "Default: 90000.") {
		t.Errorf("%s", s.tool.Parameters)
	}
}

func TestIntentAndDescription(t *testing.T) {
	s := start(t, shell.Options{Policy: policy.Controlled})
	if err := os.Mkdir(filepath.Join(s.workspace, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := "echo " + strings.Repeat("x", 300)
	for _, c := range []struct {
		args          json.RawMessage
		title, detail string
		readOnly      bool
		describe      string
	}{
		{arguments("go test ./..."), "run: go test ./...", "", false, "run: go test ./..."},
		{arguments("ls -la"), "run: ls -la", "", true, "run: ls -la"},
		{arguments("ls", "cwd", "sub"), "run: ls (in sub)", "", true, "run: ls"},
		{arguments("\nls\nrm x\n"), "run: ls …", "\nls\nrm x\n", false, "run: ls …"},
		{arguments(long), "run: " + long[:119] + "…", long, true, "run: " + long[:119] + "…"},
		{arguments("ls\tsrc"), "run: ls  src", "", true, "run: ls  src"},
		// What a screen would swallow is shown, because bash would not.
		{arguments("ls \x1b]0;$(rm x)\a"), "run: ls ␛]0;$(rm x)␇", "", false, "run: ls ␛]0;$(rm x)␇"},
		{arguments("ls \u202ex\r\nrm x"), "run: ls ‹U+202E›x␍ …", "ls ‹U+202E›x␍\nrm x", false, "run: ls ‹U+202E›x␍ …"},
	} {
		i := s.tool.Intent(c.args)
		i.Title = strings.TrimSpace(i.Title)
		if want := (policy.Intent{Class: policy.HostProcess, Title: c.title, Detail: c.detail, ReadOnly: c.readOnly}); i != want {
			t.Errorf("%s: %+v, want %+v", c.args, i, want)
		}
		if d := strings.TrimSpace(s.tool.Describe(c.args)); d != c.describe {
			t.Errorf("%s: described as %q", c.args, d)
		}
	}
	if d := s.tool.Describe(json.RawMessage(`nonsense`)); d == "" {
		t.Error("nonsense is not described at all")
	}
}

func TestTimeoutEndsTheTreeAndKeepsTheOutput(t *testing.T) {
	s := start(t, shell.Options{})
	got, out := s.run(t, "sleep 1000 & echo $!; echo begun; sleep 1000", "timeout_ms", 1500)
	if !out.IsError || !strings.HasPrefix(got, "timeout: the command was ended after 1.5s") || !strings.Contains(got, "begun") {
		t.Errorf("%s", got)
	}
	gone(t, regexp.MustCompile(`(?m)^\d+$`).FindString(got))
	if d := out.Display; !strings.HasPrefix(d.Title, "timed out after 1.5s") {
		t.Errorf("%+v", d)
	}
}

func TestTimeoutOption(t *testing.T) {
	for given, want := range map[time.Duration]string{
		0: "120000", -1: "1000", time.Millisecond: "1000", time.Second: "1000", time.Hour: "3600000", 2 * time.Hour: "3600000",
	} {
		s := start(t, shell.Options{Timeout: given})
		if !strings.Contains(string(s.tool.Parameters), "Default: "+want+".") {
			t.Errorf("%v: %s", given, s.tool.Parameters)
		}
	}
	s := start(t, shell.Options{Timeout: time.Second})
	if got, _ := s.run(t, "sleep 1000"); !strings.HasPrefix(got, "timeout: the command was ended after 1.0s") {
		t.Error(got)
	}
}

func TestCancelEndsTheTreeAndKeepsTheOutput(t *testing.T) {
	s := start(t, shell.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := s.call(ctx)
	progress := c.Progress
	c.Progress = func(d string) {
		progress(d)
		if strings.Contains(s.shown(), "begun") {
			cancel()
		}
	}
	out, err := s.tool.Invoke(c, arguments("sleep 1000 & echo $!; echo begun; sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	got := model.PlainText(out.Parts)
	if !out.IsError || !strings.HasPrefix(got, "cancelled: ") || !strings.Contains(got, "begun") {
		t.Errorf("%s", got)
	}
	gone(t, regexp.MustCompile(`(?m)^\d+$`).FindString(got))
	if _, err := s.tool.Invoke(c, arguments("true")); err == nil || !strings.HasPrefix(err.Error(), "cancelled: ") {
		t.Errorf("after the end: %v", err)
	}
}

func TestShellThatIsNone(t *testing.T) {
	s := start(t, shell.Options{ShellPath: "/no/such/shell"})
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "shell_path") {
		t.Errorf("warnings %q", s.Warnings)
	}
	if _, err := s.tool.Invoke(s.call(t.Context()), arguments("true")); err == nil || !strings.HasPrefix(err.Error(), "spawn: ") {
		t.Error(err)
	}
}

func TestConfiguredShellIsUsedAndTheVariableIsNot(t *testing.T) {
	t.Setenv("SHELL", "/no/such/shell")
	if got, _ := start(t, shell.Options{}).run(t, "echo $BASH_VERSION"); strings.Contains(got, "no output") {
		t.Error(got)
	}
	if got, _ := start(t, shell.Options{ShellPath: "sh"}).run(t, "echo $0"); !strings.HasSuffix(got, "sh") {
		t.Error(got)
	}
}

func TestEnvironmentIsSanitised(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret-one")
	t.Setenv("MY_TOKEN", "secret-two")
	t.Setenv("OCTAVO_MODEL", "secret-three")
	t.Setenv("SHELL_TEST_PLAIN", "plain")
	got, _ := start(t, shell.Options{}).run(t, "env")
	for _, want := range []string{"SHELL_TEST_PLAIN=plain", "TERM=dumb", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "PATH="} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("a secret passed:\n%s", got)
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

func TestDescendantsEndWithTheCall(t *testing.T) {
	s := start(t, shell.Options{})
	got, _ := s.run(t, "nohup sleep 1000 >/dev/null 2>&1 & echo $!")
	gone(t, regexp.MustCompile(`(?m)^\d+$`).FindString(got))
	// A command that closes its output and goes on is waited for.
	s.run(t, "exec >&- 2>&-; sleep 0.3; touch done")
	if _, err := os.Stat(filepath.Join(s.workspace, "done")); err != nil {
		t.Error(err)
	}
}

func TestCallsRunSideBySide(t *testing.T) {
	s := start(t, shell.Options{MaxOutputBytes: shell.MinOutputBytes})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			out, err := s.tool.Invoke(s.call(t.Context()), arguments(fmt.Sprintf("seq %d 3000; sleep 1000 & exit %d", i, i)))
			if got := model.PlainText(out.Parts); err != nil || !strings.Contains(got, fmt.Sprintf("exit_status=%d ", i)) || !strings.Contains(got, fmt.Sprintf("]\n%d\n", i)) {
				t.Errorf("%d: %v %s", i, err, got)
			}
		})
	}
	wg.Wait()
}

func TestKilledOctavoLeavesNothing(t *testing.T) {
	ids := filepath.Join(t.TempDir(), "ids")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"=trap '' TERM; sleep 1000 & echo $! >"+ids+"; (sleep 1000; :) & echo $! $$ >>"+ids+"; wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for end := time.Now().Add(20 * time.Second); len(pids) < 3; time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(ids)
		if pids = strings.Fields(string(b)); time.Now().After(end) {
			t.Fatal("the command did not begin")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	gone(t, pids...)
}

// gone fails the test when a process still runs after a generous while.
func gone(t *testing.T, pids ...string) {
	t.Helper()
	for _, p := range pids {
		pid, err := strconv.Atoi(p)
		if err != nil {
			t.Fatalf("no process id: %q", p)
		}
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil && syscall.Kill(pid, 0) == syscall.ESRCH || err == nil && strings.Contains(string(b), ") Z ") {
				break
			}
			if time.Now().After(end) {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("process %d outlives its call", pid)
			}
		}
	}
}

func BenchmarkCall(b *testing.B) {
	s := start(b, shell.Options{})
	for _, command := range []string{"true", "echo hi", "seq 1 5000", "seq 1 1000000"} {
		b.Run(command, func(b *testing.B) {
			for b.Loop() {
				s.progress = nil
				if _, err := s.tool.Invoke(s.call(b.Context()), arguments(command)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("os/exec true", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
