package plain

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"octavo/app/api"
)

// The records that only RPC writes; the events are those of records.go. docs/rpc.md describes each field; a test keeps the two
// together.
const (
	rpcResponse   recordType = "response"
	rpcBashUpdate recordType = "bash_execution_update"
)

type (
	responseRecord struct {
		Type    recordType      `json:"type"`
		ID      json.RawMessage `json:"id,omitempty"`
		Command string          `json:"command,omitempty"`
		Success bool            `json:"success"`
		Data    any             `json:"data,omitempty"`
		Error   *fault          `json:"error,omitempty"`
	}
	bashUpdateRecord struct {
		Type         recordType      `json:"type"`
		ID           json.RawMessage `json:"id,omitempty"`
		Delta        string          `json:"delta"`
		OmittedBytes int64           `json:"omittedBytes,omitempty"`
	}
)

// What responses carry.
type (
	// receiptData is what became of an input.
	receiptData struct {
		TurnID string `json:"turnId,omitempty"`
		Entry  int64  `json:"entry,omitempty"`
		Queued bool   `json:"queued"`
	}
	// commandData is what a slash command answered.
	commandData struct {
		Command string          `json:"command"`
		Text    string          `json:"text,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
		Go      string          `json:"go,omitempty"`
		Session string          `json:"session,omitempty"`
		Receipt *receiptData    `json:"receipt,omitempty"`
	}
	stateData struct {
		SessionID       string        `json:"sessionId"`
		SessionName     string        `json:"sessionName,omitempty"`
		Title           string        `json:"title,omitempty"`
		Tags            []string      `json:"tags,omitempty"`
		Parent          string        `json:"parent,omitempty"`
		Private         bool          `json:"private,omitempty"`
		CWD             string        `json:"cwd"`
		Policy          string        `json:"policy"`
		Model           *modelData    `json:"model"`
		ThinkingLevel   string        `json:"thinkingLevel,omitempty"`
		IsStreaming     bool          `json:"isStreaming"`
		IsCompacting    bool          `json:"isCompacting"`
		IsBashRunning   bool          `json:"isBashRunning"`
		Turn            *turnData     `json:"turn,omitempty"`
		SteeringMode    api.QueueMode `json:"steeringMode"`
		FollowUpMode    api.QueueMode `json:"followUpMode"`
		AutoRetry       bool          `json:"autoRetryEnabled"`
		AutoCompaction  bool          `json:"autoCompactionEnabled"`
		MessageCount    int64         `json:"messageCount"`
		EntryCount      int64         `json:"entryCount"`
		PendingMessages int           `json:"pendingMessageCount"`
		Queue           queueData     `json:"queue"`
		Asks            []askRecord   `json:"asks"`
		Usage           usage         `json:"usage"`
	}
	turnData struct {
		TurnID    string    `json:"turnId"`
		Phase     api.Phase `json:"phase"`
		Step      int       `json:"step"`
		Timestamp int64     `json:"timestamp"` // milliseconds since 1970, when it began
	}
	queueData struct {
		Steering []string `json:"steering"`
		FollowUp []string `json:"followUp"`
	}
	// modelData is a model that can be chosen. What is not known is left out; Cost is null then.
	modelData struct {
		ID             string    `json:"id"`
		Provider       string    `json:"provider"`
		Name           string    `json:"name,omitempty"`
		ContextWindow  int       `json:"contextWindow,omitempty"`
		MaxTokens      int       `json:"maxTokens,omitempty"`
		Reasoning      *bool     `json:"reasoning,omitempty"`
		Input          []string  `json:"input,omitempty"`
		ThinkingLevels []string  `json:"thinkingLevels,omitempty"`
		Cost           *costData `json:"cost"`
		Configured     bool      `json:"configured"`
		Scoped         bool      `json:"scoped"`
		Scripted       bool      `json:"scripted,omitempty"`
	}
	// costData is dollars for a million tokens.
	costData struct {
		Input      cost `json:"input"`
		Output     cost `json:"output"`
		CacheRead  cost `json:"cacheRead"`
		CacheWrite cost `json:"cacheWrite"`
	}
	cycledData struct {
		Model         modelData `json:"model"`
		ThinkingLevel string    `json:"thinkingLevel,omitempty"`
		IsScoped      bool      `json:"isScoped"`
	}
	levelData struct {
		Level string `json:"level"`
	}
	levelsData struct {
		Levels []string `json:"levels"`
	}
	modelsData struct {
		Models []modelData `json:"models"`
	}
	modesData struct {
		SteeringMode api.QueueMode `json:"steeringMode"`
		FollowUpMode api.QueueMode `json:"followUpMode"`
		AutoRetry    bool          `json:"autoRetryEnabled"`
	}
	slashData struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Usage       string         `json:"usage,omitempty"`
		Arguments   []argumentData `json:"arguments,omitempty"`
		Source      string         `json:"source"`
	}
	argumentData struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Required    bool     `json:"required,omitempty"`
		Choices     []string `json:"choices,omitempty"`
	}
	slashesData struct {
		Commands []slashData `json:"commands"`
	}
	messagesData struct {
		Messages []json.RawMessage `json:"messages"`
		More     bool              `json:"more"`
		Next     int64             `json:"next"`
	}
	entriesData struct {
		Entries []json.RawMessage `json:"entries"`
		More    bool              `json:"more"`
		Next    int64             `json:"next"`
	}
	// entryData is one entry: a message, a call that was about to run, or the end of a turn.
	entryData struct {
		Entry      int64         `json:"entry"`
		Kind       api.EntryKind `json:"kind"`
		TurnID     string        `json:"turnId,omitempty"`
		Timestamp  int64         `json:"timestamp"`
		Message    *message      `json:"message,omitempty"`
		ToolCallID string        `json:"toolCallId,omitempty"`
		ToolName   string        `json:"toolName,omitempty"`
		Title      string        `json:"title,omitempty"`
		Args       any           `json:"args,omitempty"`
		Outcome    string        `json:"outcome,omitempty"`
		Error      string        `json:"error,omitempty"`
		DurationMS *int64        `json:"durationMs,omitempty"`
		Steps      int           `json:"steps,omitempty"`
		Files      []string      `json:"files,omitempty"`
	}
	statsData struct {
		SessionID         string       `json:"sessionId"`
		UserMessages      int64        `json:"userMessages"`
		AssistantMessages int64        `json:"assistantMessages"`
		ToolCalls         int64        `json:"toolCalls"`
		ToolResults       int64        `json:"toolResults"`
		TotalMessages     int64        `json:"totalMessages"`
		Tokens            tokensData   `json:"tokens"`
		Requests          int64        `json:"requests"`
		Cost              *cost        `json:"cost"`
		Unpriced          int64        `json:"unpriced,omitempty"`
		Unreported        int64        `json:"unreported,omitempty"`
		ContextUsage      *contextData `json:"contextUsage"`
	}
	tokensData struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		Reasoning  int64 `json:"reasoning"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Total      int64 `json:"total"`
	}
	contextData struct {
		Tokens        int  `json:"tokens"`
		ContextWindow int  `json:"contextWindow,omitempty"`
		Percent       *int `json:"percent"`
	}
	textData struct {
		Text *string `json:"text"`
	}
	treeData struct {
		SessionID string     `json:"sessionId"`
		Tree      []nodeData `json:"tree"`
	}
	nodeData struct {
		SessionID   string `json:"sessionId"`
		Parent      string `json:"parent,omitempty"`
		SessionName string `json:"sessionName,omitempty"`
		Title       string `json:"title,omitempty"`
		Preview     string `json:"preview,omitempty"`
		EntryCount  int64  `json:"entryCount"`
		Created     string `json:"created"` // RFC 3339
		Updated     string `json:"updated"`
	}
	sessionData struct {
		SessionID string `json:"sessionId"`
		Cancelled bool   `json:"cancelled"` // always false: nothing here takes a change of session back
	}
)

func modelOf(i api.ModelInfo) modelData {
	provider, id, _ := strings.Cut(i.ID, "/")
	m := modelData{ID: id, Provider: provider, Name: i.Name, ContextWindow: i.Context, MaxTokens: i.MaxOutput, Reasoning: i.Reasons,
		ThinkingLevels: i.Efforts, Configured: i.Configured, Scoped: i.Scoped, Scripted: i.Scripted}
	if i.Images != nil {
		m.Input = []string{"text"}
		if *i.Images {
			m.Input = append(m.Input, "image")
		}
	}
	if p := i.Price; p != nil {
		read, write := cmp.Or(p.CacheRead, &p.Input), cmp.Or(p.CacheWrite, &p.Input)
		m.Cost = &costData{Input: cost(p.Input), Output: cost(p.Output), CacheRead: cost(*read), CacheWrite: cost(*write)}
	}
	return m
}

func entryOf(x api.Entry) entryData {
	e := entryData{Entry: x.Seq, Kind: x.Kind, TurnID: x.Turn, Timestamp: x.Time.UnixMilli()}
	if m, ok := messageOf(x); ok {
		e.Message = &m
	}
	if c := x.Call; c != nil && x.Kind == api.EntryCall {
		e.ToolCallID, e.ToolName, e.Title, e.Args = c.ID, c.Tool, c.Title, arguments(c.Arguments)
	}
	if r := x.Result; r != nil {
		e.Outcome, e.DurationMS = string(r.Outcome), millis(r.Duration)
	}
	if s := x.Settled; s != nil {
		e.Outcome, e.Error, e.DurationMS, e.Steps, e.Files = string(s.Outcome), s.Error, millis(s.Duration), s.Steps, s.Files
	}
	return e
}

func askOf(a api.Ask) askRecord {
	return askRecord{Type: recAsk, ID: a.ID, Kind: a.Kind, Title: a.Title, Body: a.Body, Display: a.Display, Options: a.Options,
		Source: a.Source, ToolCallID: a.Parent}
}

func nodeOf(i api.SessionInfo) nodeData {
	return nodeData{SessionID: i.ID, Parent: i.Parent, SessionName: i.Name, Title: i.Title, Preview: i.Preview, EntryCount: i.Entries,
		Created: i.Created.UTC().Format(time.RFC3339), Updated: i.Updated.UTC().Format(time.RFC3339)}
}

func receiptOf(r api.Receipt) *receiptData {
	return &receiptData{TurnID: r.Turn, Entry: r.Seq, Queued: r.Queued}
}

func modesOf(b api.Behaviour) modesData {
	return modesData{SteeringMode: b.Steering, FollowUpMode: b.FollowUp, AutoRetry: b.AutoRetry != nil && *b.AutoRetry}
}
