// Package sessionstore is durable storage in SQLite: sessions and their
// numbered entries, the input queue, provider request rows, blobs,
// preferences, prompt history, the tables extensions keep through a ledger,
// and the locks that say who has what open. It keeps bytes: it must not know
// what an entry, an input or a preference means, and imports no other package
// of octavo.
package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"
)

const (
	// FileName is the database inside the home; SQLite keeps two more files
	// (-wal and -shm) beside it while it is open.
	FileName = "octavo.db"

	blobsDir   = "blobs"
	backupsDir = "backups"
	locksDir   = "locks"

	homeMode = 0o700
	fileMode = 0o600
)

// Options says which home to open and how.
type Options struct {
	Dir       string             // the home; created with mode 0700 when missing
	PageLimit int                // pages of 4 KiB the file may grow to; 0: no limit
	Observe   func(Point, Phase) // called around every commit, on the committing goroutine; nil outside tests
	Now       func() time.Time   // the clock; nil: time.Now
	LockWait  time.Duration      // how long a write waits for another process's; 0: DefaultLockWait
	Payloads  Payloads           // what Repair asks about payloads; nothing else does
}

// Store is one open home. Its methods may be called from any goroutine. Several
// processes may have the same home open; each sees what the others committed.
type Store struct {
	dir, path string
	home      string
	observe   func(Point, Phase)
	now       func() time.Time
	lockWait  time.Duration
	payloads  Payloads // of Repair

	file    os.FileInfo  // what path led to when it was opened
	writer  *sqlite.Conn // guarded by pen
	readers *sqlitex.Pool

	// pen holds one token. Whoever took it may write: SQLite admits one
	// writer, and waiting here is fairer and cheaper than its busy handler.
	pen       chan struct{}
	closing   chan struct{}
	closeOnce sync.Once

	ledgers ledgers // guarded by pen
}

// Open opens the home, creating and migrating what is missing. It reads a
// handful of pages, however long the sessions are.
//
// It fails with *UnwritableError, *FullError, *CorruptError, *NewerError or
// *BusyError and has then changed nothing in an existing file.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, fmt.Errorf("open home: no folder named: %w", ErrInvalid)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open home %s: %w", o.Dir, err)
	}
	s := &Store{
		dir: dir, path: filepath.Join(dir, FileName),
		observe: o.Observe, now: o.Now, lockWait: o.LockWait,
		pen: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	if s.observe == nil {
		s.observe = func(Point, Phase) {}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.lockWait <= 0 {
		s.lockWait = DefaultLockWait
	}
	if err := s.open(ctx, o.PageLimit); err != nil {
		return nil, fmt.Errorf("open home %s: %w", dir, s.explain(ctx, err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, pageLimit int) (err error) {
	if err := os.MkdirAll(filepath.Join(s.dir, locksDir), homeMode); err != nil {
		if err = s.explain(ctx, err); known(err) {
			return err
		}
		return &UnwritableError{Path: s.dir, Reason: reason(err), Err: err}
	}
	// Creating, migrating and switching to WAL are done by one process at a
	// time; the lock is held for a few milliseconds.
	gate, err := s.waitLock(ctx, "open", "the home "+s.dir)
	if err != nil {
		return err
	}
	defer gate.free()

	if err := ensureFile(s.path); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(s.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}()
	if err := s.prepareFile(ctx, conn, pageLimit); err != nil {
		return err
	}
	readers, err := sqlitex.NewPool(s.path, sqlitex.PoolOptions{
		Flags:       sqlite.OpenReadWrite, // a reader of a WAL still writes its index
		PoolSize:    readerCount,
		PrepareConn: prepareReader,
	})
	if err != nil {
		return err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return errors.Join(err, readers.Close())
	}
	s.writer, s.readers = conn, readers
	s.ledgers.pageLimit = pageLimit
	s.pen <- struct{}{}
	return nil
}

// ensureFile creates an empty database file for its owner only, or says why
// the existing one cannot be written. An existing file is never opened here:
// closing a second descriptor would drop SQLite's locks on it, if this process
// has the home open already.
func ensureFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		if err != nil {
			return err
		}
		return f.Close()
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &UnwritableError{Path: path, Reason: "it is not a regular file"}
	}
	if err := unix.Access(path, unix.R_OK|unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// prepareFile looks before it writes: whether the file is ours and of a schema
// we know is decided before anything in it changes.
func (s *Store) prepareFile(ctx context.Context, conn *sqlite.Conn, pageLimit int) error {
	if err := prepareWriter(conn, pageLimit); err != nil {
		return err
	}
	version, err := s.inspect(conn)
	if err != nil {
		return err
	}
	if err := pragma(conn, "journal_mode = WAL"); err != nil {
		return err
	}
	if version < len(schema.Migrations) {
		if err := sqlitemigration.Migrate(ctx, conn, schema); err != nil {
			return err
		}
	}
	read := func(stmt *sqlite.Stmt) error { s.home = stmt.ColumnText(0); return nil }
	const homeQuery = "SELECT value FROM home WHERE key = 'id'"
	if err := query(conn, homeQuery, read); err != nil || s.home != "" {
		return err
	}
	s.home = uuid.NewString()
	return exec(conn, "INSERT INTO home (key, value) VALUES ('id', ?)", s.home)
}

// inspect returns the schema version of the file, 0 for a new one.
func (s *Store) inspect(conn *sqlite.Conn) (version int, err error) {
	var app, objects int
	for _, probe := range []struct {
		query string
		into  *int
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &objects},
	} {
		read := func(stmt *sqlite.Stmt) error { *probe.into = stmt.ColumnInt(0); return nil }
		if err := query(conn, probe.query, read); err != nil {
			return 0, err
		}
	}
	switch {
	case app == 0 && objects == 0 && version == 0:
		return 0, nil
	case app != int(schema.AppID):
		return 0, &CorruptError{Path: s.path, Backups: s.backups(), Detail: "it is a database of another program"}
	case version > len(schema.Migrations):
		return 0, &NewerError{Path: s.path, Have: version, Know: len(schema.Migrations)}
	}
	return version, nil
}

// Close waits for the write under way, interrupts reads and closes the file.
// Locks are not the store's: their holders release them. Every later call
// fails with ErrClosed; closing twice does nothing.
func (s *Store) Close() (err error) {
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.pen // kept: nobody writes after this
		err = errors.Join(s.ledgers.close(), s.readers.Close(), s.writer.Close())
		if err != nil {
			err = fmt.Errorf("close home %s: %w", s.dir, err)
		}
	})
	return err
}

// HomeID is a random UUID made with the file; it stays the same for its life.
func (s *Store) HomeID() string { return s.home }

// Dir is the home, as an absolute path.
func (s *Store) Dir() string { return s.dir }

// Check reads the whole file for damage and returns *CorruptError with the
// first findings. It takes time proportional to the file.
func (s *Store) Check(ctx context.Context) error {
	err := s.aside(ctx, func(conn *sqlite.Conn) error {
		var found string
		read := func(stmt *sqlite.Stmt) error {
			if line := stmt.ColumnText(0); line != "ok" && found == "" {
				found = line
			}
			return nil
		}
		if err := query(conn, "PRAGMA quick_check(1)", read); err != nil {
			return err
		}
		if found != "" {
			return &CorruptError{Path: s.path, Backups: s.backups(), Detail: found}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check home %s: %w", s.dir, err)
	}
	return nil
}

// Backup copies the database to a new file in Dir/backups and returns its
// path. Blobs are not copied: they are never rewritten.
func (s *Store) Backup(ctx context.Context) (path string, err error) {
	if err := os.MkdirAll(s.backups(), homeMode); err != nil {
		return "", fmt.Errorf("back up home %s: %w", s.dir, s.explain(ctx, err))
	}
	// VACUUM INTO accepts an empty file, which this makes: unique, ours alone.
	f, err := os.CreateTemp(s.backups(), s.now().UTC().Format("20060102-150405-*.db"))
	if err != nil {
		return "", fmt.Errorf("back up home %s: %w", s.dir, s.explain(ctx, err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("back up home %s: %w", s.dir, err), os.Remove(f.Name()))
		}
	}()
	if err := f.Close(); err != nil {
		return "", s.explain(ctx, err)
	}
	err = s.aside(ctx, func(conn *sqlite.Conn) error {
		return exec(conn, "VACUUM INTO ?", f.Name())
	})
	if err != nil {
		return "", err
	}
	return f.Name(), nil
}

func (s *Store) backups() string { return filepath.Join(s.dir, backupsDir) }
