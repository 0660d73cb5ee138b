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

	"octavo/app/plain"
)

// vocabulary is what a source file declares: the values of its constants of a type, and the JSON names of its fields.
func vocabulary(t *testing.T, file, constants string) (values, fields map[string]bool) {
	t.Helper()
	src, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values, fields = map[string]bool{}, map[string]bool{}
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == constants {
				name, _ := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
				values[name] = true
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
	return values, fields
}

// rows are the names in the first column of the tables between two headings.
func rows(doc []byte, from, to string) map[string]bool {
	table, _, _ := bytes.Cut(doc[bytes.Index(doc, []byte(from)):], []byte(to))
	names := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(string(table), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			names[name[1]] = true
		}
	}
	return names
}

// agree holds a document against the source, both ways.
func agree(t *testing.T, doc string, source, documented map[string]bool) {
	t.Helper()
	for name := range source {
		if !documented[name] {
			t.Errorf("%s has no row for %s", doc, name)
		}
	}
	for name := range documented {
		if !source[name] {
			t.Errorf("%s has a row for %s, which there is not", doc, name)
		}
	}
}

func named(t *testing.T, file string, doc []byte, fields map[string]bool) {
	t.Helper()
	for name := range fields {
		if !regexp.MustCompile("[`\"]" + name + "[`\"]").Match(doc) {
			t.Errorf("%s does not name the field %s", file, name)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// docs/json.md names every type and every field that can be written, and no type that cannot.
func TestJSONVocabularyIsDocumented(t *testing.T) {
	const file = "../../docs/json.md"
	doc := read(t, file)
	types, fields := vocabulary(t, "records.go", "recordType")
	if len(types) < 20 || len(fields) < 40 {
		t.Fatalf("the source was not understood: %d types, %d fields", len(types), len(fields))
	}
	agree(t, file, types, rows(doc, "## Records", "## assistantMessageEvent"))
	named(t, file, doc, fields)
}

// docs/rpc.md names every command, every code and every field of an answer, and none that there is not.
func TestRPCVocabularyIsDocumented(t *testing.T) {
	const file = "../../docs/rpc.md"
	doc := read(t, file)
	commands := map[string]bool{}
	for _, name := range plain.Commands() {
		commands[name] = true
	}
	codes, _ := vocabulary(t, "rpc_frame.go", "faultCode")
	types, fields := vocabulary(t, "rpc_records.go", "recordType")
	if len(codes) < 10 || len(types) != 2 || len(fields) < 80 {
		t.Fatalf("the source was not understood: %d codes, %d types, %d fields", len(codes), len(types), len(fields))
	}
	agree(t, file, codes, rows(doc, "### Errors", "## Commands"))
	documented := rows(doc, "## Commands", "## Events")
	for _, kind := range []string{"approval", "confirm", "choice", "text", "secret"} { // the table of questions
		delete(documented, kind)
	}
	agree(t, file, commands, documented)
	named(t, file, doc, fields)
	for name := range types {
		if !bytes.Contains(doc, []byte(name)) {
			t.Errorf("%s does not name the record %s", file, name)
		}
	}
}
