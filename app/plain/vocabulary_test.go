package plain_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestJSONVocabularyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	src, err := parser.ParseFile(token.NewFileSet(), "records.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types, fields := map[string]bool{}, map[string]bool{}
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "recordType" {
				name, _ := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
				types[name] = true
			}
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				fields[name] = true
			}
		}
		return true
	})
	if len(types) < 20 || len(fields) < 40 {
		t.Fatalf("the source was not understood: %d types, %d fields", len(types), len(fields))
	}
	table, _, _ := bytes.Cut(doc[bytes.Index(doc, []byte("## Records")):], []byte("## assistantMessageEvent"))
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(string(table), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
		}
	}
	for name := range types {
		if !documented[name] {
			t.Errorf("docs/json.md has no row for %s", name)
		}
	}
	for name := range documented {
		if !types[name] {
			t.Errorf("docs/json.md has a row for %s, which is never written", name)
		}
	}
	for name := range fields {
		if !regexp.MustCompile("[`\"]" + name + "[`\"]").Match(doc) {
			t.Errorf("docs/json.md does not name the field %s", name)
		}
	}
}
