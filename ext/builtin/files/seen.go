package files

import (
	"context"
	"sync"

	"octavo/sessionstore"
)

// seen remembers which content of each file a session last read or wrote, by its hash, so that a file changed by something
// else is not overwritten unread. With a ledger it outlives the process; without one it lasts as long as the session is open.
// A partial read counts: its hash is that of the whole file.
type seen struct {
	session string
	ledger  *sessionstore.Ledger // nil: memory only

	mu    sync.Mutex
	known map[string]string // absolute path to hash; what was asked of the ledger or put there
}

func newSeen(session string, l *sessionstore.Ledger) *seen {
	return &seen{session: session, ledger: l, known: map[string]string{}}
}

func createSeenTable(_ context.Context, tx *sessionstore.Tx) error {
	return tx.Exec(`CREATE TABLE x_files_seen (
		session TEXT NOT NULL,
		path TEXT NOT NULL,
		hash TEXT NOT NULL,
		PRIMARY KEY (session, path)
	) STRICT, WITHOUT ROWID`)
}

// hash is what the session last saw at an absolute path; "" when it never saw the file.
func (s *seen) hash(ctx context.Context, path string) (string, error) {
	s.mu.Lock()
	hash, ok := s.known[path]
	s.mu.Unlock()
	if ok || s.ledger == nil {
		return hash, nil
	}
	err := s.ledger.Read(ctx, func(tx *sessionstore.Tx) error {
		return tx.Query("SELECT hash FROM x_files_seen WHERE session = ? AND path = ?", func(r *sessionstore.Row) error {
			hash = r.Text(0)
			return nil
		}, s.session, path)
	})
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if newer, ok := s.known[path]; ok { // noted while the ledger was asked
		return newer, nil
	}
	s.known[path] = hash
	return hash, nil
}

// note records what the session saw. What the ledger cannot keep is kept in memory: at worst the session has to read a file
// again after it was reopened.
func (s *seen) note(ctx context.Context, path, hash string) {
	s.mu.Lock()
	unchanged := s.known[path] == hash
	s.known[path] = hash
	s.mu.Unlock()
	if unchanged || s.ledger == nil {
		return
	}
	_ = s.ledger.Write(ctx, func(tx *sessionstore.Tx) error {
		return tx.Exec(`INSERT INTO x_files_seen (session, path, hash) VALUES (?, ?, ?)
			ON CONFLICT (session, path) DO UPDATE SET hash = excluded.hash`, s.session, path, hash)
	})
}
