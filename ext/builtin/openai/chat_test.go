package openai

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

// A whole turn: reasoning and parallel calls come in pieces and go back as they came, results before pictures.
func TestChatToolRound(t *testing.T) {
	for _, field := range []string{fieldContent, fieldPlain} {
		args := []string{`{"path":"ä.go","lines":[1,2]}`, `{"command":"ls -l | wc"}`, ``}
		u, s := overChat.Rig(t, model.Limits{},
			modeltest.Calls(modeltest.Call("read", args[0]), modeltest.Call("bash", args[1]), modeltest.Call("now", args[2])).
				WithReasoning("First the file.").ReasoningField(field).WithText("Let me look.").Chunk(1),
			modeltest.Say("Done."))
		r := wiretest.Hello()
		r.Tools = []model.ToolSpec{{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "bash"}}
		a, err := wiretest.Ask(t, u, r)
		if err != nil {
			t.Fatal(err)
		}
		calls := model.Calls(a.Parts)
		if a.Finish != model.FinishCalls || len(calls) != 3 || calls[0].Arguments != args[0] || calls[1].Arguments != args[1] || calls[2].Arguments != "" || wiretest.Thoughts(a) != "First the file." {
			t.Fatalf("%+v %+v", a, calls)
		}
		picture := wiretest.Picture("png")
		r.Messages = append(r.Messages, wiretest.Said(model.RoleAssistant, a.Parts...), wiretest.Said(model.RoleTool,
			wiretest.Result(calls[0], model.Text("contents"), picture), wiretest.Result(calls[1], picture), wiretest.Result(calls[2])))
		if _, err := wiretest.Ask(t, u, r); err != nil {
			t.Fatal(err)
		}
		got := s.Requests()[1].Chat
		var roles []string
		for _, m := range got.Messages {
			roles = append(roles, m.Role)
		}
		if diff := cmp.Diff([]string{"user", "assistant", "tool", "tool", "tool", "user"}, roles); diff != "" {
			t.Fatal(diff)
		}
		m := got.Messages
		if m[1].Text != "Let me look." || string(m[1].Fields[field]) != `"First the file."` || len(m[1].Fields) != 4 {
			t.Errorf("assistant %+v", m[1].Fields)
		}
		want := []modeltest.ToolCall{{ID: "call_1_1", Name: "read", Arguments: args[0]}, {ID: "call_1_2", Name: "bash", Arguments: args[1]}, {ID: "call_1_3", Name: "now", Arguments: "{}"}}
		if diff := cmp.Diff(want, m[1].Calls); diff != "" {
			t.Error(diff)
		}
		for i, text := range []string{"contents", seePicture, model.NoOutput} {
			if m[2+i].Text != text || m[2+i].ToolCallID != want[i].ID || m[2+i].Kinds != nil {
				t.Errorf("result %d: %+v", i, m[2+i])
			}
		}
		if diff := cmp.Diff([]string{"text", "image_url", "text", "image_url"}, m[5].Kinds); diff != "" || m[5].Images[1] != "data:image/png;base64,cG5n" {
			t.Errorf("pictures %+v\n%s", m[5], diff)
		}
		if diff := cmp.Diff([]string{"read", "bash"}, got.ToolNames()); diff != "" {
			t.Error(diff)
		}

		// To any other model the same conversation carries no reasoning.
		s.Script(modeltest.Say("ok"))
		r.Maker = "other/big"
		if _, err := wiretest.Ask(t, u, r); err != nil {
			t.Fatal(err)
		}
		if f := s.Requests()[2].Chat.Messages[1].Fields; f[field] != nil {
			t.Errorf("reasoning went to another model: %s", f[field])
		}
	}
}

func TestChatFinishReasons(t *testing.T) {
	call := modeltest.Calls(modeltest.Call("read", `{}`))
	for _, c := range []struct {
		reply  modeltest.Reply
		reason string
		want   model.Finish
	}{
		{modeltest.Say("x"), "stop", model.FinishComplete},
		{modeltest.Say("x"), "eos", model.FinishComplete},
		{modeltest.Say(""), "stop", model.FinishComplete},
		{modeltest.Say("x"), "length", model.FinishLength},
		{modeltest.Say("x"), "content_filter", model.FinishFiltered},
		{modeltest.Say("x"), "something_new", model.FinishOther},
		{modeltest.Say("x"), "tool_calls", model.FinishOther},
		{call, "tool_calls", model.FinishCalls},
		{call, "stop", model.FinishCalls},
		{call, "length", model.FinishLength},
	} {
		u, _ := overChat.Rig(t, model.Limits{}, c.reply.Finish(c.reason))
		if a, err := wiretest.Ask(t, u, wiretest.Hello()); err != nil || a.Finish != c.want || a.Reason != c.reason {
			t.Errorf("%s: %+v %v, want %s", c.reason, a, err, c.want)
		}
	}
}

func TestChatRequestOptions(t *testing.T) {
	u, s := overChat.Rig(t, model.Limits{}, modeltest.Say("a"), modeltest.Say("b"))
	r := wiretest.Hello()
	r.System, r.Effort, r.MaxOutput, r.CacheKey = []string{"You are octavo.", "", "Be brief."}, "high", 4000, "session-1"
	if _, err := wiretest.Ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	r.Effort = "off"
	if _, err := wiretest.Ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	c := s.Requests()[0].Chat
	if c.ReasoningEffort != "high" || c.MaxTokens != 4000 || c.MaxCompletionTokens != 0 || c.PromptCacheKey != "" || !c.Stream || !c.StreamOptions.IncludeUsage ||
		c.Messages[0].Role != "system" || c.Messages[0].Text != "You are octavo.\n\nBe brief." || c.Fields["tools"] != nil {
		t.Errorf("%s", s.Requests()[0].Body)
	}
	if got := s.Requests()[1].Chat.ReasoningEffort; got != "none" {
		t.Errorf("off is sent as %q", got)
	}
}

func TestChatFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		class model.ErrorClass
		words string
	}{
		{"ends too early", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"), model.ErrCut, "ended before"},
		{"error inside, overloaded", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"code\":502,\"message\":\"upstream died\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n"), model.ErrOverloaded, "upstream died"},
		{"error inside, text", modeltest.Raw("data: {\"error\":\"" + wiretest.Key + " is odd\"}\n\n"), model.ErrServer, "[redacted] is odd"},
		{"error event", modeltest.Raw("event: error\ndata: {\"message\":\"Context size has been exceeded.\"}\n\n"), model.ErrOverflow, "exceeded"},
		{"error object", modeltest.Raw("data: {\"object\":\"error\",\"message\":\"CUDA out of memory\",\"code\":500}\n\n"), model.ErrServer, "CUDA"},
		{"error without words", modeltest.Say("x").Finish("error"), model.ErrServer, "does not explain"},
		{"nameless call", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"), model.ErrMalformed, "without naming it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, s := overChat.Rig(t, model.Limits{}, c.reply)
			a, err := wiretest.Ask(t, u, wiretest.Hello())
			wiretest.Wants(t, err, c.class, c.words)
			if a != nil || len(s.Requests()) != 1 {
				t.Errorf("answer %v; %d requests, want 1", a, len(s.Requests()))
			}
		})
	}
}

// Once the reason to stop is there, a lost tail costs the usage and not the answer.
func TestChatLostTail(t *testing.T) {
	const said = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"
	for name, reply := range map[string]modeltest.Reply{"cut": modeltest.Raw(said).Cut(1), "silent": modeltest.Raw(said).Stall(1), "no end mark": modeltest.Raw(said)} {
		u, _ := overChat.Rig(t, model.Limits{Idle: 50 * time.Millisecond}, reply)
		if a, err := wiretest.Ask(t, u, wiretest.Hello()); err != nil || a.Finish != model.FinishComplete || a.Usage.Output != nil {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}
