package plain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"octavo/app/api"
	"octavo/app/plain"
	"octavo/pages"
	"octavo/render"
)

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

var (
	testCall = api.Call{ID: "c1", Tool: "bash", Arguments: `{"command":"go test ./..."}`, Title: "run: go test ./..."}
	editCall = api.Call{ID: "c2", Tool: "edit", Arguments: `{"path":"a.go"}`, Title: "edit a.go"}
	aDiff    = &pages.Diff{Path: "a.go", Added: 1, Deleted: 1, Hunks: []pages.Hunk{{OldStart: 1, OldLines: 2, NewStart: 1, NewLines: 2,
		Lines: []pages.DiffLine{{Op: pages.LineSame, Text: "package a"}, {Op: pages.LineDeleted, Text: "var x = 1"}, {Op: pages.LineAdded, Text: "var x = 2"}}}}}
)

// works is a whole turn: a retry, a failed command, an edit and an answer.
func works(t *turn) {
	t.step()
	t.text("this is withdrawn")
	t.retry("overloaded (529)")
	t.parts(api.Part{Type: api.PartReasoning, Text: "let me think"}, api.Part{Type: api.PartText, Text: "I run the tests."},
		api.Part{Type: api.PartCall, Call: &testCall}, api.Part{Type: api.PartCall, Call: &editCall})
	t.begins(testCall)
	t.progress("c1", "=== RUN\n")
	t.ends(testCall, api.Result{Outcome: api.ResultError, Duration: 12 * time.Second}, strings.Repeat("line\n", 20)+"FAIL\n")
	t.begins(editCall)
	t.ends(editCall, api.Result{Outcome: api.ResultOK, Duration: 40 * time.Millisecond, Display: &pages.Display{Title: "edited", Diff: aDiff}}, "done")
	t.notice(api.Notice{Level: api.NoticeWarning, Source: "weather", Text: "it rains"})
	t.step()
	t.text("Fixed.")
	t.answer("Fixed.")
	t.settle(api.SettledCompleted, "", "a.go")
}

func TestInteractiveWholeTurn(t *testing.T) {
	k := startTalk(t, newStage(t, works), nil)
	k.line("fix the test")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", k.out.String(), `
> fix the test
[retry] attempt 1 of 5 failed: overloaded (529); again in 2.0s
I run the tests.
[tool] bash run: go test ./... - failed, 12s
  …
  line
  line
  line
  line
  line
  line
  line
  line
  line
  FAIL
[tool] edit a.go - ok, 40ms
  a.go  +1 −1
  1   package a
  2 - var x = 1
  2 + var x = 2
[extension] weather: warning: it rains
Fixed.
[completed] 12s - 1 file changed
[session] come back with: octavo --resume 0190-one (cost so far $1.24)
`)
	check(t, "stderr", k.err.String(), "[session] 0190-one - lab/small - /work - policy controlled\n")
}

func TestInteractiveTerminalShowsPrompts(t *testing.T) {
	k := startTalk(t, newStage(t, replies("one\x1b[2Jtwo"), replies("second")), terminal)
	k.expect("> ")
	k.line("hi")
	k.out.await(t, "> ", 2)
	k.line("again")
	k.out.await(t, "> ", 3)
	k.line("/quit")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", k.out.String(), `
> onetwo
[completed] 12s - 0 files changed
> second
[completed] 12s - 0 files changed
> [session] come back with: octavo --resume 0190-one (cost so far $1.24)
`)
}

func TestInteractiveInPipeIsExact(t *testing.T) {
	k := startTalk(t, newStage(t, replies("a\x1b[31mred\x1b[0m\tb\r\n")), nil)
	k.line("hi")
	k.expect("[completed]")
	k.typist.eof()
	_ = k.end()
	if !strings.Contains(k.out.String(), "a\x1b[31mred\x1b[0m\tb\r\n[completed]") {
		t.Errorf("the bytes of the answer changed: %q", k.out)
	}
}

func TestInteractiveSteersAndQueues(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	s := newStage(t, func(t *turn) {
		t.step()
		<-first
		t.answer("looking", testCall)
		t.step()
		<-second
		t.answer("done")
		t.settle(api.SettledCompleted, "")
	}, replies("followed"))
	k := startTalk(t, s, nil)
	k.line("start")
	k.expect("> start")
	k.line("not that way")
	k.expect("[steering] the model reads it at its next step")
	k.line("/queue and then this")
	k.expect("queued: and then this")
	close(first)
	k.expect("> not that way")
	k.typist.eof() // waits for the turn and for what follows it
	close(second)
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(k.out.String(), "> and then this\nfollowed\n[completed]") {
		t.Errorf("the follow-up was not waited for:\n%s", k.out)
	}
	if diff := cmp.Diff([]string{"chat: start", "chat: not that way", "follow_up: and then this"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveMultiline(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, nil)
	for _, l := range []string{`one \`, `two`, `"""`, `/not a command`, ``, `  end`, `"""`, ``, `  `, " /etc/passwd"} {
		k.line(l)
	}
	k.out.await(t, "[completed]", 1)
	k.typist.keys(`unfinished \` + "\n")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	want := []string{"chat: one \ntwo", "chat: /not a command\n\n  end", "chat:  /etc/passwd"}
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(k.err.String(), "[warning] the input ended in the middle of something, which was not sent") {
		t.Errorf("stderr: %s", k.err)
	}
}

func TestInteractiveLongInputIsRefused(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, nil)
	k.line(strings.Repeat("x", api.MaxInput+1))
	k.line(strings.Repeat("y", api.MaxInput/2) + `\`)
	k.line(strings.Repeat("y", api.MaxInput/2))
	k.line("short")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: short"}, s.said()); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(k.out.String(), "[error] the "); n != 2 {
		t.Errorf("%d errors, want 2:\n%.2000s", n, k.out)
	}
}

func TestInteractiveCommands(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, func(k *talk, o *plain.Options) { o.Terminal = true }, api.Input{Kind: api.InputChat, Text: "/help"})
	k.expect("the commands\n")
	k.line("/nosuch thing")
	k.expect("[error] there is no command /nosuch; /help lists them")
	k.line("/quit")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if got := s.said(); len(got) != 0 {
		t.Errorf("commands were said to the model: %q", got)
	}
	if strings.Contains(k.out.String(), "\x1b") {
		t.Errorf("%q", k.out)
	}
}

// What is typed after a command depends on it and waits; questions are answered meanwhile.
func TestInteractiveLinesWaitForCommand(t *testing.T) {
	s := newStage(t)
	hold, began := make(chan struct{}), make(chan struct{}, 2)
	s.run = func(ctx context.Context, line string) (api.Outcome, error) {
		began <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return api.Outcome{Text: "switched"}, ctx.Err()
	}
	k := startTalk(t, s, nil)
	k.line("/model lab/large")
	k.line("for the new model")
	if got := s.said(); len(got) != 0 {
		t.Errorf("said too early: %q", got)
	}
	close(hold)
	k.expect("switched\n> for the new model")
	<-began
	hold = make(chan struct{})
	k.line("/slow")
	<-began
	k.interrupt()
	k.expect("[error] /slow was interrupted")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
}

func approval(id string) api.Ask {
	return api.Ask{ID: id, Kind: api.AskApproval, Title: "run: go test ./...", Body: "go test ./...\nrm -rf x\x1b[8m", Source: "bash",
		Display: &pages.Display{Diff: aDiff}, Options: []api.Option{{ID: "deny", Label: "deny"}, {ID: "once", Label: "allow once"},
			{ID: "session", Label: "allow this exact call for the session"}}}
}

func asking(asks ...api.Ask) func(*turn) {
	return func(t *turn) {
		t.step()
		for _, a := range asks {
			t.ask(a)
		}
		t.answer("ok")
		t.settle(api.SettledCompleted, "")
	}
}

func TestInteractiveApproval(t *testing.T) {
	s := newStage(t, asking(approval("a1"), approval("a2"), approval("a3")))
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("s) allow this exact call for the session")
	k.line("yes please")
	k.expect("[needs input] that is no answer; type d or o or s")
	k.line("o but carefully") // what allows is its key alone
	k.out.await(t, "that is no answer", 2)
	k.line("o")
	k.out.await(t, "s) allow", 2)
	k.line("d because it is slow")
	k.out.await(t, "s) allow", 3)
	k.line(" s ")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{Option: "once"}, {Option: "deny", Text: "because it is slow"}, {Option: "session"}}, s.answers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"chat: go"}, s.said()); diff != "" {
		t.Errorf("an answer was said to the model: %s", diff)
	}
	check(t, "the question", k.out.String()[:strings.Index(k.out.String(), "[needs input] that")], `
> go
[needs input] bash wants to run: go test ./...
  go test ./...
  rm -rf x
  a.go  +1 −1
  1   package a
  2 - var x = 1
  2 + var x = 2
  d) deny  (d REASON tells the model why)
  o) allow once
  s) allow this exact call for the session
`)
}

// Lines that were typed before a question appeared are steering, however late they are looked at.
func TestInteractiveTypeAheadNeverAnswers(t *testing.T) {
	typed := make(chan struct{})
	s := newStage(t, func(t *turn) {
		<-typed
		t.step()
		t.ask(approval("a1"))
		t.settle(api.SettledCompleted, "")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("> go")
	// The conversation is held up by its own output while lines come in.
	k.out.mu.Lock()
	k.typist.keys("o\ns\n")
	k.typist.taken()
	k.out.mu.Unlock()
	close(typed)
	k.expect("s) allow")
	k.out.await(t, "[steering]", 2)
	k.line("d")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{Option: "deny"}}, s.answers); diff != "" {
		t.Errorf("type-ahead answered: %s", diff)
	}
	if diff := cmp.Diff([]string{"chat: go", "chat: o", "chat: s"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

// A line that was typed below one question never answers another, nor is it said to the model.
func TestInteractiveAnswerBelongsToItsQuestion(t *testing.T) {
	s := newStage(t, asking(approval("a1"), approval("a2")))
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("s) allow")
	k.line("d\no\nstray") // read together, below the first question
	k.out.await(t, "that question is settled already", 2)
	k.out.await(t, "s) allow", 2)
	k.line("d")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{Option: "deny"}, {Option: "deny"}}, s.answers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"chat: go"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

func TestInteractiveOtherQuestions(t *testing.T) {
	options := []api.Option{{ID: "x", Label: "first"}, {ID: "y", Label: "second"}}
	s := newStage(t, asking(
		api.Ask{ID: "1", Kind: api.AskConfirm, Source: "deploy", Title: "Ship it?", Options: []api.Option{{ID: "deny", Label: "deny"}, {ID: "allow", Label: "allow"}}},
		api.Ask{ID: "2", Kind: api.AskChoice, Title: "Which?", Options: options},
		api.Ask{ID: "3", Kind: api.AskChoice, Title: "Which?", Options: options},
		api.Ask{ID: "4", Kind: api.AskText, Title: "Name?"},
		api.Ask{ID: "5", Kind: api.AskText, Title: "Name?"},
		api.Ask{ID: "6", Kind: api.AskSecret, Title: "Token?"}))
	k := startTalk(t, s, terminal)
	k.line("go")
	for i, l := range []string{"a", "2", "c", " Ada ", "", " hunter2 "} {
		k.out.await(t, "answer> ", i+1)
		k.line(l)
	}
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	want := []api.Answer{{Option: "allow"}, {Option: "y"}, {}, {Text: "Ada"}, {}, {Text: " hunter2 "}}
	if diff := cmp.Diff(want, s.answers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{false, true}, k.echo); diff != "" {
		t.Errorf("the terminal's echo: %s", diff)
	}
	if strings.Contains(k.out.String()+k.err.String(), "hunter2") {
		t.Error("the secret was logged")
	}
}

func TestInteractiveSecretNeedsSilence(t *testing.T) {
	s := newStage(t, asking(api.Ask{ID: "6", Kind: api.AskSecret, Title: "Token?"}))
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		o.Terminal, o.Echo = true, func(bool) error { return errors.New("not a terminal") }
	})
	k.line("go")
	k.expect("cancelled: the terminal would show what you type")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{}}, s.answers); diff != "" {
		t.Error(diff)
	}
}

// The end of the input means that nobody is there: what is asked is refused, what runs is waited for.
func TestInteractiveEOFDenies(t *testing.T) {
	s := newStage(t, asking(approval("a1"), approval("a2")))
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("s) allow")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	for _, a := range s.answers {
		if a.Option != "" {
			t.Errorf("accepted by nobody: %+v", a)
		}
	}
	if len(s.answers) != 2 || strings.Count(k.out.String(), "[needs input] bash") != 1 {
		t.Errorf("%d answers\n%s", len(s.answers), k.out)
	}
}

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
	var failed *plain.Failed
	if err := k.end(); !errors.As(err, &failed) || failed.Outcome != api.SettledInterrupted {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"[working] interrupting\n", "[partial] the answer broke off here:\n  half an\n[interrupted] 12s - 0 files changed\n"} {
		if !strings.Contains(k.out.String(), want) {
			t.Errorf("no %q in\n%s", want, k.out)
		}
	}
}

func TestInteractiveInterruptSettlesQuestion(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.ask(approval("a1"))
		t.settle(api.SettledInterrupted, "")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("s) allow")
	k.interrupt()
	k.expect("[needs input] the question was settled without you")
	k.expect("[interrupted]")
	k.line("o") // too late for the question, so it is said
	k.out.await(t, "> o", 1)
	k.typist.eof()
	_ = k.end()
	if len(s.answers) != 0 {
		t.Errorf("%+v", s.answers)
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

func TestInteractiveHeartbeat(t *testing.T) {
	run, asked, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := newStage(t, func(t *turn) {
		t.step()
		<-run
		t.begins(testCall)
		<-asked
		t.ask(approval("a"))
		<-done
		t.settle(api.SettledCompleted, "")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("> go")
	beats := 0
	until := func(want string) {
		for !strings.Contains(k.out.String(), want) {
			if k.clock.pass(5 * time.Second) {
				beats++
				k.out.await(t, "[working]", beats)
			}
		}
	}
	until("[working] waiting for the model, ")
	close(run)
	until("[working] running run: go test ./..., ")
	close(asked)
	k.expect("s) allow")
	if !k.clock.pass(5 * time.Second) {
		t.Error("no heart beats")
	}
	k.line("nonsense") // whatever the tick did stands before the answer to this
	k.expect("that is no answer")
	if strings.Contains(k.out.String()[strings.Index(k.out.String(), "[needs input]"):], "[working]") {
		t.Errorf("a heartbeat pushed the question away:\n%s", k.out)
	}
	k.line("d")
	close(done)
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if k.clock.pass(5 * time.Second) {
		t.Error("the heart beats on")
	}
}

func TestInteractiveReportsFirstFailure(t *testing.T) {
	fails := func(o api.SettledOutcome, why string) func(*turn) {
		return func(t *turn) { t.step(); t.settle(o, why) }
	}
	s := newStage(t, fails(api.SettledMaxTurns, "the limit of 5 requests"), fails(api.SettledFailed, "other"), replies("fine"))
	k := startTalk(t, s, nil)
	k.line("one")
	k.expect("[failed] the limit of 5 requests")
	k.line("two")
	k.expect("[failed] other")
	k.line("three")
	k.expect("[completed]")
	k.typist.eof()
	var failed *plain.Failed
	if err := k.end(); !errors.As(err, &failed) || failed.Outcome != api.SettledMaxTurns || err.Error() != "the limit of 5 requests" {
		t.Errorf("error %v", err)
	}
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

// A change of session waits for the turn, and what is typed after it is said there.
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
	var failed *plain.Failed
	if err := k.end(); !errors.As(err, &failed) || failed.Outcome != api.SettledContextFull {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"continue: "}, two.said()); diff != "" {
		t.Error(diff)
	}
}

// Nobody is asked to go on who is gone.
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

func TestInteractiveRecallsSession(t *testing.T) {
	s := newStage(t)
	s.store(api.Entry{Turn: "t", Kind: api.EntryUser, Parts: []api.Part{{Type: api.PartText, Text: "what is this?"}}})
	s.store(api.Entry{Turn: "t", Kind: api.EntryAssistant, Parts: []api.Part{{Type: api.PartText, Text: strings.Repeat("long\n", 20) + "the\x1b]0;x\a end"}}})
	s.store(api.Entry{Turn: "t", Kind: api.EntrySettled, Settled: &api.Settled{Outcome: api.SettledAbandoned, Error: "octavo ended"}})
	s.queue([]api.Queued{{ID: "q", Kind: api.InputFollowUp, Text: "and then"}})
	s.state.Info.Name = "spike"
	k := startTalk(t, s, nil)
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	check(t, "stdout", k.out.String(), `
> what is this?
  …
`+strings.Repeat("  long\n", 9)+`  the end
[interrupted] the last turn did not complete (octavo ended); /continue goes on
[queued] 1 input waits; /continue goes on with what waits
  - and then
[session] come back with: octavo --resume 0190-one
`)
	check(t, "stderr", k.err.String(), "[session] 0190-one spike - lab/small - /work - policy controlled\n")
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

// Whoever does not read our output for long loses nothing that was stored.
func TestInteractiveFallsBehind(t *testing.T) {
	flooded, back := make(chan struct{}), make(chan struct{})
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("one", testCall)
		t.begins(testCall)
		for i := range 2*api.MaxPending + 200 { // queue events are never joined
			t.locked(func() { t.queue([]api.Queued{{ID: fmt.Sprint(i), Kind: api.InputFollowUp, Text: "x"}}) })
		}
		t.locked(func() { t.queue(nil) })
		t.ends(testCall, api.Result{Outcome: api.ResultOK}, "fine")
		close(flooded)
		<-back
		t.ask(approval("late"))
		t.step()
		t.answer("two")
		t.settle(api.SettledCompleted, "")
	})
	k := startTalk(t, s, nil)
	k.out.mu.Lock() // the output is stuck
	k.typist.keys("go\n")
	<-flooded
	s.locked(func() { s.attending = sync.OnceFunc(func() { close(back) }) })
	k.out.mu.Unlock()
	k.expect("s) allow")
	k.line("d")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	out := k.out.String()
	for _, want := range []string{"> go\n", "one\n", "[tool] bash run: go test ./... - ok\n", "two\n", "[completed]"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(out, want), out)
		}
	}
}

// Everything that comes from outside is hostile here, and nothing of it may reach a terminal.
func TestInteractiveHostileText(t *testing.T) {
	const evil = "\x1b]52;c;aGk=\a\x1b[2J\x9b1m\u009b1m\x1bPq\x1b\\\u202eevil\x00\x7f"
	call := api.Call{ID: "c", Tool: "bash" + evil, Arguments: evil, Title: "t" + evil}
	diff := *aDiff
	diff.Path = evil
	s := newStage(t, func(t *turn) {
		t.step()
		t.retry(evil)
		t.parts(api.Part{Type: api.PartReasoning, Text: evil}, api.Part{Type: api.PartText, Text: evil}, api.Part{Type: api.PartCall, Call: &call})
		t.begins(call)
		t.progress("c", evil)
		t.ends(call, api.Result{Outcome: api.ResultError}, evil)
		t.ends(call, api.Result{Outcome: api.ResultOK, Display: &pages.Display{Title: evil, Diff: &diff}}, evil)
		t.notice(api.Notice{Source: evil, Text: evil})
		t.notice(api.Notice{Level: api.NoticeError, Text: evil})
		a := approval("a")
		a.Title, a.Body, a.Source, a.Options[1].Label = evil, evil, evil, evil
		a.Display = &pages.Display{Title: evil, Text: evil, Diff: &diff}
		t.ask(a)
		t.locked(func() {
			t.store(api.Entry{Turn: t.id, Kind: api.EntryNote, Origin: evil, Parts: []api.Part{{Type: api.PartText, Text: evil}}})
			t.store(api.Entry{Turn: t.id, Kind: api.EntryPartial, Parts: []api.Part{{Type: api.PartText, Text: evil}}})
		})
		t.locked(func() { t.queue([]api.Queued{{ID: "q", Kind: api.InputFollowUp, Text: evil}}) })
		t.settle(api.SettledFailed, evil)
	})
	s.state.Info.Name, s.state.Info.Model, s.state.Info.Workspace = evil, evil, evil
	s.run = func(context.Context, string) (api.Outcome, error) { return api.Outcome{Text: evil}, nil }
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		terminal(k, o)
		o.ShowReasoning, o.Width, o.Palette = true, 80, render.NewPalette(termenv.Ascii)
	})
	k.line("/show")
	k.line("go " + evil)
	k.expect("d) deny")
	k.line("d")
	k.out.await(t, "[queued] 1 input", 1)
	k.typist.eof()
	_ = k.end()
	for _, r := range k.out.String() + k.err.String() {
		if r == 0x7f || r < ' ' && r != '\n' || 0x80 <= r && r < 0xa0 || r == 0x202e {
			t.Fatalf("%q reached the terminal in %q", r, k.out.String()+k.err.String())
		}
	}
}

func TestInteractiveRefusesPicturesAndManyPrompts(t *testing.T) {
	for _, prompts := range [][]api.Input{{{Text: "a"}, {Text: "b"}}, {{Text: "a", Images: []api.InputImage{{}}}}} {
		s := newStage(t)
		err := plain.Interactive(context.Background(), home(nil), s, prompts, plain.Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
		if err == nil || !s.closed || len(s.said()) > 0 {
			t.Errorf("%v closed=%v", err, s.closed)
		}
	}
}

// What was shown to be approved is not shown again when it is done.
func TestInteractiveShowsAChangeOnce(t *testing.T) {
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("", editCall)
		a := approval("a")
		a.Parent = editCall.ID
		t.ask(a)
		t.begins(editCall)
		t.ends(editCall, api.Result{Outcome: api.ResultOK, Display: &pages.Display{Diff: aDiff}}, "done")
		t.settle(api.SettledCompleted, "", "a.go")
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("s) allow")
	k.line("o")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(k.out.String(), "+ var x = 2"); n != 1 {
		t.Errorf("the change stands there %d times:\n%s", n, k.out)
	}
}

func TestInteractiveCutsLongDiffs(t *testing.T) {
	for lines, more := range map[int]string{39: "", 40: "\n  … 1 more line\n", 50: "\n  … 11 more lines\n"} {
		d := &pages.Diff{Path: "a.go", New: true, Added: lines, Hunks: []pages.Hunk{{NewStart: 1, NewLines: lines}}}
		for range lines { // with its header a diff has one line more
			d.Hunks[0].Lines = append(d.Hunks[0].Lines, pages.DiffLine{Op: pages.LineAdded, Text: "x"})
		}
		s := newStage(t, func(t *turn) {
			t.step()
			t.ends(editCall, api.Result{Outcome: api.ResultOK, Display: &pages.Display{Diff: d}}, "done")
			t.settle(api.SettledCompleted, "", "a.go")
		})
		k := startTalk(t, s, nil)
		k.line("go")
		k.expect("[completed]")
		k.typist.eof()
		if err := k.end(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(k.out.String(), "more line") != (more != "") || !strings.Contains(k.out.String(), more) {
			t.Errorf("%d lines:\n%s", lines, k.out)
		}
	}
}

// While a command runs lines wait, all of them; what is too much for that is not read before there is room. A question is
// answered meanwhile, whatever waits: then the surplus is dropped, and said to be.
func TestInteractiveBoundsWhatWaits(t *testing.T) {
	const held = 256
	for _, asked := range []bool{false, true} {
		put, hold := make(chan struct{}), make(chan struct{})
		s := newStage(t, func(t *turn) {
			t.step()
			if asked {
				<-put
				t.ask(approval("a"))
			}
			t.settle(api.SettledCompleted, "")
		})
		s.run = func(context.Context, string) (api.Outcome, error) {
			<-hold
			return api.Outcome{Text: "done"}, nil
		}
		k := startTalk(t, s, nil)
		k.line("go")
		k.expect("> go")
		k.line("/slow")
		k.typist.keys(strings.Repeat("x\n", held+10))
		k.typist.taken()
		if asked {
			close(put)
			k.expect("s) allow")
			k.out.await(t, "[error] too many lines wait already; this one is dropped", 10)
			k.line("d")
			k.out.await(t, "answered: d", 1)
		}
		close(hold)
		k.typist.eof()
		if err := k.end(); err != nil {
			t.Fatal(err)
		}
		want := 1 + held
		if !asked {
			want += 10
		}
		if got := len(s.said()); got != want {
			t.Errorf("asked=%v: %d lines were said, want %d", asked, got, want)
		}
	}
}

// An input that can be let go of is: nothing of the conversation stays behind.
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

func TestInteractiveQueuesBehindSummary(t *testing.T) {
	s := newStage(t)
	s.locked(func() {
		s.turn = &turn{stage: s, id: "sum", cancel: func() {}}
		s.emit(api.Event{Type: api.EventTurn, Turn: &api.TurnInfo{ID: "sum", Phase: api.PhaseSummarizing, Started: noon}})
	})
	k := startTalk(t, s, nil)
	k.line("meanwhile")
	k.expect("[queued] it starts when the summary is written")
	s.locked(func() {
		s.turn = nil
		s.emit(api.Event{Type: api.EventIdle})
		s.queue(nil)
		s.begin(api.Input{Kind: api.InputChat, Text: "meanwhile"})
	})
	k.expect("> meanwhile")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
}
