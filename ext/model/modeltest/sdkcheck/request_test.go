package sdkcheck

import (
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"octavo/ext"
	"octavo/ext/builtin/claude"
	ours "octavo/ext/builtin/openai"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

// wire is one of octavo's wires with what the official client has for it.
type wire struct {
	wiretest.Adapter
	model  string // one that octavo tells how to think
	ask    func(*testing.T, *modeltest.Server) answer
	params func() any // what the official client would write the request from
}

var wires = []wire{
	{wiretest.Adapter{New: ours.New, Name: ours.Wire, Wire: modeltest.WireChat}, "gpt-6", askChat, func() any { return new(openai.ChatCompletionNewParams) }},
	{wiretest.Adapter{New: ours.New, Name: ours.ResponsesWire, Wire: modeltest.WireResponses}, "gpt-6", askResponses, func() any { return new(responses.ResponseNewParams) }},
	{wiretest.Adapter{New: claude.New, Name: claude.Wire, Wire: modeltest.WireMessages}, "claude-sonnet-5", askMessages, func() any { return new(anthropic.MessageNewParams) }},
	{wiretest.Adapter{New: claude.New, Name: claude.Wire, Wire: modeltest.WireMessages}, "claude-sonnet-4-5", askMessages, func() any { return new(anthropic.MessageNewParams) }},
}

// Everything that octavo sends in a full conversation is known to the official client: decoded into its parameters and written again,
// nothing is lost and nothing changes.
func TestRequests(t *testing.T) {
	for _, w := range wires {
		t.Run(w.Name+"/"+w.model, func(t *testing.T) {
			s := modeltest.New(t)
			s.Script(modeltest.Calls(modeltest.Call("read", `{"path":"a"}`), modeltest.Call("bash", `{"command":"ls"}`)).WithReasoning("Hm.").WithText("I look."), modeltest.Say("Done."))
			client := model.NewClient(model.Limits{})
			defer client.Close()
			u := w.Resolve(t, client, ext.Profile{Name: "prov", Endpoint: s.URL()}, w.model)
			r := model.Request{
				System: []string{"You are octavo.", "Be brief."}, Effort: "high", MaxOutput: 9000,
				Tools: []model.ToolSpec{
					{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)}, {Name: "bash"}},
				Messages: []model.Message{wiretest.Said(model.RoleUser, model.Text("What is this?"), wiretest.Picture("png"))},
			}
			a, err := wiretest.Ask(t, u, r)
			if err != nil {
				t.Fatal(err)
			}
			calls := model.Calls(a.Parts)
			failed := wiretest.Result(calls[1], model.Text("no such file"))
			failed.Result.IsError = true
			r.Messages = append(r.Messages, wiretest.Said(model.RoleAssistant, a.Parts...),
				wiretest.Said(model.RoleTool, wiretest.Result(calls[0], model.Text("contents"), wiretest.Picture("page")), failed), wiretest.Said(model.RoleUser, model.Text("Go on.")))
			if _, err := wiretest.Ask(t, u, r); err != nil {
				t.Fatal(err)
			}
			for i, sent := range s.Requests() {
				if lost, err := lose(w, sent.Body); err != nil || lost != "" {
					t.Errorf("request %d: %v\nwhat the official client makes of it (-octavo +official):\n%s", i+1, err, lost)
				}
			}
			// The comparison notices what a client does not know, deep inside as well.
			var body map[string]any
			if err := json.Unmarshal(s.Requests()[1].Body, &body); err != nil {
				t.Fatal(err)
			}
			for _, list := range []string{"messages", "input"} {
				if items, ok := body[list].([]any); ok {
					items[0].(map[string]any)["unheard_of"] = true
				}
			}
			odd, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			if lost, err := lose(w, odd); err == nil && lost == "" {
				t.Error("a field that no client knows came through the comparison")
			}
		})
	}
}

// lose is what of a body is lost when the official client reads and writes it. Left out are stream, which clients set by the method that
// is called, and the reasoning of chat completions, which OpenAI does not have.
func lose(w wire, body []byte) (string, error) {
	params := w.params()
	if err := json.Unmarshal(body, params); err != nil {
		return "", err
	}
	again, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	var have, got map[string]any
	if err := json.Unmarshal(body, &have); err != nil {
		return "", err
	}
	if err := json.Unmarshal(again, &got); err != nil {
		return "", err
	}
	delete(have, "stream")
	delete(got, "stream")
	if messages, ok := have["messages"].([]any); ok && w.Wire == modeltest.WireChat {
		for _, m := range messages {
			delete(m.(map[string]any), "reasoning_content")
		}
	}
	return cmp.Diff(have, got), nil
}

// sealOf is the part of opaque reasoning that only the provider can make.
func sealOf(opaque json.RawMessage) string {
	var o struct {
		Signature string `json:"signature"`
		Encrypted string `json:"encrypted_content"`
	}
	_ = json.Unmarshal(opaque, &o) // of another shape: none
	return o.Signature + o.Encrypted
}

func unquote(t *testing.T, raw string) string {
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
