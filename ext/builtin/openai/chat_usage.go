package openai

import (
	"encoding/json"

	"octavo/ext/model"
)

// chatUsage is the usage of the wire and of those who extend it.
type chatUsage struct {
	Prompt     model.Tokens `json:"prompt_tokens"`
	Completion model.Tokens `json:"completion_tokens"`
	Details    struct {
		Cached  model.Tokens `json:"cached_tokens"`
		Written model.Tokens `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning model.Tokens `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit model.Tokens `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   model.Tokens `json:"cached_tokens"`           // Moonshot
}

// count takes a usage report. The last one counts: some servers send one with every chunk, each with totals.
func (d *chatDecoder) count(raw json.RawMessage) {
	if !model.Present(raw) {
		return
	}
	var w chatUsage
	_ = json.Unmarshal(raw, &w) // a part of the wrong shape is unreported, the rest counts
	if w.Prompt.N == nil && w.Completion.N == nil {
		return
	}
	d.draft.Usage = w.buckets()
}

// buckets makes counts that do not overlap: the wire's prompt tokens include what was read from the cache and written to it.
// Where the parts are more than the whole, fresh input is unreported.
func (w *chatUsage) buckets() model.Usage {
	read := w.Details.Cached.N
	if read == nil {
		read = w.CacheHit.N
	}
	if read == nil {
		read = w.Cached.N
	}
	u := model.Usage{CacheRead: read, CacheWrite: w.Details.Written.N, Output: w.Completion.N, Reasoning: w.Output.Reasoning.N}
	u.Input = model.Fresh(w.Prompt.N, u.CacheRead, u.CacheWrite)
	return u
}
