package plain

import (
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages/text"
)

// event implements watcher. The text of an answer is not shown before it is accepted, so that what is withdrawn never stands in
// the log (product.md 1.3).
func (v *conversation) event(_ *api.State, e api.Event) error {
	switch e.Type {
	case api.EventEntry:
		v.entry(*e.Entry)
	case api.EventRetry:
		v.log.retry(*e.Retry)
	case api.EventTurn:
		v.summarizing(*e.Turn)
	case api.EventProgress:
		v.peek(e.Progress.CallID)
	case api.EventNotice:
		v.log.notice(*e.Notice)
	case api.EventAsk:
		v.ask()
	case api.EventAnswered:
		delete(v.settled, e.Ask.ID)
		v.ask()
	}
	v.keepBeat()
	return nil
}

// missed implements watcher.
func (v *conversation) missed(e api.Entry) error {
	v.entry(e)
	return nil
}

// caughtUp implements watcher.
func (v *conversation) caughtUp(s *api.State) error {
	v.unreported = v.log.uncertain(s.Usage, v.unreported)
	v.keepBeat()
	v.ask()
	return nil
}

func (v *conversation) entry(e api.Entry) {
	switch e.Kind {
	case api.EntryUser:
		if e.Seq != v.spoken {
			v.log.echo(said(e))
		}
	case api.EntryAssistant:
		if reasoning := joined(e.Parts, api.PartReasoning); v.o.ShowReasoning && reasoning != "" {
			v.log.say(wordThinking, "")
			v.log.block(reasoning)
		}
		v.log.answer(joined(e.Parts, api.PartText))
	case api.EntryPartial:
		v.log.partial(e)
	case api.EntryResult:
		v.log.result(e, e.Call.ID == v.previewed)
	case api.EntryShell:
		if v.shell == nil && e.Seq != v.shown { // otherwise it is shown as it runs
			v.log.ran(e)
		}
	case api.EntryNote:
		v.log.say(wordNote, e.Origin+": "+text.Clip(text.CleanLine(joined(e.Parts, api.PartText)), 200))
	case api.EntrySettled:
		v.turnSettled(*e.Settled)
	}
}

func (v *conversation) turnSettled(s api.Settled) {
	v.unreported = v.log.uncertain(v.state.Usage, v.unreported)
	v.log.settled(s)
	v.failed = nil
	if err := failure(s); err != nil {
		if s.Outcome != api.SettledInterrupted { // that was the person's own wish
			v.failed = err
		}
		v.log.waits(v.state.Queue)
	}
	v.full = s.Outcome == api.SettledContextFull
}

// summarizing says that a summary is being written, when it begins.
func (v *conversation) summarizing(t api.TurnInfo) {
	if t.Phase == api.PhaseSummarizing && t.ID != v.summary {
		v.summary = t.ID
		v.log.say(wordWorking, "writing a summary of this session; ctrl+c ends it")
	}
}

const (
	peekEvery = 2 * time.Second // between lines of live output, and how long a call runs before the first of them
	maxPeek   = 160             // cells of such a line
	peekBytes = 4 << 10         // of live output in which it is looked for
)

// peek shows the newest line of what a call writes, now and then: whoever waits sees that something happens, and the end of the output
// is shown when the call has ended. While a question is open the terminal is the person's.
func (v *conversation) peek(call string) {
	now := v.o.Now()
	if v.state.Turn == nil || v.question != nil || now.Sub(v.peeked) < peekEvery {
		return
	}
	for _, t := range v.state.Turn.Tools {
		if t.Call.ID != call || now.Sub(t.Started) < peekEvery {
			continue
		}
		out := t.Output[max(0, len(t.Output)-peekBytes):]
		lines := strings.Split(strings.TrimSpace(text.Clean(text.LastOverwrites(string(out)))), "\n")
		if newest := strings.TrimSpace(lines[len(lines)-1]); newest != "" {
			v.peeked = now
			v.log.say(wordTool, text.Cut(newest, maxPeek, "…"))
		}
	}
}
