package plain

import (
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
	if err := failure(s); err != nil {
		if s.Outcome != api.SettledInterrupted { // that was the person's own wish
			v.fail(err)
		}
		v.log.waits(v.state.Queue)
	}
	v.full = s.Outcome == api.SettledContextFull
}
