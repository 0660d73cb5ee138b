package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
	"octavo/pages"
	"octavo/sessionstore"
)

// planted is a key that octavo knows. Its spellings differ, and the first half of it says enough to be looked for.
const planted = `sk-planted<"0123456789/+&`

const plantedStart = "sk-planted"

// knowing is the redaction of a home with keys.
func knowing(keys ...string) session.Redaction {
	r := &settings.Redactor{}
	for _, key := range keys {
		r.Add(key)
	}
	return session.Redaction{Text: r.RedactKeys, Stream: func() (func(string) string, func() string) {
		s := r.Stream()
		return s.Write, s.Flush
	}}
}

// nowhere fails the test when the start of the key is in what clients saw, the model was sent, or the store has.
func (w *world) nowhere(watching ...*watch) {
	w.t.Helper()
	all := map[string]string{}
	for i, x := range watching {
		for _, v := range []any{x.events, x.state} {
			b, err := json.Marshal(v)
			if err != nil {
				w.t.Fatal(err)
			}
			all[fmt.Sprintf("client %d", i)] += string(b)
		}
	}
	for i, r := range w.server.Requests() {
		all[fmt.Sprintf("request %d", i+1)] = string(r.Body)
	}
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for where, text := range all {
		if i := strings.Index(text, plantedStart); i >= 0 {
			w.t.Errorf("%s: …%s…", where, text[max(0, i-200):min(len(text), i+60)])
		}
	}
}

// last closes the session and reads what it still tells.
func (x *watch) last(s *session.Session) {
	x.w.t.Helper()
	read := make(chan struct{})
	go func() { x.rest(); close(read) }()
	x.w.close(s)
	<-read
}

func args(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAKeyIsNowhere: whoever brings a key into a session, and by whatever way, it gets no further.
func TestAKeyIsNowhere(t *testing.T) {
	escaped := strings.Replace(args(t, map[string]string{"command": planted}), "sk-", `\u0073k-`, 1)
	w := newWorld(t,
		modeltest.Calls(modeltest.Call("bash", args(t, map[string]string{"command": planted})), modeltest.Call("bash", escaped),
			modeltest.Call("bash", planted), modeltest.Call("bash", `{"command":"first"}`), modeltest.Call("bash", `{"command":"second"}`), modeltest.Call(plantedStart+"0123456789", `{}`), modeltest.Call("fails", `{}`), modeltest.Call("crashes", `{}`)).
			WithText("I have "+planted+" here").WithReasoning("think of "+planted).Chunk(1),
		modeltest.Say("again: "+planted).Chunk(1), modeltest.Status(400, `{"error":{"message":"refused `+plantedStart+`0123456789"}}`))
	w.redact = knowing(planted, plantedStart+"0123456789", planted+"/longer")
	w.policy = policy.ControlledBashApproval
	running := newGate()
	b := bash(func(c *ext.Call, raw json.RawMessage) (ext.Output, error) {
		var a struct{ Command string }
		if err := json.Unmarshal(raw, &a); err != nil || a.Command != "first" && !strings.HasPrefix(c.ID, "0") {
			t.Errorf("a tool is given %q, %v", a.Command, err)
		}
		for _, piece := range strings.Split(planted+" ", "") {
			c.Progress(piece)
		}
		write, flush := c.Redact()
		if got := write(planted[:5]) + write(planted[5:]) + flush(); got != "[redacted]" {
			t.Errorf("a tool redacts to %q", got)
		}
		if a.Command == "first" {
			running.entered <- struct{}{}
			<-running.release
		}
		return ext.Output{Parts: ext.TextOutput("ran with " + planted).Parts, Display: &pages.Display{Title: planted, Text: planted,
			Diff: &pages.Diff{Path: planted, Hunks: []pages.Hunk{{Lines: []pages.DiffLine{{Text: planted}}}}}}}, nil
	})
	b.Describe = func(raw json.RawMessage) string { return "run " + planted }
	b.Intent = func(json.RawMessage) policy.Intent {
		return policy.Intent{Class: policy.HostProcess, Title: "run " + planted, Detail: planted}
	}
	b.Preview = func(*ext.Call, json.RawMessage) (*pages.Display, error) { return &pages.Display{Text: planted}, nil }
	w.tools = []ext.Tool{b,
		tool("fails", policy.Pure, func(*ext.Call, json.RawMessage) (ext.Output, error) {
			return ext.Output{}, errors.New("cannot use " + planted)
		}),
		tool("crashes", policy.Pure, func(*ext.Call, json.RawMessage) (ext.Output, error) { panic(planted) })}
	s := w.open("")
	x := w.attach(s, true)
	w.say(s, "use "+planted)
	x.until("warning", func(e api.Event) bool { return e.Notice != nil && e.Notice.Level == api.NoticeWarning })
	for _, answer := range []api.Answer{{Option: api.OptionOnce}, {Option: api.OptionDeny, Text: "not with " + planted}} {
		ask := x.untilType(api.EventAsk).Ask
		if err := s.Answer(w.ctx, ask.ID, api.Answer{Option: planted}); err == nil || strings.Contains(err.Error(), plantedStart) {
			t.Errorf("%v", err)
		}
		if err := s.Answer(w.ctx, ask.ID, answer); err != nil {
			t.Fatal(err)
		}
		if answer.Option == api.OptionOnce {
			running.wait(w)
			for _, kind := range []api.InputKind{api.InputChat, api.InputFollowUp} {
				if _, err := s.Submit(w.ctx, api.Input{Kind: kind, Text: "and " + planted, Display: "and " + planted}); err != nil {
					t.Fatal(err)
				}
			}
			running.open()
		}
	}
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Errorf("%+v", got)
	}
	if got := x.settled(); got.Outcome != api.SettledFailed || !strings.Contains(got.Error, "[redacted]") {
		t.Errorf("%+v", got)
	}
	if err := s.Rename(w.ctx, "called "+planted); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"/nothing" + planted, "/name " + planted, "/model " + planted, "/status"} {
		o, err := s.Run(w.ctx, line)
		if strings.Contains(fmt.Sprint(o.Text, string(o.Data), err), plantedStart) {
			t.Errorf("%s: %+v %v", line, o, err)
		}
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: "x", Images: []api.InputImage{{Name: planted, Data: []byte("none")}}}); err == nil || strings.Contains(err.Error(), plantedStart) {
		t.Errorf("%v", err)
	}
	var live strings.Builder
	got, err := s.Shell(w.ctx, api.ShellRequest{Command: "echo " + planted}, func(s string) { live.WriteString(s) })
	if err != nil || got.Output != "[redacted]" || live.String() != "[redacted] " {
		t.Errorf("%+v %v, live %q", got, err, live.String())
	}
	x.last(s)
	w.nowhere(x)
	story := strings.Join(tell(x.state.Entries), "\n") + args(t, x.state.Entries)
	for _, want := range []string{"user: use [redacted]", "think of [redacted]", "I have [redacted] here", "ok: ran with [redacted]", "not with [redacted]",
		"cannot use [redacted]", "the tool crashed (panic: [redacted])", "user (steer): and [redacted]", "assistant: again: [redacted]"} {
		if !strings.Contains(story, want) {
			t.Errorf("no %q in\n%s", want, story)
		}
	}
}

// TestAKeyThatIsCutOffIsNowhere: of an answer that is interrupted within a key, nothing of the key stays.
func TestAKeyThatIsCutOffIsNowhere(t *testing.T) {
	w := newWorld(t, modeltest.Say("the key is "+planted).Chunk(4).Stall(8))
	w.redact = knowing(planted)
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	said := ""
	x.until("the word before the key", func(e api.Event) bool {
		if e.Delta != nil {
			said += e.Delta.Text
		}
		return said == "the key is "
	})
	if err := s.Interrupt(w.ctx, false); err != nil {
		t.Fatal(err)
	}
	x.settled()
	x.last(s)
	expect(t, tell(x.state.Entries), "user: go", "partial: the key is ", "settled interrupted")
	for _, e := range x.events {
		if b, _ := json.Marshal(e); strings.Contains(string(b), "sk-") {
			t.Errorf("%s", b)
		}
	}
}

// TestAResultIsCutAfterItIsRedacted: where it is cut, no half of a key is left.
func TestAResultIsCutAfterItIsRedacted(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("big", `{}`)), modeltest.Say("much"))
	w.redact = knowing(planted)
	w.tools = []ext.Tool{tool("big", policy.Pure, says(strings.Repeat(planted, 4*session.MaxResultText/len(planted))))}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	x.settled()
	result := w.server.Requests()[1].Chat.Last().Text
	if strings.Contains(result, planted[:4]) || !strings.HasPrefix(result, "[redacted][redacted]") || len(result) < session.MaxResultText-100 {
		t.Errorf("%d bytes: %.100s", len(result), result)
	}
	x.last(s)
	w.nowhere(x)
}

// TestAKeyOfThePastIsNotShown: what was stored before its key was known goes to no client and no model.
func TestAKeyOfThePastIsNotShown(t *testing.T) {
	w := newWorld(t, modeltest.Say("fine"))
	w.close(w.openNamed("old"))
	w.crash("old", sessionstore.StageIdle,
		crashed{"user", args(t, map[string]any{"parts": []any{map[string]string{"type": "text", "text": "take " + planted}}, "origin": "chat"})},
		crashed{"assistant", args(t, map[string]any{"parts": []any{map[string]string{"type": "text", "text": "took " + planted}}})})
	waiting := args(t, map[string]any{"record": map[string]any{"parts": []any{map[string]string{"type": "text", "text": "now " + planted}}}})
	name := "named " + planted
	if err := w.store.PatchSession(w.ctx, "old", sessionstore.SessionPatch{Name: &name}); err != nil {
		t.Fatal(err)
	}
	_, err := w.store.Commit(w.ctx, "old", sessionstore.InputAccepted, sessionstore.Change{
		Enqueue: []sessionstore.Input{{ID: "q", Kind: string(api.InputFollowUp), Payload: []byte(waiting)}}})
	if err != nil {
		t.Fatal(err)
	}
	w.redact = knowing(planted)
	s := w.open("old")
	x := w.attach(s, false)
	first, err := json.Marshal(x.state)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(first), "[redacted]"); n != 4 { // name, two entries, one input
		t.Errorf("%d marks in %s", n, first)
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err != nil {
		t.Fatal(err)
	}
	x.settled()
	entries, err := s.Entries(w.ctx, api.Range{})
	if err != nil {
		t.Fatal(err)
	}
	x.last(s)
	for where, text := range map[string]string{"first": string(first), "events": args(t, x.events), "entries": args(t, entries), "request": string(w.server.Requests()[0].Body)} {
		if strings.Contains(text, plantedStart) || where == "request" && strings.Count(text, "[redacted]") != 3 {
			t.Errorf("%s: %s", where, text)
		}
	}
}
