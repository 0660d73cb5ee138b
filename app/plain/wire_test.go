package plain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"octavo/app/api"
	"octavo/app/plain"
)

// house is a home whose lists a test provides.
type house struct {
	models   []api.ModelInfo
	sessions []api.SessionInfo
	open     func(api.OpenRequest) (api.Session, error)
}

func (h house) Models(context.Context) ([]api.ModelInfo, error) { return h.models, nil }
func (h house) Open(_ context.Context, r api.OpenRequest) (api.Session, error) {
	return h.open(r)
}
func (h house) Sessions(context.Context, api.SessionQuery) ([]api.SessionInfo, error) {
	return h.sessions, nil
}

type record = map[string]any

// listener is a client's end of standard output: it takes whole lines, each an object of MaxFrame bytes at most.
type listener struct {
	t       *testing.T
	mu      sync.Mutex
	open    []byte
	records []record
	raw     []string
	grown   chan struct{}
	fail    error         // of every write
	stalled chan struct{} // nothing is read until it is closed; nil while everything is
	// interrupted is closed when the write deadline passes.
	deadline chan struct{}
}

func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	stalled := l.stalled
	l.mu.Unlock()
	if stalled != nil {
		select {
		case <-stalled:
		case <-l.deadline:
			return 0, io.ErrShortWrite
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return 0, l.fail
	}
	for b := p; ; {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if l.open = append(l.open, line...); !whole {
			break
		}
		l.take(l.open)
		l.open, b = l.open[:0], rest
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return len(p), nil
}

func (l *listener) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		close(l.deadline)
	}
	return nil
}

func (l *listener) take(line []byte) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil || !utf8.Valid(line) || len(line) > plain.MaxFrame {
		l.t.Errorf("not a record: %v, %d bytes: %.300q", err, len(line), line)
	}
	l.records = append(l.records, r)
	l.raw = append(l.raw, string(line))
}

// stall stops reading until the answer is called.
func (l *listener) stall() (resume func()) {
	c := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalled = c
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stalled = nil
		close(c)
	}
}

// await waits for the first record that is wanted.
func (l *listener) await(what string, wanted func(record) bool) record {
	l.t.Helper()
	timeout := time.After(patience)
	for seen := 0; ; {
		l.mu.Lock()
		for ; seen < len(l.records); seen++ {
			if r := l.records[seen]; wanted(r) {
				l.mu.Unlock()
				return r
			}
		}
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		grown := l.grown
		l.mu.Unlock()
		select {
		case <-grown:
		case <-timeout:
			l.t.Fatalf("%s did not come; so far:\n%.5000s", what, l.String())
		}
	}
}

func (l *listener) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.raw, "\n")
}

func (l *listener) all() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]record(nil), l.records...)
}

// wire is octavo driven over a pair of pipes.
type wire struct {
	*listener
	in     *typist
	clock  *clock
	n      int // requests so far
	cancel context.CancelCauseFunc
	ended  chan error
}

func dial(t *testing.T, h house, s api.Session) *wire {
	t.Helper()
	return dialOpen(t, h, s, api.OpenRequest{})
}

func dialOpen(t *testing.T, h house, s api.Session, open api.OpenRequest) *wire {
	t.Helper()
	w := &wire{listener: &listener{t: t, deadline: make(chan struct{})}, in: newTypist(), clock: &clock{ticks: map[time.Duration]chan time.Time{}, at: noon},
		ended: make(chan error, 1)}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.cancel = cancel
	go func() {
		w.ended <- plain.RPC(ctx, h, s, open, plain.Options{Stdin: w.in, Stdout: w.listener, Now: w.clock.now, Tick: w.clock.tick})
	}()
	t.Cleanup(func() {
		cancel(nil)
		w.in.eof()
	})
	return w
}

// send writes one line.
func (w *wire) send(line string) { w.in.keys(line + "\n") }

// ask sends a request, as "command name:value ...", and answers its id. A value is JSON, or a word that stands for itself.
func (w *wire) ask(request string) string {
	w.t.Helper()
	w.n++
	id := fmt.Sprint("r", w.n)
	words := strings.Fields(request)
	fields := record{"type": words[0], "id": id}
	for _, f := range words[1:] {
		name, value, _ := strings.Cut(f, ":")
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = strings.ReplaceAll(value, "_", " ")
		}
		fields[name] = v
	}
	return w.request(fields)
}

func (w *wire) request(fields record) string {
	b, err := json.Marshal(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(string(b))
	return fields["id"].(string)
}

// reply waits for the answer to a request.
func (w *wire) reply(id string) record {
	w.t.Helper()
	return w.await("the answer to "+id, func(r record) bool { return r["type"] == "response" && r["id"] == id })
}

// call sends a request and answers the data of its answer.
func (w *wire) call(request string) any {
	w.t.Helper()
	r := w.reply(w.ask(request))
	if r["success"] != true {
		w.t.Fatalf("%s: %v", request, r)
	}
	return r["data"]
}

// refused sends a request that must fail, and answers the message of the error with the code.
func (w *wire) refused(request, code string) string {
	w.t.Helper()
	r := w.reply(w.ask(request))
	e, _ := r["error"].(record)
	if r["success"] != false || e["code"] != code || e["message"] == "" || r["data"] != nil {
		w.t.Fatalf("%s: %v, want the code %s", request, r, code)
	}
	return e["message"].(string)
}

// event waits for the nth record of a type.
func (w *wire) event(kind string, n int) record {
	w.t.Helper()
	return w.await(fmt.Sprint(n, " ", kind), func(r record) bool {
		if r["type"] == kind {
			n--
		}
		return n == 0
	})
}

// end closes standard input and waits for the end.
func (w *wire) end() error {
	w.t.Helper()
	w.in.eof()
	return w.wait()
}

func (w *wire) wait() error {
	w.t.Helper()
	select {
	case err := <-w.ended:
		return err
	case <-time.After(patience):
		w.t.Fatalf("it did not end; so far:\n%.5000s", w.String())
		return nil
	}
}

// compact is a value as JSON with its keys in order.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
