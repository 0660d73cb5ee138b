package sessionstore

import (
	"context"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// PurgeSession removes a session for good, deleted before or not: the clean-up
// of every open ledger, then its entries, inputs, request rows and blob
// references, and the session itself, in one transaction (plugins.md 1.11). If
// a clean-up fails, nothing is removed. What the session used is kept as sums,
// which Spending knows. Blobs nobody else refers to go too, once their grace is
// over.
func (s *Store) PurgeSession(ctx context.Context, id string) error {
	if err := s.purge(ctx, id); err != nil {
		return fmt.Errorf("purge session %s: %w", id, err)
	}
	// The session is gone, which is what was asked for; blobs that this sweep
	// cannot remove are found by the next one.
	_, _ = s.sweepRows(ctx, s.now().Add(-BlobGrace))
	s.forget(ctx)
	return nil
}

// forget has the log of changes no longer hold what was removed. While another process reads an old state it stays a little longer.
func (s *Store) forget(ctx context.Context) {
	give, err := s.take(ctx)
	if err != nil {
		return // the store is closing: the last one to close empties the log
	}
	defer give()
	_ = pragma(s.writer, "wal_checkpoint(TRUNCATE)")
}

func (s *Store) purge(ctx context.Context, id string) error {
	give, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	defer s.ledgers.disown()
	// Clean-ups belong on the guarded connection, and the rest must share
	// their transaction.
	conn := s.writer
	if s.ledgers.conn != nil {
		conn = s.ledgers.conn
	}
	return s.transact(ctx, conn, SessionPurged, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, id)
		if err != nil {
			return err
		}
		for _, l := range s.ledgers.open {
			if l.spec.Clean == nil {
				continue
			}
			err := s.ledgers.run(ctx, l.spec.Extension, func(tx *Tx) error { return l.spec.Clean(ctx, tx, id) })
			if err != nil {
				return fmt.Errorf("clean-up of extension %s: %w", l.spec.Extension, err)
			}
		}
		if err := countReferences(conn, number, -1); err != nil {
			return err
		}
		if err := keepSpent(conn, number, id); err != nil {
			return err
		}
		first, last := entryKey(number, 0), entryKey(number, MaxEntries)
		for _, table := range []string{"blob_reference WHERE entry", "entry WHERE key"} {
			if err := exec(conn, "DELETE FROM "+table+" BETWEEN ? AND ?", first, last); err != nil {
				return err
			}
		}
		for _, table := range []string{"input WHERE session", "request WHERE session", "total WHERE session", "tag WHERE session", "session WHERE number"} {
			if err := exec(conn, "DELETE FROM "+table+" = ?", number); err != nil {
				return err
			}
		}
		return nil
	})
}
