package spawn

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// guardianScript reads "+ name" and "- name" lines. A name is the id of a group, or "s" and a number for a program that is being
// started. When the pipe closes octavo is gone, however that came about, and while a name is listed something is to be killed:
// the groups, then on Linux whatever carries the mark of this octavo ($1). The second sweep is for what was forked during the
// first. Every command but grep is built into the shell; without grep only the groups die.
const guardianScript = `trap '' HUP INT QUIT TERM PIPE
live=' '
while read -r op name; do
	case $op in
	+) live="$live$name " ;;
	-) before=${live%% $name *} after=${live#* $name }; live="$before $after" ;;
	esac
done
[ "$live" = "${live#*[0-9]}" ] && exit 0
for sweep in 1 2; do
	for name in $live; do
		case $name in
		*[!0-9]*) ;;
		*) kill -9 "-$name" ;;
		esac
	done
	for file in $(grep -alF "` + markVariable + `=$1." /proc/[0-9]*/environ); do
		pid=${file#/proc/}
		kill -9 "${pid%/environ}"
	done
done 2>/dev/null
`

// guardianWrite is how long a guardian may take to read a line before it counts as lost.
const guardianWrite = 100 * time.Millisecond

// guardian is the process beside octavo that ends octavo's children when octavo can no longer do so. It is started with the
// first child and lives as long as octavo; it costs a few lines in a pipe per child.
type guardian struct {
	mu   sync.Mutex
	id   string // of this octavo, the first half of every mark
	next uint64
	live map[string]struct{} // names as guardianScript has them
	in   *os.File            // nil when no guardian runs
	cmd  *exec.Cmd
}

// watch is the one variable of the package: it stands for this process, of which there is one too.
var watch = guardian{live: map[string]struct{}{}}

// begin announces a program, before it is started: from its first moment something watches over what it starts. It returns the
// name to be removed and a value of markVariable that no other program has.
func (g *guardian) begin() (name, mark string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.id == "" {
		b := make([]byte, 8)
		rand.Read(b) // never fails
		g.id = hex.EncodeToString(b)
	}
	g.next++
	name = fmt.Sprintf("s%d", g.next)
	g.enter(name)
	return name, fmt.Sprintf("%s.%d", g.id, g.next)
}

// add puts a group under guard.
func (g *guardian) add(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.enter(name)
}

// enter lists a name. Where no guardian can be had (there is no /bin/sh), the children are left to the system's own means.
func (g *guardian) enter(name string) {
	g.live[name] = struct{}{}
	if g.in == nil || !g.say("+", name) {
		g.replace()
	}
}

func (g *guardian) remove(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, name)
	if g.in != nil && !g.say("-", name) {
		g.replace()
	}
}

func (g *guardian) say(op, name string) bool {
	g.in.SetWriteDeadline(time.Now().Add(guardianWrite))
	_, err := fmt.Fprintf(g.in, "%s %s\n", op, name)
	return err == nil
}

// replace starts a guardian for every live name, in the place of one that does not answer.
func (g *guardian) replace() {
	if g.in != nil {
		// It must die before its pipe closes: else it would take the closing for octavo's end.
		_ = g.cmd.Process.Kill()
		_ = g.cmd.Wait()
		g.in.Close()
		g.in = nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	// Neither the mark of an outer octavo nor its session: it has to outlive both for a moment.
	g.cmd = exec.Command("/bin/sh", "-c", guardianScript, "octavo-guardian", g.id)
	g.cmd.Dir = "/"
	g.cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	g.cmd.Stdin = r
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if g.cmd.Start() != nil {
		w.Close()
		return
	}
	g.in = w
	for name := range g.live {
		if !g.say("+", name) {
			return // lost already: the next child tries again
		}
	}
}
