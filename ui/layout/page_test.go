package layout_test

import (
	"testing"

	"octavo/ui/layout"

	"github.com/google/go-cmp/cmp"
)

func pageParts(p layout.PageParts) []named {
	return []named{{"message", p.Message}, {"title", p.Title}, {"filter", p.Filter}, {"list", p.List}, {"divider", p.Divider}, {"detail", p.Detail},
		{"prompt", p.Prompt}, {"footer", p.Footer}}
}

func TestPageEverywhere(t *testing.T) {
	everySize(func(width, height int) {
		for _, rows := range []int{0, 1, 3, 7, 30, 10_000} {
			for _, detail := range []int{0, 2, 5, 30, 10_000} {
				for _, has := range []bool{false, true} {
					p := layout.Page(width, height, rows, detail, has)
					what := []any{width, height, rows, detail, has}
					parts := pageParts(p)
					check(t, what, width, height, parts)
					switch {
					case p.Size == layout.None:
						only(t, what, parts)
					case p.Size == layout.Small:
						only(t, what, parts, "message")
					default:
						checkPage(t, what, p, width, height, rows, detail, has)
					}
				}
			}
		}
	})
}

// checkPage is the table of ui.md 4.
func checkPage(t *testing.T, what []any, p layout.PageParts, width, height, rows, detail int, has bool) {
	t.Helper()
	body := height - 4 // title, filter, prompt and footer have a row each
	if p.Title.Y != 0 || p.Filter.Y != 1 || p.Prompt.Y != height-2 || p.Footer.Y != height-1 || p.List.X != 0 || p.List.Y != 2 {
		t.Fatalf("%v: %+v", what, p)
	}
	want := layout.Alone
	list := min(rows, max(3, body*2/5, body-1-detail))
	switch {
	case has && width >= 96 && height >= 14:
		want = layout.Beside
	case has && rows > 0 && body-list-1 >= 4:
		want = layout.Below
	}
	if p.Arrangement != want {
		t.Fatalf("%v: arranged %d, want %d", what, p.Arrangement, want)
	}
	switch want {
	case layout.Alone:
		only(t, what, pageParts(p), "title", "filter", "list", "prompt", "footer")
		if p.List.W != width || p.List.H != body {
			t.Fatalf("%v: %+v", what, p)
		}
	case layout.Beside:
		if p.List.W != width/2 || p.Divider.W != 3 || p.Detail.W != width-width/2-3 || p.Detail.X != width/2+3 ||
			p.List.H != body || p.Divider.H != body || p.Detail.H != body {
			t.Fatalf("%v: %+v", what, p)
		}
	case layout.Below:
		if p.List.H != list || p.Divider.H != 1 || p.List.H+1+p.Detail.H != body || p.Detail.H < 4 || p.List.W != width || p.Detail.W != width-2 {
			t.Fatalf("%v: %+v", what, p)
		}
	}
}

// TestPageAsDrawn are the pictures of ui.md 4, and what it says of other sizes.
func TestPageAsDrawn(t *testing.T) {
	rect := func(x, y, w, h int) layout.Rect { return layout.Rect{X: x, Y: y, W: w, H: h} }
	frame := func(w, h int) layout.PageParts {
		return layout.PageParts{Size: layout.Full, Title: rect(1, 0, w-1, 1), Filter: rect(1, 1, w-1, 1), Prompt: rect(1, h-2, w-1, 1), Footer: rect(1, h-1, w-1, 1)}
	}
	at80, at120, at180, at60 := frame(80, 24), frame(120, 30), frame(180, 50), frame(60, 20)
	at80.Arrangement, at80.List, at80.Divider, at80.Detail = layout.Below, rect(0, 2, 80, 7), rect(1, 9, 78, 1), rect(1, 10, 78, 12)
	at120.Arrangement, at120.List, at120.Divider, at120.Detail = layout.Beside, rect(0, 2, 60, 26), rect(60, 2, 3, 26), rect(63, 2, 57, 26)
	at180.Arrangement, at180.List, at180.Divider, at180.Detail = layout.Beside, rect(0, 2, 90, 46), rect(90, 2, 3, 46), rect(93, 2, 87, 46)
	at60.Arrangement, at60.List, at60.Divider, at60.Detail = layout.Below, rect(0, 2, 60, 7), rect(1, 9, 58, 1), rect(1, 10, 58, 8)
	for _, test := range []struct{ got, want layout.PageParts }{
		{layout.Page(80, 24, 7, 5, true), at80}, {layout.Page(120, 30, 7, 5, true), at120}, {layout.Page(180, 50, 7, 5, true), at180}, {layout.Page(60, 20, 7, 5, true), at60},
	} {
		if d := cmp.Diff(test.want, test.got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	for name, got := range map[string]layout.Arrangement{
		"95 columns are too narrow for a pane": layout.Page(95, 24, 7, 5, true).Arrangement,
		"13 rows are too few for a pane":       layout.Page(120, 14-1, 3, 1, true).Arrangement,
	} {
		if got == layout.Beside {
			t.Error(name)
		}
	}
	if layout.Page(96, 14, 7, 5, true).Arrangement != layout.Beside {
		t.Error("96×14 has a pane")
	}
	if p := layout.Page(40, 10, 7, 30, true); p.Arrangement != layout.Alone || p.List.H != 6 {
		t.Errorf("40×10: %+v", p)
	}
}

func BenchmarkPage(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		layout.Page(200, 60, 40, 20, true)
	}
}
