package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Wire is a protocol that the server speaks.
type Wire string

// The wires.
const (
	WireChat      Wire = "chat"      // POST /v1/chat/completions
	WireResponses Wire = "responses" // POST /v1/responses
	WireMessages  Wire = "messages"  // POST /v1/messages
)

// Request is one model request as it came.
type Request struct {
	N      int // 1 for the first
	Wire   Wire
	Header http.Header
	Body   []byte
	Chat   Chat          // what Body says; the zero Chat when it is no JSON
	In     time.Duration // arrival, on the system's monotonic clock
	Out    time.Duration // end of the answer; 0 while it is being answered

	talk *talk // the conversation it belongs to, when the server tells them apart
}

// Chat is what a request says, as far as tests look at it: in the shape of chat completions, whatever its wire, so that one
// script can answer all. Fields has the body's own fields, undecoded.
type Chat struct {
	Model               string    `json:"model"`
	Messages            []Message `json:"messages"`
	Tools               []Tool    `json:"tools"`
	Stream              bool      `json:"stream"`
	StreamOptions       Options   `json:"stream_options"`
	ReasoningEffort     string    `json:"reasoning_effort"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
	PromptCacheKey      string    `json:"prompt_cache_key"`

	Fields map[string]json.RawMessage `json:"-"`
}

// Options says what a stream carries beside the answer.
type Options struct {
	IncludeUsage bool `json:"include_usage"`
}

// Message is one message of a request.
type Message struct {
	Role       string
	Text       string   // content that is a string, or the text items of a list, joined with newlines
	Images     []string // URLs, in order
	Kinds      []string // types of a content list, in order; nil when content is a string or null
	Calls      []ToolCall
	ToolCallID string                     // of a tool's result
	IsError    bool                       // of a tool's result; Messages only
	Reasoning  []json.RawMessage          // items or blocks of reasoning; not of chat completions, see Fields
	Fields     map[string]json.RawMessage // the message as it came; chat completions only
}

// Tool is one tool a model is offered.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// ToolCall is one call, made by a reply or sent back in a request.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// UnmarshalJSON reads a message whose content is a string, null, or a list of items.
func (m *Message) UnmarshalJSON(b []byte) error {
	var wire struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		ID        string          `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*m = Message{Role: wire.Role, ToolCallID: wire.ID}
	for _, c := range wire.ToolCalls {
		m.Calls = append(m.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if err := json.Unmarshal(b, &m.Fields); err != nil {
		return err
	}
	var items []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if len(wire.Content) > 0 && wire.Content[0] == '[' {
		if err := json.Unmarshal(wire.Content, &items); err != nil {
			return err
		}
		for _, it := range items {
			m.say(it.Type, it.Text, it.Image.URL)
		}
		return nil
	}
	if len(wire.Content) == 0 {
		return nil
	}
	return json.Unmarshal(wire.Content, &m.Text)
}

func readRequest(hr *http.Request, wire Wire, body []byte) *Request {
	r := &Request{Wire: wire, Header: hr.Header.Clone(), Body: body}
	var err error
	switch wire {
	case WireResponses:
		r.Chat, err = readResponses(body)
	case WireMessages:
		r.Chat, err = readMessages(body)
	default:
		err = json.Unmarshal(body, &r.Chat)
	}
	if err != nil {
		r.Chat = Chat{}
		return r
	}
	_ = json.Unmarshal(body, &r.Chat.Fields)
	return r
}

// say adds text and pictures to a message.
func (m *Message) say(kind, text, image string) {
	m.Kinds = append(m.Kinds, kind)
	if image != "" {
		m.Images = append(m.Images, image)
		return
	}
	if m.Text != "" && text != "" {
		m.Text += "\n"
	}
	m.Text += text
}

// answering is the assistant's message at the end of the conversation, which is begun when another one spoke last.
func (c *Chat) answering() *Message {
	if n := len(c.Messages); n == 0 || c.Messages[n-1].Role != "assistant" {
		c.Messages = append(c.Messages, Message{Role: "assistant"})
	}
	return &c.Messages[len(c.Messages)-1]
}

// ToolNames lists the tools the request offers.
func (c Chat) ToolNames() []string {
	var names []string
	for _, t := range c.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// Last is the newest message; the zero Message when there is none.
func (c Chat) Last() Message {
	if len(c.Messages) == 0 {
		return Message{}
	}
	return c.Messages[len(c.Messages)-1]
}

// first reports whether the request begins a conversation: nothing was answered in it yet.
func (c Chat) first() bool {
	for _, m := range c.Messages {
		if m.Role == "assistant" {
			return false
		}
	}
	return true
}

// opening is what tells one conversation from another: everything up to the first thing the user said.
func (c Chat) opening() string {
	var b strings.Builder
	for _, m := range c.Messages {
		b.WriteString(m.Role + "\x00" + m.Text + "\x00")
		if m.Role == "user" {
			break
		}
	}
	return b.String()
}
