package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// jobKinds are the entries of the whole job in fix.
var jobKinds = []string{"user", "assistant", "call", "result", "assistant", "call", "result", "assistant", "call", "result", "assistant", "settled"}

// TestJob does the main job through the public door: answer, diff on disk, entries and usage agree.
func TestJob(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	if got := d.ok("", "-p", "mend the greeting"); got != "Mended the greeting; check.sh says PASS.\n" {
		t.Fatalf("stdout %q", got)
	}
	if diff := d.git("diff", "--stat"); !strings.Contains(diff, "greeting.txt | 2 +-") || d.read("greeting.txt") != "hello world\n" {
		t.Fatalf("diff %s", diff)
	}
	s := d.stored()
	if !slices.Equal(s.kinds, jobKinds) {
		t.Fatalf("entries %v", s.kinds)
	}
	if !strings.Contains(s.payloads[9], "PASS") || !strings.Contains(s.payloads[6], "modified=1") {
		t.Fatalf("results %s %s", s.payloads[6], s.payloads[9])
	}
	if len(s.requests) != 4 || s.totals.Input != 1000+100+100+100 || s.totals.CacheRead != 3300 || s.totals.Output != 82 {
		t.Fatalf("usage %+v", s.totals)
	}
	if s.row.Stage != sessionstore.StageIdle || s.row.Preview != "mend the greeting" {
		t.Fatalf("row %+v", s.row)
	}
	for i, r := range d.server.Requests() {
		if names := r.Chat.ToolNames(); !slices.Equal(names, []string{"read", "search", "edit", "write", "bash"}) {
			t.Fatalf("request %d offers %v", i, names)
		}
	}
}

// TestJobOnEveryWire: whatever protocol the model's server speaks, the entries and the usage are the same.
func TestJobOnEveryWire(t *testing.T) {
	var first stored
	for _, wire := range []string{"openai-chat", "openai-responses", "anthropic-messages"} {
		d := newDesk(t, fix()...)
		d.ok("", "setup", "--wire", wire, "--endpoint", d.server.URL(), "--provider", "local", "--manual-model", "scripted", "--no-auth", "--yes")
		if got := d.ok("", "-p", "mend the greeting"); got != "Mended the greeting; check.sh says PASS.\n" {
			t.Fatalf("%s: stdout %q", wire, got)
		}
		s := d.stored()
		if first.kinds == nil {
			first = s
		}
		if !slices.Equal(s.kinds, jobKinds) || s.totals != first.totals {
			t.Errorf("%s: entries %v, usage %+v; want %v, %+v", wire, s.kinds, s.totals, jobKinds, first.totals)
		}
		if got := d.server.Requests()[0].Wire; string(got) == "" || d.read("greeting.txt") != "hello world\n" {
			t.Errorf("%s: spoken as %s", wire, got)
		}
	}
}

// TestPrefixIsFrozen: what a provider caches must be the same to the byte in every request of a session, also after it was reopened.
func TestPrefixIsFrozen(t *testing.T) {
	d := newDesk(t, append(fix(), modeltest.Say("Yes."))...).connect()
	d.ok("", "-p", "mend the greeting")
	d.ok("", "-p", "--continue", "sure?")
	var tools, before string
	for i, r := range d.server.Requests() {
		messages := string(r.Chat.Fields["messages"])
		if i > 0 && (!strings.HasPrefix(messages, strings.TrimSuffix(before, "]")) || string(r.Chat.Fields["tools"]) != tools) {
			t.Fatalf("request %d does not begin with the one before it", i+1)
		}
		tools, before = string(r.Chat.Fields["tools"]), messages
	}
}

func TestContinue(t *testing.T) {
	d := newDesk(t, append(fix(), modeltest.Say("It said PASS."))...).connect()
	d.ok("", "-p", "mend the greeting")
	if got := d.ok("", "-p", "--continue", "what did the check say?"); got != "It said PASS.\n" {
		t.Fatalf("stdout %q", got)
	}
	last := d.server.Requests()[4].Chat
	if n := len(last.Messages); n < 9 || last.Messages[1].Text != "mend the greeting" {
		t.Fatalf("the whole conversation is sent again, got %d messages", n)
	}
	s := d.stored()
	if got := d.ok("", "-p", "--resume", s.row.ID[:18], "/status"); !strings.Contains(got, s.row.ID) {
		t.Fatalf("a command can be given as the prompt: %q", got)
	}
	if o := d.run("", "-p", "--resume", "nothing", "x"); o.code != 1 || !strings.Contains(o.stderr, "sessions list") {
		t.Fatalf("%+v", o)
	}
}

func TestPipedInput(t *testing.T) {
	d := newDesk(t, modeltest.Say("reviewed")).connect()
	d.write("notes.md", "a < b\n")
	if got := d.ok("from stdin\n", "review this", "@notes.md"); got != "reviewed\n" {
		t.Fatalf("stdout %q", got)
	}
	text := d.server.Requests()[0].Chat.Last().Text
	for _, want := range []string{"from stdin", "review this", "notes.md", "a &lt; b"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q: %q", want, text)
		}
	}
	if !strings.HasPrefix(text, "from stdin") {
		t.Errorf("what is piped in heads the prompt: %q", text)
	}
}

func TestJSON(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	events := lines(t, d.ok("", "--mode", "json", "mend the greeting"))
	count := map[string]int{}
	for _, e := range events {
		count[fmt.Sprint(e["type"])]++
	}
	for kind, want := range map[string]int{"agent_start": 1, "tool_execution_start": 3, "tool_execution_end": 3, "agent_end": 1, "agent_settled": 1} {
		if count[kind] != want {
			t.Errorf("%d %s, want %d (all: %v)", count[kind], kind, want, count)
		}
	}
}

func TestSafeModeDeniesWithoutAPerson(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	d.ok("", "-p", "--safe-mode", "mend the greeting")
	if d.read("greeting.txt") != "hello wrold\n" {
		t.Fatal("safe mode changed a file without a person's word")
	}
	s := d.stored()
	refused := 0
	for _, p := range s.payloads {
		if strings.Contains(p, `"outcome":"refused"`) {
			refused++
		}
	}
	if refused != 2 {
		t.Fatalf("%d calls refused, want edit and bash", refused)
	}
}

// TestPlainDay is a person's session in plain mode with a denied command, a steer, a follow-up and a cancel on the way.
func TestPlainDay(t *testing.T) {
	d := newDesk(t,
		modeltest.Calls(modeltest.Call("bash", `{"command":"rm greeting.txt"}`)),
		modeltest.Calls(modeltest.Call("bash", `{"command":"while [ ! -e go ]; do sleep 0.05; done; echo went"}`)),
		modeltest.Say("Steered and done."),
		modeltest.Say("Followed up."),
		modeltest.Calls(modeltest.Call("bash", `{"command":"sleep 600"}`)),
		modeltest.Say("Back again."),
	).connect()
	x := d.talk("--safe-mode")
	x.say("tidy up")
	x.see("s) allow")
	x.say("d keep that file")
	x.see("s) allow")
	x.say("o")
	x.see("answered")
	x.say("only the text files")
	x.see("[steer")
	x.say("/queue and then say so")
	x.see("queued: ")
	d.write("go", "")
	x.see("Steered and done.")
	x.see("Followed up.")
	x.say("now wait")
	x.see("s) allow")
	x.say("o")
	x.see("[working]") // the heartbeat says that the command runs
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.see("[interrupted]")
	x.say("still there?")
	x.see("Back again.")
	x.say("/name the day")
	x.say("/quit")
	x.see("octavo --resume")
	if code := x.end(); code != 0 && code != 1 {
		t.Fatalf("exit %d:\n%s", code, x.all())
	}
	if d.read("greeting.txt") == "" {
		t.Fatal("the denied command ran")
	}
	s := d.stored()
	all := strings.Join(s.payloads, "\n")
	for _, want := range []string{"refused this call: keep that file", `"origin":"steer"`, `"origin":"follow_up"`, `"outcome":"cancelled"`, "went"} {
		if !strings.Contains(all, want) {
			t.Errorf("the entries lack %s", want)
		}
	}
	if s.row.Name != "the day" {
		t.Errorf("name %q", s.row.Name)
	}
	if strings.Contains(d.ok("", "sessions", "list"), "the day") == false {
		t.Error("sessions list shows the name")
	}
}

func TestTwoOctavosOnOneSession(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two")).connect()
	d.ok("", "-p", "hello")
	x := d.talk("--continue")
	x.see(">")
	o := d.run("", "-p", "--continue", "me too")
	if o.code != 1 || !strings.Contains(o.stderr, fmt.Sprint(x.cmd.Process.Pid)) {
		t.Fatalf("the second is told which process holds the session: %+v", o)
	}
	x.say("/quit")
	x.end()
	d.ok("", "-p", "--continue", "me too")
}

func TestWithoutAModel(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"-p", "hi"}, {"--mode", "json", "hi"}} {
		o := d.run("", args...)
		if o.code != 1 || !strings.Contains(o.stderr, "octavo setup") {
			t.Errorf("%v: %+v", args, o)
		}
	}
	x := d.talk()
	x.say("hi")
	x.see("octavo setup")
	x.say("/quit")
	x.end()
	if o := d.run("", "doctor"); o.code != 1 || !strings.Contains(o.stdout, "octavo setup") {
		t.Errorf("doctor: %+v", o)
	}
}

func TestSetupAndDoctor(t *testing.T) {
	d := newDesk(t)
	d.server.Models("scripted", "other")
	args := []string{"setup", "--endpoint", d.server.URL(), "--provider", "local", "--model", "scripted", "--no-auth"}
	if out := d.ok("", args...); !strings.Contains(out, "--yes") {
		t.Fatalf("it says how to go on: %s", out)
	}
	if _, err := os.Stat(filepath.Join(d.home, "config.toml")); err == nil {
		t.Fatal("written without --yes")
	}
	d.ok("", append(args, "--yes")...)
	if o := d.run("", append(args, "--yes")...); o.code != 1 || !strings.Contains(o.stderr, "--replace") {
		t.Fatalf("an existing provider is not replaced silently: %+v", o)
	}
	if out := d.ok("", "doctor"); !strings.Contains(out, "2 models") {
		t.Fatalf("doctor: %s", out)
	}
	d.server.Close()
	if o := d.run("", "doctor"); o.code != 1 || !strings.Contains(o.stdout, "refused") {
		t.Fatalf("doctor with a dead server: %+v", o)
	}
	if out := d.ok("", "doctor", "--offline"); !strings.Contains(out, "not asked") {
		t.Fatalf("doctor --offline: %s", out)
	}
}

func TestCommandLine(t *testing.T) {
	d := newDesk(t).connect()
	if got := d.ok("", "--version"); got != "octavo 1.2.3-test\n" {
		t.Fatalf("version %q", got)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--wrong", []string{"--wrong"}},
		{2, "--mode", []string{"--mode", "loud", "hi"}},
		{2, "exclude each other", []string{"-p", "--continue", "--resume", "x", "hi"}},
		{2, "exclude each other", []string{"-p", "--safe-mode", "--effect-policy", "controlled", "hi"}},
		{2, "effect_policy", []string{"-p", "--effect-policy", "yolo", "hi"}},
		{2, "bash_timeout_secs", []string{"-p", "--bash-timeout-secs", "0", "hi"}},
		{2, "no prompt", []string{"-p"}},
		{2, "did you mean \"sessions\"", []string{"sesions", "list"}},
		{2, "takes no \"lst\"", []string{"sessions", "lst"}},
		{2, "sessions list", []string{"--resume"}},
		{1, "no tool \"fly\"", []string{"-p", "--tools", "fly", "hi"}},
		{1, "no provider is named", []string{"-p", "--model", "nobody/x", "hi"}},
		{1, "--workspace", []string{"-p", "--workspace", "/nowhere/at/all", "hi"}},
		{1, "nothere", []string{"-p", "@nothere"}},
	} {
		o := d.run("", c.args...)
		if o.code != c.code || !strings.Contains(o.stderr, c.want) || !strings.HasPrefix(o.stderr, "Error: ") {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, o.code, c.code, c.want, o.stderr)
		}
	}
}

func TestFailedRunsExitWithOne(t *testing.T) {
	d := newDesk(t, modeltest.Status(401, `{"error":{"message":"nope"}}`), modeltest.Calls(modeltest.Call("read", `{"path":"missing"}`)), modeltest.Say("It is missing.")).connect()
	if o := d.run("", "-p", "hi"); o.code != 1 || o.stdout != "" || !strings.HasPrefix(o.stderr[strings.Index(o.stderr, "Error"):], "Error: ") {
		t.Fatalf("%+v", o)
	}
	if got := d.ok("", "-p", "look"); got != "It is missing.\n" {
		t.Fatalf("a failed tool the model recovered from is no failure: %q", got)
	}
}

// TestSignals: the exit code is 128 and the signal, the turn is settled, and no child is left.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"echo $$ > pid; touch started; sleep 600"}`))).connect()
			cmd := d.command("-p", "wait")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.waitFor("started")
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Fatalf("exit %d", code)
			}
			d.gone()
			s := d.stored()
			if s.kinds[len(s.kinds)-1] != "settled" || s.row.Stage != sessionstore.StageInterrupted {
				t.Fatalf("entries %v, stage %s", s.kinds, s.row.Stage)
			}
		})
	}
}
