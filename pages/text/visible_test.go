package text_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octavo/pages/text"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"plain,\n\tünïcödé 日本 ✓ e\u0301 עברית 👩": "plain,\n\tünïcödé 日本 ✓ e\u0301 עברית 👩",
		"echo ok \x1b]0;touch X\a":               "echo ok ␛]0;touch X␇",
		"\x00\x01\b\v\f\x1f\x7f":                 "␀␁␈␋␌␟␡",
		"a\rb\r\n":                               "a␍b␍\n",
		"\u0085\u009b31m":                        "‹U+0085›‹U+009B›31m",
		"\u202ecba\u2066":                        "‹U+202E›cba‹U+2066›",
		"a\u200b\u200c\u200d\u200e\ufeff\u00ad":  "a‹U+200B›‹U+200C›‹U+200D›‹U+200E›‹U+FEFF›‹U+00AD›",
		"a\u00a0\u2003\u3000b\u2028c":            "a‹U+00A0›‹U+2003›‹U+3000›b‹U+2028›c",
		"\u3164\u115f\u1160\uffa0\u034f\u2800":   "‹U+3164›‹U+115F›‹U+1160›‹U+FFA0›‹U+034F›‹U+2800›",
		"❤\ufe0f\U000e0100\U000e0041":            "❤‹U+FE0F›‹U+E0100›‹U+E0041›",
		"\ufdd0\ue000":                           "‹U+FDD0›‹U+E000›",
		"\ufffd":                                 "\ufffd",
		"\xff\x9b31m\xe2\x82":                    "‹0xFF›‹0x9B›31m‹0xE2›‹0x82›",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
		checkVisible(t, in)
	}
	for _, test := range hostile {
		checkVisible(t, test.in)
	}
}

func TestVisibleRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkVisible(t, strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), ""))
	})
}

func FuzzVisible(f *testing.F) {
	for _, test := range hostile {
		f.Add(test.in)
	}
	f.Fuzz(func(t *testing.T, s string) { checkVisible(t, s) })
}

// checkVisible holds for every text: a cleaner finds nothing to take out of what is visible, and no character was lost.
func checkVisible(t failer, s string) {
	t.Helper()
	got := text.Visible(s)
	if again := text.Visible(got); again != got {
		t.Fatalf("Visible(%q) = %q, again %q", s, got, again)
	}
	if line := strings.ReplaceAll(got, "\t", ""); text.Clean(line) != line {
		t.Fatalf("Visible(%q) = %q, of which a cleaner leaves %q", s, got, text.Clean(line))
	}
	if a, b := len([]rune(got)), len([]rune(s)); a < b {
		t.Fatalf("Visible(%q) = %q: %d characters became %d", s, got, b, a)
	}
}

func TestVisibleDoesNotCopy(t *testing.T) {
	s := strings.Repeat("\tfunc main() {}\n", 100) + "ünïcödé 日本\n"
	if n := testing.AllocsPerRun(10, func() { text.Visible(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkVisible(b *testing.B) {
	for name, piece := range map[string]string{"ASCII": "\tif err != nil { return err }\n", "CJK": "日本語のテキストを読む。\n", "hostile": "\x1b[32mok\u202e\xff\n"} {
		s := strings.Repeat(piece, 64<<10/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				text.Visible(s)
			}
		})
	}
}
