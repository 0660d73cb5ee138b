package modeltest

import "encoding/json"

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
