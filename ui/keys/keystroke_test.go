package keys_test

import (
	"strings"
	"testing"

	"octavo/ui/keys"
)

// Forms that a person may write, and the keystroke a terminal gives (deps.md 3).
func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"ctrl+k": "ctrl+k", "Ctrl+K": "ctrl+k", "CTRL+Shift+P": "ctrl+shift+p", "shift+ctrl+p": "ctrl+shift+p", "alt+ctrl+shift+x": "ctrl+alt+shift+x",
		"super+shift+alt+ctrl+a": "ctrl+alt+shift+super+a", "shift+meta+a": "shift+meta+a", "hyper+a": "hyper+a",
		"enter": "enter", "Return": "enter", "esc": "esc", "Escape": "esc", "pageup": "pgup", "PgUp": "pgup", "pgdn": "pgdown", "PageDown": "pgdown",
		"del": "delete", "ins": "insert", "control+x": "ctrl+x", "Option+Left": "alt+left", "cmd+k": "super+k", "shift+tab": "shift+tab",
		" ": "space", "space": "space", "alt+space": "alt+space", "shift+space": "shift+space", "ctrl+@": "ctrl+space",
		"a": "a", "G": "G", "shift+g": "G", "shift+é": "É", "?": "?", "/": "/", ".": ".", "+": "+", "ctrl++": "ctrl++", "alt+-": "alt+-", "-": "-",
		"ctrl+_": "ctrl+_", "ctrl+]": "ctrl+]", "日": "日", "alt+Ж": "alt+ж", "f1": "f1", "F12": "f12", "ctrl+f63": "ctrl+f63", " ctrl+k ": "ctrl+k",
		"ctrl+İ": "ctrl+i",
	} {
		got, err := keys.Normalise(in)
		if got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", in, got, err, want)
		}
		if again, err := keys.Normalise(got); again != got || err != nil {
			t.Errorf("%q is %q the second time, %v", got, again, err)
		}
	}
}

func TestNormaliseSaysHowToWriteIt(t *testing.T) {
	for in, want := range map[string]string{
		"C-x":                    `"C-x" is no key: write ctrl+x`,
		"M-x":                    `"M-x" is no key: write alt+x`,
		"C-M-x":                  `"C-M-x" is no key: write ctrl+alt+x`,
		"<C-x>":                  `"<C-x>" is no key: write ctrl+x`,
		"^X":                     `"^X" is no key: write ctrl+x`,
		"ctrl-x":                 `"ctrl-x" is no key: write ctrl+x`,
		"<enter>":                `"<enter>" is no key: write enter`,
		"entre":                  `"entre" is no key; did you mean enter?`,
		"ctrl+pagup":             `"ctrl+pagup" is no key; did you mean pgup?`,
		"shift+1":                `"shift+1" depends on the keyboard: write the character that it types, such as ?`,
		"":                       `is empty: write a key such as ctrl+k, f5 or /`,
		"\t":                     `is empty: write a key such as ctrl+k, f5 or /`,
		"ctrl+":                  `"ctrl+" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"ctrl+k ctrl+s":          `"ctrl+k ctrl+s" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"ctrl+ctrl+x":            `"ctrl+ctrl+x" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"f64":                    `"f64" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"f0":                     `"f0" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"S-1":                    `"S-1" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"C--":                    `"C--" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"\u0301":                 "\"\u0301\" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /",
		"\x1b[31mred":            `"red" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		strings.Repeat("x", 64):  `"` + strings.Repeat("x", 39) + `…" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		strings.Repeat("x", 65):  `is no key: names of keys have at most 64 bytes`,
		strings.Repeat("+", 3):   `"+++" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
		"shift+\u00df\u00df":     "\"shift+ßß\" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /",
		"ctrl+alt+shift+escaped": `"ctrl+alt+shift+escaped" is no key: write ctrl, alt or shift, then + and the key, as in ctrl+shift+p, alt+enter, pgup, f5 or /`,
	} {
		if got, err := keys.Normalise(in); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestShow(t *testing.T) {
	for key, want := range map[string]string{
		"enter": "↵", "alt+enter": "alt+↵", "up": "↑", "ctrl+shift+left": "ctrl+shift+←", "ctrl+k": "ctrl+k", "ctrl++": "ctrl++", "+": "+", "/": "/", "pgup": "pgup",
	} {
		if got := keys.Show(key, keys.Glyphs); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
		if got := keys.Show(key, keys.ASCII); got != key {
			t.Errorf("%s: %s", key, got)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"ctrl+k", "Shift+G", "C-x", "^X", "<C-->", "ctrl++", "İ", "ǅ", "shift+ß", "alt+\xff", "+", "++", "f63", "\x1b", "a\u0301", "ctrl+İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := keys.Normalise(s)
		if err != nil {
			if msg := err.Error(); len(msg) > 500 || strings.ContainsAny(msg, "\x1b\n\r") {
				t.Fatalf("%q: %q", s, msg)
			}
			return
		}
		if again, err := keys.Normalise(key); again != key || err != nil {
			t.Fatalf("%q is %q, then %q, %v", s, key, again, err)
		}
	})
}
