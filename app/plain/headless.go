package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"octavo/app/api"
)

// reporter shows what happens while prompts are worked through.
type reporter interface {
	watcher
	// command is told what a prompt that was a command answered.
	command(line string, out api.Outcome, err error) error
}

// headless works through prompts with nobody there to answer a question: whatever asks is refused by the session (decision 11).
// Print and JSON are two ways of reporting it.
type headless struct {
	session api.Session
	*follower
	attention *attention
	report    reporter

	broken error // of a report that could not be written; nothing is reported after it
	failed error // the first turn that did not complete
	asked  bool  // somebody asked for the end
}

func newHeadless(ctx context.Context, s api.Session, o Options) (*headless, error) {
	f, err := follow(ctx, s, false)
	if err != nil {
		return nil, err
	}
	return &headless{session: s, follower: f, attention: attend(ctx, s, o.Interrupts)}, nil
}

func (h *headless) close() {
	h.attention.stop()
	h.follower.close()
}

// run submits one prompt after the other, each when the one before has settled with everything that follows from it. The first
// that does not complete ends it: a prompt is written for the case that the one before it worked.
func (h *headless) run(ctx context.Context, prompts []api.Input) error {
	names, err := commandNames(ctx, h.session)
	if err != nil {
		return err
	}
	for i, p := range prompts {
		var end bool
		if names.has(p) {
			end, err = h.command(ctx, p.Text, len(prompts)-i-1)
		} else {
			_, err = h.session.Submit(ctx, p)
		}
		if err == nil {
			err = h.settle(ctx)
		}
		if err != nil || end {
			return err
		}
	}
	return nil
}

// command runs a prompt that is a command; left is how many prompts are still to come. end says that the command ended the run.
func (h *headless) command(ctx context.Context, line string, left int) (end bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := startCommand(ctx, h.session, line)
	for {
		select {
		case e, open := <-h.stream.Events:
			if err := h.observe(e, open); err != nil {
				cancel()
				<-run
				return false, err
			}
		case <-h.attention.heard:
			h.asked = true
			cancel()
		case r := <-run:
			h.tell(h.report.command(line, r.out, r.err))
			if r.err != nil {
				return false, r.err
			}
			return h.leads(r.out, left)
		}
	}
}

// leads decides about a command that wants to go elsewhere: headless modes stay in one session.
func (h *headless) leads(out api.Outcome, left int) (end bool, err error) {
	switch {
	case out.Go == api.GoQuit:
		return true, nil
	case out.Go == "" || left == 0:
		return false, nil
	}
	return true, fmt.Errorf("the command before goes to another session, and print mode stays in one: %s not sent; "+
		"start octavo again with --resume and the new session's id", were(left))
}

func were(n int) string {
	if n == 1 {
		return "the prompt after it was"
	}
	return fmt.Sprintf("the %d prompts after it were", n)
}

// settle waits until the session is idle. The end of ctx or an interrupt ends the turn; it is still waited for, so that nothing
// runs on and the report is whole.
func (h *headless) settle(ctx context.Context) error {
	done := ctx.Done()
	for {
		idle, err := h.idle()
		if err != nil {
			return err
		}
		if idle {
			break
		}
		if h.broken != nil && !h.asked {
			h.interrupt()
		}
		select {
		case e, open := <-h.stream.Events:
			if err := h.observe(e, open); err != nil {
				return err
			}
		case <-done:
			done = nil
			h.interrupt()
		case <-h.attention.heard:
			h.interrupt()
		}
	}
	switch {
	case h.broken != nil && gone(h.broken):
		return h.broken
	case h.broken != nil:
		return fmt.Errorf("the output could not be written: %w", h.broken)
	case h.failed != nil:
		return h.failed
	case h.asked || ctx.Err() != nil:
		return &Failed{Outcome: api.SettledInterrupted}
	}
	return nil
}

// interrupt ends the running turn; that none runs, or that attention was faster, is as good.
func (h *headless) interrupt() {
	h.asked = true
	_ = h.session.Interrupt(h.ctx, false)
}

// observe takes an event, notes how turns end and has it reported.
func (h *headless) observe(e api.Event, open bool) error {
	return h.take(e, open, h)
}

// event implements watcher.
func (h *headless) event(s *api.State, e api.Event) error {
	if e.Type == api.EventEntry {
		h.note(*e.Entry)
	}
	if h.broken == nil {
		h.tell(h.report.event(s, e))
	}
	return nil
}

// missed implements watcher.
func (h *headless) missed(e api.Entry) error {
	h.note(e)
	if h.broken == nil {
		h.tell(h.report.missed(e))
	}
	return nil
}

// caughtUp implements watcher.
func (h *headless) caughtUp(s *api.State) error {
	if h.broken == nil {
		h.tell(h.report.caughtUp(s))
	}
	return nil
}

func (h *headless) note(e api.Entry) {
	if e.Settled != nil && h.failed == nil {
		h.failed = failure(*e.Settled)
	}
}

// tell keeps the error of a report. The turn is then interrupted by settle, and nothing more is reported.
func (h *headless) tell(err error) {
	if h.broken == nil {
		h.broken = err
	}
}

// quiet is the error of a front end to its caller: that nobody reads any more is none.
func quiet(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

// names is the set of commands of a session, with their slashes.
type names map[string]bool

func commandNames(ctx context.Context, s api.Session) (names, error) {
	list, err := s.Commands(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the commands: %w", err)
	}
	n := names{}
	for _, c := range list {
		n["/"+strings.TrimPrefix(c.Name, "/")] = true
	}
	return n, nil
}

// has reports whether a prompt is a command: its first word is, letter for letter, the name of one. Anything else that begins
// with a slash is text, since a prompt may well begin with the path of a file.
func (n names) has(p api.Input) bool {
	first, _, _ := strings.Cut(p.Text, "\n")
	words := strings.Fields(first)
	return len(p.Images) == 0 && len(words) > 0 && strings.HasPrefix(p.Text, words[0]) && n[words[0]]
}

// ran is what a command answered.
type ran struct {
	out api.Outcome
	err error
}

// startCommand runs a command beside the caller, who has events to read meanwhile. The channel gives its answer once; whoever
// cancels ctx still has to wait for it.
func startCommand(ctx context.Context, s api.Session, line string) <-chan ran {
	done := make(chan ran, 1)
	go func() {
		out, err := s.Run(ctx, line)
		if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = &Failed{Outcome: api.SettledInterrupted, Message: line + " was interrupted"}
		}
		done <- ran{out, err}
	}()
	return done
}
