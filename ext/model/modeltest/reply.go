package modeltest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// defaultChunk is how many runes a delta carries: about a token.
const defaultChunk = 4

// filler is what a reply says that is only there to be broken off.
const filler = "This answer breaks off before it has said all that it was about to say."

// Reply is the answer to one request. Its methods return a changed copy, so that replies can be shared.
type Reply struct {
	fn func(Request) Reply

	status int // a refusal when not 0
	body   string
	raw    bool // body is what a 200 sends, to the letter
	hangup bool
	header http.Header

	text, reasoning, field string
	calls                  []ToolCall
	finish                 string
	finishSet              bool
	usage                  *Tokens
	noUsage                bool

	chunk       int
	piece       int // bytes in a write; 0: an event
	cut, stall  int // events + 1; 0: never
	first, each time.Duration
}

// Tokens is the usage a reply reports. Prompt includes what was Cached and what was Written to the cache, Completion includes
// Reasoning; each wire gets it the way it counts.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"`
	Written    int `json:"written"`
	Completion int `json:"completion"`
	Reasoning  int `json:"reasoning"`
}

// Say is an answer in words.
func Say(text string) Reply { return Reply{text: text} }

// Call makes a call for Calls. Arguments go out to the letter, JSON or not.
func Call(name, arguments string) ToolCall { return ToolCall{Name: name, Arguments: arguments} }

// Calls is an answer that calls tools. Calls without an id get one.
func Calls(calls ...ToolCall) Reply { return Reply{calls: calls} }

// Status is a refusal. headers are names and values in turn.
func Status(code int, body string, headers ...string) Reply {
	r := Reply{status: code, body: body}
	for i := 0; i+1 < len(headers); i += 2 {
		r = r.Header(headers[i], headers[i+1])
	}
	return r
}

// Raw answers 200 with this body, to the letter, as an event stream unless a header says otherwise.
func Raw(body string) Reply { return Reply{raw: true, body: body} }

// Cut breaks the connection after so many events, of which the first only names the role.
func Cut(events int) Reply { return Say(filler).Cut(events) }

// Stall falls silent after so many events, until the client goes away or the server is closed.
func Stall(events int) Reply { return Say(filler).Stall(events) }

// Hangup closes the connection without a byte of response.
func Hangup() Reply { return Reply{hangup: true} }

// Func decides when the request is there. It may be called from several goroutines.
func Func(f func(Request) Reply) Reply { return Reply{fn: f} }

// WithText says something before calls.
func (r Reply) WithText(text string) Reply { r.text = text; return r }

// WithReasoning thinks before anything else: as reasoning_content, as an item with a summary and encrypted content, or as a
// signed block.
func (r Reply) WithReasoning(text string) Reply { r.reasoning = text; return r }

// ReasoningField names the field that carries reasoning in chat completions.
func (r Reply) ReasoningField(name string) Reply { r.field = name; return r }

// Usage sets what the last chunk reports. Without it the reply reports estimates.
func (r Reply) Usage(t Tokens) Reply { r.usage = &t; return r }

// NoUsage reports none, even when asked for it.
func (r Reply) NoUsage() Reply { r.noUsage = true; return r }

// Finish sets the finish reason, in the words of chat completions, which other wires translate; a word they do not know goes out
// as it is, and "" leaves the reason out.
func (r Reply) Finish(reason string) Reply { r.finish, r.finishSet = reason, true; return r }

// Header sets a response header.
func (r Reply) Header(name, value string) Reply {
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = make(http.Header)
	}
	r.header.Set(name, value)
	return r
}

// Chunk sets how many runes a delta carries; 0 is about a token.
func (r Reply) Chunk(runes int) Reply { r.chunk = runes; return r }

// Pieces sends n bytes in each write, wherever that cuts, instead of an event.
func (r Reply) Pieces(n int) Reply { r.piece = n; return r }

// Cut breaks the connection after so many events, of which the first only names the role.
func (r Reply) Cut(events int) Reply { r.cut = events + 1; return r }

// Stall falls silent after so many events.
func (r Reply) Stall(events int) Reply { r.stall = events + 1; return r }

// Pace waits before the first event and before each one after it.
func (r Reply) Pace(first, each time.Duration) Reply { r.first, r.each = first, each; return r }

// write sends the reply and reports whether the response may end in good order.
func (r Reply) write(ctx context.Context, w http.ResponseWriter, req *Request) bool {
	if r.hangup {
		return false
	}
	maps.Copy(w.Header(), r.header)
	if w.Header().Get("Content-Type") == "" {
		kind := "text/event-stream"
		if r.status != 0 {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.body)
		return true
	}
	events := []string{r.body}
	if !r.raw {
		events = r.events(req)
	}
	return r.stream(ctx, w, events)
}

// events writes the reply on the request's wire.
func (r Reply) events(req *Request) []string {
	switch req.Wire {
	case WireResponses:
		return r.responses(req)
	case WireMessages:
		return r.messages(req)
	default:
		return r.chat(req)
	}
}

// reason is why the reply stops, in the words of chat completions.
func (r Reply) reason() string {
	switch {
	case r.finishSet:
		return r.finish
	case len(r.calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// tokens is the usage the reply was given, else an estimate: a quarter of the request's bytes, and one for each delta.
func (r Reply) tokens(req *Request, deltas int) Tokens {
	if r.usage != nil {
		return *r.usage
	}
	return Tokens{Prompt: (len(req.Body) + 3) / 4, Completion: max(deltas, 1)}
}

// callID is the id of the reply's call at i, made up when the script gives none.
func callID(c ToolCall, req *Request, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d_%d", req.N, i+1)
}

// stream sends events one by one as the reply's pace, pieces and mishaps want it.
func (r Reply) stream(ctx context.Context, w http.ResponseWriter, events []string) bool {
	flush := http.NewResponseController(w).Flush
	w.WriteHeader(http.StatusOK)
	if flush() != nil || !pause(ctx, r.first) {
		return false
	}
	var held string // bytes that do not fill a piece yet
	for i, ev := range events {
		if r.cut == i+1 {
			return false
		}
		if r.stall == i+1 {
			pause(ctx, -1)
			return false
		}
		if i > 0 && !pause(ctx, r.each) {
			return false
		}
		if r.piece <= 0 {
			if _, err := io.WriteString(w, ev); err != nil || flush() != nil {
				return false
			}
			continue
		}
		held += ev
		for len(held) >= r.piece {
			if _, err := io.WriteString(w, held[:r.piece]); err != nil || flush() != nil {
				return false
			}
			held = held[r.piece:]
		}
	}
	if _, err := io.WriteString(w, held); err != nil {
		return false
	}
	return r.cut != len(events)+1 && (r.stall != len(events)+1 || pause(ctx, -1))
}

// pieces cuts text after every n runes; a rune is never cut.
func pieces(text string, n int) []string {
	if n <= 0 {
		n = defaultChunk
	}
	var out []string
	for text != "" {
		end := 0
		for range n {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return slices.Clip(out)
}

// Events is how many events the reply to a request has, for scripts that break off at the last ones.
func (r Reply) Events(req Request) int { return len(r.events(&req)) }
