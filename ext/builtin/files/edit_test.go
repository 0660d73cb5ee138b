package files

import (
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"octavo/pages"
)

func TestEditReplacesText(t *testing.T) {
	s := open(t, everything)
	s.put("main.go", "package main\n\nfunc main() {\n\tprintln(1)\n}\n")
	want := "ok modified=1\n" +
		"main.go +2 -1 hash=" + hashOf([]byte("package main\n\nfunc main() {\n\tprintln(2)\n\tprintln(3)\n}\n")) + "\n" +
		"--- a/main.go\n+++ b/main.go\n@@ -1,5 +1,6 @@\n package main\n \n func main() {\n-\tprintln(1)\n+\tprintln(2)\n+\tprintln(3)\n }\n"
	a := args{"path": "main.go", "old": "\tprintln(1)\n", "new": "\tprintln(2)\n\tprintln(3)\n"}

	preview, err := s.tools["edit"].Preview(s.call(t.Context()), a.raw())
	must(t, err)
	s.is("main.go", "package main\n\nfunc main() {\n\tprintln(1)\n}\n")
	out, err := s.try("edit", a)
	must(t, err)
	if got := out.Parts[0].Text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.is("main.go", "package main\n\nfunc main() {\n\tprintln(2)\n\tprintln(3)\n}\n")
	if d := out.Display.Diff; d == nil || d.Path != "main.go" || d.Added != 2 || d.Deleted != 1 || d.New || len(d.Hunks) != 1 {
		t.Errorf("the display has %+v", d)
	}
	if preview.Diff.Added != 2 || preview.Title != "edit main.go +2 -1" || out.Display.Title != "edited main.go +2 -1" {
		t.Errorf("previewed %q, shown %q", preview.Title, out.Display.Title)
	}
}

func TestEditMatches(t *testing.T) {
	type pairs = [][2]string
	for _, test := range []struct {
		name, before string
		edits        pairs
		after        string // or a code with a ":"
	}{
		{"at the start", "abc", pairs{{"a", "x"}}, "xbc"},
		{"at the end without a newline", "abc", pairs{{"c", ""}}, "ab"},
		{"everything", "abc", pairs{{"abc", ""}}, ""},
		{"several lines", "a\nb\nc\n", pairs{{"a\nb", "x"}}, "x\nc\n"},
		{"joins lines", "a\nb\n", pairs{{"a\nb", "ab"}}, "ab\n"},
		{"nothing changes", "abc\n", pairs{{"b", "b"}}, "abc\n"},
		{"two at once", "one two\n", pairs{{"two", "one"}, {"one", "two"}}, "two one\n"},
		{"in any order and touching", "abcd", pairs{{"cd", "2"}, {"ab", "1"}}, "12"},
		{"overlapping", "abcd", pairs{{"abc", "1"}, {"cd", "2"}}, "invalid_arguments: edits[1]: it overlaps edits[0] near line 1"},
		{"the same twice", "abcd", pairs{{"b", "1"}, {"b", "2"}}, "invalid_arguments: edits[1]: it overlaps edits[0]"},
		{"all or nothing", "abcd", pairs{{"a", "1"}, {"x", "2"}}, "no_match: edits[1]: old is not in the file"},
		{"what another edit makes is not found", "a", pairs{{"a", "b"}, {"b", "c"}}, "no_match: edits[1]: "},
		{"ambiguous", "x\ny\nx\n", pairs{{"x", "z"}}, "ambiguous: old is in the file 2 times, at lines 1, 3; "},
		{"ambiguous where places overlap", "aaa", pairs{{"aa", "b"}}, "ambiguous: old is in the file 2 times, at lines 1, 1; "},
		{"ambiguous in many places", strings.Repeat("x\n", 12), pairs{{"x", "z"}}, "ambiguous: old is in the file 12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; "},
		{"just counted", strings.Repeat("x", maxCounted-1), pairs{{"x", "z"}}, "ambiguous: old is in the file 999 times"},
		{"not counted further", strings.Repeat("x", maxCounted+1), pairs{{"x", "z"}}, "ambiguous: old is in the file 1000 or more times"},

		{"CRLF is matched and kept", "a\r\nb\r\nc\r\n", pairs{{"a\nb\n", "x\ny\nz\n"}}, "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF from the middle of a line", "ab\r\ncd\r\n", pairs{{"b\nc", "x\ny"}}, "ax\r\nyd\r\n"},
		{"CRLF given as such", "a\r\nb\r\n", pairs{{"a\r\nb", "x\r\ny"}}, "x\r\ny\r\n"},
		{"CRLF is not brought in", "a\nb\n", pairs{{"a\r\nb", "x\r\ny"}}, "x\ny\n"},
		{"CRLF before what is replaced stays", "a\r\nb\r\n", pairs{{"b", "x"}}, "a\r\nx\r\n"},
		{"a line ending alone", "a\r\nb", pairs{{"\n", "\n\n"}}, "a\r\n\r\nb"},
		{"mixed endings are kept where they are", "a\nb\r\nc\nd\n", pairs{{"c", "x\ny"}}, "a\nb\r\nx\ny\nd\n"},
		{"and new lines end as those they replace", "a\nb\r\nc\nd\n", pairs{{"b\n", "x\ny\n"}}, "a\nx\r\ny\r\nc\nd\n"},
		{"a lone CR is a character", "a\rb\n", pairs{{"a\rb", "x"}}, "x\n"},

		{"BOM", "\xef\xbb\xbfa\n", pairs{{"a", "ü"}}, "\xef\xbb\xbfü\n"},
		{"UTF-16 little", "\xff\xfe" + utf16Text("grüß\r\n", binary.LittleEndian), pairs{{"grüß\n", "🐙\nx\n"}}, "\xff\xfe" + utf16Text("🐙\r\nx\r\n", binary.LittleEndian)},
		{"UTF-16 big", "\xfe\xff" + utf16Text("a", binary.BigEndian), pairs{{"a", "ü"}}, "\xfe\xff" + utf16Text("ü", binary.BigEndian)},
		{"Windows-1252", "caf\xe9\n", pairs{{"café", "crème €"}}, "cr\xe8me \x80\n"},
		{"what Windows-1252 cannot hold", "caf\xe9\n", pairs{{"café", "→"}}, "invalid_utf8: f is Windows-1252, which is kept, and Windows-1252 has no character '→'"},
		{"damaged UTF-8", "grüße \xff\n", pairs{{"g", "x"}}, "invalid_utf8: f cannot be edited as text: it is damaged UTF-8"},
		{"damaged UTF-16", "\xff\xfe\x00\xd8a\x00", pairs{{"a", "x"}}, "invalid_utf8: f cannot be edited as text: it is damaged UTF-16LE"},
		{"binary", "a\x00b", pairs{{"a", "x"}}, "invalid_utf8: f cannot be edited as text: it is binary"},
		{"empty", "", pairs{{"a", "x"}}, "no_match: old is not in the file, nor anything like it"},
		{"escapes and wide characters", "\x1b[31m世界\x1b[0m\n", pairs{{"世界", "e\u0301"}}, "\x1b[31me\u0301\x1b[0m\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, everything)
			s.put("f", test.before)
			a := args{"path": "f", "old": test.edits[0][0], "new": test.edits[0][1]}
			if len(test.edits) > 1 {
				var edits []args
				for _, e := range test.edits {
					edits = append(edits, args{"old": e[0], "new": e[1]})
				}
				a = args{"path": "f", "edits": edits}
			}
			if c, _, ok := strings.Cut(test.after, ": "); ok && regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(c) {
				contains(t, s.refused(code(c), "edit", a), test.after)
				s.is("f", test.before)
				return
			}
			got := s.ok("edit", a)
			s.is("f", test.after)
			want := "ok modified=1\nf +"
			if test.before == test.after {
				want = "ok modified=0\nf +0 -0 hash=" + hashOf([]byte(test.after)) + "\n(no change)\n"
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("the result is\n%s", got)
			}
		})
	}
}

func TestEditSuggests(t *testing.T) {
	s := open(t, everything)
	s.put("f", `package files

func (t *tools) readTool() ext.Tool {
	return ext.Tool{
		Name: "read",
	}
}

func (t *tools) editTool() ext.Tool {
    return ext.Tool{
		Name: "edit",
	}
}

func other() {}

func (t *tools) writeTool() ext.Tool { return ext.Tool{} }
func (t *tools) searchTool() ext.Tool { return ext.Tool{} }
`)
	for _, test := range []struct {
		name, old string
		want      []string
		not       string
	}{
		{"a slip", "func (t *tools) raedTool() ext.Tool {", []string{"line 3:\nfunc (t *tools) readTool()"}, ""},
		{"at most three", "func (t *tools) anyTool() ext.Tool { return ext.Tool{} }", []string{"line 17:", "line 18:"}, "line 15"},
		{"white space", "func (t *tools) editTool() ext.Tool {\n\treturn ext.Tool{\n\t\tName: \"edit\",\n", []string{"lines 9-11 (differs only in white space):\nfunc (t *tools) editTool() ext.Tool {\n    return"}, ""},
		{"line numbers", "     3 | func (t *tools) readTool() ext.Tool {\n     4 | \treturn ext.Tool{", []string{"without the line numbers that read prints"}, "Most like"},
		{"nothing like it", "SELECT 1", []string{"nor anything like it; read the file"}, "Most like"},
	} {
		got := s.refused(noMatch, "edit", args{"path": "f", "old": test.old, "new": "x"})
		contains(t, got, test.want...)
		if test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q in\n%s", test.name, test.not, got)
		}
		if n := strings.Count(got, "\nline"); n > maxSuggestions {
			t.Errorf("%s: %d suggestions", test.name, n)
		}
	}
	// A suggestion is bounded whatever it is of.
	long := strings.Repeat("a very long line ", 1000)
	s.put("f", long+"x\n")
	if got := s.refused(noMatch, "edit", args{"path": "f", "old": long + "y", "new": ""}); len(got) > 3*maxShownBytes {
		t.Errorf("the refusal has %d bytes", len(got))
	}
	lines := strings.Repeat("the line\n", 100)
	s.put("f", lines)
	got := s.refused(noMatch, "edit", args{"path": "f", "old": strings.Repeat("the lime\n", 50), "new": ""})
	if n := strings.Count(got, "the line"); n > maxSuggestions*maxShownLines {
		t.Errorf("%d lines are suggested", n)
	}
}

func TestEditBounds(t *testing.T) {
	s := open(t, everything)
	s.put("f", strings.Repeat("x", maxOldBytes+1)+"\n")
	s.ok("edit", args{"path": "f", "old": "x\n", "new": "y"})
	s.put("g", "z"+strings.Repeat("x", maxOldBytes))
	s.ok("edit", args{"path": "g", "old": "z" + strings.Repeat("x", maxOldBytes-1), "new": ""})
	s.refused(tooLarge, "edit", args{"path": "f", "old": "x" + strings.Repeat("x", maxOldBytes), "new": ""})

	var edits []args
	var body strings.Builder
	for i := range maxEdits + 1 {
		fmt.Fprintf(&body, "<%d>", i)
		edits = append(edits, args{"old": fmt.Sprintf("<%d>", i), "new": "."})
	}
	s.put("h", body.String())
	s.refused(badArguments, "edit", args{"path": "h", "edits": edits})
	s.ok("edit", args{"path": "h", "edits": edits[:maxEdits]})
	s.is("h", strings.Repeat(".", maxEdits)+fmt.Sprintf("<%d>", maxEdits))

	// What an edit would make is bounded like what it reads.
	s.sparse("large", maxFileBytes)
	f, err := os.OpenFile(s.path("large"), os.O_WRONLY, 0)
	must(t, err)
	for at := int64(0); at < maxFileBytes; at += 1 << 20 { // text, so that it can be edited
		_, err = f.WriteAt([]byte(strings.Repeat("y", 1<<20)), at)
		must(t, err)
	}
	_, err = f.WriteAt([]byte("old"), 0)
	must(t, err)
	must(t, f.Close())
	s.refused(tooLarge, "edit", args{"path": "large", "old": "old", "new": "four"})
	s.ok("edit", args{"path": "large", "old": "old", "new": "new"})
}

func TestEditShowsABoundedDiff(t *testing.T) {
	o := everything
	o.MaxOutputBytes = MinOutputBytes
	s := open(t, o)
	s.put("f", "start\nend\n")
	got := s.ok("edit", args{"path": "f", "old": "start\n", "new": "start\n" + strings.Repeat("a line of text\n", 3000)})
	contains(t, got, "ok modified=1\nf +3000 -0 hash=", "+a line of text\n", "[the rest of the diff is left out; read the file to see it]\n")

	s = open(t, everything)
	s.put("f", "start\nend\n")
	out, err := s.try("edit", args{"path": "f", "old": "start\n", "new": "start\n" + strings.Repeat("a line of text\n", 3000)})
	must(t, err)
	if d := out.Display.Diff; !d.Cut || d.Added != 3000 || len(d.Hunks[0].Lines) > pages.MaxDiffLines {
		t.Errorf("the display shows %d lines of +%d, cut %v", len(d.Hunks[0].Lines), d.Added, d.Cut)
	}
}

// The diff is of the text, whatever the encoding and the line endings.
func TestEditShowsText(t *testing.T) {
	s := open(t, everything)
	s.put("f", "\xff\xfe"+utf16Text("eins\r\nzwei\r\n", binary.LittleEndian))
	got := s.ok("edit", args{"path": "f", "old": "zwei", "new": "drei"})
	contains(t, got, "\n eins\n-zwei\n+drei\n")
	if strings.Contains(got, "\r") {
		t.Errorf("line endings are shown: %q", got)
	}
}
