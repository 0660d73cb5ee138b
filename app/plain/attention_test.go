package plain_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

// halted is an output that nobody reads on from the moment that a certain text is written, until released.
type halted struct {
	screen
	at       string
	once     sync.Once
	stuck    chan struct{} // closed when the write begins that is stuck
	released chan struct{}
}

func newHalted(at string) *halted {
	return &halted{at: at, stuck: make(chan struct{}), released: make(chan struct{})}
}

func (h *halted) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.at) {
		h.once.Do(func() {
			close(h.stuck)
			<-h.released
		})
	}
	return h.screen.Write(p)
}

// come waits for a channel.
func come(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("in vain: " + what)
	}
}

// A write that nobody reads must not keep an interrupt from the turn. What is reported afterwards is whole.
func TestStuckWriteDoesNotHoldUpInterrupt(t *testing.T) {
	for _, front := range []string{"json", "print"} {
		for _, how := range []string{"context", "interrupt"} {
			interrupted := make(chan struct{})
			s := newStage(t, func(t *turn) {
				t.step()
				t.notice(api.Notice{Text: "stuck here"})
				t.blocks()
				close(interrupted)
				t.settle(api.SettledInterrupted, "")
			})
			out := newHalted("stuck here")
			ctx, cancel := context.WithCancel(context.Background())
			interrupts := make(chan struct{}, 1)
			ended := make(chan error, 1)
			o := plain.Options{Stdout: out, Stderr: out, Interrupts: interrupts}
			go func() {
				if front == "json" {
					ended <- plain.JSON(ctx, s, chats("hi", "next"), o)
				} else {
					ended <- plain.Print(ctx, s, chats("hi", "next"), o)
				}
			}()
			come(t, out.stuck, "the write")
			if how == "context" {
				cancel()
			} else {
				interrupts <- struct{}{}
			}
			come(t, interrupted, "the turn's interrupt, by "+how+" of "+front)
			close(out.released)
			var failed *plain.Failed
			if err := <-ended; !errors.As(err, &failed) || failed.Outcome != api.SettledInterrupted {
				t.Errorf("%s by %s: error %v", front, how, err)
			}
			if front == "json" && !strings.Contains(out.String(), `"agent_settled"`) {
				t.Errorf("by %s the end is missing:\n%s", how, out)
			}
			cancel()
			_ = s.Close(context.Background())
		}
	}
}

func stuckTurn(interrupted chan struct{}) func(*turn) {
	return func(t *turn) {
		t.step()
		t.answer("stuck here")
		t.blocks()
		close(interrupted)
		t.settle(api.SettledInterrupted, "")
	}
}

func TestInteractiveStuckWrite(t *testing.T) {
	for _, how := range []string{"context", "interrupt"} {
		interrupted := make(chan struct{})
		s := newStage(t, stuckTurn(interrupted))
		out := newHalted("stuck here")
		k := startTalk(t, s, func(_ *talk, o *plain.Options) { o.Stdout = out })
		k.typist.keys("go\n")
		come(t, out.stuck, "the write")
		if how == "context" {
			k.cancel()
		} else {
			k.interrupt()
		}
		come(t, interrupted, "the turn's interrupt")
		close(out.released)
		if how == "context" {
			if err := k.end(); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			continue
		}
		out.await(t, "[working] interrupting\n", 1)
		out.await(t, "[interrupted]", 1)
		k.typist.eof()
		if err := k.end(); err != nil {
			t.Errorf("one interrupt ends the turn and no more, got %v", err)
		}
	}
}

// A person who insists is let go, although nobody ever reads what is written.
func TestInteractiveLeavesAStuckWrite(t *testing.T) {
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer full.Close()
	_ = full.SetWriteDeadline(time.Now().Add(time.Millisecond))
	for b := make([]byte, 4096); err == nil; {
		_, err = full.Write(b)
	}
	_ = full.SetWriteDeadline(time.Time{})

	interrupted := make(chan struct{})
	s := newStage(t, stuckTurn(interrupted))
	k := startTalk(t, s, func(_ *talk, o *plain.Options) { o.Stdout = full })
	k.typist.keys("go\n") // the first line of the log is stuck already
	for s.said() == nil {
		time.Sleep(time.Millisecond)
	}
	insist := make(chan struct{})
	go func() {
		defer close(insist)
		for {
			select {
			case k.interrupts <- struct{}{}: // more of them than two do no harm
			case err := <-k.ended:
				k.ended <- err
				return
			}
		}
	}()
	if err := k.end(); !errors.Is(err, plain.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	k.ended <- nil
	<-insist
	if !s.closed {
		t.Error("the session was left open")
	}
}

func TestGatherEndsWithItsContext(t *testing.T) {
	cause := errors.New("enough")
	pipe, open, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer open.Close()
	endless := newTypist()
	defer endless.eof()
	for name, o := range map[string]plain.GatherOptions{
		"a pipe":                     {Stdin: pipe},
		"what cannot be interrupted": {Stdin: endless},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
		if _, err := plain.Gather(ctx, o); !errors.Is(err, cause) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := open.WriteString("for the next reader"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := pipe.Read(b); err != nil || string(b[:n]) != "for the next reader" {
		t.Errorf("%q %v", b[:n], err)
	}
}

// What was begun before a question, what is pasted and what a key repeats is no answer.
func TestInteractiveAnswerIsTypedAfterItsQuestion(t *testing.T) {
	const readTime = 300 * time.Millisecond
	typed := make(chan struct{})
	s := newStage(t, func(t *turn) {
		<-typed
		t.step()
		t.ask(approval("a1"))
		t.answer("ok")
		t.settle(api.SettledCompleted, "")
	})
	flushes := 0
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		terminal(k, o)
		o.Flush = func() error { flushes++; return nil }
	})
	k.line("go")
	k.pause()
	k.typist.keys("o") // and no enter
	k.typist.taken()
	close(typed)
	k.expect("answer> ")
	k.line("") // the enter; it comes at once, too
	k.out.await(t, "[needs input] typed too soon to have been read; again\nanswer> ", 1)
	k.clock.pass(readTime - 1)
	k.line("o")
	k.out.await(t, "again\nanswer> ", 2)
	k.clock.pass(readTime) // since it was said again
	k.line("")
	k.out.await(t, "that is no answer", 1)
	k.line("s")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if len(s.answers) != 1 || s.answers[0].Option != "session" || flushes != 3 {
		t.Errorf("%+v after %d flushes", s.answers, flushes)
	}
}

// Where the terminal keeps what was typed before, the first line may be just that.
func TestInteractiveTerminalThatDoesNotFlush(t *testing.T) {
	s := newStage(t, asking(approval("a1")))
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		terminal(k, o)
		o.Flush = func() error { return errors.New("no") }
	})
	k.line("go")
	k.pause()
	k.expect("answer> ")
	k.clock.pass(time.Minute)
	k.line("o")
	k.expect("typed too soon to have been read; again\nanswer> ")
	k.clock.pass(time.Minute)
	k.line("d")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil || len(s.answers) != 1 || s.answers[0].Option != "deny" {
		t.Errorf("%v %+v", err, s.answers)
	}
}

// A text that is pasted at the prompt is one input; what follows later, and a command, is not part of it.
func TestInteractivePaste(t *testing.T) {
	s := newStage(t)
	s.run = func(context.Context, string) (api.Outcome, error) { return api.Outcome{Text: "ran"}, nil }
	k := startTalk(t, s, func(k *talk, o *plain.Options) {
		terminal(k, o)
		o.Flush = func() error { return nil }
	})
	k.expect("> ")
	for _, l := range []string{"one", "", "  two", "three"} { // a terminal gives one line for each Read
		k.line(l)
	}
	k.pause()
	k.out.await(t, "[completed]", 1)
	k.line("four")
	k.line("/run")
	k.out.await(t, "ran", 1)
	k.out.await(t, "[completed]", 2)
	k.line("five")
	k.clock.set(11 * time.Millisecond)
	k.line("six")
	k.out.await(t, "[completed]", 3)
	k.pause()
	k.line("seven")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	want := []string{"chat: one\n\n  two\nthree", "chat: four", "chat: five", "chat: six", "chat: seven"}
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Error(diff)
	}
}
