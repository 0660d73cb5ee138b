package sessionstore

import (
	"context"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// Bounds of the prompt history.
const (
	MaxPrompts    = 1000     // kept in a home; the oldest go first
	MaxPromptText = 64 << 10 // bytes of one
)

// AddPrompt remembers what a person sent, for recall. Blank text and a repeat
// of the workspace's newest prompt add nothing; ErrInvalid over MaxPromptText.
func (s *Store) AddPrompt(ctx context.Context, workspace, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	err := checkPath("workspace", workspace)
	if err == nil && len(text) > MaxPromptText {
		err = fmt.Errorf("it is %d bytes long, at most %d: %w", len(text), MaxPromptText, ErrInvalid)
	}
	if err == nil {
		err = s.write(ctx, PromptStored, func(conn *sqlite.Conn) error { return s.addPrompt(conn, workspace, text) })
	}
	if err != nil {
		return fmt.Errorf("add prompt: %w", err)
	}
	return nil
}

func (s *Store) addPrompt(conn *sqlite.Conn, workspace, text string) error {
	var newest string
	err := query(conn, "SELECT text FROM prompt WHERE workspace = ? ORDER BY key DESC LIMIT 1", func(stmt *sqlite.Stmt) error {
		newest = stmt.ColumnText(0)
		return nil
	}, workspace)
	if err != nil || newest == text {
		return err
	}
	err = exec(conn, "INSERT INTO prompt (workspace, text, time) VALUES (?, ?, ?)", workspace, text, s.now())
	if err != nil {
		return err
	}
	return exec(conn, "DELETE FROM prompt WHERE key <= (SELECT key FROM prompt ORDER BY key DESC LIMIT 1 OFFSET ?)", MaxPrompts)
}

// Prompts returns the newest prompts of a workspace ("": of all), newest
// first; limit 0: all that are kept.
func (s *Store) Prompts(ctx context.Context, workspace string, limit int) ([]string, error) {
	if limit <= 0 || limit > MaxPrompts {
		limit = MaxPrompts
	}
	sql, args := "SELECT text FROM prompt WHERE workspace = ? ORDER BY key DESC LIMIT ?", []any{workspace, limit}
	if workspace == "" {
		sql, args = "SELECT text FROM prompt ORDER BY key DESC LIMIT ?", []any{limit}
	}
	var list []string
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, sql, func(stmt *sqlite.Stmt) error {
			list = append(list, stmt.ColumnText(0))
			return nil
		}, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	return list, nil
}
