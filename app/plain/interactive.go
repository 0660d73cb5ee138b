package plain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

// Interactive is a conversation in chronological lines, without moving the cursor (product.md 1.3). A line is said to the model,
// or steers it while it works; a line that begins with / is a command, and one that names none is reported and goes nowhere.
// Questions are asked in the log and answered by the next line that is typed below them.
//
// It takes s over: it goes from session to session as commands ask for it and closes each one it leaves, also when it returns. The
// error is that of the last turn when it failed, for a failure before a turn that went well was seen and is over, ErrInterrupted when
// the person left with ctrl+c, or why it had to stop; that nobody reads Stdout any more is none, and neither is a turn that the person
// interrupted.
//
// prompts is what is said first, as if it had been typed: one input without pictures, or none (product.md 1.1).
func Interactive(ctx context.Context, c api.Client, s api.Session, prompts []api.Input, o Options) error {
	o = o.withDefaults()
	if len(prompts) > 1 || len(prompts) == 1 && len(prompts[0].Images) > 0 {
		return errors.Join(errors.New("an interactive session begins with one prompt without pictures at most"), s.Close(ctx))
	}
	out, errs := newOutlet(o.Stdout), newOutlet(o.Stderr)
	defer out.close()
	defer errs.close()
	v := &conversation{client: c, session: s, o: o, settled: map[string]bool{}, log: log{out: out, err: errs,
		terminal: o.Terminal, look: render.Options{Width: o.Width, Palette: o.Palette}}}
	v.attention = attend(ctx, s, o.Interrupts, out, errs)
	defer v.attention.stop()
	v.lines = readLines(o.Stdin, o.Flush != nil, o.Now)
	defer v.lines.stop()
	marks := o.Terminal && o.Flush != nil && !o.Dumb
	if marks {
		v.log.control(pasteOn)
	}
	err := v.run(ctx, prompts)
	v.show(nil)
	v.stopBeat()
	v.stayHere()
	v.dropPaste()
	if closing := v.leave(ctx); errors.Is(err, errLeave) {
		err = errors.Join(v.failed, closing)
	}
	if marks {
		v.log.control(pasteOff)
	}
	switch {
	case errors.Is(v.log.failed, ErrInterrupted):
		return ErrInterrupted
	case v.log.failed != nil && gone(v.log.failed):
		return v.failed
	case v.log.failed != nil:
		return fmt.Errorf("the output could not be written: %w", v.log.failed)
	}
	return err
}

// errLeave says that the conversation is over.
var errLeave = errors.New("leave")

const (
	heartbeat   = 5 * time.Second // between lines that say that a turn still works (product.md 1.3)
	leaveWindow = 2 * time.Second // in which a second ctrl+c leaves
)

// conversation is one run of Interactive, over one session after the other. One goroutine does all of it.
type conversation struct {
	client  api.Client
	session api.Session
	*follower
	o     Options
	log   log
	lines *lineReader

	attention *attention

	compose   composer
	paste     paste
	held      []line // typed while they cannot be looked at; see holding
	ended     bool   // no more lines will come
	question  *question
	offered   time.Time       // when it was shown how to answer it
	unread    bool            // the next line is no answer, whenever it comes
	settled   map[string]bool // questions that were answered and are open in the state still
	silent    bool            // the terminal does not echo
	previewed string          // the call whose change was shown last to be approved
	command   *command
	shell     *shell
	next      *step

	beat, disarm     <-chan time.Time // nil while nothing works, and while no ctrl+c was pressed
	endBeat, endWait func()
	spoken           int64      // entry of what was typed last, which stands on the terminal already
	shown            int64      // entry of the command that was run last, which was shown as it ran
	unreported       int64      // requests without token counts that were told of
	failed           error      // of the last turn, or of an input that was refused after it; nil when that went well
	kept             *api.Input // what was refused because no model was chosen; /continue says it
	summary          string     // the turn that writes a summary, or did last
	peeked           time.Time  // when live output of a tool was shown last
	full             bool       // the model's window is, and nobody was asked yet what to do
}

// command is one that runs.
type command struct {
	line   string
	cancel context.CancelFunc
	done   <-chan ran
	carry  bool // go on with the work in the session that it leads to
}

// step is a change to another session that waits for the end of the turn.
type step struct {
	to    string // api.GoNew or api.GoSession
	id    string
	carry bool
}

// run converses until there is a reason to stop, which it returns; errLeave is a good one.
func (v *conversation) run(ctx context.Context, prompts []api.Input) error {
	if err := v.enter(ctx, v.session); err != nil {
		return err
	}
	for _, in := range prompts {
		if err := v.begin(ctx, in); err != nil {
			return err
		}
	}
	for {
		if err := v.rest(ctx); err != nil {
			return err
		}
		var done <-chan ran
		if v.command != nil {
			done = v.command.done
		}
		var err error
		select {
		case e, open := <-v.stream.Events:
			err = v.take(e, open, v)
		case l, open := <-v.incoming():
			err = v.typed(ctx, l, open)
		case r := <-done:
			err = v.commandEnded(ctx, r)
		case <-v.shell.output():
			v.shellSays()
		case e := <-v.shell.ended():
			v.shellEnded(e)
		case <-v.paste.wait:
			if len(v.lines.lines) == 0 { // otherwise more of it has been read
				v.pasted(ctx)
			}
		case <-v.beat:
			v.working()
		case <-v.disarm:
			v.stayHere()
		case p := <-v.attention.heard:
			err = v.interrupt(ctx, p)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// rest does what waits for quiet: lines that were held, a change of session, the end, the prompt.
func (v *conversation) rest(ctx context.Context) error {
	if v.log.failed != nil {
		return errLeave
	}
	for !v.holding() && len(v.held) > 0 {
		l := v.held[0]
		v.held = v.held[1:]
		if err := v.say(ctx, l); err != nil {
			return err
		}
	}
	if v.command != nil || v.shell != nil || v.question != nil || v.state.Turn != nil || v.paste.wait != nil {
		return nil
	}
	if idle, err := v.idle(); err != nil || !idle {
		return err
	}
	switch {
	case v.next != nil:
		if err := v.change(ctx); err != nil {
			return err
		}
		return v.rest(ctx) // lines were held for this
	case v.full:
		v.full = false
		if err := v.askToGoOn(ctx); err != nil || v.question != nil {
			return err
		}
		return v.rest(ctx)
	case v.ended:
		if v.compose.drop() {
			v.log.warn(wordWarning, "the input ended in the middle of something, which was not sent")
		}
		return errLeave
	case v.compose.open:
		v.log.prompt("... ")
	default:
		v.log.prompt("> ")
	}
	return nil
}

// enter makes s the session of the conversation.
func (v *conversation) enter(ctx context.Context, s api.Session) error {
	v.session = s
	v.attention.watch(s)
	f, err := follow(ctx, s, true)
	if err != nil {
		return err
	}
	v.follower, v.spoken, v.shown, v.unreported, v.full = f, 0, 0, f.state.Usage.Unreported, false
	clear(v.settled)
	v.log.opening(v.state)
	v.keepBeat()
	v.ask()
	return nil
}

// leave closes the session and says how to come back to it.
func (v *conversation) leave(ctx context.Context) error {
	if v.command != nil {
		v.command.cancel()
		<-v.command.done
		v.command = nil
	}
	if v.shell != nil {
		v.shell.cancel()
		<-v.shell.done
		v.dropShell()
	}
	if v.follower == nil {
		return v.session.Close(context.WithoutCancel(ctx))
	}
	v.close()
	state := v.state
	v.follower = nil
	err := v.session.Close(context.WithoutCancel(ctx))
	if state.Info.Entries > 0 {
		line := "come back with: octavo --resume " + state.Session
		switch c := state.Usage.CostMicro; {
		case state.Info.Scripted && (c == nil || *c == 0):
			line += " (demo: it cost nothing)"
		case c != nil:
			line += " (cost so far " + text.Money(*c) + ")"
		}
		v.log.say(wordSession, line)
	}
	return err
}

// change goes to another session. The new one is opened first, so that one that cannot be opened costs nothing.
func (v *conversation) change(ctx context.Context) error {
	to := *v.next
	v.next = nil
	i := v.state.Info
	r := api.OpenRequest{ID: to.id}
	if to.to == api.GoNew {
		r = api.OpenRequest{Model: i.Model, Effort: i.Effort}
	} else if to.id == v.session.ID() {
		v.log.say(wordSession, "this is that session")
		return nil
	}
	s, err := v.client.Open(ctx, r)
	if err != nil {
		v.log.fail(wordError, err)
		return nil
	}
	if err := v.leave(ctx); err != nil {
		v.log.fail(wordError, err)
	}
	if err := v.enter(ctx, s); err != nil {
		return err
	}
	if to.carry {
		v.submit(ctx, api.Input{Kind: api.InputContinue})
	}
	return nil
}

// interrupt is ctrl+c: it ends what runs; where nothing does, a second one soon after leaves.
func (v *conversation) interrupt(ctx context.Context, p interrupted) error {
	if v.o.Flush != nil {
		v.lines.discard() // as the terminal does with what is typed
	}
	if v.question != nil && v.question.ID == askGoOn {
		v.show(nil)
		return nil
	}
	if v.shell != nil {
		v.shell.cancel()
		v.log.say(wordWorking, "cancelling your command")
	}
	if v.shell != nil || p.first {
		return nil
	}
	if v.command != nil {
		v.command.cancel()
	}
	var err error
	if !p.already {
		err = v.session.Interrupt(ctx, false)
	}
	switch {
	case err == nil:
		v.log.say(wordWorking, "interrupting")
		return nil
	case !errors.Is(err, api.ErrIdle):
		return err
	case v.command != nil:
		return nil
	case v.compose.drop():
		v.log.say(wordNotice, "what you were typing is dropped")
		return nil
	case v.disarm != nil:
		return ErrInterrupted
	}
	v.disarm, v.endWait = v.o.Tick(leaveWindow)
	v.log.say(wordNotice, fmt.Sprintf("press ctrl+c again within %s to leave, or type ctrl+d or /quit", leaveWindow))
	return nil
}

// stayHere forgets a first ctrl+c.
func (v *conversation) stayHere() {
	if v.disarm != nil {
		v.endWait()
		v.disarm = nil
	}
}

// keepBeat has the heart beat while a turn works.
func (v *conversation) keepBeat() {
	switch working := v.state.Turn != nil; {
	case working && v.beat == nil:
		v.beat, v.endBeat = v.o.Tick(heartbeat)
	case !working:
		v.stopBeat()
	}
}

func (v *conversation) stopBeat() {
	if v.beat != nil {
		v.endBeat()
		v.beat = nil
	}
}

// working says that a turn still works. While a question is open it is the person who is waited for.
func (v *conversation) working() {
	if t := v.state.Turn; t != nil && v.question == nil {
		v.log.say(wordWorking, phaseText(t)+", "+text.Duration(v.o.Now().Sub(t.Started)))
	}
}
