package layout_test

import (
	"strings"
	"testing"

	"octavo/pages/text"
	"octavo/ui/layout"
)

// footer is that of the chat in ui.md 2: cost detail goes first, then the size of the context, then the wording of permissions.
var footer = []layout.Part{
	{Name: "model", Text: "sonnet:high"},
	{Name: "context", Text: "41%", Before: " · ", Shed: 5},
	{Name: "total", Text: "of 200k", Before: " ", Shed: 2},
	{Name: "permission", Text: "full access", Right: true, Shed: 3},
	{Name: "cost", Text: "$0.62", Before: " · ", Right: true, Shed: 4},
	{Name: "live", Text: "+ $0.04 live", Before: " ", Right: true, Shed: 1},
}

// header is that of the chat: counts from the last, then the middle of the path, then all but its last element.
var header = []layout.Part{
	{Name: "path", Text: "~/src/work/harbor", Short: []string{"~/…/harbor", "harbor"}, Shed: 2},
	{Name: "count", Text: "pending work 4", Right: true, Shed: 1},
	{Name: "count", Text: "links 1", Before: "  ", Right: true, Shed: 1},
}

func row(width int, parts []layout.Part) string {
	left, right := layout.Sides(layout.Shed(width, parts))
	return left + "|" + right
}

func TestShed(t *testing.T) {
	for _, test := range []struct {
		parts []layout.Part
		width int
		want  string
	}{
		{footer, 76, "sonnet:high · 41% of 200k|full access · $0.62 + $0.04 live"},
		{footer, 59, "sonnet:high · 41% of 200k|full access · $0.62 + $0.04 live"},
		{footer, 58, "sonnet:high · 41% of 200k|full access · $0.62"},
		{footer, 45, "sonnet:high · 41%|full access · $0.62"},
		{footer, 37, "sonnet:high · 41%|$0.62"},
		{footer, 23, "sonnet:high · 41%|"},
		{footer, 16, "sonnet:high|"},
		{footer, 11, "sonnet:high|"},
		{footer, 10, "sonnet:hi…|"},
		{footer, 1, "…|"},
		{footer, 0, "|"},
		{footer, -1, "|"},
		{header, 56, "~/src/work/harbor|pending work 4  links 1"},
		{header, 41, "~/src/work/harbor|pending work 4"},
		{header, 32, "~/src/work/harbor|"},
		{header, 16, "~/…/harbor|"},
		{header, 9, "harbor|"},
		{header, 5, "|"},
		{nil, 10, "|"},
		{[]layout.Part{{Text: ""}, {Text: "a", Before: " · "}}, 10, "a|"},
		{[]layout.Part{{Text: "日本", Shed: 1, Short: []string{"日"}}, {Text: "b", Right: true}}, 5, "日|b"},
		{[]layout.Part{{Text: "left"}, {Text: "right", Right: true}}, 8, "left|r…"},
		{[]layout.Part{{Text: "left"}, {Text: "right", Right: true}}, 6, "left|"},
	} {
		if got := row(test.width, test.parts); got != test.want {
			t.Errorf("%d cells: %q, want %q", test.width, got, test.want)
		}
	}
}

// TestShedEverywhere: at every width all fits, the model stays longest, and a wider row never tells less.
func TestShedEverywhere(t *testing.T) {
	for _, parts := range [][]layout.Part{footer, header} {
		before := 0
		for width := range maxWidth {
			kept := layout.Shed(width, parts)
			left, right := layout.Sides(kept)
			n := text.Width(left) + text.Width(right)
			if layout.RowWidth(kept) > width || n < before {
				t.Errorf("%d cells: %q, %q", width, left, right)
			}
			if parts[0].Shed == 0 && width >= 11 && !strings.HasPrefix(left, "sonnet:high") {
				t.Errorf("%d cells: the model has gone: %q", width, left)
			}
			before = n
		}
	}
	if footer[0].Text != "sonnet:high" || header[0].Text != "~/src/work/harbor" || len(header[0].Short) != 2 {
		t.Error("Shed changes what it was given")
	}
}
