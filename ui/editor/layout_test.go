package editor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/pages/text"
	"octavo/ui/editor"
)

// drawn joins rows as they are drawn; a row that goes on in the next ends with \.
func drawn(rows []editor.Row) string {
	var out []string
	for _, r := range rows {
		s := r.String()
		if r.Soft {
			s += `\`
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestRows(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"\n", "\n"},
		{"a\n\nb\n", "a\n\nb\n"},
		{"0123456789", "0123456789"},
		{"01234567890", "0123456789\\\n0"},
		{"the quick brown fox", "the quick \\\nbrown fox"},
		{"the quicks brown", "the quicks \\\nbrown"}, // the space stands in the cell of the cursor
		{"the quicks  brown", "the quicks \\\n brown"},
		{"the quicks ", "the quicks \\\n"}, // so that the cursor finds room behind it
		{"the quick ", "the quick "},
		{"    indentation", "    indent\\\nation"},
		{"well-known x", "well-known \\\nx"},
		{"the well-known", "the well-\\\nknown"},
		{"go test -run x", "go test \\\n-run x"},
		{"a go --all -x", "a go --all \\\n-x"},
		{"日本語のテキスト", "日本語のテ\\\nキスト"},
		{"日本語のテ。", "日本語の\\\nテ。"},
		{"a日本語のテキスト", "a日本語の\\\nテキスト"},
		{strings.Repeat(family, 6), strings.Repeat(family, 5) + "\\\n" + family},
		{strings.Repeat(acute, 11), strings.Repeat(acute, 10) + "\\\n" + acute},
		{"\ta\tb", "    a   b"},
		{"\t\t\t.", "          \\\n."}, // a tab goes no further than its row
		{"0123456789\t.", "0123456789 \\\n."},
		{"日\tx", "日  x"},
		{"\u0301x\t\ufe0f", "◌\u0301x  ◌\ufe0f"}, // a mark without a character gets one to be drawn on
		{"שלום עולם שלום", "שלום עולם \\\nשלום"},
		{strings.Repeat("\u200e", 1365), strings.Repeat("\u200e", 1365)}, // a row has an end without cells too
		{strings.Repeat("\u200e", 1366), strings.Repeat("\u200e", 1365) + "\\\n\u200e"},
	} {
		b := editor.New(nil)
		b.SetText(test.in)
		rows := b.Rows(width)
		if got := drawn(rows); got != test.want {
			t.Errorf("%q gives rows\n%s\nwant\n%s", test.in, got, test.want)
		}
		checkRows(t, b, width)
	}
}

// joiner joins the space or the bracket that is drawn behind it for a tab or a chip, so that their width depends on the terminal.
const joiner = "\u0600"

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkRows holds for every draft and width: the rows make up the text, none is too wide, the cursor has a cell of its own, and a
// click on it leads to it.
func checkRows(t failer, b *editor.Buffer, width int) {
	t.Helper()
	if err := b.Check(); err != nil {
		t.Fatalf("%v", err)
	}
	value, rows := b.Value(), b.Rows(width)
	if n := b.RowCount(width); n != len(rows) {
		t.Fatalf("%d rows of %d", len(rows), n)
	}
	width = max(width, editor.MinWidth)
	var whole strings.Builder
	row, column := b.Cursor(width)
	for i, r := range rows {
		if r.From != whole.Len() || r.To < r.From {
			t.Fatalf("row %d of %q is %d..%d, behind %d", i, value, r.From, r.To, whole.Len())
		}
		whole.WriteString(value[r.From:r.To])
		if !r.Soft && i < len(rows)-1 {
			whole.WriteByte('\n')
		}
		if r.Cells > width || !strings.Contains(r.String(), joiner) && text.Width(r.String()) != r.Cells {
			t.Fatalf("row %d, %q, of %d cells at width %d says %d", i, r, text.Width(r.String()), width, r.Cells)
		}
		at := b.Offset()
		last := at == r.To && (!r.Soft || r.From == r.To)
		if here := r.From <= at && at < r.To || last; here != (i == row) {
			t.Fatalf("the cursor at %d of %q is in row %d, not %d", at, value, row, i)
		}
	}
	if whole.String() != value {
		t.Fatalf("the rows make %q of %q", whole.String(), value)
	}
	if column >= width || column > rows[row].Cells {
		t.Fatalf("the cursor is in column %d of row %q at width %d", column, rows[row], width)
	}
	if before := value[rows[row].From:b.Offset()]; strings.HasPrefix(rows[row].String(), before) && column != text.Width(before) {
		t.Fatalf("the cursor is in column %d behind %q", column, before)
	}
	if hit := b.Hit(width, row, column); hit != b.Offset() {
		// Characters without a cell of their own stand where the next one does.
		if moved := b.Offset(); text.Width(strings.ReplaceAll(value[min(hit, moved):max(hit, moved)], "\n", "")) != 0 {
			t.Fatalf("a click on the cursor at %d of %q leads to %d", moved, value, hit)
		}
	}
	for _, height := range []int{1, 3, 1000} {
		view, atRow, atColumn, first := b.View(width, height)
		if len(view) != min(height, len(rows)) || first+atRow != row || atColumn != column || atRow < 0 || atRow >= len(view) {
			t.Fatalf("a window of %d rows has %d from %d, the cursor in %d, %d", height, len(view), first, atRow, atColumn)
		}
		if got, want := drawn(view), drawn(rows[first:first+len(view)]); got != want {
			t.Fatalf("a window shows %q, not %q", got, want)
		}
	}
}

func TestViewScrolls(t *testing.T) {
	b := draft(t, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9|")
	view := func() string {
		rows, row, _, first := b.View(width, 3)
		return fmt.Sprintf("%s %d %d", strings.ReplaceAll(drawn(rows), "\n", ""), row, first)
	}
	for i, step := range []struct {
		by   int
		want string
	}{{0, "789 2 7"}, {-1, "789 1 7"}, {-1, "789 0 7"}, {-1, "678 0 6"}, {1, "678 1 6"}, {1, "678 2 6"}, {1, "789 2 7"}} {
		if step.by < 0 {
			b.Up(width)
		} else if step.by > 0 {
			b.Down(width)
		}
		for range 2 {
			if got := view(); got != step.want {
				t.Errorf("step %d shows %s, want %s", i, got, step.want)
			}
		}
	}
	b.Clear()
	if got := view(); got != " 0 0" {
		t.Errorf("an empty draft shows %q", got)
	}
	if rows, _, _, _ := b.View(0, 0); rows != nil {
		t.Errorf("no window shows %v", rows)
	}
	if rows, _, _, _ := b.View(-1, 1); len(rows) != 1 {
		t.Errorf("no width shows %v", rows)
	}
}

func TestHit(t *testing.T) {
	b := draft(t, "日本語 abc def\n\tx|")
	v := b.Value()
	for _, test := range []struct {
		row, column int
		want        string // the text before the place
	}{
		{0, 0, ""}, {0, 1, "日"}, {0, 2, "日"}, {0, 3, "日本"}, {0, 7, "日本語 "}, {0, 8, "日本語 a"}, {0, 10, "日本語 abc"},
		{0, 50, "日本語 abc"}, {1, 0, "日本語 abc "}, {1, 50, "日本語 abc def"}, {2, 1, "日本語 abc def\n"}, {2, 2, "日本語 abc def\n\t"},
		{-1, 3, "日本"}, {9, 4, "日本語 abc def\n\t"}, {1, -3, "日本語 abc "},
	} {
		if got := v[:b.Hit(width, test.row, test.column)]; got != test.want {
			t.Errorf("a click on row %d, column %d leads behind %q, want %q", test.row, test.column, got, test.want)
		}
	}
}

func TestSelectedRuns(t *testing.T) {
	b := draft(t, "one ^two\nthree| four")
	var got []string
	for _, r := range b.Rows(width) {
		for _, run := range r.Runs {
			got = append(got, fmt.Sprintf("%s:%v", run.Text, run.Selected))
		}
	}
	want := []string{"one :false", "two:true", "three:true", " four:false"}
	if !slices.Equal(got, want) {
		t.Errorf("runs are %q, want %q", got, want)
	}
}

func TestHeight(t *testing.T) {
	for _, test := range []struct{ rows, screen, want int }{
		{1, 24, 1}, {3, 24, 3}, {9, 24, 6}, {9, 19, 5}, {9, 18, 5}, {9, 17, 4}, {9, 12, 2}, {9, 10, 1}, {9, 8, 1}, {9, 0, 1}, {0, 24, 1},
	} {
		if got := editor.Height(test.rows, test.screen); got != test.want {
			t.Errorf("Height(%d, %d) = %d, want %d", test.rows, test.screen, got, test.want)
		}
	}
}
