package editor_test

import (
	"errors"
	"strings"
	"testing"

	"octavo/app/api"
	"octavo/ui/editor"
)

// draft makes a Buffer of a text in which | is the cursor, and ^ where the selection began.
func draft(t *testing.T, s string) *editor.Buffer {
	t.Helper()
	b := editor.New(nil)
	text := strings.NewReplacer("|", "", "^", "").Replace(s)
	if _, err := b.SetText(text); err != nil {
		t.Fatal(err)
	}
	cursor, anchor := strings.Index(s, "|"), strings.Index(s, "^")
	switch {
	case anchor < 0:
		b.MoveTo(cursor)
	case anchor < cursor:
		b.MoveTo(anchor)
		b.Select(func() bool { return b.MoveTo(cursor - 1) })
	default:
		b.MoveTo(anchor - 1)
		b.Select(func() bool { return b.MoveTo(cursor) })
	}
	if got := show(b); got != s {
		t.Fatalf("the draft is %q, not %q", got, s)
	}
	return b
}

// show writes a Buffer as draft reads it.
func show(b *editor.Buffer) string {
	v, at := b.Value(), b.Offset()
	from, to, ok := b.Selection()
	switch {
	case !ok:
		return v[:at] + "|" + v[at:]
	case at == to:
		return v[:from] + "^" + v[from:to] + "|" + v[to:]
	}
	return v[:from] + "|" + v[from:to] + "^" + v[to:]
}

const (
	family = "👩‍👩‍👧‍👦"
	flag   = "🇩🇪"
	acute  = "e\u0301"
	width  = 11 // 10 cells of text
)

func must(changed bool, err error) bool {
	if err != nil {
		panic(err)
	}
	return changed
}

// private are the characters that can stand in for a tab.
const private = "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008\ue009\ue00a\ue00b\ue00c\ue00d\ue00e\ue00f"

var operations = map[string]func(*editor.Buffer) bool{
	"newline":            func(b *editor.Buffer) bool { return must(b.InsertNewline()) },
	"backspace":          (*editor.Buffer).Backspace,
	"delete":             (*editor.Buffer).Delete,
	"deleteWordBackward": (*editor.Buffer).DeleteWordBackward,
	"deleteWordForward":  (*editor.Buffer).DeleteWordForward,
	"deleteToLineStart":  (*editor.Buffer).DeleteToLineStart,
	"deleteToLineEnd":    (*editor.Buffer).DeleteToLineEnd,
	"left":               (*editor.Buffer).Left,
	"right":              (*editor.Buffer).Right,
	"wordLeft":           (*editor.Buffer).WordLeft,
	"wordRight":          (*editor.Buffer).WordRight,
	"lineStart":          (*editor.Buffer).LineStart,
	"lineEnd":            (*editor.Buffer).LineEnd,
	"documentStart":      (*editor.Buffer).DocumentStart,
	"documentEnd":        (*editor.Buffer).DocumentEnd,
	"up":                 func(b *editor.Buffer) bool { return b.Up(width) },
	"down":               func(b *editor.Buffer) bool { return b.Down(width) },
	"pageUp":             func(b *editor.Buffer) bool { return b.PageUp(width, 3) },
	"pageDown":           func(b *editor.Buffer) bool { return b.PageDown(width, 3) },
	"selectAll":          (*editor.Buffer).SelectAll,
	"selectWord":         (*editor.Buffer).SelectWord,
	"selectLine":         (*editor.Buffer).SelectLine,
	"unselect":           (*editor.Buffer).Unselect,
	"clear":              (*editor.Buffer).Clear,
	"undo":               (*editor.Buffer).Undo,
	"redo":               (*editor.Buffer).Redo,
	"cut":                func(b *editor.Buffer) bool { return b.Cut() != "" },
	"select left":        func(b *editor.Buffer) bool { return b.Select(b.Left) },
	"select right":       func(b *editor.Buffer) bool { return b.Select(b.Right) },
	"select wordLeft":    func(b *editor.Buffer) bool { return b.Select(b.WordLeft) },
	"select wordRight":   func(b *editor.Buffer) bool { return b.Select(b.WordRight) },
	"select down":        func(b *editor.Buffer) bool { return b.Select(func() bool { return b.Down(width) }) },
	"insert x":           func(b *editor.Buffer) bool { return must(b.Insert("x")) },
	"insert nothing":     func(b *editor.Buffer) bool { return must(b.Insert("")) },
	"insert acute":       func(b *editor.Buffer) bool { return must(b.Insert("\u0301")) },
	"insert joiner":      func(b *editor.Buffer) bool { return must(b.Insert("\u200d")) },
	"insert half a flag": func(b *editor.Buffer) bool { return must(b.Insert("🇫")) },
	"yank":               func(b *editor.Buffer) bool { return must(b.Yank()) },
	"yankPop":            func(b *editor.Buffer) bool { return must(b.YankPop()) },
	"jump x":             func(b *editor.Buffer) bool { return b.JumpForward("x") },
	"jump nowhere":       func(b *editor.Buffer) bool { return b.JumpForward("") || b.JumpBackward("") },
	"jump back x":        func(b *editor.Buffer) bool { return b.JumpBackward("x") },
	"jump e":             func(b *editor.Buffer) bool { return b.JumpForward("e") },
	"jump " + family:     func(b *editor.Buffer) bool { return b.JumpForward(family) },
}

func TestOperations(t *testing.T) {
	for _, test := range []struct{ operation, before, after string }{
		{"insert x", "|", "x|"},
		{"insert x", "a|b", "ax|b"},
		{"insert x", "a^bc|d", "ax|d"},
		{"insert x", "a|b\nc^d", "ax|d"},
		{"insert x", "a^x|", "ax|"},
		{"insert nothing", "a|b", "a|b"},
		{"insert nothing", "a^b|", "a^b|"},
		{"insert acute", "e|x", acute + "|x"},
		{"insert acute", "|x", "\u0301|x"},
		{"insert joiner", "👩|👧", "👩‍👧|"},
		{"insert half a flag", "|" + flag + "🇮🇹", "🇫🇩|🇪🇮🇹"},
		{"newline", "a|b", "a\n|b"},
		{"newline", "|", "\n|"},
		{"newline", "a|" + acute, "a\n|" + acute},

		{"backspace", "|a", "|a"},
		{"backspace", "ab|", "a|"},
		{"backspace", "a\n|b", "a|b"},
		{"backspace", acute + "|b", "|b"},
		{"backspace", "a" + family + "|b", "a|b"},
		{"backspace", flag + flag + "|", flag + "|"},
		{"backspace", "日本|", "日|"},
		{"backspace", "\t|x", "|x"},
		{"backspace", "שלום|", "שלו|"},
		{"backspace", "a^bc|d", "a|d"},
		{"backspace", "a\u200e|\u0301b", "a\u0301|b"},
		{"delete", "a|", "a|"},
		{"delete", "a|b", "a|"},
		{"delete", "a|\nb", "a|b"},
		{"delete", "a|" + family + "b", "a|b"},
		{"delete", "|" + acute + "b", "|b"},
		{"delete", "a|bc^d", "a|d"},

		{"deleteWordBackward", "one two|", "one |"},
		{"deleteWordBackward", "one two  |", "one |"},
		{"deleteWordBackward", "one\n  |two", "|two"},
		{"deleteWordBackward", "src/main.go|", "src/main.|"},
		{"deleteWordBackward", "a...|", "a|"},
		{"deleteWordBackward", "日本語のテキスト|", "日本語の|"},
		{"deleteWordBackward", "日本語の|", "日本語|"},
		{"deleteWordBackward", "データー|", "|"},
		{"deleteWordBackward", "caf" + acute + "_1|", "|"},
		{"deleteWordBackward", "|x", "|x"},
		{"deleteWordBackward", "  |x", "|x"},
		{"deleteWordBackward", "one ^two| three", "one | three"},
		{"deleteWordForward", "|one two", "| two"},
		{"deleteWordForward", "one| two", "one|"},
		{"deleteWordForward", "one|\n\n two.", "one|."},
		{"deleteWordForward", "one|  ", "one|"},
		{"deleteWordForward", "one|", "one|"},
		{"deleteToLineStart", "a\nbc|d", "a\n|d"},
		{"deleteToLineStart", "a\n|d", "a|d"},
		{"deleteToLineStart", "|d", "|d"},
		{"deleteToLineEnd", "a|bc\nd", "a|\nd"},
		{"deleteToLineEnd", "a|\nd", "a|d"},
		{"deleteToLineEnd", "a|", "a|"},
		{"deleteToLineEnd", "a^bc|d", "a|d"},

		{"left", "|a", "|a"},
		{"left", "a|", "|a"},
		{"left", "a\n|b", "a|\nb"},
		{"left", "x" + family + "|", "x|" + family},
		{"left", flag + flag + flag + "|", flag + flag + "|" + flag},
		{"left", "a^bc|d", "a|bcd"},
		{"left", "a|bc^d", "a|bcd"},
		{"right", "a|", "a|"},
		{"right", "|" + family + "x", family + "|x"},
		{"right", "|" + acute, acute + "|"},
		{"right", "a|\n\nb", "a\n|\nb"},
		{"right", "|\tb", "\t|b"},
		{"right", "|हिन्दी", "हि|न्दी"},
		{"right", "a^bc|d", "abc|d"},
		{"right", "|\u0301a", "\u0301|a"},
		{"wordLeft", "one two|", "one |two"},
		{"wordLeft", "one |two", "|one two"},
		{"wordLeft", "one\n\n|two", "|one\n\ntwo"},
		{"wordLeft", "👩‍💻 ok|", "👩‍💻 |ok"},
		{"wordRight", "|one two", "one| two"},
		{"wordRight", "one| two", "one two|"},
		{"wordRight", "a|\n", "a\n|"},
		{"wordRight", "|漢字かな", "漢字|かな"},
		{"wordRight", "|שלום עולם", "שלום| עולם"},
		{"lineStart", "a\nb\tc|", "a\n|b\tc"},
		{"lineEnd", "|a" + family + "\nb", "a" + family + "|\nb"},
		{"lineEnd", "a long line of several| rows\n", "a long line of several rows|\n"},
		{"documentStart", "a\nb|", "|a\nb"},
		{"documentEnd", "|a\nb\n", "a\nb\n|"},

		{"up", "a|b", "a|b"},
		{"up", "abc\nd|e", "a|bc\nde"},
		{"up", "a\nbcd|", "a|\nbcd"},
		{"up", "日本語\nab|c", "日|本語\nabc"},
		{"up", "日本語\na|bc", "|日本語\nabc"},
		{"up", "\tx\nab|c", "|\tx\nabc"},
		{"up", "\tx\nabcd|e", "\t|x\nabcde"},
		{"up", "one two three f|our", "one two| three four"},
		{"up", "abcdefghijklmnop|", "abcdef|ghijklmnop"},
		{"up", "one two th i|s", "o|ne two th is"},
		{"down", "a|b", "a|b"},
		{"down", "ab|c\n\n", "abc\n|\n"},
		{"down", "o|ne two three four", "one two t|hree four"},
		{"down", "日本|語\nabcdef", "日本語\nabcd|ef"},
		{"pageUp", "1\n2\n3\n4|", "1\n2|\n3\n4"},
		{"pageUp", "1\n2|\n3\n4", "1|\n2\n3\n4"},
		{"pageUp", "1|\n2", "1|\n2"},
		{"pageDown", "|1\n2\n3\n4", "1\n2\n|3\n4"},
		{"pageDown", "1\n2\n|3\n4", "1\n2\n3\n|4"},

		{"jump x", "|xaxb", "xa|xb"},
		{"jump x", "|a\n\nbx", "a\n\nb|x"},
		{"jump x", "|aX", "|aX"},
		{"jump x", "x|", "x|"},
		{"jump e", "|a" + acute + "be", "a" + acute + "b|e"},
		{"jump " + family, "|👩" + family, "👩|" + family},
		{"jump back x", "xax|b", "xa|xb"},
		{"jump back x", "xa|xb", "|xaxb"},
		{"jump back x", "x\n\na|", "|x\n\na"},
		{"jump back x", "a|x", "a|x"},

		{"jump nowhere", "a|b", "a|b"},
		{"selectAll", "a|b\nc", "^ab\nc|"},
		{"selectAll", "|", "|"},
		{"selectWord", "one t|wo.", "one ^two|."},
		{"selectWord", "one two|", "one ^two|"},
		{"selectWord", "a|  b", "a^  |b"},
		{"selectWord", "|", "|"},
		{"selectWord", "a\n|\nb", "a\n|\nb"},
		{"selectLine", "a\nb|c\nd", "a\n^bc|\nd"},
		{"unselect", "a^b|c", "ab|c"},
		{"unselect", "ab|c", "ab|c"},
		{"select left", "ab|c", "a|b^c"},
		{"select left", "a^b|c", "a|bc"},
		{"select right", "a^b|" + acute, "a^b" + acute + "|"},
		{"select right", "a|b^c", "ab|c"},
		{"select wordLeft", "one two|", "one |two^"},
		{"select wordRight", "on|e two", "on^e| two"},
		{"select down", "a|b\ncd", "a^b\nc|d"},
		{"cut", "a^b\nc|d", "a|d"},
		{"cut", "a|d", "a|d"},

		{"clear", "a|b", "|"},
		{"clear", "|", "|"},
		{"redo", "a|", "a|"},
		{"yank", "a|", "a|"},
		{"yankPop", "a|", "a|"},
	} {
		b := draft(t, test.before)
		changed := operations[test.operation](b)
		if got := show(b); got != test.after {
			t.Errorf("%s in %q gives %q, want %q", test.operation, test.before, got, test.after)
		}
		if changed != (test.before != test.after) {
			t.Errorf("%s in %q answers %v", test.operation, test.before, changed)
		}
		if err := b.Check(); err != nil {
			t.Errorf("%s in %q: %v", test.operation, test.before, err)
		}
	}
}

func TestGoalColumn(t *testing.T) {
	b := draft(t, "abcdef|\n\nx\nabcdefgh")
	for range 3 {
		b.Down(width)
	}
	if got, want := show(b), "abcdef\n\nx\nabcdef|gh"; got != want {
		t.Errorf("down three times gives %q, want %q", got, want)
	}
	b.Up(width)
	b.Left()
	b.Down(width)
	if got, want := show(b), "abcdef\n\nx\n|abcdefgh"; got != want {
		t.Errorf("left forgets the column: %q, want %q", got, want)
	}
	b = draft(t, "日本|\nabc\n日本")
	b.Down(width)
	b.Down(width)
	if got, want := show(b), "日本\nabc\n日本|"; got != want {
		t.Errorf("past a short line: %q, want %q", got, want)
	}
}

func TestInsertCleans(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\r\rd\n":                    "a\nb\nc\n\nd\n",
		"\tif x {\r\n\t\ty\t// z\n":           "\tif x {\n\t\ty\t// z\n",
		"\x1b[31mred\x1b[0m\x1b]0;t\a.":       "red.",
		"\x1b]0;a\tb\ac\td":                   "c\td",
		"\x1b[3\t1m":                          "\t1m",
		"a\ufdd0b\ufdd1c":                     "abc",
		"\u202ea\xffb":                        "‹RLO›a\ufffdb",
		"\ue000\t\ue001":                      "\ue000\t\ue001",
		private + "\t.":                       private + "    .", // nothing is left to stand in for a tab
		"\u200b\u00ad\ufeff":                  "",
		family + flag + "❤️" + acute + "שלום": family + flag + "❤️" + acute + "שלום",
	} {
		for name, insert := range map[string]func(*editor.Buffer, string) (bool, error){
			"Insert": (*editor.Buffer).Insert, "Paste": (*editor.Buffer).Paste, "SetText": (*editor.Buffer).SetText,
			"Replace": func(b *editor.Buffer, s string) (bool, error) { return b.Replace(0, 0, s) },
		} {
			b := editor.New(nil)
			changed, err := insert(b, in)
			if got := b.Value(); got != want || err != nil || changed != (want != "") {
				t.Errorf("%s(%q) = %v, %v: %q, want %q", name, in, changed, err, got, want)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	b := draft(t, "see @sr| and go")
	if changed, err := b.Replace(4, 7, "@src/main.go"); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if got, want := show(b), "see @src/main.go| and go"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Undo()
	if got, want := show(b), "see @sr| and go"; got != want {
		t.Errorf("undone it is %q, want %q", got, want)
	}
	b = draft(t, "a"+family+"b|")
	if changed, _ := b.Replace(-5, 3, ""); !changed || b.Value() != family+"b" {
		t.Errorf("offsets in a character are those before it: %q", b.Value())
	}
	if changed, _ := b.Replace(99, 2000, "!"); !changed || b.Value() != family+"b!" {
		t.Errorf("offsets behind the end are the end: %q", b.Value())
	}
}

func TestMaxText(t *testing.T) {
	if editor.MaxText != api.MaxInput || editor.MaxImages != api.MaxInputImages || editor.MaxImageBytes != api.MaxInputBytes {
		t.Error("a draft may not be what an input may be")
	}
	b := editor.New(nil)
	if _, err := b.Insert(strings.Repeat("a", editor.MaxText)); err != nil {
		t.Fatal(err)
	}
	var full *editor.TextFullError
	raw := strings.Repeat("\x1b[m", editor.MaxText*4/3+1) // nothing is left of it, but it is too much to look at
	for name, grow := range map[string]func() (bool, error){
		"Insert":  func() (bool, error) { return b.Insert("b") },
		"Paste":   func() (bool, error) { return b.Paste(strings.Repeat("b", 3000)) },
		"Attach":  func() (bool, error) { return b.Attach(editor.Chip{Kind: editor.ImageChip}) },
		"Replace": func() (bool, error) { return b.Replace(0, 1, "bb") },
		"SetText": func() (bool, error) { return b.SetText(strings.Repeat("b", editor.MaxText+1)) },
		"raw":     func() (bool, error) { return b.SetText(raw) },
		"raw 2":   func() (bool, error) { return b.Insert(raw) },
		"raw 3":   func() (bool, error) { return b.Paste(raw) },
		"raw 4":   func() (bool, error) { return b.Replace(0, 0, raw) },
	} {
		if changed, err := grow(); changed || !errors.As(err, &full) || full.Bytes <= editor.MaxText {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
	}
	if b.Len() != editor.MaxText {
		t.Errorf("%d bytes after what was refused", b.Len())
	}
	if changed, err := b.Replace(0, 1, "b"); !changed || err != nil {
		t.Errorf("a change of the same size: %v", err)
	}
	if changed, err := b.SetText(strings.Repeat("\x1b[m", editor.MaxText*4/3)); !changed || err != nil || !b.Empty() {
		t.Errorf("what is left of controls: %d bytes, %v", b.Len(), err)
	}
}
