package themes

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Glyph is a character that the screen is built with. The list is closed.
type Glyph string

const (
	GlyphCursor     Glyph = "cursor"
	GlyphPrompt     Glyph = "prompt"
	GlyphReply      Glyph = "reply"
	GlyphBullet     Glyph = "bullet"
	GlyphClosed     Glyph = "closed"
	GlyphOpen       Glyph = "open"
	GlyphBranch     Glyph = "branch"
	GlyphLast       Glyph = "last"
	GlyphStem       Glyph = "stem"
	GlyphRule       Glyph = "rule"
	GlyphVertical   Glyph = "vertical"
	GlyphJunction   Glyph = "junction"
	GlyphQuote      Glyph = "quote"
	GlyphGutter     Glyph = "gutter"
	GlyphEllipsis   Glyph = "ellipsis"
	GlyphCheck      Glyph = "check"
	GlyphCross      Glyph = "cross"
	GlyphBang       Glyph = "bang"
	GlyphCircle     Glyph = "circle"
	GlyphCircleHalf Glyph = "circle_half"
	GlyphCircleFull Glyph = "circle_full"
	GlyphDot        Glyph = "dot"
	GlyphUp         Glyph = "up"
	GlyphDown       Glyph = "down"
	GlyphLeft       Glyph = "left"
	GlyphRight      Glyph = "right"
	GlyphTimes      Glyph = "times"
	GlyphMinus      Glyph = "minus"
	GlyphMask       Glyph = "mask"
	GlyphThumb      Glyph = "thumb"
	GlyphTrack      Glyph = "track"
)

// glyphRow is one glyph as a theme has it that says nothing of it.
type glyphRow struct {
	glyph       Glyph
	char, ascii string
	about       string
}

var glyphs = [...]glyphRow{
	{GlyphCursor, "▌", ">", "the highlighted row"},
	{GlyphPrompt, "›", ">", "what you said"},
	{GlyphReply, "●", "*", "what the model said"},
	{GlyphBullet, "•", "-", "an item of a list in prose"},
	{GlyphClosed, "▸", "+", "folded"},
	{GlyphOpen, "▾", "-", "unfolded"},
	{GlyphBranch, "├", "|", "an item of a tree"},
	{GlyphLast, "└", "`", "the last item of a tree"},
	{GlyphStem, "│", "|", "a tree that goes on below"},
	{GlyphRule, "─", "-", "a line across"},
	{GlyphVertical, "│", "|", "a line down"},
	{GlyphJunction, "┼", "+", "where lines cross"},
	{GlyphQuote, "▎", "|", "the bar beside a quotation"},
	{GlyphGutter, "▎", "|", "the block beside changed lines"},
	{GlyphEllipsis, "…", ">", "something was cut off"},
	{GlyphCheck, "✓", "+", "succeeded"},
	{GlyphCross, "✗", "x", "failed"},
	{GlyphBang, "!", "!", "needs care"},
	{GlyphCircle, "○", "o", "waiting, or plain"},
	{GlyphCircleHalf, "◐", "*", "running"},
	{GlyphCircleFull, "●", "*", "active"},
	{GlyphDot, "·", ".", "settled; also what stands between parts of a line"},
	{GlyphUp, "↑", "^", "up; tokens sent"},
	{GlyphDown, "↓", "v", "down; tokens received"},
	{GlyphLeft, "←", "<", "left"},
	{GlyphRight, "→", ">", "right"},
	{GlyphTimes, "×", "x", "so many times"},
	{GlyphMinus, "−", "-", "lines taken out"},
	{GlyphMask, "•", "*", "a character of a secret"},
	{GlyphThumb, "┃", "#", "where a scrollbar stands"},
	{GlyphTrack, "│", "|", "a scrollbar"},
}

// spinnerKey is the frames of the spinner in [glyphs] and [glyphs_ascii], a list.
const spinnerKey = "spinner"

// MaxFrames bounds the frames of a spinner.
const MaxFrames = 32

func spinner() []string {
	return []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
}

func asciiSpinner() []string { return []string{"|", "/", "-", "\\"} }

// Glyphs lists the glyphs in the order of the documents. The slice is the caller's.
func Glyphs() []Glyph {
	all := make([]Glyph, len(glyphs))
	for i, row := range glyphs {
		all[i] = row.glyph
	}
	return all
}

// oneCell reports whether s is one character that is seen and takes one cell: a single code point, since terminals disagree on
// what several together take, and none that joins its neighbours. Those of private use, which fonts of icons have, are allowed.
func oneCell(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || size != len(s) || r == utf8.RuneError {
		return false
	}
	seen := unicode.IsPrint(r) && r != ' ' && !unicode.IsMark(r) && r != blankBraille || unicode.Is(unicode.Co, r)
	return seen && ansi.StringWidth(s) == 1
}

// blankBraille is a symbol to Unicode and a space to the eye.
const blankBraille = '\u2800'

// oneASCII reports whether s is one character of ASCII that is seen.
func oneASCII(s string) bool { return len(s) == 1 && s[0] > ' ' && s[0] < 0x7f }
