package keys_test

import (
	"slices"
	"testing"

	"octavo/ui/keys"
)

// Where a screen may be, innermost context first.
var (
	draft    = []keys.Context{keys.Composer, keys.Chat, keys.Global}
	popup    = []keys.Context{keys.Popup, keys.Composer, keys.Chat, keys.Global}
	waiting  = []keys.Context{keys.Waiting, keys.Composer, keys.Chat, keys.Global}
	block    = []keys.Context{keys.Transcript, keys.Chat, keys.Global}
	normal   = []keys.Context{keys.Normal, keys.Chat, keys.Global}
	approval = []keys.Context{keys.Approval, keys.Global}
	page     = []keys.Context{keys.List, keys.Global}
	filtered = []keys.Context{keys.Narrowed, keys.List, keys.Global}
	slash    = []keys.Context{keys.PageFilter, keys.Filter, keys.List, keys.Global}
	picker   = []keys.Context{keys.Filter, keys.List, keys.Global}
	narrowed = []keys.Context{keys.Narrowed, keys.Filter, keys.List, keys.Global}
	pane     = []keys.Context{keys.Detail, keys.Reader, keys.Global}
	reader   = []keys.Context{keys.Reader, keys.Global}
	worker   = []keys.Context{keys.Inspector, keys.Reader, keys.Global}
	search   = []keys.Context{keys.Search, keys.Reader, keys.Global}
	field    = []keys.Context{keys.Field, keys.Form, keys.Global}
	area     = []keys.Context{keys.Area, keys.Form, keys.Global}
	secret   = []keys.Context{keys.Secret, keys.Form, keys.Global}
	choice   = []keys.Context{keys.Choice, keys.Form, keys.Global}
	question = []keys.Context{keys.Confirm}
)

func registry(t testing.TB, file string) *keys.Registry {
	t.Helper()
	r, problems := keys.Load("keys.toml", []byte(file))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return r
}

// TestEveryChordOfTheSpec is the table of ui.md 13, and what other sections say of keys.
func TestEveryChordOfTheSpec(t *testing.T) {
	r := registry(t, "")
	for _, row := range []struct {
		at   []keys.Context
		key  string
		want keys.Action
	}{
		{draft, "enter", keys.Submit}, {page, "enter", keys.ListChoose}, {picker, "enter", keys.ListChoose},
		{draft, "ctrl+s", keys.FollowUp}, {field, "ctrl+s", keys.FormSubmit},
		{draft, "shift+enter", keys.NewLine}, {draft, "alt+enter", keys.NewLine}, {draft, "ctrl+j", keys.NewLine},
		{page, "shift+enter", keys.ListChooseHere}, {picker, "alt+enter", keys.ListChooseHere}, {picker, "ctrl+j", keys.ListChooseHere},
		{draft, "alt+up", keys.Dequeue}, {page, "alt+up", ""},
		{draft, "esc", keys.Interrupt}, {popup, "esc", keys.PopupClose}, {page, "esc", keys.ListBack},
		{draft, "ctrl+c", keys.Clear}, {page, "ctrl+c", keys.Cancel}, {field, "ctrl+c", keys.Cancel},
		{draft, "ctrl+d", keys.Exit}, {page, "ctrl+d", keys.Exit}, {picker, "ctrl+d", keys.Exit}, {secret, "ctrl+d", keys.Exit},
		{draft, "up", keys.CursorUp}, {draft, "down", keys.CursorDown},
		{page, "up", keys.ListUp}, {page, "down", keys.ListDown}, {picker, "ctrl+p", keys.ListUp}, {picker, "ctrl+n", keys.ListDown},
		{popup, "up", keys.PopupUp}, {popup, "ctrl+n", keys.PopupDown},
		{draft, "pgup", keys.ChatPageUp}, {draft, "pgdown", keys.ChatPageDown}, {draft, "home", keys.ChatTop}, {draft, "end", keys.ChatBottom},
		{page, "pgup", keys.ListPageUp}, {picker, "pgdown", keys.ListPageDown}, {picker, "home", keys.ListTop}, {picker, "end", keys.ListBottom},
		{reader, "pgup", keys.ReaderPageUp}, {reader, "pgdown", keys.ReaderPageDown}, {reader, "home", keys.ReaderTop}, {worker, "end", keys.ReaderBottom},
		{draft, "ctrl+o", keys.Disclose}, {page, "ctrl+o", ""}, {worker, "ctrl+o", keys.Disclose},
		{draft, "ctrl+g", keys.ExternalEditor}, {field, "ctrl+g", keys.ExternalEditor}, {area, "ctrl+g", keys.ExternalEditor},
		{draft, "ctrl+r", keys.HistorySearch}, {page, "ctrl+r", keys.ListRefresh}, {picker, "ctrl+r", keys.ListRefresh},
		{draft, "ctrl+e", keys.CursorLineEnd}, {page, "ctrl+e", keys.ListEdit}, {picker, "ctrl+e", keys.ListEdit},
		{draft, "ctrl+x", ""}, {page, "ctrl+x", keys.ListRemove}, {picker, "ctrl+x", keys.ListRemove},
		{draft, "ctrl+a", keys.CursorLineStart}, {page, ".", keys.PageActions}, {picker, "ctrl+a", keys.PageActions}, {picker, ".", ""},
		{draft, "ctrl+y", keys.Yank}, {waiting, "ctrl+y", keys.ApprovalFocus}, {page, "ctrl+y", ""},
		{[]keys.Context{keys.Waiting, keys.List, keys.Global}, "ctrl+y", keys.ApprovalFocus}, {approval, "ctrl+y", keys.ApprovalFocus},
		{draft, "tab", keys.Complete}, {popup, "tab", keys.PopupInsert}, {page, "tab", keys.PageDetail}, {pane, "tab", keys.PageDetail},
		{draft, "f1", keys.Help}, {draft, "ctrl+l", keys.Repaint}, {draft, "ctrl+z", keys.Suspend},
		{picker, "f1", keys.Help}, {field, "ctrl+l", keys.Repaint}, {approval, "ctrl+z", keys.Suspend},
		// 3, 4, 7
		{block, "t", keys.FlipDiff}, {block, "enter", keys.ListChoose}, {page, "/", keys.PageFilterOpen}, {page, "?", keys.Help},
		{page, "j", keys.ListDown}, {page, "k", keys.ListUp}, {page, "g", keys.ListTop}, {page, "G", keys.ListBottom}, {page, "shift+g", keys.ListBottom},
		{page, "shift+/", keys.Help}, {slash, "enter", keys.PageFilterKeep}, {slash, "esc", keys.PageFilterLeave},
		{narrowed, "esc", keys.PageFilterClear}, {filtered, "esc", keys.PageFilterClear}, {page, "left", keys.ListFold}, {page, "right", keys.ListUnfold},
		{picker, "left", keys.CursorLeft}, {worker, "left", keys.ReaderBack}, {worker, "/", keys.ReaderSearch}, {pane, "down", keys.ReaderDown},
		// 9, 10
		{field, "tab", keys.FormNext}, {field, "shift+tab", keys.FormPrevious}, {field, "down", keys.FormNext}, {area, "down", keys.CursorDown},
		{field, "enter", keys.FormAccept}, {field, "esc", keys.FormCancel}, {choice, "right", keys.ChoiceNext}, {choice, "enter", keys.FormAccept},
		{question, "enter", keys.ConfirmAccept}, {question, "esc", keys.ConfirmDrop}, {question, "ctrl+c", keys.ConfirmDrop},
		{approval, "enter", keys.ApprovalChoose}, {approval, "esc", keys.ApprovalDeny}, {approval, "up", keys.ApprovalPrevious}, {approval, "tab", keys.ApprovalDetail},
		{search, "enter", keys.SearchNext}, {search, "esc", keys.SearchClose},
		// 14
		{draft, "alt+m", keys.Mouse}, {page, "alt+m", keys.Mouse},
		// vim is off
		{normal, "h", ""}, {reader, "j", ""},
	} {
		if got, ok := r.Match(row.at, row.key); got != row.want || ok != (row.want != "") {
			t.Errorf("%v: %s is %q, %v; want %q", row.at, row.key, got, ok, row.want)
		}
	}
}

// TestTypingIsSacred: no character, however it is spelled, gets out of a text field.
func TestTypingIsSacred(t *testing.T) {
	r := registry(t, "vim = true")
	for _, at := range [][]keys.Context{draft, popup, waiting, slash, picker, narrowed, search, field, area, secret} {
		typed := []string{"space", "shift+space", "é", "ß", "日", "Ж"}
		for c := '!'; c <= '~'; c++ {
			typed = append(typed, string(c), "shift+"+string(c))
		}
		for _, key := range typed {
			if a, ok := r.Match(at, key); ok {
				t.Errorf("%v: %s is taken for %s", at, key, a)
			}
		}
	}
}

// TestQuestionsTakeNothingElse: a question has its answers, and an approval no letter and no digit (ui.md 10).
func TestQuestionsTakeNothingElse(t *testing.T) {
	r := registry(t, "vim = true")
	r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+g", Name: "push", About: "push"}})
	for _, key := range []string{"y", "n", "space", "tab", "f1", "ctrl+d", "ctrl+alt+g", "up"} {
		if a, ok := r.Match(question, key); ok {
			t.Errorf("a question takes %s for %s", key, a)
		}
	}
	for c := '!'; c <= '~'; c++ {
		if a, ok := r.Match(approval, string(c)); ok && a != keys.Help {
			t.Errorf("an approval takes %c for %s", c, a)
		}
	}
}

// TestSecretsGiveNothingAway: copy, cut, undo, history, kill ring, completion and external editor are off (ui.md 9).
func TestSecretsGiveNothingAway(t *testing.T) {
	r := registry(t, "")
	for _, s := range r.Help(secret, nil) {
		for _, row := range s.Rows {
			switch row.Action {
			case keys.Copy, keys.Undo, keys.Redo, keys.Yank, keys.YankPop, keys.HistoryPrevious, keys.HistorySearch, keys.Complete,
				keys.ExternalEditor, keys.CursorWordLeft, keys.DeleteWordBackward, keys.SelectAll, keys.SelectLeft:
				t.Errorf("a secret field offers %s by %v", row.Action, row.Keys)
			}
		}
	}
	if a, _ := r.Match(secret, "backspace"); a != keys.DeleteCharBackward {
		t.Errorf("backspace is %q", a)
	}
}

func TestVim(t *testing.T) {
	r := registry(t, "vim = true\n\"list.up\" = \"alt+k\"\n\"reader.top\" = [\"home\", \"j\"]")
	for _, row := range []struct {
		at   []keys.Context
		key  string
		want keys.Action
	}{
		{draft, "esc", keys.VimNormal}, {popup, "esc", keys.PopupClose}, {normal, "esc", keys.Interrupt}, {normal, "i", keys.VimInsert},
		{normal, "h", keys.CursorLeft}, {normal, "$", keys.CursorLineEnd}, {normal, "shift+4", keys.CursorLineEnd}, {normal, "G", keys.DocumentEnd},
		{normal, "enter", keys.Submit}, {normal, "ctrl+s", keys.FollowUp},
		{reader, "k", keys.ReaderUp}, {reader, "j", keys.ReaderTop}, {pane, "g", keys.ReaderTop},
		{page, "k", ""}, {page, "alt+k", keys.ListUp}, {page, "up", keys.ListUp},
	} {
		if got, _ := r.Match(row.at, row.key); got != row.want {
			t.Errorf("%v: %s is %q, want %q", row.at, row.key, got, row.want)
		}
	}
	if !r.Vim() || registry(t, "").Vim() {
		t.Error("vim is on without being asked for, or off")
	}
	if _, ok := registry(t, "").Describe(keys.VimNormal); ok {
		t.Error("normal mode is described where there is none")
	}
	if b, _ := r.Describe(keys.CursorLeft); !slices.Equal(b.Keys, []string{"left", "ctrl+b"}) {
		t.Errorf("vim changes what keys.toml can: %v", b.Keys)
	}
}

// TestRepeats: a key that is held down moves and edits, and does nothing else (ui.md 13).
func TestRepeats(t *testing.T) {
	r := registry(t, "")
	for a, want := range map[keys.Action]bool{
		keys.CursorLeft: true, keys.DeleteWordBackward: true, keys.ListDown: true, keys.ChatPageUp: true, keys.ReaderDown: true, keys.NewLine: true,
		keys.Submit: false, keys.FollowUp: false, keys.Interrupt: false, keys.Clear: false, keys.Exit: false, keys.Disclose: false, keys.Mouse: false,
		keys.ConfirmAccept: false, keys.ApprovalChoose: false, keys.ApprovalDeny: false, keys.ListChoose: false, keys.ListRemove: false,
		keys.ThinkingCycle: false, keys.FormAccept: false, keys.PopupAccept: false, keys.ListFold: false, "extension.git.push": false, "": false,
	} {
		if got := r.Repeats(a); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	r := registry(t, "")
	r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+g", Name: "push"}})
	if n := testing.AllocsPerRun(100, func() {
		for _, key := range []string{"q", "日", "ctrl+z", "ctrl+alt+g", "ctrl+q", "shift+enter", ""} {
			r.Match(popup, key)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestUnknownContextsHoldNothing(t *testing.T) {
	r := registry(t, "")
	if a, ok := r.Match([]keys.Context{200}, "enter"); ok || keys.Context(200).String() != "unknown" {
		t.Errorf("%q", a)
	}
	if a, ok := r.Match(nil, "ctrl+c"); ok {
		t.Errorf("%q", a)
	}
	if s := r.Help([]keys.Context{200, keys.Confirm}, nil); len(s) != 1 {
		t.Errorf("%v", s)
	}
	if h := r.Hints([]keys.Context{200}, nil); h != nil {
		t.Errorf("%v", h)
	}
}

func BenchmarkMatch(b *testing.B) {
	r := registry(b, "")
	b.ReportAllocs()
	for b.Loop() {
		r.Match(popup, "ctrl+z") // the outermost
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		keys.New(keys.Overrides{})
	}
}
