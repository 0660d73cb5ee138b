package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest/wiretest"
)

// decodeResponses runs raw events, one JSON document each, through a decoder whose made-up ids are gen1, gen2, ...
func decodeResponses(events ...string) (*model.Answer, *wiretest.Tally, error) {
	sum := new(wiretest.Tally)
	d := newResponsesDecoder("prov/big", sum.Add)
	made := 0
	d.draft.NewID = func() string { made++; return fmt.Sprint("gen", made) }
	for _, e := range events {
		if err := d.Event(model.SSE{Data: []byte(e)}); err != nil {
			return nil, sum, err
		}
	}
	a, err := d.Answer(d.Progress() == model.Ended)
	return a, sum, err
}

const created = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`

func completed(fields string) string {
	return `{"type":"response.completed","response":{"id":"resp_1","status":"completed"` + fields + `}}`
}

// ev is an event of the item numbered at.
func ev(kind string, at int, fields string) string {
	return fmt.Sprintf(`{"type":"response.%s","output_index":%d,%s}`, kind, at, fields)
}

// toldParts is an answer's parts as text.
func toldParts(a *model.Answer) string {
	var list []string
	for _, p := range a.Parts {
		said := ""
		switch p.Type {
		case model.PartText:
			said = "text " + p.Text
		case model.PartReasoning:
			said = p.Reasoning.Field + " " + p.Reasoning.Text + " " + string(p.Reasoning.Opaque)
		case model.PartCall:
			said = strings.Join([]string{"call", p.Call.ID, p.Call.Name, p.Call.Arguments}, " ")
		}
		if p.Opaque != nil {
			said += " " + p.Opaque.Field + string(p.Opaque.Data) + p.Opaque.Maker
		}
		list = append(list, said)
	}
	return strings.Join(list, " | ")
}

func TestResponsesDecodeItems(t *testing.T) {
	const item = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"e"}`
	call := func(id, name, args string) string {
		return fmt.Sprintf(`"item":{"type":"function_call","id":"fc_%s","call_id":"%s","name":"%s","arguments":%q}`, id, id, name, args)
	}
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"in order, with a phase", []string{
			ev("output_item.added", 0, `"item":{"type":"reasoning","id":"rs_1","summary":[]}`), ev("reasoning_summary_part.added", 0, `"summary_index":0`),
			ev("reasoning_summary_text.delta", 0, `"summary_index":0,"delta":"a"`), ev("reasoning_summary_text.delta", 0, `"summary_index":1,"delta":"b"`), ev("output_item.done", 0, `"item":`+item),
			ev("output_item.added", 1, `"item":{"type":"message","id":"m1","role":"assistant","content":[],"phase":"commentary"}`), ev("output_text.delta", 1, `"delta":"x"`), ev("output_text.delta", 1, `"delta":"y"`),
			ev("output_text.done", 1, `"text":"xy"`), ev("output_item.done", 1, `"item":{"type":"message","id":"m1","content":[{"type":"output_text","text":"xy"}],"phase":"commentary"}`),
			ev("output_item.added", 2, call("c", "read", "")), ev("function_call_arguments.delta", 2, `"delta":"{\"a\":"`), ev("function_call_arguments.delta", 2, `"delta":"1}"`),
			ev("function_call_arguments.done", 2, `"arguments":"{\"a\":1}"`), ev("output_item.done", 2, call("c", "read", `{"a":1}`))},
			"reasoning_item a\n\nb " + item + ` | text xy phase"commentary"prov/big | call c read {"a":1}`},
		{"parallel calls, interleaved", []string{
			ev("output_item.added", 0, call("a", "read", "")), ev("output_item.added", 1, call("b", "bash", "")), ev("function_call_arguments.delta", 1, `"delta":"{\"y\""`),
			ev("function_call_arguments.delta", 0, `"delta":"{\"x\""`), ev("function_call_arguments.delta", 1, `"delta":":2}"`), ev("function_call_arguments.delta", 0, `"delta":":1}"`)},
			`call a read {"x":1} | call b bash {"y":2}`},
		{"items that come whole", []string{ev("output_item.done", 0, `"item":`+item), ev("output_item.done", 1, `"item":{"type":"message","content":[{"text":"x"},{"refusal":"y"}]}`), ev("output_item.done", 2, call("a", "read", "{}"))},
			"reasoning_item a\n\nb " + item + ` | text xy | call a read {}`},
		{"arguments at the end only", []string{ev("output_item.added", 0, call("a", "read", "")), ev("function_call_arguments.done", 0, `"arguments":"{}"`), ev("output_item.done", 0, call("a", "read", "{}"))}, `call a read {}`},
		{"what was shown stays", []string{ev("output_item.added", 0, call("a", "read", "")), ev("function_call_arguments.delta", 0, `"delta":"{\"x\":1}"`), ev("output_item.done", 0, call("a", "read", `{"x": 1}`))}, `call a read {"x":1}`},
		{"told apart by id", []string{
			`{"type":"response.output_item.added",` + call("a", "read", "") + `}`, `{"type":"response.output_item.added",` + call("b", "bash", "") + `}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_a","delta":"[]"}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_b","delta":"{}"}`},
			`call a read [] | call b bash {}`},
		{"neither numbers nor ids", []string{
			`{"type":"response.output_text.delta","delta":"x"}`, `{"type":"response.output_item.added","item":{"type":"function_call","name":"read"}}`, `{"type":"response.function_call_arguments.delta","delta":"{}"}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","name":"read"}}`, `{"type":"response.output_item.added","item":{"type":"function_call","name":"bash"}}`, `{"type":"response.output_text.delta","delta":"y"}`},
			`text xy | call gen1 read {} | call gen2 bash `},
		{"the name at the end", []string{ev("function_call_arguments.delta", 0, `"delta":"{}"`), ev("output_item.done", 0, call("a", "read", "{}"))}, `call a read {}`},
		{"one id twice", []string{ev("output_item.added", 0, call("a", "read", "")), ev("output_item.added", 1, call("a", "bash", ""))}, `call a read  | call gen1 bash `},
		{"reasoning in words", []string{ev("reasoning_text.delta", 0, `"delta":"t"`), ev("output_item.done", 0, `"item":{"type":"reasoning","content":[{"type":"reasoning_text","text":"t"}]}`), ev("refusal.delta", 1, `"delta":"no"`)},
			`reasoning_item t {"type":"reasoning","content":[{"type":"reasoning_text","text":"t"}]} | text no`},
		{"what nobody asked for", []string{
			ev("output_item.added", 0, `"item":{"type":"web_search_call","id":"ws"}`), ev("web_search_call.searching", 0, `"item_id":"ws"`), ev("output_item.done", 0, `"item":7`), ev("output_text.delta", 1, `"delta":"x"`),
			`{"type":"response.new_kind"}`, `{}`, ev("output_text.annotation.added", 1, `"annotation":{}`)}, `text x`},
		{"fields of the wrong type", []string{ev("output_text.delta", 0, `"delta":7`), ev("output_text.delta", 0, `"delta":"x","item_id":5`)}, `text x`},
	} {
		a, sum, err := decodeResponses(append(append([]string{created}, c.events...), completed(``))...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		sum.Check(t, a)
		if diff := cmp.Diff(c.want, toldParts(a)); diff != "" || a.ID != "resp_1" || a.Model != "m" {
			t.Errorf("%s: %+v (-want +got):\n%s", c.name, a, diff)
		}
	}
}

// The last event holds the whole output: it adds what did not come before, and nothing twice.
func TestResponsesDecodeOutput(t *testing.T) {
	const output = `,"output":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"},{"type":"message","id":"m","content":[{"type":"output_text","text":"xy"}]},` +
		`{"type":"function_call","id":"f","call_id":"a","name":"read","arguments":"{}"},{"type":"function_call","id":"g","call_id":"b","name":"bash","arguments":"{}"}]`
	const want = `reasoning_item  {"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"} | text xy | call a read {} | call b bash {}`
	for name, before := range map[string][]string{
		"nothing came before": nil,
		"half of it came before": {
			ev("output_item.added", 0, `"item":{"type":"reasoning","id":"r"}`), ev("output_text.delta", 1, `"delta":"x"`), ev("output_item.added", 2, `"item":{"type":"function_call","call_id":"a","name":"read"}`)},
		"all of it, without numbers": {
			`{"type":"response.output_item.done","item":{"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"}}`, `{"type":"response.output_text.delta","delta":"xy"}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}}`, `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"b","name":"bash","arguments":"{}"}}`},
	} {
		a, sum, err := decodeResponses(append(append([]string{created}, before...), completed(output))...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sum.Check(t, a)
		if diff := cmp.Diff(want, toldParts(a)); diff != "" || a.Finish != model.FinishCalls {
			t.Errorf("%s: %s (-want +got):\n%s", name, a.Finish, diff)
		}
	}
}

func TestResponsesDecodeStops(t *testing.T) {
	text := ev("output_text.delta", 0, `"delta":"x"`)
	incomplete := func(reason string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":` + reason + `}}`
	}
	for _, c := range []struct {
		end, reason string
		want        model.Finish
	}{
		{completed(``), "completed", model.FinishComplete}, {completed(`,"incomplete_details":null,"error":null`), "completed", model.FinishComplete},
		{incomplete(`{"reason":"max_output_tokens"}`), "max_output_tokens", model.FinishLength}, {incomplete(`{"reason":"content_filter"}`), "content_filter", model.FinishFiltered},
		{incomplete(`{"reason":"steered"}`), "steered", model.FinishOther}, {incomplete(`null`), "incomplete", model.FinishOther},
		{completed(`,"incomplete_details":{"reason":"max_output_tokens"}`), "max_output_tokens", model.FinishLength},
	} {
		if a, _, err := decodeResponses(created, text, c.end); err != nil || a.Finish != c.want || a.Reason != c.reason {
			t.Errorf("%s: %+v %v, want %s", c.end, a, err, c.want)
		}
	}
	if _, _, err := decodeResponses(created, text); model.ClassOf(err) != model.ErrCut {
		t.Errorf("no end: %v", err)
	}
	if _, _, err := decodeResponses(created, ev("function_call_arguments.delta", 0, `"delta":"{}"`), completed(``)); model.ClassOf(err) != model.ErrMalformed {
		t.Errorf("a call without a name: %v", err)
	}
}

func TestResponsesDecodeUsage(t *testing.T) {
	for _, c := range []struct{ usage, want string }{
		{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}`, "40 60 ? 20 5"},
		{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"output_tokens":20}`, "10 60 30 20 ?"},
		{`{"input_tokens":100,"output_tokens":20,"input_tokens_details":null}`, "100 ? ? 20 ?"},
		{`{"input_tokens":10,"input_tokens_details":{"cached_tokens":11},"output_tokens":20}`, "? 11 ? 20 ?"},
		{`{"input_tokens":-1,"output_tokens":"many"}`, "? ? ? ? ?"}, {`null`, "? ? ? ? ?"}, {`7`, "? ? ? ? ?"},
	} {
		a, _, err := decodeResponses(created, ev("output_text.delta", 0, `"delta":"x"`), completed(`,"usage":`+c.usage))
		if err != nil || wiretest.Counts(a.Usage) != c.want {
			t.Errorf("%s: %+v %v, want %s", c.usage, a, err, c.want)
		}
	}
}

// What a provider reports inside the stream: as a failed response, or as an event of its own in two shapes.
func TestResponsesDecodeErrors(t *testing.T) {
	for code, want := range map[string]model.ErrorClass{
		"server_error": model.ErrServer, "rate_limit_exceeded": model.ErrRateLimit, "context_length_exceeded": model.ErrOverflow, "insufficient_quota": model.ErrQuota,
		"invalid_prompt": model.ErrRequest, "invalid_image": model.ErrRequest, "server_is_overloaded": model.ErrOverloaded, "model_not_found": model.ErrNotFound, "unheard_of": model.ErrServer,
	} {
		for _, event := range []string{
			`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"` + code + `","message":"m"}}}`,
			`{"type":"error","code":"` + code + `","message":"m","param":null}`,
			`{"type":"error","error":{"type":"x","code":"` + code + `","message":"m"}}`,
		} {
			if _, _, err := decodeResponses(created, event); model.ClassOf(err) != want {
				t.Errorf("%s: %v (%s), want %s", event, err, model.ClassOf(err), want)
			}
		}
	}
	for _, event := range []string{`{"type":"response.failed","response":{"status":"failed","error":null}}`, completed(`,"status":"failed"`), `{"type":"response.failed"}`} {
		if _, _, err := decodeResponses(created, event); model.ClassOf(err) != model.ErrServer || !strings.Contains(err.Error(), "does not explain") {
			t.Errorf("%s: %v", event, err)
		}
	}
	for _, bad := range []string{``, `7`, `[]`, `{"type":`, `"x"`} {
		if _, _, err := decodeResponses(created, bad); model.ClassOf(err) != model.ErrMalformed {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestResponsesDecodeBounds(t *testing.T) {
	calls := func(n int) []string {
		events := []string{created}
		for i := range n {
			events = append(events, ev("output_item.added", i, fmt.Sprintf(`"item":{"type":"function_call","call_id":"c%d","name":"n"}`, i)))
		}
		return append(events, completed(``))
	}
	if a, _, err := decodeResponses(calls(model.MaxCalls)...); err != nil || len(model.Calls(a.Parts)) != model.MaxCalls {
		t.Errorf("%d calls: %v", model.MaxCalls, err)
	}
	if _, _, err := decodeResponses(calls(model.MaxCalls + 1)...); model.ClassOf(err) != model.ErrMalformed {
		t.Errorf("%d calls: %v", model.MaxCalls+1, err)
	}
	const piece = 512 << 10
	for _, kind := range []string{"output_text", "refusal", "reasoning_text", "reasoning_summary_text", "function_call_arguments"} {
		d := newResponsesDecoder("", func(model.Event) error { return nil })
		delta := model.SSE{Data: []byte(ev(kind+".delta", 0, `"delta":"`+strings.Repeat("x", piece)+`"`))}
		for range model.MaxAnswer / piece {
			if err := d.Event(delta); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		if err := d.Event(model.SSE{Data: []byte(ev(kind+".delta", 0, `"delta":"x"`))}); model.ClassOf(err) != model.ErrMalformed {
			t.Errorf("%s: a byte above %d: %v", kind, model.MaxAnswer, err)
		}
	}
}

func FuzzResponsesDecode(f *testing.F) {
	f.Add(strings.Join([]string{created, ev("output_item.added", 0, `"item":{"type":"reasoning","id":"r"}`), ev("reasoning_summary_text.delta", 0, `"summary_index":1,"delta":"a"`),
		ev("output_item.done", 0, `"item":{"type":"reasoning","id":"r","encrypted_content":"e"}`), ev("output_item.added", 1, `"item":{"type":"function_call","call_id":"c","name":"n"}`), completed(`,"usage":{"input_tokens":1}`)}, "\n"))
	f.Add(strings.Join([]string{`{"type":"response.output_text.delta","delta":"x"}`, ev("output_item.done", 0, `"item":{"type":"message","phase":"final_answer"}`),
		completed(`,"output":[{"type":"function_call","name":"n","arguments":"{"},{"type":"message","content":[{"text":"x"}]}]`)}, "\n"))
	f.Add(`{"type":"response.failed","response":{"error":{"code":"server_error"}}}`)
	f.Add("null\n[]")
	f.Fuzz(func(t *testing.T, stream string) {
		a, sum, err := decodeResponses(strings.Split(stream, "\n")...)
		if err != nil {
			if model.ClassOf(err) == "" {
				t.Fatalf("an error of no class: %v", err)
			}
			return
		}
		sum.Check(t, a)
		for _, n := range []*int64{a.Usage.Input, a.Usage.CacheRead, a.Usage.CacheWrite, a.Usage.Output, a.Usage.Reasoning} {
			if n != nil && *n < 0 {
				t.Fatalf("negative usage %d", *n)
			}
		}
		body, err := encodeResponses(model.Request{Maker: "prov/big", Messages: []model.Message{wiretest.Said(model.RoleAssistant, a.Parts...)}}, dialect{})
		if err != nil || !json.Valid(body) {
			t.Fatalf("an answer that was decoded cannot be sent back: %v\n%s", err, body)
		}
	})
}

func BenchmarkResponsesDecode(b *testing.B) {
	var stream strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&stream, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"token %d \",\"logprobs\":[]}\n\n", i, i)
	}
	fmt.Fprintf(&stream, "data: %s\n\n", completed(`,"usage":{"input_tokens":1,"output_tokens":2}`))
	b.ReportAllocs()
	b.SetBytes(int64(stream.Len()))
	for b.Loop() {
		in := model.NewSSEReader(strings.NewReader(stream.String()))
		d := newResponsesDecoder("prov/big", func(model.Event) error { return nil })
		for {
			ev, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err := d.Event(ev); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.Answer(true); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/delta")
}
