package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// WindowEntries is how many of the newest entries a State keeps; older ones are paged with Session.Entries.
const WindowEntries = 200

// State is a window on a session: the newest entries, the queue, the turn, questions and totals. It changes only by Apply.
type State struct {
	Session string      `json:"session"`
	Epoch   int64       `json:"epoch"`
	Seq     uint64      `json:"seq"` // of the newest event applied
	Info    SessionInfo `json:"info"`
	Entries []Entry     `json:"entries"`
	Queue   []Queued    `json:"queue"`
	Turn    *TurnState  `json:"turn,omitempty"` // nil while idle
	Asks    []Ask       `json:"asks"`
	Usage   Usage       `json:"usage"`
}

// TurnState is a running turn.
type TurnState struct {
	TurnInfo
	Draft Draft     `json:"draft"`
	Tools []ToolRun `json:"tools"` // those that run, oldest first
	Retry *Retry    `json:"retry,omitempty"`
}

// Draft is the answer that is being written. None of it is a fact before its assistant entry comes.
type Draft struct {
	Text      Text        `json:"text,omitempty"`
	Reasoning Text        `json:"reasoning,omitempty"`
	Calls     []DraftCall `json:"calls,omitempty"`
}

// DraftCall is a tool call that is being written.
type DraftCall struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments Text   `json:"arguments,omitempty"`
}

// Text is a string that grows without being copied for every fragment.
type Text []byte

func (t Text) String() string { return string(t) }

// MarshalJSON writes t as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(string(t)) }

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// Apply takes the next event into s. It is the only reducer: every front end's picture of a session comes from it. An event of
// another session or epoch, one that leaves a gap, or one that lacks what its type promises is an error and changes nothing. A type
// that this octavo does not know is counted and changes nothing else.
func (s *State) Apply(e Event) error {
	if e.Session != s.Session || e.Epoch != s.Epoch {
		return fmt.Errorf("event of session %s epoch %d, want %s epoch %d", e.Session, e.Epoch, s.Session, s.Epoch)
	}
	if e.first() != s.Seq+1 || e.Seq < e.first() {
		return fmt.Errorf("event %d..%d does not follow %d", e.first(), e.Seq, s.Seq)
	}
	if !e.complete() {
		return fmt.Errorf("event %d lacks what a %s event carries", e.Seq, e.Type)
	}
	s.Seq = e.Seq
	switch e.Type {
	case EventSession:
		s.Info = *e.Info
	case EventEntry:
		s.addEntry(*e.Entry)
	case EventTurn:
		s.setTurn(*e.Turn)
	case EventDelta:
		if s.Turn != nil {
			s.Turn.Draft.add(*e.Delta)
		}
	case EventWithdraw:
		if s.Turn != nil {
			s.Turn.Draft = Draft{}
		}
	case EventTool:
		if s.Turn != nil {
			run := *e.Tool
			run.Output = slices.Clip(run.Output) // others have the event, too
			s.Turn.Tools = append(s.Turn.Tools, run)
		}
	case EventProgress:
		if s.Turn != nil {
			s.Turn.progress(*e.Progress)
		}
	case EventRetry:
		if s.Turn != nil {
			s.Turn.Retry = e.Retry
		}
	case EventIdle:
		s.Turn = nil
	case EventQueue:
		s.Queue = list(e.Queue)
	case EventAsk:
		s.Asks = append(s.Asks, *e.Ask)
	case EventAnswered:
		s.Asks = slices.DeleteFunc(s.Asks, func(a Ask) bool { return a.ID == e.Ask.ID })
	case EventUsage:
		s.Usage = *e.Usage
	}
	return nil
}

func (s *State) addEntry(e Entry) {
	s.Entries = append(s.Entries, e)
	if n := len(s.Entries) - WindowEntries; n > 0 {
		s.Entries = append(s.Entries[:0], s.Entries[n:]...)
	}
	s.Info.Entries, s.Info.Updated = e.Seq, e.Time
	if s.Turn == nil {
		return
	}
	switch e.Kind {
	case EntryAssistant, EntryPartial:
		s.Turn.Draft = Draft{}
	case EntryResult:
		s.Turn.Tools = slices.DeleteFunc(s.Turn.Tools, func(t ToolRun) bool { return t.Call.ID == e.Call.ID })
	case EntrySettled:
		s.Turn = nil
	}
}

func (s *State) setTurn(t TurnInfo) {
	if s.Turn == nil || s.Turn.ID != t.ID {
		s.Turn = &TurnState{Tools: []ToolRun{}}
	}
	s.Turn.TurnInfo = t
	if t.Phase != PhaseRetrying {
		s.Turn.Retry = nil
	}
}

func (d *Draft) add(x Delta) {
	switch x.Kind {
	case DeltaText:
		d.Text = append(d.Text, x.Text...)
	case DeltaReasoning:
		d.Reasoning = append(d.Reasoning, x.Text...)
	case DeltaCall:
		d.Calls = append(d.Calls, DraftCall{ID: x.CallID, Tool: x.Tool})
	case DeltaArguments:
		if x.Index >= 0 && x.Index < len(d.Calls) {
			c := &d.Calls[x.Index]
			c.Arguments = append(c.Arguments, x.Text...)
		}
	}
}

func (t *TurnState) progress(p Progress) {
	i := slices.IndexFunc(t.Tools, func(r ToolRun) bool { return r.Call.ID == p.CallID })
	if i >= 0 {
		t.Tools[i].add(p.Text)
	}
}

// add keeps the newest MaxLiveOutput bytes, or a little less where that would cut a character. What is kept depends only on the
// whole text, however it was cut into fragments.
func (r *ToolRun) add(text string) {
	if len(r.Output)+len(text) > max(cap(r.Output), MaxLiveOutput) {
		// With room for as much again, the cost of a byte stays constant.
		r.Output = slices.Grow(r.Output, MaxLiveOutput+len(text))
	}
	r.Output = append(r.Output, text...)
	cut := len(r.Output) - MaxLiveOutput
	if cut <= 0 {
		return
	}
	for cut < len(r.Output) && !utf8.RuneStart(r.Output[cut]) {
		cut++
	}
	r.Omitted += int64(cut)
	r.Output = r.Output[cut:]
}

// Clone copies s so deeply that neither changes with the other. What entries and asks point to is shared: it is never changed once
// made. The lists of the copy are never nil, so that they are lists in JSON, too.
func (s *State) Clone() *State {
	c := *s
	c.Entries = list(s.Entries)
	c.Queue = list(s.Queue)
	c.Asks = list(s.Asks)
	if s.Turn != nil {
		t := *s.Turn
		t.Draft.Text = slices.Clone(t.Draft.Text)
		t.Draft.Reasoning = slices.Clone(t.Draft.Reasoning)
		t.Draft.Calls = slices.Clone(t.Draft.Calls)
		for i := range t.Draft.Calls {
			t.Draft.Calls[i].Arguments = slices.Clone(t.Draft.Calls[i].Arguments)
		}
		t.Tools = list(t.Tools)
		for i := range t.Tools {
			t.Tools[i].Output = slices.Clone(t.Tools[i].Output)
		}
		c.Turn = &t
	}
	return &c
}

// list copies l; the copy is never nil.
func list[T any](l []T) []T { return append(make([]T, 0, len(l)), l...) }
