package api

import (
	"encoding/json"
	"fmt"
	"slices"
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
// another session or epoch, or one that leaves a gap, is an error and changes nothing.
func (s *State) Apply(e Event) error {
	if e.Session != s.Session || e.Epoch != s.Epoch {
		return fmt.Errorf("event of session %s epoch %d, want %s epoch %d", e.Session, e.Epoch, s.Session, s.Epoch)
	}
	if e.first() != s.Seq+1 || e.Seq < e.first() {
		return fmt.Errorf("event %d..%d does not follow %d", e.first(), e.Seq, s.Seq)
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
			s.Turn.Tools = append(s.Turn.Tools, *e.Tool)
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
		s.Queue = slices.Clone(e.Queue)
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
		s.Turn = &TurnState{}
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
	for i := range t.Tools {
		r := &t.Tools[i]
		if r.Call.ID != p.CallID {
			continue
		}
		r.Output = append(r.Output, p.Text...)
		// Trimming only at twice the bound keeps the cost of a byte constant.
		if len(r.Output) > 2*MaxLiveOutput {
			cut := len(r.Output) - MaxLiveOutput
			r.Omitted += int64(cut)
			r.Output = append(r.Output[:0], r.Output[cut:]...)
		}
		return
	}
}

// Clone copies s so deeply that neither changes with the other. Entries and asks are shared: they are never changed once made.
func (s *State) Clone() *State {
	c := *s
	c.Entries = slices.Clone(s.Entries)
	c.Queue = slices.Clone(s.Queue)
	c.Asks = slices.Clone(s.Asks)
	if s.Turn != nil {
		t := *s.Turn
		t.Draft.Text = slices.Clone(t.Draft.Text)
		t.Draft.Reasoning = slices.Clone(t.Draft.Reasoning)
		t.Draft.Calls = slices.Clone(t.Draft.Calls)
		for i := range t.Draft.Calls {
			t.Draft.Calls[i].Arguments = slices.Clone(t.Draft.Calls[i].Arguments)
		}
		t.Tools = slices.Clone(t.Tools)
		for i := range t.Tools {
			t.Tools[i].Output = slices.Clone(t.Tools[i].Output)
		}
		c.Turn = &t
	}
	return &c
}
