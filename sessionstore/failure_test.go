package sessionstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octavo/sessionstore"
)

// refused opens a home that cannot be opened, compares the file before and
// after and returns the error.
func refused(t *testing.T, dir string) error {
	t.Helper()
	before, _ := os.ReadFile(file(dir)) // a folder or a file that is not there reads as nothing, twice
	s, err := sessionstore.Open(context.Background(), sessionstore.Options{Dir: dir})
	if err == nil {
		_ = s.Close()
		t.Fatal("opened")
	}
	if after, _ := os.ReadFile(file(dir)); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	return err
}

func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message does not say %q: %v", part, err)
		}
	}
}

func TestAFullDiskLosesNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir, PageLimit: 100})
	create(t, s, "one")
	l, err := s.OpenLedger(ctx, sessionstore.LedgerSpec{Extension: "x", Schema: []sessionstore.Migration{{
		Name: "t", Apply: func(_ context.Context, tx *sessionstore.Tx) error { return tx.Exec("CREATE TABLE x_x_t (v)") },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var full *sessionstore.FullError
	stored := 0
	for ; ; stored++ {
		if stored > 100 {
			t.Fatal("the limit is not felt")
		}
		_, err := s.Commit(ctx, "one", sessionstore.NoteStored, sessionstore.Change{
			Append:   []sessionstore.NewEntry{{Kind: "small"}, {Kind: "large", Payload: make([]byte, 10_000)}},
			Requests: []sessionstore.Request{request(fmt.Sprint(stored))}, Stage: &sessionstore.StageChange{Stage: sessionstore.StageModel, Turn: fmt.Sprint(stored)},
		})
		if errors.As(err, &full) {
			says(t, err, file(dir), "disk is full", "Free some space")
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err = l.Write(ctx, func(tx *sessionstore.Tx) error { return tx.Exec("INSERT INTO x_x_t VALUES (?)", make([]byte, 100_000)) })
	if !errors.As(err, &full) {
		t.Errorf("ledger: %v", err)
	}
	check := func(s *sessionstore.Store) {
		t.Helper()
		v, err := s.Session(ctx, "one")
		if err != nil || v.Entries != int64(2*stored) || v.Turn != fmt.Sprint(stored-1) {
			t.Errorf("%d changes stored: %+v, %v", stored, v, err)
		}
		if got := entries(t, s, "one", sessionstore.Range{}); len(got) != 2*stored {
			t.Errorf("%d entries of %d changes", len(got), stored)
		}
		if totals, err := s.Totals(ctx, "one"); err != nil || totals.Requests != int64(stored) {
			t.Errorf("totals %+v, %v", totals, err)
		}
	}
	check(s)
	// The store is usable: what fits is stored, and purging makes room.
	if _, err := s.NextEpoch(ctx, "one"); err != nil {
		t.Errorf("a change that needs no page: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	roomy := open(t, sessionstore.Options{Dir: dir})
	check(roomy)
	commit(t, roomy, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "large", Payload: make([]byte, 100_000)}}})
	if err := roomy.Check(ctx); err != nil {
		t.Error(err)
	}
}

func TestAHomeThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(file(folder), 0o700); err != nil {
		t.Fatal(err)
	}
	locks := filepath.Join(dir, "locks-is-a-file")
	if err := os.MkdirAll(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locks, "locks"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	homes := map[string]string{
		"the home is a file": plain, "the home is below a file": filepath.Join(plain, "home"),
		"a folder is in the file's place": folder, "the locks' folder is a file": locks,
		"the kernel's own file system": "/proc/octavo-home",
	}
	if os.Geteuid() != 0 { // permissions do not stop root
		readOnly := filepath.Join(dir, "read-only")
		open(t, sessionstore.Options{Dir: readOnly})
		if err := os.Chmod(file(readOnly), 0o400); err != nil {
			t.Fatal(err)
		}
		closed := filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0o500); err != nil {
			t.Fatal(err)
		}
		homes["the file is read-only"], homes["the folder is read-only"] = readOnly, closed
	}
	for what, home := range homes {
		err := refused(t, home)
		var unwritable *sessionstore.UnwritableError
		if !errors.As(err, &unwritable) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		says(t, err, home, "cannot be written", "OCTAVO_HOME")
	}
	if _, err := sessionstore.Open(context.Background(), sessionstore.Options{}); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("no home named: %v", err)
	}
}

func TestADamagedFileIsNamedAndLeftAlone(t *testing.T) {
	ctx := context.Background()
	var corrupt *sessionstore.CorruptError
	for what, damage := range map[string]func(string) error{
		"other content": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600) },
		"a short file":  func(path string) error { return os.WriteFile(path, []byte("SQLite format 3"), 0o600) },
		"cut in half": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()/2)
		},
		"another program's": func(path string) error {
			return errors.Join(os.Remove(path), sqlScript(path, "PRAGMA application_id = 7; CREATE TABLE t (a);"))
		},
	} {
		dir := t.TempDir()
		s := open(t, sessionstore.Options{Dir: dir})
		create(t, s, "one")
		commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k", Payload: make([]byte, 50_000)}}})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := damage(file(dir)); err != nil {
			t.Fatal(what, err)
		}
		err := refused(t, dir)
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		says(t, err, file(dir), "octavo sessions repair", "move the file aside", filepath.Join(dir, "backups"))
	}

	// Damage that opening does not meet is met by whoever reads it, and by Check.
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	create(t, s, "one")
	for range 50 {
		commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k", Payload: make([]byte, 3000)}}})
	}
	if err := s.Check(ctx); err != nil {
		t.Errorf("before the damage: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file(dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := info.Size() / 2 / page * page; at < info.Size(); at += page {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 100), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, sessionstore.Options{Dir: dir})
	if _, err := s.Session(ctx, "one"); err != nil {
		t.Errorf("an undamaged part: %v", err)
	}
	if _, err := s.Entries(ctx, "one", sessionstore.Range{}); !errors.As(err, &corrupt) {
		t.Errorf("reading it: %v", err)
	}
	if err := s.Check(ctx); !errors.As(err, &corrupt) {
		t.Errorf("check: %v", err)
	}
}

func TestANewerFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, sessionstore.Options{Dir: dir}).Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlScript(file(dir), "PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	err := refused(t, dir)
	var newer *sessionstore.NewerError
	if !errors.As(err, &newer) || newer.Have != 1000 || newer.Know < 1 {
		t.Fatal(err)
	}
	says(t, err, "Update octavo", "OCTAVO_HOME", file(dir))
}

func TestAHomeIsItsOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "home?mode=memory#x") // a name SQLite could take for a URI
	s := open(t, sessionstore.Options{Dir: dir})
	create(t, s, "one")
	put(t, s, "blob")
	backup, err := s.Backup(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	// A backup is a home's file like any other.
	restored := t.TempDir()
	data, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(restored), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, sessionstore.Options{Dir: restored}).Session(context.Background(), "one"); err != nil {
		t.Error(err)
	}
}
