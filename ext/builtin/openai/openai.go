// Package openai contributes the provider for every server that speaks OpenAI's chat completions: OpenAI itself, OpenRouter,
// LM Studio, llama.cpp, Ollama, vLLM and the rest (plugins.md 4.15, deps.md 7). It knows the wire and no session: a request is
// encoded by a pure function, a stream decoded by another, and ext/model does what all wires share.
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"octavo/ext"
	"octavo/ext/model"
)

// Name is the extension's name, Wire what its provider speaks.
const (
	Name = "openai"
	Wire = "openai-chat"
)

// What is sent of pictures to a model whose limits are not known (product.md 7).
const (
	maxImageEdge  = 4000
	maxImageBytes = 5 << 20
)

// New makes the extension over a client that the caller owns and closes, so that wires can share one.
func New(c *model.Client) ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "models behind OpenAI chat completions: OpenAI, OpenRouter and local servers",
		Source:      "built-in",
		Providers: []ext.Provider{{
			Wire:    Wire,
			Resolve: func(p ext.Profile, modelID string) (*model.Upstream, error) { return resolve(c, p, modelID) },
		}},
	}
}

// resolve does no I/O. It refuses a profile that cannot name an address or a model.
func resolve(c *model.Client, p ext.Profile, modelID string) (*model.Upstream, error) {
	u, err := url.Parse(p.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("provider %s: the endpoint %q is no http or https address; set one like http://127.0.0.1:1234/v1", p.Name, p.Endpoint)
	}
	if modelID == "" {
		return nil, fmt.Errorf("provider %s: no model is named; choose one as %s/MODEL", p.Name, p.Name)
	}
	e := &model.Endpoint{
		Provider:  p.Name,
		Model:     modelID,
		URL:       strings.TrimRight(p.Endpoint, "/"),
		Headers:   p.Headers,
		Key:       p.Key,
		KeySource: p.KeySource,
	}
	d := dialectOf(u.Hostname())
	return &model.Upstream{
		Provider: p.Name,
		Model:    modelID,
		Endpoint: e.URL,
		Images:   model.ImageLimits{MaxEdge: maxImageEdge, MaxBytes: maxImageBytes},
		Info:     p.Models[modelID],
		Stream: func(ctx context.Context, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
			return stream(ctx, c, e, d, r, emit)
		},
		Probe: func(ctx context.Context) ([]string, error) { return probe(ctx, c, e) },
	}, nil
}

// stream asks once. A request that names no model or maker means the endpoint's.
func stream(ctx context.Context, c *model.Client, e *model.Endpoint, d dialect, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
	if r.Model == "" {
		r.Model = e.Model
	}
	if r.Maker == "" {
		r.Maker = e.Provider + "/" + e.Model
	}
	body, err := encode(r, d)
	if err != nil {
		return nil, &model.Error{Class: model.ErrRequest, Provider: e.Provider, Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	reply, err := c.Stream(ctx, e, "/chat/completions", body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	dec := newDecoder(r.Maker, emit)
	for {
		ev, err := reply.Next()
		if err == nil {
			if err := dec.event(ev); err != nil {
				return nil, reply.Fail(err)
			}
			continue
		}
		if err != io.EOF && !(dec.finished() && endsOnly(err)) {
			return nil, err
		}
		answer, err := dec.answer(reply.Done())
		if err != nil {
			return nil, reply.Fail(err)
		}
		return answer, nil
	}
}

// endsOnly reports an error that does no harm to an answer that is complete already: what is missing is the usage at most.
func endsOnly(err error) bool {
	class := model.ClassOf(err)
	return class == model.ErrCut || class == model.ErrTimeout
}

// probe lists the models of the endpoint.
func probe(ctx context.Context, c *model.Client, e *model.Endpoint) ([]string, error) {
	doc, err := c.Get(ctx, e, "/models")
	if err != nil {
		return nil, err
	}
	ids, err := readModels(doc)
	if err != nil {
		return nil, &model.Error{Class: model.ErrMalformed, Provider: e.Provider, Message: "the list of models is none that octavo understands", Err: err}
	}
	return ids, nil
}

// readModels takes ids out of a list of models, sorted. The list stands under data; Together and a few others send it alone.
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
