package plain

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

// word begins a line of the log, in brackets (product.md 1.3).
type word string

const (
	wordSession     word = "session"
	wordWorking     word = "working"
	wordTool        word = "tool"
	wordShell       word = "shell"
	wordSteering    word = "steering"
	wordQueued      word = "queued"
	wordRetry       word = "retry"
	wordNeedsInput  word = "needs input"
	wordExtension   word = "extension"
	wordNotice      word = "notice"
	wordWarning     word = "warning"
	wordError       word = "error"
	wordUsage       word = "usage"
	wordThinking    word = "thinking"
	wordNote        word = "note"
	wordPartial     word = "partial"
	wordCompleted   word = "completed"
	wordInterrupted word = "interrupted"
	wordFailed      word = "failed"
)

// log writes chronological lines. Every write is whole lines, apart from the prompt of a terminal, and what comes from outside is
// cleaned in all of them.
type log struct {
	out      io.Writer
	err      io.Writer // readiness and warnings
	terminal bool      // out is one
	look     render.Options
	retried  string // why the request that was made again last had failed
	waiting  bool   // the cursor stands behind a prompt
	failed   error  // the first of a write to out; nothing is written to it after that
}

// say writes one line to out.
func (l *log) say(w word, s string) {
	line := strings.TrimPrefix(l.fitted(w, s), "["+string(w)+"]")
	l.write("[" + l.style(w).Paint(string(w)) + "]" + line + "\n")
}

// fitted is a line of the log. On a terminal it is broken between words where the terminal would break it anywhere, and goes on
// indented; elsewhere it stays one line, for programs.
func (l *log) fitted(w word, s string) string {
	line := "[" + string(w) + "] " + text.CleanLine(s)
	const indent = "  "
	if !l.terminal || l.look.Width <= 2*len(indent) || text.Width(line) <= l.look.Width {
		return line
	}
	return strings.ReplaceAll(text.Wrap(line, l.look.Width-len(indent)), "\n", "\n"+indent)
}

// warn writes one line to err, without colour: it need not be the same terminal.
func (l *log) warn(w word, s string) {
	if l.waiting && l.failed == nil {
		l.write("")
	}
	_, err := fmt.Fprintln(l.err, l.fitted(w, s))
	if l.failed == nil && errors.Is(err, ErrInterrupted) {
		l.failed = err // nobody could be told of any other failure
	}
}

// fail writes an error, whose first line says what it is.
func (l *log) fail(w word, err error) {
	first, more, _ := strings.Cut(text.Clean(err.Error()), "\n")
	l.say(w, first)
	l.block(more)
}

// block writes lines of text from outside, indented to stand under the line before them.
func (l *log) block(s string) {
	if s = strings.Trim(text.Clean(s), "\n"); s != "" {
		l.drawn(s)
	}
}

// drawn writes lines that are clean already and may be styled, indented.
func (l *log) drawn(s string) {
	l.write("  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n")
}

// answer writes what the model or a command said: exact where out is no terminal.
func (l *log) answer(s string) {
	if s = shown(s, l.terminal); strings.TrimSpace(s) != "" {
		l.write(ended(s))
	}
}

// echo writes what a person said.
func (l *log) echo(s string) {
	l.write(l.look.Palette.Strong.Paint(">") + " " + strings.ReplaceAll(strings.Trim(text.Clean(s), "\n"), "\n", "\n  ") + "\n")
}

// prompt asks a person at a terminal for a line.
func (l *log) prompt(s string) {
	if l.terminal && !l.waiting {
		l.write(s)
		l.waiting = true
	}
}

// typed notes that a person ended the line behind the prompt.
func (l *log) typed() { l.waiting = false }

func (l *log) write(s string) {
	if l.failed != nil {
		return
	}
	if l.waiting {
		l.waiting = false
		s = "\n" + s
	}
	_, l.failed = io.WriteString(l.out, s)
}

// control tells the terminal something that is not seen.
func (l *log) control(s string) {
	if l.failed == nil {
		_, l.failed = io.WriteString(l.out, s)
	}
}

func (l *log) style(w word) render.Style {
	p := l.look.Palette
	switch w {
	case wordFailed, wordError:
		return p.Error
	case wordRetry, wordWarning, wordInterrupted, wordPartial:
		return p.Warning
	case wordCompleted:
		return p.Success
	case wordNeedsInput:
		return p.Accent
	}
	return p.Muted
}

// retry says that a request failed and when it is made again. The reason may be long, and stands there once.
func (l *log) retry(r api.Retry) {
	if r.Attempt > 1 && r.Error == l.retried {
		l.say(wordRetry, fmt.Sprintf("attempt %d of %d failed alike; again in %s", r.Attempt, r.Most, text.Duration(r.Delay)))
		return
	}
	l.retried = r.Error
	l.say(wordRetry, fmt.Sprintf("attempt %d of %d failed: %s; again in %s", r.Attempt, r.Most, r.Error, text.Duration(r.Delay)))
}

// ownSource is the extension of octavo's own whose words are octavo's: what it reads and why not concerns every session.
const ownSource = "instructions"

// notice says what an extension or octavo has to say outside of the conversation.
func (l *log) notice(n api.Notice) {
	level := ""
	if n.Level != api.NoticeInfo && n.Level != "" {
		level = string(n.Level) + ": "
	}
	switch {
	case n.Source == ownSource:
		l.say(wordNotice, n.Text)
	case n.Source != "":
		l.say(wordExtension, n.Source+": "+level+n.Text)
	case n.Level == api.NoticeError:
		l.warn(wordError, n.Text)
	case n.Level == api.NoticeWarning:
		l.warn(wordWarning, n.Text)
	default:
		l.say(wordNotice, n.Text)
	}
}

// maxPartial is how many bytes are shown of an answer that was interrupted.
const maxPartial = 4 << 10

// partial shows what was said of an interrupted answer, which no model reads again.
func (l *log) partial(e api.Entry) {
	l.say(wordPartial, "the answer broke off here:")
	l.block(text.HeadTail(joined(e.Parts, api.PartText), maxPartial))
}

// uncertain warns when requests were made whose tokens the provider did not report, told of them being those already warned of.
// It answers how many are told of now.
func (l *log) uncertain(u api.Usage, told int64) int64 {
	if u.Unreported > told {
		l.warn(wordUsage, fmt.Sprintf("the provider did not report the tokens of %s; totals and costs leave them out",
			text.Plural(int(u.Unreported-told), "request")))
		return u.Unreported
	}
	return told
}
