package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest/wiretest"
)

func image(data string) model.Part {
	return model.Part{Type: model.PartImage, Image: &model.Image{MIME: "image/jpeg", Data: []byte(data)}}
}

// Every message shape, as it stands on the wire.
func TestChatEncodeMessages(t *testing.T) {
	const maker = "prov/big"
	call := model.ToolCall{ID: "c1", Name: "read"}
	for _, c := range []struct {
		name string
		m    model.Message
		want string
	}{
		{"text", wiretest.Said(model.RoleUser, model.Text("a <b> & \u2028")), `{"role":"user","content":"a <b> & \u2028"}`},
		{"texts", wiretest.Said(model.RoleUser, model.Text("a"), model.Text(""), model.Text("b")), `{"role":"user","content":"a\nb"}`},
		{"invalid UTF-8", wiretest.Said(model.RoleUser, model.Text("a\xffb")), `{"role":"user","content":"a\ufffdb"}`},
		{"nothing", wiretest.Said(model.RoleUser), ``},
		{"pictures keep their place", wiretest.Said(model.RoleUser, model.Text("a"), image("x"), model.Text("b")),
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,eA=="}},{"type":"text","text":"b"}]}`},
		{"a picture that is gone", wiretest.Said(model.RoleUser, model.Text("a"), image("")), `{"role":"user","content":"a\n` + model.GoneImage + `"}`},
		{"answer", wiretest.Said(model.RoleAssistant, model.Text("a"), model.Text("b")), `{"role":"assistant","content":"ab"}`},
		{"empty answer", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldContent, Maker: maker})), ``},
		{"calls", wiretest.Said(model.RoleAssistant, wiretest.Calling("c1", "read", `{"a": 1}`), wiretest.Calling("c2", "bash", `{"broken`)),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"bash","arguments":"{\"broken"}}]}`},
		{"no arguments", wiretest.Said(model.RoleAssistant, wiretest.Calling("c1", "now", "")),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"now","arguments":"{}"}}]}`},
		{"reasoning_content", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldContent, Maker: maker}), model.Text("a")), `{"role":"assistant","content":"a","reasoning_content":"t"}`},
		{"reasoning", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldPlain, Maker: maker}), model.Text("a")), `{"role":"assistant","content":"a","reasoning":"t"}`},
		{"reasoning_details", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldPlain, Maker: maker, Opaque: json.RawMessage(`[{"signature":"s"}]`)}), model.Text("a")),
			`{"role":"assistant","content":"a","reasoning_details":[{"signature":"s"}]}`},
		{"broken details", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldPlain, Maker: maker, Opaque: json.RawMessage(`[{`)}), model.Text("a")), `{"role":"assistant","content":"a","reasoning":"t"}`},
		{"reasoning of another wire", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: "thinking", Maker: maker, Opaque: json.RawMessage(`{"signature":"s"}`)}), model.Text("a")), `{"role":"assistant","content":"a"}`},
		{"another model's reasoning", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: fieldPlain, Maker: "prov/small", Opaque: json.RawMessage(`[]`)}), model.Text("a")), `{"role":"assistant","content":"a"}`},
		{"a field that is none of the wire's", wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "t", Field: "role", Maker: maker}), model.Text("a")), `{"role":"assistant","content":"a"}`},
		{"result", wiretest.Said(model.RoleTool, wiretest.Result(call, model.Text("a"), model.Text("b"))), `{"role":"tool","content":"a\nb","tool_call_id":"c1"}`},
		{"a result whose picture is gone", wiretest.Said(model.RoleTool, wiretest.Result(call, image(""))), `{"role":"tool","content":"` + model.GoneImage + `","tool_call_id":"c1"}`},
		{"results, then pictures", wiretest.Said(model.RoleTool, wiretest.Result(call, model.Text("a"), image("x")), wiretest.Result(model.ToolCall{ID: "c2", Name: "bash"})),
			`{"role":"tool","content":"a","tool_call_id":"c1"},{"role":"tool","content":"(no output)","tool_call_id":"c2"},` +
				`{"role":"user","content":[{"type":"text","text":"Output of read (call c1):"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,eA=="}}]}`},
	} {
		body, err := encodeChat(model.Request{Model: "m", Maker: maker, Messages: []model.Message{c.m}}, dialect{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := `{"model":"m","messages":[` + c.want + `],"stream":true,"stream_options":{"include_usage":true}}`
		if diff := cmp.Diff(want, string(body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestChatEncodeOptions(t *testing.T) {
	r := model.Request{Model: "m", Effort: "low", MaxOutput: 7, CacheKey: "k", System: []string{"s"}, Tools: []model.ToolSpec{{Name: "b", Parameters: json.RawMessage(` { "z" : 1, "a" : 2 } `)}, {Name: "a", Description: "d"}}}
	const head = `{"model":"m","messages":[{"role":"system","content":"s"}],"tools":[{"type":"function","function":{"name":"b","parameters":{"z":1,"a":2}}},` +
		`{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object","properties":{}}}}],"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low",`
	for host, tail := range map[string]string{
		"api.openai.com":          `"max_completion_tokens":7,"prompt_cache_key":"k"}`,
		"EU.api.openai.com":       `"max_completion_tokens":7,"prompt_cache_key":"k"}`,
		"evil-api.openai.com":     `"max_tokens":7}`,
		"api.openai.com.evil.org": `"max_tokens":7}`,
		"127.0.0.1":               `"max_tokens":7}`,
	} {
		body, err := encodeChat(r, dialectOf(host))
		if diff := cmp.Diff(head+tail, string(body)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", host, err, diff)
		}
	}
}

func TestChatEncodeRefuses(t *testing.T) {
	if _, err := encodeChat(model.Request{Messages: []model.Message{{Role: "system"}}}, dialect{}); err == nil || !strings.Contains(err.Error(), `"system"`) {
		t.Errorf("unknown role: %v", err)
	}
	if _, err := encodeChat(model.Request{Tools: []model.ToolSpec{{Name: "x", Parameters: json.RawMessage(`{`)}}}, dialect{}); err == nil || !strings.Contains(err.Error(), "tool x") {
		t.Errorf("broken schema: %v", err)
	}
}

// One request always gives the same bytes, is not changed by it, and a longer conversation begins with the shorter one's
// bytes: that is what a prompt cache lives on.
func TestChatEncodeIsStable(t *testing.T) {
	r := conversation(50)
	before := fmt.Sprintf("%+v", r)
	first, err := encodeChat(r, dialect{})
	if err != nil {
		t.Fatal(err)
	}
	again, _ := encodeChat(r, dialect{})
	if string(first) != string(again) || before != fmt.Sprintf("%+v", r) {
		t.Error("two encodings of one request differ, or encoding changed it")
	}
	tail := strings.Index(string(first), `],"tools"`)
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], wiretest.Said(model.RoleUser, model.Text("more")))
	longer, _ := encodeChat(r, dialect{})
	if !strings.HasPrefix(string(longer), string(first[:tail])) {
		t.Error("one more message changed the bytes before it")
	}
}

// conversation is a request with n messages of all kinds.
func conversation(n int) model.Request {
	r := model.Request{Model: "m", Maker: "prov/big", System: []string{strings.Repeat("Instructions. ", 200)}, Tools: []model.ToolSpec{{Name: "read", Description: "reads a file", Parameters: json.RawMessage(`{"type":"object"}`)}}}
	for i := 0; len(r.Messages) < n; i++ {
		id := fmt.Sprint("call_", i)
		r.Messages = append(r.Messages,
			wiretest.Said(model.RoleUser, model.Text("Please look at the file, and say what is wrong with it.")),
			wiretest.Said(model.RoleAssistant, wiretest.Thought(model.Reasoning{Text: "I should read it.", Field: fieldContent, Maker: "prov/big"}), model.Text("Reading."), wiretest.Calling(id, "read", `{"path":"main.go"}`)),
			wiretest.Said(model.RoleTool, wiretest.Result(model.ToolCall{ID: id, Name: "read"}, model.Text(strings.Repeat("func main() { fmt.Println(\"<hello>\") }\n", 20)))),
			wiretest.Said(model.RoleAssistant, model.Text("Nothing is wrong with it.")))
	}
	r.Messages = r.Messages[:n]
	return r
}

func BenchmarkChatEncode(b *testing.B) {
	r := conversation(10_000)
	b.ReportAllocs()
	for b.Loop() {
		body, err := encodeChat(r, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

func BenchmarkChatEncodePictures(b *testing.B) {
	r := conversation(8)
	for range 8 {
		r.Messages = append(r.Messages, wiretest.Said(model.RoleUser, image(strings.Repeat("x", 1<<20))))
	}
	b.ReportAllocs()
	for b.Loop() {
		body, err := encodeChat(r, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}
