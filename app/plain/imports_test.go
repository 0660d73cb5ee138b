package plain_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A front end knows app/api and the plain data and text below it, and reaches for nothing behind them (design.md, "The house").
func TestImports(t *testing.T) {
	allowed := map[string]bool{"octavo/app/api": true, "octavo/pages": true, "octavo/pages/text": true, "octavo/render": true,
		"github.com/muesli/termenv": true}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			first, _, _ := strings.Cut(path, "/")
			if standard := !strings.Contains(first, ".") && first != "octavo"; !standard && !allowed[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
