package editor_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octavo/ui/editor"
)

func TestToken(t *testing.T) {
	const none, command, argument, mention, path = editor.NoToken, editor.CommandToken, editor.ArgumentToken, editor.MentionToken, editor.PathToken
	for _, test := range []struct {
		draft string
		kind  editor.TokenKind
		text  string
		span  string // what Replace would take the place of
		line  string // command and argument
	}{
		{"|", none, "", "", " 0"},
		{"word|", none, "", "", " 0"},
		{"/|", command, "", "/", " 0"},
		{"/mod|", command, "mod", "/mod", " 0"},
		{"/mo|del", command, "mo", "/mo", " 0"},
		{"|/mod", none, "", "", " 0"},
		{"/skill:go|\nmore", command, "skill:go", "/skill:go", " 0"},
		{" /mod|", path, "/mod", "/mod", " 0"},
		{"\n/mod|", path, "/mod", "/mod", " 0"},
		{"/usr/lo|", path, "/usr/lo", "/usr/lo", " 0"},
		{"/usr/lo x|", none, "", "", " 0"},
		{"/model |", argument, "", "", "model 0"},
		{"/model son|", argument, "son", "son", "model 0"},
		{"/model a  b|", argument, "b", "b", "model 1"},
		{"/model a b |", argument, "", "", "model 2"},
		{`/model a\ b c|`, argument, "c", "c", "model 1"},
		{`/model a\ b|`, argument, "a b", `a\ b`, "model 0"},
		{"/export ./o|", path, "./o", "./o", "export 0"},
		{"/ask a @f|", mention, "f", "@f", "ask 1"},
		{"/model a\nb|", none, "", "", " 0"},
		{"@|", mention, "", "@", " 0"},
		{"see @src/ma|in.go", mention, "src/ma", "@src/ma", " 0"},
		{"see (@src|", mention, "src", "@src", " 0"},
		{"a@b|", none, "", "", " 0"},
		{`@my\ file|`, mention, "my file", `@my\ file`, " 0"},
		{"日本 @日|", mention, "日", "@日", " 0"},
		{"日本\u3000@日|", mention, "日", "@日", " 0"},
		{"./a|", path, "./a", "./a", " 0"},
		{"in ../a/b|", path, "../a/b", "../a/b", " 0"},
		{`in ~/my\ dir/x\\y|`, path, `~/my dir/x\y`, `~/my\ dir/x\\y`, " 0"},
		{`~/a\\ ./b|`, path, "./b", "./b", " 0"},
		{"`./a|", path, "./a", "./a", " 0"},
		{"~|", none, "", "", " 0"},
		{"..|", none, "", "", " 0"},
		{"and/or|", none, "", "", " 0"},
		{"see ^@f|", none, "", "", " 0"},
		{"@" + strings.Repeat("x", editor.MaxToken-1) + "|", mention, strings.Repeat("x", editor.MaxToken-1), "@" + strings.Repeat("x", editor.MaxToken-1), " 0"},
		{"@" + strings.Repeat("x", editor.MaxToken+1) + "|", none, "", "", " 0"},
	} {
		b := draft(t, test.draft)
		got := b.Token()
		span := b.Value()[got.From:got.To]
		if got.Kind != test.kind || got.Text != test.text || span != test.span || fmt.Sprint(got.Command, " ", got.Argument) != test.line {
			t.Errorf("%q: %+v, span %q, want %d %q %q %s", test.draft, got, span, test.kind, test.text, test.span, test.line)
		}
	}
}

func TestTokenBehindChip(t *testing.T) {
	b := editor.New(nil)
	b.Attach(image("a b.png", 1))
	b.Insert("@x")
	got := b.Token()
	if got.Kind != editor.MentionToken || b.Value()[got.From:got.To] != "@x" {
		t.Errorf("%+v", got)
	}
	b.Replace(got.From, got.To, "@xyz ")
	if want := "[Image #1 a b.png 640x480]@xyz "; b.Value() != want || len(b.Chips()) != 1 {
		t.Errorf("%q", b.Value())
	}
}

func TestEscape(t *testing.T) {
	if got, want := editor.Escape("./my file\\x\ty"), `./my\ file\\x\`+"\ty"; got != want {
		t.Errorf("Escape gives %q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringOf(rapid.SampledFrom([]rune("a \\\t日/"))).Draw(t, "path")
		if got := editor.Unescape(editor.Escape(path)); got != path {
			t.Fatalf("%q comes back as %q", path, got)
		}
		b := editor.New(nil)
		b.Insert("x ./" + editor.Escape(path))
		if got := b.Token(); got.Kind != editor.PathToken || got.Text != "./"+path {
			t.Fatalf("%q is read as %+v", path, got)
		}
	})
}
