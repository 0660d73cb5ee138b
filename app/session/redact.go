package session

import (
	"encoding/json"
	"reflect"
	"strings"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/sessionstore"
)

// Redaction takes the keys that octavo knows out of what is stored, shown or sent to a model. Nothing passes it by: entries where they
// are stored, questions and notices where they are asked and said, fragments where they are shown.
type Redaction struct {
	Text func(string) string
	// Stream begins a text that comes in fragments: write answers what can be shown by now, flush what was held back.
	Stream func() (write func(string) string, flush func() string)
}

// settled fills in what does nothing.
func (r Redaction) settled() Redaction {
	same := func(s string) string { return s }
	if r.Text == nil {
		r.Text = same
	}
	if r.Stream == nil {
		r.Stream = func() (func(string) string, func() string) { return same, func() string { return "" } }
	}
	return r
}

// Error is err without keys in its words. What it wraps stays what it is.
func (r Redaction) Error(err error) error {
	if err == nil {
		return nil
	}
	if words := r.settled().Text(err.Error()); words != err.Error() {
		return hushed{err, words}
	}
	return err
}

// hush takes keys out of the error that a method is about to return.
func (s *Session) hush(err *error) { *err = s.o.Redact.Error(*err) }

// hushed is an error whose own words hold a key.
type hushed struct {
	error
	words string
}

func (h hushed) Error() string { return h.words }
func (h hushed) Unwrap() error { return h.error }

// redacted is v with every string in it redacted. v itself does not change: what it refers to may be another's.
func redacted[T any](r Redaction, v T) T {
	if clean, changed := r.value(reflect.ValueOf(&v).Elem()); changed {
		return clean.Interface().(T)
	}
	return v
}

// value redacts the strings that can be reached from v, in copies of what holds them; changed is false when there was nothing to do.
// Strings are taken one by one, and never as the JSON that they become: a key may look like a part of JSON itself.
func (r Redaction) value(v reflect.Value) (_ reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		clean := r.Text(v.String())
		if clean == v.String() {
			return v, false
		}
		c := reflect.New(v.Type()).Elem()
		c.SetString(clean)
		return c, true
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		clean, changed := r.value(v.Elem())
		if !changed {
			return v, false
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(clean)
		return c, true
	case reflect.Struct:
		if call, ok := v.Interface().(model.ToolCall); ok {
			clean := model.ToolCall{ID: r.Text(call.ID), Name: r.Text(call.Name), Arguments: r.arguments(call.Arguments)}
			return reflect.ValueOf(clean), clean != call
		}
		return r.fields(v)
	case reflect.Slice:
		return r.items(v)
	}
	return v, false
}

func (r Redaction) fields(v reflect.Value) (_ reflect.Value, changed bool) {
	c := v
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		clean, dirty := r.value(v.Field(i))
		if !dirty {
			continue
		}
		if !changed {
			c = reflect.New(v.Type()).Elem()
			c.Set(v)
			changed = true
		}
		c.Field(i).Set(clean)
	}
	return c, changed
}

func (r Redaction) items(v reflect.Value) (_ reflect.Value, changed bool) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		doc := string(v.Bytes())
		clean := r.json(doc)
		return reflect.ValueOf(json.RawMessage(clean)), clean != doc
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v, false
	}
	c := v
	for i := range v.Len() {
		clean, dirty := r.value(v.Index(i))
		if !dirty {
			continue
		}
		if !changed {
			c = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			changed = true
		}
		c.Index(i).Set(clean)
	}
	return c, changed
}

// arguments redacts what a model wrote for a tool: within JSON as long as it is some.
func (r Redaction) arguments(written string) string {
	if json.Valid([]byte(written)) {
		return r.json(written)
	}
	return r.Text(written)
}

// json redacts the strings of a JSON document, in whatever way they are escaped. All else stays to the byte, so that it is the same
// document still.
func (r Redaction) json(doc string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(doc); {
		if doc[at] != '"' {
			at++
			continue
		}
		end := at + 1
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(doc))
		if clean, changed := r.literal(doc[at:end]); changed {
			b.WriteString(doc[done:at])
			b.WriteString(clean)
			done = end
		}
		at = end
	}
	if done == 0 {
		return doc
	}
	return b.String() + doc[done:]
}

// literal redacts a string of JSON with its quotes.
func (r Redaction) literal(quoted string) (clean string, changed bool) {
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return quoted, false
	}
	clean = r.Text(s)
	if clean == s {
		return quoted, false
	}
	b, err := json.Marshal(clean)
	return string(b), err == nil
}

// request redacts what a usage row says in words.
func (r Redaction) request(row sessionstore.Request) sessionstore.Request {
	row.Provider, row.Model, row.Endpoint, row.Error = r.Text(row.Provider), r.Text(row.Model), r.Text(row.Endpoint), r.Text(row.Error)
	return row
}

// ask redacts a question. What a person approves is bound to the call, not to its picture.
func (r Redaction) ask(a api.Ask) api.Ask {
	a.Title, a.Body, a.Display = r.Text(a.Title), r.Text(a.Body), redacted(r, a.Display)
	for i := range a.Options {
		a.Options[i].Label = r.Text(a.Options[i].Label)
	}
	return a
}

// outcome redacts what a command answered.
func (r Redaction) outcome(o ext.Outcome) ext.Outcome {
	o.Text, o.Data = r.Text(o.Text), redacted(r, o.Data)
	return o
}

// fragments redacts an answer while it is written: each of its texts is a stream of its own.
type fragments struct {
	r       Redaction
	streams map[fragment]*stream
	order   []fragment
}

type fragment struct {
	kind  model.EventType
	index int
}

type stream struct {
	write func(string) string
	flush func() string
}

// event is e as it may be shown; ok is false when there is nothing to show yet.
func (f *fragments) event(e model.Event) (_ model.Event, ok bool) {
	switch e.Type {
	case model.EventText, model.EventReasoning, model.EventArguments:
	default:
		e.CallID, e.CallName = f.r.Text(e.CallID), f.r.Text(e.CallName)
		return e, true
	}
	at := fragment{e.Type, e.Index}
	s := f.streams[at]
	if s == nil {
		if f.streams == nil {
			f.streams = map[fragment]*stream{}
		}
		s = &stream{}
		s.write, s.flush = f.r.Stream()
		f.streams[at] = s
		f.order = append(f.order, at)
	}
	e.Delta = s.write(e.Delta)
	return e, e.Delta != ""
}

// rest is what was held back of every text, in the order in which they began.
func (f *fragments) rest() []model.Event {
	var out []model.Event
	for _, at := range f.order {
		if held := f.streams[at].flush(); held != "" {
			out = append(out, model.Event{Type: at.kind, Index: at.index, Delta: held})
		}
	}
	return out
}
