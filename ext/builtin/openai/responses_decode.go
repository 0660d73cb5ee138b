package openai

import (
	"bytes"
	"encoding/json"

	"octavo/ext/model"
)

// summaryBreak stands between the parts of a summary of reasoning.
const summaryBreak = "\n\n"

// respDecoder turns the events of one response into an answer. Output is a list of items, so the answer's parts keep their order:
// a model may think, speak, think again and call.
//
// OpenAI numbers items and sends each one's beginning, deltas and end. Servers that copy it leave some of that out; what is
// missing is taken from the end of the item, or from the response that the last event holds.
type respDecoder struct {
	draft  *model.Draft
	event  respEvent // memory for the event being read
	items  []*respOpen
	reason string // why the response stopped; "" while it goes on
}

// respOpen is an item of output that has begun.
type respOpen struct {
	*model.Piece
	kind    model.PartType
	index   int    // the wire's number of it, or -1
	id      string // the wire's id of it, which is not the id of a call
	summary int    // the part of the summary that came last
	done    bool
}

func newResponsesDecoder(maker string, emit func(model.Event) error) *respDecoder {
	return &respDecoder{draft: model.NewDraft(maker, emit)}
}

// Progress is Ended with the event that says how the response stopped: nothing follows it.
func (d *respDecoder) Progress() model.Progress {
	if d.reason != "" {
		return model.Ended
	}
	return model.Streaming
}

// Answer ends the stream.
func (d *respDecoder) Answer(over bool) (*model.Answer, error) { return d.draft.Answer(d.reason, over) }

// Event takes one event of the stream. What it does not know is left alone: the wire grows.
func (d *respDecoder) Event(ev model.SSE) error {
	e := &d.event
	if err := e.read(ev.Data); err != nil {
		return model.NotThisWire(ev.Data, err)
	}
	kind := string(bytes.Trim(e.Type, `"`))
	if ev.Name == "error" || kind == "error" || model.Present(e.Error) {
		return model.Reported(ev.Data)
	}
	if kind == "response.failed" {
		return d.failed()
	}
	if err := d.draft.Start(); err != nil {
		return err
	}
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		return d.add(model.PartText, e.Delta)
	case "response.reasoning_text.delta":
		return d.add(model.PartReasoning, e.Delta)
	case "response.reasoning_summary_text.delta":
		return d.summary()
	case "response.function_call_arguments.delta":
		return d.add(model.PartCall, e.Delta)
	case "response.function_call_arguments.done":
		it, err := d.open(model.PartCall)
		if err != nil {
			return err
		}
		return d.draft.Complete(it.Piece, e.Args)
	case "response.output_item.added":
		return d.item(e.Item, false)
	case "response.output_item.done":
		return d.item(e.Item, true)
	case "response.created", "response.in_progress", "response.queued":
		d.state()
	case "response.completed", "response.incomplete":
		return d.finish(kind)
	}
	return nil
}

// add adds a delta to the item that the event names.
func (d *respDecoder) add(kind model.PartType, more string) error {
	it, err := d.open(kind)
	if err != nil {
		return err
	}
	return d.draft.Add(it.Piece, more)
}

// summary adds a delta of a summary, whose parts are paragraphs.
func (d *respDecoder) summary() error {
	it, err := d.open(model.PartReasoning)
	if err != nil {
		return err
	}
	if it.summary != d.event.Summary && it.Len() > 0 {
		if err := d.draft.Add(it.Piece, summaryBreak); err != nil {
			return err
		}
	}
	it.summary = d.event.Summary
	return d.draft.Add(it.Piece, d.event.Delta)
}

// open returns the item of kind that the event names, by number, else by id, else the newest of its kind that is not done; when
// there is none, one begins.
func (d *respDecoder) open(kind model.PartType) (*respOpen, error) {
	if d.event.Output != nil {
		return d.find(kind, "") // reading the id of every delta costs, and the number is enough
	}
	return d.find(kind, plain(d.event.ItemID))
}

func (d *respDecoder) find(kind model.PartType, id string) (*respOpen, error) {
	output := d.event.Output
	for i := len(d.items) - 1; i >= 0; i-- {
		it := d.items[i]
		switch {
		case it.kind != kind:
		case output != nil && it.index >= 0:
			if it.index == *output {
				return it, nil
			}
		case id != "" && it.id != "":
			if it.id == id {
				return it, nil
			}
		case !it.done:
			return it, nil
		}
	}
	return d.begin(kind, id)
}

func (d *respDecoder) begin(kind model.PartType, id string) (*respOpen, error) {
	piece, err := d.draft.Open(kind)
	if err != nil {
		return nil, err
	}
	it := &respOpen{Piece: piece, kind: kind, index: -1, id: model.Word(id)}
	if d.event.Output != nil {
		it.index = *d.event.Output
	}
	d.items = append(d.items, it)
	return it, nil
}

// item takes the beginning or the end of an item.
func (d *respDecoder) item(raw json.RawMessage, done bool) error {
	x, kind := readItem(raw)
	if kind == "" {
		return nil
	}
	it, err := d.find(kind, x.ID)
	if err != nil {
		return err
	}
	return d.take(it, x, raw, done)
}

// take adds what an item holds to what is there of it.
func (d *respDecoder) take(it *respOpen, x *respItem, raw json.RawMessage, done bool) error {
	if it.id == "" {
		it.id = model.Word(x.ID)
	}
	whole := x.text()
	if it.kind == model.PartCall {
		whole = x.Arguments
		if x.Name != "" {
			if err := d.draft.Announce(it.Piece, x.CallID, x.Name); err != nil {
				return err
			}
		}
	}
	if !done || it.done {
		return nil
	}
	it.done = true
	if err := d.draft.Complete(it.Piece, whole); err != nil {
		return err
	}
	switch {
	case it.kind == model.PartReasoning:
		it.Field, it.Opaque = fieldItem, bytes.Clone(raw)
	case it.kind == model.PartText && model.Present(x.Phase):
		it.Field, it.Opaque = fieldPhase, bytes.Clone(x.Phase)
	}
	return d.draft.Grow(len(it.Opaque))
}

// nth is the item of kind that began after n others of its kind; nil when there were no more.
func (d *respDecoder) nth(kind model.PartType, n int) *respOpen {
	for _, it := range d.items {
		if it.kind != kind {
			continue
		}
		if n == 0 {
			return it
		}
		n--
	}
	return nil
}

// state takes what an event says of the response as a whole.
func (d *respDecoder) state() respState {
	var s respState
	_ = model.DecodeLoosely(d.event.Response, &s) // what has the right shape is there
	if d.draft.ID == "" {
		d.draft.ID = model.Word(s.ID)
	}
	if s.Model != "" {
		d.draft.Model = model.Word(s.Model)
	}
	if model.Present(s.Usage) {
		var u respUsage
		_ = model.DecodeLoosely(s.Usage, &u)
		d.draft.Usage = u.buckets()
	}
	return s
}

// finish takes the last event. Items that were not sent on their own are in it.
func (d *respDecoder) finish(kind string) error {
	s := d.state()
	if s.Status == "failed" || model.Present(s.Error) {
		return d.failed()
	}
	if err := d.output(s.Output); err != nil {
		return err
	}
	switch {
	case kind == "response.completed" && s.Incomplete.Reason == "":
		d.reason = "completed"
	case s.Incomplete.Reason != "":
		d.reason = model.Word(s.Incomplete.Reason)
	default:
		d.reason = "incomplete"
	}
	return nil
}

// output completes the answer from the list of all items. Items are told by kind and place, because not every server numbers them.
func (d *respDecoder) output(items []json.RawMessage) error {
	seen := make(map[model.PartType]int)
	for i, raw := range items {
		x, kind := readItem(raw)
		if kind == "" {
			continue
		}
		it := d.nth(kind, seen[kind])
		if seen[kind]++; it == nil {
			var err error
			d.event.Output = &i
			if it, err = d.begin(kind, x.ID); err != nil {
				return err
			}
		}
		if err := d.take(it, x, raw, true); err != nil {
			return err
		}
	}
	return nil
}

// failed is the error of a response that could not be completed.
func (d *respDecoder) failed() error {
	s := d.state()
	if !model.Present(s.Error) {
		return model.Unexplained()
	}
	return model.Reported(s.Error)
}
