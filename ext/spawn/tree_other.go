//go:build unix && !linux

package spawn

import (
	"os/exec"
	"syscall"
	"time"
)

// pollStep is how often a group is looked at while its end is waited for.
const pollStep = 10 * time.Millisecond

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitExit returns when the program is dead. These systems have no dependable way to leave it unreaped, so the process id may
// be given out again; not while the group has a member, which is the only time it is used.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// member stands for all that is left of a group.
type member struct{ pid int }

func (m member) ask() {
	_ = syscall.Kill(-m.pid, syscall.SIGTERM)
	_ = syscall.Kill(-m.pid, syscall.SIGCONT)
}

func (m member) kill() { _ = syscall.Kill(-m.pid, syscall.SIGKILL) }

func (m member) release() {}

func awaitAll(members []member, until time.Time) {
	if left := time.Until(until); left > 0 && len(members) > 0 {
		<-time.After(min(left, pollStep))
	}
}

func (t *tree) find() []member {
	if syscall.Kill(-t.leader, 0) != nil {
		return nil
	}
	return []member{{t.leader}}
}
