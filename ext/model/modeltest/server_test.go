package modeltest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"octavo/ext/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a request of the given messages and returns status and body; err is how the body ended.
func post(t *testing.T, s *modeltest.Server, messages string) (int, string, error) {
	t.Helper()
	body := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":` + messages + `}`
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

const hi = `[{"role":"user","content":"hi"}]`

// chunks takes a stream apart.
func chunks(t *testing.T, body string) (list []map[string]any, done bool) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		switch {
		case line == "\n":
		case !ok:
			t.Fatalf("line %q", line)
		case data == "[DONE]":
			done = true
		default:
			var c map[string]any
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			list = append(list, c)
		}
	}
	return list, done
}

// join collects a string out of every delta.
func join(list []map[string]any, get func(delta map[string]any) any) string {
	var b strings.Builder
	for _, c := range list {
		for _, ch := range c["choices"].([]any) {
			if s, ok := get(ch.(map[string]any)["delta"].(map[string]any)).(string); ok {
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

func TestSay(t *testing.T) {
	const text = "Ein Häuschen 🏠 mit \"Garten\"\n"
	for _, pieces := range []int{0, 1, 5, 1 << 20} {
		s := modeltest.New(t)
		s.Script(modeltest.Say(text).WithReasoning("Hm.").Chunk(3).Pieces(pieces).Usage(modeltest.Tokens{Prompt: 9, Cached: 4, Completion: 7, Reasoning: 2}))
		status, body, err := post(t, s, hi)
		list, done := chunks(t, body)
		if status != 200 || err != nil || !done {
			t.Fatal(status, err, done)
		}
		if got := join(list, func(d map[string]any) any { return d["content"] }); got != text {
			t.Errorf("%q", got)
		}
		if got := join(list, func(d map[string]any) any { return d["reasoning_content"] }); got != "Hm." {
			t.Errorf("%q", got)
		}
		for _, c := range list {
			if raw, _ := json.Marshal(c); !utf8.Valid(raw) || strings.Contains(string(raw), `\ufffd`) {
				t.Errorf("a rune was cut: %s", raw)
			}
		}
		last := list[len(list)-1]
		if got := fmt.Sprint(last["choices"], last["usage"]); got != "[] map[completion_tokens:7 completion_tokens_details:map[reasoning_tokens:2] prompt_tokens:9 prompt_tokens_details:map[cached_tokens:4] total_tokens:16]" {
			t.Errorf("%s", got)
		}
	}
}

func TestCalls(t *testing.T) {
	s := modeltest.New(t)
	s.Script(modeltest.Calls(modeltest.Call("read", `{"path":"a"}`), modeltest.Call("bash", `not JSON`)).WithText("ok"))
	_, body, _ := post(t, s, hi)
	list, _ := chunks(t, body)
	args := map[float64]string{}
	var heads []string
	for _, c := range list {
		for _, ch := range c["choices"].([]any) {
			calls, _ := ch.(map[string]any)["delta"].(map[string]any)["tool_calls"].([]any)
			for _, x := range calls {
				call := x.(map[string]any)
				f := call["function"].(map[string]any)
				if f["name"] != nil {
					heads = append(heads, fmt.Sprint(call["index"], call["id"], f["name"]))
				}
				args[call["index"].(float64)] += f["arguments"].(string)
			}
		}
	}
	if diff := cmp.Diff([]string{"0call_1_1read", "1call_1_2bash"}, heads); diff != "" || args[0] != `{"path":"a"}` || args[1] != "not JSON" {
		t.Errorf("%v\n%s", args, diff)
	}
	if !strings.Contains(body, `"finish_reason":"tool_calls"`) {
		t.Error(body)
	}
}

func TestMishaps(t *testing.T) {
	s := modeltest.New(t)
	s.Script(
		modeltest.Status(429, `{"error":{}}`, "Retry-After", "7"), modeltest.Cut(2), modeltest.Cut(0), modeltest.Say("abcd").Cut(5),
		modeltest.Hangup(), modeltest.Raw("anything"), modeltest.Func(func(r modeltest.Request) modeltest.Reply { return modeltest.Say("you said " + r.Chat.Last().Text) }),
		modeltest.Say("x").Finish("").NoUsage())
	for i, want := range []struct {
		status int
		events int // -1: not looked at
		broken bool
	}{{429, -1, false}, {200, 2, true}, {200, 0, true}, {200, 5, true}, {0, -1, true}, {200, -1, false}, {200, -1, false}, {200, 3, false}, {500, -1, false}} {
		status, body, err := post(t, s, hi)
		if status != want.status || (err != nil) != want.broken || want.events >= 0 && strings.Count(body, "data: ") != want.events {
			t.Errorf("reply %d: %d %v %q, want %+v", i+1, status, err, body, want)
		}
		switch i {
		case 5:
			if body != "anything" {
				t.Errorf("%q", body)
			}
		case 6:
			if list, _ := chunks(t, body); join(list, func(d map[string]any) any { return d["content"] }) != "you said hi" {
				t.Errorf("%q", body)
			}
		case 8:
			if !strings.Contains(body, "request 9 is beyond the script of 8 replies") {
				t.Errorf("%q", body)
			}
		}
	}
	if s.Left() != 0 || len(s.Requests()) != 9 {
		t.Errorf("left %d, %d requests", s.Left(), len(s.Requests()))
	}
}

// A stalled reply lets go when the server is closed.
func TestStallEndsWithServer(t *testing.T) {
	s, err := modeltest.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Script(modeltest.Stall(1))
	var wg sync.WaitGroup
	first := make(chan struct{})
	wg.Go(func() {
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr}).Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Error(err)
			close(first)
			return
		}
		defer resp.Body.Close()
		in := bufio.NewReader(resp.Body)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
			t.Error(line, err)
		}
		close(first)
		if _, err := io.ReadAll(in); err == nil {
			t.Error("the stream ended in good order")
		}
	})
	<-first
	s.Close()
	wg.Wait()
	s.Close() // twice does no harm
}

func TestRequestsAreKept(t *testing.T) {
	s := modeltest.New(t)
	s.Script(modeltest.Say("x"), modeltest.Say("y"))
	post(t, s, `[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]`)
	post(t, s, `nonsense`)
	r := s.Requests()
	m := r[0].Chat.Messages
	if len(m) != 4 || m[1].Text != "a\nb" || m[1].Images[0] != "data:x" || m[2].Calls[0] != (modeltest.ToolCall{ID: "1", Name: "n", Arguments: "{}"}) || m[3].ToolCallID != "1" || m[3].Text != "r" {
		t.Errorf("%+v", m)
	}
	if r[0].Chat.Model != "m" || r[0].Header.Get("Content-Type") != "application/json" || r[0].Out <= r[0].In || r[1].N != 2 || len(r[1].Chat.Messages) != 0 || len(r[1].Body) == 0 {
		t.Errorf("%+v", r)
	}
}

// Times are those of the system's monotonic clock, which measuring tools read from outside.
func TestStats(t *testing.T) {
	now := func() float64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return float64(ts.Nano()) / 1e9
	}
	s := modeltest.New(t)
	s.Script(modeltest.Say("x").Pace(20*time.Millisecond, 0))
	before := now()
	post(t, s, hi)
	after := now()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Get(s.StatsURL())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats struct {
		Requests []struct {
			In    float64 `json:"t_in"`
			Out   float64 `json:"t_out"`
			Tools int     `json:"tools"`
			Bytes int     `json:"bytes_in"`
		} `json:"requests"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil || len(stats.Requests) != 1 {
		t.Fatal(stats, err)
	}
	q := stats.Requests[0]
	if q.In < before || q.Out < q.In+0.02 || q.Out > after+1 || q.Bytes != len(s.Requests()[0].Body) {
		t.Errorf("%+v, between %f and %f", q, before, after)
	}
}

func TestScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "long.md"), []byte("# long"), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := modeltest.ParseScript(strings.NewReader(`
# a demonstration
{"say":"one","reasoning":"r","usage":{"prompt":1,"completion":2}}
{"calls":[{"name":"read","args":{"path":"a"}},{"name":"bash","args":"{broken","id":"x"},{"name":"now"}],"text":"t","repeat":2}
{"status":429,"body":"b","headers":{"Retry-After":"1"}}
{"say_file":"long.md","finish":"length","loop":true}
{"cut":1}
`), dir)
	if err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(t)
	s.Load(script, false)
	for i, want := range []string{`"content":"one"`, `"arguments":"{\"pa"`, `"id":"x"`, "b", `"finish_reason":"length"`, "data: ", `"content":"# lo"`} {
		if _, body, _ := post(t, s, hi); !strings.Contains(body, want) {
			t.Errorf("request %d: %q has no %s", i+1, body, want)
		}
	}
	for in, words := range map[string]string{
		`{"say":1}`: "line 1", "\n{\"sya\":\"x\"}": "line 2", `{"calls":[{}]}`: "needs a name", `{"say_file":"none"}`: "no such file", `{`: "line 1",
	} {
		if _, err := modeltest.ParseScript(strings.NewReader(in), dir); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// With restart every conversation has the script for itself, and asking again after a failure does not start it again.
func TestRestart(t *testing.T) {
	script, err := modeltest.ParseScript(bytes.NewReader([]byte(`{"status":503,"body":"busy"}
{"calls":[{"name":"read","args":{}}]}
{"say":"end"}`)), "")
	if err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(t)
	s.Load(script, true)
	for _, who := range []string{"a", "b", "a"} {
		first := `[{"role":"user","content":"` + who + `"}`
		for i, c := range []struct{ more, want string }{{"]", "busy"}, {"]", `"name":"read"`}, {`,{"role":"assistant","content":"x"},{"role":"tool","tool_call_id":"1","content":"r"}]`, `"content":"end"`}} {
			if _, body, _ := post(t, s, first+c.more); !strings.Contains(body, c.want) {
				t.Errorf("conversation %s, request %d: %q has no %s", who, i+1, body, c.want)
			}
		}
	}
}

func TestModels(t *testing.T) {
	s := modeltest.New(t)
	s.Models("a", "b")
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if got := strings.TrimSpace(string(body)); got != `{"data":[{"id":"a","object":"model"},{"id":"b","object":"model"}],"object":"list"}` || s.Probes() != 1 || len(s.Requests()) != 0 {
		t.Error(got)
	}
}
