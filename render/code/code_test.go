package code_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"octavo/pages/text"
	"octavo/render"
	"octavo/render/code"
	"octavo/themes"
)

// letters are roles as the pictures of these tests show them.
var letters = map[themes.Role]string{
	themes.RoleSyntaxComment: "c", themes.RoleSyntaxKeyword: "k", themes.RoleSyntaxFunction: "f", themes.RoleSyntaxString: "s",
	themes.RoleSyntaxNumber: "n", themes.RoleSyntaxType: "t", themes.RoleSyntaxOperator: "o",
	themes.RoleDiffAdd: "A", themes.RoleDiffRemove: "R", themes.RoleDiffContext: "C", themes.RoleDiffHunk: "#",
	themes.RoleMuted: "m", themes.RoleWarning: "w", themes.RoleStrong: "b", themes.RoleText: "x", themes.RoleCode: "d", themes.RoleRule: "r",
	themes.RoleHeading: "h", themes.RoleEmphasis: "e", themes.RoleLink: "l", themes.RoleQuote: "q",
}

// marks draws the runs of a line: «k:func» is func as a keyword, «A*:x» x with the attributes of a changed word as an added line, and
// «k/A:x» x as a keyword on one.
func marks(l render.Line, from int) string {
	var b strings.Builder
	at := from
	for _, r := range l.Runs {
		if r.To <= from {
			continue
		}
		name := letters[r.Role]
		if name == "" {
			name = string(r.Role)
		}
		switch r.Attr {
		case 0:
		case render.Bold:
			name += "+"
		case render.Bold | render.Underline:
			name += "*"
		default:
			name += fmt.Sprint(r.Attr)
		}
		if r.On != "" {
			name += "/" + letters[r.On]
		}
		start := max(r.From, from)
		b.WriteString(l.Text[at:start] + "«" + name + ":" + l.Text[start:r.To] + "»")
		at = r.To
	}
	return b.String() + l.Text[at:]
}

// drawn is a line as a picture: its role, _ where it fills the row, its gutter, and behind ¦ what is marked in its content.
func drawn(l render.Line) string {
	fill := " "
	if l.Fill {
		fill = "_"
	}
	return letters[l.Role] + fill + l.Text[:l.Gutter] + "¦" + marks(l, l.Gutter)
}

func draw(lines []render.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, strings.TrimRight(drawn(l), " "))
	}
	return strings.Join(all, "\n")
}

func checkPicture(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimPrefix(want, "\n"), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// patient is a Highlighter that ends with the test and never hurries.
func patient(t *testing.T) *code.Highlighter {
	t.Helper()
	h := code.Patient()
	t.Cleanup(h.Close)
	return h
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkLines holds for every line that this package makes.
func checkLines(t failer, lines []render.Line) {
	t.Helper()
	for _, l := range lines {
		if !utf8.ValidString(l.Text) || strings.ContainsFunc(l.Text, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }) {
			t.Errorf("%q has a control character", l.Text)
		}
		if l.Role == "" || l.Gutter < 0 || l.Gutter > len(l.Text) {
			t.Errorf("%q: role %q, gutter %d", l.Text, l.Role, l.Gutter)
		}
		at := 0
		for _, r := range l.Runs {
			if r.From < at || r.From >= r.To || r.To > len(l.Text) || r.Role == "" {
				t.Errorf("%q: a run %+v after %d", l.Text, r, at)
				break
			}
			if !utf8.RuneStart(l.Text[r.From]) || r.To < len(l.Text) && !utf8.RuneStart(l.Text[r.To]) {
				t.Errorf("%q: a run %+v within a character", l.Text, r)
			}
			at = r.To
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, test := range []struct{ name, file, first, want string }{
		{name: "go", want: "Go"},
		{name: "Golang", want: "Go"},
		{name: " {.python .numberLines}", want: "Python"},
		{name: "rust,ignore", want: "Rust"},
		{name: `js title="a.js"`, want: "JavaScript"},
		{name: "go:main.go", want: "Go"},
		{name: "c++", want: "C++"},
		{name: "c#", want: "C#"},
		{name: "hs", want: "Haskell"},
		{name: "mjs", want: "JavaScript"},
		{name: "sh", want: "Bash"},
		{name: "jsonc", want: "JSON"},
		{name: "nonsense"},
		{name: "text", file: "main.go"},
		{name: "Plain", file: "main.go"},
		{name: "output", file: "main.go"},
		{name: "nonsense", file: "main.go", want: "Go"},
		{file: "/home/me/x/main.go", want: "Go"},
		{file: `C:\work\Main.PY`, want: "Python"},
		{file: "types.d.ts", want: "TypeScript"},
		{file: "App.tsx", want: "TypeScript"},
		{file: "Makefile", want: "Makefile"},
		{file: "deploy/Dockerfile.prod", want: "Docker"},
		{file: ".env.local", want: "Bash"},
		{file: ".bashrc", want: "Bash"},
		{file: "x/go.mod"},
		{file: "x.sql", want: "SQL"},
		{file: "CMakeLists.txt", want: "CMake"},
		{file: "notes.txt", first: "#!/bin/sh"},
		{file: "main.go~", want: "Go"},
		{file: "x.go.orig", want: "Go"},
		{file: "archive.tar.gz"},
		{file: "notes"},
		{file: "."},
		{file: ".."},
		{file: "/"},
		{file: "a.b/c"},
		{first: "#!/bin/sh", want: "Bash"},
		{first: "#!/usr/bin/env -S python3.12 -u", want: "Python"},
		{first: "#!/usr/bin/env FOO=1 node", want: "JavaScript"},
		{first: "#!/opt/odd/thing"},
		{first: "#!"},
		{first: "<?xml version='1.0'?>", want: "XML"},
		{first: "<!DOCTYPE html>", want: "HTML"},
		{first: "diff --git a/x b/x", want: "Diff"},
		{file: "script", first: "#!/usr/bin/ruby -w", want: "Ruby"},
		{file: strings.Repeat("d/", 3*code.MaxTag) + "x.go", want: "Go"},
		{name: strings.Repeat("g", code.MaxTag), want: ""},
		{name: strings.Repeat(" ", code.MaxTag-2) + "go", want: "Go"},
		{name: strings.Repeat(" ", code.MaxTag) + "go", want: ""},
		{first: "#!" + strings.Repeat(" ", code.MaxTag-5) + "awk", want: "Awk"},
		{first: "#!" + strings.Repeat(" ", code.MaxTag-4) + "awk", want: ""},
	} {
		if got := code.Language(test.name, test.file, test.first); got != test.want {
			t.Errorf("Language(%.40q, %.40q, %.40q) = %q, want %q", test.name, test.file, test.first, got, test.want)
		}
	}
}

// TestNames holds the tables to the lexers there are: a name that chroma gave up or changed would highlight nothing.
func TestNames(t *testing.T) {
	there := map[string]bool{"": true}
	for _, name := range code.Names() {
		there[name] = true
	}
	for _, table := range []map[string]string{code.Programs(), code.Beginnings(), code.Preferred()} {
		for word, name := range table {
			if !there[name] {
				t.Errorf("%s is of %s, which is no lexer", word, name)
			}
		}
	}
}

func TestMaxLooked(t *testing.T) {
	most := 0
	for i := range code.MaxLooked + 2 {
		code.Language("", fmt.Sprintf("x%d.go", i), "")
		most = max(most, code.Looked())
	}
	if got := code.Looked(); most != code.MaxLooked || got >= most {
		t.Errorf("%d names are remembered, at most %d", got, most)
	}
}

func TestLines(t *testing.T) {
	h := patient(t)
	for _, test := range []struct{ name, language, source, want string }{
		{"nothing", "go", "", ""},
		{"clean and plain", "", "a\x1b[31m\tb\r\n\r\nc\u202e\n", `
d_¦a   b
d_¦
d_¦c‹RLO›`},
		{"Go", "go", "func (s *Set[T]) Add(v T) error { // ok\n\treturn fmt.Errorf(\"%q\\n\", `a\nb`, 'x', 0x1F, nil)\n}\n", `
x_¦«k:func» «o:(»s «o:*»Set«o:[»T«o:])» «f:Add»«o:(»v T«o:)» «t:error» «o:{» «c:// ok»
x_¦    «k:return» fmt«o:.»«f:Errorf»«o:(»«s:"%q\n"»«o:,» «s:` + "`a»" + `
x_¦«s:b` + "`»" + `«o:,» «s:'x'»«o:,» «n:0x1F»«o:,» «n:nil»«o:)»
x_¦«o:}»`},
		{"Python", "python", "@app.route('/')\nasync def f(self, *a) -> str:\n    x = rb'\\'' + f\"{a[0]!r} {{}} {n:>3}\" + r'\\d'\n    return None  # done\nmatch = re.match(x)\nmatch x:\n", `
x_¦«f:@app.route»«o:(»«s:'/'»«o:)»
x_¦«k:async» «k:def» «f:f»«o:(»«k:self»«o:,» «o:*»a«o:)» «o:->» «f:str»«o::»
x_¦    x «o:=» «s:rb'\''» «o:+» «s:f"»«o:{»a«o:[»«n:0»«o:]!r}»«s: {{}} »«o:{»n«o::»«s:>3»«o:}»«s:"» «o:+» «s:r'\d'»
x_¦    «k:return» «n:None»  «c:# done»
x_¦«k:match» «o:=» re«o:.»«k:match»«o:(»x«o:)»
x_¦«k:match» x«o::»`},
		{"TypeScript", "typescript", "const a = `x${f(`${1}`)}y`;\nif (x / 2 > y / z && /a[/]\\/b/g.test(s)) type = 1;\ntype T<K extends string> = Promise<K>;\nuseState<number>(0)", `
x_¦«k:const» a «o:=» «s:` + "`" + `x»«o:${»f«o:(»«s:` + "`" + `»«o:${»«n:1»«o:}»«s:` + "`" + `»«o:)}»«s:y` + "`" + `»«o:;»
x_¦«k:if» «o:(»x «o:/» «n:2» «o:>» y «o:/» z «o:&&» «s:/a[/]\/b/g»«o:.»test«o:(»s«o:))» «k:type» «o:=» «n:1»«o:;»
x_¦«k:type» T«o:<»«k:K» «t:extends» «t:string»«o:>» «o:=» Promise«o:<»«k:K»«o:>;»
x_¦useState«o:<»«k:number»«o:>(»«n:0»«o:)»`},
		{"JSON", "json", `{"a": [1.5e-3, true, "b"], /* c */ "d\"": null}`, `
x_¦«o:{»«k:"a"»«o::» «o:[»«n:1.5e-3»«o:,» «n:true»«o:,» «s:"b"»«o:],» /* c */ «k:"d\""»«o::» «n:null»«o:}»`},
		{"Rust", "rust", "fn f<'a>(x: &'a str) -> Result<()> { let c = '\\u{1F600}'; println!(r#\"a\"b\"#, 0..9u8); x != y } /* /* */ */ z", `
x_¦«k:fn» «f:f»«o:<»«t:'a»«o:>(»x: «k:&»«t:'a» «t:str»«o:)» -> «f:Result»«o:<()>» «o:{» «k:let» c «o:=» «s:'\u{1F600}'»«o:;» «f:println!»«o:(»«s:r#"a"b"#»«o:,» «n:0»«o:..»«n:9»«k:u8»«o:);» x «o:!=» y «o:}» «c:/* /* */ */» z`},
		{"bash", "bash", "A=1 sudo -E ls -l \"${x:-$(pwd)} $1\" | grep -v '#' # c\nif [[ -f $f && ! -d d ]]; then exit 3; fi\ncat <<-'EOF' >out\n  it's $x\n  EOF\ncase $x in a) run ;; esac; n=$((1 << 2))", `
x_¦«t:A»«o:=»«n:1» sudo -E ls -l «s:"»«o:${»«t:x»«k::-$(»«f:pwd»«k:)»«o:}»«s: »«t:$1»«s:"» «o:|» grep -v «s:'#'» «c:# c»
x_¦«k:if» «o:[[» -f «t:$f» «o:&&» ! -d d «o:]];» «k:then» «f:exit» 3«o:;» «k:fi»
x_¦cat «s:<<-'EOF' >out»
x_¦«s:  it's $x»
x_¦«s:  EOF»
x_¦«k:case» «t:$x» in a«o:)» run «o:;;» «k:esac»«o:;» «t:n»«o:=»«k:$((»«n:1» << «n:2»«k:))»`},
		{"YAML", "yaml", "a: &x [1, two, {b: \"c\"}]\n- k: |\n    text: # no\n  l: it's # yes\n- 'q' : no\n", `
x_¦«k:a»«o::» «k:&x» «o:[»«n:1»«o:,» «s:two, {b: "c"}]»
x_¦- «k:k»«o::» «o:|»
x_¦«s:    text: # no»
x_¦  «k:l»«o::» «s:it's» «c:# yes»
x_¦- «k:'q' »«o::» «n:no»`},
		{"HTML", "html", "<!-- c --><a href='x' on>t &amp; u</a><script>let a = \"</b>\"</script><style>p { top: 1px }</style>", `
x_¦«c:<!-- c -->»«o:<»«k:a» «t:href»«o:=»«s:'x'» «t:on»«o:>»t «n:&amp;» u«o:</»«k:a»«o:><»«k:script»«o:>»«k:let» a «o:=» «s:"</b>"»«o:</»«k:script»«o:><»«k:style»«o:>»«k:p» «o:{» «k:top»«o::» «n:1»«t:px» «o:}</»«k:style»«o:>»`},
		{"CSS", "css", "@media (x) { .a:hover > p, #b { color: #fff; --v: calc(1px + var(--w)) !important } } /* c */", `
x_¦«o:@»«k:media» «o:(»«k:x»«o:)» «o:{» «o:.»«t:a»«o::»«f:hover» «o:>» «k:p»«o:,» «o:#»b «o:{» «k:color»«o::» «n:#fff»«o:;» «t:--v»«o::» «f:calc»«o:(»«n:1»«t:px» «o:+» «f:var»«o:(--»w«o:))» «k:!important» «o:}» «o:}» «c:/* c */»`},
		{"Markdown", "markdown", "# T\n> q\n1. **b** _e_ `c` a_b_c [l](u)\n```go\nvar x\n```\nend", `
x_¦«h:# T»
x_¦«k:> »«e:q»
x_¦«k:1.» «b:**b**» «e:_e_» «s:` + "`" + `c` + "`" + `» a_b_c [«k:l»](«t:u»)
x_¦«s:` + "```" + `go»
x_¦«k:var» x
x_¦«s:` + "```" + `»
x_¦end`},
		{"diff", "diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z", `
x_¦«R:--- a»
x_¦«A:+++ b»
x_¦«h:@@ -1 +1 @@»
x_¦«R:-x»
x_¦«A:+y»
x_¦ z`},
		{"SQL", "sql", "Select 'it''s', \"c\" FROM t -- x", `
x_¦«k:Select» «s:'it''s'»«o:,» «s:"c"» «k:FROM» t «c:-- x»`},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, ok := h.Lines(t.Context(), code.Language(test.language, "", ""), test.source)
			if want := test.language != ""; ok != want {
				t.Errorf("highlighted is %v, want %v", ok, want)
			}
			checkLines(t, lines)
			checkPicture(t, draw(lines), test.want)
		})
	}
}

// hostile are shapes of text that make scanners slow.
var hostile = []string{
	"(", "{", "[", "<", "<a", "<a>", "\"", "'", "`", "/", "//", "/*", "{-", "(*", "\\", "$", "${", "$(", "#{", "`${", "<<A\n", "<<", "%w(", "r#",
	"r#\"", "@", "#", "&", "&a", "{{", "{%", "*", "**", "_", "[a](", "[", "```\n", "```x\n", "~~~", "- ", "a: ", "a:", "|\n", ": |\n", ">", "\n",
	" ", "\t", "a", "0", ".", "0.", "=", "a=", "[[", "]]", "--", "\"\"\"", "f\"{", "f'{", "é", "\u0301", "日", "s/a/", "q(", "\n=a", "1'", "'a",
	"<!--", "<?php", "<script>", "<style>", "a<b,", "a(", "RUN ", "\\\n", "all:\n\t", "$ ", "me@x$ ", "x$", "AS ", "::", ";", "{;", "a:b;", ":a",
	"{a:", "\"a\":", "'a' :", "? ", "!", "a!", "@\"", "a/b/c ", "/a[/", "..", "\n\n", "---\n", "+\n", "-\n", "\\a", "\\\\",
}

// TestHostile gives all of them to the languages that are common: whatever chroma makes of them, a caller gets the text within Patience,
// and Close ends what still runs.
func TestHostile(t *testing.T) {
	for i, language := range common {
		h := code.NewHighlighter()
		for j := i % 11; j < len(hostile); j += 11 { // each shape for some of them
			shape := hostile[j]
			source := text.Clean(strings.Repeat(shape, code.MaxSource/len(shape)))
			began := time.Now()
			lines, _ := h.Lines(t.Context(), language, source)
			if took := time.Since(began); took > code.Patience+5*time.Second {
				t.Errorf("%s: %q took %v", language, shape, took)
			}
			if got := texts(lines); got != strings.TrimSuffix(source, "\n") {
				t.Errorf("%s: %q is shown otherwise", language, shape)
			}
		}
		h.Close()
	}
}

var common = []string{
	"Go", "Python", "TypeScript", "JavaScript", "Rust", "Bash", "JSON", "YAML", "HTML", "CSS", "SQL", "markdown", "Diff", "C", "C++", "Java",
}

// TestEveryLexer gives random and hostile texts to every lexer there is: what is shown is the text, highlighted or not.
func TestEveryLexer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var sources []string
	for range 6 {
		var b strings.Builder
		for range 40 {
			b.WriteString(hostile[random.IntN(len(hostile))])
			if random.IntN(3) == 0 {
				b.WriteString([]string{"word", "\n", " ", "日本", "if x then", "\u202e", "\x00", "1e9"}[random.IntN(8)])
			}
		}
		sources = append(sources, b.String())
	}
	sources = append(sources, "", "\n", "\n\n a", strings.Join(hostile, ""), strings.Join(hostile, "\n"))
	h := code.Bounded()
	defer h.Close()
	plain := 0
	for _, name := range code.Names() {
		for _, source := range sources {
			lines, ok := h.Lines(t.Context(), name, source)
			if !ok {
				plain++
			}
			checkLines(t, lines)
			if got, want := texts(lines), strings.TrimSuffix(text.Clean(source), "\n"); got != want {
				t.Fatalf("%s: %q is shown as %q", name, want, got)
			}
		}
	}
	// Some lexers lose text, which is then shown plain. They are few.
	if all := len(code.Names()) * len(sources); plain > all/10 {
		t.Errorf("%d of %d are not highlighted", plain, all)
	}
}

func FuzzLines(f *testing.F) {
	names := code.Names()
	for i := range common {
		f.Add(uint16(slices.Index(names, common[i])), "\"a${b#{c\\(d}\n/* <x y='z'>\n- k: |\n  $(x `y` 'é\u202e\t<<E\n%w(é)\\é")
	}
	for i, s := range hostile {
		f.Add(uint16(i), strings.Repeat(s, 9)+"\n"+strings.Repeat(s, 3)+" é")
	}
	f.Fuzz(func(t *testing.T, language uint16, source string) {
		name := names[int(language)%len(names)]
		h := code.Bounded()
		defer h.Close()
		lines, ok := h.Lines(context.Background(), name, source)
		checkLines(t, lines)
		clean := strings.TrimSuffix(text.Clean(source), "\n")
		if got := texts(lines); got != clean {
			t.Fatalf("%s: %q is shown as %q", name, clean, got)
		}
		if again, found := h.Cached(name, source); found != ok || ok && len(again) != len(lines) {
			t.Fatal("not remembered")
		}
		for _, o := range []code.Options{{}, {Width: 40, Tab: 8}, {Width: 20, Tab: 1}} {
			numbered := code.Source("x", source, 98, h, o)
			checkLines(t, numbered)
			want := text.Visible(strings.TrimSuffix(source, "\n"))
			if strings.IndexByte(source, '\r') < 0 && solid(render.Copied(numbered)) != solid(want) {
				t.Fatalf("%q is copied as %q", want, render.Copied(numbered))
			}
		}
	})
}

func texts(lines []render.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return strings.Join(all, "\n")
}

// solid is a text without blanks: how many a tab is, and those that end lines, are nothing that a test about contents asks for.
func solid(s string) string { return strings.NewReplacer(" ", "", "\t", "").Replace(s) }
