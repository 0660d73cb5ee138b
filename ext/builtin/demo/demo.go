// Package demo is octavo's offline model: a script that plays the part of one, so that somebody without a key sees every part of the
// program work. It knows the names and arguments of the built-in tools, and no session, file, network or clock: an answer is a pure
// function of a request's messages, tools and effort, and of the workspace it sees what the tools answered.
//
// An answer is made in three steps. What the person said last (heard.go) chooses a scene by the word rules of one table (intent.go).
// The scene is played from its beginning at every request (turn.go): calls that were made already have their results in the
// conversation, and the first one that was not is the answer. What comes out is cut to its bounds and streamed (stream.go).
//
// The script changes nothing but scratch files that it made in the same conversation (scratch.go), runs a command of the person's only
// when they order it in one line, and makes no call at all when it hears a "not". No scene takes more than five answers.
package demo

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"octavo/ext"
	"octavo/ext/model"
)

// Name is the extension's name, Wire what its provider speaks. The model is called Provider/Model, demo/scripted.
const (
	Name     = "demo"
	Wire     = "demo"
	Provider = "demo"
	Model    = "scripted"
)

// What the script says of itself, in tokens. The window is small enough that a person can see it fill.
const (
	windowTokens = 64_000
	outputTokens = 4_000
)

// pace is the wait before each fragment: some 75 of them in a second.
const pace = 13 * time.Millisecond

// New makes the extension.
func New() ext.Extension { return script{pace}.extension() }

// script answers requests.
type script struct {
	pace time.Duration // before each fragment; 0 waits for nothing
}

func (s script) extension() ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "an offline scripted model that shows what octavo can do; no model answers, and it costs nothing",
		Source:      "built-in",
		Providers:   []ext.Provider{{Wire: Wire, Resolve: s.resolve}},
	}
}

// resolve knows one model. What a profile says of its endpoint, its key and its models makes no difference to a script.
func (s script) resolve(p ext.Profile, modelID string) (*model.Upstream, error) {
	provider := cmp.Or(p.Name, Provider)
	if modelID != Model {
		return nil, fmt.Errorf("the demo has no model %q; its only one is %s/%s, which is a script", modelID, provider, Model)
	}
	return &model.Upstream{
		Provider: provider,
		Model:    Model,
		Endpoint: p.Endpoint,
		Info:     info(),
		Stream:   s.stream,
		Probe:    func(context.Context) ([]string, error) { return []string{Model}, nil },
	}, nil
}

// info is what is known of the script: nothing that it does is billed, so every price is 0 and not unknown.
func info() model.Info {
	pictures := true
	return model.Info{
		ContextTokens:   windowTokens,
		MaxOutputTokens: outputTokens,
		Efforts:         []string{effortOff, effortLow, effortHigh},
		Images:          &pictures,
		Price:           &model.Price{CacheRead: model.Count(0), CacheWrite: model.Count(0)},
		Scripted:        true,
	}
}
