package sessionstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// quarter is the finest time that spending is told apart by: the days of every
// time zone are made of whole ones.
const quarter = 15 * time.Minute

// Grouping says what the rows of Spending are told apart by. Each is the sum
// over everything else; with nothing set there is one row at most.
type Grouping struct {
	Day     bool
	Session bool
	Model   bool           // together with its provider
	Kind    bool           // of the request: RequestTurn, ...
	Zone    *time.Location // whose days; nil: UTC
}

// SpendingQuery says which requests Spending sums up. A request counts in the
// quarter of an hour that it began in, and the quarters that From and Until
// stand in count whole.
type SpendingQuery struct {
	From, Until time.Time // zero: open
	Session     string    // its exact id; empty: all
	Workspace   string    // empty: all; what was purged belongs to no workspace any more
	By          Grouping
}

// Spending is what was used by the requests that one row stands for (product.md
// 5). Fields that are not grouped by are empty.
type Spending struct {
	Day string // YYYY-MM-DD

	Session              string // its id
	Name, Title, Preview string // of the session; empty once it is purged
	Workspace            string
	Private              bool
	Deleted              bool // waits to be purged
	Purged               bool // only its sums are left

	Provider, Model string
	Kind            string

	Last time.Time // when the quarter of an hour began in which the newest request did, UTC
	Totals
}

// Add sums up: like every sum of requests it stops at the top instead of
// turning negative.
func (t *Totals) Add(more Totals) {
	t.Requests = plus(t.Requests, more.Requests)
	t.Input = plus(t.Input, more.Input)
	t.CacheRead = plus(t.CacheRead, more.CacheRead)
	t.CacheWrite = plus(t.CacheWrite, more.CacheWrite)
	t.Output = plus(t.Output, more.Output)
	t.Reasoning = plus(t.Reasoning, more.Reasoning)
	t.CostMicro = plus(t.CostMicro, more.CostMicro)
	if t.CostPico += more.CostPico; t.CostPico >= picoPerMicro {
		t.CostMicro = plus(t.CostMicro, 1)
		t.CostPico -= picoPerMicro
	}
	t.Unreported = plus(t.Unreported, more.Unreported)
	t.Unpriced = plus(t.Unpriced, more.Unpriced)
}

// requestTotals are totalColumns of one request row.
const requestTotals = `1, input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico,
	input IS NULL OR output IS NULL, cost_micro IS NULL`

// scanTotals reads totalColumns from a column on; what is NULL adds nothing.
func scanTotals(stmt *sqlite.Stmt, at int) Totals {
	return Totals{
		Requests: stmt.ColumnInt64(at), Input: stmt.ColumnInt64(at + 1), CacheRead: stmt.ColumnInt64(at + 2),
		CacheWrite: stmt.ColumnInt64(at + 3), Output: stmt.ColumnInt64(at + 4), Reasoning: stmt.ColumnInt64(at + 5),
		CostMicro: stmt.ColumnInt64(at + 6), CostPico: stmt.ColumnInt64(at + 7),
		Unreported: stmt.ColumnInt64(at + 8), Unpriced: stmt.ColumnInt64(at + 9),
	}
}

// Spending sums up what was used, of purged sessions too: the newest day first,
// then by session, provider, model and kind. It reads every request row of the
// time it is asked about, in one consistent view.
func (s *Store) Spending(ctx context.Context, q SpendingQuery) ([]Spending, error) {
	var list []Spending
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		t := newTally(conn, q.By)
		if err := t.requests(q); err != nil {
			return err
		}
		if err := t.spent(q); err != nil {
			return err
		}
		var err error
		list, err = t.list()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sum up what was used: %w", err)
	}
	return list, nil
}

// share is what one row of Spending stands for, and sum what was used of it.
type (
	share struct{ day, session, provider, model, kind string }
	sum   struct {
		newest int64 // quarter
		Totals
	}
)

// tally sums up row by row. SQLite would sort a million rows to group them, and
// fail where a sum is too big; passing by each of them once takes half the time.
type tally struct {
	conn *sqlite.Conn
	by   Grouping
	sums map[share]*sum

	// The last row's: neighbours are mostly alike.
	share share
	sum   *sum // nil before the first
	at    int64
	day   string // of quarter at

	ids    map[int64]string // sessions' ids by their numbers
	texts  map[string]string
	buffer [MaxName]byte
}

func newTally(conn *sqlite.Conn, by Grouping) *tally {
	if by.Zone == nil {
		by.Zone = time.UTC
	}
	return &tally{conn: conn, by: by, sums: map[share]*sum{}, ids: map[int64]string{}, texts: map[string]string{}}
}

// quarterOfRequest is the quarter that a request began in: started is in
// milliseconds.
const quarterOfRequest = "started / 900000"

// columns are what add reads; what is not grouped by is empty.
func (t *tally) columns(quarter, totals string) string {
	columns := []string{quarter, "''", "'', ''", "''", totals}
	if t.by.Session {
		columns[1] = "session"
	}
	if t.by.Model {
		columns[2] = "provider, model"
	}
	if t.by.Kind {
		columns[3] = "kind"
	}
	return strings.Join(columns, ", ")
}

// conditions are what a WHERE asks for, all of it.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) add(condition string, arg any) {
	c.where, c.args = append(c.where, condition), append(c.args, arg)
}

func (c *conditions) String() string {
	if len(c.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.where, " AND ")
}

// requests counts the rows of sessions that are still there.
func (t *tally) requests(q SpendingQuery) error {
	var c conditions
	if !q.From.IsZero() {
		c.add("started >= ?", quarterAt(q.From)*quarter.Milliseconds())
	}
	if !q.Until.IsZero() {
		c.add("started < ?", quarterAfter(q.Until)*quarter.Milliseconds())
	}
	if q.Session != "" {
		c.add("session = (SELECT number FROM session WHERE id = ?)", q.Session)
	}
	if q.Workspace != "" {
		c.add("session IN (SELECT number FROM session WHERE workspace = ?)", q.Workspace)
	}
	return query(t.conn, "SELECT "+t.columns(quarterOfRequest, requestTotals)+" FROM request"+c.String(), func(stmt *sqlite.Stmt) error {
		session := ""
		if t.by.Session {
			var err error
			if session, err = t.id(stmt.ColumnInt64(1)); err != nil {
				return err
			}
		}
		t.add(stmt, session)
		return nil
	}, c.args...)
}

// spent counts what is left of purged ones.
func (t *tally) spent(q SpendingQuery) error {
	if q.Workspace != "" {
		return nil
	}
	var c conditions
	if !q.From.IsZero() {
		c.add("quarter >= ?", quarterAt(q.From))
	}
	if !q.Until.IsZero() {
		c.add("quarter < ?", quarterAfter(q.Until))
	}
	if q.Session != "" {
		c.add("session = ?", q.Session)
	}
	return query(t.conn, "SELECT "+t.columns("quarter", totalColumns)+" FROM spent"+c.String(), func(stmt *sqlite.Stmt) error {
		t.add(stmt, t.text(stmt, 1))
		return nil
	}, c.args...)
}

// quarterAt is the quarter that a time stands in, counted since 1970.
func quarterAt(t time.Time) int64 {
	ms, size := t.UnixMilli(), quarter.Milliseconds()
	if ms < 0 {
		return (ms+1)/size - 1
	}
	return ms / size
}

// quarterAfter is the first quarter that begins at a time or later.
func quarterAfter(t time.Time) int64 { return quarterAt(t.Add(-time.Millisecond)) + 1 }

func quarterStart(n int64) time.Time { return time.Unix(n*int64(quarter/time.Second), 0).UTC() }

// add counts a row that has the columns of columns.
func (t *tally) add(stmt *sqlite.Stmt, session string) {
	at := stmt.ColumnInt64(0)
	if t.by.Day && (t.sum == nil || at != t.at) {
		t.at, t.day = at, quarterStart(at).In(t.by.Zone).Format(time.DateOnly)
	}
	what := share{t.day, session, t.text(stmt, 2), t.text(stmt, 3), t.text(stmt, 4)}
	if t.sum == nil || what != t.share {
		t.share, t.sum = what, t.sums[what]
	}
	if t.sum == nil {
		t.sum = &sum{newest: at}
		t.sums[what] = t.sum
	}
	t.sum.newest = max(t.sum.newest, at)
	t.sum.Add(scanTotals(stmt, 5))
}

// text reads a column whose few values repeat, without a new string for each
// row.
func (t *tally) text(stmt *sqlite.Stmt, col int) string {
	switch n := stmt.ColumnLen(col); {
	case n == 0:
		return ""
	case n > len(t.buffer):
		return stmt.ColumnText(col)
	}
	b := t.buffer[:stmt.ColumnBytes(col, t.buffer[:])]
	s, there := t.texts[string(b)]
	if !there {
		s = string(b)
		t.texts[s] = s
	}
	return s
}

// id is the id of the session with a number.
func (t *tally) id(number int64) (string, error) {
	if id, there := t.ids[number]; there {
		return id, nil
	}
	id := ""
	err := query(t.conn, "SELECT id FROM session WHERE number = ?", func(stmt *sqlite.Stmt) error {
		id = stmt.ColumnText(0)
		return nil
	}, number)
	t.ids[number] = id
	return id, err
}

// list gives the sums in order, with what there is to say of their sessions.
func (t *tally) list() ([]Spending, error) {
	list := make([]Spending, 0, len(t.sums))
	sessions := map[string]Spending{}
	for what, sum := range t.sums {
		row, there := sessions[what.session]
		if t.by.Session && !there {
			var err error
			if row, err = spender(t.conn, what.session); err != nil {
				return nil, err
			}
			sessions[what.session] = row
		}
		row.Day, row.Provider, row.Model, row.Kind = what.day, what.provider, what.model, what.kind
		row.Last, row.Totals = quarterStart(sum.newest), sum.Totals
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b Spending) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Provider, b.Provider),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Kind, b.Kind))
	})
	return list, nil
}

// spender is what there is to say of a session; of a purged one that is only
// its id.
func spender(conn *sqlite.Conn, id string) (Spending, error) {
	row := Spending{Session: id, Purged: true}
	err := query(conn, "SELECT name, title, preview, workspace, private, deleted <> 0 FROM session WHERE id = ?", func(stmt *sqlite.Stmt) error {
		row = Spending{
			Session: id, Name: stmt.ColumnText(0), Title: stmt.ColumnText(1), Preview: stmt.ColumnText(2),
			Workspace: stmt.ColumnText(3), Private: stmt.ColumnBool(4), Deleted: stmt.ColumnBool(5),
		}
		return nil
	}, id)
	return row, err
}

// keepSpent moves what a session used into spent, before its request rows go:
// money does not become unspent with the conversation that it bought.
func keepSpent(conn *sqlite.Conn, number int64, id string) error {
	type part struct {
		quarter               int64
		provider, model, kind string
	}
	used := map[part]Totals{}
	err := query(conn, "SELECT "+quarterOfRequest+", provider, model, kind, "+requestTotals+" FROM request WHERE session = ?", func(stmt *sqlite.Stmt) error {
		p := part{stmt.ColumnInt64(0), stmt.ColumnText(1), stmt.ColumnText(2), stmt.ColumnText(3)}
		sum := used[p]
		sum.Add(scanTotals(stmt, 4))
		used[p] = sum
		return nil
	}, number)
	for p, sum := range used {
		if err != nil {
			return err
		}
		// An id may have been purged before and taken again.
		err = query(conn, "SELECT "+totalColumns+" FROM spent WHERE quarter = ? AND session = ? AND provider = ? AND model = ? AND kind = ?",
			func(stmt *sqlite.Stmt) error {
				sum.Add(scanTotals(stmt, 0))
				return nil
			}, p.quarter, id, p.provider, p.model, p.kind)
		if err == nil {
			err = exec(conn, "INSERT OR REPLACE INTO spent (quarter, session, provider, model, kind, "+totalColumns+
				") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				p.quarter, id, p.provider, p.model, p.kind, sum.Requests, sum.Input, sum.CacheRead, sum.CacheWrite, sum.Output, sum.Reasoning,
				sum.CostMicro, sum.CostPico, sum.Unreported, sum.Unpriced)
		}
	}
	return err
}
