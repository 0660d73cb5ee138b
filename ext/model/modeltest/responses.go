package modeltest

import (
	"fmt"
	"maps"
	"strings"
)

// object is a JSON object. Keys are written in the order of the alphabet, so that the same script gives the same bytes.
type object = map[string]any

// events collects the named events of a stream, numbered where the wire wants it.
type events struct {
	numbered bool
	list     []string
}

func (e *events) send(name string, fields object) {
	all := maps.Clone(fields)
	if all == nil {
		all = object{}
	}
	all["type"] = name
	if e.numbered {
		all["sequence_number"] = len(e.list)
	}
	e.list = append(e.list, "event: "+name+"\n"+event(all))
}

// response writes one reply as the events of a response: each item begins, comes in pieces and is repeated whole at its end; the last
// event repeats all.
type response struct {
	events
	reply  Reply
	req    *Request
	output []object
	deltas int
}

func (r Reply) responses(req *Request) []string {
	w := response{events: events{numbered: true}, reply: r, req: req, output: []object{}}
	w.send("response.created", object{"response": w.state("in_progress")})
	if r.reasoning != "" {
		w.reasoning()
	}
	if r.text != "" {
		w.message()
	}
	for i := range r.calls {
		w.call(i)
	}
	w.finish()
	return w.list
}

// state is the response as a whole, with what is there of it.
func (w *response) state(status string) object {
	return object{
		"id": fmt.Sprintf("resp_%d", w.req.N), "object": "response", "created_at": created, "model": w.req.Chat.Model, "status": status,
		"output": w.output, "error": nil, "incomplete_details": nil, "usage": nil, "parallel_tool_calls": true, "tools": []any{},
		"tool_choice": "auto", "instructions": nil, "metadata": object{}, "temperature": 1, "top_p": 1,
	}
}

// item writes one item of output: how it begins, what inside writes with the item's place in every event, and how it ends.
func (w *response) item(begin, end object, inside func(at object)) {
	at := object{"output_index": len(w.output)}
	w.send("response.output_item.added", with(at, "item", begin))
	inside(with(at, "item_id", begin["id"]))
	w.send("response.output_item.done", with(at, "item", end))
	w.output = append(w.output, end)
}

// pour writes text in pieces.
func (w *response) pour(name, text string, at object) {
	for _, p := range pieces(text, w.reply.chunk) {
		w.send(name, with(at, "delta", p))
		w.deltas++
	}
}

// with is at and one field more.
func with(at object, name string, value any) object {
	more := maps.Clone(at)
	more[name] = value
	return more
}

func (w *response) reasoning() {
	text := w.reply.reasoning
	part := func(text string) object { return object{"type": "summary_text", "text": text} }
	begin := object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", w.req.N), "summary": []object{}}
	end := with(begin, "summary", []object{part(text)})
	if strings.Contains(string(w.req.Chat.Fields["include"]), "reasoning.encrypted_content") {
		end["encrypted_content"] = fmt.Sprintf("encrypted-%d", w.req.N)
	}
	w.item(begin, end, func(at object) {
		at["summary_index"] = 0
		w.send("response.reasoning_summary_part.added", with(at, "part", part("")))
		w.pour("response.reasoning_summary_text.delta", text, at)
		w.send("response.reasoning_summary_text.done", with(at, "text", text))
		w.send("response.reasoning_summary_part.done", with(at, "part", part(text)))
	})
}

func (w *response) message() {
	text := w.reply.text
	part := func(text string) object {
		return object{"type": "output_text", "text": text, "annotations": []any{}}
	}
	begin := object{"type": "message", "id": fmt.Sprintf("msg_%d", w.req.N), "role": "assistant", "status": "in_progress", "content": []object{}}
	end := with(with(begin, "status", "completed"), "content", []object{part(text)})
	w.item(begin, end, func(at object) {
		at["content_index"] = 0
		w.send("response.content_part.added", with(at, "part", part("")))
		w.pour("response.output_text.delta", text, with(at, "logprobs", []any{}))
		w.send("response.output_text.done", with(with(at, "logprobs", []any{}), "text", text))
		w.send("response.content_part.done", with(at, "part", part(text)))
	})
}

func (w *response) call(i int) {
	c := w.reply.calls[i]
	begin := object{
		"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", w.req.N, i+1), "call_id": callID(c, w.req, i), "name": c.Name,
		"arguments": "", "status": "in_progress",
	}
	end := with(with(begin, "status", "completed"), "arguments", c.Arguments)
	w.item(begin, end, func(at object) {
		w.pour("response.function_call_arguments.delta", c.Arguments, at)
		w.send("response.function_call_arguments.done", with(with(at, "name", c.Name), "arguments", c.Arguments))
	})
}

// finish writes the last event. Without a reason there is none; that the stream is over is then said in the words of chat completions.
func (w *response) finish() {
	reason := w.reply.reason()
	if reason == "" {
		w.list = append(w.list, "data: [DONE]\n\n")
		return
	}
	name, end := "response.completed", w.state("completed")
	if reason != "stop" && reason != "tool_calls" {
		if reason == "length" {
			reason = "max_output_tokens"
		}
		name, end = "response.incomplete", w.state("incomplete")
		end["incomplete_details"] = object{"reason": reason}
	}
	if !w.reply.noUsage {
		t := w.reply.tokens(w.req, w.deltas)
		end["usage"] = object{
			"input_tokens": t.Prompt, "input_tokens_details": object{"cached_tokens": t.Cached, "cache_write_tokens": t.Written},
			"output_tokens": t.Completion, "output_tokens_details": object{"reasoning_tokens": t.Reasoning}, "total_tokens": t.Prompt + t.Completion,
		}
	}
	w.send(name, object{"response": end})
}
