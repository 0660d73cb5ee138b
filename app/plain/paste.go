package plain

import (
	"context"
	"strings"
	"time"

	"octavo/app/api"
)

// pasteGap is the longest time between two lines of a text that is pasted at a terminal; nobody types that fast.
const pasteGap = 10 * time.Millisecond

// paste is what was said at the prompt of a terminal and may go on with the next line. The terminal hands a pasted text over line
// by line, and it is one input all the same.
type paste struct {
	text string
	last time.Time        // when the last line of it was read
	wait <-chan time.Time // nil while there is none
	end  func()
	// escape says that it is one line so far, which is a command of the person's own if it stays one.
	escape bool
}

// chat says an input that a line completed to the model; at the idle prompt of a terminal, once no more lines follow at once. One
// without words only ever goes on.
func (v *conversation) chat(ctx context.Context, input string, at time.Time) {
	p := &v.paste
	switch {
	case v.o.Flush == nil:
		v.utter(ctx, input)
	case p.wait == nil && v.state.Turn != nil:
		v.utter(ctx, input)
	default:
		v.gather(ctx, input, at)
	}
}

// gather takes an input that may go on with the next line.
func (v *conversation) gather(ctx context.Context, input string, at time.Time) {
	p := &v.paste
	if p.wait != nil && len(p.text)+1+len(input) <= api.MaxInput {
		p.text += "\n" + input
		p.escape = false
	} else {
		v.pasted(ctx)
		p.text = input
		p.wait, p.end = v.o.Tick(pasteGap)
	}
	p.last = at
}

// pasteOver reports whether a line that was read at a time does not belong to what was said before it.
func (v *conversation) pasteOver(at time.Time) bool { return at.Sub(v.paste.last) > pasteGap }

// pasted says what was gathered, or runs it.
func (v *conversation) pasted(ctx context.Context) {
	if v.paste.escape {
		v.runShell(ctx, v.dropPaste())
		return
	}
	if text := strings.TrimRight(v.dropPaste(), "\n"); text != "" {
		v.utter(ctx, text)
	}
}

// dropPaste forgets what was gathered, and answers it.
func (v *conversation) dropPaste() string {
	p := v.paste
	v.paste = paste{}
	if p.wait != nil {
		p.end()
	}
	return p.text
}

// utter submits what a person typed, which the terminal has shown as it was typed.
func (v *conversation) utter(ctx context.Context, input string) {
	v.spoken = 0
	if r, ok := v.submit(ctx, api.Input{Kind: api.InputChat, Text: input}); ok && !r.Queued && v.o.Echo != nil && v.o.Terminal {
		v.spoken = r.Seq
	}
}
