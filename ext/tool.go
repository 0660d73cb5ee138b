package ext

import (
	"context"
	"encoding/json"
	"fmt"

	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/pages"
)

// Tool is something a model can call. Arguments reach Intent, Preview and Invoke only after they were found to be one JSON
// object that Parameters admits.
type Tool struct {
	Name        string          // 1 to 64 of A-Z a-z 0-9 _ -
	Description string          // for the model
	Parameters  json.RawMessage // JSON Schema object

	// Intent classifies one exact call. It is pure apart from looking at paths, and quick.
	Intent func(args json.RawMessage) policy.Intent
	// Preview shows a person who is asked what the call would do, without doing it; nil when the intent says all.
	Preview func(c *Call, args json.RawMessage) (*pages.Display, error)
	// Invoke runs the call. Refused and every other error are told to the model and the turn goes on; Fatal ends the turn. A
	// panic is refused with a warning that effects are unknown.
	Invoke func(c *Call, args json.RawMessage) (Output, error)
	// Recover is asked after a crash. It reports a stored result or declines; it never runs the call again. nil declines.
	Recover func(c *Call) (Output, bool)
	// Describe is one line for a person about a call, for example "read main.go"; nil shows the name alone. args may be
	// anything a model wrote.
	Describe func(args json.RawMessage) string
}

// Call is one running tool call. Its context ends when the turn is cancelled or the session closes.
type Call struct {
	context.Context
	ID        string
	Session   string
	Workspace string // absolute
	Images    model.ImageLimits
	// Progress shows live output as it comes; it never blocks for long and may drop. Never nil.
	Progress func(delta string)
	// Ask puts a question to the person and waits. It answers the zero Answer, which denies, when nobody is there or the call
	// ends first. Never nil.
	Ask func(Ask) Answer
	// Redact begins a text that comes in fragments and is to be kept without octavo's keys: write answers what can be kept by now,
	// flush what was held back. What goes to the model, the screen and the store is redacted by the session; a tool needs this for
	// what it writes elsewhere itself, and before it cuts a text, where half a key would stay. Each text belongs to one goroutine.
	// Never nil for a call of a session; a nil one has nothing to redact.
	Redact func() (write func(string) string, flush func() string)
}

// Output is what a tool call gave. Parts go to the model (text and images), Display to the screen.
type Output struct {
	Parts   []model.Part
	Display *pages.Display
	IsError bool // the tool worked but what it ran failed; told to the model as an error
	// ExitCode is that of a command which the tool ran to its end; nil otherwise.
	ExitCode *int
}

// TextOutput is an Output of one text part.
func TextOutput(s string) Output { return Output{Parts: []model.Part{model.Text(s)}} }

// Refused is an error whose text the model is told as the result of its call; the turn goes on.
type Refused string

func (r Refused) Error() string { return string(r) }

// Refusef formats a Refused.
func Refusef(format string, args ...any) Refused { return Refused(fmt.Sprintf(format, args...)) }

// Fatal ends the turn: the host can no longer record what the call did, so the model must never be offered a retry.
type Fatal string

func (f Fatal) Error() string { return string(f) }

// AskKind says what form a question takes.
type AskKind string

const (
	AskApproval AskKind = "approval" // may this call run: deny, once, session
	AskConfirm  AskKind = "confirm"  // deny or allow
	AskChoice   AskKind = "choice"   // one of Options
	AskText     AskKind = "text"     // a line of text
	AskSecret   AskKind = "secret"   // a line of text that is shown to nobody and stored nowhere
)

// Option ids of approvals and confirmations (decision 11).
const (
	OptionDeny    = "deny"
	OptionOnce    = "once"
	OptionSession = "session"
	OptionAllow   = "allow"
)

// Ask is a question to the person (design.md, "Asking a person").
type Ask struct {
	Kind    AskKind
	Title   string // one line: what is about to happen
	Body    string // more, in full; "" when Title says all
	Display *pages.Display
	Options []Option // for AskChoice; the others imply theirs
	Source  string   // who asks: an extension's or a tool's name
	Parent  string   // id of the call that asks; the question ends with it
}

// Option is one possible answer.
type Option struct {
	ID    string
	Label string
}

// Answer is what the person said. The zero value denies or cancels.
type Answer struct {
	Option string // id of the chosen option
	Text   string // text, the secret, or the reason of a denial
}

// Allowed reports whether the answer lets something happen.
func (a Answer) Allowed() bool {
	return a.Option == OptionOnce || a.Option == OptionSession || a.Option == OptionAllow
}
