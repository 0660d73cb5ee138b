package export

import (
	"reflect"
	"slices"

	"octavo/app/api"
	"octavo/pages"
)

// redacted stands where a credential stood.
const redacted = "[redacted]"

// hider takes credentials out of what is exported.
type hider struct {
	once func(string) string // nil hides nothing
}

func newHider(o Options) hider {
	switch {
	case o.Secrets:
		return hider{}
	case o.Redact == nil:
		return hider{credentials}
	}
	return hider{func(s string) string { return credentials(o.Redact(s)) }}
}

// text is s without credentials. One that is cut by control sequences, as grep --color does, would be whole again once those are
// cleaned away: such a text is given clean.
func (h hider) text(s string) string {
	if h.once == nil || s == "" {
		return s
	}
	s = h.once(s)
	if c := clean(s); c != s {
		if hidden := h.once(c); hidden != c {
			return hidden
		}
	}
	return s
}

// session is s without credentials in what is at hand; its entries follow one by one.
func (h hider) session(s Session) Session {
	if s.Tags == nil {
		s.Tags = s.Info.Tags
	}
	s.Info, s.Tags, s.Forks = without(h, s.Info), without(h, s.Tags), without(h, s.Forks)
	return s
}

// without is v without credentials in any of its strings. v itself does not change: entries are shared. Every field is looked at, so
// that one that is added later is, too; values of types that have a name, such as an entry's kind, are octavo's own words.
func without[T any](h hider, v T) T {
	if h.once == nil {
		return v
	}
	return h.value(reflect.ValueOf(&v).Elem()).Interface().(T)
}

// references are the fields by which octavo refers from one thing to another. It made them up itself.
var references = map[reflect.Type][]string{
	reflect.TypeFor[api.SessionInfo](): {"ID", "Parent"},
	reflect.TypeFor[api.Entry]():       {"Turn"},
	reflect.TypeFor[api.Image]():       {"SHA256"},
}

func (h hider) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			return reflect.ValueOf(h.text(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(h.value(v.Elem()))
			return p
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(h.value(v.Index(i)))
		}
		if lines, ok := list.Interface().([]pages.DiffLine); ok {
			hideKey(lines)
		}
		return list
	case reflect.Struct:
		return h.fields(v)
	}
	return v
}

func (h hider) fields(v reflect.Value) reflect.Value {
	s := reflect.New(v.Type()).Elem()
	s.Set(v)
	kept := references[v.Type()]
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !slices.Contains(kept, f.Name) {
			s.Field(i).Set(h.value(v.Field(i)))
		}
	}
	return s
}

// hideKey hides a private key that goes on over the lines of a hunk.
func hideKey(lines []pages.DiffLine) {
	var key keyLines
	for i, l := range lines {
		if key.has(l.Text) {
			lines[i].Text = redacted
		}
	}
}
