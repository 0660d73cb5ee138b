package layout_test

import (
	"testing"

	"octavo/ui/layout"

	"github.com/google/go-cmp/cmp"
)

func chatParts(p layout.ChatParts) []named {
	return []named{{"message", p.Message}, {"header", p.Header}, {"transcript", p.Transcript}, {"margin", p.Margin}, {"notice", p.Notice}, {"status", p.Status},
		{"approval", p.Approval}, {"rule above", p.RuleAbove}, {"composer", p.Composer}, {"rule below", p.RuleBelow}, {"popup", p.Popup}, {"footer", p.Footer}}
}

// wishes are what may be wanted of one size at the lower edge.
func wishes(width, height int) []layout.Facts {
	base := layout.Facts{Width: width, Height: height, Composer: 1}
	all := []layout.Facts{base}
	for _, change := range []func(*layout.Facts){
		func(f *layout.Facts) { f.Composer = 4 }, func(f *layout.Facts) { f.Composer = 50 }, func(f *layout.Facts) { f.Composer = -3 },
		func(f *layout.Facts) { f.Popup = 1 }, func(f *layout.Facts) { f.Popup = 8 }, func(f *layout.Facts) { f.Popup = 99; f.Composer = 3 },
		func(f *layout.Facts) { f.Approval = 11 }, func(f *layout.Facts) { f.Approval = 99; f.Composer = 6 }, func(f *layout.Facts) { f.Approval = 5; f.Popup = 8 },
		func(f *layout.Facts) { f.Approval, f.Popup, f.Pending = -1, -1, -1 },
		func(f *layout.Facts) { f.Composer, f.Popup, f.Approval = 6, 9, 12 },
	} {
		f := base
		change(&f)
		all = append(all, f)
	}
	return all
}

func TestChatEverywhere(t *testing.T) {
	everySize(func(width, height int) {
		for i, f := range wishes(width, height) {
			f.Notice, f.Glance = (i+width)%2 == 0, (i+width)%4 < 2
			if (i+height)%3 == 0 {
				f.Pending = 2
			}
			p := layout.Chat(f)
			parts := chatParts(p)
			check(t, f, width, height, parts)
			switch p.Size {
			case layout.None:
				only(t, f, parts)
				continue
			case layout.Small:
				only(t, f, parts, "message")
				continue
			}
			checkRows(t, f, p)
			checkColumns(t, f, p)
		}
	})
}

// checkRows: the parts follow each other from the first row to the last, and what must be there is.
func checkRows(t *testing.T, f layout.Facts, p layout.ChatParts) {
	t.Helper()
	y, blanks := 0, 0
	for _, part := range chatParts(p) {
		if part.name == "margin" || part.Empty() {
			continue
		}
		if part.Y < y {
			t.Fatalf("%+v: %s stands too high: %+v", f, part.name, p)
		}
		blanks += part.Y - y
		y = part.Y + part.H
	}
	if y != f.Height || blanks != 0 && (blanks != 2 || f.Height < layout.FullHeight) {
		t.Fatalf("%+v: %d rows and %d blank: %+v", f, y, blanks, p)
	}
	if p.Header.H != 1 || p.Status.H < 1 || p.Status.H > layout.MaxPending || p.RuleAbove.H != 1 || p.RuleBelow.H != 1 || p.Notice.H > 1 {
		t.Fatalf("%+v: %+v", f, p)
	}
	if most := max(1, min(layout.MaxComposer, (f.Height-8)/2)); p.Composer.H < 1 || p.Composer.H > most || p.Composer.H > max(1, f.Composer) {
		t.Fatalf("%+v: the composer has %d rows of at most %d", f, p.Composer.H, most)
	}
	if f.Approval <= 0 && p.Composer.H != max(1, min(layout.MaxComposer, (f.Height-8)/2, f.Composer)) {
		t.Fatalf("%+v: the composer has %d rows", f, p.Composer.H)
	}
	if p.Composer.Y != p.RuleAbove.Y+1 || p.RuleBelow.Y != p.Composer.Y+p.Composer.H {
		t.Fatalf("%+v: the rules are not the composer's: %+v", f, p)
	}
	if (f.Popup > 0) == p.Popup.Empty() || (f.Popup > 0) != p.Footer.Empty() || p.Popup.H > max(0, f.Popup) || p.Footer.H > 1 {
		t.Fatalf("%+v: popup %+v, footer %+v", f, p.Popup, p.Footer)
	}
	if p.Transcript.Empty() && (p.Size == layout.Full || f.Approval <= 0) {
		t.Fatalf("%+v: no transcript", f)
	}
	if p.Approval.H > max(0, f.Approval) || f.Approval > 0 && p.Approval.H < min(f.Approval, 4) || p.Size == layout.Full && p.Approval.H < min(f.Approval, 9) {
		t.Fatalf("%+v: the approval has %d rows", f, p.Approval.H)
	}
	if p.Size == layout.Full && f.Approval <= 0 {
		least := 3
		if f.Notice {
			least--
		}
		if f.Pending == 2 {
			least--
		}
		if p.Transcript.H < least || p.Notice.Empty() == f.Notice || p.Status.H != max(1, f.Pending) || blanks != 2 {
			t.Fatalf("%+v: %+v", f, p)
		}
	}
}

// checkColumns: everything between the paddings, prose at most 100 columns, the margin beside it.
func checkColumns(t *testing.T, f layout.Facts, p layout.ChatParts) {
	t.Helper()
	x, w := layout.Padding(f.Width), f.Width-2*layout.Padding(f.Width)
	for _, part := range chatParts(p) {
		if part.Empty() || part.name == "margin" || part.name == "transcript" {
			continue
		}
		if part.X != x || part.W != w {
			t.Fatalf("%+v: %s has columns %d+%d, want %d+%d", f, part.name, part.X, part.W, x, w)
		}
	}
	if p.Draft != (layout.Rect{X: x + 2, Y: p.Composer.Y, W: w - 2, H: p.Composer.H}) || layout.ComposerWidth(f.Width) != p.Draft.W {
		t.Fatalf("%+v: the draft is %+v", f, p.Draft)
	}
	if p.Body != min(100, w) || p.Wide < p.Body {
		t.Fatalf("%+v: prose %d, wide %d", f, p.Body, p.Wide)
	}
	if p.Transcript.Empty() {
		return
	}
	if p.Transcript.X != x || p.Transcript.W != p.Wide {
		t.Fatalf("%+v: %+v", f, p.Transcript)
	}
	room := min(32, w-102)
	if !f.Glance || room < 16 {
		if !p.Margin.Empty() || p.Wide != w {
			t.Fatalf("%+v: margin %+v, wide %d", f, p.Margin, p.Wide)
		}
		return
	}
	want := layout.Rect{X: f.Width - x - room, Y: p.Transcript.Y, W: room, H: min(13, p.Transcript.H)}
	if p.Margin != want || p.Wide != w-room-2 {
		t.Fatalf("%+v: margin %+v, want %+v, wide %d", f, p.Margin, want, p.Wide)
	}
}

// TestWhatComesByItselfMovesNoDraft: neither a notice nor what is queued moves the composer, and a glance wraps no prose (ui.md 5, 11).
func TestWhatComesByItselfMovesNoDraft(t *testing.T) {
	everySize(func(width, height int) {
		for _, f := range wishes(width, height) {
			before := layout.Chat(f)
			f.Notice, f.Pending, f.Glance = !f.Notice, 2-f.Pending, !f.Glance
			after := layout.Chat(f)
			if before.Composer != after.Composer || before.Popup != after.Popup || before.Footer != after.Footer || before.Approval.H != after.Approval.H || before.Body != after.Body {
				t.Fatalf("%+v:\n%+v\n%+v", f, before, after)
			}
		}
	})
}

// TestChatAsDrawn are the sizes of the pictures in ui.md 2 and of its tests.
func TestChatAsDrawn(t *testing.T) {
	rect := func(x, y, w, h int) layout.Rect { return layout.Rect{X: x, Y: y, W: w, H: h} }
	for _, test := range []struct {
		name  string
		facts layout.Facts
		want  layout.ChatParts
	}{
		{"60×16", layout.Facts{Width: 60, Height: 16, Composer: 1}, layout.ChatParts{
			Size: layout.Full, Header: rect(2, 0, 56, 1), Transcript: rect(2, 2, 56, 8), Status: rect(2, 11, 56, 1), RuleAbove: rect(2, 12, 56, 1),
			Composer: rect(2, 13, 56, 1), Draft: rect(4, 13, 54, 1), RuleBelow: rect(2, 14, 56, 1), Footer: rect(2, 15, 56, 1), Body: 56, Wide: 56,
		}},
		{"80×24 with a long draft", layout.Facts{Width: 80, Height: 24, Composer: 9, Pending: 1}, layout.ChatParts{
			Size: layout.Full, Header: rect(2, 0, 76, 1), Transcript: rect(2, 2, 76, 11), Status: rect(2, 14, 76, 1), RuleAbove: rect(2, 15, 76, 1),
			Composer: rect(2, 16, 76, 6), Draft: rect(4, 16, 74, 6), RuleBelow: rect(2, 22, 76, 1), Footer: rect(2, 23, 76, 1), Body: 76, Wide: 76,
		}},
		{"80×24 with an approval and a notice", layout.Facts{Width: 80, Height: 24, Composer: 1, Approval: 10, Notice: true}, layout.ChatParts{
			Size: layout.Full, Header: rect(2, 0, 76, 1), Transcript: rect(2, 2, 76, 5), Notice: rect(2, 8, 76, 1), Status: rect(2, 9, 76, 1),
			Approval: rect(2, 10, 76, 10), RuleAbove: rect(2, 20, 76, 1), Composer: rect(2, 21, 76, 1), Draft: rect(4, 21, 74, 1), RuleBelow: rect(2, 22, 76, 1),
			Footer: rect(2, 23, 76, 1), Body: 76, Wide: 76,
		}},
		{"120×40 has no margin", layout.Facts{Width: 120, Height: 40, Composer: 1, Glance: true, Pending: 2}, layout.ChatParts{
			Size: layout.Full, Header: rect(2, 0, 116, 1), Transcript: rect(2, 2, 116, 31), Status: rect(2, 34, 116, 2), RuleAbove: rect(2, 36, 116, 1),
			Composer: rect(2, 37, 116, 1), Draft: rect(4, 37, 114, 1), RuleBelow: rect(2, 38, 116, 1), Footer: rect(2, 39, 116, 1), Body: 100, Wide: 116,
		}},
		{"180×50 with a margin and suggestions", layout.Facts{Width: 180, Height: 50, Composer: 1, Glance: true, Popup: 8}, layout.ChatParts{
			Size: layout.Full, Header: rect(2, 0, 176, 1), Transcript: rect(2, 2, 142, 35), Margin: rect(146, 2, 32, 13), Status: rect(2, 38, 176, 1),
			RuleAbove: rect(2, 39, 176, 1), Composer: rect(2, 40, 176, 1), Draft: rect(4, 40, 174, 1), RuleBelow: rect(2, 41, 176, 1), Popup: rect(2, 42, 176, 8),
			Body: 100, Wide: 142,
		}},
		{"40×10", layout.Facts{Width: 40, Height: 10, Composer: 3}, layout.ChatParts{
			Size: layout.Compact, Header: rect(1, 0, 38, 1), Transcript: rect(1, 1, 38, 4), Status: rect(1, 5, 38, 1), RuleAbove: rect(1, 6, 38, 1),
			Composer: rect(1, 7, 38, 1), Draft: rect(3, 7, 36, 1), RuleBelow: rect(1, 8, 38, 1), Footer: rect(1, 9, 38, 1), Body: 38, Wide: 38,
		}},
		{"40×10 with an approval", layout.Facts{Width: 40, Height: 10, Composer: 3, Approval: 10, Notice: true}, layout.ChatParts{
			Size: layout.Compact, Header: rect(1, 0, 38, 1), Status: rect(1, 1, 38, 1), Approval: rect(1, 2, 38, 4), RuleAbove: rect(1, 6, 38, 1),
			Composer: rect(1, 7, 38, 1), Draft: rect(3, 7, 36, 1), RuleBelow: rect(1, 8, 38, 1), Footer: rect(1, 9, 38, 1), Body: 38, Wide: 38,
		}},
		{"too small", layout.Facts{Width: 39, Height: 10, Composer: 1}, layout.ChatParts{Size: layout.Small, Message: rect(0, 0, 39, 1)}},
		{"nothing", layout.Facts{}, layout.ChatParts{}},
	} {
		if d := cmp.Diff(test.want, layout.Chat(test.facts)); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
	for width, want := range map[int]int{121: 0, 122: 16, 123: 17, 137: 31, 138: 32, 139: 32, 220: 32} {
		if got := layout.Chat(layout.Facts{Width: width, Height: 40, Glance: true}).Margin.W; got != want {
			t.Errorf("the margin at %d columns has %d, want %d", width, got, want)
		}
	}
	for height, want := range map[int]int{10: 1, 11: 1, 12: 2, 16: 4, 19: 5, 20: 6, 60: 6} {
		if got := layout.Chat(layout.Facts{Width: 80, Height: height, Composer: 99}).Composer.H; got != want {
			t.Errorf("the composer in %d rows grows to %d, want %d", height, got, want)
		}
	}
}

func BenchmarkChat(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		layout.Chat(layout.Facts{Width: 200, Height: 60, Composer: 3, Popup: 8, Glance: true, Notice: true})
	}
}
