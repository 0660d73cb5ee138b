package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/ext"
	"octavo/ext/builtin/commands"
	"octavo/ext/builtin/openai"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a home with a model server, in which sessions are opened and reopened.
type world struct {
	t         *testing.T
	ctx       context.Context
	dir       string
	workspace string
	server    *modeltest.Server
	client    *model.Client
	store     *sessionstore.Store
	tools     []ext.Tool
	policy    policy.Name
	limits    session.Limits
	info      model.Info
	store0    sessionstore.Options // what the store is opened with besides its folder
	noModel   bool
	private   bool
	titler    func(*model.Upstream) *model.Upstream
	sleep     func(context.Context, time.Duration) error // nil waits for nothing
	redact    session.Redaction
}

func newWorld(t *testing.T, replies ...modeltest.Reply) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, dir: t.TempDir(), workspace: t.TempDir(), server: modeltest.New(t), policy: policy.UnsafeHost}
	w.client = model.NewClient(model.Limits{})
	t.Cleanup(w.client.Close)
	w.server.Script(replies...)
	return w
}

// open opens the session of an id, or a new one for "".
func (w *world) open(id string) *session.Session {
	w.t.Helper()
	s, err := w.tryOpen(id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.close(s) })
	return s
}

func (w *world) tryOpen(id string) (*session.Session, error) {
	w.t.Helper()
	if w.store == nil {
		o := w.store0
		o.Dir = w.dir
		var err error
		if w.store, err = sessionstore.Open(w.ctx, o); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { w.store.Close() })
	}
	row := sessionstore.Session{ID: id, Workspace: w.workspace, Model: "local/scripted", Private: w.private}
	if w.noModel {
		row.Model = ""
	}
	if id == "" {
		row.ID = fmt.Sprintf("s-%d", time.Now().UnixNano())
		if err := w.store.CreateSession(w.ctx, row); err != nil {
			w.t.Fatal(err)
		}
	}
	row, err := w.store.Session(w.ctx, row.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	lock, err := w.store.LockSession(w.ctx, row.ID)
	if err != nil {
		return nil, err
	}
	c, err := composition.Compose(w.ctx, composition.Selection{
		Extensions: []ext.Extension{{Name: "test", Static: ext.Contribution{Tools: w.tools}}, commands.New()},
		Prep:       ext.Prep{Session: row.ID, Workspace: w.workspace}})
	if err != nil {
		w.t.Fatal(err)
	}
	wait := w.sleep
	if wait == nil {
		wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	return session.Open(w.ctx, session.Options{Titler: w.titler, Store: w.store, Lock: lock, Row: row, Composition: c, Policy: w.policy, Limits: w.limits,
		System: []string{"core"}, Models: w, Home: w, Redact: w.redact,
		Sleep: wait})
}

func (w *world) close(s *session.Session) {
	w.t.Helper()
	if err := s.Close(w.ctx); err != nil && !errors.Is(err, context.Canceled) {
		w.t.Errorf("close: %v", err)
	}
}

// Resolve implements session.Models.
func (w *world) Resolve(id string) (*model.Upstream, error) {
	if id == "" {
		return nil, api.NoModelError("no model: type octavo setup")
	}
	name, ok := strings.CutPrefix(id, "local/")
	if !ok {
		return nil, fmt.Errorf("no provider for %q", id)
	}
	p := ext.Profile{Name: "local", Wire: openai.Wire, Endpoint: w.server.URL(), Models: map[string]model.Info{name: w.info}}
	return openai.New(w.client).Providers[0].Resolve(p, name)
}

// provider is a model of another endpoint.
func (w *world) provider(p ext.Profile, id string) *model.Upstream {
	w.t.Helper()
	up, err := openai.New(w.client).Providers[0].Resolve(p, id)
	if err != nil {
		w.t.Error(err)
	}
	return up
}

// Known implements session.Models.
func (w *world) Known() []string { return []string{"local/scripted"} }

func (w *world) Next(string, int) (id, effort string, ok bool) { return "local/scripted", "", true }

// Catalogued implements session.Models.
func (w *world) Catalogued(*model.Upstream) int { return 0 }

// Sessions implements session.Home.
func (w *world) Sessions(context.Context, api.SessionQuery) ([]api.SessionInfo, error) {
	return nil, nil
}

// say submits and fails the test when the input is not taken.
func (w *world) say(s *session.Session, text string) api.Receipt {
	w.t.Helper()
	r, err := s.Submit(w.ctx, api.Input{Kind: api.InputChat, Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// asked waits until the model server has had n requests.
func (w *world) asked(n int) {
	w.t.Helper()
	for len(w.server.Requests()) < n {
		select {
		case <-time.After(time.Millisecond):
		case <-w.ctx.Done():
			w.t.Fatalf("the model was never asked for the %d. time", n)
		}
	}
}

// watch is a client that keeps every event and the state they make.
type watch struct {
	w      *world
	state  *api.State
	events []api.Event
	stream *api.Stream
}

func (w *world) attach(s *session.Session, answers bool) *watch {
	w.t.Helper()
	stream, err := s.Attach(w.ctx, answers)
	if err != nil {
		w.t.Fatal(err)
	}
	return &watch{w: w, state: stream.State, stream: stream}
}

// until reads events until one satisfies ok.
func (x *watch) until(what string, ok func(api.Event) bool) api.Event {
	x.w.t.Helper()
	for {
		select {
		case e, open := <-x.stream.Events:
			if !open {
				x.w.t.Fatalf("the stream ended (%v) before %s", x.stream.Err(), what)
			}
			if err := x.state.Apply(e); err != nil {
				x.w.t.Fatal(err)
			}
			x.events = append(x.events, e)
			if ok(e) {
				return e
			}
		case <-x.w.ctx.Done():
			x.w.t.Fatalf("no %s", what)
		}
	}
}

func (x *watch) settled() api.Settled {
	x.w.t.Helper()
	e := x.until("settled turn", func(e api.Event) bool { return e.Entry != nil && e.Entry.Settled != nil })
	return *e.Entry.Settled
}

func (x *watch) untilType(t api.EventType) api.Event {
	x.w.t.Helper()
	return x.until(string(t), func(e api.Event) bool { return e.Type == t })
}

// ignore reads what is still to come beside the test, so that the session need not wait for it when it is closed.
func (x *watch) ignore() {
	go func() {
		for range x.stream.Events {
		}
	}()
}

// rest reads to the end of the stream. It may run beside the test, and so never ends its goroutine early.
func (x *watch) rest() {
	x.w.t.Helper()
	for e := range x.stream.Events {
		if err := x.state.Apply(e); err != nil {
			x.w.t.Error(err)
		}
		x.events = append(x.events, e)
	}
}

// story is the session's entries, one line each.
func (w *world) story(s *session.Session) []string {
	w.t.Helper()
	entries, err := s.Entries(w.ctx, api.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	return tell(entries)
}

func tell(entries []api.Entry) []string {
	var out []string
	for i, e := range entries {
		if e.Seq != entries[0].Seq+int64(i) {
			out = append(out, fmt.Sprintf("GAP before %d", e.Seq))
		}
		line := string(e.Kind)
		if e.Call != nil {
			line += " " + e.Call.Tool
		}
		if e.Result != nil {
			line += " " + string(e.Result.Outcome)
		}
		if e.Settled != nil {
			line += " " + string(e.Settled.Outcome)
		}
		if e.Kind == api.EntryUser && e.Origin != "chat" {
			line += " (" + e.Origin + ")"
		}
		if len(e.Parts) > 0 && e.Parts[0].Type == api.PartText {
			line += ": " + e.Parts[0].Text
		}
		out = append(out, line)
	}
	return out
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// tool is a tool for tests: an empty schema and one class.
func tool(name string, class policy.Class, invoke func(*ext.Call, json.RawMessage) (ext.Output, error)) ext.Tool {
	return ext.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		Intent: func(json.RawMessage) policy.Intent { return policy.Intent{Class: class, Title: name + " it"} }, Invoke: invoke}
}

// says is a tool's function that answers text.
func says(text string) func(*ext.Call, json.RawMessage) (ext.Output, error) {
	return func(*ext.Call, json.RawMessage) (ext.Output, error) { return ext.TextOutput(text), nil }
}

// gate is a tool's function that says when it runs and waits to be let go, or for the end of its call.
type gate struct {
	entered chan struct{}
	release chan struct{}
	once    sync.Once
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 64), release: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.release) }) }

func (g *gate) invoke(c *ext.Call, _ json.RawMessage) (ext.Output, error) {
	g.entered <- struct{}{}
	select {
	case <-g.release:
		return ext.TextOutput("through"), nil
	case <-c.Done():
		return ext.TextOutput("stopped"), c.Err()
	}
}

func (g *gate) wait(w *world) {
	w.t.Helper()
	select {
	case <-g.entered:
	case <-w.ctx.Done():
		w.t.Fatal("the tool never ran")
	}
}
