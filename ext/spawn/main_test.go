package spawn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octavo/ext/spawn"
)

// roleVariable makes the test binary play another part than testing.
const roleVariable = "SPAWN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role, argument, _ := strings.Cut(os.Getenv(roleVariable), ":"); role {
	case "":
		goleak.VerifyTestMain(m)
	case "owner": // runs one shell command, to be killed meanwhile
		_, err := spawn.Run(context.Background(), spawn.Command{Path: "/bin/bash", Args: []string{"-c", argument}, Stdout: os.Stdout})
		fmt.Println(err)
	case "reaper":
		os.Exit(reaper(argument))
	}
}

// shell is a command in bash whose output is collected.
func shell(script string) (spawn.Command, *bytes.Buffer) {
	out := new(bytes.Buffer)
	return spawn.Command{Path: "/bin/bash", Args: []string{"-c", script}, Stdout: out, Stderr: out}, out
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return f[0] != "Z" && f[0] != "X"
}

// gone fails the test when one of pids still runs after a generous while.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		for end := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("process %d outlives its owner", pid)
			}
		}
	}
}

// pids reads the numbers in s.
func pids(t *testing.T, s string) []int {
	t.Helper()
	var out []int
	for _, f := range strings.Fields(s) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("not a process id in %q", s)
		}
		out = append(out, n)
	}
	return out
}

// await polls for a condition that other processes bring about.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// need skips a test on a system without a program that it is about.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s", program)
	}
}

func TestRunTellsHowItEnded(t *testing.T) {
	for script, want := range map[string]spawn.Result{
		"true":                   {},
		"exit 3":                 {ExitCode: 3},
		"exit 255":               {ExitCode: 255},
		"no-such-program-at-all": {ExitCode: 127},
		"kill -SEGV $$":          {ExitCode: -1, Signal: syscall.SIGSEGV},
		"kill -KILL $$":          {ExitCode: -1, Signal: syscall.SIGKILL},
	} {
		c, _ := shell(script)
		r, err := spawn.Run(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		}
		if r.Duration <= 0 {
			t.Errorf("%s: took %v", script, r.Duration)
		}
		if r.Duration = 0; r != want {
			t.Errorf("%s: %+v, want %+v", script, r, want)
		}
		if r.Success() != (script == "true") {
			t.Errorf("%s: Success is %v", script, r.Success())
		}
	}
}

func TestWhatCannotStartIsAStartError(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over before it began"))
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		c    spawn.Command
		says string
	}{
		"missing":        {t.Context(), spawn.Command{Path: "/no/such/program"}, "no such file"},
		"not on PATH":    {t.Context(), spawn.Command{Path: "no-such-program-at-all"}, "not found"},
		"not executable": {t.Context(), spawn.Command{Path: plain}, "permission denied"},
		"no directory":   {t.Context(), spawn.Command{Path: "/bin/sh", Dir: "/no/such/dir"}, "no such file"},
		"NUL":            {t.Context(), spawn.Command{Path: "/bin/sh", Args: []string{"-c", "a\x00b"}}, "invalid argument"},
		"ended context":  {ended, spawn.Command{Path: "/bin/sh"}, "over before it began"},
	} {
		var start *spawn.StartError
		in, _, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.c.Stdin, c.c.Stdout = in, new(bytes.Buffer)
		_, err = spawn.Run(c.ctx, c.c)
		if !errors.As(err, &start) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.c.Path) {
			t.Errorf("%s: %v", name, err)
		}
		in.Close()
	}
}

func TestProgramHasNoTerminalAndASessionOfItsOwn(t *testing.T) {
	c, out := shell(`echo $$; ps -o pgid= -o sid= -o tty= -p $$ 2>/dev/null || cut -d' ' -f5-7 /proc/$$/stat; exec 3</dev/tty && echo terminal`)
	r, err := spawn.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(out.String())
	if len(f) < 4 || f[0] != f[1] || f[0] != f[2] || strings.HasSuffix(out.String(), "terminal\n") {
		t.Errorf("%+v %s", r, out)
	}
}

// descriptors lists what a process has open; the listing itself needs one that is among them.
func descriptors() []string {
	entries, _ := os.ReadDir("/proc/self/fd")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// inherited is what whoever started the test binary left open in it.
var inherited = descriptors()

func TestNothingIsLeftOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	run := func() {
		c, _ := shell("echo hi; echo ho >&2; sleep 0 &")
		c.Stderr = new(bytes.Buffer)
		c.Stdin = strings.NewReader("hello")
		if _, err := spawn.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		c.Path = "/no/such/program"
		if _, err := spawn.Run(t.Context(), c); err == nil {
			t.Fatal("ran")
		}
	}
	run()
	before := len(descriptors())
	for range 30 {
		run()
	}
	if after := len(descriptors()); after > before {
		t.Errorf("%d descriptors, were %d", after, before)
	}
}

func TestChildrenGetThreeDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("lists descriptors in /proc")
	}
	c, out := shell("for f in /proc/$$/fd/*; do echo ${f##*/}; done")
	if _, err := spawn.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, fd := range strings.Fields(out.String()) {
		if n, _ := strconv.Atoi(fd); n > 2 && n != 255 && !slices.Contains(inherited, fd) { // 255 is bash's own
			t.Errorf("descriptor %s is open in a child", fd)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	b.Run("spawn", func(b *testing.B) {
		for b.Loop() {
			if _, err := spawn.Run(b.Context(), spawn.Command{Path: "/bin/true"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("spawn with output", func(b *testing.B) {
		for b.Loop() {
			c, _ := shell("echo hi")
			if _, err := spawn.Run(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec with output", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command("/bin/bash", "-c", "echo hi").CombinedOutput(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
