package editor_test

import (
	"fmt"
	"strings"
	"testing"

	"octavo/ui/editor"
)

func TestKillsJoin(t *testing.T) {
	for _, test := range []struct {
		before string
		do     string // operations, joined by commas
		after  string
	}{
		{"one two three|", "deleteWordBackward,deleteWordBackward,documentStart,yank", "two three|one "},
		{"|one two three", "deleteWordForward,deleteWordForward,documentEnd,yank", " threeone two|"},
		{"one |two three", "deleteWordBackward,deleteWordForward,yank", "one two| three"},
		{"one| two", "deleteToLineEnd,deleteToLineStart,yank", "one two|"},
		{"one|\ntwo", "deleteToLineEnd,deleteToLineEnd,yank", "one\ntwo|"},
		{"one two|", "deleteWordBackward,left,right,deleteWordBackward,yank", "one |"},
		{"one two|", "deleteWordBackward,left,right,deleteWordBackward,yank,yankPop", "two|"},
		{"one two|", "deleteWordBackward,left,right,deleteWordBackward,yank,yankPop,yankPop", "one |"},
		{"one two|", "deleteWordBackward,yank,yankPop", "one two|"},
		{"a b|", "deleteWordBackward,insert x,yankPop", "a x|"},
		{"a ^b| c", "deleteToLineEnd,documentEnd,yank", "a  cb|"},
		{"a ^b| c", "cut,documentEnd,yank", "a  cb|"},
		{"a ^b| c", "cut,deleteToLineEnd,yank,yankPop", "a b|"},
		{"ab|", "backspace,yank", "a|"},
		{"x x y|", "deleteWordBackward,left,right,deleteWordBackward,left,right,deleteWordBackward,yank,yankPop,yankPop", "y|"},
		{"one |" + family, "deleteWordBackward,deleteToLineEnd,yank,yank", "one " + family + "one " + family + "|"},
		{"one ^two|", "cut,selectAll,yank", "two|"},
		{"one two|", "deleteWordBackward,yank,undo,redo,undo", "one |"},
	} {
		b := draft(t, test.before)
		for _, operation := range strings.Split(test.do, ",") {
			operations[operation](b)
		}
		if got := show(b); got != test.after {
			t.Errorf("%s in %q gives %q, want %q", test.do, test.before, got, test.after)
		}
		if err := b.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestRingIsShared(t *testing.T) {
	ring := &editor.KillRing{}
	a, b := editor.New(ring), editor.New(ring)
	a.Paste("one two")
	b.Paste("three")
	a.DeleteWordBackward()
	b.DeleteWordBackward()
	a.DeleteWordBackward() // joins its own kill only if nobody killed since
	b.Yank()
	if got := b.Value(); got != "one " {
		t.Errorf("yanked is %q", got)
	}
	b.YankPop()
	if got := b.Value(); got != "three" {
		t.Errorf("before it was %q", got)
	}
}

func TestRingBounds(t *testing.T) {
	b := editor.New(nil)
	for i := range editor.MaxKills + 5 {
		b.Paste(fmt.Sprint(i))
		b.SelectAll()
		b.Cut()
	}
	if _, _, kills := b.Held(); kills != editor.MaxKills {
		t.Errorf("%d kills", kills)
	}
	b.Yank()
	for range editor.MaxKills - 1 {
		b.YankPop()
	}
	if got := b.Value(); got != "5" {
		t.Errorf("the oldest kill is %q", got)
	}
	b = editor.New(nil)
	for range 3 {
		b.Attach(image("", editor.MaxImageBytes))
		b.DeleteToLineStart()
		b.Left()
	}
	if _, _, kills := b.Held(); kills != 1 {
		t.Errorf("%d kills of images", kills)
	}
	if changed, err := b.Yank(); !changed || err != nil {
		t.Errorf("the newest is gone: %v", err)
	}
}
