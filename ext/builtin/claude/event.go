package claude

import (
	"encoding/json"

	"octavo/ext/model"
)

// One event of a stream, as far as it is looked at. What is the same in every event is kept as it is written, because that costs no
// allocation.
type (
	event struct {
		Type    json.RawMessage `json:"type"`
		Index   int             `json:"index"`
		Delta   delta           `json:"delta"`
		Block   json.RawMessage `json:"content_block"`
		Message json.RawMessage `json:"message"`
		Usage   json.RawMessage `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	// delta has the fields of every type of delta, and those of message_delta.
	delta struct {
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		Input       string          `json:"partial_json"`
		StopReason  string          `json:"stop_reason"`
		StopDetails json.RawMessage `json:"stop_details"`
	}
	start struct {
		ID    string          `json:"id"`
		Model string          `json:"model"`
		Usage json.RawMessage `json:"usage"`
	}
	// blockStart has the fields of every type of block.
	blockStart struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	usage struct {
		Input   model.Tokens `json:"input_tokens"` // what was neither read from the cache nor written to it
		Read    model.Tokens `json:"cache_read_input_tokens"`
		Written model.Tokens `json:"cache_creation_input_tokens"`
		Output  model.Tokens `json:"output_tokens"`
		Details struct {
			Thinking model.Tokens `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
)

// read decodes one event into e, whose memory is used again.
func (e *event) read(data []byte) error {
	*e = event{
		Type: e.Type[:0], Block: e.Block[:0], Message: e.Message[:0], Usage: e.Usage[:0], Error: e.Error[:0],
		Delta: delta{StopDetails: e.Delta.StopDetails[:0]},
	}
	return model.DecodeLoosely(data, e)
}

// count takes a report of usage. Counts are those of the whole message and only grow: the first event has the input, the last one
// the output, and servers that know the input late repeat it there.
func (d *decoder) count(raw json.RawMessage) {
	if !model.Present(raw) {
		return
	}
	var w usage
	_ = model.DecodeLoosely(raw, &w) // a part of the wrong shape is unreported, the rest counts
	u := &d.draft.Usage
	for _, c := range [...]struct {
		have **int64
		now  *int64
	}{{&u.Input, w.Input.N}, {&u.CacheRead, w.Read.N}, {&u.CacheWrite, w.Written.N}, {&u.Output, w.Output.N}, {&u.Reasoning, w.Details.Thinking.N}} {
		if c.now != nil && (*c.have == nil || **c.have < *c.now) {
			*c.have = c.now
		}
	}
}
