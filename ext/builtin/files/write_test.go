package files

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteCreates(t *testing.T) {
	s := open(t, everything)
	preview, err := s.tools["write"].Preview(s.call(t.Context()), args{"path": "a/b/c.txt", "content": "one\ntwo\n"}.raw())
	must(t, err)
	if preview.Diff == nil || !preview.Diff.New || preview.Diff.Added != 2 {
		t.Errorf("the preview is %+v", preview)
	}
	if _, err := os.Stat(s.path("a")); err == nil {
		t.Fatal("a preview made a directory")
	}
	out, err := s.try("write", args{"path": "a/b/c.txt", "content": "one\ntwo\n"})
	must(t, err)
	if got, want := out.Parts[0].Text, "created\na/b/c.txt +2 -0 hash="+hashOf([]byte("one\ntwo\n"))+"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d := out.Display.Diff; d == nil || !d.New || d.Added != 2 || len(d.Hunks) != 1 {
		t.Errorf("the display has %+v", d)
	}
	s.is("a/b/c.txt", "one\ntwo\n")
	out, err = s.try("write", args{"path": "bin", "content": "\x00"})
	must(t, err)
	if d := out.Display.Diff; !d.Binary || d.Added != 0 {
		t.Errorf("what is no text is shown as %+v", d)
	}
	s.ok("write", args{"path": "empty", "content": ""})
	s.is("empty", "")
	s.ok("write", args{"path": "wide 世界", "content": "e\u0301 🐙"})
	s.is("wide 世界", "e\u0301 🐙")
}

func TestWriteReplaces(t *testing.T) {
	s := open(t, everything)
	s.put("f", "one\ntwo\n")
	contains(t, s.refused(staleFile, "write", args{"path": "f", "content": "x"}), "was not read in this session")
	s.ok("read", args{"path": "f", "limit": 1})
	want := "replaced\nf +1 -1 hash=" + hashOf([]byte("one\n2\n")) + "\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	if got := s.ok("write", args{"path": "f", "content": "one\n2\n"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.is("f", "one\n2\n")
	want = "replaced\nf +0 -0 hash=" + hashOf([]byte("one\n2\n")) + "\n(no change)\n"
	if got := s.ok("write", args{"path": "f", "content": "one\n2\n"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	contains(t, s.ok("write", args{"path": "f", "content": "once more\n"}), "replaced") // what it wrote it knows
	s.put("same", "x")
	contains(t, s.ok("write", args{"path": "same", "content": "x"}), "(no change)") // nothing can be lost
}

func TestWriteKeepsTheFormOfAFile(t *testing.T) {
	for _, test := range []struct{ name, before, content, after string }{
		{"CRLF", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		{"CRLF as given", "a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n"},
		{"mixed endings are not a form", "a\r\nb\n", "x\ny\n", "x\ny\n"},
		{"LF", "a\n", "x\ny\n", "x\ny\n"},
		{"BOM", "\xef\xbb\xbfa\n", "ü\n", "\xef\xbb\xbfü\n"},
		{"UTF-16", "\xfe\xff" + utf16Text("a\r\n", binary.BigEndian), "ü\n", "\xfe\xff" + utf16Text("ü\r\n", binary.BigEndian)},
		{"Windows-1252", "\xe9\n", "è\n", "\xe8\n"},
		{"binary", "\x00\x01", "text\n", "text\n"},
		{"damaged", "grüße \xff\n", "grüße\n", "grüße\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, everything)
			s.put("f", test.before)
			s.ok("read", args{"path": "f"})
			s.ok("write", args{"path": "f", "content": test.content})
			s.is("f", test.after)
		})
	}
	s := open(t, everything)
	s.put("f", "\xe9\n")
	s.ok("read", args{"path": "f"})
	contains(t, s.refused(invalidUTF8, "write", args{"path": "f", "content": "→"}), "'→'")
	s.is("f", "\xe9\n")
}

func TestWriteBounds(t *testing.T) {
	s := open(t, everything)
	s.ok("write", args{"path": "f", "content": strings.Repeat("x", maxFileBytes)})
	s.refused(tooLarge, "write", args{"path": "g", "content": strings.Repeat("x", maxFileBytes+1)})
	if _, err := os.Stat(s.path("g")); err == nil {
		t.Error("something was written")
	}
}

func TestExpectedHash(t *testing.T) {
	s := open(t, everything)
	s.put("f", "one\n")
	right, wrong := hashOf([]byte("one\n")), hashOf([]byte("two\n"))
	contains(t, s.refused(staleFile, "write", args{"path": "f", "content": "x", "expected_hash": wrong}), right)
	s.refused(staleFile, "write", args{"path": "f", "content": "one\n", "expected_hash": wrong})
	s.refused(staleFile, "edit", args{"path": "f", "old": "one", "new": "x", "expected_hash": wrong})
	s.refused(staleFile, "write", args{"path": "new", "content": "x", "expected_hash": wrong})
	s.is("f", "one\n")
	s.ok("write", args{"path": "f", "content": "two\n", "expected_hash": right}) // it says what it saw, without a read
	s.ok("edit", args{"path": "f", "old": "two", "new": "three", "expected_hash": strings.ToUpper(wrong)})
	s.is("f", "three\n")
}

func TestChangesKeepModeOwnerAndLinks(t *testing.T) {
	s := open(t, everything)
	for _, mode := range []os.FileMode{0o755, 0o600, 0o664, 0o777} {
		name := mode.String()
		path := s.put(name, "one\n")
		must(t, os.Chmod(path, mode))
		s.ok("edit", args{"path": name, "old": "one", "new": "two"})
		s.ok("write", args{"path": name, "content": "three\n"})
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("mode %v became %v", mode, info.Mode())
		}
	}

	s.put("target", "one\n")
	s.link("target", "link")
	s.ok("edit", args{"path": "link", "old": "one", "new": "two"})
	s.is("target", "two\n")
	if to, err := os.Readlink(s.path("link")); err != nil || to != "target" {
		t.Errorf("the link became %q, %v", to, err)
	}
	s.link("later", "dangling")
	s.ok("write", args{"path": "dangling", "content": "x"})
	s.is("later", "x")

	must(t, os.Link(s.path("target"), s.path("other")))
	contains(t, s.ok("edit", args{"path": "target", "old": "two", "new": "three"}), "other hard links")
	s.is("other", "two\n")

	s.ok("write", args{"path": "new", "content": "x"})
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	if info, err := os.Stat(s.path("new")); err != nil || info.Mode().Perm() != 0o666&^os.FileMode(mask) {
		t.Errorf("a new file has the mode %v, %v", info.Mode(), err)
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	s := open(t, everything)
	path := s.put("f", "one\n")
	must(t, os.Chown(path, 12345, 23456))
	s.ok("edit", args{"path": "f", "old": "one", "new": "two"})
	info, err := os.Stat(path)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 {
		t.Errorf("the file belongs to %d:%d", st.Uid, st.Gid)
	}
}

// What cannot be written says so and leaves nothing behind.
func TestUnwritable(t *testing.T) {
	s := open(t, everything)
	s.put("file", "x")
	contains(t, s.refused(ioFailed, "write", args{"path": "file/sub/f", "content": "x"}), "not a directory")
	s.refused(ioFailed, "write", args{"path": strings.Repeat("a", 300), "content": "x"})
	s.refused(ioFailed, "write", args{"path": "made/" + strings.Repeat("a", 300), "content": "x"})
	if _, err := os.Stat(s.path("made")); err == nil {
		t.Error("a directory was made for a file that was not")
	}
	s.clean()
	if _, err := os.Stat("/proc/self"); err == nil { // where not even root makes files
		_, err := s.try("write", args{"path": "/proc/octavo/f", "content": "x"})
		if err == nil {
			t.Error("wrote below /proc")
		}
	}
	if os.Geteuid() == 0 {
		return // permission bits say nothing to root
	}
	s.put("dir/f", "one\n")
	must(t, os.Chmod(s.path("dir"), 0o555))
	defer os.Chmod(s.path("dir"), 0o755)
	s.refused(notPermitted, "edit", args{"path": "dir/f", "old": "one", "new": "two"})
	s.refused(notPermitted, "write", args{"path": "dir/new", "content": "x"})
	s.refused(notPermitted, "write", args{"path": "dir/sub/new", "content": "x"})
	path := s.put("locked", "one\n")
	must(t, os.Chmod(path, 0o444))
	contains(t, s.refused(notPermitted, "edit", args{"path": "locked", "old": "one", "new": "two"}), "read-only (mode 0444)")
	s.is("locked", "one\n")
	s.is("dir/f", "one\n")
}

func TestPreviewsRefuseWhatCallsRefuse(t *testing.T) {
	s := open(t, everything)
	s.put("f", "one\n")
	for _, test := range []struct {
		tool string
		a    args
		want code
	}{
		{"write", args{"path": "f", "content": "x"}, staleFile},
		{"edit", args{"path": "f", "old": "two", "new": "x"}, noMatch},
		{"edit", args{"path": "missing", "old": "two", "new": "x"}, ioFailed},
	} {
		_, err := s.tools[test.tool].Preview(s.call(t.Context()), test.a.raw())
		if err == nil || !strings.HasPrefix(err.Error(), string(test.want)) {
			t.Errorf("%s %s: %v", test.tool, test.a.raw(), err)
		}
	}
}

func TestTwoSpellingsAreOneFile(t *testing.T) {
	s := open(t, everything)
	s.put("dir/f", "one\n")
	s.link("dir", "alias")
	s.ok("read", args{"path": "alias/f"})
	s.ok("write", args{"path": filepath.Join(s.root, "dir/f"), "content": "two\n"})
	must(t, os.WriteFile(s.path("dir/f"), []byte("three\n"), 0o644))
	s.refused(staleFile, "edit", args{"path": "alias/../dir/f", "old": "three", "new": fmt.Sprint(3)})
}
