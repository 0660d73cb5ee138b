package plain

import (
	"slices"
	"strings"
	"unicode/utf8"

	"octavo/app/api"
)

// encoder translates the events of a session into records of the Pi-compatible vocabulary (product.md 1.5, docs/json.md). What is
// a turn here is an agent run there, and a step here is a turn there. It repeats nothing that an earlier record said: fragments
// are fragments, and only message_end has a whole message. It does no I/O, so that anything may carry its records.
type encoder struct {
	totals api.Usage // of the session, as far as told

	run       string    // the turn under way; "" between turns
	before    api.Usage // totals when it began
	sure      bool      // before is right
	summary   bool      // the run is no turn but writes a summary
	aborted   bool      // of a summary
	step      bool      // between turn_start and turn_end
	answered  bool      // the answer of the step has come
	retried   int       // attempts that failed since the last success
	lastError string    // of those
	message   *draft    // between message_start and message_end of an answer
	tools     map[string]*liveTool
	out       []any
}

// newEncoder begins where a client attached; what runs already is told as if it began now.
func newEncoder(s *api.State) (*encoder, []any) {
	e := &encoder{totals: s.Usage, tools: map[string]*liveTool{}}
	if len(s.Queue) > 0 {
		e.put(queueOf(s.Queue))
	}
	e.join(s)
	return e, e.flush()
}

// event translates one event, which s has taken in already.
func (e *encoder) event(ev api.Event) []any {
	switch ev.Type {
	case api.EventSession:
		e.put(sessionOf(recSessionUpdate, *ev.Info))
	case api.EventEntry:
		e.entry(*ev.Entry, true)
	case api.EventTurn:
		e.turn(*ev.Turn)
	case api.EventDelta:
		e.delta(*ev.Delta)
	case api.EventWithdraw:
		e.withdraw()
	case api.EventTool:
		e.startTool(ev.Tool.Call)
	case api.EventProgress:
		e.progress(ev.Progress.CallID, ev.Progress.Text)
	case api.EventRetry:
		r := ev.Retry
		e.retried, e.lastError = r.Attempt, r.Error
		e.put(retryRecord{Type: recRetryStart, Attempt: r.Attempt, MaxAttempts: r.Most, DelayMS: millis(r.Delay), ErrorMessage: r.Error})
	case api.EventIdle:
		e.endSummary()
	case api.EventQueue:
		e.put(queueOf(ev.Queue))
	case api.EventAsk:
		a := ev.Ask
		e.put(askRecord{Type: recAsk, ID: a.ID, Kind: a.Kind, Title: a.Title, Body: a.Body, Display: a.Display, Options: a.Options,
			Source: a.Source, ToolCallID: a.Parent})
	case api.EventAnswered:
		e.put(askRecord{Type: recAskEnd, ID: ev.Ask.ID})
	case api.EventUsage:
		e.totals = *ev.Usage
		e.put(usageRecord{recUsage, usageOf(*ev.Usage)})
	case api.EventNotice:
		e.put(noticeRecord{recNotice, ev.Notice.Level, ev.Notice.Source, ev.Notice.Text})
	}
	return e.flush()
}

// missed translates an entry whose event was lost.
func (e *encoder) missed(entry api.Entry) []any {
	e.sure = false
	e.entry(entry, false)
	return e.flush()
}

// caughtUp says that fragments were lost, and goes on from s.
func (e *encoder) caughtUp(s *api.State) []any {
	e.put(bareRecord{recLagged})
	e.withdraw()
	e.totals, e.sure = s.Usage, false
	if e.summary && (s.Turn == nil || s.Turn.ID != e.run) {
		e.endSummary()
	}
	e.put(queueOf(s.Queue))
	e.join(s)
	return e.flush()
}

// join tells what runs in s and was not told.
func (e *encoder) join(s *api.State) {
	if s.Turn == nil {
		return
	}
	e.turn(s.Turn.TurnInfo)
	d := s.Turn.Draft
	if len(d.Reasoning) > 0 {
		e.delta(api.Delta{Kind: api.DeltaReasoning, Text: d.Reasoning.String()})
	}
	if len(d.Text) > 0 {
		e.delta(api.Delta{Kind: api.DeltaText, Text: d.Text.String()})
	}
	for i, c := range d.Calls {
		e.delta(api.Delta{Kind: api.DeltaCall, Index: i, CallID: c.ID, Tool: c.Tool})
		e.delta(api.Delta{Kind: api.DeltaArguments, Index: i, Text: c.Arguments.String()})
	}
	for _, t := range s.Turn.Tools {
		if e.tools[t.Call.ID] == nil {
			e.startTool(t.Call)
			e.tools[t.Call.ID].omitted = t.Omitted
			e.progress(t.Call.ID, t.Output.String())
		}
	}
}

func (e *encoder) put(r any) { e.out = append(e.out, r) }

func (e *encoder) flush() []any {
	out := e.out
	e.out = nil
	return out
}

// turn follows the phases of a turn.
func (e *encoder) turn(t api.TurnInfo) {
	if t.Phase == api.PhaseSummarizing && e.run != t.ID {
		e.run, e.summary, e.aborted = t.ID, true, false
		e.put(compactionRecord{Type: recCompactionStart, Reason: "manual"})
	}
	if e.summary && e.run == t.ID {
		e.aborted = e.aborted || t.Phase == api.PhaseInterrupting
		return
	}
	e.begin(t.ID, true)
	if t.Phase == api.PhaseWaiting && e.answered {
		e.endStep()
	}
	if t.Step > 0 {
		e.beginStep()
	}
}

// begin starts a run unless it is under way. A turn's first entries come before its first phase, so either may be what is told first.
func (e *encoder) begin(turn string, sure bool) {
	if turn == "" || e.run == turn {
		return
	}
	e.run, e.before, e.sure = turn, e.totals, sure
	e.put(agentRecord{recAgentStart, turn})
}

func (e *encoder) beginStep() {
	if !e.step {
		e.step, e.answered = true, false
		e.put(bareRecord{recTurnStart})
	}
}

func (e *encoder) endStep() {
	if e.step {
		e.step, e.answered = false, false
		e.put(bareRecord{recTurnEnd})
	}
}

func (e *encoder) endSummary() {
	if e.summary {
		aborted := e.aborted
		e.put(compactionRecord{Type: recCompactionEnd, Reason: "manual", Aborted: &aborted})
		e.run, e.summary = "", false
		e.retried, e.lastError = 0, "" // whether the last attempt worked is not told for a summary
	}
}

// entry translates a stored fact.
func (e *encoder) entry(x api.Entry, sure bool) {
	m := message{Content: contents(x.Parts), Entry: x.Seq, Timestamp: x.Time.UnixMilli(), Model: x.Model}
	switch x.Kind {
	case api.EntryUser:
		m.Role, m.Origin = "user", x.Origin
		e.said(x.Turn, m, sure)
	case api.EntryNote, api.EntrySummary:
		m.Role, m.CustomType = "custom", x.Origin
		if x.Kind == api.EntrySummary {
			m.CustomType = "summary"
		}
		e.said(x.Turn, m, sure)
	case api.EntryAssistant, api.EntryPartial:
		m.Role, m.StopReason = "assistant", "stop"
		switch {
		case x.Kind == api.EntryPartial:
			m.StopReason = "aborted"
		case slices.ContainsFunc(x.Parts, func(p api.Part) bool { return p.Type == api.PartCall }):
			m.StopReason = "toolUse"
		}
		e.begin(x.Turn, sure)
		if e.answered {
			e.endStep() // the event that told of the next step was lost
		}
		e.beginStep()
		e.answer(m)
	case api.EntryResult:
		e.result(x, m)
	case api.EntrySettled:
		e.settled(x)
	}
}

// said tells a message that is whole at once. What a person says opens the step that will read it.
func (e *encoder) said(turn string, m message, sure bool) {
	if turn != "" {
		e.begin(turn, sure)
		if e.answered {
			e.endStep()
		}
		e.beginStep()
	}
	e.whole(m)
}

func (e *encoder) whole(m message) {
	start := m
	start.Content, start.StopReason, start.IsError = []content{}, "", nil
	e.put(messageRecord{Type: recMessageStart, Message: start})
	e.put(messageRecord{Type: recMessageEnd, Message: m})
}

// answer tells the answer of a step, of which some may have been told in fragments.
func (e *encoder) answer(m message) {
	e.openMessage()
	e.closeBlocks()
	e.message, e.answered = nil, true
	e.put(messageRecord{Type: recMessageEnd, Message: m})
	if e.retried > 0 && m.StopReason != "aborted" {
		e.endRetries(true)
	}
}

func (e *encoder) endRetries(success bool) {
	if e.retried == 0 {
		return
	}
	r := retryRecord{Type: recRetryEnd, Attempt: e.retried, Success: &success}
	if !success {
		r.FinalError = e.lastError
	}
	e.put(r)
	e.retried, e.lastError = 0, ""
}

func (e *encoder) settled(x api.Entry) {
	e.withdraw()
	if e.run != x.Turn {
		return // it began before this client attached
	}
	if x.Settled.Error != "" {
		e.lastError = x.Settled.Error
	}
	e.endRetries(false)
	e.endStep()
	e.put(agentRecord{recAgentEnd, x.Turn})
	s := settledRecord{Type: recAgentSettled, TurnID: x.Turn, Outcome: x.Settled.Outcome, Error: x.Settled.Error,
		DurationMS: x.Settled.Duration.Milliseconds(), Steps: x.Settled.Steps, Files: x.Settled.Files}
	if e.sure {
		u := usageSince(e.before, e.totals)
		s.Usage = &u
	}
	e.put(s)
	e.run = ""
	clear(e.tools)
}

// draft is an answer that is being told in fragments.
type draft struct {
	blocks []block
	calls  []int // block of each tool call
}

type block struct {
	kind string // text, thinking, toolcall
	done bool
	rest runes
}

func (e *encoder) openMessage() {
	if e.message == nil {
		e.message = &draft{}
		e.put(messageRecord{Type: recMessageStart, Message: message{Role: "assistant", Content: []content{}}})
	}
}

// withdraw ends an answer that is void: no message_end with its text will come.
func (e *encoder) withdraw() {
	if e.message == nil {
		return
	}
	e.closeBlocks()
	e.message = nil
	e.put(messageRecord{Type: recMessageEnd, Withdrawn: true, Message: message{Role: "assistant", Content: []content{}, StopReason: "error"}})
}

func (e *encoder) delta(d api.Delta) {
	if e.run == "" {
		return
	}
	e.openMessage()
	m := e.message
	switch d.Kind {
	case api.DeltaText:
		e.fragment(e.block("text"), d.Text)
	case api.DeltaReasoning:
		e.fragment(e.block("thinking"), d.Text)
	case api.DeltaCall:
		e.closeText()
		m.calls = append(m.calls, len(m.blocks))
		m.blocks = append(m.blocks, block{kind: "toolcall"})
		e.update(updateEvent{Type: "toolcall_start", ContentIndex: len(m.blocks) - 1, ID: d.CallID, ToolName: d.Tool})
	case api.DeltaArguments:
		if d.Index >= 0 && d.Index < len(m.calls) {
			e.fragment(m.calls[d.Index], d.Text)
		}
	}
}

// block is the number of the block that text of a kind goes to; a new one when the last is of another kind.
func (e *encoder) block(kind string) int {
	m := e.message
	last := len(m.blocks) - 1
	if last >= 0 && m.blocks[last].kind == kind && !m.blocks[last].done {
		return last
	}
	e.closeText()
	m.blocks = append(m.blocks, block{kind: kind})
	e.update(updateEvent{Type: kind + "_start", ContentIndex: last + 1})
	return last + 1
}

func (e *encoder) fragment(i int, s string) {
	b := &e.message.blocks[i]
	if s = b.rest.whole(s); s != "" && !b.done {
		e.update(updateEvent{Type: b.kind + "_delta", ContentIndex: i, Delta: s})
	}
}

// closeText ends open blocks of text. Those of tool calls stay open: arguments of several calls may come in turns.
func (e *encoder) closeText() {
	for i := range e.message.blocks {
		if e.message.blocks[i].kind != "toolcall" {
			e.closeBlock(i)
		}
	}
}

func (e *encoder) closeBlocks() {
	for i := range e.message.blocks {
		e.closeBlock(i)
	}
}

func (e *encoder) closeBlock(i int) {
	b := &e.message.blocks[i]
	if b.done {
		return
	}
	b.done = true
	e.update(updateEvent{Type: b.kind + "_end", ContentIndex: i})
}

func (e *encoder) update(u updateEvent) { e.put(updateRecord{recMessageUpdate, u}) }

// maxLiveProgress is how much live output of one call is told, in bytes (product.md 1.5). Its result is told whole.
const maxLiveProgress = 64 << 10

type liveTool struct {
	call    api.Call
	told    int
	omitted int64
	cut     bool // a record said that there is more
	rest    runes
}

func (e *encoder) startTool(c api.Call) {
	e.tools[c.ID] = &liveTool{call: c}
	e.put(toolRecord{Type: recToolStart, ToolCallID: c.ID, ToolName: c.Tool, Title: c.Title, Args: arguments(c.Arguments)})
}

func (e *encoder) progress(id, s string) {
	t := e.tools[id]
	if t == nil {
		return
	}
	s = t.rest.whole(s)
	room := maxLiveProgress - t.told
	if len(s) > room {
		end := room
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		t.omitted += int64(len(s) - end)
		s, t.told = s[:end], maxLiveProgress
	} else {
		t.told += len(s)
	}
	if s == "" && (t.cut || t.omitted == 0) {
		return
	}
	t.cut = t.omitted > 0
	e.put(toolRecord{Type: recToolUpdate, ToolCallID: id, ToolName: t.call.Tool, Delta: s, OmittedBytes: t.omitted})
}

// result ends a call; one that was refused before it ran is started here, so that each end has a start.
func (e *encoder) result(x api.Entry, m message) {
	c := *x.Call
	t := e.tools[c.ID]
	if t == nil {
		e.startTool(c)
		t = e.tools[c.ID]
	}
	delete(e.tools, c.ID)
	failed := x.Result.Outcome != api.ResultOK
	e.put(toolRecord{Type: recToolEnd, ToolCallID: c.ID, ToolName: c.Tool, OmittedBytes: t.omitted, Outcome: x.Result.Outcome,
		Result: &toolResult{Content: m.Content, Details: x.Result.Display}, IsError: &failed, DurationMS: millis(x.Result.Duration)})
	m.Role, m.ToolCallID, m.ToolName, m.IsError = "toolResult", c.ID, c.Tool, &failed
	e.whole(m)
}

func queueOf(q []api.Queued) queueRecord {
	r := queueRecord{Type: recQueueUpdate, Steering: []string{}, FollowUp: []string{}}
	for _, x := range q {
		if x.Kind == api.InputFollowUp {
			r.FollowUp = append(r.FollowUp, x.Text)
		} else {
			r.Steering = append(r.Steering, x.Text)
		}
	}
	return r
}

// runes keeps a character together that comes in two fragments. The zero value is ready.
type runes struct{ held string }

// whole answers what can be told now: at most three bytes are held back, the start of a character.
func (r *runes) whole(s string) string {
	s = r.held + s
	r.held = ""
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if !utf8.FullRuneInString(s[i:]) {
			s, r.held = s[:i], strings.Clone(s[i:])
		}
		break
	}
	return s
}
