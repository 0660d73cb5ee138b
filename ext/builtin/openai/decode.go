package openai

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"octavo/ext/model"
	"octavo/pages/text"
)

const (
	// MaxAnswer is the most text, reasoning and arguments one answer may have together, in bytes. An answer is stored as one
	// entry, so it stays well below what an entry may have.
	MaxAnswer = 8 << 20
	// MaxCalls is how many tools one answer may call.
	MaxCalls = 32

	// maxWord is how much of an id, a model's name or a finish reason is kept, in bytes.
	maxWord = 256
)

// decoder turns the events of one stream into an answer. It is pure apart from the ids it makes up. Its errors are *model.Error
// without a provider, or what emit returned.
//
// The wire has one text and one reasoning for an answer, whatever order their deltas come in; so has the answer: reasoning,
// text, calls.
type decoder struct {
	maker string
	emit  func(model.Event) error
	newID func() string

	chunk     chunk // memory for the event being read
	started   bool
	id, model string
	text      strings.Builder
	reasoning strings.Builder
	field     string // the name reasoning came under; the first one stays
	details   details
	calls     calls
	finish    string
	usage     model.Usage
	size      int // bytes of everything collected
}

func newDecoder(maker string, emit func(model.Event) error) *decoder {
	return &decoder{maker: maker, emit: emit, newID: func() string { return "call_" + strings.ReplaceAll(uuid.NewString(), "-", "") }}
}

// finished reports whether the provider said why it stopped: then only the usage can be missing.
func (d *decoder) finished() bool { return d.finish != "" }

// event takes one event of the stream.
func (d *decoder) event(ev model.SSE) error {
	c := &d.chunk
	if err := c.read(ev.Data); err != nil {
		return &model.Error{Class: model.ErrMalformed, Message: "the stream has an event that is no JSON of this wire: " + err.Error(), Body: string(ev.Data), Err: err}
	}
	if ev.Name == "error" || string(c.Object) == `"error"` || len(c.Error) > 0 && string(c.Error) != "null" {
		class, _ := model.Classify(0, ev.Data)
		return &model.Error{Class: class, Body: string(ev.Data)}
	}
	if !d.started {
		d.started = true
		if err := d.emit(model.Event{Type: model.EventStarted}); err != nil {
			return err
		}
	}
	if d.id == "" {
		d.id = shortWord(plain(c.ID))
	}
	if d.model == "" {
		d.model = shortWord(plain(c.Model))
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
			d.finish = shortWord(why)
		}
	}
	return nil
}

// delta adds what one chunk brings.
func (d *decoder) delta(x *delta) error {
	if name, more := x.thought(d.field); more != "" {
		if d.field == "" {
			d.field = name
		}
		if err := d.grow(len(more)); err != nil {
			return err
		}
		d.reasoning.WriteString(more)
		if err := d.emit(model.Event{Type: model.EventReasoning, Delta: more}); err != nil {
			return err
		}
	}
	if len(x.Details) > 0 {
		if err := d.grow(d.details.add(x.Details)); err != nil {
			return err
		}
	}
	for _, more := range [...]string{x.Content, x.Refusal} {
		if more == "" {
			continue
		}
		if err := d.grow(len(more)); err != nil {
			return err
		}
		d.text.WriteString(more)
		if err := d.emit(model.Event{Type: model.EventText, Delta: more}); err != nil {
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

// grow admits n more bytes.
func (d *decoder) grow(n int) error {
	if d.size += n; d.size > MaxAnswer {
		return &model.Error{Class: model.ErrMalformed, Message: fmt.Sprintf("the answer is larger than %d MiB; it was broken off", MaxAnswer>>20)}
	}
	return nil
}

// call adds to a tool call. A call is announced once its name is known; arguments that come before that wait.
func (d *decoder) call(x *callDelta) error {
	at, c := d.calls.find(x)
	if c == nil {
		if len(d.calls) == MaxCalls {
			return &model.Error{Class: model.ErrMalformed, Message: fmt.Sprintf("the model calls more than %d tools at once", MaxCalls)}
		}
		at, c = len(d.calls), &call{index: x.Index}
		d.calls = append(d.calls, c)
	}
	if err := d.grow(len(x.ID) + len(x.Function.Name) + len(x.Function.Arguments)); err != nil {
		return err
	}
	if c.wireID == "" {
		c.wireID = x.ID
	}
	c.arguments.WriteString(x.Function.Arguments)
	more := x.Function.Arguments
	if c.name == "" && x.Function.Name != "" {
		c.name = x.Function.Name
		c.announced = true
		if c.id = c.wireID; c.id == "" || d.calls.taken(c.id, at) {
			c.id = d.newID()
		}
		if err := d.emit(model.Event{Type: model.EventCall, Index: at, CallID: c.id, CallName: c.name}); err != nil {
			return err
		}
		more = c.arguments.String()
	}
	if more == "" || !c.announced {
		return nil
	}
	return d.emit(model.Event{Type: model.EventArguments, Index: at, Delta: more})
}

// answer ends the stream. done says that it ended with [DONE], not just somewhere.
//
// A stream without a finish reason is an answer only when the server says it is over: then calls whose arguments are whole are
// calls, and text is an answer that stopped for an unknown reason. Otherwise, and when there is nothing, it was cut.
func (d *decoder) answer(done bool) (*model.Answer, error) {
	for _, c := range d.calls {
		if !c.announced {
			return nil, d.cutOr(&model.Error{Class: model.ErrMalformed, Message: "the model calls a tool without naming it"}, done)
		}
	}
	a := &model.Answer{Finish: finishOf(d.finish), Reason: d.finish, Usage: d.usage, ID: d.id, Model: d.model}
	switch {
	case d.finish == "error":
		return nil, &model.Error{Class: model.ErrServer, Message: "the provider broke its answer off with an error that it does not explain"}
	case d.finish == "" && !done,
		d.finish == "" && d.text.Len() == 0 && len(d.calls) == 0,
		d.finish == "" && !d.calls.whole():
		return nil, cutOff()
	case d.finish == "" && len(d.calls) > 0:
		a.Finish = model.FinishCalls
	case d.finish == "":
		a.Reason = "no finish reason"
	case len(d.calls) > 0 && a.Finish == model.FinishComplete:
		a.Finish = model.FinishCalls // many servers say stop after calls
	case len(d.calls) == 0 && a.Finish == model.FinishCalls:
		a.Finish = model.FinishOther // it announces calls and makes none
	}
	if d.reasoning.Len() > 0 || len(d.details) > 0 {
		a.Parts = append(a.Parts, model.Part{Type: model.PartReasoning, Reasoning: &model.Reasoning{
			Text: d.reasoning.String(), Field: d.field, Opaque: d.details.json(), Maker: d.maker,
		}})
	}
	if d.text.Len() > 0 {
		a.Parts = append(a.Parts, model.Text(d.text.String()))
	}
	for _, c := range d.calls {
		a.Parts = append(a.Parts, model.Part{Type: model.PartCall, Call: &model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()}})
	}
	return a, nil
}

// cutOr is err for a stream that came to its end, and a cut for one that did not.
func (d *decoder) cutOr(err error, done bool) error {
	if !done && !d.finished() {
		return cutOff()
	}
	return err
}

func cutOff() error {
	return &model.Error{Class: model.ErrCut, Message: "the stream ended before the answer did"}
}

// shortWord is a value of one word as it may be kept and shown.
func shortWord(s string) string { return text.CutBytes(text.CleanLine(s), maxWord) }

// finishOf is the meaning of a finish reason.
func finishOf(reason string) model.Finish {
	switch reason {
	case "stop", "eos", "end_turn", "stop_sequence":
		return model.FinishComplete
	case "tool_calls", "tool_use", "function_call":
		return model.FinishCalls
	case "length", "max_tokens", "model_length":
		return model.FinishLength
	case "content_filter", "safety":
		return model.FinishFiltered
	}
	return model.FinishOther
}
