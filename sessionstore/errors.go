package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
)

// Errors a caller decides on. They are wrapped with what they are about.
var (
	ErrNotFound  = errors.New("not found")
	ErrDeleted   = fmt.Errorf("deleted, but not yet purged; restore it first: %w", ErrNotFound)
	ErrExists    = errors.New("exists already")
	ErrInvalid   = errors.New("not a valid value")
	ErrQueueFull = fmt.Errorf("the queue is full: %d inputs wait already; let the turn read them first", MaxQueue)
	ErrClosed    = errors.New("the store is closed")
	ErrForbidden = errors.New("a ledger writes only its extension's own tables, and only inside Write")
)

// FullError: the disk, a quota or the page limit is exhausted. What was
// committed before is intact; what failed left nothing behind.
type FullError struct {
	Path string
	Err  error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%s cannot grow: the disk is full or a quota is used up. "+
		"Free some space and try again; everything saved before is intact.", e.Path)
}
func (e *FullError) Unwrap() error { return e.Err }

// UnwritableError: the file or its folder cannot be opened for writing, or the
// disk failed while it was used.
type UnwritableError struct {
	Path   string
	Reason string
	Err    error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%s cannot be written: %s. "+
		"Check the disk, the path and its permissions, or name another home in OCTAVO_HOME.", e.Path, e.Reason)
}
func (e *UnwritableError) Unwrap() error { return e.Err }

// CorruptError: the file is no database of octavo's, or is damaged.
type CorruptError struct {
	Path    string
	Detail  string
	Backups string // folder with earlier copies; empty where there are none of this kind
	Err     error
}

func (e *CorruptError) Error() string {
	next := "Run `octavo sessions repair`, or move the file aside and start again."
	if e.Backups != "" {
		next = fmt.Sprintf("Run `octavo sessions repair`, or move the file aside and start again; earlier copies, if any, are in %s.", e.Backups)
	}
	return fmt.Sprintf("%s is damaged: %s. Nothing was changed. %s", e.Path, e.Detail, next)
}
func (e *CorruptError) Unwrap() error { return e.Err }

// NewerError: a newer octavo wrote the file, or an extension's tables in it.
type NewerError struct {
	Path       string
	Extension  string // whose tables; empty: octavo's own
	Have, Know int    // schema versions; zero for an extension's
}

func (e *NewerError) Error() string {
	what := fmt.Sprintf("%s has schema %d and this octavo knows up to %d", e.Path, e.Have, e.Know)
	if e.Extension != "" {
		what = fmt.Sprintf("the tables of extension %s in %s have a newer schema than this octavo knows", e.Extension, e.Path)
	}
	return what + ": a newer octavo wrote it. Update octavo, or name another home in OCTAVO_HOME. Nothing was changed."
}

// BusyError: another process kept the write lock longer than anyone should.
type BusyError struct {
	Path   string
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("another process has been writing to %s for %v. "+
		"Try again; if it stays so, look for an octavo that hangs and end it.", e.Path, e.Waited)
}

// HeldError: another process has what only one may have.
type HeldError struct {
	What    string    // "session x", "the home /h"
	PID     int       // 0 when the holder has not said
	Since   time.Time // zero when the holder has not said
	Command string
	Next    string // what a person can do about it
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is open in another process; %s", e.What, e.Next)
	}
	since := e.Since.Local()
	layout := "15:04"
	if y, m, d := time.Now().Date(); since.Before(time.Date(y, m, d, 0, 0, 0, 0, time.Local)) {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("%s is open in process %d (%s, since %s); %s",
		e.What, e.PID, e.Command, since.Format(layout), e.Next)
}

// MaxCandidates is how many sessions an AmbiguousError names.
const MaxCandidates = 10

// AmbiguousError: a name or prefix means several sessions.
type AmbiguousError struct {
	Prefix     string
	Candidates []Session // the newest ones, at most MaxCandidates
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q names several sessions; give more of the id:", e.Prefix)
	for i, c := range e.Candidates {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(c.ID)
		if c.Name != "" {
			fmt.Fprintf(&b, " (%s)", c.Name)
		}
	}
	return b.String()
}

// GoneError: the file was removed or replaced while the store had it open. What is written to it from then on would be lost, so
// nothing is.
type GoneError struct {
	Path string
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("%s was removed or replaced while octavo had it open, so nothing more can be stored. "+
		"Put it back if you can, start octavo again, and keep other programs away from octavo's home.", e.Path)
}

// explain turns what SQLite and the file system report into the errors above.
// Anything else passes unchanged.
func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if known(err) {
		return err
	}
	switch code := sqlite.ErrCode(err); code.ToPrimary() {
	case sqlite.ResultFull:
		return &FullError{Path: s.path, Err: err}
	case sqlite.ResultReadOnly, sqlite.ResultPerm, sqlite.ResultCantOpen:
		return &UnwritableError{Path: s.path, Reason: reason(err), Err: err}
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return &CorruptError{Path: s.path, Detail: reason(err), Backups: s.backups(), Err: err}
	case sqlite.ResultBusy:
		return &BusyError{Path: s.path, Waited: s.lockWait}
	case sqlite.ResultInterrupt:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return ErrClosed // only closing interrupts without a context
	case sqlite.ResultIOErr:
		if code == sqlite.ResultIOErrSHMSize { // the index of the log could not grow
			return &FullError{Path: s.path, Err: err}
		}
		return &UnwritableError{Path: s.path, Reason: reason(err), Err: err}
	}
	path := s.path
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		path = p.Path
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &FullError{Path: path, Err: err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS),
		errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return &UnwritableError{Path: path, Reason: reason(err), Err: err}
	}
	return err
}

// known says that err has been explained where it arose.
func known(err error) bool {
	var (
		full       *FullError
		unwritable *UnwritableError
		corrupt    *CorruptError
		newer      *NewerError
		busy       *BusyError
		held       *HeldError
		gone       *GoneError
	)
	return errors.As(err, &full) || errors.As(err, &unwritable) || errors.As(err, &corrupt) ||
		errors.As(err, &newer) || errors.As(err, &busy) || errors.As(err, &held) || errors.As(err, &gone)
}

// reason is the innermost text: the outer ones name files and steps that the
// message says better.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	if code := sqlite.ErrCode(err); code != sqlite.ResultError {
		return strings.TrimPrefix(code.Message(), "sqlite: ")
	}
	return err.Error()
}

// unique turns a violated UNIQUE or PRIMARY KEY into ErrExists.
func unique(err error, what string) error {
	switch sqlite.ErrCode(err) {
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey:
		return fmt.Errorf("%s: %w", what, ErrExists)
	}
	return err
}
