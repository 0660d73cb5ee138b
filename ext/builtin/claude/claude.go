// Package claude contributes the provider for every server that speaks Anthropic Messages (plugins.md 4.20 and 8.2, deps.md 7). It
// knows the wire and no session: a request is encoded by a pure function, a stream decoded by another, and ext/model does what all
// wires share.
package claude

import (
	"context"
	"maps"
	"strings"

	"octavo/ext"
	"octavo/ext/model"
)

// Name is the extension's name, Wire what its provider speaks.
const (
	Name = "claude"
	Wire = "anthropic-messages"
)

// The versions of the wire (deps.md 7). The first takes the key as x-api-key; from the second on it is a bearer token. A profile
// chooses with a header anthropic-version; versions are dates, so they compare as text. Nothing else differs in what octavo
// sends: what the second version took away (temperature, top_p, top_k) is never sent.
const (
	VersionHeader = "anthropic-version"
	Version       = "2023-06-01"
	BearerVersion = "2026-10-21"
)

// What is sent of pictures (plugins.md 4.20). The provider's bound of 5 MiB is one of base64, which is a third longer than what it
// holds.
const (
	maxImageEdge  = 2000
	maxImageCount = 100
	maxImageBytes = 5 << 20 / 4 * 3
)

// New makes the extension over a client that the caller owns and closes, so that wires can share one.
func New(c *model.Client) ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "models behind Anthropic Messages: Claude and compatible servers",
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
	e.Key, e.KeySource = p.Key, p.KeySource
	setVersion(e, p.Headers)
	w := wire(dialectOf(e.Host(), p.Models[modelID]))
	return &model.Upstream{
		Provider: p.Name,
		Model:    modelID,
		Endpoint: e.URL,
		Images:   model.ImageLimits{MaxEdge: maxImageEdge, MaxCount: maxImageCount, MaxBytes: maxImageBytes},
		Info:     p.Models[modelID],
		Stream: func(ctx context.Context, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
			return c.Ask(ctx, e, w, r, emit)
		},
		Probe: func(ctx context.Context) ([]string, error) { return c.ListModels(ctx, e, w) },
	}, nil
}

// setVersion sets the headers of a profile, the version when they name none, and how the key is sent.
func setVersion(e *model.Endpoint, headers map[string]string) {
	version := ""
	for name, value := range headers {
		if strings.EqualFold(name, VersionHeader) {
			version = value
		}
	}
	e.Headers = maps.Clone(headers)
	if version == "" {
		version = Version
		if e.Headers == nil {
			e.Headers = make(map[string]string, 1)
		}
		e.Headers[VersionHeader] = version
	}
	if version < BearerVersion {
		e.KeyHeader = "x-api-key"
	}
}

// dialect is what of a server and a model decides how a request is written.
type dialect struct {
	// official is Anthropic itself, which refuses thinking without a signature; some that copy it sign nothing.
	official bool
	info     model.Info
}

func dialectOf(host string, info model.Info) dialect {
	return dialect{official: host == "api.anthropic.com", info: info}
}

// wire is the wire of Messages. The list of models comes in pages; a thousand is the largest one.
func wire(d dialect) model.Wire {
	return model.Wire{
		Path:   "/messages",
		Models: "/models?limit=1000",
		Encode: func(r model.Request) ([]byte, error) { return encode(r, d) },
		Decode: func(maker string, emit func(model.Event) error) model.Decoder { return newDecoder(maker, emit) },
	}
}
