package demo

import (
	"context"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"octavo/ext/model"
	"octavo/pages/text"
)

// fragmentBytes is the most that one fragment has: a word and the space after it, mostly.
const fragmentBytes = 12

// bytesPerToken turns a bound of tokens into one of bytes, as model.EstimateText counts them.
const bytesPerToken = 4

// reply is an answer before it is streamed.
type reply struct {
	thought string
	text    string
	calls   []model.ToolCall
	cut     bool // it did not fit, and this is its beginning
}

// stream answers one request, fragment by fragment.
func (s script) stream(ctx context.Context, r model.Request, emit func(model.Event) error) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limit := outputTokens
	if r.MaxOutput > 0 {
		limit = min(limit, r.MaxOutput)
	}
	said := answer(r).within(limit)
	if err := emit(model.Event{Type: model.EventStarted}); err != nil {
		return nil, err
	}
	for e := range said.events() {
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		if err := emit(e); err != nil {
			return nil, err
		}
	}
	return said.answer(r), nil
}

// wait keeps the pace; it ends with ctx.
func (s script) wait(ctx context.Context) error {
	if s.pace <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(s.pace)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// within makes a reply fit limit tokens. The thought goes first; then text is cut, and no call is made, for half a call is none.
func (r reply) within(limit int) reply {
	if r.tokens() > limit {
		r.thought = ""
	}
	if r.tokens() > limit {
		r.text, r.calls, r.cut = text.CutBytes(r.text, limit*bytesPerToken), nil, true
	}
	return r
}

// tokens is the size of a reply.
func (r reply) tokens() int {
	n := len(r.thought) + len(r.text)
	for _, c := range r.calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return model.EstimateText(n)
}

// events are the steps in which a reply is streamed.
func (r reply) events() iter.Seq[model.Event] {
	return func(yield func(model.Event) bool) {
		for s := range fragments(r.thought) {
			if !yield(model.Event{Type: model.EventReasoning, Delta: s}) {
				return
			}
		}
		for s := range fragments(r.text) {
			if !yield(model.Event{Type: model.EventText, Delta: s}) {
				return
			}
		}
		for i, c := range r.calls {
			if !yield(model.Event{Type: model.EventCall, Index: i, CallID: c.ID, CallName: c.Name}) {
				return
			}
			for s := range fragments(c.Arguments) {
				if !yield(model.Event{Type: model.EventArguments, Index: i, Delta: s}) {
					return
				}
			}
		}
	}
}

// fragments cuts s after white space, and within long words between characters.
func fragments(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			n := len(text.CutBytes(s, fragmentBytes))
			if i := strings.IndexFunc(s[:n], unicode.IsSpace); i >= 0 {
				_, space := utf8.DecodeRuneInString(s[i:])
				n = i + space
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// answer is the reply as a provider would return it.
func (r reply) answer(to model.Request) *model.Answer {
	a := &model.Answer{Finish: model.FinishComplete, Reason: "stop", Model: Model, Usage: r.usage(to)}
	if r.thought != "" {
		a.Parts = append(a.Parts, model.Part{Type: model.PartReasoning, Reasoning: &model.Reasoning{Text: r.thought, Maker: to.Maker}})
	}
	if r.text != "" {
		a.Parts = append(a.Parts, model.Text(r.text))
	}
	for _, c := range r.calls {
		a.Parts = append(a.Parts, model.Part{Type: model.PartCall, Call: &c})
	}
	switch {
	case r.cut:
		a.Finish, a.Reason = model.FinishLength, "length"
	case len(r.calls) > 0:
		a.Finish, a.Reason = model.FinishCalls, "tool_calls"
	}
	return a
}

// usage is what a provider with a prompt cache would count, by size: the request before this one is in the cache.
func (r reply) usage(to model.Request) model.Usage {
	last := len(to.Messages)
	for last > 0 && to.Messages[last-1].Role != model.RoleAssistant {
		last--
	}
	var cached, fresh int
	for i, m := range to.Messages {
		if i < last-1 {
			cached += model.EstimateMessage(m, to.Maker)
		} else {
			fresh += model.EstimateMessage(m, to.Maker)
		}
	}
	pinned := model.EstimatePinned(to.System, to.Tools)
	if last > 0 {
		cached += pinned
	} else {
		fresh += pinned
	}
	return model.Usage{
		Input:      model.Count(int64(fresh)),
		CacheRead:  model.Count(int64(cached)),
		CacheWrite: model.Count(0),
		Output:     model.Count(int64(r.tokens())),
		Reasoning:  model.Count(int64(reply{thought: r.thought}.tokens())),
	}
}
