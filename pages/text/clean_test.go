package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"octavo/pages/text"
)

// hostile is text that does something to a terminal, and what a person gets to read of it.
var hostile = []struct {
	name, in, want string
}{
	{"colour", "a\x1b[31;1mred\x1b[0mb", "aredb"},
	{"cursor movement and erasing", "a\x1b[2J\x1b[H\x1b[?1049hb", "ab"},
	{"colours with colons", "\x1b[38:2::255:0:0mx", "x"},
	{"intermediate bytes", "\x1b[1 qa\x1b(Bb\x1b#8c", "abc"},
	{"title with BEL", "a\x1b]0;title\ab", "ab"},
	{"title with ST", "a\x1b]0;title\x1b\\b", "ab"},
	{"clipboard", "a\x1b]52;c;aGVsbG8=\ab", "ab"},
	{"link", "\x1b]8;;https://example.com\x1b\\text\x1b]8;;\x1b\\", "text"},
	{"notification", "\x1b]9;you have mail\a\x1b]777;notify;a;b\a.", "."},
	{"sixel", "a\x1bPq#0;2;0;0;0#0!10~-\x1b\\b", "ab"},
	{"kitty graphics", "a\x1b_Gf=24,s=1,v=1;AAAA\x1b\\b", "ab"},
	{"privacy message and start of string", "a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"},
	{"title of screen", "a\x1bktitle\x1b\\b", "ab"},
	{"nested in the passthrough of tmux", "a\x1bPtmux;\x1b\x1b]52;c;x\a\x1b\\b", "ab"},
	{"string cancelled", "a\x1b]0;x\x18b\x1b]0;y\x1ac", "abc"},
	{"string with a character that ends in 9C", "a\x1b]0;“quoted”\ab", "ab"},
	{"string ended by an 8-bit ST", "a\x1b]0;x\x9cb\x1b]0;x\u009cc", "abc"},
	{"unterminated string", "a\x1b]0;title", "a"},
	{"unterminated string ends with its line", "a\x1b]0;title\nb\x1bPq\r\nc\x1b_G\u2028d", "a\nb\nc\nd"},
	{"unterminated sequence", "a\x1b[31", "a"},
	{"sequence broken by a newline", "a\x1b[31\nb", "a\nb"},
	{"sequence broken by a letter of another script", "a\x1b[31日b", "a日b"},
	{"sequence broken by a sequence", "a\x1b[3\x1b[1mb\x1b\x1b[2mc", "abc"},
	{"sequence broken by broken UTF-8", "a\x1b[3\xffb", "a\ufffdb"},
	{"ESC alone", "a\x1b", "a"},
	{"ESC before a control", "a\x1b\nb\x1b\tc", "a\nb   c"},
	{"single shift, charset, reset", "\x1bNa\x1bOb\x1bcc\x1b7d", "abcd"},
	{"C1 control sequence", "a\u009b31mb", "ab"},
	{"C1 strings", "a\u009d0;t\ab\u0090q\u009cc\u009fG\u009cd\u009ex\u009ce\u0098y\u009cf", "abcdef"},
	{"other C1", "a\u0085b\u0080c\u0084d\u009ce", "abcde"},
	{"C1 as raw bytes", "a\x85b\x9b31mc\x9d0;t\ad", "ab31mc0;td"},
	{"rest of a cut character", "\x9d\xa4 hello", "\ufffd hello"},
	{"C0 and DEL", "a\x00b\x07c\bd\ve\ff\x7fg\x0eh", "abcdefgh"},
	{"Windows lines", "a\r\nb\r\r\nc", "a\nb\nc"},
	{"progress", "10%\r20%\r30%\ndone", "10%\n20%\n30%\ndone"},
	{"progress that returns first", "\r10%\r20%\r", "10%\n20%"},
	{"return before an erased line", "10%\r\x1b[Kdone\r\x1b[K\n", "10%\ndone\n"},
	{"return and tab", "ab\r\tc", "ab\n    c"},
	{"returns on an empty line", "\r\r\n\r", "\n"},
	{"tabs", "\ta\tab\tabc\tabcd\t.", "    a   ab  abc abcd    ."},
	{"tab after a wide character", "日\tx\ta\u0301\ty", "日  x   a\u0301   y"},
	{"tab after a sequence", "a\x1b[31m\tb", "a   b"},
	{"tab on a new line", "abc\nd\te", "abc\nd   e"},
	{"tab after a mark", "\u202e\tx", "‹RLO›   x"},
	{"bidirectional controls", "\u202aa\u202bb\u202cc\u202dd\u202ee", "‹LRE›a‹RLE›b‹PDF›c‹LRO›d‹RLO›e"},
	{"bidirectional isolates", "\u2066a\u2067b\u2068c\u2069d", "‹LRI›a‹RLI›b‹FSI›c‹PDI›d"},
	{"directional marks stay", "a\u200e\u200f\u061cb", "a\u200e\u200f\u061cb"},
	{"hidden message in tags", "a\U000e0068\U000e0069b\U000e0021\x1b[m\U000e0022", "a‹TAG›b‹TAG›"},
	{"no width, no effect", "a\u200b\u2060\u00ad\ufeff\u2063\u180e\ufff9b", "ab"},
	{"supplementary variation selectors", "葛\U000e0100a", "葛a"},
	{"noncharacters", "a\ufdd0\ufffe\U0001ffffb", "ab"},
	{"other line ends", "a\u2028b\u2029c", "a\nb\nc"},
	{"emoji keep their joiners", "👩‍💻 ❤️ 🇩🇪", "👩‍💻 ❤️ 🇩🇪"},
	{"combining and right to left stay", "e\u0301 עברית العربية", "e\u0301 עברית العربية"},
	{"broken UTF-8", "a\xffb\xc3(c\xe2\x82", "a\ufffdb\ufffd(c\ufffd"},
	{"a run of it is one mark", "\xff\xfe\xfd\xc0\xaf.\xff", "\ufffd.\ufffd"},
	{"surrogates, overlong, too large", "\xed\xa0\x80.\xc0\x9b31m\xf4\x90\x80\x80", "\ufffd.\ufffd31m\ufffd"},
	{"U+FFFD itself stays", "\ufffd\ufffd", "\ufffd\ufffd"},
	{"plain", "Plain text,\nwith ünïcödé ✓.\n", "Plain text,\nwith ünïcödé ✓.\n"},
	{"empty", "", ""},
}

func TestClean(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			if got := text.Clean(test.in); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.in, got, test.want)
			}
			checkClean(t, test.in)
			checkStream(t, test.in, 1)
			checkStream(t, test.in, 2)
			checkStream(t, test.in, 3)
		})
	}
}

func TestCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"one line":             "one line",
		"\n\none\r\ntwo\n":     "one⏎two",
		"one\n\n\ntwo\n \n":    "one⏎two⏎ ",
		"\u2028a\u2029b\u2028": "a⏎b",
		"rm x\x1b[2K\rls":      "rm x⏎ls",
	} {
		got := text.CleanLine(in)
		if got != want {
			t.Errorf("CleanLine(%q) = %q, want %q", in, got, want)
		}
		if again := text.CleanLine(got); again != got {
			t.Errorf("CleanLine(%q) = %q", got, again)
		}
	}
}

func TestLastOverwrites(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"no return\n":                 "no return\n",
		"a\r\nb\r\r\n":                "a\nb\n",
		"10%\r20%\r30%\nx":            "30%\nx",
		"10%\r20%\r":                  "20%",
		"\r10%\r\x1b[Kdone\n\rlast\n": "\x1b[Kdone\nlast\n",
		"\r\r\n\r":                    "\n",
	} {
		if got := text.LastOverwrites(in); got != want {
			t.Errorf("LastOverwrites(%q) = %q, want %q", in, got, want)
		}
	}
}

// pieces are what random hostile text is made of.
var pieces = rapid.OneOf(
	rapid.SampledFrom([]string{"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\a", "\r", "\n", "\t", "a", "bcd ", "31m", ";",
		"\u009b", "\u009d", "\u009c", "\x9b", "\x9c", "\xe2", "\x82", "\xf0\x9f", "\xff", "日", "e\u0301", "👩‍💻", "\u202e",
		"\u2028", "\U000e0041", "\u200b", "\x18", "\x7f", "\ufffd"}),
	rapid.String(),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
)

func TestCleanRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), "")
		checkClean(t, s)
		checkStream(t, s, rapid.IntRange(1, 9).Draw(t, "every"))
	})
}

func FuzzClean(f *testing.F) {
	for i, test := range hostile {
		f.Add(test.in, uint8(i))
	}
	f.Fuzz(func(t *testing.T, s string, every uint8) {
		checkClean(t, s)
		checkStream(t, s, int(every%16)+1)
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkClean holds for every text.
func checkClean(t failer, s string) {
	t.Helper()
	clean := text.Clean(s)
	if !utf8.ValidString(clean) {
		t.Fatalf("Clean(%q) = %q is not UTF-8", s, clean)
	}
	for _, r := range clean {
		if r < ' ' && r != '\n' || 0x7f <= r && r < 0xa0 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
			t.Fatalf("Clean(%q) = %q has %U", s, clean, r)
		}
	}
	if again := text.Clean(clean); again != clean {
		t.Fatalf("Clean(%q) = %q, cleaned again %q", s, clean, again)
	}
	if line := text.CleanLine(s); strings.Contains(line, "\n") || text.CleanLine(line) != line {
		t.Fatalf("CleanLine(%q) = %q", s, line)
	}
}

// checkStream cleans s cut after every so many bytes, with one Cleaner twice.
func checkStream(t failer, s string, every int) {
	t.Helper()
	want := text.Clean(s)
	var c text.Cleaner
	for range 2 {
		var got strings.Builder
		for rest := s; rest != ""; {
			n := min(every, len(rest))
			got.WriteString(c.Write(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(c.Flush())
		if got.String() != want {
			t.Fatalf("%q cut every %d bytes gives %q, whole %q", s, every, got.String(), want)
		}
	}
}

func TestCleanDoesNotCopy(t *testing.T) {
	s := strings.Repeat("func main() {}\n", 100) + "ünïcödé 日本 👩‍💻\n"
	if n := testing.AllocsPerRun(10, func() { text.Clean(s) }); n != 0 {
		t.Errorf("clean text: %v allocations", n)
	}
	var c text.Cleaner
	if n := testing.AllocsPerRun(10, func() { c.Write("a delta of text\n") }); n != 0 {
		t.Errorf("clean delta: %v allocations", n)
	}
}

// TestEndlessString holds a stream that never leaves its first sequence to constant memory.
func TestEndlessString(t *testing.T) {
	for _, start := range []string{"\x1b]52;c;", "\x1b[", "\x1bP"} {
		var c text.Cleaner
		c.Write("text" + start)
		delta := strings.Repeat("1", 64<<10)
		if n := testing.AllocsPerRun(100, func() {
			if got := c.Write(delta); got != "" {
				t.Fatalf("%q leaks %d bytes", start, len(got))
			}
		}); n > 1 {
			t.Errorf("%q: %v allocations for each delta", start, n)
		}
		if got := c.Write("\nb"); got != "\nb" {
			t.Errorf("after an endless %q: %q", start, got)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	const size = 64 << 10
	for _, bench := range []struct{ name, piece string }{
		{"clean ASCII", "\tif err != nil { return err } // plain\n"[1:]},
		{"clean CJK", "日本語のテキストを読む。\n"},
		{"dirty", "\x1b[32mok\x1b[0m\tocta\u202evo \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n"},
		{"tabs", "\t\tif err != nil {\n"},
		{"binary", "\x00\xff\x9b\xe2\x82a"},
	} {
		s := strings.Repeat(bench.piece, size/len(bench.piece)+1)[:size]
		if strings.HasPrefix(bench.name, "clean") {
			s = strings.ToValidUTF8(s, "")
		}
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				text.Clean(s)
			}
		})
	}
}

func BenchmarkCleanerWrite(b *testing.B) {
	for _, bench := range []struct{ name, delta string }{
		{"ASCII", " a few words of an answer"},
		{"accents", " quelques mots d’une réponse"},
		{"dirty", " some \x1b[1mbold\x1b[0m words"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var c text.Cleaner
			b.ReportAllocs()
			for b.Loop() {
				c.Write(bench.delta)
			}
		})
	}
}
