package demo

import (
	"fmt"
	"strings"
	"testing"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/policy"
)

// puppet answers the calls of a turn with whatever it is given, and gives the last answer's text.
func puppet(t testing.TB, up *model.Upstream, r model.Request, told func(step int, c model.ToolCall) (text string, failed bool)) string {
	t.Helper()
	for step := range mostAnswers {
		a := ask(t, up, r)
		calls := model.Calls(a.Parts)
		if len(calls) == 0 {
			return model.PlainText(a.Parts)
		}
		var results []model.Part
		for _, c := range calls {
			text, failed := told(step, c)
			results = append(results, model.Part{Type: model.PartResult, Result: &model.ToolResult{ID: c.ID, Name: c.Name,
				Parts: []model.Part{model.Text(text)}, IsError: failed}})
		}
		r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], model.Message{Role: model.RoleAssistant, Parts: a.Parts},
			model.Message{Role: model.RoleTool, Parts: results})
	}
	t.Fatalf("the scene has no end after %d answers", mostAnswers)
	return ""
}

// withWork is a session with all tools and a work list.
func withWork(t testing.TB) *rig {
	r := open(t, policy.UnsafeHost, everything())
	r.offer(ext.Tool{Name: "work", Parameters: []byte(`{"type":"object","properties":{"op":{"type":"string","enum":["list","create"]},` +
		`"title":{"type":"string","minLength":1,"maxLength":4096}},"required":["op"],"additionalProperties":false}`)})
	return r
}

// FuzzTurn says anything, and lets the tools answer anything: every scene ends within mostAnswers, and its calls can be made.
func FuzzTurn(f *testing.F) {
	hash := strings.Repeat("a0", hashDigits/2)
	list := ". is a directory with 4 entries:\n.git/\nREADME.md\nmain.go\nx (symbolic link)\n"
	file := "octavo-demo.md: lines 1-3 of 3, hash=" + hash + "\n     1 | a\n     2 | Edits so far: 41\n     3 | b\n"
	command := "exit_status=0 duration=1ms\n[complete_stdout=4 bytes]\n     12 .go\n      3 /Makefile\n"
	for _, i := range intents() {
		f.Add(i.example, list, file, command, uint8(0))
		f.Add("please "+i.example, ". is an empty directory\n", "x is binary: data, 3 B, hash="+hash, "created\noctavo-demo.md +1 -0 hash="+hash, uint8(4))
	}
	f.Add("run `\x00`", list, file, command, uint8(0))
	f.Add("make \"\xff.md\"", "{\"error\":\"the person refused this call: \x1b[31m```\"}", file, command, uint8(255))
	f.Add("look around", ". is a directory with 1 entry:\nlib/\n", file, "1 match in 1 file for x\n:1  x\n", uint8(0))
	f.Add("edit it", list, file, "ok modified=1\noctavo-demo.md +1 -1 hash="+hash+"\n@@ -1 +1 @@\n-a\n+b\n", uint8(0))
	f.Add("search for ```", list, "\n\n", "99999999999999999999 .go\n[", uint8(2))
	r := withWork(f)
	f.Fuzz(func(t *testing.T, said, list, file, command string, failed uint8) {
		request := r.request
		request.Messages = []model.Message{user(said)}
		told := puppet(t, r.up, request, func(step int, c model.ToolCall) (string, bool) {
			text := command
			if c.Name == "read" {
				if text = file; strings.Contains(c.Arguments, `"."`) {
					text = list
				}
			}
			return text, failed>>step&1 == 1
		})
		if !strings.Contains(told, " ") || len(told) > outputTokens*bytesPerToken {
			t.Errorf("it ends with %q", told)
		}
	})
}

// TestHuge has a long prompt, huge and binary results, and a long conversation.
func TestHuge(t *testing.T) {
	r := withWork(t)
	binary := strings.Repeat("\x00\xff\x1b[31m\n", 1<<20/8)
	long := longConversation(10_000)
	for _, i := range intents() {
		for name, text := range map[string]string{
			"binary":  binary,
			"listing": ". is a directory with 200000 entries:\n" + strings.Repeat("a.go\n", 200_000),
			"file":    "a: lines 1-200000 of 200000, hash=" + strings.Repeat("0", hashDigits) + "\n" + strings.Repeat("     1 | Edits so far: 1\n", 50_000),
		} {
			request := r.request
			request.Messages = append(long[:len(long):len(long)], user(strings.Repeat("x ", 500_000)+"\n\n"+i.example))
			told := puppet(t, r.up, request, func(int, model.ToolCall) (string, bool) { return text, name == "binary" })
			if told == "" {
				t.Errorf("%s, %s: nothing", i.name, name)
			}
		}
	}
	request := r.request
	request.Messages = []model.Message{user(strings.Repeat("run `touch x` ", 1<<20/14))}
	contains(t, puppet(t, r.up, request, nil), "That was more than", undone)
}

// longConversation is one in which the script made files and somebody else called tools.
func longConversation(messages int) []model.Message {
	var all []model.Message
	for n := range messages / 3 {
		id, name := fmt.Sprintf("%s%d", idPrefix, n), fmt.Sprintf("f%d.md", n)
		c := write(name, scratchText(name))
		all = append(all, user("make "+name),
			model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text(label), {Type: model.PartCall, Call: &model.ToolCall{ID: id, Name: c.tool, Arguments: c.arguments}}}},
			model.Message{Role: model.RoleTool, Parts: []model.Part{{Type: model.PartResult, Result: &model.ToolResult{ID: id, Name: c.tool,
				Parts: []model.Part{model.Text("created\n" + name + " +6 -0 hash=" + strings.Repeat("0", hashDigits))}}}}})
	}
	return all
}

// TestUnlikelyParts has parts without what their type promises, and an id that is taken.
func TestUnlikelyParts(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	hollow := []model.Part{{Type: model.PartCall}, {Type: model.PartResult}, {Type: model.PartImage}, {Type: model.PartReasoning}, {}}
	for _, role := range []model.Role{model.RoleUser, model.RoleAssistant, model.RoleTool, "nobody"} {
		request := r.request
		request.Messages = []model.Message{{Role: role, Parts: hollow}, user("clean up"), {Role: role, Parts: hollow}}
		ask(t, r.up, request)
	}
	request := r.request
	call := func(id string) model.Part {
		return model.Part{Type: model.PartCall, Call: &model.ToolCall{ID: id, Name: "read", Arguments: "{}"}}
	}
	request.Messages = []model.Message{{Role: model.RoleAssistant, Parts: []model.Part{call(idPrefix + "3"), call(idPrefix + "4")}}, user("look around")}
	ask(t, r.up, request)
}

func BenchmarkAnswer(b *testing.B) {
	r := withWork(b)
	r.request.Messages = append(longConversation(10_000), user(strings.Repeat("x ", 500_000)+"\n\nclean up"))
	for b.Loop() {
		if a := answer(r.request); len(a.calls) != maxScratch {
			b.Fatal(a)
		}
	}
}
