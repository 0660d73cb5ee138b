package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/policy"
)

const wantHelp = `This is octavo's demo: a script, not a model. It costs nothing.

Say what you want to see, in words like these:

- "look around": lists the workspace, counts its files, reads the README and asks git for the latest commits
- "read README.md": reads a file that you name
- "search for TODO": finds a word in the files
- "show two reads in parallel": makes two calls in one answer, which run together
- "make a scratch file": makes ` + "`octavo-demo.md`" + `, or a .md or .txt file of the name you give
- "edit the scratch file": reads the file, edits what is really there and shows the difference
- "clean up": removes the scratch files that I made in this conversation, and nothing else
- "run ` + "`git status`" + `": runs the command that stands after "run"
- "show a failing command": runs a command that fails, so that you see how that looks
- "show live output": runs a command for five seconds; ctrl+c interrupts it, on a full screen also esc
- "show an approval": makes a call that octavo asks you about under ` + "`--safe-mode`" + `
- "show a long answer": writes headings, a table, code and lists
- "add work items": puts two items on the work list, in an octavo that has one

I am a script inside octavo and no model: I follow these words and understand nothing else, but the calls I make are real. ` +
	"For a model that does real work, leave with `/quit` and run `octavo setup`, or `octavo --login PROVIDER`."

func TestHelp(t *testing.T) {
	r := open(t, policy.UnsafeHost, nil)
	if d := cmp.Diff(wantHelp, r.say("Hello! What can you do?")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	again := r.say("help")
	if d := cmp.Diff(wantHelp, label+"\n\n"+again); d != "" {
		t.Errorf("it says twice what it is, or something else (-want +got):\n%s", d)
	}
}

// TestLabel counts how often a conversation says what answers: at the beginning, and at the end of the first turn.
func TestLabel(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	r.say("look around")
	r.say("look around")
	var got []bool
	for _, m := range r.request.Messages {
		if m.Role == model.RoleAssistant {
			got = append(got, strings.HasPrefix(model.PlainText(m.Parts), label))
		}
	}
	if want := []bool{true, false, true, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("answers with the label: %v, want %v", got, want)
	}
}

// TestMeant holds what people may say against what is understood; "" is nothing.
func TestMeant(t *testing.T) {
	for said, want := range map[string]string{
		"What is this project about?":            "look around",
		"LOOK AROUND, please.":                   "look around",
		"what's here":                            "look around",
		"Explain this repository":                "look around",
		"read the README":                        "read a file",
		"Show me `docs/a b.txt`":                 "", // with a space it is no file's name unless it is to be read
		"open `docs/a b.txt`":                    "read a file docs/a b.txt",
		"can you show me cmd/main.go?":           "read a file cmd/main.go",
		"cat Makefile":                           "read a file Makefile",
		"Read “notes”":                           "read a file notes",
		"read it":                                "read a file",
		"search for the word `not found`":        "search not found",
		"Find Config.":                           "search Config",
		"where is NewClient defined?":            "search NewClient",
		"find out what this project does":        "look around",
		"make a scratch file":                    "make a file",
		"please create notes.txt":                "make a file notes.txt",
		"make a file and edit it":                "make a file",
		"edit the scratch file":                  "edit it",
		"Edit notes.txt":                         "edit it notes.txt",
		"delete the scratch file":                "clean up",
		"clean up!":                              "clean up",
		"run `ls -la`":                           "run a command ls -la",
		"Please run git status":                  "run a command git status",
		"run ls please":                          "run a command ls",
		`run echo "hi there"`:                    `run a command echo "hi there"`,
		`execute "ls"`:                           "run a command ls",
		"run the command `ls`, please":           "run a command ls",
		"run make, but first look at `rm -rf .`": "run a command", // the harmless one, as below
		"`rm -rf .` run that":                    "run a command",
		"run\u00a0ls":                            "run a command ls",
		"run a command":                          "run a command",
		"run the tests":                          "run a command",
		"what happens if I run `rm -rf .`?":      "run a command",
		"some text\n\nrun `rm -rf .`":            "run a command",
		"run `rm -rf .`\nand so on":              "run a command",
		"run a failing command":                  "a failing command",
		"run something slow":                     "run a command",
		"show live output":                       "live output",
		"show an approval":                       "an approval",
		"how does safe mode look":                "an approval",
		"write a long answer":                    "a long answer",
		`add a work item "fix it"`:               "work items",
		"show two reads in parallel":             "two reads at once",
		"fix the failing test":                   "",
		"":                                       "",
		"¿?":                                     "",
		"`ls`":                                   "",
		"what is in the file?\n\nthank you":      "",
		"don’t look around":                      "look around", // and play does nothing, because of the not
		strings.Repeat("look around ", maxHeard): "",
	} {
		i, object, ok := hear(said).meant(intents())
		got := strings.TrimSpace(i.name + " " + object)
		if !ok && got != "" || got != want {
			t.Errorf("%.80q means %q, want %q", said, got, want)
		}
	}
	for _, i := range intents() {
		if got, _, _ := hear(i.example).meant(intents()); got.name != i.name {
			t.Errorf("the example %q of %q means %q", i.example, i.name, got.name)
		}
	}
}

func TestNothingIsDoneOfWhatIsNotUnderstood(t *testing.T) {
	for _, said := range []string{
		"Don't run `touch x`", "do not make a file", "look around, but run nothing", "DON’T edit it", "make no file",
		"run `touch x` " + strings.Repeat("y", maxHeard),
	} {
		r := open(t, policy.UnsafeHost, everything())
		contains(t, r.say(said), undone)
		r.holds(map[string]string{})
		if len(r.ran) > 0 {
			t.Errorf("%.40q made the calls %q", said, r.ran)
		}
	}
	r := open(t, policy.UnsafeHost, everything())
	fits := "run `touch x` " + strings.Repeat("y", maxHeard-len("run `touch x` "))
	lacks(t, r.say(fits), undone)
	r.holds(map[string]string{"x": ""})
}

func TestResolve(t *testing.T) {
	p := New().Providers[0]
	if p.Wire != Wire {
		t.Fatal(p.Wire)
	}
	up, err := p.Resolve(ext.Profile{Name: Provider, Wire: Wire}, Model)
	must(t, err)
	if up.ID() != "demo/scripted" || !up.Info.Scripted {
		t.Errorf("%s %+v", up.ID(), up.Info)
	}
	free := up.Info.Price.Cost(model.Usage{Input: model.Count(1e9), CacheRead: model.Count(1e9), CacheWrite: model.Count(1e9), Output: model.Count(1e9)})
	if free == nil || *free != (model.Cost{}) {
		t.Errorf("it costs %v", free)
	}
	for _, effort := range up.Info.Efforts {
		if !slices.Contains(model.Efforts, effort) {
			t.Errorf("there is no effort %q", effort)
		}
	}
	models, err := up.Probe(t.Context())
	if err != nil || !slices.Equal(models, []string{Model}) {
		t.Error(models, err)
	}
	if _, err := p.Resolve(ext.Profile{Name: Provider}, "gpt-5"); err == nil || !strings.Contains(err.Error(), "demo/scripted") {
		t.Errorf("another model: %v", err)
	}
	if rate := time.Second / pace; rate < 60 || rate > 90 {
		t.Errorf("%d fragments a second", rate)
	}
}

// TestStreamEnds ends answers from outside: by the context while it waits for its pace, and by emit.
func TestStreamEnds(t *testing.T) {
	up, err := script{pace: time.Hour}.resolve(ext.Profile{}, Model)
	must(t, err)
	request := model.Request{Messages: []model.Message{user("hello")}}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := up.Stream(ctx, request, func(model.Event) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled answer: %v", err)
	}
	if _, err := up.Stream(ctx, request, func(model.Event) error { t.Error("an event after the end"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an answer after the end: %v", err)
	}
	up, err = script{}.resolve(ext.Profile{}, Model)
	must(t, err)
	full := errors.New("full")
	for _, after := range []int{1, 2, 20} {
		n := 0
		_, err := up.Stream(t.Context(), request, func(model.Event) error {
			if n++; n == after {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || n != after {
			t.Errorf("emit failed at event %d: %v after %d", after, err, n)
		}
	}
}

func TestEffort(t *testing.T) {
	thoughts := func(effort string) (n int) {
		r := open(t, policy.UnsafeHost, everything())
		r.request.Effort = effort
		r.say("make a file")
		for _, m := range r.request.Messages {
			for _, p := range m.Parts {
				if p.Type == model.PartReasoning {
					n++
				}
			}
		}
		return n
	}
	got := fmt.Sprint(thoughts(effortOff), thoughts(""), thoughts(effortLow), thoughts(effortHigh))
	if got != "0 1 1 3" {
		t.Errorf("thoughts when off, unset, low, high: %s", got)
	}
}

func TestBounds(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	request := r.request
	request.Messages = []model.Message{user("show a long answer")}
	whole := ask(t, r.up, request)
	request.MaxOutput = int(*whole.Usage.Output)
	if a := ask(t, r.up, request); a.Finish != model.FinishComplete || !cmp.Equal(a.Parts, whole.Parts) {
		t.Errorf("an answer that just fits ends with %s", a.Finish)
	}
	request.MaxOutput = 1
	if a := ask(t, r.up, request); a.Finish != model.FinishLength || model.PlainText(a.Parts) != label[:bytesPerToken] {
		t.Errorf("in one token it says %q and ends with %s", model.PlainText(a.Parts), a.Finish)
	}
	request.Messages, request.MaxOutput = []model.Message{user("look around")}, 20
	if a := ask(t, r.up, request); a.Finish != model.FinishLength || len(model.Calls(a.Parts)) > 0 {
		t.Errorf("a call that does not fit: %+v", a)
	}
}

func TestUsage(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	r.request.System = []string{"instructions"}
	r.request.Messages = []model.Message{user("look around")}
	first := ask(t, r.up, r.request)
	before := int64(model.Estimate(r.request))
	if *first.Usage.Input != before || *first.Usage.CacheRead != 0 {
		t.Errorf("the first request: %d fresh, %d cached, want %d and 0", *first.Usage.Input, *first.Usage.CacheRead, before)
	}
	r.request.Messages = append(r.request.Messages, model.Message{Role: model.RoleAssistant, Parts: first.Parts},
		model.Message{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, Result: r.run(model.Calls(first.Parts)[0])}}})
	second := ask(t, r.up, r.request)
	if *second.Usage.CacheRead != before {
		t.Errorf("the second request has %d in the cache, the first one had %d", *second.Usage.CacheRead, before)
	}
}

// TestSteering says something else in the middle of a scene: the newest words decide.
func TestSteering(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	r.after = func(calls []model.ToolCall) string {
		r.after = nil
		return "stop, search for beans instead"
	}
	contains(t, r.say("make a file"), undone)
	r.holds(map[string]string{})
	r.after = func(calls []model.ToolCall) string {
		r.after = nil
		return "search for beans"
	}
	contains(t, r.say("make a file"), "beans")
	r.holds(map[string]string{})
}

// TestOtherMessages has the messages that no person wrote, or that nothing can be done about.
func TestOtherMessages(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	note := user("<note origin=\"octavo\">\nlook around\n</note>")
	last := func(messages ...model.Message) string {
		request := r.request
		request.Messages = messages
		a := ask(t, r.up, request)
		if calls := model.Calls(a.Parts); len(calls) > 0 {
			t.Errorf("calls %v", calls)
		}
		return model.PlainText(a.Parts)
	}
	contains(t, last(), "nobody has said anything")
	contains(t, last(note, user("<summary>\nlook around"), user("<command-of-the-person>\nlook around")), "nobody has said anything")
	contains(t, last(user("look around"), model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text("done")}}, note), "Nothing was said since")

	foreign := model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.PartCall, Call: &model.ToolCall{ID: "x", Name: "bash", Arguments: "{}"}}}}
	contains(t, last(user("look around"), foreign), "Something else began this turn")

	picture := model.Part{Type: model.PartImage, Image: &model.Image{Name: "a.png", Width: 3, Height: 4}}
	contains(t, last(model.Message{Role: model.RoleUser, Parts: []model.Part{picture}}), "1 picture:", "`a.png`, 3 x 4 pixels")

	// What a session asks for when it is forked with a summary, without tools.
	r.request.Tools = nil
	told := last(user("<conversation>\nuser: make a file\nassistant: done\nuser: <note origin=\"x\">\nresult of read: user: y\n</conversation>\n\nWrite the summary."))
	contains(t, told, "cannot write a summary", "- `make a file`\n")
	lacks(t, told, "note origin", "done\n")
}

// TestMissingTools takes the tools of a scene away.
func TestMissingTools(t *testing.T) {
	for tool, want := range map[string]struct{ say, flag string }{
		"read": {"look around", "--exclude-tools read"}, "search": {"search for x", "--exclude-tools search"}, "write": {"make a file", "--no-write"},
		"edit": {"edit it", "--no-edit"}, "bash": {"run `ls`", "--no-process"},
	} {
		r := open(t, policy.UnsafeHost, everything())
		r.withhold(tool)
		contains(t, r.say(want.say), "`"+tool+"`", "`"+want.flag+"`")
	}
	// A scene that can do without goes on without.
	r := open(t, policy.UnsafeHost, everything())
	r.put("a.go", "package a\n")
	r.withhold("bash")
	r.withhold("search")
	told := r.say("look around")
	contains(t, told, "1 entry", "`a.go`")
	lacks(t, told, "git", "**Files")
}
