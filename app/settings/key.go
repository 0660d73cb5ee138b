package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Type is what a key holds.
type Type int

const (
	String Type = iota + 1
	Bool
	Int
	List // of strings
	Map  // strings by name
)

// Rule says what a trusted project may do with a key (product.md 4): tighten it, or nothing.
type Rule int

const (
	Never    Rule = iota // only the person sets it; the zero value, so that a forgotten rule refuses
	Off                  // a project may turn it off
	On                   // a project may turn it on, because on is the narrower side
	Lower                // a project may lower it; unset counts as no limit
	Stricter             // a project may choose a policy that asks or refuses more
	Suggest              // a project may name values, which take no effect before the person adopts them
)

// String says the rule for a person.
func (r Rule) String() string {
	switch r {
	case Off:
		return "may turn it off"
	case On:
		return "may turn it on"
	case Lower:
		return "may lower it"
	case Stricter:
		return "may choose a stricter one"
	case Suggest:
		return "may suggest"
	default:
		return "no"
	}
}

// Key describes one key of config.toml: loading, the environment, warnings, listings and docs/configuration.md all read it.
type Key struct {
	// Name is dotted. In it NAME stands for any provider's name and ID for any model's.
	Name string
	Type Type
	// Default is nil when the key is unset without configuration.
	Default any
	// Ordered says that a List is an order of its own: a later one takes the place of an earlier one instead of adding to it.
	Ordered bool
	// Min and Max bound the value of an Int, and the bytes of a String or of each string of a List or Map. Both 0: unbounded.
	Min, Max int64
	// Allowed, when not empty, are the only strings the key takes.
	Allowed []string
	// Env names the environment variable; "" when only a file sets the key.
	Env string
	// Project is what a trusted project's file may do with it.
	Project Rule
	// Doc is one line for a person.
	Doc string
}

// Allows says which values the key takes: "a whole number from 1 to 3600".
func (k Key) Allows() string {
	switch k.Type {
	case Bool:
		return "true or false"
	case Int:
		return fmt.Sprintf("a whole number from %d to %d", k.Min, k.Max)
	case List:
		if len(k.Allowed) > 0 {
			return "a list of " + strings.Join(k.Allowed, ", ")
		}
		return "a list of strings"
	case Map:
		return "a table of strings"
	default:
		if len(k.Allowed) > 0 {
			return "one of " + strings.Join(k.Allowed, ", ")
		}
		return fmt.Sprintf("a string of %d to %d bytes", k.Min, k.Max)
	}
}

// Parse reads a value from text, as the environment and flags give it: booleans also as yes, no, on, off, 1 and 0, lists
// separated by commas.
func (k Key) Parse(text string) (any, error) {
	switch k.Type {
	case Bool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
		return nil, k.refuse(text)
	case Int:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, k.refuse(text)
		}
		return k.check(n)
	case List:
		list := []string{}
		for _, name := range strings.Split(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				list = append(list, name)
			}
		}
		return k.check(list)
	case Map:
		return nil, fmt.Errorf("is a table and can be set in config.toml only")
	default:
		return k.check(text)
	}
}

// check brings a value of TOML or of Go to the one form the rest of the package handles (string, bool, int64, []string,
// map[string]string), or says what would be allowed.
func (k Key) check(v any) (any, error) {
	switch k.Type {
	case Bool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case Int:
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		if n, ok := v.(int64); ok && n >= k.Min && n <= k.Max {
			return n, nil
		}
	case List:
		list, ok := stringsOf(v)
		if !ok {
			break
		}
		for _, s := range list {
			if err := k.checkString(s); err != nil {
				return nil, err
			}
		}
		return list, nil
	case Map:
		m, ok := mapOf(v)
		if !ok {
			break
		}
		for _, s := range m {
			if err := k.checkString(s); err != nil {
				return nil, err
			}
		}
		return m, nil
	default:
		if s, ok := v.(string); ok {
			return s, k.checkString(s)
		}
	}
	return nil, k.refuse(v)
}

func (k Key) checkString(s string) error {
	if len(k.Allowed) > 0 {
		if slices.Contains(k.Allowed, s) {
			return nil
		}
		return k.refuse(s)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("must be text in UTF-8")
	}
	if k.Max > 0 && (int64(len(s)) < k.Min || int64(len(s)) > k.Max) {
		return fmt.Errorf("must be of %d to %d bytes, not %d", k.Min, k.Max, len(s))
	}
	return nil
}

func (k Key) refuse(v any) error {
	return fmt.Errorf("must be %s, not %s", k.Allows(), show(v))
}

// showLimit is how many bytes of a refused value an error repeats.
const showLimit = 60

// show writes a refused value so that it can stand in one line of a terminal.
func show(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > showLimit {
			return strconv.Quote(strings.ToValidUTF8(v[:showLimit], "")) + "…"
		}
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	case bool, int, int64, float64:
		return fmt.Sprint(v)
	default:
		return fmt.Sprintf("a value of another type (%T)", v)
	}
}

func stringsOf(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v), true
	case []any:
		list := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			list = append(list, s)
		}
		return list, true
	}
	return nil, false
}

func mapOf(v any) (map[string]string, bool) {
	m := map[string]string{}
	switch v := v.(type) {
	case map[string]string:
		for name, s := range v {
			m[name] = s
		}
	case map[string]any:
		for name, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			m[name] = s
		}
	default:
		return nil, false
	}
	return m, true
}

// oneLine refuses what could move a cursor or hide text where a value is shown.
func oneLine(s string) error {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return fmt.Errorf("must be one line without control characters")
		}
	}
	return nil
}
