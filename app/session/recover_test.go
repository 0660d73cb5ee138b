package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

// TestRecover opens what a crash left: the store says that a turn ran, and no process has it.
func TestRecover(t *testing.T) {
	w := newWorld(t, modeltest.Say("I see."))
	ran := 0
	count := func(*ext.Call, json.RawMessage) (ext.Output, error) { ran++; return ext.TextOutput("ran"), nil }
	kept := tool("kept", policy.WorkspaceWrite, count)
	kept.Recover = func(c *ext.Call) (ext.Output, bool) { return ext.TextOutput("kept the result of " + c.ID), true }
	broken := tool("broken", policy.WorkspaceWrite, count)
	broken.Recover = func(*ext.Call) (ext.Output, bool) { panic("no") }
	w.tools = []ext.Tool{kept, broken, tool("plain", policy.WorkspaceWrite, count)}
	w.close(w.openNamed("crashed"))

	w.crash("crashed", sessionstore.StageTool,
		crashed{"user", `{"parts":[{"type":"text","text":"go"}],"origin":"chat"}`},
		crashed{"assistant", `{"parts":[` + callPart("a", "plain") + "," + callPart("b", "kept") + "," + callPart("c", "broken") + "," + callPart("d", "plain") + "," + callPart("e", "plain") + `]}`},
		crashed{"call", `{"call":{"id":"a","name":"plain","arguments":"{}"},"title":"plain"}`},
		crashed{"result", `{"call":{"id":"a","name":"plain","arguments":"{}"},"outcome":"ok","parts":[{"type":"text","text":"done"}]}`},
		crashed{"call", `{"call":{"id":"b","name":"kept","arguments":"{}"}}`},
		crashed{"call", `{"call":{"id":"c","name":"broken","arguments":"{}"}}`},
		crashed{"call", `{"call":{"id":"d","name":"plain","arguments":"{}"}}`})

	s := w.openNamed("crashed")
	story := w.story(s)
	expect(t, story[7:], "result kept ok: kept the result of b",
		`result broken unknown: {"error":"the outcome is unknown: octavo ended while this call ran; it was not run again"}`,
		`result plain unknown: {"error":"the outcome is unknown: octavo ended while this call ran; it was not run again"}`,
		`result plain not_run: {"error":"not run: octavo ended first"}`,
		"note: octavo ended in the middle of this turn and was started again. Nothing was run a second time. Check the effects of the calls whose outcome is unknown before you try them again.",
		"settled abandoned")
	if ran != 0 {
		t.Fatalf("a call was replayed %d times", ran)
	}
	x := w.attach(s, false)
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputContinue}); err != nil {
		t.Fatal(err)
	}
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("settled %+v", got)
	}
	if raw := string(w.server.Requests()[0].Body); !strings.Contains(raw, "kept the result of b") || !strings.Contains(raw, "restart") {
		t.Fatalf("the model reads what was recovered: %s", raw)
	}
	w.close(s)
	before := len(story)
	s = w.openNamed("crashed")
	if after := w.story(s); len(after) != before+2 {
		t.Fatalf("recovery happens once: %q", after[before:])
	}
}

// TestQueuedInputSurvives shows that an accepted input is neither lost nor sent by itself.
func TestQueuedInputSurvives(t *testing.T) {
	w := newWorld(t, modeltest.Say("all three"))
	w.close(w.openNamed("crashed"))
	w.crash("crashed", sessionstore.StageModel, crashed{"user", `{"parts":[{"type":"text","text":"one"}],"origin":"chat"}`})
	if _, err := w.store.Commit(w.ctx, "crashed", sessionstore.InputAccepted, sessionstore.Change{Enqueue: []sessionstore.Input{
		{ID: "q1", Kind: "chat", Payload: []byte(`{"record":{"parts":[{"type":"text","text":"two"}],"origin":"chat"}}`)}}}); err != nil {
		t.Fatal(err)
	}
	s := w.openNamed("crashed")
	x := w.attach(s, false)
	if len(x.state.Queue) != 1 || x.state.Queue[0].Text != "two" {
		t.Fatalf("queue %+v", x.state.Queue)
	}
	w.say(s, "three")
	x.settled()
	story := w.story(s)
	expect(t, story[3:], "user: two", "user: three", "assistant: all three", "settled completed")
	if len(x.state.Queue) != 0 {
		t.Fatalf("queue %+v", x.state.Queue)
	}
}

// openNamed opens the session of an id and makes it when it is not there.
func (w *world) openNamed(id string) *session.Session {
	w.t.Helper()
	if w.store == nil {
		w.close(w.open("")) // opens the store
	}
	if _, err := w.store.Session(w.ctx, id); errors.Is(err, sessionstore.ErrNotFound) {
		err := w.store.CreateSession(w.ctx, sessionstore.Session{ID: id, Name: id, Workspace: w.workspace, Model: "local/scripted"})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return w.open(id)
}

// crashed is an entry as an earlier octavo stored it.
type crashed struct{ kind, payload string }

func callPart(id, tool string) string {
	return fmt.Sprintf(`{"type":"tool_call","call":{"id":%q,"name":%q,"arguments":"{}"}}`, id, tool)
}

// crash puts the store into the state of a process that was killed in a turn.
func (w *world) crash(id string, stage sessionstore.Stage, entries ...crashed) {
	w.t.Helper()
	c := sessionstore.Change{Stage: &sessionstore.StageChange{Stage: stage, Turn: "t1"}}
	for _, e := range entries {
		c.Append = append(c.Append, sessionstore.NewEntry{Kind: e.kind, Turn: "t1", Payload: []byte(e.payload)})
	}
	if _, err := w.store.Commit(w.ctx, id, sessionstore.ToolCallStored, c); err != nil {
		w.t.Fatal(err)
	}
}

// TestFullDisk fills the store under a running session: the session ends with word of it, and what was stored stays.
func TestFullDisk(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("big", `{}`)), modeltest.Say("never said"))
	w.store0.PageLimit = 120 // of 4 KiB
	w.tools = []ext.Tool{tool("big", policy.Pure, says(strings.Repeat("x", 900<<10)))}
	s, err := w.tryOpen("")
	if err != nil {
		t.Fatal(err)
	}
	x := w.attach(s, false)
	w.say(s, "go")
	x.rest()
	var full *sessionstore.FullError
	if !errors.As(x.stream.Err(), &full) {
		t.Fatalf("the stream says why it ended, got %v", x.stream.Err())
	}
	if err := s.Close(w.ctx); !errors.As(err, &full) {
		t.Fatalf("close says so too, got %v", err)
	}
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: "more"}); !errors.As(err, &full) {
		t.Fatalf("and so does every later call, got %v", err)
	}
	story := tell(x.state.Entries)
	expect(t, story, "user: go", "assistant", "call big")
}

// TestSecondOpener is told who has the session.
func TestSecondOpener(t *testing.T) {
	w := newWorld(t)
	s := w.open("")
	var held *sessionstore.HeldError
	if _, err := w.tryOpen(s.ID()); !errors.As(err, &held) || held.PID == 0 {
		t.Fatalf("got %v", err)
	}
}

// TestClose ends whatever runs, in any state, and leaves nothing open.
func TestClose(t *testing.T) {
	for name, reply := range map[string]modeltest.Reply{
		"in a request": modeltest.Stall(1), "in a tool": modeltest.Calls(modeltest.Call("slow", `{}`)), "in a question": modeltest.Calls(modeltest.Call("ask", `{}`)),
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			asking := make(chan struct{})
			w := newWorld(t, reply)
			w.tools = []ext.Tool{tool("slow", policy.Pure, g.invoke), tool("ask", policy.Pure, func(c *ext.Call, _ json.RawMessage) (ext.Output, error) {
				close(asking)
				if c.Ask(ext.Ask{Kind: ext.AskSecret, Title: "key"}).Text != "" {
					return ext.TextOutput("answered"), nil
				}
				return ext.TextOutput("nobody"), nil
			})}
			s := w.open("")
			x := w.attach(s, true)
			w.say(s, "go")
			switch name {
			case "in a tool":
				g.wait(w)
			case "in a question":
				<-asking
			default:
				w.asked(1)
			}
			read := make(chan struct{})
			go func() { x.rest(); close(read) }()
			w.close(s)
			<-read
			if x.state.Turn != nil || len(x.state.Asks) != 0 {
				t.Fatalf("left open: %+v", x.state)
			}
			last := x.state.Entries[len(x.state.Entries)-1]
			if last.Settled == nil || last.Settled.Outcome != api.SettledInterrupted {
				t.Fatalf("last entry %+v", last)
			}
			row, err := w.store.Session(w.ctx, s.ID())
			if err != nil || row.Stage != sessionstore.StageInterrupted {
				t.Fatalf("row %+v %v", row, err)
			}
		})
	}
}

// TestUnreadStreamDoesNotKeepTheSession: a client that stopped reading costs a moment, not the session.
func TestUnreadStreamDoesNotKeepTheSession(t *testing.T) {
	w := newWorld(t, modeltest.Say("hello"))
	s := w.open("")
	if _, err := s.Attach(w.ctx, false); err != nil {
		t.Fatal(err)
	}
	x := w.attach(s, false)
	w.say(s, "go")
	x.settled()
	w.close(s)
}

// TestSecretsStayInTheBroker: the answer to a secret question is in no event and in no entry.
func TestSecretsStayInTheBroker(t *testing.T) {
	const secret = "hunter2-hunter2"
	w := newWorld(t, modeltest.Calls(modeltest.Call("ask", `{}`)), modeltest.Say("ok"))
	got := make(chan string, 1)
	w.tools = []ext.Tool{tool("ask", policy.Pure, func(c *ext.Call, _ json.RawMessage) (ext.Output, error) {
		got <- c.Ask(ext.Ask{Kind: ext.AskSecret, Title: "key"}).Text
		return ext.TextOutput("stored"), nil
	})}
	s := w.open("")
	x := w.attach(s, true)
	w.say(s, "go")
	ask := x.untilType(api.EventAsk).Ask
	if ask.Source != "test" {
		t.Fatalf("a question names who asks, got %q", ask.Source)
	}
	if err := s.Answer(w.ctx, ask.ID, api.Answer{Text: secret}); err != nil {
		t.Fatal(err)
	}
	x.settled()
	if <-got != secret {
		t.Fatal("the tool gets the secret")
	}
	seen, err := json.Marshal(x.events)
	if err != nil {
		t.Fatal(err)
	}
	stored := ""
	err = w.store.EachEntry(context.Background(), s.ID(), 0, func(e sessionstore.Entry) error { stored += string(e.Payload); return nil })
	if err != nil || strings.Contains(string(seen), secret) || strings.Contains(stored, secret) {
		t.Fatalf("the secret got out (%v)", err)
	}
}

// TestImages go to the store as blobs and to the model as pictures, from a person and from a tool.
func TestImages(t *testing.T) {
	w := newWorld(t, modeltest.Calls(modeltest.Call("shot", `{}`)), modeltest.Say("a dot"))
	w.tools = []ext.Tool{tool("shot", policy.Pure, func(*ext.Call, json.RawMessage) (ext.Output, error) {
		return ext.Output{Parts: []model.Part{model.Text("shot"), {Type: model.PartImage, Image: &model.Image{Data: dot}}}}, nil
	})}
	s := w.open("")
	x := w.attach(s, false)
	if _, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: "look", Images: []api.InputImage{{Name: "dot.png", Data: dot}}}); err != nil {
		t.Fatal(err)
	}
	if got := x.settled(); got.Outcome != api.SettledCompleted {
		t.Fatalf("settled %+v", got)
	}
	img := x.state.Entries[0].Parts[1].Image
	if img == nil || img.MIME != "image/png" || img.Width != 1 || len(img.SHA256) != 64 {
		t.Fatalf("image %+v", img)
	}
	pictures := 0
	for _, m := range w.server.Requests()[1].Chat.Messages {
		pictures += len(m.Images)
	}
	if pictures != 2 {
		t.Fatalf("the model got %d pictures, want the person's and the tool's", pictures)
	}
}

// dot is a PNG of one pixel.
var dot = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// TestLostEntries goes on with a session in whose middle entries were marked as lost: what is left of calls and results fits together.
func TestLostEntries(t *testing.T) {
	kind, payload := session.Payloads().Lost()
	lost := crashed{kind, string(payload)}
	said := func(kind, text string) crashed {
		return crashed{kind, fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, text)}
	}
	calls := func(ids ...string) crashed {
		var parts []string
		for _, id := range ids {
			parts = append(parts, callPart(id, "plain"))
		}
		return crashed{"assistant", `{"parts":[` + strings.Join(parts, ",") + `]}`}
	}
	result := func(id string) crashed {
		return crashed{"result", `{"call":{"id":"` + id + `","name":"plain","arguments":"{}"},"outcome":"ok","parts":[{"type":"text","text":"done ` + id + `"}]}`}
	}
	settled := crashed{"settled", `{"settled":{"outcome":"completed"}}`}
	for name, c := range map[string]struct {
		stored []crashed
		want   []string // the role of each message, with the call a result is of
	}{
		"an answer with calls": {[]crashed{said("user", "one"), lost, result("a"), said("assistant", "two"), settled}, []string{"user", "user", "assistant", "user"}},
		"its id is used again": {[]crashed{said("user", "one"), calls("a"), result("a"), lost, result("a"), said("assistant", "two"), settled},
			[]string{"user", "assistant", "tool a", "user", "assistant", "user"}},
		"one of two results": {[]crashed{said("user", "one"), calls("a", "b"), lost, result("b"), said("assistant", "two"), settled},
			[]string{"user", "assistant", "tool b", "tool a", "user", "assistant", "user"}},
		"the rest of a turn": {[]crashed{said("user", "one"), calls("a"), lost, lost, lost}, []string{"user", "assistant", "tool a", "user", "user"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, modeltest.Say("on"))
			w.close(w.openNamed("s"))
			w.crash("s", sessionstore.StageIdle, c.stored...)
			s := w.openNamed("s")
			x := w.attach(s, false)
			w.say(s, "more")
			if got := x.settled(); got.Outcome != api.SettledCompleted {
				t.Fatalf("settled %+v", got)
			}
			var roles []string
			for _, m := range w.server.Requests()[0].Chat.Messages {
				if m.Role != "system" {
					roles = append(roles, strings.TrimSpace(m.Role+" "+m.ToolCallID))
				}
			}
			expect(t, roles, c.want...)
		})
	}
}

// TestPayloads: what a session could not read, or would fall over, is of no use.
func TestPayloads(t *testing.T) {
	p := session.Payloads()
	for _, c := range []struct {
		kind, payload string
		good          bool
	}{
		{"user", `{"parts":[{"type":"text","text":"a"}]}`, true}, {"user", `{"parts":[{"type":"te`, false}, {"user", `{"parts":[{"type":"image"}]}`, false},
		{"assistant", `{"parts":[{"type":"tool_call"}]}`, false}, {"assistant", `{"parts":[{"type":"reasoning"}]}`, false},
		{"result", `{"outcome":"ok"}`, false}, {"call", `{}`, false}, {"settled", `{}`, false}, {"settled", `{"settled":{}}`, true}, {"later", `{}`, true},
	} {
		if err := p.Entry(c.kind, []byte(c.payload)); (err == nil) != c.good {
			t.Errorf("%s %s: %v", c.kind, c.payload, err)
		}
	}
	if kind, payload := p.Lost(); p.Entry(kind, payload) != nil {
		t.Error("word of a loss cannot be read")
	}
	if p.Input("chat", []byte(`{"record":{"parts":[{"type":"text","text":"a"}]}}`)) != nil || p.Input("chat", []byte(`{"record":{"parts":[{"type":"image"}]}}`)) == nil || p.Input("chat", []byte("{")) == nil {
		t.Error("inputs")
	}
}
