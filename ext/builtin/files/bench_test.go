package files

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	s := open(b, everything)
	s.put("f", strings.Repeat("\tif err := s.tools[name].Invoke(call, args); err != nil {\n", 2000))
	a := args{"path": "f", "limit": 2000}
	b.ReportAllocs()
	for b.Loop() {
		s.ok("read", a)
	}
}

func BenchmarkEdit(b *testing.B) {
	s := open(b, everything)
	var body strings.Builder
	for i := 0; body.Len() < 1<<20; i++ {
		fmt.Fprintf(&body, "line %d: %s\n", i, strings.Repeat("text ", 10))
	}
	s.put("f", body.String())
	from, to := "line 9000: text", "line 9000: TEXT"
	b.ReportAllocs()
	for b.Loop() {
		s.ok("edit", args{"path": "f", "old": from, "new": to})
		from, to = to, from
	}
}

// A miss looks for what is most like the text that is not there.
func BenchmarkEditMiss(b *testing.B) {
	s := open(b, everything)
	var body strings.Builder
	for i := 0; body.Len() < 1<<20; i++ {
		fmt.Fprintf(&body, "line %d: %s\n", i, strings.Repeat("text ", 10))
	}
	s.put("f", body.String())
	for b.Loop() {
		s.refused(noMatch, "edit", args{"path": "f", "old": "line 9000: text test\nline 9001", "new": ""})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, program := range []string{findRipgrep(), ""} {
		s := open(b, everything)
		s.x.ripgrep = func() string { return program }
		for i := range 5000 {
			s.put(fmt.Sprintf("d%d/f%d.go", i%50, i), strings.Repeat("package some\n\nfunc thing() error { return nil }\n", 30))
		}
		s.put("d49/needle.go", "func needle() {}\n")
		name := "walker"
		if program != "" {
			name = "ripgrep"
		}
		for mode, query := range map[string]string{"literal": "func needle", "regex": `func n\w+le\(`} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				for b.Loop() {
					if got := s.ok("search", args{"query": query, "mode": mode}); !strings.Contains(got, "1 match") {
						b.Fatal(got)
					}
				}
			})
		}
	}
}
