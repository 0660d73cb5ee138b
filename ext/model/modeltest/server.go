// Package modeltest is a scripted model server: real HTTP on the loopback interface that answers the requests it gets, one by
// one, with what a test or a demonstration wrote down, and keeps every request for inspection. One script serves all three wires:
// chat completions, Responses and Messages. It knows no provider, no session and nothing of octavo; nothing in the product
// imports it.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxRequest is the largest request body that is taken, in bytes.
const maxRequest = 256 << 20

// T is the part of testing.TB that New needs.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Server answers model requests from a script. It is safe for concurrent use.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{}      // closed when the server's loop has ended
	stop     context.CancelFunc // ends replies that wait

	handlers sync.WaitGroup

	mu       sync.Mutex
	closed   bool // no further handler may begin
	script   cursor
	restart  bool
	talks    map[string]*talk // by how a conversation begins; only with restart
	models   []string
	requests []*Request
	probes   int
}

// New starts a server that ends with the test.
func New(t T) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the scripted model server: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server at a TCP address. The caller closes it.
func Start(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{listener: l, served: make(chan struct{}), stop: stop, models: []string{"scripted"}}
	mux := http.NewServeMux()
	for path, wire := range map[string]Wire{"chat/completions": WireChat, "responses": WireResponses, "messages": WireMessages} {
		mux.HandleFunc("POST /v1/"+path, func(w http.ResponseWriter, hr *http.Request) { s.answer(w, hr, wire) })
	}
	mux.HandleFunc("GET /v1/models", s.list)
	mux.HandleFunc("GET /__stats", s.stats)
	s.http = &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // always ErrServerClosed, by Close
	}()
	return s, nil
}

// URL is the address to configure as an endpoint: http://127.0.0.1:PORT/v1.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// StatsURL is where the times of all requests can be read.
func (s *Server) StatsURL() string { return "http://" + s.listener.Addr().String() + "/__stats" }

// Close breaks off what is still being answered and waits for it.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	_ = s.http.Close()
	<-s.served
	s.handlers.Wait()
}

// Script adds replies to what is left of the script, one for each request to come.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range replies {
		s.script.lines = append(s.script.lines, Line{Reply: r})
	}
}

// Load replaces the script. With restart, a request that begins a conversation begins the script too, for that conversation,
// so that a client can be run again and again.
func (s *Server) Load(sc Script, restart bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.restart, s.talks = cursor{lines: sc}, restart, make(map[string]*talk)
}

// Models sets what GET /v1/models lists.
func (s *Server) Models(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = ids
}

// Requests returns the model requests that have come, in order of arrival. Each is complete as to what was received.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Probes counts the requests for the list of models.
func (s *Server) Probes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probes
}

// Left is how many replies no request has asked for yet. A script that loops has always some left.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script.left()
}

// answer serves one model request.
func (s *Server) answer(w http.ResponseWriter, hr *http.Request, wire Wire) {
	in := monotonic()
	if !s.enter() {
		return
	}
	defer s.handlers.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxRequest))
	if err != nil {
		return // the client went away while it sent
	}
	req := readRequest(hr, wire, body)
	req.In = in

	s.mu.Lock()
	req.N = len(s.requests) + 1
	s.requests = append(s.requests, req)
	reply, ok := s.next(req)
	total := len(s.script.lines)
	seen := *req
	s.mu.Unlock()

	if !ok {
		reply = Status(http.StatusInternalServerError,
			fmt.Sprintf(`{"error":{"message":"modeltest: request %d is beyond the script of %d replies","type":"beyond_script"}}`, req.N, total))
	}
	for reply.fn != nil {
		reply = reply.fn(seen)
	}
	complete := reply.write(hr.Context(), w, &seen)

	s.mu.Lock()
	req.Out = monotonic()
	if req.talk != nil {
		req.talk.failed = !complete || reply.status >= http.StatusBadRequest
	}
	s.mu.Unlock()
	if !complete {
		panic(http.ErrAbortHandler) // closes the connection without an orderly end
	}
}

// enter counts a handler in, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	return true
}

// next picks the reply for a request. s.mu is held.
func (s *Server) next(req *Request) (Reply, bool) {
	if !s.restart {
		return s.script.next()
	}
	key := req.Chat.opening()
	t := s.talks[key]
	again := t != nil && t.failed // the client asks the same once more
	if t == nil || req.Chat.first() && !again {
		t = &talk{cursor: cursor{lines: s.script.lines}}
		s.talks[key] = t
	}
	req.talk = t
	return t.next()
}

// list serves GET /v1/models.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	type item struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	s.mu.Lock()
	s.probes++
	items := make([]item, len(s.models))
	for i, id := range s.models {
		items[i] = item{id, "model"}
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": items})
}

// stats serves the times of all requests for tools that measure a client from outside: seconds of the system's monotonic
// clock, the same that Python's time.monotonic reads.
func (s *Server) stats(w http.ResponseWriter, _ *http.Request) {
	type row struct {
		In    float64  `json:"t_in"`
		Out   *float64 `json:"t_out,omitempty"` // missing while the request is being answered
		Tools int      `json:"tools"`
		Bytes int      `json:"bytes_in"`
	}
	s.mu.Lock()
	rows := make([]row, 0, len(s.requests))
	for _, r := range s.requests {
		x := row{In: r.In.Seconds(), Tools: len(r.Chat.Tools), Bytes: len(r.Body)}
		if r.Out > 0 {
			out := r.Out.Seconds()
			x.Out = &out
		}
		rows = append(rows, x)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"requests": rows})
}

// pause waits, or reports false when the client or the server ends first. A pause below zero waits for that alone.
func pause(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-after:
		return true
	case <-ctx.Done():
		return false
	}
}
