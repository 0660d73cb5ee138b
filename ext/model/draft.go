package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"octavo/pages/text"
)

const (
	// MaxAnswer is the most text, reasoning and arguments one answer may have together, in bytes. An answer is stored as one
	// entry, so it stays well below what an entry may have.
	MaxAnswer = 8 << 20
	// MaxCalls is how many tools one answer may call.
	MaxCalls = 32
	// MaxPieces is how many pieces one answer may be made of, so that a flood of empty ones is bounded, too.
	MaxPieces = 1024

	// MaxWord is how much of an id, a model's name or a finish reason is kept, in bytes.
	MaxWord = 256
)

// Draft is an answer while it streams in: it keeps its pieces in the order in which they were opened, says what is added to them
// through emit, and holds the bounds that are the same on every wire. Its errors are *Error without a provider, or what emit
// returned; either ends the stream.
type Draft struct {
	Maker string        // what reasoning and opaque additions are marked with: provider/model
	NewID func() string // makes up the id of a call that has none, or one that another call of the answer has
	ID    string        // the provider's id of the response
	Model string        // the model that says it answers
	Usage Usage

	emit    func(Event) error
	started bool
	size    int // bytes of everything collected
	pieces  []*Piece
	calls   []*Piece
}

// Piece is one part of a Draft.
type Piece struct {
	Field  string          // the wire's name for what is opaque, see Reasoning and Opaque
	Opaque json.RawMessage // what must go back unchanged; nil when there is nothing

	kind      PartType
	at        int // position among the calls
	id, name  string
	announced bool
	said      strings.Builder // text, reasoning or arguments
}

// NewDraft makes an empty answer.
func NewDraft(maker string, emit func(Event) error) *Draft {
	return &Draft{Maker: maker, emit: emit, NewID: func() string { return "call_" + strings.ReplaceAll(uuid.NewString(), "-", "") }}
}

// Start says that the provider accepted the request. Only the first time counts.
func (d *Draft) Start() error {
	if d.started {
		return nil
	}
	d.started = true
	return d.emit(Event{Type: EventStarted})
}

// Open begins a piece after all others: PartText, PartReasoning or PartCall. A piece to which nothing is added is no part of the
// answer, except a call.
func (d *Draft) Open(kind PartType) (*Piece, error) {
	p := &Piece{kind: kind, at: len(d.calls)}
	if kind == PartCall {
		if len(d.calls) == MaxCalls {
			return nil, &Error{Class: ErrMalformed, Message: fmt.Sprintf("the model calls more than %d tools at once", MaxCalls)}
		}
		d.calls = append(d.calls, p)
	}
	if len(d.pieces) == MaxPieces {
		return nil, &Error{Class: ErrMalformed, Message: fmt.Sprintf("the answer has more than %d pieces", MaxPieces)}
	}
	d.pieces = append(d.pieces, p)
	return p, nil
}

// Announce gives a call its name and its id, once; what was added to it before is said now.
func (d *Draft) Announce(p *Piece, id, name string) error {
	if p.announced {
		return nil
	}
	p.announced, p.id, p.name = true, id, name
	if p.id == "" || d.taken(p) {
		p.id = d.NewID()
	}
	if err := d.Grow(len(id) + len(name)); err != nil {
		return err
	}
	if err := d.emit(Event{Type: EventCall, Index: p.at, CallID: p.id, CallName: p.name}); err != nil {
		return err
	}
	if p.said.Len() == 0 {
		return nil
	}
	return d.emit(Event{Type: EventArguments, Index: p.at, Delta: p.said.String()})
}

func (d *Draft) taken(p *Piece) bool {
	for _, c := range d.calls {
		if c != p && c.announced && c.id == p.id {
			return true
		}
	}
	return false
}

// Add adds to a piece. What is added to a call that has no name yet waits for it.
func (d *Draft) Add(p *Piece, more string) error {
	if more == "" {
		return nil
	}
	if err := d.Grow(len(more)); err != nil {
		return err
	}
	p.said.WriteString(more)
	switch p.kind {
	case PartReasoning:
		return d.emit(Event{Type: EventReasoning, Delta: more})
	case PartCall:
		if !p.announced {
			return nil
		}
		return d.emit(Event{Type: EventArguments, Index: p.at, Delta: more})
	default:
		return d.emit(Event{Type: EventText, Delta: more})
	}
}

// Complete adds what of whole is not there yet: servers repeat at the end of a piece what they streamed, or send it only then.
// Where whole says something else than what was streamed, what was streamed stays, because it was shown.
func (d *Draft) Complete(p *Piece, whole string) error {
	if more, ok := strings.CutPrefix(whole, p.said.String()); ok {
		return d.Add(p, more)
	}
	return nil
}

// Grow admits n more bytes that are kept.
func (d *Draft) Grow(n int) error {
	if d.size += n; d.size > MaxAnswer {
		return &Error{Class: ErrMalformed, Message: fmt.Sprintf("the answer is larger than %d MiB; it was broken off", MaxAnswer>>20)}
	}
	return nil
}

// Said is what was added to the piece.
func (p *Piece) Said() string { return p.said.String() }

// Len is the length of what was added to the piece, in bytes.
func (p *Piece) Len() int { return p.said.Len() }

// Announced reports whether the call has its name.
func (p *Piece) Announced() bool { return p.announced }

// Whole reports whether the piece is complete as far as can be told: a call's arguments are nothing or one JSON value.
func (p *Piece) Whole() bool {
	return p.kind != PartCall || p.said.Len() == 0 || json.Valid([]byte(p.said.String()))
}

// Answer ends the stream. reason is the provider's word for why it stopped, "" when it gave none; over says that the stream came
// to its own end, not just somewhere.
//
// A stream without a reason is an answer only when the server says it is over: then calls whose arguments are whole are calls,
// and text is an answer that stopped for an unknown reason. Otherwise, and when there is nothing, it was cut.
func (d *Draft) Answer(reason string, over bool) (*Answer, error) {
	a := &Answer{Finish: FinishOf(reason), Reason: reason, Usage: d.Usage, ID: d.ID, Model: d.Model, Parts: d.parts()}
	for _, c := range d.calls {
		switch {
		case !c.announced && (over || reason != ""):
			return nil, &Error{Class: ErrMalformed, Message: "the model calls a tool without naming it"}
		case !c.announced, reason == "" && !c.Whole():
			return nil, cutOff()
		}
	}
	switch {
	case reason == "" && (!over || len(d.calls) == 0 && PlainText(a.Parts) == ""):
		return nil, cutOff()
	case reason == "" && len(d.calls) > 0:
		a.Finish = FinishCalls
	case reason == "":
		a.Finish, a.Reason = FinishOther, "no finish reason"
	case len(d.calls) > 0 && a.Finish == FinishComplete:
		a.Finish = FinishCalls // many servers say stop after calls
	case len(d.calls) == 0 && a.Finish == FinishCalls:
		a.Finish = FinishOther // it announces calls and makes none
	}
	return a, nil
}

func cutOff() error {
	return &Error{Class: ErrCut, Message: "the stream ended before the answer did"}
}

func (d *Draft) parts() []Part {
	var parts []Part
	for _, p := range d.pieces {
		part := Part{Type: p.kind}
		switch {
		case p.kind == PartReasoning && (p.said.Len() > 0 || len(p.Opaque) > 0):
			part.Reasoning = &Reasoning{Text: p.said.String(), Opaque: p.Opaque, Field: p.Field, Maker: d.Maker}
			parts = append(parts, part)
			continue
		case p.kind == PartCall:
			part.Call = &ToolCall{ID: p.id, Name: p.name, Arguments: p.said.String()}
		case p.kind == PartText && p.said.Len() > 0:
			part.Text = p.said.String()
		default:
			continue
		}
		if len(p.Opaque) > 0 {
			part.Opaque = &Opaque{Field: p.Field, Data: p.Opaque, Maker: d.Maker}
		}
		parts = append(parts, part)
	}
	return parts
}

// FinishOf is the meaning of a provider's word for why it stopped, on any wire.
func FinishOf(reason string) Finish {
	switch reason {
	case "stop", "eos", "end_turn", "stop_sequence", "completed":
		return FinishComplete
	case "tool_calls", "tool_use", "function_call":
		return FinishCalls
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded":
		return FinishLength
	case "content_filter", "safety", "refusal":
		return FinishFiltered
	}
	return FinishOther
}

// Word is a value of one word that a provider sent, as it may be kept and shown: clean, on one line, at most MaxWord bytes.
func Word(s string) string { return text.CutBytes(text.CleanLine(s), MaxWord) }
