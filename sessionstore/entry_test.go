package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/sessionstore"
)

func TestEntriesAreNumberedAndPaged(t *testing.T) {
	ctx, c := context.Background(), newClock()
	s := open(t, sessionstore.Options{Now: c.Now})
	create(t, s, "neighbour")
	create(t, s, "one")
	create(t, s, "next")
	for _, other := range []string{"neighbour", "next"} {
		commit(t, s, other, sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "other"}}})
	}
	for i := range int64(5) {
		r := commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{
			{Kind: "text", Turn: "t", Payload: fmt.Append(nil, 2*i+1)}, {Kind: "text", Payload: fmt.Append(nil, 2*i+2)},
		}})
		want := sessionstore.Receipt{First: 2*i + 1, Last: 2*i + 2, Time: c.now.Truncate(time.Millisecond)}
		if r != want {
			t.Fatalf("receipt %+v, want %+v", r, want)
		}
	}
	if r := commit(t, s, "one", sessionstore.UsageStored, sessionstore.Change{}); r.First != 11 || r.Last != 10 {
		t.Errorf("receipt of nothing: %+v", r)
	}
	for _, q := range []struct {
		r    sessionstore.Range
		want string
	}{
		{sessionstore.Range{}, "1 2 3 4 5 6 7 8 9 10"},
		{sessionstore.Range{Limit: 3}, "1 2 3"},
		{sessionstore.Range{Limit: 3, Newest: true}, "8 9 10"},
		{sessionstore.Range{Newest: true}, "1 2 3 4 5 6 7 8 9 10"},
		{sessionstore.Range{After: 8}, "9 10"},
		{sessionstore.Range{Before: 3}, "1 2"},
		{sessionstore.Range{After: 3, Before: 8, Limit: 2, Newest: true}, "6 7"},
		{sessionstore.Range{After: 3, Before: 4}, ""},
		{sessionstore.Range{After: 9, Before: 2}, ""},
		{sessionstore.Range{Before: 1}, ""},
		{sessionstore.Range{After: -7, Before: 2}, "1"},
		{sessionstore.Range{After: 1 << 62}, ""},
		{sessionstore.Range{After: 9, Before: 1 << 62}, "10"},
		{sessionstore.Range{After: sessionstore.MaxEntries}, ""},
	} {
		var got []string
		for _, e := range entries(t, s, "one", q.r) {
			got = append(got, string(e.Payload))
			if fmt.Sprint(e.Seq) != string(e.Payload) {
				t.Errorf("entry %d holds %s", e.Seq, e.Payload)
			}
		}
		if strings.Join(got, " ") != q.want {
			t.Errorf("%+v: %v", q.r, got)
		}
	}
	for _, err := range []error{
		func() error { _, err := s.Entries(ctx, "none", sessionstore.Range{}); return err }(),
		func() error { _, err := s.Inputs(ctx, "none"); return err }(),
		func() error { _, err := s.Totals(ctx, "none"); return err }(),
		func() error { _, err := s.Requests(ctx, "none", 1); return err }(),
		s.EachEntry(ctx, "none", 0, nil),
	} {
		if !errors.Is(err, sessionstore.ErrNotFound) {
			t.Errorf("no such session: %v", err)
		}
	}
}

func TestEachEntryStreamsWhatWasThereAtTheStart(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	const total = 1500 // several pages by number, and by size through the large ones
	var batch []sessionstore.NewEntry
	for i := range total {
		e := sessionstore.NewEntry{Kind: "text", Payload: []byte("x")}
		if i%100 == 0 {
			e.Payload = make([]byte, 1<<20)
		}
		if batch = append(batch, e); len(batch) == 500 {
			commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: batch})
			batch = nil
		}
	}
	next := int64(8)
	err := s.EachEntry(ctx, "one", 7, func(e sessionstore.Entry) error {
		if e.Seq != next {
			return fmt.Errorf("entry %d, want %d", e.Seq, next)
		}
		if next++; e.Seq%100 == 0 { // a writer does not keep the reader busy for ever
			commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "late"}}})
		}
		return nil
	})
	if err != nil || next != total+1 {
		t.Errorf("ended before %d: %v", next, err)
	}
	stop := errors.New("stop")
	if err := s.EachEntry(ctx, "one", 0, func(sessionstore.Entry) error { return stop }); err != stop {
		t.Errorf("the callback's error came back as %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	err = s.EachEntry(cancelled, "one", 0, func(e sessionstore.Entry) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The last number an entry may have is reached by moving the counter: four
// thousand million entries are too many for a test.
func TestSessionEndsAtMaxEntries(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	create(t, s, "two")
	err := sqlScript(file(s.Dir()), fmt.Sprintf("UPDATE session SET entries = %d WHERE id = 'one'", int64(sessionstore.MaxEntries-1)))
	if err != nil {
		t.Fatal(err)
	}
	last := sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "last"}}}
	if r := commit(t, s, "one", sessionstore.NoteStored, last); r.Last != sessionstore.MaxEntries {
		t.Errorf("receipt %+v", r)
	}
	if _, err := s.Commit(ctx, "one", sessionstore.NoteStored, last); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("one more: %v", err)
	}
	if got := entries(t, s, "one", sessionstore.Range{After: sessionstore.MaxEntries - 1}); len(got) != 1 || got[0].Seq != sessionstore.MaxEntries {
		t.Errorf("tail: %+v", got)
	}
	if got := entries(t, s, "two", sessionstore.Range{}); len(got) != 0 {
		t.Errorf("spilled into the next session: %+v", got)
	}
}

func TestForkSharesTheBeginning(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	if err := s.CreateSession(ctx, sessionstore.Session{ID: "old", Workspace: "/w", Model: "m", Effort: "low", Policy: "p", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	hash, err := s.PutBlob(ctx, []byte("picture"))
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, "old", sessionstore.NoteStored, sessionstore.Change{
		Append: []sessionstore.NewEntry{{Kind: "a", Payload: []byte("1"), Blobs: []string{hash}}, {Kind: "b"}, {Kind: "c"}},
		Stage:  &sessionstore.StageChange{Stage: sessionstore.StageTool, Turn: "t"}, Preview: "hello",
		Enqueue: []sessionstore.Input{{ID: "i", Kind: "chat"}}, Requests: []sessionstore.Request{request("r")},
	})
	if err := s.Fork(ctx, "old", 2, sessionstore.Session{ID: "new", Model: "other"}); err != nil {
		t.Fatal(err)
	}
	v, err := s.Session(ctx, "new")
	if err != nil {
		t.Fatal(err)
	}
	want := sessionstore.Session{
		ID: "new", Workspace: "/w", Model: "other", Effort: "low", Policy: "p", Parent: "old", ParentSeq: 2,
		Entries: 2, Stage: sessionstore.StageIdle, Preview: "hello", Created: v.Created, Updated: v.Updated,
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(entries(t, s, "old", sessionstore.Range{Limit: 2}), entries(t, s, "new", sessionstore.Range{})); diff != "" {
		t.Errorf("entries differ:\n%s", diff)
	}
	if r := commit(t, s, "new", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "own"}}}); r.First != 3 {
		t.Errorf("the fork goes on at %d", r.First)
	}
	if inputs, err := s.Inputs(ctx, "new"); err != nil || len(inputs) != 0 {
		t.Errorf("the queue was copied: %+v, %v", inputs, err)
	}
	if totals, err := s.Totals(ctx, "new"); err != nil || totals.Requests != 0 {
		t.Errorf("usage was copied: %+v, %v", totals, err)
	}
	for _, c := range []struct {
		through int64
		into    string
		want    error
	}{{4, "x", sessionstore.ErrInvalid}, {-1, "x", sessionstore.ErrInvalid}, {1, "old", sessionstore.ErrExists}, {1, "../x", sessionstore.ErrInvalid}} {
		if err := s.Fork(ctx, "old", c.through, sessionstore.Session{ID: c.into}); !errors.Is(err, c.want) {
			t.Errorf("fork at %d into %s: %v", c.through, c.into, err)
		}
	}
	if err := s.Fork(ctx, "old", 0, sessionstore.Session{ID: "empty"}); err != nil {
		t.Errorf("fork at the start: %v", err)
	}
	if got := entries(t, s, "empty", sessionstore.Range{}); len(got) != 0 {
		t.Errorf("fork at the start: %+v", got)
	}
}
