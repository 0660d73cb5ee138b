package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// Wire is one provider protocol over event streams: where a request goes, how it is written, and how its answer is read.
type Wire struct {
	Path    string // below the endpoint
	Models  string // where the endpoint lists its models, below the endpoint
	MaxLine int    // longest line of an event stream, in bytes; 0 stands for MaxEventLine
	// Encode writes a request. It is pure: one request always gives the same bytes, so that a provider's prompt cache is hit.
	Encode func(Request) ([]byte, error)
	// Decode begins an answer of maker (provider/model) whose events go to emit.
	Decode func(maker string, emit func(Event) error) Decoder
}

// Decoder turns the events of one stream into an answer. It does no I/O. Its errors are *Error without a provider, or what emit
// returned.
type Decoder interface {
	Event(SSE) error
	Progress() Progress
	// Answer ends the stream. over says that it ended with [DONE] or Ended, not just somewhere.
	Answer(over bool) (*Answer, error)
}

// Progress is how far a stream has come.
type Progress int

const (
	Streaming Progress = iota // the answer is not complete
	Stopped                   // the provider said why it stopped: only the usage can be missing
	Ended                     // nothing more comes
)

// NewEndpoint is the endpoint of a configured provider and one of its models, without headers and key. It refuses what cannot
// name an address or a model, in words for a person.
func NewEndpoint(provider, model, address string) (*Endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("provider %s: the endpoint %q is no http or https address; set one like http://127.0.0.1:1234/v1", provider, address)
	}
	if model == "" {
		return nil, fmt.Errorf("provider %s: no model is named; choose one as %s/MODEL", provider, provider)
	}
	return &Endpoint{Provider: provider, Model: model, URL: strings.TrimRight(address, "/")}, nil
}

// Host is the endpoint's host in lower case, without a port; "" when the URL has none.
func (e *Endpoint) Host() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Ask sends one request over a wire and reads its answer, as Upstream.Stream promises. A request that names no model or maker
// means the endpoint's.
func (c *Client) Ask(ctx context.Context, e *Endpoint, w Wire, r Request, emit func(Event) error) (*Answer, error) {
	if r.Model == "" {
		r.Model = e.Model
	}
	if r.Maker == "" {
		r.Maker = e.Provider + "/" + e.Model
	}
	body, err := w.Encode(r)
	if err != nil {
		return nil, &Error{Class: ErrRequest, Provider: e.Provider, Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	reply, err := c.Stream(ctx, e, w.Path, body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	reply.events.maxLine = max(w.MaxLine, MaxEventLine)
	answer, err := reply.read(w.Decode(r.Maker, emit))
	if err != nil {
		return nil, reply.Fail(err)
	}
	return answer, nil
}

// read takes a stream to its end. Once the provider said why it stopped, a lost tail costs the usage and not the answer.
func (r *Reply) read(d Decoder) (*Answer, error) {
	for d.Progress() != Ended {
		ev, err := r.Next()
		switch {
		case err == nil:
			err = d.Event(ev)
		case err == io.EOF, d.Progress() == Stopped && endsOnly(err):
			return d.Answer(r.Done())
		}
		if err != nil {
			return nil, err
		}
	}
	r.ended = true
	return d.Answer(true)
}

// endsOnly reports an error that does no harm to an answer that is complete already.
func endsOnly(err error) bool {
	class := ClassOf(err)
	return class == ErrCut || class == ErrTimeout
}

// ListModels asks the endpoint for the ids of its models, sorted.
func (c *Client) ListModels(ctx context.Context, e *Endpoint, w Wire) ([]string, error) {
	doc, err := c.Get(ctx, e, w.Models)
	if err != nil {
		return nil, err
	}
	ids, err := readModels(doc)
	if err != nil {
		return nil, &Error{Class: ErrMalformed, Provider: e.Provider, Message: "the list of models is none that octavo understands", Err: err}
	}
	return ids, nil
}

// readModels takes ids out of a list of models. The list stands under data; Together and a few others send it alone.
func readModels(doc []byte) ([]string, error) {
	type item struct {
		ID string `json:"id"`
	}
	var list struct {
		Data []item `json:"data"`
	}
	if err := json.Unmarshal(doc, &list); err != nil {
		if json.Unmarshal(doc, &list.Data) != nil {
			return nil, err
		}
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
