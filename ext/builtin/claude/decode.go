package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"octavo/ext/model"
)

// The types of blocks that hold thinking; they are what marks it as this wire's.
const (
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
)

// decoder turns the events of one message into an answer. A message is a list of blocks, so the answer's parts keep their order: a
// model may think, speak, think again and call.
type decoder struct {
	draft    *model.Draft
	event    event // memory for the event being read
	blocks   []*open
	reason   string // why the message stopped; "" while it goes on
	category string // of a refusal
	ended    bool
}

// open is a block that has begun. What octavo did not ask for is not there.
type open struct {
	*model.Piece
	index     int             // the wire's number of it
	start     json.RawMessage // how it began
	thinks    bool
	calls     bool
	signature strings.Builder
	done      bool
}

func newDecoder(maker string, emit func(model.Event) error) *decoder {
	return &decoder{draft: model.NewDraft(maker, emit)}
}

// Progress is Stopped once the reason is there, Ended with message_stop.
func (d *decoder) Progress() model.Progress {
	switch {
	case d.ended:
		return model.Ended
	case d.reason != "":
		return model.Stopped
	default:
		return model.Streaming
	}
}

// Answer ends the stream.
func (d *decoder) Answer(over bool) (*model.Answer, error) {
	for _, b := range d.blocks {
		if err := d.close(b); err != nil {
			return nil, err
		}
	}
	a, err := d.draft.Answer(d.reason, over)
	if err == nil && d.category != "" {
		a.Reason += ": " + d.category
	}
	return a, err
}

// find is the block that the event names; nil when there is none that octavo looks at.
func (d *decoder) find() *open {
	for i := len(d.blocks) - 1; i >= 0; i-- {
		if d.blocks[i].index == d.event.Index {
			return d.blocks[i]
		}
	}
	return nil
}

// Event takes one event of the stream. What it does not know is left alone: the wire grows.
func (d *decoder) Event(ev model.SSE) error {
	e := &d.event
	if err := e.read(ev.Data); err != nil {
		return model.NotThisWire(ev.Data, err)
	}
	kind := string(bytes.Trim(e.Type, `"`))
	if ev.Name == "error" || kind == "error" || model.Present(e.Error) {
		return model.Reported(ev.Data)
	}
	if kind == "ping" {
		return nil
	}
	if err := d.draft.Start(); err != nil {
		return err
	}
	switch kind {
	case "content_block_delta":
		return d.delta()
	case "content_block_start":
		return d.begin()
	case "content_block_stop":
		if b := d.find(); b != nil {
			return d.close(b)
		}
	case "message_start":
		d.message()
	case "message_delta":
		d.stop()
	case "message_stop":
		d.ended = true
	}
	return nil
}

// message takes the first event.
func (d *decoder) message() {
	var m start
	_ = model.DecodeLoosely(d.event.Message, &m) // what has the right shape is there
	d.draft.ID, d.draft.Model = model.Word(m.ID), model.Word(m.Model)
	d.count(m.Usage)
}

// begin takes the beginning of a block, which may hold something already.
func (d *decoder) begin() error {
	var s blockStart
	if model.DecodeLoosely(d.event.Block, &s) != nil || d.find() != nil {
		return nil
	}
	b := &open{index: d.event.Index, start: bytes.Clone(d.event.Block)}
	kind, said := model.PartText, s.Text
	switch s.Type {
	case "text":
	case typeThinking, typeRedacted:
		kind, said, b.thinks = model.PartReasoning, s.Thinking, true
	case "tool_use":
		kind, said, b.calls = model.PartCall, "", true
	default:
		return nil
	}
	var err error
	if b.Piece, err = d.draft.Open(kind); err != nil {
		return err
	}
	if err := d.draft.Grow(len(b.start)); err != nil {
		return err
	}
	d.blocks = append(d.blocks, b)
	if b.thinks {
		b.Field = s.Type
		b.signature.WriteString(s.Signature)
	}
	if b.calls && s.Name != "" {
		if err := d.draft.Announce(b.Piece, s.ID, s.Name); err != nil {
			return err
		}
	}
	return d.draft.Add(b.Piece, said)
}

// delta adds to the block that the event names.
func (d *decoder) delta() error {
	b := d.find()
	if b == nil || b.done {
		return nil
	}
	x := &d.event.Delta
	switch {
	case b.thinks:
		if x.Signature != "" {
			b.signature.WriteString(x.Signature)
			if err := d.draft.Grow(len(x.Signature)); err != nil {
				return err
			}
		}
		return d.draft.Add(b.Piece, x.Thinking)
	case b.calls:
		return d.draft.Add(b.Piece, x.Input)
	default:
		return d.draft.Add(b.Piece, x.Text)
	}
}

// close ends a block. Thinking is put together again as the one block that must go back; a call whose arguments were there from
// the beginning gets them.
func (d *decoder) close(b *open) error {
	if b.done {
		return nil
	}
	b.done = true
	switch {
	case b.thinks:
		var err error
		if b.Opaque, err = b.whole(); err != nil {
			return &model.Error{Class: model.ErrMalformed, Message: "a block of thinking cannot be read", Body: string(b.start), Err: err}
		}
		return d.draft.Grow(len(b.Opaque))
	case b.calls && b.Len() == 0:
		var s blockStart
		_ = model.DecodeLoosely(b.start, &s)
		if arguments := string(s.Input); model.Present(s.Input) && arguments != "{}" {
			return d.draft.Add(b.Piece, arguments)
		}
	}
	return nil
}

// whole is the block of thinking as if it had come at once, with everything its beginning had.
func (b *open) whole() (json.RawMessage, error) {
	if b.Field == typeRedacted {
		return b.start, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b.start, &fields); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"thinking": b.Said(), "signature": b.signature.String()} {
		raw, err := model.EncodeJSON(value)
		if err != nil {
			return nil, err
		}
		fields[name] = raw
	}
	return model.EncodeJSON(fields)
}

// stop takes the reason why the message stopped, and the final usage.
func (d *decoder) stop() {
	x := &d.event.Delta
	d.count(d.event.Usage)
	if x.StopReason == "" {
		return
	}
	d.reason = model.Word(x.StopReason)
	var details struct {
		Category string `json:"category"`
	}
	if _ = model.DecodeLoosely(x.StopDetails, &details); details.Category != "" {
		d.category = model.Word(details.Category)
	}
}
