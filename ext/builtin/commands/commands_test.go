package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"octavo/ext"
	"octavo/ext/builtin/commands"
	"octavo/pages/text"
)

// bridge is a session made of values. done is what was asked of it, in order.
type bridge struct {
	model    ext.ModelState
	report   ext.Report
	sessions []ext.SessionLine
	extra    []ext.Command // of other extensions
	err      error         // every operation's
	done     []string
}

var _ ext.Bridge = (*bridge)(nil)

func (b *bridge) did(format string, args ...any) error {
	b.done = append(b.done, fmt.Sprintf(format, args...))
	return b.err
}

func (b *bridge) Model(context.Context) (ext.ModelState, error) { return b.model, b.did("model") }
func (b *bridge) NextModel(ctx context.Context, step int) (ext.ModelState, error) {
	return b.SelectModel(ctx, []string{"openai/gpt-5-previous", "", "openai/gpt-5-next"}[step+1], "")
}

func (b *bridge) SelectModel(_ context.Context, id, effort string) (ext.ModelState, error) {
	if id != "" {
		b.model.Model = id
	}
	b.model.Effort = effort
	return b.model, b.did("select %q %q", id, effort)
}
func (b *bridge) Rename(_ context.Context, name string) error {
	b.report.Name = name
	return b.did("rename %q", name)
}
func (b *bridge) Report(context.Context) (ext.Report, error) { return b.report, b.did("report") }
func (b *bridge) Fork(_ context.Context, at int64, summary bool) (string, error) {
	return "forked", b.did("fork %d %v", at, summary)
}
func (b *bridge) Queue(_ context.Context, text string) error { return b.did("queue %q", text) }
func (b *bridge) Continue(context.Context) error             { return b.did("continue") }
func (b *bridge) Sessions(_ context.Context, query string, everywhere bool) ([]ext.SessionLine, error) {
	return b.sessions, b.did("sessions %q %v", query, everywhere)
}
func (b *bridge) Commands(context.Context) ([]ext.Command, error) {
	return append(slices.Clone(commands.New().Static.Commands), b.extra...), b.did("commands")
}

// run runs a command; args are names and values in turn.
func (b *bridge) run(t *testing.T, name string, args ...string) (ext.Outcome, error) {
	t.Helper()
	given := map[string]string{}
	for i := 0; i < len(args); i += 2 {
		given[args[i]] = args[i+1]
	}
	for _, k := range commands.New().Static.Commands {
		if k.Name == name {
			return k.Run(&ext.CommandCall{Context: t.Context(), Session: "here", Workspace: "/w", Bridge: b}, given)
		}
	}
	t.Fatalf("there is no command %s", name)
	return ext.Outcome{}, nil
}

func (b *bridge) must(t *testing.T, name string, args ...string) ext.Outcome {
	t.Helper()
	out, err := b.run(t, name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func has(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%q is missing in:\n%s", p, got)
		}
	}
}

func hasNot(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(got, p) {
			t.Errorf("%q has no place in:\n%s", p, got)
		}
	}
}

// hostile is text that would do something to a terminal, or to the lines around it.
const hostile = "\x1b]0;owned\a\x1b[31mred\u202etxet\nsecond line\r\x9b2J"

// clean checks that nothing of hostile is left but words.
func clean(t *testing.T, shown string, lines int) {
	t.Helper()
	if strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == 0x202e }) {
		t.Errorf("control characters in %q", shown)
	}
	if got := strings.Count(shown, "\n") + 1; got != lines {
		t.Errorf("%d lines, want %d:\n%s", got, lines, shown)
	}
}

func TestHelpCoversEveryCommand(t *testing.T) {
	b := &bridge{}
	all := commands.New().Static.Commands
	lines := strings.Split(b.must(t, "/help").Text, "\n")
	if len(lines) != len(all) { // two names of one command share a line, and one line says that they may be shortened
		t.Fatalf("%d lines for %d commands", len(lines), len(all))
	}
	column := strings.Index(lines[0], all[0].Description)
	for i, k := range all {
		if k.Name == "/exit" {
			has(t, lines[i-1], "/quit (or /exit)  ", k.Description)
			continue
		}
		if !strings.HasPrefix(lines[i], k.Usage()+" ") || strings.Index(lines[i], k.Description) != column {
			t.Errorf("line %d does not describe %s in column %d:\n%s", i, k.Name, column, lines[i])
		}
		for _, name := range []string{k.Name, k.Name[1:]} {
			one := b.must(t, "/help", "command", name).Text
			has(t, one, k.Usage(), k.Description)
			for _, a := range k.Arguments {
				has(t, one, "\n  "+a.Name+": "+a.Description)
			}
		}
	}
	if _, err := b.run(t, "/help", "command", "nosuch"); err == nil || !strings.Contains(err.Error(), "no command /nosuch") {
		t.Errorf("got %v", err)
	}
}

func TestHelpIsCleanWhateverExtensionsSay(t *testing.T) {
	b := &bridge{extra: []ext.Command{{Name: "/x", Description: hostile, Arguments: []ext.Argument{{Name: hostile, Description: hostile}}},
		{Name: "/宽宽宽", Description: "wide"}}}
	shown := b.must(t, "/help").Text
	clean(t, shown, len(commands.New().Static.Commands)+2)
	lines := strings.Split(shown, "\n")
	if before, _, _ := strings.Cut(lines[len(lines)-2], "wide"); text.Width(before) != strings.Index(lines[0], "list the commands") {
		t.Errorf("a wide name moves the column:\n%s", shown)
	}
	clean(t, b.must(t, "/help", "command", "x").Text, 3)
}

func TestModel(t *testing.T) {
	b := &bridge{model: ext.ModelState{Model: "local/b", Effort: "high", Known: []string{"local/a", "local/b"}, Efforts: []string{"low", "high"}}}
	out := b.must(t, "/model")
	if want := "local/b · effort high (low, high)\n  local/a\n* local/b"; out.Text != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.Text, want)
	}
	var data ext.ModelState
	if err := json.Unmarshal(out.Data, &data); err != nil || data.Model != "local/b" || len(data.Known) != 2 {
		t.Errorf("data %s, %v", out.Data, err)
	}
	b.model.Catalogued = 28
	if want := "\n* local/b\nthe catalogue knows 28 models of local: octavo --list-models local"; !strings.HasSuffix(b.must(t, "/model").Text, want) {
		t.Errorf("it does not end with %q", want)
	}
	has(t, b.must(t, "/model", "model", "local/a").Text, "from the next request on: local/a")
	b.must(t, "/model", "model", "local/a", "effort", "low")
	has(t, b.must(t, "/effort").Text, "local/a · effort low (low, high)")
	has(t, b.must(t, "/effort", "level", "high").Text, "from the next request on: local/a · effort high (low, high)")
	for want, m := range map[string]ext.ModelState{
		"demo/scripted (octavo's demo: a script, no model) · effort high (off, low, high)": {Model: "demo/scripted", Effort: "high", Scripted: true, Efforts: []string{"off", "low", "high"}},
		"local/b · effort: the model's own (low, high)":                                    {Model: "local/b", Efforts: []string{"low", "high"}},
		"local/b · effort: the model's own":                                                {Model: "local/b"},
		"no model":                                                                         {},
	} {
		if got := (&bridge{model: m}).must(t, "/effort").Text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want := []string{"model", "model", `select "local/a" ""`, `select "local/a" "low"`, "model", `select "" "high"`}
	if !reflect.DeepEqual(b.done, want) {
		t.Errorf("asked %q, want %q", b.done, want)
	}

	none := (&bridge{}).must(t, "/model").Text
	has(t, none, "no model\n", "octavo setup")
	wild := &bridge{model: ext.ModelState{Model: hostile, Known: []string{hostile}, Efforts: []string{hostile}}}
	clean(t, wild.must(t, "/model").Text, 2)
	clean(t, wild.must(t, "/effort").Text, 1)
}

func TestName(t *testing.T) {
	b := &bridge{}
	has(t, b.must(t, "/name").Text, "no name", "/name NAME")
	if got := b.must(t, "/name", "name", "the big refactoring"); got.Text != "the big refactoring" || string(got.Data) != `{"name":"the big refactoring"}` {
		t.Errorf("got %q, %s", got.Text, got.Data)
	}
	if got := b.must(t, "/name").Text; got != "the big refactoring" {
		t.Errorf("got %q", got)
	}
	if want := []string{"report", `rename "the big refactoring"`, "report", "report"}; !reflect.DeepEqual(b.done, want) {
		t.Errorf("asked %q, want %q", b.done, want)
	}
	b.report.Name = hostile
	clean(t, b.must(t, "/name").Text, 1)
}

func TestStatus(t *testing.T) {
	b := &bridge{report: ext.Report{ID: "id", Workspace: "/w", Model: "local/b", Effort: "low", Policy: "controlled", Entries: 12, Requests: 3,
		Inactive: map[string]string{"shell": "no bash", "files": "panic: x"}}}
	shown := b.must(t, "/status").Text
	has(t, shown, "session    id\n", "workspace  /w\n", "model      local/b · effort low\n", "policy     controlled\n", "entries    12\n", "requests   3\n",
		"inactive   files: panic: x\ninactive   shell: no bash")
	hasNot(t, shown, "name ")
	zero := int64(0)
	demo := (&bridge{report: ext.Report{Model: "demo/scripted", Scripted: true, Requests: 1, CostMicro: &zero}}).must(t, "/status").Text
	has(t, demo, "demo/scripted (octavo's demo: a script, no model) · effort: the model's own\n", "cost       nothing (octavo's demo: a script, no model)")
	b.report.Name, b.report.Workspace, b.report.Inactive = hostile, "/"+hostile, map[string]string{"x": hostile}
	clean(t, b.must(t, "/status").Text, 9)
}

func TestMoneyNeverShowsUnknownAsNothing(t *testing.T) {
	zero, some := int64(0), int64(620_000)
	for _, x := range []struct {
		report ext.Report
		want   string
	}{
		{ext.Report{}, "nothing yet"},
		{ext.Report{Requests: 2, Unpriced: 2}, "unknown: neither config.toml nor the catalogue has a price"},
		{ext.Report{Requests: 2, CostMicro: &zero}, "$0.00"},
		{ext.Report{Requests: 2, CostMicro: &some}, "$0.62"},
		{ext.Report{Requests: 3, Unpriced: 1, CostMicro: &some}, "$0.62, not counting 1 request without a price"},
		{ext.Report{Requests: 5, Unpriced: 2, CostMicro: &zero}, "$0.00, not counting 2 requests without a price"},
	} {
		for _, command := range []string{"/cost", "/status"} {
			out := (&bridge{report: x.report}).must(t, command)
			_, line, _ := strings.Cut(out.Text, "\ncost")
			line, _, _ = strings.Cut(line, "\n")
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, x.want) || x.report.CostMicro == nil && strings.ContainsAny(line, "0$") {
				t.Errorf("%s of %+v says %q, want %q", command, x.report, line, x.want)
			}
			var data struct {
				CostMicro *int64 `json:"cost_micro"`
			}
			if err := json.Unmarshal(out.Data, &data); err != nil || (data.CostMicro == nil) != (x.report.CostMicro == nil) {
				t.Errorf("%s: data %s, %v", command, out.Data, err)
			}
		}
	}
}

func TestCostCountsTokens(t *testing.T) {
	r := ext.Report{Requests: 3, Input: 1200, CacheRead: 34_000, CacheWrite: 5, Output: 800, Reasoning: 300, Unreported: 1}
	shown := (&bridge{report: r}).must(t, "/cost").Text
	has(t, shown, "input            1.2K\n", "cache read       34K\n", "cache write      5\n", "output           800\n", "of it reasoning  300\n",
		"1 request without token counts")
	r = ext.Report{Requests: 2, Unreported: 2}
	shown = (&bridge{report: r}).must(t, "/cost").Text
	has(t, shown, "input            unknown\n", "output           unknown\n", "2 requests without token counts")
	r = ext.Report{}
	has(t, (&bridge{report: r}).must(t, "/cost").Text, "input            0\n")
}

func TestContext(t *testing.T) {
	r := ext.Report{Window: 32_000, Context: []ext.ContextPart{{Name: "instructions", Tokens: 2000}, {Name: hostile, Tokens: 6000}}}
	shown := (&bridge{report: r}).must(t, "/context").Text
	has(t, shown, "about 2K\n", "about 8K tokens of 32K (25%)")
	r.Window = 0
	has(t, (&bridge{report: r}).must(t, "/context").Text, "about 8K tokens; the model's window is not known")
	has(t, (&bridge{}).must(t, "/context").Text, "about 0 tokens")
	clean(t, shown, 3)
}

func TestSessions(t *testing.T) {
	at := func(s string) string {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at.Local().Format("2006-01-02 15:04")
	}
	const early, late = "2026-01-01T03:04:05Z", "2026-01-02T03:04:05Z"
	b := &bridge{sessions: []ext.SessionLine{
		{ID: "here", Name: "named", Title: "not shown", Preview: "nor this", Workspace: "/w", Updated: late, Entries: 7},
		{ID: "01890000-1111-7000-8000-000000000001", Title: "a title", Preview: "not shown", Workspace: "/w", Updated: late, Entries: 8},
		{ID: "01890000-2222-7000-8000-000000000001", Preview: strings.Repeat("宽", 100), Workspace: "/elsewhere", Updated: early, Entries: 12345},
		{ID: "01890000-3333-7000-8000-000000000001", Workspace: "/w", Updated: "some time"},
		{ID: "01890000-3333-7000-8000-000000000002", Workspace: "/w", Updated: late},
	}}
	out := b.must(t, "/sessions")
	lines := strings.Split(out.Text, "\n")
	want := []string{"* here  " + at(late) + "      7 entries  named", "  01890000-1111  " + at(late) + "      8 entries  a title",
		"  01890000-2222  " + at(early) + "  12345 entries  " + strings.Repeat("宽", 14) + "…", "    in /elsewhere",
		"  01890000-3333-7000-8000-000000000001  some time      0 entries", "  01890000-3333-7000-8000-000000000002  " + at(late) + "      0 entries"}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got:\n%s\nwant:\n%s", out.Text, strings.Join(want, "\n"))
	}
	for _, l := range lines {
		if w := text.Width(l); w > 80 {
			t.Errorf("%d cells: %s", w, l)
		}
	}
	var data []ext.SessionLine
	if err := json.Unmarshal(out.Data, &data); err != nil || len(data) != len(b.sessions) || data[1] != b.sessions[1] {
		t.Errorf("data %s, %v", out.Data, err)
	}
	b.must(t, "/sessions", "all", "all")
	b.must(t, "/sessions", "all", "some words")
	if want := []string{`sessions "" false`, `sessions "" true`, `sessions "some words" false`}; !reflect.DeepEqual(b.done, want) {
		t.Errorf("asked %q, want %q", b.done, want)
	}

	b.sessions = []ext.SessionLine{{ID: "a", Name: hostile, Workspace: "/" + hostile, Updated: hostile}, {ID: hostile, Preview: hostile, Workspace: "/w"}}
	clean(t, b.must(t, "/sessions", "all", "all").Text, 3)
	if got := (&bridge{}).must(t, "/sessions"); got.Text != "no session found" {
		t.Errorf("got %+v", got)
	}
}

func TestGoing(t *testing.T) {
	b := &bridge{}
	for _, x := range []struct {
		command string
		args    []string
		want    ext.Go
	}{
		{"/new", nil, ext.Go{To: ext.GoNew}},
		{"/quit", nil, ext.Go{To: ext.GoQuit}},
		{"/exit", nil, ext.Go{To: ext.GoQuit}},
		{"/resume", []string{"session", "abc"}, ext.Go{To: ext.GoSession, Session: "abc"}},
		{"/fork", nil, ext.Go{To: ext.GoSession, Session: "forked"}},
		{"/fork", []string{"entry", "12"}, ext.Go{To: ext.GoSession, Session: "forked"}},
		{"/fork", []string{"entry", "summary"}, ext.Go{To: ext.GoSession, Session: "forked"}},
	} {
		if got := b.must(t, x.command, x.args...).Go; got == nil || *got != x.want {
			t.Errorf("%s goes to %+v, want %+v", x.command, got, x.want)
		}
	}
	if got := b.must(t, "/queue", "text", "later, please").Text; !strings.HasPrefix(got, "queued") {
		t.Errorf("got %q", got)
	}
	b.must(t, "/continue")
	for _, bad := range []string{"0", "-1", "x", "summary of it"} {
		if _, err := b.run(t, "/fork", "entry", bad); err == nil {
			t.Errorf("/fork %s forks", bad)
		}
	}
	if want := []string{"fork 0 false", "fork 12 false", "fork 0 true", `queue "later, please"`, "continue"}; !reflect.DeepEqual(b.done, want) {
		t.Errorf("asked %q, want %q", b.done, want)
	}
}

// An error of the session reaches the person, and nothing is claimed beside it.
func TestErrorsAreToldAlone(t *testing.T) {
	broken := errors.New("the session is closed")
	for _, k := range commands.New().Static.Commands {
		args := []string{}
		for _, a := range k.Arguments {
			args = append(args, a.Name, "x")
		}
		b := &bridge{err: broken}
		for _, given := range [][]string{args, nil} {
			out, err := b.run(t, k.Name, given...)
			if len(b.done) == 0 {
				break // it asks nothing of the session
			}
			if !errors.Is(err, broken) || out.Text != "" || out.Go != nil || out.Data != nil {
				t.Errorf("%s %v: %+v, %v", k.Name, given, out, err)
			}
		}
	}
}

func TestExtension(t *testing.T) {
	e := commands.New()
	if !e.Required || e.Name != "commands" || e.Prepare != nil {
		t.Errorf("%+v", e)
	}
	seen := map[string]bool{}
	for _, k := range e.Static.Commands {
		if seen[k.Name] || k.Description == "" || strings.Contains(k.Description, "\n") || k.Run == nil {
			t.Errorf("command %+v", k)
		}
		seen[k.Name] = true
	}
}
