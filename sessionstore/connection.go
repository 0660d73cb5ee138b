package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
)

const (
	// readerCount is how many reads may run at once; more wait.
	readerCount = 4
	// DefaultLockWait is how long a write waits for another process's, unless
	// Options.LockWait says otherwise; then it fails with *BusyError.
	DefaultLockWait = 10 * time.Second
	// lockStep is how long SQLite waits by itself before the context is asked.
	lockStep = 50 * time.Millisecond
	// lockPause parts two attempts when SQLite chose not to wait.
	lockPause = time.Millisecond
	// journalLimit is what the write-ahead log is cut back to after a big commit.
	journalLimit = 32 << 20
)

func prepareWriter(conn *sqlite.Conn, pageLimit int) error {
	conn.SetBusyTimeout(lockStep)
	if err := conn.SetDefensive(true); err != nil {
		return err
	}
	// NORMAL: a killed process loses nothing; a power cut may lose the last
	// commits, and never leaves half of one.
	settings := []string{
		"synchronous = NORMAL",
		"secure_delete = ON", // what is purged is not to be read out of the file
		fmt.Sprintf("journal_size_limit = %d", journalLimit),
	}
	if pageLimit > 0 {
		settings = append(settings, fmt.Sprintf("max_page_count = %d", pageLimit))
	}
	for _, setting := range settings {
		if err := pragma(conn, setting); err != nil {
			return err
		}
	}
	return nil
}

// prepareReader makes a connection that cannot write, whatever it is asked to
// run: ledgers hand it to extensions.
func prepareReader(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(DefaultLockWait)
	if err := conn.SetDefensive(true); err != nil {
		return err
	}
	if err := pragma(conn, "query_only = 1"); err != nil {
		return err
	}
	return conn.SetAuthorizer(sqlite.AuthorizeFunc(authorizeReader))
}

// pragma runs a setting outside the statement cache and outside a transaction,
// where some of them would have no effect.
func pragma(conn *sqlite.Conn, setting string) error {
	return transient(conn, "PRAGMA "+setting)
}

func transient(conn *sqlite.Conn, sql string, args ...any) error {
	stmt, _, err := conn.PrepareTransient(sql)
	if err != nil {
		return err
	}
	defer stmt.Finalize()
	return run(stmt, nil, args)
}

// exec runs one cached statement that returns nothing of interest.
func exec(conn *sqlite.Conn, sql string, args ...any) error {
	return query(conn, sql, nil, args...)
}

// query runs one cached statement and calls row for each row, if not nil.
func query(conn *sqlite.Conn, sql string, row func(*sqlite.Stmt) error, args ...any) error {
	stmt, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	return run(stmt, row, args)
}

func run(stmt *sqlite.Stmt, row func(*sqlite.Stmt) error, args []any) (err error) {
	defer func() {
		if e := stmt.Reset(); err == nil {
			err = e
		}
	}()
	if want := stmt.BindParamCount(); len(args) != want {
		return fmt.Errorf("%d arguments for %d parameters: %w", len(args), want, ErrInvalid)
	}
	for i, arg := range args {
		if err := bind(stmt, i+1, arg); err != nil {
			return err
		}
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if row != nil {
			if err := row(stmt); err != nil {
				return err
			}
		}
	}
}

// bind knows the types it is given by name: a pointer that slipped through to
// fmt.Sprint would be stored as an address.
func bind(stmt *sqlite.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		stmt.BindNull(i)
	case bool:
		stmt.BindBool(i, v)
	case int:
		stmt.BindInt64(i, int64(v))
	case int32:
		stmt.BindInt64(i, int64(v))
	case uint32:
		stmt.BindInt64(i, int64(v))
	case int64:
		stmt.BindInt64(i, v)
	case *int64:
		if v == nil {
			stmt.BindNull(i)
		} else {
			stmt.BindInt64(i, *v)
		}
	case float64:
		stmt.BindFloat(i, v)
	case string:
		stmt.BindText(i, v)
	case []byte:
		stmt.BindBytes(i, v)
	case time.Time:
		stmt.BindInt64(i, millis(v))
	default:
		return fmt.Errorf("argument %d has type %T, which is not stored: %w", i, arg, ErrInvalid)
	}
	return nil
}

// millis is how times are stored; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func columnBytes(stmt *sqlite.Stmt, col int) []byte {
	b := make([]byte, stmt.ColumnLen(col))
	stmt.ColumnBytes(col, b)
	return b
}

// take waits for the right to write; the returned function gives it back.
func (s *Store) take(ctx context.Context) (give func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-s.closing:
		return nil, ErrClosed
	default:
	}
	select {
	case <-s.pen:
		return func() { s.pen <- struct{}{} }, nil
	case <-s.closing:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write runs fn in one transaction of the writer. The context is heard while
// waiting; from then on the write is short and runs to its end, so that an
// answer is never "perhaps".
func (s *Store) write(ctx context.Context, p Point, fn func(*sqlite.Conn) error) error {
	give, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	return s.transact(ctx, s.writer, p, fn)
}

// transact must be called with the pen taken.
// present says whether the path still leads to the file that is open. It only looks at names: opening the file once more would
// drop SQLite's locks when that descriptor is closed.
func (s *Store) present() error {
	if s.file == nil {
		return nil // it is being opened
	}
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(s.file, now) {
		return &GoneError{Path: s.path}
	}
	return nil
}

func (s *Store) transact(ctx context.Context, conn *sqlite.Conn, p Point, fn func(*sqlite.Conn) error) error {
	if err := s.present(); err != nil {
		return err
	}
	if err := s.begin(ctx, conn); err != nil {
		return s.explain(ctx, err)
	}
	// After a failed statement SQLite may have rolled back by itself; what is
	// still open is rolled back here, also when fn panics.
	defer func() {
		if !conn.AutocommitEnabled() {
			conn.SetInterrupt(nil)
			_ = transient(conn, "ROLLBACK") // fails only when there is nothing to roll back
		}
	}()
	if err := fn(conn); err != nil {
		return s.explain(ctx, err)
	}
	s.observe(p, BeforeCommit)
	if err := transient(conn, "COMMIT"); err != nil {
		return s.explain(ctx, err)
	}
	s.observe(p, AfterCommit)
	return nil
}

// begin takes SQLite's write lock, which another process may hold.
func (s *Store) begin(ctx context.Context, conn *sqlite.Conn) error {
	deadline := time.Now().Add(s.lockWait)
	for {
		err := transient(conn, "BEGIN IMMEDIATE")
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
			return err
		}
		if time.Now().After(deadline) {
			return &BusyError{Path: s.path, Waited: s.lockWait}
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read runs fn over one consistent view of the file. The context interrupts it.
func (s *Store) read(ctx context.Context, fn func(*sqlite.Conn) error) error {
	err := s.glance(ctx, fn)
	if errors.Is(err, ErrNotFound) {
		return s.settle(ctx, fn)
	}
	return err
}

// settle runs fn once more where the newest commit is sure to be seen, on the writer and with SQLite's write lock held. A reader has
// been seen, once and right after another process was killed, to miss a row that was committed long before; that nothing is there is
// said rarely and believed for good, so it is worth asking twice. fn has collected nothing when it says ErrNotFound.
func (s *Store) settle(ctx context.Context, fn func(*sqlite.Conn) error) error {
	give, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	if err := s.begin(ctx, s.writer); err != nil {
		return s.explain(ctx, err)
	}
	defer func() {
		if !s.writer.AutocommitEnabled() {
			_ = transient(s.writer, "ROLLBACK") // ends a read; there is nothing to lose
		}
	}()
	return s.explain(ctx, fn(s.writer))
}

// glance runs fn on one of the readers.
func (s *Store) glance(ctx context.Context, fn func(*sqlite.Conn) error) error {
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	conn, err := s.readers.Take(ctx)
	if err != nil {
		select {
		case <-s.closing:
			return ErrClosed
		default:
			return s.explain(ctx, err)
		}
	}
	defer s.readers.Put(conn)
	if err := exec(conn, "BEGIN"); err != nil {
		return s.explain(ctx, err)
	}
	defer func() {
		if !conn.AutocommitEnabled() {
			conn.SetInterrupt(nil)
			_ = exec(conn, "ROLLBACK") // ends a read; there is nothing to lose
		}
	}()
	return s.explain(ctx, fn(conn))
}

// aside runs fn on a connection of its own, for work that reads everything.
func (s *Store) aside(ctx context.Context, fn func(*sqlite.Conn) error) (err error) {
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	conn, err := sqlite.OpenConn(s.path, sqlite.OpenReadWrite)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer func() {
		if e := conn.Close(); err == nil && e != nil {
			err = s.explain(ctx, e)
		}
	}()
	conn.SetInterrupt(ctx.Done())
	conn.SetBusyTimeout(DefaultLockWait)
	return s.explain(ctx, fn(conn))
}
