package sessionstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"zombiezen.com/go/sqlite"
)

// Stage is how far a session's turn has come; it decides what a restart does
// (plugins.md 3.8).
type Stage string

// Stages. StageInterrupted is idle for admission.
const (
	StageIdle        Stage = "idle"
	StageModel       Stage = "model"
	StageTool        Stage = "tool"
	StageInterrupted Stage = "interrupted"
)

func (s Stage) valid() bool {
	switch s {
	case StageIdle, StageModel, StageTool, StageInterrupted:
		return true
	}
	return false
}

// Session is one conversation's row. Times are UTC, in milliseconds.
type Session struct {
	ID        string // 1 to MaxID of letters, digits, '.', '_', '-'
	Name      string // at most MaxName bytes; need not be unique
	Workspace string
	Model     string
	Effort    string
	Policy    string
	Parent    string // where it was forked from; empty: nowhere
	ParentSeq int64  // the last entry it shares with Parent
	Created   time.Time
	Updated   time.Time // of its newest commit
	Deleted   time.Time // zero unless it waits to be purged
	Entries   int64     // number of its newest entry; entries are 1..Entries
	Stage     Stage
	Turn      string   // id of the turn under way; empty when idle
	Epoch     int64    // openings so far
	Preview   string   // first text of the user, one line, at most MaxPreview bytes
	Title     string   // what a model calls it, one line, at most MaxName bytes; Name is a person's and stands above it
	Private   bool     // not listed, and purged when whoever opened it closes it
	Tags      []string // sorted; nil when there are none
}

// Cursor marks a place in the list of sessions; see Filter.Before.
type Cursor struct {
	Updated time.Time
	ID      string
}

// Cursor returns the session's place in the list.
func (s Session) Cursor() Cursor { return Cursor{Updated: s.Updated, ID: s.ID} }

// Filter says which sessions a list shows.
type Filter struct {
	Workspace string // empty: every one
	Query     string // in id (as prefix), name, title, preview, workspace or a tag, ASCII letters in either case; empty: every one
	Tag       string // exactly; empty: every one
	Limit     int    // 0: no limit
	Before    Cursor // only what comes after this session in the list; zero: from the top
	Deleted   bool   // list what waits to be purged instead
	Private   bool   // list what is private instead
}

// SessionPatch holds what changes; nil leaves a field as it is.
type SessionPatch struct {
	Name, Workspace, Model, Effort, Policy, Title *string
	Tags                                          *[]string // in place of all present ones
}

const sessionColumns = `id, name, workspace, model, effort, policy, parent, parent_seq,
	created, updated, deleted, entries, stage, turn, epoch, preview, title, private,
	(SELECT group_concat(tag, char(10)) FROM tag WHERE tag.session = session.number)`

func scanSession(stmt *sqlite.Stmt) Session {
	return Session{
		ID: stmt.ColumnText(0), Name: stmt.ColumnText(1), Workspace: stmt.ColumnText(2),
		Model: stmt.ColumnText(3), Effort: stmt.ColumnText(4), Policy: stmt.ColumnText(5),
		Parent: stmt.ColumnText(6), ParentSeq: stmt.ColumnInt64(7),
		Created: fromMillis(stmt.ColumnInt64(8)), Updated: fromMillis(stmt.ColumnInt64(9)),
		Deleted: fromMillis(stmt.ColumnInt64(10)),
		Entries: stmt.ColumnInt64(11), Stage: Stage(stmt.ColumnText(12)), Turn: stmt.ColumnText(13),
		Epoch: stmt.ColumnInt64(14), Preview: stmt.ColumnText(15),
		Title: stmt.ColumnText(16), Private: stmt.ColumnBool(17), Tags: scanTags(stmt.ColumnText(18)),
	}
}

// scanTags parts tags that were put together with line feeds, which no tag contains.
func scanTags(joined string) []string {
	if joined == "" {
		return nil
	}
	tags := strings.Split(joined, "\n")
	slices.Sort(tags)
	return tags
}

func (s Session) check() error {
	if err := checkSessionID(s.ID); err != nil {
		return err
	}
	return SessionPatch{Name: &s.Name, Workspace: &s.Workspace, Model: &s.Model, Effort: &s.Effort, Policy: &s.Policy, Title: &s.Title}.check()
}

func (p SessionPatch) check() error {
	for _, f := range []struct {
		what  string
		value *string
	}{{"session name", p.Name}, {"model", p.Model}, {"effort", p.Effort}, {"policy", p.Policy}, {"title", p.Title}} {
		if f.value != nil {
			if err := checkText(f.what, *f.value, MaxName); err != nil {
				return err
			}
		}
	}
	if p.Workspace != nil {
		if err := checkPath("workspace", *p.Workspace); err != nil {
			return err
		}
	}
	if p.Tags != nil {
		return checkTags(*p.Tags)
	}
	return nil
}

// Bounds of tags.
const (
	MaxTags = 32 // of one session
	MaxTag  = 64 // bytes of one
)

func checkTags(tags []string) error {
	if len(tags) > MaxTags {
		return fmt.Errorf("%d tags, at most %d: %w", len(tags), MaxTags, ErrInvalid)
	}
	for _, t := range tags {
		if err := checkKey("tag", t, MaxTag); err != nil {
			return err
		}
		if strings.ContainsFunc(t, unicode.IsSpace) {
			return fmt.Errorf("tag %q contains a space: %w", t, ErrInvalid)
		}
	}
	return nil
}

// CreateSession stores a new, idle session without entries. It reads the
// identity fields, Created (zero: now), Preview, Title and Private; ErrExists if the id is
// taken, also by a deleted session.
func (s *Store) CreateSession(ctx context.Context, v Session) error {
	v.Stage, v.Turn = StageIdle, ""
	if err := v.check(); err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	err := s.write(ctx, SessionCreated, func(conn *sqlite.Conn) error {
		return s.insertSession(conn, v, 0)
	})
	if err != nil {
		return fmt.Errorf("create session %s: %w", v.ID, err)
	}
	return nil
}

func (s *Store) insertSession(conn *sqlite.Conn, v Session, entries int64) error {
	now := s.now()
	if v.Created.IsZero() {
		v.Created = now
	}
	err := exec(conn, `INSERT INTO session
		(id, name, workspace, model, effort, policy, parent, parent_seq, created, updated, entries, preview, title, private, stage, turn)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.ID, v.Name, v.Workspace, v.Model, v.Effort, v.Policy, v.Parent, v.ParentSeq,
		v.Created, now, entries, preview(v.Preview), v.Title, v.Private, string(cmp.Or(v.Stage, StageIdle)), v.Turn)
	return unique(err, "session "+v.ID)
}

// Session returns one session by its exact id; ErrNotFound, or ErrDeleted
// (which is ErrNotFound, too) if it waits to be purged.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	var v Session
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		var err error
		v, err = findSession(conn, id)
		return err
	})
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return v, nil
}

func findSession(conn *sqlite.Conn, id string) (v Session, err error) {
	err = query(conn, "SELECT "+sessionColumns+" FROM session WHERE id = ?", func(stmt *sqlite.Stmt) error {
		v = scanSession(stmt)
		return nil
	}, id)
	switch {
	case err != nil:
		return Session{}, err
	case v.ID == "":
		return Session{}, ErrNotFound
	case !v.Deleted.IsZero():
		return Session{}, ErrDeleted
	}
	return v, nil
}

// numberOf returns the row of a session, deleted or not.
func numberOf(conn *sqlite.Conn, id string) (number int64, err error) {
	err = query(conn, "SELECT number FROM session WHERE id = ?", func(stmt *sqlite.Stmt) error {
		number = stmt.ColumnInt64(0)
		return nil
	}, id)
	if err == nil && number == 0 {
		err = ErrNotFound
	}
	return number, err
}

// Resolve finds the session a person means: by exact id, else by exact name,
// else by the beginning of its id. ErrNotFound, or *AmbiguousError when several
// fit. Deleted sessions are not found.
func (s *Store) Resolve(ctx context.Context, prefix string) (Session, error) {
	var v Session
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		if prefix == "" {
			return ErrNotFound
		}
		for _, where := range []string{"id = ?1", "name = ?1", "id >= ?1 AND id < ?1 || '~'"} {
			if !plainID(prefix) && where != "name = ?1" {
				continue // '~' ends the range because it comes after every byte of an id
			}
			var found []Session
			err := query(conn, "SELECT "+sessionColumns+" FROM session WHERE deleted = 0 AND "+where+
				fmt.Sprintf(" ORDER BY updated DESC, id DESC LIMIT %d", MaxCandidates),
				func(stmt *sqlite.Stmt) error {
					found = append(found, scanSession(stmt))
					return nil
				}, prefix)
			switch {
			case err != nil:
				return err
			case len(found) == 1:
				v = found[0]
				return nil
			case len(found) > 1:
				return &AmbiguousError{Prefix: prefix, Candidates: found}
			}
		}
		return ErrNotFound
	})
	if err != nil {
		return Session{}, fmt.Errorf("session %.*s: %w", MaxID, prefix, err)
	}
	return v, nil
}

// Sessions lists sessions, the one with the newest commit first.
func (s *Store) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	where, args := []string{"deleted = 0 AND private = 0"}, []any{}
	switch {
	case f.Deleted:
		where[0] = "deleted <> 0"
	case f.Private:
		where[0] = "deleted = 0 AND private <> 0"
	}
	if f.Tag != "" {
		where = append(where, "EXISTS (SELECT 1 FROM tag WHERE tag.session = session.number AND tag.tag = ?)")
		args = append(args, f.Tag)
	}
	if f.Before != (Cursor{}) {
		where = append(where, "(updated, id) < (?, ?)")
		args = append(args, f.Before.Updated, f.Before.ID)
	}
	if f.Workspace != "" {
		where = append(where, "workspace = ?")
		args = append(args, f.Workspace)
	}
	if f.Query != "" {
		like := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(cut(f.Query, MaxPath))
		where = append(where, `(id LIKE ? ESCAPE '\' OR name LIKE ? ESCAPE '\' OR preview LIKE ? ESCAPE '\' OR workspace LIKE ? ESCAPE '\'
			OR title LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM tag WHERE tag.session = session.number AND tag.tag LIKE ? ESCAPE '\'))`)
		part := "%" + like + "%"
		args = append(args, like+"%", part, part, part, part, part)
	}
	limit := int64(math.MaxInt64)
	if f.Limit > 0 {
		limit = int64(f.Limit)
	}
	args = append(args, limit)
	var list []Session
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT "+sessionColumns+" FROM session WHERE "+strings.Join(where, " AND ")+
			" ORDER BY updated DESC, id DESC LIMIT ?", func(stmt *sqlite.Stmt) error {
			list = append(list, scanSession(stmt))
			return nil
		}, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// Latest returns the session of a workspace ("": of any) with the newest
// commit; ErrNotFound if there is none.
func (s *Store) Latest(ctx context.Context, workspace string) (Session, error) {
	list, err := s.Sessions(ctx, Filter{Workspace: workspace, Limit: 1})
	if err != nil {
		return Session{}, err
	}
	if len(list) == 0 {
		return Session{}, fmt.Errorf("latest session of %s: %w", workspace, ErrNotFound)
	}
	return list[0], nil
}

// PatchSession changes identity fields. It does not count as activity: Updated
// stays. ErrNotFound, ErrDeleted, ErrInvalid.
func (s *Store) PatchSession(ctx context.Context, id string, p SessionPatch) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("change session %s: %w", id, err)
	}
	var set []string
	var args []any
	for _, f := range []struct {
		column string
		value  *string
	}{{"name", p.Name}, {"workspace", p.Workspace}, {"model", p.Model}, {"effort", p.Effort}, {"policy", p.Policy}, {"title", p.Title}} {
		if f.value != nil {
			set = append(set, f.column+" = ?")
			args = append(args, *f.value)
		}
	}
	err := s.write(ctx, SessionChanged, func(conn *sqlite.Conn) error {
		if _, err := findSession(conn, id); err != nil {
			return err
		}
		if p.Tags != nil {
			if err := setTags(conn, id, *p.Tags); err != nil {
				return err
			}
		}
		if len(set) == 0 {
			return nil
		}
		return exec(conn, "UPDATE session SET "+strings.Join(set, ", ")+" WHERE id = ?", append(args, id)...)
	})
	if err != nil {
		return fmt.Errorf("change session %s: %w", id, err)
	}
	return nil
}

func setTags(conn *sqlite.Conn, id string, tags []string) error {
	number, err := numberOf(conn, id)
	if err == nil {
		err = exec(conn, "DELETE FROM tag WHERE session = ?", number)
	}
	for _, t := range tags {
		if err == nil {
			err = exec(conn, "INSERT OR IGNORE INTO tag (session, tag) VALUES (?, ?)", number, t)
		}
	}
	return err
}

// DeleteSession marks a session deleted: it disappears from lists and takes no
// commits, and RestoreSession brings it back until PurgeSession. Deleting a
// deleted session changes nothing. Whether someone has it open is the caller's
// to ask, with LockSession.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.mark(ctx, "delete", id, "UPDATE session SET deleted = ? WHERE number = ? AND deleted = 0", s.now())
}

// RestoreSession undoes DeleteSession.
func (s *Store) RestoreSession(ctx context.Context, id string) error {
	return s.mark(ctx, "restore", id, "UPDATE session SET deleted = ? WHERE number = ?", time.Time{})
}

func (s *Store) mark(ctx context.Context, verb, id, sql string, at time.Time) error {
	err := s.write(ctx, SessionChanged, func(conn *sqlite.Conn) error {
		number, err := numberOf(conn, id)
		if err != nil {
			return err
		}
		return exec(conn, sql, at, number)
	})
	if err != nil {
		return fmt.Errorf("%s session %s: %w", verb, id, err)
	}
	return nil
}

// NextEpoch counts an opening of the session and returns its number, from 1.
// It does not count as activity.
func (s *Store) NextEpoch(ctx context.Context, id string) (epoch int64, err error) {
	err = s.write(ctx, EpochStarted, func(conn *sqlite.Conn) error {
		v, err := findSession(conn, id)
		if err != nil {
			return err
		}
		epoch = v.Epoch + 1
		return exec(conn, "UPDATE session SET epoch = ? WHERE id = ?", epoch, id)
	})
	if err != nil {
		return 0, fmt.Errorf("start epoch of session %s: %w", id, err)
	}
	return epoch, nil
}
