package keys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/ui/keys"
)

func TestExtensions(t *testing.T) {
	r := registry(t, "\"list.remove\" = \"f8\"\nvim = true")
	if problems := r.AddExtension("git", []keys.Shortcut{
		{Key: "Ctrl+Alt+G", Name: "push", About: "push\x1b[31m\nthis branch"}, {Key: "ctrl+x", Name: "stage", About: "stage"}, // keys.toml has freed it
	}); problems != nil {
		t.Fatal(problems)
	}
	for key, want := range map[string]keys.Action{"ctrl+alt+g": "extension.git.push", "ctrl+x": "extension.git.stage"} {
		for _, at := range [][]keys.Context{draft, page, picker, field} {
			if got, ok := r.Match(at, key); got != want || !ok {
				t.Errorf("%v: %s is %q", at, key, got)
			}
		}
		if extension, shortcut, ok := want.Shortcut(); extension != "git" || "extension.git."+shortcut != string(want) || !ok {
			t.Errorf("%s: %s, %s, %v", want, extension, shortcut, ok)
		}
	}
	if _, _, ok := keys.Exit.Shortcut(); ok {
		t.Error("an action of octavo's is an extension's")
	}
	if b, ok := r.Describe("extension.git.push"); !ok || b.About != "push⏎this branch" || !slices.Equal(b.Keys, []string{"ctrl+alt+g"}) || b.Repeat {
		t.Errorf("%+v, %v", b, ok)
	}

	if problems := r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+q", Name: "push"}}); problems != nil { // in the place of the old ones
		t.Error(problems)
	}
	for key, want := range map[string]keys.Action{"ctrl+alt+g": "", "ctrl+q": "extension.git.push"} {
		if got, _ := r.Match(draft, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	r.AddExtension("git", nil)
	if got, ok := r.Match(draft, "ctrl+q"); ok {
		t.Errorf("after the extension has gone ctrl+q is %q", got)
	}
}

// TestExtensionsCannotShadow is the list of product.md 2.5, and the rule that octavo's own bindings come first.
func TestExtensionsCannotShadow(t *testing.T) {
	const kept = ", which octavo keeps for itself"
	r := registry(t, "\"app.exit\" = \"none\"\n\"list.edit\" = \"ctrl+q\"\n\"chat.bottom\" = \"f4\"")
	r.AddExtension("first", []keys.Shortcut{{Key: "ctrl+alt+f", Name: "one"}})
	for key, want := range map[string]string{
		"ctrl+c": kept, "ctrl+d": kept, "ctrl+o": kept, "ctrl+s": kept, "ctrl+shift+a": kept, "ctrl+shift+c": kept, "alt+up": kept, "ctrl+end": kept,
		"alt+esc": kept, "ctrl+esc": kept,
		"esc": `: a shortcut needs ctrl, alt or super`, "enter": `: a shortcut needs ctrl, alt or super`, "tab": `: a shortcut needs ctrl, alt or super`,
		"shift+tab": `: a shortcut needs ctrl, alt or super`, "pgup": `: a shortcut needs ctrl, alt or super`, "f5": `: a shortcut needs ctrl, alt or super`,
		"g": `: a shortcut needs ctrl, alt or super`, "G": `: a shortcut needs ctrl, alt or super`, "meta+g": `: a shortcut needs ctrl, alt or super`,
		"alt+g": `, which is text on some keyboards: use ctrl`, "alt+shift+g": `, which is text on some keyboards: use ctrl`,
		"alt+space": `, which is text on some keyboards: use ctrl`,
		"ctrl+i":    `a key that may never arrive: ctrl+i is the same as tab in many terminals`,
		"ctrl+b":    `a key that may never arrive: ctrl+b is taken by tmux`,
		"ctrl+x":    `, which is list.remove's`, "ctrl+f": `, which is editor.cursorRight's`, "ctrl+q": `, which is list.edit's`,
		"alt+enter": `, which is input.newLine's`, "ctrl+alt+f": `, which extension first has`, "ctrl+alt+n": ` a second time`,
	} {
		problems := r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+n", Name: "x"}, {Key: key, Name: "push"}})
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), `extension git: shortcut "push" asks for `) || !strings.HasSuffix(problems[0].String(), want) {
			t.Errorf("%s: %v", key, problems)
		}
		if a, _ := r.Match([]keys.Context{keys.Global}, "ctrl+alt+n"); a != "extension.git.x" {
			t.Errorf("%s takes the shortcut beside it: %q", key, a)
		}
	}
	for _, key := range []string{"ctrl+enter", "super+g", "ctrl+alt+g", "ctrl+shift+g", "alt+f5", "alt+left+g"} {
		problems := r.AddExtension("git", []keys.Shortcut{{Key: key, Name: "push"}})
		if bad := key == "alt+left+g"; bad != (len(problems) == 1) {
			t.Errorf("%s: %v", key, problems)
		}
	}
	problems := r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+x", Name: "a"}, {Key: "ctrl+alt+y", Name: "a"}})
	if len(problems) != 1 || problems[0].Text != "is there a second time: a name has one key" {
		t.Errorf("%v", problems)
	}
}

// TestExtensionsAreTheLowestLayer: what vim = true adds to a reader comes before a shortcut, and help says so.
func TestExtensionsAreTheLowestLayer(t *testing.T) {
	r := registry(t, "\"editor.cursorRight\" = \"right\"\nvim = true")
	if problems := r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+f", Name: "fetch", About: "fetch"}}); problems != nil {
		t.Fatal(problems)
	}
	for _, test := range []struct {
		at   []keys.Context
		want keys.Action
	}{{draft, "extension.git.fetch"}, {reader, keys.ReaderPageDown}} {
		a, _ := r.Match(test.at, "ctrl+f")
		sections := r.Help(test.at, nil)
		last := sections[len(sections)-1].Title
		if a != test.want || (last == "Extension git") != (a == "extension.git.fetch") {
			t.Errorf("%v: ctrl+f is %s, and help ends with %s", test.at, a, last)
		}
	}
}

func TestShortcutsHaveABound(t *testing.T) {
	r := registry(t, "")
	var wanted []keys.Shortcut
	for i := range keys.MaxShortcuts + 1 {
		mods := []string{"ctrl+alt+", "ctrl+shift+super+"}[i/52]
		key := string(rune('a' + i%26))
		if i%52 >= 26 {
			key = fmt.Sprintf("f%d", i%52-25)
		}
		wanted = append(wanted, keys.Shortcut{Key: mods + key, Name: fmt.Sprint("s", i)})
	}
	if problems := r.AddExtension("git", wanted[:keys.MaxShortcuts]); problems != nil {
		t.Errorf("%v", problems)
	}
	problems := r.AddExtension("git", wanted)
	if len(problems) != 1 || problems[0].Name != `shortcut "s64"` || problems[0].Text != "is one too many: an extension has at most 64 shortcuts" {
		t.Errorf("%v", problems)
	}
}
