// Command octavo is an agent that works with a person on real code, in a terminal. It reads flags and subcommands, picks a mode,
// builds an app and hands its client to a front end.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"octavo/app/plain"
	"octavo/app/session"
	"octavo/app/settings"
	"octavo/pages/text"
)

// Exit codes (product.md 1.8); after a signal it is 128 and the signal's number.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// signalled is why a context ended.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.Signal.String() }

// usageError is a command line that cannot be meant.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin *os.File, stdout, stderr *os.File) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := &process{stdin: stdin, stdout: &output{File: stdout}, stderr: stderr, interrupts: make(chan struct{}, 1)}
	stop := p.watch(cancel)
	defer stop()

	// A reader that went away is an error of the write that meets it, not the end of this process: the turn still has to settle.
	signal.Ignore(syscall.SIGPIPE)

	root := newRoot(p, prints(args))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = p.stdout.failure()
	}

	if errors.Is(err, syscall.EPIPE) { // whoever read has seen enough
		err = nil
	}
	err = p.hush(err)
	var sig signalled
	if errors.As(context.Cause(ctx), &sig) && err != nil {
		err = fmt.Errorf("ended by a signal (%w)", sig)
	}
	if err != nil && !p.told && wantsJSON(args) {
		_ = plain.WriteError(p.stdout, err)
	}
	var usage usageError
	switch {
	case sig.Signal != 0:
		return 128 + int(sig.Signal)
	case errors.Is(err, plain.ErrInterrupted):
		return 128 + int(syscall.SIGINT)
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		report(stderr, err)
		return exitUsage
	default:
		report(stderr, err)
		return exitFail
	}
}

// report writes one error as a person reads it: on the terminal nothing of it can be a control sequence, and what several joined
// errors say alike, such as that the disk is full, is said once.
func report(w io.Writer, err error) {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text.Clean(err.Error())), "\n") {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	fmt.Fprintln(w, "Error: "+strings.Join(lines, "\n"))
}

// wantsJSON reports whether a command line asks for --mode json or rpc, also one that cannot be parsed: its reader waits for a record.
func wantsJSON(args []string) bool {
	for i, a := range args {
		switch {
		case a == "--":
			return false
		case a == "--mode=json", a == "--mode=rpc", a == "--mode" && i+1 < len(args) && (args[i+1] == "json" || args[i+1] == "rpc"):
			return true
		}
	}
	return false
}

// prints reports whether a command line has -p: all its words are prompts then, also one that is the name of a command.
func prints(args []string) bool {
	for _, a := range args {
		short, isShort := strings.CutPrefix(a, "-")
		switch {
		case a == "--":
			return false
		case a == "--print", isShort && strings.Contains(short, "p") && strings.Trim(short, "pc") == "":
			return true
		}
	}
	return false
}

// process is what a command has of the outside.
type process struct {
	stdin, stderr *os.File
	stdout        *output
	interrupts    chan struct{}      // ctrl+c, while interactive is set
	interactive   atomic.Bool        // a front end takes ctrl+c for itself
	told          bool               // records on stdout tell of what fails
	configured    *settings.Settings // nil until they are loaded
}

// hush takes keys that octavo knows out of the words of an error; what it is stays.
func (p *process) hush(err error) error {
	if err == nil || p.configured == nil {
		return err
	}
	return session.Redaction{Text: p.configured.Redactor().Redact}.Error(err)
}

// watch turns signals into the end of the context, and ctrl+c into an interrupt where a front end takes it. A second signal ends
// the process at once.
func (p *process) watch(cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && p.interactive.Load() {
					select {
					case p.interrupts <- struct{}{}:
					default: // one is waiting already
					}
					continue
				}
				cancel(signalled{s.(syscall.Signal)})
				signal.Stop(signals)
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
		<-done
	}
}
