package sessionstore_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octavo/sessionstore"
)

func blobFile(s *sessionstore.Store, hash string) string {
	return filepath.Join(s.Dir(), "blobs", hash[:2], hash)
}

func put(t *testing.T, s *sessionstore.Store, text string) string {
	t.Helper()
	hash, err := s.PutBlob(context.Background(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if hash != hashOf([]byte(text)) {
		t.Fatalf("hash of %q: %s", text, hash)
	}
	return hash
}

// has says whether a blob can be read and holds what it should.
func has(t *testing.T, s *sessionstore.Store, hash, text string) bool {
	t.Helper()
	data, err := s.Blob(context.Background(), hash)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return false
	}
	if err != nil || string(data) != text {
		t.Fatalf("blob of %q: %q, %v", text, data, err)
	}
	return true
}

func sweep(t *testing.T, s *sessionstore.Store, want int) {
	t.Helper()
	if got, err := s.SweepBlobs(context.Background()); err != nil || got != want {
		t.Errorf("swept %d, want %d, %v", got, want, err)
	}
}

func TestBlobsLiveAsLongAsTheyAreNeeded(t *testing.T) {
	ctx := context.Background()
	c := &clock{time.Now()} // files carry the real time
	s := open(t, sessionstore.Options{Now: c.Now})
	sweep(t, s, 0)
	create(t, s, "one")
	refer := func(hashes ...string) {
		t.Helper()
		commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "picture", Blobs: hashes}}})
	}
	kept, loose, shared, empty := put(t, s, "kept"), put(t, s, "loose"), put(t, s, "shared"), put(t, s, "")
	refer(kept, kept, empty) // naming it twice counts once
	refer(shared)
	if info, err := os.Stat(blobFile(s, kept)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	c.step(sessionstore.BlobGrace)
	sweep(t, s, 0) // to the millisecond, the hour is not over
	again := put(t, s, "again")
	c.step(time.Millisecond)
	sweep(t, s, 1)
	if has(t, s, loose, "loose") || !has(t, s, again, "again") || !has(t, s, kept, "kept") || !has(t, s, empty, "") {
		t.Error("the wrong blob went")
	}
	c.step(sessionstore.BlobGrace - time.Minute)
	put(t, s, "again") // renews
	c.step(sessionstore.BlobGrace - time.Minute)
	sweep(t, s, 0)

	if err := s.Fork(ctx, "one", 2, sessionstore.Session{ID: "two"}); err != nil {
		t.Fatal(err)
	}
	if err := s.PurgeSession(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if !has(t, s, kept, "kept") || !has(t, s, shared, "shared") {
		t.Error("the fork lost its blobs")
	}
	if err := s.PurgeSession(ctx, "two"); err != nil { // the hour since their put is over
		t.Fatal(err)
	}
	if has(t, s, kept, "kept") || has(t, s, shared, "shared") || has(t, s, empty, "") {
		t.Error("a purge left blobs that nobody refers to")
	}
	c.step(time.Hour)
	sweep(t, s, 1) // again
	create(t, s, "three")
	if _, err := s.Commit(ctx, "three", sessionstore.NoteStored, sessionstore.Change{
		Append: []sessionstore.NewEntry{{Kind: "first"}, {Kind: "picture", Blobs: []string{kept}}},
	}); !errors.Is(err, sessionstore.ErrNotFound) {
		t.Errorf("reference to a blob that is gone: %v", err)
	}
	if got := entries(t, s, "three", sessionstore.Range{}); len(got) != 0 {
		t.Errorf("a refused change is visible: %+v", got)
	}
}

func TestSweepFindsWhatACrashLeft(t *testing.T) {
	s := open(t, sessionstore.Options{})
	known := put(t, s, "known")
	old := time.Now().Add(-2 * sessionstore.BlobGrace)
	stray, unfinished, fresh, foreign := blobFile(s, hashOf([]byte("stray"))), filepath.Join(s.Dir(), "blobs", ".put-1"),
		filepath.Join(s.Dir(), "blobs", ".put-2"), filepath.Join(s.Dir(), "blobs", "README")
	for _, path := range []string{stray, unfinished, fresh, foreign, blobFile(s, known)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if path != blobFile(s, known) {
			if err := os.WriteFile(path, []byte("stray"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if path != fresh {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep(t, s, 2)
	for path, stays := range map[string]bool{stray: false, unfinished: false, fresh: true, foreign: true, blobFile(s, known): true} {
		if _, err := os.Stat(path); (err == nil) != stays || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBlobsAreBoundedAndVerified(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	big := bytes.Repeat([]byte("x"), sessionstore.MaxBlob+1)
	if _, err := s.PutBlob(ctx, big); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("over the bound: %v", err)
	}
	hash, err := s.PutBlob(ctx, big[:sessionstore.MaxBlob])
	if err != nil {
		t.Fatalf("at the bound: %v", err)
	}
	if data, err := s.Blob(ctx, hash); err != nil || len(data) != sessionstore.MaxBlob {
		t.Errorf("at the bound: %d bytes, %v", len(data), err)
	}
	for _, name := range []string{"", "abc", "../../octavo.db", strings.ToUpper(hash), hash + "0", strings.Repeat("/", 64)} {
		if _, err := s.Blob(ctx, name); !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}

	hash = put(t, s, "text")
	for _, content := range [][]byte{[]byte("tex"), big} { // cut short, and too long to read
		if err := os.WriteFile(blobFile(s, hash), content, 0o600); err != nil {
			t.Fatal(err)
		}
		var corrupt *sessionstore.CorruptError
		if _, err := s.Blob(ctx, hash); !errors.As(err, &corrupt) || corrupt.Path != blobFile(s, hash) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
		put(t, s, "text") // heals
		if !has(t, s, hash, "text") {
			t.Error("putting it again did not heal it")
		}
	}
}
