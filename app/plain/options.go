// Package plain is octavo without a screen: one answer printed, events as JSON lines, and a conversation in lines. It knows
// only what every front end knows (app/api and the plain data and text under it): no session runtime, model, store or flag.
package plain

import (
	"io"
	"time"

	"octavo/render"
)

// Options is what a front end has of the outside. Stdout and Stderr are written to by one goroutine at a time. A person who wants
// to leave Interactive although a write is stuck is let go; that write is ended with SetWriteDeadline where it works, and
// otherwise its goroutine stays until the write ends.
type Options struct {
	// Stdin is where Interactive reads lines. A Read that is under way when Interactive returns is ended with SetReadDeadline
	// where Stdin has a working one; otherwise its goroutine stays until that Read ends, and holds nothing else.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal says that Stdout is a terminal: text from outside is then cleaned, and prompts are shown. Otherwise answers and
	// what commands print are written byte for byte.
	Terminal      bool
	Dumb          bool           // that terminal knows no control sequences, as with TERM=dumb
	Palette       render.Palette // for Stdout; the zero value has no colour
	Width         int            // cells of Stdout; 0 unknown
	ShowReasoning bool
	// Interrupts gets a value for each ctrl+c. Nil for a front end that is only ended with its context.
	Interrupts <-chan struct{}
	// Echo switches the terminal's echo of typed characters, for secrets; nil where no terminal echoes.
	Echo func(on bool) error
	// Flush throws away what was typed at the terminal of Stdin and not read yet, so that what was begun before a question cannot
	// answer it; nil where Stdin is no terminal. With it an answer also has to come readTime after its question.
	Flush func() error
	// Redact takes keys out of what a person answered before it is written down; nil takes nothing.
	Redact func(string) string
	// Now and Tick are the clock; nil is the machine's. Tick sends until stop is called.
	Now  func() time.Time
	Tick func(every time.Duration) (ticks <-chan time.Time, stop func())
}

// withDefaults fills in the clock and a Redact that does nothing.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Tick == nil {
		o.Tick = func(every time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(every)
			return t.C, t.Stop
		}
	}
	return o
}
