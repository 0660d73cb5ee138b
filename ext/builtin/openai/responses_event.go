package openai

import (
	"encoding/json"
	"strings"

	"octavo/ext/model"
)

// One event of a Responses stream, as far as it is looked at. What is the same in every event is kept as it is written, because
// that costs no allocation.
type (
	respEvent struct {
		Type     json.RawMessage `json:"type"`
		ItemID   json.RawMessage `json:"item_id"`
		Output   *int            `json:"output_index"`
		Summary  int             `json:"summary_index"`
		Delta    string          `json:"delta"`
		Args     string          `json:"arguments"`
		Item     json.RawMessage `json:"item"`
		Response json.RawMessage `json:"response"`
		Error    json.RawMessage `json:"error"`
	}
	// respItem is an item of output. Only the fields of its Type are set.
	respItem struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Phase     json.RawMessage `json:"phase"`
		Content   []respText      `json:"content"`
		Summary   []respText      `json:"summary"`
	}
	respText struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	// respState is the response as a whole, of which only the last event has all.
	respState struct {
		ID         string            `json:"id"`
		Model      string            `json:"model"`
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Usage      json.RawMessage   `json:"usage"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	}
	respUsage struct {
		Input   model.Tokens `json:"input_tokens"`
		Output  model.Tokens `json:"output_tokens"`
		Details struct {
			Cached  model.Tokens `json:"cached_tokens"`
			Written model.Tokens `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning model.Tokens `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
)

// read decodes one event into e, whose memory is used again. A field of another type than the wire says is left out; only what is
// no JSON object at all is an error.
func (e *respEvent) read(data []byte) error {
	*e = respEvent{
		Type: e.Type[:0], ItemID: e.ItemID[:0], Item: e.Item[:0], Response: e.Response[:0], Error: e.Error[:0],
	}
	return model.DecodeLoosely(data, e)
}

// readItem reads an item of output. The kind is "" for what octavo did not ask for, and for what is no item.
func readItem(raw json.RawMessage) (x *respItem, kind model.PartType) {
	x = new(respItem)
	if model.DecodeLoosely(raw, x) != nil {
		return nil, ""
	}
	switch x.Type {
	case "message":
		return x, model.PartText
	case "reasoning":
		return x, model.PartReasoning
	case "function_call":
		return x, model.PartCall
	}
	return nil, ""
}

// text is what the item says: of a message its text and refusals, of reasoning its summary, or its text when there is none.
func (i *respItem) text() string {
	list, between := i.Content, ""
	if i.Type == "reasoning" && len(i.Summary) > 0 {
		list, between = i.Summary, summaryBreak
	}
	texts := make([]string, len(list))
	for n, t := range list {
		texts[n] = t.Text + t.Refusal
	}
	return strings.Join(texts, between)
}

// buckets makes counts that do not overlap: the wire's input tokens include what was read from the cache and written to it.
func (u *respUsage) buckets() model.Usage {
	return model.Usage{
		Input:     model.Fresh(u.Input.N, u.Details.Cached.N, u.Details.Written.N),
		CacheRead: u.Details.Cached.N, CacheWrite: u.Details.Written.N,
		Output: u.Output.N, Reasoning: u.OutputDetails.Reasoning.N,
	}
}
