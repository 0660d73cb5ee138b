package export_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/export"
	"octavo/pages"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestParseFormat(t *testing.T) {
	for in, want := range map[string]export.Format{
		"json": export.JSON, "html": export.HTML, "markdown": export.Markdown, "md": export.Markdown, "htm": export.HTML, "HTML": export.HTML,
	} {
		if got, err := export.ParseFormat(in); err != nil || got != want {
			t.Errorf("ParseFormat(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "pdf", ".md", "json "} {
		if got, err := export.ParseFormat(in); err == nil || !strings.Contains(err.Error(), "json, html or markdown") {
			t.Errorf("ParseFormat(%q) = %q, %v, want an error that says what there is", in, got, err)
		}
	}
	for _, f := range export.Formats {
		if got, err := export.ParseFormat(strings.TrimPrefix(f.Ending(), ".")); got != f || err != nil {
			t.Errorf("the ending %s of %s is read as %q, %v", f.Ending(), f, got, err)
		}
	}
	if err := export.Write(t.Context(), io.Discard, "pdf", sample(), export.Options{}); err == nil {
		t.Error("an unknown format was written")
	}
}

func TestGoldens(t *testing.T) {
	for file, f := range map[string]export.Format{"testdata/sample.md": export.Markdown, "testdata/sample.html": export.HTML} {
		got := write(t, f, sample(), export.Options{})
		got = strings.Replace(got, export.Style, "the style\n", 1) // which is a file of its own
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", file, diff)
		}
	}
}

// TestUnknown is about what an export does not know: it is told as such.
func TestUnknown(t *testing.T) {
	s := export.Session{Info: api.SessionInfo{ID: "s1"}}
	for _, f := range []export.Format{export.HTML, export.Markdown} {
		got := write(t, f, s, export.Options{})
		if !regexp.MustCompile(`Cost\W.*unknown`).MatchString(got) {
			t.Errorf("%s does not say that the cost is unknown:\n%s", f, got)
		}
		for _, absent := range []string{"Tokens", "0001-01-01", "Started", "Workspace"} {
			if strings.Contains(got, absent) {
				t.Errorf("%s says %q of what is not known", f, absent)
			}
		}
	}
}

// TestStreams holds Write to keeping no entries: the first are written while the last are still to come.
func TestStreams(t *testing.T) {
	for _, f := range export.Formats {
		var written counter
		s := one()
		s.Entries = func(yield func(api.Entry, error) bool) {
			for i := range int64(2000) {
				if !yield(api.Entry{Seq: i + 1, Kind: api.EntryNote, Parts: words(strings.Repeat("word ", 100))}, nil) {
					return
				}
			}
			if written < 900_000 {
				t.Errorf("%s: of 1 MB only %d bytes were written before the end", f, written)
			}
		}
		if err := export.Write(t.Context(), &written, f, s, export.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

type broken struct{ left int }

var errFull = errors.New("the disk is full")

func (w *broken) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFailures is about everything that can end an export: the error is told, and no more entries are read.
func TestFailures(t *testing.T) {
	errStore := errors.New("the store is gone")
	for _, f := range export.Formats {
		read := 0
		endless := func(yield func(api.Entry, error) bool) {
			for yield(api.Entry{Kind: api.EntryNote, Parts: words(strings.Repeat("x", 1000))}, nil) {
				read++
			}
		}
		s := sample()
		s.Entries = endless
		if err := export.Write(t.Context(), &broken{100_000}, f, s, export.Options{}); !errors.Is(err, errFull) || read > 1000 {
			t.Errorf("%s, a full disk: %v after %d entries", f, err, read)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		read = 0
		if err := export.Write(ctx, io.Discard, f, s, export.Options{}); !errors.Is(err, context.Canceled) || read > 1 {
			t.Errorf("%s, an ended context: %v after %d entries", f, err, read)
		}
		s.Entries = func(yield func(api.Entry, error) bool) { yield(api.Entry{}, errStore) }
		if err := export.Write(t.Context(), io.Discard, f, s, export.Options{}); !errors.Is(err, errStore) {
			t.Errorf("%s, a broken store: %v", f, err)
		}
		s = sample()
		if err := export.Write(t.Context(), &broken{10}, f, s, export.Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s, a full disk at the last byte: %v", f, err)
		}
	}
	for _, f := range []export.Format{export.JSON, export.HTML} {
		ctx, cancel := context.WithCancel(t.Context())
		s := sample()
		s.Blob = func(string) ([]byte, error) { cancel(); return nil, ctx.Err() }
		if err := export.Write(ctx, io.Discard, f, s, export.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, an end while pictures are read: %v", f, err)
		}
	}
}

const secret = "correct-horse-battery"

// TestEveryStringIsRedacted fills every string that a session has with a secret. What octavo made up itself to refer to things is
// not a text.
func TestEveryStringIsRedacted(t *testing.T) {
	references := map[string]bool{"ID": true, "Parent": true, "Turn": true, "SHA256": true}
	filled := 0
	var fill func(reflect.Value, string)
	fill = func(v reflect.Value, name string) {
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), "")
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), "")
		case reflect.Struct:
			if v.Type().PkgPath() == "time" {
				return
			}
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if v.Type() == reflect.TypeFor[api.Call]() {
					name = "Call." + name // a model made up its ID
				}
				fill(v.Field(i), name)
			}
		case reflect.String:
			if v.Type() == reflect.TypeFor[string]() && !references[name] {
				v.SetString("a " + secret + " b")
				filled++
			}
		case reflect.Map, reflect.Interface, reflect.Array:
			t.Fatalf("a %s may hide strings from the redaction: %s", v.Kind(), name)
		}
	}
	var s export.Session
	var e api.Entry
	fill(reflect.ValueOf(&s.Info).Elem(), "")
	fill(reflect.ValueOf(&s.Tags).Elem(), "")
	fill(reflect.ValueOf(&s.Forks).Elem(), "")
	fill(reflect.ValueOf(&e).Elem(), "")
	e.Result.Display.Diff.Hunks[0].Lines[0].Op = pages.LineAdded
	if filled < 30 {
		t.Fatalf("only %d strings were found", filled)
	}
	entries := []api.Entry{e}
	for _, k := range []api.EntryKind{api.EntryUser, api.EntryAssistant, api.EntryCall, api.EntryResult, api.EntryNote, api.EntryPartial, api.EntrySummary, api.EntrySettled, api.EntryShell} {
		e.Kind = k
		entries = append(entries, e)
	}
	s.Entries = one(entries...).Entries
	s.Blob = func(string) ([]byte, error) { return nil, errors.New("lost " + secret) }
	before := cmp.Diff(nil, entries)
	redact := func(s string) string { return strings.ReplaceAll(s, secret, export.Redacted) }
	for _, f := range export.Formats {
		if got := write(t, f, s, export.Options{Redact: redact}); strings.Contains(got, secret) || !strings.Contains(got, export.Redacted) {
			t.Errorf("%s has the secret, or nothing in its place:\n%s", f, got)
		}
		if got := write(t, f, s, export.Options{Redact: redact, Secrets: true}); !strings.Contains(got, secret) || strings.Contains(got, export.Redacted+" b") {
			t.Errorf("%s has not what it was to keep", f)
		}
	}
	if diff := cmp.Diff(before, cmp.Diff(nil, entries)); diff != "" {
		t.Errorf("the entries themselves were changed:\n%s", diff)
	}
}

func BenchmarkWrite(b *testing.B) {
	s := sample()
	var all []api.Entry
	for e := range s.Entries {
		all = append(all, e)
	}
	const entries = 10_000
	s.Entries = func(yield func(api.Entry, error) bool) {
		for i := range entries {
			e := all[i%len(all)]
			e.Seq = int64(i + 1)
			if !yield(e, nil) {
				return
			}
		}
	}
	for _, f := range export.Formats {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var n counter
				if err := export.Write(b.Context(), &n, f, s, export.Options{}); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n))
			}
		})
	}
}
