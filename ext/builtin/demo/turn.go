package demo

import (
	"fmt"
	"slices"
	"strings"

	"octavo/ext/model"
)

// label begins the first answer of every conversation, and the last one of its first turn: where only that is printed, it is the first
// that a person sees.
const label = "This is octavo's demo: a script, not a model. It costs nothing."

// The levels of effort: how much a script shows of where a model's reasoning stands.
const (
	effortOff  = "off"
	effortLow  = "low"  // at the first answer of a scene; also when no level is set
	effortHigh = "high" // at every answer
)

// turn is the turn that is to be answered: what the person said last, and what came of the calls since. A scene plays it from its
// beginning with do and end, and what they leave in reply is the answer.
type turn struct {
	heard
	message  string         // all of what the person said last
	asked    bool           // there is such a thing
	pictures []*model.Image // that came with it
	before   []model.Message
	past     []exchange // since it was said, in order
	over     bool       // it was answered to the end
	tools    map[string]model.ToolSpec
	object   string // what the scene is about: a command, a path, a text; "" when none was named

	played int // exchanges of past that the scene has met
	reply  reply
}

// exchange is an answer that made calls, and what came of them.
type exchange struct {
	calls   []model.ToolCall
	results map[string]*model.ToolResult // by the call's id
}

// answer is what the script answers a request.
func answer(r model.Request) reply {
	t := newTurn(r)
	scene := t.play()
	a := t.reply
	if !labelled(r.Messages) || len(a.calls) == 0 && !labelled(t.before) {
		a.text = label + "\n\n" + a.text
	}
	switch {
	case scene == "" || r.Effort == effortOff || t.played > 0 && r.Effort != effortHigh:
	case t.played > 0:
		a.thought = fmt.Sprintf("The scene is still %q; what the calls answered decides how it goes on.", scene)
	default:
		a.thought = fmt.Sprintf("These words fit the scene %q. A script does not think: this only shows where the reasoning of a model stands.", scene)
	}
	a.calls = named(a.calls, r.Messages)
	return a
}

// newTurn reads a request.
func newTurn(r model.Request) *turn {
	t := &turn{tools: make(map[string]model.ToolSpec, len(r.Tools))}
	for _, s := range r.Tools {
		t.tools[s.Name] = s
	}
	last := len(r.Messages) - 1
	for last >= 0 && !said(r.Messages[last]) {
		last--
	}
	if last >= 0 {
		m := r.Messages[last]
		t.asked, t.message, t.before = true, model.PlainText(m.Parts), r.Messages[:last]
		t.heard = hear(t.message)
		for _, p := range m.Parts {
			if p.Type == model.PartImage && p.Image != nil {
				t.pictures = append(t.pictures, p.Image)
			}
		}
	}
	for _, m := range r.Messages[last+1:] {
		switch m.Role {
		case model.RoleAssistant:
			calls := model.Calls(m.Parts)
			t.over = t.over || len(calls) == 0
			t.past = append(t.past, exchange{calls: calls, results: map[string]*model.ToolResult{}})
		case model.RoleTool:
			t.take(m.Parts)
		}
	}
	return t
}

// take adds results to the newest exchange.
func (t *turn) take(parts []model.Part) {
	if len(t.past) == 0 {
		return
	}
	for _, p := range parts {
		if p.Type == model.PartResult && p.Result != nil {
			t.past[len(t.past)-1].results[p.Result.ID] = p.Result
		}
	}
}

// unsaid begin the messages that come in the role of the person and are not their words: notes of octavo, the summary of an earlier
// conversation, and commands that the person ran by themselves.
var unsaid = []string{"<note origin=", "<summary>\n", "<command-of-the-person>\n"}

// said reports whether a message is what a person said.
func said(m model.Message) bool {
	if m.Role != model.RoleUser {
		return false
	}
	for _, p := range m.Parts {
		switch {
		case p.Type == model.PartImage:
			return true
		case p.Type == model.PartText && p.Text != "":
			return !slices.ContainsFunc(unsaid, func(begin string) bool { return strings.HasPrefix(p.Text, begin) })
		}
	}
	return false
}

// labelled reports whether a conversation was told that a script answers.
func labelled(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool {
		return m.Role == model.RoleAssistant && slices.ContainsFunc(m.Parts, func(p model.Part) bool {
			return p.Type == model.PartText && strings.HasPrefix(p.Text, label)
		})
	})
}

// idPrefix begins the id of every call of the script's.
const idPrefix = "demo-"

// named gives calls ids that no call of the conversation has.
func named(calls []model.ToolCall, messages []model.Message) []model.ToolCall {
	if len(calls) == 0 {
		return nil
	}
	taken := map[string]bool{}
	for _, m := range messages {
		for _, c := range model.Calls(m.Parts) {
			taken[c.ID] = true
		}
	}
	next := len(taken)
	for i := range calls {
		for calls[i].ID == "" || taken[calls[i].ID] {
			next++
			calls[i].ID = fmt.Sprintf("%s%d", idPrefix, next)
		}
		taken[calls[i].ID] = true
	}
	return calls
}

// do answers what came of calls, in their order, when they were made at this point of the turn. Otherwise the answer is to say
// something and make them now; false tells the scene to return. Calls of tools that are not offered end the scene.
func (t *turn) do(say string, calls ...call) ([]result, bool) {
	if t.played < len(t.past) {
		x := t.past[t.played]
		if !slices.EqualFunc(x.calls, calls, func(c model.ToolCall, mine call) bool {
			return c.Name == mine.tool && c.Arguments == mine.arguments
		}) {
			t.end("Something else began this turn, another model or an octavo that offered other tools.",
				"The demo cannot take it over; say again what you want to see.")
			return nil, false
		}
		t.played++
		results := make([]result, 0, len(calls))
		for _, c := range x.calls {
			results = append(results, readResult(x.results[c.ID]))
		}
		return results, true
	}
	for _, c := range calls {
		if _, ok := t.tools[c.tool]; !ok {
			t.missing(c.tool)
			return nil, false
		}
	}
	t.reply.text = say
	for _, c := range calls {
		t.reply.calls = append(t.reply.calls, model.ToolCall{Name: c.tool, Arguments: c.arguments})
	}
	return nil, false
}

// one is do with one call.
func (t *turn) one(say string, c call) (result, bool) {
	results, ok := t.do(say, c)
	if !ok {
		return result{}, false
	}
	return results[0], true
}

// end is the last answer of the turn, in paragraphs; empty ones are left out.
func (t *turn) end(paragraphs ...string) {
	paragraphs = slices.DeleteFunc(paragraphs, func(s string) bool { return s == "" })
	t.reply = reply{text: strings.Join(paragraphs, "\n\n")}
}

// takers are what can take a tool away, beside the flags that do so to every tool.
var takers = map[string]string{
	"edit":  "`--no-edit`, `allow_edit = false` in config.toml, ",
	"write": "`--no-write`, `allow_write = false` in config.toml, ",
	"bash":  "`--no-process`, `allow_process = false` or `allow_shell = false` in config.toml, ",
}

// missing ends a scene whose tool is not offered.
func (t *turn) missing(tool string) {
	t.end(fmt.Sprintf("This scene needs the tool `%s`, and this session does not offer it. "+
		"What takes it away is %s`--tools` without `%s`, `--exclude-tools %s` or `--no-tools`.", tool, takers[tool], tool, tool),
		"Nothing more was done. Start octavo without that and say it again.")
}
