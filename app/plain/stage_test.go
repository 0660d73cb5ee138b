package plain_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"octavo/app/api"
	"octavo/pages"
)

// stage is a session whose turns are played from scripts. It keeps the rules of app/api that a front end relies on: every event
// goes through State.Apply and Stream, inputs queue while a turn runs, a follow-up starts with the end of the turn before it, and
// questions are denied while nobody attends.
type stage struct {
	t       *testing.T
	scripts []func(*turn) // of the turns to come
	run     func(ctx context.Context, line string) (api.Outcome, error)
	// shell is what a command of the person's does; it ends with its context.
	shell func(ctx context.Context, r api.ShellRequest, progress func(string)) api.ShellResult
	// retrying gives up a request that waits to be made again; nil while none waits.
	retrying func()

	mu      sync.Mutex
	state   *api.State
	entries []api.Entry
	clients map[*api.Stream]*client
	turn    *turn
	turns   int
	asks    map[string]chan api.Answer
	inputs  []api.Input // as submitted
	answers []api.Answer
	failing error // of the next Submit
	closed  bool
	manner  api.Behaviour
	// attending is told of a client that can ask a person.
	attending func()
	work      sync.WaitGroup // turns
	streams   sync.WaitGroup
}

type client struct {
	answers bool
	cancel  context.CancelFunc
}

var noon = time.Date(2026, 10, 8, 12, 0, 0, 0, time.UTC)

const commandList = "/fork /help /new /queue /quit /session"

func newStage(t *testing.T, scripts ...func(*turn)) *stage {
	retry := true
	return &stage{t: t, scripts: scripts, clients: map[*api.Stream]*client{}, asks: map[string]chan api.Answer{},
		manner: api.Behaviour{Steering: api.QueueAll, FollowUp: api.QueueOne, AutoRetry: &retry},
		state: &api.State{Session: "0190-one", Epoch: 3, Info: api.SessionInfo{ID: "0190-one", Workspace: "/work",
			Model: "lab/small", Policy: "controlled", Created: noon}}}
}

func (s *stage) ID() string { return s.state.Session }

func (s *stage) Attach(ctx context.Context, answers bool) (*api.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, api.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	stream, wait := api.NewStream(ctx, s.state.Clone())
	s.clients[stream] = &client{answers, cancel}
	if answers && s.attending != nil {
		s.attending()
	}
	s.streams.Go(func() {
		wait()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.detach(stream)
	})
	return stream, nil
}

func (s *stage) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *stage) detach(stream *api.Stream) {
	delete(s.clients, stream)
	if !s.attended() {
		for id := range s.asks {
			s.answered(id, api.Answer{})
		}
	}
}

func (s *stage) attended() bool {
	for _, c := range s.clients {
		if c.answers {
			return true
		}
	}
	return false
}

func (s *stage) emit(e api.Event) {
	e.Session, e.Epoch, e.Seq, e.Time = s.state.Session, s.state.Epoch, s.state.Seq+1, noon
	if err := s.state.Apply(e); err != nil {
		s.t.Errorf("the stage broke a rule: %v", err)
	}
	for stream := range s.clients {
		if !stream.Push(e) {
			s.detach(stream)
		}
	}
}

func (s *stage) store(e api.Entry) {
	e.Seq, e.Time = int64(len(s.entries)+1), noon
	s.entries = append(s.entries, e)
	s.emit(api.Event{Type: api.EventEntry, Entry: &e})
}

func (s *stage) Submit(_ context.Context, in api.Input) (api.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing; err != nil {
		s.failing = nil
		return api.Receipt{}, err
	}
	s.inputs = append(s.inputs, in)
	if s.turn != nil {
		s.queue(append(slices.Clone(s.state.Queue), api.Queued{ID: fmt.Sprint("q", len(s.inputs)), Kind: in.Kind, Text: in.Text}))
		return api.Receipt{Turn: s.turn.id, Queued: true}, nil
	}
	s.begin(in)
	return api.Receipt{Turn: s.turn.id, Seq: s.state.Info.Entries}, nil
}

func (s *stage) queue(q []api.Queued) { s.emit(api.Event{Type: api.EventQueue, Queue: q}) }

func (s *stage) begin(in api.Input) {
	script := replies("nothing was planned for " + in.Text)
	if len(s.scripts) > 0 {
		script, s.scripts = s.scripts[0], s.scripts[1:]
	}
	s.turns++
	t := &turn{stage: s, id: fmt.Sprint("turn-", s.turns), info: api.TurnInfo{Phase: api.PhasePreparing, Started: noon}}
	t.info.ID = t.id
	t.ctx, t.cancel = context.WithCancel(context.Background())
	s.turn = t
	if in.Kind != api.InputContinue {
		s.store(api.Entry{Turn: t.id, Kind: api.EntryUser, Display: in.Display, Origin: string(in.Kind),
			Parts: []api.Part{{Type: api.PartText, Text: in.Text}}})
	}
	info := t.info
	s.emit(api.Event{Type: api.EventTurn, Turn: &info})
	s.work.Go(func() {
		defer t.cancel()
		script(t)
	})
}

func (s *stage) Interrupt(context.Context, bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil {
		return api.ErrIdle
	}
	if !s.turn.interrupted {
		s.turn.interrupted = true
		s.turn.phase(api.PhaseInterrupting)
		s.turn.cancel()
	}
	return nil
}

func (s *stage) Answer(_ context.Context, id string, a api.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.asks[id]; !ok {
		return errors.New("the question is no longer open")
	}
	s.answers = append(s.answers, a)
	s.answered(id, a)
	return nil
}

func (s *stage) answered(id string, a api.Answer) {
	reply, ok := s.asks[id]
	if !ok {
		return
	}
	delete(s.asks, id)
	reply <- a
	s.emit(api.Event{Type: api.EventAnswered, Ask: &api.Ask{ID: id}})
}

func (s *stage) Run(ctx context.Context, line string) (api.Outcome, error) {
	name, rest, _ := strings.Cut(line, " ")
	switch {
	case s.run != nil:
		return s.run(ctx, line)
	case name == "/queue":
		r, err := s.Submit(ctx, api.Input{Kind: api.InputFollowUp, Text: rest})
		return api.Outcome{Text: "queued: " + rest, Receipt: &r}, err
	case name == "/quit":
		return api.Outcome{Go: api.GoQuit}, nil
	case name == "/new":
		return api.Outcome{Go: api.GoNew}, nil
	case name == "/help":
		return api.Outcome{Text: "the commands\x1b[2J"}, nil
	}
	return api.Outcome{}, fmt.Errorf("there is no command %s; /help lists them", name)
}

func (s *stage) Commands(context.Context) ([]api.CommandInfo, error) {
	var out []api.CommandInfo
	for _, n := range strings.Fields(commandList) {
		out = append(out, api.CommandInfo{Name: n})
	}
	return out, nil
}

func (s *stage) Entries(_ context.Context, r api.Range) ([]api.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []api.Entry
	for _, e := range s.entries {
		if e.Seq > r.After && (r.Before == 0 || e.Seq < r.Before) {
			out = append(out, e)
		}
	}
	limit := r.Limit
	if limit == 0 {
		limit = api.MaxEntries
	}
	if n := len(out) - limit; n > 0 && r.Newest {
		return out[n:], nil
	}
	return out[:min(limit, len(out))], nil
}

func (s *stage) SelectModel(_ context.Context, model, effort string) (api.SessionInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if model == "lab/none" {
		return api.SessionInfo{}, errors.New("lab has no model none")
	}
	i := s.state.Info
	i.Model, i.Effort = cmp.Or(model, i.Model), cmp.Or(effort, i.Effort)
	s.emit(api.Event{Type: api.EventSession, Info: &i})
	return i, nil
}

func (s *stage) Rename(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.state.Info
	i.Name = name
	s.emit(api.Event{Type: api.EventSession, Info: &i})
	return nil
}

func (s *stage) Shell(ctx context.Context, r api.ShellRequest, progress func(string)) (api.ShellResult, error) {
	result := api.ShellResult{Output: "no shell was planned", ExitCode: ptr(0)}
	if s.shell != nil {
		result = s.shell(ctx, r, progress)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	outcome, origin := api.ResultOK, ""
	if result.Cancelled {
		outcome = api.ResultCancelled
	} else if result.ExitCode != nil && *result.ExitCode != 0 {
		outcome = api.ResultError
	}
	if r.Exclude {
		origin = api.OriginExcluded
	}
	s.store(api.Entry{Kind: api.EntryShell, Origin: origin, Call: &api.Call{ID: "shell", Tool: "bash", Title: r.Command},
		Result: &api.Result{Outcome: outcome, ExitCode: result.ExitCode, Display: &pages.Display{Title: "for a person", Text: result.Output}},
		Parts:  []api.Part{{Type: api.PartText, Text: "for a model\n" + result.Output}}})
	result.Seq = int64(len(s.entries))
	return result, nil
}

func (s *stage) Behave(_ context.Context, b api.Behaviour) (api.Behaviour, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manner.Steering, s.manner.FollowUp = cmp.Or(b.Steering, s.manner.Steering), cmp.Or(b.FollowUp, s.manner.FollowUp)
	s.manner.AutoRetry = cmp.Or(b.AutoRetry, s.manner.AutoRetry)
	return s.manner, nil
}

func (s *stage) AbortRetry(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retrying == nil {
		return api.ErrIdle
	}
	s.retrying()
	return nil
}

// Close settles the turn before it ends the streams, as a session does.
func (s *stage) Close(context.Context) error {
	s.locked(func() { s.closed = true })
	_ = s.Interrupt(context.Background(), false)
	s.work.Wait()
	s.locked(func() {
		for stream := range s.clients {
			stream.End(nil)
		}
	})
	// Who does not read is let go, as after a session's grace.
	read := make(chan struct{})
	go func() {
		s.streams.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(time.Second):
		s.locked(func() {
			for _, c := range s.clients {
				c.cancel()
			}
		})
		<-read
	}
	return nil
}

func (s *stage) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, in := range s.inputs {
		out = append(out, string(in.Kind)+": "+in.Text)
	}
	return out
}

// turn is what a script plays.
type turn struct {
	*stage
	id          string
	info        api.TurnInfo
	ctx         context.Context
	cancel      context.CancelFunc
	interrupted bool
}

func (t *turn) phase(p api.Phase) {
	t.info.Phase = p
	info := t.info
	t.emit(api.Event{Type: api.EventTurn, Turn: &info})
}

// step begins the next request, which reads what was said meanwhile.
func (t *turn) step() {
	t.locked(func() {
		var rest []api.Queued
		for _, q := range t.state.Queue {
			if q.Kind != api.InputChat {
				rest = append(rest, q)
				continue
			}
			t.store(api.Entry{Turn: t.id, Kind: api.EntryUser, Origin: "steer", Parts: []api.Part{{Type: api.PartText, Text: q.Text}}})
		}
		if len(rest) != len(t.state.Queue) {
			t.queue(rest)
		}
		t.info.Step++
		t.phase(api.PhaseWaiting)
	})
}

func (t *turn) delta(d api.Delta) {
	t.locked(func() {
		if t.info.Phase != api.PhaseGenerating {
			t.phase(api.PhaseGenerating)
		}
		t.emit(api.Event{Type: api.EventDelta, Delta: &d})
	})
}

func (t *turn) text(s string) { t.delta(api.Delta{Kind: api.DeltaText, Text: s}) }

// answer stores an answer with calls, and the usage of its request.
func (t *turn) answer(said string, calls ...api.Call) {
	var parts []api.Part
	if said != "" {
		parts = append(parts, api.Part{Type: api.PartText, Text: said})
	}
	for _, c := range calls {
		parts = append(parts, api.Part{Type: api.PartCall, Call: &c})
	}
	t.parts(parts...)
}

func (t *turn) parts(parts ...api.Part) {
	t.locked(func() {
		t.store(api.Entry{Turn: t.id, Kind: api.EntryAssistant, Model: "lab/small", Parts: parts})
		u := t.state.Usage
		cost := int64(620_000)
		if u.CostMicro != nil {
			cost += *u.CostMicro
		}
		u.Requests, u.Input, u.Output, u.CostMicro = u.Requests+1, u.Input+100, u.Output+20, &cost
		t.emit(api.Event{Type: api.EventUsage, Usage: &u})
	})
}

func (t *turn) begins(c api.Call) {
	t.locked(func() {
		t.phase(api.PhaseTools)
		t.store(api.Entry{Turn: t.id, Kind: api.EntryCall, Call: &c})
		t.emit(api.Event{Type: api.EventTool, Tool: &api.ToolRun{Call: c, Started: noon}})
	})
}

func (t *turn) progress(id, s string) {
	t.locked(func() { t.emit(api.Event{Type: api.EventProgress, Progress: &api.Progress{CallID: id, Text: s}}) })
}

func (t *turn) ends(c api.Call, r api.Result, output string) {
	t.locked(func() {
		t.store(api.Entry{Turn: t.id, Kind: api.EntryResult, Call: &c, Result: &r, Parts: []api.Part{{Type: api.PartText, Text: output}}})
	})
}

func (t *turn) retry(why string) {
	t.locked(func() {
		t.emit(api.Event{Type: api.EventWithdraw})
		t.phase(api.PhaseRetrying)
		t.emit(api.Event{Type: api.EventRetry, Retry: &api.Retry{Attempt: 1, Most: 5, Delay: 2 * time.Second, Error: why}})
		t.phase(api.PhaseWaiting)
	})
}

func (t *turn) notice(n api.Notice) {
	t.locked(func() { t.emit(api.Event{Type: api.EventNotice, Notice: &n}) })
}

// ask puts a question and waits for its answer.
func (t *turn) ask(a api.Ask) api.Answer {
	reply := make(chan api.Answer, 1)
	denied := false
	t.locked(func() {
		if denied = !t.attended(); !denied {
			t.asks[a.ID] = reply
			t.emit(api.Event{Type: api.EventAsk, Ask: &a})
		}
	})
	if denied {
		return api.Answer{}
	}
	select {
	case got := <-reply:
		return got
	case <-t.ctx.Done():
		t.locked(func() { t.answered(a.ID, api.Answer{}) })
		return <-reply
	}
}

// blocks waits until the turn is interrupted.
func (t *turn) blocks() { <-t.ctx.Done() }

// settle ends the turn and starts what waits for that.
func (t *turn) settle(o api.SettledOutcome, why string, files ...string) {
	t.locked(func() {
		t.store(api.Entry{Turn: t.id, Kind: api.EntrySettled, Settled: &api.Settled{Outcome: o, Error: why, Files: files,
			Duration: 12 * time.Second, Steps: t.info.Step}})
		t.stage.turn = nil
		if o == api.SettledCompleted && len(t.state.Queue) > 0 && !t.closed {
			first := t.state.Queue[0]
			t.queue(slices.Clone(t.state.Queue[1:]))
			t.begin(api.Input{Kind: first.Kind, Text: first.Text})
		}
	})
}

// replies is the script of a turn that is nothing but an answer.
func replies(said string) func(*turn) {
	return func(t *turn) {
		t.step()
		t.text(said)
		t.answer(said)
		t.settle(api.SettledCompleted, "")
	}
}
