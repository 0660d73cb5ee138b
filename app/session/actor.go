package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/sessionstore"
)

// actor is the state of a session. Only its own goroutine touches it; everybody else sends it functions.
type actor struct {
	*Session
	row     sessionstore.Session
	state   *api.State
	history *history // nil until a request is built for the first time
	run     *run     // nil while idle
	queue   []queued
	asks    map[string]*openAsk
	clients map[*client]struct{}
	granted map[string]bool // digests of calls allowed for the session
	warned  bool            // the cost warning was given
	told    map[string]bool // what tellOnce has said
	greeted bool            // the composition's warnings were shown
	context int             // tokens of the newest request and its answer; 0 unknown
	manner  manner
	shell   context.CancelFunc // of a command of the person's; nil while none runs
	titling context.CancelFunc // of the request for a title; nil while none is made
	streams context.Context
	stopped bool
	closed  bool // no new work
}

// manner is api.Behaviour as it is in force.
type manner struct {
	steerOne  bool // one input that steers is read at a step, not all
	followAll bool // all follow-ups start one turn together
	noRetry   bool
}

// run is work under way: a turn, or a summary.
type run struct {
	api.TurnInfo
	ctx         context.Context
	cancel      context.CancelFunc
	interrupted bool
	giveUp      context.CancelFunc // ends the wait before the next attempt; nil while none waits
	void        map[string]bool    // calls of the newest answer that held a key, by id
	next        bool               // an interrupted turn is followed by the oldest queued input
	files       []string
}

type client struct {
	stream  *api.Stream
	answers bool
}

func newActor(ctx context.Context, s *Session) (*actor, error) {
	a := &actor{Session: s, row: s.o.Row, asks: map[string]*openAsk{}, clients: map[*client]struct{}{}, granted: map[string]bool{}, told: map[string]bool{}}
	a.streams, s.unread = context.WithCancel(context.Background())
	epoch, err := s.o.Store.NextEpoch(ctx, s.id)
	if err != nil {
		return nil, err
	}
	if err := a.recover(ctx); err != nil {
		return nil, fmt.Errorf("recover session %s: %w", s.id, err)
	}
	if a.row, err = s.o.Store.Session(ctx, s.id); err != nil {
		return nil, err
	}
	waiting, err := s.o.Store.Inputs(ctx, s.id)
	if err != nil {
		return nil, err
	}
	for _, in := range waiting {
		q, err := decodeInput(s.o.Redact, in)
		if err != nil {
			return nil, err
		}
		a.queue = append(a.queue, q)
	}
	a.state = &api.State{Session: s.id, Epoch: epoch, Queue: viewQueue(a.queue), Info: a.info()}
	if a.context, err = a.lastContext(ctx); err != nil {
		return nil, err
	}
	if a.state.Entries, err = s.stored(ctx, api.Range{Limit: api.WindowEntries, Newest: true}); err != nil {
		return nil, err
	}
	a.state.Usage, err = a.usage(ctx)
	return a, err
}

// loop works the mailbox until the session is closed.
func (a *actor) loop() {
	for !a.stopped {
		f := <-a.mailbox
		f(a)
	}
	for c := range a.clients {
		c.stream.End(a.failure)
	}
	a.o.Composition.Close()
	if nothing := a.row.Name == "" && a.state.Info.Entries == 0 && len(a.queue) == 0; (nothing || a.row.Private) && a.failure == nil {
		// Nobody ever said anything, or it was never to be kept: a list of sessions is better without it.
		a.failure = a.o.Store.PurgeSession(context.Background(), a.id)
	}
	if err := a.o.Lock.Release(); err != nil && a.failure == nil {
		a.failure = err
	}
	close(a.done)
}

// close ends the session when its work has settled.
func (a *actor) close() {
	a.closed = true
	for _, cancel := range []context.CancelFunc{a.titling, a.shell} {
		if cancel != nil {
			cancel()
		}
	}
	a.interrupt(false)
	a.leave()
}

// leave stops the actor once it is closed and nothing runs any more.
func (a *actor) leave() {
	a.stopped = a.stopped || a.closed && a.run == nil && a.titling == nil && a.shell == nil
}

// fail ends the session because a fact could not be stored: going on would say things that never happened.
func (a *actor) fail(err error) {
	if a.failure == nil {
		a.failure = err
	}
	a.closed, a.stopped = true, true
	if a.run != nil {
		a.run.cancel()
	}
}

// interrupt reports whether there was something to interrupt.
func (a *actor) interrupt(next bool) bool {
	r := a.run
	if r == nil {
		return false
	}
	if !r.interrupted {
		r.interrupted, r.next = true, next
		r.Phase = api.PhaseInterrupting
		a.emit(api.Event{Type: api.EventTurn, Turn: ptr(r.TurnInfo)})
		r.cancel()
	}
	return true
}

// emit numbers an event, takes it into the state and hands it to every client.
func (a *actor) emit(e api.Event) {
	e.Session, e.Epoch, e.Seq, e.Time = a.id, a.state.Epoch, a.state.Seq+1, time.Now().UTC()
	if err := a.state.Apply(e); err != nil {
		panic("session: own event refused: " + err.Error()) // a defect of this package, not of its input
	}
	for c := range a.clients {
		if !c.stream.Push(e) {
			a.detach(c)
		}
	}
}

func (a *actor) notice(level api.NoticeLevel, source, text string) {
	a.emit(api.Event{Type: api.EventNotice, Notice: &api.Notice{Level: level, Source: source, Text: a.o.Redact.Text(text)}})
}

// commit stores entries with whatever else changes at point p, and only then shows them.
func (a *actor) commit(p sessionstore.Point, turn string, entries []entry, c sessionstore.Change) error {
	for i := range entries {
		ne, err := entries[i].encode(a.o.Redact, turn)
		if err != nil {
			return err
		}
		c.Append = append(c.Append, ne)
	}
	for i, row := range c.Requests {
		c.Requests[i] = a.o.Redact.request(row)
	}
	// A commit is never abandoned half-way for the sake of a caller who no longer waits.
	r, err := a.o.Store.Commit(context.Background(), a.id, p, c)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if a.history != nil {
			a.history.add(e)
		}
		v := e.view(r.First+int64(i), turn, r.Time)
		a.emit(api.Event{Type: api.EventEntry, Entry: &v})
	}
	if len(c.Requests) > 0 {
		u, err := a.usage(context.Background())
		if err != nil {
			return err
		}
		a.emit(api.Event{Type: api.EventUsage, Usage: &u})
	}
	return nil
}

func (a *actor) attach(ctx context.Context, answers bool) *api.Stream {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.streams, cancel)
	stream, wait := api.NewStream(ctx, a.state.Clone())
	c := &client{stream, answers}
	a.clients[c] = struct{}{}
	a.work.Go(func() {
		wait()
		stop()
		cancel()
		a.post(func(a *actor) { a.detach(c) })
	})
	a.greet()
	return stream
}

// greet tells the first client what preparing the session found.
func (a *actor) greet() {
	if a.greeted {
		return
	}
	a.greeted = true
	for _, n := range a.o.Notices {
		a.notice(n.Level, n.Source, n.Text)
	}
	for _, w := range a.o.Composition.Warnings {
		a.notice(api.NoticeWarning, w.Extension, w.Text)
	}
	for _, i := range a.o.Composition.Inactive {
		a.notice(api.NoticeWarning, i.Extension, "not active in this session: "+i.Reason)
	}
}

// detach forgets a client. When nobody is left who could answer, open questions are denied.
func (a *actor) detach(c *client) {
	delete(a.clients, c)
	if !a.attended() {
		for id := range a.asks {
			a.settleAsk(id, ext.Answer{})
		}
	}
}

// attended reports whether a question could reach a person.
func (a *actor) attended() bool {
	for c := range a.clients {
		if c.answers {
			return true
		}
	}
	return false
}

// begin starts a turn with inputs, which are taken from the queue where they stand in it.
func (a *actor) begin(inputs []queued, extra ...entry) (api.Receipt, error) {
	id, now := uuid.Must(uuid.NewV7()).String(), time.Now().UTC()
	entries := extra
	change := sessionstore.Change{Stage: &sessionstore.StageChange{Stage: sessionstore.StageModel, Turn: id}}
	for _, in := range inputs {
		entries = append(entries, entry{api.EntryUser, in.Rec})
		if slices.ContainsFunc(a.queue, func(q queued) bool { return q.ID == in.ID }) {
			change.Dequeue = append(change.Dequeue, in.ID)
		}
	}
	first := len(inputs) > 0 && a.row.Preview == ""
	if first {
		change.Preview = a.o.Redact.Text(model.PlainText(inputs[0].Rec.Parts))
		a.row.Preview = change.Preview
	}
	if err := a.commit(sessionstore.InputAccepted, id, entries, change); err != nil {
		return api.Receipt{}, lost("the input", err)
	}
	a.unqueue(change.Dequeue)
	seq := a.state.Info.Entries
	a.start(api.TurnInfo{ID: id, Phase: api.PhasePreparing, Started: now}, a.Session.turn)
	if first {
		a.entitle(a.row.Preview)
	}
	return api.Receipt{Turn: id, Seq: seq}, nil
}

// start runs work under way in a goroutine of its own.
func (a *actor) start(info api.TurnInfo, work func(*run)) {
	r := &run{TurnInfo: info}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	a.run = r
	a.emit(api.Event{Type: api.EventTurn, Turn: ptr(info)})
	a.work.Go(func() {
		defer r.cancel()
		work(r)
	})
}

// settle ends the turn and starts what waits for its end.
func (a *actor) settle(r *run, s api.Settled) {
	s.Duration = time.Since(r.Started)
	s.Steps, s.Files = r.Step, r.files
	stage := sessionstore.StageInterrupted
	if s.Outcome == api.SettledCompleted {
		stage = sessionstore.StageIdle
	}
	err := a.commit(sessionstore.TurnSettled, r.ID, []entry{{api.EntrySettled, record{Settled: &s}}},
		sessionstore.Change{Stage: &sessionstore.StageChange{Stage: stage}})
	a.run = nil
	if err != nil {
		a.fail(lost("the end of the turn", err))
		return
	}
	a.follow(s.Outcome, r.next)
}

// follow starts what waits for the end of a turn: a follow-up after a turn that completed, the oldest input after one that was
// interrupted in its favour. A failure, a limit and closing never send anything by themselves.
func (a *actor) follow(outcome api.SettledOutcome, next bool) {
	if a.leave(); a.closed {
		return
	}
	if len(a.queue) == 0 || outcome != api.SettledCompleted && !(outcome == api.SettledInterrupted && next) {
		return
	}
	n := 1
	if a.manner.followAll {
		n = len(a.queue)
	}
	if _, err := a.begin(a.queue[:n:n]); err != nil {
		a.notice(api.NoticeError, "", err.Error())
	}
}

func (a *actor) unqueue(ids []string) {
	if len(ids) == 0 {
		return
	}
	a.queue = slices.DeleteFunc(a.queue, func(q queued) bool { return slices.Contains(ids, q.ID) })
	a.emit(api.Event{Type: api.EventQueue, Queue: viewQueue(a.queue)})
}

// take moves the steering inputs of the queue into the turn, or the oldest one; it reports whether there was one.
func (a *actor) take(r *run, stage sessionstore.Stage) (bool, error) {
	var entries []entry
	var ids []string
	for _, q := range a.queue {
		if q.Kind == api.InputChat && !(a.manner.steerOne && len(ids) > 0) {
			q.Rec.Origin = "steer"
			entries = append(entries, entry{api.EntryUser, q.Rec})
			ids = append(ids, q.ID)
		}
	}
	if len(entries) == 0 {
		return false, nil
	}
	err := a.commit(sessionstore.Drained, r.ID, entries, sessionstore.Change{Dequeue: ids,
		Stage: &sessionstore.StageChange{Stage: stage, Turn: r.ID}})
	if err != nil {
		return false, err
	}
	a.unqueue(ids)
	return true, nil
}

func (a *actor) setPhase(r *run, p api.Phase) {
	if r.interrupted || r.Phase == p {
		return
	}
	r.Phase = p
	a.emit(api.Event{Type: api.EventTurn, Turn: ptr(r.TurnInfo)})
}

// changed tells clients that name, model, effort or policy changed.
func (a *actor) changed() {
	info := a.info()
	a.emit(api.Event{Type: api.EventSession, Info: &info})
}

func (a *actor) info() api.SessionInfo {
	info := redacted(a.o.Redact, Info(a.row))
	info.Policy = string(a.o.Policy)
	if a.state != nil {
		info.Entries, info.Updated = a.state.Info.Entries, a.state.Info.Updated
	}
	if up, err := a.o.Models.Resolve(a.row.Model); err == nil {
		info.Window, info.Scripted = up.Info.ContextTokens, up.Info.Scripted
	}
	return info
}

// Info is a stored session as lists show it.
func Info(r sessionstore.Session) api.SessionInfo {
	return api.SessionInfo{ID: r.ID, Name: r.Name, Title: r.Title, Tags: r.Tags, Private: r.Private, Preview: r.Preview, Workspace: r.Workspace, Model: r.Model, Effort: r.Effort,
		Policy: r.Policy, Parent: r.Parent, Created: r.Created, Updated: r.Updated, Entries: r.Entries}
}

func (a *actor) usage(ctx context.Context) (api.Usage, error) {
	t, err := a.o.Store.Totals(ctx, a.id)
	if err != nil {
		return api.Usage{}, err
	}
	u := api.Usage{Requests: t.Requests, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output,
		Reasoning: t.Reasoning, Unpriced: t.Unpriced, Unreported: t.Unreported, Context: a.context}
	if t.Requests > t.Unpriced {
		u.CostMicro = &t.CostMicro
	}
	return u, nil
}

// lastContext is how many tokens the newest answered request and its answer had; 0 when that is not known.
func (a *actor) lastContext(ctx context.Context) (int, error) {
	rows, err := a.o.Store.Requests(ctx, a.id, 2)
	if len(rows) > 0 && rows[0].Kind == sessionstore.RequestBackground { // a title says nothing of the window; there is one
		rows = rows[1:]
	}
	if err != nil || len(rows) == 0 || rows[0].Kind != sessionstore.RequestTurn || rows[0].Outcome != sessionstore.OutcomeOK || rows[0].Input == nil {
		return 0, err
	}
	r := rows[0]
	return int(sum(r.Input, r.CacheRead, r.CacheWrite, r.Output)), nil
}

func viewQueue(qs []queued) []api.Queued {
	out := make([]api.Queued, 0, len(qs))
	for _, q := range qs {
		text := q.Rec.Display
		if text == "" {
			text = model.PlainText(q.Rec.Parts)
		}
		out = append(out, api.Queued{ID: q.ID, Kind: q.Kind, Text: text})
	}
	return out
}

func ptr[T any](v T) *T { return &v }
