package sessionstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
