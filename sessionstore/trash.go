package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
)

// TrashDays is how many days a deleted session can be restored; then it may be purged.
const TrashDays = 30

// Gone is when a deleted session may be purged; zero unless it is deleted.
func (s Session) Gone() time.Time {
	if s.Deleted.IsZero() {
		return time.Time{}
	}
	return s.Deleted.AddDate(0, 0, TrashDays)
}

// Attached says how many blobs a session's entries refer to, each counted once, and how many bytes they are together. Deleted
// sessions can be asked about; ErrNotFound if there is no such session.
func (s *Store) Attached(ctx context.Context, session string) (blobs int, bytes int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, session)
		if err != nil {
			return err
		}
		return query(conn, `SELECT count(*), coalesce(sum(size), 0) FROM blob
			WHERE hash IN (SELECT hash FROM blob_reference WHERE entry BETWEEN ? AND ?)`, func(stmt *sqlite.Stmt) error {
			blobs, bytes = stmt.ColumnInt(0), stmt.ColumnInt64(1)
			return nil
		}, entryKey(number, 0), entryKey(number, MaxEntries))
	})
	if err != nil {
		return 0, 0, fmt.Errorf("blobs of session %s: %w", session, err)
	}
	return blobs, bytes, nil
}

// Holder says which process has a session open, in the error that LockSession would fail with; nil when none has. It is a look and
// takes nothing: whoever wants to be alone with the session calls LockSession.
func (s *Store) Holder(session string) (*HeldError, error) {
	if err := checkSessionID(session); err != nil {
		return nil, fmt.Errorf("holder of session: %w", err)
	}
	held, err := s.holder(session)
	if err != nil {
		return nil, fmt.Errorf("holder of session %s: %w", session, s.explain(context.Background(), err))
	}
	return held, nil
}

func (s *Store) holder(session string) (*HeldError, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, locksDir, sessionLock(session)), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // whoever opens a session makes the file, and who closes it removes it
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// A crash leaves the file without a lock. Shared, so that two who look do not take each other for the holder.
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return describe(f, "session "+session), nil
	case err != nil:
		return nil, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil, nil
}

const (
	sessionLockPrefix = "session-"
	lockSuffix        = ".lock"
)

// sessionLock is the name of the file that LockSession locks.
func sessionLock(session string) string { return sessionLockPrefix + session + lockSuffix }
