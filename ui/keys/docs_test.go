package keys

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/keyboard.md anew")

const example = `    "app.message.followUp" = "ctrl+q"      # one key
    "list.edit" = ["ctrl+e", "f2"]         # several; hints show the first
    "app.mouse.toggle" = "none"            # no key

    [app.model]                            # names may also be tables
    select = "alt+p"
`

const introduction = `# Keyboard

` + "`f1`" + ` shows the keys that work where you are, and why others do not; ` + "`?`" + ` does the same where no text is written.

Where two parts of the screen have one key, the inner one gets it: the draft before the chat around it, the filter of a list before the
list. A text field has every character that you type. A key that is held down moves and edits, and does nothing else.

While octavo works, enter steers (the model reads it at its next step), ctrl+s queues a follow-up for after the turn, alt+up takes it back,
and esc interrupts. ctrl+d leaves.

## Your own keys

keys.toml in octavo's home gives actions other keys, by the names in the last column below:

` + example + `
It replaces all keys of an action, but for those that mean the same everywhere: enter, esc, ctrl+c, arrows in lists, and characters where
text is written. Nobody can bind these to anything else. A line that cannot be used changes nothing: octavo names it, says why, and keeps
its own keys. That is so where two actions would have one key in one place, and where the only key is one that terminals send as another
(ctrl+i tab, ctrl+m enter, ctrl+[ esc, ctrl+h backspace) or that tmux takes (ctrl+b). The file holds at most %d KiB, and an action at
most %d keys.

A key is a character, small beside a modifier, or one of these:

    %s f1 to f63

Before it may stand ctrl, alt, shift, meta, hyper and super, joined with +: ctrl+shift+p. Instead of shift and a character write what they
type: G, ?. Many terminals send shift+enter, ctrl+shift and a letter, and anything with super only when they are told to; alt+enter and
ctrl+j always arrive.

    vim = true

gives the composer a normal mode, which esc enters and i or a leaves, and readers the same keys to move.

Shortcuts of extensions come last. They need ctrl, alt or super, never alt with a character alone, and get no key that octavo has bound.
`

// markdown is the whole of docs/keyboard.md.
func markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, introduction, MaxFile>>10, MaxKeys, strings.Join(named[:], " "))
	for _, c := range Contexts() {
		var rows strings.Builder
		for _, row := range bindings {
			if row.Contexts[0] == c && !row.vim {
				fmt.Fprintf(&rows, "| %s | %s | %s | `%s` |\n", cells(row.Keys), row.About, also(row.Contexts[1:]), row.Action)
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n| Keys | What they do | Also | Name |\n| --- | --- | --- | --- |\n%s", c, &rows)
		}
	}
	b.WriteString("\n## With vim = true\n\n| Keys | What they do | Where | Name |\n| --- | --- | --- | --- |\n")
	for _, row := range bindings {
		if row.vim {
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", cells(row.Keys), row.About, also(row.Contexts), row.Action)
		}
	}
	for i := 0; i < len(vimKeys); {
		first, keys := vimKeys[i], []string(nil)
		for ; i < len(vimKeys) && vimKeys[i].action == first.action; i++ {
			keys = append(keys, vimKeys[i].key)
		}
		about := ""
		for _, row := range bindings {
			if row.Action == first.action {
				about = row.About
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | |\n", cells(keys), about, also([]Context{first.context}))
	}
	return b.String()
}

func cells(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return "`" + strings.Join(keys, "` `") + "`"
}

func also(contexts []Context) string {
	names := make([]string, len(contexts))
	for i, c := range contexts {
		names[i] = strings.ToLower(c.String()[:1]) + c.String()[1:]
	}
	return strings.Join(names, "; ")
}

// TestDocument holds docs/keyboard.md against the table.
func TestDocument(t *testing.T) {
	const file = "../../docs/keyboard.md"
	if *update {
		if err := os.WriteFile(file, []byte(markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(b), markdown()); d != "" {
		t.Errorf("docs/keyboard.md is out of date; run go test ./ui/keys -run Document -update (-file +table):\n%s", d)
	}
	if r, problems := Load("keys.toml", []byte(example)); problems != nil || len(r.Keys(ModelSelect)) != 1 || len(r.Keys(ListEdit)) != 2 {
		t.Errorf("the example: %v", problems)
	}
}
