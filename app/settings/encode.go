package settings

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tree brings a value to what a TOML parser gives: string, bool, int64, []any or map[string]any; nil stays nil.
func tree(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case map[string]string:
		m := make(map[string]any, len(v))
		for name, s := range v {
			m[name] = s
		}
		return m
	default:
		return v
	}
}

// encodeValue writes a value on one line: a string, a bool, an integer, a list or a table of such.
func encodeValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return encodeString(v)
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			s, err := encodeValue(e)
			if err != nil {
				return "", err
			}
			parts[i] = s
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		if len(v) == 0 {
			return "{}", nil
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s, err := encodeValue(v[name])
			if err != nil {
				return "", err
			}
			parts = append(parts, encodeKey(name)+" = "+s)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	default:
		return "", fmt.Errorf("a value of type %T cannot be written", v)
	}
}

func encodeString(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("text that is not UTF-8 cannot be written")
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String(), nil
}

// encodeKey writes one part of a key, quoted where it must be.
func encodeKey(name string) string {
	bare := name != ""
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			bare = false
		}
	}
	if bare {
		return name
	}
	quoted, err := encodeString(strings.ToValidUTF8(name, "\uFFFD"))
	if err != nil {
		return `""`
	}
	return quoted
}

// encodeTable writes a table under its header, its own tables under theirs. What is no table comes first, by name.
func encodeTable(path []string, t map[string]any) (string, error) {
	var b, below bytes.Buffer
	names := slices.Sorted(maps.Keys(t))
	for _, name := range names {
		if sub, ok := t[name].(map[string]any); ok {
			s, err := encodeTable(append(slices.Clone(path), name), sub)
			if err != nil {
				return "", err
			}
			below.WriteString("\n" + s)
			continue
		}
		s, err := encodeValue(t[name])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s = %s\n", encodeKey(name), s)
	}
	head := ""
	if b.Len() > 0 || below.Len() == 0 {
		head = "[" + dotted(path) + "]\n"
	}
	return strings.TrimPrefix(head+b.String()+below.String(), "\n"), nil
}

// same compares two parsed trees. Unlike reflect.DeepEqual it takes nan for equal to nan.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			w, ok := b[name]
			if !ok || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	default:
		return reflect.DeepEqual(a, b)
	}
}
