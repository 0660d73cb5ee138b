package code

import (
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

const (
	MaxCompared = maxCompared
	MaxWords    = maxWords
	MaxLooked   = maxLooked
)

// Names are the names of all languages.
func Names() []string {
	var all []string
	for _, name := range lexers.Names(false) {
		if name != plainText {
			all = append(all, name)
		}
	}
	return all
}

// Programs and Beginnings are the languages of what first lines say.
func Programs() map[string]string { return programs }

func Beginnings() map[string]string {
	all := map[string]string{}
	for _, b := range beginnings {
		all[b.start] = b.language
	}
	return all
}

// Preferred are the languages of files that are not asked of chroma.
func Preferred() map[string]string { return preferred }

// Looked is how many names are remembered.
func Looked() int {
	byFile.mu.Lock()
	defer byFile.mu.Unlock()
	return len(byFile.found)
}

// Patient makes a Highlighter that waits until a text is done, however slow the machine is.
func Patient() *Highlighter { return NewHighlighter().Patiently() }

func (h *Highlighter) Patiently() *Highlighter {
	h.patience, h.maxJob = time.Hour, time.Hour
	return h
}

// Bounded makes one that waits until a text is done, and keeps to MaxJob.
func Bounded() *Highlighter {
	h := NewHighlighter()
	h.patience = time.Hour
	return h
}

// Of makes a Highlighter whose only lexer is l, for every language.
func Of(l chroma.Lexer) *Highlighter {
	h := NewHighlighter()
	h.lexer = func(string) chroma.Lexer { return l }
	return h
}

// Kept is how many texts a Highlighter remembers, and in how many bytes.
func (h *Highlighter) Kept() (texts, bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.order.Len(), h.bytes
}

// Fresh makes a lexer anew, with nothing compiled.
func Fresh(name string) chroma.Lexer {
	l, ok := lexers.Get(name).(*chroma.RegexLexer)
	if !ok {
		return lexers.Get(name)
	}
	fresh, err := chroma.NewLexer(l.Config(), func() chroma.Rules { return l.MustRules().Clone() })
	if err != nil {
		panic(err)
	}
	return fresh.SetRegistry(lexers.GlobalLexerRegistry)
}
