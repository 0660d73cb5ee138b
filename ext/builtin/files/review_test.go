package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"octavo/ext"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/render"
)

// preview asks a tool what a call would do.
func (s *session) preview(id, tool string, a args) (*pages.Display, error) {
	c := s.call(s.Context())
	c.ID = id
	return s.tools[tool].Preview(c, a.raw())
}

// previewed is what a person sees who is asked.
func (s *session) previewed(tool string, a args) string {
	s.Helper()
	d, err := s.preview("c1", tool, a)
	must(s, err)
	return render.WholeDiff(*d.Diff, render.Options{Width: 80}) + "\n" + text.Visible(d.Text)
}

func (s *session) previewRefused(c code, tool string, a args) string {
	s.Helper()
	d, err := s.preview("c1", tool, a)
	var told ext.Refused
	if !errors.As(err, &told) || !strings.HasPrefix(err.Error(), string(c)+": ") {
		s.Fatalf("%s: %v, %v, want %s", tool, d, err, c)
	}
	return err.Error()
}

func TestAReviewShowsEverything(t *testing.T) {
	s := open(t, everything)
	for content, want := range map[string]string{
		"#!/bin/sh\necho ok \x1b]0;touch HIDDEN\n": "2 + echo ok ␛]0;touch HIDDEN",
		"safe\b\b\b\bevil\u200b\u202e\n":           "1 + safe␈␈␈␈evil‹U+200B›‹U+202E›",
		"\x00\x01bin":                              "1 + ␀␁bin",
		"a\rb\n":                                   "1 + a␍b",
		"a\r\nb\r\n":                               "1 + a␍\n2 + b␍", // what is new in a file is not what the file had
		"\ufeff#!/bin/sh\n":                        "1 + ‹U+FEFF›#!/bin/sh",
		"echo ok" + strings.Repeat(" ", 5000) + ";touch F\n":                   ";touch F",
		strings.Repeat("x\n", 2500) + "middle\n" + strings.Repeat("y\n", 2499): "2501 + middle",
	} {
		if got := s.previewed("write", args{"path": "new", "content": content}); !strings.Contains(got, want) || strings.Contains(got, "(empty)") {
			t.Errorf("%q is shown as\n%s", abridged(content), abridged(got))
		}
	}
	s.put("f", "one\ntwo\n")
	contains(t, s.previewed("edit", args{"path": "f", "old": "two", "new": "two\x1b[8m hidden"}), "2 - two\n2 + two␛[8m hidden")
	contains(t, s.previewed("edit", args{"path": "f", "old": "one\n", "new": "one \n"}), "1 + one␠")
}

func TestAReviewOfOtherForms(t *testing.T) {
	for _, test := range []struct {
		name, before string
		content      string
		want, not    []string
	}{
		{"CRLF stays CRLF", "a\r\nb\r\n", "a\nc\n", []string{"2 - b\n2 + c\n"}, []string{"␍"}},
		{"CRLF comes in", "a\nb\n", "a\r\nb\n", []string{"1 - a\n1 + a␍"}, nil},
		{"mixed", "a\r\nb\n", "a\r\nc\r\n", []string{"2 + c␍"}, nil},
		{"UTF-16", "\xff\xfe" + utf16Text("eins\n", binary.LittleEndian), "zwei\n", []string{"1 - eins\n1 + zwei"}, []string{"‹"}},
		{"Windows-1252 that reads as UTF-8", "\xe9\n", "Ã©\n", []string{"1 - é\n1 + Ã©"}, nil},
		{"a second byte order mark", "\xef\xbb\xbfa\n", "\ufeffa\n", []string{"1 + ‹U+FEFF›a"}, nil},
		{"binary before", "\x00\x01\x02ELF", "text\n", []string{"binary +1 −0", "replaces binary content: unknown kind, 6 B, sha256 " + hashOf([]byte("\x00\x01\x02ELF")), "00 01 02 45"}, nil},
		{"damaged before", "grüße ä ö \xff\n", "grüße ä ö \ufffd\n", []string{"‹0xFF›", "+ grüße ä ö \ufffd", "it is damaged UTF-8; it becomes UTF-8"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, everything)
			s.put("f", test.before)
			s.ok("read", args{"path": "f"})
			got := s.previewed("write", args{"path": "f", "content": test.content})
			contains(t, got, test.want...)
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
			s.is("f", test.before)
		})
	}
	s := open(t, everything)
	s.put("large", "\x00"+strings.Repeat("b", 1<<20))
	s.ok("read", args{"path": "large"})
	d, err := s.preview("c1", "write", args{"path": "large", "content": ""})
	must(t, err)
	if n := strings.Count(d.Text, " 62 "); n < 20 || n > maxHeadBytes {
		t.Errorf("%d bytes are shown of what was binary", n)
	}
}

func TestNobodyIsAskedAboutMoreThanCanBeReviewed(t *testing.T) {
	s := open(t, everything)
	lines := func(n int) string { return strings.Repeat("a line\n", n) }
	_, err := s.preview("c1", "write", args{"path": "new", "content": lines(pages.MaxReviewLines)})
	must(t, err)
	got := s.previewRefused(tooLarge, "write", args{"path": "new", "content": lines(pages.MaxReviewLines + 1)})
	if want := "too_large: a change of 5001 lines cannot be reviewed by a person; make it in smaller steps"; got != want {
		t.Errorf("got %q", got)
	}
	_, err = s.preview("c1", "write", args{"path": "new", "content": strings.Repeat("x", pages.MaxReviewBytes)})
	must(t, err)
	s.previewRefused(tooLarge, "write", args{"path": "new", "content": strings.Repeat("x", pages.MaxReviewBytes+1)})
	s.put("f", "x\n")
	_, err = s.preview("c1", "edit", args{"path": "f", "old": "x\n", "new": lines(pages.MaxReviewLines - 1)})
	must(t, err)
	s.previewRefused(tooLarge, "edit", args{"path": "f", "old": "x\n", "new": lines(pages.MaxReviewLines)})
	s.ok("edit", args{"path": "f", "old": "x\n", "new": lines(pages.MaxReviewLines)}) // where nobody is asked
}

// Whatever happens to the file while the question is open, what was shown is what is done, or nothing.
func TestWhatWasApprovedIsWhatHappens(t *testing.T) {
	edit := args{"path": "f", "old": "two", "new": "2"}
	replace := args{"path": "f", "content": "2\n"}
	for _, test := range []struct {
		name   string
		meddle func(s *session)
	}{
		{"changed elsewhere in it", func(s *session) { s.put("f", "evil\ntwo\n") }},
		{"changed so that the call makes no sense", func(s *session) { s.put("f", "three\n") }},
		{"removed", func(s *session) { must(s, os.Remove(s.path("f"))) }},
		{"a link to another with the same content", func(s *session) {
			s.put("other", "one\ntwo\n")
			must(s, os.Remove(s.path("f")))
			s.link("other", "f")
		}},
		{"changed and read again", func(s *session) {
			s.put("f", "evil\ntwo\n")
			s.ok("read", args{"path": "f"})
		}},
	} {
		for tool, a := range map[string]args{"edit": edit, "write": replace} {
			t.Run(tool+" "+test.name, func(t *testing.T) {
				s := open(t, everything)
				s.put("f", "one\ntwo\n")
				s.ok("read", args{"path": "f"})
				_, err := s.preview("c1", tool, a)
				must(t, err)
				test.meddle(s)
				before, _ := os.ReadFile(s.path("f"))
				contains(t, s.refused(staleFile, tool, a), "after the person was shown this change")
				if after, _ := os.ReadFile(s.path("f")); string(after) != string(before) {
					t.Errorf("the file holds %q", after)
				}
				s.clean()
			})
		}
	}
	t.Run("a file appears", func(t *testing.T) {
		s := open(t, everything)
		_, err := s.preview("c1", "write", replace)
		must(t, err)
		s.put("f", "theirs\n")
		s.ok("read", args{"path": "f"})
		s.refused(staleFile, "write", replace)
		s.is("f", "theirs\n")
	})
	t.Run("nothing happens", func(t *testing.T) {
		s := open(t, everything)
		s.put("f", "one\ntwo\n")
		_, err := s.preview("c1", "edit", edit)
		must(t, err)
		must(t, os.Chtimes(s.path("f"), s.mtime("f"), s.mtime("f")))
		s.ok("edit", edit)
		s.is("f", "one\n2\n")
	})
	t.Run("another call, or a later one, is not bound", func(t *testing.T) {
		s := open(t, everything)
		s.put("f", "one\ntwo\n")
		_, err := s.preview("c2", "edit", edit) // and denied
		must(t, err)
		_, err = s.preview("c1", "edit", args{"path": "f", "old": "one", "new": "1"}) // the same id with other arguments
		must(t, err)
		s.put("f", "three\ntwo\n")
		s.ok("edit", edit)
		s.is("f", "three\n2\n")
	})
}

func TestReviewsAreBounded(t *testing.T) {
	var r reviews
	for i := range maxReviews + 1 {
		r.note(fmt.Sprint(i), reviewed{hash: fmt.Sprint(i)})
	}
	r.note("1", reviewed{hash: "again"})
	if _, ok := r.take("0"); ok || len(r.known) != maxReviews || len(r.order) != maxReviews {
		t.Errorf("%d are kept", len(r.known))
	}
	if got, ok := r.take("1"); !ok || got.hash != "again" {
		t.Errorf("the one noted again is %v", got)
	}
	if _, ok := r.take("1"); ok {
		t.Error("it was taken twice")
	}
}
