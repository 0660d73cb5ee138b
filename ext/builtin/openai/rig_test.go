package openai

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
)

const planted = "planted-secret-key-4711"

// rig is the provider in front of a scripted server; both end with the test and leave no goroutine behind.
func rig(t *testing.T, l model.Limits, script ...modeltest.Reply) (*model.Upstream, *modeltest.Server) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := modeltest.New(t)
	s.Script(script...)
	c := model.NewClient(l)
	t.Cleanup(c.Close)
	return upstream(t, c, s.URL()), s
}

func upstream(t *testing.T, c *model.Client, endpoint string) *model.Upstream {
	t.Helper()
	u, err := New(c).Providers[0].Resolve(ext.Profile{
		Name: "prov", Wire: Wire, Endpoint: endpoint,
		Key: func() (string, error) { return planted, nil }, KeySource: "$PROV_KEY",
	}, "big")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// hello is the smallest request.
func hello() model.Request {
	return model.Request{Model: "big", Maker: "prov/big", Messages: []model.Message{said(model.RoleUser, model.Text("hi"))}}
}

func said(r model.Role, parts ...model.Part) model.Message {
	return model.Message{Role: r, Parts: parts}
}

// ask streams one request and checks that the events add up to the answer.
func ask(t *testing.T, u *model.Upstream, r model.Request) (*model.Answer, error) {
	t.Helper()
	var sum tally
	a, err := u.Stream(t.Context(), r, sum.add)
	if err == nil {
		sum.check(t, a)
	}
	return a, err
}

// tally adds up the events of a stream.
type tally struct {
	kinds           []model.EventType
	text, reasoning string
	calls           []model.ToolCall
}

func (s *tally) add(e model.Event) error {
	if n := len(s.kinds); n == 0 || s.kinds[n-1] != e.Type {
		s.kinds = append(s.kinds, e.Type)
	}
	switch e.Type {
	case model.EventText:
		s.text += e.Delta
	case model.EventReasoning:
		s.reasoning += e.Delta
	case model.EventCall:
		if e.Index != len(s.calls) {
			return fmt.Errorf("call %d is announced as %d", len(s.calls), e.Index)
		}
		s.calls = append(s.calls, model.ToolCall{ID: e.CallID, Name: e.CallName})
	case model.EventArguments:
		if e.Index >= len(s.calls) {
			return fmt.Errorf("arguments of call %d, which was not announced", e.Index)
		}
		s.calls[e.Index].Arguments += e.Delta
	}
	return nil
}

func (s *tally) check(t *testing.T, a *model.Answer) {
	t.Helper()
	if len(s.kinds) == 0 || s.kinds[0] != model.EventStarted {
		t.Errorf("the first event is not started: %v", s.kinds)
	}
	if got := model.PlainText(a.Parts); got != s.text {
		t.Errorf("text of the answer %q, of the events %q", got, s.text)
	}
	if got := thought(a); got != s.reasoning {
		t.Errorf("reasoning of the answer %q, of the events %q", got, s.reasoning)
	}
	if diff := cmp.Diff(model.Calls(a.Parts), s.calls); diff != "" {
		t.Errorf("calls of the answer and of the events:\n%s", diff)
	}
	ids := make(map[string]bool)
	for _, c := range s.calls {
		if c.ID == "" || c.Name == "" || ids[c.ID] {
			t.Errorf("a call without a name or an id of its own: %+v", s.calls)
		}
		ids[c.ID] = true
	}
}

func thought(a *model.Answer) string {
	var s string
	for _, p := range a.Parts {
		if p.Type == model.PartReasoning {
			s += p.Reasoning.Text
		}
	}
	return s
}

// wants asserts an *Error of a class, that its message has all the words, and that the key is nowhere.
func wants(t *testing.T, err error, class model.ErrorClass, words ...string) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Class != class || e.Provider != "prov" {
		t.Fatalf("got %v (class %q), want class %q", err, model.ClassOf(err), class)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("the message does not say %q: %s", w, e.Message)
		}
	}
	if strings.Contains(fmt.Sprintf("%v %+v %v %s", err, *e, e.Err, e.Body), planted) {
		t.Errorf("the key is shown: %+v", e)
	}
	return e
}

func count(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func result(c model.ToolCall, parts ...model.Part) model.Part {
	return model.Part{Type: model.PartResult, Result: &model.ToolResult{ID: c.ID, Name: c.Name, Parts: parts}}
}
