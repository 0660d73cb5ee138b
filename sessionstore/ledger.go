package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// MaxExtension bounds the name of a ledger's extension, in bytes.
const MaxExtension = 64

// Migration is one step of a ledger's schema. Its name is its identity: once
// released, neither it nor what Apply does changes.
type Migration struct {
	Name  string
	Apply func(context.Context, *Tx) error
}

// LedgerSpec is what an extension declares about its tables.
type LedgerSpec struct {
	Extension string          // lower-case letters, digits and '-', from a letter on; at most MaxExtension bytes
	Schema    []Migration     // run by OpenLedger in order, each once and in its own transaction
	Data      []DataMigration // run by Store.RunDataMigrations
	// Clean deletes a session's rows; it runs inside the purge's transaction.
	Clean func(ctx context.Context, tx *Tx, session string) error
}

// Ledger is an extension's own part of the database: the tables, indexes,
// triggers and views named Prefix()+... . It can read others' tables, whose
// shape is no promise, and can neither create nor write one. Tables cannot be
// renamed: copy and drop.
type Ledger struct {
	store *Store
	spec  LedgerSpec
}

// ledgers is what the open ledgers share. One connection serves them all, apart
// from the writer's because its guard makes SQLite prepare statements anew.
type ledgers struct {
	pageLimit int
	conn      *sqlite.Conn // opened with the first ledger
	open      []*Ledger    // in the order of opening
	guard     guard
}

// Kinds of ledger_migration rows.
const (
	schemaMigration = "schema"
	dataMigration   = "data"
)

// OpenLedger runs the schema migrations that are due and returns the handle.
// ErrInvalid for a name or table that is not allowed, ErrExists if this store
// has the ledger open, *NewerError if a newer version of the extension ran
// migrations this one does not know. A step that fails is rolled back; the
// steps before it stay.
func (s *Store) OpenLedger(ctx context.Context, spec LedgerSpec) (*Ledger, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("open ledger %.*s: %w", MaxExtension, spec.Extension, err)
	}
	give, err := s.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", spec.Extension, err)
	}
	defer give()
	l := &Ledger{store: s, spec: spec}
	if err := s.admit(ctx, l); err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", spec.Extension, err)
	}
	return l, nil
}

func (spec LedgerSpec) check() error {
	name := spec.Extension
	if name == "" || len(name) > MaxExtension || name[0] < 'a' || name[0] > 'z' ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("extension name %.64q: %w", name, ErrInvalid)
	}
	seen := map[string]bool{}
	for _, m := range spec.Schema {
		if err := checkKey("migration name", m.Name, MaxName); err != nil {
			return err
		}
		if m.Apply == nil || seen[m.Name] {
			return fmt.Errorf("schema migration %s is empty or there twice: %w", m.Name, ErrInvalid)
		}
		seen[m.Name] = true
	}
	clear(seen)
	for _, m := range spec.Data {
		if err := checkKey("migration name", m.Name, MaxName); err != nil {
			return err
		}
		if m.Run == nil || seen[m.Name] {
			return fmt.Errorf("data migration %s is empty or there twice: %w", m.Name, ErrInvalid)
		}
		seen[m.Name] = true
	}
	return nil
}

// admit registers and migrates a ledger; the pen is taken.
func (s *Store) admit(ctx context.Context, l *Ledger) error {
	name := l.spec.Extension
	if slices.ContainsFunc(s.ledgers.open, func(o *Ledger) bool { return o.spec.Extension == name }) {
		return fmt.Errorf("it is open: %w", ErrExists)
	}
	if err := s.connectLedgers(); err != nil {
		return s.explain(ctx, err)
	}
	conn := s.ledgers.conn
	defer s.ledgers.disown()
	if err := s.registerLedger(ctx, conn, name); err != nil {
		return err
	}
	done, err := applied(conn, name, schemaMigration)
	if err != nil {
		return s.explain(ctx, err)
	}
	for _, was := range done {
		if !slices.ContainsFunc(l.spec.Schema, func(m Migration) bool { return m.Name == was }) {
			return &NewerError{Path: s.path, Extension: name}
		}
	}
	for _, m := range l.spec.Schema {
		if slices.Contains(done, m.Name) {
			continue
		}
		if err := s.migrate(ctx, conn, name, m); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	s.ledgers.open = append(s.ledgers.open, l)
	return nil
}

func (s *Store) migrate(ctx context.Context, conn *sqlite.Conn, name string, m Migration) error {
	defer s.ledgers.disown()
	return s.transact(ctx, conn, LedgerMigrated, func(conn *sqlite.Conn) error {
		// Another process may have been faster since the list was read.
		done, err := applied(conn, name, schemaMigration)
		if err != nil || slices.Contains(done, m.Name) {
			return err
		}
		if err := s.ledgers.run(ctx, name, func(tx *Tx) error { return m.Apply(ctx, tx) }); err != nil {
			return err
		}
		return s.record(conn, name, schemaMigration, m.Name)
	})
}

func (s *Store) record(conn *sqlite.Conn, extension, kind, name string) error {
	return exec(conn, "INSERT INTO ledger_migration (extension, kind, name, applied) VALUES (?, ?, ?, ?)",
		extension, kind, name, s.now())
}

func applied(conn *sqlite.Conn, extension, kind string) (names []string, err error) {
	err = query(conn, "SELECT name FROM ledger_migration WHERE extension = ? AND kind = ?", func(stmt *sqlite.Stmt) error {
		names = append(names, stmt.ColumnText(0))
		return nil
	}, extension, kind)
	return names, err
}

func (s *Store) connectLedgers() (err error) {
	if s.ledgers.conn != nil {
		return nil
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
	if err := prepareWriter(conn, s.ledgers.pageLimit); err != nil {
		return err
	}
	if err := conn.SetAuthorizer(&s.ledgers.guard); err != nil {
		return err
	}
	s.ledgers.conn = conn
	return nil
}

// registerLedger makes the extension's prefix its own and tells the guard of
// every prefix there is.
func (s *Store) registerLedger(ctx context.Context, conn *sqlite.Conn, name string) error {
	var names []string
	list := func(conn *sqlite.Conn) error {
		names = nil
		return query(conn, "SELECT extension FROM ledger", func(stmt *sqlite.Stmt) error {
			names = append(names, stmt.ColumnText(0))
			return nil
		})
	}
	if err := list(conn); err != nil {
		return s.explain(ctx, err)
	}
	if !slices.Contains(names, name) {
		err := s.transact(ctx, conn, LedgerMigrated, func(conn *sqlite.Conn) error {
			// The prefix of "a" begins that of "a-b": what "a" made under it
			// before "a-b" came would change hands.
			var taken string
			err := query(conn, "SELECT name FROM sqlite_schema WHERE lower(substr(name, 1, ?2)) = ?1", func(stmt *sqlite.Stmt) error {
				if g := (guard{owner: prefixOf(name), prefixes: prefixes(names)}); g.owns(stmt.ColumnText(0)) {
					taken = stmt.ColumnText(0)
				}
				return nil
			}, prefixOf(name), len(prefixOf(name)))
			if err != nil {
				return err
			}
			var known bool
			err = query(conn, "SELECT 1 FROM ledger WHERE extension = ?", func(*sqlite.Stmt) error { known = true; return nil }, name)
			if err != nil || known {
				return err
			}
			if taken != "" {
				return fmt.Errorf("table %s is another extension's: %w", taken, ErrExists)
			}
			return exec(conn, "INSERT INTO ledger (extension, created) VALUES (?, ?)", name, s.now())
		})
		if err != nil {
			return err
		}
		if err := list(conn); err != nil {
			return s.explain(ctx, err)
		}
	}
	s.ledgers.guard.prefixes = prefixes(names)
	return nil
}

func prefixes(extensions []string) (list []string) {
	for _, name := range extensions {
		list = append(list, prefixOf(name))
	}
	return list
}

// run lets an extension's function work in the open transaction of the ledger
// connection, under the guard, and turns its panic into an error.
func (l *ledgers) run(ctx context.Context, extension string, fn func(*Tx) error) (err error) {
	if prefix := prefixOf(extension); l.guard.owner != prefix {
		l.guard.owner = prefix
		// Setting it anew makes SQLite ask again about every statement in the
		// cache: what one owner may run, another may not.
		if err := l.conn.SetAuthorizer(&l.guard); err != nil {
			return err
		}
	}
	l.guard.on = true
	old := l.conn.SetInterrupt(ctx.Done())
	tx := &Tx{conn: l.conn, guard: &l.guard}
	defer func() {
		l.guard.on = false
		tx.conn = nil
		l.conn.SetInterrupt(old)
		if p := recover(); p != nil {
			err = fmt.Errorf("extension %s panicked: %v", extension, p)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if l.conn.AutocommitEnabled() { // a statement failed, SQLite rolled back, and fn went on
		return errors.New("the transaction was rolled back")
	}
	return ctx.Err()
}

// disown must follow what the store itself runs on the ledger connection: its
// statements stay in the cache, and are not the last owner's to repeat.
func (l *ledgers) disown() { l.guard.owner = "" }

func (l *ledgers) close() error {
	if l.conn == nil {
		return nil
	}
	return l.conn.Close()
}

// Extension is the name the ledger was opened with.
func (l *Ledger) Extension() string { return l.spec.Extension }

// Prefix begins the name of everything the ledger owns: "x_web_search_" for
// the extension "web-search".
func (l *Ledger) Prefix() string { return prefixOf(l.spec.Extension) }

func prefixOf(extension string) string {
	return "x_" + strings.ReplaceAll(extension, "-", "_") + "_"
}

// Read runs fn over one consistent view; fn cannot write. The context
// interrupts it.
func (l *Ledger) Read(ctx context.Context, fn func(*Tx) error) error {
	err := l.store.read(ctx, func(conn *sqlite.Conn) (err error) {
		tx := &Tx{conn: conn}
		defer func() {
			tx.conn = nil
			if p := recover(); p != nil {
				err = fmt.Errorf("extension %s panicked: %v", l.spec.Extension, p)
			}
		}()
		return fn(tx)
	})
	if err != nil {
		return fmt.Errorf("read ledger %s: %w", l.spec.Extension, err)
	}
	return nil
}

// Write runs fn in one transaction and commits it if fn returns nil. Every
// other write of the home waits meanwhile, so fn must be short and must not
// call the store or a ledger. The context interrupts fn; once fn has returned,
// the outcome is certain.
func (l *Ledger) Write(ctx context.Context, fn func(*Tx) error) error {
	s := l.store
	give, err := s.take(ctx)
	if err != nil {
		return fmt.Errorf("write ledger %s: %w", l.spec.Extension, err)
	}
	defer give()
	err = s.transact(ctx, s.ledgers.conn, LedgerWritten, func(*sqlite.Conn) error {
		return s.ledgers.run(ctx, l.spec.Extension, fn)
	})
	if err != nil {
		return fmt.Errorf("write ledger %s: %w", l.spec.Extension, err)
	}
	return nil
}
