package code

import (
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// plainText is the lexer of what has no language.
const plainText = "plaintext"

// MaxTag bounds what is looked at of a tag, a name of a file or a first line, in bytes.
const MaxTag = 256

// Language gives the name that chroma has for the language of a text ("Go", "Bash"), "" for plain text and for none that is known: by the
// tag behind the ``` of Markdown, then by the name of the file, then by a first line that names the program that runs it. Each of the
// three may be empty.
func Language(name, file, firstLine string) string {
	if tag := tagOf(name); tag != "" {
		if strings.Contains(plainTags, " "+tag+" ") {
			return ""
		}
		if l := byTag.get(tag); l != nil {
			return nameOf(l)
		}
	}
	if base := baseOf(file); base != "" {
		for _, key := range [...]string{base, "*" + path.Ext(base)} {
			if name, ok := preferred[key]; ok {
				return name
			}
		}
		if l := byFile.get(base); l != nil {
			return nameOf(l)
		}
	}
	return byFirstLine(firstLine)
}

func nameOf(l chroma.Lexer) string {
	if name := l.Config().Name; name != plainText {
		return name
	}
	return ""
}

// lexerOf gives the lexer of a name that Language gave, nil for any other.
func lexerOf(name string) chroma.Lexer {
	if l := byTag.get(name); l != nil && l.Config().Name == name && name != plainText {
		return l
	}
	return nil
}

// plainTags are tags, beside those of chroma, that say there is nothing to highlight, whatever the file is called.
const plainTags = " none nohighlight output log ascii "

// preferred are languages of files whose name chroma takes for another: go.mod for AMPL, *.m for Mathematica, *.sql for MySQL, *.v for Coq.
var preferred = map[string]string{"go.mod": "", "go.work": "", "*.m": "Objective-C", "*.sql": "SQL", "*.v": "verilog"}

// maxLooked is how many answers of chroma's are remembered of each kind. It tries some thousand patterns for one, which takes
// milliseconds.
const maxLooked = 512

// looked remembers what was looked up.
type looked struct {
	look  func(string) chroma.Lexer
	mu    sync.Mutex
	found map[string]chroma.Lexer // nil for none
}

var (
	byTag  = looked{look: lexers.Get}
	byFile = looked{look: func(base string) chroma.Lexer {
		l := lexers.Match(base)
		if low := strings.ToLower(base); l == nil && low != base {
			l = lexers.Match(low)
		}
		return l
	}}
)

func (k *looked) get(word string) chroma.Lexer {
	k.mu.Lock()
	l, ok := k.found[word]
	k.mu.Unlock()
	if ok {
		return l
	}
	l = k.look(word)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil || len(k.found) >= maxLooked {
		k.found = map[string]chroma.Lexer{}
	}
	k.found[strings.Clone(word)] = l
	return l
}

// tagOf is the language in what stands behind a fence: go, {.python}, js title="x", rust,ignore.
func tagOf(info string) string {
	info = strings.TrimLeft(info[:min(len(info), MaxTag)], " \t{.")
	if i := strings.IndexAny(info, " \t,;{}:("); i >= 0 {
		info = info[:i]
	}
	return strings.ToLower(info)
}

// baseOf is the name of a file without its folders, "" for none.
func baseOf(file string) string {
	if len(file) > MaxTag {
		file = file[len(file)-MaxTag:]
	}
	switch base := path.Base(strings.ReplaceAll(file, `\`, "/")); base {
	case ".", "..", "/":
		return ""
	default:
		return base
	}
}

// programs are the languages of what runs programs, without the digits of versions.
var programs = map[string]string{
	"sh": "Bash", "bash": "Bash", "dash": "Bash", "ash": "Bash", "ksh": "Bash", "zsh": "Bash", "fish": "Fish", "pwsh": "PowerShell",
	"python": "Python", "pypy": "Python", "uv": "Python", "node": "JavaScript", "nodejs": "JavaScript", "bun": "TypeScript",
	"deno": "TypeScript", "ts-node": "TypeScript", "tsx": "TypeScript", "ruby": "Ruby", "perl": "Perl", "raku": "Raku", "php": "PHP",
	"lua": "Lua", "luajit": "Lua", "Rscript": "R", "awk": "Awk", "gawk": "Awk", "mawk": "Awk", "sed": "Sed", "make": "Makefile",
	"tclsh": "Tcl", "wish": "Tcl", "expect": "Tcl", "groovy": "Groovy", "julia": "Julia", "elixir": "Elixir", "escript": "Erlang",
	"runhaskell": "Haskell", "runghc": "Haskell", "swift": "Swift", "scala": "Scala", "nu": "Nu",
}

// beginnings are first lines, in lower case, that say what follows.
var beginnings = [...]struct{ start, language string }{
	{"<?php", "PHP"}, {"<?xml", "XML"}, {"<!doctype html", "HTML"}, {"<html", "HTML"}, {"diff --git ", "Diff"},
}

func byFirstLine(line string) string {
	line, _, _ = strings.Cut(line[:min(len(line), MaxTag)], "\n")
	program, ok := strings.CutPrefix(line, "#!")
	if !ok {
		low := strings.ToLower(line)
		for _, b := range beginnings {
			if strings.HasPrefix(low, b.start) {
				return b.language
			}
		}
		return ""
	}
	for w := range strings.FieldsSeq(program) {
		w = path.Base(w)
		if w == "env" || strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue
		}
		return programs[strings.TrimRight(w, "0123456789.")]
	}
	return ""
}
