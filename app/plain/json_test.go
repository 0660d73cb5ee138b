package plain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"octavo/app/api"
	"octavo/app/plain"
	"octavo/pages"
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

// docs/json.md names every type and every field that can be written, and no type that cannot.
func TestJSONVocabularyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	src, err := parser.ParseFile(token.NewFileSet(), "records.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types, fields := map[string]bool{}, map[string]bool{}
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "recordType" {
				name, _ := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
				types[name] = true
			}
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				fields[name] = true
			}
		}
		return true
	})
	if len(types) < 20 || len(fields) < 40 {
		t.Fatalf("the source was not understood: %d types, %d fields", len(types), len(fields))
	}
	table, _, _ := bytes.Cut(doc[bytes.Index(doc, []byte("## Records")):], []byte("## assistantMessageEvent"))
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(string(table), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
		}
	}
	for name := range types {
		if !documented[name] {
			t.Errorf("docs/json.md has no row for %s", name)
		}
	}
	for name := range documented {
		if !types[name] {
			t.Errorf("docs/json.md has a row for %s, which is never written", name)
		}
	}
	for name := range fields {
		if !regexp.MustCompile("[`\"]" + name + "[`\"]").Match(doc) {
			t.Errorf("docs/json.md does not name the field %s", name)
		}
	}
}
