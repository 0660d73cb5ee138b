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

// counter counts bytes and remembers whether two goroutines ever met in it.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b)) // a race that -race sees when two streams were written at once
	return len(b), nil
}

func TestAllOutputArrives(t *testing.T) {
	const size = 200 << 20
	var out, errs counter
	c := spawn.Command{Path: "/bin/bash", Stdout: &out, Stderr: &errs,
		Args: []string{"-c", fmt.Sprintf("head -c %d /dev/zero & head -c 1000000 /dev/zero >&2; wait", size)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := spawn.Run(t.Context(), c)
	runtime.ReadMemStats(&after)
	if err != nil || !r.Success() || r.Cut || out.n != size || errs.n != 1000000 {
		t.Errorf("%+v %v: %d and %d bytes", r, err, out.n, errs.n)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("allocated %d bytes for output that nobody keeps", grown)
	}
}

func TestOneWriterGetsBothStreamsInOrder(t *testing.T) {
	c, out := shell("for i in {1..500}; do echo $i; echo $i >&2; done")
	if _, err := spawn.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&want, "%d\n%d\n", i, i)
	}
	if out.String() != want.String() {
		t.Error("the order was lost")
	}
}

func TestFilesAreHandedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := spawn.Run(t.Context(), spawn.Command{Path: "/bin/sh", Args: []string{"-c", "echo to file; echo too >&2"}, Stdout: f, Stderr: f}); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out bytes.Buffer
	if _, err := spawn.Run(t.Context(), spawn.Command{Path: "cat", Stdin: in, Stdout: &out}); err != nil || out.String() != "to file\ntoo\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

var errEnough = errors.New("enough")

type fails struct{}

func (fails) Write([]byte) (int, error) { return 0, errEnough }

func TestWriterThatFailsEndsAnEndlessProgram(t *testing.T) {
	r, err := spawn.Run(t.Context(), spawn.Command{Path: "yes", Stdout: fails{}})
	if !errors.Is(err, errEnough) || r.Success() {
		t.Errorf("%+v %v", r, err)
	}
}

func TestStdin(t *testing.T) {
	t.Run("none is end of file", func(t *testing.T) {
		c, out := shell("cat; echo end")
		if _, err := spawn.Run(t.Context(), c); err != nil || out.String() != "end\n" {
			t.Errorf("%q %v", out, err)
		}
	})
	t.Run("reader", func(t *testing.T) {
		c, out := shell("wc -c")
		c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
		if _, err := spawn.Run(t.Context(), c); err != nil || strings.TrimSpace(out.String()) != "1048576" {
			t.Errorf("%q %v", out, err)
		}
	})
	t.Run("more than is read", func(t *testing.T) {
		c, _ := shell("head -c 1 >/dev/null")
		c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
		if r, err := spawn.Run(t.Context(), c); err != nil || !r.Success() {
			t.Errorf("%+v %v", r, err)
		}
	})
}

func TestProcessTalks(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inW.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outR.Close()
	tail := &spawn.Tail{Limit: 8}
	p, err := spawn.Start(t.Context(), spawn.Command{Path: "/bin/bash", Stdin: inR, Stdout: outW, Stderr: tail,
		Args: []string{"-c", `while read -r line; do echo "<$line>"; echo "said $line" >&2; done; sleep 1000`}})
	inR.Close()
	outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(inW, word)
		b := make([]byte, 64)
		if n, err := outR.Read(b); err != nil || string(b[:n]) != "<"+word+">\n" {
			t.Fatalf("%q %v", b[:n], err)
		}
	}
	select {
	case <-p.Done():
		t.Fatal("ended by itself")
	default:
	}
	await(t, "the last line on standard error", func() bool { b, _ := tail.Bytes(); return string(b) == "aid two\n" })
	if _, dropped := tail.Bytes(); dropped != int64(len("said one\nsaid two\n")-8) {
		t.Errorf("dropped %d", dropped)
	}
	r, err := p.Stop()
	if !errors.Is(err, spawn.ErrStopped) || r.Signal != syscall.SIGTERM {
		t.Errorf("%+v %v", r, err)
	}
	gone(t, p.Pid())
	if again, err := p.Wait(); again != r || !errors.Is(err, spawn.ErrStopped) {
		t.Errorf("a second Wait: %+v %v", again, err)
	}
}

func TestTailBounds(t *testing.T) {
	for _, c := range []struct {
		writes  []string
		kept    string
		dropped int64
	}{
		{nil, "", 0},
		{[]string{"abc"}, "abc", 0},
		{[]string{"abcd"}, "abcd", 0},
		{[]string{"abcde"}, "bcde", 1},
		{[]string{"abc", "de"}, "bcde", 1},
		{[]string{"abcdefgh", "ij"}, "ghij", 6},
	} {
		tail := spawn.Tail{Limit: 4}
		for _, w := range c.writes {
			if n, err := tail.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("write of %q: %d %v", w, n, err)
			}
		}
		if kept, dropped := tail.Bytes(); string(kept) != c.kept || dropped != c.dropped {
			t.Errorf("%q: %q %d", c.writes, kept, dropped)
		}
	}
	var none spawn.Tail
	if _, err := none.Write([]byte("x")); err != nil {
		t.Error(err)
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
