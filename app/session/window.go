package session

import (
	"octavo/ext"
	"octavo/ext/model"
)

// reserveTokens is what is kept of a window for the answer when nothing smaller is known (product.md 5).
const reserveTokens = 16 << 10

// reserve is how much of a model's window belongs to its answer.
func reserve(i model.Info) int {
	r := reserveTokens
	if i.MaxOutputTokens > 0 {
		r = min(r, i.MaxOutputTokens)
	}
	return min(r, i.ContextTokens/4)
}

// estimate is the size of the next request in tokens: what the provider counted for the newest one and its answer, with an
// estimate of what came since; or an estimate of all of it while nothing was counted.
func (a *actor) estimate(f frozen) int {
	if a.context == 0 {
		return model.Estimate(f.request)
	}
	since := 0
	for i := len(f.request.Messages) - 1; i >= 0 && f.request.Messages[i].Role != model.RoleAssistant; i-- {
		since += model.EstimateMessage(f.request.Messages[i], f.request.Maker)
	}
	return a.context + since
}

// system is what stands in front of the conversation: core text, instructions in composition order, then contexts. It is made of
// what does not change while the session is open, so that a provider's cache keeps it.
func (a *actor) system() []string {
	blocks := append([]string(nil), a.o.System...)
	for _, i := range a.o.Composition.Instructions {
		blocks = append(blocks, i.Text)
	}
	for _, c := range a.o.Composition.Contexts {
		blocks = append(blocks, c.Text)
	}
	return redacted(a.o.Redact, blocks) // a workspace's own instructions may hold what they should not
}

// fills estimates what fills the window, in the order in which the model receives it.
func (a *actor) fills() []ext.ContextPart {
	c := a.o.Composition
	instructions := 0
	for _, s := range a.o.System {
		instructions += model.EstimateText(len(s))
	}
	for _, i := range c.Instructions {
		instructions += model.EstimateText(len(i.Text))
	}
	parts := []ext.ContextPart{{Name: "octavo and its tools", Tokens: instructions}}
	for _, x := range c.Contexts {
		parts = append(parts, ext.ContextPart{Name: x.Extension, Tokens: model.EstimateText(len(x.Text))})
	}
	tools := 0
	for _, t := range toolSpecs(c) {
		tools += model.EstimateTool(t)
	}
	byRole := map[model.Role]int{}
	for _, m := range a.history.snapshot() {
		byRole[m.Role] += model.EstimateMessage(m, a.row.Model)
	}
	return append(parts, ext.ContextPart{Name: "tools", Tokens: tools},
		ext.ContextPart{Name: "your messages and notes", Tokens: byRole[model.RoleUser]},
		ext.ContextPart{Name: "answers", Tokens: byRole[model.RoleAssistant]},
		ext.ContextPart{Name: "tool results", Tokens: byRole[model.RoleTool]})
}
