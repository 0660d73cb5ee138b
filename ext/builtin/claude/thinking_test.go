package claude

import (
	"fmt"
	"testing"

	"octavo/ext/model"
	"octavo/ext/model/modeltest/wiretest"
)

func TestGeneration(t *testing.T) {
	for name, want := range map[string]generation{
		"claude-2.1": thoughtless, "claude-3-5-sonnet-20241022": thoughtless, "claude-3-haiku-20240307": thoughtless,
		"claude-3-7-sonnet-latest": budgeted, "claude-sonnet-4-20250514": budgeted, "claude-haiku-4-5-20251001": budgeted,
		"anthropic/claude-opus-4.5": budgeted, "claude-opus-4@20250514": budgeted,
		"claude-opus-4-6": adaptive, "us.anthropic.claude-sonnet-4-6-v1:0": adaptive, "Claude-Fable-5-1": adaptive, "claude-sonnet-5": adaptive,
		"claude-opus-10-1": adaptive, "claude-next": adaptive, "claude": adaptive,
		"glm-4.7": budgeted, "kimi-k2": budgeted, "": budgeted,
	} {
		if got := generationOf(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// What a level becomes, and that a budget always leaves room for the answer.
func TestThink(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		limit         int
		want          string
	}{
		{"claude-opus-5", "", 32000, ""},
		{"claude-opus-5", "off", 32000, "disabled"},
		{"claude-opus-5", "minimal", 32000, "adaptive summarized low"},
		{"claude-opus-5", "low", 32000, "adaptive summarized low"},
		{"claude-opus-5", "medium", 32000, "adaptive summarized medium"},
		{"claude-opus-5", "high", 32000, "adaptive summarized high"},
		{"claude-opus-5", "xhigh", 32000, "adaptive summarized xhigh"},
		{"claude-opus-5", "max", 32000, "adaptive summarized max"},
		{"claude-3-5-haiku", "high", 32000, ""},
		{"claude-3-5-haiku", "off", 32000, ""},
		{"claude-sonnet-4-5", "", 32000, ""},
		{"claude-sonnet-4-5", "off", 32000, "disabled"},
		{"claude-sonnet-4-5", "minimal", 32000, "enabled 1024"},
		{"claude-sonnet-4-5", "low", 32000, "enabled 4096"},
		{"claude-sonnet-4-5", "medium", 32000, "enabled 8192"},
		{"claude-sonnet-4-5", "high", 32000, "enabled 16384"},
		{"claude-sonnet-4-5", "xhigh", 32000, "enabled 24576"},
		{"claude-sonnet-4-5", "max", 32000, "enabled 30976"},
		{"claude-sonnet-4-5", "unheard of", 32000, "enabled 8192"},
		{"glm-5", "high", 8192, "enabled 7168"},
		{"glm-5", "max", budgetMinimal + minAnswer, "enabled 1024"},
		{"glm-5", "max", budgetMinimal + minAnswer - 1, ""},
	} {
		got := ""
		th, out := think(model.Request{Model: c.model, Effort: c.effort}, c.limit)
		if th != nil {
			got = th.Type
			if th.Budget != 0 {
				got += fmt.Sprint(" ", th.Budget)
				if th.Budget < 1024 || th.Budget >= c.limit {
					t.Errorf("%s %s: a budget of %d in %d tokens", c.model, c.effort, th.Budget, c.limit)
				}
			}
			if th.Display != "" {
				got += " " + th.Display
			}
		}
		if out != nil {
			got += " " + out.Effort
		}
		if got != c.want {
			t.Errorf("%s %s of %d: %q, want %q", c.model, c.effort, c.limit, got, c.want)
		}
	}
}

// In the middle of a round of tools a budget is only given when the answer that called them has thinking.
func TestThinkInRound(t *testing.T) {
	thought := signedThought("thinking", `{}`)
	call, result := wiretest.Calling("c", "n", "{}"), wiretest.Result(model.ToolCall{ID: "c"})
	for _, c := range []struct {
		name string
		m    []model.Message
		want bool
	}{
		{"own thinking", []model.Message{user(model.Text("a")), assistant(thought, call), results(result)}, true},
		{"no thinking", []model.Message{user(model.Text("a")), assistant(thought, call), results(result), assistant(call), results(result)}, false},
		{"a person spoke since", []model.Message{user(model.Text("a")), assistant(call), results(result), user(model.Text("b"))}, true},
		{"nothing was answered", []model.Message{user(model.Text("a"))}, true},
	} {
		r := model.Request{Model: "claude-sonnet-4-5", Maker: maker, Effort: "low", Messages: c.m}
		if th, _ := think(r, 32000); (th != nil) != c.want {
			t.Errorf("%s: %+v", c.name, th)
		}
		r.Model = "claude-sonnet-5"
		if th, _ := think(r, 32000); th == nil {
			t.Errorf("%s: a model that decides by itself is always told to", c.name)
		}
	}
}

func TestMaxTokens(t *testing.T) {
	for _, c := range []struct {
		asked int
		info  model.Info
		want  int
	}{
		{0, model.Info{}, 32000},
		{7, model.Info{MaxOutputTokens: 64000}, 7},
		{0, model.Info{MaxOutputTokens: 64000, ContextTokens: 200000}, 64000},
		{0, model.Info{ContextTokens: 128000}, 32000},
		{0, model.Info{ContextTokens: 127996}, 31999},
		{0, model.Info{ContextTokens: 2}, 1},
	} {
		if got := maxTokens(model.Request{MaxOutput: c.asked}, c.info); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
		}
	}
}
