package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arg is one word of a command.
type arg struct {
	text    string // its value, with a place-holder for what is only known when it runs
	pattern string // text with what was quoted escaped, for matching names
	glob    bool   // stands for the names it matches
	dynamic bool   // has a part that is only known when it runs
	loop    bool   // is nothing but the variable of a loop, whose values were judged already
}

// exact reports whether the word is what it says.
func (a arg) exact() bool { return !a.glob && !a.dynamic }

// word evaluates a word; not ok is one that is not understood.
func (j *judge) word(w *syntax.Word) (a arg, ok bool) {
	if w == nil {
		return a, false
	}
	if w.Lit() == "[" { // the command; without an end it matches nothing
		a.quoted("[")
		return a, true
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !a.unquoted(p.Value) {
				return a, false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return a, false
			}
			a.quoted(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !j.inQuotes(&a, p) {
				return a, false
			}
			param, isParam := (*syntax.ParamExp)(nil), false
			if len(w.Parts) == 1 && len(p.Parts) == 1 {
				param, isParam = p.Parts[0].(*syntax.ParamExp)
			}
			a.loop = isParam && j.loops[param.Param.Value]
		case *syntax.ParamExp:
			if !plain(p) {
				return a, false
			}
			a.dynamic = true
			a.quoted("x")
		default:
			return a, false
		}
	}
	return a, true
}

func (j *judge) inQuotes(a *arg, q *syntax.DblQuoted) bool {
	for _, p := range q.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			a.quoted(unescape(p.Value, "$`\"\\"))
		case *syntax.ParamExp:
			if !plain(p) {
				return false
			}
			a.dynamic = true
			a.quoted("x")
		case *syntax.CmdSubst:
			if p.TempFile || p.ReplyVar || !j.stmts(p.Stmts) {
				return false
			}
			a.dynamic = true
			a.quoted("x")
		default:
			return false
		}
	}
	return true
}

// plain reports whether p is $name or ${name} and no more: other forms assign, compute or run.
func plain(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.NestedParam == nil &&
		p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil && len(p.Modifiers) == 0
}

// unescape takes the backslashes away that quote one of those characters ("" for all) or join lines.
func unescape(s, special string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if special == "" || strings.IndexByte(special, s[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (a *arg) quoted(s string) {
	a.text += s
	for i := range len(s) {
		if strings.IndexByte(`*?[\`, s[i]) >= 0 {
			a.pattern += `\`
		}
		a.pattern += s[i : i+1]
	}
}

// unquoted adds characters that the shell looks at. Lists in braces and home directories are not understood.
func (a *arg) unquoted(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				a.quoted(s[i : i+1])
			}
		case '*', '?', '[':
			a.glob = true
			a.text += string(c)
			a.pattern += string(c)
		case '{':
			// Only with a comma or two dots inside do braces stand for several words: HEAD@{1} does not.
			inner, _, closed := strings.Cut(s[i+1:], "}")
			if !closed || strings.ContainsAny(inner, `{,\`) || strings.Contains(inner, "..") {
				return false
			}
			a.quoted("{")
		case '~':
			if a.text == "" || strings.HasSuffix(a.text, "=") || strings.HasSuffix(a.text, ":") {
				return false
			}
			a.quoted("~")
		default:
			a.quoted(s[i : i+1])
		}
	}
	return true
}
