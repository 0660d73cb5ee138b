package model

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestListModelsReadsWhatServersSend(t *testing.T) {
	for body, want := range map[string]string{
		`{"object":"list","data":[{"id":"z"},{"id":"a","owned_by":"x"}]}`: "[a z] true",
		`[{"id":"t"}]`:     "[t] true",
		`{"data":null}`:    "[] true",
		`{"data":{"x":1}}`: "[] false",
		`nonsense`:         "[] false",
	} {
		got, err := readModels([]byte(body))
		if s := fmt.Sprint(got, err == nil); s != want {
			t.Errorf("%s: %s, want %s", body, s, want)
		}
	}
}

// counting is a decoder that ends with the event "end" and keeps how much came.
type counting struct {
	bytes int
	ended bool
}

func (c *counting) Event(ev SSE) error {
	c.bytes += len(ev.Data)
	c.ended = string(ev.Data) == "end"
	return nil
}

func (c *counting) Progress() Progress {
	if c.ended {
		return Ended
	}
	return Streaming
}

func (c *counting) Answer(bool) (*Answer, error) {
	return &Answer{ID: fmt.Sprint(c.bytes, c.ended)}, nil
}

// bare is a wire without rules.
func bare(maxLine int) Wire {
	return Wire{
		Path: "/x", MaxLine: maxLine,
		Encode: func(Request) ([]byte, error) { return []byte("{}"), nil },
		Decode: func(string, func(Event) error) Decoder { return new(counting) },
	}
}

// A wire may allow longer lines than others, up to what an event may carry.
func TestAskLongLines(t *testing.T) {
	const colon = len("data:")
	for _, c := range []struct {
		limit, line int
		ok          bool
	}{{0, MaxEventLine, true}, {0, MaxEventLine + 1, false}, {MaxEvent, MaxEventLine + 1, true}, {MaxEvent, MaxEvent, true}, {MaxEvent, MaxEvent + 1, false}} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data:"+strings.Repeat("x", c.line-colon)+"\n\n")
		}))
		client := NewClient(Limits{})
		a, err := client.Ask(t.Context(), &Endpoint{Provider: "prov", URL: srv.URL}, bare(c.limit), Request{}, nil)
		if c.ok && (err != nil || a.ID != fmt.Sprint(c.line-colon, false)) || !c.ok && (ClassOf(err) != ErrMalformed || !strings.Contains(err.Error(), "too long")) {
			t.Errorf("%+v: %+v %v", c, a, err)
		}
		client.Close()
		srv.Close()
	}
}

// After a wire's own end mark nothing is waited for, and the connection serves the next request.
func TestAskEndsWithItsMark(t *testing.T) {
	var mu sync.Mutex
	from := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: end\n\ndata: more\n\n")
	}))
	defer srv.Close()
	client := NewClient(Limits{})
	defer client.Close()
	for range 3 {
		if a, err := client.Ask(t.Context(), &Endpoint{Provider: "prov", URL: srv.URL}, bare(0), Request{}, nil); err != nil || a.ID != "3 true" {
			t.Fatalf("%+v %v", a, err)
		}
	}
	if len(from) != 1 {
		t.Errorf("three requests took %d connections", len(from))
	}
}

// A request that cannot be written is refused before anything is sent.
func TestAskRefuses(t *testing.T) {
	w := bare(0)
	w.Encode = func(Request) ([]byte, error) { return nil, errors.New("no such role") }
	client := NewClient(Limits{})
	defer client.Close()
	if _, err := client.Ask(t.Context(), &Endpoint{Provider: "prov", URL: "http://unused.invalid"}, w, Request{}, nil); ClassOf(err) != ErrRequest || !strings.Contains(err.Error(), "no such role") {
		t.Error(err)
	}
}

func TestEndpointHost(t *testing.T) {
	for in, want := range map[string]string{"https://API.x.example:8443/v1": "api.x.example", "http://[::1]:1/v1": "::1", "://": "", "": ""} {
		if got := (&Endpoint{URL: in}).Host(); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
