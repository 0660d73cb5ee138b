package modeltest

import (
	"encoding/json"
	"fmt"
)

// messages writes the reply as events of a message: blocks that begin, come in pieces and end.
func (r Reply) messages(req *Request) []string {
	var s stream
	deltas := len(pieces(r.reasoning, r.chunk)) + len(pieces(r.text, r.chunk))
	for _, c := range r.calls {
		deltas += len(pieces(c.Arguments, r.chunk))
	}
	t := r.tokens(req, deltas)
	message := object{
		"id": fmt.Sprintf("msg_%d", req.N), "type": "message", "role": "assistant", "model": req.Chat.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !r.noUsage {
		message["usage"] = object{
			"input_tokens": t.Prompt - t.Cached - t.Written, "cache_read_input_tokens": t.Cached, "cache_creation_input_tokens": t.Written,
			"output_tokens": 1,
		}
	}
	s.send("message_start", object{"message": message})
	blocks := 0
	block := func(begin object, kind, field, text string, more ...object) {
		s.send("content_block_start", object{"index": blocks, "content_block": begin})
		if blocks == 0 {
			s.send("ping", nil)
		}
		for _, p := range pieces(text, r.chunk) {
			s.send("content_block_delta", object{"index": blocks, "delta": object{"type": kind, field: p}})
		}
		for _, d := range more {
			s.send("content_block_delta", object{"index": blocks, "delta": d})
		}
		s.send("content_block_stop", object{"index": blocks})
		blocks++
	}
	if r.reasoning != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", r.reasoning,
			object{"type": "signature_delta", "signature": fmt.Sprintf("signed-%d", req.N)})
	}
	if r.text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", r.text)
	}
	for i, c := range r.calls {
		block(object{"type": "tool_use", "id": callID(c, req, i), "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Arguments)
	}
	if reason := r.reason(); reason != "" {
		words := map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
		if known := words[reason]; known != "" {
			reason = known
		}
		end := object{"delta": object{"stop_reason": reason, "stop_sequence": nil}}
		if !r.noUsage {
			end["usage"] = object{"output_tokens": t.Completion, "output_tokens_details": object{"thinking_tokens": t.Reasoning}}
		}
		s.send("message_delta", end)
	}
	s.send("message_stop", nil)
	return s.events
}

// readMessages takes the body of a request for a message.
func readMessages(body []byte) (Chat, error) {
	var w struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		System    json.RawMessage `json:"system"`
		Stream    bool            `json:"stream"`
		Output    struct {
			Effort string `json:"effort"`
		} `json:"output_config"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return Chat{}, err
	}
	c := Chat{Model: w.Model, Stream: w.Stream, ReasoningEffort: w.Output.Effort, MaxTokens: w.MaxTokens}
	for _, t := range w.Tools {
		c.Tools = append(c.Tools, tool("function", t.Name, t.Description, t.Schema))
	}
	if len(w.System) > 0 {
		if err := c.addBlocks("system", w.System); err != nil {
			return Chat{}, err
		}
	}
	for _, msg := range w.Messages {
		if err := c.addBlocks(msg.Role, msg.Content); err != nil {
			return Chat{}, err
		}
	}
	return c, nil
}

// contentBlock is a block of a message; which fields it has depends on its type.
type contentBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// addBlocks adds one message, which holds a text or blocks: results of tools become messages of their own.
func (c *Chat) addBlocks(role string, content json.RawMessage) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		c.Messages = append(c.Messages, Message{Role: role, Text: text})
		return nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(content, &blocks); err != nil {
		return err
	}
	said := Message{Role: role}
	for _, raw := range blocks {
		var b contentBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			return err
		}
		switch b.Type {
		case "tool_result":
			result := Message{Role: "tool", ToolCallID: b.UseID, IsError: b.IsError}
			var inner []contentBlock
			if json.Unmarshal(b.Content, &result.Text) != nil && json.Unmarshal(b.Content, &inner) != nil {
				return fmt.Errorf("the result %s has no content", b.UseID)
			}
			for _, i := range inner {
				result.say(i.Type, i.Text, i.image())
			}
			c.Messages = append(c.Messages, result)
		case "tool_use":
			said.Calls = append(said.Calls, ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case "thinking", "redacted_thinking":
			said.Reasoning = append(said.Reasoning, raw)
		default:
			said.say(b.Type, b.Text, b.image())
		}
	}
	if said.Kinds != nil || said.Calls != nil || said.Reasoning != nil {
		c.Messages = append(c.Messages, said)
	}
	return nil
}

// image is the block's picture as a data URL; "" when it is none.
func (b *contentBlock) image() string {
	if b.Type != "image" {
		return ""
	}
	return "data:" + b.Source.MediaType + ";base64," + b.Source.Data
}
