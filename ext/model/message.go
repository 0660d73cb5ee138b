// Package model is the provider-neutral language of a model request: messages and their parts, tools, stream events, usage
// and errors. It knows no wire, no session and no storage.
package model

import (
	"encoding/json"
	"strings"
)

// Role says who speaks a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	// RoleTool carries tool results only: every result of one assistant message, in the order of its calls.
	RoleTool Role = "tool"
)

// Message is one contribution to the conversation. Its parts keep the order in which they were said.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartType names which field of a Part is set.
type PartType string

const (
	PartText      PartType = "text"
	PartReasoning PartType = "reasoning"
	PartImage     PartType = "image"
	PartCall      PartType = "tool_call"
	PartResult    PartType = "tool_result"
)

// Part is one piece of a message. Exactly the field named by Type is meaningful.
type Part struct {
	Type      PartType    `json:"type"`
	Text      string      `json:"text,omitempty"`
	Reasoning *Reasoning  `json:"reasoning,omitempty"`
	Image     *Image      `json:"image,omitempty"`
	Call      *ToolCall   `json:"call,omitempty"`
	Result    *ToolResult `json:"result,omitempty"`
	Opaque    *Opaque     `json:"opaque,omitempty"` // with a text or a call
}

// Opaque is what a provider gave with a part beside what it says, such as the phase of a text or the signature of a call. It goes
// back unchanged, and only to the model that made it.
type Opaque struct {
	Field string          `json:"field"` // the wire's own name for it, for example phase
	Data  json.RawMessage `json:"data"`
	Maker string          `json:"maker"` // provider/model
}

// For is the data to send back under the name field to the model called maker; nil when it is nothing of theirs.
func (o *Opaque) For(maker, field string) json.RawMessage {
	if o == nil || o.Maker != maker || o.Field != field || !json.Valid(o.Data) {
		return nil
	}
	return o.Data
}

// Reasoning is what a model thought before it spoke. Opaque and Field are the provider's: they go back unchanged, and only to
// the model that made them (Maker); any other model is sent nothing of it.
type Reasoning struct {
	Text   string          `json:"text,omitempty"`
	Opaque json.RawMessage `json:"opaque,omitempty"` // signature or encrypted item, as the wire gave it
	Field  string          `json:"field,omitempty"`  // the wire's own name for it, for example reasoning_content
	Maker  string          `json:"maker,omitempty"`  // provider/model
}

// Image is a picture. Data is empty in stored messages: the bytes live in a blob named by SHA256 and are filled in when a
// request is built.
type Image struct {
	MIME   string `json:"mime"`             // image/png, image/jpeg, image/gif or image/webp
	SHA256 string `json:"sha256,omitempty"` // 64 hexadecimal characters
	Width  int    `json:"width,omitempty"`  // pixels; 0 when unknown
	Height int    `json:"height,omitempty"` // pixels; 0 when unknown
	Name   string `json:"name,omitempty"`   // where it came from, for a person
	Data   []byte `json:"-"`
}

// ToolCall is a model's request to run a tool. Arguments is what the model wrote, kept to the byte even when it is no valid
// JSON, because it must be sent back as it was.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolResult answers the call of the same ID. Parts holds text and images.
type ToolResult struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Parts   []Part `json:"parts"`
	IsError bool   `json:"is_error,omitempty"`
}

// Text makes a text part.
func Text(s string) Part { return Part{Type: PartText, Text: s} }

// PlainText joins the text parts of ps, and only those.
func PlainText(ps []Part) string {
	var b strings.Builder
	for _, p := range ps {
		if p.Type == PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls returns the tool calls among ps, in order.
func Calls(ps []Part) []ToolCall {
	var calls []ToolCall
	for _, p := range ps {
		if p.Type == PartCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}
