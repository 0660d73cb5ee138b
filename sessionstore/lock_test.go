package sessionstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"octavo/sessionstore"
)

func TestOneOpenerPerSession(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	first, second := open(t, sessionstore.Options{Dir: dir}), open(t, sessionstore.Options{Dir: dir})
	a, err := first.LockSession(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	var held *sessionstore.HeldError
	for _, s := range []*sessionstore.Store{first, second} {
		if _, err := s.LockSession(ctx, "a"); !errors.As(err, &held) || held.PID != os.Getpid() || held.What != "session a" {
			t.Errorf("second opener: %v", err)
		}
	}
	b, err := second.LockSession(ctx, "b") // another session is another lock
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Release(), b.Release()); err != nil {
		t.Fatal(err)
	}
	if a, err = second.LockSession(ctx, "a"); err != nil {
		t.Fatalf("after the release: %v", err)
	}
	if err := a.Release(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "../a", ".", "a/b", strings.Repeat("a", sessionstore.MaxID+1)} {
		if _, err := first.LockSession(ctx, id); !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Releasing removes the lock's file while others wait for it: never do two
// hold it at once.
func TestLockIsExclusiveWhileItChangesHands(t *testing.T) {
	s := open(t, sessionstore.Options{})
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for taken := 0; taken < 50; {
				l, ok, err := s.HomeLease()
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("held twice")
				}
				inside.Add(-1)
				taken++
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A lock's file may hold anything: it is what another process wrote.
func FuzzHolderFile(f *testing.F) {
	for _, seed := range []string{
		"", "{", `{"pid":1,"since":"2026-11-30T12:00:00Z","command":"octavo"}`, `{"pid":-1}`, `{"pid":999999999}`,
		`{"pid":1,"since":"0000-01-01T00:00:00Z","command":"a\u001b[31m\nb"}`, `{"pid":1e99}`, `[]`, "\x00", strings.Repeat("[", 10_000),
	} {
		f.Add([]byte(seed))
	}
	s := open(f, sessionstore.Options{})
	l, err := s.LockSession(context.Background(), "a")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Release() })
	path := filepath.Join(s.Dir(), "locks", "session-a.lock")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.LockSession(context.Background(), "a")
		var held *sessionstore.HeldError
		if !errors.As(err, &held) {
			t.Fatal(err)
		}
		if strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 1000 {
			t.Errorf("message %q", err)
		}
	})
}
