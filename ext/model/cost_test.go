package model_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/ext/model"
)

func TestCost(t *testing.T) {
	n := model.Count
	price := &model.Price{Input: 2_500_000, Output: 10_000_000, CacheRead: n(1_250_000), CacheWrite: n(3_125_000)}
	bare := &model.Price{Input: 2_500_000, Output: 10_000_000}
	for _, c := range []struct {
		name  string
		price *model.Price
		usage model.Usage
		want  *model.Cost
	}{
		{"no price", nil, model.Usage{Input: n(1), Output: n(1)}, nil},
		{"nothing", price, model.Usage{Input: n(0), Output: n(0)}, &model.Cost{}},
		{"a million each", price, model.Usage{Input: n(1e6), CacheRead: n(1e6), CacheWrite: n(1e6), Output: n(1e6)}, &model.Cost{Micro: 16_875_000}},
		{"remainder", price, model.Usage{Input: n(1), Output: n(0)}, &model.Cost{Micro: 2, Pico: 500_000}},
		{"reasoning is part of output", price, model.Usage{Input: n(0), Output: n(10), Reasoning: n(10)}, &model.Cost{Micro: 100}},
		{"cache at input price", bare, model.Usage{Input: n(0), CacheRead: n(2), CacheWrite: n(2), Output: n(0)}, &model.Cost{Micro: 10}},
		{"cache not reported", price, model.Usage{Input: n(2), Output: n(0)}, &model.Cost{Micro: 5}},
		{"input not reported", price, model.Usage{Output: n(1)}, nil},
		{"output not reported", price, model.Usage{Input: n(1)}, nil},
		{"free needs no counts", &model.Price{}, model.Usage{}, &model.Cost{}},
		{"free cache, priced rest", &model.Price{Input: 1, Output: 1, CacheRead: n(0)}, model.Usage{Input: n(1), CacheRead: n(1e9), Output: n(1)}, &model.Cost{Pico: 2}},
		{"negative count", price, model.Usage{Input: n(-1), Output: n(1)}, nil},
		{"negative price", &model.Price{Input: -1, Output: 1}, model.Usage{Input: n(1), Output: n(1)}, nil},
		{"largest price", &model.Price{Input: math.MaxInt64}, model.Usage{Input: n(999_999)}, &model.Cost{Micro: 9223362813482738952, Pico: 224_193}},
		{"beyond int64", &model.Price{Input: math.MaxInt64}, model.Usage{Input: n(2_000_000)}, nil},
		{"far beyond", &model.Price{Input: math.MaxInt64, Output: math.MaxInt64}, model.Usage{Input: n(math.MaxInt64), CacheRead: n(math.MaxInt64), CacheWrite: n(math.MaxInt64), Output: n(math.MaxInt64)}, nil},
	} {
		if diff := cmp.Diff(c.want, c.price.Cost(c.usage)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Costs of single requests add up to what all their tokens cost at once.
func TestCostAddsUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &model.Price{Input: rapid.Int64Range(0, 1e9).Draw(t, "input"), Output: rapid.Int64Range(0, 1e9).Draw(t, "output")}
		var sum model.Cost
		var in, out int64
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			i, o := rapid.Int64Range(0, 1e6).Draw(t, "in"), rapid.Int64Range(0, 1e6).Draw(t, "out")
			in, out = in+i, out+o
			sum = sum.Add(*p.Cost(model.Usage{Input: &i, Output: &o}))
		}
		if want := p.Cost(model.Usage{Input: &in, Output: &out}); sum != *want {
			t.Fatalf("sum %+v, at once %+v", sum, *want)
		}
	})
}

func TestEstimate(t *testing.T) {
	if got := model.EstimateText(0) + model.EstimateText(1)*10 + model.EstimateText(4)*100 + model.EstimateText(5)*1000; got != 2110 {
		t.Errorf("text rounds up by four bytes: %d", got)
	}
	for _, c := range []struct{ w, h, want int }{{1, 1, 255}, {512, 512, 255}, {513, 512, 425}, {1024, 1025, 1105}, {0, 0, 765}, {-1, 512, 425}} {
		if got := model.EstimateImage(c.w, c.h); got != c.want {
			t.Errorf("image %dx%d: %d, want %d", c.w, c.h, got, c.want)
		}
	}
	image := model.Part{Type: model.PartImage, Image: &model.Image{Width: 10, Height: 10}}
	thought := model.Part{Type: model.PartReasoning, Reasoning: &model.Reasoning{Text: "12345678", Maker: "p/m"}}
	call := model.Part{Type: model.PartCall, Call: &model.ToolCall{ID: "id__", Name: "name", Arguments: "args"}}
	result := func(parts ...model.Part) model.Part {
		return model.Part{Type: model.PartResult, Result: &model.ToolResult{ID: "id__", Parts: parts}}
	}
	for _, c := range []struct {
		name string
		m    model.Message
		want int
	}{
		{"text", model.Message{Role: model.RoleUser, Parts: []model.Part{model.Text("12345")}}, 2 + 12},
		{"picture", model.Message{Role: model.RoleUser, Parts: []model.Part{model.Text("1234"), image}}, 1 + 12 + 255 + 20},
		{"call", model.Message{Role: model.RoleAssistant, Parts: []model.Part{call}}, 3 + 12},
		{"own reasoning", model.Message{Role: model.RoleAssistant, Parts: []model.Part{thought}}, 2 + 12},
		{"reasoning that is sent whole", model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.PartReasoning,
			Reasoning: &model.Reasoning{Text: "12345678", Opaque: []byte(`"1234567890"`), Maker: "p/m"}}}}, 3 + 12},
		{"what goes back with a text", model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			{Type: model.PartText, Text: "1234", Opaque: &model.Opaque{Data: []byte(`"56"`), Maker: "p/m"}},
			{Type: model.PartText, Text: "1234", Opaque: &model.Opaque{Data: []byte(`"56"`), Maker: "p/n"}}}}, 3 + 12},
		{"results", model.Message{Role: model.RoleTool, Parts: []model.Part{result(model.Text("1234")), result(image)}}, (2 + 12) + (1 + 12 + 255 + 20)},
	} {
		if got := model.EstimateMessage(c.m, "p/m"); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := model.EstimateMessage(model.Message{Role: model.RoleAssistant, Parts: []model.Part{thought}}, "other/m"); got != 12 {
		t.Errorf("another model's reasoning is not sent: %d, want 12", got)
	}
	r := model.Request{Maker: "p/m", System: []string{"1234", "5678"}, Tools: []model.ToolSpec{{Name: "abcd", Description: "efgh", Parameters: []byte("{}")}},
		Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{model.Text("1234")}}}}
	if got, want := model.Estimate(r), 16+2+(1+1+1+20)+(1+12); got != want {
		t.Errorf("request: %d, want %d", got, want)
	}
}
