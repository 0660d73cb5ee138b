package openai

import (
	"bytes"
	"encoding/json"
	"strconv"

	"octavo/ext/model"
)

// tokens is a count as a server writes it. Anything but a whole number from 0 up is unreported: usage never spoils an answer.
type tokens struct{ n *int64 }

func (t *tokens) UnmarshalJSON(b []byte) error {
	t.n = nil
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f >= 0 && f < 1<<53 && f == float64(int64(f)) {
		t.n = model.Count(int64(f))
	}
	return nil
}

// wireUsage is the usage of the wire and of those who extend it.
type wireUsage struct {
	Prompt     tokens `json:"prompt_tokens"`
	Completion tokens `json:"completion_tokens"`
	Details    struct {
		Cached  tokens `json:"cached_tokens"`
		Written tokens `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning tokens `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit tokens `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   tokens `json:"cached_tokens"`           // Moonshot
}

// count takes a usage report. The last one counts: some servers send one with every chunk, each with totals.
func (d *decoder) count(raw json.RawMessage) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return
	}
	var w wireUsage
	_ = json.Unmarshal(raw, &w) // a part of the wrong shape is unreported, the rest counts
	if w.Prompt.n == nil && w.Completion.n == nil {
		return
	}
	d.usage = w.buckets()
}

// buckets makes counts that do not overlap: the wire's prompt tokens include what was read from the cache and written to it.
// Where the parts are more than the whole, fresh input is unreported.
func (w *wireUsage) buckets() model.Usage {
	read := w.Details.Cached.n
	if read == nil {
		read = w.CacheHit.n
	}
	if read == nil {
		read = w.Cached.n
	}
	u := model.Usage{CacheRead: read, CacheWrite: w.Details.Written.n, Output: w.Completion.n, Reasoning: w.Output.Reasoning.n}
	if w.Prompt.n == nil {
		return u
	}
	fresh := *w.Prompt.n
	for _, part := range [...]*int64{u.CacheRead, u.CacheWrite} {
		if part != nil {
			fresh -= *part
		}
	}
	if fresh >= 0 {
		u.Input = &fresh
	}
	return u
}
