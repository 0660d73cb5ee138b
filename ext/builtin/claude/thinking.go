package claude

import (
	"strings"

	"octavo/ext/model"
)

// How a model is told to think changed twice. Claude before 3.7 does not think. From 3.7 to 4.5, and at servers that copy the wire,
// it is given a budget of tokens within max_tokens. From 4.6 on it decides by itself, led by the field effort; since 4.7 a budget is
// refused. A Claude whose name has no version is taken for a new one.
type generation int

const (
	thoughtless generation = iota
	budgeted
	adaptive
)

// The budgets of the levels, in tokens. The wire's minimum is 1,024.
const (
	budgetMinimal = 1024
	budgetLow     = 4096
	budgetMedium  = 8192
	budgetHigh    = 16384
	budgetXHigh   = 24576
	budgetMax     = 30976

	// minAnswer is what is kept of max_tokens for the answer itself: the budget has to be smaller than max_tokens.
	minAnswer = 1024
)

// defaultMaxTokens is what a model whose limit is not known may answer, thinking included: every Claude since 4 can do that. When at
// least the window is known, a quarter of it is the most, because what is asked for is taken off it.
const defaultMaxTokens = 32000

type (
	thinking struct {
		Type    string `json:"type"` // adaptive, enabled or disabled
		Budget  int    `json:"budget_tokens,omitempty"`
		Display string `json:"display,omitempty"`
	}
	outputConfig struct {
		Effort string `json:"effort"`
	}
)

// maxTokens is what one answer may have; the wire wants it said.
func maxTokens(r model.Request, i model.Info) int {
	switch {
	case r.MaxOutput > 0:
		return r.MaxOutput
	case i.MaxOutputTokens > 0:
		return i.MaxOutputTokens
	case i.ContextTokens > 0:
		return max(min(defaultMaxTokens, i.ContextTokens/4), 1)
	default:
		return defaultMaxTokens
	}
}

// think is what a request says of thinking: nothing where the level is left to the provider.
func think(r model.Request, limit int) (*thinking, *outputConfig) {
	gen := generationOf(r.Model)
	switch {
	case r.Effort == "" || gen == thoughtless:
		return nil, nil
	case r.Effort == "off":
		return &thinking{Type: "disabled"}, nil
	case gen == adaptive:
		level := r.Effort
		if level == "minimal" {
			level = "low" // the wire's lowest
		}
		// Without a summary newer models show nothing of what they think.
		return &thinking{Type: "adaptive", Display: "summarized"}, &outputConfig{Effort: level}
	}
	budget := min(budgetOf(r.Effort), limit-minAnswer)
	if budget < budgetMinimal || unthought(r) {
		return nil, nil
	}
	return &thinking{Type: "enabled", Budget: budget}, nil
}

func budgetOf(level string) int {
	switch level {
	case "minimal":
		return budgetMinimal
	case "low":
		return budgetLow
	case "high":
		return budgetHigh
	case "xhigh":
		return budgetXHigh
	case "max":
		return budgetMax
	default:
		return budgetMedium
	}
}

// unthought reports that the answer whose calls are being answered has no thinking to send back: another model made it, or it was
// made without. With a budget the server refuses to go on from there; after the next message of a person it thinks again.
func unthought(r model.Request) bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		switch m := r.Messages[i]; m.Role {
		case model.RoleTool:
		case model.RoleAssistant:
			return i < len(r.Messages)-1 && !hasThinking(m.Parts, r.Maker)
		default:
			return false
		}
	}
	return false
}

func hasThinking(parts []model.Part, maker string) bool {
	for _, p := range parts {
		if p.Type == model.PartReasoning && ownThinking(p.Reasoning, maker) {
			return true
		}
	}
	return false
}

// generationOf reads the version out of a model's name: claude-3-7-sonnet-20250219, claude-opus-4.6, eu.anthropic.claude-sonnet-5.
func generationOf(name string) generation {
	name = strings.ToLower(name)
	at := strings.Index(name, "claude")
	if at < 0 {
		return budgeted
	}
	var version []int
	for _, word := range strings.FieldsFunc(name[at:], func(c rune) bool { return strings.ContainsRune("-._@:/ ", c) }) {
		if n, ok := smallNumber(word); ok && len(version) < 2 {
			version = append(version, n)
		}
	}
	if len(version) == 0 {
		return adaptive
	}
	major, minor := version[0], 0
	if len(version) == 2 {
		minor = version[1]
	}
	switch {
	case major < 3 || major == 3 && minor < 7:
		return thoughtless
	case major == 3 || major == 4 && minor < 6:
		return budgeted
	default:
		return adaptive
	}
}

// smallNumber reads a number of one or two digits; a longer one is a date.
func smallNumber(word string) (int, bool) {
	if len(word) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, word != ""
}
