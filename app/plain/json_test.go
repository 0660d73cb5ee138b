package plain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"octavo/app/api"
	"octavo/app/plain"
)

func jsonRun(t *testing.T, s *stage, out *screen, prompts ...string) error {
	t.Helper()
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	var stderr screen
	err := plain.JSON(context.Background(), s, chats(prompts...), plain.Options{Stdout: out, Stderr: &stderr, Now: func() time.Time { return noon }})
	if stderr.String() != "" {
		t.Errorf("stderr: %s", stderr.String())
	}
	return err
}

// records reads lines strictly: each is one write, one object and valid UTF-8.
func records(t *testing.T, out *screen) []map[string]any {
	t.Helper()
	text := out.String()
	if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") {
		t.Fatalf("not lines of UTF-8: %.500q", text)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != out.writes {
		t.Errorf("%d lines in %d writes", len(lines), out.writes)
	}
	var rs []map[string]any
	for _, l := range lines {
		var r map[string]any
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("%v in %q", err, l)
		}
		rs = append(rs, r)
	}
	return rs
}

func TestJSONGolden(t *testing.T) {
	var out screen
	if err := jsonRun(t, newStage(t, works), &out, "fix the test"); err != nil {
		t.Fatal(err)
	}
	records(t, &out)
	const golden = "testdata/turn.jsonl"
	if os.Getenv("OCTAVO_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", out.String(), string(want))
}

// story is the records of a run in short. Fragments that follow one another are one: whether they come together is a matter of
// time.
func story(rs []map[string]any) string {
	var b strings.Builder
	for i, r := range rs {
		if e, ok := r["assistantMessageEvent"].(map[string]any); ok && e["delta"] != nil {
			if before, ok := rs[i-1]["assistantMessageEvent"].(map[string]any); ok && before["delta"] != nil && before["contentIndex"] == e["contentIndex"] {
				s := strings.TrimSuffix(b.String(), "\"\n") + e["delta"].(string) + "\"\n"
				b.Reset()
				b.WriteString(s)
				continue
			}
		}
		fmt.Fprint(&b, r["type"])
		if e, ok := r["assistantMessageEvent"].(map[string]any); ok {
			fmt.Fprintf(&b, " %s %v", e["type"], e["contentIndex"])
			if d, ok := e["delta"]; ok {
				fmt.Fprintf(&b, " \"%s\"", d)
			}
		}
		if m, ok := r["message"].(map[string]any); ok {
			fmt.Fprintf(&b, " %s %v", m["role"], len(m["content"].([]any)))
			if s, ok := m["stopReason"]; ok {
				fmt.Fprintf(&b, " %s", s)
			}
		}
		for _, k := range []string{"withdrawn", "success", "outcome", "aborted", "error"} {
			if v, ok := r[k]; ok {
				fmt.Fprintf(&b, " %s=%v", k, v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestJSONStreamsBlocks(t *testing.T) {
	var out screen
	s := newStage(t, func(t *turn) {
		t.step()
		t.delta(api.Delta{Kind: api.DeltaReasoning, Text: "hm"})
		t.text("caf\xc3") // a character cut in two
		t.delta(api.Delta{Kind: api.DeltaCall, CallID: "c1", Tool: "bash"})
		t.delta(api.Delta{Kind: api.DeltaCall, Index: 1, CallID: "c2", Tool: "edit"})
		t.delta(api.Delta{Kind: api.DeltaArguments, Index: 1, Text: "{"})
		t.delta(api.Delta{Kind: api.DeltaArguments, Index: 0, Text: "{}"})
		t.delta(api.Delta{Kind: api.DeltaArguments, Index: 7, Text: "none of these"})
		t.text("é")
		t.text("\xc3")
		t.text("\xa9!")
		t.retry("gone")
		t.text("again")
		t.answer("again")
		t.settle(api.SettledCompleted, "")
	})
	if err := jsonRun(t, s, &out, "hi"); err != nil {
		t.Fatal(err)
	}
	check(t, "records", story(records(t, &out)), `
session
agent_start
turn_start
message_start user 0
message_end user 1
message_start assistant 0
message_update thinking_start 0
message_update thinking_delta 0 "hm"
message_update thinking_end 0
message_update text_start 1
message_update text_delta 1 "caf"
message_update text_end 1
message_update toolcall_start 2
message_update toolcall_start 3
message_update toolcall_delta 3 "{"
message_update toolcall_delta 2 "{}"
message_update text_start 4
message_update text_delta 4 "éé!"
message_update toolcall_end 2
message_update toolcall_end 3
message_update text_end 4
message_end assistant 0 error withdrawn=true
auto_retry_start
message_start assistant 0
message_update text_start 0
message_update text_delta 0 "again"
message_update text_end 0
message_end assistant 1 stop
auto_retry_end success=true
usage
turn_end
agent_end
agent_settled outcome=completed
`)
}

func TestJSONRefusalsSteeringAndFailure(t *testing.T) {
	var out screen
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("", testCall)
		t.ends(testCall, api.Result{Outcome: api.ResultRefused}, `{"error":"no"}`)
		t.locked(func() { t.queue([]api.Queued{{ID: "q", Kind: api.InputChat, Text: "steer"}}) })
		t.step()
		t.retry("down")
		t.settle(api.SettledFailed, "the provider is down")
	})
	err := jsonRun(t, s, &out, "hi", "next")
	if err == nil || err.Error() != "the provider is down" {
		t.Errorf("error %v", err)
	}
	rs := records(t, &out)
	check(t, "records", story(rs), `
session
agent_start
turn_start
message_start user 0
message_end user 1
message_start assistant 0
message_end assistant 1 toolUse
usage
tool_execution_start
tool_execution_end outcome=refused
message_start toolResult 0
message_end toolResult 1
queue_update
turn_end
turn_start
message_start user 0
message_end user 1
queue_update
auto_retry_start
auto_retry_end success=false
turn_end
agent_end
agent_settled outcome=failed error=the provider is down
`)
}

func TestJSONCommandsAndErrors(t *testing.T) {
	var out screen
	s := newStage(t)
	s.run = func(_ context.Context, line string) (api.Outcome, error) {
		if line == "/help" {
			return api.Outcome{Text: "text", Data: json.RawMessage("{\"a\":\n\"\xff<\"}")}, nil
		}
		return api.Outcome{}, errors.New("broken")
	}
	if err := jsonRun(t, s, &out, "/help", "/session"); err == nil || err.Error() != "broken" {
		t.Errorf("error %v", err)
	}
	rs := records(t, &out)
	check(t, "records", story(rs), "session\ncommand success=true\ncommand success=false error=broken\nerror error=broken\n")
	if got := rs[1]["data"].(map[string]any)["a"]; got != "\ufffd<" {
		t.Errorf("data %v", rs[1])
	}
}

func TestJSONSummary(t *testing.T) {
	var out screen
	s := newStage(t)
	s.run = func(context.Context, string) (api.Outcome, error) {
		s.locked(func() {
			for _, p := range []api.Phase{api.PhaseSummarizing, api.PhaseInterrupting} {
				s.emit(api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "sum", Phase: p}})
			}
			s.emit(api.Event{Type: api.EventIdle})
		})
		return api.Outcome{Go: api.GoSession, Session: "0190-two"}, nil
	}
	if err := jsonRun(t, s, &out, "/fork"); err != nil {
		t.Fatal(err)
	}
	// The answer of a command may be told before the last events of what it did.
	if got := story(records(t, &out)); !strings.Contains(got, "compaction_start\n") || !strings.Contains(got, "compaction_end aborted=true\n") {
		t.Errorf("records:\n%s", got)
	}
}

func TestJSONUsage(t *testing.T) {
	priced := func(micro int64, unpriced int64) api.Usage {
		return api.Usage{Requests: 1 + unpriced, Input: 10, CostMicro: &micro, Unpriced: unpriced}
	}
	for _, c := range []struct {
		name   string
		before api.Usage
		after  api.Usage
		want   string
	}{
		{"priced", api.Usage{}, priced(620_001, 0), "0.620001"},
		{"large", api.Usage{}, priced(12_000_000, 0), "12.000000"},
		{"of the run alone", priced(1_000_000, 0), api.Usage{Requests: 2, CostMicro: ptr(int64(1_500_000))}, "0.500000"},
		{"unpriced", api.Usage{}, api.Usage{Requests: 1, Unpriced: 1}, "null"},
		{"unpriced after priced", priced(1_000_000, 0), api.Usage{Requests: 2, CostMicro: ptr(int64(1_000_000)), Unpriced: 1}, "null"},
	} {
		var out screen
		s := newStage(t, func(t *turn) {
			t.step()
			t.locked(func() { t.emit(api.Event{Type: api.EventUsage, Usage: &c.after}) })
			t.settle(api.SettledCompleted, "")
		})
		s.state.Usage = c.before
		if err := jsonRun(t, s, &out, "hi"); err != nil {
			t.Fatal(err)
		}
		records(t, &out)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"cost":`+c.want) {
			t.Errorf("%s: no cost %s in %s", c.name, c.want, last)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// Live output is told up to 64 KiB; one byte more is counted instead. The result is whole.
func TestJSONProgressBound(t *testing.T) {
	const bound = 64 << 10
	for _, size := range []int{bound, bound + 1, 3 * bound} {
		var out screen
		s := newStage(t, func(t *turn) {
			t.step()
			t.answer("", testCall)
			t.begins(testCall)
			for left := size; left > 0; left -= min(left, 1000) {
				t.progress("c1", strings.Repeat("x", min(left, 1000)))
			}
			t.ends(testCall, api.Result{Outcome: api.ResultOK}, strings.Repeat("x", size))
			t.settle(api.SettledCompleted, "")
		})
		if err := jsonRun(t, s, &out, "hi"); err != nil {
			t.Fatal(err)
		}
		told, omitted, whole := 0, 0.0, 0
		for _, r := range records(t, &out) {
			switch r["type"] {
			case "tool_execution_update":
				d, _ := r["delta"].(string)
				told += len(d)
			case "tool_execution_end":
				omitted, _ = r["omittedBytes"].(float64)
				whole = len(r["result"].(map[string]any)["content"].([]any)[0].(map[string]any)["text"].(string))
			}
		}
		if told != min(size, bound) || int(omitted) != size-told || whole != size {
			t.Errorf("of %d bytes %d were told, %v omitted, %d in the result", size, told, omitted, whole)
		}
	}
}
