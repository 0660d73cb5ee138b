package demo

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"octavo/ext"
	"octavo/ext/builtin/files"
	"octavo/ext/builtin/shell"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/ext/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mostAnswers is how many answers a scene takes at most, whatever is said and whatever the tools answer.
const mostAnswers = 5

// rig is a session as the script meets one: real tools in a workspace, and a conversation that grows.
type rig struct {
	testing.TB
	workspace string
	policy    policy.Name
	tools     []ext.Tool
	up        *model.Upstream
	request   model.Request
	person    string                                    // what is answered to an approval: "once", or why it is refused
	asked     int                                       // approvals
	ran       []string                                  // tools and arguments, in order
	ctx       context.Context                           // of running calls
	progress  func(string)                              // sees their live output
	after     func(calls []model.ToolCall) (say string) // may say something while calls run
}

// everything is a session with all tools.
func everything() []ext.Extension {
	return []ext.Extension{
		files.New(files.Options{AllowEdit: true, AllowWrite: true, Search: true}),
		shell.New(shell.Options{}),
	}
}

// open makes a session over extensions in a fresh workspace.
func open(t testing.TB, name policy.Name, extensions []ext.Extension) *rig {
	t.Helper()
	for _, v := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.(interface{ Setenv(k, v string) }).Setenv(v, os.DevNull)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	c, err := composition.Compose(context.Background(), composition.Selection{Extensions: extensions,
		Prep: ext.Prep{Session: "s", Workspace: root, Policy: name}})
	must(t, err)
	t.Cleanup(c.Close)
	if len(c.Inactive) > 0 {
		t.Fatal(c.Inactive)
	}
	up, err := script{}.resolve(ext.Profile{}, Model)
	must(t, err)
	r := &rig{TB: t, workspace: root, policy: name, up: up, person: ext.OptionOnce, ctx: t.Context(), progress: func(string) {}}
	r.request = model.Request{Model: up.Model, Maker: up.ID()}
	for _, tool := range c.Tools {
		r.offer(tool.Tool)
	}
	return r
}

func (r *rig) offer(tool ext.Tool) {
	r.tools = append(r.tools, tool)
	r.request.Tools = append(r.request.Tools, model.ToolSpec{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
}

// withhold takes a tool away.
func (r *rig) withhold(name string) {
	r.tools = slices.DeleteFunc(r.tools, func(t ext.Tool) bool { return t.Name == name })
	r.request.Tools = slices.DeleteFunc(r.request.Tools, func(t model.ToolSpec) bool { return t.Name == name })
}

func user(text string) model.Message {
	return model.Message{Role: model.RoleUser, Parts: []model.Part{model.Text(text)}}
}

// say plays a turn to its end and gives the last answer's text.
func (r *rig) say(text string) string {
	r.Helper()
	r.request.Messages = append(r.request.Messages, user(text))
	return r.turn()
}

func (r *rig) turn() string {
	r.Helper()
	for range mostAnswers {
		a := ask(r, r.up, r.request)
		r.request.Messages = append(r.request.Messages, model.Message{Role: model.RoleAssistant, Parts: a.Parts})
		calls := model.Calls(a.Parts)
		if len(calls) == 0 {
			return model.PlainText(a.Parts)
		}
		var results []model.Part
		for _, c := range calls {
			results = append(results, model.Part{Type: model.PartResult, Result: r.run(c)})
		}
		r.request.Messages = append(r.request.Messages, model.Message{Role: model.RoleTool, Parts: results})
		if r.after != nil {
			if said := r.after(calls); said != "" {
				r.request.Messages = append(r.request.Messages, user(said))
			}
		}
	}
	r.Fatalf("the scene has no end after %d answers", mostAnswers)
	return ""
}

// run decides on a call and runs it as a session does.
func (r *rig) run(c model.ToolCall) *model.ToolResult {
	r.Helper()
	refuse := func(why string) *model.ToolResult {
		b, err := json.Marshal(map[string]string{"error": why})
		must(r, err)
		return &model.ToolResult{ID: c.ID, Name: c.Name, Parts: []model.Part{model.Text(string(b))}, IsError: true}
	}
	i := slices.IndexFunc(r.tools, func(t ext.Tool) bool { return t.Name == c.Name })
	tool, args := r.tools[i], json.RawMessage(c.Arguments)
	switch d := policy.Decide(r.policy, tool.Intent(args)); d.Verdict {
	case policy.Refuse:
		return refuse(d.Reason)
	case policy.Ask:
		if r.asked++; r.person != ext.OptionOnce {
			return refuse(r.person)
		}
	}
	r.ran = append(r.ran, c.Name+" "+c.Arguments)
	out, err := tool.Invoke(&ext.Call{Context: r.ctx, ID: c.ID, Session: "s", Workspace: r.workspace,
		Progress: r.progress, Ask: func(ext.Ask) ext.Answer { return ext.Answer{} }}, args)
	if err != nil {
		return refuse(err.Error())
	}
	return &model.ToolResult{ID: c.ID, Name: c.Name, Parts: out.Parts, IsError: out.IsError}
}

// ask asks once and checks what holds for every answer: the fragments add up to it, its calls fit the tools that were offered, no id
// comes twice, it is within its bounds, and the first one says that a script answers.
func ask(t testing.TB, up *model.Upstream, r model.Request) *model.Answer {
	t.Helper()
	var streamed model.Answer
	var calls []model.ToolCall
	var text, thought string
	started := 0
	a, err := up.Stream(context.Background(), r, func(e model.Event) error {
		switch e.Type {
		case model.EventStarted:
			started++
		case model.EventText:
			text += e.Delta
		case model.EventReasoning:
			thought += e.Delta
		case model.EventCall:
			calls = append(calls, model.ToolCall{ID: e.CallID, Name: e.CallName})
		case model.EventArguments:
			calls[e.Index].Arguments += e.Delta
		}
		if len(e.Delta) > fragmentBytes || !utf8.ValidString(e.Delta) {
			t.Fatalf("a fragment of %q", e.Delta)
		}
		return nil
	})
	must(t, err)
	if thought != "" {
		streamed.Parts = append(streamed.Parts, model.Part{Type: model.PartReasoning, Reasoning: &model.Reasoning{Text: thought, Maker: r.Maker}})
	}
	if text != "" {
		streamed.Parts = append(streamed.Parts, model.Text(text))
	}
	for _, c := range calls {
		streamed.Parts = append(streamed.Parts, model.Part{Type: model.PartCall, Call: &c})
	}
	if d := cmp.Diff(streamed.Parts, a.Parts); d != "" || started != 1 {
		t.Fatalf("streamed %d times (-streamed +answered):\n%s", started, d)
	}
	if !labelled(r.Messages) && r.MaxOutput == 0 && !strings.HasPrefix(text, label) {
		t.Fatalf("the first answer does not say what it is: %q", text)
	}
	limit := int64(outputTokens)
	if r.MaxOutput > 0 {
		limit = min(limit, int64(r.MaxOutput))
	}
	if u := a.Usage; *u.Output > limit || *u.Output < 1 || *u.Reasoning > *u.Output || *u.Input+*u.CacheRead != int64(model.Estimate(r)) {
		t.Fatalf("usage %d %d %d %d, limit %d, estimate %d", *u.Input, *u.CacheRead, *u.Output, *u.Reasoning, limit, model.Estimate(r))
	}
	checkCalls(t, r, calls)
	return a
}

func checkCalls(t testing.TB, r model.Request, calls []model.ToolCall) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range model.Calls(m.Parts) {
			ids[c.ID] = true
		}
	}
	for _, c := range calls {
		if ids[c.ID] || c.ID == "" {
			t.Fatalf("the id %q comes twice", c.ID)
		}
		ids[c.ID] = true
		i := slices.IndexFunc(r.Tools, func(s model.ToolSpec) bool { return s.Name == c.Name })
		if i < 0 {
			t.Fatalf("%s is not offered", c.Name)
		}
		var schema jsonschema.Schema
		must(t, json.Unmarshal(r.Tools[i].Parameters, &schema))
		resolved, err := schema.Resolve(nil)
		must(t, err)
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
			t.Fatalf("%s %s: %v", c.Name, c.Arguments, err)
		}
		if err := resolved.Validate(args); err != nil {
			t.Fatalf("%s %s: %v", c.Name, c.Arguments, err)
		}
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.workspace, name) }

func (r *rig) put(name, content string) {
	r.Helper()
	must(r, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	must(r, os.WriteFile(r.path(name), []byte(content), 0o644))
}

// holds checks the files of the top folder, names and contents.
func (r *rig) holds(want map[string]string) {
	r.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(r.workspace)
	must(r, err)
	for _, e := range entries {
		if !e.IsDir() {
			b, err := os.ReadFile(r.path(e.Name()))
			must(r, err)
			got[e.Name()] = string(b)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		r.Fatalf("the workspace (-want +got):\n%s", d)
	}
}

// git makes the workspace a repository with one commit of what is in it.
func (r *rig) git() {
	r.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "trunk"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "The first commit"}} {
		cmd := exec.Command("git", append([]string{"-C", r.workspace}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			r.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q in:\n%s", part, text)
		}
	}
}
