package export_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"testing"
	"time"

	"octavo/app/api"
	"octavo/app/export"
	"octavo/pages"
	"octavo/pages/textdiff"
)

//go:embed testdata/chart.png
var chart []byte

const (
	chartHash = "b4a1f0c2d3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddee"
	lostHash  = "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff"
)

// hostile is text that would like to be more.
const hostile = "</script></style></title></pre></div></details><script>alert(1)</script><img src=x onerror=alert(1)>" +
	"\" onmouseover=\"alert(1)\" x='\x00\x1b]0;title\x07\x1b[31mred\x1b[0m \xff\xfe \u202egnp.exe\u202c &lt;b&gt; `<i>` ``` ~~~ <!-- -->"

var start = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// script makes entries, numbered and a minute apart.
type script struct {
	entries []api.Entry
	turn    string
}

func (s *script) add(e api.Entry) {
	e.Seq = int64(len(s.entries) + 1)
	e.Time = start.Add(time.Duration(e.Seq) * time.Minute)
	e.Turn = s.turn
	s.entries = append(s.entries, e)
}

func (s *script) user(text string) {
	s.add(api.Entry{Kind: api.EntryUser, Origin: "chat", Parts: words(text)})
}

func (s *script) says(parts ...api.Part) {
	s.add(api.Entry{Kind: api.EntryAssistant, Model: "anthropic/claude-sonnet-4-5", Parts: parts})
}

// call makes a call and what it gave.
func (s *script) call(id, tool, title, args string, outcome api.ResultOutcome, reason, out string, d *pages.Display) {
	c := &api.Call{ID: id, Tool: tool, Arguments: args, Title: title}
	if outcome != api.ResultRefused && outcome != api.ResultNotRun {
		s.add(api.Entry{Kind: api.EntryCall, Call: c})
	}
	s.add(api.Entry{Kind: api.EntryResult, Call: c, Parts: words(out),
		Result: &api.Result{Outcome: outcome, Reason: reason, Display: d, Duration: 1234 * time.Millisecond}})
}

func (s *script) settled(o api.SettledOutcome, err string, files ...string) {
	s.add(api.Entry{Kind: api.EntrySettled, Settled: &api.Settled{Outcome: o, Error: err, Duration: 83 * time.Second, Steps: 3, Files: files}})
}

func words(text string) []api.Part {
	if text == "" {
		return nil
	}
	return []api.Part{{Type: api.PartText, Text: text}}
}

func thought(text string) api.Part { return api.Part{Type: api.PartReasoning, Text: text} }
func said(text string) api.Part    { return api.Part{Type: api.PartText, Text: text} }
func asks(id, tool, args string) api.Part {
	return api.Part{Type: api.PartCall, Call: &api.Call{ID: id, Tool: tool, Arguments: args}}
}
func picture(hash, name string) api.Part {
	return api.Part{Type: api.PartImage, Image: &api.Image{MIME: "image/png", SHA256: hash, Width: 320, Height: 160, Name: name}}
}

const oldCode = `package retry

import "time"

// Delay is how long to wait before an attempt.
func Delay(attempt int) time.Duration {
	return time.Second << attempt
}
`

const newCode = `package retry

import "time"

const most = 30 * time.Second

// Delay is how long to wait before an attempt: a second, doubled each time, at most half a minute.
func Delay(attempt int) time.Duration {
	if attempt > 4 {
		return most
	}
	return time.Second << attempt
}
`

const answer = `The delay overflows from attempt 34 on, because a shift of a ` + "`time.Duration`" + ` wraps around.

## What I changed

1. ` + "`Delay`" + ` stops growing at **30 seconds**.
2. A test holds the table below.
   - attempts 0 to 4 double
   - ~~attempts beyond 10 panic~~ none does

| attempt | delay | before |
|:--------|------:|--------|
| 0 | 1s | 1s |
| 4 | 16s | 16s |
| 40 | 30s | **negative**, from ` + "`a \\| b`" + ` |

- [x] bound the delay
- [ ] add jitter

> Jitter spreads the load of many clients. See [the article](https://example.com/backoff "Backoff").

` + "```go\nfor attempt := range 40 {\n\tfmt.Println(attempt, retry.Delay(attempt))\n}\n```\n" + `
One line is very long: ` + "`" + `github.com/example/project/internal/retry/delay_test.go:TestDelayIsBoundedAndNeverNegativeWhateverTheAttempt` + "`."

// sample is a session with every kind of entry, every outcome, a picture, a change, hostile and wide text.
func sample() export.Session {
	s := &script{}
	s.add(api.Entry{Kind: api.EntrySummary, Origin: "0199a0f0", Parts: words("The person builds a *retry* package. So far:\n\n- the package has a name\n- nothing is tested")})
	s.turn = "t1"
	s.add(api.Entry{Kind: api.EntryUser, Origin: "chat", Parts: append(words("Our clients hammer the server after an outage. Why?\n\nThe chart shows requests per minute:"),
		picture(chartHash, "requests per minute.png"))})
	s.says(thought("**Looking for the delay**\n\nThe shift in `Delay` is not bounded. At attempt 34 it overflows."),
		said("I look at how the delay is made."), asks("c1", "read", `{"path":"retry/delay.go"}`), asks("c2", "bash", `{"command":"go test ./..."}`))
	s.call("c1", "read", "read retry/delay.go", `{"path":"retry/delay.go"}`, api.ResultOK, "",
		"retry/delay.go: lines 1-8 of 8, hash=8f3a\n1\tpackage retry\n2\t\n3\timport \"time\"\n", &pages.Display{Title: "retry/delay.go: lines 1-8 of 8"})
	s.call("c2", "bash", "go test ./...", `{"command":"go test ./...","timeout_ms":60000}`, api.ResultError, "",
		"exit_status=1 duration=1.2s\n[stdout 2 lines]\n10%\r50%\r100%\n--- FAIL: TestDelay (0.00s)\n\x1b[31mFAIL\x1b[0m\toctavo/retry\t0.004s",
		&pages.Display{Title: "exit 1, 1.2s", Text: "100%\n--- FAIL: TestDelay (0.00s)"})
	s.says(said("The test says so, too. I bound it."), asks("c3", "edit", `{}`))
	s.call("c3", "edit", "edit retry/delay.go", `{"path":"retry/delay.go","edits":[{"old":"return time.Second << attempt","new":"…"}]}`,
		api.ResultOK, "", "edited retry/delay.go, +6 -1", &pages.Display{Title: "edited retry/delay.go +6 -1", Diff: textdiff.Make("retry/delay.go", []byte(oldCode), []byte(newCode), textdiff.Options{})})
	s.says(said(answer))
	s.settled(api.SettledCompleted, "", "retry/delay.go", "retry/delay_test.go")

	s.turn = "t2"
	s.add(api.Entry{Kind: api.EntryUser, Origin: "chat", Display: "/review retry", Parts: words("Review the package retry.\nSay what is wrong with it.")})
	s.says(said("I look around."), asks("d1", "write", ""), asks("d2", "bash", ""), asks("d3", "bash", ""), asks("d4", "bash", ""))
	s.call("d1", "write", "write /etc/passwd", `{"path":"/etc/passwd","content":"root"}`, api.ResultRefused, "the person refused this call; ask before you try something similar", "", nil)
	s.call("d2", "bash", "sleep 600", `{"command":"sleep 600"}`, api.ResultCancelled, "", "interrupted by the person; it may have had effects", nil)
	s.call("d3", "bash", "make all", `{"command": not JSON`, api.ResultNotRun, "not run: the turn was interrupted first", "", nil)
	s.add(api.Entry{Kind: api.EntryUser, Origin: "steer", Parts: words("Stop, that is the wrong machine!")})
	turn := s.turn
	s.turn = ""
	s.add(api.Entry{Kind: api.EntryShell, Call: &api.Call{ID: "h0", Tool: "bash", Arguments: `{"command":"hostname"}`, Title: "hostname"},
		Parts: words("ada-desktop"), Result: &api.Result{Outcome: api.ResultOK}})
	s.turn = turn
	s.call("d4", "bash", "deploy", `{"command":"./deploy \\\n  --everything"}`, api.ResultUnknown, "octavo ended while it ran; its effects are unknown", "", nil)
	s.add(api.Entry{Kind: api.EntryPartial, Model: "anthropic/claude-sonnet-4-5", Parts: words("I stop at once. What has been deployed so far is ```\nservice-a\n")})
	s.settled(api.SettledInterrupted, "")

	s.turn = "t3"
	s.user(hostile)
	s.says(thought(hostile), said("[click](javascript:alert(1)) [file](file:///etc/passwd) [data](data:text/html,x) [rel](../x.md) <https://example.com/auto> "+
		"![pixel](https://example.com/pixel.png) ![inline](data:image/png;base64,AAAA)\n\n<div onclick=\"alert(1)\">raw</div>\n\n&#x202e;&#27;[31m&#0;&lt;script&gt;\n\n"+
		"# You\n\n```html\n<script>alert(1)</script>\n"))
	s.call("e1", hostile, hostile, hostile, api.ResultError, hostile, hostile, &pages.Display{Title: hostile, Text: hostile + "!",
		Diff: &pages.Diff{Path: hostile, New: true, Added: 3, Cut: true, Hunks: []pages.Hunk{{NewStart: 1, NewLines: 2, Lines: []pages.DiffLine{
			{Op: pages.LineAdded, Text: hostile + "\n+++ b/other"}, {Op: pages.LineAdded, Text: "```\tend", NoEOL: true}}}}}})
	s.add(api.Entry{Kind: api.EntryNote, Origin: hostile, Parts: words(hostile)})
	s.settled(api.SettledFailed, "the provider refused: "+hostile, hostile)

	s.turn = "t4"
	s.user("漢字と絵文字 👩‍👩‍👧‍👦 を確認してください\nالعربية من اليمين إلى اليسار")
	s.says(said("| 列 | 値 |\n|---|---|\n| 幅 | 二 |\n\n🎉 終わりました。"))
	s.settled(api.SettledMaxTurns, "the limit of 3 requests was reached; raise max_turns or go on with /continue")
	s.turn = "t5"
	s.add(api.Entry{Kind: api.EntryNote, Origin: "octavo", Parts: words("Continue where you stopped.")})
	s.add(api.Entry{Kind: api.EntryUser, Origin: "follow_up", Parts: append(words("Look at both pictures again"), picture(chartHash, "requests per minute.png"), picture(lostHash, "lost.png"))})
	s.says(api.Part{Type: api.PartImage, Image: &api.Image{MIME: "image/svg+xml", SHA256: chartHash + "0", Name: "drawn.svg"}})
	s.settled(api.SettledCostLimit, "the session has cost $1.00, its limit")
	s.turn = "t6"
	s.user("More")
	s.settled(api.SettledContextFull, "the next request would not fit")
	s.turn = "t7"
	s.user("And more")
	s.add(api.Entry{Kind: api.EntryNote, Origin: "restart", Parts: words("octavo ended in the middle of this turn and was started again. Nothing was run a second time.")})
	s.settled(api.SettledAbandoned, "octavo ended in the middle of this turn")
	s.turn = "t8"
	s.add(api.Entry{Kind: "marker", Parts: words("a kind of entry from a newer octavo")})
	s.user("What runs now?")
	s.says(said("Something that has not ended."), asks("g1", "bash", `{"command":"sleep 5"}`))
	s.add(api.Entry{Kind: api.EntryCall, Call: &api.Call{ID: "g1", Tool: "bash", Arguments: `{"command":"sleep 5"}`, Title: "sleep 5"}})

	s.turn = ""
	failed := 2
	s.add(api.Entry{Kind: api.EntryShell, Origin: api.OriginExcluded, Call: &api.Call{ID: "h1", Tool: "bash", Arguments: `{"command":"ls -l |\n  wc"}`, Title: "ls -l |\n  wc"},
		Parts: words("exit_status=2\n      12     101     720"), Result: &api.Result{Outcome: api.ResultError, ExitCode: &failed}})

	micro := int64(1_234_567)
	zone := time.FixedZone("CET", 3600)
	return export.Session{
		Info: api.SessionInfo{Title: "Retries", ID: "0199a0f1-7c21-7d3e-9a55-2f1c0b9d8e77", Name: "Bounded retries", Preview: "Our clients hammer", Workspace: "/home/ada/retry",
			Model: "anthropic/claude-sonnet-4-5", Effort: "high", Policy: "controlled_bash_approval", Parent: "0199a0f0-0000-7000-8000-000000000001",
			Created: start, Updated: start.Add(50 * time.Minute), Entries: int64(len(s.entries))},
		Usage: api.Usage{Requests: 14, Input: 21_400, CacheRead: 312_000, CacheWrite: 18_000, Output: 9_300, Reasoning: 2_100, CostMicro: &micro, Unpriced: 1, Unreported: 1},
		Tags:  []string{"retry", "| pipes & <tags>"},
		Forks: []api.SessionInfo{{ID: "0199a0f2-0000-7000-8000-000000000002", Name: "With jitter", Workspace: "/home/ada/retry", Policy: "unsafe_host", Created: start, Updated: start}},
		Entries: func(yield func(api.Entry, error) bool) {
			for _, e := range s.entries {
				if !yield(e, nil) {
					return
				}
			}
		},
		Blob: func(hash string) ([]byte, error) {
			if hash == chartHash {
				return chart, nil
			}
			return nil, errors.New("no such picture in the store")
		},
		Exported: start.Add(24 * time.Hour).In(zone), Version: "0.1.0",
	}
}

// write exports s.
func write(t testing.TB, f export.Format, s export.Session, o export.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(context.Background(), &b, f, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// one is a session of these entries alone.
func one(entries ...api.Entry) export.Session {
	s := sample()
	s.Info.Name = "One"
	s.Entries = func(yield func(api.Entry, error) bool) {
		for i, e := range entries {
			e.Seq = int64(i + 1)
			if !yield(e, nil) {
				return
			}
		}
	}
	return s
}
