package plain

import (
	"context"
	"io"
	"strings"

	"octavo/app/api"
	"octavo/pages/text"
)

// Print works through prompts and writes the answer of each turn, and nothing else, to Stdout (product.md 1.4): the text of the
// answer that ended it, once the turn has settled. What was said on the way to it, retries, notices and the rest go to Stderr. A
// prompt whose first word is a command's name is run as that command and its text printed.
//
// On a terminal what could do more than be read is taken out of an answer; in a pipe its bytes are exact. In both a newline is
// added where an answer has none at its end, so that answers stand apart.
//
// The error is *Failed when a turn did not complete. That nobody reads Stdout any more ends the turn and is no error; the caller
// must have told the system not to kill it for that (os/signal.Ignore of SIGPIPE). The session stays open. When ctx ends, the
// turn is interrupted and waited for.
func Print(ctx context.Context, s api.Session, prompts []api.Input, o Options) error {
	o = o.withDefaults()
	h, err := newHeadless(ctx, s, o)
	if err != nil {
		return err
	}
	defer h.close()
	h.report = &printer{options: o, log: log{out: o.Stderr, err: o.Stderr}, unreported: h.state.Usage.Unreported}
	return quiet(h.run(ctx, prompts))
}

// printer reports a run as its answers.
type printer struct {
	options    Options
	log        log
	answer     *api.Entry // that would end the turn if it settled now
	unreported int64      // requests without token counts that were told of
}

// event implements watcher.
func (p *printer) event(s *api.State, e api.Event) error {
	switch e.Type {
	case api.EventEntry:
		return p.entry(*e.Entry, s.Usage)
	case api.EventWithdraw:
		p.log.say(wordRetry, "what was said so far is withdrawn")
	case api.EventRetry:
		p.log.retry(*e.Retry)
	case api.EventNotice:
		p.log.notice(*e.Notice)
	}
	return nil
}

func (p *printer) entry(e api.Entry, u api.Usage) error {
	switch e.Kind {
	case api.EntryAssistant:
		p.answer = &e
		if hasCalls(e.Parts) {
			p.answer = nil // the turn goes on, or ends without an answer
		}
	case api.EntryPartial:
		p.log.partial(e)
	case api.EntryResult:
		if e.Result.Outcome == api.ResultRefused || e.Result.Outcome == api.ResultUnknown {
			p.log.result(e, true) // the answer may well not mention it
		}
	case api.EntryShell:
		p.log.ran(e)
	case api.EntrySettled:
		return p.settled(u)
	}
	return nil
}

// missed implements watcher.
func (p *printer) missed(e api.Entry) error { return p.entry(e, api.Usage{Unreported: p.unreported}) }

// caughtUp implements watcher.
func (p *printer) caughtUp(s *api.State) error {
	p.unreported = p.log.uncertain(s.Usage, p.unreported)
	return nil
}

func (p *printer) settled(u api.Usage) error {
	p.unreported = p.log.uncertain(u, p.unreported)
	if p.answer == nil {
		return nil
	}
	var parts []string
	if reasoning := joined(p.answer.Parts, api.PartReasoning); p.options.ShowReasoning && reasoning != "" {
		parts = append(parts, reasoning)
	}
	if said := joined(p.answer.Parts, api.PartText); said != "" {
		parts = append(parts, said)
	}
	p.answer = nil
	return p.write(strings.Join(parts, "\n\n"))
}

// command implements reporter.
func (p *printer) command(_ string, out api.Outcome, err error) error {
	if err != nil {
		return nil // the caller of Print says it
	}
	if err := p.write(out.Text); err != nil {
		return err
	}
	if out.Go == api.GoSession && out.Session != "" {
		p.log.say(wordSession, "go on there with: octavo --resume "+out.Session)
	}
	return nil
}

func (p *printer) write(s string) error {
	if s = shown(s, p.options.Terminal); s == "" {
		return nil
	}
	_, err := io.WriteString(p.options.Stdout, ended(s))
	return err
}

// shown is text from outside as it may go to Stdout.
func shown(s string, terminal bool) string {
	if terminal {
		return text.Clean(s)
	}
	return s
}

// ended is s with a newline at its end.
func ended(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// joined is the text of all parts of a type. Nearly always that is one part, which is not copied: it may be large.
func joined(parts []api.Part, t api.PartType) string {
	s := ""
	for _, p := range parts {
		if p.Type == t {
			s += p.Text
		}
	}
	return s
}

func hasCalls(parts []api.Part) bool {
	for _, p := range parts {
		if p.Type == api.PartCall {
			return true
		}
	}
	return false
}
