package sessionstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"
)

// NewEntry is an entry before it has a number and a time.
type NewEntry struct {
	Kind    string   // 1 to MaxName bytes
	Turn    string   // empty: outside a turn
	Payload []byte   // at most MaxPayload bytes
	Blobs   []string // hashes of blobs the payload refers to, each put before; they live as long as the entry
}

// Input waits in a session's durable queue until it becomes an entry.
type Input struct {
	ID      string // unique among the session's waiting inputs
	Kind    string
	Payload []byte
	Time    time.Time // when it was accepted; zero in a Change: now
}

// StageChange moves the session's turn on.
type StageChange struct {
	Stage Stage
	Turn  string // empty when idle
}

// Change is what one commit does, all of it or nothing.
type Change struct {
	Append   []NewEntry   // at most MaxAppend, numbered in this order
	Stage    *StageChange // nil: stays
	Enqueue  []Input      // ErrQueueFull when more than MaxQueue would wait after Dequeue
	Dequeue  []string     // ids; ErrNotFound when one does not wait
	Requests []Request    // at most MaxRequests
	Preview  string       // kept only if the session has none yet
}

// Receipt says what a commit became.
type Receipt struct {
	First, Last int64     // numbers of the appended entries; Last is the newest entry even if none was, First is then Last+1
	Time        time.Time // UTC, in milliseconds
}

// Commit applies a change to a session in one transaction and returns once it
// is durable. p must be one of CommitPoints.
//
// On any error nothing of the change is visible and the store stays usable:
// ErrNotFound, ErrDeleted, ErrInvalid, ErrExists (an input or request id),
// ErrQueueFull, *FullError, *BusyError, or the context's, which is heard only
// until the transaction begins.
func (s *Store) Commit(ctx context.Context, session string, p Point, c Change) (Receipt, error) {
	var r Receipt
	if !slices.Contains(CommitPoints(), p) {
		return r, fmt.Errorf("commit to session %s: unknown point %q: %w", session, p, ErrInvalid)
	}
	if err := c.check(); err != nil {
		return r, fmt.Errorf("commit to session %s (%s): %w", session, p, err)
	}
	err := s.write(ctx, p, func(conn *sqlite.Conn) (err error) {
		r, err = s.apply(conn, session, c)
		return err
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("commit to session %s (%s): %w", session, p, err)
	}
	return r, nil
}

func (c Change) check() error {
	if len(c.Append) > MaxAppend {
		return fmt.Errorf("%d entries, at most %d: %w", len(c.Append), MaxAppend, ErrInvalid)
	}
	if len(c.Requests) > MaxRequests {
		return fmt.Errorf("%d requests, at most %d: %w", len(c.Requests), MaxRequests, ErrInvalid)
	}
	for _, e := range c.Append {
		if err := e.check(); err != nil {
			return err
		}
	}
	for _, in := range c.Enqueue {
		if err := in.check(); err != nil {
			return err
		}
	}
	for _, q := range c.Requests {
		if err := q.check(len(c.Append)); err != nil {
			return err
		}
	}
	if c.Stage != nil {
		if !c.Stage.Stage.valid() {
			return fmt.Errorf("stage %.40q: %w", c.Stage.Stage, ErrInvalid)
		}
		return checkText("turn", c.Stage.Turn, MaxID)
	}
	return nil
}

func (e NewEntry) check() error {
	if err := checkKey("entry kind", e.Kind, MaxName); err != nil {
		return err
	}
	if err := checkText("turn", e.Turn, MaxID); err != nil {
		return err
	}
	if len(e.Blobs) > MaxReferences {
		return fmt.Errorf("%d blobs in one entry, at most %d: %w", len(e.Blobs), MaxReferences, ErrInvalid)
	}
	return checkPayload("entry", e.Payload)
}

func (in Input) check() error {
	if err := checkKey("input id", in.ID, MaxID); err != nil {
		return err
	}
	if err := checkKey("input kind", in.Kind, MaxName); err != nil {
		return err
	}
	return checkPayload("input", in.Payload)
}

// head is what a commit needs to know of its session.
type head struct {
	number, entries, updated int64
	deleted                  bool
	stage, turn, preview     string
}

func readHead(conn *sqlite.Conn, session string) (h head, err error) {
	err = query(conn, "SELECT number, entries, updated, deleted, stage, turn, preview FROM session WHERE id = ?",
		func(stmt *sqlite.Stmt) error {
			h = head{
				number: stmt.ColumnInt64(0), entries: stmt.ColumnInt64(1), updated: stmt.ColumnInt64(2),
				deleted: stmt.ColumnInt64(3) != 0,
				stage:   stmt.ColumnText(4), turn: stmt.ColumnText(5), preview: stmt.ColumnText(6),
			}
			return nil
		}, session)
	switch {
	case err != nil:
		return head{}, err
	case h.number == 0:
		return head{}, ErrNotFound
	case h.deleted:
		return head{}, ErrDeleted
	}
	return h, nil
}

func (s *Store) apply(conn *sqlite.Conn, session string, c Change) (Receipt, error) {
	h, err := readHead(conn, session)
	if err != nil {
		return Receipt{}, err
	}
	// A clock that was set back must not reorder a session.
	now := max(s.now().UnixMilli(), h.updated)
	r := Receipt{First: h.entries + 1, Last: h.entries + int64(len(c.Append)), Time: fromMillis(now)}
	if r.Last > MaxEntries {
		return Receipt{}, fmt.Errorf("the session is full: at most %d entries: %w", int64(MaxEntries), ErrInvalid)
	}
	for i, e := range c.Append {
		if err := appendEntry(conn, entryKey(h.number, r.First+int64(i)), now, e); err != nil {
			return Receipt{}, err
		}
	}
	if err := changeQueue(conn, h.number, now, c); err != nil {
		return Receipt{}, err
	}
	if err := addRequests(conn, h.number, r.First, c.Requests); err != nil {
		return Receipt{}, err
	}
	if c.Stage != nil {
		h.stage, h.turn = string(c.Stage.Stage), c.Stage.Turn
	}
	if h.preview == "" {
		h.preview = preview(c.Preview)
	}
	return r, exec(conn, "UPDATE session SET entries = ?, updated = ?, stage = ?, turn = ?, preview = ? WHERE number = ?",
		r.Last, now, h.stage, h.turn, h.preview, h.number)
}

func appendEntry(conn *sqlite.Conn, key, now int64, e NewEntry) error {
	err := exec(conn, "INSERT INTO entry (key, kind, turn, time, payload) VALUES (?, ?, ?, ?, ?)",
		key, e.Kind, e.Turn, now, e.Payload)
	if err != nil {
		return err
	}
	for _, hash := range e.Blobs {
		err := exec(conn, "INSERT OR IGNORE INTO blob_reference (entry, hash) VALUES (?, ?)", key, hash)
		if err != nil {
			return err
		}
		if conn.Changes() == 0 {
			continue // the entry names the blob twice
		}
		if err := exec(conn, "UPDATE blob SET refs = refs + 1 WHERE hash = ?", hash); err != nil {
			return err
		}
		if conn.Changes() == 0 {
			return fmt.Errorf("blob %.64s was never put: %w", hash, ErrNotFound)
		}
	}
	return nil
}

func changeQueue(conn *sqlite.Conn, number, now int64, c Change) error {
	for _, id := range c.Dequeue {
		if err := exec(conn, "DELETE FROM input WHERE session = ? AND id = ?", number, id); err != nil {
			return err
		}
		if conn.Changes() == 0 {
			return fmt.Errorf("input %.*s is not waiting: %w", MaxID, id, ErrNotFound)
		}
	}
	if len(c.Enqueue) == 0 {
		return nil
	}
	var waiting int
	err := query(conn, "SELECT count(*) FROM input WHERE session = ?", func(stmt *sqlite.Stmt) error {
		waiting = stmt.ColumnInt(0)
		return nil
	}, number)
	if err != nil {
		return err
	}
	if waiting+len(c.Enqueue) > MaxQueue {
		return ErrQueueFull
	}
	for _, in := range c.Enqueue {
		accepted := millis(in.Time)
		if accepted == 0 {
			accepted = now
		}
		err := exec(conn, "INSERT INTO input (session, id, kind, time, payload) VALUES (?, ?, ?, ?, ?)",
			number, in.ID, in.Kind, accepted, in.Payload)
		if err != nil {
			return unique(err, "input "+in.ID)
		}
	}
	return nil
}

// Inputs returns what waits in a session's queue, in the order of acceptance.
func (s *Store) Inputs(ctx context.Context, session string) ([]Input, error) {
	var list []Input
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, session)
		if err != nil {
			return err
		}
		return query(conn, "SELECT id, kind, time, payload FROM input WHERE session = ? ORDER BY key",
			func(stmt *sqlite.Stmt) error {
				list = append(list, Input{
					ID: stmt.ColumnText(0), Kind: stmt.ColumnText(1),
					Time: fromMillis(stmt.ColumnInt64(2)), Payload: columnBytes(stmt, 3),
				})
				return nil
			}, number)
	})
	if err != nil {
		return nil, fmt.Errorf("inputs of session %s: %w", session, err)
	}
	return list, nil
}
