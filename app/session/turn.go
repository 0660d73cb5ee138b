package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"octavo/app/api"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// frozen is what one step of a turn works with; nothing that happens meanwhile changes it (design.md, "Composition").
type frozen struct {
	upstream    *model.Upstream
	request     model.Request
	composition *composition.Composition
	estimate    int // tokens of the request
}

// turn works a turn to its end: ask the model, run its calls, take what was said meanwhile, ask again (plugins.md 3.4).
func (s *Session) turn(r *run) {
	for {
		settled, more := s.step(r)
		if more {
			continue
		}
		// Whoever steers in the same moment finds the turn either open, and is taken, or settled, and starts the next.
		var again bool
		err := s.do(context.Background(), func(a *actor) {
			if settled.Outcome == api.SettledCompleted {
				taken, err := a.take(r, sessionstore.StageModel)
				if err != nil {
					a.fail(lost("the queue", err))
					return
				}
				if again = taken; again {
					return
				}
			}
			a.settle(r, settled)
		})
		if err != nil || !again {
			return
		}
	}
}

func failed(err error) api.Settled {
	return api.Settled{Outcome: api.SettledFailed, Error: err.Error()}
}

// step makes one request and does what the answer asks for. more says that the turn goes on.
func (s *Session) step(r *run) (settled api.Settled, more bool) {
	f, settled := s.prepare(r)
	if settled.Outcome != "" {
		return settled, false
	}
	answer, row, err := s.request(r, f, requestHooks{delta: s.delta, kind: sessionstore.RequestTurn})
	if err != nil {
		if r.ctx.Err() != nil {
			return api.Settled{Outcome: api.SettledInterrupted}, false
		}
		if model.ClassOf(err) == model.ErrOverflow {
			return s.contextFull(s.o.Redact.Text(err.Error())), false
		}
		return failed(errors.New(s.o.Redact.Text(err.Error()))), false
	}
	calls := model.Calls(answer.Parts)
	if err := s.keepAnswer(r, f, answer, row, len(calls) > 0); err != nil {
		return failed(err), false
	}
	if len(calls) == 0 {
		return ending(answer, r.Step), false
	}
	if err := s.runCalls(r, f, calls); err != nil {
		return failed(err), false
	}
	if r.ctx.Err() != nil {
		return api.Settled{Outcome: api.SettledInterrupted}, false
	}
	err = s.commitOr(func(a *actor) error {
		_, err := a.take(r, sessionstore.StageModel)
		return err
	})
	if err != nil {
		return failed(err), false
	}
	return api.Settled{}, true
}

// ending is how a turn ends with an answer that asks for nothing more. Silence as the very first answer is a fault of some servers whose
// window is full; after work it only means that there is nothing to add.
func ending(answer *model.Answer, step int) api.Settled {
	switch answer.Finish {
	case model.FinishComplete:
		if step == 1 && strings.TrimSpace(model.PlainText(answer.Parts)) == "" {
			return failed(errors.New("the model answered nothing; say it again, or check that the request fits the window the server gives it"))
		}
		return api.Settled{Outcome: api.SettledCompleted}
	case model.FinishLength:
		return failed(errors.New("the answer was cut off at the model's output limit; say \"continue\" to get the rest"))
	case model.FinishFiltered:
		return failed(fmt.Errorf("the provider's filter ended the answer (%s); word the request differently", answer.Reason))
	default:
		return failed(fmt.Errorf("the model stopped for a reason octavo does not know (%q); say \"continue\" to go on", answer.Reason))
	}
}

// prepare freezes the next request, or says why there is none.
func (s *Session) prepare(r *run) (f frozen, settled api.Settled) {
	err := s.commitOr(func(a *actor) error {
		if r.interrupted {
			settled = api.Settled{Outcome: api.SettledInterrupted}
			return nil
		}
		if settled = a.overLimit(r); settled.Outcome != "" {
			return nil
		}
		up, err := a.o.Models.Resolve(a.row.Model)
		if err != nil {
			settled = failed(err)
			return nil
		}
		if a.o.Limits.CostMicro > 0 && up.Info.Price == nil {
			settled = api.Settled{Outcome: api.SettledCostLimit, Error: fmt.Sprintf("max_cost_microdollars is set, but the price of %s is not known; "+
				"give it one in config.toml (octavo help models), choose another model, or take the limit away", up.ID())}
			return nil
		}
		if err := a.load(context.Background()); err != nil {
			settled = failed(err)
			return nil
		}
		f = frozen{upstream: up, composition: a.o.Composition, request: model.Request{
			Model: up.Model, Maker: up.ID(), System: a.system(), Messages: a.history.snapshot(), Tools: toolSpecs(a.o.Composition),
			Effort: a.row.Effort, CacheKey: a.id,
		}}
		f.estimate = a.estimate(f)
		r.Step++
		r.Phase = "" // each step says anew that it waits
		a.setPhase(r, api.PhaseWaiting)
		return nil
	})
	if err != nil {
		return f, failed(err)
	}
	if settled.Outcome != "" {
		return f, settled
	}
	if window := f.upstream.Info.ContextTokens; window > 0 && f.estimate > window-reserve(f.upstream.Info) {
		return f, s.contextFull(fmt.Sprintf("the next request has about %d tokens and %s takes %d, of which %d are kept for the answer",
			f.estimate, f.upstream.ID(), window, reserve(f.upstream.Info)))
	}
	if f.request.Messages, err = s.withImages(r.ctx, f.request.Messages, f.upstream); err != nil {
		return f, failed(err)
	}
	return f, api.Settled{}
}

func (s *Session) contextFull(why string) api.Settled {
	return api.Settled{Outcome: api.SettledContextFull,
		Error: why + "; /fork summary goes on in a new session that starts with a summary of this one"}
}

// overLimit says which limit ends the turn before its next request.
func (a *actor) overLimit(r *run) api.Settled {
	l := a.o.Limits
	if l.Steps > 0 && r.Step >= l.Steps {
		return api.Settled{Outcome: api.SettledMaxTurns,
			Error: fmt.Sprintf("the limit of %s for one turn is reached; --max-turns raises it", text.Plural(l.Steps, "model request"))}
	}
	cost := a.state.Usage.CostMicro
	if l.CostMicro > 0 && a.state.Usage.Unpriced > 0 {
		// A ceiling that cannot be kept must not look as if it were (product.md 5: hard ceilings fail closed).
		return api.Settled{Outcome: api.SettledCostLimit, Error: "max_cost_microdollars is set, but requests of this session have no known " +
			"price; give the model one in config.toml or take the limit away"}
	}
	if cost == nil {
		return api.Settled{}
	}
	if l.CostMicro > 0 && *cost >= l.CostMicro {
		return api.Settled{Outcome: api.SettledCostLimit, Error: fmt.Sprintf("this session has cost %s and "+
			"max_cost_microdollars allows %s; raise it in config.toml, or start a new session", text.Money(*cost), text.Money(l.CostMicro))}
	}
	if l.WarnAtMicro > 0 && *cost >= l.WarnAtMicro && !a.warned {
		a.warned = true
		a.notice(api.NoticeWarning, "", fmt.Sprintf("this session has cost %s so far (cost_warning_microdollars)", text.Money(*cost)))
	}
	return api.Settled{}
}

// keepAnswer stores an accepted answer together with its usage row.
func (s *Session) keepAnswer(r *run, f frozen, answer *model.Answer, row sessionstore.Request, calls bool) error {
	stage := sessionstore.StageModel
	if calls {
		stage = sessionstore.StageTool
	}
	row.Seq = sessionstore.FirstAppended
	return s.commitOr(func(a *actor) error {
		if u := answer.Usage; u.Input != nil {
			a.context = int(sum(u.Input, u.CacheRead, u.CacheWrite, u.Output))
		}
		e := entry{api.EntryAssistant, record{Parts: answer.Parts, Model: f.upstream.ID(), Finish: answer.Finish}}
		return a.commit(sessionstore.AssistantStored, r.ID, []entry{e}, sessionstore.Change{
			Stage: &sessionstore.StageChange{Stage: stage, Turn: r.ID}, Requests: []sessionstore.Request{row}})
	})
}

// commitOr runs f on the actor. An error of f ends the session: what happened since can no longer be recorded, so nothing may
// go on as if it had been.
func (s *Session) commitOr(f func(*actor) error) error {
	var err error
	if doErr := s.do(context.Background(), func(a *actor) {
		if err = f(a); err != nil {
			a.fail(lost("the session's progress", err))
		}
	}); doErr != nil {
		return doErr
	}
	return err
}

func sum(counts ...*int64) (n int64) {
	for _, c := range counts {
		if c != nil {
			n += *c
		}
	}
	return n
}
