package plain

import (
	"context"
	"errors"
	"strings"
	"time"

	"octavo/app/api"
)

// begin says what Interactive was started with.
func (v *conversation) begin(ctx context.Context, in api.Input) error {
	names, err := commandNames(ctx, v.session)
	if err != nil {
		return err
	}
	if names.has(in) {
		v.start(ctx, in.Text, false)
	} else {
		v.submit(ctx, in)
	}
	return nil
}

// holding reports whether lines have to wait: until a command or the person's own has ended, because what follows it may depend on it, and until it is
// clear in which session they are said.
func (v *conversation) holding() bool {
	return v.command != nil || v.shell != nil || v.next != nil || v.question != nil && v.question.ID == askGoOn
}

// incoming is where the next line comes from; nil while none can be taken.
func (v *conversation) incoming() <-chan line {
	if v.ended || len(v.held) >= maxTypedAhead && v.question == nil {
		return nil
	}
	return v.lines.lines
}

// typed takes a line that was read.
func (v *conversation) typed(ctx context.Context, l line, open bool) error {
	if !open {
		// Nobody can answer any more. What runs is waited for.
		v.pasted(ctx)
		v.ended = true
		if v.question != nil && v.question.ID == askGoOn {
			v.show(nil)
		}
		v.ask()
		return nil
	}
	v.log.typed()
	v.stayHere()
	if l.full {
		v.cut()
		return nil
	}
	switch {
	case l.ask != "" && v.question != nil && l.ask == v.question.ID:
		v.answer(ctx, l)
		return nil
	case l.ask != "":
		// It may have been meant as the answer, which is nothing to tell the model, and may be a secret.
		v.log.say(wordNeedsInput, "that question is settled already; the line you typed was not used")
		return nil
	case !v.holding():
		return v.say(ctx, l)
	case len(v.held) >= maxTypedAhead:
		v.log.say(wordError, "too many lines wait already; this one is dropped")
		return nil
	}
	v.held = append(v.held, l)
	return nil
}

// cut says that the terminal may have left out the end of a line. Half of what was meant is not said.
func (v *conversation) cut() {
	if v.silent && v.o.Terminal {
		v.log.write("\n")
	}
	v.compose.drop()
	v.dropPaste()
	v.log.say(wordNotice, "the terminal cuts lines at 4,095 bytes: what followed may be lost, so nothing of it was sent; "+
		"pipe long text in, or put it into a file and name the file")
	if v.question != nil {
		v.invite()
	}
}

// say does what a line asks for, once it is complete.
func (v *conversation) say(ctx context.Context, l line) error {
	err := l.err
	if v.o.Echo != nil {
		// A terminal passes on the keys that move a cursor or clear a screen; nobody means to say them.
		l.text = withoutKeys(l.text)
	}
	several := strings.IndexByte(l.text, '\n') >= 0 // they were pasted, and what is pasted is no command
	if v.pasteOver(l.at) {
		if v.pasted(ctx); v.shell != nil {
			v.held = append([]line{l}, v.held...)
			return nil
		}
	}
	var input string
	var block, done bool
	if err == nil {
		input, block, done, err = v.compose.add(l.text)
	}
	switch {
	case err != nil:
		v.compose.drop()
		v.log.fail(wordError, err)
	case !done || v.paste.wait == nil && strings.TrimSpace(input) == "":
	case strings.HasPrefix(input, "/") && !block && !several && !v.paste.escape:
		v.pasted(ctx)
		v.start(ctx, input, false)
	case strings.HasPrefix(input, escapeShell) && !block && !several && v.paste.wait == nil:
		v.escape(ctx, input, l.at)
	default:
		v.chat(ctx, input, l.at)
	}
	return nil
}

// submit says something to the model.
func (v *conversation) submit(ctx context.Context, in api.Input) (api.Receipt, bool) {
	r, err := v.session.Submit(ctx, in)
	if err != nil {
		v.failed = err
		v.log.fail(wordFailed, err)
		v.keep(in, err)
		return r, false
	}
	v.kept = nil
	v.accepted(r)
	return r, true
}

// keep keeps what was said while there was no model, because it may be long.
func (v *conversation) keep(in api.Input, err error) {
	if errors.Is(err, api.ErrNoModel) && in.Kind == api.InputChat {
		v.kept = &in
		v.log.say(wordNotice, "your prompt is kept: choose a model with /model, then /continue says it")
	}
}

// saysKept reports whether a command that failed stands for what was kept: /continue, or a start of it that can be nothing else, where
// the session has nothing of its own to continue.
func (v *conversation) saysKept(line string) bool {
	line = strings.TrimSpace(line)
	return v.kept != nil && len(line) > len("/cont") && strings.HasPrefix("/continue", line)
}

// accepted says what became of an input that did not start a turn at once.
func (v *conversation) accepted(r api.Receipt) {
	switch t := v.state.Turn; {
	case !r.Queued:
	case t != nil && t.Phase == api.PhaseSummarizing:
		v.log.say(wordQueued, "it starts when the summary is written")
	default:
		v.log.say(wordSteering, "the model reads it at its next step")
	}
}

// start runs a command.
func (v *conversation) start(ctx context.Context, line string, carry bool) {
	ctx, cancel := context.WithCancel(ctx)
	v.command = &command{line: line, cancel: cancel, done: startCommand(ctx, v.session, line), carry: carry}
}

// commandEnded shows what a command answered and follows where it leads.
func (v *conversation) commandEnded(ctx context.Context, r ran) error {
	c := v.command
	c.cancel()
	v.command = nil
	var interrupted *Failed
	if r.err != nil && v.saysKept(c.line) && !errors.As(r.err, &interrupted) {
		v.submit(ctx, *v.kept)
		return nil
	}
	if r.err != nil {
		v.log.fail(wordError, r.err)
		return nil
	}
	said := r.out.Text
	if said == "" {
		said = string(r.out.Data)
	}
	v.log.answer(said)
	if c.line == "/help" {
		v.log.answer(shellHint)
	}
	if r.out.Receipt != nil {
		v.accepted(*r.out.Receipt)
	}
	switch r.out.Go {
	case api.GoQuit:
		return errLeave
	case api.GoNew, api.GoSession:
		v.next = &step{to: r.out.Go, id: r.out.Session, carry: c.carry}
		if t := v.state.Turn; t != nil && t.ID != v.summary {
			v.log.say(wordQueued, "the session changes when this turn has ended")
		}
	}
	return nil
}

// ask puts the oldest question that is open, unless one is being shown.
func (v *conversation) ask() {
	open := v.state.Asks
	if q := v.question; q != nil && q.ID != askGoOn {
		for _, a := range open {
			if a.ID == q.ID && !v.ended {
				return
			}
		}
		v.show(nil)
		if !v.ended {
			v.log.say(wordNeedsInput, "the question was settled without you")
		}
	}
	for _, a := range open {
		switch {
		case v.settled[a.ID]:
		case v.ended:
			v.settle(a.ID, api.Answer{Text: "nobody is there to answer, the input has ended"})
		case v.question == nil:
			v.show(newQuestion(a))
		}
	}
}

// show puts a question and has lines marked with it, or with nil takes it away.
func (v *conversation) show(q *question) {
	if v.silent {
		v.silent = false
		if err := v.o.Echo(true); err != nil {
			v.log.warn(wordWarning, "the terminal could not be told to show what is typed again ("+err.Error()+"); type reset")
		}
	}
	v.question = q
	if q == nil {
		v.lines.show("")
		return
	}
	q.show(&v.log)
	if q.Display != nil && q.Display.Diff != nil {
		v.previewed = q.Parent
	}
	if q.Kind == api.AskSecret && v.o.Echo != nil {
		if err := v.o.Echo(false); err != nil {
			v.log.say(wordNeedsInput, "cancelled: the terminal would show what you type ("+err.Error()+")")
			v.question = nil
			v.settle(q.ID, api.Answer{})
			return
		}
		v.silent = true
	}
	v.unread = !v.flush()
	v.lines.show(q.ID)
	q.offer(&v.log)
	v.invite()
}

// readTime is how long after a question was put a line at a terminal is not taken for its answer: nobody has read the question by
// then, and the line comes from a key that is held down or from something pasted.
const readTime = 300 * time.Millisecond

// flush forgets what is typed at a terminal and not ended by enter: it was not meant for the question that is about to be put.
func (v *conversation) flush() bool {
	if v.o.Flush == nil {
		return true
	}
	err := v.o.Flush()
	v.lines.discard()
	return err == nil
}

// invite asks for an answer, from now on.
func (v *conversation) invite() {
	v.offered = v.o.Now() // all that has to be read has been written
	v.log.prompt("answer> ")
}

// hasty reports whether a line was typed before the question could be read.
func (v *conversation) hasty(l line) bool {
	return v.o.Flush != nil && (v.unread || l.at.Sub(v.offered) < readTime)
}

// answer takes a line that was typed below the question.
func (v *conversation) answer(ctx context.Context, l line) {
	q := v.question
	if v.silent && v.o.Terminal {
		v.log.write("\n") // nor is the end of the line shown
	}
	if v.hasty(l) {
		v.unread = false
		v.log.say(wordNeedsInput, "typed too soon to have been read; again")
		v.flush() // of something pasted the rest is no answer either
		v.invite()
		return
	}
	if v.o.Echo != nil && q.Kind != api.AskSecret {
		l.text = withoutKeys(l.text)
	}
	a, ok := q.answer(l.text)
	if l.err != nil || !ok {
		if l.err != nil {
			v.log.fail(wordError, l.err)
		} else {
			q.again(&v.log)
		}
		v.log.prompt("answer> ")
		return
	}
	v.show(nil)
	if v.o.Echo == nil && q.Kind != api.AskSecret {
		v.log.say(wordNeedsInput, "answered: "+v.o.Redact(l.text)) // what a pipe says stands nowhere else
	}
	if q.ID == askGoOn {
		if a.Option == optionYes {
			v.start(ctx, "/fork summary", true)
		}
		return
	}
	v.settle(q.ID, a)
	v.ask()
}

// settle answers a question. One that was settled meanwhile needs no answer.
func (v *conversation) settle(id string, a api.Answer) {
	v.settled[id] = true
	if err := v.session.Answer(v.ctx, id, a); err != nil && !errors.Is(err, api.ErrClosed) {
		v.log.fail(wordNeedsInput, err)
	}
}

// askGoOn is the id of the only question that octavo asks here by itself.
const (
	askGoOn   = "plain:go-on"
	optionYes = "yes"
)

// askToGoOn offers a way out of a full window.
func (v *conversation) askToGoOn(ctx context.Context) error {
	names, err := commandNames(ctx, v.session)
	if err != nil || v.ended || !names["/fork"] {
		return err
	}
	v.show(newQuestion(api.Ask{ID: askGoOn, Kind: api.AskConfirm, Title: "Continue in a new session that starts with a summary of this one?",
		Options: []api.Option{{ID: optionYes, Label: "yes; the model writes the summary, which is a request of its own"}, {ID: "no", Label: "no, stay here"}}}))
	return nil
}
