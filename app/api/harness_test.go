package api_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"octavo/app/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// begin is the State of a session in which a turn runs with one tool call.
func begin() *api.State {
	s := &api.State{Session: "s", Epoch: 7}
	return apply(s, api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "t", Phase: api.PhaseGenerating}},
		api.Event{Type: api.EventTool, Tool: &api.ToolRun{Call: api.Call{ID: "c0", Tool: "run"}}})
}

// numbered makes events follow on a state: each gets the next number.
func numbered(s *api.State, events ...api.Event) []api.Event {
	out := make([]api.Event, len(events))
	for i, e := range events {
		e.Session, e.Epoch, e.Seq, e.Time = s.Session, s.Epoch, s.Seq+uint64(i)+1, start.Add(time.Duration(s.Seq)+time.Duration(i))
		out[i] = e
	}
	return out
}

// apply numbers events and applies them.
func apply(s *api.State, events ...api.Event) *api.State {
	for _, e := range numbered(s, events...) {
		if err := s.Apply(e); err != nil {
			panic(err)
		}
	}
	return s
}

func text(s string) api.Event {
	return api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaText, Text: s}}
}

func progress(call, s string) api.Event {
	return api.Event{Type: api.EventProgress, Progress: &api.Progress{CallID: call, Text: s}}
}

func same(t interface{ Fatalf(string, ...any) }, what string, got, want any) {
	if d := cmp.Diff(want, got, cmp.Transformer("string", api.Text.String)); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// types are all types of events.
var types = []api.EventType{api.EventSession, api.EventEntry, api.EventTurn, api.EventDelta, api.EventWithdraw, api.EventTool, api.EventProgress,
	api.EventRetry, api.EventIdle, api.EventQueue, api.EventAsk, api.EventAnswered, api.EventUsage, api.EventNotice}

// draw is any event that a session could emit, deltas and progress most of all.
func draw(r *rapid.T) api.Event {
	call := func() string { return fmt.Sprint("c", rapid.IntRange(0, 2).Draw(r, "call")) }
	id := func() string { return rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "id") }
	words := func() string {
		return rapid.OneOf(rapid.StringN(0, 6, -1), rapid.SampledFrom([]string{"", "é", "日本", long, long})).Draw(r, "text")
	}
	e := api.Event{Type: rapid.SampledFrom(append(types, api.EventDelta, api.EventDelta, api.EventDelta, api.EventDelta, api.EventProgress, api.EventProgress,
		api.EventProgress, api.EventProgress, api.EventTool, "something newer")).Draw(r, "type")}
	switch e.Type {
	case api.EventSession:
		e.Info = &api.SessionInfo{ID: "s", Name: id()}
	case api.EventEntry:
		e.Entry = &api.Entry{Seq: int64(rapid.IntRange(1, 1000).Draw(r, "entry")), Kind: rapid.SampledFrom([]api.EntryKind{api.EntryUser, api.EntryAssistant, api.EntryCall,
			api.EntryResult, api.EntryPartial, api.EntrySettled}).Draw(r, "kind"), Call: &api.Call{ID: call()}}
	case api.EventTurn:
		e.Turn = &api.TurnInfo{ID: id(), Phase: rapid.SampledFrom([]api.Phase{api.PhaseWaiting, api.PhaseRetrying, api.PhaseTools}).Draw(r, "phase")}
	case api.EventDelta:
		e.Delta = &api.Delta{Kind: rapid.SampledFrom([]api.DeltaKind{api.DeltaText, api.DeltaText, api.DeltaReasoning, api.DeltaCall, api.DeltaArguments, api.DeltaArguments}).Draw(r, "kind"),
			Text: words(), Index: rapid.IntRange(-1, 2).Draw(r, "index")}
		if e.Delta.Kind == api.DeltaCall {
			e.Delta.CallID, e.Delta.Tool = call(), "run"
		}
	case api.EventTool:
		e.Tool = &api.ToolRun{Call: api.Call{ID: call()}, Output: api.Text(words())}
	case api.EventProgress:
		e.Progress = &api.Progress{CallID: call(), Text: words()}
	case api.EventRetry:
		e.Retry = &api.Retry{Attempt: rapid.IntRange(1, 9).Draw(r, "attempt")}
	case api.EventQueue:
		for range rapid.IntRange(0, 3).Draw(r, "queued") {
			e.Queue = append(e.Queue, api.Queued{ID: id(), Text: words()})
		}
	case api.EventAsk, api.EventAnswered:
		e.Ask = &api.Ask{ID: id()}
	case api.EventUsage:
		e.Usage = &api.Usage{Requests: int64(rapid.IntRange(0, 9).Draw(r, "requests"))}
	case api.EventNotice:
		e.Notice = &api.Notice{Text: words()}
	}
	return e
}

// fill gives every field below v a value that is not its zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = start.Add(time.Duration(*n) * time.Second)
		return
	case *api.Text:
		*x = api.Text(fmt.Sprintf("text %d \x1b é", *n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("value ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n & 0xff))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("nothing to fill a " + v.Type().String() + " with")
	}
}
