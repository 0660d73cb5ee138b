package ext

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Command is something a person types after "/" (plugins.md 5.2).
type Command struct {
	Name        string // with its slash: one token without white space, longer than "/"
	Description string // one line
	Arguments   []Argument
	Run         func(c *CommandCall, args map[string]string) (Outcome, error)
}

// Argument is one positional argument. Each takes one token; the last takes the rest of the line.
type Argument struct {
	Name        string
	Description string
	Required    bool
	Choices     []string // when set, nothing else is taken
}

// Usage renders how the command is typed: <required> and [optional] arguments.
func (c Command) Usage() string {
	var b strings.Builder
	b.WriteString(c.Name)
	for _, a := range c.Arguments {
		name := a.Name
		if len(a.Choices) > 0 {
			name = strings.Join(a.Choices, "|")
		}
		if a.Required {
			fmt.Fprintf(&b, " <%s>", name)
		} else {
			fmt.Fprintf(&b, " [%s]", name)
		}
	}
	return b.String()
}

// CommandCall is one run of a command, outside the session's goroutine; it reaches session state only through Bridge.
type CommandCall struct {
	context.Context
	Session   string
	Workspace string
	Bridge    Bridge
}

// Outcome is what a command answers. The fields do not exclude each other.
type Outcome struct {
	Text string          // for a person, preformatted lines
	Data json.RawMessage // the same for a program; nil when Text is all there is
	Turn *Turn           // a turn to submit
	Go   *Go             // where the front end should go next
}

// Turn is input that a command submits.
type Turn struct {
	Display string // what the transcript shows
	Text    string // what the model reads
}

// Go asks a front end to leave where it is.
type Go struct {
	To      string // GoNew, GoSession or GoQuit
	Session string // id, for GoSession
}

const (
	GoNew     = "new"
	GoSession = "session"
	GoQuit    = "quit"
)

// Bridge is the closed set of what a command may do to its session (plugins.md 5.2).
type Bridge interface {
	// Model reports the session's model (provider/model, "" when none), its effort and every model that is configured.
	Model(ctx context.Context) (ModelState, error)
	// SelectModel changes model, effort or both at the next request; an empty value keeps what is set.
	SelectModel(ctx context.Context, modelID, effort string) (ModelState, error)
	// NextModel selects the model that step places lead to among those to switch among.
	NextModel(ctx context.Context, step int) (ModelState, error)
	// Rename names the session; at most 256 bytes without control characters. "" takes the name away.
	Rename(ctx context.Context, name string) error
	// Report describes the session: identity, counts, tokens, cost and what fills the window.
	Report(ctx context.Context) (Report, error)
	// Fork starts another session from this one's entries 1 to at, 0 for all, and answers its id; summary replaces the copied
	// history by a summary that the session's model writes, which is a billed request.
	Fork(ctx context.Context, at int64, summary bool) (string, error)
	// Queue adds a follow-up that starts after the running turn, or at once while none runs.
	Queue(ctx context.Context, text string) error
	// Continue goes on with what was interrupted or waits in the queue; an error says so when there is nothing.
	Continue(ctx context.Context) error
	// Sessions lists the home's sessions, newest first.
	Sessions(ctx context.Context, query string, everywhere bool) ([]SessionLine, error)
	// Commands is the session's command catalogue.
	Commands(ctx context.Context) ([]Command, error)
}

// ModelState is what a session runs on.
type ModelState struct {
	Model   string   `json:"model"`
	Effort  string   `json:"effort,omitempty"`
	Known   []string `json:"known"`             // every configured provider/model
	Efforts []string `json:"efforts,omitempty"` // levels that Model takes; nil when unknown
	// Catalogued is how many models of Model's provider the catalogue describes; 0 when it does not know the provider.
	Catalogued int `json:"catalogued,omitempty"`
	// Scripted says that Model is octavo's demo: a script answers, and nothing is billed.
	Scripted bool `json:"scripted,omitempty"`
}

// SessionLine is one session in a list.
type SessionLine struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Title     string `json:"title,omitempty"` // what a model calls it
	Preview   string `json:"preview,omitempty"`
	Workspace string `json:"workspace"`
	Updated   string `json:"updated"` // RFC 3339
	Entries   int64  `json:"entries"`
}

// Report is what a session knows of itself. Nil counts are unknown.
type Report struct {
	ID         string            `json:"id"`
	Name       string            `json:"name,omitempty"`
	Workspace  string            `json:"workspace"`
	Model      string            `json:"model,omitempty"`
	Effort     string            `json:"effort,omitempty"`
	Policy     string            `json:"policy"`
	Entries    int64             `json:"entries"`
	Requests   int64             `json:"requests"`
	Input      int64             `json:"input"` // tokens; the three input buckets do not overlap
	CacheRead  int64             `json:"cache_read"`
	CacheWrite int64             `json:"cache_write"`
	Output     int64             `json:"output"`
	Reasoning  int64             `json:"reasoning"`            // part of Output
	CostMicro  *int64            `json:"cost_micro,omitempty"` // microdollars; nil when no request could be priced
	Unpriced   int64             `json:"unpriced,omitempty"`   // requests without a price
	Unreported int64             `json:"unreported,omitempty"` // requests without token counts
	Window     int               `json:"window,omitempty"`     // tokens; 0 unknown
	Context    []ContextPart     `json:"context"`
	Inactive   map[string]string `json:"inactive,omitempty"` // extension to reason
	Scripted   bool              `json:"scripted,omitempty"` // Model is octavo's demo
}

// ContextPart is one kind of thing that fills the window, in estimated tokens.
type ContextPart struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}
