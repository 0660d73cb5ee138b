package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrBusy means that another process held the lock of a file for longer than LockWait.
var ErrBusy = errors.New("is being changed by another octavo; try again")

// ErrChanged means that a file changed while it was being written, or since a person saw what would be written.
var ErrChanged = errors.New("has been changed meanwhile; look at it and try again")

const (
	// LockWait bounds the wait for another writer. A writer holds the lock for milliseconds, and a crash releases it.
	LockWait = 5 * time.Second
	// lockPoll is how often a held lock is tried again: flock has no wait that ends with a context.
	lockPoll = 10 * time.Millisecond
	// writeAttempts bounds how often a change is made anew because somebody without the lock wrote the file.
	writeAttempts = 3
)

// Set gives one of octavo's own keys a value in the home's config.toml, or takes it out when value is nil. value is of the key's
// type: string, bool, int or int64, []string. Comments, order and everything else in the file stay. Errors: an *Error for a value
// the key does not take or a file that cannot be read, ErrUneditable, ErrBusy, ErrChanged.
func Set(ctx context.Context, home, key string, value any) error {
	r, err := rowOf(key)
	if err != nil {
		return err
	}
	if value != nil {
		if value, err = r.value(value); err != nil {
			return &Error{Key: key, Place: Place{File: ConfigFile}, Err: err}
		}
	}
	return changeConfig(ctx, home, []string{key}, tree(value))
}

// WriteProvider makes [providers.NAME] in the home's config.toml say what p says, key by key, so that comments stay. Errors as
// with Set.
func WriteProvider(ctx context.Context, home string, p Provider) error {
	table, err := p.checked()
	if err != nil {
		return err
	}
	return changeConfig(ctx, home, []string{"providers", p.Name}, table)
}

// RemoveProvider takes [providers.NAME] out of the home's config.toml. Its key, if auth.json has one, stays there; see WriteKey.
func RemoveProvider(ctx context.Context, home, name string) error {
	return changeConfig(ctx, home, []string{"providers", name}, nil)
}

// checked is the table of a provider that may come from anywhere, or what is wrong with it.
func (p Provider) checked() (map[string]any, error) {
	if err := CheckProviderName(p.Name); err != nil {
		return nil, err
	}
	table := p.table()
	c := read(&document{file: ConfigFile, tree: map[string]any{"providers": map[string]any{p.Name: table}}})
	return table, errors.Join(c.errs...)
}

func changeConfig(ctx context.Context, home string, path []string, value any) error {
	file := filepath.Join(home, ConfigFile)
	return rewrite(ctx, file, func(old []byte, _ fs.FileMode) ([]byte, error) {
		return edit(file, old, path, value)
	})
}

// rewrite changes a file of octavo's home: it takes file.lock, reads, has edit make the new bytes (which may run more than once),
// and renames a synchronised temporary file of mode 0600 over it if it still holds what was read. A symbolic link stays one: what
// it leads to is replaced. The bytes given to edit are nil, and the mode 0, when there is no file; returning the same bytes
// writes nothing.
func rewrite(ctx context.Context, file string, edit func(old []byte, mode fs.FileMode) ([]byte, error)) error {
	if !filepath.IsAbs(file) {
		return fmt.Errorf("write %s: %w", file, ErrNoHome)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	release, err := lock(ctx, file+".lock")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer release()
	for range writeAttempts {
		err = rewriteOnce(file, edit)
		if !errors.Is(err, errRaced) {
			break
		}
		err = ErrChanged
	}
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		err = fmt.Errorf("write %s: %w", file, err)
	}
	return err
}

// errRaced means that a writer without the lock came between.
var errRaced = errors.New("changed while it was written")

func rewriteOnce(file string, edit func([]byte, fs.FileMode) ([]byte, error)) error {
	target, err := followed(file)
	if err != nil {
		return err
	}
	old, info, err := readFile(target)
	if err != nil {
		return err
	}
	var mode fs.FileMode
	if info != nil {
		mode = info.Mode().Perm()
	}
	text, err := edit(old, mode)
	if err != nil || info != nil && bytes.Equal(text, old) || info == nil && len(text) == 0 {
		return err
	}
	if len(text) > MaxFile {
		return fmt.Errorf("would be larger than %d bytes", MaxFile)
	}
	temp, err := writeTemp(target, text)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // fails, as it should, once it is renamed
	now, nowInfo, err := readFile(target)
	if err != nil {
		return err
	}
	if (info == nil) != (nowInfo == nil) || !bytes.Equal(now, old) {
		return errRaced
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

// followed is where the file really is. One that is not there yet is where it is named.
func followed(file string) (string, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	target, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("is a symbolic link to nothing")
	}
	return target, err
}

// writeTemp writes a file beside target, 0600, and has it on the disk before it returns its name.
func writeTemp(target string, text []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// syncDir makes a rename last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lock takes an advisory lock that ends with the process. The file stays: removing it would let two writers hold two locks.
func lock(ctx context.Context, file string) (release func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, LockWait, ErrBusy)
	defer cancel()
	again := time.NewTicker(lockPoll)
	defer again.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
