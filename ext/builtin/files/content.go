package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"octavo/pages/text"
)

const (
	// maxFileBytes is the largest file that is read, edited or written (product.md 6).
	maxFileBytes = 32 << 20
	// loadTries is how often a file that changes while it is read is read again.
	loadTries = 3
	// readStep is how much is read between two looks at whether the turn has ended.
	readStep = 1 << 20
	// maxSiblings bounds how many names are looked at for one that is like a missing one.
	maxSiblings = 10_000
)

// content is a file as it was at one moment.
type content struct {
	data []byte
	info fs.FileInfo
	hash string // SHA-256 of data, 64 hexadecimal characters
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// same reports whether two looks found the same file in the same state: device, inode, size, modification time and mode.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// What is wrong with a file that cannot be loaded, beside what the system says.
var (
	errChanging   = errors.New("the file changes while it is read; try again when whatever writes it is done")
	errNotRegular = errors.New("it is no regular file any more")
	errTooLarge   = errors.New("it is too large")
)

// load reads the whole of a regular file. A file that changes meanwhile is read again, so that what it returns was the file's
// content at one moment.
func load(ctx context.Context, p place) (*content, error) {
	if p.missing() {
		return nil, refuse(ioFailed, "%s", absence(p))
	}
	if p.info.IsDir() {
		return nil, refuse(isDirectory, "%s is a directory; name a file in it", p.shown)
	}
	root, err := p.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for try := 1; ; try++ {
		data, info, err := readRegular(ctx, root, p.name)
		switch {
		case err == nil:
			return &content{data, info, hashOf(data)}, nil
		case errors.Is(err, errTooLarge):
			return nil, refuse(tooLarge, "%s has more than %s, which is the most that can be read or edited; use bash with grep, head, tail or sed -n",
				p.shown, text.Bytes(maxFileBytes))
		case !errors.Is(err, errChanging) || try == loadTries:
			return nil, refuseOS("read "+p.shown, err)
		}
	}
}

// readRegular reads the whole of a regular file once; errChanging when the file changed meanwhile.
func readRegular(ctx context.Context, root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	// Without O_NONBLOCK, opening a pipe that took the file's place would wait for a writer.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	data, err := readAll(ctx, f, before.Size())
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !same(before, after) {
		return nil, nil, errChanging
	}
	return data, after, nil
}

// readAll reads f to its end, which must come within maxFileBytes. size is what to expect; files of /proc say 0.
func readAll(ctx context.Context, f *os.File, size int64) ([]byte, error) {
	if size > maxFileBytes {
		return nil, errTooLarge
	}
	// Some files below /proc and /sys wait for something to report; a passed deadline ends that wait. Others know none.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	data := make([]byte, 0, size+1) // one more, so that the end of the file is met without growing
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			grown := make([]byte, len(data), min(2*cap(data)+4096, maxFileBytes+1))
			copy(grown, data)
			data = grown
		}
		n, err := f.Read(data[len(data):min(cap(data), len(data)+readStep)])
		data = data[:len(data)+n]
		switch {
		case len(data) > maxFileBytes:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return data, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		}
	}
}

// absence says that nothing is there, with names that may have been meant.
func absence(p place) string {
	dir := filepath.Dir(p.abs)
	if !isDir(dir) {
		return p.shown + " does not exist, nor does its directory; look with search, or read a directory that exists"
	}
	near := similarNames(filepath.Base(p.abs), siblings(dir))
	if len(near) == 0 {
		return p.shown + " does not exist; read its directory to see what is there"
	}
	return p.shown + " does not exist; similar names in its directory: " + strings.Join(near, ", ")
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func siblings(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxSiblings) // fewer names are as good when reading the directory fails midway
	return names
}
