package plain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

func TestInteractiveEOFAtOnce(t *testing.T) {
	k := startTalk(t, newStage(t), nil)
	k.typist.eof()
	if err := k.end(); err != nil || k.out.String() != "" {
		t.Errorf("%v %q", err, k.out)
	}
}

func TestInteractiveEOFWithoutLastNewline(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, nil)
	k.typist.keys("no newline")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: no newline"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveInterruptsTurn(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.text("half an")
		t.blocks()
		t.locked(func() {
			t.store(api.Entry{Turn: t.id, Kind: api.EntryPartial, Parts: []api.Part{{Type: api.PartText, Text: "half an"}}})
		})
		t.settle(api.SettledInterrupted, "")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("> go")
	k.line("/queue later")
	k.expect("queued: later")
	k.interrupt()
	k.expect("[queued] 1 input waits; /continue goes on with what waits\n  - later")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Errorf("what the person interrupted has not failed, got %v", err)
	}
	for _, want := range []string{"[working] interrupting\n", "[partial] the answer broke off here:\n  half an\n[interrupted] 12s\n"} {
		if !strings.Contains(k.out.String(), want) {
			t.Errorf("no %q in\n%s", want, k.out)
		}
	}
}

func TestInteractiveSecondInterruptLeaves(t *testing.T) {
	k := startTalk(t, newStage(t), terminal)
	k.expect("> ")
	k.interrupt()
	k.expect("[notice] press ctrl+c again within 2s to leave")
	if !k.clock.pass(2 * time.Second) {
		t.Error("nobody waits for the window to close")
	}
	k.line("hi") // also forgets the first one
	k.out.await(t, "[completed]", 1)
	k.interrupt()
	k.out.await(t, "press ctrl+c again", 2)
	k.interrupt()
	if err := k.end(); !errors.Is(err, plain.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
}

func TestInteractiveInterruptDropsUnfinishedInput(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, terminal)
	k.line(`half \`)
	k.expect("... ")
	k.interrupt()
	k.expect("[notice] what you were typing is dropped")
	k.line("whole")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: whole"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveContextEnds(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.blocks()
		t.settle(api.SettledInterrupted, "")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("> go")
	k.cancel()
	if err := k.end(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !s.closed || s.turn != nil {
		t.Error("the session was left open")
	}
}

// What went wrong before a turn that went well is over; what went wrong last is how the conversation ended.
func TestInteractiveReportsHowTheLastTurnEnded(t *testing.T) {
	fails := func(o api.SettledOutcome, why string) func(*turn) {
		return func(t *turn) { t.step(); t.settle(o, why) }
	}
	k := startTalk(t, newStage(t, fails(api.SettledFailed, "no such model"), replies("fine")), nil)
	k.line("one")
	k.expect("[failed] no such model")
	k.line("two")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Errorf("after a turn that went well: %v", err)
	}

	k = startTalk(t, newStage(t, replies("fine"), fails(api.SettledFailed, "other"), fails(api.SettledMaxTurns, "the limit of 5 requests")), nil)
	k.line("one")
	k.expect("[completed]")
	k.line("two")
	k.expect("[failed] other")
	k.line("three")
	k.expect("[failed] the limit")
	k.typist.eof()
	var failed *plain.Failed
	if err := k.end(); !errors.As(err, &failed) || failed.Outcome != api.SettledMaxTurns || err.Error() != "the limit of 5 requests" {
		t.Errorf("error %v", err)
	}
}

// A prompt that was typed before there was a model is not lost.
func TestInteractiveKeepsWhatHadNoModel(t *testing.T) {
	s := newStage(t, replies("here I am"))
	s.state.Info.Model = ""
	s.failing = api.NoModelError("no model is configured")
	others := 0
	s.run = func(_ context.Context, line string) (api.Outcome, error) {
		switch line {
		case "/model demo":
			return api.Outcome{Text: "from the next request on: demo"}, nil
		case "/context", "/conti":
			others++
		}
		return api.Outcome{}, errors.New(line + ": there is nothing to continue")
	}
	k := startTalk(t, s, nil, api.Input{Kind: api.InputChat, Text: "a long prompt"})
	k.expect("[failed] no model is configured\n[notice] your prompt is kept: choose a model with /model, then /continue says it\n")
	k.line("/model demo")
	k.line("/context")
	k.expect("[error] /context: there is nothing")
	k.line("/conti")
	k.expect("> a long prompt\nhere I am\n[completed]")
	k.line("/continue")
	k.expect("[error] /continue: there is nothing")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"chat: a long prompt"}, s.said()); diff != "" || others != 2 {
		t.Errorf("%d commands; %s", others, diff)
	}
	check(t, "stderr", k.err.String(), "[session] 0190-one - /work - controlled: changes ask first - no model chosen - /help\n"+
		"[notice] No model yet. /model demo shows octavo at work without one; or leave and type octavo --login anthropic. More: octavo help models\n")
}

func TestInteractiveDemoCostsNothing(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("hello")
		t.locked(func() {
			u := t.state.Usage
			u.CostMicro = new(int64)
			t.emit(api.Event{Type: api.EventUsage, Usage: &u})
		})
		t.settle(api.SettledCompleted, "")
	})
	s.state.Info.Scripted = true
	k := startTalk(t, s, nil)
	k.line("hi")
	k.expect("[completed]")
	k.typist.eof()
	_ = k.end()
	if out := k.out.String(); !strings.HasSuffix(out, "octavo --resume 0190-one (demo: it cost nothing)\n") {
		t.Error(out)
	}
}

// A summary is said to be written while it is, and its start is shown where it is gone on with.
func TestInteractiveForkSummary(t *testing.T) {
	one, two := newStage(t), newStage(t)
	two.state.Session = "0190-two"
	two.locked(func() {
		two.store(api.Entry{Kind: api.EntrySummary, Parts: []api.Part{{Type: api.PartText, Text: "# What was done\x1b[2J\n" + strings.Repeat("a line\n", 20)}}})
	})
	var k *talk
	one.run = func(context.Context, string) (api.Outcome, error) {
		defer k.out.await(t, "[working]", 1)
		one.locked(func() {
			one.emit(api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "0190-two", Phase: api.PhaseSummarizing, Started: noon}})
		})
		return api.Outcome{Text: "going on in session 0190-two", Go: api.GoSession, Session: "0190-two"}, nil
	}
	k = startTalk(t, one, func(k *talk, _ *plain.Options) {
		k.home = func(api.OpenRequest) (api.Session, error) { return two, nil }
	})
	k.line("/fork summary")
	k.expect("going on in session 0190-two")
	one.locked(func() { one.emit(api.Event{Type: api.EventIdle}) })
	k.expect("more lines\n")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", k.out.String(), `
[working] writing a summary of this session; ctrl+c ends it
going on in session 0190-two
[notice] this session starts with a summary of the one before:
  # What was done
`+strings.Repeat("  a line\n", 7)+`  … 13 more lines
[session] come back with: octavo --resume 0190-two
`)
}

func TestInteractiveSubmitFails(t *testing.T) {
	s := newStage(t)
	s.failing = fmt.Errorf("%w\nchoose one: octavo setup", api.ErrNoModel)
	k := startTalk(t, s, nil)
	k.line("hi")
	k.expect("[failed] no model is chosen\n  choose one: octavo setup\n")
	k.typist.eof()
	if err := k.end(); !errors.Is(err, api.ErrNoModel) {
		t.Errorf("error %v", err)
	}
}

func TestInteractiveGoesToNewSession(t *testing.T) {
	one, two := newStage(t, replies("first")), newStage(t, replies("second"))
	two.state.Session, two.state.Info.ID = "0190-two", "0190-two"
	var asked []api.OpenRequest
	k := startTalk(t, one, func(k *talk, _ *plain.Options) {
		k.home = func(r api.OpenRequest) (api.Session, error) {
			if asked = append(asked, r); len(asked) == 1 {
				return nil, errors.New("it is open elsewhere")
			}
			return two, nil
		}
	})
	k.line("hi")
	k.expect("[completed]")
	k.line("/new")
	k.expect("[error] it is open elsewhere")
	k.line("/new")
	k.line("hello")
	k.expect("> hello\nsecond")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if !one.closed || !two.closed {
		t.Error("a session was left open")
	}
	if want := (api.OpenRequest{Model: "lab/small"}); asked[1] != want {
		t.Errorf("opened %+v", asked[1])
	}
	if diff := cmp.Diff([]string{"chat: hello"}, two.said()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(k.out.String(), "octavo --resume 0190-one") || !strings.Contains(k.err.String(), "[session] 0190-two") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", k.out, k.err)
	}
}

func TestInteractiveChangeWaitsForTurn(t *testing.T) {
	done := make(chan struct{})
	one, two := newStage(t, func(t *turn) { t.step(); <-done; t.answer("first"); t.settle(api.SettledCompleted, "") }), newStage(t)
	two.state.Session = "0190-two"
	k := startTalk(t, one, func(k *talk, _ *plain.Options) {
		k.home = func(api.OpenRequest) (api.Session, error) { return two, nil }
	})
	k.line("hi")
	k.expect("> hi")
	k.line("/new")
	k.expect("[queued] the session changes when this turn has ended")
	k.line("there")
	close(done)
	k.expect("> there")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: there"}, two.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveFullWindow(t *testing.T) {
	full := func(t *turn) { t.step(); t.settle(api.SettledContextFull, "too long; /fork summary goes on") }
	one, two := newStage(t, full, full), newStage(t, replies("went on"))
	two.state.Session = "0190-two"
	one.run = func(_ context.Context, line string) (api.Outcome, error) {
		if line != "/fork summary" {
			return api.Outcome{}, errors.New(line)
		}
		return api.Outcome{Go: api.GoSession, Session: "0190-two"}, nil
	}
	k := startTalk(t, one, func(k *talk, _ *plain.Options) {
		k.home = func(api.OpenRequest) (api.Session, error) { return two, nil }
	})
	k.line("a")
	k.expect("[needs input] Continue in a new session that starts with a summary of this one?\n  y) yes")
	k.line("n")
	k.expect("answered: n")
	k.line("b")
	k.out.await(t, "y) yes", 2)
	k.line("maybe")
	k.expect("that is no answer; type y or n")
	k.line("y")
	k.expect("went on")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"continue: "}, two.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveFullWindowAtEOF(t *testing.T) {
	for _, early := range []bool{true, false} {
		done := make(chan struct{})
		k := startTalk(t, newStage(t, func(t *turn) { t.step(); <-done; t.settle(api.SettledContextFull, "too long") }), nil)
		k.line("a")
		k.expect("> a")
		if early {
			k.typist.eof()
			close(done)
		} else {
			close(done)
			k.expect("y) yes")
			k.typist.eof()
		}
		var failed *plain.Failed
		if err := k.end(); !errors.As(err, &failed) || failed.Outcome != api.SettledContextFull {
			t.Errorf("error %v", err)
		}
	}
}

func TestInteractiveBrokenPipe(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("looking", testCall)
		t.blocks()
		t.settle(api.SettledInterrupted, "")
	})
	k := startTalk(t, s, func(k *talk, _ *plain.Options) { k.out.limit, k.out.err = 6, syscall.EPIPE })
	k.line("go") // "> go" fits, the answer does not
	if err := k.end(); err != nil {
		t.Errorf("error %v", err)
	}
	if !s.closed {
		t.Error("the session was left open")
	}
}

func TestInteractiveDiskFull(t *testing.T) {
	k := startTalk(t, newStage(t), func(k *talk, _ *plain.Options) { k.out.limit, k.out.err = 6, syscall.ENOSPC })
	k.line("go")
	if err := k.end(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}

func TestInteractiveLetsGoOfItsInput(t *testing.T) {
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typing.Close()
	k := startTalk(t, newStage(t), func(_ *talk, o *plain.Options) { o.Stdin, o.Now, o.Tick = in, nil, nil })
	fmt.Fprintln(typing, "hi")
	k.expect("[completed]")
	fmt.Fprintln(typing, "/quit")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(typing, "for the next reader")
	b := make([]byte, 100)
	if n, err := in.Read(b); err != nil || string(b[:n]) != "for the next reader\n" {
		t.Errorf("%q %v", b[:n], err)
	}
}
