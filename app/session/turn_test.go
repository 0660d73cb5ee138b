package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

func TestTurnRunsToolsAndStoresEverything(t *testing.T) {
	w := newWorld(t,
		modeltest.Calls(modeltest.Call("look", `{"n":1}`), modeltest.Call("change", `{}`)).WithText("Let me see.").WithReasoning("hm").
			Usage(modeltest.Tokens{Prompt: 100, Cached: 40, Completion: 20}),
		modeltest.Say("Done.").Usage(modeltest.Tokens{Prompt: 150, Cached: 100, Completion: 5}))
	w.info = model.Info{Price: &model.Price{Input: 1_000_000, Output: 2_000_000, CacheRead: model.Count(100_000)}}
	w.tools = []ext.Tool{tool("look", policy.WorkspaceRead, says("seen")), tool("change", policy.WorkspaceWrite, says("changed"))}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "do it")
	if got := x.settled(); got.Outcome != api.SettledCompleted || got.Steps != 2 {
		t.Fatalf("settled %+v", got)
	}
	expect(t, w.story(s), "user: do it", "assistant", "call look", "result look ok: seen", "call change",
		"result change ok: changed", "assistant: Done.", "settled completed")
	u := x.state.Usage
	if u.Requests != 2 || u.Input != 110 || u.CacheRead != 140 || u.Output != 25 || u.CostMicro == nil || *u.CostMicro != 110+14+50 {
		t.Fatalf("usage %+v cost %v", u, u.CostMicro)
	}
	second := w.server.Requests()[1].Chat
	var roles []string
	for _, m := range second.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool tool" {
		t.Fatalf("the second request holds %s", got)
	}
}

func TestSteerAndFollowUp(t *testing.T) {
	g := newGate()
	w := newWorld(t, modeltest.Calls(modeltest.Call("slow", `{}`)), modeltest.Say("steered"), modeltest.Say("followed"))
	w.tools = []ext.Tool{tool("slow", policy.WorkspaceRead, g.invoke)}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "first")
	g.wait(w)
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputFollowUp, Text: "later"}); err != nil {
		t.Fatal(err)
	}
	if r := w.say(s, "also this"); !r.Queued {
		t.Fatal("an input during a turn is queued")
	}
	g.open()
	x.settled()
	x.settled()
	expect(t, w.story(s), "user: first", "assistant", "call slow", "result slow ok: through", "user (steer): also this",
		"assistant: steered", "settled completed", "user (follow_up): later", "assistant: followed", "settled completed")
}

func TestQueueIsBounded(t *testing.T) {
	g := newGate()
	w := newWorld(t, modeltest.Calls(modeltest.Call("slow", `{}`)), modeltest.Say("ok"))
	w.tools = []ext.Tool{tool("slow", policy.WorkspaceRead, g.invoke)}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "first")
	g.wait(w)
	for i := range sessionstore.MaxQueue {
		w.say(s, fmt.Sprint("more ", i))
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: "one too many"}); err == nil || !strings.Contains(err.Error(), "wait already") {
		t.Fatalf("the queue takes %d inputs, then says so; got %v", sessionstore.MaxQueue, err)
	}
	g.open()
	x.settled()
}

func TestInputBounds(t *testing.T) {
	w := newWorld(t, modeltest.Say("ok"))
	s := w.open("")
	for name, in := range map[string]api.Input{
		"blank":        {Kind: api.InputChat, Text: " \n"},
		"too long":     {Kind: api.InputChat, Text: strings.Repeat("a", api.MaxInput+1)},
		"not UTF-8":    {Kind: api.InputChat, Text: "\xff"},
		"unknown kind": {Kind: "shout", Text: "a"},
		"no picture":   {Kind: api.InputChat, Text: "a", Images: []api.InputImage{{Name: "x", Data: []byte("text")}}},
		"nine images":  {Kind: api.InputChat, Text: "a", Images: make([]api.InputImage, api.MaxInputImages+1)},
	} {
		if _, err := s.Submit(w.ctx, in); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if got := w.story(s); len(got) != 0 {
		t.Fatalf("a refused input changes nothing, got %q", got)
	}
	x := w.attach(s, false)
	w.say(s, strings.Repeat("a", api.MaxInput))
	x.settled()
}

// TestInterrupt cancels at every place where a turn waits.
func TestInterrupt(t *testing.T) {
	calls := modeltest.Calls(modeltest.Call("slow", `{}`), modeltest.Call("slow", `{"n":2}`))
	for _, c := range []struct {
		name   string
		reply  modeltest.Reply
		policy policy.Name
		ready  func(*world, *watch, *gate)
		want   []string
	}{
		{"before the first word", modeltest.Stall(0), policy.UnsafeHost, func(w *world, x *watch, _ *gate) {
			w.asked(1)
		}, []string{"settled interrupted"}},
		{"in a tool", calls, policy.UnsafeHost, func(w *world, _ *watch, g *gate) { g.wait(w) },
			[]string{"assistant", "call slow", "result slow cancelled: interrupted by the person; it may have had effects",
				`result slow not_run: {"error":"not run: the turn was interrupted first"}`, "settled interrupted"}},
		{"in a question", calls, policy.ControlledBashApproval, func(w *world, x *watch, _ *gate) { x.untilType(api.EventAsk) },
			[]string{"assistant", `result slow not_run: {"error":"not run: the turn was interrupted first"}`,
				`result slow not_run: {"error":"not run: the turn was interrupted first"}`, "settled interrupted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGate()
			w := newWorld(t, c.reply, modeltest.Say("again"))
			w.policy = c.policy
			w.tools = []ext.Tool{tool("slow", policy.WorkspaceWrite, g.invoke)}
			s := w.open("")
			x := w.attach(s, true)
			w.say(s, "go")
			c.ready(w, x, g)
			if err := s.Interrupt(w.ctx, false); err != nil {
				t.Fatal(err)
			}
			if got := x.settled(); got.Outcome != api.SettledInterrupted {
				t.Fatalf("settled %+v", got)
			}
			expect(t, w.story(s), append([]string{"user: go"}, c.want...)...)
			if len(x.state.Asks) != 0 || x.state.Turn != nil {
				t.Fatalf("after an interrupt nothing is open: %+v", x.state)
			}
			if err := s.Interrupt(w.ctx, false); !errors.Is(err, api.ErrIdle) {
				t.Fatalf("an idle session has nothing to interrupt, got %v", err)
			}
			w.say(s, "once more")
			if got := x.settled(); got.Outcome != api.SettledCompleted {
				t.Fatalf("the next turn works: %+v", got)
			}
		})
	}
}

func TestInterruptKeepsWhatWasSaidAsPartial(t *testing.T) {
	w := newWorld(t, modeltest.Say(strings.Repeat("word ", 50)).Stall(4), modeltest.Say("fresh"))
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	x.untilType(api.EventDelta)
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputFollowUp, Text: "next"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Interrupt(w.ctx, true); err != nil {
		t.Fatal(err)
	}
	x.settled()
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("interrupting in favour of what waits starts it: %+v", got)
	}
	story := w.story(s)
	if !strings.HasPrefix(story[1], "partial: word") {
		t.Fatalf("story %q", story)
	}
	last := w.server.Requests()[1].Body
	if strings.Contains(string(last), "word word") {
		t.Fatal("a partial answer is never sent as if it had been said")
	}
}

func TestWithdrawnAnswerIsNeverStored(t *testing.T) {
	w := newWorld(t, modeltest.Say("false start, never said").Cut(3), modeltest.Status(503, "busy"), modeltest.Say("the answer"))
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("settled %+v", got)
	}
	expect(t, w.story(s), "user: go", "assistant: the answer", "settled completed")
	withdrawn, retries := 0, 0
	for _, e := range x.events {
		switch e.Type {
		case api.EventWithdraw:
			withdrawn++
		case api.EventRetry:
			retries++
		}
	}
	if withdrawn != 1 || retries != 2 {
		t.Fatalf("%d withdrawn, %d retries", withdrawn, retries)
	}
	rows, err := w.store.Requests(w.ctx, s.ID(), 10)
	if err != nil || len(rows) != 3 {
		t.Fatalf("every attempt has a usage row: %v %v", rows, err)
	}
	if u := x.state.Usage; u.Requests != 3 || u.Unreported != 1 {
		t.Fatalf("the tokens of a withdrawn attempt are unknown, not nothing: %+v", u)
	}
}

func TestProviderFailureSettlesTheTurn(t *testing.T) {
	w := newWorld(t, modeltest.Status(401, `{"error":{"message":"bad key"}}`), modeltest.Say("better"))
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	if got := x.settled(); got.Outcome != api.SettledFailed || got.Error == "" {
		t.Fatalf("settled %+v", got)
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err != nil {
		t.Fatal(err)
	}
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("continue asks again: %+v", got)
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err == nil {
		t.Fatal("a completed turn has nothing to continue")
	}
}

// TestRefusals shows what the model reads for every call that does not simply work.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, call, args, want string
		policy                 policy.Name
		outcome                api.ResultOutcome
	}{
		{"unknown tool", "fly", `{}`, "there is no tool", policy.UnsafeHost, api.ResultRefused},
		{"broken JSON", "works", `{"n":`, "not a JSON object", policy.UnsafeHost, api.ResultRefused},
		{"two values", "works", `{} {}`, "not a JSON object", policy.UnsafeHost, api.ResultRefused},
		{"a brace too many", "works", `{} }`, "not a JSON object", policy.UnsafeHost, api.ResultRefused},
		{"null", "works", `null`, "null", policy.UnsafeHost, api.ResultRefused},
		{"array", "works", `[]`, "not a JSON object", policy.UnsafeHost, api.ResultRefused},
		{"wrong type", "works", `{"n":"one"}`, "do not fit", policy.UnsafeHost, api.ResultRefused},
		{"unknown property", "works", `{"m":1}`, "do not fit", policy.UnsafeHost, api.ResultRefused},
		{"no arguments", "works", ``, "fine", policy.UnsafeHost, api.ResultOK},
		{"panic", "panics", `{}`, "crashed", policy.UnsafeHost, api.ResultError},
		{"refused", "refuses", `{}`, "no good", policy.UnsafeHost, api.ResultError},
		{"intent panics", "intent", `{}`, "before it ran", policy.UnsafeHost, api.ResultRefused},
		{"unknown class", "unclear", `{}`, "cannot tell", policy.UnsafeHost, api.ResultRefused},
		{"policy", "outside", `{}`, "inside the workspace", policy.Controlled, api.ResultRefused},
		{"nobody to ask", "changes", `{}`, "nobody is there", policy.Controlled, api.ResultRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, modeltest.Calls(modeltest.Call(c.call, c.args)), modeltest.Say("ok"))
			w.policy = c.policy
			bad := tool("intent", policy.Pure, says(""))
			bad.Intent = func(json.RawMessage) policy.Intent { panic("no idea") }
			w.tools = []ext.Tool{
				tool("works", policy.Pure, says("fine")),
				tool("panics", policy.Pure, func(*ext.Call, json.RawMessage) (ext.Output, error) { panic("boom") }),
				tool("refuses", policy.Pure, func(*ext.Call, json.RawMessage) (ext.Output, error) { return ext.Output{}, ext.Refused("no good") }),
				bad, tool("unclear", policy.Unknown, says("")), tool("outside", policy.HostRead, says("")),
				tool("changes", policy.WorkspaceWrite, says("")),
			}
			s := w.open("")
			x := w.attach(s, false)
			w.say(s, "go")
			if got := x.settled(); got.Outcome != api.SettledCompleted {
				t.Fatalf("a refused call does not end the turn: %+v", got)
			}
			e := x.state.Entries[len(x.state.Entries)-3]
			if e.Result == nil || e.Result.Outcome != c.outcome || !strings.Contains(e.Parts[0].Text, c.want) {
				t.Fatalf("got %+v %+v, want %s with %q", e.Result, e.Parts, c.outcome, c.want)
			}
		})
	}
}

func TestFatalEndsTheTurn(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("lost", `{}`), modeltest.Call("lost", `{}`)))
	w.tools = []ext.Tool{tool("lost", policy.WorkspaceWrite, func(*ext.Call, json.RawMessage) (ext.Output, error) {
		return ext.Output{}, ext.Fatal("the journal is gone")
	})}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	if got := x.settled(); got.Outcome != api.SettledFailed || !strings.Contains(got.Error, "journal is gone") {
		t.Fatalf("settled %+v", got)
	}
	if n := len(w.server.Requests()); n != 1 {
		t.Fatalf("after Fatal the model is not asked again, %d requests", n)
	}
}

func TestApprovals(t *testing.T) {
	var ran atomic.Int32
	w := newWorld(t, modeltest.Calls(modeltest.Call("change", `{"n":1}`)), modeltest.Calls(modeltest.Call("change", `{"n": 1}`)),
		modeltest.Calls(modeltest.Call("change", `{"n":2}`)), modeltest.Calls(modeltest.Call("change", `{"n":3}`)), modeltest.Say("ok"))
	w.policy = policy.ControlledBashApproval
	w.tools = []ext.Tool{tool("change", policy.WorkspaceWrite, func(*ext.Call, json.RawMessage) (ext.Output, error) {
		ran.Add(1)
		return ext.TextOutput("changed"), nil
	})}
	s := w.open("")
	x := w.attach(s, true)
	w.say(s, "go")
	answer := func(a api.Answer) {
		t.Helper()
		ask := x.untilType(api.EventAsk).Ask
		if ask.Kind != api.AskApproval || ask.Source != "change" || ask.Title != "change it" {
			t.Fatalf("ask %+v", ask)
		}
		if err := s.Answer(w.ctx, ask.ID, api.Answer{Option: "whatever"}); err == nil {
			t.Fatal("an option that was not offered is no answer")
		}
		if err := s.Answer(w.ctx, ask.ID, a); err != nil {
			t.Fatal(err)
		}
		if err := s.Answer(w.ctx, ask.ID, a); err == nil {
			t.Fatal("a question is answered once")
		}
	}
	answer(api.Answer{Option: ext.OptionSession}) // covers the second call, which differs in white space only
	answer(api.Answer{Option: ext.OptionOnce})
	answer(api.Answer{Option: ext.OptionDeny, Text: "not today"})
	x.settled()
	if ran.Load() != 3 {
		t.Fatalf("ran %d times", ran.Load())
	}
	story := strings.Join(w.story(s), "\n")
	if !strings.Contains(story, "refused this call: not today") {
		t.Fatalf("the model reads the person's reason:\n%s", story)
	}
}

// TestDetachDenies shows that a question does not outlive the last client who could answer it.
func TestDetachDenies(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("change", `{}`)), modeltest.Say("ok"))
	w.policy = policy.Controlled
	w.tools = []ext.Tool{tool("change", policy.WorkspaceWrite, says("changed"))}
	s := w.open("")
	x := w.attach(s, false)
	ctx, leave := context.WithCancel(w.ctx)
	if _, err := s.Attach(ctx, true); err != nil {
		t.Fatal(err)
	}
	w.say(s, "go")
	x.untilType(api.EventAsk)
	leave()
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("settled %+v", got)
	}
	if !strings.Contains(strings.Join(w.story(s), "\n"), "result change refused") {
		t.Fatal("the call is refused")
	}
}

// TestReadsRunTogether shows that contiguous reads overlap, that a change is a barrier, and that results keep order.
func TestReadsRunTogether(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("read", `{"n":0}`), modeltest.Call("read", `{"n":1}`), modeltest.Call("change", `{}`),
		modeltest.Call("read", `{"n":2}`)), modeltest.Say("ok"))
	both := make(chan struct{})
	var inside, changed atomic.Int32
	read := func(c *ext.Call, args json.RawMessage) (ext.Output, error) {
		var a struct{ N int }
		if err := json.Unmarshal(args, &a); err != nil {
			return ext.Output{}, err
		}
		if a.N == 2 {
			if changed.Load() != 1 {
				return ext.TextOutput("overtook the change"), nil
			}
			return ext.TextOutput("2"), nil
		}
		if inside.Add(1) == 2 {
			close(both)
		}
		<-both // only two at once get through
		return ext.TextOutput(fmt.Sprint(a.N)), nil
	}
	w.tools = []ext.Tool{tool("read", policy.WorkspaceRead, read),
		tool("change", policy.WorkspaceWrite, func(*ext.Call, json.RawMessage) (ext.Output, error) {
			changed.Add(1)
			return ext.TextOutput("changed"), nil
		})}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	x.settled()
	expect(t, w.story(s), "user: go", "assistant", "call read", "call read", "result read ok: 0", "result read ok: 1",
		"call change", "result change ok: changed", "call read", "result read ok: 2", "assistant: ok", "settled completed")
}

func TestLimits(t *testing.T) {
	t.Run("steps", func(t *testing.T) {
		w := newWorld(t, modeltest.Calls(modeltest.Call("look", `{}`)), modeltest.Calls(modeltest.Call("look", `{}`)), modeltest.Say("done"))
		w.tools = []ext.Tool{tool("look", policy.Pure, says("seen"))}
		w.limits.Steps = 2
		s := w.open("")
		x := w.attach(s, false)
		w.say(s, "go")
		if got := x.settled(); got.Outcome != api.SettledMaxTurns || got.Steps != 2 {
			t.Fatalf("settled %+v", got)
		}
		if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err != nil {
			t.Fatal(err)
		}
		if got := x.settled(); got.Outcome != api.SettledCompleted {
			t.Fatalf("settled %+v", got)
		}
	})
	t.Run("cost", func(t *testing.T) {
		w := newWorld(t, modeltest.Say("one").Usage(modeltest.Tokens{Prompt: 10, Completion: 0}))
		w.info = model.Info{Price: &model.Price{Input: 1_000_000}}
		w.limits.CostMicro, w.limits.WarnAtMicro = 10, 5
		s := w.open("")
		x := w.attach(s, false)
		w.say(s, "go")
		x.settled()
		w.say(s, "more")
		if got := x.settled(); got.Outcome != api.SettledCostLimit || len(w.server.Requests()) != 1 {
			t.Fatalf("settled %+v", got)
		}
	})
	t.Run("cost unknown", func(t *testing.T) {
		w := newWorld(t, modeltest.Say("one"))
		w.limits.CostMicro = 10
		s := w.open("")
		x := w.attach(s, false)
		w.say(s, "go")
		x.settled()
		w.say(s, "more")
		if got := x.settled(); got.Outcome != api.SettledCostLimit {
			t.Fatalf("a ceiling that cannot be kept fails closed: %+v", got)
		}
	})
}

func TestContextFullOffersASummary(t *testing.T) {
	w := newWorld(t, modeltest.Say("one").Usage(modeltest.Tokens{Prompt: 900, Completion: 20}), modeltest.Say("It was about one thing."), modeltest.Say("fresh answer"))
	w.info = model.Info{ContextTokens: 1200}
	s := w.open("")
	x := w.attach(s, false)
	w.say(s, "go")
	x.settled()
	w.say(s, strings.Repeat("much to say ", 200))
	got := x.settled()
	if got.Outcome != api.SettledContextFull || !strings.Contains(got.Error, "/fork summary") {
		t.Fatalf("settled %+v", got)
	}
	if len(w.server.Requests()) != 1 {
		t.Fatal("a request that cannot fit is not sent")
	}
	w.info = model.Info{} // the summary and what was said last fit a wider window; the way there is what is tested
	out, err := s.Run(w.ctx, "/fork summary")
	if err != nil || out.Go != api.GoSession {
		t.Fatalf("fork: %+v %v", out, err)
	}
	if x.untilType(api.EventIdle); x.state.Turn != nil {
		t.Fatal("a summary ends idle")
	}
	child := w.open(out.Session)
	expect(t, w.story(child), "summary: It was about one thing.", "user: "+strings.Repeat("much to say ", 200))
	y := w.attach(child, false)
	if _, err := child.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err != nil {
		t.Fatal(err)
	}
	if got := y.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("settled %+v", got)
	}
	if raw := string(w.server.Requests()[2].Body); !strings.Contains(raw, "It was about one thing.") || strings.Contains(raw, `"go"`) {
		t.Fatalf("the fork's request begins with the summary: %s", raw)
	}
}

func TestNoModel(t *testing.T) {
	w := newWorld(t)
	w.noModel = true
	s := w.open("")
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: "hi"}); !errors.Is(err, api.ErrNoModel) || !strings.Contains(err.Error(), "octavo setup") {
		t.Fatalf("got %v", err)
	}
	if got := w.story(s); len(got) != 0 {
		t.Fatalf("nothing is stored: %q", got)
	}
}
