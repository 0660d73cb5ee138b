package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest/wiretest"
)

// Every item of input, as it stands on the wire.
func TestResponsesEncodeInput(t *testing.T) {
	const maker = "prov/big"
	const item = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`
	reasoned := func(opaque string) model.Part {
		return wiretest.Thought(model.Reasoning{Text: "t", Field: fieldItem, Maker: maker, Opaque: json.RawMessage(opaque)})
	}
	phased := func(by, data string) model.Part {
		p := model.Text("a")
		p.Opaque = &model.Opaque{Field: fieldPhase, Data: json.RawMessage(data), Maker: by}
		return p
	}
	user := func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleUser, parts...) }
	assistant := func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleAssistant, parts...) }
	results := func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleTool, parts...) }
	const said = `{"type":"message","role":"assistant","content":"a"}`
	call := model.ToolCall{ID: "c1", Name: "read"}
	for _, c := range []struct {
		name string
		m    []model.Message
		want string
	}{
		{"text", []model.Message{user(model.Text("a <b> & \u2028"))}, `{"type":"message","role":"user","content":[{"type":"input_text","text":"a <b> & \u2028"}]}`},
		{"nothing", []model.Message{user(), assistant()}, ``},
		{"pictures keep their place", []model.Message{user(model.Text("a"), wiretest.Picture("x"), model.Text("b"), wiretest.Picture(""))},
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,eA==","detail":"auto"},{"type":"input_text","text":"b"},{"type":"input_text","text":"` + model.GoneImage + `"}]}`},
		{"an answer in its order", []model.Message{assistant(reasoned(item), model.Text("a"), reasoned(item), wiretest.Calling("c1", "read", `{"a": 1}`), wiretest.Calling("c2", "bash", `{"broken`))},
			item + `,` + said + `,` + item + `,{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"a\": 1}"},{"type":"function_call","call_id":"c2","name":"bash","arguments":"{\"broken"}`},
		{"no arguments", []model.Message{assistant(wiretest.Calling("c1", "now", ""))}, `{"type":"function_call","call_id":"c1","name":"now","arguments":"{}"}`},
		{"reasoning that led to nothing", []model.Message{assistant(model.Text("a"), reasoned(item))}, said},
		{"reasoning alone", []model.Message{assistant(reasoned(item))}, ``},
		{"reasoning with its text", []model.Message{assistant(reasoned(`{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"t"}]}`), model.Text("a"))},
			`{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"t"}]},` + said},
		{"reasoning that only the server could know", []model.Message{assistant(reasoned(`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":null}`), model.Text("a"))}, said},
		{"broken reasoning", []model.Message{assistant(reasoned(`{`), model.Text("a"))}, said},
		{"another model's reasoning", []model.Message{assistant(wiretest.Thought(model.Reasoning{Field: fieldItem, Maker: "prov/small", Opaque: json.RawMessage(item)}), model.Text("a"))}, said},
		{"reasoning of another wire", []model.Message{assistant(wiretest.Thought(model.Reasoning{Text: "t", Field: fieldContent, Maker: maker}), model.Text("a"))}, said},
		{"a phase", []model.Message{assistant(phased(maker, `"commentary"`), phased("prov/small", `"commentary"`), phased(maker, `"comm`))},
			`{"type":"message","role":"assistant","content":"a","phase":"commentary"},` + said + `,` + said},
		{"results", []model.Message{results(wiretest.Result(call, model.Text("a"), model.Text("b")), wiretest.Result(model.ToolCall{ID: "c2"}), wiretest.Result(model.ToolCall{ID: "c3"}, wiretest.Picture("")))},
			`{"type":"function_call_output","call_id":"c1","output":"a\nb"},{"type":"function_call_output","call_id":"c2","output":"(no output)"},{"type":"function_call_output","call_id":"c3","output":"` + model.GoneImage + `"}`},
		{"pictures inside a result", []model.Message{results(wiretest.Result(call, model.Text("a"), wiretest.Picture("x")))},
			`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,eA==","detail":"auto"}]}`},
		{"ids are made to fit", []model.Message{assistant(wiretest.Calling(strings.Repeat("x", 65), "a.b", "{}")), results(wiretest.Result(model.ToolCall{ID: strings.Repeat("x", 65)}))},
			`{"type":"function_call","call_id":"` + strings.Repeat("x", 55) + `_b42b1787","name":"a_b_108bf50c","arguments":"{}"},{"type":"function_call_output","call_id":"` + strings.Repeat("x", 55) + `_b42b1787","output":"(no output)"}`},
	} {
		body, err := encodeResponses(model.Request{Model: "m", Maker: maker, Messages: c.m}, dialect{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[` + c.want + `]}`
		if diff := cmp.Diff(want, string(body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestResponsesEncodeOptions(t *testing.T) {
	r := model.Request{
		Effort: "low", MaxOutput: 7, CacheKey: "k", System: []string{"s", "", "t"},
		Tools: []model.ToolSpec{{Name: "b", Parameters: json.RawMessage(` { "z" : 1, "a" : 2 } `)}, {Name: "a", Description: "d"}},
	}
	const include = `"include":["reasoning.encrypted_content"],`
	for _, c := range []struct{ host, model, effort, include, reasoning, key string }{
		{"api.openai.com", "gpt-6", "low", include, `"reasoning":{"effort":"low","summary":"auto"},`, `"prompt_cache_key":"k",`},
		{"api.openai.com", "o3", "off", include, `"reasoning":{"effort":"none"},`, `"prompt_cache_key":"k",`},
		{"api.openai.com", "gpt-4o-mini", "", ``, ``, `"prompt_cache_key":"k",`},
		{"api.openai.com", "ft:gpt-4.1:me", "", ``, ``, `"prompt_cache_key":"k",`},
		{"127.0.0.1", "gpt-4o-mini", "xhigh", include, `"reasoning":{"effort":"xhigh","summary":"auto"},`, ``},
		{"api.openai.com.evil.org", "m", "", include, ``, ``},
	} {
		r.Model, r.Effort = c.model, c.effort
		body, err := encodeResponses(r, dialectOf(c.host))
		want := `{"model":"` + c.model + `","stream":true,"store":false,` + c.include + c.reasoning + `"max_output_tokens":7,` + c.key + `"instructions":"s\n\nt",` +
			`"tools":[{"type":"function","name":"b","parameters":{"z":1,"a":2},"strict":false},{"type":"function","name":"a","description":"d","parameters":{"type":"object","properties":{}},"strict":false}],"input":[]}`
		if diff := cmp.Diff(want, string(body)); diff != "" || err != nil {
			t.Errorf("%s %s: %v\n%s", c.host, c.model, err, diff)
		}
	}
}

func TestResponsesEncodeRefuses(t *testing.T) {
	if _, err := encodeResponses(model.Request{Messages: []model.Message{{Role: "system"}}}, dialect{}); err == nil || !strings.Contains(err.Error(), `"system"`) {
		t.Errorf("unknown role: %v", err)
	}
	if _, err := encodeResponses(model.Request{Tools: []model.ToolSpec{{Name: "x", Parameters: json.RawMessage(`{`)}}}, dialect{}); err == nil || !strings.Contains(err.Error(), "tool x") {
		t.Errorf("broken schema: %v", err)
	}
}

// A longer conversation begins with the shorter one's bytes: that is what a prompt cache lives on.
func TestResponsesEncodeIsStable(t *testing.T) {
	r := wiretest.Long(50)
	short, err := encodeResponses(r, dialect{})
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, wiretest.Said(model.RoleUser, model.Text("more")))
	if long, _ := encodeResponses(r, dialect{}); !strings.HasPrefix(string(long), strings.TrimSuffix(string(short), `]}`)) {
		t.Error("one more message changed the bytes before it")
	}
}

func BenchmarkResponsesEncode(b *testing.B) {
	r := wiretest.Long(10_000)
	b.ReportAllocs()
	for b.Loop() {
		body, err := encodeResponses(r, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}
