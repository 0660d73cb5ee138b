package modeltest

import (
	"encoding/json"
	"fmt"
)

// The chunks of a chat completion, in the order in which clients expect their fields.
type (
	chunk struct {
		ID      string   `json:"id"`
		Object  string   `json:"object"`
		Created int64    `json:"created"`
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   *usage   `json:"usage,omitempty"`
	}
	choice struct {
		Index  int     `json:"index"`
		Delta  any     `json:"delta"`
		Finish *string `json:"finish_reason"`
	}
	callDelta struct {
		Index    int           `json:"index"`
		ID       string        `json:"id,omitempty"`
		Type     string        `json:"type,omitempty"`
		Function functionDelta `json:"function"`
	}
	functionDelta struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	}
	usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens,omitempty"`
		} `json:"prompt_tokens_details"`
		Output struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
)

// created is the time every answer claims, so that the same script gives the same bytes.
const created = 1700000000

// chat writes the reply as server-sent events.
func (r Reply) chat(req *Request) []string {
	head := chunk{ID: fmt.Sprintf("chatcmpl-%d", req.N), Object: "chat.completion.chunk", Created: created, Model: req.Chat.Model}
	var events []string
	send := func(delta any, finish *string) {
		c := head
		c.Choices = []choice{{Delta: delta, Finish: finish}}
		events = append(events, event(c))
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil)
	field := r.field
	if field == "" {
		field = "reasoning_content"
	}
	for _, p := range pieces(r.reasoning, r.chunk) {
		send(map[string]string{field: p}, nil)
	}
	for _, p := range pieces(r.text, r.chunk) {
		send(map[string]string{"content": p}, nil)
	}
	for i, c := range r.calls {
		first := callDelta{Index: i, ID: callID(c, req, i), Type: "function", Function: functionDelta{Name: c.Name}}
		send(map[string]any{"tool_calls": []callDelta{first}}, nil)
		for _, p := range pieces(c.Arguments, r.chunk) {
			send(map[string]any{"tool_calls": []callDelta{{Index: i, Function: functionDelta{Arguments: p}}}}, nil)
		}
	}
	finish := r.reason()
	if finish != "" {
		send(struct{}{}, &finish)
	}
	if req.Chat.StreamOptions.IncludeUsage && !r.noUsage {
		last := head
		last.Choices = []choice{}
		t := r.tokens(req, len(events)-2)
		last.Usage = &usage{Prompt: t.Prompt, Completion: t.Completion, Total: t.Prompt + t.Completion}
		last.Usage.Details.Cached, last.Usage.Details.Written, last.Usage.Output.Reasoning = t.Cached, t.Written, t.Reasoning
		events = append(events, event(last))
	}
	return append(events, "data: [DONE]\n\n")
}

// event frames a value. Marshalling plain structs of strings and numbers cannot fail.
func event(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return "data: " + string(b) + "\n\n"
}
