package sessionstore_test

import (
	"context"
	"fmt"
	"testing"

	"octavo/sessionstore"
)

// A commit's payload is about what one streamed answer or tool result weighs.
var kilobyte = make([]byte, 1024)

func BenchmarkOpenEmpty(b *testing.B) {
	dir := b.TempDir()
	open(b, sessionstore.Options{Dir: dir})
	for b.Loop() {
		s, err := sessionstore.Open(context.Background(), sessionstore.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreateHome(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		s, err := sessionstore.Open(context.Background(), sessionstore.Options{Dir: fmt.Sprintf("%s/%d", dir, i)})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	ctx := context.Background()
	for _, bench := range []struct {
		name   string
		change sessionstore.Change
	}{
		{"entry", sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "text", Turn: "t", Payload: kilobyte}}}},
		{"stage", sessionstore.Change{Stage: &sessionstore.StageChange{Stage: sessionstore.StageModel, Turn: "t"}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := open(b, sessionstore.Options{})
			create(b, s, "one")
			for b.Loop() {
				if _, err := s.Commit(ctx, "one", sessionstore.AssistantStored, bench.change); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("usage", func(b *testing.B) {
		s := open(b, sessionstore.Options{})
		create(b, s, "one")
		for i := 0; b.Loop(); i++ {
			q := request(fmt.Sprint(i))
			if _, err := s.Commit(ctx, "one", sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLedgerWrite(b *testing.B) {
	ctx := context.Background()
	s := open(b, sessionstore.Options{})
	l, err := s.OpenLedger(ctx, sessionstore.LedgerSpec{Extension: "bench", Schema: []sessionstore.Migration{
		{Name: "tables", Apply: func(_ context.Context, tx *sessionstore.Tx) error {
			return tx.Exec("CREATE TABLE x_bench_row (key INTEGER PRIMARY KEY, value BLOB)")
		}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := l.Write(ctx, func(tx *sessionstore.Tx) error {
			return tx.Exec("INSERT INTO x_bench_row (value) VALUES (?)", kilobyte)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// longHome returns a home with one session of n entries of 1 KiB.
func longHome(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	s := open(b, sessionstore.Options{Dir: dir})
	create(b, s, "long")
	batch := make([]sessionstore.NewEntry, sessionstore.MaxAppend)
	for i := range batch {
		batch[i] = sessionstore.NewEntry{Kind: "text", Payload: kilobyte}
	}
	for n > 0 {
		part := batch[:min(n, len(batch))]
		n -= len(part)
		commit(b, s, "long", sessionstore.NoteStored, sessionstore.Change{Append: part})
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// What a person waits for when they resume a long session.
func BenchmarkOpenLongTail(b *testing.B) {
	const entries, screen = 100_000, 50
	dir := longHome(b, entries)
	ctx := context.Background()
	b.ResetTimer()
	for b.Loop() {
		s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		v, err := s.Session(ctx, "long")
		if err != nil || v.Entries != entries {
			b.Fatal(v, err)
		}
		list, err := s.Entries(ctx, "long", sessionstore.Range{Newest: true, Limit: screen})
		if err != nil || len(list) != screen {
			b.Fatal(len(list), err)
		}
		if _, err := s.Totals(ctx, "long"); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkEachEntry10000(b *testing.B) {
	dir := longHome(b, 10_000)
	s := open(b, sessionstore.Options{Dir: dir})
	for b.Loop() {
		n := 0
		err := s.EachEntry(context.Background(), "long", 0, func(sessionstore.Entry) error { n++; return nil })
		if err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkSessions10000(b *testing.B) {
	s := open(b, sessionstore.Options{})
	for i := range 10_000 {
		create(b, s, fmt.Sprintf("session-%d", i))
	}
	for _, bench := range []struct {
		name   string
		filter sessionstore.Filter
	}{
		{"newest50", sessionstore.Filter{Limit: 50}},
		{"query", sessionstore.Filter{Limit: 50, Query: "nothing like it"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Sessions(context.Background(), bench.filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkForkAndPurge100000(b *testing.B) {
	dir := longHome(b, 100_000)
	s := open(b, sessionstore.Options{Dir: dir})
	ctx := context.Background()
	for b.Loop() {
		if err := s.Fork(ctx, "long", 100_000, sessionstore.Session{ID: "fork"}); err != nil {
			b.Fatal(err)
		}
		if err := s.PurgeSession(ctx, "fork"); err != nil {
			b.Fatal(err)
		}
	}
}
