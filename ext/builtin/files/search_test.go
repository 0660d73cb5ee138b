package files

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// engines runs a test with ripgrep, where it is installed, and without it.
func (s *session) engines(run func()) {
	s.Helper()
	for _, program := range []string{findRipgrep(), ""} {
		s.x.ripgrep = func() string { return program }
		run()
	}
}

// both runs a test with each engine as a test of its own.
func both(t *testing.T, run func(t *testing.T, s *session)) {
	t.Helper()
	t.Run("ripgrep", func(t *testing.T) {
		program := findRipgrep()
		if program == "" {
			t.Skip("ripgrep is not installed; the walker is what is used")
		}
		s := open(t, everything)
		s.x.ripgrep = func() string { return program }
		run(t, s)
	})
	t.Run("walker", func(t *testing.T) {
		s := open(t, everything)
		s.x.ripgrep = func() string { return "" }
		run(t, s)
	})
}

// git makes the workspace a repository.
func (s *session) git() {
	s.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		s.Skip("git is not installed")
	}
	c := exec.Command(git, "-c", "init.defaultBranch=main", "init", "-q", s.root)
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("git init: %v\n%s", err, out)
	}
}

func TestSearch(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.git()
		s.put(".gitignore", "*.log\nbuild/\n")
		s.put("b.go", "package b\n\nfunc Foo() {}\nfunc foo() {}\n")
		s.put("a/z.go", "foo\r\nbar foo\r\n")
		s.put("a-b.txt", "a foo\n")
		s.put("a/deep/x.ts", "const foo = 1\n")
		s.put(".hidden/f.go", "foo\n")
		s.put("build/out.go", "foo\n")
		s.put("x.log", "foo\n")
		s.put("bin", "foo\n\x00\n")
		s.put("latin", "caf\xe9 foo\n")
		s.put("utf16", "\xff\xfef\x00o\x00o\x00\n\x00")
		s.put("bom", "\xef\xbb\xbffoo\n")
		s.put("c.md", "a.b a+b (x\n\ttabbed\n")
		s.put("-dash", "dashed\n")
		s.put("weird\nname\x1b[2J", "weirdly\n")
		s.put("nested/f", "nested foo\n")
		s.link("b.go", "link.go")
		s.fifo("pipe")
		s.sparse("huge", maxFileBytes+1)

		for _, test := range []struct {
			name string
			a    args
			want string // rows, or what the answer contains when it begins with "~"
		}{
			{"everything in order of paths", args{"query": "foo"}, ".hidden/f.go:1  foo\na/deep/x.ts:1  const foo = 1\na/z.go:1  foo\na/z.go:2  bar foo\na-b.txt:1  a foo\n" +
				"b.go:4  func foo() {}\nbom:1  foo\nlatin:1  café foo\nnested/f:1  nested foo\nutf16:1  foo\n"},
			{"any case", args{"query": "FOO", "ignoreCase": true, "glob": "b.go"}, "b.go:3  func Foo() {}\nb.go:4  func foo() {}\n"},
			{"a name", args{"query": "foo", "glob": "*.ts"}, "a/deep/x.ts:1  const foo = 1\n"},
			{"names", args{"query": "foo", "glob": "*.{ts,txt}"}, "a/deep/x.ts:1  const foo = 1\na-b.txt:1  a foo\n"},
			{"a glob does not bring back what is ignored", args{"query": "foo", "glob": "*.log"}, "~no match"},
			{"a path", args{"query": "foo", "glob": "a/*.go"}, "a/z.go:1  foo\na/z.go:2  bar foo\n"},
			{"a path at any depth", args{"query": "foo", "glob": "a/**"}, "a/deep/x.ts:1  const foo = 1\na/z.go:1  foo\na/z.go:2  bar foo\n"},
			{"a directory", args{"query": "foo", "glob": "deep/"}, "a/deep/x.ts:1  const foo = 1\n"},
			{"not a name", args{"query": "foo", "path": "a", "glob": "!*.go"}, "a/deep/x.ts:1  const foo = 1\n"},
			{"from the searched directory", args{"query": "foo", "path": "a", "glob": "deep/*"}, "a/deep/x.ts:1  const foo = 1\n"},
			{"from the workspace", args{"query": "foo", "path": "a", "glob": "a/deep/*"}, "a/deep/x.ts:1  const foo = 1\n"},
			{"one file", args{"query": "foo", "path": "b.go"}, "b.go:4  func foo() {}\n"},
			{"one file that the glob does not fit", args{"query": "foo", "path": "b.go", "glob": "*.ts"}, "b.go:4  func foo() {}\n"},
			{"one file through a link", args{"query": "foo", "path": "link.go"}, "b.go:4  func foo() {}\n"},
			{"one ignored file", args{"query": "foo", "path": "x.log"}, "x.log:1  foo\n"},
			{"an ignored directory", args{"query": "foo", "path": "build"}, "build/out.go:1  foo\n"},
			{"a binary file", args{"query": "foo", "path": "bin"}, "~no match for \"foo\" (literal) in bin; searched that file"},
			{"no hidden files", args{"query": "foo", "glob": "f*", "hidden": false}, "nested/f:1  nested foo\n"},
			{"literal is literal", args{"query": "a.b"}, "c.md:1  a.b a+b (x\n"},
			{"and not a pattern", args{"query": "(x"}, "c.md:1  a.b a+b (x\n"},
			{"regex", args{"query": "^func [a-z]+", "mode": "regex"}, "b.go:4  func foo() {}\n"},
			{"the end of a CRLF line", args{"query": "foo$", "mode": "regex", "path": "a/z.go"}, "a/z.go:1  foo\na/z.go:2  bar foo\n"},
			{"white space is kept", args{"query": "tabbed"}, "c.md:2  \ttabbed\n"},
			{"dashes", args{"query": "-e", "path": "-dash"}, "~no match"},
			{"a name with a dash", args{"query": "dashed", "path": "-dash"}, "-dash:1  dashed\n"},
			{"a name that must be quoted", args{"query": "weirdly"}, "\"weird\\nname\\x1b[2J\":1  weirdly\n"},
			{"not in .git", args{"query": "repositoryformatversion"}, "~no match for \"repositoryformatversion\" (literal) in .; searched"},
			{"but where it is named", args{"query": "repositoryformatversion", "path": ".git"}, "~.git/config:"},
			{"context", args{"query": "Foo", "context": 1}, "b.go-2  \nb.go:3  func Foo() {}\nb.go-4  func foo() {}\n"},
			{"unicode", args{"query": "CAFÉ", "ignoreCase": true, "path": "latin"}, "~no match"},
			{"nothing", args{"query": "no such thing"}, "~no match for \"no such thing\" (literal) in .; searched"},
			{"nothing anywhere in a directory", args{"query": "zzz", "path": "a", "glob": "*.go", "ignoreCase": true, "mode": "regex"},
				"~no match for \"zzz\" (regex, any case) in a, glob *.go; searched the files that fit, without what git ignores, binary files and .git"},
		} {
			t.Run(test.name, func(t *testing.T) {
				got := s.ok("search", test.a)
				if want, ok := strings.CutPrefix(test.want, "~"); ok {
					contains(t, got, want)
					return
				}
				if _, rows, _ := strings.Cut(got, "\n"); rows != test.want {
					t.Errorf("got\n%s\nwant\n%s", got, test.want)
				}
			})
		}
		contains(t, s.ok("search", args{"query": "foo"}), "10 matches in 9 files for \"foo\" (literal) in .\n")
		s.refused(ioFailed, "search", args{"query": "x", "path": "missing"})
		for _, bad := range []args{
			{"query": "(", "mode": "regex"}, {"query": "a[", "mode": "regex"}, {"query": "x", "mode": "fuzzy"}, {"query": "x", "glob": "["},
			{"query": "a\nb"}, {"query": "a\x00"}, {"query": "x", "max_results": maxMatches + 1}, {"query": "x", "context": maxContext + 1},
		} {
			s.refused(badArguments, "search", bad)
		}
	})
}

func TestSearchOutsideAnyRepository(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.put(".gitignore", "*.log\n") // no rule where there is no repository
		s.put("x.log", "foo\n")
		s.put("sub/.hidden", "foo\n")
		s.put("sub/.git/config", "foo\n")
		s.put("binary", "foo\x00")
		want := "sub/.hidden:1  foo\nx.log:1  foo\n"
		if _, rows, _ := strings.Cut(s.ok("search", args{"query": "foo"}), "\n"); rows != want {
			t.Errorf("got\n%s\nwant\n%s", rows, want)
		}
	})
}

func TestSearchStopsAtItsBounds(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		for i := range 30 {
			s.put(fmt.Sprintf("%02d", i), "before\nhit\nbetween\nbetween\nbetween\nhit\nafter\n")
		}
		got := s.ok("search", args{"query": "hit"})
		contains(t, got, "50 matches in 25 files", "[stopped at 50 matches, there are more", "24:6  hit\n")
		if strings.Contains(got, "25:2") {
			t.Errorf("too much is shown:\n%s", got)
		}
		for n, more := range map[int]bool{59: true, 60: false, 61: false, 3: true} {
			for _, name := range []string{"max_results", "limit"} {
				got := s.ok("search", args{"query": "hit", name: n})
				if strings.Contains(got, "there are more") != more || strings.Count(got, "  hit\n") != min(n, 60) {
					t.Errorf("%s %d:\n%s", name, n, got)
				}
			}
		}
		want := "00-1  before\n00:2  hit\n00-3  between\n--\n00-5  between\n00:6  hit\n00-7  after\n--\n01-1  before\n01:2  hit\n01-3  between\n"
		got = s.ok("search", args{"query": "hit", "context": 1, "max_results": 3})
		if _, rows, _ := strings.Cut(got, "\n"); !strings.HasPrefix(rows, want+"[stopped at 3 matches") {
			t.Errorf("got\n%s\nwant\n%s", rows, want)
		}
		if got := s.ok("search", args{"query": "hit", "context": maxContext}); strings.Contains(got, "--\n00") {
			t.Errorf("lines that touch are kept apart:\n%s", got)
		}
	})
}

func TestSearchFitsItsResult(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.x.MaxOutputBytes = MinOutputBytes
		s.put("f", strings.Repeat(strings.Repeat("é", 100)+" hit\n", 500))
		got := s.ok("search", args{"query": "hit", "max_results": 1000, "context": 3})
		contains(t, got, "f:1  é", "[the result is full at 1 KiB")
		// The engines check both bounds in the same way: whichever comes first.
		contains(t, s.ok("search", args{"query": "hit", "max_results": 1}), "[stopped at 1 match,")
	})
}

func TestSearchClipsLines(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		for _, test := range []struct{ content, want string }{
			{"hit" + strings.Repeat("x", maxRowRunes-3), "hit" + strings.Repeat("x", maxRowRunes-3)},
			{"hit" + strings.Repeat("x", maxRowRunes-2), "hit" + strings.Repeat("x", maxRowRunes-4) + "…"},
			{"hit" + strings.Repeat("é", maxRowRunes-3), "hit" + strings.Repeat("é", maxRowRunes-3)},
			{"hit" + strings.Repeat("🐙", maxRowRunes), "hit" + strings.Repeat("🐙", maxRowRunes-4) + "…"},
			{strings.Repeat("a", 5000) + "hit" + strings.Repeat("b", 5000), "…" + strings.Repeat("a", rowLead) + "hit" + strings.Repeat("b", maxRowRunes-rowLead-4) + "…"},
			{strings.Repeat("é", 5000) + "hit", "…" + strings.Repeat("é", rowLead/2) + "hit"},
			{strings.Repeat("\xe9", 5000) + "hit", "…" + strings.Repeat("é", rowLead) + "hit"},
		} {
			s.put("f", test.content)
			if got, want := s.ok("search", args{"query": "hit"}), "f:1  "+test.want+"\n"; !strings.HasSuffix(got, want) {
				t.Errorf("%s: got\n%s\nwant\n%s", abridged(test.content), got, want)
			}
		}
		s.put("f", strings.Repeat("x", 10<<20)+"hit"+strings.Repeat("\x1b", 1<<20))
		contains(t, s.ok("search", args{"query": "hit"}), "xhit")
	})
}

// An event that is larger than any line should make is left out and said to be.
func TestRipgrepEventsAreBounded(t *testing.T) {
	for over, want := range map[int]int{0: 0, 1: 1} {
		found := &hits{max: 10, room: 1 << 20}
		e := &eventReader{query: &query{}, found: found}
		begin := `{"type":"match","data":{"lines":{"text":"`
		long := begin + strings.Repeat("x", maxEventBytes-len(begin)+over) + "\n"
		for piece := range strings.SplitSeq(long, "\n") {
			if piece != "" {
				for len(piece) > 0 {
					n := min(len(piece), 1<<20)
					if _, err := e.Write([]byte(piece[:n])); err != nil {
						t.Fatal(err)
					}
					piece = piece[n:]
				}
			}
		}
		_, err := e.Write([]byte("\n" + `{"type":"summary","data":{"stats":{"searches":7}}}` + "\n"))
		must(t, err)
		if found.omitted != want || found.searched != 7 {
			t.Errorf("%d bytes over: %d left out, %d searched", over, found.omitted, found.searched)
		}
	}
}

// A repository's configuration must not make a search run its programs.
func TestSearchRunsNothingOfTheRepository(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.git()
		s.put("f", "foo\n")
		mark := tempDir(t) + "/ran"
		hook := s.put("hook", "#!/bin/sh\ntouch "+mark+"\n")
		must(t, os.Chmod(hook, 0o755))
		config, err := os.OpenFile(s.path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = fmt.Fprintf(config, "[core]\n\tfsmonitor = %s\n", hook)
		must(t, err)
		must(t, config.Close())
		t.Setenv("RIPGREP_CONFIG_PATH", s.put("rc", "--pre="+hook+"\n"))
		t.Setenv("GIT_DIR", s.path("elsewhere"))
		contains(t, s.ok("search", args{"query": "foo"}), "1 match in 1 file")
		if _, err := os.Stat(mark); err == nil {
			t.Error("a program of the repository ran")
		}
	})
}

func TestGlobs(t *testing.T) {
	for _, test := range []struct {
		glob, rel string
		want      bool
		name      string
	}{
		{"*.go", "a/b.go", true, "*.go"},
		{"*.go", "a.go/b", false, "*.go"},
		{"/*.go", "a/b.go", false, "*.go"},
		{"/*.go", "b.go", true, "*.go"},
		{"./b.go", "b.go", true, "b.go"},
		{"src/**/*.ts", "src/x.ts", true, "*.ts"},
		{"src/**/*.ts", "src/a/b/x.ts", true, "*.ts"},
		{"src/**", "src/a/b", true, ""},
		{"src/", "lib/src/a", true, ""},
		{"/src/", "lib/src/a", false, ""},
		{"!*_test.go", "a_test.go", false, ""},
		{"!*_test.go", "a.go", true, ""},
		{"!src/", "src/a", false, ""},
		{"{src,lib/x}/a.{c,h}", "lib/x/a.h", true, ""},
		{"a.{c,h}", "a.h", true, "a.{c,h}"},
		{"[ab].go", "b.go", true, ""},
		{"a b.go", "a b.go", true, ""},
	} {
		g, err := parseGlob(test.glob)
		must(t, err)
		if got := g.fits(test.rel, "ws/"+test.rel); got != test.want {
			t.Errorf("%s fits %s: %v", test.glob, test.rel, got)
		}
		if got := g.name(); got != test.name {
			t.Errorf("%s is about names like %q, want %q", test.glob, got, test.name)
		}
	}
	for glob, want := range map[string]bool{
		strings.Repeat("a", maxGlobBytes): true, strings.Repeat("a", maxGlobBytes+1): false,
		strings.Repeat("{a,b}", maxBraces): true, strings.Repeat("{a,b}", maxBraces+1): false,
		"[": false, "{a": false, "!": false, "/": false, "a\\": false,
	} {
		if _, err := parseGlob(glob); (err == nil) != want {
			t.Errorf("%.40s: %v", glob, err)
		}
	}
}

func TestSearchStopsAtItsDeadline(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.put("f", "foo\n")
		s.x.bounds.time = 1 // a nanosecond: it has passed when the engine begins
		contains(t, s.ok("search", args{"query": "foo"}), "no match for \"foo\" (literal) in . so far\n[stopped after 0s, not everything was searched")
	})
}

func TestTheWalkerStopsAtItsBoundOfFiles(t *testing.T) {
	for _, repository := range []bool{false, true} {
		s := open(t, everything)
		s.x.ripgrep = func() string { return "" }
		if repository {
			s.git()
		}
		for i := range 11 {
			s.put(fmt.Sprintf("%02d", i), "foo\n")
		}
		for most, capped := range map[int]bool{10: true, 11: false, 12: false} {
			s.x.bounds.files = most
			got := s.ok("search", args{"query": "foo"})
			if strings.Contains(got, fmt.Sprintf("only the first %d files", most)) != capped || !strings.HasPrefix(got, fmt.Sprint(min(most, 11))) {
				t.Errorf("%d files at most:\n%s", most, got)
			}
		}
	}
}

func TestSearchBoundsItsQuery(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		var b strings.Builder
		for i := 0; b.Len() < maxQueryBytes; i++ {
			fmt.Fprint(&b, i, ",")
		}
		long := b.String()[:maxQueryBytes]
		s.put("f", long+"\n")
		contains(t, s.ok("search", args{"query": long}), "1 match in 1 file")
		s.refused(tooLarge, "search", args{"query": long + "x"})
	})
}

// What git knows of a workspace that has changed since.
func TestSearchInARepositoryInMotion(t *testing.T) {
	both(t, func(t *testing.T, s *session) {
		s.git()
		s.put("tracked", "foo\n")
		s.put("deleted", "foo\n")
		s.put("sub/inner", "foo\n")
		git := func(args ...string) {
			t.Helper()
			c := exec.Command("git", append([]string{"-C", s.root, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("add", ".")
		git("commit", "-qm", "all")
		must(t, os.Remove(s.path("deleted")))
		s.put("untracked", "foo\n")
		git("init", "-q", "repo")
		s.put("repo/own", "foo\n")
		s.put("repo/.hidden/own", "foo\n")
		git("init", "-q", ".dotted")
		s.put(".dotted/own", "foo\n")
		want := ".dotted/own:1  foo\nrepo/.hidden/own:1  foo\nrepo/own:1  foo\nsub/inner:1  foo\ntracked:1  foo\nuntracked:1  foo\n"
		if _, rows, _ := strings.Cut(s.ok("search", args{"query": "foo"}), "\n"); rows != want {
			t.Errorf("got\n%s\nwant\n%s", rows, want)
		}
		want = "repo/own:1  foo\nsub/inner:1  foo\ntracked:1  foo\nuntracked:1  foo\n"
		if _, rows, _ := strings.Cut(s.ok("search", args{"query": "foo", "hidden": false}), "\n"); rows != want {
			t.Errorf("got\n%s\nwant\n%s", rows, want)
		}
		want = "sub/inner:1  foo\n"
		if _, rows, _ := strings.Cut(s.ok("search", args{"query": "foo", "path": "sub"}), "\n"); rows != want {
			t.Errorf("got\n%s\nwant\n%s", rows, want)
		}
	})
}

// A ripgrep that fails says why, and is not taken for one that found nothing.
func TestABrokenRipgrepIsNoEmptyResult(t *testing.T) {
	s := open(t, everything)
	s.put("f", "foo\n")
	for name, script := range map[string]string{"refuses": "echo 'unknown flag\033[2J' >&2; exit 2", "crashes": "kill -9 $$", "fails": "exit 7"} {
		program := s.put("bin/"+name, "#!/bin/sh\n"+script+"\n")
		must(t, os.Chmod(program, 0o755))
		s.x.ripgrep = func() string { return program }
		if got := s.refused(ioFailed, "search", args{"query": "foo"}); strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", name, got)
		}
	}
	s.x.ripgrep = func() string { return s.path("bin/missing") }
	s.refused(ioFailed, "search", args{"query": "foo"})
}
