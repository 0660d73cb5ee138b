package plain

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"octavo/app/api"
)

const (
	// maxTypedAhead is how many lines wait to be looked at; then reading waits. It is more than a person types, so that what a
	// person typed before a question has been read before it.
	maxTypedAhead = 256
	// maxLine is the longest line that is taken, in bytes. One that is longer could not be sent.
	maxLine = api.MaxInput
)

// line is one line that a person typed.
type line struct {
	text string
	// ask is the question that was being shown when the line was read, "" for none. Only such a line can be its answer: what was
	// typed before a question appeared was not meant for it (decision 11).
	ask string
	at  time.Time // when it was read
	err error     // the line was not taken
}

// errLongLine is what becomes of a line above maxLine.
var errLongLine = errors.New("the line is longer than one input may be (1 MiB); put long text into a file and name the file")

// lineReader reads lines from the moment it is made, whether or not anybody waits for one. What was typed is thereby marked with
// the question that stood above it then, and not with the one that stands there when somebody gets to look at the line.
type lineReader struct {
	lines    <-chan line // closed at the end of the input
	shown    atomic.Pointer[string]
	discards atomic.Int64 // how often discard was called
	src      io.Reader
	now      func() time.Time
	out      chan line
	quit     chan struct{}
	done     chan struct{}
}

func readLines(src io.Reader, now func() time.Time) *lineReader {
	out := make(chan line, maxTypedAhead)
	r := &lineReader{lines: out, src: src, now: now, out: out, quit: make(chan struct{}), done: make(chan struct{})}
	r.show("")
	go func() {
		defer close(r.done)
		defer close(out)
		r.read()
	}()
	return r
}

// show says which question is shown from now on, "" for none.
func (r *lineReader) show(ask string) { r.shown.Store(&ask) }

// discard forgets the start of a line that was read, so that what is read from now on begins a new one.
func (r *lineReader) discard() { r.discards.Add(1) }

// stop ends reading. It waits for the reader unless that sits in a Read that nothing can end; see Options.Stdin.
func (r *lineReader) stop() {
	close(r.quit)
	unblock(r.src, func() { <-r.done })
}

// read cuts what it reads into lines until the input ends or stop is called.
func (r *lineReader) read() {
	var (
		open  []byte // the start of a line
		label string // what was shown when its first byte was read
		long  bool   // it is too long; its rest is passed over
		since int64  // discards when it began
	)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.src.Read(buf)
		at := r.now() // before it is looked up what is shown: what was read before a question must not look as if it came after
		shown := *r.shown.Load()
		if d := r.discards.Load(); d != since {
			open, long, since = open[:0], false, d
		}
		for b := buf[:n]; len(b) > 0; {
			if len(open) == 0 && !long {
				label = shown
			}
			part, rest, ends := bytes.Cut(b, []byte("\n"))
			if long = long || len(open)+len(part) > maxLine; long {
				open = open[:0]
			} else {
				open = append(open, part...)
			}
			if b = rest; !ends {
				break
			}
			if !r.send(open, label, at, long) {
				return
			}
			open, long = open[:0], false
		}
		if err != nil {
			if len(open) > 0 || long {
				r.send(open, label, at, long)
			}
			return
		}
	}
}

// send hands a line over. It reports false when nobody wants it any more.
func (r *lineReader) send(b []byte, label string, at time.Time, long bool) bool {
	l := line{text: string(bytes.TrimSuffix(b, []byte("\r"))), ask: label, at: at}
	if long {
		l.text, l.err = "", errLongLine
	}
	select {
	case <-r.quit:
		return false
	case r.out <- l:
		return true
	}
}
