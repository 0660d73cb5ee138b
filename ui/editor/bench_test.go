package editor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octavo/ui/editor"
)

const sentence = "The quick brown fox jumps over the lazy dog, and on. "

// BenchmarkKey is a letter typed and the composer's window drawn anew.
func BenchmarkKey(b *testing.B) {
	code := strings.Repeat("\tif err != nil { return fmt.Errorf(\"read: %w\", err) }\n", 10_000)
	for _, bench := range []struct {
		name, text string
		at         float64 // of the text
	}{
		{"1 line", "fix the parser", 1},
		{"10,000 lines, end", code, 1},
		{"10,000 lines, middle", code, 0.5},
		{"1 MiB of CJK lines, middle", strings.Repeat(strings.Repeat("日本語のテキスト", 20)+"\n", 2000), 0.5},
		{"1 MiB in a line, end", strings.Repeat(sentence, 19_000), 1},
		{"1 MiB in a line, middle", strings.Repeat(sentence, 19_000), 0.5},
		{"1 MiB without a space, middle", strings.Repeat("a", 1<<20-1<<17), 0.5},
		{"1 MiB of empty lines", strings.Repeat("\n", 1<<20-1<<17), 0.5},
	} {
		b.Run(bench.name, func(b *testing.B) {
			draft := editor.New(nil)
			if _, err := draft.SetText(bench.text); err != nil {
				b.Fatal(err)
			}
			draft.MoveTo(int(bench.at * float64(len(bench.text))))
			draft.View(80, editor.MaxHeight)
			typed := 0
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				// What was typed goes again now and then, so that a line does not grow with b.N.
				if typed++; typed%100 == 0 {
					draft.DeleteWordBackward()
				} else {
					draft.Insert("x")
				}
				draft.View(80, editor.MaxHeight)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
		})
	}
}

func BenchmarkMove(b *testing.B) {
	draft := editor.New(nil)
	draft.SetText(strings.Repeat(sentence+"\n", 10_000))
	for name, move := range map[string]func() bool{
		"left": draft.Left, "word": draft.WordLeft, "up": func() bool { return draft.Up(40) },
		"page":      func() bool { return draft.PageUp(40, 20) },
		"start-end": func() bool { draft.DocumentStart(); draft.View(40, 6); return draft.DocumentEnd() },
	} {
		b.Run(name, func(b *testing.B) {
			draft.DocumentEnd()
			for b.Loop() {
				if !move() {
					draft.DocumentEnd()
				}
				draft.View(40, 6)
			}
		})
	}
}

func BenchmarkPaste(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"1 MiB as a chip", strings.Repeat(sentence+"\n", 19_000)},
		{"1 MiB with tabs and returns", strings.Repeat("\t"+sentence+"\r\n", 18_000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				draft := editor.New(nil)
				if _, err := draft.Paste(bench.text); err != nil {
					b.Fatal(err)
				}
				draft.View(80, 6)
			}
		})
	}
	b.Run("expand 1 MiB", func(b *testing.B) {
		draft := editor.New(nil)
		draft.Paste(strings.Repeat(sentence+"\n", 19_000))
		for b.Loop() {
			draft.Expand()
			draft.View(80, 6)
			draft.Undo()
		}
	})
}

func BenchmarkResize(b *testing.B) {
	for name, text := range map[string]string{"1 MiB": strings.Repeat(sentence+"\n", 19_000), "1 MiB of CJK": strings.Repeat("日本語のテキスト", 40_000)} {
		b.Run(name, func(b *testing.B) {
			draft := editor.New(nil)
			draft.SetText(text)
			for i := 0; b.Loop(); i++ {
				draft.View(60+i%2, 6)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	prompts := make([]string, editor.MaxHistory)
	for i := range prompts {
		prompts[i] = fmt.Sprint(i, " ", strings.Repeat(sentence, 10))
	}
	h := editor.NewHistory(prompts)
	b.Run("10,000 prompts", func(b *testing.B) {
		for b.Loop() {
			h.Search("no such thing")
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			editor.NewHistory(prompts).Search("no such thing")
		}
	})
}
