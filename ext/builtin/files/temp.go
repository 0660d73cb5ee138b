package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"octavo/sessionstore"
)

const (
	tempPrefix = ".octavo-"
	tempSuffix = ".tmp"
	// tempTries is how often a new file is begun when another process takes it for one that was left.
	tempTries = 3
	// maxSwept is how many files left by crashes are looked at when a session begins; the next one goes on.
	maxSwept = 100
	// sweepWait bounds what a sweep waits for the ledger.
	sweepWait = 2 * time.Second
)

// tempName is what the name of a file that is being written looks like; nothing else is ever swept.
var tempName = regexp.MustCompile(`^\.octavo-[A-Z2-7]{26,}\.tmp$`)

// temps keeps account of the files that are being written, so that one which a crash left beside its target is found again
// without searching. The account is made before the file and closed after it has got its name. Whoever writes a file holds a
// lock on it: a sweep takes none away from a process that lives.
type temps struct {
	ledger *sessionstore.Ledger // nil: nothing is recorded, and nothing swept
}

// createTempTable is the schema of temps: a directory that was opened, and the file's name below it.
func createTempTable(_ context.Context, tx *sessionstore.Tx) error {
	return tx.Exec(`CREATE TABLE x_files_temp (
		base TEXT NOT NULL,
		name TEXT NOT NULL,
		PRIMARY KEY (base, name)
	) STRICT, WITHOUT ROWID`)
}

// temp is a file that is being written, locked for as long as it is open.
type temp struct {
	*os.File
	base, name string
}

// create makes a new file in dir, which is relative to root.
func (t temps) create(ctx context.Context, root *os.Root, dir string, mode fs.FileMode) (*temp, error) {
	var err error
	for range tempTries {
		name := path.Join(dir, tempPrefix+rand.Text()+tempSuffix)
		t.record(ctx, root.Name(), name)
		var f *os.File
		if f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
			t.forget(ctx, root.Name(), name)
			return nil, err
		}
		_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // without locks nothing is swept either
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && hardLinks(info) > 0 {
			return &temp{f, root.Name(), name}, nil
		}
		// A sweep came between the making and the lock.
		f.Close()
		_ = root.Remove(name)
		t.forget(ctx, root.Name(), name)
		if err == nil {
			err = errors.New("another process removed the new file; try again")
		}
	}
	return nil, err
}

// end closes the file, which has another name by now or is removed, and the account.
func (t temps) end(ctx context.Context, f *temp) {
	_ = f.Close() // it was synced, or is of no use
	t.forget(ctx, f.base, f.name)
}

// record notes a file. One that cannot be noted is written all the same: only a crash would then leave it.
func (t temps) record(ctx context.Context, base, name string) {
	if t.ledger == nil {
		return
	}
	_ = t.ledger.Write(ctx, func(tx *sessionstore.Tx) error {
		return tx.Exec("INSERT OR IGNORE INTO x_files_temp (base, name) VALUES (?, ?)", base, name)
	})
}

func (t temps) forget(ctx context.Context, base, name string) {
	if t.ledger == nil {
		return
	}
	_ = t.ledger.Write(context.WithoutCancel(ctx), func(tx *sessionstore.Tx) error {
		return tx.Exec("DELETE FROM x_files_temp WHERE base = ? AND name = ?", base, name)
	})
}

// sweep removes what crashes left. Nothing depends on it, so it says nothing about what it could not do.
func (t temps) sweep(ctx context.Context) {
	if t.ledger == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, sweepWait)
	defer stop()
	type left struct{ base, name string }
	var all []left
	if err := t.ledger.Read(ctx, func(tx *sessionstore.Tx) error {
		return tx.Query("SELECT base, name FROM x_files_temp LIMIT ?", func(r *sessionstore.Row) error {
			all = append(all, left{r.Text(0), r.Text(1)})
			return nil
		}, maxSwept)
	}); err != nil {
		return
	}
	for _, l := range all {
		if ctx.Err() != nil {
			return
		}
		if swept(l.base, l.name) {
			t.forget(ctx, l.base, l.name)
		}
	}
}

// swept removes one file if it is one of ours that nobody is writing, and reports whether its account can be closed. It follows
// no link out of base, and none at name.
func swept(base, name string) bool {
	if !tempName.MatchString(path.Base(name)) {
		return true
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return false
	case !info.Mode().IsRegular():
		return true // whatever it is, octavo did not make it
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	is, err := f.Stat()
	if err != nil || !os.SameFile(info, is) {
		return false
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	err = root.Remove(name)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
