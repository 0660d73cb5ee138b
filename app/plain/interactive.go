package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

const (
	heartbeat   = 5 * time.Second // between lines that say that a turn still works (product.md 1.3)
	leaveWindow = 2 * time.Second // in which a second ctrl+c leaves
)

// Interactive is a conversation in chronological lines, without moving the cursor (product.md 1.3). A line is said to the model,
// or steers it while it works; a line that begins with / is a command, and one that is none is reported and goes nowhere.
// Questions are asked on the terminal and answered by the next line that is typed below them.
//
// It takes s over: it goes from session to session as commands ask for it and closes each one it leaves, also when it returns. The
// error is that of the first turn that did not complete (product.md 1.8), ErrInterrupted when the person left with ctrl+c, or why
// it had to stop; that nobody reads Stdout any more is none.
func Interactive(ctx context.Context, c api.Client, s api.Session, o Options) error {
	o = o.withDefaults()
	v := &conversation{client: c, session: s, o: o, log: log{out: o.Stdout, err: o.Stderr, terminal: o.Terminal,
		look: render.Options{Width: o.Width, Palette: o.Palette}}}
	v.lines = readLines(o.Stdin)
	defer v.lines.stop()
	err := v.run(ctx)
	v.showQuestion(nil)
	v.stopClocks()
	if closing := v.leave(ctx); err == nil {
		err = closing
	}
	switch {
	case v.log.failed != nil && gone(v.log.failed):
		return v.failed
	case v.log.failed != nil:
		return fmt.Errorf("the output could not be written: %w", v.log.failed)
	case errors.Is(err, errLeave):
		return v.failed
	}
	return err
}

// errLeave says that the person wants to go.
var errLeave = errors.New("leave")

// conversation is one run of Interactive, over one session after the other. One goroutine does all of it.
type conversation struct {
	client  api.Client
	session api.Session
	o       Options
	log     log
	lines   *lineReader
	*follower

	compose  composer
	held     []line    // typed while a command runs; they are looked at when it has ended
	ended    bool      // no more lines will come
	question *question // that is shown
	silent   bool      // the terminal does not echo
	command  *command  // that runs
	next     *api.Outcome

	beat, disarm         <-chan time.Time
	stopBeat, stopDisarm func()
	spoken               int64 // entry of what was typed last, which stands on the terminal already
	unreported           int64
	failed               error // the first turn that did not complete
	full                 bool  // the model's window is, and nobody was asked yet what to do
}

// command is a command that runs.
type command struct {
	line   string
	cancel context.CancelFunc
	done   <-chan ran
	carry  bool // go on in the session it leads to
}

// run converses until there is a reason to stop.
func (v *conversation) run(ctx context.Context) error {
	if err := v.enter(ctx, v.session); err != nil {
		return err
	}
	if in := v.o.Initial; in != nil {
		if err := v.initial(ctx, *in); err != nil {
			return err
		}
	}
	for {
		if err := v.rest(ctx); err != nil {
			return err
		}
		var err error
		select {
		case e, open := <-v.stream.Events:
			err = v.take(e, open, v)
		case l, open := <-v.incoming():
			err = v.typed(ctx, l, open)
		case r := <-v.commandDone():
			err = v.commandEnded(ctx, r)
		case now := <-v.beat:
			v.working(now)
		case <-v.disarm:
			v.stopLeaving()
		case <-v.o.Interrupts:
			err = v.interrupt(ctx)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// enter makes s the session of the conversation.
func (v *conversation) enter(ctx context.Context, s api.Session) error {
	f, err := follow(ctx, s, true)
	if err != nil {
		return err
	}
	v.session, v.follower, v.spoken, v.full = s, f, 0, false
	v.unreported = v.state.Usage.Unreported
	v.log.opening(v.state)
	v.keepBeat()
	v.ask()
	return nil
}

// leave closes the session and says how to come back.
func (v *conversation) leave(ctx context.Context) error {
	if v.command != nil {
		v.command.cancel()
		<-v.command.done
	}
	if v.follower == nil {
		return v.session.Close(context.WithoutCancel(ctx))
	}
	v.close()
	err := v.session.Close(context.WithoutCancel(ctx))
	if v.state.Info.Entries > 0 {
		line := "resume with: octavo --resume " + v.state.Session
		if c := v.state.Usage.CostMicro; c != nil {
			line += " (it has cost " + text.Money(*c) + ")"
		}
		v.log.say(wordSession, line)
	}
	return err
}

// incoming is where the next line comes from; nil while none can be taken.
func (v *conversation) incoming() <-chan line {
	if v.ended || len(v.held) >= maxTypedAhead {
		return nil
	}
	return v.lines.lines
}

func (v *conversation) commandDone() <-chan ran {
	if v.command == nil {
		return nil
	}
	return v.command.done
}

// rest does what waits for quiet: lines that were held, a change of session, the end, the prompt.
func (v *conversation) rest(ctx context.Context) error {
	if v.log.failed != nil {
		return errLeave
	}
	for v.command == nil && v.question == nil && len(v.held) > 0 {
		l := v.held[0]
		v.held = v.held[1:]
		if err := v.say(ctx, l); err != nil {
			return err
		}
	}
	if v.command != nil || v.question != nil || v.state.Turn != nil {
		return nil
	}
	if idle, err := v.idle(); err != nil || !idle {
		return err
	}
	switch {
	case v.next != nil:
		return v.change(ctx)
	case v.full:
		v.full = false
		return v.askToGoOn(ctx)
	case v.ended:
		return errLeave
	case v.compose.open:
		v.log.prompt("... ")
	default:
		v.log.prompt("> ")
	}
	return nil
}

// typed takes a line that was read.
func (v *conversation) typed(ctx context.Context, l line, open bool) error {
	if !open {
		return v.inputEnded(ctx)
	}
	v.log.typed()
	switch {
	case l.ask != "" && v.question != nil && l.ask == v.question.ID:
		return v.answer(ctx, l)
	case l.ask != "":
		// It may have been the answer, which is nothing to tell the model, and may be a secret.
		v.log.say(wordNeedsInput, "the question is settled already; the line you typed was not used")
		return nil
	case v.command != nil || len(v.held) > 0 || v.question != nil && v.question.ID == askGoOn:
		v.held = append(v.held, l)
		return nil
	}
	return v.say(ctx, l)
}

// inputEnded is ctrl+d, or the end of a pipe: nobody can answer any more, and what runs is waited for.
func (v *conversation) inputEnded(ctx context.Context) error {
	v.ended = true
	v.log.typed()
	if v.o.Terminal {
		v.log.write("\n")
	}
	if v.compose.drop() {
		v.log.warn(wordWarning, "the input ended in the middle of something; that was not sent")
	}
	return v.ask2(ctx)
}
