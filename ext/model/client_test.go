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

// What no header can carry is found before anything is sent, and is no reason to try again.
func TestClientRefusesImpossibleHeaders(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	e.Key, e.KeySource = func() (string, error) { return "planted-key\nsecond line", nil }, "$PROV_KEY"
	_, _, err := exchange(t.Context(), c, e)
	if want(t, err, model.ErrAuth, "the key in $PROV_KEY", "line breaks"); strings.Contains(fmt.Sprintf("%+v", err), "planted") {
		t.Errorf("the key is shown: %v", err)
	}
	e.Key = nil
	for name, value := range map[string]string{"X-A": "a\x00b", "X B": "v", "": "v", "Ä": "v"} {
		e.Headers = map[string]string{name: value}
		_, _, err := exchange(t.Context(), c, e)
		want(t, err, model.ErrRequest, "header", "configuration")
	}
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
