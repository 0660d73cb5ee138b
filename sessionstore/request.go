package sessionstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"zombiezen.com/go/sqlite"
)

// Kinds of a Request (plugins.md 8.5).
const (
	RequestTurn       = "turn"
	RequestSummarizer = "summarizer"
	RequestBackground = "background"
)

// Outcomes of a Request.
const (
	OutcomeOK        = "ok"
	OutcomeFailed    = "failed"
	OutcomeCancelled = "cancelled"
	OutcomeWithdrawn = "withdrawn"
)

// FirstAppended as a Request's Seq means the first entry that the same Change
// appends, -2 the second, and so on: their numbers are not known before.
const FirstAppended = -1

// picoPerMicro: a cost's remainder is below it.
const picoPerMicro = 1_000_000

// Request is one attempt at a provider: a usage row. The three input buckets
// are disjoint and reasoning is part of output. nil is unreported, which is not
// 0: an attempt the provider never accepted used 0 of everything.
type Request struct {
	ID       string // unique in the session
	Turn     string
	Kind     string // RequestTurn, ...
	Seq      int64  // the entry it produced; 0: none; FirstAppended in a Change
	Provider string
	Model    string
	Endpoint string
	Started  time.Time
	Finished time.Time
	Outcome  string // OutcomeOK, ...
	Status   int    // of HTTP; 0: none
	Error    string // cut to MaxErrorText bytes

	Input, CacheRead, CacheWrite, Output, Reasoning *int64 // tokens

	CostMicro *int64 // microdollars; nil: unpriced
	CostPico  int64  // picodollars beyond them, 0..999_999
}

// Totals are a session's sums, kept with every commit. With Unreported or
// Unpriced above 0 they are known subtotals (product.md 5).
type Totals struct {
	Requests                                        int64
	Input, CacheRead, CacheWrite, Output, Reasoning int64 // tokens; math.MaxInt64 at most
	CostMicro, CostPico                             int64 // dollars are CostMicro/1e6 + CostPico/1e12; CostPico is 0..999_999
	Unreported                                      int64 // requests that lack input or output tokens
	Unpriced                                        int64 // requests without a cost
}

func (q Request) check(appended int) error {
	if err := checkKey("request id", q.ID, MaxID); err != nil {
		return err
	}
	for _, f := range []struct{ what, value string }{
		{"turn", q.Turn}, {"provider", q.Provider}, {"model", q.Model},
	} {
		if err := checkText(f.what, f.value, MaxName); err != nil {
			return err
		}
	}
	if err := checkText("endpoint", q.Endpoint, MaxPath); err != nil {
		return err
	}
	switch q.Kind {
	case RequestTurn, RequestSummarizer, RequestBackground:
	default:
		return fmt.Errorf("request kind %.40q: %w", q.Kind, ErrInvalid)
	}
	switch q.Outcome {
	case OutcomeOK, OutcomeFailed, OutcomeCancelled, OutcomeWithdrawn:
	default:
		return fmt.Errorf("request outcome %.40q: %w", q.Outcome, ErrInvalid)
	}
	if q.Seq < -int64(appended) || q.Seq > MaxEntries {
		return fmt.Errorf("request of entry %d: %w", q.Seq, ErrInvalid)
	}
	for _, n := range []*int64{q.Input, q.CacheRead, q.CacheWrite, q.Output, q.Reasoning, q.CostMicro} {
		if n != nil && *n < 0 {
			return fmt.Errorf("request %s counts %d of something: %w", q.ID, *n, ErrInvalid)
		}
	}
	if q.CostPico < 0 || q.CostPico >= picoPerMicro || (q.CostMicro == nil && q.CostPico != 0) {
		return fmt.Errorf("request %s has a remainder of %d picodollars: %w", q.ID, q.CostPico, ErrInvalid)
	}
	return nil
}

func (t *Totals) add(q Request) {
	t.Requests = plus(t.Requests, 1)
	for _, f := range []struct {
		sum *int64
		n   *int64
	}{
		{&t.Input, q.Input}, {&t.CacheRead, q.CacheRead}, {&t.CacheWrite, q.CacheWrite},
		{&t.Output, q.Output}, {&t.Reasoning, q.Reasoning}, {&t.CostMicro, q.CostMicro},
	} {
		if f.n != nil {
			*f.sum = plus(*f.sum, *f.n)
		}
	}
	t.CostPico += q.CostPico
	t.CostMicro = plus(t.CostMicro, t.CostPico/picoPerMicro)
	t.CostPico %= picoPerMicro
	if q.Input == nil || q.Output == nil {
		t.Unreported++
	}
	if q.CostMicro == nil {
		t.Unpriced++
	}
}

// plus adds two non-negative numbers that came from outside: it stops at the
// top instead of turning negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func addRequests(conn *sqlite.Conn, number, first int64, list []Request) error {
	if len(list) == 0 {
		return nil
	}
	t, err := readTotals(conn, number)
	if err != nil {
		return err
	}
	for _, q := range list {
		if q.Seq < 0 {
			q.Seq = first + (-q.Seq - 1)
		}
		err := exec(conn, `INSERT INTO request (session, id, turn, kind, seq, provider, model, endpoint,
			started, finished, outcome, status, error,
			input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			number, q.ID, q.Turn, q.Kind, q.Seq, q.Provider, q.Model, q.Endpoint,
			q.Started, q.Finished, q.Outcome, q.Status, cut(q.Error, MaxErrorText),
			q.Input, q.CacheRead, q.CacheWrite, q.Output, q.Reasoning, q.CostMicro, q.CostPico)
		if err != nil {
			return unique(err, "request "+q.ID)
		}
		t.add(q)
	}
	return exec(conn, "INSERT OR REPLACE INTO total (session, "+totalColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		number, t.Requests, t.Input, t.CacheRead, t.CacheWrite, t.Output, t.Reasoning,
		t.CostMicro, t.CostPico, t.Unreported, t.Unpriced)
}

const totalColumns = "requests, input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico, unreported, unpriced"

func readTotals(conn *sqlite.Conn, number int64) (t Totals, err error) {
	err = query(conn, "SELECT "+totalColumns+" FROM total WHERE session = ?", func(stmt *sqlite.Stmt) error {
		for i, n := range []*int64{
			&t.Requests, &t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &t.Reasoning,
			&t.CostMicro, &t.CostPico, &t.Unreported, &t.Unpriced,
		} {
			*n = stmt.ColumnInt64(i)
		}
		return nil
	}, number)
	return t, err
}

// Totals returns a session's sums; it reads one row.
func (s *Store) Totals(ctx context.Context, session string) (Totals, error) {
	var t Totals
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, session)
		if err != nil {
			return err
		}
		t, err = readTotals(conn, number)
		return err
	})
	if err != nil {
		return Totals{}, fmt.Errorf("totals of session %s: %w", session, err)
	}
	return t, nil
}

// Requests returns a session's newest request rows, newest first; limit 0: all.
func (s *Store) Requests(ctx context.Context, session string, limit int) ([]Request, error) {
	most := int64(math.MaxInt64)
	if limit > 0 {
		most = int64(limit)
	}
	var list []Request
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, session)
		if err != nil {
			return err
		}
		return query(conn, `SELECT id, turn, kind, seq, provider, model, endpoint, started, finished, outcome, status, error,
			input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico
			FROM request WHERE session = ? ORDER BY key DESC LIMIT ?`, func(stmt *sqlite.Stmt) error {
			list = append(list, scanRequest(stmt))
			return nil
		}, number, most)
	})
	if err != nil {
		return nil, fmt.Errorf("requests of session %s: %w", session, err)
	}
	return list, nil
}

func scanRequest(stmt *sqlite.Stmt) Request {
	number := func(col int) *int64 {
		if stmt.ColumnIsNull(col) {
			return nil
		}
		n := stmt.ColumnInt64(col)
		return &n
	}
	return Request{
		ID: stmt.ColumnText(0), Turn: stmt.ColumnText(1), Kind: stmt.ColumnText(2), Seq: stmt.ColumnInt64(3),
		Provider: stmt.ColumnText(4), Model: stmt.ColumnText(5), Endpoint: stmt.ColumnText(6),
		Started: fromMillis(stmt.ColumnInt64(7)), Finished: fromMillis(stmt.ColumnInt64(8)),
		Outcome: stmt.ColumnText(9), Status: stmt.ColumnInt(10), Error: stmt.ColumnText(11),
		Input: number(12), CacheRead: number(13), CacheWrite: number(14), Output: number(15), Reasoning: number(16),
		CostMicro: number(17), CostPico: stmt.ColumnInt64(18),
	}
}
