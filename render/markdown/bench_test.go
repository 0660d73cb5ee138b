package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"octavo/render/markdown"
)

// answer is an answer of about so many bytes with all that answers have.
func answer(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Step %d: what changes\n\nThe uploader **gave up** on the first `503`. It now retries *four* times with full "+
			"jitter and stops as soon as the caller's context ends, see [the documentation](https://pkg.go.dev/context#WithTimeout). "+
			"Nothing else in `internal/upload` changed, and the tests of the neighbours still pass.\n\n", i)
		b.WriteString("- `Put` takes a context and a `Policy`\n- The delay is `rand(0, min(cap, base))`, which spreads clients far better " +
			"than a plain exponential backoff does\n  - and a nested item\n- [x] tests pass\n\n")
		b.WriteString("```go\nfunc (c *Client) Put(ctx context.Context, body io.Reader) error {\n\tfor n := 0; ; n++ {\n" +
			"\t\terr := c.try(ctx, body)\n\t\tif err == nil || !retryable(err) {\n\t\t\treturn err\n\t\t}\n\t}\n}\n```\n\n")
		b.WriteString("| File | Lines | What it does |\n|:--|--:|---|\n| `put.go` | 120 | Sends one object and reports **progress** |\n" +
			"| `retry.go` | 48 | The policy |\n\n> A note, which is *quoted* because it was said by somebody else entirely.\n\n")
		b.WriteString("1. Run `go test ./internal/upload` and look at the output\n2. Merge\n\nDas ist alles, 以上です。\n\n")
	}
	return b.String()[:size]
}

func BenchmarkRender(b *testing.B) {
	source := answer(500_000)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		markdown.Render(source, markdown.Options{Width: 100, Wide: 156})
	}
}

func BenchmarkStream(b *testing.B) {
	source := answer(500_000)
	b.ReportAllocs()
	for b.Loop() {
		s := markdown.NewStream(markdown.Options{Width: 100, Wide: 156, Code: comments})
		for at, n := 0, 0; at < len(source); at, n = at+4, n+1 {
			s.Write(source[at:min(at+4, len(source))])
			if n%33 == 32 {
				s.Lines()
			}
		}
		s.Finish()
	}
}

// BenchmarkDelta is one delta of four bytes, and the lines after every 33rd, on top of 500 KB.
func BenchmarkDelta(b *testing.B) {
	source := answer(500_000)
	s := markdown.NewStream(markdown.Options{Width: 100, Wide: 156})
	s.Write(source)
	s.Lines()
	b.ReportAllocs()
	at, n := 0, 0
	for b.Loop() {
		s.Write(source[at : at+4])
		if at += 4; at+4 > len(source) {
			at = 0
		}
		if n++; n%33 == 0 {
			s.Lines()
		}
	}
}

func BenchmarkOpenCode(b *testing.B) {
	s := markdown.NewStream(markdown.Options{Width: 100, Wide: 156, Code: comments})
	s.Write("```go\n" + strings.Repeat("\tsome := code(here)\n", 10_000))
	s.Lines()
	b.ReportAllocs()
	for b.Loop() {
		s.Write("more")
		s.Lines()
	}
}

func BenchmarkResize(b *testing.B) {
	s := markdown.NewStream(markdown.Options{Width: 100, Wide: 156})
	s.Write(answer(500_000))
	s.Lines()
	width := 0
	for b.Loop() {
		width = (width + 1) % 40
		s.Resize(markdown.Options{Width: 60 + width, Wide: 120})
	}
}
