// Package keys is what each key does: bindings as data, from which the routing of keys, the help, the footers, the documents and
// keys.toml are all made (ui.md 12 and 13). It is data and functions on data; it reads no key and no file, and draws nothing.
package keys

import (
	"fmt"
	"slices"
)

// Registry is the bindings of one person: the defaults, what keys.toml says over them, and the shortcuts of extensions under them.
// It is for one goroutine.
type Registry struct {
	bindings  []Binding // in the order of the table
	vim       bool
	index     [contextCount]map[string]Action
	shown     [contextCount][]entry
	shortcuts []shortcut
}

// entry is a binding as it is in one context.
type entry struct {
	binding int
	keys    []string
}

// New makes the registry of what keys.toml says. Each problem is a line of it that has no effect, with the place; the problems of
// Parse are not among them.
func New(o Overrides) (*Registry, []Problem) {
	r, problems := build(o)
	return r, bounded(inOrder(problems))
}

// Load is Parse and New, with the problems of both.
func Load(source string, data []byte) (*Registry, []Problem) {
	o, problems := read(source, data)
	r, more := build(o)
	return r, bounded(inOrder(append(problems, more...)))
}

func build(o Overrides) (*Registry, []Problem) {
	bs, problems := apply(o)
	if !o.vim {
		bs = slices.DeleteFunc(bs, func(b Binding) bool { return b.vim })
	}
	r := &Registry{bindings: bs, vim: o.vim}
	for i := range r.index {
		r.index[i] = map[string]Action{}
	}
	for i, b := range bs {
		for _, c := range b.Contexts {
			r.put(c, i, b.Keys)
		}
	}
	if o.vim {
		r.addVim()
	}
	return r, problems
}

// put lets keys do something in a context.
func (r *Registry) put(c Context, binding int, keys []string) {
	if len(keys) == 0 {
		return
	}
	for _, k := range keys {
		r.index[c][k] = r.bindings[binding].Action
		if other := spelled(k); other != "" {
			r.index[c][other] = r.bindings[binding].Action
		}
	}
	for i, e := range r.shown[c] {
		if e.binding == binding {
			r.shown[c][i].keys = slices.Concat(e.keys, keys)
			return
		}
	}
	r.shown[c] = append(r.shown[c], entry{binding, keys})
}

// addVim adds movement where the keys are free.
func (r *Registry) addVim() {
	for _, v := range vimKeys {
		if _, taken := r.index[v.context][v.key]; taken {
			continue
		}
		i := slices.IndexFunc(r.bindings, func(b Binding) bool { return b.Action == v.action })
		r.put(v.context, i, []string{v.key})
	}
}

// Match says what a keystroke does where the contexts hold, innermost first. The keystroke is what String of a key press gives: the
// character where one was typed, else the keys, as in ctrl+alt+k, shift+enter, space, pgup. A character that is named by its keys on
// an American keyboard, as shift+g, is found too. Characters go no further out than a text field: they are its text, and Match
// answers false. Shortcuts of extensions come last, where Global holds. Match allocates nothing, and its time depends on no more than
// the number of contexts and shortcuts.
func (r *Registry) Match(contexts []Context, keystroke string) (Action, bool) {
	a, _, ok := r.find(contexts, keystroke)
	return a, ok
}

// Repeats reports whether an action is done again while its key is held down. One press gives many events: those that the terminal
// marks as repeats must not submit, confirm, interrupt or toggle (ui.md 13).
func (r *Registry) Repeats(a Action) bool {
	i := slices.IndexFunc(r.bindings, func(b Binding) bool { return b.Action == a })
	return i >= 0 && r.bindings[i].Repeat
}

// find is Match with how far out the key was found: an index of contexts, or their number for a shortcut of an extension.
func (r *Registry) find(contexts []Context, keystroke string) (a Action, depth int, ok bool) {
	global := false
	for i, c := range contexts {
		if c >= contextCount {
			continue
		}
		if a, ok = r.index[c][keystroke]; ok {
			return a, i, true
		}
		if contextRows[c].text && types(keystroke) {
			return "", 0, false
		}
		global = global || c == Global
	}
	if global {
		for _, s := range r.shortcuts {
			if s.key == keystroke {
				return s.action, len(contexts), true
			}
		}
	}
	return "", 0, false
}

// Keys lists the keys of an action, the one to show first. The slice is the caller's.
func (r *Registry) Keys(a Action) []string {
	b, _ := r.Describe(a)
	return b.Keys
}

// Describe gives the binding of an action as it holds now; ok is false for an action that nothing has. It is the caller's.
func (r *Registry) Describe(a Action) (b Binding, ok bool) {
	for _, b := range r.bindings {
		if b.Action == a {
			return b.clone(), true
		}
	}
	for _, s := range r.shortcuts {
		if s.action == a {
			return Binding{Action: a, Contexts: []Context{Global}, Keys: []string{s.key}, About: s.about}, true
		}
	}
	return Binding{}, false
}

// Vim reports whether the composer has a normal mode.
func (r *Registry) Vim() bool { return r.vim }

// apply lays overrides over the defaults.
func apply(o Overrides) ([]Binding, []Problem) {
	bs := make([]Binding, len(bindings))
	for i, b := range bindings {
		bs[i] = b.clone()
	}
	var (
		problems []Problem
		given    = map[int]int{} // binding to row
	)
	refuse := func(binding, row int, why string) {
		at := o.rows[row]
		bs[binding].Keys = slices.Clone(bindings[binding].Keys)
		problems = append(problems, Problem{o.source, at.line, at.column, string(at.action), why + keeps(bindings[binding])})
	}
	for i, row := range o.rows {
		at := slices.IndexFunc(bs, func(b Binding) bool { return b.Action == row.action })
		keys, why := changed(bs[at], row.keys)
		if why != "" {
			refuse(at, i, why)
			continue
		}
		bs[at].Keys, given[at] = keys, i
	}
	// Taking a line back can bring the keys of its binding into the way of another line. Each round takes one back, and the defaults
	// have no clash.
	for range len(given) {
		found := clashes(bs)
		if len(found) == 0 {
			break
		}
		c := found[0]
		at, other := c.a, c.b
		if row, ok := given[at]; !ok || given[other] > row { // the later line gives way
			at, other = other, at
		}
		refuse(at, given[at], fmt.Sprintf("cannot have %s, which is %s's %s: give that one another key first",
			c.key, bs[other].Action, contextRows[c.context].where))
		delete(given, at)
	}
	return bs, problems
}

// changed is what a binding has after a line of keys.toml: what is reserved for it stays. why says what is wrong.
func changed(b Binding, wanted []string) (keys []string, why string) {
	keys = b.Reserved()
	if len(wanted) == 0 && len(keys) > 0 && len(keys) == len(b.Keys) {
		return nil, fmt.Sprintf("cannot be without %s", keys[0])
	}
	for _, k := range wanted {
		if slices.Contains(keys, k) {
			continue
		}
		if c, ok := reservedIn(b.Contexts, k); ok {
			return nil, fmt.Sprintf("cannot have %s, which %s %s", k, meaning(k), contextRows[c].where)
		}
		keys = append(keys, k)
	}
	if why = unreachable(keys); why != "" {
		return nil, fmt.Sprintf("needs a key that always arrives beside it: %s", why)
	}
	return keys, ""
}

// meaning says why a key is reserved.
func meaning(key string) string {
	if types(key) {
		return "is text"
	}
	return "keeps its own meaning"
}
