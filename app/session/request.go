package session

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext/model"
	"octavo/sessionstore"
)

// requestHooks say what becomes of a request besides its answer.
type requestHooks struct {
	kind  string                  // of its usage rows
	delta func(*run, model.Event) // nil: nobody watches the answer
}

// request asks the model until it has an answer or there is no sense in asking again (plugins.md 3.6). The usage row of the
// answer is returned to be stored with it; those of failed attempts are stored here. Nothing of a failed attempt stays.
func (s *Session) request(r *run, f frozen, h requestHooks) (*model.Answer, sessionstore.Request, error) {
	retry := model.Retry{Jitter: rand.N[time.Duration]}
	for attempt := 1; ; attempt++ {
		row := sessionstore.Request{ID: uuid.Must(uuid.NewV7()).String(), Turn: r.ID, Kind: h.kind, Provider: f.upstream.Provider,
			Model: f.upstream.Model, Endpoint: f.upstream.Endpoint, Started: time.Now().UTC()}
		said, shown := &partial{}, fragments{r: s.o.Redact}
		answer, err := f.upstream.Stream(r.ctx, f.request, func(e model.Event) error {
			said.started = true
			if h.delta != nil {
				if e, ok := shown.event(e); ok {
					said.add(e)
					h.delta(r, e)
				}
			}
			return r.ctx.Err()
		})
		row.Finished = row.Started.Add(time.Since(row.Started)) // also when the clock was set meanwhile
		if err == nil {
			for _, e := range shown.rest() {
				h.delta(r, e)
			}
			asked := model.Calls(answer.Parts)
			answer.Parts = redacted(s.o.Redact, answer.Parts) // before anything acts on it
			r.void = altered(asked, model.Calls(answer.Parts))
			row.Outcome = sessionstore.OutcomeOK
			s.price(&row, f.upstream, answer.Usage)
			return answer, row, nil
		}
		cancelled := r.ctx.Err() != nil
		delay, again := retry.Next(attempt, err)
		if cancelled || again && s.gaveUp(r) {
			again = false
		}
		if storeErr := s.attemptFailed(r, f, h, row, err, said, cancelled, again); storeErr != nil {
			return nil, row, storeErr
		}
		if !again {
			return nil, row, err
		}
		waiting, giveUp := context.WithCancel(r.ctx)
		s.post(func(a *actor) {
			r.giveUp = giveUp
			if a.run == r && !r.interrupted {
				a.setPhase(r, api.PhaseRetrying)
				a.emit(api.Event{Type: api.EventRetry, Retry: &api.Retry{Attempt: attempt, Most: model.MaxAttempts, Delay: delay,
					Error: s.o.Redact.Text(err.Error())}})
			}
		})
		slept := s.o.Sleep(waiting, delay)
		giveUp()
		if r.ctx.Err() == nil && slept != nil {
			return nil, row, err // given up: the attempt's own failure says why there is no answer
		}
		if slept != nil {
			return nil, row, slept
		}
		s.post(func(a *actor) {
			r.giveUp = nil
			if a.run == r {
				a.setPhase(r, api.PhaseWaiting)
			}
		})
	}
}

// altered are the ids of calls whose arguments are no longer what the model wrote. What is left of them means something else, so they
// are refused.
func altered(asked, left []model.ToolCall) map[string]bool {
	void := map[string]bool{}
	for i := range min(len(asked), len(left)) {
		if asked[i].Arguments != left[i].Arguments {
			void[left[i].ID] = true
		}
	}
	return void
}

// gaveUp reports whether failed requests are not made again.
func (s *Session) gaveUp(r *run) (yes bool) {
	_ = s.do(r.ctx, func(a *actor) { yes = a.manner.noRetry })
	return yes
}

// attemptFailed withdraws what was shown of a failed attempt and stores its usage row. What a person interrupted is kept for
// them to see, marked as partial; no model reads it again.
func (s *Session) attemptFailed(r *run, f frozen, h requestHooks, row sessionstore.Request, err error, said *partial, cancelled, again bool) error {
	row.Error = err.Error()
	var e *model.Error
	if errors.As(err, &e) {
		row.Status = e.Status
	}
	row.Outcome = sessionstore.OutcomeFailed
	switch {
	case cancelled:
		row.Outcome = sessionstore.OutcomeCancelled
	case said.started:
		row.Outcome = sessionstore.OutcomeWithdrawn
	}
	if !said.started && !cancelled && !mayHaveUsed(err) {
		// It was never accepted: it used nothing, whatever the price of that is.
		none := model.Count(0)
		row.Input, row.CacheRead, row.CacheWrite, row.Output, row.CostMicro = none, none, none, none, none
	}
	return s.commitOr(func(a *actor) error {
		var entries []entry
		if cancelled && h.delta != nil && len(said.text) > 0 {
			entries = []entry{{api.EntryPartial, record{Parts: []model.Part{model.Text(string(said.text))}, Model: f.upstream.ID()}}}
		} else if h.delta != nil && said.started {
			a.emit(api.Event{Type: api.EventWithdraw})
		}
		return a.commit(sessionstore.UsageStored, r.ID, entries, sessionstore.Change{Requests: []sessionstore.Request{row}})
	})
}

// mayHaveUsed reports a failure of an attempt that the provider may have accepted, and charges for, although nothing of an answer
// came: what was refused or never left used nothing (product.md 5: failed accepted attempts are unknown).
func mayHaveUsed(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Status != 0 {
		return false
	}
	return e.Class == model.ErrCut || e.Class == model.ErrTimeout || e.Class == model.ErrMalformed
}

// partial is what an attempt has said so far, as far as it was shown.
type partial struct {
	started bool
	text    []byte
}

func (p *partial) add(e model.Event) {
	if e.Type == model.EventText {
		p.text = append(p.text, e.Delta...)
	}
}

// price fills in the tokens and the cost of an answered request.
func (s *Session) price(row *sessionstore.Request, up *model.Upstream, u model.Usage) {
	row.Input, row.CacheRead, row.CacheWrite, row.Output, row.Reasoning = u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning
	if c := up.Info.Price.Cost(u); c != nil {
		row.CostMicro, row.CostPico = &c.Micro, c.Pico
	}
}

// delta shows a fragment of the answer.
func (s *Session) delta(r *run, e model.Event) {
	var d api.Delta
	switch e.Type {
	case model.EventText:
		d = api.Delta{Kind: api.DeltaText, Text: e.Delta}
	case model.EventReasoning:
		d = api.Delta{Kind: api.DeltaReasoning, Text: e.Delta}
	case model.EventCall:
		d = api.Delta{Kind: api.DeltaCall, Index: e.Index, CallID: e.CallID, Tool: e.CallName}
	case model.EventArguments:
		d = api.Delta{Kind: api.DeltaArguments, Index: e.Index, Text: e.Delta}
	default:
		return
	}
	s.post(func(a *actor) {
		if a.run != r {
			return
		}
		a.setPhase(r, api.PhaseGenerating)
		a.emit(api.Event{Type: api.EventDelta, Delta: &d})
	})
}

// withImages fills in the bytes of the pictures of a conversation, on copies of the messages that have any. A model known not to
// read pictures is told that there was one.
func (s *Session) withImages(ctx context.Context, messages []model.Message, up *model.Upstream) ([]model.Message, error) {
	blind := up.Info.Images != nil && !*up.Info.Images
	copied := false
	for i, m := range messages {
		parts, changed, err := s.fillParts(ctx, m.Parts, blind)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if !copied {
			messages, copied = slices.Clone(messages), true
			if blind {
				s.tellOnce("blind "+up.ID(), up.ID()+" reads no pictures: it is told only that there was one")
			}
		}
		messages[i].Parts = parts
	}
	return messages, nil
}

// tellOnce shows a warning the first time in this opening of the session.
func (s *Session) tellOnce(about, warning string) {
	s.post(func(a *actor) {
		if !a.told[about] {
			a.told[about] = true
			a.notice(api.NoticeWarning, "", warning)
		}
	})
}

func (s *Session) fillParts(ctx context.Context, parts []model.Part, blind bool) (out []model.Part, changed bool, err error) {
	out = parts
	set := func(i int, p model.Part) {
		if !changed {
			out, changed = slices.Clone(parts), true
		}
		out[i] = p
	}
	for i, p := range parts {
		switch {
		case p.Type == model.PartImage && blind:
			set(i, model.Text("[a picture that this model cannot read]"))
		case p.Type == model.PartImage:
			img := *p.Image
			if img.Data, err = s.o.Store.Blob(ctx, img.SHA256); err != nil {
				return nil, false, err
			}
			set(i, model.Part{Type: model.PartImage, Image: &img})
		case p.Type == model.PartResult:
			inner, c, err := s.fillParts(ctx, p.Result.Parts, blind)
			if err != nil {
				return nil, false, err
			}
			if c {
				res := *p.Result
				res.Parts = inner
				set(i, model.Part{Type: model.PartResult, Result: &res})
			}
		}
	}
	return out, changed, nil
}
