package sessionstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"octavo/sessionstore"
)

func TestADeletedSessionSaysWhenItGoes(t *testing.T) {
	ctx, c := context.Background(), newClock()
	s := open(t, sessionstore.Options{Now: c.Now})
	create(t, s, "one")
	v, err := s.Session(ctx, "one")
	if err != nil || !v.Gone().IsZero() {
		t.Errorf("not deleted: %v, %v", v.Gone(), err)
	}
	if err := s.DeleteSession(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	list, err := s.Sessions(ctx, sessionstore.Filter{Deleted: true})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if got, want := list[0].Gone(), c.now.Truncate(time.Millisecond).AddDate(0, 0, sessionstore.TrashDays); !got.Equal(want) {
		t.Errorf("it goes at %v, want %v", got, want)
	}
}

func TestAttachedCountsEachBlobOnce(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for _, id := range []string{"one", "two"} {
		create(t, s, id)
	}
	a, b := put(t, s, "four"), put(t, s, "three")
	commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k", Blobs: []string{a, b}}, {Kind: "k", Blobs: []string{a}}}})
	commit(t, s, "two", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k", Blobs: []string{a}}}})
	if err := s.DeleteSession(ctx, "two"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][2]int64{"one": {2, 9}, "two": {1, 4}} {
		if n, size, err := s.Attached(ctx, id); int64(n) != want[0] || size != want[1] || err != nil {
			t.Errorf("%s: %d of %d bytes, %v", id, n, size, err)
		}
	}
	if _, _, err := s.Attached(ctx, "three"); !errors.Is(err, sessionstore.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
}

func TestHolderLooksWithoutTaking(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	look := func() *sessionstore.HeldError {
		t.Helper()
		held, err := s.Holder("one")
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if held := look(); held != nil {
		t.Errorf("nobody: %v", held)
	}
	if made, err := os.ReadDir(filepath.Join(s.Dir(), "locks")); err != nil || len(made) > 0 {
		t.Errorf("made: %v, %v", made, err)
	}
	lock, err := s.LockSession(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if held := look(); held == nil || held.PID != os.Getpid() || held.What != "session one" {
			t.Errorf("this process: %v", held)
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	// A process that was killed leaves the file.
	if err := os.WriteFile(filepath.Join(s.Dir(), "locks", "session-one.lock"), []byte(`{"pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if held := look(); held != nil {
		t.Errorf("a killed process: %v", held)
	}
	if lock, err = s.LockSession(ctx, "one"); err != nil {
		t.Errorf("the look took it: %v", err)
	} else if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if _, err := s.Holder("../x"); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("no id: %v", err)
	}
}
