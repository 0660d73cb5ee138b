package plain

import (
	"strings"
	"sync"
	"unicode/utf8"

	"octavo/app/api"
)

// maxLiveProgress is how much live output of one call is told, in bytes (product.md 1.5). Its result is told whole.
const maxLiveProgress = 64 << 10

// quota lets maxLiveProgress bytes pass and counts the rest. The zero value is ready.
type quota struct {
	told    int
	omitted int64
	rest    runes
}

// pass answers what of s may be told.
func (q *quota) pass(s string) string {
	s = q.rest.whole(s)
	room := maxLiveProgress - q.told
	if len(s) <= room {
		q.told += len(s)
		return s
	}
	end := room
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	q.omitted += int64(len(s) - end)
	q.told = maxLiveProgress
	return s[:end]
}

type liveTool struct {
	quota
	call api.Call
	cut  bool // a record said that there is more
}

func (e *encoder) startTool(c api.Call) {
	e.tools[c.ID] = &liveTool{call: c}
	e.put(toolRecord{Type: recToolStart, ToolCallID: c.ID, ToolName: c.Tool, Title: c.Title, Args: arguments(c.Arguments)})
}

func (e *encoder) progress(id, s string) {
	t := e.tools[id]
	if t == nil {
		return
	}
	if s = t.pass(s); s == "" && (t.cut || t.omitted == 0) {
		return
	}
	t.cut = t.omitted > 0
	e.put(toolRecord{Type: recToolUpdate, ToolCallID: id, ToolName: t.call.Tool, Delta: s, OmittedBytes: t.omitted})
}

// result ends a call; one that was refused before it ran is started here, so that each end has a start.
func (e *encoder) result(x api.Entry, m message) {
	c := *x.Call
	t := e.tools[c.ID]
	if t == nil {
		e.startTool(c)
		t = e.tools[c.ID]
	}
	delete(e.tools, c.ID)
	e.put(toolRecord{Type: recToolEnd, ToolCallID: c.ID, ToolName: c.Tool, OmittedBytes: t.omitted, Outcome: x.Result.Outcome,
		Result: &toolResult{Content: m.Content, Details: x.Result.Display}, IsError: m.IsError, DurationMS: millis(x.Result.Duration)})
	e.whole(m)
}

// liveOutput carries what a command writes from the goroutine that runs it to the front end's: no more than a quota.
type liveOutput struct {
	more chan struct{} // holds a token while there is something to take

	mu      sync.Mutex
	quota   quota
	pending strings.Builder
}

func newLiveOutput() *liveOutput { return &liveOutput{more: make(chan struct{}, 1)} }

// add takes more output without waiting.
func (l *liveOutput) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.WriteString(l.quota.pass(s))
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// take answers what came since the last take, and how many bytes so far were too many to be told.
func (l *liveOutput) take() (s string, omitted int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s = l.pending.String()
	l.pending.Reset()
	return s, l.quota.omitted
}
