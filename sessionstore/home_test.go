package sessionstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"octavo/sessionstore"
)

// open opens a home, a fresh one unless o names it, until the test ends.
func open(t testing.TB, o sessionstore.Options) *sessionstore.Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := sessionstore.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func create(t testing.TB, s *sessionstore.Store, id string) {
	t.Helper()
	if err := s.CreateSession(context.Background(), sessionstore.Session{ID: id, Workspace: "/w", Model: "m"}); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, s *sessionstore.Store, id string, p sessionstore.Point, c sessionstore.Change) sessionstore.Receipt {
	t.Helper()
	r, err := s.Commit(context.Background(), id, p, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func entries(t testing.TB, s *sessionstore.Store, id string, r sessionstore.Range) []sessionstore.Entry {
	t.Helper()
	list, err := s.Entries(context.Background(), id, r)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func number(n int64) *int64 { return &n }

// request is a complete usage row.
func request(id string) sessionstore.Request {
	return sessionstore.Request{
		ID: id, Kind: sessionstore.RequestTurn, Provider: "p", Model: "m", Outcome: sessionstore.OutcomeOK, Status: 200,
		Input: number(10), CacheRead: number(20), CacheWrite: number(30), Output: number(40), Reasoning: number(5),
		CostMicro: number(1), CostPico: 600_000,
	}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// file is the database of a home.
func file(dir string) string { return filepath.Join(dir, sessionstore.FileName) }

// sqlScript changes a database behind the store's back.
func sqlScript(path, script string) error {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return err
	}
	return errors.Join(sqlitex.ExecuteScript(conn, script, nil), conn.Close())
}
