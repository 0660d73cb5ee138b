package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"octavo/app/api"
)

// drain reads a stream to its end.
func drain(s *api.Stream) []api.Event {
	var got []api.Event
	for e := range s.Events {
		got = append(got, e)
	}
	return got
}

func TestStreamDeliversInOrderAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, wait := api.NewStream(t.Context(), begin())
		entry := api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: 1}}
		all := numbered(s.State, entry, text("a"), text("b"), entry, text("c"), api.Event{Type: api.EventWithdraw}, text("d"), entry)
		for _, e := range all[:4] {
			if !s.Push(e) {
				t.Fatal("the stream has ended")
			}
			synctest.Wait()
		}
		if first := <-s.Events; first.Seq != all[0].Seq {
			t.Errorf("the first event is %d", first.Seq)
		}
		for _, e := range all[4:] {
			s.Push(e)
		}
		if s.Err() != nil {
			t.Error("an open stream has no error")
		}
		broken := errors.New("the session failed")
		s.End(broken)
		s.End(nil)
		if s.Push(all[7]) {
			t.Error("an ended stream takes events")
		}
		next := all[1].Seq
		for _, e := range drain(s) { // what waited at the end is delivered all the same
			if from := max(e.From, 0); from != 0 && from != next || from == 0 && e.Seq != next {
				t.Errorf("event %d..%d, want %d", e.From, e.Seq, next)
			}
			next = e.Seq + 1
			if err := s.State.Apply(e); e.Seq > all[0].Seq+1 && err == nil {
				t.Error("the first event was not applied, and nobody noticed")
			}
		}
		if next != all[7].Seq+1 || !errors.Is(s.Err(), broken) {
			t.Errorf("ended before %d with %v", next, s.Err())
		}
		wait()
	})
}

// stuck is a stream whose reader does not read: one event is on its way, and nothing waits yet.
func stuck(t *testing.T) (s *api.Stream, last uint64) {
	t.Helper()
	s, wait := api.NewStream(t.Context(), begin())
	t.Cleanup(wait)
	first := numbered(s.State, api.Event{Type: api.EventWithdraw})[0]
	s.Push(first)
	synctest.Wait()
	return s, first.Seq
}

// push pushes events that follow on the number last.
func push(s *api.Stream, last uint64, events ...api.Event) bool {
	at := *s.State
	at.Seq = last
	ok := true
	for _, e := range numbered(&at, events...) {
		ok = s.Push(e)
	}
	return ok
}

func TestJoining(t *testing.T) {
	reasoning := api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaReasoning, Text: "r"}}
	arguments := func(i int) api.Event {
		return api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaArguments, Index: i, Text: "{"}}
	}
	call := api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaCall, CallID: "c"}}
	entry := api.Event{Type: api.EventEntry, Entry: &api.Entry{}}
	for what, x := range map[string]struct {
		events []api.Event
		want   string // how many each one stands for
	}{
		"text":                      {[]api.Event{text("a"), text("b"), text("c")}, "3"},
		"text and reasoning":        {[]api.Event{text("a"), text("b"), reasoning, reasoning, text("c")}, "2 2 1"},
		"arguments of two calls":    {[]api.Event{arguments(0), arguments(0), arguments(1), arguments(0)}, "2 1 1"},
		"calls begin alone":         {[]api.Event{call, call, arguments(0)}, "1 1 1"},
		"output of two calls":       {[]api.Event{progress("a", "1"), progress("a", "2"), progress("b", "3")}, "2 1"},
		"facts":                     {[]api.Event{entry, entry, api.Event{Type: api.EventIdle}, api.Event{Type: api.EventIdle}}, "1 1 1 1"},
		"a fact between":            {[]api.Event{text("a"), entry, text("b")}, "1 1 1"},
		"up to MaxJoined":           {[]api.Event{text(strings.Repeat("x", api.MaxJoined-1)), text("y"), text("z")}, "2 1"},
		"from MaxJoined":            {[]api.Event{text(strings.Repeat("x", api.MaxJoined)), text("y"), text("z")}, "1 2"},
		"output from MaxJoined":     {[]api.Event{progress("a", strings.Repeat("x", api.MaxJoined)), progress("a", "y")}, "1 1"},
		"output up to MaxJoined":    {[]api.Event{progress("a", strings.Repeat("x", api.MaxJoined-1)), progress("a", "y")}, "2"},
		"what lacks its own inside": {[]api.Event{{Type: api.EventDelta}, {Type: api.EventDelta}, {Type: api.EventProgress}, {Type: api.EventProgress}}, "1 1 1 1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, last := stuck(t)
			push(s, last, x.events...)
			s.End(nil)
			var got []string
			for _, e := range drain(s)[1:] {
				n := uint64(1)
				if e.From != 0 {
					n = e.Seq - e.From + 1
				}
				got = append(got, fmt.Sprint(n))
			}
			if got := strings.Join(got, " "); got != x.want {
				t.Errorf("%s: events stand for %s, want %s", what, got, x.want)
			}
		})
	}
}

// One event goes to every client; joining for one must not change what the others get.
func TestJoiningTouchesNobodyElsesEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, last := stuck(t)
		a, b := text("a"), progress("c0", "p")
		push(s, last, a, text("b"), b, progress("c0", "q"))
		s.End(nil)
		if got := drain(s); got[1].Delta.Text != "ab" || got[2].Progress.Text != "pq" {
			t.Errorf("got %+v and %+v", got[1].Delta, got[2].Progress)
		}
		if a.Delta.Text != "a" || b.Progress.Text != "p" {
			t.Errorf("the events themselves are now %q and %q", a.Delta.Text, b.Progress.Text)
		}
	})
}

func TestMaxPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entry := api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: 1}}
		full := func() (*api.Stream, uint64) {
			s, last := stuck(t)
			for range api.MaxPending - 1 {
				if !push(s, last, entry) {
					t.Fatal("lagged too early")
				}
				last++
			}
			if !push(s, last, text("last")) {
				t.Fatal("lagged at the bound")
			}
			return s, last + 1
		}
		s, last := full()
		if !push(s, last, text("joined, so nothing more waits")) {
			t.Error("what can be joined is never too much")
		}
		s.End(nil)
		if got := drain(s); len(got) != 1+api.MaxPending || s.Err() != nil {
			t.Errorf("%d events, %v", len(got), s.Err())
		}

		s, last = full()
		if push(s, last, entry) || !errors.Is(s.Err(), api.ErrLagged) {
			t.Errorf("beyond the bound: %v", s.Err())
		}
		if push(s, last+1, entry) {
			t.Error("a stream that lagged takes events")
		}
		s.End(errors.New("later"))
		if got := drain(s); len(got) != 1 || !errors.Is(s.Err(), api.ErrLagged) {
			t.Errorf("%d events, %v", len(got), s.Err())
		}
	})
}

func TestContextEndsAStream(t *testing.T) {
	for _, pending := range []int{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s, wait := api.NewStream(ctx, begin())
			last := s.State.Seq
			for range pending {
				push(s, last, api.Event{Type: api.EventWithdraw})
				last++
			}
			synctest.Wait()
			cancel()
			wait()
			if _, open := <-s.Events; open || !errors.Is(s.Err(), context.Canceled) {
				t.Errorf("with %d pending: open %v, %v", pending, open, s.Err())
			}
			if push(s, last, text("x")) {
				t.Error("it takes events")
			}
		})
	}
}

// However slowly a client reads, the events that it gets make the State that all events make.
func TestJoinedEventsMakeTheSameState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		state := begin()
		s, wait := api.NewStream(context.Background(), state.Clone())
		take := func(e api.Event) {
			if err := s.State.Apply(e); err != nil {
				r.Fatal(err)
			}
		}
		delivered := 0
		for range rapid.IntRange(0, 120).Draw(r, "events") {
			for _, e := range numbered(state, draw(r)) {
				if err := state.Apply(e); err != nil {
					r.Fatal(err)
				}
				s.Push(e)
			}
			for range rapid.SampledFrom([]int{0, 0, 0, 0, 1, 9}).Draw(r, "reads") {
				select {
				case e := <-s.Events:
					take(e)
					delivered++
				default:
				}
			}
		}
		s.End(nil)
		for e := range s.Events {
			take(e)
		}
		wait()
		same(r, "the client's state", s.State.Clone(), state.Clone())
	})
}
