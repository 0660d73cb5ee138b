package files

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestReadNumbersLines(t *testing.T) {
	s := open(t, everything)
	s.put("main.go", "package main\n\n\tfunc main() {}\n")
	want := "main.go: lines 1-3 of 3, hash=" + hashOf([]byte("package main\n\n\tfunc main() {}\n")) + "\n" +
		"     1 | package main\n     2 | \n     3 | \tfunc main() {}\n"
	if got := s.ok("read", args{"path": "main.go"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "main.go: lines 2-2 of 3, hash=" + hashOf([]byte(s.get("main.go"))) + "\n     2 | \n[1 line left; continue with offset=3]\n"
	if got := s.ok("read", args{"path": "main.go", "offset": 2, "limit": 1}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out, err := s.try("read", args{"path": "main.go"})
	must(t, err)
	if out.Display == nil || out.Display.Title != "main.go: lines 1-3 of 3" {
		t.Errorf("the display is %+v", out.Display)
	}
}

func TestReadWindows(t *testing.T) {
	s := open(t, everything)
	var b strings.Builder
	for i := 1; i <= 1200; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	s.put("long", b.String())
	for _, test := range []struct {
		a          args
		from, to   int
		next, left string
	}{
		{args{}, 1, 500, "offset=501", "700 lines left"},
		{args{"offset": 501}, 501, 1000, "offset=1001", "200 lines left"},
		{args{"offset": 1001}, 1001, 1200, "", ""},
		{args{"offset": 1200}, 1200, 1200, "", ""},
		{args{"offset": 2, "limit": 3}, 2, 4, "offset=5", "1196 lines left"},
		{args{"limit": 1 << 30}, 1, 1200, "", ""},
	} {
		test.a["path"] = "long"
		got := s.ok("read", test.a)
		contains(t, got, fmt.Sprintf("lines %d-%d of 1200", test.from, test.to),
			fmt.Sprintf("%6d | line %d\n", test.from, test.from), fmt.Sprintf("%6d | line %d\n", test.to, test.to), test.next, test.left)
		if strings.Contains(got, fmt.Sprintf("| line %d\n", test.to+1)) || test.next == "" && strings.Contains(got, "continue") {
			t.Errorf("%v shows more than it should", test.a)
		}
	}
	contains(t, s.refused(badArguments, "read", args{"path": "long", "offset": 1201}), "1200 lines")
}

// A result that is full at its bound of bytes continues where it stopped, whatever the bound.
func TestReadContinuesWhenTheResultIsFull(t *testing.T) {
	o := everything
	o.MaxOutputBytes = MinOutputBytes
	s := open(t, o)
	var b strings.Builder
	for i := 1; i <= 300; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("ü", i%150))
	}
	s.put("f", b.String())
	next, seen := 1, 0
	for next > 0 {
		got := s.ok("read", args{"path": "f", "offset": next})
		for line := range strings.Lines(got) {
			if _, row, ok := strings.Cut(line, " | "); ok {
				seen++
				contains(t, row, fmt.Sprintf("%d %s\n", seen, strings.Repeat("ü", seen%150)))
			}
		}
		_, after, more := strings.Cut(got, "continue with offset=")
		if next = 0; more {
			_, err := fmt.Sscan(after, &next)
			must(t, err)
			contains(t, got, "full at 1 KiB")
		}
	}
	if seen != 300 {
		t.Errorf("%d of 300 lines were shown", seen)
	}
}

func TestReadClipsLines(t *testing.T) {
	s := open(t, everything)
	for n, clipped := range map[int]bool{maxLineRunes: false, maxLineRunes + 1: true} {
		s.put("f", strings.Repeat("é", n)+"\nnext\n")
		got := s.ok("read", args{"path": "f"})
		if strings.Contains(got, "line clipped") != clipped {
			t.Errorf("%d characters: clipped %v", n, !clipped)
		}
		contains(t, got, strings.Repeat("é", maxLineRunes), "     2 | next")
	}
	s.put("wide", strings.Repeat("x", 10<<20))
	contains(t, s.ok("read", args{"path": "wide"}), "lines 1-1 of 1", "it has 10485760 characters", "no newline at the end")

	o := everything
	o.MaxOutputBytes = MinOutputBytes
	small := open(t, o)
	small.put("f", strings.Repeat("🐙", maxLineRunes)+"\nnext\n")
	contains(t, small.ok("read", args{"path": "f"}), "lines 1-1 of 2", "🐙…", "offset=2")
}

func TestReadDecodes(t *testing.T) {
	s := open(t, everything)
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"empty", "", []string{"empty is empty, hash=" + hashOf(nil)}},
		{"only a newline", "\n", []string{"lines 1-1 of 1", "     1 | \n"}},
		{"no newline", "a\nb", []string{"lines 1-2 of 2", ", no newline at the end", "     2 | b\n"}},
		{"CRLF", "a\r\nb\r\n", []string{", CRLF line endings", "     1 | a\n     2 | b\n"}},
		{"mixed", "a\r\nb\nc\n", []string{", some CRLF line endings", "     1 | a\n"}},
		{"BOM", "\xef\xbb\xbfa\n", []string{", UTF-8 with BOM", "     1 | a\n"}},
		{"only a BOM", "\xef\xbb\xbf", []string{" is empty"}},
		{"utf-16 le", "\xff\xfe" + utf16Text("grüß🐙\n", binary.LittleEndian), []string{", UTF-16LE", "     1 | grüß🐙\n"}},
		{"utf-16 be", "\xfe\xff" + utf16Text("grüß🐙\n", binary.BigEndian), []string{", UTF-16BE", "     1 | grüß🐙\n"}},
		{"latin-1", "caf\xe9 cr\xe8me\n", []string{", Windows-1252", "     1 | café crème\n"}},
		{"windows-1252", "\x93quoted\x94 \x80\n", []string{"     1 | “quoted” €\n"}},
		{"damaged", "grüße und \xff Äpfel\n", []string{", damaged UTF-8", "     1 | grüße und \ufffd Äpfel\n"}},
		{"a NUL far in", strings.Repeat("x\n", sniffBytes/2) + "a\x00b\n", []string{"lines 1-500 of 4001"}},
		{"wide", "世界 e\u0301\n", []string{"     1 | 世界 e\u0301\n"}},
		{"escapes", "\x1b[31mred\x1b[0m\n", []string{"     1 | \x1b[31mred\x1b[0m\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.put("f", test.content)
			contains(t, strings.ReplaceAll(s.ok("read", args{"path": "f"}), "f is empty", "empty is empty"), test.want...)
		})
	}
	s.put("nul", strings.Repeat("x\n", sniffBytes/2)+"a\x00b\n")
	contains(t, s.ok("read", args{"path": "nul", "offset": 4001}), "a␀b")
}

func utf16Text(s string, order binary.AppendByteOrder) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func TestReadSaysWhatIsBinary(t *testing.T) {
	s := open(t, everything)
	for content, want := range map[string]string{
		"\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 100): "ELF program or library, 108 B",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00":                      "application/x-gzip, 8 B",
		"%PDF-1.7\x00":                                          "application/pdf",
		"SQLite format 3\x00":                                   "SQLite database",
		"a\x00b":                                                "unknown kind, 3 B",
		"\xff\xfe\x00\x00a\x00\x00\x00":                         "UTF-32 text",
		"\xff\xfea":                                             "unknown kind",
		"\x01\x02\xff\xfe":                                      "unknown kind",
	} {
		s.put("f", content)
		got := s.ok("read", args{"path": "f"})
		contains(t, got, "f is binary: "+want, "hash="+hashOf([]byte(content)))
		if strings.ContainsAny(got, "\x00\x01\x7f") {
			t.Errorf("bytes of the file are shown: %q", got)
		}
	}
}

func TestReadBoundsTheSize(t *testing.T) {
	s := open(t, everything)
	s.sparse("at the bound", maxFileBytes)
	contains(t, s.ok("read", args{"path": "at the bound"}), "is binary", "32 MiB")
	s.sparse("beyond", maxFileBytes+1)
	contains(t, s.refused(tooLarge, "read", args{"path": "beyond"}), "more than 32 MiB", "grep")
	s.sparse("sparse", 1<<30)
	s.refused(tooLarge, "read", args{"path": "sparse"})
	s.refused(tooLarge, "edit", args{"path": "sparse", "old": "a", "new": "b"})
	s.refused(tooLarge, "write", args{"path": "sparse", "content": "b"})
	s.refused(tooLarge, "search", args{"path": "sparse", "query": "b"})
	s.put("33 MiB", strings.Repeat("0123456789abcdef", 33<<16))
	s.refused(tooLarge, "read", args{"path": "33 MiB"})
}

// None of these may block, whatever is on the other side.
func TestSpecialFilesAreRefused(t *testing.T) {
	s := open(t, everything)
	s.fifo("pipe")
	listener, err := net.Listen("unix", s.path("sock"))
	must(t, err)
	defer listener.Close()
	s.link("/dev/zero", "zero")
	for path, kind := range map[string]string{
		"pipe": "a named pipe", "sock": "a socket", "/dev/zero": "a device", "zero": "a device", "/dev/stdin": "",
	} {
		contains(t, s.refused(notPermitted, "read", args{"path": path}), kind)
		s.refused(notPermitted, "edit", args{"path": path, "old": "a", "new": "b"})
		s.refused(notPermitted, "write", args{"path": path, "content": "b"})
		s.refused(notPermitted, "search", args{"path": path, "query": "b"})
	}
	// A pipe that takes a file's place after the path was judged does not block either.
	s.put("file", "x")
	p, err := workspace{root: s.root}.locate("file")
	must(t, err)
	must(t, os.Remove(s.path("file")))
	s.fifo("file")
	if _, err := load(t.Context(), p); err == nil {
		t.Error("a pipe was loaded")
	}
}

func TestReadFilesWithoutASize(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc on this system")
	}
	s := open(t, everything)
	contains(t, s.ok("read", args{"path": "/proc/self/status"}), "Name:")
}

func TestReadSuggestsNames(t *testing.T) {
	s := open(t, everything)
	for _, name := range []string{"README.md", "readme_old.md", "main.go", "main_test.go", "sub/x"} {
		s.put(name, "x")
	}
	s.put("od\x1bd.go", "x")
	for path, want := range map[string]string{
		"Readme.md":       "similar names in its directory: README.md",
		"mian.go":         "main.go",
		"odd.go":          `"od\x1bd.go"`,
		"zzzzzz":          "read its directory",
		"sub2/x":          "nor does its directory",
		"sub/y":           "read its directory",
		"missing/../x.go": "does not exist",
	} {
		got := s.refused(ioFailed, "read", args{"path": path})
		contains(t, got, want)
		if _, names, ok := strings.Cut(got, "directory: "); ok && strings.Count(names, ",") >= maxSuggestions {
			t.Errorf("more than %d names: %s", maxSuggestions, got)
		}
	}
	s.link("nowhere", "dangling")
	contains(t, s.refused(ioFailed, "read", args{"path": "dangling"}), "nowhere does not exist")
}

func TestReadListsADirectory(t *testing.T) {
	s := open(t, everything)
	s.put("b.txt", "x")
	s.put("sub/x", "x")
	s.put(".hidden", "x")
	s.put("new\nline\x1b[2J", "x")
	s.link("b.txt", "link")
	s.fifo("pipe")
	want := ". is a directory with 6 entries:\n.hidden\nb.txt\nlink (symbolic link)\n\"new\\nline\\x1b[2J\"\npipe (a named pipe)\nsub/\n"
	if got := s.ok("read", args{"path": "."}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = ". is a directory with 6 entries:\nb.txt\nlink (symbolic link)\n[3 more; continue with offset=4]\n"
	if got := s.ok("read", args{"path": ".", "offset": 2, "limit": 2}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.refused(badArguments, "read", args{"path": ".", "offset": 7})
	must(t, os.Mkdir(s.path("empty"), 0o755))
	contains(t, s.ok("read", args{"path": "empty/"}), "empty is an empty directory")
	contains(t, s.refused(isDirectory, "edit", args{"path": "sub", "old": "a", "new": "b"}), "name a file")
	s.refused(isDirectory, "write", args{"path": "sub", "content": "b"})
}

func TestListingsAreBounded(t *testing.T) {
	s := open(t, everything)
	for i := range maxEntries + 1 {
		must(t, os.WriteFile(fmt.Sprintf("%s/%d", s.root, i), nil, 0o600))
	}
	contains(t, s.ok("read", args{"path": "."}), "more than 10000 entries", "too many to be sorted")
	must(t, os.Remove(s.path("7")))
	contains(t, s.ok("read", args{"path": "."}), ". is a directory with 10000 entries:\n0\n1\n10\n", "[9500 more; continue with offset=501]")
	contains(t, s.ok("read", args{"path": ".", "offset": 10_000}), "entries:\n9999\n")

	o := everything
	o.MaxOutputBytes = MinOutputBytes
	small := join(t, newExtension(o), s.root, nil)
	contains(t, small.ok("read", args{"path": "."}), "more; continue with offset=")
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s := open(t, everything)
	s.put("secret/file", "x")
	s.put("locked", "needle")
	s.put("open", "needle\n")
	must(t, os.Chmod(s.path("locked"), 0))
	must(t, os.Chmod(s.path("secret"), 0))
	defer os.Chmod(s.path("secret"), 0o755)
	s.refused(notPermitted, "read", args{"path": "locked"})
	s.refused(notPermitted, "read", args{"path": "secret"})
	s.refused(notPermitted, "read", args{"path": "secret/file"})
	s.engines(func() { contains(t, s.ok("search", args{"query": "needle"}), "1 match in 1 file") })
}

func TestCancelledCallsSaySo(t *testing.T) {
	s := open(t, everything)
	s.put("f", "old\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, a := range map[string]args{
		"read": {"path": "f"}, "search": {"query": "old"}, "edit": {"path": "f", "old": "old", "new": "new"}, "write": {"path": "g", "content": "x"},
	} {
		if _, err := s.tryRaw(ctx, tool, a.raw()); err == nil || !strings.HasPrefix(err.Error(), string(cancelled)+": ") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	s.is("f", "old\n")
	if _, err := os.Stat(s.path("g")); err == nil {
		t.Error("a cancelled write made a file")
	}
}
