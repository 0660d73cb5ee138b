package plain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

// waits is a turn that ends when it is told to, or is interrupted.
func waits(end <-chan struct{}) func(*turn) {
	return func(t *turn) {
		t.step()
		t.text("working")
		select {
		case <-end:
			t.answer("worked")
			t.settle(api.SettledCompleted, "")
		case <-t.ctx.Done():
			t.settle(api.SettledInterrupted, "")
		}
	}
}

// blocked is a turn that only ends with an interrupt.
func blocked(t *turn) { waits(nil)(t) }

// The events of a run are those of JSON mode, between the answer to the prompt and nothing.
func TestRPCTellsATurnAsJSONDoes(t *testing.T) {
	var out screen
	if err := jsonRun(t, newStage(t, works), &out, "fix the test"); err != nil {
		t.Fatal(err)
	}
	w := dial(t, house{}, newStage(t, works))
	if got := compact(w.call("prompt message:fix_the_test")); got != `{"entry":1,"queued":false,"turnId":"turn-1"}` {
		t.Errorf("the prompt is answered with %s", got)
	}
	w.event("agent_settled", 1)
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, line := range w.raw {
		if i != 1 { // the answer
			got = append(got, line)
		}
	}
	if w.records[1]["type"] != "response" {
		t.Errorf("the answer is not what follows the session: %v", w.records[1])
	}
	joined := func(lines []string) string {
		var rs []record
		for _, l := range lines {
			rs = append(rs, parse(t, l))
		}
		return story(rs)
	}
	check(t, "records", joined(got), joined(strings.Split(strings.TrimSpace(out.String()), "\n")))
}

// TestRPCEveryCommand sends each command once, with what it answers.
func TestRPCEveryCommand(t *testing.T) {
	yes, no := true, false
	h := house{
		models: []api.ModelInfo{
			{ID: "lab/small", Name: "Small", Configured: true, Context: 1000, MaxOutput: 100, Reasons: &yes, Images: &no, Efforts: []string{"low", "high"},
				Price: &api.ModelCost{Input: 3_000_000, Output: 15_000_000, CacheRead: ptr(int64(300_000))}},
			{ID: "lab/big", Configured: true}, {ID: "lab/other"},
		},
		sessions: []api.SessionInfo{{ID: "0190-root", Name: "root"}, {ID: "0190-mid", Parent: "0190-root"}, {ID: "0190-aunt", Parent: "0190-root"},
			{ID: "0190-one"}, {ID: "0190-child", Parent: "0190-one", Created: noon, Updated: noon, Preview: "go"}, {ID: "0190-grandchild", Parent: "0190-child"}},
	}
	s := newStage(t, replies("Hello."), func(t *turn) {
		t.step()
		t.locked(func() { t.stage.retrying = func() { t.stage.retrying = nil; t.cancel() } })
		t.retry("down")
		t.blocks()
		t.settle(api.SettledFailed, "gave up")
	}, blocked, func(t *turn) {
		t.step()
		t.ask(api.Ask{ID: "q1", Kind: api.AskApproval, Title: "run ls", Options: []api.Option{{ID: "deny"}, {ID: "once"}}})
		t.answer("Done.")
		t.settle(api.SettledCompleted, "")
	})
	s.state.Info.Parent, s.state.Info.Effort = "0190-mid", "low"
	s.run = func(_ context.Context, line string) (api.Outcome, error) {
		return api.Outcome{Text: "ran " + line, Data: []byte(`{"a":1}`), Go: api.GoSession, Session: "0190-two", Receipt: &api.Receipt{Turn: "t9"}}, nil
	}
	shelled := make(chan struct{})
	s.shell = func(ctx context.Context, r api.ShellRequest, progress func(string)) api.ShellResult {
		if r.Command == "sleep" {
			close(shelled)
			<-ctx.Done()
			return api.ShellResult{Cancelled: true}
		}
		return api.ShellResult{Output: "a file", ExitCode: ptr(0)}
	}
	others := 0
	h.open = func(r api.OpenRequest) (api.Session, error) {
		others++
		next := newStage(t)
		next.state.Session = fmt.Sprint("0190-other", others)
		next.state.Info = api.SessionInfo{ID: next.state.Session, Model: r.Model, Effort: r.Effort, Workspace: "/work", Policy: "controlled", Name: "kept"}
		if r.ID != "" {
			next.state.Session, next.state.Info.ID = r.ID, r.ID
		}
		t.Cleanup(func() { _ = next.Close(context.Background()) })
		return next, nil
	}
	w := dial(t, h, s)
	tried := map[string]bool{}
	for _, c := range []struct{ request, want string }{
		{"get_last_assistant_text", `{"text":null}`},
		{"prompt message:hi", `{"entry":1,"queued":false,"turnId":"turn-1"}`},
		{"!agent_settled 1", ""},
		{"get_last_assistant_text", `{"text":"Hello."}`},
		{"get_messages limit:1", `{"messages":[{"content":[{"text":"hi","type":"text"}],"entry":1,"origin":"chat","role":"user","timestamp":1791460800000}],"more":true,"next":1}`},
		{"get_messages since:1", `{"messages":[{"content":[{"text":"Hello.","type":"text"}],"entry":2,"model":"lab/small","role":"assistant","stopReason":"stop","timestamp":1791460800000}],"more":false,"next":3}`},
		{"get_entries since:2", `{"entries":[{"durationMs":12000,"entry":3,"kind":"settled","outcome":"completed","steps":1,"timestamp":1791460800000,"turnId":"turn-1"}],"more":false,"next":3}`},
		{"bash command:ls excludeFromContext:true", `{"cancelled":false,"entry":4,"exitCode":0,"output":"a file","truncated":false}`},
		{"get_session_stats", `{"assistantMessages":1,"contextUsage":null,"cost":0.62,"requests":1,"sessionId":"0190-one","tokens":{"cacheRead":0,"cacheWrite":0,"input":100,"output":20,"reasoning":0,"total":120},"toolCalls":0,"toolResults":0,"totalMessages":3,"userMessages":1}`},
		{"get_tree", `{"sessionId":"0190-one","tree":[` +
			`{"created":"0001-01-01T00:00:00Z","entryCount":0,"sessionId":"0190-root","sessionName":"root","updated":"0001-01-01T00:00:00Z"},` +
			`{"created":"0001-01-01T00:00:00Z","entryCount":0,"parent":"0190-root","sessionId":"0190-mid","updated":"0001-01-01T00:00:00Z"},` +
			`{"created":"2026-10-08T12:00:00Z","entryCount":4,"parent":"0190-mid","sessionId":"0190-one","updated":"2026-10-08T12:00:00Z"},` +
			`{"created":"2026-10-08T12:00:00Z","entryCount":0,"parent":"0190-one","preview":"go","sessionId":"0190-child","updated":"2026-10-08T12:00:00Z"},` +
			`{"created":"0001-01-01T00:00:00Z","entryCount":0,"parent":"0190-child","sessionId":"0190-grandchild","updated":"0001-01-01T00:00:00Z"}]}`},
		{"get_available_thinking_levels", `{"levels":["low","high"]}`},
		{"set_thinking_level level:high", `{"level":"high"}`},
		{"cycle_thinking_level", `{"level":"low"}`},
		{"cycle_model", `{"isScoped":false,"model":{"configured":true,"cost":null,"id":"big","provider":"lab","scoped":false},"thinkingLevel":"low"}`},
		{"set_model provider:lab modelId:small", `{"configured":true,"contextWindow":1000,"cost":{"cacheRead":0.3,"cacheWrite":3,"input":3,"output":15},"id":"small","input":["text"],"maxTokens":100,"name":"Small","provider":"lab","reasoning":true,"scoped":false,"thinkingLevels":["low","high"]}`},
		{"set_model model:lab/unlisted", `{"configured":false,"cost":null,"id":"unlisted","provider":"lab","scoped":false}`},
		{"set_steering_mode mode:all", `{"autoRetryEnabled":true,"followUpMode":"one-at-a-time","steeringMode":"all"}`},
		{"set_follow_up_mode mode:all", `{"autoRetryEnabled":true,"followUpMode":"all","steeringMode":"all"}`},
		{"set_auto_retry enabled:false", `{"autoRetryEnabled":false,"followUpMode":"all","steeringMode":"all"}`},
		{"set_session_name name:my_work", "null"},
		{"prompt message:/help", `{"command":"/help","data":{"a":1},"go":"session","receipt":{"queued":false,"turnId":"t9"},"session":"0190-two","text":"ran /help"}`},
		{"steer message:again", `{"entry":5,"queued":false,"turnId":"turn-2"}`},
		{"!auto_retry_start 1", ""},
		{"abort_retry", "null"},
		{"!agent_settled 2", ""},
		{"follow_up message:wait", `{"entry":7,"queued":false,"turnId":"turn-3"}`},
		{"prompt message:and_then streamingBehavior:followUp", `{"queued":true,"turnId":"turn-3"}`},
		{"get_state", `{"asks":[],"autoCompactionEnabled":false,"autoRetryEnabled":false,"cwd":"/work","entryCount":7,"followUpMode":"all","isBashRunning":false,"isCompacting":false,"isStreaming":true,"messageCount":5,"model":{"configured":false,"cost":null,"id":"unlisted","provider":"lab","scoped":false},"parent":"0190-mid","pendingMessageCount":1,"policy":"controlled","queue":{"followUp":["and then"],"steering":[]},"sessionId":"0190-one","sessionName":"my work","steeringMode":"all","thinkingLevel":"low","turn":{"phase":"generating","step":1,"timestamp":1791460800000,"turnId":"turn-3"},"usage":{"cacheRead":0,"cacheWrite":0,"cost":0.62,"input":100,"output":20,"reasoning":0,"requests":1}}`},
		{"abort", "null"},
		{"!agent_settled 3", ""},
		{"prompt message:ask_me", `{"entry":9,"queued":false,"turnId":"turn-4"}`},
		{"!ask 1", ""},
		{"answer ask:q1 option:once", "null"},
		{"!agent_settled 4", ""},
		{"new_session", `{"cancelled":false,"sessionId":"0190-other1"}`},
		{"switch_session sessionId:0190-three", `{"cancelled":false,"sessionId":"0190-three"}`},
		{"reload", `{"cancelled":false,"sessionId":"0190-three"}`},
	} {
		words := strings.Fields(c.request)
		tried[words[0]] = true
		if kind, ok := strings.CutPrefix(words[0], "!"); ok {
			n := 0
			fmt.Sscan(words[1], &n)
			w.event(kind, n)
			if words[1] == "3" { // the stage leaves what waits to the next input, as a session does
				s.locked(func() { s.queue(nil) })
			}
			continue
		}
		if words[0] == "get_state" { // the phase is a matter of time
			w.event("message_update", 2)
		}
		if got := compact(w.call(c.request)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.request, got, c.want)
		}
	}
	list := w.call("get_available_models").(record)["models"].([]any)
	commands := w.call("get_commands").(record)["commands"].([]any)
	if len(list) != 3 || compact(commands[0]) != `{"description":"","name":"fork","source":""}` {
		t.Errorf("models %v, commands %v", list, commands)
	}
	for _, name := range []string{"compact", "set_auto_compaction", "export_html", "fork", "clone", "get_fork_messages"} {
		tried[name] = true
		w.refused(name, "not_available")
	}
	tried["get_available_models"], tried["get_commands"], tried["abort_bash"] = true, true, true
	w.refused("abort_bash", "idle")
	for _, name := range plain.Commands() {
		if !tried[name] {
			t.Errorf("%s was not tried", name)
		}
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{Option: "once"}}, s.answers); diff != "" {
		t.Error(diff)
	}
	if !s.closed {
		t.Error("the first session was left open")
	}
}

// What is wrong with a request is said with a code, and changes nothing.
func TestRPCRefusals(t *testing.T) {
	s := newStage(t, blocked)
	w := dial(t, house{open: func(api.OpenRequest) (api.Session, error) { return nil, errors.New("it is open elsewhere") },
		sessions: []api.SessionInfo{{ID: "0190-held"}}}, s)
	image := func(data string) string { return `prompt message:x images:[{"data":"` + data + `"}]` }
	for _, c := range []struct{ request, code string }{
		{"unheard_of", "unknown_command"},
		{"prompt", "invalid_request"},
		{"prompt message:5", "invalid_request"},
		{"prompt message:null", "invalid_request"},
		{`prompt message:""`, "invalid_request"},
		{`prompt message:"\n"`, "invalid_request"},
		{"prompt message:x streamingBehavior:sometimes", "invalid_request"},
		{"prompt message:x images:5", "invalid_request"},
		{"prompt message:x images:[null]", "invalid_request"},
		{image("%"), "invalid_request"},
		{image(""), "invalid_request"},
		{"prompt message:x images:[" + strings.TrimSuffix(strings.Repeat(`{"data":"AAAA"},`, api.MaxInputImages+1), ",") + "]", "invalid_request"},
		{"answer", "invalid_request"},
		{"answer ask:none", "not_found"},
		{"bash", "invalid_request"},
		{`bash command:"\t"`, "invalid_request"},
		{"bash command:" + strings.Repeat("x", api.MaxShellCommand+1), "invalid_request"},
		{"bash command:ls excludeFromContext:1", "invalid_request"},
		{"abort", "idle"},
		{"abort_bash", "idle"},
		{"abort_retry", "idle"},
		{"get_entries since:-1", "invalid_request"},
		{"get_entries since:1.5", "invalid_request"},
		{"get_messages limit:0", "invalid_request"},
		{"get_messages limit:1001", "invalid_request"},
		{"set_model", "invalid_request"},
		{"set_model provider:lab", "invalid_request"},
		{"set_model model:lab/none", "not_found"},
		{"set_thinking_level level:huge", "invalid_request"},
		{"set_steering_mode", "invalid_request"},
		{"set_follow_up_mode mode:some", "invalid_request"},
		{"set_auto_retry enabled:yes", "invalid_request"},
		{"set_session_name name:" + strings.Repeat("x", 257), "invalid_request"},
		{"switch_session", "invalid_request"},
		{"switch_session sessionId:0190-h", "failed"},
		{"switch_session sessionPath:0190-nowhere", "not_found"},
		{"new_session", "failed"},
	} {
		w.refused(c.request, c.code)
	}
	s.failing = fmt.Errorf("%w; octavo setup", api.ErrNoModel)
	w.refused("prompt message:x", "no_model")
	s.locked(func() { s.state.Info.Model = "" })
	w.refused("cycle_thinking_level", "no_model")
	if got := w.call("set_session_name name:" + strings.Repeat("x", 256)); got != nil {
		t.Error(got)
	}
	if m := w.call("cycle_model"); m != nil {
		t.Errorf("there is no other model: %v", m)
	}
	w.call("prompt message:go")
	if why := w.refused("prompt message:more", "busy"); !strings.Contains(why, "streamingBehavior") {
		t.Errorf("it does not say what to do: %s", why)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat: go"}, s.said()); diff != "" {
		t.Error(diff)
	}
}

// 64 inputs may wait; the next is refused and the others are kept. An abort needs no place among them.
func TestRPCQueueIsBounded(t *testing.T) {
	s := newStage(t, blocked)
	w := dial(t, house{}, s)
	w.call("prompt message:go")
	for i := range plain.MaxWaiting {
		kind := []string{"steer message:s", "follow_up message:f", "prompt streamingBehavior:steer message:p", "prompt streamingBehavior:followUp message:q"}[i%4]
		if got := w.call(kind + fmt.Sprint(i)).(record); got["queued"] != true {
			t.Fatalf("%d: %v", i, got)
		}
	}
	for _, request := range []string{"steer message:x", "follow_up message:x", "prompt message:x streamingBehavior:steer"} {
		w.refused(request, "queue_full")
	}
	state := w.call("get_state").(record)
	if state["pendingMessageCount"] != float64(plain.MaxWaiting) {
		t.Errorf("%v wait", state["pendingMessageCount"])
	}
	w.call("abort")
	if r := w.event("agent_settled", 1); r["outcome"] != "interrupted" {
		t.Errorf("settled as %v", r)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if said := s.said(); len(said) != 1+plain.MaxWaiting || said[64] != "follow_up: q63" {
		t.Errorf("%d inputs: %v", len(said), said)
	}
	if len(s.state.Queue) != plain.MaxWaiting {
		t.Errorf("%d inputs are kept", len(s.state.Queue))
	}
}

func TestRPCSteersAndFollowsUp(t *testing.T) {
	steered := make(chan struct{})
	s := newStage(t, func(t *turn) {
		t.step()
		<-steered
		t.answer("looking", testCall)
		t.step()
		t.answer("as you say")
		t.settle(api.SettledCompleted, "")
	}, replies("followed"))
	w := dial(t, house{}, s)
	w.call("prompt message:start")
	w.call("follow_up message:after")
	w.call("steer message:/help") // only a prompt is a command
	close(steered)
	if got := w.event("agent_settled", 2); got["turnId"] != "turn-2" {
		t.Errorf("%v", got)
	}
	var said []string
	for _, r := range w.all() {
		if m, ok := r["message"].(record); ok && r["type"] == "message_end" {
			said = append(said, fmt.Sprint(m["role"], " ", m["content"].([]any)[0].(record)["text"], " ", m["origin"]))
		}
	}
	want := []string{"user start chat", "assistant looking <nil>", "user /help steer", "assistant as you say <nil>", "user after follow_up", "assistant followed <nil>"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

func TestRPCPictures(t *testing.T) {
	s := newStage(t)
	w := dial(t, house{}, s)
	w.call(`prompt message:look images:[{"type":"image","data":"aGVsbG8=","mimeType":"image/png","name":"a.png"}]`)
	w.call(`steer message:"" images:[{"data":"aGk="}]`)
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	want := [][]api.InputImage{{{Name: "a.png", Data: []byte("hello")}}, {{Data: []byte("hi")}}}
	for i, in := range s.inputs {
		if diff := cmp.Diff(want[i], in.Images); diff != "" {
			t.Error(diff)
		}
	}
}

// A question waits for the client; what it answers to one for a secret is in no record.
func TestRPCQuestions(t *testing.T) {
	const secret = "hunter2-never-told"
	var got []api.Answer
	ask := func(t *turn, id string, kind api.AskKind) {
		a := api.Ask{ID: id, Kind: kind, Title: "may I?", Source: "keys"}
		if kind == api.AskApproval {
			a.Options = []api.Option{{ID: api.OptionDeny, Label: "deny"}, {ID: api.OptionOnce, Label: "allow once"}}
		}
		got = append(got, t.ask(a))
	}
	s := newStage(t, func(t *turn) {
		t.step()
		ask(t, "q1", api.AskSecret)
		ask(t, "q2", api.AskApproval)
		ask(t, "q3", api.AskApproval)
		ask(t, "q4", api.AskApproval) // nobody answers
		t.settle(api.SettledInterrupted, "")
	})
	w := dial(t, house{}, s)
	w.call("prompt message:go")
	if q := w.event("ask", 1); compact(q) != `{"id":"q1","kind":"secret","source":"keys","title":"may I?","type":"ask"}` {
		t.Errorf("asked %s", compact(q))
	}
	w.refused("answer ask:q1 text:[\""+secret+"\"]", "invalid_request")
	w.call("answer ask:q1 text:" + secret)
	w.refused("answer ask:q1 text:"+secret, "not_found")
	w.event("ask", 2)
	if asks := w.call("get_state").(record)["asks"].([]any); len(asks) != 1 || asks[0].(record)["id"] != "q2" {
		t.Errorf("open questions: %v", asks)
	}
	if why := w.refused("answer ask:q2 option:always", "invalid_request"); !strings.Contains(why, "deny or once") {
		t.Errorf("it does not say what to answer: %s", why)
	}
	w.call("answer ask:q2 option:deny text:not_now")
	w.event("ask", 3)
	w.call("answer ask:q3") // an empty answer denies
	w.event("ask", 4)
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]api.Answer{{Text: secret}, {Option: "deny", Text: "not now"}, {}, {}}, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(w.String(), secret) {
		t.Error("the secret was told")
	}
	w.event("ask_end", 4)
}

// The end of the input ends what runs, and tells how.
func TestRPCInputEnds(t *testing.T) {
	shelling := make(chan struct{})
	s := newStage(t, blocked)
	s.shell = func(ctx context.Context, _ api.ShellRequest, _ func(string)) api.ShellResult {
		close(shelling)
		<-ctx.Done()
		return api.ShellResult{Cancelled: true}
	}
	commanding := make(chan struct{})
	s.run = func(ctx context.Context, _ string) (api.Outcome, error) {
		close(commanding)
		<-ctx.Done()
		return api.Outcome{}, ctx.Err()
	}
	w := dial(t, house{}, s)
	w.call("prompt message:go")
	w.event("message_update", 1)
	bash, command, later := w.ask("bash command:sleep"), w.ask("prompt message:/fork"), w.ask("new_session")
	<-shelling
	<-commanding
	w.ask("follow_up message:later")
	w.in.taken()
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if r := w.event("agent_settled", 1); r["outcome"] != "interrupted" {
		t.Errorf("settled as %v", r)
	}
	if r := w.reply(bash); r["data"].(record)["cancelled"] != true {
		t.Errorf("bash: %v", r)
	}
	for id, code := range map[string]string{command: "cancelled", later: "closing"} {
		if r := w.reply(id); r["error"].(record)["code"] != code {
			t.Errorf("%v, want %s", r, code)
		}
	}
	if !s.closed || s.turn != nil || len(s.state.Queue) != 1 {
		t.Errorf("closed %v, turn %v, queue %v", s.closed, s.turn, s.state.Queue)
	}
}

// A signal ends octavo as the end of the input does, and is told.
func TestRPCContextEnds(t *testing.T) {
	for _, busy := range []bool{true, false} {
		s := newStage(t, blocked)
		w := dial(t, house{}, s)
		if busy {
			w.call("prompt message:go")
		}
		w.call("get_state")
		over := errors.New("terminated")
		w.cancel(over)
		if err := w.wait(); !errors.Is(err, over) {
			t.Errorf("error %v", err)
		}
		rs := w.all()
		if last := rs[len(rs)-1]; compact(last) != `{"error":"terminated","type":"error"}` {
			t.Errorf("the last record is %v", last)
		}
		if busy {
			w.event("agent_settled", 1)
		}
		if !s.closed {
			t.Error("the session was left open")
		}
	}
}

func TestRPCSessionEndsByItself(t *testing.T) {
	s := newStage(t)
	w := dial(t, house{}, s)
	w.call("get_state")
	s.locked(func() {
		for stream := range s.clients {
			stream.End(errors.New("the disk is full"))
		}
	})
	if err := w.wait(); err == nil || err.Error() != "the disk is full" {
		t.Errorf("error %v", err)
	}
	w.event("error", 1)
}

func TestRPCOutputBreaks(t *testing.T) {
	for _, c := range []struct{ fails, want error }{{syscall.EPIPE, nil}, {syscall.ENOSPC, syscall.ENOSPC}} {
		s := newStage(t, blocked)
		w := dial(t, house{}, s)
		w.call("prompt message:go")
		w.listener.mu.Lock()
		w.fail = c.fails
		w.listener.mu.Unlock()
		w.ask("get_state")
		if err := w.wait(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v: error %v", c.fails, err)
		}
		if !s.closed || s.turn != nil {
			t.Error("the session was left open")
		}
	}
}

// Whoever reads nothing still gets an abort through, costs no more memory than the bounds say, and is told later what was stored.
func TestRPCSlowClient(t *testing.T) {
	flooded := make(chan struct{})
	s := newStage(t, func(t *turn) {
		t.step()
		t.answer("", testCall)
		t.begins(testCall)
		for range 3 * api.MaxPending { // a stream holds twice MaxPending at most
			t.notice(api.Notice{Text: strings.Repeat("x", 1<<10)})
		}
		for i := range 100 {
			t.locked(func() {
				t.store(api.Entry{Turn: t.id, Kind: api.EntryNote, Origin: "flood", Parts: []api.Part{{Type: api.PartText, Text: fmt.Sprint("note ", i)}}})
			})
		}
		close(flooded)
		t.blocks()
		t.ends(testCall, api.Result{Outcome: api.ResultCancelled}, "")
		t.settle(api.SettledInterrupted, "")
	})
	w := dial(t, house{}, s)
	w.call("get_state")
	resume := w.stall()
	prompt := w.ask("prompt message:go")
	<-flooded
	abort := w.ask("abort")
	for settled := false; !settled; time.Sleep(time.Millisecond) {
		s.locked(func() { settled = s.turn == nil })
	}
	resume()
	w.reply(prompt)
	w.reply(abort)
	w.event("lagged", 1)
	if r := w.event("agent_settled", 1); r["outcome"] != "interrupted" {
		t.Errorf("settled as %v", r)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if n := strings.Count(w.String(), fmt.Sprintf(`"message_end","message":{"role":"custom","content":[{"type":"text","text":"note %d"}]`, i)); n != 1 {
			t.Errorf("note %d was told %d times", i, n)
		}
	}
}

// A client that reads nothing at the end is left.
func TestRPCSilentClient(t *testing.T) {
	s := newStage(t, blocked)
	w := dial(t, house{}, s)
	w.call("prompt message:go")
	w.event("message_update", 1)
	resume := w.stall()
	defer resume()
	w.in.eof()
	const silence = 10 * time.Second
	for ended := false; !ended; {
		select {
		case err := <-w.ended:
			if err != nil {
				t.Errorf("error %v", err)
			}
			ended = true
		case <-time.After(10 * time.Millisecond):
			w.clock.mu.Lock()
			if c := w.clock.ticks[silence]; c != nil {
				select {
				case c <- noon:
				default:
				}
			}
			w.clock.mu.Unlock()
		}
	}
	if !s.closed || s.turn != nil {
		t.Error("the session was left open")
	}
}

// While a turn runs what is read is answered at once, and a change of session waits for its end.
func TestRPCChangesWait(t *testing.T) {
	one, two := newStage(t, blocked), newStage(t, replies("second"))
	two.state.Session, two.state.Info.ID = "0190-two", "0190-two"
	var asked []api.OpenRequest
	w := dialOpen(t, house{open: func(r api.OpenRequest) (api.Session, error) {
		asked = append(asked, r)
		return two, nil
	}}, one, api.OpenRequest{Policy: "controlled", Private: true, ID: "0190-one"})
	w.call("set_auto_retry enabled:false")
	w.call("set_steering_mode mode:all")
	w.call("prompt message:go")
	change := w.ask("new_session parentSession:/ignored")
	for range plain.MaxWaiting - 1 {
		w.ask("switch_session sessionId:0190-two")
	}
	w.refused("reload", "queue_full")
	if w.call("get_state").(record)["sessionId"] != "0190-one" {
		t.Error("the session changed while it works")
	}
	w.call("abort")
	if got := compact(w.reply(change)["data"]); got != `{"cancelled":false,"sessionId":"0190-two"}` {
		t.Errorf("%s", got)
	}
	w.call("prompt message:hello")
	w.event("agent_settled", 2)
	state := w.call("get_state").(record)
	if state["sessionId"] != "0190-two" || state["autoRetryEnabled"] != false || state["steeringMode"] != "all" || state["messageCount"] != 2.0 {
		t.Errorf("%v", state)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if !one.closed || !two.closed || len(asked) != 1 || asked[0] != (api.OpenRequest{Model: "lab/small", Policy: "controlled", Private: true}) {
		t.Errorf("closed %v %v, opened %+v", one.closed, two.closed, asked)
	}
	var order []string
	for _, r := range w.all() {
		switch r["type"] {
		case "session":
			order = append(order, fmt.Sprint("session ", r["id"]))
		case "agent_start", "agent_settled":
			order = append(order, fmt.Sprint(r["type"]))
		}
	}
	if diff := cmp.Diff([]string{"session 0190-one", "agent_start", "agent_settled", "session 0190-two", "agent_start", "agent_settled"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestRPCReload(t *testing.T) {
	fresh := func(name string) *stage {
		s := newStage(t)
		s.state.Session, s.state.Info.ID = name, name
		return s
	}
	var asked []api.OpenRequest
	next := []*stage{fresh("0190-new"), fresh("0190-new"), nil}
	var made []*stage
	h := house{open: func(r api.OpenRequest) (api.Session, error) {
		asked = append(asked, r)
		s := next[0]
		if next = next[1:]; s == nil {
			return nil, errors.New("AGENTS.md cannot be read")
		}
		made = append(made, s)
		return s, nil
	}}
	w := dial(t, h, newStage(t))
	if got := w.call("reload").(record)["sessionId"]; got != "0190-new" { // nothing was said in it yet
		t.Errorf("%v", got)
	}
	w.call("set_session_name name:kept")
	made[0].locked(func() { next[0].state.Info.Name = "kept" })
	w.call("reload")
	if want := []api.OpenRequest{{Model: "lab/small"}, {ID: "0190-new"}}; !slices.Equal(asked, want) {
		t.Errorf("opened %+v", asked)
	}
	if why := w.refused("reload", "failed"); !strings.Contains(why, "AGENTS.md") {
		t.Errorf("%s", why)
	}
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "reload: the session could not be opened again\nAGENTS.md") {
		t.Errorf("without a session it ends: %v", err)
	}
	w.event("error", 1)

	private := newStage(t)
	private.state.Info.Private = true
	w = dial(t, h, private)
	w.refused("reload", "not_available")
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

func parse(t *testing.T, line string) (r record) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	return r
}
