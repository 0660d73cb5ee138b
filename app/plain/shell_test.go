package plain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

// shelled makes a stage keep what it is asked to run, and run do it.
func shelled(s *stage, run func(ctx context.Context, r api.ShellRequest, progress func(string)) api.ShellResult) *[]api.ShellRequest {
	var asked []api.ShellRequest
	s.shell = func(ctx context.Context, r api.ShellRequest, progress func(string)) api.ShellResult {
		asked = append(asked, r)
		return run(ctx, r, progress)
	}
	return &asked
}

func TestInteractiveShell(t *testing.T) {
	s := newStage(t)
	var k *talk
	asked := shelled(s, func(_ context.Context, r api.ShellRequest, progress func(string)) api.ShellResult {
		progress("one\ntw")
		k.expect("  one\n") // as it comes, line by line
		progress("o\x1b[2J\n\n10%\r90%")
		k.clock.set(1500 * time.Millisecond)
		return api.ShellResult{ExitCode: ptr(2)}
	})
	k = startTalk(t, s, nil)
	k.line("! ls -l ")
	k.line("then this") // waits for it
	k.expect("[completed]")
	k.line("!!env")
	k.line("/help")
	k.line(`"""`)
	k.line("!in a block")
	k.line(`"""`)
	k.out.await(t, "[completed]", 2)
	k.line("!")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.ShellRequest{{Command: "ls -l"}, {Command: "env", Exclude: true}}, *asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"chat: then this", "chat: !in a block"}, s.said()); diff != "" {
		t.Error(diff)
	}
	check(t, "stdout", k.out.String(), `
$ ls -l
  one
  two
  
  90%
[shell] exit 2, 1.5s
> then this
nothing was planned for then this
[completed] 12s
$ env
  one
  two
  
  90%
[shell] exit 2, 1.5s; no model reads it
the commands`+"\x1b[2J"+`
!COMMAND runs a command of your own, which the model reads with your next input; !!COMMAND keeps it from the model.
> !in a block
nothing was planned for !in a block
[completed] 12s
[error] type a command behind the mark, such as !git status
[session] come back with: octavo --resume 0190-one (cost so far $1.24)
`)
}

// ctrl+c ends the person's command and leaves the turn alone.
func TestInteractiveInterruptsShell(t *testing.T) {
	end := make(chan struct{})
	s := newStage(t, waits(end))
	running := make(chan struct{}, 2)
	shelled(s, func(ctx context.Context, _ api.ShellRequest, progress func(string)) api.ShellResult {
		running <- struct{}{}
		<-ctx.Done()
		return api.ShellResult{Cancelled: true}
	})
	k := startTalk(t, s, nil)
	k.line("go")
	k.expect("> go")
	k.line("!sleep 600")
	<-running
	k.interrupt()
	k.expect("[shell] cancelled\n") // that it is being cancelled is only said where it takes a moment
	close(end)
	k.expect("[completed]")
	k.line("!sleep 600") // and whoever leaves takes it along
	<-running
	k.cancel()
	if err := k.end(); err == nil || !s.closed {
		t.Errorf("error %v, closed %v", err, s.closed)
	}
}

// At a terminal a line of something pasted is no command, whatever it begins with.
func TestInteractiveShellIsNotPasted(t *testing.T) {
	s := newStage(t)
	asked := shelled(s, func(context.Context, api.ShellRequest, func(string)) api.ShellResult {
		return api.ShellResult{ExitCode: ptr(0)}
	})
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		terminal(k, o)
		o.Flush = func() error { return nil }
	})
	k.expect("> ")
	k.line("![a picture](x.png)\n/help\nof it")
	k.pause()
	k.expect("[completed]")
	k.line("text\n!rm -rf .")
	k.pause()
	k.out.await(t, "[completed]", 2)
	k.line("!ls")
	k.pause()
	k.expect("[shell] exit 0")
	k.line("!date")
	k.clock.set(11 * time.Millisecond)
	k.line("typed after it") // what came too late to belong to it has it run, and waits
	k.pause()
	k.out.await(t, "[completed]", 3)
	if out := k.out.String(); strings.Count(out, "[shell]") != 2 || strings.LastIndex(out, "[shell]") > strings.LastIndex(out, "planned for typed") {
		t.Errorf("stdout:\n%s", out)
	}
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: ![a picture](x.png)\n/help\nof it", "chat: text\n!rm -rf .", "chat: typed after it"}, s.said()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]api.ShellRequest{{Command: "ls"}, {Command: "date"}}, *asked); diff != "" {
		t.Error(diff)
	}
}

// A resumed session shows the last commands that the person ran, and does not take them for a turn without an answer.
func TestInteractiveRecallsShell(t *testing.T) {
	s := newStage(t)
	s.locked(func() {
		s.store(api.Entry{Kind: api.EntryUser, Parts: []api.Part{{Type: api.PartText, Text: "hi"}}})
		s.store(api.Entry{Kind: api.EntryAssistant, Parts: []api.Part{{Type: api.PartText, Text: "hello"}}})
		s.store(api.Entry{Kind: api.EntrySettled, Settled: &api.Settled{Outcome: api.SettledCompleted}})
		for i, command := range []string{"first", "second", "third"} {
			s.store(api.Entry{Kind: api.EntryShell, Call: &api.Call{Title: command}, Origin: map[bool]string{true: api.OriginExcluded}[i == 1],
				Result: &api.Result{Outcome: api.ResultOK, ExitCode: ptr(i)}, Parts: []api.Part{{Type: api.PartText, Text: strings.Repeat("line\n", 11)}}})
		}
	})
	s.state.Info.Title = "a title"
	k := startTalk(t, s, nil)
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	lines := "  …\n" + strings.Repeat("  line\n", 10)
	check(t, "stdout", k.out.String(), "> hi\n  hello\n$ second\n"+lines+"[shell] exit 1; no model reads it\n$ third\n"+lines+
		"[shell] exit 2\n[session] come back with: octavo --resume 0190-one\n")
	if !strings.HasPrefix(k.err.String(), "[session] 0190-one a title - ") {
		t.Errorf("stderr: %s", k.err)
	}
}
