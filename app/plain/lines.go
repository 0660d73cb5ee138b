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
	// maxTerminalLine is how many bytes of a line a terminal passes on, of whatever was typed (termios(3), MAX_CANON on Linux).
	maxTerminalLine = 4095
)

// What a terminal sends around what is pasted, once it was told pasteOn and until it is told pasteOff.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// pasteLost is how long after one line of a paste the next still belongs to it without the mark of its end.
	pasteLost = time.Second
)

// line is one line that a person typed, or all that was pasted in a row.
type line struct {
	text string
	// ask is the question that was being shown when the line was read, "" for none. Only such a line can be its answer: what was
	// typed before a question appeared was not meant for it (decision 11).
	ask  string
	at   time.Time // when it was read
	full bool      // the terminal may have cut it off
	err  error     // the line was not taken
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
	terminal bool // src is one
	now      func() time.Time
	out      chan line
	quit     chan struct{}
	done     chan struct{}
}

func readLines(src io.Reader, terminal bool, now func() time.Time) *lineReader {
	out := make(chan line, maxTypedAhead)
	r := &lineReader{lines: out, src: src, terminal: terminal, now: now, out: out, quit: make(chan struct{}), done: make(chan struct{})}
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
		long  bool   // it is too long; its rest is passed over
		since int64  // discards when it began
		in    input
	)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.src.Read(buf)
		at := r.now() // before it is looked up what is shown: what was read before a question must not look as if it came after
		shown := *r.shown.Load()
		if d := r.discards.Load(); d != since {
			open, long, since, in = open[:0], false, d, input{}
		}
		for b := buf[:n]; len(b) > 0; {
			if !in.begun {
				in.begun, in.ask = true, shown
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
			if done := in.add(open, long, at, r.terminal); done {
				if !r.send(in, at) {
					return
				}
				in = input{}
			}
			open, long = open[:0], false
		}
		if err != nil {
			if in.begun {
				in.add(open, long, at, r.terminal)
				r.send(in, at)
			}
			return
		}
	}
}

// input is what becomes one line: of a text that is pasted at a terminal, all of its lines.
type input struct {
	begun   bool
	ask     string // what was shown when its first byte was read
	text    []byte
	long    bool      // it is too long, and not kept
	full    bool      // the terminal may have cut a line of it
	pasting bool      // its end has not been seen
	last    time.Time // when the line before was read
}

// add takes the next line. It reports whether the input is complete.
func (in *input) add(b []byte, long bool, at time.Time, terminal bool) bool {
	before := in.pasting
	if terminal {
		in.full = in.full || len(b) >= maxTerminalLine
		b, in.pasting = unmarked(b, in.pasting)
	}
	if in.long = in.long || long || len(in.text)+len(b) > maxLine; in.long {
		in.text = nil
	} else {
		in.text = append(in.text, b...)
	}
	// A line that comes late without the end of the paste was typed: the mark was taken away, with ctrl+u for example.
	if !in.pasting || before && at.Sub(in.last) > pasteLost {
		return true
	}
	in.last = at
	if !in.long {
		in.text = append(in.text, '\n')
	}
	return false
}

// unmarked is a line without the marks of a paste, and whether one is open behind it.
func unmarked(b []byte, pasting bool) ([]byte, bool) {
	if bytes.IndexByte(b, '\x1b') < 0 {
		return b, pasting
	}
	var out []byte
	for {
		start, end := bytes.Index(b, []byte(pasteStart)), bytes.Index(b, []byte(pasteEnd))
		switch {
		case start < 0 && end < 0:
			return append(out, b...), pasting
		case start >= 0 && (end < 0 || start < end):
			out, b, pasting = append(out, b[:start]...), b[start+len(pasteStart):], true
		default:
			out, b, pasting = append(out, b[:end]...), b[end+len(pasteEnd):], false
		}
	}
}

// send hands a line over. It reports false when nobody wants it any more.
func (r *lineReader) send(in input, at time.Time) bool {
	l := line{text: string(bytes.TrimSuffix(in.text, []byte("\r"))), ask: in.ask, at: at, full: in.full}
	if in.long {
		l.text, l.err = "", errLongLine
	}
	select {
	case <-r.quit:
		return false
	case r.out <- l:
		return true
	}
}
