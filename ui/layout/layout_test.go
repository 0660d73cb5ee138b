package layout_test

import (
	"testing"

	"octavo/ui/layout"

	"github.com/google/go-cmp/cmp"
)

// The sizes that tests go through, beyond the largest of ui.md 20.
const (
	maxWidth  = 220
	maxHeight = 60
)

// named is a part with its name, for messages.
type named struct {
	name string
	layout.Rect
}

// check holds for the parts of every screen: inside it, none over another.
func check(t *testing.T, what any, width, height int, parts []named) {
	t.Helper()
	for i, p := range parts {
		if p.Empty() {
			if p.Rect != (layout.Rect{}) {
				t.Fatalf("%+v: %s is empty and somewhere: %+v", what, p.name, p.Rect)
			}
			continue
		}
		if p.X < 0 || p.Y < 0 || p.X+p.W > width || p.Y+p.H > height {
			t.Fatalf("%+v: %s is outside: %+v", what, p.name, p.Rect)
		}
		for _, q := range parts[:i] {
			if !q.Empty() && p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Fatalf("%+v: %s %+v lies over %s %+v", what, p.name, p.Rect, q.name, q.Rect)
			}
		}
	}
}

// only finds parts other than the ones named.
func only(t *testing.T, what any, parts []named, wanted ...string) {
	t.Helper()
	want := map[string]bool{}
	for _, w := range wanted {
		want[w] = true
	}
	for _, p := range parts {
		if p.Empty() == want[p.name] {
			t.Fatalf("%+v: %s is %+v", what, p.name, p.Rect)
		}
	}
}

// everySize calls f for each size from nothing on.
func everySize(f func(width, height int)) {
	for width := range maxWidth + 1 {
		for height := range maxHeight + 1 {
			f(width, height)
		}
	}
}

func TestClassify(t *testing.T) {
	for size, want := range map[[2]int]layout.Size{
		{0, 0}: layout.None, {0, 24}: layout.None, {80, 0}: layout.None, {-1, 24}: layout.None, {80, -1}: layout.None,
		{1, 1}: layout.Small, {39, 60}: layout.Small, {220, 9}: layout.Small, {40, 10}: layout.Compact, {59, 60}: layout.Compact,
		{220, 15}: layout.Compact, {60, 16}: layout.Full, {220, 60}: layout.Full,
	} {
		if got := layout.Classify(size[0], size[1]); got != want {
			t.Errorf("%v: %d, want %d", size, got, want)
		}
	}
	for width, want := range map[int]int{0: 1, 49: 1, 50: 2, 220: 2} {
		if got := layout.Padding(width); got != want {
			t.Errorf("padding at %d: %d", width, got)
		}
	}
}

func TestContains(t *testing.T) {
	r := layout.Rect{X: 2, Y: 3, W: 4, H: 1}
	for at, want := range map[[2]int]bool{{2, 3}: true, {5, 3}: true, {6, 3}: false, {1, 3}: false, {2, 2}: false, {2, 4}: false} {
		if r.Contains(at[0], at[1]) != want {
			t.Errorf("%v: %v", at, !want)
		}
	}
	if (layout.Rect{}).Contains(0, 0) {
		t.Error("nothing has a cell")
	}
}

func TestPickerEverywhere(t *testing.T) {
	everySize(func(width, height int) {
		for _, purpose := range []bool{false, true} {
			p := layout.Picker(width, height, purpose)
			what := []any{width, height, purpose}
			parts := []named{{"message", p.Message}, {"title", p.Title}, {"purpose", p.Purpose}, {"filter", p.Filter}, {"list", p.List}, {"prompt", p.Prompt}, {"footer", p.Footer}}
			check(t, what, width, height, parts)
			switch p.Size {
			case layout.None:
				only(t, what, parts)
			case layout.Small:
				only(t, what, parts, "message")
			default:
				if p.List.H < height-8 || p.List.W != width || p.Footer.Y != height-1 || p.Title.Empty() || p.Filter.Empty() {
					t.Fatalf("%v: %+v", what, p)
				}
			}
		}
	})
	want := layout.PickerParts{ // the picture of ui.md 8
		Size: layout.Full, Title: layout.Rect{X: 1, W: 79, H: 1}, Purpose: layout.Rect{X: 1, Y: 1, W: 79, H: 1}, Filter: layout.Rect{X: 1, Y: 3, W: 79, H: 1},
		List: layout.Rect{Y: 5, W: 80, H: 17}, Prompt: layout.Rect{X: 1, Y: 22, W: 79, H: 1}, Footer: layout.Rect{X: 1, Y: 23, W: 79, H: 1},
	}
	if d := cmp.Diff(want, layout.Picker(80, 24, true)); d != "" {
		t.Error(d)
	}
	if layout.Picker(111, 24, false).MetaBeside || !layout.Picker(112, 24, false).MetaBeside {
		t.Error("metadata stands beside labels from 112 columns on")
	}
	if p := layout.Picker(40, 10, true); p.List.H != 7 || !p.Purpose.Empty() {
		t.Errorf("%+v", p)
	}
}

func TestFramesEverywhere(t *testing.T) {
	everySize(func(width, height int) {
		for i, p := range []layout.FrameParts{layout.Reader(width, height), layout.Form(width, height)} {
			what := []any{i, width, height}
			parts := []named{{"message", p.Message}, {"title", p.Title}, {"body", p.Body}, {"footer", p.Footer}}
			check(t, what, width, height, parts)
			switch p.Size {
			case layout.None:
				only(t, what, parts)
			case layout.Small:
				only(t, what, parts, "message")
			default:
				only(t, what, parts, "title", "body", "footer")
				if p.Footer.Y != height-1 || p.Body.H < height-4 || i == 1 && p.Body.W > layout.BodyWidth {
					t.Fatalf("%v: %+v", what, p)
				}
			}
		}
	})
	want := layout.FrameParts{Size: layout.Full, Title: layout.Rect{X: 1, W: 119, H: 1}, Body: layout.Rect{X: 2, Y: 2, W: 116, H: 26}, Footer: layout.Rect{X: 1, Y: 29, W: 119, H: 1}}
	if d := cmp.Diff(want, layout.Reader(120, 30)); d != "" {
		t.Error(d)
	}
	if p := layout.Form(120, 30); p.Body.W != 100 {
		t.Errorf("%+v", p)
	}
}

// TestPanel goes through every height a panel may get, with what it gives up on the way.
func TestPanel(t *testing.T) {
	for body := range 8 {
		for choices := range 5 {
			full := layout.PanelRows(body, choices)
			for h := range full + 3 {
				r := layout.Rect{X: 3, Y: 5, W: 40, H: h}
				p := layout.Panel(r, body, choices)
				what := []any{body, choices, h}
				parts := []named{{"rule", p.Rule}, {"heading", p.Heading}, {"body", p.Body}, {"choices", p.Choices}, {"hints", p.Hints}}
				check(t, what, r.X+r.W, r.Y+h, parts)
				at := r.Y
				for _, part := range parts {
					if !part.Empty() && (part.Y < at || part.X != r.X || part.W != r.W) {
						t.Fatalf("%v: %+v", what, p)
					}
					at = max(at, part.Y+part.H)
				}
				if h >= full && (p.Body.H != body || p.Choices.H != choices || p.Hints.Y+1 != r.Y+full) {
					t.Fatalf("%v: %+v has no room in %d rows", what, p, full)
				}
				if (h > 0) != (p.Heading.H == 1) || h > 1 && choices > 0 && p.Choices.Empty() || h > 2 && choices > 0 && body > 0 && p.Body.Empty() {
					t.Fatalf("%v: %+v", what, p)
				}
			}
		}
	}
	want := layout.PanelParts{ // the picture of ui.md 10, without its lower rule
		Rule: layout.Rect{W: 60, H: 1}, Heading: layout.Rect{Y: 1, W: 60, H: 1}, Body: layout.Rect{Y: 3, W: 60, H: 2},
		Choices: layout.Rect{Y: 6, W: 60, H: 2}, Hints: layout.Rect{Y: 9, W: 60, H: 1},
	}
	if d := cmp.Diff(want, layout.Panel(layout.Rect{W: 60, H: layout.PanelRows(2, 2)}, 2, 2)); d != "" {
		t.Error(d)
	}
	if p := layout.Panel(layout.Rect{H: 4}, 1, 1); p != (layout.PanelParts{}) {
		t.Errorf("%+v", p)
	}
}
