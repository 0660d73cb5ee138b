package spawn

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	chunkBytes = 32 << 10 // one read of a program's output
	// lastGulpBytes bounds what is still taken from a pipe when its time is over: the most a pipe holds by default, so that a
	// descendant that got away cannot keep a call busy.
	lastGulpBytes = 1 << 20
)

// streams is octavo's side of the pipes of one program.
type streams struct {
	child   []*os.File // the program's ends; closed here once it has its own
	outputs []*output
	input   *input
	ended   chan struct{} // closed when every output has ended
}

// output copies one pipe into a writer.
type output struct {
	from *os.File
	to   io.Writer
	cut  bool  // stopped before the pipe's end
	err  error // the writer's
}

// input copies a reader into a pipe.
type input struct {
	from io.Reader
	to   *os.File
	done chan struct{}
}

// connect gives cmd its three streams.
func connect(cmd *exec.Cmd, c Command) (*streams, error) {
	s := &streams{ended: make(chan struct{})}
	if err := s.connect(cmd, c); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

func (s *streams) connect(cmd *exec.Cmd, c Command) error {
	switch f, isFile := c.Stdin.(*os.File); {
	case c.Stdin == nil:
	case isFile:
		cmd.Stdin = f
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		cmd.Stdin = r
		s.child = append(s.child, r)
		s.input = &input{from: c.Stdin, to: w, done: make(chan struct{})}
	}
	out, err := s.output(c.Stdout)
	if err != nil {
		return err
	}
	errOut := out
	if !same(c.Stdout, c.Stderr) {
		if errOut, err = s.output(c.Stderr); err != nil {
			return err
		}
	}
	// A nil *os.File in an io.Writer would not be the null device.
	if out != nil {
		cmd.Stdout = out
	}
	if errOut != nil {
		cmd.Stderr = errOut
	}
	return nil
}

// output makes the file that the program writes to for w.
func (s *streams) output(w io.Writer) (*os.File, error) {
	if w == nil {
		return nil, nil
	}
	if f, isFile := w.(*os.File); isFile {
		return f, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.child = append(s.child, pw)
	s.outputs = append(s.outputs, &output{from: pr, to: w})
	return pw, nil
}

// same reports whether a and b are one writer; those that cannot be compared are not.
func same(a, b io.Writer) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return a == b
}

// begin starts copying; the program is running.
func (s *streams) begin() {
	s.closeChild()
	var wg sync.WaitGroup
	for _, o := range s.outputs {
		wg.Go(o.copy)
	}
	go func() {
		wg.Wait()
		close(s.ended)
	}()
	if s.input != nil {
		go s.input.copy()
	}
}

// abandon closes everything; the program did not start.
func (s *streams) abandon() {
	s.closeChild()
	for _, o := range s.outputs {
		o.from.Close()
	}
	if s.input != nil {
		s.input.to.Close()
		s.input.closeSource()
	}
}

func (s *streams) closeChild() {
	for _, f := range s.child {
		f.Close()
	}
	s.child = nil
}

// finish waits for the outputs to end, until the deadline at most, and for all copying to have stopped.
func (s *streams) finish(deadline time.Time) {
	if s.input != nil {
		s.input.to.SetWriteDeadline(time.Unix(1, 0)) // a descendant that got away may hold a full pipe
		s.input.closeSource()
		<-s.input.done
	}
	select {
	case <-s.ended:
		return
	case <-time.After(time.Until(deadline)):
	}
	for _, o := range s.outputs {
		o.from.SetReadDeadline(time.Unix(1, 0))
	}
	<-s.ended
}

func (s *streams) cut() bool {
	for _, o := range s.outputs {
		if o.cut {
			return true
		}
	}
	return false
}

func (s *streams) failure() error {
	for _, o := range s.outputs {
		if o.err != nil {
			return o.err
		}
	}
	return nil
}

func (o *output) copy() {
	defer o.from.Close()
	buf := make([]byte, chunkBytes)
	for {
		n, err := o.from.Read(buf)
		if n > 0 && !o.write(buf[:n]) {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.gulp(buf)
			return
		}
		if err != nil {
			return
		}
	}
}

// gulp takes what the pipe holds now without waiting for more. A reader that had little time, on a busy machine, so loses
// nothing that was written in time.
func (o *output) gulp(buf []byte) {
	o.cut = true
	raw, err := o.from.SyscallConn()
	if err != nil || o.from.SetReadDeadline(time.Time{}) != nil {
		return
	}
	for taken := 0; taken < lastGulpBytes; {
		n, failed := 0, error(nil)
		if raw.Read(func(fd uintptr) bool {
			n, failed = syscall.Read(int(fd), buf)
			return true
		}) != nil {
			return
		}
		switch {
		case failed == syscall.EINTR:
		case failed != nil:
			return
		case n == 0:
			o.cut = false
			return
		case !o.write(buf[:n]):
			return
		}
		taken += max(n, 0)
	}
}

func (o *output) write(b []byte) bool {
	n, err := o.to.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	o.err = err
	return err == nil
}

// copy ends when the reader does, when the program no longer reads, or when finish says so. None of these is a failure.
func (i *input) copy() {
	defer close(i.done)
	defer i.to.Close()
	_, _ = io.Copy(i.to, i.from)
}

func (i *input) closeSource() {
	if c, ok := i.from.(io.Closer); ok {
		c.Close()
	}
}
