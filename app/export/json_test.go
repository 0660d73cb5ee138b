package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"octavo/app/api"
	"octavo/app/export"
)

// document is the exported object as a program would read it.
type document struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Exported string            `json:"exported"`
	Octavo   string            `json:"octavo"`
	Redacted bool              `json:"redacted"`
	Session  api.SessionInfo   `json:"session"`
	Tags     []string          `json:"tags"`
	Usage    json.RawMessage   `json:"usage"`
	Forks    []api.SessionInfo `json:"forks"`
	Entries  []api.Entry       `json:"entries"`
	Images   map[string]struct {
		MIME  string  `json:"mime"`
		Data  *string `json:"data"`
		Error string  `json:"error"`
	} `json:"images"`
}

func read(t testing.TB, text string) document {
	t.Helper()
	var d document
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if dec.More() || !strings.HasSuffix(text, "}\n") {
		t.Fatal("there is more than one object, or no newline at the end")
	}
	return d
}

func TestJSON(t *testing.T) {
	s := sample()
	text := write(t, export.JSON, s, export.Options{Secrets: true})
	d := read(t, text)
	if d.Format != "octavo-session-export" || d.Version != 1 || d.Exported != "2026-03-15T09:26:53Z" || d.Octavo != "0.1.0" || d.Redacted {
		t.Errorf("the head is %+v", d)
	}
	if diff := cmp.Diff(s.Info, d.Session) + cmp.Diff(s.Tags, d.Tags) + cmp.Diff(s.Forks, d.Forks); diff != "" {
		t.Error(diff)
	}
	var want []api.Entry
	for e := range s.Entries {
		want = append(want, e)
	}
	// JSON has no room for bytes that are no text.
	valid := cmp.Transformer("valid", func(s string) string { return strings.ReplaceAll(s, "\xff\xfe", "\ufffd\ufffd") })
	if diff := cmp.Diff(want, d.Entries, cmp.FilterValues(func(a, b string) bool { return a != b }, valid), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, `{"seq":`) && !json.Valid([]byte(strings.TrimSuffix(line, ","))) {
			t.Errorf("an entry has not its line: %s", line)
		}
	}
	if n := strings.Count(text, "\n{\"seq\":"); n != len(want) {
		t.Errorf("%d of %d entries begin a line", n, len(want))
	}
	if len(d.Images) != 3 || *d.Images[chartHash].Data != base64.StdEncoding.EncodeToString(chart) || d.Images[chartHash].MIME != "image/png" {
		t.Errorf("the pictures are %v", d.Images)
	}
	if lost := d.Images[lostHash]; lost.Data != nil || lost.Error != "no such picture in the store" {
		t.Errorf("the lost picture is %+v", lost)
	}
	if !bytes.Contains(d.Usage, []byte(`"cost_micro":1234567`)) {
		t.Errorf("usage is %s", d.Usage)
	}
}

// TestJSONOfNothing is about lists, which are never null, and a cost that is.
func TestJSONOfNothing(t *testing.T) {
	text := write(t, export.JSON, export.Session{}, export.Options{})
	for _, want := range []string{`"cost_micro":null`, `"tags": []`, `"forks": []`, `"entries": []`, `"images": {}`, `"redacted": true`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	read(t, text)
}

// TestJSONShowsWhatItDoes holds the document to having nothing in it that a terminal would obey.
func TestJSONShowsWhatItDoes(t *testing.T) {
	const odd = "a\x00\x1b[31m\x7f\u0085\u009b31m\u202e\u2066\u2028\U000e0041\U000e0100z 漢字 👩‍👩‍👧‍👦 <&>"
	text := write(t, export.JSON, one(api.Entry{Kind: api.EntryNote, Parts: words(odd)}), export.Options{})
	for _, r := range text {
		if r < ' ' && r != '\n' || 0x7f <= r && r <= 0x9f || r == 0x202e || r == 0x2066 || r == 0x2028 || 0xe0000 <= r && r <= 0xe0fff {
			t.Errorf("there is a raw %U in\n%s", r, text)
		}
	}
	if !strings.Contains(text, "z 漢字 👩‍👩‍👧‍👦 <&>") {
		t.Error("what can be read is escaped")
	}
	if got := read(t, text).Entries[0].Parts[0].Text; got != odd {
		t.Errorf("it reads as %q", got)
	}
}

// TestJSONIsDocumented holds docs/export.md against the fields and the words of the document.
func TestJSONIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
					fields[name] = true
				}
				visit(f.Type)
			}
		}
	}
	visit(reflect.TypeFor[document]())
	for _, v := range export.Documented {
		visit(reflect.TypeOf(v))
	}
	words := map[string]bool{}
	for name := range fields {
		words[name] = true
	}
	for _, w := range []string{
		string(api.EntryUser), string(api.EntryAssistant), string(api.EntryCall), string(api.EntryResult), string(api.EntryNote), string(api.EntryPartial),
		string(api.EntrySummary), string(api.EntrySettled), string(api.EntryShell), api.OriginExcluded, string(api.PartText), string(api.PartReasoning), string(api.PartImage), string(api.PartCall),
		string(api.ResultOK), string(api.ResultError), string(api.ResultRefused), string(api.ResultCancelled), string(api.ResultNotRun), string(api.ResultUnknown),
		string(api.SettledCompleted), string(api.SettledInterrupted), string(api.SettledFailed), string(api.SettledMaxTurns), string(api.SettledCostLimit),
		string(api.SettledContextFull), string(api.SettledAbandoned),
	} {
		words[w] = true
	}
	if len(fields) < 60 {
		t.Fatalf("only %d fields were found", len(fields))
	}
	for name := range words {
		if !bytes.Contains(doc, []byte("`"+name+"`")) {
			t.Errorf("docs/export.md does not name %s", name)
		}
	}
	_, tables, _ := strings.Cut(string(doc), "## The JSON document")
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(tables, -1) {
		for _, name := range regexp.MustCompile("`([a-z_0-9]+)`").FindAllStringSubmatch(row[1], -1) {
			if !fields[name[1]] {
				t.Errorf("docs/export.md has a row for %s, which is never written", name[1])
			}
		}
	}
}
