package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"octavo/ext/model/modeltest"
)

// more than a pipe holds on any system
const pipeful = 1 << 20

// TestSignalWhileGathering: octavo ends although what is piped in does not.
func TestSignalWhileGathering(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			d := newDesk(t).connect()
			cmd := d.command("--mode", "json", "hi")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			in, typing, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer typing.Close()
			cmd.Stdin = in
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := typing.Write(make([]byte, pipeful)); err != nil { // it is being read when this has been taken
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) || errs.Len() > 0 {
				t.Fatalf("exit %d: %s", code, &errs)
			}
			if rs := lines(t, out.String()); len(rs) != 1 || rs[0]["type"] != "error" {
				t.Fatalf("a reader of records is told: %v", rs)
			}
		})
	}
}

// TestInterruptWithAFullPipe: ctrl+c ends the turn and its children although nobody reads standard output.
func TestInterruptWithAFullPipe(t *testing.T) {
	for _, args := range [][]string{{"--mode", "json", "go"}, {"--plain", "go"}} {
		d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"echo $$ > pid; touch started; sleep 600"}`)).
			WithText(strings.Repeat("words ", pipeful/6)).Chunk(4096)).connect()
		cmd := d.command(args...)
		unread, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer unread.Close()
		cmd.Stdout = out
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if args[0] == "--mode" {
			in.Close()
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		d.waitFor("started")
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		d.gone()
		all := make(chan string)
		go func() {
			b, _ := io.ReadAll(unread)
			all <- string(b)
		}()
		in.Close()
		_ = cmd.Wait()
		last, code := "[interrupted]", 0
		if args[0] == "--mode" {
			last, code = `"outcome":"interrupted"`, 130
		}
		if got := <-all; !strings.Contains(got, last) || cmd.ProcessState.ExitCode() != code {
			t.Errorf("%v: exit %d, want %d with %s at the end: %s", args, cmd.ProcessState.ExitCode(), code, last, got[max(0, len(got)-1000):])
		}
	}
}

// TestTypeAheadOnATerminal: a line that was begun before a question does not answer it when it is ended.
func TestTypeAheadOnATerminal(t *testing.T) {
	d := newDesk(t,
		modeltest.Calls(modeltest.Call("bash", `{"command":"touch running; while [ ! -e go ]; do sleep 0.05; done"}`)),
		modeltest.Calls(modeltest.Call("bash", `{"command":"rm greeting.txt"}`)),
		modeltest.Say("Then not.")).connect()
	cmd := d.command("--plain", "--safe-mode", "tidy up")
	ours, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	x := &talk{d: d, cmd: cmd, stdin: ours, done: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(x, ours)
	}()
	go func() { x.done <- cmd.Wait() }()
	// answer types until it is taken: what comes right after a question is not.
	answer := func(with string, taken func() bool) {
		refused := strings.Count(x.all(), "again")
		for x.say(with); !taken(); {
			pause := 5 * time.Millisecond
			if n := strings.Count(x.all(), "again"); n > refused {
				refused, pause = n, time.Second/2
			}
			select {
			case <-time.After(pause):
				if pause >= time.Second/2 {
					x.say(with)
				}
			case <-d.ctx.Done():
				t.Fatalf("%s is not taken:\n%s", with, x.all())
			}
		}
	}
	x.see("answer> ")
	answer("o", func() bool { _, err := os.Stat(filepath.Join(d.repo, "running")); return err == nil })
	if _, err := io.WriteString(ours, "begun\b\b\b\b\bo"); err != nil { // what a terminal has of it is the letter that allows
		t.Fatal(err)
	}
	x.see("begun")
	d.write("go", "")
	x.see("rm greeting.txt")
	x.see("answer> ")
	x.say("")
	x.see("[needs input]")
	x.see("answer> ")
	answer("d", func() bool { return strings.Contains(x.all(), "Then not.") })
	x.see("[completed]")
	x.say("/quit")
	if code := x.end(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, x.all())
	}
	<-read
	if d.read("greeting.txt") == "" {
		t.Fatal("it was removed")
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	d := newDesk(t, modeltest.Say("hello")).connect()
	d.ok("", "-p", "hi")
	for _, args := range [][]string{{"--help"}, {"--version"}, {"sessions", "list"}, {"sessions", "list", "--json"}, {"sessions", "--help"}, {"doctor", "--offline"},
		{"-p", "/status"}, {"--mode", "json", "/status"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := d.command(args...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		_ = cmd.Run()
		full.Close()
		if cmd.ProcessState.ExitCode() != exitFail || strings.Count(errs.String(), "no space left") != 1 {
			t.Errorf("%v: exit %d: %s", args, cmd.ProcessState.ExitCode(), &errs)
		}
	}
}

// TestJSONTellsWhatCameBefore: a reader of records gets one also when there never was a session.
func TestJSONTellsWhatCameBefore(t *testing.T) {
	d := newDesk(t).connect()
	for _, args := range [][]string{{"--mode", "json"}, {"--wrong", "--mode=json", "hi"}, {"--mode", "json", "@nothere"}, {"--mode", "json", "--resume", "nothing", "hi"},
		{"--mode", "json", "--model", "nobody/x", "hi"}} {
		o := d.run("", args...)
		rs := lines(t, o.stdout)
		if o.code == 0 || len(rs) == 0 {
			t.Errorf("%v: %+v", args, o)
			continue
		}
		last := rs[len(rs)-1]
		message, _ := last["error"].(string)
		if last["type"] != "error" || strings.Count(o.stdout, `"type":"error"`) != 1 || !strings.Contains(o.stderr, strings.Split(message, "\n")[0]) {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if o := d.run("", "-p", "--", "--mode", "json"); strings.Contains(o.stdout, `"error"`) {
		t.Errorf("that is a prompt: %+v", o)
	}
}

func TestReportSaysEachLineOnce(t *testing.T) {
	var b strings.Builder
	full := errors.New("the disk is full\nmake room")
	report(&b, errors.Join(full, errors.New("close: late\x1b[2J"), full))
	if got := b.String(); got != "Error: the disk is full\nmake room\nclose: late\n" {
		t.Errorf("%q", got)
	}
}
