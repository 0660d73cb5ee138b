package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/builtin/claude"
	"octavo/ext/builtin/openai"
	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
	"octavo/sessionstore"
)

var updateFaults = flag.Bool("update", false, "write testdata/faults.golden anew")

// faultWires are the wires that every fault is met on.
var faultWires = []wiretest.Adapter{
	{New: openai.New, Name: openai.Wire, Wire: modeltest.WireChat},
	{New: openai.New, Name: openai.ResponsesWire, Wire: modeltest.WireResponses},
	{New: claude.New, Name: claude.Wire, Wire: modeltest.WireMessages},
}

// fault is something that goes wrong between octavo and a provider.
type fault struct {
	name    string
	replies func(w modeltest.Wire) []modeltest.Reply
	void    string // what was said before it went wrong; it must not be in what stays
}

// always is a fault that looks the same on every wire.
func always(replies ...modeltest.Reply) func(modeltest.Wire) []modeltest.Reply {
	return func(modeltest.Wire) []modeltest.Reply { return replies }
}

// refusal is an error in the words that a wire has for it.
type refusal map[modeltest.Wire]string

func (r refusal) with(status int) func(modeltest.Wire) []modeltest.Reply {
	return func(w modeltest.Wire) []modeltest.Reply { return []modeltest.Reply{modeltest.Status(status, r[w])} }
}

// answered is what a request gets once the fault is over.
func answered() modeltest.Reply {
	return modeltest.Say("All is well.").Usage(modeltest.Tokens{Prompt: 100, Cached: 60, Written: 10, Completion: 5})
}

// half is an answer of which only the beginning comes.
const half = "This was said too early"

// at is a reply that begins with half and goes wrong once all of it was sent.
func at(w modeltest.Wire, wrong func(modeltest.Reply, int) modeltest.Reply) modeltest.Reply {
	events := map[modeltest.Wire]int{modeltest.WireChat: 2, modeltest.WireResponses: 4, modeltest.WireMessages: 4}[w]
	return wrong(modeltest.Say(half+" and no more.").Chunk(len(half)).Usage(modeltest.Tokens{Prompt: 100, Completion: 5}), events)
}

// Retry-After as a date counts from the server's own Date, here of a clock that is years ahead.
var serverClock = time.Date(2051, 3, 1, 12, 0, 0, 0, time.UTC)

func dated(status int, after time.Duration) modeltest.Reply {
	return modeltest.Status(status, `{"error":{"message":"come back later"}}`, "Date", serverClock.Format(http.TimeFormat),
		"Retry-After", serverClock.Add(after).Format(http.TimeFormat))
}

func faults() []fault {
	slow := `{"error":{"type":"rate_limit_error","message":"slow down"}}`
	crowded := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	return []fault{
		{"429 with Retry-After: 1, then an answer", always(modeltest.Status(429, slow, "Retry-After", "1"), answered()), ""},
		{"429 with Retry-After: 3600", always(modeltest.Status(429, slow, "Retry-After", "3600")), ""},
		{"429 again and again, a thousandth of a second to wait each time",
			always(slices.Repeat([]modeltest.Reply{modeltest.Status(429, slow, "Retry-After-Ms", "1")}, model.MaxAttempts)...), ""},
		{"429 because the money is used up", refusal{
			modeltest.WireChat:      `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`,
			modeltest.WireResponses: `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`,
			modeltest.WireMessages:  `{"type":"error","error":{"type":"billing_error","message":"Your credit balance is too low."}}`,
		}.with(429), ""},
		{"500", always(modeltest.Status(500, `{"error":{"type":"api_error","message":"Internal server error"}}`)), ""},
		{"529, then an answer", always(modeltest.Status(529, crowded), answered()), ""},
		{"529 with Retry-After: 120", always(modeltest.Status(529, crowded, "Retry-After", "120")), ""},
		{"overloaded in mid-stream, then an answer", func(w modeltest.Wire) []modeltest.Reply {
			return []modeltest.Reply{overloaded(w), answered()}
		}, half},
		{"cut before the answer, then an answer", always(modeltest.Hangup(), answered()), ""},
		{"cut in mid-stream, then an answer", func(w modeltest.Wire) []modeltest.Reply {
			return []modeltest.Reply{at(w, modeltest.Reply.Cut), answered()}
		}, half},
		{"a web page instead of a stream", always(modeltest.Raw("<html><title>Welcome</title></html>").Header("Content-Type", "text/html; charset=utf-8")), ""},
		{"one JSON document instead of a stream", always(modeltest.Raw(`{"id":"x","object":"chat.completion"}`).Header("Content-Type", "application/json")), ""},
		{"a picture instead of a stream", always(modeltest.Raw("\x89PNG\r\n").Header("Content-Type", "image/png")), ""},
		{"a line of 10 MB", always(modeltest.Raw("data: {\"x\":\"" + strings.Repeat("x", 10<<20) + "\"}\n\n")), ""},
		{"a line that is no JSON", always(modeltest.Raw("data: {\"type\":[{\n\n")), ""},
		{"invalid JSON in arguments, then an answer", always(modeltest.Calls(modeltest.Call("bash", `{"command":"touch ran`)).
			Usage(modeltest.Tokens{Prompt: 90, Written: 80, Completion: 9}), answered()), ""},
		{"context overflow", refusal{
			modeltest.WireChat:      `{"error":{"message":"This model's maximum context length is 8192 tokens. Your messages have 9000.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
			modeltest.WireResponses: `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
			modeltest.WireMessages:  `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8192 maximum"}}`,
		}.with(400), ""},
		{"an expired key", refusal{
			modeltest.WireChat:      `{"error":{"message":"Incorrect API key provided: ` + wireKey + `.","type":"invalid_request_error","code":"invalid_api_key"}}`,
			modeltest.WireResponses: `{"error":{"message":"Incorrect API key provided: ` + wireKey + `.","type":"invalid_request_error","code":"invalid_api_key"}}`,
			modeltest.WireMessages:  `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
		}.with(401), ""},
		{"a clock that is years ahead asks for a time in its past, then an answer", always(dated(529, -time.Hour), answered()), ""},
		{"a clock that is years ahead asks for a time in 90 s", always(dated(429, 90*time.Second)), ""},
	}
}

// overloaded is an answer that breaks off with the wire's word for "not now".
func overloaded(w modeltest.Wire) modeltest.Reply {
	const why = `{"type":"overloaded_error","message":"Overloaded"}`
	switch w {
	case modeltest.WireResponses:
		return modeltest.Raw("event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n" +
			"data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
			"data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"" + half + "\"}\n\n" +
			"event: error\ndata: {\"type\":\"error\",\"error\":" + why + "}\n\n")
	case modeltest.WireMessages:
		return modeltest.Raw("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"" + half + "\"}}\n\n" +
			"event: error\ndata: {\"type\":\"error\",\"error\":" + why + "}\n\n")
	default:
		return modeltest.Raw("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + half + "\"}}]}\n\n" +
			"data: {\"error\":" + why + "}\n\n")
	}
}

// TestFaultsOnEveryWire meets every fault on every wire, as a person who waits for an answer and as a program that reads records, and
// holds what they are told to testdata/faults.golden, which is there to be read.
func TestFaultsOnEveryWire(t *testing.T) {
	chapters := make([][]string, len(faultWires)) // by wire, then by fault
	t.Run("wires", func(t *testing.T) {
		for i, w := range faultWires {
			t.Run(w.Name, func(t *testing.T) {
				t.Parallel() // much of it is waiting
				d := newDesk(t)
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				t.Cleanup(cancel)
				d.ctx = ctx
				d.speak(w.Name)
				for _, f := range faults() {
					chapters[i] = append(chapters[i], d.meet(f, w.Wire))
				}
				chapters[i] = append(chapters[i], d.stalled(w.Wire))
				for _, l := range lasting() {
					chapters[i] = append(chapters[i], l.outlast(t, w))
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	var names []string
	for _, f := range faults() {
		names = append(names, f.name)
	}
	names = append(names, stallName)
	for _, l := range lasting() {
		names = append(names, l.name)
	}
	book := faultsHead
	for n, name := range names {
		book += "\n" + name + "\n"
		var seen []string
		for i := range faultWires {
			told := chapters[i][n]
			if slices.Contains(seen, told) {
				continue
			}
			seen = append(seen, told)
			var same []string
			for j, w := range faultWires {
				if chapters[j][n] == told {
					same = append(same, w.Name)
				}
			}
			who := strings.Join(same, ", ")
			if len(same) == len(faultWires) {
				who = "every wire"
			}
			book += "  " + who + ": " + told
		}
	}
	const golden = "testdata/faults.golden"
	if *updateFaults {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(book), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(book, "\n")); diff != "" {
		t.Errorf("what a person is told has changed; look at it, then run go test ./cmd/octavo -run FaultsOnEveryWire -update (-golden +now):\n%s", diff)
	}
}

// faultsHead explains the golden file to its readers.
const faultsHead = `What octavo -p tells a person when something goes wrong between it and a model, on each wire.
Written by: go test ./cmd/octavo -run FaultsOnEveryWire -update

out and err are the lines of standard output and standard error; a request counts with the tokens that are known of it: in is fresh
input, from the cache, into the cache. WAIT is a time that chance lengthens a little. --mode json is held to the same in the test.
`

// meet runs octavo into a fault, and once more for a program, and says what came of it.
func (d *desk) meet(f fault, w modeltest.Wire) string {
	d.t.Helper()
	before := len(d.server.Requests())
	d.server.Script(f.replies(w)...)
	o := d.run("", "-p", "mend it")
	made := len(d.server.Requests()) - before
	s := d.newest()
	for _, out := range append([]string{o.stdout}, s.payloads...) {
		if f.void != "" && strings.Contains(out, f.void) {
			d.t.Errorf("%s: what was withdrawn is still there: %s", f.name, out)
		}
	}
	if all := o.stdout + o.stderr + strings.Join(s.payloads, "") + fmt.Sprintf("%+v", s.requests); strings.Contains(all, wireKey) {
		d.t.Errorf("%s: the key is shown or stored: %s", f.name, all)
	}
	if d.server.Left() != 0 || made != len(s.requests) {
		d.t.Errorf("%s: %d requests were made and %d are counted; %d replies are left", f.name, made, len(s.requests), d.server.Left())
	}
	if _, err := os.Stat(filepath.Join(d.repo, "ran")); err == nil {
		d.t.Errorf("%s: half a command was run", f.name)
	}
	d.server.Script(f.replies(w)...)
	d.sameAsRecords(f, o, s, d.run("", "--mode", "json", "mend it"))
	return d.tell(o, s.requests)
}

// tell is an outcome as the golden file has it.
func (d *desk) tell(o outcome, requests []sessionstore.Request) string {
	word := "requests"
	if len(requests) == 1 {
		word = "request"
	}
	told := fmt.Sprintf("exit %d after %d %s\n", o.code, len(requests), word)
	for _, stream := range []struct{ name, text string }{{"out", o.stdout}, {"err", o.stderr}} {
		for line := range strings.Lines(stream.text) {
			told += "    " + stream.name + "  " + d.placed(line)
		}
	}
	var counted []string
	for _, r := range requests {
		counted = append(counted, countedAs(r))
	}
	return told + "    counted: " + strings.Join(repeated(counted), "; ") + "\n"
}

var waits = regexp.MustCompile(`; again in [0-9.a-z]+`)

// placed is a line with placeholders for what differs from run to run.
func (d *desk) placed(line string) string {
	line = strings.ReplaceAll(line, strings.TrimSuffix(d.server.URL(), "/v1"), "http://SERVER")
	return waits.ReplaceAllString(line, "; again in WAIT")
}

func countedAs(r sessionstore.Request) string {
	what := r.Outcome
	if r.Status != 0 {
		what += fmt.Sprintf(" (HTTP %d)", r.Status)
	}
	n := func(c *int64) string {
		if c == nil {
			return "?"
		}
		return fmt.Sprint(*c)
	}
	return what + " " + n(r.Input) + "+" + n(r.CacheRead) + "+" + n(r.CacheWrite) + " in " + n(r.Output) + " out"
}

// repeated joins neighbours that are alike.
func repeated(list []string) []string {
	var out []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		if out = append(out, list[i]); n > 1 {
			out[len(out)-1] = fmt.Sprintf("%d times %s", n, list[i])
		}
		i += n
	}
	return out
}

// sameAsRecords holds what a program reads to what a person was told in o and the store kept in s.
func (d *desk) sameAsRecords(f fault, o outcome, s stored, json outcome) {
	d.t.Helper()
	if json.code != o.code {
		d.t.Errorf("%s: exit %d, and %d for a program", f.name, o.code, json.code)
	}
	var retries []string
	reason := ""
	withdrawn, settled, ended := 0, map[string]any{}, ""
	for _, r := range lines(d.t, json.stdout) {
		switch r["type"] {
		case "message_end":
			if r["withdrawn"] == true {
				withdrawn++
			} else if f.void != "" && strings.Contains(fmt.Sprint(r["message"]), f.void) {
				d.t.Errorf("%s: what was withdrawn is in a whole message: %v", f.name, r)
			}
		case "auto_retry_start":
			how := "failed alike"
			if why := fmt.Sprint(r["errorMessage"]); why != reason {
				how, reason = "failed: "+why, why
			}
			retries = append(retries, fmt.Sprintf("[retry] attempt %v of %v %s; again in WAIT\n", r["attempt"], r["maxAttempts"], how))
		case "auto_retry_end":
			ended = fmt.Sprint(r["success"])
		case "agent_settled":
			settled = r
		}
	}
	said := 0
	for _, r := range s.requests {
		if r.Outcome == sessionstore.OutcomeWithdrawn {
			said++
		}
	}
	if withdrawn != said {
		d.t.Errorf("%s: %d messages are withdrawn and %d requests counted so", f.name, withdrawn, said)
	}
	for _, line := range retries {
		if !strings.Contains(waits.ReplaceAllString(o.stderr, "; again in WAIT"), line) {
			d.t.Errorf("%s: the record %q is not what a person is told: %s", f.name, line, o.stderr)
		}
	}
	if want := strings.Count(o.stderr, "; again in "); len(retries) != want {
		d.t.Errorf("%s: a person hears of %d retries, a program of %d", f.name, want, len(retries))
	}
	if want := map[bool]string{true: fmt.Sprint(o.code == 0)}[len(retries) > 0]; ended != want {
		d.t.Errorf("%s: the end of the retries is told as %q, want %q", f.name, ended, want)
	}
	if why, failed := settled["error"]; failed && !strings.HasSuffix(o.stderr, fmt.Sprintf("Error: %v\n", why)) || failed != (o.code != 0) {
		d.t.Errorf("%s: settled as %v, and a person is told %s", f.name, settled, o.stderr)
	}
	if ms, known := settled["durationMs"].(float64); !known || ms < 0 {
		d.t.Errorf("%s: a duration of %v", f.name, settled["durationMs"])
	}
}

// newest is what the store holds of the session that was used last; requests stand in the order in which they were made.
func (d *desk) newest() (s stored) {
	d.t.Helper()
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home})
	if err != nil {
		d.t.Fatal(err)
	}
	defer store.Close()
	if s.row, err = store.Latest(d.ctx, ""); err != nil {
		d.t.Fatal(err)
	}
	err = store.EachEntry(d.ctx, s.row.ID, 0, func(e sessionstore.Entry) error {
		s.kinds = append(s.kinds, e.Kind)
		s.payloads = append(s.payloads, string(e.Payload))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if s.requests, err = store.Requests(d.ctx, s.row.ID, 0); err != nil {
		d.t.Fatal(err)
	}
	slices.Reverse(s.requests)
	return s
}

const stallName = "stalled in mid-stream, and the person presses ctrl+c (--mode json)"

// stalled waits until the beginning of an answer is there, and interrupts. Only records show a beginning while it comes, so it is
// octavo --mode json that is run.
func (d *desk) stalled(w modeltest.Wire) string {
	d.t.Helper()
	d.server.Script(at(w, modeltest.Reply.Stall))
	cmd := d.command("--mode", "json", "mend it")
	var out watched
	var errs bytes.Buffer
	out.want, out.seen = []byte(half), make(chan struct{})
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	select {
	case <-out.seen:
	case <-d.ctx.Done():
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		d.t.Error(err)
	}
	_ = cmd.Wait() // its exit code is looked at
	told := ""
	for _, r := range lines(d.t, out.String()) {
		switch m, _ := r["message"].(map[string]any); {
		case r["type"] == "message_end" && m["role"] == "assistant":
			b, err := json.Marshal([]any{m["content"], m["stopReason"]})
			if err != nil {
				d.t.Fatal(err)
			}
			told += string(b) + "\n"
		case r["type"] == "agent_settled":
			told += fmt.Sprint(r["outcome"], "\n")
		}
	}
	return d.tell(outcome{told, errs.String(), cmd.ProcessState.ExitCode()}, d.newest().requests)
}

// watched is an output that says when something has been written to it.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	want []byte
	seen chan struct{} // closed then
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := bytes.Contains(w.text.Bytes(), w.want)
	w.text.Write(p)
	if !before && bytes.Contains(w.text.Bytes(), w.want) {
		close(w.seen)
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// lastingFault does not pass. Through the program it would take half a minute to many minutes, so it is met below it: the wire's own
// adapter and model.Retry, whose waits are added up instead of waited for.
type lastingFault struct {
	name   string
	limits model.Limits
	reply  func(w modeltest.Wire) modeltest.Reply
}

func lasting() []lastingFault {
	const below = " (the wire alone; waits are added up)"
	idle := 50 * time.Millisecond
	return []lastingFault{
		{"stalled in mid-stream for good, with an idle limit of 50ms instead of 2m" + below, model.Limits{Idle: idle},
			func(w modeltest.Wire) modeltest.Reply { return at(w, modeltest.Reply.Stall) }},
		{"no answer at all, with a limit of 50ms instead of 5m for its beginning" + below, model.Limits{First: idle},
			func(modeltest.Wire) modeltest.Reply { return modeltest.Stall(0) }},
		{"cut in mid-stream for good" + below, model.Limits{}, func(w modeltest.Wire) modeltest.Reply { return at(w, modeltest.Reply.Cut) }},
		{"529 for good" + below, model.Limits{}, func(modeltest.Wire) modeltest.Reply {
			return modeltest.Status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
		}},
	}
}

// outlast asks until model.Retry gives up.
func (l lastingFault) outlast(t *testing.T, w wiretest.Adapter) string {
	t.Helper()
	server := modeltest.New(t)
	server.Load(modeltest.Script{{Reply: l.reply(w.Wire), Loop: true}}, false)
	client := model.NewClient(l.limits)
	defer client.Close()
	up := w.Resolve(t, client, ext.Profile{Name: "local", Endpoint: server.URL()}, "scripted")
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		_, err := up.Stream(t.Context(), wiretest.Hello(), func(model.Event) error { return nil })
		var e *model.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", l.name, err)
		}
		delay, again := model.Retry{}.Next(attempt, err)
		waited += delay
		if !again {
			if got := len(server.Requests()); got != attempt {
				t.Errorf("%s: %d requests in %d attempts", l.name, got, attempt)
			}
			return fmt.Sprintf("given up after %d requests and %s of waiting between them\n    error  %v\n", attempt, waited, err)
		}
	}
}

// TestClockSetBack: what was stored while the clock was a day ahead stays in order when it is right again, and no time becomes negative.
func TestClockSetBack(t *testing.T) {
	d := newDesk(t, modeltest.Say("Went on."), modeltest.Say("Anew.")).connect()
	d.env = []string{"TZ=UTC"}
	ahead := time.Now().UTC().Add(24 * time.Hour).Truncate(time.Millisecond)
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home, Now: func() time.Time { return ahead }})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.CreateSession(d.ctx, sessionstore.Session{ID: "ahead", Workspace: d.repo, Model: "local/scripted", Created: ahead}); err != nil {
		t.Fatal(err)
	}
	count := model.Count(10)
	if _, err := store.Commit(d.ctx, "ahead", sessionstore.TurnSettled, sessionstore.Change{
		Append: []sessionstore.NewEntry{
			{Kind: "user", Turn: "t", Payload: []byte(`{"parts":[{"type":"text","text":"begin"}],"origin":"chat"}`)},
			{Kind: "assistant", Turn: "t", Payload: []byte(`{"parts":[{"type":"text","text":"Begun."}],"model":"local/scripted","finish":"complete"}`)},
			{Kind: "settled", Turn: "t", Payload: []byte(`{"settled":{"outcome":"completed","duration_ns":5,"steps":1}}`)},
		},
		Requests: []sessionstore.Request{{ID: "r", Turn: "t", Kind: sessionstore.RequestTurn, Provider: "local", Model: "scripted", Endpoint: d.server.URL(),
			Started: ahead, Finished: ahead.Add(time.Second), Outcome: sessionstore.OutcomeOK, Input: count, Output: count}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	out := d.ok("", "--mode", "json", "--resume", "ahead", "go on")
	for _, r := range lines(t, out) {
		if ms, told := r["durationMs"].(float64); told && (ms < 0 || ms > 3600_000) {
			t.Errorf("a duration of %v ms: %v", ms, r)
		}
	}
	if !strings.Contains(out, "Went on.") || len(d.server.Requests()[0].Chat.Messages) != 4 {
		t.Errorf("the conversation goes on with all of it: %s", d.server.Requests()[0].Body)
	}
	d.ok("", "-p", "--name", "right", "anew")

	if store, err = sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	entries, err := store.Entries(d.ctx, "ahead", sessionstore.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i, e := range entries {
		if kinds = append(kinds, e.Kind); e.Seq != int64(i+1) || e.Time.Before(ahead) {
			t.Errorf("entry %d is numbered %d, at %s: earlier than what stands before it", i+1, e.Seq, e.Time)
		}
	}
	if diff := cmp.Diff([]string{"user", "assistant", "settled", "user", "assistant", "settled"}, kinds); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	requests, err := store.Requests(d.ctx, "ahead", 0)
	if err != nil || len(requests) != 2 {
		t.Fatalf("requests %v, %v", requests, err)
	}
	for _, r := range requests {
		if r.Finished.Before(r.Started) {
			t.Errorf("a request ends at %s and begins at %s", r.Finished, r.Started)
		}
	}
	rows := lines(t, d.ok("", "sessions", "list", "--json"))
	if len(rows) != 2 || rows[0]["id"] != "ahead" || rows[1]["name"] != "right" {
		t.Errorf("sessions %v", rows)
	}
	if o := d.run("", "usage", "--all", "--by", "day"); o.code != 0 || !strings.Contains(o.stdout, ahead.Format(time.DateOnly)) || usageRows(t, o.stdout, "All time, by day")["total"][0] != "3" {
		t.Errorf("usage %+v", o)
	}
}
