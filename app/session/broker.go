package session

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext"
)

// openAsk is a question that waits for its answer.
type openAsk struct {
	ask   api.Ask
	reply chan ext.Answer // takes one answer without waiting
}

// MaxAsks is how many questions may be open at once; one more is denied.
const MaxAsks = 32

// ask puts a question to the person and waits for the answer, for ctx, or for the session's end. attended is false when nobody
// could have answered; the answer then denies.
func (s *Session) ask(ctx context.Context, q ext.Ask) (answer ext.Answer, attended bool) {
	reply := make(chan ext.Answer, 1)
	id := uuid.Must(uuid.NewV7()).String()
	err := s.do(ctx, func(a *actor) {
		if attended = a.attended() && len(a.asks) < MaxAsks; attended {
			a.openAsk(id, q, reply)
		}
	})
	if err != nil || !attended {
		return ext.Answer{}, false
	}
	select {
	case answer = <-reply:
		return answer, true
	case <-ctx.Done():
		s.post(func(a *actor) { a.settleAsk(id, ext.Answer{}) })
	case <-s.done:
	}
	return ext.Answer{}, true
}

func (a *actor) openAsk(id string, q ext.Ask, reply chan ext.Answer) {
	ask := api.Ask{ID: id, Kind: api.AskKind(q.Kind), Title: q.Title, Body: q.Body, Display: q.Display, Source: q.Source, Parent: q.Parent}
	switch q.Kind {
	case ext.AskApproval:
		ask.Options = []api.Option{{ID: ext.OptionDeny, Label: "deny"}, {ID: ext.OptionOnce, Label: "allow once"},
			{ID: ext.OptionSession, Label: "allow this exact call for the session"}}
	case ext.AskConfirm:
		ask.Options = []api.Option{{ID: ext.OptionDeny, Label: "deny"}, {ID: ext.OptionAllow, Label: "allow"}}
	default:
		for _, o := range q.Options {
			ask.Options = append(ask.Options, api.Option(o))
		}
	}
	ask = a.o.Redact.ask(ask)
	a.asks[id] = &openAsk{ask, reply}
	a.emit(api.Event{Type: api.EventAsk, Ask: &ask})
}

// settleAsk hands the answer over; the answer itself is in no event and is stored nowhere.
func (a *actor) settleAsk(id string, answer ext.Answer) {
	open, ok := a.asks[id]
	if !ok {
		return
	}
	delete(a.asks, id)
	open.reply <- answer
	a.emit(api.Event{Type: api.EventAnswered, Ask: &api.Ask{ID: id}})
}

// Answer implements api.Session.
func (s *Session) Answer(ctx context.Context, id string, answer api.Answer) (err error) {
	defer s.hush(&err)
	if len(answer.Text) > api.MaxAnswer {
		return errAsk(fmt.Sprintf("the answer has %d bytes, at most %d fit", len(answer.Text), api.MaxAnswer))
	}
	doErr := s.do(ctx, func(a *actor) {
		open, ok := a.asks[id]
		if !ok {
			err = errAsk("the question is no longer open")
			return
		}
		if answer.Option != "" && !offers(open.ask, answer.Option) {
			err = errAsk("the question does not offer " + answer.Option)
			return
		}
		a.settleAsk(id, ext.Answer{Option: answer.Option, Text: answer.Text})
	})
	if doErr != nil {
		return doErr
	}
	return err
}

type errAsk string

func (e errAsk) Error() string { return string(e) }

func offers(ask api.Ask, option string) bool {
	for _, o := range ask.Options {
		if o.ID == option {
			return true
		}
	}
	return false
}
