package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model/modeltest"
)

// send posts a body to one wire's path and returns the response's body.
func send(t *testing.T, s *modeltest.Server, path, body string) string {
	t.Helper()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// kinds is the events of a stream in order, each with how often it came in a row.
func kinds(stream string) []string {
	var list []string
	times := 0
	for _, m := range regexp.MustCompile(`(?m)^event: (.*)$`).FindAllStringSubmatch(stream, -1) {
		if n := len(list); n > 0 && strings.HasPrefix(list[n-1], m[1]+" ") {
			times++
			list[n-1] = fmt.Sprint(m[1], " ", times)
			continue
		}
		times = 1
		list = append(list, m[1]+" 1")
	}
	return list
}

// One reply, as Responses and Messages stream it.
func TestEventsOfWires(t *testing.T) {
	s := modeltest.New(t)
	reply := modeltest.Calls(modeltest.Call("read", `{"path":"a"}`)).WithReasoning("Hm.").WithText("I look.").Chunk(6)
	s.Script(reply, reply)
	got := send(t, s, "/responses", `{"model":"m","stream":true,"input":"hi","include":["reasoning.encrypted_content"]}`)
	if diff := cmp.Diff([]string{
		"response.created 1",
		"response.output_item.added 1", "response.reasoning_summary_part.added 1", "response.reasoning_summary_text.delta 1",
		"response.reasoning_summary_text.done 1", "response.reasoning_summary_part.done 1", "response.output_item.done 1",
		"response.output_item.added 1", "response.content_part.added 1", "response.output_text.delta 2",
		"response.output_text.done 1", "response.content_part.done 1", "response.output_item.done 1",
		"response.output_item.added 1", "response.function_call_arguments.delta 2", "response.function_call_arguments.done 1", "response.output_item.done 1",
		"response.completed 1",
	}, kinds(got)); diff != "" || !strings.Contains(got, `"encrypted_content":"encrypted-1"`) {
		t.Errorf("%s", diff)
	}
	got = send(t, s, "/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	if diff := cmp.Diff([]string{
		"message_start 1", "content_block_start 1", "ping 1", "content_block_delta 2", "content_block_stop 1",
		"content_block_start 1", "content_block_delta 2", "content_block_stop 1",
		"content_block_start 1", "content_block_delta 2", "content_block_stop 1", "message_delta 1", "message_stop 1",
	}, kinds(got)); diff != "" || !strings.Contains(got, `"signature":"signed-2"`) {
		t.Errorf("%s", diff)
	}
}

// The same conversation, as clients of the three wires write it, is kept as the same.
func TestRequestsOfWires(t *testing.T) {
	s := modeltest.New(t)
	say := modeltest.Func(func(r modeltest.Request) modeltest.Reply { return modeltest.Say(r.Chat.Last().Text) })
	s.Script(say, say, say)
	bodies := map[string]string{
		"/chat/completions": `{"model":"m","stream":true,"max_tokens":9,"tools":[{"type":"function","function":{"name":"read"}}],"messages":[{"role":"system","content":"s"},
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},
			{"role":"assistant","content":"b","tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":"go on"}]}`,
		"/responses": `{"model":"m","stream":true,"max_output_tokens":9,"instructions":"s","tools":[{"type":"function","name":"read"}],"input":[
			{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,eA=="}]},{"type":"reasoning","id":"r"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},{"type":"function_call","call_id":"1","name":"read","arguments":"{}"},
			{"type":"function_call_output","call_id":"1","output":"r"},{"role":"user","content":"go on"}]}`,
		"/messages": `{"model":"m","stream":true,"max_tokens":9,"system":"s","tools":[{"name":"read"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"b"},{"type":"tool_use","id":"1","name":"read","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r","is_error":true},{"type":"text","text":"go on"}]}]}`,
	}
	want := []string{`system s [] []`, `user a [data:image/png;base64,eA==] []`, `assistant b [] [{1 read {}}]`, `tool r [] []`, `user go on [] []`}
	for path, body := range bodies {
		if got := send(t, s, path, body); !strings.Contains(got, `"go o`) {
			t.Errorf("%s: %s", path, got)
		}
		r := s.Requests()[len(s.Requests())-1]
		var got []string
		for _, m := range r.Chat.Messages {
			got = append(got, fmt.Sprint(m.Role, " ", m.Text, " ", m.Images, " ", m.Calls))
		}
		if diff := cmp.Diff(want, got); diff != "" || r.Chat.Model != "m" || r.Chat.MaxTokens != 9 || r.Chat.ToolNames()[0] != "read" || r.Chat.Messages[3].ToolCallID != "1" {
			t.Errorf("%s: %+v (-want +got):\n%s", path, r.Chat, diff)
		}
		// What only some wires can say.
		if thoughts := r.Chat.Messages[2].Reasoning; (len(thoughts) == 1) != (r.Wire != modeltest.WireChat) {
			t.Errorf("%s: reasoning %s", path, thoughts)
		}
		if failed := r.Chat.Messages[3].IsError; failed != (r.Wire == modeltest.WireMessages) {
			t.Errorf("%s: an error: %v", path, failed)
		}
	}
	for path, wire := range map[string]modeltest.Wire{"/responses": modeltest.WireResponses, "/messages": modeltest.WireMessages} {
		for _, body := range []string{`nonsense`, `{"input":7,"messages":7}`, `{"input":[7],"messages":[{"content":[7]}]}`, `{"messages":[{"content":[{"type":"tool_result"}]}],"input":[{"content":[7]}]}`} {
			s.Script(modeltest.Say("x"))
			send(t, s, path, body)
			if r := s.Requests()[len(s.Requests())-1]; r.Wire != wire || len(r.Chat.Messages) != 0 || string(r.Body) != body {
				t.Errorf("%s %s: %+v", path, body, r.Chat)
			}
		}
	}
}

// With restart every conversation has the script for itself, on any wire.
func TestRestartOnWires(t *testing.T) {
	script, err := modeltest.ParseScript(strings.NewReader(`{"calls":[{"name":"read"}]}
{"say":"end"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(t)
	s.Load(script, true)
	for _, who := range []string{"a", "b"} {
		for path, bodies := range map[string][2]string{
			"/responses": {`{"input":"` + who + `"}`, `{"input":[{"role":"user","content":"` + who + `"},{"type":"function_call","call_id":"1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"r"}]}`},
			"/messages": {`{"messages":[{"role":"user","content":"` + who + `."}]}`, `{"messages":[{"role":"user","content":"` + who + `."},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"}]}]}]}`},
		} {
			for i, want := range []string{`"name":"read"`, `"end"`} {
				if got := send(t, s, path, bodies[i]); !strings.Contains(got, want) {
					t.Errorf("%s of %s, request %d: %s", path, who, i+1, got)
				}
			}
		}
	}
}

// Whatever ends a reply, its events are JSON and the last one says how it ended.
func TestEndsOfWires(t *testing.T) {
	for reason, want := range map[string][2]string{
		"stop":           {`"status":"completed"`, `"stop_reason":"end_turn"`},
		"tool_calls":     {`"status":"completed"`, `"stop_reason":"tool_use"`},
		"length":         {`"reason":"max_output_tokens"`, `"stop_reason":"max_tokens"`},
		"content_filter": {`"reason":"content_filter"`, `"stop_reason":"refusal"`},
		"odd":            {`"reason":"odd"`, `"stop_reason":"odd"`},
		"":               {"data: [DONE]", "message_stop"},
	} {
		for i, path := range []string{"/responses", "/messages"} {
			s := modeltest.New(t)
			s.Script(modeltest.Say("x").Finish(reason))
			got := send(t, s, path, `{}`)
			if !strings.Contains(got, want[i]) {
				t.Errorf("%s %q: %s", path, reason, got)
			}
			for line := range strings.Lines(got) {
				if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("%s %q: %s", path, reason, line)
				}
			}
		}
	}
}
