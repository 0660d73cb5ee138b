package plain_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
	"octavo/pages"
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
	check(t, "stderr", k.err.String(), "[session] 0190-one - lab/small - /work - controlled: changes ask first - /help\n")
}

// The reason of one failure after another stands there once.
func TestInteractiveSaysAReasonOnce(t *testing.T) {
	retry := func(attempt int, why string) func(*turn) {
		return func(t *turn) {
			t.locked(func() {
				t.emit(api.Event{Type: api.EventRetry, Retry: &api.Retry{Attempt: attempt, Most: 8, Delay: time.Second / 2, Error: why}})
			})
		}
	}
	k := startTalk(t, newStage(t, func(t *turn) {
		t.step()
		for _, f := range []func(*turn){retry(1, "no route"), retry(2, "no route"), retry(3, "busy"), retry(4, "no route"), retry(1, "no route")} {
			f(t)
		}
		t.settle(api.SettledCompleted, "")
	}), nil)
	k.line("go")
	k.expect("[completed]")
	k.typist.eof()
	_ = k.end()
	check(t, "stdout", k.out.String(), `
> go
[retry] attempt 1 of 8 failed: no route; again in 0.5s
[retry] attempt 2 of 8 failed alike; again in 0.5s
[retry] attempt 3 of 8 failed: busy; again in 0.5s
[retry] attempt 4 of 8 failed: no route; again in 0.5s
[retry] attempt 1 of 8 failed: no route; again in 0.5s
[completed] 12s
[session] come back with: octavo --resume 0190-one
`)
}

// Of what a call writes its newest line is shown now and then, and how a command failed is told as to a person.
func TestInteractiveShowsLiveOutput(t *testing.T) {
	var k *talk
	s := newStage(t, func(t *turn) {
		t.step()
		t.begins(testCall)
		for i := range 6 {
			t.progress("c1", fmt.Sprintf("step %d\x1b[2J\n", i))
			t.notice(api.Notice{Text: fmt.Sprint("after ", i)})
			k.out.await(t.t, fmt.Sprint("after ", i), 1)
			k.clock.set(time.Second)
		}
		t.ends(testCall, api.Result{Outcome: api.ResultError, ExitCode: ptr(2), Duration: 6 * time.Second,
			Display: &pages.Display{Title: "exit 2, 6.0s", Text: "ls: no such file\n"}}, "nonzero_exit exit_status=2 duration=6.0s\n[complete_stderr=17 bytes]\nls: no such file")
		t.ends(editCall, api.Result{Outcome: api.ResultError, ExitCode: ptr(1), Display: &pages.Display{Title: "exit 1, 2ms"}}, "nonzero_exit exit_status=1\n(no output)")
		t.settle(api.SettledCompleted, "")
	})
	hold := make(chan struct{})
	first := s.scripts[0]
	s.scripts[0] = func(t *turn) { <-hold; first(t) }
	k = startTalk(t, s, nil)
	close(hold)
	k.line("go")
	k.expect("[completed]")
	k.typist.eof()
	_ = k.end()
	check(t, "stdout", k.out.String(), `
> go
[notice] after 0
[notice] after 1
[tool] step 2
[notice] after 2
[notice] after 3
[tool] step 4
[notice] after 4
[notice] after 5
[tool] bash run: go test ./... - failed, exit 2, 6.0s
  ls: no such file
[tool] edit a.go - failed, exit 1, 2ms
[completed] 12s
[session] come back with: octavo --resume 0190-one
`)
}

// What octavo reads of a workspace and what not is octavo's word; an extension's stands under its name.
func TestInteractiveNotices(t *testing.T) {
	k := startTalk(t, newStage(t, func(t *turn) {
		t.notice(api.Notice{Level: api.NoticeWarning, Source: "instructions", Text: "AGENTS.md is not read"})
		t.notice(api.Notice{Level: api.NoticeWarning, Source: "weather", Text: "it rains"})
		t.settle(api.SettledCompleted, "")
	}), nil)
	k.line("go")
	k.expect("> go\n[notice] AGENTS.md is not read\n[extension] weather: warning: it rains\n[completed] 12s\n")
	k.typist.eof()
	_ = k.end()
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
[completed] 12s
> second
[completed] 12s
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

// Lines that were typed before a question appeared are steering, however late they are looked at.

// A line that was typed below one question never answers another, nor is it said to the model.

// The end of the input means that nobody is there: what is asked is refused, what runs is waited for.

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
	until("[working] run: go test ./..., ")
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

// A change of session waits for the turn, and what is typed after it is said there.

// Nobody is asked to go on who is gone.

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
	check(t, "stderr", k.err.String(), "[session] 0190-one spike - lab/small - /work - controlled: changes ask first - /help\n")
}

// Whoever does not read our output for long loses nothing that was stored.

// Everything that comes from outside is hostile here, and nothing of it may reach a terminal.

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

// While a command runs lines wait, all of them; what is too much for that is not read before there is room. A question is

// answered meanwhile, whatever waits: then the surplus is dropped, and said to be.

// An input that can be let go of is: nothing of the conversation stays behind.

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
