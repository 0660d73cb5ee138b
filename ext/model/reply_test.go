package model_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octavo/ext/model"
)

func TestClientRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
		class  model.ErrorClass
		words  []string
	}{
		{"bad key", 401, nil, `{"error":{"message":"Incorrect key"}}`, model.ErrAuth, []string{"the key in $PROV_KEY was refused: Incorrect key; check"}},
		{"no money", 402, nil, `{"error":{"message":"Insufficient credits."}}`, model.ErrQuota, []string{"allowance is used up: Insufficient credits; check"}},
		{"no model", 404, nil, `{"error":{"message":"no such model"}}`, model.ErrNotFound, []string{`the model "big-model"`, "http://127.0.0.1", "no such model"}},
		{"slow down", 429, map[string]string{"Retry-After": "7"}, `{}`, model.ErrRateLimit, []string{"asks to wait 7"}},
		{"slow down for long", 429, map[string]string{"Retry-After": "7200"}, `{}`, model.ErrRateLimit, []string{"try again in 2h00m"}},
		{"overloaded", 529, nil, ``, model.ErrOverloaded, []string{"overloaded", "try again later"}},
		{"failed", 500, nil, `{"error":{"message":"boom"}}`, model.ErrServer, []string{"the provider failed: boom"}},
		{"too long", 400, nil, `{"error":{"code":"context_length_exceeded","message":"8193 > 8192"}}`, model.ErrOverflow, []string{`window of the model "big-model": 8193 > 8192; choose`}},
		{"wrong", 422, nil, `{"detail":"no field x"}`, model.ErrRequest, []string{"refuses the request: no field x"}},
		{"moved", 308, map[string]string{"Location": "https://elsewhere.example/v1"}, ``, model.ErrRequest, []string{"https://elsewhere.example/v1", "not followed"}},
		{"hostile words", 400, nil, "{\"error\":{\"message\":\"a\\u001b]52;c;aGk=\\u0007b\\u001b[2J\\nc\"}}", model.ErrRequest, []string{"request: ab⏎c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			e.Key, e.KeySource = func() (string, error) { return "the-secret-key", nil }, "$PROV_KEY"
			_, _, err := exchange(t.Context(), client, e)
			got := want(t, err, c.class, c.words...)
			if got.Status != c.status {
				t.Errorf("status %d, want %d", got.Status, c.status)
			}
			if !strings.HasPrefix(err.Error(), "prov: ") || !strings.Contains(err.Error(), fmt.Sprint(c.status)) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestClientWithoutKeySaysSo(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) })
	_, _, err := exchange(t.Context(), c, e)
	want(t, err, model.ErrAuth, "no key is configured")
}

func TestClientBoundsRefusals(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		for range 1000 {
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return // the client has read enough and hung up
			}
		}
		t.Error("64 MB of refusal were read")
	})
	_, _, err := exchange(t.Context(), c, e)
	if got := want(t, err, model.ErrRequest); len(got.Body) > 4<<10 || len(got.Message) > 1000 {
		t.Errorf("body %d bytes, message %d bytes", len(got.Body), len(got.Message))
	}
}

func TestClientWrongContent(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		class            model.ErrorClass
		words            string
	}{
		{"web page", "text/html; charset=utf-8", "<html>", model.ErrMalformed, "web page instead of a model; check the endpoint"},
		{"document", "application/json", `{"choices":[]}`, model.ErrMalformed, "unable to stream"},
		{"error with 200", "application/json", `{"error":{"message":"Rate limit reached","code":429}}`, model.ErrRateLimit, "Rate limit reached"},
		{"picture", "image/png", "x", model.ErrMalformed, "answered with image/png"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				io.WriteString(w, c.body)
			})
			_, _, err := exchange(t.Context(), client, e)
			want(t, err, c.class, c.words)
		})
	}
	client, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "data: a\n\n")
	})
	if n, _, err := exchange(t.Context(), client, e); n != 1 || err != nil {
		t.Errorf("a server that names no type is believed: %d %v", n, err)
	}
}

func TestClientCut(t *testing.T) {
	abort := func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }
	half := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: a\n\ndata: b")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, h := range map[string]http.HandlerFunc{"before the answer": abort, "inside": half} {
		c, e := serve(t, model.Limits{}, h)
		_, _, err := exchange(t.Context(), c, e)
		if got := want(t, err, model.ErrCut, "connection was lost"); got.Err == nil {
			t.Errorf("%s: the cause is missing", name)
		}
	}
}

func TestClientBoundsEvents(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: "+strings.Repeat("x", 10<<20)+"\n\n")
	})
	_, _, err := exchange(t.Context(), c, e)
	want(t, err, model.ErrMalformed, "too long: more than 1048576 bytes")
}

func TestClientUnsent(t *testing.T) {
	c := model.NewClient(model.Limits{})
	defer c.Close()
	hasty := model.NewClient(model.Limits{Connect: 50 * time.Millisecond})
	defer hasty.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String() + "/v1"
	l.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = discard()
	secure.StartTLS()
	defer secure.Close()
	// A listener whose handshake never comes stands for a host that does not answer.
	mute := listen(t, func(c net.Conn) { io.Copy(io.Discard, c); c.Close() })

	for _, x := range []struct{ name, url, words string }{
		{"refused", closed, "cannot reach " + closed + ": connection refused; is the server running?"},
		{"no such host", "http://no-such-host.invalid/v1", "no-such-host.invalid"},
		{"untrusted", secure.URL, "certificate is not trusted"},
		{"no TLS", strings.Replace(plain.URL, "http", "https", 1), "should the endpoint begin with http://?"},
		{"no answer", "https://" + mute.Addr().String(), "no connection came about in time"},
	} {
		t.Run(x.name, func(t *testing.T) {
			client := c
			if x.name == "no answer" {
				client = hasty
			}
			_, _, err := exchange(t.Context(), client, &model.Endpoint{Provider: "prov", URL: x.url})
			want(t, err, model.ErrUnsent, x.words)
			_, again := model.Retry{}.Next(1, err)
			if again != (x.name != "untrusted") {
				t.Errorf("ask again: %v", again)
			}
		})
	}
	_, _, err = exchange(t.Context(), c, &model.Endpoint{Provider: "prov", URL: "http://user:hunter22@" + strings.TrimPrefix(closed, "http://")})
	if want(t, err, model.ErrUnsent); strings.Contains(fmt.Sprintf("%+v", err), "hunter22") {
		t.Errorf("the password is shown: %v", err)
	}
	_, _, err = exchange(t.Context(), c, &model.Endpoint{Provider: "prov", URL: "http://a b/"})
	want(t, err, model.ErrRequest, "not a usable address")
}

// An adapter's own errors leave through Fail: whatever else an error is stays as it is.
func TestReplyFail(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "data: a\n\n") })
	e.Key = func() (string, error) { return "planted-key-123", nil }
	r, err := c.Stream(t.Context(), e, "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	other := errors.New("the consumer has enough")
	if got := r.Fail(other); got != other {
		t.Errorf("got %v", got)
	}
	raw := &model.Error{Class: model.ErrServer, Body: `{"error":"planted-key-123 is odd"}`}
	got := want(t, r.Fail(raw), model.ErrServer, "the provider failed: [redacted] is odd")
	if strings.Contains(got.Body, "planted") || raw.Provider != "" {
		t.Errorf("body %s; the error that was given must not change: %+v", got.Body, raw)
	}
}
