package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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
		s, err := open(shell.Options{}, policy.Controlled, os.TempDir())
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

func open(o shell.Options, name policy.Name, workspace string) (*session, error) {
	c, err := shell.New(o).Prepare(context.Background(), ext.Prep{Session: "s", Workspace: workspace, Policy: name})
	if err != nil {
		return nil, err
	}
	return &session{Contribution: c, tool: c.Tools[0], workspace: workspace}, nil
}

// start prepares a session in a fresh workspace, under controlled.
func start(t testing.TB, o shell.Options) *session {
	t.Helper()
	return startUnder(t, policy.Controlled, o)
}

func startUnder(t testing.TB, name policy.Name, o shell.Options) *session {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	s, err := open(o, name, workspace)
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
