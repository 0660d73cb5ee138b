package keys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/ui/keys"

	"github.com/google/go-cmp/cmp"
)

func TestOverrides(t *testing.T) {
	r := registry(t, `# mine
"app.message.followUp" = "Ctrl+Q"
app.mouse.toggle = "none"
page = { actions = ["f4"], filter = ["/", "f5"] }
vim = false

[list]
up = "alt+k"             # the arrow stays
down = ["down", "alt+j"] # and may be named
edit = []

[app.model]
select = "alt+p"
`)
	for a, want := range map[keys.Action][]string{
		keys.FollowUp: {"ctrl+q"}, keys.Mouse: {}, keys.PageActions: {"f4"}, keys.PageFilterOpen: {"/", "f5"}, keys.ListUp: {"up", "alt+k"},
		keys.ListEdit: {}, keys.ModelSelect: {"alt+p"}, keys.ListDown: {"down", "alt+j"}, keys.ListTop: {"home", "g"}, "list.sideways": {},
	} {
		if got := r.Keys(a); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", a, got, want)
		}
	}
	for key, want := range map[string]keys.Action{"ctrl+q": keys.FollowUp, "ctrl+s": "", "alt+m": "", "alt+p": keys.ModelSelect} {
		if got, _ := r.Match(draft, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string]keys.Action{"f4": keys.PageActions, ".": "", "k": "", "alt+k": keys.ListUp, "up": keys.ListUp, "ctrl+e": ""} {
		if got, _ := r.Match(page, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// TestKeysCanBeSwapped: what counts is how things are in the end, whatever the order of the lines.
func TestKeysCanBeSwapped(t *testing.T) {
	r := registry(t, "app.message.followUp = \"alt+up\"\napp.message.dequeue = \"ctrl+s\"")
	if a, _ := r.Match(draft, "ctrl+s"); a != keys.Dequeue {
		t.Errorf("ctrl+s is %q", a)
	}
	registry(t, "list.edit = \"ctrl+x\"\nlist.remove = \"none\"")
	registry(t, "input.submit = \"ctrl+enter\"") // beside enter
}

func TestProblems(t *testing.T) {
	const names = "octavo help keyboard lists all names"
	for _, test := range []struct {
		file string
		want []string
	}{
		{"list.edti = \"f2\"", []string{`1:1: "list.edti" is nothing that a key can do; did you mean list.edit?`}},
		{"\n  \"app.message.folowup\" = \"f2\"", []string{`2:3: "app.message.folowup" is nothing that a key can do; did you mean app.message.followUp?`}},
		{"teleport = \"f2\"", []string{`1:1: "teleport" is nothing that a key can do: ` + names}},
		{"[teleport]\nup = \"f2\"", []string{`1:2: "teleport" begins no name of an action: ` + names}},
		{"[[list]]\nup = \"f2\"", []string{`1:3: "list" is a list of tables: write [one] pair of brackets`}},
		{"\"\u001b[2J\\u001b[31m\" = 1", []string{`1:2: is no TOML, so octavo keeps its own keys: basic strings cannot have control characters`}},
		{"\"\\u001b[31mx\\n\" = \"f2\"", []string{`1:1: "x" is nothing that a key can do: ` + names}},
		{"vim = \"yes\"", []string{"1:1: vim must be true or false"}},
		{"list.edit = 7", []string{`1:1: list.edit must be a key such as "ctrl+k", a list of at most 8 keys, or "none"; octavo keeps ctrl+e`}},
		{"list.edit = [\"f2\", 7]", []string{`1:1: list.edit must be a key such as "ctrl+k", a list of at most 8 keys, or "none"; octavo keeps ctrl+e`}},
		{"list.edit = [\"none\"]", []string{`1:1: list.edit must be a key such as "ctrl+k", a list of at most 8 keys, or "none"; octavo keeps ctrl+e`}},
		{"list.edit = {f2 = true}", []string{`1:14: "list.edit.f2" is nothing that a key can do; did you mean list.edit?`}},
		{"list.edit = [\"f2\", \"F2\"]", []string{"1:1: list.edit has f2 twice; octavo keeps ctrl+e"}},
		{"list.edit = \"C-q\"", []string{`1:1: list.edit "C-q" is no key: write ctrl+q; octavo keeps ctrl+e`}},
		{"app.model.select = \"\"", []string{`1:1: app.model.select is empty: write a key such as ctrl+k, f5 or /; it stays without a key`}},
		{"list.edit = \"f2\"\n\"list.edit\" = \"f3\"", []string{"2:1: list.edit is there twice: the first counts"}},
		{"list.edit = \"f2\"\nlist.edit = \"f3\"", []string{"2:1: is no TOML, so octavo keeps its own keys: key edit is already defined"}},
		{"list.edit = \"f2\"\nlist = [", []string{"2:8: is no TOML, so octavo keeps its own keys: array is incomplete"}},

		// reserved
		{"list.edit = \"enter\"", []string{"1:1: list.edit cannot have enter, which keeps its own meaning in lists; octavo keeps ctrl+e"}},
		{"list.edit = \"escape\"", []string{"1:1: list.edit cannot have esc, which keeps its own meaning in lists; octavo keeps ctrl+e"}},
		{"list.edit = \"alt+esc\"", []string{"1:1: list.edit cannot have alt+esc, which keeps its own meaning in lists; octavo keeps ctrl+e"}},
		{"app.help = [\"f2\", \"ctrl+c\"]", []string{"1:1: app.help cannot have ctrl+c, which keeps its own meaning everywhere; octavo keeps f1, ?"}},
		{"list.edit = \"left\"", []string{"1:1: list.edit cannot have left, which keeps its own meaning in lists; octavo keeps ctrl+e"}},
		{"editor.undo = \"u\"", []string{"1:1: editor.undo cannot have u, which is text in the composer; octavo keeps ctrl+_, ctrl+-"}},
		{"editor.undo = \"shift+u\"", []string{"1:1: editor.undo cannot have U, which is text in the composer; octavo keeps ctrl+_, ctrl+-"}},
		{"app.tools.expand = \"space\"", []string{"1:1: app.tools.expand cannot have space, which is text in the chat; octavo keeps ctrl+o"}},
		{"input.submit = \"none\"", []string{"1:1: input.submit cannot be without enter; octavo keeps enter"}},
		{"app.clear = []", []string{"1:1: app.clear cannot be without ctrl+c; octavo keeps ctrl+c"}},

		// what terminals and multiplexers do
		{"list.edit = \"ctrl+i\"", []string{"1:1: list.edit needs a key that always arrives beside it: ctrl+i is the same as tab in many terminals; octavo keeps ctrl+e"}},
		{"list.edit = [\"ctrl+b\", \"ctrl+m\"]", []string{"1:1: list.edit needs a key that always arrives beside it: ctrl+m is the same as enter in many terminals; octavo keeps ctrl+e"}},
		{"editor.cursorLeft = \"ctrl+b\"", []string{"1:1: editor.cursorLeft needs a key that always arrives beside it: ctrl+b is taken by tmux; octavo keeps left, ctrl+b"}},
		{"list.edit = [\"ctrl+h\", \"f2\"]", nil},

		// clashes
		{"list.edit = \"ctrl+x\"", []string{"1:1: list.edit cannot have ctrl+x, which is list.remove's in lists: give that one another key first; octavo keeps ctrl+e"}},
		{"list.edit = \"ctrl+t\"", nil}, // inner contexts have it before outer ones
		{"list.edit = \"f2\"\nlist.remove = \"f2\"", []string{"2:1: list.remove cannot have f2, which is list.edit's in lists: give that one another key first; octavo keeps ctrl+x"}},
		{"list.remove = \"f2\"\nlist.edit = \"f2\"", []string{"2:1: list.edit cannot have f2, which is list.remove's in lists: give that one another key first; octavo keeps ctrl+e"}},
		{"list = {edit = \"f2\", remove = \"f2\"}", []string{"1:22: list.remove cannot have f2, which is list.edit's in lists: give that one another key first; octavo keeps ctrl+x"}},
		{ // one taken back takes another with it
			"list.edit = \"ctrl+x\"\nlist.remove = \"ctrl+r\"", []string{
				"1:1: list.edit cannot have ctrl+x, which is list.remove's in lists: give that one another key first; octavo keeps ctrl+e",
				"2:1: list.remove cannot have ctrl+r, which is list.refresh's in lists: give that one another key first; octavo keeps ctrl+x",
			},
		},
		{"vim.insert = \"f2\"\napp.message.followUp = \"f2\"", []string{
			"2:1: app.message.followUp cannot have f2, which is vim.insert's in normal mode: give that one another key first; octavo keeps ctrl+s"}},
	} {
		r, problems := keys.Load("keys.toml", []byte(test.file))
		var got []string
		for _, p := range problems {
			got = append(got, strings.TrimPrefix(p.String(), "keys.toml:"))
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s\n(-want +got)\n%s", test.file, d)
		}
		for key, a := range map[string]keys.Action{"enter": keys.ListChoose, "esc": keys.ListBack, "ctrl+c": keys.Cancel, "up": keys.ListUp} {
			if got, _ := r.Match(page, key); got != a {
				t.Errorf("%s\n%s is %q", test.file, key, got)
			}
		}
	}
}

// TestOneProblemLeavesTheRest: a line with a problem has no effect, and only that line.
func TestOneProblemLeavesTheRest(t *testing.T) {
	r, problems := keys.Load("keys.toml", []byte("list.edit = \"enter\"\nlist.remove = \"f8\"\nnothing = 1\nvim = true"))
	if len(problems) != 2 || problems[0].Line != 1 || problems[0].Column != 1 || problems[0].Name != "list.edit" || problems[1].Line != 3 {
		t.Errorf("%v", problems)
	}
	if !r.Vim() || !slices.Equal(r.Keys(keys.ListRemove), []string{"f8"}) || !slices.Equal(r.Keys(keys.ListEdit), []string{"ctrl+e"}) {
		t.Errorf("%v, %v, %v", r.Vim(), r.Keys(keys.ListRemove), r.Keys(keys.ListEdit))
	}
}

// TestLoadIsParseAndNew, with the problems of both as the file has them.
func TestLoadIsParseAndNew(t *testing.T) {
	file := []byte("list.edit = \"enter\"\nlist.remove = \"f8\"\nnothing = 1")
	_, all := keys.Load("keys.toml", file)
	o, parsed := keys.Parse("keys.toml", file)
	r, made := keys.New(o)
	if d := cmp.Diff(all, append(made, parsed...)); d != "" || len(parsed) != 1 || r.Keys(keys.ListRemove)[0] != "f8" {
		t.Errorf("%v, %v\n%s", parsed, made, d)
	}
}

func TestBounds(t *testing.T) {
	line := "list.edit = \"f2\"\n"
	full := line + strings.Repeat("#", keys.MaxFile-len(line))
	if r, problems := keys.Load("keys.toml", []byte(full)); problems != nil || r.Keys(keys.ListEdit)[0] != "f2" {
		t.Errorf("a file of the largest size: %v", problems)
	}
	r, problems := keys.Load("keys.toml", []byte(full+"#"))
	if len(problems) != 1 || problems[0].String() != "keys.toml: is larger than 256 KiB: octavo keeps its own keys" || r.Keys(keys.ListEdit)[0] != "ctrl+e" {
		t.Errorf("a file too large: %v", problems)
	}

	many := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("\"ctrl+f%d\"", i+1)
		}
		return "list.edit = [" + strings.Join(list, ", ") + "]"
	}
	if r := registry(t, many(keys.MaxKeys)); len(r.Keys(keys.ListEdit)) != keys.MaxKeys {
		t.Errorf("%v", r.Keys(keys.ListEdit))
	}
	if _, problems := keys.Load("keys.toml", []byte(many(keys.MaxKeys+1))); len(problems) != 1 {
		t.Errorf("%v", problems)
	}

	unknown := func(n int) []keys.Problem {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "x%d = 1\n", i)
		}
		_, problems := keys.Load("keys.toml", []byte(b.String()))
		return problems
	}
	if got := unknown(keys.MaxProblems); len(got) != keys.MaxProblems || got[keys.MaxProblems-1].Line != keys.MaxProblems {
		t.Errorf("%v", got)
	}
	if got := unknown(keys.MaxProblems + 5); len(got) != keys.MaxProblems || got[keys.MaxProblems-1].String() != "keys.toml: 6 more problems" {
		t.Errorf("%v", got)
	}
}

func TestNothingSaidIsTheDefault(t *testing.T) {
	for _, file := range []string{"", "# only a remark\n", "[list]\n", "vim = false"} {
		r := registry(t, file)
		for _, a := range keys.Actions() {
			if got, want := r.Keys(a), registry(t, "").Keys(a); !slices.Equal(got, want) {
				t.Errorf("%q: %s has %v, want %v", file, a, got, want)
			}
		}
	}
}

// TestWhatIsGivenIsTheCallers: nothing that a caller does to an answer changes the registry.
func TestWhatIsGivenIsTheCallers(t *testing.T) {
	r := registry(t, "")
	r.Keys(keys.ListUp)[0] = "x"
	b, _ := r.Describe(keys.ListUp)
	b.Keys[0], b.Contexts[0] = "x", keys.Confirm
	hints := r.Hints(page, nil)
	for i := range hints {
		hints[i].Keys[0] = "x"
	}
	if b, _ := r.Describe(keys.ListUp); b.Keys[0] != "up" || b.Contexts[0] != keys.List {
		t.Errorf("%+v", b)
	}
	for _, row := range r.Help(page, nil)[0].Rows {
		if row.Keys[0] == "x" {
			t.Errorf("%+v", row)
		}
		row.Keys[0] = "x"
	}
	if s := r.Footer(page, nil, 200, keys.ASCII); !strings.HasPrefix(s, "up/down move | enter open |") {
		t.Errorf("%s", s)
	}
	if b, _ := registry(t, "").Describe(keys.ListUp); b.Keys[0] != "up" {
		t.Errorf("the table itself: %+v", b)
	}
}

// FuzzLoad: whatever is written, octavo has its reserved keys, no clash, and says of each problem what is wrong on one short line.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"", "list.edit = \"f2\"", "[list]\nup = \"none\"", "list = {edit = \"ctrl+x\", remove = [\"ctrl+e\"]}", "vim = true", "[[list]]\nup = \"x\"",
		"\"list.edit\" = \"f2\"\nlist.edit = \"f3\"", "list.edit = [[\"f2\"]]", "list.edit = \"\"\"\nf2\"\"\"", "x.y.z = 1", "\ufefflist.edit = \"f2\"",
		"a = '\x1b'", "list.edit = \"enter\"\nlist.remove = \"ctrl+e\"", "input.submit = \"none\"", "editor.cursorLeft = \"ctrl+b\"", "[list.edit]\nx = 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, problems := keys.Load("keys.toml", data)
		if len(problems) > keys.MaxProblems {
			t.Fatalf("%d problems", len(problems))
		}
		for _, p := range problems {
			if s := p.String(); len(s) > 1000 || strings.ContainsAny(s, "\x1b\n\r\t") {
				t.Fatalf("%q", s)
			}
		}
		for _, at := range []struct {
			contexts []keys.Context
			key      string
			want     keys.Action
		}{
			{page, "enter", keys.ListChoose}, {page, "esc", keys.ListBack}, {page, "up", keys.ListUp}, {popup, "down", keys.PopupDown},
			{normal, "esc", keys.Interrupt}, {draft, "ctrl+c", keys.Clear}, {draft, "enter", keys.Submit}, {draft, "a", ""},
			{question, "esc", keys.ConfirmDrop}, {approval, "esc", keys.ApprovalDeny}, {approval, "enter", keys.ApprovalChoose},
		} {
			if got, _ := r.Match(at.contexts, at.key); got != at.want {
				t.Fatalf("%v: %s is %q, want %q", at.contexts, at.key, got, at.want)
			}
		}
		for _, a := range keys.Actions() { // each key that is shown does what it says
			b, _ := r.Describe(a)
			for _, c := range b.Contexts {
				for _, k := range b.Keys {
					if got, _ := r.Match([]keys.Context{c}, k); got != a {
						t.Fatalf("%v: %s is %q, not %s", c, k, got, a)
					}
				}
			}
		}
	})
}
