// Package spawn starts every child process of octavo, whoever wants one: in a session and process group of its own, without a
// terminal, with a sanitised environment, and dead, with all it has started, when its owner is. It knows no extension, no tool
// and no session.
//
// # How children die
//
// A started program leads a new session, so it has no terminal to prompt on or to draw over, and a new process group. When its
// context ends the group gets SIGTERM and, after a grace, SIGKILL. When the program ends by itself, whatever it left running is
// ended likewise: a background child ends with the call that started it.
//
// A process that leaves the group is still found on Linux, by its session (a job of "set -m") or by the variable OCTAVO_SPAWN
// that every descendant inherits (setsid, a daemon that forks twice). Only a process that both left the session and cleared its
// environment gets away. Elsewhere the group is all that is followed.
//
// When octavo itself is killed without a chance to act, Linux kills the program (PR_SET_PDEATHSIG) and a guardian, one small
// shell beside octavo that waits for a pipe to close, kills what is left of every live group.
package spawn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

const (
	// DefaultGrace is the time between SIGTERM and SIGKILL when Command.Grace is 0.
	DefaultGrace = 500 * time.Millisecond
	// DrainTime is how long after the end of a program its output is still waited for, even when a descendant that cannot be
	// found holds the pipe (product.md 6). What is in the pipe by then is still delivered.
	DrainTime = 500 * time.Millisecond
	// lingerTime is what descendants that still hold the output get to finish by themselves once the program has ended. It is
	// for "cmd > >(tee log)", where the shell does not wait for tee.
	lingerTime = 100 * time.Millisecond
	// killTime is how long the end of descendants is waited for after SIGKILL. Only one stuck inside the kernel needs it all.
	killTime = time.Second
)

// Command is one program to start.
type Command struct {
	Path string   // a path, or a name that is looked up on octavo's PATH
	Args []string // without the program's own name
	Dir  string   // working directory; "" is octavo's own
	// Env is the complete environment, to which only OCTAVO_SPAWN is added; nil means Environment().
	Env []string
	// Stdin is read from a goroutine of its own, or handed over when it is an *os.File; nil is the null device. When it is an
	// io.Closer it is closed as the program ends; any other reader must not block for good.
	Stdin io.Reader
	// Stdout and Stderr are each written from one goroutine, or handed over when they are *os.File; nil discards. The same
	// writer in both gets both in order. A writer that fails closes its pipe, so that the program gets SIGPIPE as in a shell
	// pipeline. A writer that blocks delays the end of the call.
	Stdout, Stderr io.Writer
	// Grace is the time between SIGTERM and SIGKILL; 0 is DefaultGrace.
	Grace time.Duration
}

// Result is how a program ended. A program that fails is no error of this package.
type Result struct {
	ExitCode int            // -1 when a signal ended it
	Signal   syscall.Signal // what ended it; 0 when it exited
	Duration time.Duration  // from its start to its own end
	// Leftover counts the descendants that were found running when the program had ended, and that were ended with it.
	Leftover int
	// Cut says that something still held the output after DrainTime, so that more might have been written.
	Cut bool
}

// Success reports whether the program exited with status 0.
func (r Result) Success() bool { return r.ExitCode == 0 && r.Signal == 0 }

// StartError says that a program never ran: it is missing, not executable, its directory is missing, or its context had ended.
type StartError struct {
	Path string
	Err  error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Path, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }

// ErrStopped is why a process ended that Process.Stop has ended.
var ErrStopped = errors.New("stopped by its owner")

// Run starts c and returns when it and everything it has started are gone and all output is delivered. The error is a
// *StartError; or it wraps the cause of ctx's end when that is what ended the program, or a writer's error: then Result is
// meaningful, as it is without an error. Any other error says that how the program ended could not be learned.
func Run(ctx context.Context, c Command) (Result, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return p.Wait()
}
