package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// One chunk of a streamed completion, as far as it is looked at. What is the same in every chunk is kept as it is written, because
// that costs no allocation.
type (
	chunk struct {
		ID      json.RawMessage `json:"id"`
		Object  json.RawMessage `json:"object"`
		Model   json.RawMessage `json:"model"`
		Choices []choice        `json:"choices"`
		Usage   json.RawMessage `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	choice struct {
		Index  int             `json:"index"`
		Delta  delta           `json:"delta"`
		Finish string          `json:"finish_reason"`
		Usage  json.RawMessage `json:"usage"` // Moonshot puts it here
	}
	delta struct {
		Content          string          `json:"content"`
		Refusal          string          `json:"refusal"`
		ReasoningContent string          `json:"reasoning_content"`
		Reasoning        string          `json:"reasoning"`
		Details          json.RawMessage `json:"reasoning_details"`
		ToolCalls        []callDelta     `json:"tool_calls"`

		Musing string `json:"-"` // reasoning that came inside the content and has no field to go back in
	}
	callDelta struct {
		Index    *int            `json:"index"`
		ID       string          `json:"id"`
		Function functionDelta   `json:"function"`
		Extra    json.RawMessage `json:"extra_content"` // Gemini's signature of the call
	}
	functionDelta struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// thought is the chunk's reasoning and the field it came in. Servers that send it under both names say the same twice, so
// once a name is known only that one counts.
func (d *delta) thought(known string) (field, more string) {
	switch {
	case d.ReasoningContent != "" && known != fieldPlain:
		return fieldContent, d.ReasoningContent
	case d.Reasoning != "" && known != fieldContent:
		return fieldPlain, d.Reasoning
	}
	return "", d.Musing
}

// read decodes one event into c, whose memory is used again: strictly typed first, which is what nearly all servers send and
// cheap, and forgivingly when a field has another type than the wire says.
func (c *chunk) read(data []byte) error {
	clear(c.Choices[:cap(c.Choices)]) // encoding/json decodes into what is there
	*c = chunk{
		ID: c.ID[:0], Object: c.Object[:0], Model: c.Model[:0],
		Choices: c.Choices[:0], Usage: c.Usage[:0], Error: c.Error[:0],
	}
	err := json.Unmarshal(data, c)
	if err == nil {
		return nil
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return c.forgive(data)
	}
	return err
}

// forgive decodes a chunk in which a field has a type of its own: content as a list of items, arguments as an object, ids and
// indexes as something else. What cannot be understood is left out; only what is no JSON object at all is an error.
func (c *chunk) forgive(data []byte) error {
	var loose struct {
		ID      json.RawMessage `json:"id"`
		Object  json.RawMessage `json:"object"`
		Model   json.RawMessage `json:"model"`
		Choices []struct {
			Index  json.RawMessage `json:"index"`
			Delta  json.RawMessage `json:"delta"`
			Finish json.RawMessage `json:"finish_reason"`
			Usage  json.RawMessage `json:"usage"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &loose); err != nil {
		return err
	}
	*c = chunk{ID: loose.ID, Object: loose.Object, Model: loose.Model, Usage: loose.Usage, Error: loose.Error}
	for _, l := range loose.Choices {
		ch := choice{Finish: plain(l.Finish), Usage: l.Usage}
		_ = json.Unmarshal(l.Index, &ch.Index) // anything that is no number is the only choice
		ch.Delta = forgiveDelta(l.Delta)
		c.Choices = append(c.Choices, ch)
	}
	return nil
}

func forgiveDelta(data []byte) delta {
	var loose struct {
		Content          json.RawMessage `json:"content"`
		Refusal          json.RawMessage `json:"refusal"`
		ReasoningContent json.RawMessage `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"`
		Details          json.RawMessage `json:"reasoning_details"`
		ToolCalls        []struct {
			Index    json.RawMessage `json:"index"`
			ID       json.RawMessage `json:"id"`
			Function struct {
				Name      json.RawMessage `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
			Extra json.RawMessage `json:"extra_content"`
		} `json:"tool_calls"`
	}
	_ = json.Unmarshal(data, &loose) // what has the right shape is there
	d := delta{
		Refusal:          plain(loose.Refusal),
		ReasoningContent: plain(loose.ReasoningContent),
		Reasoning:        plain(loose.Reasoning),
		Details:          loose.Details,
	}
	d.Content, d.Musing = contentOf(loose.Content)
	for _, l := range loose.ToolCalls {
		x := callDelta{ID: plain(l.ID), Function: functionDelta{Name: plain(l.Function.Name), Arguments: plain(l.Function.Arguments)}, Extra: l.Extra}
		var index int
		if json.Unmarshal(l.Index, &index) == nil && string(l.Index) != "null" {
			x.Index = &index
		}
		d.ToolCalls = append(d.ToolCalls, x)
	}
	return d
}

// contentOf reads content that is a string or a list of text and thinking items, as Mistral's reasoning models send it.
func contentOf(raw json.RawMessage) (text, thought string) {
	if len(raw) == 0 || raw[0] != '[' {
		return plain(raw), ""
	}
	var items []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	_ = json.Unmarshal(raw, &items)
	var said, mused strings.Builder
	for _, it := range items {
		if it.Type == "thinking" {
			more, _ := contentOf(it.Thinking)
			mused.WriteString(more)
			continue
		}
		said.WriteString(plain(it.Text))
	}
	return said.String(), mused.String()
}

// plain is the text of a JSON string, "" for null, and any other value as it is written.
func plain(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	default:
		return string(raw)
	}
}
