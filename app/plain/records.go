package plain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages"
)

// recordType is the type of a JSON line. docs/json.md describes each; a test keeps the two together.
type recordType string

const (
	recSession         recordType = "session"
	recSessionUpdate   recordType = "session_update"
	recAgentStart      recordType = "agent_start"
	recAgentEnd        recordType = "agent_end"
	recAgentSettled    recordType = "agent_settled"
	recTurnStart       recordType = "turn_start"
	recTurnEnd         recordType = "turn_end"
	recMessageStart    recordType = "message_start"
	recMessageUpdate   recordType = "message_update"
	recMessageEnd      recordType = "message_end"
	recToolStart       recordType = "tool_execution_start"
	recToolUpdate      recordType = "tool_execution_update"
	recToolEnd         recordType = "tool_execution_end"
	recQueueUpdate     recordType = "queue_update"
	recRetryStart      recordType = "auto_retry_start"
	recRetryEnd        recordType = "auto_retry_end"
	recCompactionStart recordType = "compaction_start"
	recCompactionEnd   recordType = "compaction_end"
	recUsage           recordType = "usage"
	recNotice          recordType = "notice"
	recAsk             recordType = "ask"
	recAskEnd          recordType = "ask_end"
	recCommand         recordType = "command"
	recLagged          recordType = "lagged"
	recError           recordType = "error"
)

// The records. A field that says nothing is left out, unless its null means something.
type (
	bareRecord struct {
		Type recordType `json:"type"`
	}
	sessionRecord struct {
		Type      recordType `json:"type"`
		ID        string     `json:"id"`
		Name      string     `json:"name,omitempty"`
		Title     string     `json:"title,omitempty"`
		Tags      []string   `json:"tags,omitempty"`
		CWD       string     `json:"cwd"`
		Model     string     `json:"model"`
		Scripted  bool       `json:"scripted,omitempty"`
		Effort    string     `json:"effort,omitempty"`
		Policy    string     `json:"policy"`
		Timestamp string     `json:"timestamp,omitempty"` // RFC 3339
	}
	agentRecord struct {
		Type   recordType `json:"type"`
		TurnID string     `json:"turnId"`
	}
	settledRecord struct {
		Type       recordType         `json:"type"`
		TurnID     string             `json:"turnId"`
		Outcome    api.SettledOutcome `json:"outcome"`
		Error      string             `json:"error,omitempty"`
		Usage      *usage             `json:"usage"` // null when events of the turn were lost
		DurationMS int64              `json:"durationMs"`
		Steps      int                `json:"steps"`
		Files      []string           `json:"files,omitempty"`
	}
	messageRecord struct {
		Type      recordType `json:"type"`
		Message   message    `json:"message"`
		Withdrawn bool       `json:"withdrawn,omitempty"`
	}
	updateRecord struct {
		Type  recordType  `json:"type"`
		Event updateEvent `json:"assistantMessageEvent"`
	}
	updateEvent struct {
		Type         string `json:"type"` // text_start, text_delta, text_end, thinking_..., toolcall_...
		ContentIndex int    `json:"contentIndex"`
		Delta        string `json:"delta,omitempty"`
		ID           string `json:"id,omitempty"`       // toolcall_start
		ToolName     string `json:"toolName,omitempty"` // toolcall_start
	}
	toolRecord struct {
		Type         recordType        `json:"type"`
		ToolCallID   string            `json:"toolCallId"`
		ToolName     string            `json:"toolName"`
		Title        string            `json:"title,omitempty"`
		Args         any               `json:"args,omitempty"`         // start
		Delta        string            `json:"delta,omitempty"`        // update
		OmittedBytes int64             `json:"omittedBytes,omitempty"` // update, end
		Result       *toolResult       `json:"result,omitempty"`       // end
		Outcome      api.ResultOutcome `json:"outcome,omitempty"`      // end
		IsError      *bool             `json:"isError,omitempty"`      // end
		DurationMS   *int64            `json:"durationMs,omitempty"`   // end
	}
	toolResult struct {
		Content []content      `json:"content"`
		Details *pages.Display `json:"details,omitempty"`
	}
	queueRecord struct {
		Type     recordType `json:"type"`
		Steering []string   `json:"steering"`
		FollowUp []string   `json:"followUp"`
	}
	retryRecord struct {
		Type         recordType `json:"type"`
		Attempt      int        `json:"attempt"`
		MaxAttempts  int        `json:"maxAttempts,omitempty"`
		DelayMS      *int64     `json:"delayMs,omitempty"`
		ErrorMessage string     `json:"errorMessage,omitempty"`
		Success      *bool      `json:"success,omitempty"`
		FinalError   string     `json:"finalError,omitempty"`
	}
	compactionRecord struct {
		Type    recordType `json:"type"`
		Reason  string     `json:"reason"`
		Aborted *bool      `json:"aborted,omitempty"`
	}
	usageRecord struct {
		Type  recordType `json:"type"`
		Usage usage      `json:"usage"`
	}
	noticeRecord struct {
		Type   recordType      `json:"type"`
		Level  api.NoticeLevel `json:"level"`
		Source string          `json:"source,omitempty"`
		Text   string          `json:"text"`
	}
	askRecord struct {
		Type       recordType     `json:"type"`
		ID         string         `json:"id"`
		Kind       api.AskKind    `json:"kind,omitempty"`
		Title      string         `json:"title,omitempty"`
		Body       string         `json:"body,omitempty"`
		Display    *pages.Display `json:"display,omitempty"`
		Options    []api.Option   `json:"options,omitempty"`
		Source     string         `json:"source,omitempty"`
		ToolCallID string         `json:"toolCallId,omitempty"`
	}
	commandRecord struct {
		Type    recordType      `json:"type"`
		Command string          `json:"command"`
		Success bool            `json:"success"`
		Text    string          `json:"text,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
		Session string          `json:"session,omitempty"`
		Error   string          `json:"error,omitempty"`
	}
	errorRecord struct {
		Type  recordType `json:"type"`
		Error string     `json:"error"`
	}
)

// message is one message of the conversation.
type message struct {
	Role       string    `json:"role"` // user, assistant, toolResult, custom, bashExecution
	Content    []content `json:"content"`
	Entry      int64     `json:"entry,omitempty"`     // its number in the session
	Timestamp  int64     `json:"timestamp,omitempty"` // milliseconds since 1970
	Origin     string    `json:"origin,omitempty"`    // user: chat, steer, follow_up
	Model      string    `json:"model,omitempty"`     // assistant
	StopReason string    `json:"stopReason,omitempty"`
	ToolCallID string    `json:"toolCallId,omitempty"` // toolResult
	ToolName   string    `json:"toolName,omitempty"`
	IsError    *bool     `json:"isError,omitempty"`
	CustomType string    `json:"customType,omitempty"` // custom: who made it

	// bashExecution
	Command  string  `json:"command,omitempty"`
	Output   *string `json:"output,omitempty"`
	ExitCode *int    `json:"exitCode,omitempty"`
	// Both are told of every command, also when they are false.
	Cancelled          *bool `json:"cancelled,omitempty"`
	ExcludeFromContext *bool `json:"excludeFromContext,omitempty"`
}

// messageOf is an entry as a message; ok is false for entries that are none.
func messageOf(x api.Entry) (m message, ok bool) {
	m = message{Content: contents(x.Parts), Entry: x.Seq, Timestamp: x.Time.UnixMilli(), Model: x.Model}
	switch x.Kind {
	case api.EntryUser:
		m.Role, m.Origin = "user", x.Origin
	case api.EntryNote:
		m.Role, m.CustomType = "custom", x.Origin
	case api.EntrySummary:
		m.Role, m.CustomType = "custom", "summary"
	case api.EntryAssistant:
		m.Role, m.StopReason = "assistant", "stop"
		if hasCalls(x.Parts) {
			m.StopReason = "toolUse"
		}
	case api.EntryPartial:
		m.Role, m.StopReason = "assistant", "aborted"
	case api.EntryResult:
		failed := x.Result.Outcome != api.ResultOK
		m.Role, m.ToolCallID, m.ToolName, m.IsError = "toolResult", x.Call.ID, x.Call.Tool, &failed
	case api.EntryShell:
		m.shell(x)
	default:
		return message{}, false
	}
	return m, true
}

// shell makes m tell of a command of the person's.
func (m *message) shell(x api.Entry) {
	output := shellOutput(x)
	cancelled, excluded := x.Result.Outcome == api.ResultCancelled, x.Origin == api.OriginExcluded
	m.Role, m.Content, m.Command, m.Output = "bashExecution", []content{}, x.Call.Title, &output
	m.ExitCode, m.Cancelled, m.ExcludeFromContext = x.Result.ExitCode, &cancelled, &excluded
}

// content is one part of a message.
type content struct {
	Type      string `json:"type"` // text, thinking, toolCall, image
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments any    `json:"arguments,omitempty"`
	MIMEType  string `json:"mimeType,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
}

func contents(parts []api.Part) []content {
	out := make([]content, 0, len(parts))
	for _, p := range parts {
		switch p.Type {
		case api.PartText:
			out = append(out, content{Type: "text", Text: p.Text})
		case api.PartReasoning:
			out = append(out, content{Type: "thinking", Thinking: p.Text})
		case api.PartImage:
			i := p.Image
			out = append(out, content{Type: "image", Name: i.Name, MIMEType: i.MIME, SHA256: i.SHA256, Width: i.Width, Height: i.Height})
		case api.PartCall:
			out = append(out, content{Type: "toolCall", ID: p.Call.ID, Name: p.Call.Tool, Arguments: arguments(p.Call.Arguments)})
		}
	}
	return out
}

// arguments is what a model wrote: as an object where it is one, else as the string that it is.
func arguments(written string) any {
	written = strings.ToValidUTF8(written, "\ufffd")
	if trimmed := strings.TrimSpace(written); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return written
}

func sessionOf(t recordType, i api.SessionInfo) sessionRecord {
	return sessionRecord{Type: t, ID: i.ID, Name: i.Name, Title: i.Title, Tags: i.Tags, CWD: i.Workspace, Model: i.Model, Scripted: i.Scripted,
		Effort: i.Effort, Policy: i.Policy}
}

// usage counts tokens; see api.Usage.
type usage struct {
	Requests   int64 `json:"requests"`
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       *cost `json:"cost"`
	Unpriced   int64 `json:"unpriced,omitempty"`
	Unreported int64 `json:"unreported,omitempty"`
}

// cost is microdollars, written as exact dollars.
type cost int64

// MarshalJSON writes c as a decimal number of dollars.
func (c cost) MarshalJSON() ([]byte, error) {
	sign, n := "", uint64(c)
	if c < 0 {
		sign, n = "-", -n
	}
	return fmt.Appendf(nil, "%s%d.%06d", sign, n/1e6, n%1e6), nil
}

func usageOf(u api.Usage) usage {
	out := usage{Requests: u.Requests, Input: u.Input, Output: u.Output, Reasoning: u.Reasoning, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, Unpriced: u.Unpriced, Unreported: u.Unreported}
	if u.CostMicro != nil {
		c := cost(*u.CostMicro)
		out.Cost = &c
	}
	return out
}

// usageSince is what was used between two totals of a session. Its cost is null when none of it could be priced.
func usageSince(before, now api.Usage) usage {
	d := api.Usage{Requests: now.Requests - before.Requests, Input: now.Input - before.Input, Output: now.Output - before.Output,
		Reasoning: now.Reasoning - before.Reasoning, CacheRead: now.CacheRead - before.CacheRead,
		CacheWrite: now.CacheWrite - before.CacheWrite, Unpriced: now.Unpriced - before.Unpriced,
		Unreported: now.Unreported - before.Unreported}
	if now.CostMicro != nil && d.Requests > d.Unpriced {
		c := *now.CostMicro
		if before.CostMicro != nil {
			c -= *before.CostMicro
		}
		d.CostMicro = &c
	}
	return usageOf(d)
}

func millis(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}
