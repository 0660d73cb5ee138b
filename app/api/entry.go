package api

import (
	"time"

	"octavo/pages"
)

// EntryKind says what a stored fact is.
type EntryKind string

const (
	EntryUser      EntryKind = "user"      // what a person said
	EntryAssistant EntryKind = "assistant" // what the model said, whole and accepted
	EntryCall      EntryKind = "call"      // a tool call is about to run
	EntryResult    EntryKind = "result"    // what it gave
	EntryNote      EntryKind = "note"      // something the model should know, from octavo or an extension
	EntryPartial   EntryKind = "partial"   // what was said of an answer that was interrupted; no model reads it again
	EntrySummary   EntryKind = "summary"   // stands for the history before it, at the start of a fork
	EntryShell     EntryKind = "shell"     // a command the person ran, with its result; OriginExcluded when no model reads it
	EntrySettled   EntryKind = "settled"   // a turn ended
)

// OriginExcluded is the Origin of a shell entry that no model reads.
const OriginExcluded = "excluded"

// Entry is one durable fact of a session, numbered from 1 without gaps.
type Entry struct {
	Seq     int64     `json:"seq"`
	Turn    string    `json:"turn,omitempty"`
	Kind    EntryKind `json:"kind"`
	Time    time.Time `json:"time"`
	Parts   []Part    `json:"parts,omitempty"`   // user, assistant, partial, note, summary, result, shell
	Display string    `json:"display,omitempty"` // user: what the transcript shows instead of Parts
	Origin  string    `json:"origin,omitempty"`  // user: chat, steer, follow_up; note: who made it
	Model   string    `json:"model,omitempty"`   // assistant, partial: provider/model
	Call    *Call     `json:"call,omitempty"`    // call, result, shell
	Result  *Result   `json:"result,omitempty"`  // result, shell
	Settled *Settled  `json:"settled,omitempty"` // settled
}

// PartType names which field of a Part is set.
type PartType string

const (
	PartText      PartType = "text"
	PartReasoning PartType = "reasoning"
	PartImage     PartType = "image"
	PartCall      PartType = "tool_call"
)

// Part is one piece of what was said.
type Part struct {
	Type  PartType `json:"type"`
	Text  string   `json:"text,omitempty"` // text, reasoning
	Image *Image   `json:"image,omitempty"`
	Call  *Call    `json:"call,omitempty"`
}

// Image is a stored picture.
type Image struct {
	MIME   string `json:"mime"`
	SHA256 string `json:"sha256"`
	Width  int    `json:"width,omitempty"`  // pixels, 0 unknown
	Height int    `json:"height,omitempty"` // pixels, 0 unknown
	Name   string `json:"name,omitempty"`
}

// Call is one tool call. Arguments is what the model wrote, which need not be valid JSON.
type Call struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Title     string `json:"title,omitempty"` // one line for a person
}

// ResultOutcome says how a call ended.
type ResultOutcome string

const (
	ResultOK        ResultOutcome = "ok"
	ResultError     ResultOutcome = "error"     // it ran and failed
	ResultRefused   ResultOutcome = "refused"   // it did not run: bad arguments, the policy or the person said no
	ResultCancelled ResultOutcome = "cancelled" // it was interrupted while it ran
	ResultNotRun    ResultOutcome = "not_run"   // the turn ended before its place came
	ResultUnknown   ResultOutcome = "unknown"   // octavo ended while it ran; its effects are unknown
)

// Result is how one call ended.
type Result struct {
	Outcome  ResultOutcome  `json:"outcome"`
	Reason   string         `json:"reason,omitempty"` // why it was refused, failed or did not run, as the model is told
	Display  *pages.Display `json:"display,omitempty"`
	Duration time.Duration  `json:"duration_ns,omitempty"`
	ExitCode *int           `json:"exit_code,omitempty"` // of the command that it ran; nil when it ran none to its end
}

// SettledOutcome says how a turn ended.
type SettledOutcome string

const (
	SettledCompleted   SettledOutcome = "completed"
	SettledInterrupted SettledOutcome = "interrupted"  // by a person, or octavo was closed
	SettledFailed      SettledOutcome = "failed"       // the provider or octavo itself failed
	SettledMaxTurns    SettledOutcome = "max_turns"    // the limit of model requests was reached
	SettledCostLimit   SettledOutcome = "cost_limit"   // max_cost_microdollars was reached
	SettledContextFull SettledOutcome = "context_full" // the next request would not fit the model's window
	SettledAbandoned   SettledOutcome = "abandoned"    // octavo ended in the middle of it
)

// Settled is how a turn ended.
type Settled struct {
	Outcome  SettledOutcome `json:"outcome"`
	Error    string         `json:"error,omitempty"` // what failed, why, and what to do next
	Duration time.Duration  `json:"duration_ns"`
	Steps    int            `json:"steps"`           // model requests
	Files    []string       `json:"files,omitempty"` // changed by tools that say so, as a person would name them
}
