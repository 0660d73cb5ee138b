package files

import (
	"os"
	"testing"

	"octavo/ext"
	"octavo/sessionstore"
)

func TestAFileChangedSinceItWasReadIsNotOverwritten(t *testing.T) {
	s := open(t, everything)
	path := s.put("f", "one\n")
	s.ok("edit", args{"path": "f", "old": "one", "new": "two"}) // never read: that old is there once is proof enough
	s.is("f", "two\n")

	must(t, os.WriteFile(path, []byte("two\nand theirs\n"), 0o644)) // a formatter, a person
	contains(t, s.refused(staleFile, "edit", args{"path": "f", "old": "two", "new": "x"}), "read it again")
	contains(t, s.refused(staleFile, "write", args{"path": "f", "content": "x"}), "read it again")
	s.is("f", "two\nand theirs\n")
	s.ok("read", args{"path": "f", "offset": 2, "limit": 1}) // a part counts
	s.ok("edit", args{"path": "f", "old": "two", "new": "x"})
	s.ok("write", args{"path": "f", "content": "mine\n"})

	must(t, os.Remove(path))
	s.ok("write", args{"path": "f", "content": "again\n"}) // gone is gone
	s.put("bin", "\x00")
	s.ok("read", args{"path": "bin"})
	s.ok("write", args{"path": "bin", "content": "text"})
	s.put("f2", "one\n")
	s.ok("search", args{"query": "one"}) // a search is no read
	s.refused(staleFile, "write", args{"path": "f2", "content": "x"})
	s.refused(badArguments, "read", args{"path": "f2", "offset": 9}) // nor is a refused one
	s.refused(staleFile, "write", args{"path": "f2", "content": "x"})
}

func TestWhatWasReadOutlivesTheProcess(t *testing.T) {
	home := t.TempDir()
	root := tempDir(t)
	must(t, os.WriteFile(root+"/f", []byte("one\n"), 0o644))
	with := func(use func(s *session, store *sessionstore.Store, l *sessionstore.Ledger)) {
		t.Helper()
		store, err := sessionstore.Open(t.Context(), sessionstore.Options{Dir: home})
		must(t, err)
		defer func() { must(t, store.Close()) }()
		x := newExtension(everything)
		l, err := store.OpenLedger(t.Context(), *x.declare().Ledger)
		must(t, err)
		use(join(t, x, root, l), store, l)
	}
	with(func(s *session, store *sessionstore.Store, _ *sessionstore.Ledger) {
		must(t, store.CreateSession(t.Context(), sessionstore.Session{ID: "s1", Workspace: root}))
		s.ok("read", args{"path": "f"})
	})
	with(func(s *session, _ *sessionstore.Store, _ *sessionstore.Ledger) {
		s.ok("write", args{"path": "f", "content": "two\n"})
	})
	must(t, os.WriteFile(root+"/f", []byte("theirs\n"), 0o644))
	with(func(s *session, _ *sessionstore.Store, l *sessionstore.Ledger) {
		s.refused(staleFile, "edit", args{"path": "f", "old": "theirs", "new": "x"})
		// Another session has read nothing.
		c, err := s.x.declare().Prepare(t.Context(), ext.Prep{Session: "s2", Workspace: root, Ledger: l})
		must(t, err)
		if _, err := c.Tools[3].Invoke(s.call(t.Context()), args{"path": "f", "content": "x"}.raw()); err == nil {
			t.Error("another session's read counted")
		}
	})
	with(func(_ *session, store *sessionstore.Store, l *sessionstore.Ledger) {
		rows := func() (n int64) {
			must(t, l.Read(t.Context(), func(tx *sessionstore.Tx) error {
				return tx.Query("SELECT count(*) FROM x_files_seen", func(r *sessionstore.Row) error { n = r.Int64(0); return nil })
			}))
			return n
		}
		if n := rows(); n != 1 {
			t.Errorf("%d rows are kept, want 1", n)
		}
		must(t, store.DeleteSession(t.Context(), "s1"))
		must(t, store.PurgeSession(t.Context(), "s1"))
		if n := rows(); n != 0 {
			t.Errorf("%d rows are left of a purged session", n)
		}
	})
}

// A ledger that fails costs no read: it is only what was seen that is forgotten with the process.
func TestSeenWithoutItsLedger(t *testing.T) {
	store, err := sessionstore.Open(t.Context(), sessionstore.Options{Dir: t.TempDir()})
	must(t, err)
	x := newExtension(everything)
	l, err := store.OpenLedger(t.Context(), *x.declare().Ledger)
	must(t, err)
	s := join(t, x, tempDir(t), l)
	must(t, store.Close())
	s.put("f", "one\n")
	s.ok("read", args{"path": "f"})
	s.ok("write", args{"path": "f", "content": "two\n"})
	s.put("g", "one\n")
	s.refused(ioFailed, "write", args{"path": "g", "content": "x"}) // it cannot be told, so it is not done
	s.is("g", "one\n")
}
