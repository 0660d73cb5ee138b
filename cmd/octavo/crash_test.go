package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// waitFor waits for a file in the repository.
func (d *desk) waitFor(name string) {
	d.t.Helper()
	for {
		if _, err := os.Stat(filepath.Join(d.repo, name)); err == nil {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-d.ctx.Done():
			d.t.Fatalf("%s never came", name)
		}
	}
}

// gone waits until the process whose id the file pid holds is no more.
func (d *desk) gone() {
	d.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(d.read("pid")))
	if err != nil {
		d.t.Fatal(err)
	}
	for {
		if err := syscall.Kill(pid, 0); err != nil {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-d.ctx.Done():
			d.t.Fatalf("process %d outlived octavo", pid)
		}
	}
}

// TestKilledAtEveryCommit kills octavo with SIGKILL on both sides of each commit of the job, reopens the session and goes on. No
// fact that was stored is lost or doubled, and no call runs twice by itself.
func TestKilledAtEveryCommit(t *testing.T) {
	type crossing struct {
		point sessionstore.Point
		times int
	}
	crossings := []crossing{{sessionstore.InputAccepted, 1}, {sessionstore.AssistantStored, 4}, {sessionstore.ToolCallStored, 3},
		{sessionstore.ToolResultStored, 3}, {sessionstore.UsageStored, 1}, {sessionstore.TurnSettled, 1}}
	for _, c := range crossings {
		for n := 1; n <= c.times; n++ {
			for _, phase := range []sessionstore.Phase{sessionstore.BeforeCommit, sessionstore.AfterCommit} {
				at := fmt.Sprintf("%s/%s/%d", c.point, phase, n)
				t.Run(at, func(t *testing.T) {
					t.Parallel()
					killedAt(t, at)
				})
			}
		}
	}
}

func killedAt(t *testing.T, at string) {
	d := newDesk(t).connect()
	// The model answers by what it is shown, so that the job can go on from anywhere.
	replies := fix()
	d.server.Script(modeltest.Status(503, "busy")) // a failed attempt has a usage row of its own
	for range 13 {
		d.server.Script(modeltest.Func(func(r modeltest.Request) modeltest.Reply { return next(r, replies) }))
	}
	d.binary, d.env = built.crashing, []string{"OCTAVO_CRASH_AT=" + at}
	if o := d.run("", "-p", "mend the greeting"); o.code != -1 {
		t.Fatalf("it was not killed: %+v", o)
	}
	before := d.stored()
	d.binary, d.env = built.octavo, nil
	args := []string{"-p", "--continue", "go on"}
	if len(before.kinds) == 0 {
		args = []string{"-p", "mend the greeting"} // nothing was accepted
		if strings.HasPrefix(at, "input accepted/before") == false {
			t.Fatalf("killed at %s and nothing is stored", at)
		}
	}
	d.ok("", args...)
	if len(before.kinds) == 0 {
		return
	}
	after := d.stored()
	for i, p := range before.payloads {
		if after.payloads[i] != p {
			t.Fatalf("entry %d changed", i+1)
		}
	}
	if n := strings.Count(strings.Join(after.kinds, " "), "user"); n != 2 {
		t.Fatalf("%d inputs, want the first and the second: %v", n, after.kinds)
	}
	if got := d.read("greeting.txt"); got != "hello world\n" {
		t.Fatalf("the job was not finished: %q", got)
	}
	calls, results := map[string]int{}, map[string]int{}
	for i, kind := range after.kinds {
		id := callID(after.payloads[i])
		switch kind {
		case "call":
			calls[id]++
		case "result":
			results[id]++
		}
	}
	for id, n := range calls {
		if n != 1 || results[id] != 1 {
			t.Fatalf("call %s is stored %d times with %d results", id, n, results[id])
		}
	}
}

func callID(payload string) string {
	_, rest, _ := strings.Cut(payload, `"call":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// next is a model that does the next thing that is not done yet.
func next(r modeltest.Request, replies []modeltest.Reply) modeltest.Reply {
	var edited, checked, looked bool
	for _, m := range r.Chat.Messages {
		if m.Role == "tool" {
			looked = looked || strings.Contains(m.Text, "wrold")
			edited = edited || strings.Contains(m.Text, "modified=1") || strings.Contains(m.Text, "no_match") // it was done before the crash
			checked = checked || strings.Contains(m.Text, "PASS")
		}
	}
	switch {
	case checked:
		return replies[3]
	case edited:
		return replies[2]
	case looked:
		return replies[1]
	default:
		return replies[0]
	}
}

// TestKilledLeavesNoChild: after SIGKILL nothing of a running command goes on, and the session can be opened again.
func TestKilledLeavesNoChild(t *testing.T) {
	d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"echo $$ > pid; touch started; sleep 600 & wait"}`)), modeltest.Say("I see.")).connect()
	cmd := d.command("-p", "wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.waitFor("started")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	d.gone()
	if got := d.ok("", "-p", "--continue", "what happened?"); got != "I see.\n" {
		t.Fatalf("stdout %q", got)
	}
	if all := strings.Join(d.stored().payloads, "\n"); !strings.Contains(all, "outcome is unknown") {
		t.Fatalf("the model is told that the outcome is unknown:\n%s", all)
	}
}
