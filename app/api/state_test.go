package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"octavo/app/api"
)

// long is text with which a little more makes too much live output, whether once or twice.
var long = strings.Repeat("日本語", api.MaxLiveOutput/9) + "."

func TestApplyRefusesWhatDoesNotFollow(t *testing.T) {
	s := apply(begin(), text("so far"))
	next := numbered(s, text("more"))[0]
	for what, change := range map[string]func(*api.Event){
		"another session":        func(e *api.Event) { e.Session = "other" },
		"no session":             func(e *api.Event) { e.Session = "" },
		"an earlier epoch":       func(e *api.Event) { e.Epoch-- },
		"a later epoch":          func(e *api.Event) { e.Epoch++ },
		"a gap":                  func(e *api.Event) { e.Seq++ },
		"the same again":         func(e *api.Event) { e.Seq-- },
		"no number":              func(e *api.Event) { e.Seq = 0 },
		"a gap before the first": func(e *api.Event) { e.From, e.Seq = e.Seq+1, e.Seq+3 },
		"an overlap":             func(e *api.Event) { e.From = e.Seq - 1 },
		"an end before its start": func(e *api.Event) {
			e.From, e.Seq = e.Seq, e.Seq-1
		},
	} {
		e := next
		change(&e)
		refused(t, what, s, e)
	}
	for _, typ := range types {
		e := next
		e.Type, e.Delta = typ, nil
		switch typ {
		case api.EventWithdraw, api.EventIdle, api.EventQueue: // say all by their type
		default:
			refused(t, "a bare "+string(typ), s, e)
		}
	}
	e := next
	e.Type, e.Entry = api.EventEntry, &api.Entry{Kind: api.EntryResult}
	refused(t, "a result of no call", s, e)

	if err := s.Apply(next); err != nil || s.Turn.Draft.Text.String() != "so farmore" {
		t.Errorf("the next event: %v", err)
	}
	e = numbered(s, api.Event{Type: "something newer"})[0]
	if err := s.Apply(e); err != nil || s.Seq != e.Seq {
		t.Errorf("an event of a newer octavo: %v", err)
	}
}

func refused(t *testing.T, what string, s *api.State, e api.Event) {
	t.Helper()
	before := s.Clone()
	if err := s.Apply(e); err == nil {
		t.Errorf("%s was applied", what)
	}
	same(t, what+" changed something", s.Clone(), before)
}

func TestWindow(t *testing.T) {
	s := begin()
	entry := func(seq int) api.Event {
		return api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: int64(seq), Kind: api.EntryNote}}
	}
	for i := 1; i <= api.WindowEntries; i++ {
		apply(s, entry(i))
	}
	if len(s.Entries) != api.WindowEntries || s.Entries[0].Seq != 1 {
		t.Fatalf("%d entries from %d", len(s.Entries), s.Entries[0].Seq)
	}
	apply(s, entry(api.WindowEntries+1))
	if len(s.Entries) != api.WindowEntries || s.Entries[0].Seq != 2 || s.Entries[api.WindowEntries-1].Seq != api.WindowEntries+1 {
		t.Fatalf("%d entries from %d", len(s.Entries), s.Entries[0].Seq)
	}
	if s.Info.Entries != api.WindowEntries+1 {
		t.Errorf("the session has %d entries", s.Info.Entries)
	}
}

func TestLiveOutput(t *testing.T) {
	s := apply(begin(), progress("c0", strings.Repeat("x", api.MaxLiveOutput)))
	run := func() *api.ToolRun { return &s.Turn.Tools[0] }
	if len(run().Output) != api.MaxLiveOutput || run().Omitted != 0 {
		t.Fatalf("%d bytes, %d omitted", len(run().Output), run().Omitted)
	}
	apply(s, progress("c0", "y"))
	if len(run().Output) != api.MaxLiveOutput || run().Omitted != 1 || run().Output[api.MaxLiveOutput-1] != 'y' {
		t.Fatalf("%d bytes, %d omitted", len(run().Output), run().Omitted)
	}
	apply(s, progress("another call", "not ours"), progress("c0", strings.Repeat("日", api.MaxLiveOutput)))
	if n := len(run().Output); n > api.MaxLiveOutput || n < api.MaxLiveOutput-2 || !utf8.Valid(run().Output) {
		t.Fatalf("%d bytes, valid %v", n, utf8.Valid(run().Output))
	}
	if total := int64(len(run().Output)) + run().Omitted; total != 4*api.MaxLiveOutput+1 {
		t.Errorf("kept and omitted make %d bytes", total)
	}
}

// What a State keeps of live output must not depend on how the output was cut, for a slow client gets it in other pieces.
func TestLiveOutputDoesNotDependOnItsFragments(t *testing.T) {
	output := strings.Repeat("日本 12é\n", 3*api.MaxLiveOutput/12)
	rapid.Check(t, func(r *rapid.T) {
		whole := apply(begin(), progress("c0", output))
		pieces := begin()
		for rest := output; rest != ""; {
			n := rapid.SampledFrom([]int{1, 5000, api.MaxLiveOutput - 1, api.MaxLiveOutput + 1}).Draw(r, "bytes")
			for n = min(n, len(rest)); n < len(rest) && !utf8.RuneStart(rest[n]); n++ {
			}
			apply(pieces, progress("c0", rest[:n]))
			rest = rest[n:]
		}
		same(r, "in pieces", pieces.Turn, whole.Turn)
	})
}

func TestTurn(t *testing.T) {
	s := begin()
	apply(s, text("Hel"), text("lo"), api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaReasoning, Text: "hm"}},
		api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaCall, CallID: "c1", Tool: "look"}},
		api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaArguments, Text: "{"}},
		api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaArguments, Text: "}"}},
		api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaArguments, Index: 1, Text: "no such call"}})
	same(t, "draft", s.Turn.Draft, api.Draft{Text: api.Text("Hello"), Reasoning: api.Text("hm"), Calls: []api.DraftCall{{ID: "c1", Tool: "look", Arguments: api.Text("{}")}}})

	apply(s, api.Event{Type: api.EventRetry, Retry: &api.Retry{Attempt: 1}})
	apply(s, api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "t", Phase: api.PhaseRetrying}})
	if s.Turn.Retry == nil {
		t.Error("while it waits, a retry is shown")
	}
	apply(s, api.Event{Type: api.EventWithdraw}, api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "t", Phase: api.PhaseWaiting, Step: 2}})
	if s.Turn.Retry != nil || len(s.Turn.Draft.Text) > 0 || len(s.Turn.Tools) != 1 || s.Turn.Step != 2 {
		t.Errorf("after the retry: %+v", s.Turn)
	}
	apply(s, text("again"), api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: 1, Kind: api.EntryAssistant, Time: start}})
	if len(s.Turn.Draft.Text) > 0 || !s.Info.Updated.Equal(start) {
		t.Error("what was written is a fact now")
	}
	apply(s, api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: 2, Kind: api.EntryResult, Call: &api.Call{ID: "c0"}}})
	if len(s.Turn.Tools) != 0 {
		t.Error("a call with a result runs no longer")
	}
	apply(s, text("x"), api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "another", Phase: api.PhaseWaiting}})
	if len(s.Turn.Draft.Text) > 0 {
		t.Error("another turn begins with nothing")
	}
	apply(s, api.Event{Type: api.EventEntry, Entry: &api.Entry{Seq: 3, Kind: api.EntrySettled}})
	if s.Turn != nil {
		t.Error("a settled turn is none")
	}
	apply(s, text("late"), progress("c0", "late"), api.Event{Type: api.EventRetry, Retry: &api.Retry{}}, api.Event{Type: api.EventWithdraw},
		api.Event{Type: api.EventTool, Tool: &api.ToolRun{}})
	if s.Turn != nil {
		t.Error("what belongs to a turn makes none")
	}
	apply(s, api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "summary"}}, api.Event{Type: api.EventIdle})
	if s.Turn != nil {
		t.Error("idle is idle")
	}
}

func TestAsksAndQueue(t *testing.T) {
	s := begin()
	apply(s, api.Event{Type: api.EventAsk, Ask: &api.Ask{ID: "a"}}, api.Event{Type: api.EventAsk, Ask: &api.Ask{ID: "b"}},
		api.Event{Type: api.EventAnswered, Ask: &api.Ask{ID: "a"}}, api.Event{Type: api.EventAnswered, Ask: &api.Ask{ID: "unknown"}})
	same(t, "asks", s.Asks, []api.Ask{{ID: "b"}})
	queue := []api.Queued{{ID: "q"}}
	apply(s, api.Event{Type: api.EventQueue, Queue: queue})
	queue[0].ID = "changed by whoever made the event"
	same(t, "queue", s.Queue, []api.Queued{{ID: "q"}})
	apply(s, api.Event{Type: api.EventQueue})
	same(t, "queue", s.Queue, []api.Queued{})
}

func TestJSON(t *testing.T) {
	n := 0
	for _, x := range []any{new(api.State), new(api.Event), new(api.Entry), new(api.SessionInfo), new(api.Input), new(api.Receipt), new(api.CommandInfo), new(api.Answer)} {
		fill(reflect.ValueOf(x).Elem(), &n)
		roundTrip(t, x)
	}
	// Each type with what it carries alone, and nothing of the others beside it.
	s := begin()
	s.Queue, s.Asks = []api.Queued{}, []api.Ask{}
	for _, typ := range types {
		e := numbered(s, api.Event{Type: typ})[0]
		payload := map[api.EventType]any{api.EventSession: &e.Info, api.EventEntry: &e.Entry, api.EventTurn: &e.Turn, api.EventDelta: &e.Delta, api.EventTool: &e.Tool,
			api.EventProgress: &e.Progress, api.EventRetry: &e.Retry, api.EventQueue: &e.Queue, api.EventAsk: &e.Ask, api.EventAnswered: &e.Ask,
			api.EventUsage: &e.Usage, api.EventNotice: &e.Notice}[typ]
		if payload != nil {
			fill(reflect.ValueOf(payload).Elem(), &n)
		}
		b := roundTrip(t, &e)
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		want := 5
		if payload != nil {
			want++
		}
		if len(fields) != want {
			t.Errorf("a %s event has %d fields: %s", typ, len(fields), b)
		}
		var wired api.Event
		if err := json.Unmarshal(b, &wired); err != nil {
			t.Fatal(err)
		}
		far := s.Clone()
		if err := far.Apply(wired); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		same(t, "a "+string(typ)+" that came as JSON gives another state", far, s.Clone())
	}
	b, err := json.Marshal((&api.State{}).Clone())
	if err != nil || !strings.Contains(string(b), `"entries":[],"queue":[],"asks":[]`) {
		t.Errorf("an empty state is %s, %v", b, err)
	}
}

func roundTrip(t *testing.T, x any) []byte {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	back := reflect.New(reflect.TypeOf(x).Elem()).Interface()
	if err := json.Unmarshal(b, back); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	same(t, fmt.Sprintf("%T is not what it was before JSON", x), back, x)
	return b
}

// A clone and its original go their own ways, whatever happens to either.
func TestCloneSharesNothingThatChanges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		some := func(what string) []api.Event {
			var list []api.Event
			for range rapid.IntRange(0, 30).Draw(r, what) {
				list = append(list, draw(r))
			}
			return list
		}
		before, mine, theirs := some("before"), some("mine"), some("theirs")
		s := apply(begin(), before...)
		c := s.Clone()
		for i := range max(len(mine), len(theirs)) {
			if i < len(mine) {
				apply(s, mine[i])
			}
			if i < len(theirs) {
				apply(c, theirs[i])
			}
		}
		same(r, "the original", s.Clone(), apply(apply(begin(), before...), mine...).Clone())
		same(r, "the clone", c.Clone(), apply(apply(begin(), before...), theirs...).Clone())
	})
}
