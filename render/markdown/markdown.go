// Package markdown makes lines of a screen out of Markdown: of a whole text, and of an answer while it is written. It reads what
// CommonMark and GitHub's tables, boxes, struck text and bare addresses are, with HTML as the text that it is, and says in roles,
// never in colours, what each part is. It highlights no code itself and knows no session and no terminal.
//
// A text is cleaned, then cut into leaves (paragraphs, headings, blocks of code, tables), line by line and without looking back.
// What a leaf looks like depends on itself, on the boxes around it (lists and quotations) and on link definitions, never on what
// follows it; so a leaf that is closed is final, and what is open is small. That is what lets a Stream grow without moving what
// stands, and Render is a Stream that got everything at once. All work grows with the length of the text, whatever is in it.
package markdown

import (
	"octavo/render"
)

// MinWidth is the least width that text is laid out for, in cells. Less is taken for it.
const MinWidth = 10

// Options is how a text is laid out.
type Options struct {
	Width int  // cells of prose, at least MinWidth
	Wide  int  // cells that code and tables may use, at least Width
	ASCII bool // bullets, rules and bars are plain ASCII
	// Code highlights a finished block of code: source is its lines, clean, without the last line feed, and language the first word
	// of its fence, "" for none. It gives a line for each of source, with that text and runs over it, or nil; of anything else
	// nothing is used, and the block has the role of code. It is asked once for each block, and again after a Resize: what is slow
	// should remember. nil highlights nothing.
	Code func(language, source string) []render.Line
}

// Bounds of what is read. Beyond them text is shown all the same, only plainer.
const (
	// maxBoxes is how many lists and quotations may stand in each other. Further marks are text.
	maxBoxes = 24
	// maxLine is from where a line of source is taken in pieces, in bytes, and lineSlack how much further a space is looked for.
	maxLine, lineSlack = 8 << 10, 256
	// maxPiece is from where a paragraph is laid out in pieces, in bytes. No mark reaches from one to the next.
	maxPiece = 8 << 10
	// maxColumns is how many columns a table may have. One with more is a paragraph.
	maxColumns = 64
	// maxLabel bounds the label of a link definition, in bytes (CommonMark).
	maxLabel = 999
	// maxDefinitions bounds how many links a text may define.
	maxDefinitions = 10_000
	// maxLink bounds an address that can be followed, in bytes: terminals take no longer ones.
	maxLink = 2048
	// maxShown is how much of an address that cannot be followed is shown, in cells.
	maxShown = 60
	// maxLanguage is how much is shown of what a fence says, in cells.
	maxLanguage = 24
)

// Render lays out a whole text. No line of prose is wider than Width, and none at all than Wide. A text without words gives none.
func Render(source string, o Options) []render.Line {
	s := NewStream(o)
	s.Write(source)
	return s.Finish()
}

// normal is o with its bounds kept.
func (o Options) normal() Options {
	o.Width = max(o.Width, MinWidth)
	o.Wide = max(o.Wide, o.Width)
	return o
}

// glyphs are the characters around text. All but the boxes take one cell, as a theme's do.
type glyphs struct {
	bullets            [3]string // by depth
	open, done         string    // boxes of a task list
	bar                string    // of a quotation
	rule, down, across string
	wrapped            string // before a line of code that goes on
	top                string // under a heading of the first level
	ellipsis           string
}

var unicodeGlyphs = glyphs{
	bullets: [3]string{"•", "◦", "▪"}, open: "○", done: "✓", bar: "▎",
	rule: "─", down: "│", across: "┼", wrapped: "↪", top: "─", ellipsis: "…",
}

var asciiGlyphs = glyphs{
	bullets: [3]string{"-", "*", "+"}, open: "[ ]", done: "[x]", bar: "|",
	rule: "-", down: "|", across: "+", wrapped: "\\", top: "=", ellipsis: ">",
}
