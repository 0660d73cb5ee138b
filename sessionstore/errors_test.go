package sessionstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"octavo/sessionstore"
)

// What a person reads says what failed, why, and what to do next.
func TestMessages(t *testing.T) {
	yesterday := time.Now().Add(-25 * time.Hour)
	for want, err := range map[string]error{
		"/h/octavo.db cannot grow: the disk is full or a quota is used up. Free some space and try again; everything saved before is intact.": &sessionstore.FullError{Path: "/h/octavo.db"},

		"/h/octavo.db cannot be written: permission denied. Check the disk, the path and its permissions, or name another home in OCTAVO_HOME.": &sessionstore.UnwritableError{Path: "/h/octavo.db", Reason: "permission denied"},

		"/h/octavo.db is damaged: file is not a database. Nothing was changed. Run `octavo sessions repair`, or move the file aside and start again; earlier copies, if any, are in /h/backups.": &sessionstore.CorruptError{Path: "/h/octavo.db", Detail: "file is not a database", Backups: "/h/backups"},

		"/h/octavo.db has schema 9 and this octavo knows up to 1: a newer octavo wrote it. Update octavo, or name another home in OCTAVO_HOME. Nothing was changed.": &sessionstore.NewerError{Path: "/h/octavo.db", Have: 9, Know: 1},

		"the tables of extension lcm in /h/octavo.db have a newer schema than this octavo knows: a newer octavo wrote it. Update octavo, or name another home in OCTAVO_HOME. Nothing was changed.": &sessionstore.NewerError{Path: "/h/octavo.db", Extension: "lcm"},

		"another process has been writing to /h/octavo.db for 10s. Try again; if it stays so, look for an octavo that hangs and end it.": &sessionstore.BusyError{Path: "/h/octavo.db", Waited: 10 * time.Second},

		"session s is open in process 7 (octavo, since " + yesterday.Local().Format("2006-01-02 15:04") + "); close it there": &sessionstore.HeldError{
			What: "session s", PID: 7, Since: yesterday, Command: "octavo", Next: "close it there"},

		"session s is open in another process; close it there": &sessionstore.HeldError{What: "session s", Next: "close it there"},

		`"ab" names several sessions; give more of the id: abc (parser), abd`: &sessionstore.AmbiguousError{
			Prefix: "ab", Candidates: []sessionstore.Session{{ID: "abc", Name: "parser"}, {ID: "abd"}}},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

// TestFileRemovedWhileOpen: what goes into a file that nobody can find again is not stored, and the store says so.
func TestFileRemovedWhileOpen(t *testing.T) {
	for name, harm := range map[string]func(string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			dir := t.TempDir()
			s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.CreateSession(ctx, sessionstore.Session{ID: "a", Workspace: "/w"}); err != nil {
				t.Fatal(err)
			}
			if err := harm(filepath.Join(dir, "octavo.db")); err != nil {
				t.Fatal(err)
			}
			_, err = s.Commit(ctx, "a", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "note", Payload: []byte("x")}}})
			var gone *sessionstore.GoneError
			if !errors.As(err, &gone) {
				t.Fatalf("got %v", err)
			}
		})
	}
}
