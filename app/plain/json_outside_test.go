package plain_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"octavo/app/api"
	"octavo/pages"
)

func TestJSONFallsBehind(t *testing.T) {
	var out screen
	s := newStage(t, func(t *turn) {
		t.step()
		t.text("half of it is lo")
		out.await(t.t, "half of it is lo", 1)
		out.mu.Lock() // nobody reads on
		for range 2*api.MaxPending + 200 {
			t.locked(func() { t.queue(nil) })
		}
		t.text("st")
		t.answer("half of it is lost", testCall)
		t.begins(testCall)
		t.ends(testCall, api.Result{Outcome: api.ResultOK}, "fine")
		t.step()
		t.text("new")
		out.mu.Unlock()
		t.answer("new")
		t.settle(api.SettledCompleted, "")
	})
	if err := jsonRun(t, s, &out, "hi"); err != nil {
		t.Fatal(err)
	}
	rs := records(t, &out)
	var ends, starts []string
	lagged := false
	for _, r := range rs {
		m, _ := r["message"].(map[string]any)
		switch r["type"] {
		case "lagged":
			lagged = true
		case "message_start":
			starts = append(starts, m["role"].(string))
		case "message_end":
			ends = append(ends, m["role"].(string))
			if c := m["content"].([]any); len(c) > 0 {
				if s, ok := c[0].(map[string]any)["text"]; ok {
					ends[len(ends)-1] += " " + s.(string)
				}
			}
		}
	}
	if !lagged || len(starts) != len(ends) {
		t.Errorf("lagged=%v, %d starts, %d ends", lagged, len(starts), len(ends))
	}
	for _, want := range []string{"assistant half of it is lost", "toolResult fine", "assistant new"} {
		if n := strings.Count(strings.Join(ends, "\n"), want); n != 1 {
			t.Errorf("%q was told %d times: %q", want, n, ends)
		}
	}
	if last := rs[len(rs)-1]; last["type"] != "agent_settled" || last["usage"] != nil {
		t.Errorf("the last record is %v", last)
	}
}

// Who falls behind while something runs is told what of it there is, and then goes on.
func TestJSONFallsBehindInTheMiddle(t *testing.T) {
	var out screen
	flood := func(t *turn, n int) {
		for range 2*api.MaxPending + 200 {
			t.locked(func() { t.queue(nil) })
		}
		out.mu.Unlock()
		out.await(t.t, `{"type":"lagged"}`, n)
	}
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("", testCall)
		out.await(t.t, `"toolUse"`, 1)
		out.mu.Lock()
		t.begins(testCall)
		t.progress("c1", "so far, ")
		flood(t, 1)
		t.progress("c1", "and on")
		t.ends(testCall, api.Result{Outcome: api.ResultOK}, "fine")
		t.step()
		t.text("dr")
		out.await(t.t, `"dr"`, 1)
		out.mu.Lock()
		t.text("af")
		t.delta(api.Delta{Kind: api.DeltaReasoning, Text: "hm"})
		t.delta(api.Delta{Kind: api.DeltaCall, CallID: "c2", Tool: "edit"})
		t.delta(api.Delta{Kind: api.DeltaArguments, Text: "{"})
		flood(t, 2)
		t.delta(api.Delta{Kind: api.DeltaArguments, Text: "}"})
		t.answer("draft", editCall)
		t.settle(api.SettledCompleted, "")
	})
	if err := jsonRun(t, s, &out, "hi"); err != nil {
		t.Fatal(err)
	}
	var short []map[string]any
	said := ""
	for _, r := range records(t, &out) {
		if r["type"] == "tool_execution_update" {
			said += r["delta"].(string)
		}
		if r["type"] != "queue_update" && r["type"] != "usage" {
			short = append(short, r)
		}
	}
	if said != "so far, and on" {
		t.Errorf("the live output is %q", said)
	}
	// How much came through before is a matter of time.
	got := story(short)
	before, after, _ := strings.Cut(got, "message_end assistant 0 error withdrawn=true\n")
	if strings.Count(before, "tool_execution_start\n") != 1 || strings.Count(before, "tool_execution_end outcome=ok\n") != 1 {
		t.Errorf("records before:\n%s", before)
	}
	check(t, "records after", after, `
message_start assistant 0
message_update thinking_start 0
message_update thinking_delta 0 "hm"
message_update thinking_end 0
message_update text_start 1
message_update text_delta 1 "draf"
message_update text_end 1
message_update toolcall_start 2
message_update toolcall_delta 2 "{}"
message_update toolcall_end 2
message_end assistant 2 toolUse
turn_end
agent_end
agent_settled outcome=completed
`)
}

func TestJSONBrokenPipe(t *testing.T) {
	for limit := range 8 {
		s := newStage(t, func(t *turn) { t.step(); t.text("x"); t.blocks(); t.settle(api.SettledInterrupted, "") })
		out := screen{limit: limit * 100, err: syscall.EPIPE}
		if err := jsonRun(t, s, &out, "hi", "next"); err != nil {
			t.Errorf("after %d bytes: %v", limit*100, err)
		}
	}
	out := screen{limit: 500, err: syscall.ENOSPC}
	s := newStage(t, func(t *turn) { t.step(); t.text("x"); t.blocks(); t.settle(api.SettledInterrupted, "") })
	if err := jsonRun(t, s, &out, "hi"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}

// Whatever stands in a field, a line stays one line of valid UTF-8 and the field can be read back.
func TestJSONHostileText(t *testing.T) {
	const evil = "\x1b[2J\x9b\xff\n\r\u2028\"\\</script>\x00"
	for _, args := range []string{evil, `{"a":"` + "\xff" + `"}`, "{\n\"a\":1\n}", `[1]`, `{"a":1} {"b":2}`, ""} {
		call := api.Call{ID: evil, Tool: evil, Arguments: args, Title: evil}
		s := newStage(t, func(t *turn) {
			t.step()
			t.text(evil)
			t.delta(api.Delta{Kind: api.DeltaCall, CallID: evil, Tool: evil})
			t.retry(evil)
			t.answer(evil, call)
			t.begins(call)
			t.progress(evil, evil)
			t.ends(call, api.Result{Outcome: api.ResultOK, Display: &pages.Display{Title: evil, Text: evil, Diff: &pages.Diff{Path: evil}}}, evil)
			t.notice(api.Notice{Source: evil, Text: evil})
			t.locked(func() {
				t.emit(api.Event{Type: api.EventAsk, Ask: &api.Ask{ID: "a", Title: evil, Body: evil, Options: []api.Option{{ID: evil}}}})
				t.emit(api.Event{Type: api.EventAnswered, Ask: &api.Ask{ID: "a"}})
				t.emit(api.Event{Type: api.EventSession, Info: &api.SessionInfo{Name: evil, Model: evil}})
				t.store(api.Entry{Turn: t.id, Kind: api.EntryNote, Origin: evil, Parts: []api.Part{{Type: api.PartText, Text: evil}}})
				t.store(api.Entry{Kind: api.EntryShell, Call: &api.Call{Title: evil}, Result: &api.Result{}, Parts: []api.Part{{Type: api.PartText, Text: evil}}})
				t.store(api.Entry{Turn: t.id, Kind: api.EntrySummary, Parts: []api.Part{{Type: api.PartImage, Image: &api.Image{Name: evil}}}})
			})
			t.settle(api.SettledCompleted, "", evil)
		})
		var out screen
		if err := jsonRun(t, s, &out, "hi "+evil); err != nil {
			t.Fatal(err)
		}
		for _, r := range records(t, &out) {
			if r["type"] != "tool_execution_start" {
				continue
			}
			if _, object := r["args"].(map[string]any); object != (strings.HasPrefix(args, "{") && !strings.Contains(args, "} {")) {
				t.Errorf("arguments %q became %v", args, r["args"])
			}
		}
	}
}
