package files

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// An edit replaces the one place of old, or says why not; what it does not name it does not change.
func FuzzSplice(f *testing.F) {
	for _, seed := range [][3]string{
		{"one two three", "two", "2"}, {"a\r\nb\r\nc", "a\nb", "x\ny\nz"}, {"a\nb\r\n", "\n", ""}, {"aaa", "aa", "b"}, {"", "x", "y"},
		{"x\r\n", "\r\n", "\n\n"}, {"\r\r\n\n", "\n", "\r"}, {"世界\u2028", "界", "e\u0301"}, {"a\x00b", "\x00", ""}, {"if x {\n\ty()\n}", "if x {\n  y()\n}", "z"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, text, old, new string) {
		got, err := splice(text, []replacement{{old: old, new: new}})
		flatText, flatOld := flatten(text).text, strings.ReplaceAll(old, crlf, lf)
		at := strings.Index(flatText, flatOld)
		once := flatOld != "" && at >= 0 && !strings.Contains(flatText[at+1:], flatOld)
		if once != (err == nil) {
			t.Fatalf("%q is once in %q: %v, but the error is %v", old, text, once, err)
		}
		if err != nil {
			return
		}
		// On both sides of the place every byte is as it was.
		f := flatten(text)
		start, end := f.original(at), f.original(at+len(flatOld))
		if !strings.HasPrefix(got, text[:start]) || !strings.HasSuffix(got, text[end:]) {
			t.Fatalf("%q became %q: more than %q was changed", text, got, text[start:end])
		}
		put := got[start : len(got)-(len(text)-end)]
		if flatten(put).text != flatten(new).text {
			t.Fatalf("%q was put in place of %q, not %q", put, text[start:end], new)
		}
		if !strings.Contains(text, crlf) && strings.Contains(put, crlf) {
			t.Fatalf("CRLF was brought into %q: %q", text, put)
		}
	})
}

// Several edits at once are what they would be one after the other, as far as each leaves the others alone.
func FuzzSpliceTogether(f *testing.F) {
	f.Add("one two three", "one", "1", "three", "3")
	f.Add("ab", "b", "", "a", "b")
	f.Add("a\r\nb", "a", "\n", "b", "c")
	f.Fuzz(func(t *testing.T, text, old1, new1, old2, new2 string) {
		both := []replacement{{old1, new1, "edits[0]: "}, {old2, new2, "edits[1]: "}}
		got, err := splice(text, both)
		swapped, swappedErr := splice(text, []replacement{both[1], both[0]})
		if (err == nil) != (swappedErr == nil) || err == nil && got != swapped {
			t.Fatalf("the order matters: %q, %v and %q, %v", got, err, swapped, swappedErr)
		}
		_, err1 := splice(text, both[:1])
		_, err2 := splice(text, both[1:])
		if err == nil && (err1 != nil || err2 != nil) {
			t.Fatalf("together %q, but alone %v and %v", got, err1, err2)
		}
	})
}

// Whatever is in a file: an encoding that counts as editable gives back every byte, and reading never fails.
func FuzzEncodings(f *testing.F) {
	for _, seed := range []string{
		"", "plain\n", "\xef\xbb\xbfbom", "\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfe\x00\xd8", "\xff\xfe\x00\x00", "caf\xe9", "gr\xc3\xbc\xff", "a\x00", "\x81\x8d\x8f\x90\x9d",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, e, err := editable(data)
		if err == nil {
			again, err := e.encode(text)
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%q as %v is %q and became %q, %v", data, e, text, again, err)
			}
		}
		if shown := encodingOf(data).decode(data); !utf8.ValidString(shown) {
			t.Fatalf("%q reads as %q", data, shown)
		}
		_ = excerpt(data, len(data)/2)
		_ = numberLines(string(data)+"\n", 1, 10, MinOutputBytes)
	})
}

// No arguments make a tool panic, change a file that they do not name, or answer with an error that is not for the model.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"path":"f"}`, `{"path":"f","offset":2,"limit":1}`, `{"path":"f","old":"one","new":"two"}`, `{"path":"f","edits":[{"old":"a","new":"b"}]}`,
		`{"path":"f","content":"x"}`, `{"query":"one","path":".","glob":"*","mode":"regex","context":1}`, `{"path":"..\/x"}`, `{"path":"\ud83d\udc19"}`, `{"path":"\ud83d"}`,
		`{"path":"~/x"}`, `{"path":"file:///%2e%2e/x"}`, `[]`, `null`, `{"path":1e400}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := open(t, Options{AllowEdit: true, AllowWrite: true, Search: true, MaxOutputBytes: MinOutputBytes})
		s.x.ripgrep = func() string { return "" }
		s.put("f", "one\n")
		for name, tool := range s.tools {
			tool.Intent(raw)
			if line := tool.Describe(raw); strings.ContainsAny(line, "\n\x1b") {
				t.Errorf("described as %q", line)
			}
			if name != "search" { // which may start git
				_, _ = s.tryRaw(t.Context(), name, raw)
			}
		}
		if entries, err := os.ReadDir(s.root + "/.."); err != nil || len(entries) != 1 {
			t.Errorf("%s reached outside the workspace", raw)
		}
		var a struct{ Path string }
		if json.Unmarshal(raw, &a) != nil && s.get("f") != "one\n" {
			t.Errorf("%q changed a file", raw)
		}
	})
}

// ripgrep's output comes in any pieces and may be anything.
func FuzzRipgrepEvents(f *testing.F) {
	f.Add([]byte(`{"type":"begin","data":{"path":{"text":"./f"}}}`+"\n"+
		`{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"foo\n"},"line_number":1,"submatches":[{"start":0,"end":3}]}}`+"\n"+
		`{"type":"end","data":{"path":{"text":"./f"},"binary_offset":null}}`+"\n"), 7)
	f.Add([]byte(`{"type":"match","data":{"submatches":[{"start":-1}]}}`+"\n"+`{"type":"end"}`+"\n"), 1)
	f.Fuzz(func(t *testing.T, out []byte, step int) {
		found := &hits{max: 3, context: 1, room: 1 << 10}
		e := &eventReader{query: &query{full: func(rel string) string { return rel }}, found: found}
		for len(out) > 0 {
			n := max(1, min(step, len(out)))
			if _, err := e.Write(out[:n]); err != nil {
				break
			}
			out = out[n:]
		}
		found.close()
		if found.matches > found.max {
			t.Errorf("%d matches", found.matches)
		}
		(&tools{extension: newExtension(Options{})}).report(e.query, place{}, found)
	})
}
