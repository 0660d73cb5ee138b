package plain

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

// However a text is cut into fragments, no character is torn and nothing is lost.
func FuzzRunes(f *testing.F) {
	f.Add("aé漢🙂", 1, 2)
	f.Add("\xff\xc3\xf0\x9f", 0, 3)
	f.Fuzz(func(t *testing.T, s string, a, b int) {
		a = min(max(a, 0), len(s))
		b = min(max(b, a), len(s))
		var r runes
		got := ""
		for _, piece := range []string{s[:a], s[a:b], s[b:]} {
			w := r.whole(piece)
			got += w
			if strings.ToValidUTF8(s, "") == s && strings.ToValidUTF8(w, "") != w {
				t.Errorf("%q was torn from %q", w, s)
			}
		}
		if len(r.held) > 3 || got+r.held != s {
			t.Errorf("%q and %q of %q", got, r.held, s)
		}
	})
}

// Inputs come out as they went in, line by line; a composer that is done holds nothing.
func FuzzComposer(f *testing.F) {
	f.Add("one\ntwo\\\nthree\n\"\"\"\n/x\n\"\"\"\nlast")
	f.Add("\\\n\\\n\"\"\"")
	f.Fuzz(func(t *testing.T, s string) {
		var c composer
		for l := range strings.SplitSeq(s, "\n") {
			input, _, done, err := c.add(l)
			if err != nil {
				t.Fatal(err)
			}
			if done && (c.open || c.text.Len() > 0) {
				t.Errorf("after %q: %+v", l, c)
			}
			if !done && input != "" {
				t.Errorf("half of an input: %q", input)
			}
			if !c.open && !done {
				t.Errorf("%q went nowhere", l)
			}
		}
	})
}

// pieces gives one piece for each Read, and then what is behind it.
type pieces struct {
	list   []string
	before func(i int) // each Read
	i      int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.before != nil {
		p.before(p.i)
	}
	if p.i == len(p.list) {
		return 0, io.EOF
	}
	n := copy(b, p.list[p.i])
	p.i++
	return n, nil
}

func collect(r *lineReader) (lines []line) {
	for l := range r.lines {
		lines = append(lines, l)
	}
	return lines
}

func TestLineReaderCutsLines(t *testing.T) {
	r := readLines(&pieces{list: []string{"a\nb", "c\r\n", "\n", strings.Repeat("x", 20), "\nend"}}, false, time.Now)
	var got []string
	for _, l := range collect(r) {
		got = append(got, l.text)
	}
	if diff := cmp.Diff([]string{"a", "bc", "", strings.Repeat("x", 20), "end"}, got); diff != "" {
		t.Error(diff)
	}
	r.stop()
}

func TestLineReaderBound(t *testing.T) {
	for _, size := range []int{maxLine, maxLine + 1} {
		r := readLines(strings.NewReader(strings.Repeat("x", size)+"\nnext\n"), false, time.Now)
		lines := collect(r)
		if len(lines) != 2 || (lines[0].err != nil) != (size > maxLine) || lines[1].text != "next" || lines[1].err != nil {
			t.Errorf("%d bytes: %d lines, %v", size, len(lines), lines[0].err)
		}
	}
}

// A line belongs to what was shown when its first byte came.
func TestLineReaderMarksLines(t *testing.T) {
	var r *lineReader
	ready := make(chan struct{})
	src := &pieces{list: []string{"before\nha", "lf\nanswer\n", "after\n"}}
	src.before = func(i int) {
		<-ready
		r.show([]string{"", "q1", "", ""}[i])
	}
	r = readLines(src, false, time.Now)
	close(ready)
	var got []string
	for _, l := range collect(r) {
		got = append(got, l.text+" "+l.ask)
	}
	if diff := cmp.Diff([]string{"before ", "half ", "answer q1", "after "}, got); diff != "" {
		t.Error(diff)
	}
}

// Reading waits when too many lines do, and nothing is lost.
func TestLineReaderWaitsForRoom(t *testing.T) {
	for ahead, waits := range map[int]bool{maxTypedAhead: false, maxTypedAhead + 1: true} {
		synctest.Test(t, func(t *testing.T) {
			src := &pieces{list: []string{strings.Repeat("x\n", ahead), "last\n"}}
			reads := 0
			more := make(chan struct{})
			src.before = func(i int) {
				if reads = i; i == 1 {
					<-more
				}
			}
			r := readLines(src, false, time.Now)
			synctest.Wait()
			if (reads == 0) != waits {
				t.Errorf("%d lines ahead: %d reads", ahead, reads)
			}
			close(more)
			if lines := collect(r); len(lines) != ahead+1 || lines[ahead].text != "last" {
				t.Errorf("%d lines came", len(lines))
			}
		})
	}
}

func BenchmarkEncoderDelta(b *testing.B) {
	s := &api.State{Turn: &api.TurnState{TurnInfo: api.TurnInfo{ID: "t", Step: 1}}}
	e, _ := newEncoder(s)
	w := &jsonWriter{out: io.Discard, encoder: e}
	ev := api.Event{Type: api.EventDelta, Delta: &api.Delta{Kind: api.DeltaText, Text: "some words of the answer, "}}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.event(s, ev); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLogResult(b *testing.B) {
	l := &log{out: io.Discard, err: io.Discard}
	e := api.Entry{Kind: api.EntryResult, Call: &api.Call{Tool: "bash", Title: "run: go test ./..."},
		Result: &api.Result{Outcome: api.ResultError, Duration: time.Second}, Parts: []api.Part{{Type: api.PartText, Text: strings.Repeat("a line of output\n", 60_000)}}}
	b.ReportAllocs()
	for b.Loop() {
		l.result(e, false)
	}
}

func TestQuestionKeys(t *testing.T) {
	ask := func(k api.AskKind, ids ...string) *question {
		a := api.Ask{Kind: k}
		for _, id := range ids {
			a.Options = append(a.Options, api.Option{ID: id, Label: id})
		}
		return newQuestion(a)
	}
	for _, c := range []struct {
		q    *question
		want string
	}{
		{ask(api.AskApproval, "deny", "once", "session"), "[d o s]"},
		{ask(api.AskConfirm, "deny", "allow"), "[d a]"},
		{ask(api.AskConfirm, "deny", "do", "", "É"), "[d 2 3 4]"},
		{ask(api.AskChoice, "deny", "allow"), "[1 2]"},
	} {
		if got := fmt.Sprint(c.q.keys); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestPhaseText(t *testing.T) {
	runs := func(titles ...string) (rs []api.ToolRun) {
		for _, s := range titles {
			rs = append(rs, api.ToolRun{Call: api.Call{Tool: "bash", Title: s}})
		}
		return rs
	}
	for _, c := range []struct {
		phase api.Phase
		tools []api.ToolRun
		want  string
	}{
		{api.PhasePreparing, nil, "preparing"},
		{api.PhaseWaiting, nil, "waiting for the model"},
		{api.PhaseGenerating, nil, "the model is answering"},
		{api.PhaseTools, nil, "running tools"},
		{api.PhaseTools, runs(""), "bash"},
		{api.PhaseTools, runs("read\x1b[2J a"), "read a"},
		{api.PhaseTools, runs("read a", "read b", "read c"), "read a and 2 more"},
		{api.PhaseRetrying, nil, "waiting to ask the model again"},
		{api.PhaseInterrupting, nil, "interrupting"},
		{api.PhaseSummarizing, nil, "writing a summary"},
		{"unheard of", nil, "unheard of"},
	} {
		if got := phaseText(&api.TurnState{TurnInfo: api.TurnInfo{Phase: c.phase}, Tools: c.tools}); got != c.want {
			t.Errorf("%s: %q, want %q", c.phase, got, c.want)
		}
	}
}

func TestLogLinesFitTheTerminal(t *testing.T) {
	var out strings.Builder
	l := log{out: &out, terminal: true, look: render.Options{Width: 20}}
	l.say(wordTool, "bash run: go test ./... - ok")
	l.say(wordTool, "short")
	want := "[tool] bash run:\n  go test ./... - ok\n[tool] short\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for line := range strings.Lines(out.String()) {
		if text.Width(strings.TrimSuffix(line, "\n")) > 20 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	out.Reset()
	l.terminal = false
	if l.say(wordTool, strings.Repeat("x ", 50)); strings.Count(out.String(), "\n") != 1 {
		t.Errorf("in a pipe a line stays one: %q", out.String())
	}
}

// Whatever a terminal passes on, no escape character is left, and without one nothing is done but cleaning.
func FuzzKeys(f *testing.F) {
	f.Add("\x1b[A\x1bOPx\x1b]0;t\a\x1b[[A\x1b")
	f.Add("\x1b\x1b[200~\x1b]\x1b\\")
	f.Fuzz(func(t *testing.T, s string) {
		got := withoutKeys(s)
		if strings.ContainsRune(got, '\x1b') || got != text.Clean(got) {
			t.Errorf("%q of %q", got, s)
		}
		if !strings.Contains(s, "\x1b") && got != text.Clean(s) {
			t.Errorf("%q of %q", got, s)
		}
	})
}

// A text in the marks of a paste is one line, however it is cut into reads; without marks each line is its own.
func FuzzPaste(f *testing.F) {
	f.Add("first\nsecond\nthird", "before ", 9)
	f.Add("\x1b[201~", "\x1b", 1)
	f.Fuzz(func(t *testing.T, pasted, before string, at int) {
		clean := func(s string) string { return strings.NewReplacer("\x1b", "", "\r", "").Replace(s) }
		pasted, before = clean(pasted), strings.ReplaceAll(clean(before), "\n", "")
		if len(pasted)+len(before) > 4000 {
			return
		}
		all := before + pasteStart + pasted + pasteEnd + "\nnext\n"
		at = min(max(at, 0), len(all))
		lines := collect(readLines(&pieces{list: []string{all[:at], all[at:]}}, true, func() time.Time { return time.Time{} }))
		if len(lines) != 2 || lines[0].text != before+pasted || lines[1].text != "next" || lines[0].full {
			t.Errorf("%q cut at %d: %+v", all, at, lines)
		}
	})
}
