package plain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

// printed is what a run of Print gave.
type printed struct{ out, err screen }

func chats(texts ...string) []api.Input {
	var out []api.Input
	for _, t := range texts {
		out = append(out, api.Input{Kind: api.InputChat, Text: t})
	}
	return out
}

func (p *printed) run(t *testing.T, s *stage, o plain.Options, prompts ...string) error {
	t.Helper()
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	o.Stdout, o.Stderr = &p.out, &p.err
	return plain.Print(context.Background(), s, chats(prompts...), o)
}

func TestPrintWholeTurn(t *testing.T) {
	var p printed
	if err := p.run(t, newStage(t, works), plain.Options{}, "fix the test"); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", p.out.String(), "Fixed.\n")
	check(t, "stderr", p.err.String(), `
[retry] what was said so far is withdrawn
[retry] attempt 1 of 5 failed: overloaded (529); again in 2.0s
[extension] weather: warning: it rains
`)
}

func TestPrintBytes(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		terminal     bool
		want         string
	}{
		{"pipe", "a\x1b[31m\tb\r", false, "a\x1b[31m\tb\r\n"},
		{"pipe, newline there", "a\n", false, "a\n"},
		{"pipe, invalid UTF-8", "a\xff", false, "a\xff\n"},
		{"terminal", "a\x1b[31m\x1b]52;c;aGk=\a\tb", true, "a   b\n"},
		{"terminal, newline there", "a\n\n", true, "a\n\n"},
		{"nothing", "", false, ""},
		{"nothing but escapes", "\x1b[2J", true, ""},
	} {
		var p printed
		if err := p.run(t, newStage(t, replies(c.answer)), plain.Options{Terminal: c.terminal}, "hi"); err != nil {
			t.Fatal(err)
		}
		check(t, c.name, p.out.String(), c.want)
	}
}

func TestPrintReasoning(t *testing.T) {
	thinks := func(t *turn) {
		t.step()
		t.parts(api.Part{Type: api.PartReasoning, Text: "hm"}, api.Part{Type: api.PartText, Text: "yes"})
		t.settle(api.SettledCompleted, "")
	}
	for show, want := range map[bool]string{true: "hm\n\nyes\n", false: "yes\n"} {
		var p printed
		if err := p.run(t, newStage(t, thinks), plain.Options{ShowReasoning: show}, "hi"); err != nil {
			t.Fatal(err)
		}
		check(t, "stdout", p.out.String(), want)
	}
}

// How the run ended decides, not what failed on the way; and prompts after a failure are not sent.
func TestPrintOutcomes(t *testing.T) {
	for _, o := range []api.SettledOutcome{api.SettledFailed, api.SettledMaxTurns, api.SettledCostLimit, api.SettledContextFull, api.SettledInterrupted} {
		var p printed
		s := newStage(t, replies("first"), func(t *turn) {
			t.step()
			t.answer("I look at it", testCall)
			t.begins(testCall)
			t.ends(testCall, api.Result{Outcome: api.ResultOK}, "")
			t.settle(o, "why: "+string(o))
		})
		err := p.run(t, s, plain.Options{}, "one", "two", "three")
		var failed *plain.Failed
		if !errors.As(err, &failed) || failed.Outcome != o || err.Error() != "why: "+string(o) {
			t.Errorf("%s: error %v", o, err)
		}
		check(t, string(o), p.out.String(), "first\n")
		if diff := cmp.Diff([]string{"chat: one", "chat: two"}, s.said()); diff != "" {
			t.Error(diff)
		}
	}
}

// An answer that was cut off is an answer, and a failure.
func TestPrintCutOffAnswer(t *testing.T) {
	var p printed
	err := p.run(t, newStage(t, func(t *turn) { t.step(); t.answer("as far as"); t.settle(api.SettledFailed, "cut off") }), plain.Options{}, "hi")
	if err == nil || p.out.String() != "as far as\n" {
		t.Errorf("%v %q", err, p.out.String())
	}
}

func TestPrintWaitsForFollowUps(t *testing.T) {
	var p printed
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("one")
		t.locked(func() { t.queue([]api.Queued{{ID: "q", Kind: api.InputFollowUp, Text: "more"}}) })
		t.settle(api.SettledCompleted, "")
	}, replies("two"), replies("three"))
	if err := p.run(t, s, plain.Options{}, "hi", "then"); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", p.out.String(), "one\ntwo\nthree\n")
}

func TestPrintCommands(t *testing.T) {
	var p printed
	s := newStage(t, replies("about the file"), replies("queued answer"))
	if err := p.run(t, s, plain.Options{}, "/help", "/etc/passwd is what?", "/queue do it"); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", p.out.String(), "the commands\x1b[2J\nabout the file\nqueued: do it\nqueued answer\n")
	if diff := cmp.Diff([]string{"chat: /etc/passwd is what?", "follow_up: do it"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

func TestPrintCommandFails(t *testing.T) {
	var p printed
	s := newStage(t)
	s.run = func(context.Context, string) (api.Outcome, error) { return api.Outcome{}, errors.New("no such name") }
	if err := p.run(t, s, plain.Options{}, "/session", "next"); err == nil || err.Error() != "no such name" || len(s.said()) > 0 {
		t.Errorf("error %v", err)
	}
}

func TestPrintStaysInItsSession(t *testing.T) {
	var p printed
	s := newStage(t)
	s.run = func(context.Context, string) (api.Outcome, error) {
		return api.Outcome{Text: "forked", Go: api.GoSession, Session: "0190-two"}, nil
	}
	if err := p.run(t, s, plain.Options{}, "/fork"); err != nil {
		t.Error(err)
	}
	check(t, "stderr", p.err.String(), "[session] go on there with: octavo --resume 0190-two\n")
	if err := p.run(t, s, plain.Options{}, "/fork", "next"); err == nil || len(s.said()) > 0 {
		t.Errorf("error %v", err)
	}
	if err := p.run(t, newStage(t), plain.Options{}, "/quit", "next"); err != nil || len(s.said()) > 0 {
		t.Errorf("error %v", err)
	}
}

func TestPrintDeniesQuestions(t *testing.T) {
	var p printed
	s := newStage(t, asking(approval("a")))
	if err := p.run(t, s, plain.Options{}, "hi"); err != nil || len(s.answers) > 0 {
		t.Errorf("%v %+v", err, s.answers)
	}
	check(t, "stdout", p.out.String(), "ok\n")
}

func TestPrintBrokenPipe(t *testing.T) {
	for err, quiet := range map[error]bool{syscall.EPIPE: true, syscall.ENOSPC: false} {
		var p printed
		p.out.err = fmt.Errorf("write: %w", err)
		s := newStage(t, replies("one"), replies("two"))
		got := p.run(t, s, plain.Options{}, "hi", "next")
		if quiet != (got == nil) || len(s.said()) != 1 {
			t.Errorf("%v: %v, said %q", err, got, s.said())
		}
	}
}

// The turn that was interrupted is waited for: nothing runs on after Print has returned.
func TestPrintInterrupted(t *testing.T) {
	began := make(chan struct{})
	blocked := func(t *turn) {
		t.step()
		t.text("half")
		close(began)
		t.blocks()
		t.locked(func() {
			t.store(api.Entry{Turn: t.id, Kind: api.EntryPartial, Parts: []api.Part{{Type: api.PartText, Text: "half"}}})
		})
		t.settle(api.SettledInterrupted, "")
	}
	for _, how := range []string{"context", "interrupt"} {
		began = make(chan struct{})
		s := newStage(t, blocked)
		var p printed
		ctx, cancel := context.WithCancel(context.Background())
		interrupts := make(chan struct{}, 1)
		go func() {
			<-began
			if how == "context" {
				cancel()
			} else {
				interrupts <- struct{}{}
			}
		}()
		err := plain.Print(ctx, s, chats("hi", "next"), plain.Options{Stdout: &p.out, Stderr: &p.err, Interrupts: interrupts})
		cancel()
		var failed *plain.Failed
		if !errors.As(err, &failed) || failed.Outcome != api.SettledInterrupted || err.Error() != "the turn was interrupted" {
			t.Errorf("%s: error %v", how, err)
		}
		check(t, how, p.out.String()+p.err.String(), "[partial] the answer broke off here:\n  half\n")
		s.locked(func() {
			if s.turn != nil || len(s.inputs) != 1 {
				t.Errorf("%s: still running, or said more: %q", how, s.inputs)
			}
		})
		_ = s.Close(context.Background())
	}
}

func TestPrintInterruptsCommand(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.run = func(ctx context.Context, _ string) (api.Outcome, error) {
		cancel()
		<-ctx.Done()
		return api.Outcome{}, ctx.Err()
	}
	var p printed
	err := plain.Print(ctx, s, chats("/help"), plain.Options{Stdout: &p.out, Stderr: &p.err})
	var failed *plain.Failed
	if !errors.As(err, &failed) || err.Error() != "/help was interrupted" {
		t.Errorf("error %v", err)
	}
	_ = s.Close(context.Background())
}

func TestPrintSessionCloses(t *testing.T) {
	s := newStage(t, func(t *turn) { t.step(); go t.stage.Close(context.Background()); t.blocks() })
	var p printed
	if err := p.run(t, s, plain.Options{}, "hi"); !errors.Is(err, api.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestPrintSubmitFails(t *testing.T) {
	s := newStage(t)
	s.failing = api.ErrNoModel
	var p printed
	if err := p.run(t, s, plain.Options{}, "hi"); !errors.Is(err, api.ErrNoModel) {
		t.Errorf("error %v", err)
	}
}

func TestPrintWarnsOfUnreportedUsage(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("ok")
		t.locked(func() {
			u := t.state.Usage
			u.Unreported = 1
			t.emit(api.Event{Type: api.EventUsage, Usage: &u})
		})
		t.settle(api.SettledCompleted, "")
	}, replies("again"))
	var p printed
	if err := p.run(t, s, plain.Options{}, "hi", "hi"); err != nil {
		t.Fatal(err)
	}
	check(t, "stderr", p.err.String(), "[usage] the provider did not report the tokens of 1 request; totals and costs leave them out\n")
}

// An output that nobody reads for a while holds up nothing but itself: the turn goes on, and the answer is all there.
func TestPrintFallsBehind(t *testing.T) {
	flooded := make(chan struct{})
	s := newStage(t, replies("first"), func(t *turn) {
		for range 2*api.MaxPending + 200 {
			t.locked(func() { t.queue(nil) })
		}
		t.step()
		t.answer("second")
		close(flooded)
		t.settle(api.SettledCompleted, "")
	}, replies("third"))
	s.scripts[0] = func(t *turn) {
		t.step()
		t.answer("first")
		t.locked(func() { t.queue([]api.Queued{{ID: "q", Kind: api.InputFollowUp, Text: "more"}}) })
		t.settle(api.SettledCompleted, "")
	}
	var p printed
	p.out.mu.Lock()
	go func() {
		<-flooded
		p.out.mu.Unlock()
	}()
	if err := p.run(t, s, plain.Options{}, "hi", "last"); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", p.out.String(), "first\nsecond\nthird\n")
}

func TestPrintManyMissedEntries(t *testing.T) {
	const calls = api.MaxPending // more entries than one page has
	flooded := make(chan struct{})
	s := newStage(t, replies("first"), func(t *turn) {
		for i := range calls {
			c := api.Call{ID: fmt.Sprint(i), Tool: "read"}
			t.begins(c)
			t.ends(c, api.Result{Outcome: api.ResultOK}, "")
		}
		t.answer("the last " + strings.Repeat("x", 10))
		close(flooded)
		t.settle(api.SettledCompleted, "")
	})
	s.scripts[0] = func(t *turn) {
		t.answer("first")
		t.locked(func() { t.queue([]api.Queued{{ID: "q", Kind: api.InputFollowUp, Text: "more"}}) })
		t.settle(api.SettledCompleted, "")
	}
	var p printed
	p.out.mu.Lock()
	go func() {
		<-flooded
		p.out.mu.Unlock()
	}()
	if err := p.run(t, s, plain.Options{}, "hi"); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", p.out.String(), "first\nthe last xxxxxxxxxx\n")
}
