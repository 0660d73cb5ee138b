package sessionstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"octavo/sessionstore"
)

// kills is how often a process is killed at a point: a hundred times, and with
// the race detector, whose children start slowly, so often only where a person's
// or a model's words are at stake.
func kills(p sessionstore.Point) int {
	words := []sessionstore.Point{
		sessionstore.InputAccepted, sessionstore.AssistantStored, sessionstore.ToolCallStored,
		sessionstore.ToolResultStored, sessionstore.TurnSettled, sessionstore.UsageStored,
	}
	switch {
	case testing.Short():
		return 6
	case raceDetector && !slices.Contains(words, p):
		return 5
	}
	return 100
}

// step is one commit of a scripted turn.
type step struct {
	point  sessionstore.Point
	change sessionstore.Change
}

// turnSteps is turn n as the session actor would commit it: every commit point
// of a session is in it.
func turnSteps(n int) []step {
	turn := fmt.Sprintf("turn-%d", n)
	entry := func(kind string) sessionstore.NewEntry {
		return sessionstore.NewEntry{Kind: kind, Turn: turn, Payload: fmt.Appendf(nil, "%s of %s", kind, turn)}
	}
	input := func(kind string) sessionstore.Input {
		return sessionstore.Input{ID: kind + "-" + turn, Kind: kind, Payload: fmt.Appendf(nil, "%s of %s", kind, turn)}
	}
	stage := func(s sessionstore.Stage) *sessionstore.StageChange {
		if s == sessionstore.StageIdle {
			return &sessionstore.StageChange{Stage: s}
		}
		return &sessionstore.StageChange{Stage: s, Turn: turn}
	}
	used := func(kind string, seq int64) []sessionstore.Request {
		q := request(kind + "-" + turn)
		q.Seq = seq
		return []sessionstore.Request{q}
	}
	type change = sessionstore.Change
	return []step{
		{sessionstore.InputAccepted, change{Enqueue: []sessionstore.Input{input("chat")}}},
		{sessionstore.TurnStarted, change{
			Dequeue: []string{"chat-" + turn}, Append: []sessionstore.NewEntry{entry("chat")},
			Stage: stage(sessionstore.StageModel), Preview: "first words",
		}},
		{sessionstore.AssistantStored, change{
			Append: []sessionstore.NewEntry{entry("thought"), entry("answer")}, Requests: used("answer", sessionstore.FirstAppended),
			Stage: stage(sessionstore.StageTool),
		}},
		{sessionstore.ToolCallStored, change{Append: []sessionstore.NewEntry{entry("call")}}},
		{sessionstore.ToolResultStored, change{Append: []sessionstore.NewEntry{entry("result")}, Stage: stage(sessionstore.StageModel)}},
		{sessionstore.InputAccepted, change{Enqueue: []sessionstore.Input{input("steer"), input("note")}}},
		{sessionstore.Drained, change{
			Dequeue: []string{"steer-" + turn, "note-" + turn},
			Append:  []sessionstore.NewEntry{entry("steer"), entry("note")},
		}},
		{sessionstore.UsageStored, change{Requests: used("side", 0)}},
		{sessionstore.HistoryChanged, change{Append: []sessionstore.NewEntry{entry("fold")}}},
		{sessionstore.NoteStored, change{Append: []sessionstore.NewEntry{entry("warning")}}},
		{sessionstore.TurnSettled, change{Append: []sessionstore.NewEntry{entry("settled")}, Stage: stage(sessionstore.StageIdle)}},
	}
}

// recovery turns what a killed turn left waiting into entries.
func recovery(waiting []string) step {
	c := sessionstore.Change{Dequeue: waiting, Stage: &sessionstore.StageChange{Stage: sessionstore.StageIdle}}
	for _, id := range waiting {
		c.Append = append(c.Append, sessionstore.NewEntry{Kind: "recovered", Payload: []byte(id)})
	}
	c.Append = append(c.Append, sessionstore.NewEntry{Kind: "restart"})
	return step{sessionstore.CallsRecovered, c}
}

// turnsPerChild: the first turn runs to its end, a later one is cut short.
const turnsPerChild = 2

func script(waiting []string, start int) []step {
	steps := []step{recovery(waiting)}
	for n := range turnsPerChild {
		steps = append(steps, turnSteps(start+n)...)
	}
	return steps
}

func playTurns(o order, s *sessionstore.Store) error {
	ctx := context.Background()
	inputs, err := s.Inputs(ctx, "one")
	if err != nil {
		return err
	}
	var waiting []string
	for _, in := range inputs {
		waiting = append(waiting, in.ID)
	}
	for _, st := range script(waiting, o.Start) {
		if _, err := s.Commit(ctx, "one", st.point, st.change); err != nil {
			return err
		}
		ack()
	}
	return nil
}

// state is what a session must hold, kept by the parent in memory.
type state struct {
	Entries  []string // since the last look
	Newest   int64
	Waiting  []string
	Requests int64
	Stage    sessionstore.Stage
	Turn     string
	Epilogue string // of the newest request row: its id and entry
}

func (m *state) apply(c sessionstore.Change) {
	first := m.Newest + 1
	for _, e := range c.Append {
		m.Newest++
		m.Entries = append(m.Entries, fmt.Sprintf("%d %s %s %s", m.Newest, e.Kind, e.Turn, e.Payload))
	}
	m.Waiting = slices.DeleteFunc(m.Waiting, func(id string) bool { return slices.Contains(c.Dequeue, id) })
	for _, in := range c.Enqueue {
		m.Waiting = append(m.Waiting, in.ID)
	}
	for _, q := range c.Requests {
		m.Requests++
		if q.Seq == sessionstore.FirstAppended {
			q.Seq = first
		}
		m.Epilogue = fmt.Sprintf("%s %d", q.ID, q.Seq)
	}
	if c.Stage != nil {
		m.Stage, m.Turn = c.Stage.Stage, c.Stage.Turn
	}
}

// look reads the same from the store.
func look(t *testing.T, s *sessionstore.Store, after int64) state {
	t.Helper()
	ctx := context.Background()
	v, err := s.Session(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	m := state{Newest: v.Entries, Stage: v.Stage, Turn: v.Turn}
	for _, e := range entries(t, s, "one", sessionstore.Range{After: after}) {
		m.Entries = append(m.Entries, fmt.Sprintf("%d %s %s %s", e.Seq, e.Kind, e.Turn, e.Payload))
	}
	inputs, err := s.Inputs(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		m.Waiting = append(m.Waiting, in.ID)
	}
	totals, err := s.Totals(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	m.Requests = totals.Requests
	if pico := totals.CostMicro*1_000_000 + totals.CostPico; pico != totals.Requests*1_600_000 {
		t.Fatalf("%d requests cost %d picodollars", totals.Requests, pico)
	}
	newest, err := s.Requests(ctx, "one", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range newest {
		m.Epilogue = fmt.Sprintf("%s %d", q.ID, q.Seq)
	}
	return m
}

// A process killed on either side of any of a session's commits leaves exactly
// what it was told is durable, plus the commit it died after, and nothing else.
func TestKilledTurnKeepsExactlyTheAcknowledged(t *testing.T) {
	for _, point := range sessionstore.CommitPoints() {
		t.Run(strings.ReplaceAll(string(point), " ", "-"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, sessionstore.Options{Dir: dir})
			create(t, s, "one")
			want := state{Stage: sessionstore.StageIdle}
			for n := range kills(point) {
				steps := script(want.Waiting, n*turnsPerChild)
				// Kill in turn at every occurrence of the point in the script.
				var times int
				for _, st := range steps {
					if st.point == point {
						times++
					}
				}
				o := order{
					Role: "turns", Dir: dir, Start: n * turnsPerChild, Point: point,
					Phase: sessionstore.Phase(n % 2), Nth: n/2%times + 1,
				}
				acks := runChild(t, o)
				if steps[acks].point != point {
					t.Fatalf("kill %d: died after %d acknowledgements, at %q", n, acks, steps[acks].point)
				}
				after := want.Newest
				want.Entries = nil
				for _, st := range steps[:acks] {
					want.apply(st.change)
				}
				if o.Phase == sessionstore.AfterCommit {
					want.apply(steps[acks].change)
				}
				if diff := cmp.Diff(want, look(t, s, after), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("kill %d (%s, occurrence %d), -want +got:\n%s", n, o.Phase, o.Nth, diff)
				}
			}
			if got := len(entries(t, s, "one", sessionstore.Range{})); int64(got) != want.Newest {
				t.Errorf("%d entries, newest %d", got, want.Newest)
			}
			if err := s.Check(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
