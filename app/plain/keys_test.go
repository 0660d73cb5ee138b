package plain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

// atTerminal makes a talk one whose input is a terminal, too.
func atTerminal(k *talk, o *plain.Options) {
	terminal(k, o)
	o.Flush = func() error { return nil }
}

// Keys that write nothing leave nothing in what was typed, and an escape key alone takes nothing along.
func TestInteractiveKeysThatWriteNothing(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, atTerminal)
	k.expect("> ")
	typed := map[string]string{"\x1b[Ah\x1b[1;5De\x1b[3~y\x1bOB": "hey", "\x1bhello": "hello", "a\x1b[1] b\x1b": "a[1] b", "\x1b[[Afive\x1b[24~": "five",
		"x\x1b]11;rgb:0/0/0\x1b\\y\x1b]2;t\az": "xyz", "\x1b]no end": "]no end", "\x1b[200": "[200", "\x1b\x1b[Bz": "z"}
	var want []string
	for line, meant := range typed {
		k.line(line)
		k.pause()
		want = append(want, "chat: "+meant)
		k.out.await(t, "[completed]", len(want))
	}
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Error(diff)
	}
}

// A terminal passes on 4,095 bytes of a line, whatever was typed: a line of that length may lack its end, and is not said.
func TestInteractiveLineThatTheTerminalCut(t *testing.T) {
	s := newStage(t, asking(approval("a")))
	k := startTalk(t, s, atTerminal)
	k.expect("> ")
	k.line(strings.Repeat("x", 4094))
	k.pause()
	k.expect("s) allow")
	k.clock.set(time.Second)
	k.line(strings.Repeat("d", 4095))
	k.expect("[notice] the terminal cuts lines at 4,095 bytes: what followed may be lost")
	k.out.await(t, "answer> ", 2)
	k.clock.set(time.Second)
	k.line("d")
	k.expect("[completed]")
	k.line(`begun \`)
	k.line(strings.Repeat("y", 4095))
	k.out.await(t, "[notice] the terminal cuts", 2)
	k.line("short")
	k.pause()
	k.out.await(t, "[completed]", 2)
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: " + strings.Repeat("x", 4094), "chat: short"}, s.said()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]api.Answer{{Option: "deny"}}, s.answers); diff != "" {
		t.Error(diff)
	}

	s = newStage(t) // a pipe cuts nothing
	k = startTalk(t, s, nil)
	k.line(strings.Repeat("x", 5000))
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil || len(s.said()) != 1 || len(s.said()[0]) != len("chat: ")+5000 {
		t.Errorf("%v, said %.20q", err, s.said())
	}
}

// What is pasted is one input, which waits for enter, whatever stands in it.
func TestInteractiveMarkedPaste(t *testing.T) {
	s := newStage(t)
	k := startTalk(t, s, atTerminal)
	k.expect("> ")
	said := 0
	enter := func(keys string) {
		t.Helper()
		k.typist.keys(keys + "\n")
		k.typist.taken()
		k.pause()
		said++
		k.out.await(t, "[completed]", said)
	}
	k.line("\x1b[200~first\nsecond") // the terminal keeps the rest back until enter
	k.clock.set(20 * time.Millisecond)
	if got := s.said(); len(got) != 0 {
		t.Errorf("half of a paste was said: %q", got)
	}
	k.clock.set(time.Minute) // a person reads it before enter
	enter("third\x1b[201~ and more")
	enter("look: \x1b[200~/help\n!ls\n\x1b[201~")
	enter("\x1b[200~/help\n!ls\x1b[201~\x1b[200~\"\"\"\n\x1b[201~end")
	k.line("\x1b[200~of this the end\nis deleted")
	k.clock.set(2 * time.Second)
	enter("with ctrl+u")
	k.line("\x1b[200~this is\nabandoned")
	k.interrupt()
	k.expect("press ctrl+c again")
	enter("afresh")
	k.line("\x1b[200~/help\x1b[201~") // of one line it is as if it was typed
	k.expect("the commands")
	k.line("/quit")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	want := []string{"chat: first\nsecond\nthird and more", "chat: look: /help\n!ls", "chat: /help\n!ls\"\"\"\nend",
		"chat: of this the end\nis deleted\nwith ctrl+u", "chat: afresh"}
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Error(diff)
	}
	if out := k.out.String(); !strings.HasPrefix(out, "\x1b[?2004h") || !strings.HasSuffix(out, "\n\x1b[?2004l") || strings.Count(out, "\x1b") != 2 {
		t.Errorf("%q", out)
	}
}

func TestInteractiveDumbTerminalIsToldNothing(t *testing.T) {
	k := startTalk(t, newStage(t), func(k *talk, o *plain.Options) {
		atTerminal(k, o)
		o.Dumb = true
	})
	k.expect("> ")
	k.line("/quit")
	if err := k.end(); err != nil || strings.Contains(k.out.String(), "\x1b") {
		t.Errorf("%v %q", err, k.out)
	}
}
