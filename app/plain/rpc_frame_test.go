package plain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"octavo/app/api"
	"octavo/app/plain"
)

// script drives octavo with a whole input and answers the records that are answers.
func script(t *testing.T, s api.Session, input string) []record {
	t.Helper()
	l := &listener{t: t, deadline: make(chan struct{})}
	err := plain.RPC(context.Background(), house{open: func(api.OpenRequest) (api.Session, error) { return nil, errors.New("there is no other") }}, s,
		api.OpenRequest{}, plain.Options{Stdin: strings.NewReader(input), Stdout: l})
	if err != nil {
		t.Error(err)
	}
	var answers []record
	for _, r := range l.all() {
		if r["type"] == "response" {
			answers = append(answers, r)
		}
	}
	return answers
}

// padded is a request of exactly n bytes.
func padded(id string, n int) string {
	head, tail := `{"type":"abort","id":"`+id+`","x":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func TestRPCFrames(t *testing.T) {
	const abort = `{"type":"abort","id":"after"}` + "\n"
	after := `"after":idle`
	long := strings.Repeat("y", 300)
	for _, c := range []struct{ name, input, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \t\r\n\r\n" + abort, after},
		{"CR LF", strings.TrimSuffix(abort, "\n") + "\r\n", after},
		{"spaces around", "  " + abort, after},
		{"not UTF-8", "{\"type\":\"abort\",\"x\":\"\xff\"}\n" + abort, "invalid_frame " + after},
		{"not JSON", "abort\n{\n}\n{\"type\":\"abort\",}\n" + abort, "invalid_json invalid_json invalid_json invalid_json " + after},
		{"two objects", `{"type":"abort"} {"type":"abort"}` + "\n" + abort, "invalid_json " + after},
		{"byte order mark", "\ufeff" + abort + abort, "invalid_json " + after},
		{"deep", strings.Repeat("[", 20_000) + "\n" + abort, "invalid_json " + after},
		{"no object", "[]\n5\n\"abort\"\nnull\ntrue\n" + abort, strings.Repeat("invalid_request ", 5) + after},
		{"no type", `{}` + "\n" + `{"id":1}` + "\n" + `{"Type":"abort"}` + "\n", `invalid_request 1:invalid_request invalid_request`},
		{"type is no text", `{"type":5,"id":1}` + "\n" + `{"type":null}` + "\n", "1:invalid_request invalid_request"},
		{"ids", `{"type":"abort","id":1e3}` + "\n" + `{"type":"abort","id":-1.50}` + "\n" + `{"type":"abort","id":"é\u0000<"}` + "\n" + `{"type":"abort","id":null}` + "\n",
			`1e3:idle -1.50:idle "é\u0000<":idle idle`},
		{"no ids", `{"type":"abort","id":[1]}` + "\n" + `{"type":"abort","id":{}}` + "\n" + `{"type":"abort","id":true}` + "\n", "invalid_request invalid_request invalid_request"},
		{"id at the bound", `{"type":"abort","id":"` + long[:254] + `"}` + "\n", `"` + long[:254] + `":idle`},
		{"id over the bound", `{"type":"abort","id":"` + long[:255] + `"}` + "\n", `invalid_request`},
		{"unknown", `{"type":"` + long + `","id":7}` + "\n", "7:unknown_command"},
		{"cut off", abort + `{"type":"abort"}`, after + " invalid_frame"},
		{"cut off blank", abort + " ", after},
		{"at the bound", padded("p", plain.MaxFrame) + "\n" + padded("q", plain.MaxFrame) + "\r\n" + abort, `"p":idle "q":idle ` + after},
		{"over the bound", padded("p", plain.MaxFrame+1) + "\n" + padded("q", plain.MaxFrame+1) + "\r\n" + abort, "invalid_frame invalid_frame " + after},
		{"far over the bound", strings.Repeat("x", 3*plain.MaxFrame) + "\n" + abort, "invalid_frame " + after},
		{"over the bound and cut off", abort + strings.Repeat("x", plain.MaxFrame+3), after + " invalid_frame"},
	} {
		if got := strings.Join(rawAnswers(t, c.input), " "); got != c.want {
			t.Errorf("%s: %.300s, want %s", c.name, got, c.want)
		}
	}
}

// rawAnswers is the id, as it was written, and the code of each answer.
func rawAnswers(t *testing.T, input string) (out []string) {
	t.Helper()
	var b bytes.Buffer
	if err := plain.RPC(context.Background(), house{}, newStage(t), api.OpenRequest{}, plain.Options{Stdin: strings.NewReader(input), Stdout: &b}); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(b.String()) {
		var r struct {
			Type, Command string
			ID            json.RawMessage
			Error         struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Type != "response" {
			continue
		}
		if len(line) > 1000 {
			t.Errorf("an answer repeats what it should not: %.200s", line)
		}
		s := r.Error.Code
		if r.ID != nil {
			s = string(r.ID) + ":" + s
		}
		out = append(out, s)
	}
	return out
}

// A line that is too long is passed over without being kept.
func TestRPCLongLineIsNotKept(t *testing.T) {
	const size = 256 << 20
	in := io.MultiReader(io.LimitReader(endless{}, size), strings.NewReader("\n"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var b bytes.Buffer
	if err := plain.RPC(context.Background(), house{}, newStage(t), api.OpenRequest{}, plain.Options{Stdin: in, Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*plain.MaxFrame {
		t.Errorf("%d bytes were allocated", used)
	}
	if strings.Count(b.String(), "invalid_frame") != 1 {
		t.Errorf("%.500s", b.String())
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestRPCInputFails(t *testing.T) {
	s := newStage(t)
	var b bytes.Buffer
	err := plain.RPC(context.Background(), house{}, s, api.OpenRequest{}, plain.Options{Stdin: io.MultiReader(strings.NewReader("{}\n"), broken{}), Stdout: &b})
	if err == nil || err.Error() != "read stdin: the line was cut" || !strings.Contains(b.String(), `{"type":"error","error":"read stdin: the line was cut"}`) || !s.closed {
		t.Errorf("%v, %s", err, &b)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the line was cut") }

// octavo lets go of a pipe that stays open when it ends for another reason.
func TestRPCLetsGoOfItsInput(t *testing.T) {
	in, client, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	l := &listener{t: t, deadline: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		ended <- plain.RPC(ctx, house{}, newStage(t), api.OpenRequest{}, plain.Options{Stdin: in, Stdout: l})
	}()
	l.await("the session", func(r record) bool { return r["type"] == "session" })
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it sits in its input")
	}
}

// No line is longer than the bound: long histories come in pages, and a long text is cut and says so.
func TestRPCPages(t *testing.T) {
	s := newStage(t)
	const big, controls = 600 << 10, 800_000
	text := func(kind api.EntryKind, s string) api.Entry {
		return api.Entry{Kind: kind, Parts: []api.Part{{Type: api.PartText, Text: s}}}
	}
	s.locked(func() {
		for i := range 10 {
			s.store(text(api.EntryUser, fmt.Sprint(i, strings.Repeat("a", big))))
		}
		s.store(text(api.EntryAssistant, strings.Repeat("\x01", controls))) // six bytes each in JSON
		for range 70 {
			s.store(text(api.EntryUser, "small"))
			s.store(api.Entry{Kind: api.EntrySettled, Settled: &api.Settled{Outcome: api.SettledCompleted}})
		}
	})
	w := dial(t, house{}, s)
	for _, c := range []struct {
		list string
		want int
	}{{"messages", 81}, {"entries", 151}} {
		next, pages, got, cut := 0.0, 0, 0, 0
		for more := true; more; pages++ {
			d := w.call(fmt.Sprintf("get_%s since:%v", c.list, next)).(record)
			list := d[c.list].([]any)
			for _, x := range list {
				r := x.(record)
				if r["entry"].(float64) <= next {
					t.Errorf("entry %v comes again", r["entry"])
				}
				if r["truncated"] == true {
					cut++
				}
			}
			got, next, more = got+len(list), d["next"].(float64), d["more"].(bool)
			if pages > 20 {
				t.Fatal("it never ends")
			}
		}
		if got != c.want || cut != 1 || pages < 3 || next != 151 {
			t.Errorf("%s: %d in %d pages up to %v, %d cut", c.list, got, pages, next, cut)
		}
	}
	if n := len(w.call("get_messages since:11").(record)["messages"].([]any)); n != 70 {
		t.Errorf("%d messages", n)
	}
	// An event is cut, too, and so is an answer.
	s.locked(func() { s.store(text(api.EntryUser, strings.Repeat("\x02", controls))) })
	if r := w.event("message_end", 1); r["truncated"] != true {
		t.Error("an event that was cut does not say so")
	}
	s.scripts = []func(*turn){blocked}
	w.call("prompt message:go")
	for range 5 {
		w.request(record{"type": "steer", "id": fmt.Sprint("q", 1), "message": strings.Repeat("b", api.MaxInput)})
	}
	w.await("a full queue", func(r record) bool {
		return r["type"] == "queue_update" && r["truncated"] == true && len(r["steering"].([]any)) == 5
	})
	w.ask("get_state")
	if r := w.reply("r" + fmt.Sprint(w.n)); r["truncated"] != true || r["success"] != true || r["data"].(record)["pendingMessageCount"] != 5.0 {
		t.Errorf("%.300v", r)
	}
	w.reply(w.request(record{"type": "steer", "id": "long", "message": strings.Repeat("b", api.MaxInput+1)}))
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be made to fit is not sent.
func TestRPCAnswerThatDoesNotFit(t *testing.T) {
	models := make([]api.ModelInfo, 60_000)
	for i := range models {
		models[i].ID = fmt.Sprint("lab/model-", i)
	}
	w := dial(t, house{models: models}, newStage(t))
	if why := w.refused("get_available_models", "failed"); !strings.Contains(why, "4194304") {
		t.Error(why)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

// Whatever a client writes, each line that is not blank has one answer and nothing breaks.
func FuzzRPC(f *testing.F) {
	f.Add([]byte("{\"type\":\"get_state\"}\n{\"type\":\"prompt\",\"message\":\"hi\"}\n"))
	f.Add([]byte("{\"type\":\"steer\",\"message\":\"\\ud800\",\"images\":[{\"data\":\"AAAA\"}],\"id\":1e99}\r\n\n{\"type\":"))
	f.Add([]byte("[{}]\n\xff\n{\"type\":\"bash\",\"command\":\"x\",\"excludeFromContext\":true}\n{\"type\":\"answer\",\"ask\":\"q\"}\n"))
	for _, name := range plain.Commands() {
		f.Add(fmt.Appendf(nil, `{"type":%q,"id":"x","message":"/help","command":"ls","mode":"all","enabled":true,"level":"low","model":"lab/small","sessionId":"0190-one","ask":"q","name":"n","since":1}`+"\n", name))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		want := 0
		for line := range bytes.Lines(input) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		if want > plain.MaxWaiting {
			t.Skip("some would be refused, which is tested elsewhere")
		}
		s := newStage(t)
		if got := len(script(t, s, string(input))); got != want {
			t.Errorf("%d answers to %d lines", got, want)
		}
		_ = s.Close(context.Background())
	})
}
