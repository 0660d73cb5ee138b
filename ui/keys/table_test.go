package keys

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDefaultsHaveNoClash(t *testing.T) {
	for _, c := range clashes(bindings[:]) {
		t.Errorf("%s: %s and %s both have %s", c.context, bindings[c.a].Action, bindings[c.b].Action, c.key)
	}
	if _, problems := New(Overrides{vim: true}); problems != nil {
		t.Errorf("%v", problems)
	}
	taken := map[string]Action{}
	for _, b := range bindings {
		for _, c := range b.Contexts {
			for _, k := range b.Keys {
				taken[c.String()+" "+k] = b.Action
			}
		}
	}
	for _, v := range vimKeys {
		if a, ok := taken[v.context.String()+" "+v.key]; ok {
			t.Errorf("vim's %s %v is %s's", v.key, v.context, a)
		}
		if c := contextRows[v.context]; c.text || v.context != Normal && v.context != Reader {
			t.Errorf("vim's %s moves outside the composer and readers: %v", v.key, v.context)
		}
	}
}

func TestClashesAreFound(t *testing.T) {
	bs := []Binding{
		{Action: "a", Contexts: []Context{List, Reader}, Keys: []string{"x", "y"}},
		{Action: "b", Contexts: []Context{Chat, Reader}, Keys: []string{"y"}},
		{Action: "c", Contexts: []Context{List}, Keys: []string{"z"}},
	}
	if got := clashes(bs); len(got) != 1 || got[0] != (clash{Reader, "y", 0, 1}) {
		t.Errorf("%v", got)
	}
}

func TestDefaultsAreInOrder(t *testing.T) {
	seen := map[Action]bool{}
	for _, b := range bindings {
		if seen[b.Action] || b.About == "" || len(b.Contexts) == 0 || (b.Footer == Hidden) != (b.Label == "") || len(b.Keys) > MaxKeys {
			t.Errorf("%+v is there twice, or half", b)
		}
		seen[b.Action] = true
		for _, k := range b.Keys {
			if n, err := Normalise(k); n != k || err != nil {
				t.Errorf("%s: %s is %s, %v", b.Action, k, n, err)
			}
			if b.Repeat && (k == "enter" || k == "esc" || k == "ctrl+c") {
				t.Errorf("%s acts again while %s is held", b.Action, k)
			}
			for _, c := range b.Contexts {
				if contextRows[c].text && types(k) {
					t.Errorf("%s takes %s from a text field", b.Action, k)
				}
			}
		}
		for _, other := range bindings {
			if strings.HasPrefix(string(other.Action), string(b.Action)+".") {
				t.Errorf("%s is a table to TOML where %s is a key", b.Action, other.Action)
			}
		}
	}
	for _, name := range constants(t) {
		if !seen[name] {
			t.Errorf("%s is in no row of the table", name)
		}
	}
	for _, c := range Contexts() {
		if contextRows[c].title == "" || contextRows[c].where == "" {
			t.Errorf("context %d has no name", c)
		}
		if !slices.ContainsFunc(bindings[:], func(b Binding) bool { return slices.Contains(b.Contexts, c) }) && !contextRows[c].text {
			t.Errorf("nothing is bound in %v", c)
		}
	}
}

// constants are the actions that action.go declares.
func constants(t *testing.T) []Action {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "action.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []Action
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Action" {
				name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, Action(name))
			}
		}
		return true
	})
	if len(all) < 100 {
		t.Fatalf("only %d constants found", len(all))
	}
	return all
}

// TestDefaultsArriveEverywhere: what only some terminals send, send as another key, or a multiplexer keeps, is never the only way.
func TestDefaultsArriveEverywhere(t *testing.T) {
	for _, b := range bindings {
		if len(b.Keys) > 0 && !slices.ContainsFunc(b.Keys, arrives) {
			t.Errorf("%s: no terminal without an extended keyboard sends any of %v", b.Action, b.Keys)
		}
		if why := unreachable(b.Keys); why != "" {
			t.Errorf("%s: %s", b.Action, why)
		}
		for _, k := range b.Keys {
			if k == "ctrl+i" || k == "ctrl+m" || k == "ctrl+[" {
				t.Errorf("%s has %s, which is another key in most terminals", b.Action, k)
			}
		}
	}
}

// arrives reports whether a terminal of the plainest kind sends a key as its own (xterm's tables; deps.md 3).
func arrives(key string) bool {
	c, err := parse(key)
	if err != nil || unreachable([]string{key}) != "" {
		return false
	}
	letter := c.isCharacter() && c.key[0] >= 'a' && c.key[0] <= 'z'
	mods := c.mods &^ alt
	switch {
	case mods == 0:
		return true
	case c.isCharacter():
		return mods == ctrl && (letter || strings.Contains(`]\^_`, c.key))
	case c.key == "tab":
		return mods == shift && c.mods == shift
	case slices.Contains([]string{"enter", "esc", "backspace"}, c.key):
		return false
	}
	return mods&(meta|hyper|super) == 0
}
