package wiretest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
)

// Tally adds up the events of a stream.
type Tally struct {
	Kinds           []model.EventType // without repetitions
	Text, Reasoning string
	Calls           []model.ToolCall
}

// Add takes an event.
func (s *Tally) Add(e model.Event) error {
	if n := len(s.Kinds); n == 0 || s.Kinds[n-1] != e.Type {
		s.Kinds = append(s.Kinds, e.Type)
	}
	switch e.Type {
	case model.EventText:
		s.Text += e.Delta
	case model.EventReasoning:
		s.Reasoning += e.Delta
	case model.EventCall:
		if e.Index != len(s.Calls) {
			return fmt.Errorf("call %d is announced as %d", len(s.Calls), e.Index)
		}
		s.Calls = append(s.Calls, model.ToolCall{ID: e.CallID, Name: e.CallName})
	case model.EventArguments:
		if e.Index >= len(s.Calls) {
			return fmt.Errorf("arguments of call %d, which was not announced", e.Index)
		}
		s.Calls[e.Index].Arguments += e.Delta
	}
	return nil
}

// Check compares the events with the answer they led to.
func (s *Tally) Check(t testing.TB, a *model.Answer) {
	t.Helper()
	if len(s.Kinds) == 0 || s.Kinds[0] != model.EventStarted {
		t.Errorf("the first event is not started: %v", s.Kinds)
	}
	if got := model.PlainText(a.Parts); got != s.Text {
		t.Errorf("text of the answer %q, of the events %q", got, s.Text)
	}
	if got := Thoughts(a); got != s.Reasoning {
		t.Errorf("reasoning of the answer %q, of the events %q", got, s.Reasoning)
	}
	if diff := cmp.Diff(model.Calls(a.Parts), s.Calls); diff != "" {
		t.Errorf("calls of the answer and of the events:\n%s", diff)
	}
	ids := make(map[string]bool)
	for _, c := range s.Calls {
		if c.ID == "" || c.Name == "" || ids[c.ID] {
			t.Errorf("a call without a name or an id of its own: %+v", s.Calls)
		}
		ids[c.ID] = true
	}
}

// Thoughts joins the reasoning of an answer.
func Thoughts(a *model.Answer) string {
	var s string
	for _, p := range a.Parts {
		if p.Type == model.PartReasoning {
			s += p.Reasoning.Text
		}
	}
	return s
}
