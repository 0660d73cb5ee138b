package api_test

import (
	"context"
	"fmt"
	"testing"

	"octavo/app/api"
)

// deltas are n fragments of an answer, as a model streams them.
func deltas(s *api.State, n int) []api.Event {
	list := make([]api.Event, n)
	for i := range list {
		list[i] = text("token")
	}
	return numbered(s, list...)
}

func BenchmarkApply10000Deltas(b *testing.B) {
	events := deltas(begin(), 10_000)
	b.ReportAllocs()
	for b.Loop() {
		s := begin()
		for i := range events {
			if err := s.Apply(events[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkApplyProgressOverTheBound(b *testing.B) {
	s := begin()
	line := "a line of output as a build prints it, about eighty characters of it in all\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		apply(s, progress("c0", line))
	}
}

// BenchmarkPushStuckReader is what a client that does not read costs the session for each delta.
func BenchmarkPushStuckReader(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	var waits []func()
	defer func() {
		cancel()
		for _, wait := range waits {
			wait()
		}
	}()
	attach := func() *api.Stream {
		s, wait := api.NewStream(ctx, begin())
		waits = append(waits, wait)
		return s
	}
	s := attach()
	e := deltas(s.State, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		e.Seq++
		if !s.Push(e) {
			s = attach() // as a client does that lagged
		}
	}
}

func BenchmarkClone(b *testing.B) {
	s := begin()
	for i := range api.WindowEntries {
		apply(s, api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: int64(i + 1), Kind: api.EntryUser, Parts: []api.Part{{Type: api.PartText, Text: fmt.Sprint("entry ", i)}}}})
	}
	for range 10_000 {
		apply(s, text("token"))
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Clone()
	}
}
