package sessionstore

import (
	"context"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"
)

// DataMigration rewrites an extension's rows once (plugins.md 9). Run works in
// as many Write transactions as it likes and must be repeatable: after a crash
// it runs again. It receives the path of a backup made before the first
// migration of this round and returns how many rows it rewrote.
type DataMigration struct {
	Name string
	Run  func(ctx context.Context, l *Ledger, backup string) (rows int64, err error)
}

// Migrated says what a data migration did.
type Migrated struct {
	Extension, Name string
	Rows            int64
}

// RunDataMigrations runs what is due of the open ledgers' data migrations, in
// the order the ledgers were opened and each ledger lists them, after one
// backup of the database. It stops at the first that fails and returns what
// was done before. Processes take turns.
func (s *Store) RunDataMigrations(ctx context.Context) (done []Migrated, err error) {
	gate, err := s.waitLock(ctx, "migrate", "the data migration of "+s.dir)
	if err != nil {
		return nil, fmt.Errorf("migrate data: %w", s.explain(ctx, err))
	}
	defer gate.free()

	give, err := s.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate data: %w", err)
	}
	open := slices.Clone(s.ledgers.open)
	give()

	var backup string
	for _, l := range open {
		var ran []string
		err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
			ran, err = applied(conn, l.spec.Extension, dataMigration)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("migrate data of %s: %w", l.spec.Extension, err)
		}
		for _, m := range l.spec.Data {
			if slices.Contains(ran, m.Name) {
				continue
			}
			if backup == "" {
				if backup, err = s.Backup(ctx); err != nil {
					return done, fmt.Errorf("migrate data of %s: %w", l.spec.Extension, err)
				}
			}
			rows, err := l.migrateData(ctx, m, backup)
			if err != nil {
				return done, fmt.Errorf("migrate data of %s (%s; the state before is in %s): %w", l.spec.Extension, m.Name, backup, err)
			}
			done = append(done, Migrated{Extension: l.spec.Extension, Name: m.Name, Rows: rows})
		}
	}
	return done, nil
}

func (l *Ledger) migrateData(ctx context.Context, m DataMigration, backup string) (rows int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("extension %s panicked: %v", l.spec.Extension, p)
		}
	}()
	if rows, err = m.Run(ctx, l, backup); err != nil {
		return rows, err
	}
	return rows, l.store.write(ctx, LedgerMigrated, func(conn *sqlite.Conn) error {
		return l.store.record(conn, l.spec.Extension, dataMigration, m.Name)
	})
}
