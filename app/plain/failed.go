package plain

import (
	"errors"
	"io"
	"os"
	"syscall"

	"octavo/app/api"
)

// Failed is a turn that ended otherwise than completed: what decides the exit code is how the run ended, never a tool that failed
// on the way (product.md 1.8).
type Failed struct {
	Outcome api.SettledOutcome
	Message string // what failed, why, and what to do next; "" when the outcome says it all
}

// Error is for the person who reads the one line of a failed command.
func (f *Failed) Error() string {
	switch {
	case f.Message != "":
		return f.Message
	case f.Outcome == api.SettledInterrupted:
		return "the turn was interrupted"
	}
	return "the turn ended without completing (" + string(f.Outcome) + ")"
}

// failure is the error of a settled turn, nil for a completed one.
func failure(s api.Settled) error {
	if s.Outcome == api.SettledCompleted {
		return nil
	}
	return &Failed{Outcome: s.Outcome, Message: s.Error}
}

// ErrInterrupted is what Interactive returns when the person left with ctrl+c.
var ErrInterrupted = errors.New("interrupted")

// gone reports whether a write failed because nobody reads any more, which is no failure of what was written.
func gone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}
