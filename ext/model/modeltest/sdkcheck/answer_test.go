package sdkcheck

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	claudeopt "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaiopt "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"octavo/ext/model"
	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

// answer is what a client understood of a stream, in words that no wire has of its own.
type answer struct {
	ID, Model, Text, Reasoning, Seal, Stop string
	Calls                                  []model.ToolCall
	Fresh, Read, Written, Output, Thought  int64
}

var replies = map[string]modeltest.Reply{
	"text":  modeltest.Say("Grüße, 世界!\n<b>").Usage(modeltest.Tokens{Prompt: 10, Completion: 3}),
	"limit": modeltest.Say("x").Finish("length").Usage(modeltest.Tokens{Prompt: 1, Completion: 1}),
	"calls": modeltest.Calls(modeltest.Call("read", `{"path":"ä","n":[1,2]}`), modeltest.Call("now", `{}`)).WithText("I look.").WithReasoning("First this. Then that.").
		Chunk(1).Usage(modeltest.Tokens{Prompt: 100, Cached: 60, Written: 30, Completion: 20, Reasoning: 5}),
}

// Both clients understand the same of the same stream.
func TestStreams(t *testing.T) {
	for _, w := range wires {
		for name, reply := range replies {
			t.Run(w.Name+"/"+name, func(t *testing.T) {
				s := modeltest.New(t)
				s.Script(reply, reply)
				theirs := w.ask(t, s)
				client := model.NewClient(model.Limits{})
				defer client.Close()
				a, err := wiretest.Ask(t, w.Upstream(t, client, s.URL()), model.Request{Messages: wiretest.Hello().Messages})
				if err != nil {
					t.Fatal(err)
				}
				ours := answerOf(a)
				if diff := cmp.Diff(unnumbered(theirs), unnumbered(ours)); diff != "" {
					t.Errorf("the official client and octavo differ (-official +octavo):\n%s", diff)
				}
				if theirs.Text == "" || name == "calls" && len(theirs.Calls) != 2 {
					t.Errorf("nothing was compared: %+v", theirs)
				}
			})
		}
	}
}

// unnumbered takes away what the server numbers request by request.
func unnumbered(a answer) answer {
	a.ID, a.Seal = trimNumber(a.ID), trimNumber(a.Seal)
	for i := range a.Calls {
		a.Calls[i].ID = a.Calls[i].ID[len(a.Calls[i].ID)-2:]
	}
	return a
}

func trimNumber(s string) string {
	if s == "" {
		return s
	}
	return s[:len(s)-1]
}

func answerOf(a *model.Answer) answer {
	n := func(c *int64) int64 {
		if c == nil {
			return -1
		}
		return *c
	}
	u := a.Usage
	out := answer{
		ID: a.ID, Model: a.Model, Text: model.PlainText(a.Parts), Reasoning: wiretest.Thoughts(a), Stop: a.Reason, Calls: model.Calls(a.Parts),
		Fresh: n(u.Input), Read: n(u.CacheRead), Written: max(n(u.CacheWrite), 0), Output: n(u.Output), Thought: n(u.Reasoning),
	}
	for _, p := range a.Parts {
		if p.Type == model.PartReasoning {
			out.Seal = sealOf(p.Reasoning.Opaque)
		}
	}
	return out
}

func askChat(t *testing.T, s *modeltest.Server) answer {
	c := openai.NewClient(openaiopt.WithBaseURL(s.URL()), openaiopt.WithAPIKey("k"), openaiopt.WithMaxRetries(0))
	stream := c.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: "big", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	var acc openai.ChatCompletionAccumulator
	var reasoning string
	var u openai.CompletionUsage // the accumulator leaves out what was written to the cache
	for stream.Next() {
		chunk := stream.Current()
		if !acc.AddChunk(chunk) {
			t.Fatalf("the official client refuses %s", chunk.RawJSON())
		}
		if chunk.JSON.Usage.Valid() {
			u = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			if f, ok := choice.Delta.JSON.ExtraFields["reasoning_content"]; ok {
				reasoning += unquote(t, f.Raw())
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	m := acc.Choices[0]
	out := answer{
		ID: acc.ID, Model: acc.Model, Text: m.Message.Content, Reasoning: reasoning, Stop: m.FinishReason,
		Read: u.PromptTokensDetails.CachedTokens, Output: u.CompletionTokens, Thought: u.CompletionTokensDetails.ReasoningTokens,
		Written: u.PromptTokensDetails.CacheWriteTokens,
	}
	out.Fresh = u.PromptTokens - out.Read - out.Written
	for _, call := range m.Message.ToolCalls {
		out.Calls = append(out.Calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return out
}

func askResponses(t *testing.T, s *modeltest.Server) answer {
	c := openai.NewClient(openaiopt.WithBaseURL(s.URL()), openaiopt.WithAPIKey("k"), openaiopt.WithMaxRetries(0))
	stream := c.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{
		Model: "big", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}, Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	})
	var out answer
	args := map[string]string{} // by the id of the item
	var last responses.Response
	for n := int64(0); stream.Next(); n++ {
		switch ev := stream.Current(); e := ev.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			out.Text += e.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			out.Reasoning += e.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			args[e.ItemID] += e.Delta
		case responses.ResponseCompletedEvent:
			last = e.Response
		case responses.ResponseIncompleteEvent:
			last = e.Response
		case nil:
			t.Errorf("the official client does not know %s", ev.RawJSON())
		}
		if got := stream.Current().SequenceNumber; got != n {
			t.Errorf("event %d is numbered %d", n, got)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	u := last.Usage
	out.ID, out.Model, out.Stop = last.ID, last.Model, string(last.Status)
	if why := last.IncompleteDetails.Reason; why != "" {
		out.Stop = why
	}
	out.Read, out.Written, out.Output, out.Thought = u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens, u.OutputTokens, u.OutputTokensDetails.ReasoningTokens
	out.Fresh = u.InputTokens - out.Read - out.Written
	text, summary := "", ""
	for _, item := range last.Output {
		switch it := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			text += it.Content[0].Text
		case responses.ResponseReasoningItem:
			summary += it.Summary[0].Text
			out.Seal = it.EncryptedContent
		case responses.ResponseFunctionToolCall:
			out.Calls = append(out.Calls, model.ToolCall{ID: it.CallID, Name: it.Name, Arguments: args[it.ID]})
			if it.Arguments != args[it.ID] {
				t.Errorf("arguments came as %q and end as %q", args[it.ID], it.Arguments)
			}
		}
	}
	if text != out.Text || summary != out.Reasoning {
		t.Errorf("deltas and the whole differ: %q %q, %q %q", out.Text, text, out.Reasoning, summary)
	}
	return out
}

func askMessages(t *testing.T, s *modeltest.Server) answer {
	c := anthropic.NewClient(claudeopt.WithBaseURL(s.URL()[:len(s.URL())-len("/v1")]), claudeopt.WithAPIKey("k"), claudeopt.WithMaxRetries(0))
	stream := c.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "big", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	})
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	u := m.Usage
	out := answer{
		ID: m.ID, Model: string(m.Model), Stop: string(m.StopReason), Fresh: u.InputTokens, Read: u.CacheReadInputTokens, Written: u.CacheCreationInputTokens,
		Output: u.OutputTokens, Thought: u.OutputTokensDetails.ThinkingTokens,
	}
	for _, block := range m.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			out.Text += b.Text
		case anthropic.ThinkingBlock:
			out.Reasoning += b.Thinking
			out.Seal = b.Signature
		case anthropic.ToolUseBlock:
			out.Calls = append(out.Calls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}
	return out
}
