package files

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

// session is the tools as one session of one process has them, on real files.
type session struct {
	testing.TB
	root   string
	x      *extension
	tools  map[string]ext.Tool
	images model.ImageLimits
}

// everything offers all tools everywhere.
var everything = Options{ExternalPaths: true, AllowEdit: true, AllowWrite: true, Search: true}

// open prepares a session under unsafe_host.
func open(t testing.TB, o Options) *session {
	t.Helper()
	return join(t, newExtension(o), tempDir(t), nil)
}

// openUnder prepares a session under a policy.
func openUnder(t testing.TB, name policy.Name, o Options) *session {
	t.Helper()
	return joinUnder(t, name, newExtension(o), tempDir(t), nil)
}

// join prepares a session of an extension that is already there.
func join(t testing.TB, x *extension, root string, ledger *sessionstore.Ledger) *session {
	t.Helper()
	return joinUnder(t, policy.UnsafeHost, x, root, ledger)
}

func joinUnder(t testing.TB, name policy.Name, x *extension, root string, ledger *sessionstore.Ledger) *session {
	t.Helper()
	c, err := x.declare().Prepare(t.Context(), ext.Prep{Session: "s1", Workspace: root, Ledger: ledger, Policy: name})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{TB: t, root: root, x: x, tools: map[string]ext.Tool{}}
	for _, tool := range c.Tools {
		s.tools[tool.Name] = tool
	}
	return s
}

// tempDir is a temporary directory by its real name.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

type args map[string]any

func (a args) raw() json.RawMessage {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return b
}

func (s *session) call(ctx context.Context) *ext.Call {
	return &ext.Call{
		Context: ctx, ID: "c1", Session: "s1", Workspace: s.root, Images: s.images,
		Progress: func(string) {}, Ask: func(ext.Ask) ext.Answer { return ext.Answer{} },
	}
}

// try runs a tool and checks what holds for every call: an error is one for the model, and no text is beyond the bound.
func (s *session) try(tool string, a args) (ext.Output, error) {
	s.Helper()
	return s.tryRaw(s.Context(), tool, a.raw())
}

func (s *session) tryRaw(ctx context.Context, tool string, raw json.RawMessage) (ext.Output, error) {
	s.Helper()
	out, err := s.tools[tool].Invoke(s.call(ctx), raw)
	if err != nil {
		var told ext.Refused
		if !errors.As(err, &told) {
			s.Errorf("%s: an error that is not for the model: %v", tool, err)
		}
		if len(err.Error()) > s.x.MaxOutputBytes {
			s.Errorf("%s: the refusal has %d bytes", tool, len(err.Error()))
		}
	}
	if n := len(model.PlainText(out.Parts)); n > s.x.MaxOutputBytes {
		s.Errorf("%s: the result has %d bytes, more than %d", tool, n, s.x.MaxOutputBytes)
	}
	return out, err
}

// ok runs a tool that must work and gives the text for the model.
func (s *session) ok(tool string, a args) string {
	s.Helper()
	out, err := s.try(tool, a)
	if err != nil {
		s.Fatalf("%s %s: %v", tool, a.raw(), err)
	}
	return model.PlainText(out.Parts)
}

// refused runs a tool that must refuse with a code and gives the sentence.
func (s *session) refused(c code, tool string, a args) string {
	s.Helper()
	out, err := s.try(tool, a)
	if err == nil {
		s.Fatalf("%s %s worked, want %s:\n%s", tool, a.raw(), c, model.PlainText(out.Parts))
	}
	if !strings.HasPrefix(err.Error(), string(c)+": ") {
		s.Fatalf("%s %s: %v, want %s", tool, a.raw(), err, c)
	}
	return err.Error()
}

func (s *session) path(name string) string { return filepath.Join(s.root, name) }

func (s *session) put(name, content string) string {
	s.Helper()
	path := s.path(name)
	must(s, os.MkdirAll(filepath.Dir(path), 0o755))
	must(s, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (s *session) get(name string) string {
	s.Helper()
	data, err := os.ReadFile(s.path(name))
	must(s, err)
	return string(data)
}

// is checks what a file holds, and that no temporary file is left beside it.
func (s *session) is(name, want string) {
	s.Helper()
	if got := s.get(name); got != want {
		s.Fatalf("%s holds %q, want %q", name, abridged(got), abridged(want))
	}
	s.clean()
}

// clean checks that no temporary file is left anywhere in the workspace.
func (s *session) clean() {
	s.Helper()
	_ = filepath.WalkDir(s.root, func(path string, _ os.DirEntry, _ error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			s.Errorf("a temporary file is left: %s", path)
		}
		return nil
	})
}

func abridged(s string) string { return s[:min(len(s), 300)] }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, abridged(text))
		}
	}
}

// sparse makes a file of a size that takes no room.
func (s *session) sparse(name string, size int64) {
	s.Helper()
	s.put(name, "")
	must(s, os.Truncate(s.path(name), size))
}

// fifo makes a named pipe; opening it without care would wait for ever.
func (s *session) fifo(name string) {
	s.Helper()
	must(s, syscall.Mkfifo(s.path(name), 0o644))
}

func (s *session) link(target, name string) {
	s.Helper()
	must(s, os.Symlink(target, s.path(name)))
}

func (s *session) mtime(name string) time.Time {
	s.Helper()
	info, err := os.Stat(s.path(name))
	must(s, err)
	return info.ModTime()
}
