package spawn

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Process is a started program. Two goroutines belong to it: one holds the operating system thread that the program depends
// on, one ends the tree; both are gone when Wait returns.
type Process struct {
	path  string
	tree  tree
	grace time.Duration

	starting string // the guardian's name for the start
	stop     context.CancelCauseFunc

	exited chan struct{} // closed by hold: the program is dead but, where that is possible, not reaped
	reap   chan struct{} // closed by supervise: nothing needs the process id any more
	reaped chan struct{} // closed by hold, after state
	done   chan struct{} // closed by supervise, after result and err

	state  syscall.WaitStatus
	lost   error     // why state is not known: something in octavo reaped a child that was not its own
	ended  time.Time // when the program was seen dead
	result Result
	err    error
}

// Start starts c and returns at once. The program lives until it ends, ctx ends or Stop is called; the caller must call Wait.
// The error is a *StartError.
func Start(ctx context.Context, c Command) (*Process, error) {
	if ctx.Err() != nil {
		return nil, &StartError{c.Path, context.Cause(ctx)}
	}
	env := c.Env
	switch {
	case env == nil && filepath.IsAbs(c.Dir):
		env = Environment("PWD=" + c.Dir)
	case env == nil:
		env = Environment()
	}
	p := &Process{
		path:   c.Path,
		grace:  c.Grace,
		exited: make(chan struct{}),
		reap:   make(chan struct{}),
		reaped: make(chan struct{}),
		done:   make(chan struct{}),
	}
	if p.grace <= 0 {
		p.grace = DefaultGrace
	}
	p.starting, p.tree.mark = watch.begin()

	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(env[:len(env):len(env)], markVariable+"="+p.tree.mark)
	cmd.SysProcAttr = attributes()
	s, err := connect(cmd, c)
	if err != nil {
		watch.remove(p.starting)
		return nil, &StartError{c.Path, err}
	}
	started := make(chan error)
	go p.hold(cmd, started)
	if err := <-started; err != nil {
		s.abandon()
		return nil, &StartError{c.Path, err}
	}
	s.begin()
	ctx, p.stop = context.WithCancelCause(ctx)
	go p.supervise(ctx, s)
	return p, nil
}

// Pid is the program's process id, which is also the id of its group and session.
func (p *Process) Pid() int { return p.tree.leader }

// Done is closed when Wait would return at once.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the program and everything it has started are gone and all output is delivered, and says how it ended; the
// errors are Run's. It may be called any number of times, from anywhere.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}

// Stop ends the program and everything it has started as the end of its context would, and waits for it. A program that had
// ended already keeps its own result.
func (p *Process) Stop() (Result, error) {
	p.stop(ErrStopped)
	return p.Wait()
}

// hold starts the program and stays with it. Linux delivers the parent-death signal when the thread that started the child
// ends, so that thread is kept for this goroutine alone until the child is dead.
func (p *Process) hold(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	if err == nil {
		watch.add(strconv.Itoa(cmd.Process.Pid))
	}
	watch.remove(p.starting)
	if err != nil {
		started <- err
		return
	}
	p.tree.leader = cmd.Process.Pid
	p.tree.started = time.Now()
	started <- nil
	awaitExit(cmd)
	p.ended = time.Now()
	close(p.exited)
	<-p.reap
	if err := cmd.Wait(); cmd.ProcessState != nil { // then err says no more than that the program failed
		p.state = cmd.ProcessState.Sys().(syscall.WaitStatus)
	} else {
		p.lost = err
	}
	close(p.reaped)
}

// supervise brings the tree to its end, then the output, then the process id. The order matters: the id names the group, and
// belongs to nobody else for as long as the program is not reaped.
func (p *Process) supervise(ctx context.Context, s *streams) {
	defer close(p.done)
	defer p.stop(nil)

	select {
	case <-p.exited:
	case <-ctx.Done():
	}
	var cause error
	var deadline time.Time // from here on SIGKILL
	select {
	case <-p.exited: // even when ctx has ended too: the program's own end is the better answer
		select {
		case <-s.ended:
		case <-ctx.Done():
		case <-time.After(lingerTime - time.Since(p.ended)):
		}
		deadline = time.Now().Add(min(p.grace, DrainTime-time.Since(p.ended)))
	default:
		cause = context.Cause(ctx)
		deadline = time.Now().Add(p.grace)
		p.tree.ask()
		select {
		case <-p.exited:
		case <-time.After(time.Until(deadline)):
			p.tree.kill()
			<-p.exited
		}
	}
	leftover := p.tree.end(deadline)

	s.finish(p.ended.Add(DrainTime))
	watch.remove(strconv.Itoa(p.tree.leader))
	close(p.reap)
	<-p.reaped

	p.result = Result{Duration: p.ended.Sub(p.tree.started), Leftover: leftover, Cut: s.cut()}
	switch {
	case p.lost != nil:
		p.result.ExitCode = -1
	case p.state.Signaled():
		p.result.ExitCode, p.result.Signal = -1, p.state.Signal()
	default:
		p.result.ExitCode = p.state.ExitStatus()
	}
	switch {
	case p.lost != nil:
		p.err = fmt.Errorf("how %s ended is not known: %w", p.path, p.lost)
	case cause != nil:
		p.err = fmt.Errorf("run %s: %w", p.path, cause)
	case s.failure() != nil:
		p.err = fmt.Errorf("output of %s: %w", p.path, s.failure())
	}
}
