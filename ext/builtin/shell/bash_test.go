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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"octavo/ext"
	"octavo/ext/builtin/shell"
	"octavo/ext/model"
	"octavo/ext/policy"
)

func TestRefusals(t *testing.T) {
	s := start(t, shell.Options{})
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

func TestDirectoryThatIsGoneIsNamed(t *testing.T) {
	s := start(t, shell.Options{})
	said := func(more ...any) string {
		t.Helper()
		_, err := s.tool.Invoke(s.call(t.Context()), arguments("true", more...))
		if err == nil {
			t.Fatal("it runs")
		}
		return err.Error()
	}
	if got := said("cwd", "sub"); !strings.HasPrefix(got, "invalid_cwd: ") || !strings.HasSuffix(got, "there is no directory sub") {
		t.Error(got)
	}
	if err := os.Remove(s.workspace); err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{said(), said("cwd", "sub")} {
		if !strings.HasPrefix(got, "invalid_cwd: ") || !strings.Contains(got, s.workspace+" any more, which is the workspace") {
			t.Error(got)
		}
	}
	if i := s.tool.Intent(arguments("ls")); i.ReadOnly {
		t.Error("runs unasked where nothing is")
	}
	if err := os.WriteFile(s.workspace, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := said(); !strings.HasSuffix(got, s.workspace+" is not a directory") {
		t.Error(got)
	}
}

func TestBoundsFromTheInside(t *testing.T) {
	s := startUnder(t, policy.UnsafeHost, shell.Options{})
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
	s := start(t, shell.Options{})
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
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "Set shell_path to a shell") || !strings.Contains(s.Warnings[0], "/no/such/shell") {
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

func TestKilledOctavoLeavesNoOutputForLong(t *testing.T) {
	base := t.TempDir()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TMPDIR="+base, ownerVariable+"=seq 1 50000; sleep 0.1; echo >"+ready+"; sleep 1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	kept := func() int {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(base, "octavo-output-*", "bash-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil && kept() > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the command did not begin")
		}
	}
	start(t, shell.Options{TempDir: base})
	if kept() == 0 {
		t.Error("what an octavo that lives keeps was removed")
	}
	cmd.Process.Kill()
	cmd.Wait()
	// Elsewhere it is not looked for.
	start(t, shell.Options{TempDir: t.TempDir()})
	if kept() == 0 {
		t.Fatal("there is nothing to remove")
	}
	start(t, shell.Options{TempDir: base})
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Errorf("%v stays %v", left, err)
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
