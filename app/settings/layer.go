package settings

import (
	"fmt"
	"slices"

	"octavo/ext/policy"
)

// Layer is what one source says of octavo's own keys: a file, the environment, the command line. The zero value says nothing.
type Layer struct {
	values map[string]sourced
}

// sourced is a checked value and where it comes from.
type sourced struct {
	value any
	at    Place
}

// Put sets a key to a value of its type: string, bool, int or int64, []string. origin names the source for a person, such as
// "--no-edit". The error is an *Error with it.
func (l *Layer) Put(key, origin string, value any) error {
	return l.with(key, origin, func(r row) (any, error) { return r.value(value) })
}

// Parse sets a key from text, as Key.Parse reads it.
func (l *Layer) Parse(key, origin, text string) error {
	return l.with(key, origin, func(r row) (any, error) { return r.parse(text) })
}

func (l *Layer) with(key, origin string, read func(row) (any, error)) error {
	r, err := rowOf(key)
	if err != nil {
		return err
	}
	at := Place{File: origin}
	v, err := read(r)
	if err != nil {
		return &Error{Place: at, Key: key, Err: err}
	}
	l.put(key, at, v)
	return nil
}

func (l *Layer) put(key string, at Place, v any) {
	if l.values == nil {
		l.values = map[string]sourced{}
	}
	l.values[key] = sourced{v, at}
}

// environment reads the layer of OCTAVO_* variables. An empty variable is one that is not set.
func environment(lookup func(string) (string, bool)) (Layer, []error) {
	var (
		l    Layer
		errs []error
	)
	for _, r := range rows {
		if r.Env == "" {
			continue
		}
		if text, ok := lookup(r.Env); ok && text != "" {
			if err := l.Parse(r.Name, "$"+r.Env, text); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return l, errs
}

// tighten applies a project's value to the present one (nil: unset). It returns what holds; held back says that the project
// asked for something wider.
func tighten(rule Rule, present, project any) (v any, heldBack bool) {
	switch rule {
	case Off:
		if project == false {
			return false, false
		}
		return present, present == false
	case On:
		if project == true {
			return true, false
		}
		return present, present == true
	case Lower:
		if present == nil || project.(int64) < present.(int64) {
			return project, false
		}
		return present, project.(int64) > present.(int64)
	case Stricter:
		if strictness(project) >= strictness(present) {
			return project, false
		}
		return present, true
	default:
		panic(fmt.Sprintf("settings: rule %d does not tighten", rule))
	}
}

// strictness is the place of a policy among policy.Names, which lists the widest first.
func strictness(name any) int { return slices.Index(policy.Names, policy.Name(name.(string))) }
