package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/ext/spawn"
	"octavo/sessionstore"
)

// childHome is where a child keeps account of its temporary files; without it, it keeps none.
const childHome = "FILES_TEST_HOME"

func childTemps() (account temps, end func()) {
	home := os.Getenv(childHome)
	if home == "" {
		return temps{}, func() {}
	}
	store, l, err := openLedger(context.Background(), home)
	if err != nil {
		panic(err)
	}
	return temps{l}, func() { _ = store.Close() }
}

func openLedger(ctx context.Context, home string) (*sessionstore.Store, *sessionstore.Ledger, error) {
	store, err := sessionstore.Open(ctx, sessionstore.Options{Dir: home})
	if err != nil {
		return nil, nil, err
	}
	l, err := store.OpenLedger(ctx, *tables())
	return store, l, err
}

// withLedger prepares a session whose extension has a ledger.
func withLedger(t *testing.T, root, home string) (*session, *sessionstore.Ledger) {
	t.Helper()
	store, l, err := openLedger(t.Context(), home)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	must(t, os.MkdirAll(root, 0o755))
	return join(t, newExtension(everything), root, l), l
}

// accounts counts the files that are said to be written.
func accounts(t *testing.T, l *sessionstore.Ledger) (n int64) {
	t.Helper()
	must(t, l.Read(t.Context(), func(tx *sessionstore.Tx) error {
		return tx.Query("SELECT count(*) FROM x_files_temp", func(r *sessionstore.Row) error { n = r.Int64(0); return nil })
	}))
	return n
}

func enter(t *testing.T, l *sessionstore.Ledger, base, name string) {
	t.Helper()
	must(t, l.Write(t.Context(), func(tx *sessionstore.Tx) error {
		return tx.Exec("INSERT INTO x_files_temp (base, name) VALUES (?, ?)", base, name)
	}))
}

func TestWhatAKillLeftIsSwept(t *testing.T) {
	home, root := t.TempDir(), tempDir(t)
	must(t, os.WriteFile(root+"/f", []byte("old\n"), 0o644))
	must(t, os.WriteFile(root+"/.octavo-theirs.tmp", nil, 0o644))
	self, err := os.Executable()
	must(t, err)
	var out strings.Builder
	result, err := spawn.Run(t.Context(), spawn.Command{
		Path: self, Dir: root, Stdout: &out, Stderr: &out,
		Env: spawn.Environment(childVariable+"="+childKilled+":"+root, childHome+"="+home),
	})
	must(t, err)
	if result.Signal != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %+v\n%s", result, &out)
	}
	if left, _ := filepath.Glob(root + "/" + tempPrefix + "*"); len(left) != 2 {
		t.Fatalf("%v are left", left)
	}

	s, l := withLedger(t, root, home) // another process, much later
	if left, _ := filepath.Glob(root + "/" + tempPrefix + "*"); len(left) != 1 || filepath.Base(left[0]) != ".octavo-theirs.tmp" {
		t.Errorf("%v are left", left)
	}
	if n := accounts(t, l); n != 0 {
		t.Errorf("%d accounts are open", n)
	}
	if got := s.get("f"); got != "old\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestASweepLeavesWhatIsBeingWritten(t *testing.T) {
	s, l := withLedger(t, tempDir(t), t.TempDir())
	s.put("f", "old\n")
	open := int64(0)
	s.x.beforeCheck = func() {
		open = accounts(t, l)
		_, err := s.x.declare().Prepare(t.Context(), ext.Prep{Session: "s2", Workspace: s.root, Ledger: l, Policy: policy.UnsafeHost})
		must(t, err)
		if n := accounts(t, l); n != open {
			t.Errorf("%d accounts were open, %d after a sweep", open, n)
		}
	}
	s.ok("edit", args{"path": "f", "old": "old", "new": "new"})
	s.ok("write", args{"path": "dir/g", "content": "new\n"})
	s.is("f", "new\n")
	s.is("dir/g", "new\n")
	if n := accounts(t, l); open != 1 || n != 0 {
		t.Errorf("%d accounts were open during a write, %d after it", open, n)
	}
	s.x.beforeCheck = func() { must(t, os.WriteFile(s.path("f"), []byte("theirs\n"), 0o644)) }
	s.refused(staleFile, "edit", args{"path": "f", "old": "new", "new": "x"})
	s.is("f", "theirs\n")
	if n := accounts(t, l); n != 0 {
		t.Errorf("%d accounts are open after a refusal", n)
	}
}

func TestASweepRemovesOnlyWhatOctavoMade(t *testing.T) {
	home := t.TempDir()
	s, l := withLedger(t, tempDir(t), home)
	outside := tempDir(t)
	name := func(c string) string { return tempPrefix + strings.Repeat(c, 26) + tempSuffix }
	for _, path := range []string{outside + "/" + name("A"), outside + "/file"} {
		must(t, os.WriteFile(path, []byte("theirs\n"), 0o644))
	}
	s.put("ours/"+name("B"), "left\n")
	s.put("file", "theirs\n")
	s.put(".octavo-short.tmp", "theirs\n")
	s.link(outside, "dir")
	s.link(outside+"/file", name("C"))
	s.link("file", name("D"))
	s.fifo(name("E"))
	must(t, os.Mkdir(s.path(name("F")), 0o755))
	for _, n := range []string{"ours/" + name("B"), "file", ".octavo-short.tmp", "dir/" + name("A"), "../" + filepath.Base(outside) + "/" + name("A"),
		name("C"), name("D"), name("E"), name("F"), "gone/" + name("G")} {
		enter(t, l, s.root, n)
	}
	enter(t, l, s.root+"/no/directory", name("H"))
	temps{l}.sweep(t.Context())
	if _, err := os.Lstat(s.path("ours/" + name("B"))); err == nil {
		t.Error("what was left is still there")
	}
	for _, path := range []string{outside + "/" + name("A"), outside + "/file", s.path("file"), s.path(".octavo-short.tmp"),
		s.path(name("C")), s.path(name("D")), s.path(name("E")), s.path(name("F"))} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if n := accounts(t, l); n != 2 { // those that lead out of the workspace
		t.Errorf("%d accounts are open", n)
	}
}

func TestSweepBounds(t *testing.T) {
	s, l := withLedger(t, tempDir(t), t.TempDir())
	for i := range maxSwept + 1 {
		name := tempPrefix + strings.Repeat("A", 24) + string(rune('A'+i/26)) + string(rune('A'+i%26)) + tempSuffix
		s.put(name, "")
		enter(t, l, s.root, name)
	}
	temps{l}.sweep(t.Context())
	if n := accounts(t, l); n != 1 {
		t.Errorf("%d accounts are open after the first sweep", n)
	}
	temps{l}.sweep(t.Context())
	if n := accounts(t, l); n != 0 {
		t.Errorf("%d accounts are open after the second", n)
	}
	s.clean()
}
