package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

func TestEditTouchesOneThing(t *testing.T) {
	endpoint := map[string]any{"endpoint": "http://h/v1", "no_auth": true}
	for name, c := range map[string]struct {
		doc   string
		path  string // parts with spaces between
		value any
		want  string
	}{
		"empty file":               {"", "model", "a/b", "model = \"a/b\"\n"},
		"value, comment kept":      {"# top\nmodel = 'x' # mine\nplain = true\n", "model", "a/b", "# top\nmodel = \"a/b\" # mine\nplain = true\n"},
		"long string":              {"system_prompt = \"\"\"\na\nb\"\"\" # c\n", "system_prompt", "z", "system_prompt = \"z\" # c\n"},
		"same value":               {"model   =   'x'\n", "model", "x", "model   =   'x'\n"},
		"after the last root key":  {"plain = true # p\n\n[providers.x]\nlabel = 'x'\n", "model", "m", "plain = true # p\nmodel = \"m\"\n\n[providers.x]\nlabel = 'x'\n"},
		"before the first header":  {"# file\n\n# about x\n[providers.x]\nlabel = 'x'\n", "model", "m", "# file\n\nmodel = \"m\"\n\n# about x\n[providers.x]\nlabel = 'x'\n"},
		"below the file's head":    {"# file\n[providers.x]\nlabel = 'x'\n", "model", "m", "# file\nmodel = \"m\"\n[providers.x]\nlabel = 'x'\n"},
		"header alone":             {"[providers.x]\nlabel = 'x'", "model", "m", "model = \"m\"\n\n[providers.x]\nlabel = 'x'"},
		"comments alone":           {"# nothing yet", "model", "m", "# nothing yet\nmodel = \"m\"\n"},
		"no line feed at the end":  {"plain = true", "model", "m", "plain = true\nmodel = \"m\"\n"},
		"CR LF":                    {"plain = true\r\n", "model", "m", "plain = true\r\nmodel = \"m\"\r\n"},
		"remove":                   {"# a\nmodel = 'x' # gone\n# b\nplain = true\n", "model", nil, "# a\n# b\nplain = true\n"},
		"remove what is not there": {"# a\n", "model", nil, "# a\n"},
		"quoted and dotted":        {"\"model\" = 1\n", "model", "m", "\"model\" = \"m\"\n"},
		"into a table":             {"[providers.x]\nlabel = 'x' # l\n# end\n\n[providers.y]\nlabel = 'y'\n", "providers x no_auth", true, "[providers.x]\nlabel = 'x' # l\nno_auth = true\n# end\n\n[providers.y]\nlabel = 'y'\n"},
		"into dotted keys":         {"providers.x.label = 'x'\nplain = true\n", "providers x no_auth", true, "providers.x.label = 'x'\nproviders.x.no_auth = true\nplain = true\n"},
		"into an inline table":     {"providers = { x = { label = 'x' } } # in\n", "providers x no_auth", true, "providers = { x = { label = 'x', no_auth = true } } # in\n"},
		"into an empty one":        {"providers = {}\n", "providers x no_auth", true, "providers = { x.no_auth = true }\n"},
		"out of an inline table":   {"[p]\nx = { a = 1, b = 2, c = 3 }\n", "p x b", nil, "[p]\nx = { a = 1, c = 3 }\n"},
		"the first of one":         {"x = { a = 1, b = 2 }\n", "x a", nil, "x = { b = 2 }\n"},
		"the only one":             {"x = { a = 1 }\n", "x a", nil, "x = {  }\n"},
		"new table at the end":     {"plain = true\n", "providers l", endpoint, "plain = true\n\n[providers.l]\nendpoint = \"http://h/v1\"\nno_auth = true\n"},
		"new table by the others":  {"[providers.x]\nlabel = 'x'\n\n# other\n[other]\na = 1\n", "providers l", endpoint, "[providers.x]\nlabel = 'x'\n\n[providers.l]\nendpoint = \"http://h/v1\"\nno_auth = true\n\n# other\n[other]\na = 1\n"},
		"table key by key": {"[providers.l]\n# where\nendpoint = 'http://old/v1' # here\nlabel = 'L'\n", "providers l", endpoint,
			"[providers.l]\n# where\nendpoint = \"http://h/v1\" # here\nno_auth = true\n"},
		"table below a table": {"[providers.l]\nno_auth = true\n[providers.m]\n", "providers l models",
			map[string]any{"a.b": map[string]any{"images": true}, "c": map[string]any{}},
			"[providers.l]\nno_auth = true\n\n[providers.l.models.\"a.b\"]\nimages = true\n\n[providers.l.models.c]\n\n[providers.m]\n"},
		"remove a table": {"a = 1\n\n# about x\n[providers.x]\n# in\nlabel = 'x'\n[providers.x.models.m]\n\n# about y\n[providers.y]\nlabel = 'y'\n", "providers x", nil,
			"a = 1\n\n# about x\n\n# about y\n[providers.y]\nlabel = 'y'\n"},
		"list on one line":  {"l = ['a', 'b'] # c\n", "l", []any{"a", "c"}, "l = [\"a\", \"c\"] # c\n"},
		"list added to":     {"l = [\n  'a', # first\n  'b' # second\n]\n", "l", []any{"a", "b", "c"}, "l = [\n  'a', # first\n  'b', # second\n  \"c\",\n]\n"},
		"list taken from":   {"l = [\n  'a', # first\n  'b', # second\n  'c'\n]\n", "l", []any{"a", "c"}, "l = [\n  'a', # first\n  'c'\n]\n"},
		"list last removed": {"l = [\n  'a', # first\n  'b'\n]\n", "l", []any{"a"}, "l = [\n  'a', # first\n]\n"},
		"list both":         {"l = [\n  'a', # first\n  'b', # second\n]\n", "l", []any{"b", "c"}, "l = [\n  'b', # second\n  \"c\",\n]\n"},
		"list packed":       {"l = [ 'a', 'b',\n 'c' ]\n", "l", []any{"b", "c", "d"}, "l = [ 'b',\n 'c', \"d\" ]\n"},
		"list reordered":    {"l = [\n  'a', # first\n  'b',\n]\n", "l", []any{"b", "a"}, "l = [\n  'b',\n  \"a\",\n]\n"},
		"list emptied":      {"l = [\n  'a',\n]\n", "l", []any{}, "l = []\n"},
		"nan elsewhere":     {"x = nan\n", "model", "m", "x = nan\nmodel = \"m\"\n"},
		"hard string":       {"", "model", "\"\\\n\t\r\x00\x7f é", "model = \"\\\"\\\\\\n\\t\\r\\u0000\\u007F é\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := edit("f", []byte(c.doc), strings.Fields(c.path), c.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditRefusesWhatItCannotKeep(t *testing.T) {
	for _, c := range []struct {
		doc, path string
		value     any
		want      string
	}{
		{"a = = 1", "model", "x", "f:1:5: "},
		{"providers = 3 # no table", "providers x label", "x", "f:1:1: providers.x.label cannot be set: providers is no table"},
		{"[[a]]\nb = 1\n", "a", nil, "by hand"},
		{"[[a.b]]\nc = 1\n", "a", nil, "by hand"},
		{"", "model", "\xff", "UTF-8"},
		{"", "model", 1.5, "cannot be written"},
	} {
		got, err := edit("f", []byte(c.doc), strings.Fields(c.path), c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v; want an error with %q", c.doc, got, err, c.want)
		}
	}
}

// decoded is the tree of a document that must be valid.
func decoded(t interface{ Fatalf(string, ...any) }, doc []byte) map[string]any {
	m := map[string]any{}
	if err := toml.Unmarshal(doc, &m); err != nil {
		t.Fatalf("result cannot be parsed: %v\n%s", err, doc)
	}
	return m
}

// FuzzEdit gives arbitrary files to the editor: it refuses, or the file holds what it held with one value changed.
func FuzzEdit(f *testing.F) {
	for _, doc := range []string{
		"", "# c\nmodel = 'x' # d\n\n[providers.l]\nlabel = 'l'\n[providers.l.models.\"a.b\"]\nimages = true\n",
		"providers = { l = { label = 'x' } }\n", "providers.l.label = 'x'\r\n", "[[providers]]\nl = 1\n", "l = [\n 'a', # x\n]\n",
		"[providers]\nl.label = 'x'\nl.models.m.images = true\n", "model = '''\n[x]\n'''\n", "a.b = 1\n[c]\nd = nan\n", "[providers.\"l\"]\n", "x = {}\n",
		"providers = { l = { \n label = 'x', # c\n } }\n",
	} {
		for which := range byte(4) {
			f.Add([]byte(doc), which, "v")
		}
	}
	paths := [][]string{{"model"}, {"providers", "l", "label"}, {"providers", "l"}, {"l"}, {"providers", "l", "models", "a.b", "images"}}
	f.Fuzz(func(t *testing.T, doc []byte, which byte, text string) {
		path := paths[int(which)%len(paths)]
		values := []any{text, nil, map[string]any{"label": text, "no_auth": true}, []any{"a", text}, true}
		value := values[int(which/8)%len(values)]
		got, err := edit("f", slices.Clone(doc), path, value)
		if err != nil {
			return
		}
		before, after := decoded(t, doc), decoded(t, got)
		want := with(before, path, value)
		if !same(pruned(want, path), pruned(after, path)) {
			t.Fatalf("%q at %q in\n%s\ngave\n%s", fmt.Sprint(value), path, doc, got)
		}
	})
}

// TestEditOfOrdinaryFilesSucceeds writes files the way people do, and changes them in every way octavo does.
func TestEditOfOrdinaryFilesSucceeds(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c-d", "e.f", "g/h"})
	rapid.Check(t, func(t *rapid.T) {
		var doc strings.Builder
		comments := 0
		comment := func() {
			if rapid.Bool().Draw(t, "comment") {
				comments++
				fmt.Fprintf(&doc, "# note %d\n", comments)
			}
			if rapid.Bool().Draw(t, "blank") {
				doc.WriteString("\n")
			}
		}
		comment()
		for _, k := range []string{"model", "plain", "max_turns"} {
			if rapid.Bool().Draw(t, k) {
				fmt.Fprintf(&doc, "%s = %s\n", k, rapid.SampledFrom([]string{"'x' # c", "true", "3", "[\n 'a', # z\n 'b'\n]"}).Draw(t, "value"))
				comment()
			}
		}
		for _, p := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "providers") {
			fmt.Fprintf(&doc, "[providers.%s]\n", encodeKey(p))
			comment()
			fmt.Fprintf(&doc, "endpoint = 'x'\nlabel = 'l' # c\nheaders = { x = 'y', z = 'w' }\n")
			for _, m := range rapid.SliceOfNDistinct(names, 0, 2, rapid.ID).Draw(t, "models") {
				fmt.Fprintf(&doc, "[providers.%s.models.%s]\nimages = true\nprice = { input = 1, output = 2 }\n", encodeKey(p), encodeKey(m))
				comment()
			}
		}
		text := []byte(doc.String())
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			var path []string
			var value any
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				path, value = []string{rapid.SampledFrom([]string{"model", "plain", "shell_path"}).Draw(t, "key")}, rapid.String().Draw(t, "text")
			case 1:
				path, value = []string{"enabled_extensions"}, tree(rapid.SliceOfN(names, 0, 3).Draw(t, "list"))
			case 2:
				path = []string{"providers", names.Draw(t, "name")}
				value = map[string]any{"endpoint": "y", "models": map[string]any{names.Draw(t, "model"): map[string]any{"context_tokens": int64(5)}}}
			case 3:
				path, value = []string{"providers", names.Draw(t, "name"), "no_auth"}, true
			case 4:
				path = rapid.SampledFrom([][]string{{"model"}, {"providers", "a"}, {"providers", "a", "label"}, {"providers", "e.f", "models", "a"}}).Draw(t, "gone")
			}
			before := decoded(t, text)
			got, err := edit("f", text, path, value)
			if err != nil {
				t.Fatalf("%v at %q in\n%s", err, path, text)
			}
			if want := with(before, path, value); !same(pruned(want, path), pruned(decoded(t, got), path)) {
				t.Fatalf("%v at %q in\n%s\ngave\n%s", value, path, text, got)
			}
			if len(path) == 1 || value != nil {
				if _, replaced := value.(map[string]any); !replaced {
					if kept := notes(got); !slices.Equal(kept, notes(text)) {
						t.Fatalf("%v at %q lost a comment in\n%s\ngave\n%s", value, path, text, got)
					}
				}
			}
			text = got
		}
	})
}

// notes lists the comments that stand on lines of their own.
func notes(doc []byte) []string {
	var all []string
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "# note") {
			all = append(all, line)
		}
	}
	return all
}

func TestErrUneditableCanBeMatched(t *testing.T) {
	_, err := edit("f", []byte("[[a]]\n"), []string{"a"}, nil)
	var e *Error
	if !errors.Is(err, ErrUneditable) || !errors.As(err, &e) || e.Key != "a" {
		t.Errorf("%v", err)
	}
}

func TestClosest(t *testing.T) {
	names := []string{"model", "max_turns", "plain", "allow_edit"}
	for name, want := range map[string]string{"modle": "model", "Model": "model", "mdl": "model", "plian": "plain", "zzzzz": "", "": "",
		"max_tunrs": "max_turns", "allow_editor": "allow_edit", "max": "max_turns", "ma": "", strings.Repeat("m", 5000): ""} {
		if got := closest(name, names); got != want {
			t.Errorf("closest(%.20q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistanceIsSymmetricAndZeroForEquals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[a-c]{0,8}`).Draw(t, "a"), rapid.StringMatching(`[a-c]{0,8}`).Draw(t, "b")
		if d := distance(a, b); d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d", a, b, d)
		}
	})
}

func BenchmarkEdit(b *testing.B) {
	var doc strings.Builder
	for i := range 200 {
		fmt.Fprintf(&doc, "[providers.p%d]\n# c\nendpoint = 'http://h/v1'\nno_auth = true\n\n", i)
	}
	text := []byte(doc.String())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := edit("f", text, []string{"providers", "p100", "label"}, "x"); err != nil {
			b.Fatal(err)
		}
	}
}
