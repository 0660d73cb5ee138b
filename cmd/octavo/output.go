package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// output is a standard output that remembers its first failure, because much of what writes help or a table does not look.
type output struct {
	*os.File
	mu     sync.Mutex
	failed error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	return n, o.note(err)
}

// WriteString implements io.StringWriter.
func (o *output) WriteString(s string) (int, error) {
	n, err := o.File.WriteString(s)
	return n, o.note(err)
}

func (o *output) note(err error) error {
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = err
		}
	}
	return err
}

// failure is nil when all that was written has been, or when its reader just went away, which is no failure of what was written.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil || errors.Is(o.failed, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("the output could not be written: %w", o.failed)
}
