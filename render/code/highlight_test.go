package code_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alecthomas/chroma/v2"

	"octavo/pages/textdiff"
	"octavo/render"
	"octavo/render/code"
)

func TestMaxSource(t *testing.T) {
	h := patient(t)
	for _, test := range []struct {
		bytes int
		want  bool
	}{{code.MaxSource, true}, {code.MaxSource + 1, false}} {
		lines, ok := h.Lines(t.Context(), "Go", strings.Repeat("x", test.bytes))
		if ok != test.want || len(lines) != 1 || len(lines[0].Text) != test.bytes {
			t.Errorf("%d bytes: highlighted %v, %d lines", test.bytes, ok, len(lines))
		}
	}
}

func TestUnhighlighted(t *testing.T) {
	h := patient(t)
	ended, end := context.WithCancel(t.Context())
	end()
	closed := code.NewHighlighter()
	closed.Close()
	var none *code.Highlighter
	none.Close()
	for _, test := range []struct {
		name     string
		h        *code.Highlighter
		ctx      context.Context
		language string
	}{
		{"the context ended", h, ended, "Go"}, {"no language", h, t.Context(), ""}, {"unknown language", h, t.Context(), "klingon"},
		{"an alias is no language", h, t.Context(), "golang"}, {"plain text", h, t.Context(), "plaintext"},
		{"no highlighter", none, t.Context(), "Go"}, {"closed", closed, t.Context(), "Go"},
	} {
		lines, ok := test.h.Lines(test.ctx, test.language, "var x\n")
		if ok || draw(lines) != "d_¦var x" {
			t.Errorf("%s: %v\n%s", test.name, ok, draw(lines))
		}
		if _, ok := test.h.Cached(test.language, "var x\n"); ok {
			t.Errorf("%s: is remembered", test.name)
		}
	}
}

// fake is a lexer that makes keywords of what next gives.
type fake struct {
	chroma.Lexer
	next func(source string) chroma.Iterator
}

func (f fake) Tokenise(_ *chroma.TokeniseOptions, source string) (chroma.Iterator, error) {
	return f.next(source), nil
}

// word is all of a text as one keyword, after some time.
func word(source string, after time.Duration) chroma.Iterator {
	given := false
	return func() chroma.Token {
		if given {
			return chroma.EOF
		}
		given = true
		time.Sleep(after)
		return chroma.Token{Type: chroma.Keyword, Value: source}
	}
}

// TestPatience: who waits gets plain lines when it is over; what comes later is there the next time.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		after time.Duration
		now   bool // highlighted for the one who asked
		later bool // and for the next
		again bool // the language is asked for another text
	}{
		{code.Patience - 1, true, true, true},
		{code.Patience + 1, false, true, true},
		{code.MaxJob, false, true, true},
		{code.MaxJob + 1, false, false, false},
	} {
		t.Run(test.after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := code.Of(fake{next: func(source string) chroma.Iterator {
					if source == "new\n" {
						return word(source, 0)
					}
					return word(source, test.after)
				}})
				defer h.Close()
				began := time.Now()
				lines, ok := h.Lines(t.Context(), "Go", "old")
				if want := map[bool]string{true: "x_¦«k:old»", false: "d_¦old"}[test.now]; ok != test.now || draw(lines) != want {
					t.Errorf("at first it is %s", draw(lines))
				}
				if took := time.Since(began); took != min(test.after, code.Patience) {
					t.Errorf("it took %v", took)
				}
				time.Sleep(2 * code.MaxJob)
				if _, ok := h.Cached("Go", "old"); ok != test.later {
					t.Errorf("later it is remembered: %v", ok)
				}
				if _, ok := h.Lines(t.Context(), "Go", "new"); ok != test.again {
					t.Errorf("the language is asked again: %v", ok)
				}
				if _, ok := h.Lines(t.Context(), "C", "new"); !ok {
					t.Error("another language is not asked")
				}
			})
		})
	}
}

// TestOneAtATime: who finds the worker busy waits no longer than Patience, for a diff not longer than that for all of it, and not when its
// context ends.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		h := code.Of(fake{next: func(source string) chroma.Iterator {
			asked++
			return word(source, code.MaxJob)
		}})
		defer h.Close()
		go h.Lines(t.Context(), "Go", "first")
		synctest.Wait()
		took := func(what string, want time.Duration, f func()) {
			t.Helper()
			began := time.Now()
			if f(); time.Since(began) != want {
				t.Errorf("%s took %v, want %v", what, time.Since(began), want)
			}
		}
		took("a second text", code.Patience, func() { h.Lines(t.Context(), "Go", "second") })
		old, new := changedFile()
		d := textdiff.Make("x.go", []byte(old), []byte(new), textdiff.Options{})
		took("a diff", code.Patience, func() { code.Unified(*d, h, code.Options{}) })
		took("a diff side by side", code.Patience, func() { code.Split(*d, h, code.Options{Width: code.MinSplit}) })
		ctx, cancel := context.WithTimeout(t.Context(), code.Patience/4)
		defer cancel()
		took("a text whose context ends", code.Patience/4, func() { h.Lines(ctx, "Go", "third") })
		if asked != 1 {
			t.Errorf("%d texts were done", asked)
		}
	})
}

// TestClose ends a lexer that would never end.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := 0
		h := code.Of(fake{next: func(string) chroma.Iterator {
			return func() chroma.Token {
				tokens++
				time.Sleep(code.MaxJob / 4)
				return chroma.Token{Type: chroma.Text}
			}
		}})
		h.Lines(t.Context(), "Go", "x")
		h.Close()
		h.Close()
		if tokens != 1 {
			t.Errorf("closed after %d tokens", tokens)
		}
	})
}

// TestMaxJob ends a lexer that would never end by itself.
func TestMaxJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := 0
		h := code.Of(fake{next: func(string) chroma.Iterator {
			return func() chroma.Token {
				tokens++
				time.Sleep(code.MaxJob / 4)
				return chroma.Token{Type: chroma.Text}
			}
		}})
		h.Lines(t.Context(), "Go", "x")
		time.Sleep(10 * code.MaxJob)
		h.Close()
		if tokens != 5 {
			t.Errorf("ended after %d tokens", tokens)
		}
	})
}

// TestFaults are lexers that do not give the text they got: it is plain then, and they are not asked for it a second time.
func TestFaults(t *testing.T) {
	token := func(values ...string) chroma.Iterator {
		return func() chroma.Token {
			if len(values) == 0 {
				return chroma.EOF
			}
			value := values[0]
			values = values[1:]
			return chroma.Token{Type: chroma.Keyword, Value: value}
		}
	}
	for _, test := range []struct {
		name string
		next func(string) chroma.Iterator
		ok   bool
	}{
		{"panics at once", func(string) chroma.Iterator { panic("at once") }, false},
		{"panics later", func(string) chroma.Iterator { return func() chroma.Token { panic("later") } }, false},
		{"loses the end", func(string) chroma.Iterator { return token("a ") }, false},
		{"loses the start", func(string) chroma.Iterator { return token("b\n") }, false},
		{"changes", func(string) chroma.Iterator { return token("a c\n") }, false},
		{"adds", func(string) chroma.Iterator { return token("a b", "\n", "\n") }, false},
		{"adds a letter", func(string) chroma.Iterator { return token("a bc") }, false},
		{"loses the newline", func(string) chroma.Iterator { return token("a b") }, true},
		{"cuts", func(string) chroma.Iterator { return token("", "a", "", " ", "b\n", "") }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			h := code.Of(fake{next: func(source string) chroma.Iterator {
				asked++
				return test.next(source)
			}}).Patiently()
			defer h.Close()
			want := "d_¦a b"
			if test.ok {
				want = "x_¦«k:a b»"
			}
			for range 2 {
				if lines, ok := h.Lines(t.Context(), "Go", "a b"); ok != test.ok || draw(lines) != want {
					t.Errorf("%v: %s", ok, draw(lines))
				}
			}
			if _, ok := h.Cached("Go", "a b"); ok != test.ok || asked != 1 {
				t.Errorf("remembered %v, asked %d times", ok, asked)
			}
		})
	}
}

func TestCached(t *testing.T) {
	h := patient(t)
	if _, ok := h.Cached("Go", "var x"); ok {
		t.Error("remembered before it was there")
	}
	lines, _ := h.Lines(t.Context(), "Go", "var x")
	again, ok := h.Cached("Go", "var x\n") // which is the same lines
	if !ok || draw(again) != draw(lines) {
		t.Errorf("remembered is %v %s", ok, draw(again))
	}
	for _, k := range [][2]string{{"C", "var x"}, {"Go", "var y"}} {
		if _, ok := h.Cached(k[0], k[1]); ok {
			t.Errorf("%v is taken for something else", k)
		}
	}
}

func TestMaxCached(t *testing.T) {
	h := patient(t)
	source := func(i int) string { return fmt.Sprint("x", i) }
	for i := range code.MaxCached {
		h.Lines(t.Context(), "Go", source(i))
	}
	if texts, _ := h.Kept(); texts != code.MaxCached {
		t.Errorf("%d texts are remembered", texts)
	}
	h.Cached("Go", source(0)) // so the second is the one that was not asked for longest
	h.Lines(t.Context(), "Go", source(code.MaxCached))
	if texts, _ := h.Kept(); texts != code.MaxCached {
		t.Errorf("%d texts are remembered", texts)
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: true, code.MaxCached: true} {
		if _, ok := h.Cached("Go", source(i)); ok != want {
			t.Errorf("text %d is remembered: %v", i, ok)
		}
	}
}

func TestMaxCachedBytes(t *testing.T) {
	h := code.Of(fake{next: func(source string) chroma.Iterator {
		return func() chroma.Token {
			if source == "" {
				return chroma.EOF
			}
			t := chroma.Token{Type: chroma.Punctuation, Value: source[:1]}
			if source[0] != '(' {
				t.Type = chroma.Text
			}
			source = source[1:]
			return t
		}
	}}).Patiently()
	defer h.Close()
	kept := 0
	for i := range 40 {
		source := fmt.Sprint(i) + strings.Repeat("(a ", code.MaxSource/3-10)
		h.Lines(t.Context(), "Go", source)
		texts, bytes := h.Kept()
		if bytes > code.MaxCachedBytes {
			t.Fatalf("%d bytes are remembered", bytes)
		}
		if _, ok := h.Cached("Go", source); !ok {
			t.Fatalf("text %d is not remembered", i)
		}
		kept = max(kept, texts)
	}
	texts, bytes := h.Kept()
	if kept < 2 || texts == 40 || bytes*(texts+1)/texts < code.MaxCachedBytes {
		t.Errorf("%d texts in %d bytes are remembered, at most %d", texts, bytes, kept)
	}
}

// TestConcurrent uses one Highlighter from many goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	h := patient(t)
	d := textdiff.Make("x.go", []byte("func a() {}\n"), []byte("func b() {}\n"), textdiff.Options{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 400 {
				source := fmt.Sprintf("var x = %d // %d", i%300, g%2)
				lines, ok := h.Lines(t.Context(), "Go", source)
				if !ok || texts(lines) != source {
					t.Errorf("%q is shown as %q", source, texts(lines))
				}
				h.Cached("Go", source)
				code.Source("x.py", source, i, h, code.Options{})
				if i%50 == 0 {
					code.Split(*d, h, code.Options{Width: 120})
				}
			}
		})
	}
	wg.Wait()
}

// TestOwnLines changes what it was given: others must not see it.
func TestOwnLines(t *testing.T) {
	h := patient(t)
	for range 2 {
		lines := code.Source("x.go", "var x\tint\n", 1, h, code.Options{})
		if got, want := draw(lines), "x_1  ¦«k:var» x   «t:int»"; got != want {
			t.Fatalf("got %s", got)
		}
		lines[0].Text = strings.ToUpper(lines[0].Text)
		lines[0].Runs[0] = render.Run{}
		lines[0].Runs = append(lines[0].Runs[:1], render.Run{})
	}
}

// Texts of about 2 KB as they stand in answers and files.
var samples = map[string]string{
	"go":         strings.Repeat("// Save keeps it.\nfunc (s *Store) Save(ctx context.Context, v T) (n int, err error) {\n\tif v == nil {\n\t\treturn 0, fmt.Errorf(\"save %q: %w\", s.name, ErrEmpty)\n\t}\n\tfor i := range 10 {\n\t\ts.put(i, `raw`, 'x', 0x1F)\n\t}\n}\n\n", 8),
	"python":     strings.Repeat("@cached\nasync def load(self, path: str, *, limit: int = 100) -> list[str]:\n    \"\"\"Docs.\"\"\"\n    # a comment\n    if not path.startswith('/'):\n        raise ValueError(f\"bad {path!r} in {self.name}\")\n    return [x for x in data if x is not None]\n\n", 8),
	"bash":       strings.Repeat("# build\nfor f in $(ls \"$DIR\"/*.go); do\n  if [[ -f $f ]]; then\n    go build -o \"${OUT:-bin}\" \"$f\" 2>/dev/null | grep -v 'x' || exit 1\n  fi\ndone\ncat <<EOF\ntext $x\nEOF\n", 11),
	"json":       strings.Repeat("{\"name\": \"octavo\", \"version\": \"0.1.0\", \"private\": true, \"n\": [1, -2.5e10, null], \"deep\": {\"a\": \"b\"}},\n", 20),
	"typescript": strings.Repeat("export const load = async <T,>(id: number, o: Partial<Opts> = {}): Promise<User> => {\n  const res = await fetch(`/api/${encodeURIComponent(String(id))}?q=${o.q}`);\n  if (!res.ok || /^\\/tmp\\/[a-z]+$/i.test(res.url)) throw new HttpError(res.status);\n  return (await res.json()) as User;\n};\n", 7),
}

// BenchmarkLines: cold is with a lexer whose expressions are not compiled yet, as the first text of a language in a process.
func BenchmarkLines(b *testing.B) {
	for _, tag := range []string{"go", "python", "bash", "json", "typescript"} {
		source, name := samples[tag], code.Language(tag, "", "")
		b.Run(tag+"/cold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h := code.Of(code.Fresh(name)).Patiently()
				h.Lines(context.Background(), name, source)
				h.Close()
			}
		})
		b.Run(tag+"/warm", func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				h := code.Patient()
				h.Lines(context.Background(), name, source)
				h.Close()
			}
		})
		b.Run(tag+"/cached", func(b *testing.B) {
			h := code.Patient()
			defer h.Close()
			h.Lines(context.Background(), name, source)
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				h.Cached(name, source)
			}
		})
	}
}

func BenchmarkLanguage(b *testing.B) {
	for b.Loop() {
		code.Language("", "internal/store/main.go", "")
	}
}

// A change of 2,000 lines, a third of them changed.
func changedFile() (old, new string) {
	var a, b strings.Builder
	for i := range 800 {
		fmt.Fprintf(&a, "\tresult%d := compute(ctx, input[%d], \"a text\") // step %d\n", i, i, i)
		if i%2 == 0 {
			fmt.Fprintf(&b, "\tresult%d := compute(ctx, other[%d], \"a text\") // step %d\n", i, i, i)
			continue
		}
		fmt.Fprintf(&b, "\tresult%d := compute(ctx, input[%d], \"a text\") // step %d\n", i, i, i)
	}
	return a.String() + strings.Repeat("\told()\n", 400), b.String() + strings.Repeat("\tvar x int\n", 400)
}

func BenchmarkDiff(b *testing.B) {
	old, new := changedFile()
	d := textdiff.Make("x.go", []byte(old), []byte(new), textdiff.Options{})
	for name, f := range map[string]func(*code.Highlighter) []render.Line{
		"unified": func(h *code.Highlighter) []render.Line { return code.Unified(*d, h, code.Options{Width: 120}) },
		"split":   func(h *code.Highlighter) []render.Line { return code.Split(*d, h, code.Options{Width: 180}) },
	} {
		b.Run(name+"/new", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h := code.Patient()
				f(h)
				h.Close()
			}
		})
		b.Run(name+"/cached", func(b *testing.B) {
			h := code.Patient()
			defer h.Close()
			b.ReportAllocs()
			for b.Loop() {
				f(h)
			}
		})
		b.Run(name+"/plain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(nil)
			}
		})
	}
}
