// Package openai contributes the providers for OpenAI and for every server that speaks one of its two wires: chat completions
// (OpenRouter, LM Studio, llama.cpp, Ollama, vLLM and the rest) and Responses (plugins.md 4.15, deps.md 7). It knows the wires and
// no session: a request is encoded by a pure function, a stream decoded by another, and ext/model does what all wires share.
package openai

import (
	"context"
	"strings"

	"octavo/ext"
	"octavo/ext/model"
)

// Name is the extension's name, Wire and ResponsesWire what its providers speak.
const (
	Name          = "openai"
	Wire          = "openai-chat"
	ResponsesWire = "openai-responses"
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
		Description: "models behind OpenAI chat completions and Responses: OpenAI, OpenRouter and local servers",
		Source:      "built-in",
		Providers:   []ext.Provider{provider(c, Wire, chat), provider(c, ResponsesWire, responses)},
	}
}

// provider resolves profiles of one wire, without I/O. It refuses a profile that cannot name an address or a model.
func provider(c *model.Client, name string, wire func(dialect) model.Wire) ext.Provider {
	return ext.Provider{Wire: name, Resolve: func(p ext.Profile, modelID string) (*model.Upstream, error) {
		e, err := model.NewEndpoint(p.Name, modelID, p.Endpoint)
		if err != nil {
			return nil, err
		}
		e.Headers, e.Key, e.KeySource = p.Headers, p.Key, p.KeySource
		w := wire(dialectOf(e.Host()))
		return &model.Upstream{
			Provider: p.Name,
			Model:    modelID,
			Endpoint: e.URL,
			Images:   model.ImageLimits{MaxEdge: maxImageEdge, MaxBytes: maxImageBytes},
			Info:     p.Models[modelID],
			Stream: func(ctx context.Context, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
				if levels := p.Models[modelID].Efforts; len(levels) == 1 && levels[0] == r.Effort {
					r.Effort = "" // a model with one level, off for one that does not think, need not and may not be told
				}
				return c.Ask(ctx, e, w, r, emit)
			},
			Probe: func(ctx context.Context) ([]string, error) { return c.ListModels(ctx, e, w) },
		}, nil
	}}
}

// dialect is how one family of servers differs from the rest in what it is sent.
type dialect struct {
	// official is OpenAI itself: it wants max_completion_tokens, which many others do not know, and routes by
	// prompt_cache_key, which strict others refuse.
	official bool
}

func dialectOf(host string) dialect {
	host = strings.ToLower(host)
	return dialect{official: host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")}
}

// effort is both wires' word for a level: they say none for off.
func effort(level string) string {
	if level == "off" {
		return "none"
	}
	return level
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

// responses is the wire of Responses. Its last event repeats the whole answer on one line, so a line may be what an event may be.
func responses(d dialect) model.Wire {
	return model.Wire{
		Path:    "/responses",
		Models:  "/models",
		MaxLine: model.MaxEvent,
		Encode:  func(r model.Request) ([]byte, error) { return encodeResponses(r, d) },
		Decode: func(maker string, emit func(model.Event) error) model.Decoder {
			return newResponsesDecoder(maker, emit)
		},
	}
}
