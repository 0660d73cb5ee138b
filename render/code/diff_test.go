package code_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octavo/pages"
	"octavo/pages/text"
	"octavo/pages/textdiff"
	"octavo/render"
	"octavo/render/code"
	"octavo/themes"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestUnified(t *testing.T) {
	long := numbered(1, 7) + "short\n" + numbered(9, 20) + "tail"
	changed := numbered(1, 7) + "a line that is longer than it was\nand one more\n" + numbered(9, 19) + "tail\n"
	for _, test := range []struct {
		name, path string
		old, new   string
		how        textdiff.Options
		o          code.Options
		want       string
	}{
		{name: "two hunks", path: "notes", old: long, new: changed, want: `
x ¦«b:notes»  «A:+3» «R:−3»
#_ ⋯  ⋯   ¦@@ -5,7 +5,8 @@
C  5  5   ¦line 5
C  6  6   ¦line 6
C  7  7   ¦line 7
R_ 8    - ¦short
A_    8 + ¦a line that is longer than it was
A_    9 + ¦and one more
C  9 10   ¦line 9
C 10 11   ¦line 10
C 11 12   ¦line 11
#_ ⋯  ⋯   ¦@@ -17,5 +18,4 @@
C 17 18   ¦line 17
C 18 19   ¦line 18
C 19 20   ¦line 19
R_20    - ¦line 20
R_21    - ¦tail
m         ¦\ no newline at the end of the file
A_   21 + ¦tail`},
		{name: "one column of numbers, ASCII", path: "notes", old: long, new: changed, o: code.Options{Width: code.MinBothNumbers - 1, ASCII: true}, want: `
x ¦«b:notes»  «A:+3» «R:-3»
#_ :   ¦@@ -5,7 +5,8 @@
C  5   ¦line 5
C  6   ¦line 6
C  7   ¦line 7
R_ 8 - ¦short
A_ 8 + ¦a line that is longer than it was
A_ 9 + ¦and one more
C 10   ¦line 9
C 11   ¦line 10
C 12   ¦line 11
#_ :   ¦@@ -17,5 +18,4 @@
C 18   ¦line 17
C 19   ¦line 18
C 20   ¦line 19
R_20 - ¦line 20
R_21 - ¦tail
m      ¦\ no newline at the end of the file
A_21 + ¦tail`},
		{name: "no numbers", path: "a/long/path/to/notes", old: "a\n", new: "b\n", o: code.Options{Width: 16}, want: `
x ¦«b:…to/notes»  «A:+1» «R:−1»
R_- ¦a
A_+ ¦b`},
		{name: "no room for the words", path: "notes.txt", old: "a\n", new: "b\n", o: code.Options{Width: 8}, want: `
x ¦«b:notes.t…»
R_- ¦a
A_+ ¦b`},
		{name: "a new file", path: "a.go", new: "package a\n\nvar x = 1\n", how: textdiff.Options{New: true}, want: `
x ¦«b:a.go»  «m:new» «A:+3»` + " «R:−0»" + `
A_1 + ¦«k:package» a
A_2 + ¦
A_3 + ¦«k:var» x «o:=» «n:1»`},
		{name: "an empty file goes", path: "a.go", how: textdiff.Options{Removed: true}, want: `
x ¦«b:a.go»  «m:removed» «m:(empty)»`},
		{name: "nothing", path: "a.go", old: "x", new: "x", want: `
x ¦«b:a.go»  «m:(no change)»`},
		{name: "words", path: "a.go", old: "func a() {\n\treturn draw(x, old(y), 3)\n}\n", new: "func a() {\n\treturn draw(x, better(y, z), 3)\n}\n", want: `
x ¦«b:a.go»  «A:+1» «R:−1»
C 1 1   ¦«k:func» «f:a»«o:()» «o:{»
R_2   - ¦    «k:return» «f:draw»«o:(»x«o:,» «f*:old»«o:(»y«o:),» «n:3»«o:)»
A_  2 + ¦    «k:return» «f:draw»«o:(»x«o:,» «f*:better»«o:(»y«o*:,»«A*: z»«o:),» «n:3»«o:)»
C 3 3   ¦«o:}»`},
		{name: "indentation alone has no words", path: "x", old: "a b c\n", new: "\ta b c\n", want: `
x ¦«b:x»  «A:+1» «R:−1»
R_1   - ¦a b c
A_  1 + ¦    a b c`},
		{name: "a string over lines", path: "a.py", old: "x = '''\none\ntwo'''\n", new: "x = '''\none\nthree'''\ny\n", want: `
x ¦«b:a.py»  «A:+2» «R:−1»
C 1 1   ¦x «o:=» «s:'''»
C 2 2   ¦«s:one»
R_3   - ¦«s*:two»«s:'''»
A_  3 + ¦«s*:three»«s:'''»
A_  4 + ¦y`},
		{name: "what cannot be seen", path: "a\n\u202eb", old: "a\x1b[31m\u202eb\n", new: "a\u200b\x00\xff \t\n", o: code.Options{Tab: 8}, want: `
x ¦«b:a␊‹U+202E›b»  «A:+1» «R:−1»
R_1   - ¦a«w:␛»[31m«w:‹U+202E›»b
A_  1 + ¦a«w:‹U+200B›␀‹0xFF›»`},
		{name: "review of ends", path: "x", old: "a\nb\n", new: "a \t\nb\n", o: code.Options{Review: true}, want: `
x ¦«b:x»  «A:+1» «R:−1»
R_1   - ¦a
A_  1 + ¦a«w:␠␉»
C 2 2   ¦b`},
		{name: "review", path: "x", old: "a\nb\n", new: "a \t\r\nb\n", o: code.Options{Review: true}, want: `
x ¦«b:x»  «A:+1» «R:−1»
R_1   - ¦a
A_  1 + ¦a«A*:   »«w*:␍»
C 2 2   ¦b`},
		{name: "line ends", path: "x", old: "a\nb\n", new: "a\r\nb\n", want: `
x ¦«b:x»  «A:+1» «R:−1»
R_1   - ¦a
A_  1 + ¦a«w*:␍»
C 2 2   ¦b`},
		{name: "the same line ends", path: "x", old: "a\r\nb\r\n", new: "c\r\nb\r\n", want: `
x ¦«b:x»  «A:+1» «R:−1»
R_1   - ¦a
A_  1 + ¦c
C 2 2   ¦b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := textdiff.Make(test.path, []byte(test.old), []byte(test.new), test.how)
			lines := code.Unified(*d, patient(t), test.o)
			checkLines(t, lines)
			checkPicture(t, draw(lines), test.want)
			checkSaid(t, *d, lines, test.o)
		})
	}
}

// checkSaid holds what is said beside the lines of a change to the words of the plain mode.
func checkSaid(t failer, d pages.Diff, lines []render.Line, o code.Options) {
	t.Helper()
	plain := strings.Split(render.Diff(d, render.Options{Width: o.Width}), "\n")
	ours := strings.NewReplacer("−", "-", "…", "...")
	want, got := plain[0], lines[0].Text
	if o.ASCII {
		want = ours.Replace(want)
	}
	if want != got {
		t.Errorf("the header is %q, in the plain mode %q", got, want)
	}
	notes := func(lines []string) (notes []string) {
		for _, l := range lines {
			l = ours.Replace(strings.TrimSpace(l))
			if strings.HasPrefix(l, render.NoNewline) || strings.HasSuffix(l, "more not shown") && strings.HasPrefix(l, "...") {
				notes = append(notes, l)
			}
		}
		return notes
	}
	var all []string
	for _, l := range lines {
		if l.Role == themes.RoleMuted || l.Role == themes.RoleWarning {
			all = append(all, l.Text[l.Gutter:])
		}
	}
	if a, b := notes(plain), notes(all); o.Width <= 0 && !slices.Equal(a, b) {
		t.Errorf("the notes are %q, in the plain mode %q", b, a)
	}
}

func TestUnifiedOdd(t *testing.T) {
	for _, test := range []struct {
		name string
		d    pages.Diff
		want string
	}{
		{"binary", pages.Diff{Path: "a.png", New: true, Binary: true}, `
x ¦«b:a.png»  «m:new» «m:binary»`},
		{"cut", pages.Diff{Path: "a", Added: 9, Deleted: 3, Cut: true, Hunks: []pages.Hunk{{OldStart: 1, NewStart: 1, OldLines: 1, NewLines: 1, Lines: []pages.DiffLine{
			{Op: pages.LineDeleted, Text: "x"}, {Op: pages.LineAdded, Text: "y"},
		}}}}, `
x ¦«b:a»  «A:+9» «R:−3»
R_1   - ¦x
A_  1 + ¦y
w       ¦… +8 −2 more not shown`},
		{"foreign", pages.Diff{Hunks: []pages.Hunk{{OldStart: -7, NewStart: 1 << 40, Lines: []pages.DiffLine{{Op: "?", Text: "a\nb"}, {Op: pages.LineAdded}}}, {}}}, `
x ¦  «m:(no change)»
#_ ⋯             ⋯   ¦@@ --7,0 +1099511627776,0 @@
C -7 1099511627776   ¦a«w:␊»b
A_   1099511627777 + ¦
#_ ⋯             ⋯   ¦@@ -0,0 +0,0 @@`},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := code.Unified(test.d, nil, code.Options{})
			checkLines(t, lines)
			checkPicture(t, draw(lines), test.want)
			checkSaid(t, test.d, lines, code.Options{})
			checkLines(t, code.Split(test.d, nil, code.Options{Width: code.MinSplit}))
		})
	}
}

func TestSplit(t *testing.T) {
	old := "package a\n\nfunc one() int { return 1 }\n\nvar gone = 1\nvar alsoGone = 2\n\nfunc b() string { return \"a text that is far too long for its half of the screen\" }\nend"
	new := "package a\n\n// New.\nfunc one() int { return 2 }\n\nvar x = \"日本語\"\n\nfunc b() string { return \"a text that is far too long for its half of the terminal\" }\nend\n"
	d := textdiff.Make("a.go", []byte(old), []byte(new), textdiff.Options{})
	o := code.Options{Width: code.MinSplit}
	lines := code.Split(*d, patient(t), o)
	checkLines(t, lines)
	checkPicture(t, draw(lines), `
x ¦«b:a.go»  «A:+5» «R:−5»
C 1   package a                                    │ 1   ¦«k:package» a
C 2                                                │ 2   ¦
C                                                  │ 3 + ¦«c/A:// New.»«A:                                      »
C 3 - func one() int { return 1 }                  │ 4 + ¦«k/A:func»«A: »«f/A:one»«o/A:()»«A: »«t/A:int»«A: »«o/A:{»«A: »«k/A:return»«A: »«n*/A:2»«A: »«o/A:}»«A:                  »
C 4                                                │ 5   ¦
C 5 - var gone = 1                                 │ 6 + ¦«k/A:var»«A: x »«o/A:=»«A: »«s/A:"日本語"»«A:                             »
C 6 - var alsoGone = 2                             │                                                  ¦
C 7                                                │ 7   ¦
C 8 - func b() string { return "a text that is fa… │ 8 + ¦«k/A:func»«A: »«f/A:b»«o/A:()»«A: »«t/A:string»«A: »«o/A:{»«A: »«k/A:return»«A: »«s/A:"a text that is far»«m/A:…»
C 9 - end                                          │ 9 + ¦«A:end                                          »
C     \ no newline at the end of the file          │     ¦`)
	left := draw([]render.Line{whole(lines[4])})
	if want := "C ¦«#/R:3 »«R+:-»«R: »«k/R:func»«R: »«f/R:one»«o/R:()»«R: »«t/R:int»«R: »«o/R:{»«R: »«k/R:return»«R: »«n*/R:1»«R: »«o/R:}»"; !strings.HasPrefix(left, want) {
		t.Errorf("the old side is %s", left)
	}
	checkSaid(t, *d, lines, o)

	if got := code.Split(*d, nil, code.Options{Width: code.MinSplit - 1}); len(got) == len(lines) || draw(got) != draw(code.Unified(*d, nil, code.Options{Width: code.MinSplit - 1})) {
		t.Errorf("below MinSplit:\n%s", draw(got))
	}
	ascii := code.Split(*d, nil, code.Options{Width: code.MinSplit, ASCII: true})
	for _, l := range ascii {
		if s := strings.ReplaceAll(l.Text, "日本語", ""); strings.ContainsFunc(s, func(r rune) bool { return r > '~' }) {
			t.Errorf("%q is no ASCII", l.Text)
		}
	}
}

func whole(l render.Line) render.Line {
	l.Gutter = 0
	return l
}

// TestPairs are the bounds of what is compared word by word.
func TestPairs(t *testing.T) {
	change := func(old, new string) string {
		d := textdiff.Make("x", []byte(old), []byte(new), textdiff.Options{})
		return draw(code.Unified(*d, nil, code.Options{}))
	}
	words := strings.Repeat("w ", code.MaxWords/2-1)
	if got := change("a "+words+"\n", "b "+words+"\n"); !strings.Contains(got, "«A*:b»") {
		t.Error("a line of MaxWords words is not compared")
	}
	if got := change("a "+words+". .\n", "b "+words+". .\n"); strings.Contains(got, "*:") {
		t.Error("a line of more than MaxWords words is compared")
	}
	// Within the bound a pair is found wherever it is, beyond it only side by side.
	const n = 50 // deleted
	old := "the same old words\n"
	for i := range n - 1 {
		old += fmt.Sprintf("%d\n", i)
	}
	for _, added := range []int{code.MaxCompared / n, code.MaxCompared/n + 1} {
		new := ""
		for i := range added - 1 {
			new += fmt.Sprintf("%c\n", 'A'+i)
		}
		got := change(old, new+"the same new words\n")
		if found := strings.Contains(got, "«A*:new»"); found != (added*n <= code.MaxCompared) {
			t.Errorf("among %d lines the pair is found: %v", added, found)
		}
	}
}

// TestEveryLine draws random changes both ways: every line stands where it belongs, once.
func TestEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "func f() {", "\treturn x + y", "}", "x := \"é\u202e\"", "日本\t語", "/* \x1b[2J", "same words here", "same word here"}),
			rapid.StringN(0, 8, 40))
		side := func(name string) string {
			return strings.Join(rapid.SliceOfN(line, 0, 14).Draw(t, name), "\n") + rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, name+" end")
		}
		checkViews(t, side("old"), side("new"), rapid.IntRange(0, 160).Draw(t, "width"))
	})
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc\n", 0)
	f.Add("func f() {\n\treturn 1\n}\n", "func g() {\n\treturn 1, \"\u202e\"\n}", 140)
	f.Add("/*\n * a\n */\n", "/*\n * b\x00\n */\r\n", 100)
	f.Add("日本語 words\n\t\tx", "日本 words\n    y", 33)
	f.Fuzz(func(t *testing.T, old, new string, width int) { checkViews(t, old, new, width%200) })
}

func checkViews(t interface {
	failer
	Fatalf(string, ...any)
}, old, new string, width int) {
	t.Helper()
	d := textdiff.Make("x.go", []byte(old), []byte(new), textdiff.Options{})
	h := code.Patient()
	defer h.Close()
	o := code.Options{Width: width}
	lines := code.Unified(*d, h, o)
	checkLines(t, lines)
	checkSaid(t, *d, lines, o)

	// What the rows have to say, from the diff itself.
	type said struct {
		op       pages.LineOp
		old, new int
		text     string
	}
	var want []said
	for _, h := range d.Hunks {
		a, b := h.OldStart, h.NewStart
		for _, l := range h.Lines {
			s := said{op: l.Op, text: solid(render.DiffText(l, render.MixedReturns(*d), false))}
			if l.Op != pages.LineAdded {
				s.old = a
				a++
			}
			if l.Op != pages.LineDeleted {
				s.new = b
				b++
			}
			want = append(want, s)
		}
	}
	var got []said
	for _, l := range lines[1:] {
		s := said{text: solid(l.Text[l.Gutter:])}
		switch l.Role {
		case themes.RoleDiffAdd:
			s.op = pages.LineAdded
		case themes.RoleDiffRemove:
			s.op = pages.LineDeleted
		case themes.RoleDiffContext:
			s.op = pages.LineSame
		default:
			continue
		}
		if l.Fill != (s.op != pages.LineSame) || !strings.HasSuffix(l.Text[:l.Gutter], string(s.op)+" ") {
			t.Fatalf("%q: fill %v, gutter %q", l.Text, l.Fill, l.Text[:l.Gutter])
		}
		numbers := strings.Fields(strings.TrimRight(l.Text[:l.Gutter], "+- "))
		i := len(got)
		if i >= len(want) {
			t.Fatalf("%q is too much", l.Text)
		}
		var shown []string
		for _, n := range []int{want[i].old, want[i].new} {
			if n != 0 {
				shown = append(shown, strconv.Itoa(n))
			}
		}
		switch {
		case width > 0 && width < code.MinNumbers:
			shown = nil
		case width > 0 && width < code.MinBothNumbers:
			shown = shown[len(shown)-1:]
		}
		if !slices.Equal(numbers, shown) {
			t.Fatalf("%q has the numbers %q, want %q", l.Text, numbers, shown)
		}
		s.old, s.new = want[i].old, want[i].new
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("shown is\n%v\nwant\n%v", got, want)
	}
	if width >= code.MinSplit {
		checkSplit(t, *d, code.Split(*d, h, o), width)
	}
}

// checkSplit holds a split view to the rows of the change: each side has its lines in their order, cut to its half.
func checkSplit(t interface {
	failer
	Fatalf(string, ...any)
}, d pages.Diff, lines []render.Line, width int) {
	t.Helper()
	checkLines(t, lines)
	var old, new []string
	for _, h := range d.Hunks {
		a, b := h.OldStart, h.NewStart
		for _, l := range h.Lines {
			s := render.DiffText(l, render.MixedReturns(d), false)
			if l.Op != pages.LineAdded {
				old = append(old, fmt.Sprint(a, string(l.Op), solid(s)))
				a++
			}
			if l.Op != pages.LineDeleted {
				new = append(new, fmt.Sprint(b, string(l.Op), solid(s)))
				b++
			}
		}
	}
	check := func(side string, all *[]string) {
		number, rest, _ := strings.Cut(strings.TrimLeft(side, " "), " ")
		if number == "" || strings.HasPrefix(rest, "no newline") {
			return
		}
		got := number + rest[:1] + solid(rest[2:])
		if len(*all) == 0 {
			t.Fatalf("%q is too much", side)
		}
		// A cut side ends with an ellipsis.
		if want := (*all)[0]; got != want && !strings.HasPrefix(want, strings.TrimSuffix(got, "…")) {
			t.Fatalf("%q is shown as %q", want, got)
		}
		*all = (*all)[1:]
	}
	for _, l := range lines[1:] {
		if l.Role != themes.RoleDiffContext {
			continue
		}
		if got := text.Width(l.Text); got != width {
			t.Fatalf("%q takes %d cells, want %d", l.Text, got, width)
		}
		left := text.Cut(l.Text, (width-3)/2, "")
		check(left, &old)
		check(strings.TrimPrefix(l.Text[len(left):], " │ "), &new)
	}
	if len(old)+len(new) > 0 {
		t.Fatalf("not shown: %q, %q", old, new)
	}
}

func TestSource(t *testing.T) {
	h := patient(t)
	for _, test := range []struct {
		name, path, source string
		from               int
		o                  code.Options
		want               string
	}{
		{"numbers", "a.go", "/* a\n\tb */\nvar x\u200b\n", 9, code.Options{Tab: 2}, `
x_ 9  ¦«c:/* a»
x_10  ¦«c:  b */»
x_11  ¦«k:var» x«w:‹U+200B›»`},
		{"no room for numbers", "a.go", "var x", 1, code.Options{Width: code.MinNumbers - 1}, `
x_¦«k:var» x`},
		{"room for numbers", "a.go", "var x", 1, code.Options{Width: code.MinNumbers}, `
x_1  ¦«k:var» x`},
		{"Windows lines, no language", "notes", "a\r\nb\r\n", 1, code.Options{}, `
d_1  ¦a
d_2  ¦b`},
		{"mixed lines", "notes", "a\r\nb\n", 1, code.Options{}, `
d_1  ¦a«w:␍»
d_2  ¦b`},
		{"by its first line", "run", "#!/bin/sh\nexit 1", 1, code.Options{}, `
x_1  ¦«k:#!/bin/sh»
x_2  ¦«f:exit» «n:1»`},
		{"the widest tab", "a", "\tx", 1, code.Options{Tab: code.MaxTab}, `
d_1  ¦` + strings.Repeat(" ", code.MaxTab) + `x`},
		{"a wider tab", "a", "\tx", 1, code.Options{Tab: code.MaxTab + 1}, `
d_1  ¦` + strings.Repeat(" ", code.MaxTab) + `x`},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := code.Source(test.path, test.source, test.from, h, test.o)
			checkLines(t, lines)
			checkPicture(t, draw(lines), test.want)
		})
	}
	if got := code.Source("a.go", "", 1, h, code.Options{}); len(got) != 0 {
		t.Errorf("an empty file is %v", got)
	}
}

func TestCopied(t *testing.T) {
	old, new := "a\n  b\nc\n", "a\n  x  y\nc\n"
	d := textdiff.Make("f", []byte(old), []byte(new), textdiff.Options{})
	for name, got := range map[string]string{
		"unified": render.Copied(code.Unified(*d, nil, code.Options{})[1:]),
		"split":   render.Copied(code.Split(*d, nil, code.Options{Width: code.MinSplit})[1:]),
		"source":  render.Copied(code.Source("f", new, 1, nil, code.Options{})),
	} {
		want := strings.TrimSuffix(new, "\n")
		if name == "unified" {
			want = "a\n  b\n  x  y\nc"
		}
		if got != want {
			t.Errorf("%s is copied as %q, want %q", name, got, want)
		}
	}
}
