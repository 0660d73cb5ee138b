package keys

import (
	"errors"
	"fmt"
	"slices"

	"octavo/pages/text"
)

// MaxShortcuts bounds the shortcuts of one extension (wire.md).
const MaxShortcuts = 64

// Shortcut is a key that an extension asks for.
type Shortcut struct {
	Key   string // as the extension wrote it
	Name  string // by which the extension knows it
	About string // for help
}

// shortcut is one that was granted.
type shortcut struct {
	owner  string
	key    string // canonical
	action Action
	about  string // clean, one line
}

// kept are keys that octavo never gives to an extension, whatever the person binds (product.md 2.5). Chords of esc, keys without
// ctrl, alt or super, and alt with a character are no less refused.
var kept = [...]string{"ctrl+c", "ctrl+d", "ctrl+o", "ctrl+s", "ctrl+shift+a", "ctrl+shift+c", "alt+up", "ctrl+end"}

// AddExtension gives an extension the shortcuts it asks for, in the place of those it had; none takes them all back. They are the
// lowest layer: what octavo or an extension before it has bound anywhere stays as it is, and each that cannot be had is a Problem.
func (r *Registry) AddExtension(name string, wanted []Shortcut) []Problem {
	r.shortcuts = slices.DeleteFunc(r.shortcuts, func(s shortcut) bool { return s.owner == name })
	var problems []Problem
	for i, w := range wanted {
		key, err := r.grant(name, w)
		if i >= MaxShortcuts {
			err = fmt.Errorf("is one too many: an extension has at most %d shortcuts", MaxShortcuts)
		}
		if err != nil {
			problems = append(problems, Problem{Source: "extension " + name, Name: "shortcut " + quote(w.Name), Text: err.Error()})
			continue
		}
		r.shortcuts = append(r.shortcuts, shortcut{name, key, shortcutAction(name, w.Name), text.CleanLine(w.About)})
	}
	return problems
}

// grant is the key of a shortcut in its one form, or why it cannot be had.
func (r *Registry) grant(owner string, w Shortcut) (string, error) {
	c, err := parse(w.Key)
	if err != nil {
		return "", fmt.Errorf("asks for a key that %w", err)
	}
	key := c.String()
	switch why := unreachable([]string{key}); {
	case c.mods&(ctrl|alt|super) == 0:
		return "", fmt.Errorf("asks for %s: a shortcut needs ctrl, alt or super", quote(key))
	case c.mods&(ctrl|super) == 0 && (c.isCharacter() || c.key == "space"):
		return "", fmt.Errorf("asks for %s, which is text on some keyboards: use ctrl", quote(key))
	case c.key == "esc", slices.Contains(kept[:], key):
		return "", fmt.Errorf("asks for %s, which octavo keeps for itself", key)
	case why != "":
		return "", fmt.Errorf("asks for a key that may never arrive: %s", why)
	}
	for _, b := range r.bindings {
		if slices.Contains(b.Keys, key) {
			return "", fmt.Errorf("asks for %s, which is %s's", key, b.Action)
		}
	}
	for _, s := range r.shortcuts {
		if s.key == key && s.owner == owner {
			return "", fmt.Errorf("asks for %s a second time", key)
		}
		if s.key == key {
			return "", fmt.Errorf("asks for %s, which extension %s has", key, s.owner)
		}
		if s.action == shortcutAction(owner, w.Name) {
			return "", errors.New("is there a second time: a name has one key")
		}
	}
	return key, nil
}
