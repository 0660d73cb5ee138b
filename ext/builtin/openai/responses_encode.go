package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"octavo/ext/model"
)

// The request as the wire has it; order of fields is order on the wire.
type (
	respRequest struct {
		Model        string         `json:"model"`
		Stream       bool           `json:"stream"`
		Store        bool           `json:"store"` // false: the conversation is octavo's to keep
		Include      []string       `json:"include,omitempty"`
		Reasoning    *respReasoning `json:"reasoning,omitempty"`
		MaxOutput    int            `json:"max_output_tokens,omitempty"`
		CacheKey     string         `json:"prompt_cache_key,omitempty"`
		Instructions string         `json:"instructions,omitempty"`
		Tools        []respTool     `json:"tools,omitempty"`
		Input        []any          `json:"input"` // respMessage, respCall, respOutput, or a reasoning item as it came
	}
	respReasoning struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary,omitempty"`
	}
	respTool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"` // without it the server takes a schema for strict and may refuse it
	}
	// respMessage is what a user or the model said. Content is a string or a []respContent.
	respMessage struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content any             `json:"content"`
		Phase   json.RawMessage `json:"phase,omitempty"`
	}
	respContent struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
		Detail   string `json:"detail,omitempty"`
	}
	respCall struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	// respOutput is a tool's result. Output is a string or, with pictures, a []respContent.
	respOutput struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"`
	}
)

const (
	// fieldItem marks reasoning that is an item of this wire, to be sent back whole.
	fieldItem = "reasoning_item"
	// fieldPhase is what newer models give with a text, commentary or final_answer, and read again in the next request.
	fieldPhase = "phase"

	encryptedContent = "reasoning.encrypted_content"

	maxCallID = 64 // characters of a call_id
	maxName   = 64 // characters of a function's name
)

// encodeResponses is the request's body.
func encodeResponses(r model.Request, d dialect) ([]byte, error) {
	out := respRequest{
		Model:        r.Model,
		Stream:       true,
		MaxOutput:    r.MaxOutput,
		Instructions: model.JoinBlocks(r.System),
		Input:        make([]any, 0, len(r.Messages)),
	}
	if d.official {
		out.CacheKey = r.CacheKey
	}
	if !d.official || mayReason(r.Model) {
		out.Include = []string{encryptedContent}
	}
	switch level := effort(r.Effort); level {
	case "":
	case "none":
		out.Reasoning = &respReasoning{Effort: level}
	default:
		out.Reasoning = &respReasoning{Effort: level, Summary: "auto"}
	}
	in := respInput{items: out.Input, maker: r.Maker, ids: model.CallIDs{Max: maxCallID}}
	for _, m := range r.Messages {
		switch m.Role {
		case model.RoleUser:
			in.user(m.Parts)
		case model.RoleAssistant:
			in.assistant(m.Parts)
		case model.RoleTool:
			in.results(m.Parts)
		default:
			return nil, fmt.Errorf("a message has the unknown role %q", m.Role)
		}
	}
	out.Input = in.items
	for _, t := range r.Tools {
		params, err := t.Schema()
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, respTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: params})
	}
	return model.EncodeJSON(out)
}

// mayReason reports whether one of OpenAI's own models may reason. The old ones refuse to be asked for encrypted reasoning.
func mayReason(name string) bool {
	for _, old := range [...]string{"gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-3", "ft:gpt-4"} {
		if strings.HasPrefix(name, old) {
			return false
		}
	}
	return true
}

// respInput is the conversation as a list of items.
type respInput struct {
	items []any
	maker string
	ids   model.CallIDs
}

func (in *respInput) user(parts []model.Part) {
	if content := respContents(parts); len(content) > 0 {
		in.items = append(in.items, respMessage{Type: "message", Role: "user", Content: content})
	}
}

// assistant adds what a model said, thought and called, in its order. Reasoning goes along only to the model that made it, and
// only in front of something: the server refuses an item of reasoning without the item it led to.
func (in *respInput) assistant(parts []model.Part) {
	last := len(in.items) // after the newest item that is no reasoning
	for _, p := range parts {
		switch {
		case p.Type == model.PartReasoning && p.Reasoning != nil:
			if raw := reasoningItem(p.Reasoning, in.maker); raw != nil {
				in.items = append(in.items, raw)
			}
			continue
		case p.Type == model.PartText && p.Text != "":
			in.items = append(in.items, respMessage{Type: "message", Role: "assistant", Content: p.Text, Phase: p.Opaque.For(in.maker, fieldPhase)})
		case p.Type == model.PartCall && p.Call != nil:
			args := p.Call.Arguments
			if args == "" {
				args = "{}" // nothing is no JSON, and several servers parse what they get back
			}
			in.items = append(in.items, respCall{"function_call", in.ids.Call(p.Call.ID), model.SafeName(p.Call.Name, maxName), args})
		default:
			continue
		}
		last = len(in.items)
	}
	in.items = in.items[:last]
}

// reasoningItem is the item to send back, or nil: one that is neither encrypted nor has its text is only a name that the server
// does not know, since it was told to store nothing.
func reasoningItem(r *model.Reasoning, maker string) json.RawMessage {
	if r.Maker != maker || r.Field != fieldItem {
		return nil
	}
	var item struct {
		Encrypted string            `json:"encrypted_content"`
		Content   []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(r.Opaque, &item) != nil || item.Encrypted == "" && len(item.Content) == 0 {
		return nil
	}
	return r.Opaque
}

// results adds the results of one answer's calls; pictures stay inside them.
func (in *respInput) results(parts []model.Part) {
	for _, p := range parts {
		if p.Type != model.PartResult || p.Result == nil {
			continue
		}
		content := respContents(p.Result.Parts)
		var output any = content
		if text, ok := onlyText(content); ok {
			output = text
		}
		in.items = append(in.items, respOutput{"function_call_output", in.ids.Result(p.Result.ID), output})
	}
}

// onlyText is the content as one text, when it is text only.
func onlyText(content []respContent) (string, bool) {
	texts := make([]string, len(content))
	for i, c := range content {
		if c.ImageURL != "" {
			return "", false
		}
		texts[i] = c.Text
	}
	if len(texts) == 0 {
		return model.NoOutput, true // some servers take an empty output for a missing one
	}
	return strings.Join(texts, "\n"), true
}

// respContents is text and pictures in their order.
func respContents(parts []model.Part) []respContent {
	var content []respContent
	for _, p := range parts {
		switch {
		case p.Type == model.PartText && p.Text != "":
			content = append(content, respContent{Type: "input_text", Text: p.Text})
		case p.Type == model.PartImage && p.Image != nil && len(p.Image.Data) > 0:
			content = append(content, respContent{Type: "input_image", ImageURL: p.Image.DataURL(), Detail: "auto"})
		case p.Type == model.PartImage && p.Image != nil:
			content = append(content, respContent{Type: "input_text", Text: model.GoneImage})
		}
	}
	return content
}
