package plain_test

import (
	"context"
	"strings"
	"testing"

	"octavo/app/api"
)

func TestRPCBash(t *testing.T) {
	s := newStage(t, blocked)
	var asked []api.ShellRequest
	running := make(chan struct{})
	s.shell = func(ctx context.Context, r api.ShellRequest, progress func(string)) api.ShellResult {
		asked = append(asked, r)
		if r.Command == "sleep" {
			progress("z")
			close(running)
			<-ctx.Done()
			return api.ShellResult{Output: "z", Cancelled: true}
		}
		progress("caf\xc3")
		progress("\xa9\n")
		return api.ShellResult{Output: "café\n", ExitCode: ptr(3)}
	}
	w := dial(t, house{}, s)
	w.call("prompt message:go") // commands run beside a turn
	if got := compact(w.call("bash command:fails")); got != `{"cancelled":false,"entry":2,"exitCode":3,"output":"café\n","truncated":false}` {
		t.Errorf("%s", got)
	}
	m := w.await("its message", func(r record) bool {
		m, ok := r["message"].(record)
		return ok && r["type"] == "message_end" && m["role"] == "bashExecution"
	})["message"]
	if got := compact(m); got != `{"cancelled":false,"command":"fails","content":[],"entry":2,"excludeFromContext":false,"exitCode":3,"output":"café\n","role":"bashExecution","timestamp":1791460800000}` {
		t.Errorf("%s", got)
	}
	id := w.ask("bash command:sleep excludeFromContext:true")
	<-running
	w.refused("bash command:other", "busy")
	if w.call("get_state").(record)["isBashRunning"] != true {
		t.Error("the state does not tell of it")
	}
	w.call("abort_bash")
	if got := compact(w.reply(id)["data"]); got != `{"cancelled":true,"entry":3,"exitCode":null,"output":"z","truncated":false}` {
		t.Errorf("%s", got)
	}
	w.refused("abort_bash", "idle")
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, r := range w.all() {
		if r["type"] == "bash_execution_update" {
			said[r["id"].(string)] += r["delta"].(string)
		}
	}
	if said["r2"] != "café\n" || said[id] != "z" {
		t.Errorf("live output %v", said)
	}
	if !asked[1].Exclude || asked[0].Exclude {
		t.Errorf("asked for %v", asked)
	}
}

// Live output is told up to 64 KiB; one byte more is counted instead.
func TestRPCBashOutputBound(t *testing.T) {
	const bound = 64 << 10
	for _, size := range []int{bound, bound + 1, 100 * bound} {
		s := newStage(t)
		s.shell = func(_ context.Context, _ api.ShellRequest, progress func(string)) api.ShellResult {
			for left := size; left > 0; left -= min(left, 1000) {
				progress(strings.Repeat("x", min(left, 1000)))
			}
			return api.ShellResult{Truncated: true}
		}
		w := dial(t, house{}, s)
		w.call("bash command:yes")
		told, omitted := 0, 0.0
		for _, r := range w.all() {
			if r["type"] == "bash_execution_update" {
				told += len(r["delta"].(string))
				if n, ok := r["omittedBytes"].(float64); ok {
					omitted = n
				}
			}
		}
		if told != min(size, bound) || int(omitted) != size-told {
			t.Errorf("of %d bytes %d were told and %v omitted", size, told, omitted)
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
	}
}
