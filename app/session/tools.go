package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// maxReason is how much of the reason of a refusal a model reads, in bytes.
const maxReason = 4 << 10

// MaxResultText bounds the text of one tool result in bytes, whatever its tool allows itself.
const MaxResultText = 1 << 20

// maxTogether is how many reads run at once (product.md 6: the number of processors, 4 to 32).
func maxTogether() int { return min(max(runtime.NumCPU(), 4), 32) }

// job is one call on its way to a result.
type job struct {
	call    model.ToolCall
	tool    composition.Tool
	args    json.RawMessage
	title   string
	refusal string // why it may not run
	intent  policy.Intent
	verdict policy.Verdict

	out     ext.Output
	outcome api.ResultOutcome
	took    time.Duration
	fatal   error
	shown   func() // shows what is left of live output
}

// reads reports whether the job may run beside others of its kind.
func (j *job) reads() bool {
	if j.refusal != "" || j.verdict != policy.Run {
		return false
	}
	return j.intent.Class == policy.Pure || j.intent.Class == policy.WorkspaceRead || j.intent.Class == policy.HostRead
}

// runCalls runs the calls of one answer in order and stores each result; reads that follow one another run together. Every call
// gets a result, also when the turn is interrupted.
func (s *Session) runCalls(r *run, f frozen, calls []model.ToolCall) error {
	s.post(func(a *actor) {
		if a.run == r {
			a.setPhase(r, api.PhaseTools)
		}
	})
	for len(calls) > 0 {
		batch := []*job{s.judge(r, f, calls[0])}
		for batch[0].reads() && len(batch) < min(len(calls), maxTogether()) {
			next := s.judge(r, f, calls[len(batch)])
			if !next.reads() {
				break
			}
			batch = append(batch, next)
		}
		calls = calls[len(batch):]
		if err := s.runBatch(r, f, batch); err != nil {
			return err
		}
	}
	return nil
}

// judge finds the tool of a call, checks its arguments, and lets the policy decide (design.md, "What a tool is").
func (s *Session) judge(r *run, f frozen, call model.ToolCall) *job {
	j := &job{call: call, title: call.Name}
	if r.void[call.ID] {
		j.refusal = "the arguments held what octavo knows as an API key; it was taken out, and what is left would do something else. " +
			"Do it without the key, or have the person do it"
		return j
	}
	tool, ok := f.composition.Tool(call.Name)
	if !ok {
		j.refusal = fmt.Sprintf("there is no tool %q; the tools are: %s", call.Name, strings.Join(toolNames(f.composition), ", "))
		return j
	}
	j.tool = tool
	if j.args, j.refusal = s.arguments(tool, call.Arguments); j.refusal != "" {
		return j
	}
	if err := guard(func() error {
		j.intent = tool.Intent(j.args)
		if tool.Describe != nil {
			j.title = text.CleanLine(tool.Describe(j.args))
		}
		return nil
	}); err != nil {
		j.refusal = "the tool failed before it ran: " + err.Error()
		return j
	}
	d := policy.Decide(s.o.Policy, j.intent)
	if j.verdict = d.Verdict; d.Verdict == policy.Refuse {
		j.refusal = d.Reason
	}
	return j
}

// arguments checks what a model wrote against the tool's schema. The refusal tells the model what to mend.
func (s *Session) arguments(tool composition.Tool, written string) (args json.RawMessage, refusal string) {
	if strings.TrimSpace(written) == "" {
		written = "{}" // models leave out the arguments of a tool that needs none
	}
	args = json.RawMessage(written)
	var v map[string]any
	if err := json.Unmarshal(args, &v); err != nil {
		return nil, fmt.Sprintf("the arguments are not a JSON object (%v); send the call again with one object", err)
	}
	if v == nil {
		return nil, "the arguments are null, not a JSON object; send the call again with one object"
	}
	schema, err := s.schemas.of(tool)
	if err != nil {
		return nil, fmt.Sprintf("the tool %s has a broken schema: %v", tool.Name, err)
	}
	if err := schema.Validate(v); err != nil {
		return nil, fmt.Sprintf("the arguments do not fit the tool: %v", err)
	}
	return args, ""
}

// schemas keeps the compiled schema of each tool.
type schemas struct {
	mu       sync.Mutex
	compiled map[string]*jsonschema.Resolved
}

func (c *schemas) of(tool composition.Tool) (*jsonschema.Resolved, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.compiled[tool.Name]; ok {
		return r, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		return nil, err
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	if c.compiled == nil {
		c.compiled = map[string]*jsonschema.Resolved{}
	}
	c.compiled[tool.Name] = r
	return r, nil
}

func toolNames(c *composition.Composition) []string {
	names := make([]string, 0, len(c.Tools))
	for _, t := range c.Tools {
		names = append(names, t.Name)
	}
	return names
}

// runBatch runs jobs that may run together; a single one is the common case.
func (s *Session) runBatch(r *run, f frozen, batch []*job) error {
	for _, j := range batch {
		if j.refusal == "" && j.verdict == policy.Ask && r.ctx.Err() == nil {
			j.refusal = s.approve(r.ctx, f, j)
		}
		switch {
		case r.ctx.Err() != nil:
			j.outcome, j.refusal = api.ResultNotRun, "not run: the turn was interrupted first"
		case j.refusal != "":
			j.outcome = api.ResultRefused
		}
	}
	if err := s.storeCalls(r, batch); err != nil {
		return err
	}
	var running sync.WaitGroup
	finished := make([]chan struct{}, len(batch))
	for i, j := range batch {
		finished[i] = make(chan struct{})
		if j.outcome != "" {
			close(finished[i])
			continue
		}
		running.Go(func() {
			defer close(finished[i])
			invoke(s.call(r.ctx, f, j), j)
		})
	}
	defer running.Wait()
	for i, j := range batch {
		<-finished[i]
		if err := s.storeResult(r, j); err != nil {
			return err
		}
		if j.fatal != nil {
			return j.fatal
		}
	}
	return nil
}

// storeCalls makes it a fact that the calls are about to run, before they do.
func (s *Session) storeCalls(r *run, batch []*job) error {
	var entries []entry
	for _, j := range batch {
		if j.outcome == "" {
			entries = append(entries, entry{api.EntryCall, record{Call: &j.call, Title: j.title}})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return s.commitOr(func(a *actor) error {
		if err := a.commit(sessionstore.ToolCallStored, r.ID, entries, sessionstore.Change{}); err != nil {
			return err
		}
		for _, e := range entries {
			call := viewCall(*e.rec.Call)
			call.Title = e.rec.Title
			a.emit(api.Event{Type: api.EventTool, Tool: &api.ToolRun{Call: *call, Started: time.Now().UTC()}})
		}
		return nil
	})
}

// invoke runs one call to its end.
func invoke(c *ext.Call, j *job) {
	started := time.Now()
	var err error
	crash := guard(func() error {
		j.out, err = j.tool.Invoke(c, j.args)
		return nil
	})
	j.took = time.Since(started)
	if j.shown != nil {
		j.shown()
	}
	var fatal ext.Fatal
	switch {
	case crash != nil:
		j.outcome = api.ResultError
		j.out = ext.TextOutput(fmt.Sprintf("the tool crashed (%v); what it did before is unknown: check before you try again", crash))
	case errors.As(err, &fatal):
		j.fatal = err
		j.outcome = api.ResultUnknown
		j.out = ext.TextOutput("the outcome of this call is unknown: it could not be recorded")
	case c.Err() != nil:
		j.outcome = api.ResultCancelled
		if err != nil || len(j.out.Parts) == 0 {
			j.out.Parts = []model.Part{model.Text("interrupted by the person; it may have had effects")}
		}
	case err != nil:
		j.outcome, j.refusal = api.ResultError, err.Error()
	case j.out.IsError:
		j.outcome = api.ResultError
	default:
		j.outcome = api.ResultOK
	}
}

// call is what the tool gets to work with.
func (s *Session) call(ctx context.Context, f frozen, j *job) *ext.Call {
	return &ext.Call{
		Context: ctx, ID: j.call.ID, Session: s.id, Workspace: s.o.Row.Workspace, Images: f.upstream.Images,
		Progress: s.redactedProgress(j, func(delta string) {
			s.post(func(a *actor) {
				if a.run != nil {
					a.emit(api.Event{Type: api.EventProgress, Progress: &api.Progress{CallID: j.call.ID, Text: delta}})
				}
			})
		}),
		Ask: func(q ext.Ask) ext.Answer {
			q.Source, q.Parent = j.tool.Extension, j.call.ID
			answer, _ := s.ask(ctx, q)
			return answer
		},
		Redact: s.o.Redact.Stream,
	}
}

// redactedProgress shows a call's live output through show, without keys. What was held back at the end is shown by j.shown.
func (s *Session) redactedProgress(j *job, show func(string)) func(string) {
	write, flush := s.o.Redact.Stream()
	var mu sync.Mutex // a tool may tell of several streams at once
	pass := func(text string) {
		if text != "" {
			show(text)
		}
	}
	j.shown = func() {
		mu.Lock()
		defer mu.Unlock()
		pass(flush())
	}
	return func(delta string) {
		mu.Lock()
		defer mu.Unlock()
		pass(write(delta))
	}
}

// approve asks the person whether a call may run. It answers why not, or "".
func (s *Session) approve(ctx context.Context, f frozen, j *job) (refusal string) {
	digest := policy.Digest(j.call.Name, j.args)
	var granted bool
	if err := s.do(ctx, func(a *actor) { granted = a.granted[digest] }); err != nil || granted {
		return ""
	}
	q := ext.Ask{Kind: ext.AskApproval, Title: j.intent.Title, Body: j.intent.Detail, Source: j.tool.Name, Parent: j.call.ID}
	if j.tool.Preview != nil {
		err := guard(func() (err error) {
			q.Display, err = j.tool.Preview(s.call(ctx, f, j), j.args)
			return err
		})
		if err != nil {
			return err.Error() // what cannot even be previewed would fail; nobody need be asked
		}
	}
	answer, attended := s.ask(ctx, q)
	switch {
	case answer.Option == ext.OptionSession:
		s.post(func(a *actor) { a.granted[digest] = true })
		return ""
	case answer.Allowed():
		return ""
	case !attended:
		return fmt.Sprintf("the policy %s asks a person before this call and nobody is there to answer; do without it", s.o.Policy)
	case strings.TrimSpace(answer.Text) != "":
		return "the person refused this call: " + text.HeadTail(strings.TrimSpace(answer.Text), maxReason)
	default:
		return "the person refused this call; ask before you try something similar"
	}
}

// storeResult makes the result of a call a fact.
func (s *Session) storeResult(r *run, j *job) error {
	parts, err := s.resultParts(j)
	if err != nil {
		return s.commitOr(func(*actor) error { return err })
	}
	e := entry{api.EntryResult, record{Parts: parts, Call: &j.call, Title: j.title, Outcome: j.outcome, Reason: j.refusal, Show: j.out.Display, Duration: j.took,
		ExitCode: j.out.ExitCode}}
	return s.commitOr(func(a *actor) error {
		if j.outcome == api.ResultOK && j.out.Display != nil && j.out.Display.Diff != nil {
			if p := j.out.Display.Diff.Path; !slices.Contains(r.files, p) {
				r.files = append(r.files, p)
			}
		}
		return a.commit(sessionstore.ToolResultStored, r.ID, []entry{e}, sessionstore.Change{})
	})
}

// resultParts is what the model reads of a result, with its pictures stored.
func (s *Session) resultParts(j *job) ([]model.Part, error) {
	if j.refusal != "" {
		b, err := json.Marshal(map[string]string{"error": j.refusal})
		return []model.Part{model.Text(string(b))}, err
	}
	var parts []model.Part
	for _, p := range j.out.Parts {
		switch p.Type {
		case model.PartText:
			whole := s.o.Redact.Text(p.Text) // before it is cut, which may leave half a key
			parts = append(parts, model.Text(strings.ToValidUTF8(text.HeadTail(whole, MaxResultText), "\uFFFD")))
		case model.PartImage:
			img, err := s.storeImage(context.Background(), p.Image.Name, p.Image.Data)
			if err != nil {
				parts = append(parts, model.Text("["+err.Error()+"]"))
				continue
			}
			parts = append(parts, model.Part{Type: model.PartImage, Image: img})
		}
	}
	if len(parts) == 0 {
		parts = []model.Part{model.Text("(no output)")}
	}
	return parts, nil
}

// guard turns a panic of an extension's code into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
