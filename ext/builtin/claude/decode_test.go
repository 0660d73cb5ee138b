package claude

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

// decode runs raw events, one JSON document each, through a decoder whose made-up ids are gen1, gen2, ...
func decode(events ...string) (*model.Answer, *wiretest.Tally, error) {
	sum := new(wiretest.Tally)
	d := newDecoder(maker, sum.Add)
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

const (
	begins = `{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":5,"output_tokens":1}}}`
	ends   = `{"type":"message_stop"}`
)

// whole puts events between the beginning and the end of a message.
func whole(reason string, events ...string) []string {
	all := append([]string{begins, `{"type":"ping"}`}, events...)
	return append(all, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":9}}`, ends)
}

func begin(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func more(index int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta)
}

func stop(index int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index) }

// told is an answer's parts as text.
func told(a *model.Answer) string {
	var list []string
	for _, p := range a.Parts {
		switch p.Type {
		case model.PartText:
			list = append(list, "text "+p.Text)
		case model.PartReasoning:
			list = append(list, p.Reasoning.Field+" "+p.Reasoning.Text+" "+string(p.Reasoning.Opaque))
		case model.PartCall:
			list = append(list, strings.Join([]string{"call", p.Call.ID, p.Call.Name, p.Call.Arguments}, " "))
		}
	}
	return strings.Join(list, " | ")
}

func TestDecodeBlocks(t *testing.T) {
	tool := func(fields string) string { return `{"type":"tool_use",` + fields + `,"input":{}}` }
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"in order, thinking twice", []string{
			begin(0, `{"type":"thinking","thinking":"","signature":""}`), more(0, `{"type":"thinking_delta","thinking":"a<"}`), more(0, `{"type":"thinking_delta","thinking":"b"}`),
			more(0, `{"type":"signature_delta","signature":"s1"}`), stop(0),
			begin(1, `{"type":"text","text":""}`), more(1, `{"type":"text_delta","text":"x"}`), stop(1),
			begin(2, `{"type":"redacted_thinking","data":"secret"}`), stop(2),
			begin(3, tool(`"id":"c","name":"read"`)), more(3, `{"type":"input_json_delta","partial_json":""}`), more(3, `{"type":"input_json_delta","partial_json":"{\"a\":"}`), more(3, `{"type":"input_json_delta","partial_json":"1}"}`), stop(3)},
			`thinking a<b {"signature":"s1","thinking":"a<b","type":"thinking"} | text x | redacted_thinking  {"type":"redacted_thinking","data":"secret"} | call c read {"a":1}`},
		{"parallel calls, interleaved", []string{
			begin(0, tool(`"id":"a","name":"read"`)), begin(1, tool(`"id":"b","name":"bash"`)),
			more(1, `{"partial_json":"{\"y\""}`), more(0, `{"partial_json":"{\"x\""}`), more(1, `{"partial_json":":2}"}`), more(0, `{"partial_json":":1}"}`), stop(1), stop(0)},
			`call a read {"x":1} | call b bash {"y":2}`},
		{"what a beginning holds already", []string{
			begin(0, `{"type":"thinking","thinking":"a","signature":"s","extra":[1]}`), stop(0), begin(1, `{"type":"text","text":"x"}`), more(1, `{"text":"y"}`),
			begin(2, `{"type":"tool_use","id":"a","name":"read","input":{"x":1}}`), stop(2), begin(3, `{"type":"tool_use","id":"b","name":"now","input":{}}`)},
			`thinking a {"extra":[1],"signature":"s","thinking":"a","type":"thinking"} | text xy | call a read {"x":1} | call b now `},
		{"signature only", []string{begin(0, `{"type":"thinking","thinking":""}`), more(0, `{"signature":"s"}`), stop(0), begin(1, `{"type":"text"}`), more(1, `{"text":"x"}`)},
			`thinking  {"signature":"s","thinking":"","type":"thinking"} | text x`},
		{"ids that are missing or taken", []string{begin(0, tool(`"name":"a"`)), begin(1, tool(`"id":"x","name":"b"`)), begin(2, tool(`"id":"x","name":"c"`))}, `call gen1 a  | call x b  | call gen2 c `},
		{"what nobody asked for", []string{
			begin(0, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), more(0, `{"partial_json":"{}"}`), stop(0), more(7, `{"text":"lost"}`), begin(1, `7`), begin(2, `{"type":"text","text":"x"}`),
			more(2, `{"type":"citations_delta","citation":{}}`), `{"type":"new_kind"}`, `{}`, stop(2), more(2, `{"text":"late"}`)}, `text x`},
		{"a block that begins twice", []string{begin(0, `{"type":"text","text":"x"}`), begin(0, `{"type":"text","text":"y"}`), more(0, `{"text":"z"}`)}, `text xz`},
		{"fields of the wrong type", []string{begin(0, `{"type":"text","text":5}`), more(0, `{"text":["a"]}`), more(0, `{"text":"x","partial_json":{}}`)}, `text x`},
	} {
		a, sum, err := decode(whole("end_turn", c.events...)...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		sum.Check(t, a)
		if diff := cmp.Diff(c.want, told(a)); diff != "" || a.ID != "msg_1" || a.Model != "m" {
			t.Errorf("%s: %+v (-want +got):\n%s", c.name, a, diff)
		}
	}
}

func TestDecodeStops(t *testing.T) {
	text, call := begin(0, `{"type":"text","text":"x"}`), begin(0, `{"type":"tool_use","id":"c","name":"n","input":{}}`)
	for _, c := range []struct {
		reason, block string
		want          model.Finish
	}{
		{"end_turn", text, model.FinishComplete}, {"end_turn", call, model.FinishCalls}, {"stop_sequence", text, model.FinishComplete},
		{"tool_use", call, model.FinishCalls}, {"tool_use", text, model.FinishOther},
		{"max_tokens", text, model.FinishLength}, {"max_tokens", call, model.FinishLength}, {"model_context_window_exceeded", text, model.FinishLength},
		{"refusal", text, model.FinishFiltered}, {"pause_turn", text, model.FinishOther}, {"something_new", text, model.FinishOther},
	} {
		if a, _, err := decode(whole(c.reason, c.block)...); err != nil || a.Finish != c.want || a.Reason != c.reason {
			t.Errorf("%s: %+v %v, want %s", c.reason, a, err, c.want)
		}
	}
	a, _, err := decode(begins, text, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":null}}}`, ends)
	if err != nil || a.Finish != model.FinishFiltered || a.Reason != "refusal: cyber" {
		t.Errorf("a refusal says what it is about: %+v %v", a, err)
	}
	if a, _, err := decode(begins, text, `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_details":null},"usage":null}`); err != nil || a.Finish != model.FinishComplete {
		t.Errorf("a lost end does not matter once the reason is there: %+v %v", a, err)
	}
	for name, events := range map[string][]string{
		"no reason, no end": {begins, text}, "a null reason, no end": {begins, text, `{"type":"message_delta","delta":{"stop_reason":null}}`}, "nothing but the end": {begins, ends},
		"a call without a name and no end": {begins, begin(0, `{"type":"tool_use"}`)},
	} {
		if _, _, err := decode(events...); model.ClassOf(err) != model.ErrCut {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := decode(whole("tool_use", begin(0, `{"type":"tool_use","input":{}}`))...); model.ClassOf(err) != model.ErrMalformed {
		t.Errorf("a call without a name: %v", err)
	}
}

// Input is in the first report, output in the last one; some servers know the input only at the end.
func TestDecodeUsage(t *testing.T) {
	for _, c := range []struct{ start, delta, want string }{
		{`{"input_tokens":40,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"output_tokens":1}`, `{"output_tokens":20}`, "40 60 10 20 ?"},
		{`{"input_tokens":40,"cache_read_input_tokens":60,"output_tokens":1}`, `{"output_tokens":20,"output_tokens_details":{"thinking_tokens":7}}`, "40 60 ? 20 7"},
		{`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":40,"cache_read_input_tokens":3,"output_tokens":20}`, "40 3 ? 20 ?"},
		{`{"input_tokens":40,"output_tokens":1}`, `{"input_tokens":0,"output_tokens":20}`, "40 ? ? 20 ?"},
		{`{"input_tokens":-1,"output_tokens":"x"}`, `{"output_tokens":1.5,"output_tokens_details":7}`, "? ? ? ? ?"},
		{`null`, `null`, "? ? ? ? ?"}, {`"x"`, `[]`, "? ? ? ? ?"},
	} {
		a, _, err := decode(`{"type":"message_start","message":{"id":"i","usage":`+c.start+`}}`, begin(0, `{"type":"text","text":"x"}`),
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+c.delta+`}`, ends)
		if err != nil || wiretest.Counts(a.Usage) != c.want {
			t.Errorf("%s %s: %+v %v, want %s", c.start, c.delta, a, err, c.want)
		}
	}
}

// What a provider reports inside the stream.
func TestDecodeErrors(t *testing.T) {
	for kind, want := range map[string]model.ErrorClass{
		"overloaded_error": model.ErrOverloaded, "rate_limit_error": model.ErrRateLimit, "api_error": model.ErrServer, "timeout_error": model.ErrTimeout,
		"invalid_request_error": model.ErrRequest, "authentication_error": model.ErrAuth, "permission_error": model.ErrAuth, "not_found_error": model.ErrNotFound,
		"billing_error": model.ErrQuota, "request_too_large": model.ErrOverflow, "unheard_of": model.ErrServer,
	} {
		_, _, err := decode(begins, begin(0, `{"type":"text","text":"x"}`), `{"type":"error","error":{"type":"`+kind+`","message":"m"},"request_id":"r"}`)
		if model.ClassOf(err) != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
	}
	for _, bad := range []string{``, `7`, `[]`, `null1`, `{"type":`, `"x"`} {
		if _, _, err := decode(begins, bad); model.ClassOf(err) != model.ErrMalformed {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDecodeBounds(t *testing.T) {
	calls := func(n int) []string {
		var events []string
		for i := range n {
			events = append(events, begin(i, fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"n","input":{}}`, i)))
		}
		return whole("tool_use", events...)
	}
	if a, _, err := decode(calls(model.MaxCalls)...); err != nil || len(model.Calls(a.Parts)) != model.MaxCalls {
		t.Errorf("%d calls: %v", model.MaxCalls, err)
	}
	if _, _, err := decode(calls(model.MaxCalls + 1)...); model.ClassOf(err) != model.ErrMalformed {
		t.Errorf("%d calls: %v", model.MaxCalls+1, err)
	}
	for kind, field := range map[string]string{"text": "text", "thinking": "thinking", "tool_use": "partial_json", "redacted_thinking": "signature"} {
		d := newDecoder("", func(model.Event) error { return nil })
		if err := d.Event(model.SSE{Data: []byte(begin(0, `{"type":"`+kind+`","name":"n","id":"i"}`))}); err != nil {
			t.Fatal(err)
		}
		piece := model.SSE{Data: []byte(more(0, `{"`+field+`":"`+strings.Repeat("x", 512<<10)+`"}`))}
		taken := 0
		for ; d.Event(piece) == nil; taken++ {
		}
		if taken != model.MaxAnswer/(512<<10)-1 { // the block's own beginning counts a little
			t.Errorf("%s: %d pieces of half a megabyte were taken", kind, taken)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(strings.Join(whole("tool_use", begin(0, `{"type":"thinking","thinking":""}`), more(0, `{"thinking":"a"}`), more(0, `{"signature":"s"}`), stop(0),
		begin(1, `{"type":"text","text":"x"}`), begin(2, `{"type":"tool_use","id":"c","name":"n","input":{"a":1}}`), stop(2)), "\n"))
	f.Add(strings.Join(whole("end_turn", begin(0, `{"type":"redacted_thinking","data":"x"}`), begin(0, `[]`), more(1, `{"text":7}`)), "\n"))
	f.Add(`{"type":"error","error":{"type":"overloaded_error"}}`)
	f.Add("null\n[]")
	f.Fuzz(func(t *testing.T, stream string) {
		a, sum, err := decode(strings.Split(stream, "\n")...)
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
		body, err := encode(model.Request{Maker: maker, Messages: []model.Message{assistant(a.Parts...)}}, dialect{})
		if err != nil || !json.Valid(body) {
			t.Fatalf("an answer that was decoded cannot be sent back: %v\n%s", err, body)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var stream strings.Builder
	send := func(name, data string) { fmt.Fprintf(&stream, "event: %s\ndata: %s\n\n", name, data) }
	send("message_start", begins)
	send("content_block_start", begin(0, `{"type":"text","text":""}`))
	for i := range 10_000 {
		send("content_block_delta", more(0, fmt.Sprintf(`{"type":"text_delta","text":"token %d "}`, i)))
	}
	send("content_block_stop", stop(0))
	send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`)
	send("message_stop", ends)
	b.ReportAllocs()
	b.SetBytes(int64(stream.Len()))
	for b.Loop() {
		in := model.NewSSEReader(strings.NewReader(stream.String()))
		d := newDecoder(maker, func(model.Event) error { return nil })
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
