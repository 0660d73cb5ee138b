package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octavo/sessionstore"
)

// fact is something the store outside of a session's commits makes durable:
// how to do the nth, and whether it was done.
type fact struct {
	do   func(ctx context.Context, s *sessionstore.Store, n int) error
	done func(ctx context.Context, s *sessionstore.Store, n int) (bool, error)
}

func exists(_ sessionstore.Session, err error) (bool, error) {
	if errors.Is(err, sessionstore.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func id(n int) string { return fmt.Sprintf("s-%d", n) }

// refers says whether a blob is known, by committing an entry with it.
func refers(ctx context.Context, s *sessionstore.Store, hash string) (bool, error) {
	_, err := s.Commit(ctx, "one", sessionstore.NoteStored, sessionstore.Change{
		Append: []sessionstore.NewEntry{{Kind: "picture", Blobs: []string{hash}}},
	})
	return exists(sessionstore.Session{}, err)
}

func ledgerOf(ctx context.Context, s *sessionstore.Store, migrations int) (*sessionstore.Ledger, error) {
	spec := sessionstore.LedgerSpec{Extension: "facts"}
	for n := range migrations {
		spec.Schema = append(spec.Schema, sessionstore.Migration{
			Name: fmt.Sprint(n),
			Apply: func(_ context.Context, tx *sessionstore.Tx) error {
				return tx.Exec(fmt.Sprintf("CREATE TABLE x_facts_%d (n)", n))
			},
		})
	}
	return s.OpenLedger(ctx, spec)
}

func tableExists(ctx context.Context, l *sessionstore.Ledger, name string) (found bool, err error) {
	err = l.Read(ctx, func(tx *sessionstore.Tx) error {
		return tx.Query("SELECT 1 FROM sqlite_schema WHERE name = ?", func(*sessionstore.Row) error { found = true; return nil }, name)
	})
	return found, err
}

// sweptLater moves a child's clock past every grace.
var sweptLater atomic.Bool

func childClock() time.Time {
	if sweptLater.Load() {
		return time.Now().Add(2 * sessionstore.BlobGrace)
	}
	return time.Now()
}

func facts() map[sessionstore.Point]fact {
	type ctx = context.Context
	type store = *sessionstore.Store
	return map[sessionstore.Point]fact{
		sessionstore.SessionCreated: {
			do:   func(c ctx, s store, n int) error { return s.CreateSession(c, sessionstore.Session{ID: id(n)}) },
			done: func(c ctx, s store, n int) (bool, error) { return exists(s.Session(c, id(n))) },
		},
		sessionstore.SessionChanged: {
			do: func(c ctx, s store, n int) error {
				name := id(n)
				return s.PatchSession(c, "one", sessionstore.SessionPatch{Name: &name})
			},
			done: func(c ctx, s store, n int) (bool, error) {
				v, err := s.Session(c, "one")
				return v.Name == id(n), err
			},
		},
		sessionstore.SessionForked: {
			do: func(c ctx, s store, n int) error { return s.Fork(c, "one", 1, sessionstore.Session{ID: id(n)}) },
			done: func(c ctx, s store, n int) (bool, error) {
				list, err := s.Entries(c, id(n), sessionstore.Range{})
				if err == nil && len(list) != 1 {
					err = fmt.Errorf("the fork has %d entries", len(list))
				}
				return exists(sessionstore.Session{}, err)
			},
		},
		sessionstore.SessionPurged: {
			do: func(c ctx, s store, n int) error {
				if err := s.Fork(c, "one", 1, sessionstore.Session{ID: id(n)}); err != nil {
					return err
				}
				return s.PurgeSession(c, id(n))
			},
			done: func(c ctx, s store, n int) (bool, error) {
				found, err := exists(s.Session(c, id(n)))
				return !found, err
			},
		},
		sessionstore.EpochStarted: {
			do: func(c ctx, s store, _ int) error { _, err := s.NextEpoch(c, "one"); return err },
			done: func(c ctx, s store, n int) (bool, error) {
				v, err := s.Session(c, "one")
				if v.Epoch > int64(n)+1 {
					err = fmt.Errorf("epoch %d after %d openings", v.Epoch, n+1)
				}
				return v.Epoch == int64(n)+1, err
			},
		},
		sessionstore.BlobStored: {
			do:   func(c ctx, s store, n int) error { _, err := s.PutBlob(c, []byte(id(n))); return err },
			done: func(c ctx, s store, n int) (bool, error) { return refers(c, s, hashOf([]byte(id(n)))) },
		},
		sessionstore.BlobsSwept: {
			// Whatever a sweep was killed at, the bytes can be put again.
			do: func(c ctx, s store, n int) error {
				if _, err := s.PutBlob(c, []byte(id(n))); err != nil {
					return err
				}
				sweptLater.Store(true)
				_, err := s.SweepBlobs(c)
				return err
			},
			done: func(c ctx, s store, n int) (bool, error) {
				_, err := s.Blob(c, hashOf([]byte(id(n))))
				found, err := exists(sessionstore.Session{}, err)
				if err == nil && !found {
					_, err = s.PutBlob(c, []byte(id(n)))
				}
				return !found, err
			},
		},
		sessionstore.PreferenceStored: {
			do: func(c ctx, s store, n int) error { return s.SetPreference(c, "theme", id(n)) },
			done: func(c ctx, s store, n int) (bool, error) {
				value, _, err := s.Preference(c, "theme")
				return value == id(n), err
			},
		},
		sessionstore.PromptStored: {
			do: func(c ctx, s store, n int) error { return s.AddPrompt(c, "/w", id(n)) },
			done: func(c ctx, s store, n int) (bool, error) {
				list, err := s.Prompts(c, "/w", 0)
				if err != nil {
					return false, err
				}
				if count := len(slices.DeleteFunc(list, func(p string) bool { return p != id(n) })); count > 1 {
					return true, fmt.Errorf("prompt %d is there %d times", n, count)
				}
				list, err = s.Prompts(c, "/w", 1)
				return len(list) == 1 && list[0] == id(n), err
			},
		},
		sessionstore.LedgerWritten: {
			do: func(c ctx, s store, n int) error {
				l, err := ledgerOf(c, s, 1)
				if err != nil {
					return err
				}
				return l.Write(c, func(tx *sessionstore.Tx) error { return tx.Exec("INSERT INTO x_facts_0 (n) VALUES (?)", n) })
			},
			done: func(c ctx, s store, n int) (bool, error) {
				l, err := ledgerOf(c, s, 1)
				if err != nil {
					return false, err
				}
				var count int64
				err = l.Read(c, func(tx *sessionstore.Tx) error {
					return tx.Query("SELECT count(*) FROM x_facts_0 WHERE n = ?", func(r *sessionstore.Row) error {
						count = r.Int64(0)
						return nil
					}, n)
				})
				if count > 1 {
					err = fmt.Errorf("row %d is there %d times", n, count)
				}
				return count == 1, err
			},
		},
		sessionstore.LedgerMigrated: {
			do: func(c ctx, s store, n int) error { _, err := ledgerOf(c, s, n+1); return err },
			// Opening again must finish what was not done, and not repeat what was.
			done: func(c ctx, s store, n int) (bool, error) {
				reader, err := s.OpenLedger(c, sessionstore.LedgerSpec{Extension: "reader"})
				if err != nil {
					return false, err
				}
				found, err := tableExists(c, reader, fmt.Sprintf("x_facts_%d", n))
				if err != nil {
					return found, err
				}
				if _, err := ledgerOf(c, s, n+1); err != nil {
					return found, err
				}
				after, err := tableExists(c, reader, fmt.Sprintf("x_facts_%d", n))
				if err == nil && !after {
					err = fmt.Errorf("migration %d did not run again", n)
				}
				return found, err
			},
		},
	}
}

func playFacts(o order, s *sessionstore.Store) error {
	return facts()[o.Point].do(context.Background(), s, o.Start)
}

// The same for everything that is stored outside a session's commits.
func TestKilledStoreKeepsTheWholeFactOrNone(t *testing.T) {
	ctx := context.Background()
	list := facts()
	for _, point := range sessionstore.Points() {
		if slices.Contains(sessionstore.CommitPoints(), point) {
			continue
		}
		f, ok := list[point]
		if !ok {
			t.Errorf("no test kills at %q", point)
			continue
		}
		t.Run(strings.ReplaceAll(string(point), " ", "-"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := open(t, sessionstore.Options{Dir: dir})
			create(t, first, "one")
			commit(t, first, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
			if _, err := ledgerOf(ctx, first, 1); err != nil {
				t.Fatal(err)
			}
			done := -1
			for n := range kills(point) {
				n++ // migration 0 made the table
				number := n
				if point == sessionstore.EpochStarted {
					number = done + 1 // epochs have no gaps
				}
				o := order{Role: "facts", Dir: dir, Start: number, Point: point, Phase: sessionstore.Phase(n % 2), Nth: 1}
				if acks := runChild(t, o); acks != 0 {
					t.Fatal("acknowledged what it died in")
				}
				s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.done(ctx, s, number)
				if err != nil {
					t.Fatalf("kill %d: %v", n, err)
				}
				want := o.Phase == sessionstore.AfterCommit
				if point == sessionstore.BlobsSwept {
					want = got // both are allowed: the bytes were nobody's
				}
				if got != want {
					t.Fatalf("kill %d (%s): done is %v", n, o.Phase, got)
				}
				if got {
					done = number
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := first.Check(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
