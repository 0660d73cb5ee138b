package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// built is where TestMain puts the program: as people get it, and as crash tests need it.
var built struct{ octavo, crashing string }

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "octavo-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.octavo, built.crashing = filepath.Join(dir, "octavo"), filepath.Join(dir, "octavo-crashing")
	for _, args := range [][]string{
		{"build", "-ldflags", "-X main.version=1.2.3-test", "-o", built.octavo, "."},
		{"build", "-tags", "crashpoints", "-o", built.crashing, "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %s: %v\n%s", strings.Join(args, " "), err, out)
			return 1
		}
	}
	return m.Run()
}

// desk is a person's machine: a home, a git repository and a model server.
type desk struct {
	t      *testing.T
	ctx    context.Context
	home   string
	repo   string
	server *modeltest.Server
	binary string
	env    []string
}

// script is the repository's test: it passes once greeting.txt is mended.
const checkScript = "#!/bin/sh\ngrep -q 'hello world' greeting.txt && echo PASS || { echo FAIL; exit 1; }\n"

func newDesk(t *testing.T, replies ...modeltest.Reply) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	d := &desk{t: t, ctx: ctx, home: filepath.Join(t.TempDir(), "home"), repo: t.TempDir(), server: modeltest.New(t), binary: built.octavo}
	d.server.Script(replies...)
	var err error
	if d.repo, err = filepath.EvalSymlinks(d.repo); err != nil {
		t.Fatal(err)
	}
	d.write("greeting.txt", "hello wrold\n")
	d.write("check.sh", checkScript)
	if err := os.Chmod(filepath.Join(d.repo, "check.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		d.git(args...)
	}
	return d
}

// connect writes the configuration with octavo setup, as a person would.
func (d *desk) connect() *desk {
	d.t.Helper()
	d.ok("", "setup", "--endpoint", d.server.URL(), "--provider", "local", "--manual-model", "scripted", "--no-auth", "--yes")
	return d
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.repo, name), []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.repo, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func (d *desk) git(args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.ctx, "git", args...)
	cmd.Dir = d.repo
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.invalid",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.ctx, d.binary, args...)
	cmd.Dir = d.repo
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(kv, "OCTAVO_") && !strings.HasPrefix(kv, "GIT_") && !strings.HasSuffix(name, "_API_KEY") && name != "HF_TOKEN" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "OCTAVO_HOME="+d.home, "TERM=dumb", "NO_COLOR=1")
	cmd.Env = append(cmd.Env, d.env...)
	return cmd
}

// outcome is how one run of octavo ended.
type outcome struct {
	stdout, stderr string
	code           int
}

func (d *desk) run(stdin string, args ...string) outcome {
	d.t.Helper()
	cmd := d.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// ok runs octavo, which must succeed, and answers its standard output.
func (d *desk) ok(stdin string, args ...string) string {
	d.t.Helper()
	o := d.run(stdin, args...)
	if o.code != 0 {
		d.t.Fatalf("octavo %s: exit %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// session is what the store holds of the home's only session.
type stored struct {
	row      sessionstore.Session
	kinds    []string
	payloads []string
	requests []sessionstore.Request
	totals   sessionstore.Totals
}

func (d *desk) stored() stored {
	d.t.Helper()
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home})
	if err != nil {
		d.t.Fatal(err)
	}
	defer store.Close()
	rows, err := store.Sessions(d.ctx, sessionstore.Filter{})
	if err != nil || len(rows) != 1 {
		d.t.Fatalf("want one session, have %d (%v)", len(rows), err)
	}
	s := stored{row: rows[0]}
	err = store.EachEntry(d.ctx, s.row.ID, 0, func(e sessionstore.Entry) error {
		s.kinds = append(s.kinds, e.Kind)
		s.payloads = append(s.payloads, string(e.Payload))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if s.requests, err = store.Requests(d.ctx, s.row.ID, 1000); err != nil {
		d.t.Fatal(err)
	}
	if s.totals, err = store.Totals(d.ctx, s.row.ID); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// talk is octavo in plain mode over pipes.
type talk struct {
	d     *desk
	cmd   *exec.Cmd
	stdin io.WriteCloser
	mu    sync.Mutex
	text  strings.Builder
	read  int // bytes of text that see has passed
	done  chan error
}

func (d *desk) talk(args ...string) *talk {
	d.t.Helper()
	x := &talk{d: d, cmd: d.command(append([]string{"--plain"}, args...)...), done: make(chan error, 1)}
	var err error
	if x.stdin, err = x.cmd.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	x.cmd.Stdout, x.cmd.Stderr = x, x
	if err := x.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { x.done <- x.cmd.Wait() }()
	return x
}

func (x *talk) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.Write(p)
}

func (x *talk) all() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}

func (x *talk) say(line string) {
	x.d.t.Helper()
	if _, err := io.WriteString(x.stdin, line+"\n"); err != nil {
		x.d.t.Fatalf("%v after:\n%s", err, x.all())
	}
}

// see waits for text after what was seen before.
func (x *talk) see(want string) {
	x.d.t.Helper()
	for {
		all := x.all()
		if i := strings.Index(all[x.read:], want); i >= 0 {
			x.read += i + len(want)
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-x.d.ctx.Done():
			x.d.t.Fatalf("no %q in:\n%s", want, all)
		}
	}
}

// end waits for the program's end and answers its exit code.
func (x *talk) end() int {
	x.d.t.Helper()
	select {
	case <-x.done:
		return x.cmd.ProcessState.ExitCode()
	case <-x.d.ctx.Done():
		x.d.t.Fatalf("octavo does not end:\n%s", x.all())
		return -1
	}
}

// fix is the scripted job: look, mend, check, tell.
func fix() []modeltest.Reply {
	return []modeltest.Reply{
		modeltest.Calls(modeltest.Call("read", `{"path":"greeting.txt"}`)).WithText("Let me look.").Usage(modeltest.Tokens{Prompt: 1000, Completion: 20}),
		modeltest.Calls(modeltest.Call("edit", `{"path":"greeting.txt","old":"wrold","new":"world"}`)).Usage(modeltest.Tokens{Prompt: 1100, Cached: 1000, Completion: 30}),
		modeltest.Calls(modeltest.Call("bash", `{"command":"./check.sh"}`)).Usage(modeltest.Tokens{Prompt: 1200, Cached: 1100, Completion: 20}),
		modeltest.Say("Mended the greeting; check.sh says PASS.").Usage(modeltest.Tokens{Prompt: 1300, Cached: 1200, Completion: 12}),
	}
}

func lines(t *testing.T, s string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(s) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		out = append(out, v)
	}
	return out
}
