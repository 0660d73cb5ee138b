package shell

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIndexOfGit reads every kind of index that git writes.
func TestIndexOfGit(t *testing.T) {
	_, ws := committed(t)
	for i := range 40 {
		put(t, filepath.Join(ws, fmt.Sprintf("dir%d", i%3), strings.Repeat("n", i+1)), "x")
	}
	if err := os.Symlink("src", filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, ws, "add", ".")
	index := filepath.Join(ws, ".git", "index")
	check := func(what string, want bool) {
		t.Helper()
		gitIn(t, ws, "status")
		if got := plainIndex(index); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	check("version 2", true)
	gitIn(t, ws, "commit", "-q", "-m", "two")
	check("with a tree", true)
	put(t, filepath.Join(ws, "later"), "x")
	gitIn(t, ws, "add", "-N", "later")
	check("version 3", true)
	gitIn(t, ws, "update-index", "--index-version", "4")
	check("version 4", true)
	gitIn(t, ws, "update-index", "--force-untracked-cache")
	check("with a cache of untracked files", true)

	// What git knows as a submodule, in every version.
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"2", "3", "4"} {
		if err := os.WriteFile(index, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		gitIn(t, ws, "update-index", "--index-version", version)
		check("version "+version, true)
		gitIn(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",dir1/sub")
		check("a submodule in version "+version, false)
		gitIn(t, ws, "update-index", "--force-remove", "dir1/sub")
		check("without it", true)
	}
	gitIn(t, ws, "update-index", "--split-index")
	check("a split index", false)
}

// indexOf makes an index of version 2 with one entry and an extension.
func indexOf(mode uint32, name, extension string, data int) []byte {
	var b bytes.Buffer
	b.WriteString("DIRC\x00\x00\x00\x02\x00\x00\x00\x01")
	entry := make([]byte, indexEntry)
	binary.BigEndian.PutUint32(entry[indexModeAt:], mode)
	binary.BigEndian.PutUint16(entry[indexFlagsAt:], uint16(min(len(name), indexNameMask)))
	b.Write(entry)
	b.WriteString(name)
	b.Write(make([]byte, 8-(indexEntry+len(name))%8))
	if extension != "" {
		b.WriteString(extension)
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(data)))
		b.Write(make([]byte, data))
	}
	b.Write(make([]byte, indexSum))
	return b.Bytes()
}

func plainBytes(b []byte) bool {
	return plainEntries(bufio.NewReaderSize(bytes.NewReader(b), 64<<10), int64(len(b)))
}

func TestIndexEntries(t *testing.T) {
	for name, c := range map[string]struct {
		index []byte
		want  bool
	}{
		"a file":                 {indexOf(0o100644, "a", "", 0), true},
		"a program":              {indexOf(0o100755, "abcdefgh", "TREE", 3), true},
		"a link":                 {indexOf(0o120000, "ab", "UNTR", 0), true},
		"longest name":           {indexOf(0o100644, strings.Repeat("n", indexNameMask-1), "REUC", 9), true},
		"longer":                 {indexOf(0o100644, strings.Repeat("n", indexNameMask), "", 0), false},
		"a submodule":            {indexOf(0o160000, "a", "", 0), false},
		"a folder":               {indexOf(0o040000, "a", "", 0), false},
		"another index":          {indexOf(0o100644, "a", "link", 20), false},
		"a monitor":              {indexOf(0o100644, "a", "FSMN", 20), false},
		"entries elsewhere":      {indexOf(0o100644, "a", "IEOT", 20), false},
		"cut":                    {indexOf(0o100644, "a", "", 0)[:80], false},
		"cut in an extension":    {indexOf(0o100644, "a", "TREE", 50)[:130], false},
		"something that follows": {append(indexOf(0o100644, "a", "", 0), 0), false},
		"nothing":                {nil, false},
		"version 5":              {[]byte("DIRC\x00\x00\x00\x05" + strings.Repeat("\x00", 24)), false},
		"many entries":           {[]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("\x00", 24)), false},
	} {
		if got := plainBytes(c.index); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestIndexBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	if !plainIndex(path) {
		t.Error("asks about an index that is not there")
	}
	// An extension of zeros, which a sparse file has without being written.
	small := indexOf(0o100644, "a", "UNTR", 0)
	for size, want := range map[int]bool{maxGitIndex: true, maxGitIndex + 1: false} {
		b := indexOf(0o100644, "a", "UNTR", 0)
		binary.BigEndian.PutUint32(b[len(b)-indexSum-4:], uint32(size-len(small)))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
		if got := plainIndex(path); got != want {
			t.Errorf("an index of %d bytes: %v", size, got)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(indexOf(0o100644, "a", "TREE", 5))
	f.Add(indexOf(0o160000, "abc", "", 0))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x80", 90)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if plainBytes(b) && len(b) > 0 && plainBytes(b[:len(b)-1]) {
			t.Error("half an index is admitted")
		}
	})
}
