package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
	"octavo/pages"
	"octavo/sessionstore"
)

// runner stands in for the shell: it tells its command as live output and exits with 3.
func runner(c *ext.Call, raw json.RawMessage) (ext.Output, error) {
	var args struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return ext.Output{}, err
	}
	c.Progress("running " + args.Command)
	out := ext.TextOutput("ran " + args.Command)
	code := 3
	out.ExitCode, out.IsError = &code, true
	return out, nil
}

func bash(invoke func(*ext.Call, json.RawMessage) (ext.Output, error)) ext.Tool {
	b := tool("bash", policy.HostProcess, invoke)
	b.Parameters = json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)
	return b
}

func TestShell(t *testing.T) {
	w := newWorld(t, modeltest.Say("I saw it"), modeltest.Say("ok"))
	w.tools = []ext.Tool{bash(runner)}
	w.policy = policy.Controlled // the person typed it: nobody need be asked
	s := w.open("")
	var live strings.Builder
	got, err := s.Shell(w.ctx, api.ShellRequest{Command: "make it"}, func(t string) { live.WriteString(t) })
	if err != nil {
		t.Fatal(err)
	}
	if got.Output != "ran make it" || got.ExitCode == nil || *got.ExitCode != 3 || got.Cancelled || got.Truncated || got.Seq != 1 || live.String() != "running make it" {
		t.Errorf("%+v, live %q", got, live.String())
	}
	if _, err := s.Shell(w.ctx, api.ShellRequest{Command: "keep quiet", Exclude: true}, nil); err != nil {
		t.Fatal(err)
	}
	x := w.attach(s, false)
	w.say(s, "what did I do?")
	x.settled()
	expect(t, w.story(s), "shell bash error: ran make it", "shell bash error: ran keep quiet", "user: what did I do?", "assistant: I saw it", "settled completed")
	if body := string(w.server.Requests()[0].Body); !strings.Contains(body, "make it") || strings.Contains(body, "keep quiet") {
		t.Errorf("the model reads %s", body)
	}
	x.ignore()
	for name, r := range map[string]api.ShellRequest{"blank": {Command: " "}, "long": {Command: strings.Repeat("x", api.MaxShellCommand+1)}, "binary": {Command: "\xff"}} {
		if _, err := s.Shell(w.ctx, r, nil); err == nil {
			t.Errorf("a command that is %s runs", name)
		}
	}
	if _, err := s.Shell(w.ctx, api.ShellRequest{Command: strings.Repeat("x", api.MaxShellCommand)}, nil); err != nil {
		t.Errorf("the longest command: %v", err)
	}
}

// TestShellSaysWhatTheCommandWrote and nothing that the tool tells a model beside it; the model still reads that.
func TestShellSaysWhatTheCommandWrote(t *testing.T) {
	for size, cut := range map[int]bool{api.MaxShellRecord: false, api.MaxShellRecord + 1: true} {
		w := newWorld(t, modeltest.Say("I saw it"))
		w.redact = knowing(planted)
		wrote := strings.Repeat("y", size)
		w.tools = []ext.Tool{bash(func(*ext.Call, json.RawMessage) (ext.Output, error) {
			out := ext.TextOutput("nonzero_exit exit_status=2 duration=2ms\n[complete_stderr=9 bytes]\n" + planted)
			out.Display = &pages.Display{Title: "exit 2, 2ms", Text: wrote}
			if !cut {
				out.Display.Text = planted + "\n" + wrote[len("[redacted]\n"):]
			}
			return out, nil
		})}
		s := w.open("")
		got, err := s.Shell(w.ctx, api.ShellRequest{Command: "ls"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !cut && got.Output != "[redacted]\n"+wrote[len("[redacted]\n"):] || cut && !strings.Contains(got.Output, "left out") || got.Truncated != cut || len(got.Output) > api.MaxShellRecord {
			t.Errorf("%d bytes, truncated %v: %.80q", len(got.Output), got.Truncated, got.Output)
		}
		x := w.attach(s, false)
		w.say(s, "what did I do?")
		x.settled()
		if body := string(w.server.Requests()[0].Body); !strings.Contains(body, "exit_status=2") || strings.Contains(body, "yyyy") {
			t.Errorf("the model reads %.300s", body)
		}
		x.ignore()
	}
}

// TestShellInTheMiddleOfATurn has a person run a command while a tool runs: a wire wants the tool's result first.
func TestShellInTheMiddleOfATurn(t *testing.T) {
	g := newGate()
	w := newWorld(t, modeltest.Calls(modeltest.Call("slow", `{}`)), modeltest.Say("done"))
	w.tools = []ext.Tool{tool("slow", policy.WorkspaceRead, g.invoke), bash(runner)}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	g.wait(w)
	if _, err := s.Shell(w.ctx, api.ShellRequest{Command: "date"}, nil); err != nil {
		t.Fatal(err)
	}
	g.open()
	x.settled()
	var roles []string
	for _, m := range w.server.Requests()[1].Chat.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool user" {
		t.Errorf("the second request holds %s", got)
	}
	// A crash there does not confuse recovery, which reads the entries backwards.
	expect(t, w.story(s), "user: go", "assistant", "call slow", "shell bash error: ran date", "result slow ok: through", "assistant: done", "settled completed")
}

func TestShellIsOneAtATimeAndEndsWithItsCallerAndItsSession(t *testing.T) {
	g := newGate()
	w := newWorld(t)
	w.tools = []ext.Tool{bash(g.invoke)}
	s := w.open("")
	run := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			r, err := s.Shell(ctx, api.ShellRequest{Command: "sleep"}, nil)
			if err == nil && !r.Cancelled {
				err = errors.New("it was not cancelled")
			}
			done <- err
		}()
		g.wait(w)
		return done
	}
	ctx, cancel := context.WithCancel(w.ctx)
	done := run(ctx)
	if _, err := s.Shell(w.ctx, api.ShellRequest{Command: "second"}, nil); err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("a second command: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	done = run(w.ctx)
	w.close(s)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := s.Shell(w.ctx, api.ShellRequest{Command: "late"}, nil); !errors.Is(err, api.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if got, err := w.open(s.ID()).Entries(w.ctx, api.Range{}); err != nil || len(got) != 2 || got[1].Result.Outcome != api.ResultCancelled {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestShellNeedsTheTool(t *testing.T) {
	w := newWorld(t)
	if _, err := w.open("").Shell(w.ctx, api.ShellRequest{Command: "ls"}, nil); err == nil || !strings.Contains(err.Error(), "runs no commands") {
		t.Errorf("%v", err)
	}
}

func TestQueueModes(t *testing.T) {
	g := newGate()
	w := newWorld(t, modeltest.Calls(modeltest.Call("slow", `{}`)), modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("both"))
	w.tools = []ext.Tool{tool("slow", policy.WorkspaceRead, g.invoke)}
	s := w.open("")
	x := w.attach(s, false)
	now, err := s.Behave(w.ctx, api.Behaviour{})
	if err != nil || now.Steering != api.QueueAll || now.FollowUp != api.QueueOne || now.AutoRetry == nil || !*now.AutoRetry {
		t.Fatalf("%+v, %v", now, err)
	}
	if _, err := s.Behave(w.ctx, api.Behaviour{Steering: "some"}); err == nil {
		t.Error("a mode that is none is taken")
	}
	if _, err := s.Behave(w.ctx, api.Behaviour{Steering: api.QueueOne, FollowUp: api.QueueAll}); err != nil {
		t.Fatal(err)
	}
	w.say(s, "go")
	g.wait(w)
	for _, in := range []api.Input{{Kind: api.InputChat, Text: "a"}, {Kind: api.InputFollowUp, Text: "later"}, {Kind: api.InputChat, Text: "b"}, {Kind: api.InputFollowUp, Text: "later still"}} {
		if _, err := s.Submit(w.ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	g.open()
	x.settled()
	x.settled()
	expect(t, w.story(s), "user: go", "assistant", "call slow", "result slow ok: through", "user (steer): a", "assistant: one",
		"user (steer): b", "assistant: two", "settled completed", "user (follow_up): later", "user (follow_up): later still", "assistant: both", "settled completed")
}

func TestRetryIsGivenUp(t *testing.T) {
	waits := make(chan struct{}, 8)
	w := newWorld(t, modeltest.Status(503, "busy"))
	w.sleep = func(ctx context.Context, _ time.Duration) error {
		waits <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	s := w.open("")
	x := w.attach(s, false)
	if err := s.AbortRetry(w.ctx); !errors.Is(err, api.ErrIdle) {
		t.Errorf("nothing waits: %v", err)
	}
	w.say(s, "go")
	x.untilType(api.EventRetry)
	<-waits
	if err := s.AbortRetry(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := x.settled(); got.Outcome != api.SettledFailed || !strings.Contains(got.Error, "503") && !strings.Contains(got.Error, "busy") {
		t.Errorf("%+v", got)
	}
	no := false
	if _, err := s.Behave(w.ctx, api.Behaviour{AutoRetry: &no}); err != nil {
		t.Fatal(err)
	}
	w.server.Script(modeltest.Status(503, "busy"))
	w.say(s, "again")
	if got := x.settled(); got.Outcome != api.SettledFailed || len(w.server.Requests()) != 2 {
		t.Errorf("%+v after %d requests", got, len(w.server.Requests()))
	}
}

func TestForkAtAnyEntry(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("look", `{}`), modeltest.Call("look", `{"n":2}`)), modeltest.Say("seen"))
	w.tools = []ext.Tool{tool("look", policy.WorkspaceWrite, says("a view"))}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "look")
	x.settled()
	whole := w.story(s)
	w.close(s)
	for at := int64(1); at <= int64(len(whole)); at++ {
		into := sessionstore.Session{ID: "fork-" + string(rune('a'+at))}
		if err := session.Fork(w.ctx, w.store, s.ID(), at, into); err != nil {
			t.Fatal(err)
		}
		child := w.open(into.ID)
		got := w.story(child)
		if !slices.Equal(got[:at], whole[:at]) || !strings.HasPrefix(got[len(got)-1], "settled") {
			t.Errorf("forked at %d: %q", at, got)
		}
		w.server.Script(modeltest.Say("going on"))
		y := w.attach(child, false)
		w.say(child, "go on")
		if got := y.settled(); got.Outcome != api.SettledCompleted {
			t.Errorf("forked at %d: %+v", at, got)
		}
		requests := w.server.Requests()
		open := 0
		for _, m := range requests[len(requests)-1].Chat.Messages {
			open += len(m.Calls)
			if m.Role == "tool" {
				open--
			}
		}
		if open != 0 {
			t.Errorf("forked at %d: the model reads %d calls without a result", at, open)
		}
		w.close(child)
	}
	for _, at := range []int64{-1, int64(len(whole)) + 1} {
		if err := session.Fork(w.ctx, w.store, s.ID(), at, sessionstore.Session{ID: "nowhere"}); !errors.Is(err, session.ErrNoEntry) {
			t.Errorf("forked at %d: %v", at, err)
		}
	}
}

func TestTitle(t *testing.T) {
	w := newWorld(t)
	w.info = model.Info{Price: &model.Price{Input: 1_000_000, Output: 1_000_000}}
	small := modeltest.New(t)
	small.Script(modeltest.Say("  \"Mend the \x1b[31mparser\".\nSecond line").Usage(modeltest.Tokens{Prompt: 30, Completion: 5}))
	w.server.Script(modeltest.Say("done").Usage(modeltest.Tokens{Prompt: 100, Completion: 1}))
	w.titler = func(chosen *model.Upstream) *model.Upstream {
		if chosen.ID() != "local/scripted" {
			t.Errorf("the session runs on %s", chosen.ID())
		}
		p := ext.Profile{Name: "local", Endpoint: small.URL(), Models: map[string]model.Info{"small": w.info}}
		return w.provider(p, "small")
	}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "the parser fails on empty input, mend it")
	titled := x.until("title", func(e api.Event) bool { return e.Info != nil && e.Info.Title != "" })
	if titled.Info.Title != "Mend the parser" || titled.Info.Called() != "Mend the parser" {
		t.Errorf("%+v", titled.Info)
	}
	if x.state.Info.Name != "" {
		t.Error("the name is the person's")
	}
	for x.state.Usage.Requests < 2 {
		x.untilType(api.EventUsage)
	}
	rows, err := w.store.Requests(w.ctx, s.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, r.Kind+" "+r.Model)
	}
	slices.Sort(kinds)
	expect(t, kinds, "background small", "turn scripted")
	if got := string(small.Requests()[0].Body); !strings.Contains(got, "the parser fails") || strings.Contains(got, `"tools"`) {
		t.Errorf("asked %s", got)
	}
	// Once: neither the next turn nor the next opening asks again.
	w.server.Script(modeltest.Say("ok"), modeltest.Say("ok"))
	w.say(s, "more")
	x.settled()
	x.ignore()
	w.close(s)
	s = w.open(s.ID())
	x = w.attach(s, false)
	w.say(s, "more")
	x.settled()
	x.ignore()
	if n := len(small.Requests()); n != 1 || x.state.Info.Title != "Mend the parser" {
		t.Errorf("%d requests for titles, title %q", n, x.state.Info.Title)
	}
}

// TestTitleNeverHoldsUpTheEnd closes while the request for a title hangs: its row says that what it cost is unknown.
func TestTitleNeverHoldsUpTheEnd(t *testing.T) {
	small := modeltest.New(t)
	small.Script(modeltest.Stall(0))
	w := newWorld(t, modeltest.Say("done"))
	w.titler = func(*model.Upstream) *model.Upstream {
		return w.provider(ext.Profile{Name: "local", Endpoint: small.URL()}, "small")
	}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	x.settled()
	x.ignore()
	for len(small.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	w.close(s)
	rows, err := w.store.Requests(w.ctx, s.ID(), 1)
	if err != nil || len(rows) != 1 || rows[0].Kind != sessionstore.RequestBackground || rows[0].Outcome != sessionstore.OutcomeCancelled || rows[0].Input != nil {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestPrivateSessionLeavesOnlyItsCost(t *testing.T) {
	w := newWorld(t, modeltest.Say("done").Usage(modeltest.Tokens{Prompt: 100, Completion: 1}))
	w.private = true
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "keep it to yourself")
	x.settled()
	if list, err := w.store.Sessions(w.ctx, sessionstore.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("listed: %+v, %v", list, err)
	}
	w.close(s)
	if _, err := w.store.Session(w.ctx, s.ID()); !errors.Is(err, sessionstore.ErrNotFound) {
		t.Errorf("after the end: %v", err)
	}
}

// TestCallThatHeldAKeyIsRefused: what is left of its arguments would do something else, such as match every file of one letter.
func TestCallThatHeldAKeyIsRefused(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("bash", `{"command":"rm -f d/changeme1"}`), modeltest.Call("bash", `{"command":"ls"}`)), modeltest.Say("ok"))
	w.redact = session.Redaction{Text: func(s string) string { return strings.ReplaceAll(s, "changeme1", "[redacted]") }}
	var ran []string
	w.tools = []ext.Tool{bash(func(_ *ext.Call, raw json.RawMessage) (ext.Output, error) {
		ran = append(ran, string(raw))
		return ext.TextOutput("done"), nil
	})}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "clean up")
	x.settled()
	if len(ran) != 1 || !strings.Contains(ran[0], "ls") {
		t.Errorf("ran %q", ran)
	}
	got := w.story(s)
	if !strings.Contains(strings.Join(got, "\n"), "result bash refused: {\"error\":\"the arguments held what octavo knows as an API key") {
		t.Errorf("%q", got)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("change", `{}`)), modeltest.Say("ok"))
	w.policy = policy.ControlledBashApproval
	w.tools = []ext.Tool{tool("change", policy.WorkspaceWrite, says("changed"))}
	s := w.open("")
	x := w.attach(s, true)
	w.say(s, "go")
	ask := x.untilType(api.EventAsk).Ask
	if err := s.Answer(w.ctx, ask.ID, api.Answer{Option: api.OptionDeny, Text: strings.Repeat("n", api.MaxAnswer+1)}); err == nil {
		t.Error("an answer beyond the bound is taken")
	}
	if err := s.Answer(w.ctx, ask.ID, api.Answer{Option: api.OptionDeny, Text: strings.Repeat("n", api.MaxAnswer)}); err != nil {
		t.Errorf("the longest answer: %v", err)
	}
	x.settled()
	if n := len(w.server.Requests()[1].Body); n > 64<<10 {
		t.Errorf("the model reads a request of %d bytes", n)
	}
}

func TestForkOfAPrivateSessionIsPrivate(t *testing.T) {
	w := newWorld(t, modeltest.Say("done"))
	w.private = true
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "keep it to yourself")
	x.settled()
	out, err := s.Run(w.ctx, "/fork")
	if err != nil {
		t.Fatal(err)
	}
	if child, err := w.store.Session(w.ctx, out.Session); err != nil || !child.Private {
		t.Errorf("%+v, %v", child, err)
	}
}
