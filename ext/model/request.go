package model

import (
	"context"
	"encoding/json"
)

// Request is everything a provider needs for one answer. It is frozen once built: providers must not change it, and a retry
// sends the same one, so that a provider's prompt cache is hit.
type Request struct {
	Model     string   // the provider's own id for the model
	Maker     string   // provider/model, compared with Reasoning.Maker and Opaque.Maker
	System    []string // instruction blocks, stable ones first
	Messages  []Message
	Tools     []ToolSpec // in composition order; empty: no tools
	Effort    string     // one of Efforts; "" leaves the provider's default
	MaxOutput int        // tokens; 0 leaves the provider's default
	CacheKey  string     // an opaque id of the session, for providers that route by one; "" for none
}

// Efforts are the reasoning levels of Request.Effort, from none to the most.
var Efforts = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// ToolSpec tells the model about one tool. Parameters is a JSON Schema object.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// EventType names what a stream event adds.
type EventType int

const (
	EventStarted   EventType = iota + 1 // the provider accepted the request and began to answer
	EventText                           // Delta is more of the answer
	EventReasoning                      // Delta is more of the reasoning
	EventCall                           // a tool call begins: CallID and CallName are set
	EventArguments                      // Delta is more of the arguments of call Index
)

// Event is one step of a streamed answer. Deltas are fragments; the whole answer is what Stream returns.
type Event struct {
	Type     EventType
	Delta    string
	Index    int // position of the tool call among the answer's calls, from 0
	CallID   string
	CallName string
}

// Finish says why a model stopped.
type Finish string

const (
	FinishComplete Finish = "complete"
	FinishCalls    Finish = "tool_calls"
	FinishLength   Finish = "length"
	FinishFiltered Finish = "filtered"
	FinishOther    Finish = "other"
)

// Answer is one completed response.
type Answer struct {
	Parts  []Part
	Finish Finish
	Reason string // the provider's own word for Finish
	Usage  Usage
	ID     string // the provider's id of the response; "" when it gives none
	Model  string // the model that says it answered; "" when it does not say
}

// Usage counts the tokens of one request. A nil count was not reported, which is not 0. Input, CacheRead and CacheWrite do
// not overlap; Reasoning is a part of Output.
type Usage struct {
	Input, CacheRead, CacheWrite, Output, Reasoning *int64
}

// Count makes a reported number of tokens.
func Count(n int64) *int64 { return &n }

// ImageLimits is what a provider accepts in one request. Zero values mean no limit of that kind.
type ImageLimits struct {
	MaxEdge  int // pixels of the longer side
	MaxCount int // pictures in one request
	MaxBytes int // of one picture
}

// Upstream is one model at one provider, ready to be asked (plugins.md 1.7). It is safe for use by one request at a time.
type Upstream struct {
	Provider string // configured name
	Model    string // the provider's own id
	Endpoint string
	Images   ImageLimits
	Info     Info
	// Stream asks once and never retries. It calls emit from its own goroutine's stack, in order, until the answer is complete;
	// an error from emit ends the stream with that error. A failure is an *Error, or the context's error when ctx ended first.
	Stream func(ctx context.Context, r Request, emit func(Event) error) (*Answer, error)
	// Probe asks the endpoint whether it is there and, when it can tell, whether it knows the model. For octavo doctor.
	Probe func(ctx context.Context) (models []string, err error)
}

// ID is the name a person uses for the model: provider/model.
func (u *Upstream) ID() string { return u.Provider + "/" + u.Model }

// Info is what is known of a model. Zero or nil is unknown, never "none" (plugins.md 1.7, decision 8).
type Info struct {
	ContextTokens   int      // the window, input and output together
	MaxOutputTokens int      //
	Efforts         []string // levels it takes
	Images          *bool    // whether it reads pictures
	Price           *Price
	Scripted        bool // no model answers but a script inside octavo: said wherever its name or cost is shown
}

// Price is in microdollars for a million tokens. CacheRead and CacheWrite nil means cached input is billed as Input.
type Price struct {
	Input      int64  `toml:"input" json:"input"`
	Output     int64  `toml:"output" json:"output"`
	CacheRead  *int64 `toml:"cache_read" json:"cache_read,omitempty"`
	CacheWrite *int64 `toml:"cache_write" json:"cache_write,omitempty"`
}
