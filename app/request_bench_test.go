package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"octavo/app/api"
)

// shortAnswers are the shortest streams that are an answer, by wire.
var shortAnswers = map[string]string{
	"openai-chat": `data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	"openai-responses": `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[` +
		`{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}]}}` + "\n\n",
	"anthropic-messages": `data: {"type":"message_start","message":{"id":"m"}}` + "\n\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
}

// listener is a model server that says when a request begins to arrive. Unlike the scripted one it takes no request apart, which for a
// long one takes as long as building it.
type listener struct {
	*httptest.Server
	arrived chan time.Time
	size    int64 // of the newest request's body, in bytes
}

func newListener(b *testing.B, wire string) *listener {
	l := &listener{arrived: make(chan time.Time, 1)}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		l.size, _ = io.Copy(io.Discard, r.Body)
		l.arrived <- at
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, shortAnswers[wire])
	}))
	b.Cleanup(l.Close)
	return l
}

// BenchmarkRequest10k is what passes between a person's prompt in a session of 10,000 entries and the beginning of its request at the
// model's server: storing the prompt, the conversation made of its entries, the request written for its wire. cold reads the entries
// from the store, as after every start; warm has them in memory.
func BenchmarkRequest10k(b *testing.B) {
	const entries = 10_000
	for _, wire := range []string{"openai-chat", "openai-responses", "anthropic-messages"} {
		for _, state := range []string{"cold", "warm"} {
			b.Run(wire+"/"+state, func(b *testing.B) {
				d, l := newDesk(b), newListener(b, wire)
				d.head = fmt.Sprintf("[providers.bench]\nwire = %q\nendpoint = %q\nno_auth = true\n[providers.bench.models.big]\n", wire, l.URL+"/v1")
				longHistory(b, d, entries)
				a := d.start()
				open := func() api.Session { return d.open(a, api.OpenRequest{ID: "long", Model: "bench/big"}) }
				s := open()
				if got := d.say(s, "look again"); got.Outcome != api.SettledCompleted {
					b.Fatalf("%+v", got)
				}
				<-l.arrived
				var took time.Duration
				for b.Loop() {
					b.StopTimer()
					if state == "cold" {
						d.close(s)
						s = open()
					}
					b.StartTimer()
					begun := time.Now()
					d.say(s, "look again")
					took += (<-l.arrived).Sub(begun)
				}
				b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/request")
				b.ReportMetric(float64(l.size), "B/request")
			})
		}
	}
}
