package wiretest

import (
	"context"
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

// faults are refusals and broken streams that look alike on every wire. Each is met once, with one request.
func (a Adapter) faults(t *testing.T) {
	date := time.Now().UTC()
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		class model.ErrorClass
		after time.Duration
		words string
	}{
		{"429, seconds", modeltest.Status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "20"), model.ErrRateLimit, 20 * time.Second, "slow down"},
		{"429, date", modeltest.Status(429, ``, "Retry-After", date.Add(90*time.Second).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)),
			model.ErrRateLimit, 90 * time.Second, "try again in 1m30s"},
		{"429, quota", modeltest.Status(429, `{"error":{"code":"insufficient_quota","message":"none left"}}`), model.ErrQuota, 0, "none left"},
		{"400", modeltest.Status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"bad field"}}`), model.ErrRequest, 0, "bad field"},
		{"500", modeltest.Status(500, `{"error":{"message":"boom"}}`), model.ErrServer, 0, "boom"},
		{"502", modeltest.Status(502, `<html>Bad Gateway</html>`, "Content-Type", "text/html"), model.ErrOverloaded, 0, "overloaded or out of order"},
		{"503, wait", modeltest.Status(503, `{"error":{"message":"Loading model"}}`, "Retry-After", "2"), model.ErrOverloaded, 2 * time.Second, "Loading model"},
		{"529", modeltest.Status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.ErrOverloaded, 0, "Overloaded"},
		{"bad key", modeltest.Status(401, `{"error":{"message":"Incorrect API key provided: `+Key+`. You can find"}}`), model.ErrAuth, 0, "the key in $PROV_KEY was refused"},
		{"overflow", modeltest.Status(400, `{"error":{"message":"This model's maximum context length is 10 tokens"}}`), model.ErrOverflow, 0, "does not fit the window"},
		{"overflow, as Responses says it", modeltest.Status(400, `{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`), model.ErrOverflow, 0, "does not fit the window"},
		{"overflow, as Messages says it", modeltest.Status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`), model.ErrOverflow, 0, "does not fit the window"},
		{"no model", modeltest.Status(404, `{"error":{"message":"no such model"}}`), model.ErrNotFound, 0, `"big"`},
		{"web page", modeltest.Raw("<html>").Header("Content-Type", "text/html"), model.ErrMalformed, 0, "web page"},
		{"no stream", modeltest.Raw(`{"id":"x"}`).Header("Content-Type", "application/json"), model.ErrMalformed, 0, "unable to stream"},
		{"10 MB line", modeltest.Raw("data: {\"x\":\"" + strings.Repeat("x", 10<<20) + "\"}\n\n"), model.ErrMalformed, 0, "too long"},
		{"no JSON", modeltest.Raw("data: {\"type\":[{\n\n"), model.ErrMalformed, 0, "no JSON"},
		{"no object", modeltest.Raw("data: 7\n\n"), model.ErrMalformed, 0, "no JSON"},
		{"cut at once", modeltest.Cut(0), model.ErrCut, 0, "connection was lost"},
		{"cut in the middle", modeltest.Cut(3), model.ErrCut, 0, "connection was lost"},
		{"no answer at all", modeltest.Hangup(), model.ErrCut, 0, "connection was lost"},
		{"empty", modeltest.Raw(""), model.ErrCut, 0, "ended before"},
		{"error event, text", modeltest.Raw("event: error\ndata: {\"error\":\"" + Key + " is odd\"}\n\n"), model.ErrServer, 0, "[redacted] is odd"},
		{"error event, overloaded", modeltest.Raw("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"), model.ErrOverloaded, 0, "Overloaded"},
		{"error event, too much", modeltest.Raw("event: error\ndata: {\"type\":\"error\",\"message\":\"Context size has been exceeded.\"}\n\n"), model.ErrOverflow, 0, "exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, s := a.Rig(t, model.Limits{}, c.reply)
			answer, err := Ask(t, u, Hello())
			got := Wants(t, err, c.class, c.words)
			if got.RetryAfter != c.after || answer != nil || len(s.Requests()) != 1 {
				t.Errorf("wait %v, want %v; answer %v; %d requests, want 1", got.RetryAfter, c.after, answer, len(s.Requests()))
			}
		})
	}
}

func (a Adapter) stall(t *testing.T) {
	u, _ := a.Rig(t, model.Limits{First: 50 * time.Millisecond}, modeltest.Stall(0))
	_, err := Ask(t, u, Hello())
	Wants(t, err, model.ErrTimeout, "no answer came within 50ms")
	u, _ = a.Rig(t, model.Limits{Idle: 50 * time.Millisecond}, modeltest.Stall(3))
	_, err = Ask(t, u, Hello())
	Wants(t, err, model.ErrTimeout, "nothing for 50ms")
}

// Once the whole answer is there, how the connection ends does not matter: not that it is lost, and not that the server never ends the
// response, for which nothing waits.
func (a Adapter) lostTail(t *testing.T) {
	probe, s := a.Rig(t, model.Limits{}, modeltest.Say("x").Chunk(9))
	if _, err := Ask(t, probe, Hello()); err != nil {
		t.Fatal(err)
	}
	events := modeltest.Say("x").Chunk(9).Events(s.Requests()[0])
	for name, reply := range map[string]modeltest.Reply{
		"cut": modeltest.Say("x").Chunk(9).Cut(events), "silent": modeltest.Say("x").Chunk(9).Stall(events),
	} {
		u, _ := a.Rig(t, model.Limits{}, reply)
		if got, err := Ask(t, u, Hello()); err != nil || got.Finish != model.FinishComplete || model.PlainText(got.Parts) != "x" || got.Usage.Output == nil {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func (a Adapter) unreachable(t *testing.T) {
	s, err := modeltest.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	c := model.NewClient(model.Limits{})
	defer c.Close()
	_, err = Ask(t, a.Upstream(t, c, s.URL()), Hello())
	Wants(t, err, model.ErrUnsent, "cannot reach "+s.URL()+": connection refused; is the server running?")
	_, err = Ask(t, a.Upstream(t, c, "http://no-such-host.invalid/v1"), Hello())
	Wants(t, err, model.ErrUnsent, "no-such-host.invalid")
}

// The end of the context ends a request with the context's error, wherever it is.
func (a Adapter) cancel(t *testing.T) {
	arrived := make(chan struct{})
	waits := modeltest.Func(func(modeltest.Request) modeltest.Reply {
		close(arrived)
		return modeltest.Stall(0)
	})
	for name, reply := range map[string]modeltest.Reply{"before the answer": waits, "inside it": modeltest.Stall(2)} {
		u, _ := a.Rig(t, model.Limits{}, reply)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := u.Stream(ctx, Hello(), func(model.Event) error { cancel(); return nil })
			done <- err
		}()
		if name == "before the answer" {
			<-arrived
			cancel()
		}
		if err := <-done; err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func (a Adapter) emitEnds(t *testing.T) {
	enough := errors.New("enough")
	for _, at := range []model.EventType{model.EventStarted, model.EventReasoning, model.EventText, model.EventCall, model.EventArguments} {
		u, _ := a.Rig(t, model.Limits{}, modeltest.Calls(modeltest.Call("read", "{}")).WithText("x").WithReasoning("y"))
		_, err := u.Stream(t.Context(), Hello(), func(e model.Event) error {
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

func (a Adapter) probe(t *testing.T) {
	u, s := a.Rig(t, model.Limits{})
	s.Models("b", "a", "")
	got, err := u.Probe(t.Context())
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil || s.Probes() != 1 {
		t.Errorf("%v %s", err, diff)
	}
	c := model.NewClient(model.Limits{})
	defer c.Close()
	_, err = a.Upstream(t, c, s.URL()+"/wrong").Probe(t.Context())
	Wants(t, err, model.ErrNotFound, "the address of its API")
}

func (a Adapter) resolve(t *testing.T) {
	c := model.NewClient(model.Limits{})
	defer c.Close()
	info := model.Info{ContextTokens: 8192}
	u := a.Resolve(t, c, ext.Profile{Name: "p", Endpoint: "https://x.example/v1/", Models: map[string]model.Info{"org/m": info}}, "org/m")
	if u.ID() != "p/org/m" || u.Endpoint != "https://x.example/v1" || u.Info.ContextTokens != 8192 || u.Images.MaxBytes == 0 || u.Images.MaxEdge == 0 {
		t.Errorf("%+v", u)
	}
	for _, p := range a.New(c).Providers {
		if p.Wire != a.Name {
			continue
		}
		for _, x := range []struct{ endpoint, model, words string }{
			{"", "m", "set one like"}, {"ftp://x", "m", "no http or https"}, {"x.example/v1", "m", "no http or https"},
			{"http://", "m", "no http or https"}, {"http://x", "", "choose one as p/MODEL"},
		} {
			if _, err := p.Resolve(ext.Profile{Name: "p", Endpoint: x.endpoint}, x.model); err == nil || !strings.Contains(err.Error(), x.words) {
				t.Errorf("%q %q: %v", x.endpoint, x.model, err)
			}
		}
	}
}
