package sessionstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"
)

// Entry is one numbered, immutable record of a session.
type Entry struct {
	Seq     int64 // from 1, without gaps
	Kind    string
	Turn    string
	Time    time.Time // UTC, in milliseconds; never before that of the entry before
	Payload []byte
}

// Range selects entries by number.
type Range struct {
	After, Before int64 // exclusive; 0: open
	Limit         int   // 0: all of them (for a long session use EachEntry)
	Newest        bool  // with Limit: the newest of the range, not the oldest
}

const (
	seqBits = 32
	// pageEntries and pageBytes bound what EachEntry holds at a time.
	pageEntries = 512
	pageBytes   = 4 << 20
)

// entryKey is the row of an entry; see schema.
func entryKey(session, seq int64) int64 { return session<<seqBits | seq }

// Entries returns a range of a session's entries, always ascending. Deleted
// sessions can be read; ErrNotFound if there is no such session.
func (s *Store) Entries(ctx context.Context, session string, r Range) ([]Entry, error) {
	var list []Entry
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, session)
		if err != nil {
			return err
		}
		first, last := bounds(r)
		sql := "SELECT key, kind, turn, time, payload FROM entry WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?"
		if r.Newest {
			sql = "SELECT key, kind, turn, time, payload FROM entry WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?"
		}
		limit := int64(math.MaxInt64)
		if r.Limit > 0 {
			limit = int64(r.Limit)
		}
		return query(conn, sql, func(stmt *sqlite.Stmt) error {
			list = append(list, scanEntry(stmt))
			return nil
		}, entryKey(number, first), entryKey(number, last), limit)
	})
	if err != nil {
		return nil, fmt.Errorf("entries of session %s: %w", session, err)
	}
	if r.Newest {
		slices.Reverse(list)
	}
	return list, nil
}

// bounds makes r inclusive and keeps it inside one session's keys.
func bounds(r Range) (first, last int64) {
	first, last = 1, MaxEntries
	if r.After > 0 {
		first = min(r.After, MaxEntries) + 1
	}
	if r.Before > 0 {
		last = min(r.Before-1, MaxEntries)
	}
	if first > last {
		return 1, 0 // an empty range: first may have left the session's keys
	}
	return first, last
}

func scanEntry(stmt *sqlite.Stmt) Entry {
	return Entry{
		Seq:  stmt.ColumnInt64(0) & MaxEntries,
		Kind: stmt.ColumnText(1), Turn: stmt.ColumnText(2),
		Time: fromMillis(stmt.ColumnInt64(3)), Payload: columnBytes(stmt, 4),
	}
}

// EachEntry calls fn for every entry after a number, ascending, up to the one
// that is the newest when it starts. It holds a few megabytes and no
// connection while fn runs, so fn may call the store; an error of fn ends it
// and is returned as it is.
func (s *Store) EachEntry(ctx context.Context, session string, after int64, fn func(Entry) error) error {
	var end int64
	for {
		page, newest, err := s.page(ctx, session, after)
		if err != nil {
			return fmt.Errorf("entries of session %s: %w", session, err)
		}
		if end == 0 {
			end = newest
		}
		for _, e := range page {
			if e.Seq > end {
				return nil
			}
			if err := fn(e); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(page) == 0 || after >= end {
			return nil
		}
	}
}

// page reads up to pageEntries entries or, if sooner, just over pageBytes.
func (s *Store) page(ctx context.Context, session string, after int64) (list []Entry, newest int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		var number int64
		err := query(conn, "SELECT number, entries FROM session WHERE id = ?", func(stmt *sqlite.Stmt) error {
			number, newest = stmt.ColumnInt64(0), stmt.ColumnInt64(1)
			return nil
		}, session)
		if err != nil {
			return err
		}
		if number == 0 {
			return ErrNotFound
		}
		first, last := bounds(Range{After: after})
		stmt, err := conn.Prepare("SELECT key, kind, turn, time, payload FROM entry WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?")
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindInt64(1, entryKey(number, first))
		stmt.BindInt64(2, entryKey(number, last))
		stmt.BindInt64(3, pageEntries)
		for size := 0; size < pageBytes; {
			more, err := stmt.Step()
			if err != nil || !more {
				return err
			}
			e := scanEntry(stmt)
			size += len(e.Payload)
			list = append(list, e)
		}
		return nil
	})
	return list, newest, err
}

// Fork creates the session `into` with a copy of the entries 1..through of
// `from`, under the same numbers, in one transaction. Workspace, model, effort,
// policy and preview are those of `from` where `into` leaves them empty; stage
// and turn are those of `into`. The queue and the request rows are not copied. ErrNotFound, ErrDeleted,
// ErrExists, or ErrInvalid when from has no entry `through`.
func (s *Store) Fork(ctx context.Context, from string, through int64, into Session) error {
	if err := into.check(); err != nil {
		return fmt.Errorf("fork session %s: %w", from, err)
	}
	err := s.write(ctx, SessionForked, func(conn *sqlite.Conn) error {
		parent, err := findSession(conn, from)
		if err != nil {
			return err
		}
		if through < 0 || through > parent.Entries {
			return fmt.Errorf("entry %d of %d: %w", through, parent.Entries, ErrInvalid)
		}
		into.Parent, into.ParentSeq = from, through
		if into.Stage != "" && !into.Stage.valid() {
			return fmt.Errorf("stage %.40q: %w", into.Stage, ErrInvalid)
		}
		for _, f := range []struct {
			into *string
			from string
		}{
			{&into.Workspace, parent.Workspace}, {&into.Model, parent.Model}, {&into.Effort, parent.Effort},
			{&into.Policy, parent.Policy}, {&into.Preview, parent.Preview},
		} {
			if *f.into == "" {
				*f.into = f.from
			}
		}
		if err := s.insertSession(conn, into, through); err != nil {
			return err
		}
		return copyEntries(conn, from, into.ID, through)
	})
	if err != nil {
		return fmt.Errorf("fork session %s into %s: %w", from, into.ID, err)
	}
	return nil
}

func copyEntries(conn *sqlite.Conn, from, into string, through int64) error {
	source, err := numberOf(conn, from)
	if err != nil {
		return err
	}
	target, err := numberOf(conn, into)
	if err != nil {
		return err
	}
	shift, first, last := (target-source)<<seqBits, entryKey(source, 1), entryKey(source, through)
	for _, sql := range []string{
		"INSERT INTO entry (key, kind, turn, time, payload) SELECT key + ?1, kind, turn, time, payload FROM entry WHERE key BETWEEN ?2 AND ?3 ORDER BY key",
		"INSERT INTO blob_reference (entry, hash) SELECT entry + ?1, hash FROM blob_reference WHERE entry BETWEEN ?2 AND ?3",
	} {
		if err := exec(conn, sql, shift, first, last); err != nil {
			return err
		}
	}
	return countReferences(conn, target, +1)
}

// countReferences adds a session's references to the blobs' counts, or with
// sign -1 takes them away.
func countReferences(conn *sqlite.Conn, session int64, sign int) error {
	return exec(conn, `UPDATE blob SET refs = refs + ?1 * held.n
		FROM (SELECT hash, count(*) AS n FROM blob_reference WHERE entry BETWEEN ?2 AND ?3 GROUP BY hash) AS held
		WHERE blob.hash = held.hash`, sign, entryKey(session, 0), entryKey(session, MaxEntries))
}
