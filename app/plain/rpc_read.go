package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"octavo/app/api"
)

const (
	// pageBytes is how much one page of messages or entries holds, in bytes as they are written.
	pageBytes = MaxFrame - 64<<10
	// readAtOnce is how many entries are read of the store at once; each may be large.
	readAtOnce = 32
)

// reader answers what a client asks about a session. One goroutine at a time uses it.
type reader struct {
	client   api.Client
	session  api.Session
	shelling bool // a shell command runs
	manner   api.Behaviour
	tally    tally
}

// tally counts the messages of a session up to an entry, so that each is read once only.
type tally struct {
	until                                             int64
	messages, user, assistant, toolCalls, toolResults int64
}

func (t *tally) add(x api.Entry) {
	t.until = x.Seq
	m, ok := messageOf(x)
	if !ok {
		return
	}
	t.messages++
	switch m.Role {
	case "user":
		t.user++
	case "assistant":
		t.assistant++
	case "toolResult":
		t.toolResults++
	}
	for _, p := range x.Parts {
		if p.Type == api.PartCall {
			t.toolCalls++
		}
	}
}

// count brings the tally up to entry until.
func (r *reader) count(ctx context.Context, until int64) error {
	for r.tally.until < until {
		entries, err := r.session.Entries(ctx, api.Range{After: r.tally.until, Before: until + 1, Limit: readAtOnce})
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, x := range entries {
			r.tally.add(x)
		}
	}
	return nil
}

// look is the session as it is now, with its messages counted.
func (r *reader) look(ctx context.Context) (*api.State, *fault) {
	now, err := look(ctx, r.session)
	if err == nil {
		err = r.count(ctx, now.Info.Entries)
	}
	return now, faultOf(err)
}

func (r *reader) state(ctx context.Context, _ request) (any, *fault) {
	now, f := r.look(ctx)
	if f != nil {
		return nil, f
	}
	i, modes := now.Info, modesOf(r.manner)
	d := stateData{SessionID: i.ID, SessionName: i.Name, Title: i.Title, Tags: i.Tags, Parent: i.Parent, Private: i.Private,
		CWD: i.Workspace, Policy: i.Policy, ThinkingLevel: i.Effort, IsBashRunning: r.shelling, SteeringMode: modes.SteeringMode,
		FollowUpMode: modes.FollowUpMode, AutoRetry: modes.AutoRetry, MessageCount: r.tally.messages, EntryCount: i.Entries,
		PendingMessages: len(now.Queue), Asks: []askRecord{}, Usage: usageOf(now.Usage)}
	if i.Model != "" {
		m, err := modelNamed(ctx, r.client, i)
		if err != nil {
			return nil, faultOf(err)
		}
		d.Model = &m
	}
	if t := now.Turn; t != nil {
		d.IsCompacting = t.Phase == api.PhaseSummarizing
		d.IsStreaming = !d.IsCompacting
		d.Turn = &turnData{TurnID: t.ID, Phase: t.Phase, Step: t.Step, Timestamp: t.Started.UnixMilli()}
	}
	q := queueOf(now.Queue)
	d.Queue = queueData{q.Steering, q.FollowUp}
	for _, a := range now.Asks {
		d.Asks = append(d.Asks, askOf(a))
	}
	return d, nil
}

func (r *reader) stats(ctx context.Context, _ request) (any, *fault) {
	now, f := r.look(ctx)
	if f != nil {
		return nil, f
	}
	u, t := now.Usage, r.tally
	d := statsData{SessionID: now.Info.ID, UserMessages: t.user, AssistantMessages: t.assistant, ToolCalls: t.toolCalls,
		ToolResults: t.toolResults, TotalMessages: t.messages, Requests: u.Requests, Cost: usageOf(u).Cost, Unpriced: u.Unpriced,
		Unreported: u.Unreported, Tokens: tokensData{Input: u.Input, Output: u.Output, Reasoning: u.Reasoning, CacheRead: u.CacheRead,
			CacheWrite: u.CacheWrite, Total: u.Input + u.CacheRead + u.CacheWrite + u.Output}}
	if u.Context > 0 {
		d.ContextUsage = &contextData{Tokens: u.Context, ContextWindow: now.Info.Window}
		if w := now.Info.Window; w > 0 {
			percent := int(int64(u.Context) * 100 / int64(w))
			d.ContextUsage.Percent = &percent
		}
	}
	return d, nil
}

func (r *reader) messages(ctx context.Context, q request) (any, *fault) {
	list, next, more, f := r.page(ctx, q, func(x api.Entry) any {
		if m, ok := messageOf(x); ok {
			return m
		}
		return nil
	})
	return messagesData{list, more, next}, f
}

func (r *reader) entries(ctx context.Context, q request) (any, *fault) {
	list, next, more, f := r.page(ctx, q, func(x api.Entry) any { return entryOf(x) })
	return entriesData{list, more, next}, f
}

// page reads entries after the one that since names, as many as limit says and as fit. record makes what is told of an entry, nil for
// nothing. next is the last entry that was read; more says that there is more to tell.
func (r *reader) page(ctx context.Context, q request, record func(api.Entry) any) (list []json.RawMessage, next int64, more bool, f *fault) {
	if next, f = q.fields.number("since", 0, 1<<53, 0); f != nil {
		return nil, 0, false, f
	}
	limit, f := q.fields.number("limit", 1, api.MaxEntries, api.MaxEntries)
	if f != nil {
		return nil, 0, false, f
	}
	list = []json.RawMessage{}
	var buf bytes.Buffer
	for size := 0; ; {
		entries, err := r.session.Entries(ctx, api.Range{After: next, Limit: readAtOnce})
		if err != nil || len(entries) == 0 {
			return list, next, false, faultOf(err)
		}
		for _, x := range entries {
			if told := record(x); told != nil {
				line := encodeLine(&buf, told)
				if len(line) > pageBytes {
					line = shrunk(line, x.Seq)
				}
				size += len(line) + len(",")
				if int64(len(list)) == limit || len(list) > 0 && size > pageBytes {
					return list, next, true, nil
				}
				list = append(list, slices.Clone(line))
			}
			next = x.Seq
		}
	}
}

// shrunk makes a record fit a page; of one that cannot be made to fit the number of its entry is left.
func shrunk(line []byte, entry int64) []byte {
	if cut := shrink(line, pageBytes); cut != nil {
		return cut
	}
	return fmt.Appendf(nil, `{"entry":%d,"truncated":true}`, entry)
}

func (r *reader) lastText(ctx context.Context, _ request) (any, *fault) {
	for before := int64(0); ; {
		entries, err := r.session.Entries(ctx, api.Range{Before: before, Limit: readAtOnce, Newest: true})
		if err != nil || len(entries) == 0 {
			return textData{}, faultOf(err)
		}
		for _, x := range slices.Backward(entries) {
			if said := joined(x.Parts, api.PartText); x.Kind == api.EntryAssistant && strings.TrimSpace(said) != "" {
				return textData{&said}, nil
			}
		}
		if before = entries[0].Seq; before == 1 {
			return textData{}, nil
		}
	}
}

func (r *reader) commands(ctx context.Context, _ request) (any, *fault) {
	list, err := r.session.Commands(ctx)
	d := slashesData{Commands: []slashData{}}
	for _, c := range list {
		s := slashData{Name: strings.TrimPrefix(c.Name, "/"), Description: c.Description, Usage: c.Usage, Source: c.Extension}
		for _, a := range c.Arguments {
			s.Arguments = append(s.Arguments, argumentData(a))
		}
		d.Commands = append(d.Commands, s)
	}
	return d, faultOf(err)
}

func (r *reader) models(ctx context.Context, _ request) (any, *fault) {
	list, err := r.client.Models(ctx)
	d := modelsData{Models: []modelData{}}
	for _, m := range list {
		d.Models = append(d.Models, modelOf(m))
	}
	return d, faultOf(err)
}

func (r *reader) levels(ctx context.Context, _ request) (any, *fault) {
	now, err := look(ctx, r.session)
	if err != nil {
		return nil, faultOf(err)
	}
	levels, f := levelsOf(ctx, r.client, now.Info)
	return levelsData{levels}, f
}

// tree is the session with those that it was forked from and those that were forked from it, as far as they are listed: first the
// oldest forebear, each session after its parent.
func (r *reader) tree(ctx context.Context, _ request) (any, *fault) {
	now, err := look(ctx, r.session)
	if err != nil {
		return nil, faultOf(err)
	}
	list, err := r.client.Sessions(ctx, api.SessionQuery{})
	if err != nil {
		return nil, faultOf(err)
	}
	byID, children := map[string]api.SessionInfo{}, map[string][]api.SessionInfo{}
	for _, i := range list {
		if i.ID != now.Info.ID {
			byID[i.ID] = i
			children[i.Parent] = append(children[i.Parent], i)
		}
	}
	d := treeData{SessionID: now.Info.ID}
	line := []api.SessionInfo{now.Info}
	for i, ok := byID[now.Info.Parent]; ok; i, ok = byID[i.Parent] {
		delete(byID, i.ID) // each stands here once, whatever the store says
		line = append(line, i)
	}
	slices.Reverse(line)
	for at := len(line) - 1; at < len(line); at++ {
		for _, i := range children[line[at].ID] {
			if _, ok := byID[i.ID]; ok {
				delete(byID, i.ID)
				line = append(line, i)
			}
		}
	}
	for _, i := range line {
		d.Tree = append(d.Tree, nodeOf(i))
	}
	return d, nil
}
