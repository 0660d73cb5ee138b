package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest"
)

// Run holds an adapter to everything that is the same on all wires.
func Run(t *testing.T, a Adapter) {
	t.Run("text", a.text)
	t.Run("usage not reported", a.noUsage)
	t.Run("conversation", a.conversation)
	t.Run("finish reasons", a.finishReasons)
	t.Run("no finish reason", a.noFinishReason)
	t.Run("options", a.options)
	t.Run("names by default", a.namesByDefault)
	t.Run("stability", a.stability)
	t.Run("faults", a.faults)
	t.Run("stall", a.stall)
	t.Run("lost tail", a.lostTail)
	t.Run("unreachable", a.unreachable)
	t.Run("cancel", a.cancel)
	t.Run("emit ends the stream", a.emitEnds)
	t.Run("probe", a.probe)
	t.Run("resolve", a.resolve)
}

func (a Adapter) text(t *testing.T) {
	const words = "Grüße, 世界! 👩‍👩‍👧 <b>&amp;</b>\n\n```go\nfmt.Println(\"x\\n\")\n```"
	for _, pieces := range []int{0, 1, 3, 7, 1000} {
		u, s := a.Rig(t, model.Limits{}, modeltest.Say(words).Chunk(2).Pieces(pieces).
			Usage(modeltest.Tokens{Prompt: 100, Cached: 64, Written: 16, Completion: 20, Reasoning: 5}))
		got, err := Ask(t, u, Hello())
		if err != nil {
			t.Fatal(err)
		}
		if said := model.PlainText(got.Parts); said != words || got.Finish != model.FinishComplete || got.Reason == "" || got.ID == "" || got.Model != "big" {
			t.Errorf("pieces of %d bytes: %q %+v", pieces, said, got)
		}
		if n := Counts(got.Usage); n != "20 64 16 20 5" {
			t.Errorf("usage %s", n)
		}
		if r := s.Requests()[0]; r.Wire != a.Wire || !r.Chat.Stream {
			t.Errorf("wire %s, streams %v", r.Wire, r.Chat.Stream)
		}
	}
}

func (a Adapter) noUsage(t *testing.T) {
	u, _ := a.Rig(t, model.Limits{}, modeltest.Say("x").NoUsage())
	got, err := Ask(t, u, Hello())
	if err != nil || got.Usage != (model.Usage{}) {
		t.Errorf("%+v %v", got, err)
	}
}

// A whole turn: the model thinks, speaks and calls two tools at once; one of them shows a picture, and the next request finds most of
// the first one in the cache. Answers, usage and what the server is told in the second request are the same on every wire.
func (a Adapter) conversation(t *testing.T) {
	args := [...]string{`{"path":"ä.go","lines":[1,2]}`, `{"command":"ls -l | wc"}`}
	u, s := a.Rig(t, model.Limits{},
		modeltest.Calls(modeltest.Call("read", args[0]), modeltest.Call("bash", args[1])).WithReasoning("First the file.").WithText("Let me look.").
			Chunk(1).Usage(modeltest.Tokens{Prompt: 1000, Written: 900, Completion: 40, Reasoning: 10}),
		modeltest.Say("Done.").Usage(modeltest.Tokens{Prompt: 1200, Cached: 900, Written: 200, Completion: 5}))
	r := Hello()
	r.System = []string{"You are octavo.", "", "Be brief."}
	r.Tools = []model.ToolSpec{{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "bash"}}
	r.Messages = []model.Message{Said(model.RoleUser, model.Text("What is in it?"), Picture("shot"))}
	first, err := Ask(t, u, r)
	if err != nil {
		t.Fatal(err)
	}
	plain := make([]model.Part, len(first.Parts))
	for i, p := range first.Parts {
		if plain[i] = p; p.Type == model.PartReasoning {
			if p.Reasoning.Maker != "prov/big" || p.Reasoning.Field == "" {
				t.Errorf("reasoning of nobody: %+v", p.Reasoning)
			}
			plain[i].Reasoning = &model.Reasoning{Text: p.Reasoning.Text}
		}
	}
	want := []model.Part{
		Thought(model.Reasoning{Text: "First the file."}), model.Text("Let me look."),
		Calling("call_1_1", "read", args[0]), Calling("call_1_2", "bash", args[1]),
	}
	if diff := cmp.Diff(want, plain); diff != "" || first.Finish != model.FinishCalls || Counts(first.Usage) != "100 0 900 40 10" {
		t.Fatalf("%s, usage %s, parts (-want +got):\n%s", first.Finish, Counts(first.Usage), diff)
	}

	calls := model.Calls(first.Parts)
	r.Messages = append(r.Messages, Said(model.RoleAssistant, first.Parts...),
		Said(model.RoleTool, Result(calls[0], model.Text("contents"), Picture("page")), Result(calls[1])),
		Said(model.RoleUser, model.Text("And be quick.")))
	second, err := Ask(t, u, r)
	if err != nil || model.PlainText(second.Parts) != "Done." || second.Finish != model.FinishComplete || Counts(second.Usage) != "100 900 200 5 0" {
		t.Fatalf("%+v, usage %s, %v", second, Counts(second.Usage), err)
	}
	told := tell(s.Requests()[1].Chat)
	if diff := cmp.Diff([]string{
		"system: You are octavo. Be brief.",
		"user: What is in it? [data:image/png;base64,c2hvdA==]",
		`assistant: Let me look. read(call_1_1 {"path":"ä.go","lines":[1,2]}) bash(call_1_2 {"command":"ls -l | wc"}) thinks`,
		"result call_1_1: contents [data:image/png;base64,cGFnZQ==]",
		"result call_1_2: (no output)",
		"user: And be quick.",
	}, told); diff != "" {
		t.Errorf("the second request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"read", "bash"}, s.Requests()[1].Chat.ToolNames()); diff != "" {
		t.Error(diff)
	}

	// To any other model the same conversation carries no reasoning.
	s.Script(modeltest.Say("ok"))
	r.Maker = "other/big"
	if _, err := Ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	if told := tell(s.Requests()[2].Chat); strings.HasSuffix(told[2], " thinks") {
		t.Errorf("reasoning went to another model: %s", told[2])
	}
}

// tell is a conversation as the server understood it, one line a message. Chat completions have no pictures in results: these follow
// in a user message of their own, which is told as if it were part of the result it names.
func tell(c modeltest.Chat) []string {
	var lines []string
	at := map[string]int{}
	for _, m := range c.Messages {
		line := m.Role + ":"
		if m.Role == "tool" {
			line = "result " + m.ToolCallID + ":"
			at[m.ToolCallID] = len(lines)
		}
		if _, id, ok := strings.Cut(strings.TrimSuffix(m.Text, "):"), "(call "); ok && m.Role == "user" && len(m.Images) > 0 {
			lines[at[id]] += fmt.Sprintf(" %s", m.Images)
			continue
		}
		if m.Text != "" {
			line += " " + strings.Join(strings.Fields(m.Text), " ")
		}
		for _, call := range m.Calls {
			line += fmt.Sprintf(" %s(%s %s)", call.Name, call.ID, call.Arguments)
		}
		if len(m.Images) > 0 {
			line += fmt.Sprintf(" %s", m.Images)
		}
		if len(m.Reasoning) > 0 || m.Fields["reasoning_content"] != nil {
			line += " thinks"
		}
		lines = append(lines, line)
	}
	return lines
}

func (a Adapter) finishReasons(t *testing.T) {
	call := modeltest.Calls(modeltest.Call("read", `{}`))
	for _, c := range []struct {
		reply  modeltest.Reply
		reason string
		want   model.Finish
	}{
		{modeltest.Say("x"), "stop", model.FinishComplete},
		{modeltest.Say(""), "stop", model.FinishComplete},
		{modeltest.Say("x"), "length", model.FinishLength},
		{modeltest.Say("x"), "content_filter", model.FinishFiltered},
		{modeltest.Say("x"), "something_new", model.FinishOther},
		{call, "tool_calls", model.FinishCalls},
		{call, "stop", model.FinishCalls},
		{call, "length", model.FinishLength},
	} {
		u, _ := a.Rig(t, model.Limits{}, c.reply.Finish(c.reason))
		if got, err := Ask(t, u, Hello()); err != nil || got.Finish != c.want || got.Reason == "" {
			t.Errorf("%s: %+v %v, want %s", c.reason, got, err, c.want)
		}
	}
}

// A stream that says it is over, but not why, is an answer when it has one.
func (a Adapter) noFinishReason(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		want  model.Finish
	}{
		{"text", modeltest.Say("x").Finish(""), model.FinishOther},
		{"whole calls", modeltest.Calls(modeltest.Call("read", `{"a":1}`)).Finish(""), model.FinishCalls},
		{"half a call", modeltest.Calls(modeltest.Call("read", `{"a":`)).Finish(""), ""},
		{"nothing", modeltest.Say("").Finish(""), ""},
	} {
		u, _ := a.Rig(t, model.Limits{}, c.reply)
		got, err := Ask(t, u, Hello())
		if c.want == "" {
			Wants(t, err, model.ErrCut, "ended before the answer did")
		} else if err != nil || got.Finish != c.want {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
}

func (a Adapter) options(t *testing.T) {
	u, s := a.Rig(t, model.Limits{}, modeltest.Say("a"))
	r := Hello()
	r.MaxOutput, r.System = 4000, []string{"You are octavo.", "", "Be brief."}
	if _, err := Ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if c := got.Chat; c.MaxTokens != 4000 || c.Messages[0].Role != "system" || strings.Join(strings.Fields(c.Messages[0].Text), " ") != "You are octavo. Be brief." {
		t.Errorf("%s", got.Body)
	}
	for _, field := range []string{"temperature", "top_p", "top_k", "tools"} {
		if got.Chat.Fields[field] != nil {
			t.Errorf("%s is sent though nobody asked for it", field)
		}
	}
}

// A request that names nothing means the upstream's model, and its reasoning is kept for that.
func (a Adapter) namesByDefault(t *testing.T) {
	u, s := a.Rig(t, model.Limits{}, modeltest.Say("x").WithReasoning("r"))
	got, err := Ask(t, u, model.Request{Messages: Hello().Messages})
	if err != nil || s.Requests()[0].Chat.Model != "big" || got.Parts[0].Reasoning.Maker != "prov/big" {
		t.Errorf("%+v %v", got, err)
	}
}

// One request always gives the same bytes and is not changed by it: that is what a prompt cache lives on.
func (a Adapter) stability(t *testing.T) {
	u, s := a.Rig(t, model.Limits{}, modeltest.Say("x"), modeltest.Say("x"))
	r := Long(40)
	before := fmt.Sprintf("%+v", r)
	for range 2 {
		if _, err := Ask(t, u, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Requests(); string(got[0].Body) != string(got[1].Body) || before != fmt.Sprintf("%+v", r) {
		t.Error("two encodings of one request differ, or encoding changed it")
	}
}

// Long is a request with n messages of all kinds.
func Long(n int) model.Request {
	r := model.Request{
		Model: "big", Maker: "prov/big", System: []string{strings.Repeat("Instructions. ", 200)},
		Tools: []model.ToolSpec{{Name: "read", Description: "reads a file", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	for i := 0; len(r.Messages) < n; i++ {
		call := model.ToolCall{ID: fmt.Sprint("call_", i), Name: "read"}
		r.Messages = append(r.Messages,
			Said(model.RoleUser, model.Text("Please look at the file, and say what is wrong with it.")),
			Said(model.RoleAssistant, model.Text("Reading."), Calling(call.ID, "read", `{"path":"main.go"}`)),
			Said(model.RoleTool, Result(call, model.Text(strings.Repeat("func main() { fmt.Println(\"<hello>\") }\n", 20)))),
			Said(model.RoleAssistant, model.Text("Nothing is wrong with it.")))
	}
	r.Messages = r.Messages[:n]
	return r
}
