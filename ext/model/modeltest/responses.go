package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object. Keys are written in their order of the alphabet, so that the same script gives the same bytes.
type object = map[string]any

// stream collects named events, numbered as Responses wants it.
type stream struct {
	numbered bool
	events   []string
}

func (s *stream) send(name string, fields object) {
	if fields == nil {
		fields = object{}
	}
	fields["type"] = name
	if s.numbered {
		fields["sequence_number"] = len(s.events)
	}
	s.events = append(s.events, "event: "+name+"\n"+event(fields))
}

// responses writes the reply as events of a response: each item begins, comes in pieces, and is repeated whole at its end; the last
// event repeats all.
func (r Reply) responses(req *Request) []string {
	s := stream{numbered: true}
	state := func(status string, output []object) object {
		return object{
			"id": fmt.Sprintf("resp_%d", req.N), "object": "response", "created_at": created, "model": req.Chat.Model, "status": status,
			"output": output, "error": nil, "incomplete_details": nil, "usage": nil, "parallel_tool_calls": true, "tools": []any{},
			"tool_choice": "auto", "instructions": nil, "metadata": object{}, "temperature": 1, "top_p": 1,
		}
	}
	s.send("response.created", object{"response": state("in_progress", []object{})})
	var output []object
	item := func(begin, end object, deltas func(id string, at int)) {
		at := len(output)
		s.send("response.output_item.added", object{"output_index": at, "item": begin})
		deltas(begin["id"].(string), at)
		s.send("response.output_item.done", object{"output_index": at, "item": end})
		output = append(output, end)
	}
	deltas := 0
	pour := func(name, text string, fields object) {
		for _, p := range pieces(text, r.chunk) {
			f := object{"delta": p}
			for k, v := range fields {
				f[k] = v
			}
			s.send(name, f)
			deltas++
		}
	}
	if r.reasoning != "" {
		id := fmt.Sprintf("rs_%d", req.N)
		end := object{"type": "reasoning", "id": id, "summary": []object{{"type": "summary_text", "text": r.reasoning}}}
		if strings.Contains(string(req.Chat.Fields["include"]), "reasoning.encrypted_content") {
			end["encrypted_content"] = fmt.Sprintf("encrypted-%d", req.N)
		}
		item(object{"type": "reasoning", "id": id, "summary": []object{}}, end, func(id string, at int) {
			where := object{"item_id": id, "output_index": at, "summary_index": 0}
			part := func(text string) object {
				return object{"item_id": id, "output_index": at, "summary_index": 0, "part": object{"type": "summary_text", "text": text}}
			}
			s.send("response.reasoning_summary_part.added", part(""))
			pour("response.reasoning_summary_text.delta", r.reasoning, where)
			s.send("response.reasoning_summary_text.done", object{"item_id": id, "output_index": at, "summary_index": 0, "text": r.reasoning})
			s.send("response.reasoning_summary_part.done", part(r.reasoning))
		})
	}
	if r.text != "" {
		id := fmt.Sprintf("msg_%d", req.N)
		message := func(status string, content ...object) object {
			if content == nil {
				content = []object{}
			}
			return object{"type": "message", "id": id, "role": "assistant", "status": status, "content": content}
		}
		text := object{"type": "output_text", "text": r.text, "annotations": []any{}}
		item(message("in_progress"), message("completed", text), func(id string, at int) {
			where := object{"item_id": id, "output_index": at, "content_index": 0, "logprobs": []any{}}
			part := func(text string) object {
				return object{"item_id": id, "output_index": at, "content_index": 0, "part": object{"type": "output_text", "text": text, "annotations": []any{}}}
			}
			s.send("response.content_part.added", part(""))
			pour("response.output_text.delta", r.text, where)
			s.send("response.output_text.done", object{"item_id": id, "output_index": at, "content_index": 0, "logprobs": []any{}, "text": r.text})
			s.send("response.content_part.done", part(r.text))
		})
	}
	for i, c := range r.calls {
		call := func(status, arguments string) object {
			return object{
				"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", req.N, i+1), "call_id": callID(c, req, i), "name": c.Name,
				"arguments": arguments, "status": status,
			}
		}
		item(call("in_progress", ""), call("completed", c.Arguments), func(id string, at int) {
			pour("response.function_call_arguments.delta", c.Arguments, object{"item_id": id, "output_index": at})
			s.send("response.function_call_arguments.done", object{"item_id": id, "output_index": at, "name": c.Name, "arguments": c.Arguments})
		})
	}
	reason := r.reason()
	if reason == "" {
		return append(s.events, "data: [DONE]\n\n")
	}
	name, end := "response.completed", state("completed", output)
	if reason != "stop" && reason != "tool_calls" {
		if reason == "length" {
			reason = "max_output_tokens"
		}
		name, end = "response.incomplete", state("incomplete", output)
		end["incomplete_details"] = object{"reason": reason}
	}
	if !r.noUsage {
		t := r.tokens(req, deltas)
		end["usage"] = object{
			"input_tokens": t.Prompt, "input_tokens_details": object{"cached_tokens": t.Cached, "cache_write_tokens": t.Written},
			"output_tokens": t.Completion, "output_tokens_details": object{"reasoning_tokens": t.Reasoning}, "total_tokens": t.Prompt + t.Completion,
		}
	}
	s.send(name, object{"response": end})
	return s.events
}

// readResponses takes the body of a request for a response.
func readResponses(body []byte) (Chat, error) {
	var w struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Stream       bool            `json:"stream"`
		MaxOutput    int             `json:"max_output_tokens"`
		CacheKey     string          `json:"prompt_cache_key"`
		Reasoning    struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
		Tools []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return Chat{}, err
	}
	c := Chat{Model: w.Model, Stream: w.Stream, ReasoningEffort: w.Reasoning.Effort, MaxTokens: w.MaxOutput, PromptCacheKey: w.CacheKey}
	if w.Instructions != "" {
		c.Messages = append(c.Messages, Message{Role: "system", Text: w.Instructions})
	}
	for _, t := range w.Tools {
		c.Tools = append(c.Tools, tool(t.Type, t.Name, t.Description, t.Parameters))
	}
	var text string
	if json.Unmarshal(w.Input, &text) == nil {
		c.Messages = append(c.Messages, Message{Role: "user", Text: text})
		return c, nil
	}
	var items []json.RawMessage
	if len(w.Input) > 0 {
		if err := json.Unmarshal(w.Input, &items); err != nil {
			return Chat{}, err
		}
	}
	for _, raw := range items {
		if err := c.addItem(raw); err != nil {
			return Chat{}, err
		}
	}
	return c, nil
}

// addItem adds one item of input to the conversation.
func (c *Chat) addItem(raw json.RawMessage) error {
	var it struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Output    json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(raw, &it); err != nil {
		return err
	}
	switch it.Type {
	case "reasoning":
		a := c.answering()
		a.Reasoning = append(a.Reasoning, raw)
		return nil
	case "function_call":
		a := c.answering()
		a.Calls = append(a.Calls, ToolCall{ID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		return nil
	case "function_call_output":
		c.Messages = append(c.Messages, Message{Role: "tool", ToolCallID: it.CallID})
		return c.Messages[len(c.Messages)-1].read(it.Output)
	default:
		if it.Role == "assistant" {
			return c.answering().read(it.Content)
		}
		c.Messages = append(c.Messages, Message{Role: it.Role})
		return c.Messages[len(c.Messages)-1].read(it.Content)
	}
}

// read adds content that is a string or a list of texts and pictures.
func (msg *Message) read(content json.RawMessage) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		msg.Text += text
		return nil
	}
	var items []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
	}
	if err := json.Unmarshal(content, &items); err != nil {
		return err
	}
	for _, it := range items {
		msg.say(it.Type, it.Text, it.Image)
	}
	return nil
}

func tool(kind, name, description string, parameters json.RawMessage) Tool {
	var t Tool
	t.Type, t.Function.Name, t.Function.Description, t.Function.Parameters = kind, name, description, parameters
	return t
}
