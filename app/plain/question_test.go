package plain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
	"octavo/pages"
)

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
  rm -rf x␛[8m
  a.go  +1 −1
  1   package a
  2 - var x = 1
  2 + var x = 2
  d) deny  (d REASON tells the model why)
  o) allow once
  s) allow this exact call for the session
`)
}

// The words of the answers do as well as their letters, and so does any beginning that fits one answer only.
func TestInteractiveAnswersInWords(t *testing.T) {
	deny, once, session := api.Answer{Option: "deny"}, api.Answer{Option: "once"}, api.Answer{Option: "session"}
	for word, want := range map[string]api.Answer{"once": once, "ON": once, "O": once, "Yes": once, "y": once, "session": session, "Sess": session, "S": session,
		"deny": deny, "DEN": deny, "D": deny, "no": deny, "n": deny, "deny I prefer ls": {Option: "deny", Text: "I prefer ls"},
		"d\tI prefer ls": {Option: "deny", Text: "I prefer ls"}, "No, thanks": {}, "once more": {}, "session please": {}, "onces": {}, "": {}, "sure": {}, "yesss": {}, "1": {}} {
		s := newStage(t, asking(approval("a")))
		k := startTalk(t, s, nil)
		k.line("go")
		k.expect("s) allow")
		k.line(word)
		if want == (api.Answer{}) {
			k.expect("[needs input] that is no answer; type d or o or s (or the word: deny, once, session)\n")
			k.line("d")
			want = deny
		}
		k.expect("[completed]")
		k.typist.eof()
		_ = k.end()
		if diff := cmp.Diff([]api.Answer{want}, s.answers); diff != "" {
			t.Errorf("%q: %s", word, diff)
		}
	}
}

func TestInteractiveShowsAllThatIsAsked(t *testing.T) {
	var added []pages.DiffLine
	for i := range pages.MaxReviewLines {
		added = append(added, pages.DiffLine{Op: pages.LineAdded, Text: fmt.Sprint("line ", i+1)})
	}
	added[2].Text = "echo ok" + strings.Repeat(" ", 3010) + "; touch FAR"
	added[3].Text = "echo ok \x1b]0;touch HIDDEN\a\r\u202e\u200b"
	ask := api.Ask{ID: "a", Kind: api.AskApproval, Source: "write", Title: "write a\x1b[2J", Body: "why\x00\u2066", Options: approval("a").Options,
		Display: &pages.Display{Text: "was\x1b[8mbinary", Diff: &pages.Diff{Path: "a.sh", New: true, Added: len(added),
			Hunks: []pages.Hunk{{NewStart: 1, NewLines: len(added), Lines: added}}}}}
	s := newStage(t, asking(ask))
	k := startTalk(t, s, func(_ *talk, o *plain.Options) { o.Width = 60 })
	k.line("go")
	k.expect("s) allow")
	k.line("d")
	k.expect("[completed]")
	k.typist.eof()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	shown := k.out.String()
	for _, want := range []string{"write a␛[2J\n", "  why␀‹U+2066›\n", "  was␛[8mbinary\n", "     4 + echo ok ␛]0;touch HIDDEN␇␍‹U+202E›‹U+200B›\n", "line 2500\n", "line 5000\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%.2000s", want, shown)
		}
	}
	if i := strings.Index(shown, "; touch FAR\n"); i < 0 || !strings.Contains(shown[max(0, i-40):i], "       ↪ ") {
		t.Errorf("the end of a long line is not shown:\n%.2000s", shown)
	}
	if strings.ContainsAny(shown, "\x1b\x00\r\u202e\u200b") {
		t.Error("a control character reached the terminal")
	}
}

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
