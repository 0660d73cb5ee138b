package api

import (
	"cmp"
	"time"

	"octavo/pages"
)

// EventType names which field of an Event is set.
type EventType string

const (
	EventSession  EventType = "session"  // Session: name, model, effort or policy changed
	EventEntry    EventType = "entry"    // Entry: a fact was stored
	EventTurn     EventType = "turn"     // Turn: a turn began or changed its phase
	EventDelta    EventType = "delta"    // Delta: more of the answer that is being written
	EventWithdraw EventType = "withdraw" // the answer that was being written is void
	EventTool     EventType = "tool"     // Tool: a call began to run
	EventProgress EventType = "progress" // Progress: live output of a call
	EventRetry    EventType = "retry"    // Retry: a request failed and will be made again
	EventIdle     EventType = "idle"     // work that is no turn of the person's ended
	EventQueue    EventType = "queue"    // Queue: the whole queue as it now is
	EventAsk      EventType = "ask"      // Ask: a question is open
	EventAnswered EventType = "answered" // Ask (its ID only): a question is settled
	EventUsage    EventType = "usage"    // Usage: the session's totals as they now are
	EventNotice   EventType = "notice"   // Notice: a line for the person, not stored
)

// Event is one step of a session's life, numbered without gaps per (Session, Epoch); an epoch begins when a process opens the
// session. A client that was slow may get several deltas as one Event: From is then the number of the first of them.
type Event struct {
	Session string    `json:"session"`
	Epoch   int64     `json:"epoch"`
	Seq     uint64    `json:"seq"`
	From    uint64    `json:"from,omitempty"`
	Time    time.Time `json:"time"`
	Type    EventType `json:"type"`

	Info     *SessionInfo `json:"info,omitempty"`
	Entry    *Entry       `json:"entry,omitempty"`
	Turn     *TurnInfo    `json:"turn,omitempty"`
	Delta    *Delta       `json:"delta,omitempty"`
	Tool     *ToolRun     `json:"tool,omitempty"`
	Progress *Progress    `json:"progress,omitempty"`
	Retry    *Retry       `json:"retry,omitempty"`
	Queue    []Queued     `json:"queue,omitempty"`
	Ask      *Ask         `json:"ask,omitempty"`
	Usage    *Usage       `json:"usage,omitempty"`
	Notice   *Notice      `json:"notice,omitempty"`
}

// first is the number of the first event that e stands for.
func (e Event) first() uint64 {
	if e.From != 0 {
		return e.From
	}
	return e.Seq
}

// complete reports whether e carries what its type says.
func (e Event) complete() bool {
	switch e.Type {
	case EventSession:
		return e.Info != nil
	case EventEntry:
		return e.Entry != nil && (e.Entry.Kind != EntryResult || e.Entry.Call != nil) &&
			(e.Entry.Kind != EntryShell || e.Entry.Call != nil && e.Entry.Result != nil)
	case EventTurn:
		return e.Turn != nil
	case EventDelta:
		return e.Delta != nil
	case EventTool:
		return e.Tool != nil
	case EventProgress:
		return e.Progress != nil
	case EventRetry:
		return e.Retry != nil
	case EventAsk, EventAnswered:
		return e.Ask != nil
	case EventUsage:
		return e.Usage != nil
	case EventNotice:
		return e.Notice != nil
	default: // those that say all by their type, and those of a newer octavo
		return true
	}
}

// SessionInfo is what a list shows of a session.
type SessionInfo struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Title     string    `json:"title,omitempty"` // what a model calls it; Name is the person's and stands above it
	Tags      []string  `json:"tags,omitempty"`
	Preview   string    `json:"preview,omitempty"` // the start of its first prompt
	Workspace string    `json:"workspace"`
	Model     string    `json:"model,omitempty"` // provider/model
	Effort    string    `json:"effort,omitempty"`
	Policy    string    `json:"policy"`
	Parent    string    `json:"parent,omitempty"` // the session it was forked from
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Entries   int64     `json:"entries"`
	Window    int       `json:"window,omitempty"`   // tokens that Model takes; 0 unknown
	Scripted  bool      `json:"scripted,omitempty"` // Model is a demo: a script answers, nothing is billed
	Private   bool      `json:"private,omitempty"`  // not listed, removed when it is closed
}

// Called is what a person calls the session: its name, else its title, else how it began; "" when nothing was said yet.
func (i SessionInfo) Called() string { return cmp.Or(i.Name, i.Title, i.Preview) }

// Phase is what a turn is doing.
type Phase string

const (
	PhasePreparing    Phase = "preparing"
	PhaseWaiting      Phase = "waiting" // for the model's first word
	PhaseGenerating   Phase = "generating"
	PhaseTools        Phase = "tools"
	PhaseRetrying     Phase = "retrying"
	PhaseInterrupting Phase = "interrupting"
	PhaseSummarizing  Phase = "summarizing"
)

// TurnInfo identifies a turn and says what it is doing.
type TurnInfo struct {
	ID      string    `json:"id"`
	Phase   Phase     `json:"phase"`
	Step    int       `json:"step"` // model requests so far, the present one included
	Started time.Time `json:"started"`
}

// DeltaKind says what a delta adds to.
type DeltaKind string

const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaCall      DeltaKind = "call"      // a tool call begins; CallID and Tool are set
	DeltaArguments DeltaKind = "arguments" // more of the arguments of call Index
)

// Delta is a fragment of the answer that is being written.
type Delta struct {
	Kind   DeltaKind `json:"kind"`
	Text   string    `json:"text,omitempty"`
	Index  int       `json:"index,omitempty"` // of the tool call, from 0
	CallID string    `json:"call_id,omitempty"`
	Tool   string    `json:"tool,omitempty"`
}

// ToolRun is a call that runs.
type ToolRun struct {
	Call    Call      `json:"call"`
	Started time.Time `json:"started"`
	Output  Text      `json:"output,omitempty"`  // the newest MaxLiveOutput bytes of live output
	Omitted int64     `json:"omitted,omitempty"` // bytes of live output before Output
}

// MaxLiveOutput is how much live output of one call a State keeps, in bytes.
const MaxLiveOutput = 64 << 10

// Progress is live output of a running call.
type Progress struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// Retry says that a request failed and when it is made again.
type Retry struct {
	Attempt int           `json:"attempt"` // the one that failed, from 1
	Most    int           `json:"most"`
	Delay   time.Duration `json:"delay_ns"`
	Error   string        `json:"error"`
}

// Queued is an accepted input that waits.
type Queued struct {
	ID   string    `json:"id"`
	Kind InputKind `json:"kind"`
	Text string    `json:"text"`
}

// AskKind says what form a question takes.
type AskKind string

const (
	AskApproval AskKind = "approval"
	AskConfirm  AskKind = "confirm"
	AskChoice   AskKind = "choice"
	AskText     AskKind = "text"
	AskSecret   AskKind = "secret"
)

// Ask is an open question to the person.
type Ask struct {
	ID      string         `json:"id"`
	Kind    AskKind        `json:"kind"`
	Title   string         `json:"title,omitempty"`
	Body    string         `json:"body,omitempty"`
	Display *pages.Display `json:"display,omitempty"`
	Options []Option       `json:"options,omitempty"`
	Source  string         `json:"source,omitempty"` // who asks
	Parent  string         `json:"parent,omitempty"` // the tool call that asks
}

// Ids of the options that approvals (deny, once, session) and confirmations (deny, allow) have (decision 11).
const (
	OptionDeny    = "deny"
	OptionOnce    = "once"
	OptionSession = "session"
	OptionAllow   = "allow"
)

// Option is one possible answer.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Usage is a session's totals over all its requests (decision 19).
type Usage struct {
	Requests   int64  `json:"requests"`
	Input      int64  `json:"input"` // tokens billed in full; the three input buckets do not overlap
	CacheRead  int64  `json:"cache_read"`
	CacheWrite int64  `json:"cache_write"`
	Output     int64  `json:"output"`
	Reasoning  int64  `json:"reasoning"`            // part of Output
	CostMicro  *int64 `json:"cost_micro,omitempty"` // microdollars; nil when nothing could be priced
	Unpriced   int64  `json:"unpriced,omitempty"`   // requests that CostMicro leaves out
	Unreported int64  `json:"unreported,omitempty"` // requests whose tokens are not known
	Context    int    `json:"context,omitempty"`    // tokens of the newest request and its answer; 0 unknown
}

// NoticeLevel says how much a notice matters.
type NoticeLevel string

const (
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)

// Notice is one line for the person.
type Notice struct {
	Level  NoticeLevel `json:"level"`
	Source string      `json:"source,omitempty"` // an extension's name; "" is octavo
	Text   string      `json:"text"`
}
