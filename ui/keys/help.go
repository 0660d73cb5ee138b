package keys

import "slices"

// Enabled says whether an action would work now, and if not why, for people. nil stands for one that allows everything.
type Enabled func(Action) (reason string, ok bool)

func (e Enabled) ask(a Action) (reason string, ok bool) {
	if e == nil {
		return "", true
	}
	return e(a)
}

// Section is a part of the help: the keys of one context, or of an extension.
type Section struct {
	Title string
	Rows  []Row
}

// Row is an action with the keys that do it where the help was asked for.
type Row struct {
	Action Action
	Keys   []string // canonical, at least one
	About  string
	Off    bool   // it would not work now
	Reason string // why, where that is known
}

// Help lists what keys do where the contexts hold, innermost first, extensions last (ui.md 12). A key that an inner context takes,
// and a character where text is written, is left out farther out.
func (r *Registry) Help(contexts []Context, enabled Enabled) []Section {
	var sections []Section
	for depth, c := range contexts {
		if c >= contextCount || slices.Index(contexts, c) != depth {
			continue
		}
		s := Section{Title: contextRows[c].title}
		for _, e := range r.shown[c] {
			if keys := r.arriving(contexts, depth, e.keys); len(keys) > 0 {
				s.Rows = append(s.Rows, row(r.bindings[e.binding], keys, enabled))
			}
		}
		if len(s.Rows) > 0 {
			sections = append(sections, s)
		}
	}
	if !slices.Contains(contexts, Global) {
		return sections
	}
	return append(sections, r.extensions(contexts, enabled)...)
}

// arriving are those of the keys of a context that reach it.
func (r *Registry) arriving(contexts []Context, depth int, keys []string) []string {
	var arrive []string
	for _, k := range keys {
		if _, at, ok := r.find(contexts, k); ok && at == depth {
			arrive = append(arrive, k)
		}
	}
	return arrive
}

func row(b Binding, keys []string, enabled Enabled) Row {
	reason, ok := enabled.ask(b.Action)
	w := Row{Action: b.Action, Keys: keys, About: b.About, Off: !ok}
	if !ok {
		w.Reason = reason
	}
	return w
}

// extensions are the sections of their shortcuts, by owner.
func (r *Registry) extensions(contexts []Context, enabled Enabled) []Section {
	var (
		sections []Section
		at       = map[string]int{}
	)
	for _, s := range r.shortcuts {
		keys := r.arriving(contexts, len(contexts), []string{s.key})
		if len(keys) == 0 {
			continue
		}
		i, ok := at[s.owner]
		if !ok {
			i = len(sections)
			at[s.owner] = i
			sections = append(sections, Section{Title: "Extension " + s.owner})
		}
		sections[i].Rows = append(sections[i].Rows, row(Binding{Action: s.action, About: s.about}, keys, enabled))
	}
	return sections
}
