package sessionstore_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"octavo/sessionstore"
)

func TestManyGoroutinesShareAStore(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "shared")
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			payload := bytes.Repeat([]byte{byte(w)}, 100)
			for range each {
				if _, err := s.Commit(ctx, "shared", sessionstore.NoteStored, sessionstore.Change{
					Append: []sessionstore.NewEntry{{Kind: "text", Payload: payload}, {Kind: "text", Payload: payload}},
				}); err != nil {
					t.Error(err)
				}
				if _, err := s.Entries(ctx, "shared", sessionstore.Range{Newest: true, Limit: 10}); err != nil {
					t.Error(err)
				}
				short, cancel := context.WithCancel(ctx)
				go cancel() // at any moment; the answer must be yes or no
				before := sessionstore.Range{}
				if _, err := s.Entries(short, "shared", before); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	list := entries(t, s, "shared", sessionstore.Range{})
	if len(list) != 2*workers*each {
		t.Errorf("%d entries", len(list))
	}
	for i := 0; i < len(list); i += 2 {
		if !bytes.Equal(list[i].Payload, list[i+1].Payload) {
			t.Errorf("the change at %d was torn", i)
		}
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	l, err := s.OpenLedger(ctx, sessionstore.LedgerSpec{Extension: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				_, err := s.Commit(ctx, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
				if err == nil {
					_, err = s.Entries(ctx, "one", sessionstore.Range{})
				}
				if err == nil {
					continue
				}
				if !errors.Is(err, sessionstore.ErrClosed) {
					t.Error(err)
				}
				return
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	nothing := func(*sessionstore.Tx) error { return nil }
	for i, err := range []error{
		func() error { _, err := s.Session(ctx, "one"); return err }(),
		func() error { _, err := s.PutBlob(ctx, nil); return err }(),
		s.SetPreference(ctx, "k", "v"), s.Check(ctx), l.Read(ctx, nothing), l.Write(ctx, nothing),
	} {
		if !errors.Is(err, sessionstore.ErrClosed) {
			t.Errorf("call %d after Close: %v", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestACancelledContextWritesNothing(t *testing.T) {
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Commit(ctx, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Session(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := entries(t, s, "one", sessionstore.Range{}); len(got) != 0 {
		t.Errorf("written: %+v", got)
	}
}
