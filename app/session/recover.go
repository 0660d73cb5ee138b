package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/sessionstore"
)

// recover settles what a crash left open (plugins.md 3.8): each open call gets the result its tool stored, or an unknown outcome,
// or word that it never ran. Nothing runs again. The turn is settled as abandoned in the same commit.
func (a *actor) recover(ctx context.Context) error {
	if a.row.Stage != sessionstore.StageModel && a.row.Stage != sessionstore.StageTool {
		return nil
	}
	tail, err := unfinished(ctx, a.o.Store, a.id, a.row.Turn)
	if err != nil {
		return err
	}
	var entries []entry
	for _, e := range tail.open() {
		entries = append(entries, a.recoverCall(ctx, e))
	}
	unknown := slices.ContainsFunc(entries, func(e entry) bool { return e.rec.Outcome == api.ResultUnknown })
	note := "octavo ended in the middle of this turn and was started again. Nothing was run a second time."
	if unknown {
		note += " Check the effects of the calls whose outcome is unknown before you try them again."
	}
	entries = append(entries,
		entry{api.EntryNote, record{Origin: "restart", Parts: []model.Part{model.Text(note)}}},
		entry{api.EntrySettled, record{Settled: &api.Settled{Outcome: api.SettledAbandoned, Error: abandoned(entries)}}})
	var change sessionstore.Change
	for i := range entries {
		ne, err := entries[i].encode(a.o.Redact, a.row.Turn)
		if err != nil {
			return err
		}
		change.Append = append(change.Append, ne)
	}
	change.Stage = &sessionstore.StageChange{Stage: sessionstore.StageInterrupted}
	if a.row.Stage == sessionstore.StageModel {
		change.Requests = []sessionstore.Request{a.o.Redact.request(a.lostRequest())}
	}
	_, err = a.o.Store.Commit(ctx, a.id, sessionstore.CallsRecovered, change)
	return err
}

// abandoned says what was cut off, for a person.
func abandoned(results []entry) string {
	why := "octavo ended in the middle of this turn"
	for _, e := range results {
		if e.rec.Outcome == api.ResultUnknown {
			why += fmt.Sprintf("; the outcome of %q is unknown", e.rec.Title)
		}
	}
	return why
}

// lostRequest is the usage row of a request that may have been under way: what it cost is not known, which is not nothing.
func (a *actor) lostRequest() sessionstore.Request {
	now := time.Now().UTC()
	row := sessionstore.Request{ID: uuid.Must(uuid.NewV7()).String(), Turn: a.row.Turn, Kind: sessionstore.RequestTurn, Model: a.row.Model,
		Started: now, Finished: now, Outcome: sessionstore.OutcomeFailed, Error: "octavo ended while this request may have been under way"}
	if up, err := a.o.Models.Resolve(a.row.Model); err == nil {
		row.Provider, row.Model, row.Endpoint = up.Provider, up.Model, up.Endpoint
	}
	return row
}

// openCall is a call without a result. begun says that it had been stored as about to run.
type openCall struct {
	call  model.ToolCall
	title string
	begun bool
}

// tail is the end of a session from its newest answer on.
type tail struct {
	answer *record
	rest   []entry
}

// unfinished reads the end of a session in which a turn is open. It reads pages backwards: an answer and its results are few entries.
func unfinished(ctx context.Context, store *sessionstore.Store, id, turn string) (tail, error) {
	var t tail
	before := int64(0)
	for {
		page, err := store.Entries(ctx, id, sessionstore.Range{Before: before, Limit: 64, Newest: true})
		if err != nil || len(page) == 0 {
			return t, err
		}
		for _, se := range slices.Backward(page) {
			e, err := decode(se)
			if err != nil {
				return t, err
			}
			if e.kind == api.EntryShell { // a person may run a command in the middle of a turn; it belongs to none
				continue
			}
			if e.kind == api.EntryAssistant || se.Turn != turn {
				if e.kind == api.EntryAssistant {
					t.answer = &e.rec
				}
				return t, nil
			}
			t.rest = append(t.rest, e)
		}
		before = page[0].Seq
	}
}

// open lists the calls of the newest answer that have no result, in order.
func (t tail) open() []openCall {
	if t.answer == nil {
		return nil
	}
	var open []openCall
	for _, c := range model.Calls(t.answer.Parts) {
		o := openCall{call: c, title: c.Name}
		settled := false
		for _, e := range t.rest {
			if e.rec.Call == nil || e.rec.Call.ID != c.ID {
				continue
			}
			switch e.kind {
			case api.EntryResult:
				settled = true
			case api.EntryCall:
				o.begun, o.title = true, e.rec.Title
			}
		}
		if !settled {
			open = append(open, o)
		}
	}
	return open
}

func (a *actor) recoverCall(ctx context.Context, o openCall) entry {
	j := &job{call: o.call, title: o.title}
	if !o.begun {
		j.outcome, j.refusal = api.ResultNotRun, "not run: octavo ended first"
	} else if out, ok := a.storedOutput(ctx, o.call); ok {
		j.outcome, j.out = api.ResultOK, out
		if out.IsError {
			j.outcome = api.ResultError
		}
	} else {
		j.outcome = api.ResultUnknown
		j.refusal = "the outcome is unknown: octavo ended while this call ran; it was not run again"
	}
	parts, err := a.resultParts(j)
	if err != nil {
		parts = []model.Part{model.Text(err.Error())}
	}
	return entry{api.EntryResult, record{Parts: parts, Call: &j.call, Title: j.title, Outcome: j.outcome, Reason: j.refusal, Show: j.out.Display}}
}

// storedOutput asks the call's tool for a result that it kept by itself.
func (a *actor) storedOutput(ctx context.Context, c model.ToolCall) (out ext.Output, ok bool) {
	tool, found := a.o.Composition.Tool(c.Name)
	if !found || tool.Recover == nil {
		return ext.Output{}, false
	}
	call := &ext.Call{Context: ctx, ID: c.ID, Session: a.id, Workspace: a.row.Workspace,
		Progress: func(string) {}, Ask: func(ext.Ask) ext.Answer { return ext.Answer{} }, Redact: a.o.Redact.Stream}
	if guard(func() error { out, ok = tool.Recover(call); return nil }) != nil {
		return ext.Output{}, false
	}
	return out, ok
}
