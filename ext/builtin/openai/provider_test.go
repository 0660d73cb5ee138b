package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
)

func TestText(t *testing.T) {
	const words = "Grüße, 世界! 👩‍👩‍👧 <b>&amp;</b>\n\n```go\nfmt.Println(\"x\\n\")\n```"
	for _, pieces := range []int{0, 1, 3, 7, 1000} {
		u, s := rig(t, model.Limits{}, modeltest.Say(words).Chunk(2).Pieces(pieces).Usage(modeltest.Tokens{Prompt: 100, Cached: 64, Completion: 20, Reasoning: 5}))
		a, err := ask(t, u, hello())
		if err != nil {
			t.Fatal(err)
		}
		if got := model.PlainText(a.Parts); got != words || a.Finish != model.FinishComplete || a.Reason != "stop" || a.ID != "chatcmpl-1" || a.Model != "big" {
			t.Errorf("pieces of %d bytes: %q %+v", pieces, got, a)
		}
		if got := count(a.Usage.Input) + count(a.Usage.CacheRead) + count(a.Usage.CacheWrite) + count(a.Usage.Output) + count(a.Usage.Reasoning); got != "3664?205" {
			t.Errorf("usage %s", got)
		}
		if h := s.Requests()[0].Header; h.Get("Authorization") != "Bearer "+planted {
			t.Errorf("headers %v", h)
		}
	}
}

func TestUsageNotReported(t *testing.T) {
	u, _ := rig(t, model.Limits{}, modeltest.Say("x").NoUsage())
	a, err := ask(t, u, hello())
	if err != nil || a.Usage != (model.Usage{}) {
		t.Errorf("%+v %v", a, err)
	}
}

// A whole turn: reasoning and parallel calls come in pieces and go back as they came, results before pictures.
func TestToolRound(t *testing.T) {
	for _, field := range []string{fieldContent, fieldPlain} {
		args := []string{`{"path":"ä.go","lines":[1,2]}`, `{"command":"ls -l | wc"}`, ``}
		u, s := rig(t, model.Limits{},
			modeltest.Calls(modeltest.Call("read", args[0]), modeltest.Call("bash", args[1]), modeltest.Call("now", args[2])).
				WithReasoning("First the file.").ReasoningField(field).WithText("Let me look.").Chunk(1),
			modeltest.Say("Done."))
		r := hello()
		r.Tools = []model.ToolSpec{{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "bash"}}
		a, err := ask(t, u, r)
		if err != nil {
			t.Fatal(err)
		}
		calls := model.Calls(a.Parts)
		if a.Finish != model.FinishCalls || len(calls) != 3 || calls[0].Arguments != args[0] || calls[1].Arguments != args[1] || calls[2].Arguments != "" || thought(a) != "First the file." {
			t.Fatalf("%+v %+v", a, calls)
		}
		picture := model.Part{Type: model.PartImage, Image: &model.Image{MIME: "image/png", Data: []byte("png")}}
		r.Messages = append(r.Messages, said(model.RoleAssistant, a.Parts...), said(model.RoleTool,
			result(calls[0], model.Text("contents"), picture), result(calls[1], picture), result(calls[2])))
		if _, err := ask(t, u, r); err != nil {
			t.Fatal(err)
		}
		got := s.Requests()[1].Chat
		var roles []string
		for _, m := range got.Messages {
			roles = append(roles, m.Role)
		}
		if diff := cmp.Diff([]string{"user", "assistant", "tool", "tool", "tool", "user"}, roles); diff != "" {
			t.Fatal(diff)
		}
		m := got.Messages
		if m[1].Text != "Let me look." || string(m[1].Fields[field]) != `"First the file."` || len(m[1].Fields) != 4 {
			t.Errorf("assistant %+v", m[1].Fields)
		}
		want := []modeltest.ToolCall{{ID: "call_1_1", Name: "read", Arguments: args[0]}, {ID: "call_1_2", Name: "bash", Arguments: args[1]}, {ID: "call_1_3", Name: "now", Arguments: "{}"}}
		if diff := cmp.Diff(want, m[1].Calls); diff != "" {
			t.Error(diff)
		}
		for i, text := range []string{"contents", seePicture, model.NoOutput} {
			if m[2+i].Text != text || m[2+i].ToolCallID != want[i].ID || m[2+i].Kinds != nil {
				t.Errorf("result %d: %+v", i, m[2+i])
			}
		}
		if diff := cmp.Diff([]string{"text", "image_url", "text", "image_url"}, m[5].Kinds); diff != "" || m[5].Images[1] != "data:image/png;base64,cG5n" {
			t.Errorf("pictures %+v\n%s", m[5], diff)
		}
		if diff := cmp.Diff([]string{"read", "bash"}, got.ToolNames()); diff != "" {
			t.Error(diff)
		}

		// To any other model the same conversation carries no reasoning.
		s.Script(modeltest.Say("ok"))
		r.Maker = "other/big"
		if _, err := ask(t, u, r); err != nil {
			t.Fatal(err)
		}
		if f := s.Requests()[2].Chat.Messages[1].Fields; f[field] != nil {
			t.Errorf("reasoning went to another model: %s", f[field])
		}
	}
}

func TestFinishReasons(t *testing.T) {
	call := modeltest.Calls(modeltest.Call("read", `{}`))
	for _, c := range []struct {
		reply  modeltest.Reply
		reason string
		want   model.Finish
	}{
		{modeltest.Say("x"), "stop", model.FinishComplete},
		{modeltest.Say("x"), "eos", model.FinishComplete},
		{modeltest.Say(""), "stop", model.FinishComplete},
		{modeltest.Say("x"), "length", model.FinishLength},
		{modeltest.Say("x"), "content_filter", model.FinishFiltered},
		{modeltest.Say("x"), "something_new", model.FinishOther},
		{modeltest.Say("x"), "tool_calls", model.FinishOther},
		{call, "tool_calls", model.FinishCalls},
		{call, "stop", model.FinishCalls},
		{call, "length", model.FinishLength},
	} {
		u, _ := rig(t, model.Limits{}, c.reply.Finish(c.reason))
		if a, err := ask(t, u, hello()); err != nil || a.Finish != c.want || a.Reason != c.reason {
			t.Errorf("%s: %+v %v, want %s", c.reason, a, err, c.want)
		}
	}
}

// A stream that says it is over, but not why, is an answer when it has one.
func TestNoFinishReason(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		want  model.Finish
	}{
		{"text", modeltest.Say("x").Finish(""), model.FinishOther},
		{"whole calls", modeltest.Calls(modeltest.Call("read", `{"a":1}`)).Finish(""), model.FinishCalls},
		{"half a call", modeltest.Calls(modeltest.Call("read", `{"a":`)).Finish(""), ""},
		{"nothing", modeltest.Say("").Finish(""), ""},
	} {
		u, _ := rig(t, model.Limits{}, c.reply)
		a, err := ask(t, u, hello())
		if c.want == "" {
			wants(t, err, model.ErrCut, "ended before the answer did")
		} else if err != nil || a.Finish != c.want {
			t.Errorf("%s: %+v %v", c.name, a, err)
		}
	}
}

func TestRequestOptions(t *testing.T) {
	u, s := rig(t, model.Limits{}, modeltest.Say("a"), modeltest.Say("b"))
	r := hello()
	r.System, r.Effort, r.MaxOutput, r.CacheKey = []string{"You are octavo.", "", "Be brief."}, "high", 4000, "session-1"
	if _, err := ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	r.Effort = "off"
	if _, err := ask(t, u, r); err != nil {
		t.Fatal(err)
	}
	c := s.Requests()[0].Chat
	if c.ReasoningEffort != "high" || c.MaxTokens != 4000 || c.MaxCompletionTokens != 0 || c.PromptCacheKey != "" || !c.Stream || !c.StreamOptions.IncludeUsage ||
		c.Messages[0].Role != "system" || c.Messages[0].Text != "You are octavo.\n\nBe brief." || c.Fields["tools"] != nil {
		t.Errorf("%s", s.Requests()[0].Body)
	}
	if got := s.Requests()[1].Chat.ReasoningEffort; got != "none" {
		t.Errorf("off is sent as %q", got)
	}
}

func TestFailures(t *testing.T) {
	date := time.Now().UTC()
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		class model.ErrorClass
		after time.Duration
		words string
	}{
		{"429, seconds", modeltest.Status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "20"), model.ErrRateLimit, 20 * time.Second, "slow down"},
		{"429, date", modeltest.Status(429, ``, "Retry-After", date.Add(90*time.Second).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)), model.ErrRateLimit, 90 * time.Second, "try again in 1m30s"},
		{"429, quota", modeltest.Status(429, `{"error":{"code":"insufficient_quota","message":"none left"}}`), model.ErrQuota, 0, "none left"},
		{"500", modeltest.Status(500, `{"error":{"message":"boom"}}`), model.ErrServer, 0, "boom"},
		{"502", modeltest.Status(502, `<html>Bad Gateway</html>`, "Content-Type", "text/html"), model.ErrOverloaded, 0, "overloaded or out of order"},
		{"503, wait", modeltest.Status(503, `{"error":{"message":"Loading model"}}`, "Retry-After", "2"), model.ErrOverloaded, 2 * time.Second, "Loading model"},
		{"529", modeltest.Status(529, ``), model.ErrOverloaded, 0, ""},
		{"bad key", modeltest.Status(401, `{"error":{"message":"Incorrect API key provided: `+planted+`. You can find"}}`), model.ErrAuth, 0, "the key in $PROV_KEY was refused"},
		{"overflow", modeltest.Status(400, `{"error":{"message":"This model's maximum context length is 10 tokens"}}`), model.ErrOverflow, 0, "compact"},
		{"no model", modeltest.Status(404, `{"error":{"message":"no such model"}}`), model.ErrNotFound, 0, `"big"`},
		{"web page", modeltest.Raw("<html>").Header("Content-Type", "text/html"), model.ErrMalformed, 0, "web page"},
		{"10 MB line", modeltest.Raw("data: {\"x\":\"" + strings.Repeat("x", 10<<20) + "\"}\n\n"), model.ErrMalformed, 0, "too long"},
		{"no JSON", modeltest.Raw("data: {\"choices\":[{\n\n"), model.ErrMalformed, 0, "no JSON"},
		{"no object", modeltest.Raw("data: 7\n\n"), model.ErrMalformed, 0, "no JSON"},
		{"cut at once", modeltest.Cut(0), model.ErrCut, 0, "connection was lost"},
		{"cut in the middle", modeltest.Cut(3), model.ErrCut, 0, "connection was lost"},
		{"no answer at all", modeltest.Hangup(), model.ErrCut, 0, "connection was lost"},
		{"ends too early", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"), model.ErrCut, 0, "ended before"},
		{"empty", modeltest.Raw(""), model.ErrCut, 0, "ended before"},
		{"error inside, overloaded", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"code\":502,\"message\":\"upstream died\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n"), model.ErrOverloaded, 0, "upstream died"},
		{"error inside, text", modeltest.Raw("data: {\"error\":\"" + planted + " is odd\"}\n\n"), model.ErrServer, 0, "[redacted] is odd"},
		{"error event", modeltest.Raw("event: error\ndata: {\"message\":\"Context size has been exceeded.\"}\n\n"), model.ErrOverflow, 0, "exceeded"},
		{"error object", modeltest.Raw("data: {\"object\":\"error\",\"message\":\"CUDA out of memory\",\"code\":500}\n\n"), model.ErrServer, 0, "CUDA"},
		{"error without words", modeltest.Say("x").Finish("error"), model.ErrServer, 0, "does not explain"},
		{"nameless call", modeltest.Raw("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"), model.ErrMalformed, 0, "without naming it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, s := rig(t, model.Limits{}, c.reply)
			a, err := ask(t, u, hello())
			got := wants(t, err, c.class, c.words)
			if got.RetryAfter != c.after || a != nil || len(s.Requests()) != 1 {
				t.Errorf("wait %v, want %v; answer %v; %d requests, want 1", got.RetryAfter, c.after, a, len(s.Requests()))
			}
		})
	}
}

func TestStall(t *testing.T) {
	u, _ := rig(t, model.Limits{First: 50 * time.Millisecond}, modeltest.Stall(0))
	_, err := ask(t, u, hello())
	wants(t, err, model.ErrTimeout, "no answer came within 50ms")
	u, _ = rig(t, model.Limits{Idle: 50 * time.Millisecond}, modeltest.Stall(3))
	_, err = ask(t, u, hello())
	wants(t, err, model.ErrTimeout, "nothing for 50ms")
}

// Once the reason to stop is there, a lost tail costs the usage and not the answer.
func TestLostTail(t *testing.T) {
	const said = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"
	for name, reply := range map[string]modeltest.Reply{"cut": modeltest.Raw(said).Cut(1), "silent": modeltest.Raw(said).Stall(1), "no end mark": modeltest.Raw(said)} {
		u, _ := rig(t, model.Limits{Idle: 50 * time.Millisecond}, reply)
		if a, err := ask(t, u, hello()); err != nil || a.Finish != model.FinishComplete || a.Usage.Output != nil {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

// A request that names nothing means the upstream's model, and its reasoning is kept for that.
func TestNamesByDefault(t *testing.T) {
	u, s := rig(t, model.Limits{}, modeltest.Say("x").WithReasoning("r"))
	a, err := ask(t, u, model.Request{Messages: hello().Messages})
	if err != nil || s.Requests()[0].Chat.Model != "big" || a.Parts[0].Reasoning.Maker != "prov/big" {
		t.Errorf("%+v %v", a, err)
	}
}

func TestUnreachable(t *testing.T) {
	s, err := modeltest.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	c := model.NewClient(model.Limits{})
	defer c.Close()
	_, err = ask(t, upstream(t, c, s.URL()), hello())
	wants(t, err, model.ErrUnsent, "cannot reach "+s.URL()+": connection refused; is the server running?")
	_, err = ask(t, upstream(t, c, "http://no-such-host.invalid/v1"), hello())
	wants(t, err, model.ErrUnsent, "no-such-host.invalid")
}

// The end of the context ends a request with the context's error, wherever it is.
func TestCancel(t *testing.T) {
	for name, script := range map[string]modeltest.Reply{"before the answer": modeltest.Say("x").Pace(time.Hour, 0), "inside it": modeltest.Stall(2)} {
		u, s := rig(t, model.Limits{}, script)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := u.Stream(ctx, hello(), func(model.Event) error { cancel(); return nil })
			done <- err
		}()
		if name == "before the answer" {
			for len(s.Requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}
		if err := <-done; err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestEmitEndsTheStream(t *testing.T) {
	enough := errors.New("enough")
	for _, at := range []model.EventType{model.EventStarted, model.EventReasoning, model.EventText, model.EventCall, model.EventArguments} {
		u, _ := rig(t, model.Limits{}, modeltest.Calls(modeltest.Call("read", "{}")).WithText("x").WithReasoning("y"))
		_, err := u.Stream(t.Context(), hello(), func(e model.Event) error {
			if e.Type == at {
				return enough
			}
			return nil
		})
		if err != enough {
			t.Errorf("event %d: %v", at, err)
		}
	}
}

func TestProbe(t *testing.T) {
	u, s := rig(t, model.Limits{})
	s.Models("b", "a", "")
	got, err := u.Probe(t.Context())
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil || s.Probes() != 1 {
		t.Errorf("%v %s", err, diff)
	}
	c := model.NewClient(model.Limits{})
	defer c.Close()
	_, err = upstream(t, c, s.URL()+"/wrong").Probe(t.Context())
	wants(t, err, model.ErrNotFound, "the address of its API")
}

func TestResolve(t *testing.T) {
	e := New(model.NewClient(model.Limits{}))
	if e.Name != "openai" || len(e.Providers) != 1 || e.Providers[0].Wire != "openai-chat" {
		t.Fatalf("%+v", e)
	}
	resolve := e.Providers[0].Resolve
	info := model.Info{ContextTokens: 8192}
	u, err := resolve(ext.Profile{Name: "p", Endpoint: "https://x.example/v1/", Models: map[string]model.Info{"org/m": info}}, "org/m")
	if err != nil || u.ID() != "p/org/m" || u.Endpoint != "https://x.example/v1" || u.Info.ContextTokens != 8192 || u.Images.MaxBytes != 5<<20 {
		t.Errorf("%+v %v", u, err)
	}
	for _, c := range []struct{ endpoint, model, words string }{
		{"", "m", "set one like"}, {"ftp://x", "m", "no http or https"}, {"x.example/v1", "m", "no http or https"}, {"http://", "m", "no http or https"}, {"http://x", "", "choose one as p/MODEL"},
	} {
		if _, err := resolve(ext.Profile{Name: "p", Endpoint: c.endpoint}, c.model); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%q %q: %v", c.endpoint, c.model, err)
		}
	}
}
