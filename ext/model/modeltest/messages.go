package modeltest

import "fmt"

// messagesWords are the wire's words for the finish reasons of chat completions.
var messagesWords = map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}

// messages writes the reply as events of a message: blocks that begin, come in pieces and end.
func (r Reply) messages(req *Request) []string {
	var s events
	deltas := len(pieces(r.reasoning, r.chunk)) + len(pieces(r.text, r.chunk))
	for _, c := range r.calls {
		deltas += len(pieces(c.Arguments, r.chunk))
	}
	t := r.tokens(req, deltas)
	message := object{
		"id": fmt.Sprintf("msg_%d", req.N), "type": "message", "role": "assistant", "model": req.Chat.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !r.noUsage {
		message["usage"] = object{
			"input_tokens": t.Prompt - t.Cached - t.Written, "cache_read_input_tokens": t.Cached, "cache_creation_input_tokens": t.Written,
			"output_tokens": 1,
		}
	}
	s.send("message_start", object{"message": message})
	blocks := 0
	block := func(begin object, kind, field, text string, more ...object) {
		s.send("content_block_start", object{"index": blocks, "content_block": begin})
		if blocks == 0 {
			s.send("ping", nil)
		}
		for _, p := range pieces(text, r.chunk) {
			s.send("content_block_delta", object{"index": blocks, "delta": object{"type": kind, field: p}})
		}
		for _, d := range more {
			s.send("content_block_delta", object{"index": blocks, "delta": d})
		}
		s.send("content_block_stop", object{"index": blocks})
		blocks++
	}
	if r.reasoning != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", r.reasoning,
			object{"type": "signature_delta", "signature": fmt.Sprintf("signed-%d", req.N)})
	}
	if r.text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", r.text)
	}
	for i, c := range r.calls {
		block(object{"type": "tool_use", "id": callID(c, req, i), "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Arguments)
	}
	if reason := r.reason(); reason != "" {
		if word := messagesWords[reason]; word != "" {
			reason = word
		}
		end := object{"delta": object{"stop_reason": reason, "stop_sequence": nil}}
		if !r.noUsage {
			end["usage"] = object{"output_tokens": t.Completion, "output_tokens_details": object{"thinking_tokens": t.Reasoning}}
		}
		s.send("message_delta", end)
	}
	s.send("message_stop", nil)
	return s.list
}
