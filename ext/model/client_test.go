package model_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octavo/ext/model"
)

// serve runs a server and a client that end with the test and leave no goroutine behind.
func serve(t *testing.T, l model.Limits, h http.HandlerFunc) (*model.Client, *model.Endpoint) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	s := httptest.NewServer(h)
	c := model.NewClient(l)
	t.Cleanup(func() {
		c.Close()
		s.Close()
		goleak.VerifyNone(t, before)
	})
	return c, &model.Endpoint{Provider: "prov", Model: "big-model", URL: s.URL}
}

// exchange streams one request to its end.
func exchange(ctx context.Context, c *model.Client, e *model.Endpoint) (events int, done bool, err error) {
	r, err := c.Stream(ctx, e, "/x", []byte(`{}`))
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	for ; ; events++ {
		if _, err := r.Next(); err == io.EOF {
			return events, r.Done(), nil
		} else if err != nil {
			return events, false, err
		}
	}
}

// want asserts an *Error of a class whose sentence has all the words.
func want(t *testing.T, err error, class model.ErrorClass, words ...string) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error of class %s", err, class)
	}
	if e.Class != class || e.Provider != "prov" {
		t.Errorf("class %q of %q, want %q of prov: %v", e.Class, e.Provider, class, err)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("the message does not say %q: %s", w, e.Message)
		}
	}
	return e
}

func TestClientSendsAndStreams(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "POST" || r.URL.Path != "/x" || string(body) != "{}" || r.Proto != "HTTP/1.1" ||
			r.Header.Get("Authorization") != "Bearer the-secret-key" || r.Header.Get("X-Title") != "octavo" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("unexpected request: %s %s %s %q %v", r.Method, r.URL, r.Proto, body, r.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, "data: a\n\ndata: b\n\ndata: [DONE]\n\n")
	})
	e.Key = func() (string, error) { return " the-secret-key\n", nil }
	e.Headers = map[string]string{"X-Title": "octavo"}
	if n, done, err := exchange(t.Context(), c, e); n != 2 || !done || err != nil {
		t.Errorf("%d events, done %v, %v", n, done, err)
	}
}

func TestClientKeyHeader(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
	})
	e.Key, e.KeyHeader = func() (string, error) { return "k", nil }, "x-api-key"
	if _, _, err := exchange(t.Context(), c, e); err != nil {
		t.Error(err)
	}
	e.Key = func() (string, error) { return "", errors.New("the keyring is locked") }
	e.KeySource = "the keyring"
	_, _, err := exchange(t.Context(), c, e)
	want(t, err, model.ErrAuth, "the key in the keyring", "the keyring is locked")
}

// One connection serves request after request, also when the server ends streams with [DONE].
func TestClientKeepsConnections(t *testing.T) {
	var from sync.Map
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr, true)
		fmt.Fprint(w, "data: a\n\ndata: [DONE]\n\n")
	})
	for range 5 {
		if _, done, err := exchange(t.Context(), c, e); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	n := 0
	from.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

// A server that keeps a finished stream open costs its connection, not the answer.
func TestClientDoesNotWaitAfterDone(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: a\n\ndata: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	if n, done, err := exchange(t.Context(), c, e); n != 1 || !done || err != nil {
		t.Error(n, done, err)
	}
}

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
		{"too long", 400, nil, `{"error":{"code":"context_length_exceeded","message":"8193 > 8192"}}`, model.ErrOverflow, []string{`window of the model "big-model": 8193 > 8192; compact`}},
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

// The key appears in no error, however the server sends it back.
func TestClientHidesSecrets(t *testing.T) {
	const key, header = `sEcret+key/with="odd\chars`, "another-secret-value"
	echo := map[string]string{
		"plain":         `{"error":{"message":"bad key ` + strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `"`, `\"`) + `"}}`,
		"text":          "refused: " + key,
		"authorization": "headers were Authorization: Bearer " + key,
		"url":           "GET /?key=" + url.QueryEscape(key) + " and " + url.PathEscape(key),
		"header":        `{"error":"x-goog-api-key was ` + header + `"}`,
		"at the bound":  strings.Repeat("x", model.MaxRefusal-len(key)/2) + key,
		"late":          strings.Repeat("x", 390) + key,
	}
	for name, body := range echo {
		for _, status := range []int{200, 400, 401, 500} {
			c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Location", "/?key="+url.QueryEscape(key))
				w.WriteHeader(status)
				io.WriteString(w, body)
			})
			e.Key = func() (string, error) { return key, nil }
			e.Headers = map[string]string{"X-Goog-Api-Key": header}
			_, _, err := exchange(t.Context(), c, e)
			shown := fmt.Sprintf("%v %+v", err, err)
			var got *model.Error
			if errors.As(err, &got) {
				shown += got.Message + got.Body
			}
			for _, secret := range []string{key, header, url.QueryEscape(key), url.PathEscape(key), "sEcret"} {
				if strings.Contains(shown, secret) {
					t.Errorf("%s, status %d: %q is shown: %s", name, status, secret, shown)
				}
			}
		}
	}
}

// A malformed response is quoted by net/http's own error; that must not show the key either.
func TestClientHidesSecretsInCauses(t *testing.T) {
	l := listen(t, func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			fmt.Fprintf(c, "%s\r\n\r\n", req.Header.Get("Authorization"))
		}
		c.Close()
	})
	c := model.NewClient(model.Limits{})
	defer c.Close()
	e := &model.Endpoint{Provider: "prov", URL: "http://" + l.Addr().String(), Key: func() (string, error) { return "planted-key-123", nil }}
	_, _, err := exchange(t.Context(), c, e)
	got := want(t, err, model.ErrCut)
	if strings.Contains(fmt.Sprint(err, got.Err, got.Body), "planted") {
		t.Errorf("the key is shown: %v: %v", err, got.Err)
	}
}

// What looks like a credential is hidden even when nobody knows it.
func TestClientHidesCredentials(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, `upstream said: Authorization: Bearer abcdefgh12345678, api_key="zyxwvuts98765", sk-proj-AAAABBBBCCCC1234, max_tokens: 4096123456`)
	})
	_, _, err := exchange(t.Context(), c, e)
	got := want(t, err, model.ErrRequest, "max_tokens: 4096123456")
	for _, secret := range []string{"abcdefgh", "zyxwv", "AAAABBBB"} {
		if strings.Contains(got.Message+got.Body, secret) {
			t.Errorf("%s is shown: %s", secret, got.Message)
		}
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

func TestClientLimits(t *testing.T) {
	short := 30 * time.Millisecond
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	headers := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	stall := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: a\n\n")
		headers(w, r)
	}
	for _, c := range []struct {
		name   string
		limits model.Limits
		server http.HandlerFunc
		words  string
	}{
		{"no headers", model.Limits{First: short}, hang, "no answer came within 30ms"},
		{"headers only", model.Limits{First: short}, headers, "no answer came within 30ms"},
		{"silence", model.Limits{Idle: short}, stall, "nothing for 30ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// net/http tells a server that its client has left only once the body was read.
			client, e := serve(t, c.limits, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); c.server(w, r) })
			_, _, err := exchange(t.Context(), client, e)
			want(t, err, model.ErrTimeout, c.words)
		})
	}
}

// Comments keep a stream alive, and time the caller takes is not the provider's.
func TestClientIdleCountsSilenceOnly(t *testing.T) {
	c, e := serve(t, model.Limits{Idle: 250 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w).Flush
		io.WriteString(w, "data: a\n\n")
		_ = flush()
		for range 8 {
			time.Sleep(50 * time.Millisecond)
			io.WriteString(w, ": still here\n\n")
			_ = flush()
		}
		io.WriteString(w, "data: b\n\n")
	})
	r, err := c.Stream(t.Context(), e, "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(400 * time.Millisecond) // the reader is busy, longer than Idle
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
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
	want(t, err, model.ErrMalformed, "longer than 1048576 bytes")
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

// A kept connection that turns out to be dead is replaced once; a new one that dies is not.
func TestClientReplacesDeadConnections(t *testing.T) {
	var requests, accepted atomic.Int32
	var dies atomic.Bool
	l := listen(t, func(c net.Conn) {
		defer c.Close()
		accepted.Add(1)
		in := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			io.Copy(io.Discard, req.Body)
			if n := requests.Add(1); n == 2 || dies.Load() {
				return // hangs up on a request it has read, without a byte of answer
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n")
		}
	})
	c := model.NewClient(model.Limits{})
	defer c.Close()
	e := &model.Endpoint{Provider: "prov", URL: "http://" + l.Addr().String()}
	for i := range 2 {
		if _, done, err := exchange(t.Context(), c, e); !done || err != nil {
			t.Fatalf("exchange %d: %v %v", i+1, done, err)
		}
	}
	if requests.Load() != 3 || accepted.Load() != 2 {
		t.Errorf("%d requests on %d connections, want 3 on 2", requests.Load(), accepted.Load())
	}
	dies.Store(true)
	requests.Store(10)
	_, _, err := exchange(t.Context(), c, e)
	want(t, err, model.ErrCut)
	if requests.Load() != 12 {
		t.Errorf("%d requests, want one on the dead connection and one on a new one", requests.Load()-10)
	}
	_, _, err = exchange(t.Context(), c, e)
	want(t, err, model.ErrCut)
	if requests.Load() != 13 {
		t.Errorf("a request on a new connection was repeated")
	}
}

// Wherever an exchange is, the end of its context ends it, with the context's own error.
func TestClientCancel(t *testing.T) {
	type stage struct {
		name   string
		server func(reached context.CancelFunc) http.HandlerFunc
	}
	for _, s := range []stage{
		{"before headers", func(reached context.CancelFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				reached()
				<-r.Context().Done()
			}
		}},
		{"before the first event", func(reached context.CancelFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				_ = http.NewResponseController(w).Flush()
				reached()
				<-r.Context().Done()
			}
		}},
		{"inside an event", func(reached context.CancelFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				io.WriteString(w, "data: a\n\ndata: hal")
				_ = http.NewResponseController(w).Flush()
				reached()
				<-r.Context().Done()
			}
		}},
		{"inside a refusal", func(reached context.CancelFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.WriteHeader(500)
				io.WriteString(w, "oh")
				_ = http.NewResponseController(w).Flush()
				reached()
				<-r.Context().Done()
			}
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c, e := serve(t, model.Limits{}, s.server(cancel))
			if _, _, err := exchange(ctx, c, e); err != context.Canceled {
				t.Errorf("got %v, want context.Canceled", err)
			}
		})
	}
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c, e := serve(t, model.Limits{}, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		if _, _, err := exchange(ctx, c, e); err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("while connecting", func(t *testing.T) {
		mute := listen(t, func(c net.Conn) { io.Copy(io.Discard, c); c.Close() })
		c := model.NewClient(model.Limits{})
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, _, err := exchange(ctx, c, &model.Endpoint{Provider: "prov", URL: "https://" + mute.Addr().String()}); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
	})
}

func TestClientGet(t *testing.T) {
	var size atomic.Int64
	c, e := serve(t, model.Limits{Probe: 10 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || r.URL.Path != "/models" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		io.CopyN(w, zeros{}, size.Load())
	})
	for _, x := range []struct {
		size int64
		ok   bool
	}{{0, true}, {model.MaxDocument, true}, {model.MaxDocument + 1, false}} {
		size.Store(x.size)
		doc, err := c.Get(t.Context(), e, "/models")
		if (err == nil) != x.ok || x.ok && int64(len(doc)) != x.size {
			t.Errorf("%d bytes: got %d and %v", x.size, len(doc), err)
		}
	}
	c, e = serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>")
	})
	_, err := c.Get(t.Context(), e, "/models")
	want(t, err, model.ErrMalformed, "web page")
	c, e = serve(t, model.Limits{Probe: 30 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err = c.Get(t.Context(), e, "/models")
	want(t, err, model.ErrTimeout, "30ms")
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

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// listen accepts connections until the test ends and waits for their handlers.
func listen(t *testing.T, handle func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { handle(c) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l
}

// discard is a logger for servers that complain about what a test does to them.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
