package keys

import (
	"slices"
	"strings"

	"octavo/pages/text"
)

// Hint is a key and what it does, in a footer.
type Hint struct {
	Action Action // "" for one that is no action of octavo's, such as those of a page
	Keys   []string
	Label  string // a word or two; a screen may put its own in its place
	Rank   Rank
	Move   bool // it only moves, so that it is the first to go
}

// Hints lists what a footer tells where the contexts hold, ordered by use with the way out last (ui.md 12): only keys that would
// work now. Bindings with one label, such as up and down, are one hint. A screen may change, add and take out, and draws the result
// with Line.
func (r *Registry) Hints(contexts []Context, enabled Enabled) []Hint {
	var hints []Hint
	for depth, c := range contexts {
		if c >= contextCount {
			continue
		}
		for _, e := range r.shown[c] {
			b := r.bindings[e.binding]
			keys := r.arriving(contexts, depth, e.keys)
			if b.Footer == Hidden || len(keys) == 0 {
				continue
			}
			if _, ok := enabled.ask(b.Action); ok {
				hints = append(hints, Hint{b.Action, keys[:1:1], b.Label, b.Footer, b.Repeat})
			}
		}
	}
	slices.SortStableFunc(hints, func(a, b Hint) int { return int(a.Rank) - int(b.Rank) })
	return slices.CompactFunc(joined(hints), func(a, b Hint) bool { return a.Rank == RankOut && b.Rank == RankOut })
}

// joined makes one hint of those that follow each other with one label.
func joined(hints []Hint) []Hint {
	var all []Hint
	for _, h := range hints {
		last := len(all) - 1
		if last >= 0 && all[last].Label == h.Label && all[last].Rank == h.Rank && h.Rank != RankOut {
			all[last].Keys = append(all[last].Keys, h.Keys...)
			continue
		}
		all = append(all, h)
	}
	return all
}

// Writing is how keys are written for people.
type Writing bool

const (
	Glyphs Writing = false // ↑ ↓ ← → ↵, parts set apart by ·
	ASCII  Writing = true  // words, parts set apart by |
)

// separator stands between hints.
func (w Writing) separator() string {
	if w == ASCII {
		return " | "
	}
	return " · "
}

// glyphs are keys that one character shows.
var glyphs = [...][2]string{{"up", "↑"}, {"down", "↓"}, {"left", "←"}, {"right", "→"}, {"enter", "↵"}}

// Show writes a canonical key for people: alt+↵.
func Show(key string, w Writing) string {
	if w == ASCII {
		return key
	}
	at := 0
	if n := strings.LastIndexByte(key, '+'); n >= 0 && n < len(key)-1 {
		at = n + 1
	}
	for _, g := range glyphs {
		if key[at:] == g[0] {
			return key[:at] + g[1]
		}
	}
	return key
}

// keys writes the keys of a hint: ↑↓, or up/down.
func (h Hint) keys(w Writing) string {
	var b strings.Builder
	for i, k := range h.Keys {
		s := Show(k, w)
		if i > 0 && (text.Width(s) > 1 || text.Width(Show(h.Keys[i-1], w)) > 1) {
			b.WriteByte('/')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Line writes hints in at most width cells, by rank; those of one rank stay in their order. Where room is short it first leaves
// out movement, then labels, beginning at the end but for the way out, and then keys in the same order (ui.md 12).
func Line(hints []Hint, width int, w Writing) string {
	hints = slices.Clone(hints)
	slices.SortStableFunc(hints, func(a, b Hint) int { return int(a.Rank) - int(b.Rank) })
	if s := write(hints, w); text.Width(s) <= width {
		return s
	}
	hints = slices.DeleteFunc(hints, func(h Hint) bool { return h.Move })
	last := len(hints) - 1
	for i := range hints {
		if s := write(hints, w); text.Width(s) <= width {
			return s
		}
		if at := last - 1 - i; at >= 0 {
			hints[at].Label = ""
		} else {
			hints[last].Label = ""
		}
	}
	for len(hints) > 0 {
		if s := write(hints, w); text.Width(s) <= width {
			return s
		}
		at := max(0, len(hints)-2)
		hints = slices.Delete(hints, at, at+1)
	}
	return ""
}

func write(hints []Hint, w Writing) string {
	parts := make([]string, len(hints))
	for i, h := range hints {
		parts[i] = strings.TrimSuffix(h.keys(w)+" "+h.Label, " ")
	}
	return strings.Join(parts, w.separator())
}

// Footer is the line of Hints.
func (r *Registry) Footer(contexts []Context, enabled Enabled, width int, w Writing) string {
	return Line(r.Hints(contexts, enabled), width, w)
}
