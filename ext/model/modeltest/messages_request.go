package modeltest

import (
	"encoding/json"
	"fmt"
)

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
