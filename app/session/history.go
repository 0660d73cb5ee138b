package session

import (
	"fmt"
	"slices"

	"octavo/app/api"
	"octavo/ext/model"
)

// history is the conversation as the model reads it, made from entries in order.
type history struct {
	messages []model.Message
	results  []model.Part     // of the newest assistant message, until something else is said
	open     []model.ToolCall // calls of the newest assistant message that have no result yet
	waiting  []model.Message  // said while calls were open: a wire wants the results first
	gap      bool             // the newest entry is one that was lost
}

// add takes the next entry.
func (h *history) add(e entry) {
	gap := h.gap
	h.gap = e.kind == api.EntryNote && e.rec.Origin == originLost
	switch e.kind {
	case api.EntryUser:
		h.say(model.RoleUser, e.rec.Parts)
	case api.EntryNote:
		if gap && h.gap {
			break // one of many, which are told of once
		}
		h.note(e.rec.Origin, model.PlainText(e.rec.Parts))
	case api.EntrySummary:
		h.say(model.RoleUser, []model.Part{model.Text("<summary>\nThis conversation goes on from an earlier one. " +
			"What matters of it:\n\n" + model.PlainText(e.rec.Parts) + "\n</summary>")})
	case api.EntryAssistant:
		h.lose() // what came before it was settled, whatever is left of that
		h.say(model.RoleAssistant, e.rec.Parts)
		h.open = model.Calls(e.rec.Parts)
	case api.EntryResult:
		h.result(e.rec)
	case api.EntryShell:
		if e.rec.Origin != api.OriginExcluded {
			h.say(model.RoleUser, []model.Part{model.Text("<command-of-the-person>\n" + e.rec.Title + "\n</command-of-the-person>\n" +
				model.PlainText(e.rec.Parts))})
		}
	case api.EntrySettled:
		h.lose()
		if e.rec.Settled != nil && e.rec.Settled.Outcome == api.SettledInterrupted {
			h.note("octavo", "The person interrupted you here.")
		}
	}
}

// snapshot answers the conversation so far. Later additions do not change it.
func (h *history) snapshot() []model.Message {
	h.flush()
	return h.messages[:len(h.messages):len(h.messages)]
}

// awaitsModel reports whether a model could answer as things stand: the last word is not its own and no call is open.
func (h *history) awaitsModel() bool {
	if len(h.open) > 0 {
		return false
	}
	return len(h.results) > 0 || len(h.waiting) > 0 || len(h.messages) > 0 && h.messages[len(h.messages)-1].Role != model.RoleAssistant
}

func (h *history) say(role model.Role, parts []model.Part) {
	if m := (model.Message{Role: role, Parts: parts}); role == model.RoleUser && len(h.open) > 0 {
		h.waiting = append(h.waiting, m)
	} else {
		h.flush()
		h.messages = append(h.messages, m)
	}
}

func (h *history) note(origin, text string) {
	h.say(model.RoleUser, []model.Part{model.Text(fmt.Sprintf("<note origin=%q>\n%s\n</note>", origin, text))})
}

// result takes the result of a call. One whose answer was lost goes too: no wire takes a result without its call.
func (h *history) result(r record) {
	i := slices.IndexFunc(h.open, func(c model.ToolCall) bool { return c.ID == r.Call.ID })
	if i < 0 {
		return
	}
	h.open = slices.Delete(h.open, i, i+1)
	h.results = append(h.results, model.Part{Type: model.PartResult, Result: &model.ToolResult{
		ID: r.Call.ID, Name: r.Call.Name, Parts: r.Parts, IsError: r.Outcome != api.ResultOK}})
}

// lose gives the calls that are open at the end of a turn, or before the next answer, a result: theirs was lost with damaged entries, and no wire takes a call
// without one.
func (h *history) lose() {
	for _, c := range slices.Clone(h.open) {
		h.result(record{Call: &c, Outcome: api.ResultUnknown, Parts: []model.Part{model.Text("the result of this call is lost")}})
	}
}

// flush makes one tool message of all results of an answer, once it has them all. What was said meanwhile follows it.
func (h *history) flush() {
	if len(h.results) > 0 {
		h.messages = append(h.messages, model.Message{Role: model.RoleTool, Parts: h.results})
		h.results = nil
	}
	if len(h.open) == 0 {
		h.messages = append(h.messages, h.waiting...)
		h.waiting = nil
	}
}
