package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"octavo/sessionstore"
)

func TestLedgerMigratesOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	spec := sessionstore.LedgerSpec{Extension: "web-search", Schema: []sessionstore.Migration{
		schemaStep("tables", `
			CREATE TABLE x_web_search_hit (key INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, seen INTEGER); -- two
			CREATE INDEX x_web_search_seen ON x_web_search_hit (seen);
			-- the end`),
	}}
	first := open(t, sessionstore.Options{Dir: dir})
	l := openLedger(t, first, spec)
	if l.Prefix() != "x_web_search_" || l.Extension() != "web-search" {
		t.Errorf("%s, %s", l.Prefix(), l.Extension())
	}
	if err := write(l, "INSERT INTO x_web_search_hit (url) VALUES (?)", "u"); err != nil {
		t.Fatal(err)
	}
	if _, err := first.OpenLedger(ctx, spec); !errors.Is(err, sessionstore.ErrExists) {
		t.Errorf("opened twice: %v", err)
	}

	// The next version: one step more, which at first fails half way.
	broken := errors.New("broken")
	failing := spec
	failing.Schema = append(slices.Clone(spec.Schema), sessionstore.Migration{Name: "notes", Apply: func(_ context.Context, t *tx) error {
		if err := t.Exec("CREATE TABLE x_web_search_note (text)"); err != nil {
			return err
		}
		return broken
	}})
	second := open(t, sessionstore.Options{Dir: dir})
	if _, err := second.OpenLedger(ctx, failing); !errors.Is(err, broken) || !strings.Contains(err.Error(), "web-search: migration notes") {
		t.Errorf("failing step: %v", err)
	}
	better := spec
	better.Schema = append(slices.Clone(spec.Schema), schemaStep("notes", "CREATE TABLE x_web_search_note (text)"))
	l = openLedger(t, second, better)
	if got := count(t, l, "SELECT count(*) FROM x_web_search_hit"); got != 1 {
		t.Errorf("%d rows after the second migration", got)
	}

	// The older version must not touch what it does not know.
	third := open(t, sessionstore.Options{Dir: dir})
	var newer *sessionstore.NewerError
	if _, err := third.OpenLedger(ctx, spec); !errors.As(err, &newer) || newer.Extension != "web-search" {
		t.Errorf("older version: %v", err)
	}
}

func TestDataMigrationsRunOnceInOrderAfterOneBackup(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	var ran, backups []string
	var failing error
	data := func(name string) sessionstore.DataMigration {
		return sessionstore.DataMigration{Name: name, Run: func(ctx context.Context, l *sessionstore.Ledger, backup string) (int64, error) {
			ran = append(ran, l.Extension()+"/"+name)
			backups = append(backups, backup)
			if name == "second" && failing != nil {
				return 0, failing
			}
			var rows int64
			err := l.Write(ctx, func(x *tx) error {
				err := x.Exec("UPDATE " + l.Prefix() + "t SET v = v + 1")
				rows = int64(x.Changes())
				return err
			})
			return rows, err
		}}
	}
	specs := func() (list []sessionstore.LedgerSpec) {
		for _, name := range []string{"b", "a"} {
			list = append(list, sessionstore.LedgerSpec{
				Extension: name, Schema: []sessionstore.Migration{schemaStep("t", fmt.Sprintf("CREATE TABLE x_%s_t (v); INSERT INTO x_%[1]s_t VALUES (1), (1)", name))},
				Data: []sessionstore.DataMigration{data("first"), data("second")},
			})
		}
		return list
	}
	start := func() (*sessionstore.Store, []*sessionstore.Ledger) {
		s := open(t, sessionstore.Options{Dir: dir})
		var list []*sessionstore.Ledger
		for _, spec := range specs() {
			list = append(list, openLedger(t, s, spec))
		}
		return s, list
	}

	failing = errors.New("cannot")
	s, _ := start()
	done, err := s.RunDataMigrations(ctx)
	if !errors.Is(err, failing) || len(done) != 1 || done[0] != (sessionstore.Migrated{Extension: "b", Name: "first", Rows: 2}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if backups[0] == "" || backups[0] != backups[1] || !strings.Contains(err.Error(), backups[0]) {
		t.Errorf("backups %q; %v", backups, err)
	}
	if info, err := os.Stat(backups[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}

	failing = nil
	s, ledgers := start()
	if done, err = s.RunDataMigrations(ctx); err != nil || len(done) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err = s.RunDataMigrations(ctx); err != nil || len(done) != 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
	if got := strings.Join(ran, " "); got != "b/first b/second b/second a/first a/second" {
		t.Errorf("ran %s", got)
	}
	if backups[2] == backups[0] || backups[2] != backups[4] {
		t.Errorf("backups %q", backups)
	}
	for _, l := range ledgers {
		if got := count(t, l, "SELECT sum(v) FROM "+l.Prefix()+"t"); got != 6 {
			t.Errorf("%s: %d", l.Extension(), got)
		}
	}
	// The first backup holds the state before any of it.
	if err := sqlScript(backups[0], "CREATE TABLE proof AS SELECT 1 / (sum(v) = 2) AS ok FROM x_b_t; CREATE TABLE strict (ok INT NOT NULL); INSERT INTO strict SELECT ok FROM proof"); err != nil {
		t.Error(err)
	}

	panicking := openLedger(t, s, sessionstore.LedgerSpec{Extension: "p", Data: []sessionstore.DataMigration{{
		Name: "panics", Run: func(context.Context, *sessionstore.Ledger, string) (int64, error) { panic("oh") },
	}}})
	if _, err := s.RunDataMigrations(ctx); err == nil || !strings.Contains(err.Error(), panicking.Extension()) {
		t.Errorf("panic: %v", err)
	}
}
