package sessionstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

const (
	// MaxBlob bounds one blob, in bytes.
	MaxBlob = 32 << 20
	// BlobGrace is how long a blob lives without a reference, counted from its
	// last PutBlob: the time to commit the entry that refers to it.
	BlobGrace = time.Hour

	// putAttempts bounds how often PutBlob writes a file that a sweep in
	// another process removes again.
	putAttempts = 3
	hashLength  = 2 * sha256.Size
	putPrefix   = ".put-"
)

// PutBlob stores bytes under their SHA-256, in lower-case hexadecimal. Putting
// the same bytes again is cheap and renews BlobGrace. The blob stays as long as
// an entry refers to it (NewEntry.Blobs).
func (s *Store) PutBlob(ctx context.Context, data []byte) (hash string, err error) {
	if len(data) > MaxBlob {
		return "", fmt.Errorf("put blob: it is %d bytes long, at most %d: %w", len(data), MaxBlob, ErrInvalid)
	}
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	for range putAttempts {
		var kept bool
		if kept, err = s.putBlob(ctx, hash, data); err != nil || kept {
			break
		}
		err = errors.New("its file was removed while it was stored")
	}
	if err != nil {
		return "", fmt.Errorf("put blob %s: %w", hash, s.explain(ctx, err))
	}
	return hash, nil
}

// putBlob writes the file first and the row second: a crash between the two
// leaves a file that a sweep finds. A sweep removes files inside a transaction,
// so the look inside this one decides whether the file is still there.
func (s *Store) putBlob(ctx context.Context, hash string, data []byte) (kept bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := s.writeBlob(hash, data); err != nil {
		return false, err
	}
	err = s.write(ctx, BlobStored, func(conn *sqlite.Conn) error {
		if _, err := os.Lstat(s.blobPath(hash)); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		kept = true
		return exec(conn, `INSERT INTO blob (hash, size, refs, put) VALUES (?, ?, 0, ?)
			ON CONFLICT (hash) DO UPDATE SET put = excluded.put`, hash, len(data), s.now())
	})
	return kept, err
}

func (s *Store) blobPath(hash string) string {
	return filepath.Join(s.dir, blobsDir, hash[:2], hash)
}

func (s *Store) writeBlob(hash string, data []byte) (err error) {
	path := s.blobPath(hash)
	if old, err := readFile(path, MaxBlob); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), homeMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, blobsDir), putPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // a sweep finds what stays
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		// Without it a power cut could leave an empty file behind a kept row.
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readFile reads a file of at most limit bytes; what is longer is refused
// before it is in memory.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes: %w", path, limit, ErrInvalid)
	}
	return data, err
}

// Blob returns the bytes with a hash, verified. ErrNotFound, or *CorruptError
// when the file no longer has that hash.
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("blob %.64s: %w", hash, err)
	}
	if !isHash(hash) {
		return nil, fmt.Errorf("blob %.64q is no SHA-256: %w", hash, ErrInvalid)
	}
	path := s.blobPath(hash)
	data, err := readFile(path, MaxBlob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("blob %s: %w", hash, ErrNotFound)
	case err != nil && !errors.Is(err, ErrInvalid):
		return nil, fmt.Errorf("blob %s: %w", hash, s.explain(ctx, err))
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("blob %s: %w", hash, &CorruptError{Path: path, Detail: "its content is not what was stored"})
	}
	return data, nil
}

func isHash(s string) bool {
	return len(s) == hashLength && strings.Trim(s, "0123456789abcdef") == ""
}

// SweepBlobs removes the blobs that nothing refers to and whose BlobGrace is
// over, and files that a crash left behind; it returns how many files went.
// Whoever holds the home lease calls it now and then.
func (s *Store) SweepBlobs(ctx context.Context) (removed int, err error) {
	limit := s.now().Add(-BlobGrace)
	removed, err = s.sweepRows(ctx, limit)
	if err == nil {
		var strays int
		strays, err = s.sweepStrays(ctx, limit)
		removed += strays
	}
	if err != nil {
		return removed, fmt.Errorf("sweep blobs: %w", s.explain(ctx, err))
	}
	return removed, nil
}

func (s *Store) sweepRows(ctx context.Context, limit time.Time) (removed int, err error) {
	err = s.write(ctx, BlobsSwept, func(conn *sqlite.Conn) error {
		var hashes []string
		err := query(conn, "DELETE FROM blob WHERE refs = 0 AND put < ? RETURNING hash", func(stmt *sqlite.Stmt) error {
			hashes = append(hashes, stmt.ColumnText(0))
			return nil
		}, limit)
		if err != nil {
			return err
		}
		for _, hash := range hashes {
			if err := os.Remove(s.blobPath(hash)); err == nil {
				removed++
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	return removed, err
}

// sweepStrays looks for old files without a row: unfinished writes, and blobs
// whose process died before the row was stored.
func (s *Store) sweepStrays(ctx context.Context, limit time.Time) (removed int, err error) {
	root := filepath.Join(s.dir, blobsDir)
	var strays []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no blob was ever put, or another sweep was faster
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().Before(limit) && (isHash(d.Name()) || strings.HasPrefix(d.Name(), putPrefix)) {
			strays = append(strays, path)
		}
		return ctx.Err()
	})
	if err != nil || len(strays) == 0 {
		return 0, err
	}
	err = s.write(ctx, BlobsSwept, func(conn *sqlite.Conn) error {
		for _, path := range strays {
			var kept bool
			read := func(*sqlite.Stmt) error { kept = true; return nil }
			if err := query(conn, "SELECT 1 FROM blob WHERE hash = ?", read, filepath.Base(path)); err != nil {
				return err
			}
			if kept {
				continue
			}
			if err := os.Remove(path); err == nil {
				removed++
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	return removed, err
}
