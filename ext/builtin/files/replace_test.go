package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"octavo/ext/model"
	"octavo/ext/spawn"
)

// Children of the tests below: the same program, which TestMain makes act on a workspace and leave.
const (
	childVariable = "FILES_TEST_CHILD"
	childKilled   = "killed" // dies by SIGKILL between the new file's completion and its taking the old one's place
	childFull     = "full"   // cannot write more than 1 KiB of a file
)

func TestMain(m *testing.M) {
	act, root, ok := strings.Cut(os.Getenv(childVariable), ":")
	if !ok {
		os.Exit(m.Run())
	}
	p, err := workspace{root: root}.locate("f")
	if err != nil {
		panic(err)
	}
	was, err := load(context.Background(), p)
	if err != nil {
		panic(err)
	}
	account, end := childTemps()
	var r replacer
	switch act {
	case childKilled:
		r.beforeCheck = func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	case childFull:
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 10, Max: 1 << 10}); err != nil {
			panic(err)
		}
	}
	fmt.Println(r.replace(context.Background(), account, p, was, []byte(strings.Repeat("new\n", 1<<10))))
	p, _ = workspace{root: root}.locate("sub/new")
	fmt.Println(r.replace(context.Background(), account, p, nil, []byte(strings.Repeat("new\n", 1<<10))))
	end()
	os.Exit(0)
}

func (s *session) child(act string) (spawn.Result, string) {
	s.Helper()
	self, err := os.Executable()
	must(s, err)
	var out strings.Builder
	result, err := spawn.Run(s.Context(), spawn.Command{
		Path: self, Dir: s.root, Stdout: &out, Stderr: &out,
		Env: spawn.Environment(childVariable + "=" + act + ":" + s.root),
	})
	must(s, err)
	return result, out.String()
}

func TestAKillLeavesTheOldFile(t *testing.T) {
	s := open(t, everything)
	s.put("f", "old\n")
	if result, out := s.child(childKilled); result.Signal != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %+v\n%s", result, out)
	}
	if got := s.get("f"); got != "old\n" {
		t.Errorf("the file holds %q", abridged(got))
	}
	// Only the finished new file is left beside it, by a name that nobody takes for a file of theirs.
	entries, err := os.ReadDir(s.root)
	must(t, err)
	for _, e := range entries {
		if e.Name() != "f" && !strings.HasPrefix(e.Name(), tempPrefix) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestAFullDiskLeavesTheOldFile(t *testing.T) {
	s := open(t, everything)
	s.put("f", "old\n")
	// A real full disk needs a mount; a bound on the size of files fails in the same place.
	result, out := s.child(childFull)
	if !result.Success() || strings.Count(out, "io: cannot write ") != 2 {
		t.Fatalf("%+v\n%s", result, out)
	}
	s.is("f", "old\n")
	if _, err := os.Stat(s.path("sub")); err == nil {
		t.Error("a directory was made for a file that was not")
	}
}

// Whatever happens to the file between reading and replacing it, the change is refused and the file left as it then is.
func TestAFileThatChangesDuringTheCallIsLeftAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		meddle func(s *session) error
		after  string // what the file holds then; "" when it is none any more
	}{
		{"written", func(s *session) error { return os.WriteFile(s.path("f"), []byte("theirs\n"), 0o644) }, "theirs\n"},
		{"written with the same size and time", func(s *session) error {
			info, err := os.Stat(s.path("f"))
			must(s, err)
			must(s, os.WriteFile(s.path("f"), []byte("odl\n"), 0o644))
			return os.Chtimes(s.path("f"), info.ModTime(), info.ModTime())
		}, "odl\n"},
		{"replaced by a file with the same content", func(s *session) error {
			info, err := os.Stat(s.path("f"))
			must(s, err)
			must(s, os.WriteFile(s.path("g"), []byte("old\n"), 0o644))
			must(s, os.Chtimes(s.path("g"), info.ModTime(), info.ModTime()))
			return os.Rename(s.path("g"), s.path("f"))
		}, "old\n"},
		{"made executable", func(s *session) error { return os.Chmod(s.path("f"), 0o755) }, "old\n"},
		{"touched", func(s *session) error { return os.Chtimes(s.path("f"), time.Unix(1, 0), time.Unix(1, 0)) }, "old\n"},
		{"removed", func(s *session) error { return os.Remove(s.path("f")) }, ""},
		{"made a pipe", func(s *session) error {
			must(s, os.Remove(s.path("f")))
			return syscall.Mkfifo(s.path("f"), 0o644)
		}, ""},
		{"made a directory", func(s *session) error {
			must(s, os.Remove(s.path("f")))
			return os.Mkdir(s.path("f"), 0o755)
		}, ""},
		{"grown beyond all bounds", func(s *session) error { return os.Truncate(s.path("f"), 1<<30) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, everything)
			s.put("f", "old\n")
			s.ok("read", args{"path": "f"})
			s.x.beforeCheck = func() { must(t, test.meddle(s)) }
			contains(t, s.refused(staleFile, "edit", args{"path": "f", "old": "old", "new": "new"}), "nothing was written")
			if test.after != "" {
				s.is("f", test.after)
			}
			s.clean()
		})
	}
	for name, make := range map[string]func(s *session) error{
		"a file appears":     func(s *session) error { return os.WriteFile(s.path("d/f"), []byte("theirs\n"), 0o644) },
		"a link appears":     func(s *session) error { return os.Symlink("nowhere", s.path("d/f")) },
		"a directory is one": func(s *session) error { return os.Mkdir(s.path("d/f"), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, everything)
			s.x.beforeCheck = func() { must(t, make(s)) }
			s.refused(staleFile, "write", args{"path": "d/f", "content": "mine\n"})
			if _, err := os.Lstat(s.path("d/f")); err != nil {
				t.Error(err)
			}
			s.clean()
		})
	}
}

func TestCancellingBeforeTheEndWritesNothing(t *testing.T) {
	s := open(t, everything)
	s.put("f", "old\n")
	ctx, cancel := context.WithCancel(t.Context())
	s.x.beforeCheck = cancel
	for tool, a := range map[string]args{
		"edit": {"path": "f", "old": "old", "new": "new"}, "write": {"path": "sub/new", "content": "new"},
	} {
		if _, err := s.tryRaw(ctx, tool, a.raw()); err == nil || !strings.HasPrefix(err.Error(), string(cancelled)) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	s.is("f", "old\n")
	if _, err := os.Stat(s.path("sub")); err == nil {
		t.Error("a directory was made for a file that was not")
	}
}

// Calls that change one file at once, of sessions that share a process, take turns: none is lost and none is refused.
func TestChangesOfOneFileTakeTurns(t *testing.T) {
	const calls = 24
	s := open(t, everything)
	var body strings.Builder
	for i := range calls {
		fmt.Fprintf(&body, "<%d>\n", i)
	}
	s.put("f", body.String())
	s.link("f", "alias")
	other := join(t, s.x, s.root, nil)
	var all sync.WaitGroup
	for i := range calls {
		by, name := s, "f"
		if i%3 == 0 {
			name = "alias"
		}
		if i%2 == 0 {
			by = other
		}
		all.Go(func() {
			// The sessions see each other's changes as those of something else, which a hash would have to name; reading settles it.
			for {
				_, err := by.try("edit", args{"path": name, "old": fmt.Sprintf("<%d>\n", i), "new": fmt.Sprintf("[%d]\n", i)})
				if err == nil {
					return
				}
				if !strings.HasPrefix(err.Error(), string(staleFile)) {
					t.Errorf("edit %d: %v", i, err)
					return
				}
				by.ok("read", args{"path": name})
			}
		})
	}
	all.Wait()
	s.is("f", strings.NewReplacer("<", "[", ">", "]").Replace(body.String()))
	if len(s.x.locks.held) != 0 {
		t.Errorf("%d locks are left", len(s.x.locks.held))
	}
}

func TestWritesOfOneNewFileTakeTurns(t *testing.T) {
	s := open(t, everything)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, err := s.try("write", args{"path": "new/f", "content": strings.Repeat(fmt.Sprint(i%10), 100_000)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := s.get("new/f")
	if len(got) != 100_000 || strings.Trim(got, got[:1]) != "" {
		t.Errorf("the file is a mixture of %d bytes", len(got))
	}
	s.clean()
}

func TestWaitingForAFileEndsWithTheTurn(t *testing.T) {
	s := open(t, everything)
	path := s.put("f", "old\n")
	unlock, err := s.x.locks.lock(t.Context(), path)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.tryRaw(ctx, "edit", args{"path": "f", "old": "old", "new": "new"}.raw())
		done <- err
	}()
	cancel()
	if err := <-done; err == nil || !strings.HasPrefix(err.Error(), string(cancelled)) {
		t.Errorf("the waiting call: %v", err)
	}
	unlock()
	s.ok("edit", args{"path": "f", "old": "old", "new": "new"})
	if len(s.x.locks.held) != 0 {
		t.Errorf("%d locks are left", len(s.x.locks.held))
	}
}

// A reader sees the old file or the new one, whole, at every moment.
func TestNobodySeesHalfAFile(t *testing.T) {
	s := open(t, everything)
	path := s.put("f", strings.Repeat("a", 1<<20))
	s.ok("read", args{"path": "f"})
	stop, seen := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(seen)
		for {
			select {
			case <-stop:
				return
			default:
			}
			data, err := os.ReadFile(path)
			if err != nil || len(data) != 1<<20 || strings.Trim(string(data), string(data[:1])) != "" {
				seen <- fmt.Errorf("%d bytes, %w", len(data), errors.Join(err))
				return
			}
		}
	}()
	for i := range 10 {
		s.ok("write", args{"path": "f", "content": strings.Repeat(string(rune('b'+i)), 1<<20)})
	}
	close(stop)
	if err := <-seen; err != nil {
		t.Error(err)
	}
}

func TestFilesBehindAChangingNameAreReadWhole(t *testing.T) {
	s := open(t, everything)
	path := s.put("f", "x")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			fresh := filepath.Join(s.root, "fresh")
			_ = os.WriteFile(fresh, []byte(strings.Repeat(fmt.Sprint(i%10), 300_000)), 0o644)
			_ = os.Rename(fresh, path)
		}
	}()
	for range 50 {
		out, err := s.try("read", args{"path": "f"})
		if err != nil {
			t.Errorf("read: %v", err)
			break
		}
		if text := model.PlainText(out.Parts); !strings.Contains(text, "300000 characters") && !strings.Contains(text, "| x\n") {
			t.Errorf("read a part: %s", abridged(text))
		}
	}
	close(stop)
	<-done
}
