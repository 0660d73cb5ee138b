package keys_test

import (
	"slices"
	"strings"
	"testing"

	"octavo/pages/text"
	"octavo/ui/keys"
)

// TestHelpTellsWhatWorks: every key that help shows does, where it was asked for, what help says.
func TestHelpTellsWhatWorks(t *testing.T) {
	r := registry(t, "vim = true")
	r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+g", Name: "push", About: "push"}, {Key: "ctrl+alt+p", Name: "pull", About: "pull"}})
	r.AddExtension("notes", []keys.Shortcut{{Key: "ctrl+alt+n", Name: "new", About: "a note"}})
	for _, at := range [][]keys.Context{draft, popup, waiting, block, normal, approval, page, filtered, slash, picker, narrowed, pane, reader, worker, search, field, area, secret, choice, question} {
		shown := map[string]bool{}
		for _, s := range r.Help(at, nil) {
			if s.Title == "" || len(s.Rows) == 0 {
				t.Errorf("%v: an empty section %q", at, s.Title)
			}
			for _, row := range s.Rows {
				for _, key := range row.Keys {
					if a, _ := r.Match(at, key); a != row.Action || shown[key] {
						t.Errorf("%v: help says %s is %s, and it is %s; twice: %v", at, key, row.Action, a, shown[key])
					}
					shown[key] = true
				}
				if len(row.Keys) == 0 || row.About == "" || row.Off {
					t.Errorf("%v: %+v", at, row)
				}
			}
		}
		for _, key := range []string{"enter", "esc", "ctrl+y", "f1", "?", "j", "tab", "ctrl+alt+g"} {
			if a, ok := r.Match(at, key); ok != shown[key] {
				t.Errorf("%v: %s is %q, and help shows it: %v", at, key, a, shown[key])
			}
		}
	}
}

func TestHelp(t *testing.T) {
	r := registry(t, "\"list.edit\" = \"none\"")
	r.AddExtension("git", []keys.Shortcut{{Key: "ctrl+alt+g", Name: "push", About: "push"}})
	got := r.Help(picker, func(a keys.Action) (string, bool) {
		switch a {
		case keys.ListRemove:
			return "nothing is chosen", false
		case keys.ListRefresh:
			return "ignored where it works", true
		}
		return "", true
	})
	var titles []string
	for _, s := range got {
		titles = append(titles, s.Title)
	}
	if want := []string{"Filter", "Lists and pages", "Everywhere", "Extension git"}; !slices.Equal(titles, want) {
		t.Errorf("%v, want %v", titles, want)
	}
	find := func(a keys.Action) (row keys.Row) {
		for _, s := range got {
			for _, r := range s.Rows {
				if r.Action == a {
					row = r
				}
			}
		}
		return row
	}
	if row := find(keys.ListRemove); !row.Off || row.Reason != "nothing is chosen" {
		t.Errorf("%+v", row)
	}
	if row := find(keys.ListRefresh); row.Off || row.Reason != "" {
		t.Errorf("%+v", row)
	}
	if row := find(keys.ListUp); !slices.Equal(row.Keys, []string{"up", "ctrl+p"}) { // k is text
		t.Errorf("%+v", row)
	}
	if row := find(keys.ListEdit); row.Keys != nil {
		t.Errorf("help has what has no key: %+v", row)
	}
	if row := find(keys.ListFold); row.Keys != nil { // the field has the arrows
		t.Errorf("%+v", row)
	}
}

// only enables some actions.
func only(some ...keys.Action) keys.Enabled {
	return func(a keys.Action) (string, bool) { return "", slices.Contains(some, a) }
}

// TestFooters are those of the pictures in ui.md, with the labels that their screens would give.
func TestFooters(t *testing.T) {
	r := registry(t, "")
	label := func(hints []keys.Hint, as map[keys.Action]string) []keys.Hint {
		for i, h := range hints {
			if l, ok := as[h.Action]; ok {
				hints[i].Label = l
			}
		}
		return hints
	}
	work := r.Hints(page, only(keys.ListUp, keys.ListDown, keys.PageFilterOpen, keys.ListBack))
	for _, a := range []string{"a add", "e rename", "d done", "s set status", "x remove"} {
		key, l, _ := strings.Cut(a, " ")
		work = append(work, keys.Hint{Keys: []string{key}, Label: l, Rank: keys.RankAction})
	}
	roster := label(r.Hints(page, only(keys.ListUp, keys.ListDown, keys.ListChoose, keys.PageActions, keys.ListBack)), map[keys.Action]string{keys.ListChoose: "transcript"})
	roster = slices.Insert(roster, 3, keys.Hint{Keys: []string{"x"}, Label: "stop", Rank: keys.RankView})
	models := label(r.Hints(picker, only(keys.ListUp, keys.ListDown, keys.ListChoose, keys.ListChooseHere, keys.ListBack)),
		map[keys.Action]string{keys.ListChoose: "use", keys.ListBack: "close"})
	for _, test := range []struct {
		name  string
		hints []keys.Hint
		width int
		want  string
	}{
		{"page at 120", work, 118, "↑↓ move · a add · e rename · d done · s set status · x remove · / filter · esc back"},
		{"page at 80", work, 79, "a add · e rename · d done · s set status · x remove · / filter · esc back"},
		{"page at 60", work, 58, "a add · e rename · d done · s · x · / · esc back"},
		{"page at 40", work, 38, "a add · e · d · s · x · / · esc back"},
		{"page at 30", work, 30, "a · e · d · s · x · / · esc"},
		{"page at 20", work, 20, "a · e · d · s · esc"},
		{"page at 3", work, 3, "esc"},
		{"page at 2", work, 2, ""},
		{"page at 0", work, 0, ""},
		{"roster", roster, 78, "↑↓ move · ↵ transcript · . actions · x stop · esc back"},
		{"picker", models, 78, "↑↓ move · ↵ use · alt+↵ this session only · esc close"},
		{"approval", r.Hints(approval, only(keys.ApprovalPrevious, keys.ApprovalNext, keys.ApprovalChoose, keys.ApprovalDeny)), 58, "↑↓ choose · ↵ confirm · esc deny"},
		{"only movement", r.Hints(page, only(keys.ListUp)), 3, ""},
		{"nothing", nil, 10, ""},
	} {
		if got := keys.Line(test.hints, test.width, keys.Glyphs); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := keys.Line(models, 100, keys.ASCII); got != "up/down move | enter use | alt+enter this session only | esc close" {
		t.Errorf("%q", got)
	}
}

// TestFootersFit: at every width and everywhere, in the order of use, the way out last and there as long as anything is.
func TestFootersFit(t *testing.T) {
	r := registry(t, "\"list.up\" = \"alt+k\"")
	for _, at := range [][]keys.Context{draft, popup, approval, page, slash, picker, narrowed, pane, reader, search, field, choice, question} {
		hints := r.Hints(at, nil)
		if len(hints) == 0 || hints[len(hints)-1].Rank != keys.RankOut {
			t.Errorf("%v: no way out in %v", at, hints)
			continue
		}
		out := keys.Show(hints[len(hints)-1].Keys[0], keys.Glyphs)
		for i, h := range hints {
			if i > 0 && (h.Rank < hints[i-1].Rank || hints[i-1].Rank == keys.RankOut) {
				t.Errorf("%v: %v stands behind %v", at, h, hints[i-1])
			}
			for _, key := range h.Keys {
				if a, ok := r.Match(at, key); !ok || h.Label == "" || !slices.Contains([]keys.Action{h.Action, keys.ListDown, keys.ReaderDown, keys.ApprovalNext, keys.ChoiceNext, keys.PopupDown}, a) {
					t.Errorf("%v: %s is %q, not %v", at, key, a, h)
				}
			}
		}
		before := 0
		for width := range 200 {
			s := r.Footer(at, nil, width, keys.Glyphs)
			if text.Width(s) > width || s != "" && !strings.Contains(" "+s, " "+out) || len(s) == 0 && before > 0 {
				t.Errorf("%v in %d cells: %q", at, width, s)
			}
			before = len(s)
		}
	}
}

func TestHintsAreOfWhatWorks(t *testing.T) {
	r := registry(t, "")
	hints := r.Hints(draft, only(keys.FollowUp, keys.Interrupt))
	if got := keys.Line(hints, 80, keys.Glyphs); got != "ctrl+s queue · esc interrupts" {
		t.Errorf("%q", got)
	}
	// An inner context has the key, so that the outer hint would be a lie.
	if got := r.Footer(popup, only(keys.Submit, keys.Interrupt, keys.PopupClose), 80, keys.Glyphs); got != "esc close" {
		t.Errorf("%q", got)
	}
	if got := registry(t, "\"app.message.followUp\" = \"f2\"").Footer(draft, only(keys.FollowUp), 80, keys.Glyphs); got != "f2 queue" {
		t.Errorf("%q", got)
	}
}

// TestPageKeys: a page has every character but those that are octavo's (ui.md 4).
func TestPageKeys(t *testing.T) {
	for key, want := range map[string]bool{"/": false, "?": false, ".": false, " ": false, "space": false, "tab": false, "a": true, "G": true, "j": true, "é": true} {
		if keys.PageKey(key) != want {
			t.Errorf("%q: %v", key, !want)
		}
	}
}

func BenchmarkFooter(b *testing.B) {
	r := registry(b, "")
	b.ReportAllocs()
	for b.Loop() {
		r.Footer(picker, nil, 80, keys.Glyphs)
	}
}
