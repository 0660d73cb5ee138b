package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenKind says what can be completed.
type TokenKind uint8

const (
	NoToken       TokenKind = iota
	CommandToken            // the name of a slash command, at the very start of the draft
	ArgumentToken           // a word of a command's line
	MentionToken            // @ and a path or another name
	PathToken               // a path that begins with ./ ../ ~/ or /
)

// Token is the word before the cursor (product.md 2.4).
type Token struct {
	Kind     TokenKind
	Text     string // up to the cursor, without the / of a command or the @ of a mention, and without the backslashes before spaces
	From, To int    // for Replace: what Text was made of, with the / or @; To is the cursor
	Command  string // in the line of a command behind its name: that name, without /
	Argument int    // which word behind the name it is, from 0; the last argument of a command may take several
}

// Token says what stands before the cursor and can be completed. There is none while something is selected, and in a word of more
// than MaxToken bytes.
func (b *Buffer) Token() Token {
	if b.selecting {
		return Token{}
	}
	text := b.lines[b.cursor.line].text[:b.cursor.at]
	from := wordStart(text)
	if from < 0 {
		return Token{}
	}
	t := Token{To: b.Offset()}
	if b.cursor.line == 0 {
		t.Command, t.Argument = command(text[:from])
		if name, ok := strings.CutPrefix(text, "/"); ok && from == 0 && strings.IndexByte(name, '/') < 0 {
			t.Kind, t.Text = CommandToken, name
			return t
		}
	}
	from += len(text[from:]) - len(strings.TrimLeft(text[from:], openers))
	word := text[from:]
	switch {
	case strings.HasPrefix(word, "@"):
		t.Kind, t.Text = MentionToken, Unescape(word[1:])
	case isPath(word):
		t.Kind, t.Text = PathToken, Unescape(word)
	case t.Command != "":
		from = wordStart(text)
		t.Kind, t.Text = ArgumentToken, Unescape(text[from:])
	default:
		return Token{}
	}
	t.From = b.offset(place{b.cursor.line, from})
	return t
}

// openers may stand before a mention or a path.
const openers = "([{<\"'`"

// Escape writes a path as Token reads it: with a backslash before spaces, tabs and backslashes.
func Escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if escapable(path[i]) {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// Unescape reads what Escape writes. A backslash before anything else stands for itself.
func Unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && escapable(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func escapable(c byte) bool { return c == ' ' || c == '\t' || c == '\\' }

// wordStart is where the last word of a line begins: behind a chip, or a space that no backslash escapes. It is -1 when that is
// too far away.
func wordStart(s string) int {
	for i := len(s); i > 0; {
		if len(s)-i > MaxToken {
			return -1
		}
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if s[i-n:i] == mark || unicode.IsSpace(r) && !escaped(s[:i-n]) {
			return i
		}
		i -= n
	}
	return 0
}

// escaped reports whether s ends with a backslash that no other one escapes.
func escaped(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// command reads the start of the first line up to the word at the cursor: the name of its command, "" when it is none, and how
// many words follow it.
func command(s string) (name string, words int) {
	if !strings.HasPrefix(s, "/") {
		return "", 0
	}
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 || strings.Contains(s[1:end], "/") || strings.Contains(s[:end], mark) {
		return "", 0
	}
	space := true
	for i, r := range s[end:] {
		blank := unicode.IsSpace(r) && !escaped(s[:end+i])
		if space && !blank {
			words++
		}
		space = blank
	}
	return s[1:end], words
}

// isPath reports whether a word is one that tab completes.
func isPath(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")
}
