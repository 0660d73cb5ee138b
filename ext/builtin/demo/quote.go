package demo

import (
	"fmt"
	"strings"

	"octavo/pages/text"
)

const (
	// maxQuoted is how much of a line from outside is repeated, in characters, and maxSentence of what a tool says in one.
	maxQuoted   = 100
	maxSentence = 240
	// maxBlockLines is how many lines a block of them has at most.
	maxBlockLines = 10
)

// plain is a line from outside as it can stand in Markdown: clean, of at most so many characters, and without backticks.
func plain(line string, most int) string {
	line = text.CleanLine(text.CutBytes(line, most*8))
	return text.Clip(strings.ReplaceAll(line, "`", "'"), most)
}

// clipped is a line from outside in backticks.
func clipped(line string, most int) string {
	if line = strings.TrimSpace(plain(line, most)); line == "" {
		return "(nothing)"
	}
	return "`" + line + "`"
}

// code is a short line from outside in backticks.
func code(line string) string { return clipped(line, maxQuoted) }

// block is a few lines from outside as code of a language, with how many more there are.
func block(language string, lines []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "```%s\n", language)
	for _, line := range lines[:min(len(lines), maxBlockLines)] {
		b.WriteString(plain(line, maxQuoted) + "\n")
	}
	b.WriteString("```")
	if more := len(lines) - maxBlockLines; more > 0 {
		fmt.Fprintf(&b, "\n(and %s)", text.Plural(more, "more line"))
	}
	return b.String()
}
