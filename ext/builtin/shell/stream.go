package shell

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"octavo/pages/text"
)

// stream is one output of a command. spawn writes it from one goroutine.
type stream struct {
	name   string
	record *record
	live   *live
	spills *spills

	total int64 // bytes as they came
	// redact takes octavo's keys out of the output before anything of it is kept or cut, rest gives what it held back at the end; nil
	// when there is nothing to redact.
	redact func(string) string
	rest   func() string

	// first holds what came while it is no more than a result may have; then it moves into file.
	first   []byte
	file    *spill
	keepErr error // why there is no file

	kind    sniffer
	redraws redraws
	cleaner text.Cleaner // of the text for the model
	shown   text.Cleaner // of what a person sees
	excerpt excerpt
}

// newStream makes the stream of that name. redact is ext.Call's.
func newStream(name string, r *record, l *live, s *spills, redact func() (func(string) string, func() string)) *stream {
	out := &stream{name: name, record: r, live: l, spills: s, excerpt: excerpt{limit: r.limit}}
	if redact != nil {
		out.redact, out.rest = redact()
	}
	return out
}

// Write never fails: a command is not stopped because its output cannot be kept.
func (s *stream) Write(b []byte) (int, error) {
	s.total += int64(len(b))
	if s.redact == nil {
		s.take(b)
	} else {
		s.take([]byte(s.redact(string(b))))
	}
	return len(b), nil
}

// take takes output without keys.
func (s *stream) take(b []byte) {
	if len(b) == 0 {
		return
	}
	s.keep(b)
	s.kind.see(b)
	if !s.kind.binary() {
		s.live.add(s.shown.Write(string(b)))
	}
	s.add(s.redraws.write(b))
}

// end takes what is still held back.
func (s *stream) end() {
	if s.rest != nil {
		s.take([]byte(s.rest()))
	}
	if !s.kind.binary() {
		s.live.add(s.shown.Flush())
	}
	s.add(s.redraws.flush())
	rest := s.cleaner.Flush()
	s.excerpt.add(rest)
	s.record.add(s, rest)
}

// keep has every byte that is taken, in memory or in a file, as far as the bounds let it.
func (s *stream) keep(b []byte) {
	switch {
	case s.file != nil:
		s.file.write(b)
	case s.keepErr != nil:
	case len(s.first)+len(b) <= s.record.limit:
		s.first = append(s.first, b...)
	default:
		if s.spill(); s.file != nil {
			s.file.write(b)
		}
	}
}

// spill moves what is in memory into a file.
func (s *stream) spill() {
	if s.file, s.keepErr = s.spills.create(s.name); s.file != nil {
		s.file.write(s.first)
		s.first = nil
	}
}

// store completes the file with all of the output; nothing is written any more.
func (s *stream) store() {
	if s.file == nil && s.keepErr == nil {
		s.spill()
	}
	if s.file != nil {
		s.file.end()
	}
}

// discard removes the file, if there is one: the result has all of the output.
func (s *stream) discard() {
	if s.file != nil {
		s.file.remove()
	}
}

// add cleans lines for the model. Tabs stay, other than on a screen: what is read here is written back into files.
func (s *stream) add(lines string) {
	for lines != "" {
		line, rest, tab := strings.Cut(lines, "\t")
		clean := s.cleaner.Write(line)
		if tab {
			clean += "\t"
		}
		s.excerpt.add(clean)
		s.record.add(s, clean)
		lines = rest
	}
}

// record is the text of both streams in the order in which it arrived, while it is no more than limit bytes.
type record struct {
	limit int

	mu   sync.Mutex
	text []byte
	last *stream // who wrote last
	over bool
}

func (r *record) add(s *stream, t string) {
	if t == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if r.last != nil && r.last != s && !bytes.HasSuffix(r.text, []byte("\n")) {
		r.text = append(r.text, '\n')
	}
	r.last = s
	if len(r.text)+len(t) > r.limit {
		r.text, r.over = nil, true
		return
	}
	r.text = append(r.text, t...)
}

// maxRedrawn is how long a line may be, in bytes, for a program to draw over it; the start of a longer one is passed on.
const maxRedrawn = 16 << 10

// redraws leaves of each line what a terminal would show in the end: the text after the last carriage return, and characters
// that were not rubbed out. A progress bar so costs a model one line. NUL, which lists use as a separator, ends a line.
type redraws struct {
	out      []byte
	line     []byte
	returned bool // to the start of the line, and nothing written since
	passed   bool // the start of the line is out already
}

func (r *redraws) write(b []byte) string {
	r.out = r.out[:0]
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\n\r\b\x00")
		if i < 0 {
			r.print(b)
			break
		}
		r.print(b[:i])
		switch b[i] {
		case '\r':
			r.returned = true
		case '\b':
			if !r.returned {
				_, size := utf8.DecodeLastRune(r.line)
				r.line = r.line[:len(r.line)-size]
			}
		default:
			r.pass()
			r.out = append(r.out, '\n')
			r.returned, r.passed = false, false
		}
		b = b[i+1:]
	}
	return string(r.out)
}

func (r *redraws) print(b []byte) {
	if len(b) == 0 {
		return
	}
	if r.returned {
		r.returned, r.line = false, r.line[:0]
		if r.passed {
			r.out = append(r.out, '\n')
			r.passed = false
		}
	}
	r.line = append(r.line, b...)
	if len(r.line) > maxRedrawn {
		r.pass()
		r.passed = true
	}
}

func (r *redraws) pass() {
	r.out = append(r.out, r.line...)
	r.line = r.line[:0]
}

// flush gives the last line, which has no end.
func (r *redraws) flush() string {
	r.out = r.out[:0]
	r.pass()
	return string(r.out)
}

const (
	sniffedBytes = 64 << 10 // as much of a stream decides whether it is text
	oddShare     = 10       // one byte in so many that no text has makes it binary
)

// sniffer tells text from other bytes.
type sniffer struct {
	seen, odd int
	nul       bool // the last byte was NUL: one separates, more do not
	held      []byte
}

func (s *sniffer) see(b []byte) {
	if s.seen >= sniffedBytes {
		return
	}
	b = b[:min(len(b), sniffedBytes-s.seen)]
	if len(s.held) > 0 {
		b = append(s.held, b...)
		s.held = nil
	}
	for i := 0; i < len(b); {
		if !utf8.FullRune(b[i:]) {
			s.held = append([]byte(nil), b[i:]...)
			return
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != 0 && !strings.ContainsRune("\t\n\r\b\f\x1b\a", r),
			r == 0 && s.nul:
			s.odd++
		}
		s.nul = r == 0
		s.seen += size
		i += size
	}
}

func (s *sniffer) binary() bool { return s.odd*oddShare > s.seen }
