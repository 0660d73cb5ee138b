package session

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext/model"
)

// awkward are keys that a provider could be sent and that look like something of JSON.
var awkward = []string{"sk-planted-0123456789", `q"uo\te"d"`, `"\"\"\"\"`, "<script>&amp;", `{"parts":[`, `"text":"`, "12345678", `,"parts":`, `\\\\\\\\`, `duration_ns`}

func knows(keys ...string) Redaction {
	var r settings.Redactor
	for _, key := range keys {
		r.Add(key)
	}
	return Redaction{Text: r.RedactKeys}.settled()
}

// fill puts s into every string that can be reached from v, and something into all else. It fails on a kind that redacted does not know.
func fill(t *testing.T, v reflect.Value, s string, depth int) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(12345678)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), s, depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), s, depth)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, err := json.Marshal(map[string]any{"a": []string{s}, "n": 12345678})
			if err != nil {
				t.Fatal(err)
			}
			v.SetBytes(raw)
			return
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(s))
			return
		}
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(t, v.Index(0), "nothing", depth-1)
			fill(t, v.Index(1), s, depth-1)
		}
	default:
		t.Fatalf("a record holds a %s, which is not redacted", v.Type())
	}
}

// TestEveryStringOfARecordIsRedacted, and what is stored is JSON that says the same as before otherwise.
func TestEveryStringOfARecordIsRedacted(t *testing.T) {
	for _, key := range awkward {
		var e, same entry
		fill(t, reflect.ValueOf(&e.rec).Elem(), "a "+key+" b", 6)
		fill(t, reflect.ValueOf(&same.rec).Elem(), "a "+key+" b", 6)
		before := e.rec
		stored, err := e.encode(knows(key), "turn")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(same.rec, before); d != "" {
			t.Errorf("%q: what others hold was changed:\n%s", key, d)
		}
		var want, got record
		fill(t, reflect.ValueOf(&want).Elem(), "a [redacted] b", 6)
		if err := json.Unmarshal(stored.Payload, &got); err != nil {
			t.Fatalf("%q: %v in %s", key, err, stored.Payload)
		}
		ignoreData := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Data" }, cmp.Ignore())
		if d := cmp.Diff(want, got, ignoreData, cmp.Transformer("raw", func(b json.RawMessage) string { return string(b) })); d != "" {
			t.Errorf("%q (-want +got):\n%s", key, d)
		}
		if d := cmp.Diff(e.rec, got, ignoreData); d != "" {
			t.Errorf("%q: what is shown is not what is stored:\n%s", key, d)
		}
		var info api.SessionInfo
		info.Name, info.Tags, info.Entries = key, []string{key}, 12345678
		if info = redacted(knows(key), info); info.Name != "[redacted]" || info.Tags[0] != "[redacted]" || info.Entries != 12345678 {
			t.Errorf("%q: %+v", key, info)
		}
	}
}

// TestArgumentsStayTheDocumentTheyAre: strings are redacted however a model escaped them; what is no JSON is taken as text.
func TestArgumentsStayTheDocumentTheyAre(t *testing.T) {
	const key = "sk-planted-0123456789"
	for written, want := range map[string]string{
		`{"command":"echo ` + key + `","n": 1e3 }`:                  `{"command":"echo [redacted]","n": 1e3 }`,
		`{"command":"echo \u0073k-planted\u002d0123456789 \u00e9"}`: `{"command":"echo [redacted] é"}`,
		`{"` + key + `":{"a":["\"` + key + `\"",null,true]}}`:       `{"[redacted]":{"a":["\"[redacted]\"",null,true]}}`,
		`{"command":"\u0073k-` + "other\"}":                         `{"command":"\u0073k-` + "other\"}",
		`{"command":"` + key + ``:                                   `{"command":"[redacted]`,
		``:                                                          ``,
	} {
		call := model.ToolCall{ID: key, Name: "bash", Arguments: written}
		if got := redacted(knows(key), call); got != (model.ToolCall{ID: "[redacted]", Name: "bash", Arguments: want}) {
			t.Errorf("%s becomes %+v, want %s", written, got, want)
		}
	}
}

// FuzzJSON: a document stays one, and has each string as it is without keys.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":["sk-planted-0123456789",1,null,{"\u0073k":"\\"}]}`, "sk-planted-0123456789")
	f.Add(`{"text":"text","n":12345678}`, "12345678")
	f.Add(`["\ud800 \"",""]`, `"text":"`)
	f.Fuzz(func(t *testing.T, doc, key string) { checkJSON(t, doc, key) })
}

func TestJSONIsRedactedStringByString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom(awkward).Draw(t, "key")
		word := rapid.OneOf(rapid.SampledFrom(awkward), rapid.String(), rapid.Just("a "+key))
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case kind == 0 && depth > 0:
				m := map[string]any{}
				for range 2 {
					m[word.Draw(t, "name")] = value(depth - 1)
				}
				return m
			case kind == 1 && depth > 0:
				return []any{value(depth - 1), value(depth - 1)}
			case kind == 2:
				return 12345678
			default:
				return word.Draw(t, "word")
			}
		}
		b, err := json.Marshal(value(3))
		if err != nil {
			t.Fatal(err)
		}
		checkJSON(t, string(b), key)
	})
}

func checkJSON(t interface{ Fatalf(string, ...any) }, doc, key string) {
	r := knows(key)
	got := r.json(doc)
	if !json.Valid([]byte(doc)) {
		return // only that it ends
	}
	want, was := tokens(doc), tokens(got)
	if len(want) != len(was) {
		t.Fatalf("%q makes another document of %s: %s", key, doc, got)
	}
	for i := range want {
		if s, ok := want[i].(string); ok {
			want[i] = r.Text(s)
		}
		if want[i] != was[i] {
			t.Fatalf("%q in %s gives %s: %v, want %v", key, doc, got, was[i], want[i])
		}
	}
}

// tokens are those of a document, in order.
func tokens(doc string) (all []any) {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		all = append(all, token)
	}
}
