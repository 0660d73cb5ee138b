package claude

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest/wiretest"
)

const maker = "prov/big"

var (
	user      = func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleUser, parts...) }
	assistant = func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleAssistant, parts...) }
	results   = func(parts ...model.Part) model.Message { return wiretest.Said(model.RoleTool, parts...) }
)

// signedThought is thinking as the decoder leaves it.
func signedThought(field, opaque string) model.Part {
	return wiretest.Thought(model.Reasoning{Text: "t", Field: field, Maker: maker, Opaque: json.RawMessage(opaque)})
}

// marks are what a test of shapes does not look at.
var marks = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral","ttl":"(5m|1h)"\}`)

// Every message shape, as it stands on the wire.
func TestEncodeMessages(t *testing.T) {
	const block = `{"signature":"s","thinking":"t","type":"thinking"}`
	call := model.ToolCall{ID: "c1", Name: "read"}
	failed := func(parts ...model.Part) model.Part {
		p := wiretest.Result(call, parts...)
		p.Result.IsError = true
		return p
	}
	for _, c := range []struct {
		name string
		m    []model.Message
		want string
	}{
		{"text", []model.Message{user(model.Text("a <b> & \u2028"))}, `{"role":"user","content":[{"type":"text","text":"a <b> & \u2028"}]}`},
		{"blank text is left out", []model.Message{user(model.Text("a"), model.Text(" \n"), model.Text("b"))}, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"nothing", []model.Message{user()}, ``},
		{"pictures keep their place", []model.Message{user(model.Text("a"), wiretest.Picture("x"), model.Text("b"))},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}},{"type":"text","text":"b"}]}`},
		{"a picture that is gone", []model.Message{user(wiretest.Picture(""))}, `{"role":"user","content":[{"type":"text","text":"` + model.GoneImage + `"}]}`},
		{"messages of one side become one", []model.Message{user(model.Text("a")), user(model.Text("b")), assistant(model.Text("c")), assistant(model.Text("d"))},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}`},
		{"an answer in its order", []model.Message{assistant(signedThought("thinking", block), model.Text("a"), signedThought("redacted_thinking", `{"type":"redacted_thinking","data":"x"}`), wiretest.Calling("c1", "read", `{"a": 1}`))},
			`{"role":"assistant","content":[` + block + `,{"type":"text","text":"a"},{"type":"redacted_thinking","data":"x"},{"type":"tool_use","id":"c1","name":"read","input":{"a":1}}]}`},
		{"thinking at the end", []model.Message{assistant(model.Text("a"), signedThought("thinking", block))}, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"thinking alone", []model.Message{assistant(signedThought("thinking", block))}, ``},
		{"another model's thinking", []model.Message{assistant(wiretest.Thought(model.Reasoning{Field: "thinking", Maker: "prov/small", Opaque: json.RawMessage(block)}), model.Text("a"))}, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"reasoning of another wire", []model.Message{assistant(signedThought("reasoning_item", block), model.Text("a"))}, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"broken thinking", []model.Message{assistant(signedThought("thinking", `{`), model.Text("a"))}, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`},
		{"arguments", []model.Message{assistant(wiretest.Calling("a", "n", ""), wiretest.Calling("b", "n", `{"broken`), wiretest.Calling("c", "n", `[1]`))},
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{"invalid_arguments":"{\"broken"}},{"type":"tool_use","id":"c","name":"n","input":{"invalid_arguments":"[1]"}}]}`},
		{"results, pictures inside", []model.Message{results(wiretest.Result(call, model.Text("a"), wiretest.Picture("x")), wiretest.Result(model.ToolCall{ID: "c2"}))},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]},` +
				`{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"(no output)"}]}]}`},
		{"an error", []model.Message{results(failed(model.Text("a")))}, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"}],"is_error":true}]}`},
		{"an error with a picture", []model.Message{results(failed(wiretest.Picture("x")))}, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]}]}`},
		{"results come first, in their order", []model.Message{user(model.Text("a")), results(wiretest.Result(call)), results(wiretest.Result(model.ToolCall{ID: "c2"})), user(model.Text("b"))},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"(no output)"}]},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"(no output)"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"ids are made to fit and to differ", []model.Message{assistant(wiretest.Calling("f:0", "a.b", "{}")), results(wiretest.Result(model.ToolCall{ID: "f:0"})), assistant(wiretest.Calling("f:0", "n", "{}")), results(wiretest.Result(model.ToolCall{ID: "f:0"}))},
			`{"role":"assistant","content":[{"type":"tool_use","id":"f_0_7c26090b","name":"a_b_108bf50c","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f_0_7c26090b","content":[{"type":"text","text":"(no output)"}]}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"f_0_2_68b3930a","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f_0_2_68b3930a","content":[{"type":"text","text":"(no output)"}]}]}`},
	} {
		body, err := encode(model.Request{Model: "claude-x", Maker: maker, Messages: c.m}, dialect{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := `{"model":"claude-x","max_tokens":32000,"stream":true,"messages":[` + c.want + `]}`
		if diff := cmp.Diff(want, marks.ReplaceAllString(string(body), "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// The provider itself refuses thinking that it did not sign; others sign nothing.
func TestEncodeUnsigned(t *testing.T) {
	r := model.Request{Model: "m", Maker: maker, Messages: []model.Message{assistant(
		signedThought("thinking", `{"type":"thinking","thinking":"t","signature":""}`), signedThought("redacted_thinking", `{"type":"redacted_thinking","data":"x"}`), model.Text("a"))}}
	for host, want := range map[string]int{"api.anthropic.com": 1, "localhost": 2} {
		body, err := encode(r, dialectOf(host, model.Info{}))
		if err != nil || strings.Count(string(body), `thinking","`) != want {
			t.Errorf("%s: %s %v, want %d blocks of thinking", host, body, err, want)
		}
	}
}

func TestEncodeMarks(t *testing.T) {
	tools := []model.ToolSpec{{Name: "a"}, {Name: "b"}}
	calls := func(n int) (c, r model.Message) {
		c, r = assistant(), results()
		for i := range n {
			id := fmt.Sprint("c", i)
			c.Parts = append(c.Parts, wiretest.Calling(id, "a", "{}"))
			r.Parts = append(r.Parts, wiretest.Result(model.ToolCall{ID: id}))
		}
		return c, r
	}
	few, fewResults := calls(lookback / 2)
	many, manyResults := calls(lookback/2 + 1)
	hi := user(model.Text("hi"))
	for _, c := range []struct {
		name string
		r    model.Request
		want string
	}{
		{"nothing", model.Request{}, ""},
		{"all", model.Request{Tools: tools, System: []string{"s", "t", " "}, Messages: []model.Message{hi}}, `tool b 1h, text t 1h, text hi 5m`},
		{"no tools", model.Request{System: []string{"s"}, Messages: []model.Message{hi, assistant(model.Text("a")), user(model.Text("b"), wiretest.Picture("x"))}}, `text s 1h, image 5m`},
		{"an answer to be continued", model.Request{Tools: tools, Messages: []model.Message{hi, assistant(model.Text("a"))}}, `tool b 1h`},
		{"as many blocks as are looked back over", model.Request{Messages: []model.Message{hi, few, fewResults}}, `tool_result c9 5m`},
		{"more than are looked back over", model.Request{Tools: tools, System: []string{"s"}, Messages: []model.Message{hi, many, manyResults}}, `tool b 1h, text s 1h, text hi 5m, tool_result c10 5m`},
		{"more, and nothing before", model.Request{Messages: []model.Message{many, manyResults}}, `tool_result c10 5m`},
	} {
		body, err := encode(c.r, dialect{})
		if err != nil {
			t.Fatal(err)
		}
		got := marked(t, body)
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" || len(got) > maxMarks {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// marked lists what has marks, in the provider's order: tools, instructions, messages.
func marked(t *testing.T, body []byte) []string {
	type mark struct {
		TTL string `json:"ttl"`
	}
	type item struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Text  string `json:"text"`
		UseID string `json:"tool_use_id"`
		Cache *mark  `json:"cache_control"`
	}
	var r struct {
		Tools, System []item
		Messages      []struct{ Content []item }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	for i := range r.Tools {
		r.Tools[i].Type = "tool"
	}
	all := append(r.Tools, r.System...)
	for _, m := range r.Messages {
		all = append(all, m.Content...)
	}
	var got []string
	for _, b := range all {
		if b.Cache != nil {
			got = append(got, strings.Join(strings.Fields(strings.Join([]string{b.Type, b.Name, b.Text, b.UseID, b.Cache.TTL}, " ")), " "))
		}
	}
	return got
}

func TestEncodeTools(t *testing.T) {
	body, err := encode(model.Request{Model: "m", Tools: []model.ToolSpec{{Name: "b", Parameters: json.RawMessage(` { "z" : 1, "a" : 2 } `)}, {Name: "a", Description: "d"}}}, dialect{})
	want := `{"model":"m","max_tokens":32000,"stream":true,"tools":[{"name":"b","input_schema":{"z":1,"a":2}},{"name":"a","description":"d","input_schema":{"type":"object","properties":{}}}],"messages":[]}`
	if diff := cmp.Diff(want, marks.ReplaceAllString(string(body), "")); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	if _, err := encode(model.Request{Messages: []model.Message{{Role: "system"}}}, dialect{}); err == nil || !strings.Contains(err.Error(), `"system"`) {
		t.Errorf("unknown role: %v", err)
	}
	if _, err := encode(model.Request{Tools: []model.ToolSpec{{Name: "x", Parameters: json.RawMessage(`{`)}}}, dialect{}); err == nil || !strings.Contains(err.Error(), "tool x") {
		t.Errorf("broken schema: %v", err)
	}
}

// But for the marks, which the provider does not count, a longer conversation begins with the shorter one's bytes.
func TestEncodeIsStable(t *testing.T) {
	r := wiretest.Long(50)
	encoded := func() string {
		body, err := encode(r, dialect{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(marks.ReplaceAllString(string(body), ""), `]}`)
	}
	short := encoded()
	r.Messages = append(r.Messages, user(model.Text("more")))
	if long := encoded(); !strings.HasPrefix(long, strings.TrimSuffix(short, `]}`)) {
		t.Error("one more message changed the bytes before it")
	}
}

func BenchmarkEncode(b *testing.B) {
	r := wiretest.Long(10_000)
	b.ReportAllocs()
	for b.Loop() {
		body, err := encode(r, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}
