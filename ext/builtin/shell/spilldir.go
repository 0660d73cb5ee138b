package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

const (
	spillPrefix = "octavo-output-"
	// maxSpillTries is how many directories are made until one is locked; only a sweep that found it first takes one away.
	maxSpillTries = 8
	// maxSweepNames is how many names in the directory for temporary files a sweep looks at.
	maxSweepNames = 20_000
	sweepBatch    = 500
)

// spillName is what os.MkdirTemp makes of spillPrefix.
var spillName = regexp.MustCompile("^" + spillPrefix + "[0-9]+$")

// errSwept says that a directory is another's: of the octavo that uses it, or of a sweep that removes it.
var errSwept = errors.New("another octavo has it")

// makeSpillDir makes a directory that sweeps leave alone while lock is open, so until the process ends at the latest: no child
// inherits it. Where the file system has no locks it is not locked; there a sweep cannot lock it either, and leaves it.
func makeSpillDir(base string) (dir string, lock *os.File, err error) {
	for range maxSpillTries {
		if dir, err = os.MkdirTemp(base, spillPrefix); err != nil {
			return "", nil, err
		}
		if lock, err = openSpillDir(dir); err == nil {
			if err = flock(lock, dir); !errors.Is(err, errSwept) {
				return dir, lock, nil
			}
			_ = lock.Close() // only read
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(err, os.Remove(dir))
		}
	}
	return "", nil, fmt.Errorf("make a directory for output in %s: %w", base, err)
}

func openSpillDir(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// flock locks f, the directory of that name. Who has a lock on a directory that still has its name is alone with it.
func flock(f *os.File, dir string) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errSwept
	}
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Lstat(dir); err != nil || !os.SameFile(opened, named) {
		return errSwept
	}
	return nil
}

// private reports whether f is a directory of this user's that nobody else may enter.
func private(f *os.File) bool {
	var s unix.Stat_t
	return unix.Fstat(int(f.Fd()), &s) == nil && int(s.Uid) == os.Geteuid() && s.Mode&0o777 == 0o700
}

// sweep removes what octavos left that were killed: directories of this user whose lock is free. What it cannot remove, or
// does not come to because it looks at so many names only, stays for the next.
func sweep(ctx context.Context, base string, most int) {
	all, err := os.Open(base)
	if err != nil {
		return // then nothing can be kept there either, which is told when it is tried
	}
	defer all.Close()
	for seen := 0; seen < most && ctx.Err() == nil; {
		names, err := all.Readdirnames(min(sweepBatch, most-seen))
		seen += len(names)
		for _, name := range names {
			if spillName.MatchString(name) {
				sweepDir(filepath.Join(base, name))
			}
		}
		if err != nil {
			return
		}
	}
}

func sweepDir(dir string) {
	f, err := openSpillDir(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if private(f) && flock(f, dir) == nil {
		_ = os.RemoveAll(dir)
	}
}
