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

// decodeChat runs raw events, one JSON document each, through a decoder whose made-up ids are gen1, gen2, ...
func decodeChat(events ...string) (*model.Answer, *wiretest.Tally, error) {
	sum := new(wiretest.Tally)
	d := newChatDecoder("prov/big", sum.Add)
	made := 0
	d.draft.NewID = func() string { made++; return fmt.Sprint("gen", made) }
	for _, e := range events {
		if err := d.Event(model.SSE{Data: []byte(e)}); err != nil {
			return nil, sum, err
		}
	}
	a, err := d.Answer(true)
	return a, sum, err
}

// deltas wraps deltas into chunks and adds a finish reason.
func deltas(reason string, list ...string) []string {
	var out []string
	for _, d := range list {
		out = append(out, `{"id":"x","choices":[{"index":0,"delta":`+d+`,"finish_reason":null}]}`)
	}
	return append(out, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`)
}

// How servers number, name and repeat calls.
func TestChatDecodeCalls(t *testing.T) {
	call := func(fields string) string { return `{"tool_calls":[` + fields + `]}` }
	for _, c := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"by the book, interleaved", []string{
			call(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
			call(`{"index":1,"id":"b","type":"function","function":{"name":"bash","arguments":""}}`),
			call(`{"index":0,"function":{"arguments":"{\"x\""}},{"index":1,"function":{"arguments":"{\"y\""}}`),
			call(`{"index":1,"function":{"arguments":":2}"}}`), call(`{"index":0,"function":{"arguments":":1}"}}`)},
			`a read {"x":1} | b bash {"y":2}`},
		{"numbers that begin at 1 and have gaps", []string{
			call(`{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}`), call(`{"index":7,"id":"b","function":{"name":"bash","arguments":"{}"}}`)},
			`a read {} | b bash {}`},
		{"no numbers, whole calls in one delta", []string{
			call(`{"id":"a","function":{"name":"read","arguments":"{}"}},{"id":"b","function":{"name":"read","arguments":"{}"}}`)},
			`a read {} | b read {}`},
		{"no numbers, in pieces", []string{
			call(`{"id":"a","function":{"name":"read","arguments":"{"}}`), call(`{"function":{"arguments":"}"}}`),
			call(`{"id":"b","function":{"name":"bash","arguments":"["}}`), call(`{"function":{"arguments":"]"}}`)},
			`a read {} | b bash []`},
		{"no numbers, id in each piece", []string{
			call(`{"id":"a","function":{"name":"read","arguments":"{"}}`), call(`{"id":"b","function":{"name":"bash","arguments":"["}}`),
			call(`{"id":"a","function":{"arguments":"}"}}`), call(`{"id":"b","function":{"arguments":"]"}}`)},
			`a read {} | b bash []`},
		{"neither numbers nor ids", []string{
			call(`{"function":{"name":"read","arguments":"{}"}},{"function":{"name":"bash","arguments":"{}"}}`), call(`{"function":{"name":"bash","arguments":"{}"}}`)},
			`gen1 read {} | gen2 bash {} | gen3 bash {}`},
		{"every call numbered 0", []string{
			call(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), call(`{"index":0,"id":"b","function":{"name":"read","arguments":"{"}}`), call(`{"index":0,"function":{"arguments":"}"}}`)},
			`a read {} | b read {}`},
		{"every call numbered 0, no ids", []string{
			call(`{"index":0,"function":{"name":"read","arguments":"{}"}}`), call(`{"index":0,"function":{"name":"read","arguments":"{}"}}`)},
			`gen1 read {} | gen2 read {}`},
		{"id and name in each piece", []string{
			call(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), call(`{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}`)},
			`a read {}`},
		{"a new id in each piece", []string{
			call(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), call(`{"index":0,"id":"b","function":{"arguments":"}"}}`)},
			`a read {}`},
		{"a name in each piece, no ids", []string{
			call(`{"index":0,"function":{"name":"read","arguments":"{"}}`), call(`{"index":0,"function":{"name":"read","arguments":"}"}}`), call(`{"index":0,"function":{"name":"read","arguments":""}}`)},
			`gen1 read {}`},
		{"one id twice", []string{
			call(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), call(`{"index":1,"id":"a","function":{"name":"bash","arguments":"{}"}}`)},
			`a read {} | gen1 bash {}`},
		{"the id comes late", []string{
			call(`{"index":0,"function":{"name":"read","arguments":"{"}}`), call(`{"index":0,"id":"a","function":{"arguments":"}"}}`)},
			`gen1 read {}`},
		{"the name comes late", []string{
			call(`{"index":0,"id":"a","function":{"arguments":"{\"x\":"}}`), call(`{"index":0,"function":{"name":"read","arguments":"1}"}}`)},
			`a read {"x":1}`},
		{"nulls", []string{
			call(`{"index":0,"id":"a","type":null,"function":{"name":"read","arguments":null}}`), call(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`)},
			`a read {}`},
		{"arguments as an object", []string{call(`{"index":"0","id":5,"function":{"name":"read","arguments":{"x":1}}}`)}, `5 read {"x":1}`},
		{"arguments that are no JSON", []string{call(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x"}}`)}, `a read {"x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, sum, err := decodeChat(deltas("tool_calls", c.deltas...)...)
			if err != nil {
				t.Fatal(err)
			}
			sum.Check(t, a)
			var got []string
			for _, x := range model.Calls(a.Parts) {
				got = append(got, x.ID+" "+x.Name+" "+x.Arguments)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " | ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChatDecodeText(t *testing.T) {
	for _, c := range []struct {
		name            string
		deltas          []string
		text, reasoning string
		field           string
	}{
		{"null content", []string{`{"role":"assistant","content":null}`, `{"content":"a"}`, `{}`, `{"content":""}`}, "a", "", ""},
		{"refusal", []string{`{"refusal":"I can"}`, `{"refusal":"not."}`}, "I cannot.", "", ""},
		{"both names of reasoning", []string{`{"reasoning":"a","reasoning_content":"a"}`, `{"reasoning":"b","reasoning_content":"b"}`}, "", "ab", fieldContent},
		{"one name first", []string{`{"reasoning":"a"}`, `{"reasoning":"b","reasoning_content":"b"}`}, "", "ab", fieldPlain},
		{"content items", []string{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`}, "ab", "", ""},
		{"thinking items", []string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"}]}`, `{"content":"b"}`}, "ab", "t", ""},
		{"reasoning as an object", []string{`{"content":"a","reasoning":{"x":1}}`}, "a", `{"x":1}`, fieldPlain},
		{"delta null", []string{`null`, `{"content":"a"}`}, "a", "", ""},
	} {
		a, sum, err := decodeChat(deltas("stop", c.deltas...)...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		sum.Check(t, a)
		field := ""
		if len(a.Parts) > 0 && a.Parts[0].Reasoning != nil {
			field = a.Parts[0].Reasoning.Field
		}
		if sum.Text != c.text || sum.Reasoning != c.reasoning || field != c.field {
			t.Errorf("%s: text %q, reasoning %q in %q", c.name, sum.Text, sum.Reasoning, field)
		}
	}
}

// What does not belong to the one answer asked for, or says nothing, changes nothing.
func TestChatDecodeIgnores(t *testing.T) {
	events := append([]string{
		`{"choices":[],"prompt_filter_results":[]}`, // Azure
		`{"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"a"}}],"error":null,"usage":null}`,
		`{"id":"2","model":"n","choices":[{"index":1,"delta":{"content":"other"}}]}`,
		`{}`, `null`}, deltas("stop")...)
	a, _, err := decodeChat(events...)
	if err != nil || model.PlainText(a.Parts) != "a" || a.ID != "1" || a.Model != "m" {
		t.Errorf("%+v %v", a, err)
	}
}

func TestChatDecodeUsage(t *testing.T) {
	for _, c := range []struct{ usage, want string }{
		{`{"prompt_tokens":100,"completion_tokens":20}`, "100 ? ? 20 ?"},
		{`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":5}}`, "40 60 ? 20 5"},
		{`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10}}`, "30 60 10 20 ?"},
		{`{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, "36 64 ? 20 ?"},
		{`{"prompt_tokens":100,"completion_tokens":20,"cached_tokens":50}`, "50 50 ? 20 ?"},
		{`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":null,"completion_tokens_details":null}`, "100 ? ? 20 ?"},
		{`{"prompt_tokens":10,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":10}}`, "0 10 ? 20 ?"},
		{`{"prompt_tokens":10,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":11}}`, "? 11 ? 20 ?"},
		{`{"prompt_tokens":-1,"completion_tokens":-1}`, "? ? ? ? ?"},
		{`{"prompt_tokens":10.0,"completion_tokens":1.5}`, "10 ? ? ? ?"},
		{`{"prompt_tokens":"many","completion_tokens":2}`, "? ? ? 2 ?"},
		{`{"prompt_tokens":1e300,"completion_tokens":2}`, "? ? ? 2 ?"},
		{`{"prompt_tokens":null,"completion_tokens":null}`, "? ? ? ? ?"},
		{`{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":"none"}`, "7 ? ? 2 ?"},
		{`"x"`, "? ? ? ? ?"},
	} {
		for at, event := range map[string]string{"last": `{"choices":[],"usage":` + c.usage + `}`, "in the choice": `{"choices":[{"index":0,"delta":{},"usage":` + c.usage + `}]}`} {
			a, _, err := decodeChat(append(deltas("stop", `{"content":"a"}`), event)...)
			if err != nil {
				t.Errorf("%s: %v", c.usage, err)
				continue
			}
			if got := wiretest.Counts(a.Usage); got != c.want {
				t.Errorf("%s %s: %s, want %s", c.usage, at, got, c.want)
			}
		}
	}
	a, _, err := decodeChat(append([]string{`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`}, append(deltas("stop"), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9}}`)...)...)
	if err != nil || *a.Usage.Input != 9 {
		t.Errorf("the last report counts: %+v %v", a, err)
	}
}

// reasoning_details are put together again and go back as one list.
func TestChatDecodeDetails(t *testing.T) {
	a, sum, err := decodeChat(deltas("stop",
		`{"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ","index":0,"format":"f","signature":null}]}`,
		`{"reasoning":"me.","reasoning_details":[{"type":"reasoning.text","text":"me.","index":0}]}`,
		`{"reasoning_details":[{"type":"reasoning.text","signature":"s<1>","index":0},{"type":"reasoning.encrypted","data":"AA","id":"r1","index":1}]}`,
		`{"reasoning_details":[{"type":"reasoning.encrypted","data":"BB","index":1},{"type":"reasoning.summary","summary":"S"},{"type":"reasoning.summary","summary":"T"}]}`,
		`{"reasoning_details":"nonsense"}`, `{"reasoning_details":[null,{"type":"reasoning.text","text":7}]}`,
		`{"content":"a"}`)...)
	if err != nil {
		t.Fatal(err)
	}
	sum.Check(t, a)
	want := `[{"format":"f","index":0,"signature":"s<1>","text":"Let me.","type":"reasoning.text"},{"data":"AABB","id":"r1","index":1,"type":"reasoning.encrypted"},` +
		`{"summary":"S","type":"reasoning.summary"},{"summary":"T","type":"reasoning.summary"},{"text":7,"type":"reasoning.text"}]`
	r := a.Parts[0].Reasoning
	if diff := cmp.Diff(want, string(r.Opaque)); diff != "" || r.Text != "Let me." || r.Field != fieldPlain || r.Maker != "prov/big" {
		t.Errorf("%+v\n%s", r, diff)
	}
	body, err := encodeChat(model.Request{Maker: "prov/big", Messages: []model.Message{wiretest.Said(model.RoleAssistant, a.Parts...)}}, dialect{})
	if err != nil || !strings.Contains(string(body), `"reasoning_details":`+want) {
		t.Errorf("%s %v", body, err)
	}
}

// What Gemini gives with a call goes back with it, to the model that made it.
func TestChatDecodeExtraContent(t *testing.T) {
	const signature = `{"google":{"thought_signature":"s<1>"}}`
	a, sum, err := decodeChat(deltas("tool_calls",
		`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"},"extra_content":`+signature+`}]}`,
		`{"tool_calls":[{"index":1,"id":5,"function":{"name":"bash","arguments":"{}"},"extra_content":null}]}`)...)
	if err != nil {
		t.Fatal(err)
	}
	sum.Check(t, a)
	for maker, want := range map[string]int{"prov/big": 1, "prov/small": 0} {
		body, err := encodeChat(model.Request{Maker: maker, Messages: []model.Message{wiretest.Said(model.RoleAssistant, a.Parts...)}}, dialect{})
		if err != nil || strings.Count(string(body), `"extra_content":`+signature) != want || strings.Count(string(body), "extra_content") != want {
			t.Errorf("to %s: %s %v", maker, body, err)
		}
	}
}

func TestChatDecodeBounds(t *testing.T) {
	calls := func(n int) []string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"n","arguments":"{}"}}]}`, i, i))
		}
		return deltas("tool_calls", list...)
	}
	if a, _, err := decodeChat(calls(model.MaxCalls)...); err != nil || len(model.Calls(a.Parts)) != model.MaxCalls {
		t.Errorf("%d calls: %v", model.MaxCalls, err)
	}
	if _, _, err := decodeChat(calls(model.MaxCalls + 1)...); model.ClassOf(err) != model.ErrMalformed || !strings.Contains(err.Error(), "more than 32 tools") {
		t.Errorf("%d calls: %v", model.MaxCalls+1, err)
	}

	const piece = 512 << 10
	for _, field := range []string{"content", fieldContent, fieldPlain, "refusal"} {
		delta := `{"choices":[{"delta":{"` + field + `":"` + strings.Repeat("x", piece) + `"}}]}`
		d := newChatDecoder("", func(model.Event) error { return nil })
		for range model.MaxAnswer / piece {
			if err := d.Event(model.SSE{Data: []byte(delta)}); err != nil {
				t.Fatalf("%s: %v", field, err)
			}
		}
		err := d.Event(model.SSE{Data: []byte(`{"choices":[{"delta":{"content":"x"}}]}`)})
		if model.ClassOf(err) != model.ErrMalformed || !strings.Contains(err.Error(), fmt.Sprintf("larger than %d MiB", model.MaxAnswer>>20)) {
			t.Errorf("%s: a byte above %d: %v", field, model.MaxAnswer, err)
		}
	}
	// Items of reasoning_details count for more than their bytes.
	d := newChatDecoder("", func(model.Event) error { return nil })
	flood := model.SSE{Data: []byte(`{"choices":[{"delta":{"reasoning_details":[` + strings.Repeat(`{},`, 999) + `{}]}}]}`)}
	events := 0
	for ; d.Event(flood) == nil; events++ {
	}
	if events != model.MaxAnswer/(1000*itemCost+3001) {
		t.Errorf("%d events with 1000 items each were taken", events)
	}
}

// Words that a provider puts beside the answer are short and clean, or become so.
func TestChatDecodeWords(t *testing.T) {
	long := strings.Repeat("x", model.MaxWord)
	for said, want := range map[string]string{"stop": "stop", long: long, long + "y": long, `\u001b]0;t\u0007odd`: "odd"} {
		a, _, err := decodeChat(`{"id":"` + said + `","model":"` + said + `","choices":[{"delta":{"content":"a"},"finish_reason":"` + said + `"}]}`)
		if err != nil || a.ID != want || a.Model != want || a.Reason != want {
			t.Errorf("%q: %+v %v", said, a, err)
		}
	}
}

func FuzzChatDecode(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"index":0,"delta":{"content":"a","reasoning":"b"},"finish_reason":"stop"}]}`,
		"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\",\"arguments\":\"{\"}}]}}]}\n{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
		`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"n","arguments":{"x":1}}},{"id":"a","function":{"name":"m"}}]}}]}`,
		`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"t"}]}]}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"index":0,"type":"t","text":"x"}]}}],"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}`,
		`{"error":{"code":502,"message":"x"}}`, `null`, `[]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		a, sum, err := decodeChat(strings.Split(stream, "\n")...)
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
		body, err := encodeChat(model.Request{Maker: "prov/big", Messages: []model.Message{wiretest.Said(model.RoleAssistant, a.Parts...)}}, dialect{})
		if err != nil || !json.Valid(body) {
			t.Fatalf("an answer that was decoded cannot be sent back: %v\n%s", err, body)
		}
	})
}

func BenchmarkChatDecode(b *testing.B) {
	var stream strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&stream, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"big\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token %d \"},\"finish_reason\":null}]}\n\n", i)
	}
	stream.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	b.ReportAllocs()
	b.SetBytes(int64(stream.Len()))
	for b.Loop() {
		in := model.NewSSEReader(strings.NewReader(stream.String()))
		d := newChatDecoder("prov/big", func(model.Event) error { return nil })
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
