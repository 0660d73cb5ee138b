package export

import (
	"slices"

	"octavo/app/api"
)

// page is a format that a person reads from top to bottom.
type page interface {
	head()
	turn()                         // a turn begins; what belongs to none stands as if in one
	prompt(e api.Entry)            // a person said something
	answer(e api.Entry)            // the model said something, whole or not; its calls are told by call
	call(c api.Call, e *api.Entry) // a tool call with its result entry, nil when it has none
	ran(e api.Entry)               // a person ran a command
	note(e api.Entry)              // octavo or an extension said something, or a kind of entry that this octavo does not know
	summary(e api.Entry)           // what stands for the history before
	settled(e api.Entry)           // the turn ended
	foot()
}

// story tells entries to a page in the order in which a person reads them: a call stands once, together with its result.
type story struct {
	page  page
	begun bool       // some turn is being told
	id    string     // of that turn
	ended bool       // it has settled
	calls []api.Call // asked for in it, without a result so far
}

// open implements teller.
func (s *story) open(Session) error {
	s.page.head()
	return nil
}

// entry implements teller.
func (s *story) entry(e api.Entry) error {
	// A command that a person ran belongs to no turn, and may stand in the middle of one.
	if within := e.Kind == api.EntryShell && !s.ended; !s.begun || e.Turn != s.id && !within {
		s.leave()
		s.begun, s.id, s.ended = true, e.Turn, false
		s.page.turn()
	}
	switch {
	case e.Kind == api.EntryUser:
		s.page.prompt(e)
	case e.Kind == api.EntryAssistant, e.Kind == api.EntryPartial:
		s.leave()
		s.page.answer(e)
		for _, p := range e.Parts {
			if p.Call != nil {
				s.calls = append(s.calls, *p.Call)
			}
		}
	case e.Kind == api.EntryCall && e.Call != nil:
		s.started(*e.Call)
	case e.Kind == api.EntryResult && e.Call != nil && e.Result != nil:
		s.calls = slices.DeleteFunc(s.calls, func(c api.Call) bool { return c.ID == e.Call.ID })
		s.page.call(*e.Call, &e)
	case e.Kind == api.EntryShell && e.Call != nil && e.Result != nil:
		s.page.ran(e)
	case e.Kind == api.EntrySummary:
		s.page.summary(e)
	case e.Kind == api.EntrySettled && e.Settled != nil:
		s.leave()
		s.ended = true
		s.page.settled(e)
	default:
		s.page.note(e)
	}
	return nil
}

// close implements teller.
func (s *story) close() error {
	s.leave()
	s.page.foot()
	return nil
}

// started notes that a call runs, with the title it has now.
func (s *story) started(c api.Call) {
	if i := slices.IndexFunc(s.calls, func(open api.Call) bool { return open.ID == c.ID }); i >= 0 {
		s.calls[i] = c
		return
	}
	s.calls = append(s.calls, c)
}

// leave tells the calls that got no result, as those of a session that was open while it was exported.
func (s *story) leave() {
	for _, c := range s.calls {
		s.page.call(c, nil)
	}
	s.calls = s.calls[:0]
}
