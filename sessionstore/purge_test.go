package sessionstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/sessionstore"
)

func TestPurgeCleansEveryLedgerOrNothing(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	var failing error
	for _, name := range []string{"a", "b", "c"} {
		table := "x_" + name + "_row"
		l := openLedger(t, s, sessionstore.LedgerSpec{
			Extension: name, Schema: []sessionstore.Migration{schemaStep("t", "CREATE TABLE "+table+" (session TEXT)")},
			Clean: func(_ context.Context, x *tx, session string) error {
				if err := x.Exec("DELETE FROM "+table+" WHERE session = ?", session); err != nil {
					return err
				}
				if name == "b" && failing != nil {
					return failing
				}
				if name == "c" {
					return x.Query("SELECT 1 FROM session WHERE id = ?", func(*sessionstore.Row) error { return nil }, session)
				}
				return nil
			},
		})
		if err := write(l, "INSERT INTO "+table+" VALUES ('one'), ('two')"); err != nil {
			t.Fatal(err)
		}
	}
	reader := openLedger(t, s, sessionstore.LedgerSpec{Extension: "reader"}) // no clean-up is allowed
	create(t, s, "one")
	create(t, s, "two")
	commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
	rows := func(session string) (n int64) {
		return count(t, reader, `SELECT (SELECT count(*) FROM x_a_row WHERE session = ?1)
			+ (SELECT count(*) FROM x_b_row WHERE session = ?1) + (SELECT count(*) FROM x_c_row WHERE session = ?1)`, session)
	}
	failing = errors.New("disk on fire")
	if err := s.PurgeSession(ctx, "one"); !errors.Is(err, failing) || !strings.Contains(err.Error(), "clean-up of extension b") {
		t.Errorf("failing clean-up: %v", err)
	}
	if got := entries(t, s, "one", sessionstore.Range{}); rows("one") != 3 || len(got) != 1 {
		t.Errorf("a failed purge removed something: %d rows, %d entries", rows("one"), len(got))
	}
	failing = nil
	if err := s.PurgeSession(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if rows("one") != 0 || rows("two") != 3 {
		t.Errorf("%d and %d rows", rows("one"), rows("two"))
	}
	if _, err := s.Session(ctx, "two"); err != nil {
		t.Error(err)
	}
}

// groupings are ways to ask for the same sums.
func groupings(zone *time.Location) []sessionstore.Grouping {
	return []sessionstore.Grouping{
		{}, {Day: true, Zone: zone}, {Session: true}, {Model: true}, {Kind: true},
		{Day: true, Session: true, Model: true, Kind: true, Zone: zone},
	}
}

// unnamed leaves of rows what a purge must keep.
func unnamed(rows []sessionstore.Spending) []sessionstore.Spending {
	for i := range rows {
		rows[i].Name, rows[i].Workspace, rows[i].Purged = "", "", false
	}
	return rows
}

// Whatever sessions used, by whatever it is told apart, it is the same after some of them are purged, and after all are.
func TestPurgeKeepsTheMoney(t *testing.T) {
	ctx := context.Background()
	kathmandu := zone(t, "Asia/Kathmandu")
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	rapid.Check(t, func(rt *rapid.T) {
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		must(sqlScript(file(dir), "DELETE FROM spent; DELETE FROM request; DELETE FROM total; DELETE FROM session"))
		count := rapid.Custom(func(t *rapid.T) *int64 {
			if rapid.Bool().Draw(t, "unknown") {
				return nil
			}
			return number(rapid.Int64Range(0, 1<<50).Draw(t, "count"))
		})
		var want sessionstore.Totals
		sessions := rapid.IntRange(1, 3).Draw(rt, "sessions")
		for n := range sessions {
			must(s.CreateSession(ctx, sessionstore.Session{ID: id(n), Name: "name", Workspace: "/w"}))
			for i := range rapid.IntRange(0, 6).Draw(rt, "requests") {
				q := request(fmt.Sprint(i))
				q.Started = midnight.Add(time.Duration(rapid.IntRange(0, 3*24*60).Draw(rt, "minute")) * time.Minute)
				q.Kind = rapid.SampledFrom([]string{sessionstore.RequestTurn, sessionstore.RequestSummarizer}).Draw(rt, "kind")
				q.Model = rapid.SampledFrom([]string{"m", "n"}).Draw(rt, "model")
				q.Input, q.Output, q.Reasoning, q.CostMicro = count.Draw(rt, "input"), count.Draw(rt, "output"), count.Draw(rt, "reasoning"), count.Draw(rt, "cost")
				if q.CostPico = 0; q.CostMicro != nil {
					q.CostPico = rapid.Int64Range(0, 999_999).Draw(rt, "pico")
				}
				_, err := s.Commit(ctx, id(n), sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}})
				must(err)
			}
			totals, err := s.Totals(ctx, id(n))
			must(err)
			want.Add(totals)
		}
		look := func() (all [][]sessionstore.Spending) {
			for _, by := range groupings(kathmandu) {
				rows, err := s.Spending(ctx, sessionstore.SpendingQuery{By: by})
				must(err)
				var sum sessionstore.Totals
				for _, r := range rows {
					sum.Add(r.Totals)
				}
				if sum != want {
					rt.Fatalf("by %+v the sums are %+v, want %+v", by, sum, want)
				}
				all = append(all, unnamed(rows))
			}
			return all
		}
		before := look()
		for n := range sessions {
			must(s.PurgeSession(ctx, id(n)))
			if diff := cmp.Diff(before, look()); diff != "" {
				rt.Fatalf("after %d purges, -before +after:\n%s", n+1, diff)
			}
		}
	})
}

func TestPurgeAddsToWhatWasSpentUnderTheSameID(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	l := openLedger(t, s, sessionstore.LedgerSpec{Extension: "reader"})
	create(t, s, "nothing")
	if err := s.PurgeSession(ctx, "nothing"); err != nil {
		t.Fatal(err)
	}
	if got := count(t, l, "SELECT count(*) FROM spent"); got != 0 {
		t.Errorf("a session without requests left %d rows", got)
	}
	for range 3 {
		create(t, s, "one")
		q := request("q")
		q.Started = midnight
		commit(t, s, "one", sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}})
		if err := s.PurgeSession(ctx, "one"); err != nil {
			t.Fatal(err)
		}
	}
	create(t, s, "one") // and it is there again, without having used anything
	got := spending(t, s, sessionstore.SpendingQuery{By: sessionstore.Grouping{Session: true}})
	want := []sessionstore.Spending{{Session: "one", Workspace: "/w", Last: midnight, Totals: sessionstore.Totals{
		Requests: 3, Input: 30, CacheRead: 60, CacheWrite: 90, Output: 120, Reasoning: 15, CostMicro: 4, CostPico: 800_000,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := count(t, l, "SELECT count(*) FROM spent WHERE cost_micro = 4 AND cost_pico = 800000"); got != 1 {
		t.Errorf("%d rows hold the sum, want 1", got)
	}
}

func init() { roles["purge"] = playPurge }

func playPurge(o order, s *sessionstore.Store) error {
	return s.PurgeSession(context.Background(), id(o.Start))
}

// A process killed on either side of a purge leaves the money once: in the session, or in what was spent.
func TestKilledPurgeKeepsTheMoney(t *testing.T) {
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	for n := range min(kills(sessionstore.SessionPurged), 20) {
		create(t, s, id(n))
		for i := range 3 {
			q := request(fmt.Sprint(i))
			q.Started = midnight.Add(time.Duration(i) * 10 * time.Minute)
			commit(t, s, id(n), sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}})
		}
		byDay := sessionstore.SpendingQuery{By: sessionstore.Grouping{Day: true}}
		before := spending(t, s, byDay)
		phase := sessionstore.Phase(n % 2)
		runChild(t, order{Role: "purge", Dir: dir, Start: n, Point: sessionstore.SessionPurged, Phase: phase, Nth: 1})
		if diff := cmp.Diff(before, spending(t, s, byDay)); diff != "" {
			t.Fatalf("kill %d (%s), -before +after:\n%s", n, phase, diff)
		}
		row := spending(t, s, sessionstore.SpendingQuery{Session: id(n), By: sessionstore.Grouping{Session: true}})
		if len(row) != 1 || row[0].Purged != (phase == sessionstore.AfterCommit) || row[0].Requests != 3 {
			t.Fatalf("kill %d (%s): %+v", n, phase, row)
		}
	}
}

// TestPurgedTextIsNotInTheFile looks for it where a text editor would: in the database and in its log.
func TestPurgedTextIsNotInTheFile(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	const secret = "CLEANSECRET88"
	for _, id := range []string{"stays", "goes"} {
		create(t, s, id)
		for range 5 {
			_, err := s.Commit(ctx, id, sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{
				{Kind: "note", Payload: []byte(`{"text":"` + strings.Repeat(id+secret+id+" ", 1000) + `"}`)}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.PurgeSession(ctx, "goes"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file(dir), file(dir) + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("goes"+secret)) {
			t.Errorf("%s still holds what was purged", name)
		}
	}
	if got, err := s.Entries(ctx, "stays", sessionstore.Range{}); err != nil || len(got) != 5 {
		t.Errorf("%d entries stay, %v", len(got), err)
	}
}
