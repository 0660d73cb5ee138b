package plain

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"octavo/app/api"
)

// flushed sends records and answers the lines that were written.
func flushed(t *testing.T, records ...any) []string {
	t.Helper()
	var b bytes.Buffer
	o := newOutlet(&b)
	s := newSender(o)
	for _, r := range records {
		if !s.put(r) {
			t.Fatal("a record was not sent")
		}
	}
	for !s.empty() {
		s.wrote(<-s.done())
	}
	o.close()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// A line of MaxFrame bytes is sent as it is; of one that is a byte longer the text is cut.
func TestSenderBound(t *testing.T) {
	around := len(flushed(t, noticeRecord{Type: recNotice, Text: ""})[0])
	for _, over := range []int{0, 1} {
		line := flushed(t, noticeRecord{Type: recNotice, Text: strings.Repeat("x", MaxFrame-around+over)})[0]
		if cut := strings.Contains(line, `"truncated":true`); cut != (over > 0) || len(line) > MaxFrame {
			t.Errorf("%d over: %d bytes, cut %v", over, len(line), cut)
		}
	}
}

// Whatever an object holds, it is made to fit with its short texts and its numbers as they were, or not sent.
func FuzzShrink(f *testing.F) {
	f.Add(`{"type":"x","n":12345678901234567890,"list":["`+strings.Repeat("long ", 4000)+`"]}`, 4096)
	f.Add(`{"a":"`+strings.Repeat(`\u0001`, 3000)+`"}`, 8192)
	f.Add(`{"a":[`+strings.Repeat(`1,`, 9000)+`1]}`, 4096)
	f.Fuzz(func(t *testing.T, line string, limit int) {
		limit = min(max(limit, 8*maxRequestID), 1<<20)
		var before map[string]any
		if json.Unmarshal([]byte(line), &before) != nil || before == nil {
			t.Skip("no object")
		}
		cut := shrink([]byte(line), limit)
		if cut == nil {
			return
		}
		var after map[string]any
		if err := json.Unmarshal(cut, &after); err != nil || len(cut) > limit || after["truncated"] != true {
			t.Fatalf("%v: %d bytes, %.200s", err, len(cut), cut)
		}
		for name, v := range before {
			if s, ok := v.(string); ok && len(s) <= maxRequestID && name != "truncated" && after[name] != s {
				t.Errorf("%q became %q", s, after[name])
			}
			if n, ok := v.(float64); ok && name != "truncated" && after[name] != n {
				t.Errorf("%v became %v", n, after[name])
			}
		}
	})
}

// halted is an output that nobody reads until it is let go.
type halted struct {
	gate  chan struct{}
	lines int
}

func (h *halted) Write(p []byte) (int, error) {
	<-h.gate
	h.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// While a client reads nothing, no more of it is read than the bound says, and all of it is answered later.
func TestRPCUnreadBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30_000
		in := strings.NewReader(strings.Repeat(`{"type":"fly","id":"`+strings.Repeat("0", maxRequestID-2)+`"}`+"\n", n))
		h := &halted{gate: make(chan struct{})}
		o := newOutlet(h)
		defer o.close()
		v := &service{out: newSender(o), frames: readFrames(in), settled: true, closed: true, o: Options{}.withDefaults()}
		v.input = v.frames.frames
		v.outer, v.giveUp = t.Context(), func() {}
		v.abort = v.giveUp
		ended := make(chan struct{})
		go func() {
			v.run(t.Context())
			close(ended)
		}()
		synctest.Wait()
		if len(v.out.buf) < maxUnread || len(v.out.buf) > maxUnread+1000 || in.Len() == 0 {
			t.Errorf("%d bytes wait, %d are not read", len(v.out.buf), in.Len())
		}
		close(h.gate)
		<-ended
		if h.lines != n || in.Len() != 0 {
			t.Errorf("%d answers, %d bytes not read", h.lines, in.Len())
		}
	})
}

func BenchmarkRPCDelta(b *testing.B) {
	s := &api.State{Turn: &api.TurnState{TurnInfo: api.TurnInfo{ID: "t", Step: 1}}}
	e, _ := newEncoder(s)
	o := newOutlet(io.Discard)
	defer o.close()
	out := newSender(o)
	ev := api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaText, Text: "some words of the answer, "}}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range e.event(ev) {
			out.put(r)
		}
		if !out.empty() {
			out.wrote(<-out.done())
		}
	}
	for !out.empty() {
		out.wrote(<-out.done())
	}
}
