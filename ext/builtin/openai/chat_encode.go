package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"octavo/ext/model"
)

// The request as the wire has it. Order of fields is order on the wire, which is what makes two encodings of one request equal.
type (
	chatRequest struct {
		Model               string         `json:"model"`
		Messages            []chatMessage  `json:"messages"`
		Tools               []chatTool     `json:"tools,omitempty"`
		Stream              bool           `json:"stream"`
		StreamOptions       *streamOptions `json:"stream_options"`
		Effort              string         `json:"reasoning_effort,omitempty"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	// chatMessage has every field of every role. Content is a string, []chatItem, or nil for null.
	chatMessage struct {
		Role             string          `json:"role"`
		Content          any             `json:"content"`
		ReasoningContent string          `json:"reasoning_content,omitempty"`
		Reasoning        string          `json:"reasoning,omitempty"`
		ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
		ToolCalls        []chatCall      `json:"tool_calls,omitempty"`
		ToolCallID       string          `json:"tool_call_id,omitempty"`
	}
	chatItem struct {
		Type     string     `json:"type"`
		Text     string     `json:"text,omitempty"`
		ImageURL *chatImage `json:"image_url,omitempty"`
	}
	chatImage struct {
		URL string `json:"url"`
	}
	chatCall struct {
		ID       string          `json:"id"`
		Type     string          `json:"type"`
		Function chatFunction    `json:"function"`
		Extra    json.RawMessage `json:"extra_content,omitempty"`
	}
	chatFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatTool struct {
		Type     string   `json:"type"`
		Function toolSpec `json:"function"`
	}
	toolSpec struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// The fields that carry reasoning, in a delta and back in a message.
const (
	fieldContent = "reasoning_content" // DeepSeek, llama.cpp, vLLM, LM Studio, Moonshot
	fieldPlain   = "reasoning"         // OpenRouter, Ollama, Groq, newer vLLM
	// Opaque reasoning is the list called reasoning_details: OpenRouter's signed and encrypted items.
)

// fieldExtra carries what Gemini gives with a call and wants back.
const fieldExtra = "extra_content"

// seePicture is the output of a tool that showed only pictures.
const seePicture = "(the output is a picture; it follows)"

// encodeChat is the request's body.
func encodeChat(r model.Request, d dialect) ([]byte, error) {
	out := chatRequest{
		Model:         r.Model,
		Messages:      make([]chatMessage, 0, len(r.Messages)+1),
		Stream:        true,
		StreamOptions: &streamOptions{IncludeUsage: true},
		Effort:        effort(r.Effort),
	}
	if d.official {
		out.MaxCompletionTokens, out.PromptCacheKey = r.MaxOutput, r.CacheKey
	} else {
		out.MaxTokens = r.MaxOutput
	}
	if system := model.JoinBlocks(r.System); system != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: system})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case model.RoleUser:
			out.Messages = appendUser(out.Messages, m.Parts)
		case model.RoleAssistant:
			out.Messages = appendAssistant(out.Messages, m.Parts, r.Maker)
		case model.RoleTool:
			out.Messages = appendResults(out.Messages, m.Parts)
		default:
			return nil, fmt.Errorf("a message has the unknown role %q", m.Role)
		}
	}
	for _, t := range r.Tools {
		params, err := t.Schema()
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, chatTool{Type: "function", Function: toolSpec{t.Name, t.Description, params}})
	}
	return model.EncodeJSON(out)
}

// appendUser adds a user message: a plain string when it is all text, which every server takes, else a list in order.
func appendUser(to []chatMessage, parts []model.Part) []chatMessage {
	var items []chatItem
	pictures := false
	for _, p := range parts {
		switch {
		case p.Type == model.PartText && p.Text != "":
			items = append(items, chatItem{Type: "text", Text: p.Text})
		case p.Type == model.PartImage && p.Image != nil:
			item := picture(p.Image)
			pictures = pictures || item.ImageURL != nil
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return to
	}
	if pictures {
		return append(to, chatMessage{Role: "user", Content: items})
	}
	return append(to, chatMessage{Role: "user", Content: joinText(items)})
}

// appendAssistant adds an assistant message. Its reasoning goes along only to the model that made it. One that neither says nor
// calls anything is left out: servers refuse it.
func appendAssistant(to []chatMessage, parts []model.Part, maker string) []chatMessage {
	m := chatMessage{Role: "assistant"}
	if said := model.PlainText(parts); said != "" {
		m.Content = said
	}
	for _, p := range parts {
		switch {
		case p.Type == model.PartReasoning && p.Reasoning != nil && p.Reasoning.Maker == maker:
			m.addReasoning(p.Reasoning)
		case p.Type == model.PartCall && p.Call != nil:
			args := p.Call.Arguments
			if args == "" {
				args = "{}" // a call without arguments: nothing is no JSON, and several servers parse what they get back
			}
			m.ToolCalls = append(m.ToolCalls, chatCall{p.Call.ID, "function", chatFunction{p.Call.Name, args}, p.Opaque.For(maker, fieldExtra)})
		}
	}
	if m.Content == nil && len(m.ToolCalls) == 0 {
		return to
	}
	return append(to, m)
}

// addReasoning puts reasoning under the name it came with. A name that is not one of the wire's own is never sent.
func (m *chatMessage) addReasoning(r *model.Reasoning) {
	if len(r.Opaque) > 0 && r.Opaque[0] == '[' && json.Valid(r.Opaque) {
		m.ReasoningDetails = r.Opaque // says what the text says, and is what the signature covers
		return
	}
	switch r.Field {
	case fieldContent:
		m.ReasoningContent += r.Text
	case fieldPlain:
		m.Reasoning += r.Text
	}
}

// appendResults adds every result as a tool message and then, since these hold text only, one user message with all pictures:
// anywhere between two tool messages strict servers refuse it (deps.md 7).
func appendResults(to []chatMessage, parts []model.Part) []chatMessage {
	var pictures []chatItem
	for _, p := range parts {
		if p.Type != model.PartResult || p.Result == nil {
			continue
		}
		var said []chatItem
		shown := false
		for _, rp := range p.Result.Parts {
			switch {
			case rp.Type == model.PartText && rp.Text != "":
				said = append(said, chatItem{Type: "text", Text: rp.Text})
			case rp.Type == model.PartImage && rp.Image != nil:
				item := picture(rp.Image)
				if item.ImageURL == nil {
					said = append(said, item)
					continue
				}
				if !shown {
					pictures = append(pictures, chatItem{Type: "text", Text: fmt.Sprintf("Output of %s (call %s):", p.Result.Name, p.Result.ID)})
				}
				shown = true
				pictures = append(pictures, item)
			}
		}
		content := joinText(said)
		switch {
		case content != "":
		case shown:
			content = seePicture
		default:
			content = model.NoOutput // some servers take an empty message for a missing one
		}
		to = append(to, chatMessage{Role: "tool", Content: content, ToolCallID: p.Result.ID})
	}
	if len(pictures) > 0 {
		to = append(to, chatMessage{Role: "user", Content: pictures})
	}
	return to
}

// picture is an image as a data URL, or words where its bytes are gone.
func picture(i *model.Image) chatItem {
	if len(i.Data) == 0 {
		return chatItem{Type: "text", Text: model.GoneImage}
	}
	return chatItem{Type: "image_url", ImageURL: &chatImage{URL: i.DataURL()}}
}

// joinText joins text items, each on its own line.
func joinText(items []chatItem) string {
	if len(items) == 1 {
		return items[0].Text
	}
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = it.Text
	}
	return strings.Join(texts, "\n")
}
