package plain

import (
	"unicode/utf8"

	"octavo/app/api"
)

// maxLiveProgress is how much live output of one call is told, in bytes (product.md 1.5). Its result is told whole.
const maxLiveProgress = 64 << 10

type liveTool struct {
	call    api.Call
	told    int
	omitted int64
	cut     bool // a record said that there is more
	rest    runes
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
	s = t.rest.whole(s)
	room := maxLiveProgress - t.told
	if len(s) > room {
		end := room
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		t.omitted += int64(len(s) - end)
		s, t.told = s[:end], maxLiveProgress
	} else {
		t.told += len(s)
	}
	if s == "" && (t.cut || t.omitted == 0) {
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
	failed := x.Result.Outcome != api.ResultOK
	e.put(toolRecord{Type: recToolEnd, ToolCallID: c.ID, ToolName: c.Tool, OmittedBytes: t.omitted, Outcome: x.Result.Outcome,
		Result: &toolResult{Content: m.Content, Details: x.Result.Display}, IsError: &failed, DurationMS: millis(x.Result.Duration)})
	m.Role, m.ToolCallID, m.ToolName, m.IsError = "toolResult", c.ID, c.Tool, &failed
	e.whole(m)
}
