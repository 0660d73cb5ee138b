package plain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"octavo/pages/text"
)

// expand makes the path of an @PATH argument absolute.
func expand(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readRegular reads a file of at most limit bytes. Only regular files are read: a pipe or a device might never end. The error
// does not name the file.
func readRegular(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := until(ctx, nil, func() (*os.File, error) { return openRegular(path) })
	if err != nil {
		return nil, err
	}
	b, err := until(ctx, f, func() ([]byte, error) { // some of /proc are regular files that wait for something to read
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, limit+1))
	})
	switch {
	case err != nil:
		return nil, reason(err)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("it has more than %s; name it without @ in the prompt, so that the model reads what it needs of it", text.Bytes(limit))
	}
	return b, nil
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path) // before it is opened, because opening a pipe waits for its other end
	if err != nil {
		return nil, reason(err)
	}
	switch {
	case info.IsDir():
		return nil, errors.New("it is a folder; name a file in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	return f, nil
}

// reason is why a file could not be read, without its path.
func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file")
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// isPicture reports whether b begins as a PNG, JPEG, GIF or WebP file does.
func isPicture(b []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(b, []byte(magic)) {
			return true
		}
	}
	return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}
