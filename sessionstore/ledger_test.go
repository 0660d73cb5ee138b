package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"octavo/sessionstore"
)

type tx = sessionstore.Tx

// script is a schema migration made of SQL.
func schemaStep(name, sql string) sessionstore.Migration {
	return sessionstore.Migration{Name: name, Apply: func(_ context.Context, t *tx) error { return t.Script(sql) }}
}

func openLedger(t *testing.T, s *sessionstore.Store, spec sessionstore.LedgerSpec) *sessionstore.Ledger {
	t.Helper()
	l, err := s.OpenLedger(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(l *sessionstore.Ledger, sql string, args ...any) error {
	return l.Write(context.Background(), func(t *tx) error { return t.Exec(sql, args...) })
}

// count reads one number.
func count(t *testing.T, l *sessionstore.Ledger, sql string, args ...any) (n int64) {
	t.Helper()
	err := l.Read(context.Background(), func(t *tx) error {
		return t.Query(sql, func(r *sessionstore.Row) error { n = r.Int64(0); return nil }, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLedgerKeepsToItsOwnTables(t *testing.T) {
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	other := openLedger(t, s, sessionstore.LedgerSpec{Extension: "other", Schema: []sessionstore.Migration{
		schemaStep("t", "CREATE TABLE x_other_t (v); INSERT INTO x_other_t VALUES (1)"),
	}})
	long := openLedger(t, s, sessionstore.LedgerSpec{Extension: "mine-long", Schema: []sessionstore.Migration{
		schemaStep("t", "CREATE TABLE x_mine_long_t (v)"),
	}})
	l := openLedger(t, s, sessionstore.LedgerSpec{Extension: "mine", Schema: []sessionstore.Migration{
		schemaStep("t", "CREATE TABLE x_mine_t (v); CREATE TABLE x_mine_seq (k INTEGER PRIMARY KEY AUTOINCREMENT)"),
	}})
	for _, sql := range []string{
		"CREATE TABLE mine (v)",
		"CREATE TABLE x_other_new (v)",
		"CREATE TABLE x_mine (v)",
		"CREATE TABLE x_mine_long_new (v)",
		"CREATE TABLE X_MINE_LONG_NEW (v)",
		"CREATE TABLE [x_other_ ] AS SELECT 1",
		"CREATE TEMP TABLE x_mine_tmp (v)",
		"CREATE TEMP VIEW x_mine_v AS SELECT 1",
		"CREATE TEMP TRIGGER x_mine_r AFTER INSERT ON main.session BEGIN SELECT 1; END",
		"CREATE INDEX x_mine_i ON session (name)",
		"CREATE INDEX session_i ON x_mine_t (v)",
		"CREATE VIEW session_v AS SELECT 1",
		"CREATE TRIGGER x_mine_r AFTER INSERT ON session BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE x_other_f USING fts5(t)",
		"CREATE VIRTUAL TABLE x_mine_f USING dbstat",
		"DROP TABLE x_other_t",
		"DROP TABLE x_mine_long_t",
		"DROP TABLE session",
		"DROP INDEX session_updated",
		"ALTER TABLE x_other_t RENAME TO x_mine_stolen",
		"ALTER TABLE x_other_t ADD COLUMN w",
		"ALTER TABLE x_mine_t RENAME TO x_other_new",
		"ALTER TABLE x_mine_t RENAME TO sessions",
		"INSERT INTO x_other_t VALUES (2)",
		"INSERT INTO x_mine_long_t VALUES (2)",
		"UPDATE session SET name = 'stolen'",
		"DELETE FROM entry",
		"REPLACE INTO home VALUES ('id', 'forged')",
		"WITH a AS (SELECT 1) INSERT INTO x_other_t SELECT * FROM a",
		"INSERT INTO sqlite_sequence VALUES ('x_other_t', 7)",
		"DELETE FROM sqlite_schema",
		"INSERT INTO ledger_migration VALUES ('other', 'schema', 'u', 0)",
		"PRAGMA user_version = 7",
		"PRAGMA writable_schema = 1",
		"PRAGMA journal_mode = DELETE",
		"PRAGMA max_page_count = 1",
		"ATTACH ':memory:' AS a",
		"DETACH main",
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "END",
		"VACUUM", "ANALYZE", "REINDEX", "REINDEX session_updated",
		"SELECT load_extension('/tmp/x.so')",
	} {
		if err := write(l, sql); err == nil {
			t.Errorf("allowed: %s", sql)
		}
	}
	if err := write(l, "UPDATE session SET name = ''"); !errors.Is(err, sessionstore.ErrForbidden) {
		t.Errorf("the refusal is not named: %v", err)
	}
	for _, sql := range []string{
		"INSERT INTO x_mine_t VALUES (1)",
		"INSERT INTO x_mine_seq DEFAULT VALUES",
		"CREATE TABLE x_mine_two (k TEXT PRIMARY KEY, v UNIQUE, w REFERENCES x_mine_t) WITHOUT ROWID",
		"CREATE TABLE X_Mine_Three AS SELECT id FROM session",
		"CREATE UNIQUE INDEX x_mine_two_v ON x_mine_two (v)",
		"CREATE VIEW x_mine_view AS SELECT name FROM session",
		"CREATE TRIGGER x_mine_trigger AFTER INSERT ON x_mine_t BEGIN INSERT INTO x_mine_two VALUES (new.v, new.v, 0); END",
		"INSERT INTO x_mine_t VALUES (2)",
		"ALTER TABLE x_mine_two ADD COLUMN z",
		"ALTER TABLE x_mine_two RENAME COLUMN z TO y",
		"ALTER TABLE x_mine_two DROP COLUMN y",
		"SELECT name FROM pragma_table_info('x_mine_two')",
		"PRAGMA table_info(x_mine_two)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT max(i) FROM n",
		"INSERT INTO x_mine_t (v) VALUES (3) ON CONFLICT DO NOTHING RETURNING v",
		"CREATE VIRTUAL TABLE x_mine_fts USING fts5(text)",
		"INSERT INTO x_mine_fts (text) VALUES ('the quick fox')",
		"INSERT INTO x_mine_fts (x_mine_fts) VALUES ('optimize')",
		"SELECT * FROM x_mine_fts WHERE x_mine_fts MATCH 'fox'",
		"DELETE FROM x_mine_fts",
		"DROP TABLE x_mine_fts",
		"REINDEX x_mine_two_v",
		"DROP TRIGGER x_mine_trigger",
		"DROP VIEW x_mine_view",
		"DROP INDEX x_mine_two_v",
		"DROP TABLE x_mine_two",
		"DELETE FROM x_mine_seq",
		"DROP TABLE x_mine_seq",
	} {
		if err := write(l, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// A trigger may be made that reaches further, but never runs.
	if err := write(l, "CREATE TRIGGER x_mine_far AFTER INSERT ON x_mine_t BEGIN DELETE FROM session; END"); err != nil {
		t.Fatal(err)
	}
	if err := write(l, "INSERT INTO x_mine_t VALUES (4)"); !errors.Is(err, sessionstore.ErrForbidden) {
		t.Errorf("trigger: %v", err)
	}
	// What one extension has run stays in SQLite's cache; it is not another's.
	const statement = "INSERT INTO x_other_t VALUES (3)"
	if err := write(other, statement); err != nil {
		t.Fatal(err)
	}
	for _, thief := range []*sessionstore.Ledger{l, long} {
		if err := write(thief, statement); !errors.Is(err, sessionstore.ErrForbidden) {
			t.Errorf("%s wrote through the cache: %v", thief.Extension(), err)
		}
	}
	// Nor is what the store itself ran on that connection.
	create(t, s, "purged")
	if err := s.PurgeSession(context.Background(), "purged"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"DELETE FROM session WHERE number = ?",
		"INSERT INTO ledger_migration (extension, kind, name, applied) VALUES (?, ?, ?, ?)",
	} {
		args := make([]any, strings.Count(sql, "?"))
		if err := write(long, sql, args...); !errors.Is(err, sessionstore.ErrForbidden) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := count(t, l, "SELECT count(*) FROM x_other_t"); got != 2 { // reading is allowed
		t.Errorf("%d rows", got)
	}
	err := l.Read(context.Background(), func(t *tx) error { return t.Exec("INSERT INTO x_mine_t VALUES (9)") })
	if !errors.Is(err, sessionstore.ErrForbidden) {
		t.Errorf("write in Read: %v", err)
	}
	if v, err := s.Session(context.Background(), "one"); err != nil || v.Name != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestLedgerNames(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for _, name := range []string{"", "A", "1a", "-a", "a_b", "a b", "a;b", "é", "a\x00", strings.Repeat("a", sessionstore.MaxExtension+1)} {
		if _, err := s.OpenLedger(ctx, sessionstore.LedgerSpec{Extension: name}); !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	openLedger(t, s, sessionstore.LedgerSpec{Extension: strings.Repeat("a", sessionstore.MaxExtension)})
	nothing := schemaStep("same", "")
	run := sessionstore.DataMigration{Name: "same", Run: func(context.Context, *sessionstore.Ledger, string) (int64, error) { return 0, nil }}
	for i, spec := range []sessionstore.LedgerSpec{
		{Schema: []sessionstore.Migration{nothing, nothing}}, {Schema: []sessionstore.Migration{{Name: "n"}}},
		{Schema: []sessionstore.Migration{schemaStep("", "")}}, {Data: []sessionstore.DataMigration{run, run}},
		{Data: []sessionstore.DataMigration{{Name: "n"}}}, {Data: []sessionstore.DataMigration{{Run: run.Run}}},
	} {
		spec.Extension = "x"
		if _, err := s.OpenLedger(ctx, spec); !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("spec %d: %v", i, err)
		}
	}
	// "lcm" may use its whole prefix until "lcm-memory" is known; then nobody
	// is left with tables he cannot write.
	openLedger(t, s, sessionstore.LedgerSpec{Extension: "lcm", Schema: []sessionstore.Migration{schemaStep("t", "CREATE TABLE x_lcm_memory_t (v)")}})
	if _, err := s.OpenLedger(ctx, sessionstore.LedgerSpec{Extension: "lcm-memory"}); !errors.Is(err, sessionstore.ErrExists) || !strings.Contains(err.Error(), "x_lcm_memory_t") {
		t.Errorf("taken prefix: %v", err)
	}
}

func TestLedgerWritesAreWholeOrNothing(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	l := openLedger(t, s, sessionstore.LedgerSpec{Extension: "x", Schema: []sessionstore.Migration{schemaStep("t", "CREATE TABLE x_x_t (v UNIQUE)")}})
	failure := errors.New("failure")
	cancelled, cancel := context.WithCancel(ctx)
	var kept *tx
	for what, c := range map[string]struct {
		ctx  context.Context
		fn   func(*tx) error
		want error
	}{
		"error":     {ctx, func(*tx) error { return failure }, failure},
		"panic":     {ctx, func(*tx) error { panic("oh") }, nil},
		"cancelled": {cancelled, func(*tx) error { cancel(); return nil }, context.Canceled},
		"endless": {cancelled, func(t *tx) error {
			cancel()
			return t.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO x_x_t SELECT i FROM n")
		}, context.Canceled},
		"rolled back under its feet": {ctx, func(t *tx) error {
			_ = t.Exec("INSERT OR ROLLBACK INTO x_x_t VALUES (1)")
			return nil
		}, nil},
		"argument": {ctx, func(t *tx) error { return t.Exec("INSERT INTO x_x_t VALUES (?)", struct{}{}) }, sessionstore.ErrInvalid},
		"too few":  {ctx, func(t *tx) error { return t.Exec("INSERT INTO x_x_t VALUES (?)") }, sessionstore.ErrInvalid},
		"too many": {ctx, func(t *tx) error { return t.Exec("INSERT INTO x_x_t VALUES (2)", 1) }, sessionstore.ErrInvalid},
		"kept":     {ctx, func(t *tx) error { kept = t; return failure }, failure},
	} {
		err := l.Write(c.ctx, func(t *tx) error {
			if err := t.Exec("INSERT INTO x_x_t VALUES (1)"); err != nil {
				return err
			}
			return c.fn(t)
		})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
		if got := count(t, l, "SELECT count(*) FROM x_x_t"); got != 0 {
			t.Errorf("%s: %d rows", what, got)
		}
		create(t, s, strings.ReplaceAll(what, " ", "-")) // the store goes on
	}
	if err := kept.Exec("INSERT INTO x_x_t VALUES (1)"); err == nil {
		t.Error("a transaction outlived its function")
	}
	if err := l.Read(ctx, func(*tx) error { panic("oh") }); err == nil {
		t.Error("a panic in Read passed")
	}
	endless, stop := context.WithTimeout(ctx, 20*time.Millisecond)
	defer stop()
	err := l.Read(endless, func(t *tx) error {
		return t.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endless read: %v", err)
	}
}

func TestLedgerValues(t *testing.T) {
	s := open(t, sessionstore.Options{})
	l := openLedger(t, s, sessionstore.LedgerSpec{Extension: "x", Schema: []sessionstore.Migration{
		schemaStep("t", "CREATE TABLE x_x_t (parent, v)"),
	}})
	at := time.Date(2026, 11, 30, 1, 2, 3, int(4*time.Millisecond), time.UTC)
	var missing *int64
	err := l.Write(context.Background(), func(x *tx) error {
		for i, v := range []any{nil, true, 7, int32(7), int64(1 << 40), uint32(7), 1.5, "text", []byte{1, 2}, number(9), missing, at, time.Time{}} {
			if err := x.Exec("INSERT INTO x_x_t VALUES (?, ?)", i/2-1, v); err != nil {
				return err
			}
		}
		var got []string
		err := x.Query("SELECT v FROM x_x_t ORDER BY rowid", func(r *sessionstore.Row) error {
			got = append(got, fmt.Sprint(r.IsNull(0), r.Int64(0), r.Bool(0), r.Float64(0), " ", r.Text(0), " ", r.Bytes(0)))
			if r.Int64(0) == at.UnixMilli() && !r.Time(0).Equal(at) {
				t.Errorf("time %v", r.Time(0))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(got) != 13 || got[0] != "true 0 false 0  []" || got[8] != "false 0 false 0 \x01\x02 [1 2]" || got[10] != got[0] {
			t.Errorf("%q", got)
		}

		// A walk that asks the same question at every level.
		visited := 0
		var walk func(parent int64) error
		walk = func(parent int64) error {
			return x.Query("SELECT rowid FROM x_x_t WHERE parent = ? ORDER BY rowid", func(r *sessionstore.Row) error {
				visited++
				return walk(r.Int64(0) - 1)
			}, parent)
		}
		if err := walk(-1); err != nil || visited != 13-1 && visited != 13 {
			t.Errorf("%d nodes visited, %v", visited, err)
		}
		if err := x.Exec("DELETE FROM x_x_t"); err != nil || x.Changes() != 13 {
			t.Errorf("%d changes, %v", x.Changes(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
