package plain

import (
	"slices"

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
	queue     queueRecord
	behind    bool // since the lagged record, until caught up
	out       []any
}

// newEncoder begins where a client attached; what runs already is told as if it began now.
func newEncoder(s *api.State) (*encoder, []any) {
	e := &encoder{totals: s.Usage, tools: map[string]*liveTool{}, queue: queueOf(nil)}
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
		e.queue = queueOf(ev.Queue)
		e.put(e.queue)
	case api.EventAsk:
		e.put(askOf(*ev.Ask))
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
	e.fallBehind()
	e.entry(entry, false)
	return e.flush()
}

// caughtUp goes on from s.
func (e *encoder) caughtUp(s *api.State) []any {
	e.fallBehind()
	e.behind = false
	e.withdraw() // what it lacks cannot be had; the State's draft is told anew
	e.totals = s.Usage
	if e.summary && (s.Turn == nil || s.Turn.ID != e.run) {
		e.endSummary()
	}
	e.join(s)
	return e.flush()
}

// fallBehind says that fragments were lost.
func (e *encoder) fallBehind() {
	if !e.behind {
		e.behind, e.sure = true, false
		e.put(bareRecord{recLagged})
	}
}

// join tells what is in s and was not told.
func (e *encoder) join(s *api.State) {
	if q := queueOf(s.Queue); !slices.Equal(q.Steering, e.queue.Steering) || !slices.Equal(q.FollowUp, e.queue.FollowUp) {
		e.queue = q
		e.put(q)
	}
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
	m, _ := messageOf(x)
	switch x.Kind {
	case api.EntryUser, api.EntryNote, api.EntrySummary:
		e.said(x.Turn, m, sure)
	case api.EntryAssistant, api.EntryPartial:
		e.begin(x.Turn, sure)
		if e.answered {
			e.endStep() // the event that told of the next step was lost
		}
		e.beginStep()
		e.answer(m)
	case api.EntryResult:
		e.result(x, m)
	case api.EntryShell:
		e.whole(m)
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
	start.Output, start.ExitCode, start.Cancelled = nil, nil, nil
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
