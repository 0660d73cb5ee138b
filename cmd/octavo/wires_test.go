package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// dialect is one way of speaking to a model: a wire, and what differs within it.
type dialect struct {
	name      string
	wire      string // as config.toml calls it
	speaks    modeltest.Wire
	version   string // the header anthropic-version; "": the wire's own
	field     string // chat completions: the name under which reasoning comes and goes back
	keyHeader string // where the key is, and what stands before it
	keyPrefix string
}

var dialects = []dialect{
	{"chat completions", "openai-chat", modeltest.WireChat, "", "reasoning_content", "Authorization", "Bearer "},
	{"chat completions, reasoning", "openai-chat", modeltest.WireChat, "", "reasoning", "Authorization", "Bearer "},
	{"Responses", "openai-responses", modeltest.WireResponses, "", "", "Authorization", "Bearer "},
	{"Messages 2023-06-01", "anthropic-messages", modeltest.WireMessages, "", "", "X-Api-Key", ""},
	{"Messages 2026-10-21", "anthropic-messages", modeltest.WireMessages, "2026-10-21", "", "Authorization", "Bearer "},
}

// wireKey is the API key of the desk's provider.
const wireKey = "planted-secret-key-4711"

// speak connects a desk over a wire with a key.
func (d *desk) speak(wire string) *desk {
	d.t.Helper()
	d.env = append(d.env, "LOCAL_KEY="+wireKey)
	d.ok("", "setup", "--wire", wire, "--endpoint", d.server.URL(), "--provider", "local", "--manual-model", "scripted", "--api-key-env", "LOCAL_KEY", "--yes")
	return d
}

// lookTwice is a conversation of two prompts: the model thinks and looks at a text and a picture at once, answers out of a full cache,
// and answers again. Its tokens add up to lookedTwice.
func lookTwice(field string) []modeltest.Reply {
	return []modeltest.Reply{
		modeltest.Calls(modeltest.Call("read", `{"path":"greeting.txt"}`), modeltest.Call("read", `{"path":"shot.png"}`)).
			WithReasoning("First the text, then <the> picture.").WithText("Let me look at both.").ReasoningField(field).
			Usage(modeltest.Tokens{Prompt: 1000, Written: 900, Completion: 40, Reasoning: 10}),
		modeltest.Say("The text has a slip and the picture is red.").WithReasoning("Both are here.").ReasoningField(field).
			Usage(modeltest.Tokens{Prompt: 1500, Cached: 900, Written: 500, Completion: 30, Reasoning: 5}),
		modeltest.Say("It says wrold.").Usage(modeltest.Tokens{Prompt: 1700, Cached: 1400, Written: 200, Completion: 8}),
	}
}

// lookPrices are dollars for a million tokens: 3 to read, 0.30 from the cache, 3.75 into it, 15 to write.
const lookPrices = `
[providers.local.models.scripted.price]
input = 3000000
cache_read = 300000
cache_write = 3750000
output = 15000000
`

// lookedTwice: 300 tokens at 3 dollars a million, 2300 at 0.30, 1600 at 3.75 and 78 at 15.
var lookedTwice = sessionstore.Totals{Requests: 3, Input: 300, CacheRead: 2300, CacheWrite: 1600, Output: 78, Reasoning: 15, CostMicro: 900 + 690 + 6000 + 1170}

// TestConversationOnEveryWire: the same conversation leaves the same entries, the same records, the same tokens and the same cost,
// whatever wire it went over; a picture reaches the model where the wire has a place for it, and what a model thought goes back to it
// as it came.
func TestConversationOnEveryWire(t *testing.T) {
	var first struct {
		dialect string
		entries []string
		records []string
		said    []string
	}
	for _, x := range dialects {
		t.Run(x.name, func(t *testing.T) {
			d := newDesk(t, lookTwice(x.field)...).speak(x.wire)
			shot := drawShot(t, filepath.Join(d.repo, "shot.png"))
			d.configure(lookPrices)
			if x.version != "" {
				d.configure("\n[providers.local.headers]\nanthropic-version = \"" + x.version + "\"\n")
			}
			out := d.ok("", "--mode", "json", "--reasoning", "high", "look at the greeting and the picture")
			out += d.ok("", "--mode", "json", "--continue", "what does the text say?")
			s := d.stored()
			if s.totals != lookedTwice {
				t.Errorf("usage %+v, want %+v", s.totals, lookedTwice)
			}
			if diff := cmp.Diff([]string{"user", "assistant", "call", "call", "result", "result", "assistant", "settled", "user", "assistant", "settled"}, s.kinds); diff != "" {
				t.Fatalf("entries (-want +got):\n%s", diff)
			}
			entries, records := make([]string, len(s.payloads)), messageRecords(t, out)
			for i, p := range s.payloads {
				entries[i] = s.kinds[i] + " " + sameOnAllWires(t, p)
			}
			if len(records) != 7 {
				t.Errorf("%d messages are told, want 7: %s", len(records), records)
			}
			requests := d.server.Requests()
			if len(requests) != 3 {
				t.Fatalf("%d requests", len(requests))
			}
			said := plainTold(requests[2].Chat)
			if first.dialect == "" {
				first.dialect, first.entries, first.records, first.said = x.name, entries, records, said
			}
			for what, lists := range map[string][2][]string{"entries": {first.entries, entries}, "records": {first.records, records}, "requests": {first.said, said}} {
				if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
					t.Errorf("%s differ (-%s +%s):\n%s", what, first.dialect, x.name, diff)
				}
			}
			for i, r := range requests {
				if r.Wire != x.speaks || r.Header.Get(x.keyHeader) != x.keyPrefix+wireKey || x.version != "" && r.Header.Get("Anthropic-Version") != x.version {
					t.Errorf("request %d is spoken as %s with %v", i+1, r.Wire, r.Header)
				}
				if i > 0 {
					before := requests[i-1].Chat.Messages
					if diff := cmp.Diff(before, r.Chat.Messages[:len(before)]); diff != "" {
						t.Errorf("request %d does not begin like the one before it (-before +now):\n%s", i+1, diff)
					}
				}
			}
			for _, r := range requests[1:] {
				x.checkPicture(t, r.Chat, shot)
				x.checkReasoning(t, r.Chat)
				x.checkMarks(t, r)
			}
		})
	}
}

// checkPicture looks for the picture: inside the result of its call, or, in chat completions, whose results are text only, in the
// message of a user that follows all results and names the call.
func (x dialect) checkPicture(t *testing.T, c modeltest.Chat, shot []byte) {
	t.Helper()
	want := "tool call_1_2"
	if x.speaks == modeltest.WireChat {
		want = "user after tool: Output of read (call call_1_2):"
	}
	var places []string
	for i, m := range c.Messages {
		if len(m.Images) == 0 {
			continue
		}
		place := m.Role + " " + m.ToolCallID
		if m.Role == "user" {
			place = "user after " + c.Messages[i-1].Role + ": " + m.Text
		}
		places = append(places, place)
		if diff := cmp.Diff([]string{"data:image/png;base64," + base64.StdEncoding.EncodeToString(shot)}, m.Images); diff != "" {
			t.Errorf("the picture changed on its way (-file +sent):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{want}, places); diff != "" {
		t.Errorf("pictures stand elsewhere (-want +got):\n%s", diff)
	}
}

// checkReasoning compares what goes back with what the server sent: the n-th thought was its n-th answer's.
func (x dialect) checkReasoning(t *testing.T, c modeltest.Chat) {
	t.Helper()
	var want, got []string
	thoughts := []string{"First the text, then <the> picture.", "Both are here."}
	for _, m := range c.Messages {
		if m.Role != "assistant" {
			continue
		}
		for _, raw := range m.Reasoning {
			got = append(got, canonical(t, raw))
		}
		for _, field := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
			if raw, there := m.Fields[field]; there {
				got = append(got, field+" "+canonical(t, raw))
			}
		}
		if len(want) == len(thoughts) {
			continue // the third answer was not thought about
		}
		n, thought := len(want)+1, thoughts[len(want)]
		switch x.speaks {
		case modeltest.WireChat:
			want = append(want, x.field+" "+canonical(t, quoted(thought)))
		case modeltest.WireResponses:
			want = append(want, canonical(t, fmt.Appendf(nil, `{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":%s}],"encrypted_content":"encrypted-%d"}`, n, quoted(thought), n)))
		case modeltest.WireMessages:
			want = append(want, canonical(t, fmt.Appendf(nil, `{"type":"thinking","thinking":%s,"signature":"signed-%d"}`, quoted(thought), n)))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("reasoning that goes back (-as it came +as it is sent):\n%s", diff)
	}
}

// checkMarks: only Messages wants to be told what to keep: tools, instructions, and the conversation up to its end.
func (x dialect) checkMarks(t *testing.T, r modeltest.Request) {
	t.Helper()
	want := 0
	if x.speaks == modeltest.WireMessages {
		want = 3
	}
	if got := strings.Count(string(r.Body), `"cache_control"`); got != want {
		t.Errorf("request %d has %d marks for the cache, want %d", r.N, got, want)
	}
}

// plainTold is a conversation as every wire has to tell it: who said what and called what, in order. Pictures and reasoning, whose
// places differ, are left out, and so is the message that only holds the picture of a result.
func plainTold(c modeltest.Chat) []string {
	lines := []string{strings.Join(c.ToolNames(), " ")}
	for _, m := range c.Messages {
		text := strings.TrimSpace(m.Text)
		if m.Role == "system" {
			text = fmt.Sprint(text != "") // its blocks are joined in one way or another
		}
		if m.Role == "user" && len(m.Images) > 0 {
			continue
		}
		lines = append(lines, fmt.Sprint(m.Role, " ", m.ToolCallID, " ", text, " ", m.Calls))
	}
	return lines
}

// messageRecords are the whole messages among JSON records, without the times that no two runs share.
func messageRecords(t *testing.T, out string) []string {
	t.Helper()
	var list []string
	for _, r := range lines(t, out) {
		if r["type"] != "message_end" {
			continue
		}
		delete(r["message"].(map[string]any), "timestamp")
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

// sameOnAllWires is an entry's payload without what only its own wire reads, and without durations.
func sameOnAllWires(t *testing.T, payload string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(payload), &v); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"opaque", "field", "duration_ns"} {
				delete(v, name)
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// canonical is JSON in one spelling.
func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string is always JSON
	return b
}

// drawShot writes a small red picture and answers its bytes.
func drawShot(t *testing.T, name string) []byte {
	t.Helper()
	shot := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for at := range 64 {
		shot.Set(at%8, at/8, color.RGBA{R: 255, A: 255})
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, shot); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
