// Package openai contributes the provider for every server that speaks OpenAI's chat completions: OpenAI itself, OpenRouter,
// LM Studio, llama.cpp, Ollama, vLLM and the rest (plugins.md 4.15, deps.md 7). It knows the wire and no session: a request is
// encoded by a pure function, a stream decoded by another, and ext/model does what all wires share.
package openai

import (
	"context"

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
	e, err := model.NewEndpoint(p.Name, modelID, p.Endpoint)
	if err != nil {
		return nil, err
	}
	e.Headers, e.Key, e.KeySource = p.Headers, p.Key, p.KeySource
	w := chat(dialectOf(e.Host()))
	return &model.Upstream{
		Provider: p.Name,
		Model:    modelID,
		Endpoint: e.URL,
		Images:   model.ImageLimits{MaxEdge: maxImageEdge, MaxBytes: maxImageBytes},
		Info:     p.Models[modelID],
		Stream: func(ctx context.Context, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
			return c.Ask(ctx, e, w, r, emit)
		},
		Probe: func(ctx context.Context) ([]string, error) { return c.ListModels(ctx, e, w) },
	}, nil
}

// chat is the wire of chat completions.
func chat(d dialect) model.Wire {
	return model.Wire{
		Path:   "/chat/completions",
		Models: "/models",
		Encode: func(r model.Request) ([]byte, error) { return encodeChat(r, d) },
		Decode: func(maker string, emit func(model.Event) error) model.Decoder { return newChatDecoder(maker, emit) },
	}
}
