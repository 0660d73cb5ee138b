package files

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"octavo/ext"
	"octavo/ext/policy"
)

func TestOptionsDecideWhichToolsAreOffered(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		want    []string
	}{
		{"the zero value reads only", Options{}, []string{"read"}},
		{"everything", everything, []string{"read", "search", "edit", "write"}},
		{"no write", Options{AllowEdit: true, Search: true}, []string{"read", "search", "edit"}},
	} {
		x := New(test.options)
		if x.Name != Name || !x.Required || x.Ledger == nil || x.Ledger.Extension != Name {
			t.Errorf("the extension is declared as %+v", x)
		}
		c, err := x.Prepare(t.Context(), ext.Prep{Session: "s", Workspace: t.TempDir()})
		must(t, err)
		var names []string
		for _, tool := range c.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, test.want) {
			t.Errorf("%s: %v, want %v", test.name, names, test.want)
		}
		if c.Instructions == "" {
			t.Errorf("%s: no instructions", test.name)
		}
	}
}

func TestPrepareNeedsAWorkspace(t *testing.T) {
	for _, workspace := range []string{"", "relative", t.TempDir() + "/missing"} {
		if _, err := New(Options{}).Prepare(t.Context(), ext.Prep{Workspace: workspace}); err == nil {
			t.Errorf("prepared for the workspace %q", workspace)
		}
	}
}

func TestOutputBytesAreClamped(t *testing.T) {
	for given, want := range map[int]int{
		0: DefaultOutputBytes, -1: MinOutputBytes, MinOutputBytes - 1: MinOutputBytes, MinOutputBytes: MinOutputBytes,
		MinOutputBytes + 1: MinOutputBytes + 1, MaxOutputBytes: MaxOutputBytes, MaxOutputBytes + 1: MaxOutputBytes,
	} {
		if got := newExtension(Options{MaxOutputBytes: given}).MaxOutputBytes; got != want {
			t.Errorf("MaxOutputBytes %d became %d, want %d", given, got, want)
		}
	}
}

// The schemas are what keeps odd arguments out, so what they admit is pinned.
func TestSchemasAdmitWhatTheToolsTake(t *testing.T) {
	s := open(t, everything)
	hash := strings.Repeat("a", 64)
	for _, test := range []struct {
		tool, args string
		want       bool
	}{
		{"read", `{"path":"a"}`, true},
		{"read", `{"path":"a","offset":1,"limit":1}`, true},
		{"read", `{"path":"a","offset":0}`, false},
		{"read", `{"path":"a","limit":0}`, false},
		{"read", `{"path":""}`, false},
		{"read", `{}`, false},
		{"read", `{"path":"a","extra":1}`, false},
		{"edit", `{"path":"a","old":"x","new":""}`, true},
		{"edit", `{"path":"a","old":"","new":"x"}`, false},
		{"edit", `{"path":"a","edits":[{"old":"x","new":"y"}],"expected_hash":"` + hash + `"}`, true},
		{"edit", `{"path":"a","edits":[]}`, false},
		{"edit", `{"path":"a","edits":[{"old":"x"}]}`, false},
		{"edit", `{"path":"a","edits":[{"old":"x","new":"y","all":true}]}`, false},
		{"edit", `{"path":"a","old":"x","new":"y","expected_hash":"` + hash[1:] + `"}`, false},
		{"write", `{"path":"a","content":""}`, true},
		{"write", `{"path":"a"}`, false},
		{"write", `{"path":"a","content":1}`, false},
		{"search", `{"query":"x"}`, true},
		{"search", `{"query":"x","path":".","glob":"*.go","mode":"regex","max_results":1000,"limit":1,"ignoreCase":true,"context":1000,"hidden":false}`, true},
		{"search", `{"query":""}`, false},
		{"search", `{"query":"x","mode":"fuzzy"}`, false},
		{"search", `{"query":"x","max_results":0}`, false},
		{"search", `{"query":"x","max_results":1001}`, false},
		{"search", `{"query":"x","context":1001}`, false},
	} {
		var schema jsonschema.Schema
		must(t, json.Unmarshal(s.tools[test.tool].Parameters, &schema))
		resolved, err := schema.Resolve(nil)
		must(t, err)
		var value any
		must(t, json.Unmarshal([]byte(test.args), &value))
		if err := resolved.Validate(value); (err == nil) != test.want {
			t.Errorf("%s %s: %v, want admitted %v", test.tool, test.args, err, test.want)
		}
	}
}

func TestDescribeIsOneLineWhateverTheArguments(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	s := open(t, everything)
	for _, test := range []struct{ tool, args, want string }{
		{"read", `{"path":"main.go"}`, "read main.go"},
		{"read", `{"path":"` + s.root + `/sub/../main.go"}`, "read main.go"},
		{"read", `{"path":"main.go","offset":100,"limit":5}`, "read main.go:100-104"},
		{"read", `{"path":"/etc/hosts"}`, "read /etc/hosts"},
		{"read", `{"path":"~/x"}`, "read /home/someone/x"},
		{"read", `{"path":"a\nb\u001b[2J"}`, `read "a\nb\x1b[2J"`},
		{"read", `{"path":"evil\u202egnp.exe"}`, `read "evil\u202egnp.exe"`},
		{"edit", `{"path":"a","old":"x","new":"y"}`, "edit a"},
		{"write", `{"path":"a","content":""}`, "write a"},
		{"search", `{"query":"foo"}`, `search "foo"`},
		{"search", `{"query":"foo\n\u001b","path":"src","glob":"*.go"}`, `search "foo\n\x1b" in src (*.go)`},
	} {
		if got := s.tools[test.tool].Describe(json.RawMessage(test.args)); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.tool, test.args, got, test.want)
		}
	}
	for name, tool := range s.tools {
		for _, junk := range []string{"", "null", "[]", "3", `"x"`, "{", `{"path":3}`, `{"path":null}`, "\xff"} {
			if got := tool.Describe(json.RawMessage(junk)); strings.Contains(got, "\n") || !strings.HasPrefix(got, name) {
				t.Errorf("%s of %q: %q", name, junk, got)
			}
		}
	}
}

func TestOddArgumentsAreRefused(t *testing.T) {
	s := open(t, everything)
	s.put("a", "text\n")
	for _, tool := range []string{"read", "search", "edit", "write"} {
		for _, raw := range []string{
			"", "null", "[]", "3", `"x"`, "{", "{}", `{"path":3}`, `{"path":null}`, `{"query":null}`, `{"path":"a"}{"path":"b"}`,
			`{"path":"a","unknown":1}`, `{"path":"a","old":"text"}`, `{"path":"a","new":"text"}`, `{"path":"a","old":"","new":"x"}`,
			`{"path":"a","offset":1.5}`, `{"path":"a","offset":1e99}`, `{"path":"a","offset":-1}`, `{"query":"x","context":-1}`,
			`{"path":"a","edits":[{}]}`, `{"path":"a","edits":[null]}`, `{"path":"a","old":"text","new":"x","edits":[{"old":"a","new":"b"}]}`,
			`{"path":"a","content":"\ud800"}`, `{"path":"a","old":"text","new":"\udc00x"}`, "{\"path\":\"a\",\"content\":\"\xff\"}",
			`{"query":"a\nb"}`, `{"query":"x","glob":"["}`, `{"query":"x","glob":"{a}{b}{c}{d}{e}{f}{g}"}`, `{"query":"(","mode":"regex"}`,
		} {
			if _, err := s.tryRaw(t.Context(), tool, json.RawMessage(raw)); err == nil {
				t.Errorf("%s took %s", tool, raw)
			}
			_ = s.tools[tool].Intent(json.RawMessage(raw))
			if preview := s.tools[tool].Preview; preview != nil {
				if _, err := preview(s.call(t.Context()), json.RawMessage(raw)); err == nil {
					t.Errorf("%s previewed %s", tool, raw)
				}
			}
		}
	}
	s.is("a", "text\n")
	// A whole number is one however it is written.
	s.ok("read", args{"path": "a", "offset": json.RawMessage("1.0"), "limit": json.RawMessage("1e2")})
}

func TestIntentFollowsTheResolvedPath(t *testing.T) {
	s := open(t, everything)
	outside := tempDir(t)
	s.put("dir/file", "x")
	s.link(outside, "out")
	s.link("dir/file", "in")
	s.link("loop", "loop")
	s.link(outside+"/missing", "dangling")
	s.fifo("pipe")
	for _, test := range []struct {
		path         string
		read, change policy.Class
	}{
		{"dir/file", policy.WorkspaceRead, policy.WorkspaceWrite},
		{"in", policy.WorkspaceRead, policy.WorkspaceWrite},
		{s.root, policy.WorkspaceRead, policy.WorkspaceWrite},
		{"new/deep/file", policy.WorkspaceRead, policy.WorkspaceWrite},
		{"dir/../new", policy.WorkspaceRead, policy.WorkspaceWrite},
		{"out/new/deep", policy.HostRead, policy.HostWrite},
		{"out/../x", policy.HostRead, policy.HostWrite}, // the parent of where the link leads
		{"dangling", policy.HostRead, policy.HostWrite},
		{"..", policy.HostRead, policy.HostWrite},
		{"new/../../x", policy.HostRead, policy.HostWrite},
		{s.root + "x", policy.HostRead, policy.HostWrite},
		{"/etc/hosts", policy.HostRead, policy.HostWrite},
		{"file://" + s.root + "/dir/file", policy.WorkspaceRead, policy.WorkspaceWrite},
		{"loop", policy.Unknown, policy.Unknown},
		{"pipe", policy.Unknown, policy.Unknown},
		{"/dev/zero", policy.Unknown, policy.Unknown},
		{"a\x00b", policy.Unknown, policy.Unknown},
		{"file://elsewhere/x", policy.Unknown, policy.Unknown},
	} {
		for tool, a := range map[string]args{
			"read": {"path": test.path}, "search": {"path": test.path, "query": "x"},
			"edit": {"path": test.path, "old": "x", "new": "y"}, "write": {"path": test.path, "content": "x"},
		} {
			want := test.read
			if tool == "edit" || tool == "write" {
				want = test.change
			}
			got := s.tools[tool].Intent(a.raw())
			if got.Class != want {
				t.Errorf("%s %q is %s, want %s", tool, test.path, got.Class, want)
			}
			if got.Class == policy.Unknown && got.Reason == "" || strings.ContainsAny(got.Title, "\n\x00") {
				t.Errorf("%s %q: %+v", tool, test.path, got)
			}
		}
	}
	if got := s.tools["search"].Intent(args{"query": "x"}.raw()); got.Class != policy.WorkspaceRead {
		t.Errorf("a search of the workspace is %s", got.Class)
	}
}

// What is outside the workspace is refused by the tools themselves too: the policy saw the path a moment earlier.
func TestToolsStayInsideWhenTold(t *testing.T) {
	outside := tempDir(t)
	must(t, os.WriteFile(outside+"/secret", []byte("secret\n"), 0o644))
	inside := everything
	inside.ExternalPaths = false
	for name, under := range map[string]struct {
		policy  policy.Name
		options Options
	}{
		"external paths off":            {policy.UnsafeHost, inside},
		"controlled":                    {policy.Controlled, everything},
		"controlled with bash approval": {policy.ControlledBashApproval, everything},
	} {
		t.Run(name, func(t *testing.T) {
			s := openUnder(t, under.policy, under.options)
			s.put("inside", "secret\n")
			s.link(outside, "out")
			s.link(outside+"/secret", "leak")
			s.link("inside", "alias")
			for _, path := range []string{outside + "/secret", "out/secret", "leak", "../x", "out/new/file"} {
				s.refused(notPermitted, "read", args{"path": path})
				s.refused(notPermitted, "search", args{"path": path, "query": "secret"})
				s.refused(notPermitted, "edit", args{"path": path, "old": "secret", "new": "x"})
				s.refused(notPermitted, "write", args{"path": path, "content": "x"})
				if _, err := s.tools["write"].Preview(s.call(t.Context()), args{"path": path, "content": "x"}.raw()); err == nil {
					t.Errorf("previewed a write of %s", path)
				}
			}
			contains(t, s.ok("read", args{"path": "alias"}), "secret")
			if text := s.ok("search", args{"query": "secret"}); strings.Contains(text, "out/") || strings.Contains(text, "leak") {
				t.Errorf("a search followed a link:\n%s", text)
			}
		})
	}
	entries, err := os.ReadDir(outside)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("something was written outside: %v", entries)
	}
}

// A link that takes the place of a directory after the path was judged must not lead a call outside.
func TestNoEscapeThroughALinkThatAppears(t *testing.T) {
	s := openUnder(t, policy.Controlled, Options{AllowEdit: true, AllowWrite: true})
	outside := tempDir(t)
	must(t, os.WriteFile(outside+"/file", []byte("outside\n"), 0o644))
	s.put("dir/file", "inside\n")
	p, err := workspace{root: s.root}.locate("dir/file")
	must(t, err)
	must(t, os.Rename(s.path("dir"), s.path("was")))
	s.link(outside, "dir")
	if f, err := load(t.Context(), p); err == nil {
		t.Errorf("read %q", f.data)
	}
	must(t, os.Remove(outside+"/file"))
	for _, was := range []*content{nil, {data: []byte("inside\n"), info: p.info}} {
		if err := (replacer{}).replace(t.Context(), temps{}, p, was, []byte("x")); err == nil {
			t.Error("wrote through the link")
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("something was written outside: %v", entries)
	}
}

func TestPathSpellings(t *testing.T) {
	home := tempDir(t)
	t.Setenv("HOME", home)
	must(t, os.WriteFile(home+"/note", []byte("at home\n"), 0o644))
	s := open(t, everything)
	s.put("dir/a b", "spaced\n")
	s.put("~weird", "tilde\n")
	s.put("100%", "percent\n")
	for path, want := range map[string]string{
		"~/note":                            "at home",
		"file://" + home + "/note":          "at home",
		"file://localhost" + home + "/note": "at home",
		"file://" + s.root + "/dir/a%20b":   "spaced",
		"./dir//a b":                        "spaced",
		"dir/./../dir/a b":                  "spaced",
		s.root + "/dir/a b":                 "spaced",
		"~weird":                            "tilde",
		"100%":                              "percent",
	} {
		contains(t, s.ok("read", args{"path": path}), want)
	}
	for path, want := range map[string]code{
		"":                               badArguments,
		"file://host/x":                  notPermitted,
		"file://" + home + "/a?b":        badArguments,
		"file://%zz":                     badArguments,
		"file:///a%00b":                  notPermitted,
		"a\x00b":                         notPermitted,
		"a\nb":                           notPermitted,
		"a\x1b[31mb":                     notPermitted,
		"a\u0085b":                       notPermitted,
		"dir/a b/c":                      ioFailed,
		"missing/../dir/nothing":         ioFailed,
		strings.Repeat("a", 4096):        ioFailed, // one name is too long for the system
		strings.Repeat("/a", 2048) + "b": badArguments,
		"new/":                           isDirectory,
	} {
		s.refused(want, "read", args{"path": path})
	}
	// Both sides of the bounds.
	s.refused(ioFailed, "read", args{"path": strings.Repeat("/a", maxPathBytes/2)})
	for links, want := range map[int]bool{maxLinks: true, maxLinks + 1: false} {
		dir := tempDir(t)
		must(t, os.WriteFile(dir+"/0", []byte("end\n"), 0o644))
		for i := 1; i <= links; i++ {
			must(t, os.Symlink(strings.Repeat("./", i)+strconv.Itoa(i-1), dir+"/"+strconv.Itoa(i)))
		}
		_, err := s.try("read", args{"path": dir + "/" + strconv.Itoa(links)})
		if (err == nil) != want {
			t.Errorf("%d links: %v", links, err)
		}
	}
}

func TestPlacesAreNamedFromTheWorkspace(t *testing.T) {
	type named struct {
		Shown, Name string
		Inside      bool
	}
	s := open(t, everything)
	s.put("dir/file", "")
	for _, test := range []struct {
		root, path string
		want       named
	}{
		{s.root, ".", named{".", ".", true}},
		{s.root, s.root + "/dir/file", named{"dir/file", "dir/file", true}},
		{s.root + "/dir", "../new/x", named{s.root + "/new/x", "new/x", false}},
		{s.root + "/dir", "..", named{s.root, ".", false}},
		{"/", s.root[1:], named{s.root[1:], s.root[1:], true}},
		{"/", "/", named{".", ".", true}},
		{s.root, "/", named{"/", ".", false}},
		{s.root, "/nothing-here", named{"/nothing-here", "nothing-here", false}},
	} {
		p, err := workspace{root: test.root, external: true}.locate(test.path)
		must(t, err)
		if diff := cmp.Diff(test.want, named{p.shown, p.name, p.inside}); diff != "" {
			t.Errorf("%s from %s: %s", test.path, test.root, diff)
		}
		if p.base != "/" && p.base+"/"+p.name != p.abs && p.base != p.abs {
			t.Errorf("%s from %s: base %s and name %s are not %s", test.path, test.root, p.base, p.name, p.abs)
		}
	}
}
