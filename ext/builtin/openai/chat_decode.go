package openai

import (
	"bytes"

	"octavo/ext/model"
)

// chatDecoder turns the chunks of one completion into an answer.
//
// The wire has one text and one reasoning for an answer, whatever order their deltas come in; so has the answer: reasoning,
// text, calls.
type chatDecoder struct {
	draft     *model.Draft
	reasoning *model.Piece // Field is the name it came under; the first one stays
	text      *model.Piece
	details   details
	calls     calls
	chunk     chunk // memory for the event being read
	finish    string
}

func newChatDecoder(maker string, emit func(model.Event) error) *chatDecoder {
	d := &chatDecoder{draft: model.NewDraft(maker, emit)}
	d.reasoning, _ = d.draft.Open(model.PartReasoning) // the first two pieces always find room
	d.text, _ = d.draft.Open(model.PartText)
	return d
}

// Progress is Stopped once there is a finish reason; the end is [DONE].
func (d *chatDecoder) Progress() model.Progress {
	if d.finish != "" {
		return model.Stopped
	}
	return model.Streaming
}

// Event takes one chunk.
func (d *chatDecoder) Event(ev model.SSE) error {
	c := &d.chunk
	if err := c.read(ev.Data); err != nil {
		return model.NotThisWire(ev.Data, err)
	}
	if ev.Name == "error" || string(c.Object) == `"error"` || model.Present(c.Error) {
		return model.Reported(ev.Data)
	}
	if err := d.draft.Start(); err != nil {
		return err
	}
	if d.draft.ID == "" {
		d.draft.ID = model.Word(plain(c.ID))
	}
	if d.draft.Model == "" {
		d.draft.Model = model.Word(plain(c.Model))
	}
	d.count(c.Usage)
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // asked for one answer, so there is no other
		}
		d.count(c.Choices[i].Usage)
		if err := d.delta(&c.Choices[i].Delta); err != nil {
			return err
		}
		if why := c.Choices[i].Finish; why != "" {
			d.finish = model.Word(why)
		}
	}
	return nil
}

// delta adds what one chunk brings.
func (d *chatDecoder) delta(x *delta) error {
	if name, more := x.thought(d.reasoning.Field); more != "" {
		if d.reasoning.Field == "" {
			d.reasoning.Field = name
		}
		if err := d.draft.Add(d.reasoning, more); err != nil {
			return err
		}
	}
	if len(x.Details) > 0 {
		if err := d.draft.Grow(d.details.add(x.Details)); err != nil {
			return err
		}
	}
	for _, more := range [...]string{x.Content, x.Refusal} {
		if err := d.draft.Add(d.text, more); err != nil {
			return err
		}
	}
	for i := range x.ToolCalls {
		if err := d.call(&x.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

// call adds to a tool call. A call is announced once its name is known; arguments that come before that wait.
func (d *chatDecoder) call(x *callDelta) error {
	c := d.calls.find(x)
	if c == nil {
		piece, err := d.draft.Open(model.PartCall)
		if err != nil {
			return err
		}
		c = &call{index: x.Index, Piece: piece}
		d.calls = append(d.calls, c)
	}
	if c.wireID == "" {
		c.wireID = x.ID
	}
	if c.name == "" && x.Function.Name != "" {
		c.name = x.Function.Name
		if err := d.draft.Announce(c.Piece, c.wireID, c.name); err != nil {
			return err
		}
	}
	if model.Present(x.Extra) {
		c.Field, c.Opaque = fieldExtra, bytes.Clone(x.Extra)
		if err := d.draft.Grow(len(x.Extra)); err != nil {
			return err
		}
	}
	return d.draft.Add(c.Piece, x.Function.Arguments)
}

// Answer ends the stream.
func (d *chatDecoder) Answer(over bool) (*model.Answer, error) {
	if d.finish == "error" {
		return nil, model.Unexplained()
	}
	d.reasoning.Opaque = d.details.json()
	return d.draft.Answer(d.finish, over)
}
