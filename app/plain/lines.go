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
	err error // the line was not taken
}

// errLongLine is what becomes of a line above maxLine.
var errLongLine = errors.New("the line is longer than one input may be (1 MiB); put long text into a file and name the file")

// lineReader reads lines from the moment it is made, whether or not anybody waits for one. What was typed is thereby marked with
// the question that stood above it then, and not with the one that stands there when somebody gets to look at the line.
type lineReader struct {
	lines <-chan line // closed at the end of the input
	shown atomic.Pointer[string]
	src   io.Reader
	out   chan line
	quit  chan struct{}
	done  chan struct{}
}

func readLines(src io.Reader) *lineReader {
	out := make(chan line, maxTypedAhead)
	r := &lineReader{lines: out, src: src, out: out, quit: make(chan struct{}), done: make(chan struct{})}
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

// stop ends reading. It waits for the reader unless that sits in a Read that nothing can end; see Options.Stdin.
func (r *lineReader) stop() {
	close(r.quit)
	d, ok := r.src.(interface{ SetReadDeadline(time.Time) error })
	if ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-r.done
		_ = d.SetReadDeadline(time.Time{})
	}
}

// read cuts what it reads into lines until the input ends or stop is called.
func (r *lineReader) read() {
	var (
		open  []byte // the start of a line
		label string // what was shown when its first byte was read
		long  bool   // it is too long; its rest is passed over
	)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.src.Read(buf)
		shown := *r.shown.Load()
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
			if !r.send(open, label, long) {
				return
			}
			open, long = open[:0], false
		}
		if err != nil {
			if len(open) > 0 || long {
				r.send(open, label, long)
			}
			return
		}
	}
}

// send hands a line over. It reports false when nobody wants it any more.
func (r *lineReader) send(b []byte, label string, long bool) bool {
	l := line{text: string(bytes.TrimSuffix(b, []byte("\r"))), ask: label}
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
