package app_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octavo/app"
	"octavo/app/api"
	"octavo/app/plain"
	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

// longHistory stores a session named "long" with n entries as work on code leaves them: prompts, answers with calls, results with
// a screen of output each, and the usage of every request.
func longHistory(b *testing.B, d *desk, n int) {
	b.Helper()
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.CreateSession(d.ctx, sessionstore.Session{ID: "long", Name: "long", Workspace: d.workspace, Model: "local/scripted"}); err != nil {
		b.Fatal(err)
	}
	output := strings.Repeat(`  42 | func (s *Store) Entries(ctx context.Context, session string, r Range) ([]Entry, error) {\n`, 20)
	const prompt = `{"parts":[{"type":"text","text":"The test of the parser fails on empty input. Find out why, mend it, and add a case for it."}],"origin":"chat"}`
	kinds := []struct{ kind, payload string }{
		{"user", prompt},
		{"assistant", `{"parts":[{"type":"text","text":"I look at the parser first."},{"type":"tool_call","call":{"id":"c","name":"read","arguments":"{\"path\":\"parser/parse.go\"}"}}],"model":"local/scripted","finish":"tool_calls"}`},
		{"call", `{"call":{"id":"c","name":"read","arguments":"{\"path\":\"parser/parse.go\"}"},"title":"read parser/parse.go"}`},
		{"result", `{"parts":[{"type":"text","text":"` + output + `"}],"call":{"id":"c","name":"read","arguments":"{\"path\":\"parser/parse.go\"}"},"title":"read parser/parse.go","outcome":"ok","duration_ns":1200000}`},
		{"assistant", `{"parts":[{"type":"text","text":"` + strings.Repeat("The loop reads one byte beyond the end. ", 12) + `"}],"model":"local/scripted","finish":"complete"}`},
		{"settled", `{"settled":{"outcome":"completed","duration_ns":8000000000,"steps":2}}`},
	}
	count := int64(1000)
	for at := 0; at < n; {
		var c sessionstore.Change
		for len(c.Append) < sessionstore.MaxAppend-6 && at < n {
			for i, k := range kinds {
				turn := fmt.Sprint("turn-", at/len(kinds))
				c.Append = append(c.Append, sessionstore.NewEntry{Kind: k.kind, Turn: turn, Payload: []byte(k.payload)})
				if k.kind == "assistant" && len(c.Requests) < sessionstore.MaxRequests {
					now := time.Now()
					c.Requests = append(c.Requests, sessionstore.Request{ID: fmt.Sprintf("r-%d-%d", at, i), Turn: turn, Kind: sessionstore.RequestTurn, Provider: "local", Model: "scripted",
						Endpoint: "http://127.0.0.1", Started: now, Finished: now, Outcome: sessionstore.OutcomeOK, Input: &count, CacheRead: &count, CacheWrite: &count, Output: &count})
				}
			}
			at += len(kinds)
		}
		if _, err := store.Commit(d.ctx, "long", sessionstore.TurnSettled, c); err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

// benchmarkOpen is what a person waits for when they resume a long session: until the first State is there.
func benchmarkOpen(b *testing.B, entries int) {
	d := newDesk(b)
	longHistory(b, d, entries)
	open := func(a *app.App) api.Session {
		s := d.open(a, api.OpenRequest{ID: "long"})
		if i := d.info(s); int(i.Entries) < entries {
			b.Fatalf("%d entries", i.Entries)
		}
		return s
	}
	b.Run("session", func(b *testing.B) {
		a := d.start()
		for b.Loop() {
			s := open(a)
			b.StopTimer()
			d.close(s)
			b.StartTimer()
		}
	})
	b.Run("home+session", func(b *testing.B) {
		o := app.Options{Settings: d.settings(), Dir: d.workspace}
		for b.Loop() {
			a, err := app.New(d.ctx, o)
			if err != nil {
				b.Fatal(err)
			}
			open(a)
			b.StopTimer()
			d.end(a)
			b.StartTimer()
		}
	})
}

func BenchmarkOpenSession10k(b *testing.B)  { benchmarkOpen(b, 10_000) }
func BenchmarkOpenSession100k(b *testing.B) { benchmarkOpen(b, 100_000) }

// BenchmarkToolRound is one round of a turn: a request to the model, the trivial tool call that it answers, and the result in the
// store. Everything is real but the model's thinking.
func BenchmarkToolRound(b *testing.B) {
	const rounds = 10
	d := newDesk(b)
	d.head = "model = 'local/scripted'"
	d.write(filepath.Join(d.workspace, "small.txt"), "one line\n")
	d.server.Load(modeltest.Script{{Loop: true, Reply: modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		results := 0
		for _, m := range r.Chat.Messages {
			if m.Role == "tool" {
				results++
			}
		}
		if results == rounds {
			return modeltest.Say("done")
		}
		return modeltest.Calls(modeltest.Call("read", `{"path":"small.txt"}`))
	})}}, false)
	a := d.start()
	var took time.Duration
	turns := 0
	for b.Loop() {
		b.StopTimer()
		s := d.open(a, api.OpenRequest{})
		ctx, cancel := context.WithCancel(d.ctx)
		stream, err := s.Attach(ctx, false)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := s.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: "look"}); err != nil {
			b.Fatal(err)
		}
		results, first := 0, time.Now()
		for e := range stream.Events {
			if e.Entry != nil && e.Entry.Kind == api.EntryResult {
				if results++; e.Entry.Result.Outcome != api.ResultOK {
					b.Fatalf("result %+v", e.Entry)
				}
			}
			if results == rounds {
				break
			}
		}
		took += time.Since(first)
		turns++
		b.StopTimer()
		cancel()
		d.close(s)
		b.StartTimer()
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(turns*rounds), "ns/round")
}

// BenchmarkHeadlessPrompt is octavo -p without the start of a process: a home, a new session, one prompt, one answer, the end.
func BenchmarkHeadlessPrompt(b *testing.B) {
	d := newDesk(b)
	d.head = "model = 'local/scripted'"
	d.server.Load(modeltest.Script{{Loop: true, Reply: modeltest.Say("A short answer.")}}, false)
	o := app.Options{Settings: d.settings(), Dir: d.workspace}
	for b.Loop() {
		a, err := app.New(d.ctx, o)
		if err != nil {
			b.Fatal(err)
		}
		s := d.open(a, api.OpenRequest{})
		prompts := []api.Input{{Kind: api.InputChat, Text: "Say something short."}}
		if err := plain.Print(d.ctx, s, prompts, plain.Options{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
			b.Fatal(err)
		}
		d.end(a)
	}
}
