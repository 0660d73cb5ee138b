package spawn_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"octavo/ext/spawn"
)

func TestEndOfTheContextEndsTheGroup(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		signal syscall.Signal
		code   int
	}{
		"plain":           {"sleep 1000 & echo $!; echo $$; sleep 1000", syscall.SIGTERM, -1},
		"stopped":         {"sleep 1000 & echo $!; kill -STOP $!; echo $$; sleep 1000", syscall.SIGTERM, -1},
		"cleans up":       {"trap 'exit 9' TERM; sleep 1000 & echo $!; echo $$; wait", 0, 9},
		"ignores":         {"trap '' TERM; sleep 1000 & echo $!; echo $$; sleep 1000; sleep 1000", syscall.SIGKILL, -1},
		"only the leader": {"(trap '' TERM; echo $BASHPID; sleep 1000; sleep 1000) & echo $$; wait", syscall.SIGTERM, -1},
	} {
		t.Run(name, func(t *testing.T) {
			stop := errors.New("the person pressed escape")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			pr, pw, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer pr.Close()
			p, err := spawn.Start(ctx, spawn.Command{Path: "/bin/bash", Args: []string{"-c", c.script}, Stdout: pw, Grace: 50 * time.Millisecond})
			pw.Close()
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(pr)
			var ids []int
			for len(ids) < 2 && lines.Scan() {
				ids = append(ids, pids(t, lines.Text())...)
			}
			cancel(stop)
			r, err := p.Wait()
			if !errors.Is(err, stop) || r.Signal != c.signal || r.ExitCode != c.code {
				t.Errorf("%+v %v", r, err)
			}
			gone(t, ids...)
		})
	}
}

func TestWhatIsLeftRunningEndsWithTheProgram(t *testing.T) {
	// Each script writes the id of the process it leaves behind to $f, which the last line waits for.
	for name, c := range map[string]struct {
		script    string
		linuxOnly bool
	}{
		"background child": {`sleep 1000 & echo $! >$f`, false},
		"nohup":            {`nohup sleep 1000 >/dev/null 2>&1 & echo $! >$f`, false},
		"disowned":         {`sleep 1000 </dev/null >/dev/null 2>&1 & disown; echo $! >$f`, false},
		"ignores SIGTERM":  {`(trap '' TERM HUP; echo $BASHPID >$f; sleep 1000; sleep 1000) &`, false},
		"job control":      {`set -m; sleep 1000 & echo $! >$f`, true},
		"setsid":           {`setsid bash -c 'echo $$ >$f; exec sleep 1000' &`, true},
		"setsid, quiet":    {`setsid bash -c 'echo $$ >$f; exec sleep 1000' </dev/null >/dev/null 2>&1 &`, true},
		"daemon":           {`(setsid bash -c 'bash -c "echo \$\$ >$f; exec sleep 1000" >/dev/null 2>&1 &' &)`, true},
		"ids far apart":    {`setsid bash -c 'echo $$ >$f; exec sleep 1000' & for i in {1..300}; do (:); done`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.linuxOnly {
				if runtime.GOOS != "linux" {
					t.Skip("found on Linux only")
				}
				need(t, "setsid")
			}
			file := filepath.Join(t.TempDir(), "pid")
			cmd, out := shell(c.script + "\nuntil [ -s $f ]; do sleep 0.01; done; cat $f")
			cmd.Env = spawn.Environment("f=" + file)
			cmd.Grace = 50 * time.Millisecond
			r, err := spawn.Run(t.Context(), cmd)
			if err != nil || r.Cut || !r.Success() {
				t.Errorf("%+v %v", r, err)
			}
			if r.Leftover == 0 {
				t.Error("does not say that something was left")
			}
			gone(t, pids(t, out.String())...)
		})
	}
}

func TestWhoCannotBeFoundIsNotWaitedFor(t *testing.T) {
	need(t, "setsid")
	pidFile := filepath.Join(t.TempDir(), "pid")
	c, out := shell("env -i setsid bash -c 'echo $$ >" + pidFile + "; echo seen; exec sleep 1000' & until [ -s " + pidFile + " ]; do sleep 0.01; done; echo end")
	r, err := spawn.Run(t.Context(), c)
	b, readErr := os.ReadFile(pidFile)
	if readErr != nil {
		t.Fatal(readErr)
	}
	fugitive := pids(t, string(b))[0]
	defer syscall.Kill(fugitive, syscall.SIGKILL)
	if err != nil || !r.Success() || !strings.Contains(out.String(), "end\n") {
		t.Errorf("%+v %v %q", r, err, out)
	}
	if !r.Cut {
		t.Error("does not say that the output was still held")
	}
}

func TestProcessSubstitutionMayFinish(t *testing.T) {
	c, out := shell("echo hello > >(sleep 0.02; cat)")
	if r, err := spawn.Run(t.Context(), c); err != nil || !r.Success() || out.String() != "hello\n" {
		t.Errorf("%+v %v %q", r, err, out)
	}
}

func TestProgramThatClosesItsOutputIsWaitedFor(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	c, _ := shell("exec >&- 2>&-; sleep 0.2; : >" + done + "; exit 4")
	r, err := spawn.Run(t.Context(), c)
	if _, statErr := os.Stat(done); err != nil || r.ExitCode != 4 || statErr != nil {
		t.Errorf("%+v %v %v", r, err, statErr)
	}
}

func TestTreeThatForksIsEndedWhole(t *testing.T) {
	need(t, "setsid")
	dir := t.TempDir()
	// Every process starts three more, half of them in sessions of their own, for three generations: 39 in all.
	script := filepath.Join(dir, "tree.sh")
	if err := os.WriteFile(script, []byte(`#!/bin/bash
trap '' HUP
echo $$ >"$2/$$"
if [ "$1" -gt 0 ]; then
	"$0" $(($1 - 1)) "$2" &
	setsid "$0" $(($1 - 1)) "$2" &
	nohup "$0" $(($1 - 1)) "$2" >/dev/null 2>&1 &
fi
sleep 1000
`), 0o700); err != nil {
		t.Fatal(err)
	}
	ids := filepath.Join(dir, "ids")
	if err := os.Mkdir(ids, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := spawn.Start(ctx, spawn.Command{Path: script, Args: []string{"3", ids}})
	if err != nil {
		t.Fatal(err)
	}
	var entries []os.DirEntry
	await(t, "40 processes", func() bool { entries, _ = os.ReadDir(ids); return len(entries) == 40 })
	cancel()
	if _, err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, e := range entries {
		pid, _ := strconv.Atoi(e.Name())
		if runtime.GOOS == "linux" && alive(pid) {
			t.Errorf("process %d is alive when Wait has returned", pid)
		}
		gone(t, pid)
	}
}

// owner starts this binary as one that runs script through spawn, and returns it with what the script prints first.
func owner(t *testing.T, script string, lines int) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=owner:"+script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var ids []int
	in := bufio.NewScanner(out)
	for len(ids) < lines && in.Scan() {
		ids = append(ids, pids(t, in.Text())...)
	}
	if len(ids) < lines {
		t.Fatalf("the owner printed %v", ids)
	}
	return cmd, ids
}

// guardianOf finds the guardian of a process.
func guardianOf(t *testing.T, pid int) int {
	t.Helper()
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, e := range entries {
		b, _ := os.ReadFile(e)
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(e)))
		st, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		f := strings.Fields(string(st[bytes.LastIndexByte(st, ')')+1:]))
		if bytes.Contains(b, []byte("octavo-guardian")) && len(f) > 1 && f[1] == strconv.Itoa(pid) {
			return id
		}
	}
	t.Fatal("there is no guardian")
	return 0
}

func TestKilledOwnerLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		linuxOnly bool
	}{
		"group":               {"trap '' TERM HUP; sleep 1000 & echo $!; (sleep 1000; :) & echo $!; echo $$; sleep 1000; :", false},
		"killed by its child": {"bash -c 'sleep 1000 & echo $!; (sleep 1000) & echo $!; echo $$; kill -9 $PPID; wait'", false},
		"other sessions":      {"set -m; sleep 1000 & echo $!; setsid -w sleep 1000 & echo $!; echo $$; wait", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.linuxOnly {
				if runtime.GOOS != "linux" {
					t.Skip("found on Linux only")
				}
				need(t, "setsid")
			}
			cmd, ids := owner(t, c.script, 3)
			if name != "killed by its child" {
				if runtime.GOOS == "linux" {
					ids = append(ids, guardianOf(t, cmd.Process.Pid))
				}
				cmd.Process.Kill()
			}
			gone(t, ids...)
		})
	}
}

func TestGuardianIsReplaced(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds the guardian in /proc")
	}
	c, _ := shell("true")
	if _, err := spawn.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	guard := guardianOf(t, os.Getpid())
	c, out := shell(fmt.Sprintf("kill -KILL %d; sleep 0.05", guard))
	if _, err := spawn.Run(t.Context(), c); err != nil {
		t.Fatal(err, out)
	}
	if _, err := spawn.Run(t.Context(), spawn.Command{Path: "/bin/true"}); err != nil {
		t.Fatal(err)
	}
	if next := guardianOf(t, os.Getpid()); next == guard {
		t.Error("the lost guardian was kept")
	}
	gone(t, guard)
}

// reaper plays an octavo that is process 1 of a container: orphans come to it, and must not stay zombies.
func reaper(script string) int {
	if err := becomeReaper(); err != nil {
		fmt.Println(err)
		return 1
	}
	c, _ := shell(script)
	c.Grace = 50 * time.Millisecond
	if _, err := spawn.Run(context.Background(), c); err != nil {
		fmt.Println(err)
		return 1
	}
	out, err := exec.Command("/bin/sh", "-c", "ps -o stat= -o args= --ppid "+strconv.Itoa(os.Getpid())).Output()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Z") {
			fmt.Print(line)
		}
	}
	return 0
}

func TestOrphansOfAReaperAreReaped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sub-reapers are Linux's")
	}
	need(t, "ps")
	need(t, "setsid")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=reaper:"+
		"sleep 1000 & setsid sleep 1000 & (trap '' TERM; sleep 1000; :) & (true &) ; (sleep 0.05 &); sleep 0.2")
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v, zombies: %s", err, out)
	}
}
