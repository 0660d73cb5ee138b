package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"octavo/ext/model/modeltest"
)

// Two planted keys: of auth.json, whose spellings all differ, and of the environment. The start of either is in no other text.
const (
	storedKey  = `sk-planted-Zx9/+"<q>&\-0123456789abcdef`
	storedMark = `sk-planted`
	envKey     = `ek-planted-0123456789abcdefghij`
	envMark    = `ek-planted`
)

// plantedMB is how much output, in MiB, a command prints with the key all over it. OCTAVO_PLANTED_MB sets it, and -short lowers it.
func plantedMB(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("OCTAVO_PLANTED_MB")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 8
	}
	return 200
}

// spelled is how texts write a key.
func spelled(t *testing.T, key string) []string {
	t.Helper()
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(key); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{key, string(quoted[1 : len(quoted)-1]), plain.String()[1 : plain.Len()-2], url.QueryEscape(key), url.PathEscape(key)}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, e.EncodeToString([]byte(key)), e.EncodeToString([]byte("api:"+key)), e.EncodeToString([]byte("ab"+key+"\n")))
	}
	return all
}

// planting is a machine on which keys are planted, and all that octavo gave away on it.
type planting struct {
	*desk
	temp  string
	marks []string // no text may hold one
	mu    sync.Mutex
	seen  map[string]string
	files int // that were in the folder for temporary files while octavo ran
}

func newPlanting(t *testing.T) *planting {
	p := &planting{desk: newDesk(t), temp: t.TempDir(), seen: map[string]string{}}
	p.env = append(p.env, "TMPDIR="+p.temp, "PLANTED_TOKEN="+envKey)
	p.marks = []string{storedMark, envMark}
	for _, key := range []string{storedKey, envKey} {
		for _, s := range spelled(t, key) {
			// Half of a spelling is enough: what cuts a key in two must not leave one.
			p.marks = append(p.marks, s[len(s)/4:3*len(s)/4])
		}
	}
	p.saw("setup", p.run("", "setup", "--endpoint", p.server.URL(), "--provider", "local", "--manual-model", "scripted", "--api-key-env", "NOT_SET", "--yes"))
	p.saw("login", p.run(storedKey+"\n", "--login", "local"))
	p.saw("second", p.run("", "setup", "--endpoint", p.server.URL(), "--provider", "second", "--wire", "anthropic-messages", "--manual-model", "scripted",
		"--api-key-env", "PLANTED_TOKEN", "--yes"))
	p.write("lines.txt", strings.Join(append(spelled(t, storedKey), "last line"), "\n"))
	p.write(".env", storedKey)
	p.write("AGENTS.md", "Deploy with "+storedKey+" only.")
	return p
}

func (p *planting) saw(what string, o outcome) outcome {
	p.t.Helper()
	if o.code != 0 {
		p.t.Errorf("%s: exit %d\n%s\n%s", what, o.code, o.stdout, o.stderr)
	}
	p.keep(what+", stdout", o.stdout)
	p.keep(what+", stderr", o.stderr)
	return o
}

func (p *planting) keep(what, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[fmt.Sprintf("%d: %s", len(p.seen), what)] = text
}

// look takes in what lies in octavo's home and in the folder for temporary files now.
func (p *planting) look() {
	for _, root := range []string{p.home, p.temp} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || path == filepath.Join(p.home, "auth.json") {
				return err
			}
			b, err := os.ReadFile(path)
			if root == p.temp && strings.Contains(string(b), "[redacted]") {
				p.mu.Lock()
				p.files++
				p.mu.Unlock()
			}
			p.keep(path, string(b))
			return err
		})
		if err != nil {
			p.t.Error(err)
		}
	}
}

// then is a reply that is made when it is asked for, after a look at what lies around.
func (p *planting) then(r modeltest.Reply) modeltest.Reply {
	return modeltest.Func(func(modeltest.Request) modeltest.Reply { p.look(); return r })
}

// nowhere fails the test for every text with a mark.
func (p *planting) nowhere() {
	p.t.Helper()
	p.look()
	for i, r := range p.server.Requests() {
		header := r.Header.Clone()
		if got := header.Get("Authorization") + header.Get("X-Api-Key"); got != "Bearer "+storedKey && got != envKey {
			p.t.Errorf("request %d carries %q: nothing is proved", i+1, got)
		}
		header.Del("Authorization")
		header.Del("X-Api-Key")
		p.keep(fmt.Sprintf("request %d", i+1), fmt.Sprint(header)+string(r.Body))
	}
	for what, text := range p.seen {
		for _, mark := range p.marks {
			if i := strings.Index(text, mark); i >= 0 {
				p.t.Errorf("%s: %q in …%s…", what, mark, text[max(0, i-200):min(len(text), i+100)])
				break
			}
		}
	}
}

func call(t *testing.T, tool string, args map[string]any) modeltest.ToolCall {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Call(tool, string(b))
}

// TestPlantedKeyIsNowhere: octavo reads, runs, says and is told its own key in every way there is; the key leaves it in none.
func TestPlantedKeyIsNowhere(t *testing.T) {
	p := newPlanting(t)
	auth := filepath.Join(p.home, "auth.json")
	bash := func(command string) modeltest.ToolCall { return call(t, "bash", map[string]any{"command": command}) }
	again := func(command string) modeltest.Reply { return p.then(modeltest.Calls(bash(command))) }
	p.server.Script(
		modeltest.Calls(bash("cat "+auth), call(t, "read", map[string]any{"path": auth}), call(t, "read", map[string]any{"path": "lines.txt"}),
			call(t, "search", map[string]any{"pattern": "planted"})).WithText("First "+storedKey).WithReasoning("say "+storedKey+" twice").Chunk(1),
		again("cat lines.txt; base64 -w0 .env; base64 -w0 "+auth+"; grep --color=always -o 'sk-' .env; cat .env; cat .env >&2"),
		again(`k=$(cat .env); for ((i=0; i<${#k}; i++)); do printf %s "${k:i:1}"; sleep 0.002; done`),
		p.then(modeltest.Calls(call(t, "write", map[string]any{"path": "copy.txt", "content": "key " + storedKey + "\n"}), bash("cat copy.txt")).Chunk(1)),
		p.then(modeltest.Calls(modeltest.Call("bash", strings.Replace(bash("echo "+storedKey).Arguments, "sk-", `\u0073k-`, 1)))),
		again("cat "+auth+" | tr -d '\\n'; exit 3"),
		p.then(modeltest.Say("The key is "+storedKey+", in JSON "+spelled(t, storedKey)[1]+", "+envKey+".").Pieces(1)),
	)
	o := p.saw("json", p.run("", "--mode", "json", "--workspace-trusted", "my key is "+storedKey+" and "+envKey))
	if s := lines(t, o.stdout); !strings.Contains(o.stdout, "The key is [redacted], in JSON [redacted], [redacted].") || s[len(s)-1]["type"] != "agent_settled" {
		t.Errorf("the answer: %s", o.stdout[max(0, len(o.stdout)-500):])
	}
	if !strings.Contains(o.stdout, "held an API key") {
		t.Error("the person is not told that the key was taken out")
	}
	if _, err := os.Stat(filepath.Join(p.repo, "copy.txt")); err == nil || !strings.Contains(o.stdout, "the arguments held what octavo knows as an API key") {
		t.Errorf("a call that held the key was run: %v", err)
	}
	requests := p.server.Requests()
	system := requests[0].Chat.Messages[0].Text
	if !strings.Contains(system, "Deploy with [redacted] only.") {
		t.Errorf("the workspace's instructions are not read: %.300s", system)
	}
	last := requests[len(requests)-1].Chat.Messages
	results := ""
	for _, m := range last {
		if m.Role == "tool" {
			results += m.Text + "\n---\n"
		}
	}
	for _, want := range []string{`"api_key": "[redacted]"`, "last line", "exit_status=3", "the arguments held what octavo knows as an API key"} {
		if !strings.Contains(results, want) {
			t.Errorf("no %q in what the tools gave:\n%.3000s", want, results)
		}
	}
	p.nowhere()
}

// TestPlantedKeyIsNotInMuchOutput: of all that a command prints, not one key is left, wherever the pieces it comes in cut it.
func TestPlantedKeyIsNotInMuchOutput(t *testing.T) {
	p := newPlanting(t)
	const chunk = 1 << 20 // about
	command := `k="$(cat .env)" awk 'BEGIN { k = ENVIRON["k"]; for (i = 0; i < 18000; i++)
		print i % 10 ? i " a line of the output that has nothing in it, as most of them" : i " the key is " k " as you see" }' >chunk
for ((i = 0; i < ` + strconv.Itoa(plantedMB(t)) + `; i++)); do cat chunk; [ $i = 0 ] && cat chunk >&2; done; cat .env`
	kept := 0
	p.server.Script(
		modeltest.Calls(call(t, "bash", map[string]any{"command": command, "timeout_ms": 50_000})),
		modeltest.Func(func(r modeltest.Request) modeltest.Reply {
			p.look()
			for path := range strings.SplitSeq(r.Chat.Last().Text, "_output_path=") {
				path, _, _ = strings.Cut(path, "]")
				if b, err := os.ReadFile(path); err == nil {
					kept++
					if n := strings.Count(string(b), " the key is [redacted] as you see\n"); n < len(b)/chunk*1500 {
						t.Errorf("%s has %d marks in %d bytes", path, n, len(b))
					}
				}
			}
			return modeltest.Say("That was much.")
		}),
	)
	o := p.saw("json", p.run("", "--mode", "json", "print it"))
	if kept != 2 || p.files < 2 || !strings.Contains(o.stdout, "That was much.") {
		t.Errorf("%d files were kept, %d redacted; %s", kept, p.files, o.stdout[max(0, len(o.stdout)-1000):])
	}
	p.nowhere()
}

// TestPlantedKeyIsNotInWhatAPersonSees, on a terminal and off it, when all goes well and when it does not.
func TestPlantedKeyIsNotInWhatAPersonSees(t *testing.T) {
	p := newPlanting(t)
	refuse := modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": "I do not take " + key + " nor " + envKey}})
		if err != nil {
			t.Error(err)
		}
		return modeltest.Status(400, string(body), "X-Echo", key)
	})
	failed := func(what string, o outcome) {
		t.Helper()
		if o.code != 1 || !strings.Contains(o.stderr, "[redacted]") {
			t.Errorf("%s: exit %d\n%s\n%s", what, o.code, o.stdout, o.stderr)
		}
		p.keep(what, o.stdout+o.stderr)
	}
	both := "say " + storedKey + " and " + envKey

	p.server.Script(refuse, refuse, modeltest.Status(503, `{"error":{"message":"busy `+storedKey+`"}}`, "Retry-After", "0"), modeltest.Say(both).Chunk(1))
	failed("refused", p.run("", "-p", both))
	failed("second refused", p.run("", "--mode", "json", "--model", "second/scripted", both))
	if o := p.saw("print", p.run(both, "-p", "--show-reasoning", "once more")); o.stdout != "say [redacted] and [redacted]\n" {
		t.Errorf("the answer is %q", o.stdout)
	}

	environ := call(t, "bash", map[string]any{"command": "tr '\\0' '\\n' </proc/$PPID/environ | grep PLANTED"})
	p.server.Script(modeltest.Calls(environ).WithReasoning(both).Chunk(1), modeltest.Say("It is set to "+envKey))
	o := p.saw("environment", p.run("", "--mode", "json", "--model", "second/scripted", "look"))
	if runtime.GOOS == "linux" && !strings.Contains(o.stdout, "PLANTED_TOKEN=[redacted]") || !strings.Contains(o.stdout, "It is set to [redacted]") {
		t.Errorf("octavo's environment: %s", o.stdout)
	}

	p.server.Script(modeltest.Calls(call(t, "bash", map[string]any{"command": "cat .env lines.txt; echo " + envKey + " >&2; sleep 0.1"})).WithText(both).Chunk(1),
		modeltest.Calls(call(t, "edit", map[string]any{"path": ".env", "old": storedKey, "new": envKey})), modeltest.Say(both).Pieces(1), refuse)
	shown := p.terminal(both)
	for _, want := range []string{"say [redacted] and [redacted]", "[completed]", "[failed]"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q on the terminal:\n%s", want, shown)
		}
	}

	p.server.Script(modeltest.Calls(call(t, "bash", map[string]any{"command": "echo " + storedKey}), call(t, "bash", map[string]any{"command": "cat .env"})),
		modeltest.Say("so it is"), refuse)
	x := p.talk("--safe-mode", both)
	x.see("s) allow")
	x.say("d not that")
	x.see("so it is")
	x.say("/name the one with " + storedKey)
	x.see("the one with [redacted]")
	x.say("/model " + envKey)
	x.see("[redacted]")
	x.say("/" + storedKey)
	x.see("[redacted]")
	x.say("/status")
	x.see("the one with [redacted]")
	x.say("what is " + storedKey)
	x.see("[failed]")
	x.say("/quit")
	x.end()
	p.keep("plain", x.all())

	for _, args := range [][]string{{"sessions", "list"}, {"sessions", "list", "--json"}, {"-p", "--continue", "/status"}, {"-p", "--continue", "/name"},
		{"-p", "--continue", "/sessions"}, {"doctor"}, {"--list-models"}} {
		o := p.saw(strings.Join(args, " "), p.run("", args...))
		if args[0] == "sessions" && !strings.Contains(o.stdout, "[redacted]") {
			t.Errorf("%v lists no session of those that spoke of a key:\n%s", args, o.stdout)
		}
	}
	p.nowhere()
}

// terminal is what a person sees on a terminal of a session that begins with a prompt and has another turn.
func (p *planting) terminal(prompt string) string {
	p.t.Helper()
	cmd := p.command("--plain", prompt)
	ours, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 400})
	if err != nil {
		p.t.Fatal(err)
	}
	defer ours.Close()
	x := &talk{d: p.desk, cmd: cmd, stdin: ours, done: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(x, ours)
	}()
	go func() { x.done <- cmd.Wait() }()
	x.see("[completed]")
	x.say("more")
	x.see("[failed]")
	x.say("/quit")
	x.end()
	<-read
	p.keep("terminal", x.all())
	return x.all()
}
