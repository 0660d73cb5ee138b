package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
)

func nothing(model.Event) error { return nil }

// fill opens a piece and adds text to it.
func fill(t *testing.T, d *model.Draft, kind model.PartType, text string) *model.Piece {
	t.Helper()
	p, err := d.Open(kind)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Add(p, text); err != nil {
		t.Fatal(err)
	}
	return p
}

// Pieces keep their order, what is opaque keeps its field and maker, and what is empty is left out.
func TestDraftParts(t *testing.T) {
	var events []string
	d := model.NewDraft("p/m", func(e model.Event) error {
		events = append(events, fmt.Sprintf("%d %d %s%s%s", e.Type, e.Index, e.CallID, e.CallName, e.Delta))
		return nil
	})
	for range 2 {
		if err := d.Start(); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, d, model.PartReasoning, "t1")
	fill(t, d, model.PartText, "")
	text := fill(t, d, model.PartText, "a")
	text.Field, text.Opaque = "phase", json.RawMessage(`"x"`)
	sealed := fill(t, d, model.PartReasoning, "")
	sealed.Field, sealed.Opaque = "sealed", json.RawMessage(`{}`)
	late := fill(t, d, model.PartCall, "{")
	early := fill(t, d, model.PartCall, "")
	for _, c := range []struct {
		p        *model.Piece
		id, name string
	}{{early, "i", "n"}, {late, "j", "m"}, {late, "k", "other"}} {
		if err := d.Announce(c.p, c.id, c.name); err != nil {
			t.Fatal(err)
		}
	}
	for _, whole := range []string{"{}", "{}", "[]"} { // the same again adds nothing, and what differs is not believed
		if err := d.Complete(late, whole); err != nil {
			t.Fatal(err)
		}
	}
	a, err := d.Answer("tool_use", false)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Part{
		{Type: model.PartReasoning, Reasoning: &model.Reasoning{Text: "t1", Maker: "p/m"}},
		{Type: model.PartText, Text: "a", Opaque: &model.Opaque{Field: "phase", Data: json.RawMessage(`"x"`), Maker: "p/m"}},
		{Type: model.PartReasoning, Reasoning: &model.Reasoning{Field: "sealed", Opaque: json.RawMessage(`{}`), Maker: "p/m"}},
		{Type: model.PartCall, Call: &model.ToolCall{ID: "j", Name: "m", Arguments: "{}"}},
		{Type: model.PartCall, Call: &model.ToolCall{ID: "i", Name: "n"}},
	}
	if diff := cmp.Diff(want, a.Parts); diff != "" || a.Finish != model.FinishCalls {
		t.Errorf("%s (-want +got):\n%s", a.Finish, diff)
	}
	if diff := cmp.Diff([]string{"1 0 ", "3 0 t1", "2 0 a", "4 1 in", "4 0 jm", "5 0 {", "5 0 }"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestDraftBounds(t *testing.T) {
	d := model.NewDraft("", nothing)
	p := fill(t, d, model.PartText, strings.Repeat("x", model.MaxAnswer-1))
	if err := d.Grow(1); err != nil {
		t.Errorf("%d bytes: %v", model.MaxAnswer, err)
	}
	if err := d.Add(p, "x"); model.ClassOf(err) != model.ErrMalformed || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("a byte above %d: %v", model.MaxAnswer, err)
	}
	for kind, most := range map[model.PartType]int{model.PartCall: model.MaxCalls, model.PartText: model.MaxPieces} {
		d := model.NewDraft("", nothing)
		for range most {
			fill(t, d, kind, "")
		}
		if _, err := d.Open(kind); model.ClassOf(err) != model.ErrMalformed || !strings.Contains(err.Error(), fmt.Sprint(most)) {
			t.Errorf("%s above %d: %v", kind, most, err)
		}
	}
	for n, want := range map[int]int{model.MaxWord: model.MaxWord, model.MaxWord + 1: model.MaxWord} {
		if got := model.Word("\x1b[31m" + strings.Repeat("x", n)); len(got) != want {
			t.Errorf("a word of %d bytes became %d", n, len(got))
		}
	}
}

// Without a reason, only what is complete and at its own end is an answer.
func TestDraftAnswer(t *testing.T) {
	text := func(d *model.Draft) { fill(t, d, model.PartText, "x") }
	call := func(name, arguments string) func(*model.Draft) {
		return func(d *model.Draft) {
			p := fill(t, d, model.PartCall, arguments)
			if name == "" {
				return
			}
			if err := d.Announce(p, "", name); err != nil {
				t.Fatal(err)
			}
		}
	}
	thought := func(d *model.Draft) { fill(t, d, model.PartReasoning, "x") }
	for _, c := range []struct {
		name   string
		fill   func(*model.Draft)
		reason string
		over   bool
		want   model.Finish
		class  model.ErrorClass
	}{
		{"text", text, "stop", false, model.FinishComplete, ""},
		{"nothing, on purpose", func(*model.Draft) {}, "stop", true, model.FinishComplete, ""},
		{"a call after stop", call("n", "{}"), "stop", true, model.FinishCalls, ""},
		{"a call cut at its limit", call("n", "{"), "length", true, model.FinishLength, ""},
		{"no call", text, "tool_calls", true, model.FinishOther, ""},
		{"no reason", text, "", true, model.FinishOther, ""},
		{"no reason, a call", call("n", "{}"), "", true, model.FinishCalls, ""},
		{"no reason, half a call", call("n", "{"), "", true, "", model.ErrCut},
		{"no reason, only thought", thought, "", true, "", model.ErrCut},
		{"no reason, no end", text, "", false, "", model.ErrCut},
		{"no name", call("", "{}"), "tool_calls", false, "", model.ErrMalformed},
		{"no name, no reason", call("", "{}"), "", true, "", model.ErrMalformed},
		{"no name, no end", call("", "{}"), "", false, "", model.ErrCut},
	} {
		d := model.NewDraft("", nothing)
		c.fill(d)
		a, err := d.Answer(c.reason, c.over)
		if model.ClassOf(err) != c.class || err == nil && a.Finish != c.want {
			t.Errorf("%s: %+v %v, want %s %s", c.name, a, err, c.want, c.class)
		}
	}
}

func TestDraftStopsWithEmit(t *testing.T) {
	enough := errors.New("enough")
	d := model.NewDraft("", func(model.Event) error { return enough })
	p := fill(t, d, model.PartCall, "{}")
	if err := d.Start(); err != enough {
		t.Error(err)
	}
	if err := d.Announce(p, "i", "n"); err != enough {
		t.Error(err)
	}
	if err := d.Add(p, "x"); err != enough {
		t.Error(err)
	}
}

func TestFresh(t *testing.T) {
	n := model.Count
	for _, c := range []struct {
		got  *int64
		want string
	}{
		{model.Fresh(nil, n(1)), "?"}, {model.Fresh(n(5)), "5"}, {model.Fresh(n(5), nil, n(2)), "3"}, {model.Fresh(n(5), n(2), n(3)), "0"}, {model.Fresh(n(5), n(6)), "?"},
	} {
		got := "?"
		if c.got != nil {
			got = fmt.Sprint(*c.got)
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A part's opaque addition goes back to its maker, under its own name.
func TestOpaqueFor(t *testing.T) {
	o := &model.Opaque{Field: "f", Data: json.RawMessage(`1`), Maker: "p/m"}
	if string(o.For("p/m", "f")) != "1" || o.For("p/n", "f") != nil || o.For("p/m", "g") != nil || (*model.Opaque)(nil).For("p/m", "f") != nil {
		t.Error("it went to another, or not to its own")
	}
	if (&model.Opaque{Field: "f", Data: json.RawMessage(`{`), Maker: "p/m"}).For("p/m", "f") != nil {
		t.Error("broken data was sent back")
	}
}
