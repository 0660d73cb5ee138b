package spawn_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"octavo/ext/spawn"
)

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
