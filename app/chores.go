package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octavo/sessionstore"
)

// sweepEvery is how often the trash is emptied of what lay in it long enough, and pictures and other blobs that nothing refers to any
// more are removed from the home.
const sweepEvery = 24 * time.Hour

// sweptKey is the preference that says when that was done last, in RFC 3339.
const sweptKey = "blobs swept"

// openLedgers opens every extension's tables, then brings their data up to date where that takes more than a change of schema.
func (a *App) openLedgers(ctx context.Context) error {
	behind := false
	for _, e := range a.extensions {
		if e.Ledger == nil {
			continue
		}
		l, err := a.store.OpenLedger(ctx, *e.Ledger)
		if err != nil {
			return fmt.Errorf("tables of extension %s: %w", e.Name, err)
		}
		a.ledgers[e.Name] = l
		behind = behind || len(e.Ledger.Data) > 0
	}
	if !behind {
		return nil
	}
	_, err := a.store.RunDataMigrations(ctx)
	return err
}

// sweep does the home's own housekeeping once in sweepEvery, in whichever process holds the home lease (design.md, "Storage").
func (a *App) sweep(ctx context.Context, now time.Time) error {
	last, _, err := a.store.Preference(ctx, sweptKey)
	if errors.Is(err, sessionstore.ErrClosed) {
		return nil // an App may be closed twice
	}
	if err != nil {
		return err
	}
	if at, err := time.Parse(time.RFC3339, last); err == nil && now.Sub(at) < sweepEvery && !at.After(now) {
		return nil
	}
	lease, mine, err := a.store.HomeLease()
	if err != nil || !mine {
		return err
	}
	defer lease.Release()
	if err := a.emptyTrash(ctx, now); err != nil {
		return err
	}
	if _, err := a.store.SweepBlobs(ctx); err != nil {
		return err
	}
	return a.store.SetPreference(ctx, sweptKey, now.UTC().Format(time.RFC3339))
}

// emptyTrash removes for good the sessions whose time in the trash is over, and private ones that a crash left behind.
func (a *App) emptyTrash(ctx context.Context, now time.Time) error {
	deleted, err := a.store.Sessions(ctx, sessionstore.Filter{Deleted: true})
	if err != nil {
		return err
	}
	left, err := a.store.Sessions(ctx, sessionstore.Filter{Private: true})
	if err != nil {
		return err
	}
	for _, row := range append(deleted, left...) {
		if now.Before(row.Gone()) {
			continue
		}
		lock, err := a.store.LockSession(ctx, row.ID)
		if err != nil {
			continue // someone has it open; there is another day
		}
		if err := errors.Join(a.store.PurgeSession(ctx, row.ID), lock.Release()); err != nil {
			return err
		}
	}
	return nil
}
