package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"octavo/app/api"
	"octavo/ext/model"
	"octavo/pages"
	"octavo/sessionstore"
)

// record is the payload of a stored entry; the entry's kind says which fields are set. Its JSON is the storage format: a field
// may be added, none may change its meaning.
type record struct {
	Parts    []model.Part      `json:"parts,omitempty"`
	Display  string            `json:"display,omitempty"`
	Origin   string            `json:"origin,omitempty"`
	Model    string            `json:"model,omitempty"`
	Finish   model.Finish      `json:"finish,omitempty"`
	Call     *model.ToolCall   `json:"call,omitempty"`
	Title    string            `json:"title,omitempty"`
	Outcome  api.ResultOutcome `json:"outcome,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Show     *pages.Display    `json:"show,omitempty"`
	Duration time.Duration     `json:"duration_ns,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"`
	Settled  *api.Settled      `json:"settled,omitempty"`
}

// entry is a record on its way into the store.
type entry struct {
	kind api.EntryKind
	rec  record
}

// encode makes the entry ready to be stored. What it holds of keys is taken out of it.
func (e *entry) encode(r Redaction, turn string) (sessionstore.NewEntry, error) {
	e.rec = redacted(r, e.rec)
	payload, err := model.EncodeJSON(e.rec) // to the byte: what is a provider's own goes back as it came
	if err != nil {
		return sessionstore.NewEntry{}, fmt.Errorf("encode %s entry: %w", e.kind, err)
	}
	return sessionstore.NewEntry{Kind: string(e.kind), Turn: turn, Payload: payload, Blobs: blobs(e.rec.Parts)}, nil
}

// decode reads an entry as it was stored. What is to be shown or sent of it is redacted first: keys may have come to be known since.
func decode(se sessionstore.Entry) (entry, error) {
	e := entry{kind: api.EntryKind(se.Kind)}
	err := json.Unmarshal(se.Payload, &e.rec)
	if err == nil {
		err = e.rec.sound(e.kind)
	}
	if err != nil {
		return e, fmt.Errorf("read entry %d: %w", se.Seq, err)
	}
	return e, nil
}

// sound says what a record lacks that an entry of its kind has: a damaged payload may still be JSON.
func (r record) sound(kind api.EntryKind) error {
	switch kind {
	case api.EntryCall, api.EntryResult:
		if r.Call == nil {
			return errors.New("it names no call")
		}
	case api.EntrySettled:
		if r.Settled == nil {
			return errors.New("it does not say how the turn ended")
		}
	}
	for _, p := range r.Parts {
		if p.Type == model.PartReasoning && p.Reasoning == nil || p.Type == model.PartImage && p.Image == nil || p.Type == model.PartCall && p.Call == nil {
			return fmt.Errorf("a part of type %s is empty", p.Type)
		}
	}
	return nil
}

// originLost is the Origin of a note that stands for an entry which was lost.
const originLost = "repair"

// Payloads is what sessionstore.Repair asks: an entry or an input is of no use when a session could not read it, and a note stands
// where one was lost (product.md 5, decision 7).
func Payloads() sessionstore.Payloads {
	return sessionstore.Payloads{
		Entry: func(kind string, payload []byte) error {
			_, err := decode(sessionstore.Entry{Kind: kind, Payload: payload})
			return err
		},
		Input: func(kind string, payload []byte) error {
			_, err := decodeInput(Redaction{}.settled(), sessionstore.Input{Kind: kind, Payload: payload})
			return err
		},
		Lost: func() (kind string, payload []byte) {
			return string(api.EntryNote),
				[]byte(`{"parts":[{"type":"text","text":"[an entry was lost here: it could not be read]"}],"origin":"` + originLost + `"}`)
		},
	}
}

// view is the entry as front ends see it.
func (e entry) view(seq int64, turn string, at time.Time) api.Entry {
	v := api.Entry{Seq: seq, Turn: turn, Kind: e.kind, Time: at, Display: e.rec.Display, Origin: e.rec.Origin,
		Model: e.rec.Model, Parts: viewParts(e.rec.Parts), Settled: e.rec.Settled}
	if e.rec.Call != nil {
		v.Call = viewCall(*e.rec.Call)
		v.Call.Title = e.rec.Title
	}
	if e.kind == api.EntryResult || e.kind == api.EntryShell {
		v.Result = &api.Result{Outcome: e.rec.Outcome, Reason: e.rec.Reason, Display: e.rec.Show, Duration: e.rec.Duration, ExitCode: e.rec.ExitCode}
	}
	return v
}

func viewParts(ps []model.Part) []api.Part {
	var out []api.Part
	for _, p := range ps {
		switch p.Type {
		case model.PartText:
			out = append(out, api.Part{Type: api.PartText, Text: p.Text})
		case model.PartReasoning:
			out = append(out, api.Part{Type: api.PartReasoning, Text: p.Reasoning.Text})
		case model.PartImage:
			i := p.Image
			out = append(out, api.Part{Type: api.PartImage, Image: &api.Image{
				MIME: i.MIME, SHA256: i.SHA256, Width: i.Width, Height: i.Height, Name: i.Name}})
		case model.PartCall:
			out = append(out, api.Part{Type: api.PartCall, Call: viewCall(*p.Call)})
		}
	}
	return out
}

func viewCall(c model.ToolCall) *api.Call {
	return &api.Call{ID: c.ID, Tool: c.Name, Arguments: c.Arguments}
}

// blobs lists the hashes that ps refer to.
func blobs(ps []model.Part) []string {
	var out []string
	for _, p := range ps {
		if p.Type == model.PartImage && p.Image.SHA256 != "" {
			out = append(out, p.Image.SHA256)
		}
	}
	return out
}

// queued is the payload of a durable input that waits.
type queued struct {
	ID   string        `json:"-"`
	Kind api.InputKind `json:"-"`
	Rec  record        `json:"record"`
}

func decodeInput(r Redaction, in sessionstore.Input) (queued, error) {
	q := queued{ID: in.ID, Kind: api.InputKind(in.Kind)}
	err := json.Unmarshal(in.Payload, &q)
	if err == nil {
		err = q.Rec.sound(api.EntryUser)
	}
	if err != nil {
		return q, fmt.Errorf("read queued input %s: %w", in.ID, err)
	}
	q.Rec = redacted(r, q.Rec)
	return q, nil
}
