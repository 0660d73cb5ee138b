package plain_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"octavo/app/api"
	"octavo/app/plain"
	"octavo/pages"
	"octavo/render"
)

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
