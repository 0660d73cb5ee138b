// Package wiretest is what the adapter of every wire is held to, through the public door and against the scripted server: one table
// of conversations, faults and limits, so that a model behind one wire behaves as behind another. It knows no wire; nothing in the
// product imports it.
package wiretest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
)

// Key is the API key that every upstream sends. It must show up nowhere.
const Key = "planted-secret-key-4711"

// Adapter is one wire as an extension provides it.
type Adapter struct {
	New  func(*model.Client) ext.Extension
	Name string         // the wire's name in a profile
	Wire modeltest.Wire // what it has to speak
}

// Upstream is the model prov/big behind the adapter.
func (a Adapter) Upstream(t testing.TB, c *model.Client, endpoint string) *model.Upstream {
	t.Helper()
	return a.Resolve(t, c, ext.Profile{Name: "prov", Endpoint: endpoint}, "big")
}

// Resolve is a model of any profile, to which wire and key are added.
func (a Adapter) Resolve(t testing.TB, c *model.Client, p ext.Profile, id string) *model.Upstream {
	t.Helper()
	p.Wire, p.Key, p.KeySource = a.Name, func() (string, error) { return Key, nil }, "$PROV_KEY"
	for _, provider := range a.New(c).Providers {
		if provider.Wire != a.Name {
			continue
		}
		u, err := provider.Resolve(p, id)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	t.Fatalf("the extension provides no wire %q", a.Name)
	return nil
}

// Rig is an upstream in front of a scripted server; both end with the test and leave no goroutine behind.
func (a Adapter) Rig(t *testing.T, l model.Limits, script ...modeltest.Reply) (*model.Upstream, *modeltest.Server) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	s := modeltest.New(t)
	s.Script(script...)
	c := model.NewClient(l)
	t.Cleanup(c.Close)
	return a.Upstream(t, c, s.URL()), s
}

// Hello is the smallest request.
func Hello() model.Request {
	return model.Request{Model: "big", Maker: "prov/big", Messages: []model.Message{Said(model.RoleUser, model.Text("hi"))}}
}

// Said makes a message.
func Said(r model.Role, parts ...model.Part) model.Message {
	return model.Message{Role: r, Parts: parts}
}

// Picture makes a part that shows data as if it were a PNG; without data its bytes are gone.
func Picture(data string) model.Part {
	return model.Part{Type: model.PartImage, Image: &model.Image{MIME: "image/png", Data: []byte(data)}}
}

// Calling makes a part that calls a tool.
func Calling(id, name, arguments string) model.Part {
	return model.Part{Type: model.PartCall, Call: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

// Thought makes a part of reasoning.
func Thought(r model.Reasoning) model.Part {
	return model.Part{Type: model.PartReasoning, Reasoning: &r}
}

// Result makes a part that answers a call.
func Result(c model.ToolCall, parts ...model.Part) model.Part {
	return model.Part{Type: model.PartResult, Result: &model.ToolResult{ID: c.ID, Name: c.Name, Parts: parts}}
}

// Ask streams one request and checks that the events add up to the answer.
func Ask(t testing.TB, u *model.Upstream, r model.Request) (*model.Answer, error) {
	t.Helper()
	var sum Tally
	a, err := u.Stream(t.Context(), r, sum.Add)
	if err == nil {
		sum.Check(t, a)
	}
	return a, err
}

// Wants asserts an *Error of a class, that its message has all the words, and that the key is nowhere.
func Wants(t testing.TB, err error, class model.ErrorClass, words ...string) *model.Error {
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
	if strings.Contains(fmt.Sprintf("%v %+v %v %s", err, *e, e.Err, e.Body), Key) {
		t.Errorf("the key is shown: %+v", e)
	}
	return e
}

// Counts is a usage as one line: fresh input, cache read, cache written, output, reasoning; ? is unreported.
func Counts(u model.Usage) string {
	words := make([]string, 0, 5)
	for _, n := range [...]*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		word := "?"
		if n != nil {
			word = fmt.Sprint(*n)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
