package editor_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/ui/editor"
)

// long is a text that becomes a chip.
var long = strings.Repeat("line\n", 30)

func image(name string, bytes int) editor.Chip {
	return editor.Chip{Kind: editor.ImageChip, Name: name, Width: 640, Height: 480, Data: make([]byte, bytes)}
}

func file(path string) editor.Chip {
	return editor.Chip{Kind: editor.FileChip, Name: path[strings.LastIndexByte(path, '/')+1:], Text: path, Size: 12 << 10}
}

func TestPasteBecomesChip(t *testing.T) {
	for _, test := range []struct{ paste, want string }{
		{strings.Repeat("a", editor.MaxInlinePaste), ""},
		{strings.Repeat("a", editor.MaxInlinePaste+1), "[Pasted text #1, 1.9 KiB]"},
		{strings.Repeat("a\n", editor.MaxInlineLines), ""},
		{strings.Repeat("a\n", editor.MaxInlineLines) + "b", "[Pasted text #1, 21 lines]"},
		{strings.Repeat("a\r", editor.MaxInlineLines+1), "[Pasted text #1, 21 lines]"},
		{strings.Repeat("\x1b[31m", 1000) + "red", "red"},
	} {
		b := draft(t, "x^yz|!")
		if changed, err := b.Paste(test.paste); !changed || err != nil {
			t.Fatal(changed, err)
		}
		want := test.want
		if want == "" {
			want = test.paste
		}
		if got := b.Value(); got != "x"+want+"!" {
			t.Errorf("a paste of %d bytes gives %.60q, want %.60q", len(test.paste), got, want)
		}
		if got, want := b.Submission().Text, "x"+editor.Clean(test.paste)+"!"; got != want {
			t.Errorf("%.60q is sent, not %.60q", got, want)
		}
		b.Undo()
		if got := show(b); got != "x^yz|!" {
			t.Errorf("undone it is %.60q", got)
		}
	}
}

func TestLabels(t *testing.T) {
	b := editor.New(nil)
	b.Attach(
		image("a.png", 1), editor.Chip{Kind: editor.ImageChip}, image("shot\x1b]0;x\a\n\t.png", 1), image(strings.Repeat("日", 50), 1),
		file("/tmp/report.pdf"), editor.Chip{Kind: editor.FileChip, Text: "/x"}, editor.Chip{Text: "one line"}, editor.Chip{Text: "a\nb"},
		editor.Chip{Kind: 99, Number: 7},
	)
	want := "[Image #1 a.png 640x480] [Image #2] [Image #3 shot⏎    .png 640x480] [Image #4 " + strings.Repeat("日", 19) + "… 640x480] " +
		"[File #1 report.pdf 12 KiB] [File #2] [Pasted text #1, 8 B] [Pasted text #2, 2 lines] [Pasted text #3, 0 B]"
	if got := b.Value(); got != want {
		t.Errorf("labels are\n%s\nwant\n%s", got, want)
	}
}

// TestChipIsOneCharacter puts C for the chip where the other tables write a text.
func TestChipIsOneCharacter(t *testing.T) {
	for _, test := range []struct{ operation, before, after string }{
		{"left", "aC|b", "a|Cb"},
		{"right", "a|Cb", "aC|b"},
		{"wordLeft", "aC|", "a|C"},
		{"wordRight", "|CC", "C|C"},
		{"backspace", "aC|b", "a|b"},
		{"backspace", "a|Cb", "|Cb"},
		{"delete", "a|Cb", "a|b"},
		{"deleteWordBackward", "aC  |b", "a|b"},
		{"deleteToLineStart", "x\naC|b", "x\n|b"},
		{"deleteToLineEnd", "|aCb\nC", "|\nC"},
		{"select left", "aC|b", "a|C^b"},
		{"selectWord", "a|Ca", "a^C|a"},
		{"selectWord", "CC|", "C^C|"},
		{"insert acute", "C|C", "C\u0301|C"},
		{"left", "C\u0301|", "C|\u0301"},
		{"right", "|\u0600C", "\u0600|C"}, // a character that joins any other
		{"newline", "C|C", "C\n|C"},
		{"insert x", "C^C|C", "Cx|C"},
		{"jump x", "|Cx", "C|x"},
		{"lineEnd", "|CC\n", "CC|\n"},
		{"cut", "x^C\nC|C", "x|C"},
	} {
		b := editor.New(nil)
		labels := []string{}
		for i := range strings.Count(test.before, "C") {
			b.Attach(image("", i))
			labels = append(labels, b.Chips()[i].Label())
		}
		// Values take the labels as they come; cursor and anchor are set by their offsets in the same text.
		spell := func(s string) string {
			for _, l := range labels {
				s = strings.Replace(s, "C", l, 1)
			}
			return s
		}
		text := spell(test.before)
		b.SetText(strings.NewReplacer("|", "", "^", "").Replace(text))
		cursor, anchor := strings.Index(text, "|"), strings.Index(text, "^")
		if anchor >= 0 {
			b.MoveTo(anchor)
			b.Select(func() bool { return b.MoveTo(cursor - 1) })
		} else {
			b.MoveTo(cursor)
		}
		if got := show(b); got != text {
			t.Fatalf("the draft is %q, want %q", got, text)
		}
		if !operations[test.operation](b) {
			t.Errorf("%s in %q changes nothing", test.operation, test.before)
		}
		got := show(b)
		for _, c := range b.Chips() {
			got = strings.Replace(got, c.Label(), "C", 1)
		}
		if got != test.after {
			t.Errorf("%s in %q gives %q, want %q", test.operation, test.before, got, test.after)
		}
		checkRows(t, b, width)
	}
}

func TestChipInRows(t *testing.T) {
	b := draft(t, "see | now")
	b.Attach(image("a.png", 1))
	rows := b.Rows(40)
	if got, want := drawn(rows), "see [Image #1 a.png 640x480] now"; got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
	if runs := rows[0].Runs; len(runs) != 3 || runs[1].Chip != b.Chips()[0] || runs[0].Chip != nil {
		t.Errorf("runs are %+v", runs)
	}
	if got, want := drawn(b.Rows(30)), "see [Image #1 a.png 640x480] \\\nnow"; got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
	if got, want := drawn(b.Rows(width)), "see \\\n[Image #…] \\\nnow"; got != want {
		t.Errorf("a narrow row shows\n%s\nwant\n%s", got, want)
	}
	for column, want := range map[int]string{4: "see ", 15: "see ", 16: "see [Image #1 a.png 640x480]"} {
		if at := b.Hit(80, 0, column); b.Value()[:at] != want {
			t.Errorf("a click on column %d, on a chip, leads behind %q", column, b.Value()[:at])
		}
	}
}

func TestSubmission(t *testing.T) {
	b := draft(t, "look at |")
	b.Paste(long)
	b.Insert(" and ")
	b.Attach(image("a.png", 3), file("/tmp/my report.pdf"), image("b.png", 4))
	b.Insert("\n\tok ")
	got := b.Submission()
	if want := "look at " + long + " and [Image #1 a.png 640x480] /tmp/my report.pdf [Image #2 b.png 640x480]\n\tok "; got.Text != want {
		t.Errorf("the text is %q, want %q", got.Text, want)
	}
	if want := "look at [Pasted text #1, 30 lines] and [Image #1 a.png 640x480] [File #1 my report.pdf 12 KiB] " +
		"[Image #2 b.png 640x480]\n\tok "; got.Display != want || b.Value() != want {
		t.Errorf("it is shown as %q, want %q", got.Display, want)
	}
	names := []string{}
	for _, c := range got.Attached {
		names = append(names, fmt.Sprint(c.Name, len(c.Data)))
	}
	if want := []string{"a.png3", "my report.pdf0", "b.png4"}; !slices.Equal(names, want) {
		t.Errorf("attached are %v, want %v", names, want)
	}
	b.SelectAll()
	if got.Text != b.Copy() {
		t.Errorf("%q is copied", b.Copy())
	}
}

func TestExpand(t *testing.T) {
	for _, side := range []string{"behind", "before"} {
		b := draft(t, "a|b")
		b.Paste(long)
		if side == "before" {
			b.Left()
		}
		was := show(b)
		if !b.Expand() {
			t.Fatal(side, "is not expanded")
		}
		if got, want := show(b), "a"+long+"|b"; got != want || len(b.Chips()) != 0 {
			t.Errorf("%s: expanded it is %q, want %q", side, got, want)
		}
		checkRows(t, b, width)
		b.Undo()
		if got := show(b); got != was || len(b.Chips()) != 1 {
			t.Errorf("%s: undone it is %q, was %q", side, got, was)
		}
	}
	b := editor.New(nil)
	b.InsertNewline()
	b.Attach(image("a.png", 1), file("/tmp/x"))
	if !b.Expand() || b.Submission().Text != "\n[Image #1 a.png 640x480] /tmp/x" || len(b.Submission().Attached) != 1 {
		t.Errorf("a file becomes its path: %q", b.Value())
	}
	b.DocumentEnd()
	b.WordLeft()
	b.LineStart()
	for _, where := range []string{"before an image", "at the end of the line before it"} {
		if b.Expand() {
			t.Errorf("%s something is expanded: %q", where, b.Value())
		}
		b.Left()
	}
}

func TestNumbers(t *testing.T) {
	b := editor.New(nil)
	numbers := func() string {
		var out []string
		for _, c := range b.Chips() {
			out = append(out, fmt.Sprintf("%d.%d", c.Kind, c.Number))
		}
		return strings.Join(out, " ")
	}
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { b.Attach(image("", 1), image("", 1), file("/x")) }, "1.1 1.2 2.1"},
		{func() { b.Paste(long) }, "1.1 1.2 2.1 0.1"},
		{func() { b.Backspace() }, "1.1 1.2 2.1"},
		{func() { b.Paste(long) }, "1.1 1.2 2.1 0.2"}, // never the same number twice in a draft
		{func() { b.DeleteToLineStart() }, ""},
		{func() { b.Yank() }, "1.1 1.2 2.1 0.2"}, // the same chips
		{func() { b.Yank() }, "1.1 1.2 2.1 0.2 1.3 1.4 2.2 0.3"},
		{func() { b.Undo() }, "1.1 1.2 2.1 0.2"},
		{func() { b.Clear() }, ""},
		{func() { b.Attach(image("", 1)) }, "1.1"},
		{func() { b.Undo(); b.Undo() }, "1.1 1.2 2.1 0.2"},
		{func() { b.Attach(image("", 1)) }, "1.1 1.2 2.1 0.2 1.3"},
		{func() { b.Take(); b.Attach(image("", 1)) }, "1.1"},
	} {
		step.do()
		if got := numbers(); got != step.want {
			t.Errorf("step %d: numbers are %s, want %s", i, got, step.want)
		}
		if err := b.Check(); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// TestSetTextKeepsChips is the way to another editor and back.
func TestSetTextKeepsChips(t *testing.T) {
	b := editor.New(nil)
	b.Attach(image("a.png", 1), image("b.png", 2))
	b.Paste(long)
	first, second := b.Chips()[0], b.Chips()[1]
	if _, err := b.SetText("two " + second.Label() + " and\n" + second.Label() + "\n" + first.Label()); err != nil {
		t.Fatal(err)
	}
	if got := b.Chips(); len(got) != 2 || got[0] != second || got[1] != first {
		t.Errorf("chips are %v", got)
	}
	checkRows(t, b, 60)
	b.Undo()
	if got := b.Submission(); len(got.Attached) != 2 || !strings.HasSuffix(got.Text, long) {
		t.Errorf("undone it is %q with %d", got.Text, len(got.Attached))
	}
	b.Take()
	b.Attach(image("[Image #2 x.png 640x480]", 1), image("x.png", 2))
	outer, inner := b.Chips()[0], b.Chips()[1]
	if b.SetText(b.Value() + "."); len(b.Chips()) != 2 || b.Chips()[1] != inner {
		t.Errorf("a label in a name hides %q", inner.Label())
	}
	if b.SetText(outer.Label() + "!"); len(b.Chips()) != 1 || b.Chips()[0] != outer || b.Value() != outer.Label()+"!" {
		t.Errorf("a label in a name is taken for %q", inner.Label())
	}
	b.SetText("[Image #9 nothing]")
	if len(b.Chips()) != 0 {
		t.Error("a label alone makes a chip")
	}
}

func TestChipBounds(t *testing.T) {
	var (
		full   *editor.ChipsFullError
		large  *editor.ImagesTooLargeError
		name   *editor.BadNameError
		text   *editor.TextFullError
		many   = func(n int, c editor.Chip) []editor.Chip { return slices.Repeat([]editor.Chip{c}, n) }
		images = many(editor.MaxImages, image("", editor.MaxImageBytes/editor.MaxImages))
	)
	b := editor.New(nil)
	refused := func(what string, target any, chips ...editor.Chip) {
		t.Helper()
		before := b.Value()
		if changed, err := b.Attach(chips...); changed || !errors.As(err, target) || len(err.Error()) < 40 {
			t.Errorf("%s: %v, %v", what, changed, err)
		}
		if b.Value() != before {
			t.Errorf("%s: something was attached all the same", what)
		}
	}
	taken := func(what string, chips ...editor.Chip) {
		t.Helper()
		if changed, err := b.Attach(chips...); !changed || err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("nine images", &full, append(images, image("", 0))...)
	taken("eight images with all bytes", images...)
	refused("a ninth", &full, image("", 0))
	if !full.Images {
		t.Error("the error does not say that it is about images")
	}
	if changed, err := b.Yank(); changed || err != nil {
		t.Error("an empty ring gives something", err)
	}
	b.Clear()
	refused("a byte too many", &large, append(images[1:], image("", editor.MaxImageBytes/editor.MaxImages+1))...)
	if large.Bytes != editor.MaxImageBytes+1 {
		t.Errorf("it says %d bytes", large.Bytes)
	}
	taken("images first", images...)
	b.SelectAll()
	taken("the same in place of them", images...)
	taken("files beside them", many(editor.MaxChips-editor.MaxImages, file("/x"))...)
	refused("a chip too many", &full, file("/x"))
	if full.Images {
		t.Error("the error says that it is about images")
	}
	if changed, err := b.Paste(long); changed || !errors.As(err, &full) {
		t.Errorf("a paste too many: %v, %v", changed, err)
	}
	b.SelectAll()
	if b.Cut() == "" || !b.Empty() {
		t.Fatal("nothing was cut")
	}
	if changed, err := b.Yank(); !changed || err != nil {
		t.Fatal(err)
	}
	if changed, err := b.Yank(); changed || !errors.As(err, &full) {
		t.Errorf("a second yank of it: %v, %v", changed, err)
	}
	b.Take()
	refused("a path with a newline", &name, image("", 1), file("/tmp/a\rb"))
	refused("a path with a direction", &name, file("/tmp/\u202eb"))
	refused("too long a text", &text, editor.Chip{Text: strings.Repeat("a", editor.MaxText+1)})
	refused("too long raw", &text, editor.Chip{Text: strings.Repeat("\x1b[m", 2*editor.MaxText)})
	taken("all of a text", editor.Chip{Text: strings.Repeat("a", editor.MaxText)})
	if changed, err := b.Attach(); changed || err != nil {
		t.Error("nothing attached changes something", err)
	}
	if b.Expand(); b.Len() != editor.MaxText {
		t.Errorf("expanded it has %d bytes", b.Len())
	}
}
