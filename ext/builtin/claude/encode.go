package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"octavo/ext/model"
)

// The request as the wire has it; order of fields is order on the wire.
type (
	request struct {
		Model     string        `json:"model"`
		MaxTokens int           `json:"max_tokens"`
		Stream    bool          `json:"stream"`
		Thinking  *thinking     `json:"thinking,omitempty"`
		Output    *outputConfig `json:"output_config,omitempty"`
		Tools     []*tool       `json:"tools,omitempty"`
		System    []*block      `json:"system,omitempty"`
		Messages  []message     `json:"messages"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *cacheControl   `json:"cache_control,omitempty"`
	}
	message struct {
		Role    string `json:"role"`
		Content []any  `json:"content"` // *block, or a block of thinking as it came
	}
	// block has every field of every type of block.
	block struct {
		Type    string          `json:"type"`
		Text    string          `json:"text,omitempty"`
		Source  *source         `json:"source,omitempty"`
		ID      string          `json:"id,omitempty"`
		Name    string          `json:"name,omitempty"`
		Input   json.RawMessage `json:"input,omitempty"`
		UseID   string          `json:"tool_use_id,omitempty"`
		Content []any           `json:"content,omitempty"`
		IsError bool            `json:"is_error,omitempty"`
		Cache   *cacheControl   `json:"cache_control,omitempty"`
	}
	source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
)

const (
	maxCallID = 64 // characters of a tool_use's id
	maxName   = 64 // characters of a tool's name

	// badInput is the key under which a call goes back whose arguments were no JSON object: the wire holds objects only.
	badInput = "invalid_arguments"
)

// encode is the request's body.
func encode(r model.Request, d dialect) ([]byte, error) {
	out := request{Model: r.Model, MaxTokens: maxTokens(r, d.info), Stream: true, Messages: make([]message, 0, len(r.Messages))}
	out.Thinking, out.Output = think(r, out.MaxTokens)
	for _, s := range r.System {
		if strings.TrimSpace(s) != "" {
			out.System = append(out.System, text(s))
		}
	}
	for _, t := range r.Tools {
		schema, err := t.Schema()
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, &tool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	c := conversation{messages: out.Messages, maker: r.Maker, dialect: d, ids: model.CallIDs{Max: maxCallID}}
	for _, m := range r.Messages {
		switch m.Role {
		case model.RoleUser:
			c.user(contents(m.Parts))
		case model.RoleAssistant:
			c.assistant(m.Parts)
		case model.RoleTool:
			c.results(m.Parts)
		default:
			return nil, fmt.Errorf("a message has the unknown role %q", m.Role)
		}
	}
	out.Messages = c.messages
	out.mark()
	return model.EncodeJSON(out)
}

// conversation is the messages in the wire's order: user and assistant alternate.
type conversation struct {
	messages []message
	maker    string
	dialect  dialect
	ids      model.CallIDs
}

// say adds blocks to the last message when it is the same one's, else begins a message.
func (c *conversation) say(role string, blocks []any) {
	if len(blocks) == 0 {
		return
	}
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, message{role, blocks})
}

func (c *conversation) user(blocks []any) { c.say("user", blocks) }

// results adds the results of one answer's calls; pictures stay inside them. They come first in their message, before anything
// else that a user says.
func (c *conversation) results(parts []model.Part) {
	var blocks []any
	for _, p := range parts {
		if p.Type != model.PartResult || p.Result == nil {
			continue
		}
		b := &block{Type: "tool_result", UseID: c.ids.Result(p.Result.ID), Content: contents(p.Result.Parts)}
		if len(b.Content) == 0 {
			b.Content = []any{text(model.NoOutput)}
		}
		// The server refuses a picture in a result that is marked as an error; what went wrong is said in its text anyway.
		b.IsError = p.Result.IsError && !hasPicture(b.Content)
		blocks = append(blocks, b)
	}
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != "user" {
		c.say("user", blocks)
		return
	}
	last := &c.messages[n-1]
	last.Content = slices.Insert(last.Content, countResults(last.Content), blocks...)
}

// countResults is how many results a message begins with.
func countResults(blocks []any) int {
	for i, b := range blocks {
		if b, ok := b.(*block); !ok || b.Type != "tool_result" {
			return i
		}
	}
	return len(blocks)
}

// assistant adds what a model thought, said and called, in its order. Thinking goes along only to the model that made it, and only in
// front of something: a message must not end with it.
func (c *conversation) assistant(parts []model.Part) {
	var blocks []any
	last := 0 // after the newest block that is no thinking
	for _, p := range parts {
		switch {
		case p.Type == model.PartReasoning && ownThinking(p.Reasoning, c.maker):
			if !c.dialect.official || signed(p.Reasoning) {
				blocks = append(blocks, p.Reasoning.Opaque)
			}
			continue
		case p.Type == model.PartText && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, text(p.Text))
		case p.Type == model.PartCall && p.Call != nil:
			blocks = append(blocks, &block{
				Type: "tool_use", ID: c.ids.Call(p.Call.ID), Name: model.SafeName(p.Call.Name, maxName), Input: input(p.Call.Arguments),
			})
		default:
			continue
		}
		last = len(blocks)
	}
	c.say("assistant", blocks[:last])
}

// ownThinking reports a block of thinking that came over this wire from the model called maker.
func ownThinking(r *model.Reasoning, maker string) bool {
	return r != nil && r.Maker == maker && (r.Field == typeThinking || r.Field == typeRedacted) && json.Valid(r.Opaque)
}

// signed reports a block of thinking that the server can check. A redacted one is its own proof.
func signed(r *model.Reasoning) bool {
	var b struct {
		Signature string `json:"signature"`
	}
	return r.Field == typeRedacted || json.Unmarshal(r.Opaque, &b) == nil && b.Signature != ""
}

// input is a call's arguments as the object that the wire wants.
func input(arguments string) json.RawMessage {
	arguments = strings.TrimSpace(arguments)
	switch {
	case arguments == "":
		return json.RawMessage(`{}`)
	case arguments[0] == '{' && json.Valid([]byte(arguments)):
		return json.RawMessage(arguments)
	}
	wrapped, err := json.Marshal(map[string]string{badInput: arguments})
	if err != nil {
		return json.RawMessage(`{}`) // cannot be: a string is always JSON
	}
	return wrapped
}

// contents is text and pictures in their order. Blank text is left out: the server refuses it.
func contents(parts []model.Part) []any {
	var blocks []any
	for _, p := range parts {
		switch {
		case p.Type == model.PartText && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, text(p.Text))
		case p.Type == model.PartImage && p.Image != nil && len(p.Image.Data) > 0:
			blocks = append(blocks, &block{Type: "image", Source: &source{Type: "base64", MediaType: p.Image.MIME, Data: p.Image.Base64()}})
		case p.Type == model.PartImage && p.Image != nil:
			blocks = append(blocks, text(model.GoneImage))
		}
	}
	return blocks
}

func hasPicture(blocks []any) bool {
	for _, b := range blocks {
		if b, ok := b.(*block); ok && b.Source != nil {
			return true
		}
	}
	return false
}

func text(s string) *block { return &block{Type: "text", Text: s} }
