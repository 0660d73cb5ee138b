package editor_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octavo/pages/text"
	"octavo/ui/editor"
)

// pieces are what hard text is made of: words and what breaks them, wide and joined characters, flags that shift, marks alone,
// characters that join what follows them, and those without any width.
var pieces = rapid.SampledFrom([]string{
	"a", "B", "word", " ", "  ", "\t", "\n", "-", ".", "/", "@", "日本", "語。", "かな", "カー", "é", "e\u0301", "\u0301", "\u200d", "👩", "👩‍👩‍👧‍👦",
	"🇩", "🇩🇪", "❤\ufe0f", "\ufe0f", "ש", "עברית", "ل", "\u0600", "\u200e", "हिन्दी", "ᄀ", "ᅡ", "각", "한", "\u00a0", "\u3000",
})

func hardText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, name), "")
}

// TestRandomOperations holds for every draft after any operations: all that is kept up to date is as if counted anew, the cursor is
// between characters, rows make up the text, chips and labels are as many, and undo and redo lead to every text that there was.
func TestRandomOperations(t *testing.T) {
	names := []string{}
	for name := range operations {
		if name != "undo" && name != "redo" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		b := editor.New(nil)
		width := rapid.IntRange(0, 30).Draw(t, "width")
		if _, err := b.Paste(hardText(t, "text")); err != nil {
			t.Fatal(err)
		}
		var texts []string // each that there was, as labels and as payloads
		note := func() {
			s := b.Submission()
			if s := s.Text + "\x00" + s.Display; len(texts) == 0 || texts[len(texts)-1] != s {
				texts = append(texts, s)
			}
		}
		b.Take()
		note()
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			before := show(b)
			changed := true
			switch name := rapid.SampledFrom(append(names, "type", "type", "paste", "paste chip", "attach", "expand", "resize", "move", "extend",
				"replace", "set")).Draw(t, "operation"); name {
			case "type":
				changed = must(b.Insert(pieces.Draw(t, "typed")))
			case "paste":
				changed = must(b.Paste(hardText(t, "pasted")))
			case "paste chip":
				changed = must(b.Paste(strings.Repeat("\n", 30) + hardText(t, "pasted")))
			case "attach":
				if len(b.Chips()) < editor.MaxImages/2 {
					changed = must(b.Attach(image("a日.png", 1), file("/tmp/a b")))
				}
			case "expand":
				changed = b.Expand()
			case "resize":
				width = rapid.IntRange(0, 30).Draw(t, "width")
			case "move":
				changed = b.MoveTo(rapid.IntRange(-1, b.Len()+1).Draw(t, "to"))
			case "extend":
				to := rapid.IntRange(-1, b.Len()+1).Draw(t, "to")
				changed = b.Select(func() bool { return b.MoveTo(to) })
			case "replace":
				from, to := rapid.IntRange(0, b.Len()).Draw(t, "from"), rapid.IntRange(0, b.Len()).Draw(t, "to")
				changed = must(b.Replace(from, to, hardText(t, "with")))
			case "set":
				changed = must(b.SetText(b.Value() + hardText(t, "added")))
			default:
				if b.Len() < 2000 && len(b.Chips()) < editor.MaxImages/2 || !strings.HasPrefix(name, "yank") {
					changed = operations[name](b)
				}
			}
			if !changed && show(b) != before {
				t.Fatalf("%q became %q, and nothing is said to have changed", before, show(b))
			}
			note()
			checkRows(t, b, width)
			checkChips(t, b)
		}
		last := b.Value()
		for i := len(texts) - 1; ; i-- {
			s := b.Submission()
			for i >= 0 && texts[i] != s.Text+"\x00"+s.Display {
				i--
			}
			if i < 0 {
				t.Fatalf("undo gives %q, which there never was", s.Display)
			}
			if !b.Undo() {
				break
			}
			checkRows(t, b, width)
		}
		if !b.Empty() {
			t.Fatalf("undone is %q", b.Value())
		}
		for b.Redo() {
			checkRows(t, b, width)
			checkChips(t, b)
		}
		if b.Value() != last {
			t.Fatalf("redone is %q, was %q", b.Value(), last)
		}
	})
}

// checkChips holds for every draft: each chip has its label in the text, in order, and a name that no other one has; and a draft
// without chips is sent as it is.
func checkChips(t failer, b *editor.Buffer) {
	t.Helper()
	value, s := b.Value(), b.Submission()
	rest, attached := value, 0
	names := map[string]bool{}
	for _, c := range b.Chips() {
		_, after, ok := strings.Cut(rest, c.Label())
		if !ok {
			t.Fatalf("%q has no %q where it should", value, c.Label())
		}
		rest = after
		if names[c.Label()] {
			t.Fatalf("%q is there twice", c.Label())
		}
		names[c.Label()] = true
		if c.Kind != editor.TextChip {
			attached++
		}
	}
	if s.Display != value || len(s.Attached) != attached {
		t.Fatalf("%q is shown as %q with %d of %d attached", value, s.Display, len(s.Attached), attached)
	}
	if len(b.Chips()) == 0 && s.Text != value {
		t.Fatalf("%q is sent as %q", value, s.Text)
	}
}

// TestRandomLongLine edits one line of many rows, of which only some are made anew; checkRows compares them with all.
func TestRandomLongLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := editor.New(nil)
		b.SetText(strings.ReplaceAll(strings.Join(rapid.SliceOfN(pieces, 100, 300).Draw(t, "text"), ""), "\n", " "))
		width := rapid.IntRange(editor.MinWidth, 20).Draw(t, "width")
		b.Rows(width)
		for range 10 {
			from := rapid.IntRange(0, b.Len()).Draw(t, "from")
			to := min(from+rapid.IntRange(0, 40).Draw(t, "length"), b.Len())
			b.Replace(from, to, strings.ReplaceAll(hardText(t, "with"), "\n", "-"))
			checkRows(t, b, width)
		}
	})
}

func FuzzInsert(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\rc", "\tx\t", "\x1b[31m\t\x1b]0;\t\a", family + flag + acute, "\u0600\ufdd0\u0301", "\xff\t\xe2", "日本語のテキスト。\n", "\ue000\t"} {
		f.Add(s, s, uint16(7), uint8(9))
	}
	f.Fuzz(func(t *testing.T, first, second string, at uint16, width uint8) {
		if len(first)+len(second) > 1<<14 {
			return
		}
		b := editor.New(nil)
		b.Rows(int(width))
		b.Insert(first)
		checkRows(t, b, int(width))
		b.MoveTo(int(at))
		b.Insert(second)
		checkRows(t, b, int(width))
		b.Paste(first + second)
		b.Left()
		b.Backspace()
		checkRows(t, b, int(width))
		checkChips(t, b)
		b.Token()
		for b.Undo() {
		}
		if !b.Empty() {
			t.Fatalf("undone is %q", b.Value())
		}
		for _, s := range []string{first, second} {
			got := editor.Clean(s)
			if editor.Clean(got) != got {
				t.Fatalf("%q cleans to %q, and that to %q", s, got, editor.Clean(got))
			}
			lines := strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
			if text.Clean(got) != text.Clean(lines) {
				t.Fatalf("%q cleans to %q, which is shown as %q and not %q", s, got, text.Clean(got), text.Clean(lines))
			}
		}
	})
}
