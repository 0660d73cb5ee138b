package export_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"octavo/app/api"
	"octavo/app/export"
)

// names are what stands in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func writeFile(t *testing.T, path string, force bool, s export.Session) error {
	t.Helper()
	return export.WriteFile(t.Context(), path, force, export.JSON, s, export.Options{})
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "session.json")
	if err := writeFile(t, path, false, sample()); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read(t, string(first))
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}

	err = writeFile(t, path, false, one())
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "--force") || !strings.Contains(err.Error(), path) {
		t.Errorf("an existing file: %v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != string(first) {
		t.Error("the file that was there was changed")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(t, path, true, one()); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); string(now) == string(first) {
		t.Error("the file that was there was not replaced")
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("the mode of the new file is %v", info.Mode())
	}
	if got := names(t, dir); got != "session.json" {
		t.Errorf("the folder has %s", got)
	}
}

func TestWriteFileElsewhere(t *testing.T) {
	dir := t.TempDir()
	folder, pipe := filepath.Join(dir, "folder"), filepath.Join(dir, "pipe")
	target, link, dangling, loose := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling"), filepath.Join(dir, "loose")
	for _, err := range []error{os.Mkdir(folder, 0o700), unix.Mkfifo(pipe, 0o600), os.WriteFile(target, []byte("kept"), 0o600),
		os.Symlink(target, link), os.Symlink("nowhere", dangling), os.Symlink(folder, loose)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	for _, tt := range []struct {
		path, says string
		force      bool
	}{
		{"", "say where", true},
		{folder, "is a folder", true},
		{loose, "is a folder", true},
		{pipe, "is not a file", true},
		{link, "--force", false},
		{dangling, "--force", false},
		{filepath.Join(dir, "missing", "x.json"), "does not exist; make it", false},
		{filepath.Join(target, "x.json"), target, false},
	} {
		if err := writeFile(t, tt.path, tt.force, sample()); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want an error that says %q", tt.path, err, tt.says)
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("the folder had %s and has %s", before, after)
	}
	if err := writeFile(t, link, true, sample()); err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(target); string(kept) != "kept" {
		t.Error("what the link led to was changed")
	}
	if info, _ := os.Lstat(link); !info.Mode().IsRegular() {
		t.Errorf("the link is now %v", info.Mode())
	}
}

// TestWriteFileFails holds a failed export to leaving everything as it was.
func TestWriteFileFails(t *testing.T) {
	for _, force := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "session.json")
		want := ""
		if force {
			want = "session.json"
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		broken, gone := sample(), errors.New("the store is gone")
		broken.Entries = func(yield func(api.Entry, error) bool) {
			_ = yield(api.Entry{Kind: api.EntryNote}, nil) && yield(api.Entry{}, gone)
		}
		if err := writeFile(t, path, force, broken); !errors.Is(err, gone) {
			t.Errorf("a broken store: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := sample()
		ended.Entries = func(yield func(api.Entry, error) bool) {
			cancel()
			yield(api.Entry{Kind: api.EntryNote}, nil)
		}
		if err := export.WriteFile(ctx, path, force, export.HTML, ended, export.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context: %v", err)
		}
		if got := names(t, dir); got != want {
			t.Errorf("the folder has %q, want %q", got, want)
		}
		if old, _ := os.ReadFile(path); force && string(old) != "old" {
			t.Errorf("the file has %q", old)
		}
	}
}

// TestWriteFileMeanwhile is about a file that comes while the export is made.
func TestWriteFileMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "session.json")
	s := one()
	s.Entries = func(func(api.Entry, error) bool) {
		if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
			t.Error(err)
		}
	}
	if err := writeFile(t, path, false, s); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the error is %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "theirs" || names(t, dir) != "session.json" {
		t.Errorf("the file has %q, the folder %s", got, names(t, dir))
	}
}
