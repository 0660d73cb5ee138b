package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext/model"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// The arithmetic of summaries (plugins.md 6.1).
const (
	summaryItem    = 16_000 // characters of one message or result that a summary reads
	summaryChunk   = 1_000  // tokens that one request reads at least
	summaryUnknown = 32_000 // tokens that one request reads when the window is not known
)

// summarizer tells the model how to write what stands for a conversation.
const summarizer = `You write the summary with which a coding session goes on after its history no longer fits.
Write what someone needs who takes over now: what the person wants and has decided, what was found out about the code (with paths
and names), what was changed and why, what was tried and failed, what is open, and what comes next. Keep exact names, paths,
commands and error messages. Leave out courtesies and anything that no longer matters. Write plain Markdown, no preamble.`

var errRunning = errors.New("a turn is running; interrupt it or wait for its end")

// child is the row of a session that is forked from this one.
func (a *actor) child() sessionstore.Session {
	now := time.Now().UTC()
	return sessionstore.Session{ID: uuid.Must(uuid.NewV7()).String(), Name: a.row.Name, Workspace: a.row.Workspace, Model: a.row.Model,
		Effort: a.row.Effort, Policy: a.row.Policy, Parent: a.id, ParentSeq: a.state.Info.Entries, Created: now, Updated: now,
		Stage: sessionstore.StageIdle, Preview: a.row.Preview, Private: a.row.Private}
}

// fork copies the session up to an entry, or as it stands, into a new one.
func (s *Session) fork(ctx context.Context, at int64) (string, error) {
	var into sessionstore.Session
	var err error
	doErr := s.do(ctx, func(a *actor) {
		if a.run != nil {
			err = errRunning
			return
		}
		into = a.child()
		err = Fork(ctx, a.o.Store, a.id, at, into)
	})
	return into.ID, cmp.Or(doErr, err)
}

// ErrNoEntry means that a session has no entry to be forked at.
var ErrNoEntry = errors.New("the session has no such entry")

// Fork stores into as a copy of the entries 1 to at of a session, 0 for all. A turn that is cut in two ends there: its open calls get
// the outcome not_run, and it is settled as interrupted, so that a model can read it. It needs no lock of the session it copies.
func Fork(ctx context.Context, store *sessionstore.Store, from string, at int64, into sessionstore.Session) error {
	parent, err := store.Session(ctx, from)
	if err != nil {
		return err
	}
	if at == 0 {
		at = parent.Entries
	}
	if at < 0 || at > parent.Entries {
		return fmt.Errorf("entry %d of session %s: %w; it has %d, and octavo sessions inspect --entries lists them", at, from, ErrNoEntry, parent.Entries)
	}
	into.Stage, into.Turn = sessionstore.StageIdle, ""
	if at > 0 {
		last, err := store.Entries(ctx, from, sessionstore.Range{After: at - 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(last) == 1 && last[0].Turn != "" && last[0].Kind != string(api.EntrySettled) {
			// Until the turn is settled below, a crash leaves it for recovery.
			into.Stage, into.Turn = sessionstore.StageTool, last[0].Turn
		}
	}
	if err := store.Fork(ctx, from, at, into); err != nil || into.Turn == "" {
		return err
	}
	return settleFork(ctx, store, into)
}

// settleFork ends the turn in whose middle a session was forked.
func settleFork(ctx context.Context, store *sessionstore.Store, into sessionstore.Session) error {
	tail, err := unfinished(ctx, store, into.ID, into.Turn)
	if err != nil {
		return err
	}
	const why = "not run here: the session was forked before this call had a result"
	var entries []entry
	for _, o := range tail.open() {
		entries = append(entries, entry{api.EntryResult, record{Parts: []model.Part{model.Text(why)}, Call: &o.call, Title: o.title,
			Outcome: api.ResultNotRun, Reason: why}})
	}
	entries = append(entries, entry{api.EntrySettled, record{Settled: &api.Settled{Outcome: api.SettledInterrupted, Error: "the session was forked here"}}})
	change := sessionstore.Change{Stage: &sessionstore.StageChange{Stage: sessionstore.StageInterrupted}}
	for _, e := range entries { // octavo's own words: they hold no key
		ne, err := e.encode(Redaction{}.settled(), into.Turn)
		if err != nil {
			return err
		}
		change.Append = append(change.Append, ne)
	}
	_, err = store.Commit(ctx, into.ID, sessionstore.CallsRecovered, change)
	return err
}

// forkSummary makes a new session that begins with a summary of this one, and with what the person said last if it was not yet
// answered. The summary is work like a turn: inputs wait for its end, and Interrupt or ctx ends it.
func (s *Session) forkSummary(ctx context.Context) (string, error) {
	var f frozen
	var into sessionstore.Session
	var err error
	type outcome struct {
		text string
		err  error
	}
	written := make(chan outcome, 1)
	doErr := s.do(ctx, func(a *actor) {
		switch {
		case a.run != nil:
			err = errRunning
			return
		case a.closed:
			err = api.ErrClosed
			return
		}
		if err = a.ready(); err != nil {
			return
		}
		if err = a.load(ctx); err != nil {
			return
		}
		f.upstream, _ = a.o.Models.Resolve(a.row.Model)
		f.request.Messages = a.history.snapshot()
		into = a.child()
		info := api.TurnInfo{ID: into.ID, Phase: api.PhaseSummarizing, Started: time.Now().UTC()}
		a.start(info, func(r *run) {
			text, err := s.summarize(r, f)
			written <- outcome{text, err}
			_ = s.do(context.Background(), func(a *actor) { a.idle(r) })
		})
	})
	if err = errors.Join(doErr, err); err != nil {
		return "", err
	}
	var got outcome
	select {
	case got = <-written:
	case <-ctx.Done():
		s.post(func(a *actor) {
			if a.run != nil && a.run.ID == into.ID {
				a.interrupt(false)
			}
		})
		got = <-written
	}
	if got.err != nil {
		return "", fmt.Errorf("the summary could not be written: %w", got.err)
	}
	if err := s.plant(ctx, into, got.text); err != nil {
		return "", err
	}
	return into.ID, nil
}

// idle ends work that is no turn.
func (a *actor) idle(r *run) {
	a.run = nil
	a.emit(api.Event{Type: api.EventIdle})
	outcome := api.SettledCompleted
	if r.interrupted {
		outcome = api.SettledInterrupted
	}
	a.follow(outcome, r.next)
}

// plant stores the new session with its first entries.
func (s *Session) plant(ctx context.Context, into sessionstore.Session, summary string) error {
	stored, err := s.o.Store.Entries(ctx, s.id, sessionstore.Range{Limit: api.WindowEntries, Newest: true})
	if err != nil {
		return err
	}
	var unanswered []entry
	for _, se := range slices.Backward(stored) {
		e, err := decode(se)
		if err != nil {
			return err
		}
		if e.kind == api.EntryAssistant {
			break
		}
		if e.kind == api.EntryUser {
			unanswered = append([]entry{e}, unanswered...)
		}
	}
	var change sessionstore.Change
	for _, e := range append([]entry{{api.EntrySummary, record{Origin: s.id, Parts: []model.Part{model.Text(summary)}}}}, unanswered...) {
		ne, err := e.encode(s.o.Redact, "")
		if err != nil {
			return err
		}
		change.Append = append(change.Append, ne)
	}
	if err := s.o.Store.CreateSession(ctx, into); err != nil {
		return err
	}
	_, err = s.o.Store.Commit(ctx, into.ID, sessionstore.HistoryChanged, change)
	return err
}

// summarize has the model read the conversation piece by piece, carrying the summary so far along.
func (s *Session) summarize(r *run, f frozen) (string, error) {
	budget := summaryUnknown
	if w := f.upstream.Info.ContextTokens; w > 0 {
		budget = max(summaryChunk, w/2)
	}
	summary := ""
	for _, piece := range pieces(f.request.Messages, budget) {
		prompt := "<conversation>\n" + piece + "\n</conversation>\n\nWrite the summary."
		if summary != "" {
			prompt = "<summary-so-far>\n" + summary + "\n</summary-so-far>\n\n" + prompt + " It replaces the summary so far."
		}
		ask := frozen{upstream: f.upstream, request: model.Request{Model: f.upstream.Model, Maker: f.upstream.ID(), CacheKey: s.id,
			System: []string{summarizer}, Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{model.Text(prompt)}}}}}
		answer, row, err := s.request(r, ask, requestHooks{kind: sessionstore.RequestSummarizer})
		if err != nil {
			return "", err
		}
		err = s.commitOr(func(a *actor) error {
			return a.commit(sessionstore.UsageStored, r.ID, nil, sessionstore.Change{Requests: []sessionstore.Request{row}})
		})
		if err != nil {
			return "", err
		}
		if summary = strings.TrimSpace(model.PlainText(answer.Parts)); summary == "" {
			return "", errors.New("the model wrote an empty summary")
		}
	}
	return summary, nil
}

// pieces renders a conversation as text in pieces of about budget tokens.
func pieces(messages []model.Message, budget int) []string {
	var out []string
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			line := plainPart(m.Role, p)
			if line == "" {
				continue
			}
			if b.Len() > 0 && model.EstimateText(b.Len()+len(line)) > budget {
				out = append(out, b.String())
				b.Reset()
			}
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// plainPart is one part as a summary reads it; reasoning is left out.
func plainPart(role model.Role, p model.Part) string {
	cut := func(s string) string { return text.HeadTail(s, summaryItem) }
	switch p.Type {
	case model.PartText:
		return string(role) + ": " + cut(p.Text)
	case model.PartImage:
		return fmt.Sprintf("%s: [picture %s %dx%d]", role, p.Image.Name, p.Image.Width, p.Image.Height)
	case model.PartCall:
		return "call " + p.Call.Name + ": " + cut(p.Call.Arguments)
	case model.PartResult:
		return "result of " + p.Result.Name + ": " + cut(model.PlainText(p.Result.Parts))
	}
	return ""
}
