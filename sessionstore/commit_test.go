package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/sessionstore"
)

func TestQueueIsBoundedAndOrdered(t *testing.T) {
	ctx, c := context.Background(), newClock()
	s := open(t, sessionstore.Options{Now: c.Now})
	create(t, s, "one")
	var fill []sessionstore.Input
	for i := range sessionstore.MaxQueue {
		fill = append(fill, sessionstore.Input{ID: fmt.Sprintf("z%d", sessionstore.MaxQueue-i), Kind: "chat", Payload: []byte{byte(i)}})
	}
	commit(t, s, "one", sessionstore.InputAccepted, sessionstore.Change{Enqueue: fill})
	for i := range fill {
		fill[i].Time = c.now.Truncate(time.Millisecond)
	}
	more := []sessionstore.Input{{ID: "more", Kind: "chat", Time: c.now.Add(time.Hour).Truncate(time.Millisecond), Payload: []byte{}}}
	refuse := func(want error, ch sessionstore.Change) {
		t.Helper()
		ch.Append = []sessionstore.NewEntry{{Kind: "text"}}
		if _, err := s.Commit(ctx, "one", sessionstore.InputAccepted, ch); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		inputs, err := s.Inputs(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fill, inputs); diff != "" {
			t.Errorf("a refused change is visible, -want +got:\n%s", diff)
		}
		if got := entries(t, s, "one", sessionstore.Range{}); len(got) != 0 {
			t.Errorf("a refused change is visible: %+v", got)
		}
	}
	refuse(sessionstore.ErrQueueFull, sessionstore.Change{Enqueue: more})
	refuse(sessionstore.ErrNotFound, sessionstore.Change{Dequeue: []string{"z1", "unknown"}})
	refuse(sessionstore.ErrNotFound, sessionstore.Change{Dequeue: []string{"z1", "z1"}})
	refuse(sessionstore.ErrExists, sessionstore.Change{Dequeue: []string{"z1"}, Enqueue: fill[:1]})

	commit(t, s, "one", sessionstore.Drained, sessionstore.Change{Dequeue: []string{fill[0].ID}, Enqueue: more})
	inputs, err := s.Inputs(ctx, "one")
	if diff := cmp.Diff(append(fill[1:], more...), inputs); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestChangesHaveBounds(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	type change = sessionstore.Change
	entry := func(e sessionstore.NewEntry) change { return change{Append: []sessionstore.NewEntry{e}} }
	many := func(n int) (list []sessionstore.NewEntry) {
		for range n {
			list = append(list, sessionstore.NewEntry{Kind: "k"})
		}
		return list
	}
	used := func(n int, mark string) (list []sessionstore.Request) {
		for i := range n {
			list = append(list, request(fmt.Sprint(mark, i)))
		}
		return list
	}
	with := func(edit func(*sessionstore.Request)) change {
		q := request("edited")
		edit(&q)
		return change{Requests: []sessionstore.Request{q}}
	}
	for name, c := range map[string]struct {
		change change
		ok     bool
	}{
		"payload fits":        {entry(sessionstore.NewEntry{Kind: "k", Payload: make([]byte, sessionstore.MaxPayload)}), true},
		"payload long":        {entry(sessionstore.NewEntry{Kind: "k", Payload: make([]byte, sessionstore.MaxPayload+1)}), false},
		"kind fits":           {entry(sessionstore.NewEntry{Kind: strings.Repeat("k", sessionstore.MaxName)}), true},
		"kind long":           {entry(sessionstore.NewEntry{Kind: strings.Repeat("k", sessionstore.MaxName+1)}), false},
		"kind empty":          {entry(sessionstore.NewEntry{}), false},
		"turn fits":           {entry(sessionstore.NewEntry{Kind: "k", Turn: strings.Repeat("t", sessionstore.MaxID)}), true},
		"turn long":           {entry(sessionstore.NewEntry{Kind: "k", Turn: strings.Repeat("t", sessionstore.MaxID+1)}), false},
		"references long":     {entry(sessionstore.NewEntry{Kind: "k", Blobs: make([]string, sessionstore.MaxReferences+1)}), false},
		"entries fit":         {change{Append: many(sessionstore.MaxAppend)}, true},
		"entries long":        {change{Append: many(sessionstore.MaxAppend + 1)}, false},
		"requests fit":        {change{Requests: used(sessionstore.MaxRequests, "a")}, true},
		"requests long":       {change{Requests: used(sessionstore.MaxRequests+1, "b")}, false},
		"input id empty":      {change{Enqueue: []sessionstore.Input{{Kind: "chat"}}}, false},
		"input id long":       {change{Enqueue: []sessionstore.Input{{ID: strings.Repeat("i", sessionstore.MaxID+1), Kind: "chat"}}}, false},
		"input kind empty":    {change{Enqueue: []sessionstore.Input{{ID: "i"}}}, false},
		"input payload":       {change{Enqueue: []sessionstore.Input{{ID: "i", Kind: "chat", Payload: make([]byte, sessionstore.MaxPayload+1)}}}, false},
		"stage unknown":       {change{Stage: &sessionstore.StageChange{Stage: "dreaming"}}, false},
		"stage turn long":     {change{Stage: &sessionstore.StageChange{Stage: sessionstore.StageTool, Turn: strings.Repeat("t", sessionstore.MaxID+1)}}, false},
		"request kind":        {with(func(q *sessionstore.Request) { q.Kind = "bribe" }), false},
		"request outcome":     {with(func(q *sessionstore.Request) { q.Outcome = "" }), false},
		"request id":          {with(func(q *sessionstore.Request) { q.ID = "" }), false},
		"request provider":    {with(func(q *sessionstore.Request) { q.Provider = strings.Repeat("p", sessionstore.MaxName+1) }), false},
		"request endpoint":    {with(func(q *sessionstore.Request) { q.Endpoint = strings.Repeat("p", sessionstore.MaxPath+1) }), false},
		"request tokens":      {with(func(q *sessionstore.Request) { q.Output = number(-1) }), false},
		"request cost":        {with(func(q *sessionstore.Request) { q.CostMicro = number(-1) }), false},
		"remainder negative":  {with(func(q *sessionstore.Request) { q.CostPico = -1 }), false},
		"remainder fits":      {with(func(q *sessionstore.Request) { q.ID, q.CostPico = "fits", 999_999 }), true},
		"remainder long":      {with(func(q *sessionstore.Request) { q.CostPico = 1_000_000 }), false},
		"remainder of no one": {with(func(q *sessionstore.Request) { q.CostMicro = nil }), false},
		"request of nothing":  {with(func(q *sessionstore.Request) { q.Seq = sessionstore.FirstAppended }), false},
	} {
		before, err := s.Session(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Commit(ctx, "one", sessionstore.NoteStored, c.change)
		if c.ok && err != nil || !c.ok && !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := s.Session(ctx, "one"); err != nil || !c.ok && !reflect.DeepEqual(after, before) {
			t.Errorf("%s: a refused change is visible: %+v, %v", name, after, err)
		}
	}
	if _, err := s.Commit(ctx, "one", "made up", change{}); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("unknown point: %v", err)
	}
	if _, err := s.Commit(ctx, "one", sessionstore.SessionPurged, change{}); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("a point that is not a session's: %v", err)
	}
}

func TestAClockSetBackDoesNotReorder(t *testing.T) {
	c := newClock()
	s := open(t, sessionstore.Options{Now: c.Now})
	create(t, s, "one")
	note := sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "text"}}}
	first := commit(t, s, "one", sessionstore.NoteStored, note)
	c.step(-time.Hour)
	if second := commit(t, s, "one", sessionstore.NoteStored, note); second.Time.Before(first.Time) {
		t.Errorf("%v came before %v", second.Time, first.Time)
	}
}

func TestPreviewIsTheFirstText(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	for _, text := range []string{"", " \n", "first", "second"} {
		commit(t, s, "one", sessionstore.InputAccepted, sessionstore.Change{Preview: text})
	}
	if v, err := s.Session(ctx, "one"); err != nil || v.Preview != "first" {
		t.Errorf("preview %q, %v", v.Preview, err)
	}
}
