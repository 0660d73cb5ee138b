package keys

import (
	"slices"
	"strings"
)

// doubles are keys that many terminals cannot tell from another one (ui.md 13).
var doubles = [...][2]string{{"ctrl+i", "tab"}, {"ctrl+m", "enter"}, {"ctrl+[", "esc"}, {"ctrl+h", "backspace"}}

// multiplexed is the key that tmux takes for itself.
const multiplexed = "ctrl+b"

// reserved reports whether a key always means in a context what the table says, so that nobody can bind it to anything else or
// take it away (ui.md 13): enter, esc, ctrl+c, arrows where rows are, characters where text is written.
func reserved(c Context, key string) bool {
	row := contextRows[c]
	switch {
	case key == "enter", key == "ctrl+c", key == "esc":
		return true
	case strings.HasSuffix(key, "+esc"): // what a terminal makes of esc and the next byte
		return true
	case row.list && (key == "up" || key == "down" || key == "left" || key == "right"):
		return true
	}
	return (row.text || row.typed) && types(key)
}

// reservedIn is the first of the contexts where a key is reserved.
func reservedIn(contexts []Context, key string) (Context, bool) {
	i := slices.IndexFunc(contexts, func(c Context) bool { return reserved(c, key) })
	if i < 0 {
		return 0, false
	}
	return contexts[i], true
}

// Reserved are those of its keys that keys.toml cannot take away, because they mean the same everywhere (ui.md 13).
func (b Binding) Reserved() []string {
	var keys []string
	for _, k := range b.Keys {
		if _, ok := reservedIn(b.Contexts, k); ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// unreachable says why keys may never arrive: each is one that a terminal sends as another, or a multiplexer keeps. "" when one of
// them is sound, or there are none.
func unreachable(keys []string) string {
	why := ""
	for _, k := range keys {
		i := slices.IndexFunc(doubles[:], func(d [2]string) bool { return d[0] == k })
		switch {
		case i >= 0:
			why = k + " is the same as " + doubles[i][1] + " in many terminals"
		case k == multiplexed:
			why = k + " is taken by tmux"
		default:
			return ""
		}
	}
	return why
}

// clash is two bindings that want one key in one context.
type clash struct {
	context Context
	key     string
	a, b    int // indexes of the bindings, a < b
}

// clashes finds them all. Bindings for vim count even without it, so that turning it on breaks nothing.
func clashes(bs []Binding) []clash {
	type place struct {
		context Context
		key     string
	}
	var (
		found []clash
		taken = make(map[place]int, 2*len(bs))
	)
	for i, b := range bs {
		for _, c := range b.Contexts {
			for _, k := range b.Keys {
				if first, ok := taken[place{c, k}]; ok {
					found = append(found, clash{c, k, first, i})
					continue
				}
				taken[place{c, k}] = i
			}
		}
	}
	return found
}
