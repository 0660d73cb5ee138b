package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxEventLine is the longest line of an event stream, in bytes without its line ending (deps.md 7), unless its wire is
	// known to need longer ones.
	MaxEventLine = 1 << 20
	// MaxEvent is the most data one event may carry once its lines are joined, in bytes (plugins.md 8.8).
	MaxEvent = 8 << 20

	// sseBuffer holds ordinary lines, so that reading one copies and allocates nothing.
	sseBuffer = 16 << 10
)

var (
	// ErrLineTooLong ends a stream with a line longer than MaxEventLine, or than the limit of its wire.
	ErrLineTooLong = errors.New("a line of the event stream is too long")
	// ErrEventTooLarge ends a stream whose event carries more than MaxEvent.
	ErrEventTooLarge = fmt.Errorf("an event of the stream carries more than %d bytes", MaxEvent)
)

// SSE is one event of a text/event-stream. Data is only valid until the next call of Next.
type SSE struct {
	Name string // what the event: line said; "" for an ordinary one
	Data []byte // data: lines joined with a newline
}

// SSEReader takes an event stream apart. It knows what model providers send: lines end in LF or CR LF, and [DONE] is the end
// whatever follows it. Comments, ids and retry hints are skipped.
//
// A clean end of the input completes an event whose lines are whole even when the blank line after it is missing; a line that
// is itself incomplete is dropped, because it may be the front half of something.
type SSEReader struct {
	in      *bufio.Reader
	line    []byte // a line that did not fit the buffer of in
	maxLine int
	data    []byte // data of the event being read
	name    string // last name seen, so that a repeated one is not allocated again
	done    bool
	err     error
}

// NewSSEReader reads events from r.
func NewSSEReader(r io.Reader) *SSEReader {
	return &SSEReader{in: bufio.NewReaderSize(r, sseBuffer), maxLine: MaxEventLine}
}

// Done reports whether the stream ended with [DONE].
func (r *SSEReader) Done() bool { return r.done }

// Next returns the next event that carries data. It returns io.EOF after [DONE] and at the end of the input, ErrLineTooLong
// or ErrEventTooLarge when a bound is crossed, else the reader's own error. An error stays.
func (r *SSEReader) Next() (SSE, error) {
	if r.err != nil {
		return SSE{}, r.err
	}
	r.data = r.data[:0]
	var ev SSE
	has := false
	for {
		line, err := r.readLine()
		if err != nil {
			r.err = err
			if has && err == io.EOF {
				ev.Data = r.data
				return ev, nil
			}
			return SSE{}, err
		}
		if len(line) == 0 {
			if has {
				ev.Data = r.data
				return ev, nil
			}
			ev.Name = "" // an event without data is none
			continue
		}
		field, value := splitField(line)
		switch string(field) {
		case "data":
			if !has && isDone(value) {
				r.done, r.err = true, io.EOF
				return SSE{}, io.EOF
			}
			if has {
				r.data = append(r.data, '\n')
			}
			if len(r.data)+len(value) > MaxEvent {
				r.err = ErrEventTooLarge
				return SSE{}, r.err
			}
			r.data = append(r.data, value...)
			has = true
		case "event":
			if string(value) != r.name {
				r.name = string(value)
			}
			ev.Name = r.name
		}
	}
}

func isDone(value []byte) bool { return string(bytes.TrimSpace(value)) == "[DONE]" }

// splitField cuts "name: value" and drops the one blank that may follow the colon. A comment has the empty name.
func splitField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return field, value
}

// readLine returns the next line without its ending; it is valid until the next read. An unfinished last line is dropped,
// unless it is the end mark, which some servers leave without a line ending.
func (r *SSEReader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.line = r.line[:0]
		for err == bufio.ErrBufferFull {
			r.line = append(r.line, line...)
			if len(r.line) > r.maxLine+len("\r\n") {
				return nil, fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, r.maxLine)
			}
			line, err = r.in.ReadSlice('\n')
		}
		r.line = append(r.line, line...)
		line = r.line
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			if _, value := splitField(line); isDone(value) {
				return line, nil
			}
			return nil, io.EOF
		}
		return nil, err
	}
	line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
	if len(line) > r.maxLine {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, r.maxLine)
	}
	return bytes.TrimPrefix(line, []byte("\ufeff")), nil
}
