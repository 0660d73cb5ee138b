package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"octavo/pages/text"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🐙": 2, "👩‍💻": 2, "🇩🇪": 2, "❤️": 2, "‹RLO›": 5, "\x1b[31mred\x1b[0m": 3,
	} {
		if got := text.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestPad(t *testing.T) {
	for _, test := range []struct {
		s     string
		width int
		want  string
	}{{"a", 3, "a  "}, {"日", 3, "日 "}, {"abc", 3, "abc"}, {"abcd", 3, "abcd"}, {"a", -1, "a"}} {
		if got := text.Pad(test.s, test.width); got != test.want {
			t.Errorf("Pad(%q, %d) = %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		s     string
		width int
		tail  string
		want  string
	}{
		{"hello", 5, "…", "hello"},
		{"hello", 4, "…", "hel…"},
		{"hello", 1, "…", "…"},
		{"hello", 0, "…", ""},
		{"hello", -1, "…", ""},
		{"hello", 2, "...", "he"},
		{"hello", 3, "...", "..."},
		{"日本語", 6, "…", "日本語"},
		{"日本語", 5, "…", "日本…"},
		{"日本語", 4, "…", "日…"},
		{"日本語", 1, "", ""},
		{"a👩‍💻b", 3, "", "a👩‍💻"},
		{"a👩‍💻b", 2, "", "a"},
		{"e\u0301e\u0301e\u0301", 2, "", "e\u0301e\u0301"},
		{"\x1b[31mhello\x1b[0m", 3, "…", "\x1b[31mhe…\x1b[0m"},
		{"\x1b[31mhello\x1b[0m", 5, "…", "\x1b[31mhello\x1b[0m"},
		{"hello \x1b[31mred\x1b[0m", 3, "…", "he…"},
	} {
		if got := text.Cut(test.s, test.width, test.tail); got != test.want {
			t.Errorf("Cut(%q, %d, %q) = %q, want %q", test.s, test.width, test.tail, got, test.want)
		}
	}
}

func TestCutLeft(t *testing.T) {
	for _, test := range []struct {
		s     string
		width int
		want  string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "…llo"}, {"hello", 1, "…"}, {"hello", 0, ""}, {"hello", -1, ""},
		{"日本語", 5, "…本語"}, {"日本語", 4, "…語"}, {"a👩‍💻b", 2, "…b"}, {"ae\u0301", 1, "…"},
	} {
		if got := text.CutLeft(test.s, test.width, "…"); got != test.want {
			t.Errorf("CutLeft(%q, %d) = %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		s     string
		width int
		want  string
	}{
		{"the quick brown fox", 10, "the quick\nbrown fox"},
		{"the quick brown fox", 9, "the quick\nbrown fox"},
		{"the quick brown fox", 5, "the\nquick\nbrown\nfox"},
		{"a  b", 2, "a\nb"},
		{"    indented text", 9, "    inden\nted text"},
		{"    indented text", 12, "    indented\ntext"},
		{"a well-known word", 12, "a well-known\nword"},
		{"octavo --login 01890000-0000-7000", 16, "octavo --login\n01890000-0000-70\n00"},
		{"type octavo --login", 15, "type octavo\n--login"},
		{"unbreakable", 4, "unbr\neaka\nble"},
		{"a unbreakable", 4, "a\nunbr\neaka\nble"},
		{"short\n\nand longer\n", 6, "short\n\nand\nlonger\n"},
		{"日本語のテキスト", 7, "日本語\nのテキ\nスト"},
		{"日本語。", 6, "日本\n語。"},
		{"ab日本", 3, "ab\n日\n本"},
		{"👩‍💻👩‍💻", 3, "👩‍💻\n👩‍💻"},
		{"日本", 1, "日\n本"},
		{"no width", 0, "no width"},
		{"a b\u00a0c", 4, "a\nb\u00a0c"},
		{"trailing   ", 9, "trailing"},
		{"        ", 3, ""},
		{"", 3, ""},
	} {
		if got := text.Wrap(test.s, test.width); got != test.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

// TestLayoutRandom holds for every clean text: no line is too wide, nothing but spaces is lost, nothing is added.
func TestLayoutRandom(t *testing.T) {
	word := rapid.StringOf(rapid.SampledFrom([]rune("ab  -\n日本。👩\u200d💻\u0301e,.\u00a0\u3000é🇩🇪❤\ufe0f")))
	rapid.Check(t, func(t *rapid.T) {
		s := text.Clean(word.Draw(t, "text"))
		width := rapid.IntRange(2, 12).Draw(t, "width")
		wrapped := text.Wrap(s, width)
		for line := range strings.Lines(wrapped) {
			if text.Width(strings.TrimSuffix(line, "\n")) > width {
				t.Fatalf("Wrap(%q, %d) = %q", s, width, wrapped)
			}
		}
		squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if squeeze(wrapped) != squeeze(s) {
			t.Fatalf("Wrap(%q, %d) = %q loses or adds text", s, width, wrapped)
		}
		line := strings.ReplaceAll(s, "\n", "")
		cut := text.Cut(line, width, "…")
		if text.Width(cut) > width {
			t.Fatalf("Cut(%q, %d) = %q", line, width, cut)
		}
		if fits := text.Width(line) <= width; fits != (cut == line) {
			t.Fatalf("Cut(%q, %d) = %q", line, width, cut)
		}
	})
}

func TestCutBytes(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 0, ""},
		{"日本", 5, "日"}, {"日本", 3, "日"}, {"日本", 2, ""}, {"a😀", 4, "a"}, {"😀", 3, ""}, {"😀b", 4, "😀"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
	} {
		if got := text.CutBytes(test.s, test.n); got != test.want {
			t.Errorf("CutBytes(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"hello", 1, "…"}, {"hello", 0, ""}, {"hello", -3, ""},
		{"日本語", 3, "日本語"}, {"日本語", 2, "日…"}, {"", 0, ""},
	} {
		if got := text.Clip(test.s, test.n); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}

func TestHeadTail(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 100)
	for _, test := range []struct {
		name string
		s    string
		max  int
		want string
	}{
		{"fits", "abc", 3, "abc"},
		{
			"between lines", lines, 120,
			strings.Repeat("0123456789\n", 3) + "… 1034 bytes (94 lines) left out …\n" + strings.Repeat("0123456789\n", 3),
		},
		{"one long line", strings.Repeat("x", 1000), 80, strings.Repeat("x", 26) + "\n… 949 bytes left out …\n" + strings.Repeat("x", 25)},
		{"between characters", strings.Repeat("日", 100), 50, "日日日\n… 282 bytes left out …\n日日日"},
		{"no room", strings.Repeat("x", 1000), 10, "… 1000 bytes left out …\n"},
		{"less than none", "x", -1, "… 1 byte left out …\n"},
		{"nothing of nothing", "", -1, ""},
	} {
		if got := text.HeadTail(test.s, test.max); got != test.want {
			t.Errorf("%s: HeadTail(…, %d) = %q (%d bytes), want %q", test.name, test.max, got, len(got), test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab\n日😀"))).Draw(t, "text")
		n := rapid.IntRange(0, 200).Draw(t, "max")
		got := text.HeadTail(s, n)
		if len(got) > n && !strings.HasPrefix(got, "…") || !utf8.ValidString(got) {
			t.Fatalf("HeadTail(%q, %d) = %q, %d bytes", s, n, got, len(got))
		}
	})
}

func BenchmarkCut(b *testing.B) {
	for _, bench := range []struct{ name, s string }{
		{"fits", "internal/upload/put.go"},
		{"10 MB line", strings.Repeat("0123456789", 1<<20)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				text.Cut(bench.s, 80, "…")
			}
		})
	}
}

func BenchmarkWrap(b *testing.B) {
	s := strings.Repeat("The quick brown fox jumps over the lazy dog, and on. ", 200)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		text.Wrap(s, 80)
	}
}
