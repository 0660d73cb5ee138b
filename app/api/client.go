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
	// Models lists the models a person can choose: those of the scope first, in its order, then the rest by name.
	Models(ctx context.Context) ([]ModelInfo, error)
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
	// Fork makes a new session that begins as a copy of the one that ID names, of its entries 1 to ForkAt; 0 is all of them.
	Fork   bool
	ForkAt int64
	// Private keeps a new session out of every list and removes it when it is closed. What it cost stays counted.
	Private bool
}

// ModelInfo is what is known of a model that can be chosen. Zero or nil is unknown.
type ModelInfo struct {
	ID         string     `json:"id"`             // provider/model
	Name       string     `json:"name,omitempty"` // for a person
	Configured bool       `json:"configured,omitempty"`
	Scoped     bool       `json:"scoped,omitempty"`         // part of the scope that ctrl+p walks
	Effort     string     `json:"effort,omitempty"`         // that the scope asks for
	Context    int        `json:"context_tokens,omitempty"` // the window, input and output together
	MaxOutput  int        `json:"max_output_tokens,omitempty"`
	Reasons    *bool      `json:"reasons,omitempty"`
	Images     *bool      `json:"images,omitempty"`
	Efforts    []string   `json:"efforts,omitempty"`
	Price      *ModelCost `json:"price,omitempty"`
	Scripted   bool       `json:"scripted,omitempty"` // a demo: no model answers
}

// ModelCost is in microdollars for a million tokens. A nil cache price is that of Input.
type ModelCost struct {
	Input      int64  `json:"input"`
	Output     int64  `json:"output"`
	CacheRead  *int64 `json:"cache_read,omitempty"`
	CacheWrite *int64 `json:"cache_write,omitempty"`
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
	// Answer settles a question with at most MaxAnswer bytes of text. An unknown or settled one is an error that changes nothing.
	Answer(ctx context.Context, ask string, a Answer) error
	// Run runs a command as it was typed, with its slash.
	Run(ctx context.Context, line string) (Outcome, error)
	// Commands is the catalogue of what Run takes.
	Commands(ctx context.Context) ([]CommandInfo, error)
	// SelectModel changes model, effort or both from the next request on; an empty value keeps what is set. An effort that the new
	// model does not take is dropped unless it was asked for.
	SelectModel(ctx context.Context, model, effort string) (SessionInfo, error)
	// Rename names the session; at most 256 bytes without control characters. "" takes the name away.
	Rename(ctx context.Context, name string) error
	// Shell runs a command of the person's own, with the shell that the session's tools use, and stores it with the end of its
	// output. One at a time; the end of ctx ends the command and all it started. progress, when not nil, gets the output as it comes.
	Shell(ctx context.Context, r ShellRequest, progress func(string)) (ShellResult, error)
	// Behave changes how waiting inputs are taken and whether failed requests are made again; what is "" or nil stays. It answers
	// what is in force. It lasts until the session is closed.
	Behave(ctx context.Context, b Behaviour) (Behaviour, error)
	// AbortRetry gives up a request that waits to be made again, as if no attempt were left. ErrIdle when none waits.
	AbortRetry(ctx context.Context) error
	// Entries pages the stored history, ascending.
	Entries(ctx context.Context, r Range) ([]Entry, error)
	// Close settles the running turn as interrupted, ends every stream and lets the session go. It waits.
	Close(ctx context.Context) error
}

// ShellRequest is a command line of the person's own (product.md 2.2, "Shell escape").
type ShellRequest struct {
	Command string // at most MaxShellCommand bytes, not blank
	Exclude bool   // no model reads it
}

const (
	MaxShellCommand = 128 << 10 // bytes of a command line
	MaxShellRecord  = 32 << 10  // bytes of output that are stored and that a model reads
)

// ShellResult is how a command of the person's own ended.
type ShellResult struct {
	Output    string `json:"output"` // at most MaxShellRecord bytes, the middle left out
	ExitCode  *int   `json:"exitCode"`
	Cancelled bool   `json:"cancelled"`
	Truncated bool   `json:"truncated"`
	Seq       int64  `json:"entry"` // its entry
}

// QueueMode says how many waiting inputs are taken at once.
type QueueMode string

const (
	QueueAll QueueMode = "all"
	QueueOne QueueMode = "one-at-a-time"
)

// Behaviour is what a client may change of how a session works. As it opens, all steering is read at the next step, follow-ups start
// turns of their own, and failed requests are made again where that makes sense.
type Behaviour struct {
	Steering  QueueMode `json:"steeringMode"`
	FollowUp  QueueMode `json:"followUpMode"`
	AutoRetry *bool     `json:"autoRetry"`
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

// MaxAnswer bounds the text of an answer, in bytes.
const MaxAnswer = 256 << 10

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
