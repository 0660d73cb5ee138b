package editor_test

import (
	"fmt"
	"strings"
	"testing"

	"octavo/ui/editor"
)

func TestHistory(t *testing.T) {
	h := editor.NewHistory([]string{"newest", "older\n", "newest", " "}, []string{"older\n", "\x1b[31moldest"})
	b := editor.New(nil)
	b.Insert("my draft")
	b.Attach(image("a.png", 1))
	b.Left()
	want := show(b)
	steps := []struct {
		move    func(*editor.Buffer) bool
		changed bool
		want    string
	}{
		{h.Next, false, want},
		{h.Previous, true, "newest|"},
		{h.Previous, true, "older\n|"},
		{h.Previous, true, "oldest|"},
		{h.Previous, false, "oldest|"},
		{h.Next, true, "older\n|"},
		{h.Next, true, "newest|"},
		{h.Next, true, want},
		{h.Next, false, want},
		{h.Previous, true, "newest|"},
		{h.Leave, true, want},
		{h.Leave, false, want},
	}
	for i, s := range steps {
		if changed := s.move(b); changed != s.changed || show(b) != s.want {
			t.Errorf("step %d: %v, %q, want %q", i, changed, show(b), s.want)
		}
		if h.Browsing() != (s.want != want) || h.Shows(b) != (s.want != want) {
			t.Errorf("step %d: browsing %v, shows %v", i, h.Browsing(), h.Shows(b))
		}
		if err := b.Check(); err != nil {
			t.Error(err)
		}
	}
	if len(b.Submission().Attached) != 1 || !b.Undo() || !b.Undo() || !b.Empty() {
		t.Errorf("the draft lost its image or its undo: %q", show(b))
	}
}

func TestHistoryKeepsChanges(t *testing.T) {
	h := editor.NewHistory([]string{"one", "two"})
	b := editor.New(nil)
	b.Insert("draft")
	h.Previous(b)
	b.Insert("!")
	if h.Shows(b) {
		t.Error("a changed prompt counts as shown")
	}
	h.Previous(b)
	h.Next(b)
	if got := show(b); got != "one!|" {
		t.Errorf("the change is lost: %q", got)
	}
	if b.Undo(); show(b) != "one|" {
		t.Errorf("undone it is %q", show(b))
	}
	b.Redo()
	sent := b.Submission().Text
	h.Sent(b, sent)
	if got := show(b); got != "draft|" || h.Browsing() {
		t.Errorf("after sending the draft is %q", got)
	}
	b.Take()
	for i, want := range []string{"one!|", "one|", "two|"} {
		if h.Previous(b); show(b) != want {
			t.Errorf("prompt %d is %q, want %q", i, show(b), want)
		}
	}
	h.Sent(b, "two")
	h.Sent(b, " \n")
	if b.Value() != "" || h.Len() != 3 {
		t.Errorf("%d prompts, draft %q", h.Len(), b.Value())
	}
	if h.Previous(b); show(b) != "two|" {
		t.Errorf("a prompt sent again is not the newest: %q", show(b))
	}
}

func TestSearch(t *testing.T) {
	h := editor.NewHistory([]string{"Fix the Parser, parser first", "läuft die ÄRA?", "\u0130x \u212a and İ", "日本語"})
	spans := func(query string) string {
		var out []string
		for _, m := range h.Search(query) {
			var words []string
			for _, s := range m.Spans {
				words = append(words, m.Text[s.From:s.To])
			}
			out = append(out, fmt.Sprintf("%d%v", m.Index, words))
		}
		return strings.Join(out, " ")
	}
	for query, want := range map[string]string{
		"PARSER": "0[Parser parser]", "fix": "0[Fix]", "är": "1[ÄR]", "ä": "1[ä Ä]", "x": "0[x] 2[x]", "本": "3[本]", "none": "",
		"rr": "", "": "0[] 1[] 2[] 3[]", "İ": "2[İ İ]", "the parser": "0[the Parser]",
	} {
		if got := spans(query); got != want {
			t.Errorf("%q finds %s, want %s", query, got, want)
		}
	}
	b := editor.New(nil)
	b.Insert("draft")
	if !h.Show(b, 1) || show(b) != "läuft die ÄRA?|" || h.Show(b, 4) || h.Show(b, -1) {
		t.Errorf("shown is %q", show(b))
	}
	if h.Previous(b); show(b) != "\u0130x \u212a and İ|" {
		t.Errorf("the prompt before it is %q", show(b))
	}
	if h.Leave(b); show(b) != "draft|" {
		t.Errorf("the draft is %q", show(b))
	}
}

func TestHistoryBounds(t *testing.T) {
	many := make([]string, editor.MaxHistory+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	h := editor.NewHistory(many[:editor.MaxHistory-1], many)
	if h.Len() != editor.MaxHistory {
		t.Errorf("%d prompts", h.Len())
	}
	if got := len(h.Search("")); got != editor.MaxMatches {
		t.Errorf("%d matches", got)
	}
	b := editor.New(nil)
	h.Sent(b, "new")
	if h.Len() != editor.MaxHistory || h.Search("")[0].Text != "new" {
		t.Errorf("%d prompts, %q", h.Len(), h.Search("")[0].Text)
	}
	big := strings.Repeat("x", editor.MaxText)
	h = editor.NewHistory([]string{big + "x", strings.Repeat("\u202e", editor.MaxText/4), big})
	if h.Len() != 1 {
		t.Errorf("%d prompts, one is short enough", h.Len())
	}
	large := []string{}
	for i := range 9 {
		large = append(large, fmt.Sprint(i)+big[1:])
	}
	if h = editor.NewHistory(large); h.Len() != editor.MaxHistoryBytes/editor.MaxText {
		t.Errorf("%d large prompts", h.Len())
	}
	if h.Sent(b, "new"); h.Len() != editor.MaxHistoryBytes/editor.MaxText {
		t.Errorf("%d large prompts and a new one", h.Len())
	}
	if h.Sent(b, big+"x"); h.Search("")[0].Text != "new" {
		t.Error("too long a prompt is taken")
	}
}

func TestDrafts(t *testing.T) {
	b := draft(t, "one ^two|")
	d := b.Take()
	if !b.Empty() || b.Undo() || d.Empty() || d.Value() != "one two" {
		t.Errorf("taken is %q, left %q", d.Value(), b.Value())
	}
	b.Insert("other")
	b.Rows(width)
	other := b.Take()
	b.Put(d)
	if got := show(b); got != "one ^two|" || !b.Undo() {
		t.Errorf("put back it is %q", got)
	}
	b.Put(other)
	checkRows(t, b, width)
	b.Put(editor.Draft{})
	if !b.Empty() || !(editor.Draft{}).Empty() || (editor.Draft{}).Value() != "" {
		t.Error("no draft is not empty")
	}
	checkRows(t, b, width)
}
