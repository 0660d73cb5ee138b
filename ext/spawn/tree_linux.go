package spawn

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// A call that was this short, and saw this few process ids given out since it began, has its descendants among exactly
	// those; only otherwise are all processes of the machine looked at. It keeps the usual call below 0.1 ms here.
	shortCall = time.Second
	shortGap  = 256
	// environBytes is as much of a process's environment as is searched for the mark.
	environBytes = 1 << 20
	// pollStep is how often processes are looked at that the kernel gives no handle for (before Linux 5.3).
	pollStep = 10 * time.Millisecond
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the program is dead, and leaves it to be reaped: until then no other process can get its id.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// member is a living descendant. fd is a process descriptor, which cannot come to mean another process, or -1.
type member struct {
	pid, fd int
}

func (m member) ask() {
	m.signal(unix.SIGTERM)
	m.signal(unix.SIGCONT)
}

func (m member) kill() { m.signal(unix.SIGKILL) }

func (m member) signal(sig syscall.Signal) {
	if m.fd >= 0 {
		_ = unix.PidfdSendSignal(m.fd, sig, nil, 0)
		return
	}
	_ = unix.Kill(m.pid, sig)
}

func (m member) release() {
	if m.fd >= 0 {
		unix.Close(m.fd)
	}
}

// awaitAll returns when every member is dead, or at the deadline; sooner when one of them has no descriptor, for the caller to
// look again. Those that were handed to octavo, because it is their reaper (process 1 of a container), are reaped.
func awaitAll(members []member, until time.Time) {
	open := make([]unix.PollFd, 0, len(members))
	blind := false
	for _, m := range members {
		if m.fd >= 0 {
			open = append(open, unix.PollFd{Fd: int32(m.fd), Events: unix.POLLIN})
		} else {
			blind = true
		}
	}
	if soon := time.Now().Add(pollStep); blind && soon.Before(until) {
		until = soon
	}
	for len(open) > 0 || blind {
		left := time.Until(until)
		if left <= 0 {
			break
		}
		_, err := unix.Poll(open, int(left/time.Millisecond)+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
		open = slices.DeleteFunc(open, func(f unix.PollFd) bool { return f.Revents != 0 })
	}
	for _, m := range members {
		_, _ = unix.Wait4(m.pid, nil, unix.WNOHANG, nil)
	}
}

// find lists the living descendants, without the program itself. The program must not be reaped yet.
func (t *tree) find() []member {
	var s scan
	leader, ok := s.stat(t.leader)
	if !ok {
		return nil
	}
	var found []member
	look := func(pid int) {
		if pid == t.leader || !s.descends(t, pid, leader.born) {
			return
		}
		fd, err := unix.PidfdOpen(pid, 0)
		switch {
		case errors.Is(err, unix.ESRCH):
			return
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT):
			return // a thread: it lives and dies with its process
		case err != nil:
			fd = -1
		}
		// Looked at again: what the descriptor means may have come to that id in between.
		if fd >= 0 && !s.descends(t, pid, leader.born) {
			unix.Close(fd)
			return
		}
		found = append(found, member{pid, fd})
	}
	if last := s.lastPid(); time.Since(t.started) < shortCall && last >= t.leader && last-t.leader <= shortGap {
		for pid := t.leader + 1; pid <= last; pid++ {
			look(pid)
		}
		return found
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			look(pid)
		}
	}
	return found
}

// scan reads small files of /proc into one buffer.
type scan struct{ buf []byte }

type stat struct {
	state         byte
	parent, group int
	session       int
	born          uint64 // clock ticks since boot
}

// descends reports whether pid lives and belongs to t: by its session, or by the mark in its environment.
func (s *scan) descends(t *tree, pid int, born uint64) bool {
	st, ok := s.stat(pid)
	if !ok || st.born < born {
		return false
	}
	ours := st.session == t.leader || st.group == t.leader
	if st.state == 'Z' || st.state == 'X' {
		if ours && st.parent == os.Getpid() {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		return false
	}
	return ours || s.marked(pid, t.mark)
}

func (s *scan) stat(pid int) (stat, bool) {
	b := s.read("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	// The second field is the program's name in parentheses and may hold anything, parentheses and blanks too.
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return stat{}, false
	}
	const state, parent, group, session, born = 0, 1, 2, 3, 19 // fields after the name
	f := strings.Fields(string(b[end+1:]))
	if len(f) <= born || f[state] == "" {
		return stat{}, false
	}
	st := stat{state: f[state][0]}
	var errs [4]error
	st.parent, errs[0] = strconv.Atoi(f[parent])
	st.group, errs[1] = strconv.Atoi(f[group])
	st.session, errs[2] = strconv.Atoi(f[session])
	st.born, errs[3] = strconv.ParseUint(f[born], 10, 64)
	return st, errors.Join(errs[:]...) == nil
}

func (s *scan) marked(pid int, mark string) bool {
	env := s.read("/proc/"+strconv.Itoa(pid)+"/environ", environBytes)
	want := markVariable + "=" + mark
	for {
		i := bytes.Index(env, []byte(want))
		if i < 0 {
			return false
		}
		end := i + len(want)
		if (i == 0 || env[i-1] == 0) && (end == len(env) || env[end] == 0) {
			return true
		}
		env = env[end:]
	}
}

// lastPid is the process id given out last, in this namespace, or 0.
func (s *scan) lastPid() int {
	b := s.read("/proc/loadavg", 256)
	i := bytes.LastIndexByte(bytes.TrimSpace(b), ' ')
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)[i+1:]))
	if err != nil {
		return 0
	}
	return n
}

// read returns at most limit bytes of a file, or nothing. The bytes are good until the next read.
func (s *scan) read(path string, limit int) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if s.buf == nil {
		s.buf = make([]byte, 4096)
	}
	n := 0
	for n < limit {
		if n == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		got, err := unix.Read(fd, s.buf[n:min(len(s.buf), limit)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || got <= 0 {
			break
		}
		n += got
	}
	return s.buf[:n]
}
