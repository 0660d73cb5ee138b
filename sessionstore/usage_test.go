package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"
	_ "time/tzdata" // the days of these tests are the same on every machine

	"github.com/google/go-cmp/cmp"

	"octavo/sessionstore"
)

var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func spending(t testing.TB, s *sessionstore.Store, q sessionstore.SpendingQuery) []sessionstore.Spending {
	t.Helper()
	rows, err := s.Spending(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// began stores requests of a session that began at these times, in that order.
func began(t testing.TB, s *sessionstore.Store, session string, at ...time.Time) {
	t.Helper()
	var c sessionstore.Change
	for _, at := range at {
		q := request(at.String())
		q.Started = at
		c.Requests = append(c.Requests, q)
	}
	commit(t, s, session, sessionstore.UsageStored, c)
}

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A day is what a person's calendar says, also where it has 23 or 25 hours or begins at a quarter past.
func TestDaysAreThoseOfAZone(t *testing.T) {
	for _, c := range []struct{ zone, began, day string }{
		{"UTC", "2026-11-30T23:59:59.999Z", "2026-11-30"},
		{"UTC", "2026-12-01T00:00:00Z", "2026-12-01"},
		{"Asia/Kathmandu", "2026-11-30T18:14:59.999Z", "2026-11-30"},
		{"Asia/Kathmandu", "2026-11-30T18:15:00Z", "2026-12-01"},
		// Clocks go forward at 07:00 UTC: the day has 23 hours.
		{"America/New_York", "2026-03-08T04:59:59Z", "2026-03-07"},
		{"America/New_York", "2026-03-08T05:00:00Z", "2026-03-08"},
		{"America/New_York", "2026-03-09T03:59:59Z", "2026-03-08"},
		{"America/New_York", "2026-03-09T04:00:00Z", "2026-03-09"},
		// And back at 06:00 UTC: 25 hours.
		{"America/New_York", "2026-11-01T03:59:59Z", "2026-10-31"},
		{"America/New_York", "2026-11-01T04:00:00Z", "2026-11-01"},
		{"America/New_York", "2026-11-02T04:59:59Z", "2026-11-01"},
		{"America/New_York", "2026-11-02T05:00:00Z", "2026-11-02"},
		{"Australia/Lord_Howe", "2026-04-04T12:59:59Z", "2026-04-04"}, // 11 hours ahead
		{"Australia/Lord_Howe", "2026-04-04T13:00:00Z", "2026-04-05"},
		{"Australia/Lord_Howe", "2026-04-05T13:29:59Z", "2026-04-05"}, // ten and a half
		{"Australia/Lord_Howe", "2026-04-05T13:30:00Z", "2026-04-06"},
	} {
		s := open(t, sessionstore.Options{})
		create(t, s, "one")
		began(t, s, "one", instant(t, c.began))
		q := sessionstore.SpendingQuery{By: sessionstore.Grouping{Day: true, Zone: zone(t, c.zone)}}
		for _, when := range []string{"before", "after"} {
			if rows := spending(t, s, q); len(rows) != 1 || rows[0].Day != c.day || rows[0].Requests != 1 {
				t.Errorf("%s in %s is %+v %s the purge, want %s", c.began, c.zone, rows, when, c.day)
			}
			if when == "before" {
				if err := s.PurgeSession(context.Background(), "one"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestSpendingSelects(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for _, v := range []sessionstore.Session{
		{ID: "a", Name: "first", Title: "a title", Preview: "words", Workspace: "/w"},
		{ID: "b", Workspace: "/w"}, {ID: "c", Workspace: "/v", Private: true}, {ID: "d", Workspace: "/w"},
	} {
		if err := s.CreateSession(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
	minutes := func(n int) time.Time { return midnight.Add(time.Duration(n) * time.Minute) }
	began(t, s, "a", minutes(0), minutes(14), minutes(15), minutes(29), minutes(30))
	began(t, s, "b", minutes(0))
	began(t, s, "c", minutes(45))
	began(t, s, "d", minutes(10), minutes(20))
	if err := s.DeleteSession(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if err := s.PurgeSession(ctx, "d"); err != nil {
		t.Fatal(err)
	}
	bySession := sessionstore.Grouping{Session: true}
	for name, c := range map[string]struct {
		q    sessionstore.SpendingQuery
		want string // requests by session
	}{
		"everything":              {sessionstore.SpendingQuery{}, "a:5 b:1 c:1 d:2"},
		"a workspace":             {sessionstore.SpendingQuery{Workspace: "/w"}, "a:5 b:1"},
		"no such workspace":       {sessionstore.SpendingQuery{Workspace: "/"}, ""},
		"a session":               {sessionstore.SpendingQuery{Session: "a"}, "a:5"},
		"a purged one":            {sessionstore.SpendingQuery{Session: "d"}, "d:2"},
		"its former workspace":    {sessionstore.SpendingQuery{Session: "d", Workspace: "/w"}, ""},
		"no such session":         {sessionstore.SpendingQuery{Session: "e"}, ""},
		"from a quarter":          {sessionstore.SpendingQuery{From: minutes(15)}, "a:3 c:1 d:1"},
		"from inside one":         {sessionstore.SpendingQuery{From: minutes(29)}, "a:3 c:1 d:1"},
		"until a quarter":         {sessionstore.SpendingQuery{Until: minutes(15)}, "a:2 b:1 d:1"},
		"until inside one":        {sessionstore.SpendingQuery{Until: minutes(16)}, "a:4 b:1 d:2"},
		"from and until":          {sessionstore.SpendingQuery{From: minutes(15), Until: minutes(30)}, "a:2 d:1"},
		"from long ago":           {sessionstore.SpendingQuery{From: time.Date(1900, 1, 1, 0, 1, 0, 0, time.UTC)}, "a:5 b:1 c:1 d:2"},
		"until before everything": {sessionstore.SpendingQuery{Until: time.Date(1969, 12, 31, 23, 59, 0, 0, time.UTC)}, ""},
	} {
		c.q.By = bySession
		got := ""
		for i, r := range spending(t, s, c.q) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%s:%d", r.Session, r.Requests)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	rows := spending(t, s, sessionstore.SpendingQuery{By: bySession})
	for i := range rows {
		rows[i].Totals = sessionstore.Totals{}
	}
	want := []sessionstore.Spending{
		{Session: "a", Name: "first", Title: "a title", Preview: "words", Workspace: "/w", Last: minutes(30)},
		{Session: "b", Workspace: "/w", Deleted: true, Last: minutes(0)},
		{Session: "c", Workspace: "/v", Private: true, Last: minutes(45)},
		{Session: "d", Purged: true, Last: minutes(15)},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSpendingIsToldApartInOrder(t *testing.T) {
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	var c sessionstore.Change
	add := func(days int, provider, model, kind string) {
		q := request(fmt.Sprint(len(c.Requests)))
		q.Started, q.Provider, q.Model, q.Kind = midnight.AddDate(0, 0, days), provider, model, kind
		c.Requests = append(c.Requests, q)
	}
	add(0, "p", "m", sessionstore.RequestTurn)
	add(1, "q", "m", sessionstore.RequestTurn)
	add(1, "p", "n", sessionstore.RequestTurn)
	add(0, "p", "m", sessionstore.RequestTurn)
	add(1, "p", "m", sessionstore.RequestSummarizer)
	commit(t, s, "one", sessionstore.UsageStored, c)
	for by, want := range map[sessionstore.Grouping][]string{
		{}:                                     {"    5"},
		{Day: true}:                            {"2026-12-01    3", "2026-11-30    2"},
		{Model: true}:                          {" p m  3", " p n  1", " q m  1"},
		{Kind: true}:                           {"   summarizer 1", "   turn 4"},
		{Day: true, Model: true, Kind: true}:   {"2026-12-01 p m summarizer 1", "2026-12-01 p n turn 1", "2026-12-01 q m turn 1", "2026-11-30 p m turn 2"},
		{Session: true, Day: true, Kind: true}: {"2026-12-01   summarizer 1", "2026-12-01   turn 2", "2026-11-30   turn 2"},
	} {
		var got []string
		for _, r := range spending(t, s, sessionstore.SpendingQuery{By: by}) {
			got = append(got, fmt.Sprintf("%s %s %s %s %d", r.Day, r.Provider, r.Model, r.Kind, r.Requests))
			if (r.Session == "one") != by.Session {
				t.Errorf("by %+v: session %q", by, r.Session)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %+v, -want +got:\n%s", by, diff)
		}
	}
}

func TestSpendingStopsAtTheTop(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for n := range 2 {
		create(t, s, id(n))
		for i := range 2 {
			q := request(fmt.Sprint(i))
			for _, f := range []**int64{&q.Input, &q.CacheRead, &q.CacheWrite, &q.Output, &q.Reasoning, &q.CostMicro} {
				*f = number(math.MaxInt64 - 1)
			}
			q.CostPico = 999_999
			commit(t, s, id(n), sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}})
		}
	}
	const top = math.MaxInt64
	want := sessionstore.Totals{Requests: 4, Input: top, CacheRead: top, CacheWrite: top, Output: top, Reasoning: top, CostMicro: top, CostPico: 999_996}
	for n := range 3 {
		rows := spending(t, s, sessionstore.SpendingQuery{})
		if len(rows) != 1 || rows[0].Totals != want {
			t.Errorf("with %d sessions purged: %+v, want %+v", n, rows, want)
		}
		if n < 2 {
			if err := s.PurgeSession(ctx, id(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSpendingOfAStoreThatIsNoMore(t *testing.T) {
	s := open(t, sessionstore.Options{})
	if rows, err := s.Spending(context.Background(), sessionstore.SpendingQuery{By: sessionstore.Grouping{Day: true}}); err != nil || len(rows) != 0 {
		t.Errorf("an empty home: %+v, %v", rows, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Spending(ended, sessionstore.SpendingQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Spending(context.Background(), sessionstore.SpendingQuery{}); !errors.Is(err, sessionstore.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// spendingHome is a home with n request rows, one each half minute, 200 a session.
func spendingHome(b *testing.B, n int) *sessionstore.Store {
	b.Helper()
	dir := b.TempDir()
	s := open(b, sessionstore.Options{Dir: dir})
	for i := range n/200 + 1 {
		create(b, s, id(i))
	}
	err := sqlScript(file(dir), fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
		INSERT INTO request (session, id, turn, kind, seq, provider, model, endpoint, started, finished, outcome, status, error,
			input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico)
		SELECT 1 + i / 200, '0198c0de-1234-7000-8000-' || i, '0198c0de-1234-7000-9000-' || i / 5, 'turn', i, 'anthropic',
			iif(i %% 3, 'claude-sonnet', 'claude-opus'), 'https://api.example/v1', %d + i * 30000, 0, 'ok', 200, '',
			1000, 30000, 200, 500, 100, 12345, 600000 FROM n`, n, midnight.UnixMilli()))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkSpending100000(b *testing.B) {
	s := spendingHome(b, 100_000)
	for _, bench := range []struct {
		name string
		q    sessionstore.SpendingQuery
	}{
		{"day", sessionstore.SpendingQuery{By: sessionstore.Grouping{Day: true, Zone: zone(b, "America/New_York")}}},
		{"everything", sessionstore.SpendingQuery{By: sessionstore.Grouping{Day: true, Session: true, Model: true, Kind: true}}},
		{"month", sessionstore.SpendingQuery{From: midnight.AddDate(0, 0, 4), By: sessionstore.Grouping{Day: true, Session: true, Model: true}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				spending(b, s, bench.q)
			}
		})
	}
}
