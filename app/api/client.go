// Package api is all that a front end knows of octavo: a Client, the Events of a session and the State they reduce to. It is
// plain data over pages; it knows no model type, no storage and no screen.
package api

import (
	"context"
	"encoding/json"
	"errors"
)

// Client is one front end's way into a home.
type Client interface {
	// Sessions lists sessions, the most recently used first.
	Sessions(ctx context.Context, q SessionQuery) ([]SessionInfo, error)
	// Open makes or opens a session. The error says who holds it when it is open in another process.
	Open(ctx context.Context, r OpenRequest) (Session, error)
}

// SessionQuery chooses sessions of a list. The zero value is every session of the home, bounded by MaxSessions.
type SessionQuery struct {
	Workspace string // absolute; "" for all
	Text      string // part of id, name, first prompt or workspace
	Limit     int    // 0 means MaxSessions
}

// MaxSessions bounds one list of sessions.
const MaxSessions = 500

// OpenRequest says which session to open and how. An empty Model or Effort leaves what the session or the
// configuration says; an empty Policy the stricter of what they say, so that going on never loosens by itself.
type OpenRequest struct {
	ID     string // an id, a unique start of one, or a unique name; "" makes a new session unless Latest is set
	Latest bool   // the workspace's most recent session
	Name   string // names the session, new or not; at most 256 bytes without control characters
	Model  string // provider/model
	Effort string
	Policy string // unsafe_host, controlled or controlled_bash_approval
}

// Session is one open session. Its methods may be called from any goroutine.
type Session interface {
	ID() string
	// Attach answers the present State and a stream of every Event after it. answers says that this client can put questions
	// to a person; while no attached client can, every question is denied at once, also one that is open when the last such client
	// leaves. The stream ends with ctx, with Close, or with ErrLagged.
	Attach(ctx context.Context, answers bool) (*Stream, error)
	// Submit stores the input before it returns: the input survives a crash. While a turn runs it is queued.
	Submit(ctx context.Context, in Input) (Receipt, error)
	// Interrupt cancels the running turn and returns when the request is made, not when the turn has settled. next says whether
	// the oldest input that waits then starts a turn of its own. ErrIdle when nothing runs.
	Interrupt(ctx context.Context, next bool) error
	// Answer settles a question. An unknown or settled one is an error that changes nothing.
	Answer(ctx context.Context, ask string, a Answer) error
	// Run runs a command as it was typed, with its slash.
	Run(ctx context.Context, line string) (Outcome, error)
	// Commands is the catalogue of what Run takes.
	Commands(ctx context.Context) ([]CommandInfo, error)
	// Entries pages the stored history, ascending.
	Entries(ctx context.Context, r Range) ([]Entry, error)
	// Close settles the running turn as interrupted, ends every stream and lets the session go. It waits.
	Close(ctx context.Context) error
}

// Range chooses entries by number: those after After and before Before, both exclusive, 0 leaving that side open. Newest keeps the
// newest Limit of them instead of the oldest.
type Range struct {
	After, Before int64
	Limit         int // 0 means MaxEntries
	Newest        bool
}

// MaxEntries bounds one page of entries.
const MaxEntries = 1000

// InputKind says when an input wants to be read.
type InputKind string

const (
	// InputChat starts a turn, or steers the running one: the model reads it at its next step.
	InputChat InputKind = "chat"
	// InputFollowUp starts a turn of its own after the running one has completed.
	InputFollowUp InputKind = "follow_up"
	// InputContinue carries no text; it goes on with what was interrupted or is waiting in the queue.
	InputContinue InputKind = "continue"
)

// Input is what a person says.
type Input struct {
	Kind    InputKind    `json:"kind"`
	Text    string       `json:"text"`              // at most MaxInput bytes, not blank
	Display string       `json:"display,omitempty"` // what the transcript shows when it differs from Text
	Images  []InputImage `json:"images,omitempty"`  // at most MaxInputImages
}

// InputImage is a picture a person attaches. The type is told from its bytes.
type InputImage struct {
	Name string `json:"name,omitempty"`
	Data []byte `json:"data"`
}

const (
	MaxInput       = 1 << 20 // bytes of text
	MaxInputImages = 8
	MaxInputBytes  = 20 << 20 // bytes of all images of an input
)

// Receipt says what became of an accepted input.
type Receipt struct {
	Turn   string `json:"turn,omitempty"` // the turn that it started or steers
	Seq    int64  `json:"seq,omitempty"`  // its entry; 0 while it is queued
	Queued bool   `json:"queued,omitempty"`
}

// Outcome is what a command answered.
type Outcome struct {
	Text    string          `json:"text,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Receipt *Receipt        `json:"receipt,omitempty"` // when it submitted a turn
	Go      string          `json:"go,omitempty"`      // where the front end should go: GoNew, GoSession, GoQuit
	Session string          `json:"session,omitempty"` // for GoSession
}

const (
	GoNew     = "new"
	GoSession = "session"
	GoQuit    = "quit"
)

// CommandInfo describes one command of the catalogue.
type CommandInfo struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Usage       string         `json:"usage"` // <required> and [optional]
	Arguments   []ArgumentInfo `json:"arguments,omitempty"`
	Extension   string         `json:"extension"`
}

// ArgumentInfo describes one argument.
type ArgumentInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Choices     []string `json:"choices,omitempty"`
}

// Answer settles an Ask. The zero value denies or cancels.
type Answer struct {
	Option string `json:"option,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Errors that a front end decides on.
var (
	ErrLagged  = errors.New("the client fell too far behind; attach again")
	ErrClosed  = errors.New("the session is closed")
	ErrNoModel = errors.New("no model is chosen")
	ErrIdle    = errors.New("nothing is running")
)

// NoModelError says in its own words that no model is chosen and what to type. errors.Is finds ErrNoModel in it.
type NoModelError string

func (e NoModelError) Error() string { return string(e) }

// Is reports whether target is ErrNoModel.
func (e NoModelError) Is(target error) bool { return target == ErrNoModel }
