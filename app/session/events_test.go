package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
)

// TestEventsMakeTheState is the property the front ends rest on: whoever attaches, whenever, and applies the events in order, has
// the state that the session itself has; and the stored entries are those that the events told of.
func TestEventsMakeTheState(t *testing.T) {
	kinds := []modeltest.Reply{
		modeltest.Say("short"), modeltest.Say(strings.Repeat("long ", 40)), modeltest.Say("gone").Cut(2),
		modeltest.Calls(modeltest.Call("look", `{"n":1}`), modeltest.Call("look", `{"n":2}`), modeltest.Call("change", `{}`)).WithText("calls"),
		modeltest.Calls(modeltest.Call("nothing", `{`)), modeltest.Status(500, "no"), modeltest.Status(503, "busy"), modeltest.Say("").Finish("length"),
	}
	w := newWorld(t)
	opened := 0
	rapid.Check(t, func(r *rapid.T) {
		var replies []modeltest.Reply
		for range 40 {
			replies = append(replies, kinds[rapid.IntRange(0, len(kinds)-1).Draw(r, "reply")])
		}
		w.server = modeltest.New(t)
		w.server.Script(replies...)
		w.policy = rapid.SampledFrom(policy.Names).Draw(r, "policy")
		w.limits.Steps = 4
		w.tools = []ext.Tool{tool("look", policy.WorkspaceRead, func(c *ext.Call, _ json.RawMessage) (ext.Output, error) {
			c.Progress("looking\n")
			return ext.TextOutput("seen"), nil
		}), tool("change", policy.WorkspaceWrite, says("changed"))}
		opened++
		s := w.openNamed(fmt.Sprint("watched-", opened)) // a name keeps a session in which nothing was said
		watching := []*watch{w.attach(s, false)}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0, 1:
				kind := rapid.SampledFrom([]api.InputKind{api.InputChat, api.InputFollowUp}).Draw(r, "kind")
				if _, err := s.Submit(w.ctx, api.Input{Kind: kind, Text: fmt.Sprint("say ", len(watching))}); err != nil {
					r.Fatal(err)
				}
			case 2:
				if err := s.Interrupt(w.ctx, rapid.Bool().Draw(r, "next")); err != nil && !errors.Is(err, api.ErrIdle) {
					r.Fatal(err)
				}
			case 3:
				watching = append(watching, w.attach(s, rapid.Bool().Draw(r, "answers")))
			case 4:
				if _, err := s.Run(w.ctx, "/name "+rapid.StringMatching(`[a-z]{1,8}`).Draw(r, "name")); err != nil {
					r.Fatal(err)
				}
			case 5:
				ctx, cancel := context.WithCancel(w.ctx)
				if _, err := s.Attach(ctx, true); err != nil {
					r.Fatal(err)
				}
				cancel()
			}
		}
		entries, live := finish(w, r, s, watching)
		for i, x := range watching {
			if d := cmp.Diff(live, x.state); d != "" {
				r.Fatalf("client %d has another state than the session (-session +client):\n%s", i, d)
			}
		}
		if d := cmp.Diff(entries, watching[0].state.Entries); d != "" {
			r.Fatalf("the store and the events differ:\n%s", d)
		}
	})
}

// finish closes the session while every client reads on, and answers the stored entries and the session's own last state.
func finish(w *world, r *rapid.T, s interface {
	Close(context.Context) error
	Entries(context.Context, api.Range) ([]api.Entry, error)
	Attach(context.Context, bool) (*api.Stream, error)
}, watching []*watch) ([]api.Entry, *api.State) {
	read := make(chan struct{}, len(watching))
	for _, x := range watching {
		go func() { x.rest(); read <- struct{}{} }()
	}
	last, err := s.Attach(w.ctx, false)
	if err != nil {
		r.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Close(w.ctx) }()
	for e := range last.Events {
		if err := last.State.Apply(e); err != nil {
			r.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		r.Fatal(err)
	}
	for range watching {
		<-read
	}
	entries, err := s.Entries(w.ctx, api.Range{Newest: true, Limit: api.WindowEntries})
	if err != nil {
		r.Fatal(err)
	}
	return entries, last.State
}
