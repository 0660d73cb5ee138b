package themes

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocument holds docs/themes.md against the tables.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../docs/themes.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(b)
	var table []string
	for _, row := range roles {
		table = append(table, fmt.Sprintf("| `%s` | %s | %s |", row.role, row.parent, row.about))
	}
	table = append(table, "")
	for _, row := range glyphs {
		bar := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
		table = append(table, fmt.Sprintf("| `%s` | %s | %s | %s |", row.glyph, row.char, bar(row.ascii), row.about))
	}
	table = append(table, fmt.Sprintf("| `%s` | %s | %s | work going on |", spinnerKey, strings.Join(spinner(), " "), strings.ReplaceAll(strings.Join(asciiSpinner(), " "), "|", `\|`)))
	for _, part := range strings.Split(strings.Join(table, "\n"), "\n\n") {
		if !strings.Contains(document, "|\n"+part+"\n\n") {
			t.Errorf("docs/themes.md needs this table, as it is:\n%s", part)
		}
	}
	for _, name := range Builtin() {
		if !strings.Contains(document, "\n    "+name+" ") {
			t.Errorf("docs/themes.md does not tell of %s", name)
		}
	}

	_, example, _ := strings.Cut(document, "## An example\n\n")
	example, _, _ = strings.Cut(example, "\n\nEvery part")
	src, err := Parse("harbour.toml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if w := src.Warnings(); w != nil {
		t.Errorf("the example is hard to read: %v", w)
	}
}

// TestTables: a parent stands above its children, so that one pass resolves them, and only what text is the parent of has a colour
// in the default, so that a theme's colour for a parent reaches its children.
func TestTables(t *testing.T) {
	at := map[Role]bool{}
	for i, row := range roles {
		if i > 0 && !at[row.parent] || at[row.role] || row.about == "" {
			t.Errorf("%s stands above its parent %q, or twice", row.role, row.parent)
		}
		at[row.role] = true
	}
	for role, look := range terminal().base.roles {
		if (look.foreground.said || look.background.said) && role.Parent() != RoleText {
			t.Errorf("the default gives %s a colour, which its parent %s cannot change", role, role.Parent())
		}
	}
	seen := map[Glyph]bool{}
	for _, row := range glyphs {
		if !oneCell(row.char) || !oneASCII(row.ascii) || seen[row.glyph] || row.about == "" {
			t.Errorf("%+v", row)
		}
		seen[row.glyph] = true
	}
}
