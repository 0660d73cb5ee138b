package editor_test

import (
	"strings"
	"testing"

	"octavo/ui/editor"
)

func typeAll(b *editor.Buffer, s string) {
	for _, r := range s {
		b.Insert(string(r))
	}
}

// undone gives what the draft is after each undo, and checks that redo leads back.
func undone(t *testing.T, b *editor.Buffer) []string {
	t.Helper()
	var states []string
	end := show(b)
	for b.Undo() {
		states = append(states, show(b))
		if err := b.Check(); err != nil {
			t.Error(err)
		}
	}
	for b.Redo() {
		if err := b.Check(); err != nil {
			t.Error(err)
		}
	}
	if got := show(b); got != end {
		t.Errorf("undone and redone it is %q, was %q", got, end)
	}
	return states
}

func TestUndoSteps(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(b *editor.Buffer)
		want string // states joined by /
	}{
		{"typing by words", func(b *editor.Buffer) { typeAll(b, "one  two\nthree") }, "one  two\n|/one  |/|"},
		{"a movement ends a word", func(b *editor.Buffer) { typeAll(b, "one"); b.Left(); b.Right(); typeAll(b, "two") }, "one|/|"},
		{"a paste is one step", func(b *editor.Buffer) { typeAll(b, "a"); b.Paste("b c d"); typeAll(b, "e") }, "ab c d|/a|/|"},
		{"backspaces by words", func(b *editor.Buffer) {
			b.Paste("one two")
			for range 7 {
				b.Backspace()
			}
		}, "one |/one two|/|"},
		{"deletes by words", func(b *editor.Buffer) {
			b.Paste("one two")
			b.DocumentStart()
			for range 7 {
				b.Delete()
			}
		}, "|two/|one two/|"},
		{"typing over a selection", func(b *editor.Buffer) { b.Paste("one"); b.SelectAll(); typeAll(b, "two") }, "^one|/|"},
		{"typing elsewhere", func(b *editor.Buffer) { typeAll(b, "a"); b.DocumentStart(); typeAll(b, "b") }, "|a/|"},
		{"marks join", func(b *editor.Buffer) { typeAll(b, acute+family) }, "|"},
		{"joining what is behind", func(b *editor.Buffer) { b.Paste("\u0301"); b.DocumentStart(); typeAll(b, "ex") }, "e\u0301|/|\u0301/|"},
		{"kills", func(b *editor.Buffer) { b.Paste("a b"); b.DeleteWordBackward(); b.DeleteWordBackward() }, "a |/a b|/|"},
		{"clear", func(b *editor.Buffer) { typeAll(b, "a"); b.Left(); b.Clear() }, "|a/|"},
		{"set", func(b *editor.Buffer) { typeAll(b, "a"); b.SetText("b\nc") }, "a|/|"},
		{"undo ends a word", func(b *editor.Buffer) { typeAll(b, "a b"); b.Undo(); typeAll(b, "c") }, "a |/|"},
		{"chips end a word", func(b *editor.Buffer) {
			typeAll(b, "a")
			b.Attach(editor.Chip{})
			typeAll(b, "c")
			b.Backspace()
			b.Backspace()
		},
			"a[Pasted text #1, 0 B]|/a[Pasted text #1, 0 B]c|/a[Pasted text #1, 0 B]|/a|/|"},
	} {
		b := editor.New(nil)
		test.do(b)
		if got := strings.Join(undone(t, b), "/"); got != test.want {
			t.Errorf("%s: undone it is %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRedoEnds(t *testing.T) {
	b := editor.New(nil)
	typeAll(b, "a b")
	b.Undo()
	b.Insert("c")
	if b.Redo() || b.Value() != "a c" {
		t.Errorf("redo after a change gives %q", b.Value())
	}
}

func TestUndoBounds(t *testing.T) {
	b := editor.New(nil)
	for range editor.MaxUndo + 10 {
		b.Paste("x")
	}
	for range editor.MaxUndo {
		if !b.Undo() {
			t.Fatal("a step is missing")
		}
	}
	if b.Undo() || b.Value() != strings.Repeat("x", 10) {
		t.Errorf("the oldest steps did not go: %q", b.Value())
	}

	b = editor.New(nil)
	big := strings.Repeat("x", editor.MaxText)
	for range 9 {
		b.SetText(big)
		b.Clear()
	}
	if steps, text, _ := b.Held(); text > editor.MaxUndoBytes || steps != editor.MaxUndoBytes/editor.MaxText {
		t.Errorf("%d steps hold %d bytes", steps, text)
	}
	if !b.Undo() || b.Len() != editor.MaxText {
		t.Error("the newest step is gone")
	}

	b = editor.New(nil)
	for range 5 {
		b.Attach(image("", editor.MaxImageBytes))
		b.Backspace()
	}
	if steps, _, _ := b.Held(); steps != 2*(editor.MaxUndoPayload/editor.MaxImageBytes) {
		t.Errorf("%d steps hold images", steps)
	}
	if !b.Undo() || len(b.Submission().Attached) != 1 {
		t.Error("an image does not come back")
	}
}
