package spawn

import (
	"syscall"
	"time"
)

// markVariable names the environment variable that descendants are recognised by.
const markVariable = "OCTAVO_SPAWN"

// tree is a program and what descends from it.
type tree struct {
	leader  int    // process id, group and session of the program
	mark    string // value of markVariable; of this program alone
	started time.Time
}

// ask sends SIGTERM to the group and to the descendants that have left it. A stopped process is woken to hear it.
func (t *tree) ask() {
	members := t.find()
	t.signalGroup(syscall.SIGTERM)
	t.signalGroup(syscall.SIGCONT)
	for _, m := range members {
		m.ask()
		m.release()
	}
}

// kill sends SIGKILL to the group, all of it at once, so that no member can fork away from it.
func (t *tree) kill() { t.signalGroup(syscall.SIGKILL) }

func (t *tree) signalGroup(sig syscall.Signal) { _ = syscall.Kill(-t.leader, sig) }

// end leaves no descendant alive once the program itself is dead: SIGTERM now, SIGKILL from the deadline on, and again for
// what was forked meanwhile. It returns how many there were.
func (t *tree) end(deadline time.Time) int {
	seen := map[int]bool{}
	for {
		members := t.find()
		if len(members) == 0 {
			return len(seen)
		}
		until, now := deadline, time.Now()
		if now.Before(deadline) {
			for _, m := range members {
				if !seen[m.pid] {
					m.ask()
				}
			}
		} else {
			until = deadline.Add(killTime)
			t.kill()
			for _, m := range members {
				m.kill()
			}
		}
		for _, m := range members {
			seen[m.pid] = true
		}
		awaitAll(members, until)
		for _, m := range members {
			m.release()
		}
		if now.After(deadline.Add(killTime)) {
			return len(seen)
		}
	}
}
