package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// client begins every program of these tests: it drives octavo with docs/rpc_client.py, as anybody would.
const client = `
import json, os, sys, time
from rpc_client import Octavo, Refused

octavo = Octavo()
octavo.start([os.environ["OCTAVO"], "--mode", "rpc"] + sys.argv[1:])
events = octavo.events(timeout=50)

def until(kind, **fields):
    for e in events:
        if e["type"] == kind and all(e.get(k) == v for k, v in fields.items()):
            return e
    raise EOFError("no " + kind)

def refused(command, /, **fields):
    try:
        octavo.call(command, **fields)
    except Refused as why:
        return why.code
    return "accepted"

def appears(name):
    while not os.path.exists(name):
        time.sleep(0.005)

def say(*what):
    print(*[w if isinstance(w, str) else json.dumps(w, sort_keys=True) for w in what])
`

// python runs a program in the repository and answers what it said. It ends octavo, which has to exit with 0.
func (d *desk) python(program string, args ...string) string {
	d.t.Helper()
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.CommandContext(d.ctx, "python3", append([]string{"-B", "-c", client + program + "\nsay('exit', octavo.close())\n"}, args...)...)
	cmd.Dir, cmd.Env = d.repo, append(d.command().Env, "PYTHONPATH="+docs, "OCTAVO="+d.binary)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		d.t.Fatalf("%v\n%s\n%s", err, &out, &errs)
	}
	said, ended := strings.CutSuffix(out.String(), "exit 0\n")
	if !ended || errs.Len() > 0 {
		d.t.Fatalf("%s\n%s", &out, &errs)
	}
	return said
}

func (d *desk) drives(program, want string, args ...string) {
	d.t.Helper()
	if got := d.python(program, args...); got != strings.TrimPrefix(want, "\n") {
		d.t.Errorf("it says\n%swant%s", got, want)
	}
}

// TestRPCJob does the main job, and the same with the client's own program.
func TestRPCJob(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	d.drives(`
got = octavo.call("prompt", message="mend the greeting")
end = until("agent_settled", turnId=got["turnId"])
say(end["outcome"], end["steps"], end["files"])
say(octavo.call("get_last_assistant_text")["text"])
stats = octavo.call("get_session_stats")
say(stats["tokens"], stats["toolCalls"], stats["totalMessages"], stats["cost"])
`, `
completed 4 ["greeting.txt"]
Mended the greeting; check.sh says PASS.
{"cacheRead": 3300, "cacheWrite": 0, "input": 1300, "output": 82, "reasoning": 0, "total": 4682} 3 8 null
`)
	if d.read("greeting.txt") != "hello world\n" || !slices.Equal(d.stored().kinds, jobKinds) {
		t.Errorf("entries %v", d.stored().kinds)
	}

	d = newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"touch never"}`)), modeltest.Say("Then not.")).connect()
	cmd := exec.CommandContext(d.ctx, "python3", "-B", filepath.Join("..", "..", "docs", "rpc_client.py"), "tidy up")
	file, err := filepath.Abs(cmd.Args[2])
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "octavo")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\nexec "+d.binary+" \"$@\" --safe-mode\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Args[2], cmd.Dir = file, d.repo
	cmd.Env = append(d.command().Env, "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "Then not.\n" {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(d.repo, "never")); err == nil {
		t.Error("a program without a person allowed a command")
	}
}

func TestRPCSteersInMidTurn(t *testing.T) {
	d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"touch started; while [ ! -e go ]; do sleep 0.05; done"}`)),
		modeltest.Say("Only the text files, then."), modeltest.Say("Followed up.")).connect()
	d.drives(`
octavo.call("prompt", message="tidy up")
appears("started")
say(refused("prompt", message="only the text files"))
say(octavo.call("get_state")["isStreaming"])
say(octavo.call("prompt", message="only the text files", streamingBehavior="steer")["queued"])
octavo.call("follow_up", message="say so")
open("go", "w").close()
for _ in range(2):
    say(until("agent_settled")["outcome"])
    say(octavo.call("get_last_assistant_text")["text"] != "")
`, `
busy
true
true
completed
true
completed
true
`)
	all := strings.Join(d.stored().payloads, "\n")
	for _, want := range []string{`"origin":"steer"`, `"origin":"follow_up"`, "Followed up."} {
		if !strings.Contains(all, want) {
			t.Errorf("the entries lack %s", want)
		}
	}
	if last := d.server.Requests()[1].Chat.Last(); last.Text != "only the text files" {
		t.Errorf("the next request ends with %q", last.Text)
	}
}

// TestRPCAnswers: what needs a person asks the client; denied is not done.
func TestRPCAnswers(t *testing.T) {
	d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"touch denied"}`)), modeltest.Calls(modeltest.Call("bash", `{"command":"touch allowed"}`)),
		modeltest.Calls(modeltest.Call("bash", `{"command":"touch unanswered"}`)), modeltest.Say("never said")).connect()
	d.drives(`
octavo.call("prompt", message="make files")
ask = until("ask")
say(ask["kind"], [o["id"] for o in ask["options"]], "touch denied" in json.dumps(ask))
say(refused("answer", ask=ask["id"], option="always"), refused("answer", ask="another", option="once"))
octavo.call("answer", ask=ask["id"], option="deny", text="not that one")
say(until("tool_execution_end")["outcome"])
octavo.call("answer", ask=until("ask")["id"], option="once")
say(until("tool_execution_end")["outcome"])
until("ask")  # and nobody answers
`, `
approval ["deny", "once", "session"] true
invalid_request not_found
refused
ok
`, "--safe-mode")
	for name, want := range map[string]bool{"denied": false, "allowed": true, "unanswered": false} {
		if _, err := os.Stat(filepath.Join(d.repo, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all := strings.Join(d.stored().payloads, "\n"); !strings.Contains(all, "refused this call: not that one") {
		t.Errorf("the model is not told why: %s", all)
	}
}

func TestRPCBash(t *testing.T) {
	d := newDesk(t, modeltest.Say("I see it."), modeltest.Say("still here")).connect()
	d.drives(`
got = octavo.call("bash", command="echo for the model; exit 3")
say(got["exitCode"], got["cancelled"], got["truncated"], "for the model" in got["output"])
live = until("bash_execution_update")
say("for the model" in live["delta"])
octavo.call("bash", command="echo between us", excludeFromContext=True)
running = octavo.send("bash", command="echo $$ > pid; touch started; sleep 600")
appears("started")
say(refused("bash", command="true"))
octavo.call("abort_bash")
got = octavo.wait(running)
say(got["exitCode"], got["cancelled"])
octavo.call("prompt", message="what did I run?")
until("agent_settled")
shells = [m for m in octavo.call("get_messages")["messages"] if m["role"] == "bashExecution"]
say([[m["command"].split(";")[0], m["excludeFromContext"], m["cancelled"]] for m in shells])
`, `
3 false false true
true
busy
null true
[["echo for the model", false, false], ["echo between us", true, false], ["echo $$ > pid", false, true]]
`)
	d.gone()
	body := string(d.server.Requests()[0].Body)
	if !strings.Contains(body, "for the model") || strings.Contains(body, "between us") {
		t.Errorf("the model reads %s", body)
	}
}

func TestRPCQueueIsBounded(t *testing.T) {
	d := newDesk(t, modeltest.Calls(modeltest.Call("bash", `{"command":"echo $$ > pid; touch started; sleep 600"}`))).connect()
	d.drives(`
octavo.call("prompt", message="wait")
appears("started")
got = [refused("steer" if i % 2 else "follow_up", message="input %d" % i) for i in range(70)]
say(got.count("accepted"), got.index("queue_full"), set(got[64:]) == {"queue_full"})
octavo.call("abort")
say(until("agent_settled")["outcome"], octavo.call("get_state")["pendingMessageCount"])
`, `
64 64 true
interrupted 64
`)
	d.gone()
}

func TestRPCModelsAndSessions(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three")).connect()
	d.drives(`
def ask(text):
    octavo.call("prompt", message=text)
    until("agent_settled")
    return octavo.call("get_last_assistant_text")["text"]

first = octavo.call("get_state")["sessionId"]
say(ask("first"))
model = octavo.call("set_model", provider="local", modelId="other")
say(model["provider"], model["id"], refused("set_model", provider="nobody", modelId="x"))
say(refused("set_thinking_level", level="enormous"))
octavo.call("set_session_name", name="the first")
second = octavo.call("new_session")["sessionId"]
say(second != first, until("session", id=second)["model"])
say(ask("second"))
say(refused("switch_session", sessionId="nowhere"))
say(octavo.call("switch_session", sessionId="the first")["sessionId"] == first)
state = octavo.call("get_state")
say(state["sessionName"], state["messageCount"], octavo.call("reload")["sessionId"] == first)
say(ask("third"))
fork = octavo.call("prompt", message="/fork")
say(fork["go"], octavo.call("switch_session", sessionId=fork["session"])["cancelled"])
tree = octavo.call("get_tree")
say([n["sessionId"] for n in tree["tree"]] == [first, fork["session"]], tree["sessionId"] == fork["session"])
say(octavo.call("get_state")["messageCount"], octavo.call("get_last_assistant_text")["text"])
say(refused("compact"), refused("export_html"), refused("fork"))
`, `
one
local other not_found
invalid_request
true local/other
two
not_found
true
the first 2 true
three
session false
true true
4 three
not_available not_available not_available
`)
	var models []string
	for _, r := range d.server.Requests() {
		models = append(models, r.Chat.Model)
	}
	if want := []string{"scripted", "other", "other"}; !slices.Equal(models, want) {
		t.Errorf("asked of %v", models)
	}
}

// TestRPCFraming: what is no request has an answer of its own, and the next one is carried out.
func TestRPCFraming(t *testing.T) {
	d := newDesk(t).connect()
	d.drives(`
answers = []
octavo._on_event = lambda e: None
take = json.loads
def keep(line):
    record = take(line)
    if record["type"] == "response" and "id" not in record:
        answers.append(record["error"]["code"])
    return record
json.loads = keep
octavo.call("get_state")
for line in [b"", b"\r", b"not json", b"[1]", b"{}", b"\xff", b'{"type":"fly"}', b"x" * (5 << 20), b'{"type":"steer"}\r']:
    octavo.process.stdin.write(line + b"\n")
octavo.process.stdin.flush()
say(octavo.call("get_commands")["commands"][0]["name"] != "")
say(answers)
`, `
true
["invalid_json", "invalid_request", "invalid_request", "invalid_frame", "unknown_command", "invalid_frame", "invalid_request"]
`)
	for _, args := range [][]string{{"--mode", "rpc", "hello there"}, {"--mode", "rpc", "-p"}, {"--mode=rpc", "--plain"}, {"--mode", "rpc", "--resume", "nothing"}} {
		o := d.run("", args...)
		var r map[string]any
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || r["type"] != "error" || o.code == 0 || !strings.HasPrefix(o.stderr, "Error: ") {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if o := d.run(`{"type":"get_session_stats","id":"é"}`+"\n", "--mode", "rpc"); o.code != 0 || !strings.Contains(o.stdout, `"id":"é","command":"get_session_stats","success":true`) {
		t.Errorf("%+v", o)
	}
}

// TestRPCEnds: whether its input or a signal ends it, the turn is settled and no child is left.
func TestRPCEnds(t *testing.T) {
	const bash = `{"command":"echo $$ > pid; touch started; sleep 600"}`
	d := newDesk(t, modeltest.Calls(modeltest.Call("bash", bash))).connect()
	d.drives(`
octavo.call("prompt", message="wait")
appears("started")
octavo.call("follow_up", message="later")
code = octavo.close()
say(code, until("agent_settled")["outcome"])
`, `
0 interrupted
`)
	d.gone()
	s := d.stored()
	if s.kinds[len(s.kinds)-1] != "settled" || s.row.Stage != sessionstore.StageInterrupted {
		t.Errorf("entries %v, stage %s", s.kinds, s.row.Stage)
	}

	d = newDesk(t, modeltest.Calls(modeltest.Call("bash", bash))).connect()
	cmd := d.command("--mode", "rpc")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(`{"type":"prompt","message":"wait"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	d.waitFor("started")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	d.gone()
	rs := lines(t, out.String())
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) || errs.Len() > 0 || rs[len(rs)-1]["type"] != "error" || rs[len(rs)-2]["outcome"] != "interrupted" {
		t.Errorf("exit %d, stderr %s, records end with %v", code, &errs, rs[len(rs)-2:])
	}
}

// TestPlainShell: what a person runs with ! shows as it comes, ends with ctrl+c, and is read by the model unless !! kept it back.
func TestPlainShell(t *testing.T) {
	d := newDesk(t, modeltest.Say("I see.")).connect()
	x := d.talk()
	x.say("!echo for the model; touch half; while [ ! -e go ]; do sleep 0.05; done; exit 4")
	x.see("$ echo for the model")
	x.see("  for the model\n")
	d.write("go", "")
	x.see("[shell] exit 4")
	x.say("!!echo between us")
	x.see("  between us\n[shell] exit 0")
	x.say("!echo $$ > pid; touch started; sleep 600")
	d.waitFor("started")
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.see("[shell] cancelled")
	d.gone()
	x.say("what did I run?")
	x.see("I see.")
	x.say("/quit")
	if code := x.end(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, x.all())
	}
	body := string(d.server.Requests()[0].Body)
	if !strings.Contains(body, "for the model") || strings.Contains(body, "between us") {
		t.Errorf("the model reads %s", body)
	}
}
