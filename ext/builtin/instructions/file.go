package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// file is an instruction file before it is opened.
type file struct {
	path string
	root string // it must lie below, wherever links lead; "" lets it lie anywhere
}

// leftOutError says why a file is left out, which is no reason to go without the others.
type leftOutError string

func (e leftOutError) Error() string { return string(e) }

const (
	errOutside   leftOutError = "it leads out of the workspace"
	errIrregular leftOutError = "it is no regular file"
)

// find answers the path of a folder's instruction file, "" when it has none.
func find(folder string) (string, error) {
	// The usual spelling of the first name costs no listing.
	if info, err := os.Lstat(filepath.Join(folder, names[0])); err == nil && !info.IsDir() {
		return filepath.Join(folder, names[0]), nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		for _, e := range entries {
			if strings.EqualFold(e.Name(), name) && !e.IsDir() {
				return filepath.Join(folder, e.Name()), nil
			}
		}
	}
	return "", nil
}

// read answers the text of a file. One that leads out of its root, is no regular file, or is too large is a leftOutError; one that
// is not UTF-8 is another error, because half-read instructions mislead.
func (f file) read() (string, error) {
	in, err := f.open()
	if err != nil {
		return "", fmt.Errorf("read instructions %s: %w", f.path, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return "", fmt.Errorf("read instructions %s: %w", f.path, err)
	}
	if len(data) > MaxFile {
		return "", leftOutError(fmt.Sprintf("it is larger than %d bytes", MaxFile))
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(data) {
		return "", fmt.Errorf("read instructions %s: not valid UTF-8; save it as UTF-8", f.path)
	}
	return string(data), nil
}

// open opens the file, following links, without ever waiting for a pipe or a device.
func (f file) open() (*os.File, error) {
	real, err := filepath.EvalSymlinks(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errIrregular // a link to nothing
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular // to open a device can have effects
	}
	in, err := f.openReal(real)
	if err != nil {
		return nil, err
	}
	// Another file may stand there by now.
	if info, err = in.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// openReal opens a path without links, below the root if there is one even when links are put there meanwhile.
func (f file) openReal(real string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if f.root == "" {
		return os.OpenFile(real, flags, 0)
	}
	realRoot, err := filepath.EvalSymlinks(f.root)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(realRoot, real)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, errOutside
	}
	root, err := os.OpenRoot(realRoot)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, flags, 0)
}
