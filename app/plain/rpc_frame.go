package plain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxFrame bounds one line in either direction, in bytes without its end (product.md 1.5).
const MaxFrame = 4 << 20

// keptFrame is how large a buffer for lines may stay once it is empty, in bytes.
const keptFrame = 64 << 10

// frame is one line that a client wrote, or why it was not taken.
type frame struct {
	body  []byte
	fault *fault
}

// frameReader cuts what a client writes into lines. It reads on when a line has been taken, so that a client that writes faster than
// octavo works waits.
type frameReader struct {
	frames <-chan frame // closed at the end of the input
	src    io.Reader
	out    chan frame
	quit   chan struct{}
	done   chan struct{}
	failed error // why reading ended, when that was not the end of the input; read after frames is closed
}

func readFrames(src io.Reader) *frameReader {
	out := make(chan frame)
	r := &frameReader{frames: out, src: src, out: out, quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer close(out)
		r.read()
	}()
	return r
}

// stop ends reading. It waits for the reader unless that sits in a Read that nothing can end; see Options.Stdin.
func (r *frameReader) stop() {
	close(r.quit)
	unblock(r.src, func() { <-r.done })
}

func (r *frameReader) read() {
	in := bufio.NewReaderSize(r.src, keptFrame)
	var open []byte // the start of a line
	long := false   // it is too long; its rest is passed over
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(open)+len(part) > MaxFrame+len("\r\n"); long {
			open = nil
		} else {
			open = append(open, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			r.end(open, long, err)
			return
		}
		if !r.send(bytes.TrimSuffix(bytes.TrimSuffix(open, []byte("\n")), []byte("\r")), long) {
			return
		}
		open, long = nil, false
	}
}

// end tells of a line that the end of the input cut off: it may have been meant to go on.
func (r *frameReader) end(open []byte, long bool, err error) {
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		r.failed = err
	}
	if long || len(bytes.TrimSpace(open)) > 0 {
		r.hand(frame{fault: faultf(codeFrame, "the last line has no line feed at its end and was not taken")})
	}
}

// send hands a line over, unless it is blank. It reports false when nobody wants it any more.
func (r *frameReader) send(b []byte, long bool) bool {
	switch {
	case long || len(b) > MaxFrame:
		return r.hand(frame{fault: faultf(codeFrame, "a line has more than %d bytes and was passed over", MaxFrame)})
	case len(bytes.TrimSpace(b)) == 0:
		return true
	}
	return r.hand(frame{body: b})
}

func (r *frameReader) hand(f frame) bool {
	select {
	case <-r.quit:
		return false
	case r.out <- f:
		return true
	}
}

// faultCode says in one word why a request failed. docs/rpc.md describes each; a test keeps the two together.
type faultCode string

const (
	codeFrame        faultCode = "invalid_frame"
	codeJSON         faultCode = "invalid_json"
	codeRequest      faultCode = "invalid_request"
	codeUnknown      faultCode = "unknown_command"
	codeNotAvailable faultCode = "not_available"
	codeBusy         faultCode = "busy"
	codeIdle         faultCode = "idle"
	codeQueueFull    faultCode = "queue_full"
	codeNoModel      faultCode = "no_model"
	codeNotFound     faultCode = "not_found"
	codeCancelled    faultCode = "cancelled"
	codeClosing      faultCode = "closing"
	codeFailed       faultCode = "failed"
)

// fault is why a request failed.
type fault struct {
	Code    faultCode `json:"code"`
	Message string    `json:"message"`
}

func faultf(code faultCode, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}
