package sessionstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// Lock is held until Release or the end of the process, whichever comes first:
// it is the kernel's, on an open file, and a crash cannot leave it behind.
type Lock struct {
	mu   sync.Mutex
	file *os.File // nil once released
}

// holder is what a lock file says, for the message of whoever comes second.
type holder struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
}

const (
	maxHolder = 4096 // bytes of a lock file that are read
	// lockPoll is how often a lock that is only held for moments is tried.
	lockPoll = 5 * time.Millisecond
)

// LockSession makes this caller the only one that has the session open, over
// all processes. If another has it: *HeldError, which names the process. The
// session need not exist yet.
func (s *Store) LockSession(ctx context.Context, id string) (*Lock, error) {
	if err := checkSessionID(id); err != nil {
		return nil, fmt.Errorf("lock session: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock session %s: %w", id, err)
	}
	l, err := s.tryLock("session-"+id, "session "+id)
	var held *HeldError
	switch {
	case errors.As(err, &held):
		held.Next = "close it there, or start a new session here"
		return nil, held
	case err != nil:
		return nil, fmt.Errorf("lock session %s: %w", id, s.explain(ctx, err))
	}
	return l, nil
}

// HomeLease tries to take the lease on work that belongs to the home rather
// than to a session; false: another process has it and does that work.
func (s *Store) HomeLease() (*Lock, bool, error) {
	l, err := s.tryLock("home", "the home "+s.dir)
	var held *HeldError
	switch {
	case errors.As(err, &held):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("take the home lease: %w", s.explain(context.Background(), err))
	}
	return l, true, nil
}

// Release gives the lock up; releasing twice does nothing.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	var err error
	// The name goes while the lock is held (see tryLock for why that is safe),
	// unless someone has cleared the folder and it names another's lock by now.
	if sameFile(f, f.Name()) {
		err = os.Remove(f.Name())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("release lock %s: %w", filepath.Base(f.Name()), err)
	}
	return nil
}

// free is Release for work that is done, whatever becomes of the lock's name:
// the lock itself ends with its descriptor.
func (l *Lock) free() { _ = l.Release() }

// tryLock locks Dir/locks/<name>.lock or returns *HeldError.
func (s *Store) tryLock(name, what string) (*Lock, error) {
	path := filepath.Join(s.dir, locksDir, name+".lock")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			held := describe(f, what)
			return nil, errors.Join(held, f.Close())
		case errors.Is(err, unix.EINTR):
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
		}
		// Between open and lock the holder before may have removed the name;
		// then this lock is on a file nobody else will ever find.
		if !sameFile(f, path) {
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err := sign(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &Lock{file: f}, nil
	}
}

// waitLock is tryLock for locks that are held for moments.
func (s *Store) waitLock(ctx context.Context, name, what string) (*Lock, error) {
	deadline := time.Now().Add(s.lockWait)
	for {
		l, err := s.tryLock(name, what)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if time.Now().After(deadline) {
			held.Next = "try again; if it stays so, end that process"
			return nil, held
		}
		if err := pause(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

func sameFile(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(mine, named)
}

// sign writes who holds the lock.
func sign(f *os.File) error {
	text, err := json.Marshal(holder{PID: os.Getpid(), Since: time.Now().UTC(), Command: filepath.Base(os.Args[0])})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return err
}

// describe reads who holds the lock. What it reads may be missing or left by a
// process that crashed, if the holder is about to sign: then nobody is named.
func describe(f *os.File, what string) *HeldError {
	e := &HeldError{What: what, Next: "close it there"}
	text, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil {
		return e
	}
	var h holder
	if json.Unmarshal(text, &h) != nil || h.PID <= 0 || errors.Is(unix.Kill(h.PID, 0), unix.ESRCH) {
		return e
	}
	e.PID, e.Since = h.PID, h.Since
	e.Command = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, cut(h.Command, MaxName))
	return e
}
