package sessionstore

import (
	"context"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// MaxPreference bounds a preference's value, in bytes.
const MaxPreference = 64 << 10

// Preference returns what the program remembers under a key, and whether it
// remembers anything.
func (s *Store) Preference(ctx context.Context, key string) (value string, ok bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT value FROM preference WHERE key = ?", func(stmt *sqlite.Stmt) error {
			value, ok = stmt.ColumnText(0), true
			return nil
		}, key)
	})
	if err != nil {
		return "", false, fmt.Errorf("preference %s: %w", key, err)
	}
	return value, ok, nil
}

// SetPreference remembers a value of at most MaxPreference bytes under a key
// of 1 to MaxName bytes.
func (s *Store) SetPreference(ctx context.Context, key, value string) error {
	err := checkKey("preference key", key, MaxName)
	if err == nil && len(value) > MaxPreference {
		err = fmt.Errorf("value is %d bytes long, at most %d: %w", len(value), MaxPreference, ErrInvalid)
	}
	if err == nil {
		err = s.write(ctx, PreferenceStored, func(conn *sqlite.Conn) error {
			return exec(conn, "INSERT OR REPLACE INTO preference (key, value) VALUES (?, ?)", key, value)
		})
	}
	if err != nil {
		return fmt.Errorf("set preference %.*s: %w", MaxName, key, err)
	}
	return nil
}
