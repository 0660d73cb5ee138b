package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/pages/text"
)

// MaxKey bounds the name of a key, in bytes.
const MaxKey = 64

// modifiers are in the order in which a terminal's keystroke names them (deps.md 3).
var modifiers = [...]string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

const (
	ctrl = 1 << iota
	alt
	shift
	meta
	hyper
	super
)

// named are the keys that have a name and no character; f1 to f63 besides.
var named = [...]string{
	"enter", "esc", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown",
	"begin", "find", "select", "menu", "pause", "printscreen",
}

// aliases are names of keys and modifiers as other programs have them, and octavo's.
var aliases = [...][2]string{
	{"escape", "esc"}, {"return", "enter"}, {"pageup", "pgup"}, {"pagedown", "pgdown"}, {"pgdn", "pgdown"}, {"del", "delete"},
	{"ins", "insert"}, {"control", "ctrl"}, {"option", "alt"}, {"cmd", "super"}, {"command", "super"},
}

// Normalise gives the one form in which octavo holds a key: modifiers in the order ctrl, alt, shift, meta, hyper, super, then the
// key, joined with +. A key is a name (enter, esc, pgup, f5 ...) or the character itself, which is small beside a modifier, and
// large instead of shift and small: G. Large and small letters are one everywhere else: Ctrl+Shift+P is ctrl+shift+p. The error
// says how to write it.
func Normalise(written string) (string, error) {
	c, err := parse(written)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// chord is a key with its modifiers.
type chord struct {
	mods uint8
	key  string
}

func (c chord) String() string {
	if c.mods == 0 {
		return c.key
	}
	var b strings.Builder
	for i, name := range modifiers {
		if c.mods&(1<<i) != 0 {
			b.WriteString(name + "+")
		}
	}
	return b.String() + c.key
}

// isCharacter reports whether the key has no name but a character.
func (c chord) isCharacter() bool { return utf8.RuneCountInString(c.key) == 1 }

var errNoKey = errors.New("is empty: write a key such as ctrl+k, f5 or /")

func parse(written string) (chord, error) {
	s := strings.TrimSpace(written)
	switch {
	case written == " ":
		s = "space"
	case s == "":
		return chord{}, errNoKey
	case len(s) > MaxKey:
		return chord{}, fmt.Errorf("is no key: names of keys have at most %d bytes", MaxKey)
	}
	c, ok := split(s)
	if !ok {
		return chord{}, noKey(s)
	}
	return c.settle(s)
}

// split takes a name apart; ok is false for one that is none.
func split(s string) (c chord, ok bool) {
	at := strings.LastIndexByte(s[:len(s)-1], '+') // the last character may be the key +
	for _, part := range strings.Split(s[:max(at, 0)], "+") {
		if at < 0 {
			break
		}
		i := slices.Index(modifiers[:], known(part))
		if i < 0 || c.mods&(1<<i) != 0 {
			return c, false
		}
		c.mods |= 1 << i
	}
	c.key = s[at+1:]
	if c.isCharacter() {
		r, _ := utf8.DecodeRuneInString(c.key)
		return c, unicode.IsGraphic(r) && !unicode.IsMark(r) && !unicode.IsSpace(r)
	}
	c.key = known(c.key)
	return c, slices.Contains(named[:], c.key) || isFunction(c.key)
}

// known is a name in small letters, an alias as octavo has it.
func known(name string) string {
	name = strings.ToLower(name)
	for _, a := range aliases {
		if a[0] == name {
			return a[1]
		}
	}
	return name
}

// isFunction reports whether the key is one of f1 to f63.
func isFunction(key string) bool {
	n, ok := strings.CutPrefix(key, "f")
	if !ok || n == "" || len(n) > 2 || strings.Trim(n, "0123456789") != "" || n[0] == '0' {
		return false
	}
	return len(n) == 1 || n <= "63"
}

// settle brings the character of a chord into its one form.
func (c chord) settle(written string) (chord, error) {
	if !c.isCharacter() {
		return c, nil
	}
	r, _ := utf8.DecodeRuneInString(c.key)
	small, large := string(unicode.ToLower(r)), string(unicode.ToUpper(r))
	switch {
	case c.mods == shift && small == large:
		return c, fmt.Errorf("%s depends on the keyboard: write the character that it types, such as ?", quote(written))
	case c.mods == shift:
		return chord{0, large}, nil
	case c.mods != 0:
		c.key = small
	}
	if c.key == "@" && c.mods&ctrl != 0 { // a terminal sends one byte for both
		c.key = "space"
	}
	return c, nil
}

// noKey says what may have been meant.
func noKey(s string) error {
	if better := respell(s); better != "" {
		return fmt.Errorf("%s is no key: write %s", quote(s), better)
	}
	last := s[strings.LastIndexByte(s, '+')+1:]
	if near := closest(strings.ToLower(last), named[:]); near != "" {
		return fmt.Errorf("%s is no key; did you mean %s?", quote(s), near)
	}
	return fmt.Errorf("%s is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /", quote(s))
}

// foreign are modifiers as other programs write them before a hyphen.
var foreign = [...][2]string{{"c", "ctrl"}, {"m", "alt"}, {"a", "alt"}, {"s", "shift"}, {"d", "super"}}

// respell is a key of Emacs, Vim, tmux or a manual, such as C-x, <C-x>, ^X or ctrl-x, as octavo writes it; "" for anything else.
func respell(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">")
	if rest, ok := strings.CutPrefix(s, "^"); ok && rest != "" {
		s = "ctrl-" + rest
	}
	parts := strings.Split(strings.ToLower(s), "-")
	for i, part := range parts[:len(parts)-1] {
		for _, f := range foreign {
			if f[0] == part {
				parts[i] = f[1]
			}
		}
	}
	joined := strings.Join(parts, "+")
	if joined == "" || strings.HasSuffix(joined, "+") { // nothing, or a key that is itself the hyphen
		return ""
	}
	c, ok := split(joined)
	if !ok {
		return ""
	}
	if c, err := c.settle(joined); err == nil {
		return c.String()
	}
	return ""
}

// quote shows what somebody else wrote, on one line and not too much of it.
func quote(s string) string {
	const most = 40 // cells
	return `"` + text.Cut(text.CleanLine(s), most, "…") + `"`
}

// types reports whether a keystroke is a character that a text field takes: one alone, or with shift.
func types(keystroke string) bool {
	key := strings.TrimPrefix(keystroke, "shift+")
	if key == "space" {
		return true
	}
	_, size := utf8.DecodeRuneInString(key)
	return size > 0 && size == len(key)
}

// Keystrokes of the American keyboard that a terminal may name by key and shift where octavo has the character.
const (
	shifted = `~!@#$%^&*()_+{}|:"<>?`
	plain   = "`1234567890-=[]\\;',./"
)

// spelled is how a terminal may name by its keys what octavo holds as a character; "" for all else. No key is held in that form
// (see Normalise), so that it is in nobody's way.
func spelled(key string) string {
	r, size := utf8.DecodeRuneInString(key)
	if size != len(key) {
		return ""
	}
	if unicode.IsUpper(r) {
		return "shift+" + string(unicode.ToLower(r))
	}
	if i := strings.IndexRune(shifted, r); i >= 0 {
		return "shift+" + plain[i:i+1]
	}
	return ""
}
