package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

const (
	maxDiffShown    = 40 // lines of a diff under a tool's line
	maxOutputShown  = 10 // lines of the output of a tool that failed, its last ones
	maxOutputKept   = 6  // lines of the output of a tool that worked, its last ones
	maxRecalled     = 10 // lines of the last answer when a session is resumed, its last ones
	maxPromptShown  = 6  // lines of a prompt when it is recalled
	maxQueueShown   = 5  // inputs that wait
	maxSummaryShown = 8  // lines of the summary that a session begins with
	maxRunsShown    = 2  // commands of the person's own when a session is resumed
)

// inset is how something is shown indented.
func (l *log) inset() render.Options {
	o := l.look
	if o.Width > 0 {
		o.Width = max(1, o.Width-2)
	}
	return o
}

// result shows the end of a tool call in one line, with why it failed, or what it changed unless that was previewed.
func (l *log) result(e api.Entry, previewed bool) {
	title := e.Call.Title
	if title == "" {
		title = e.Call.Tool
	} else if !strings.HasPrefix(title, e.Call.Tool) {
		title = e.Call.Tool + " " + title
	}
	line := title + " - " + outcomeText(e.Result.Outcome)
	if d := e.Result.Display; e.Result.Outcome == api.ResultError && d != nil && d.Title != "" {
		line += ", " + d.Title // such as: exit 2, 11ms
	} else if e.Result.Duration >= time.Millisecond {
		line += ", " + text.Duration(e.Result.Duration)
	}
	l.say(wordTool, line)
	switch d := e.Result.Display; {
	case e.Result.Reason != "":
		l.tail(e.Result.Reason, maxOutputShown)
	case e.Result.Outcome != api.ResultOK:
		if why := failureText(e); why != "" {
			l.tail(why, maxOutputShown)
		}
	case d != nil && d.Diff != nil && !previewed:
		l.head(render.Diff(*d.Diff, l.inset()), maxDiffShown)
	case d != nil && d.Text != "":
		l.tail(d.Text, maxOutputKept)
	}
}

// failureText says why a call failed: what a person is shown of it, where that is all. A model's result says more, in a form that is
// for models.
func failureText(e api.Entry) string {
	if d := e.Result.Display; d != nil && (d.Text != "" || d.Title != "" && e.Result.ExitCode != nil) {
		return d.Text
	}
	return joined(e.Parts, api.PartText)
}

func outcomeText(o api.ResultOutcome) string {
	switch o {
	case api.ResultOK:
		return "ok"
	case api.ResultError:
		return "failed"
	case api.ResultNotRun:
		return "not run"
	case api.ResultUnknown:
		return "outcome unknown"
	}
	return string(o)
}

// head shows the first n lines of what is clean already.
func (l *log) head(s string, n int) {
	lines := strings.Split(s, "\n")
	if more := len(lines) - n; more > 0 {
		lines = append(lines[:n], l.look.Palette.Muted.Paint("… "+text.Plural(more, "more line")))
	}
	l.drawn(strings.Join(lines, "\n"))
}

// maxTailBytes bounds what is looked at of a text of which the last lines are shown.
const maxTailBytes = 8 << 10

// tail shows the last n lines of text from outside, indented.
func (l *log) tail(s string, n int) {
	cut := len(s) > maxTailBytes
	if cut {
		s = s[len(s)-maxTailBytes:]
	}
	lines := strings.Split(strings.Trim(text.Clean(text.LastOverwrites(s)), "\n"), "\n")
	if len(lines) > n {
		lines, cut = lines[len(lines)-n:], true
	}
	if cut {
		lines = append([]string{"…"}, lines...)
	}
	l.drawn(strings.Join(lines, "\n"))
}

// settled says how a turn ended.
func (l *log) settled(s api.Settled) {
	size := text.Duration(s.Duration)
	if n := len(s.Files); n > 0 { // what a command changed is not known
		size += " - " + text.Plural(n, "file") + " changed"
	}
	switch s.Outcome {
	case api.SettledCompleted:
		l.say(wordCompleted, size)
	case api.SettledInterrupted, api.SettledAbandoned:
		l.say(wordInterrupted, size)
	default:
		l.say(wordFailed, (&Failed{s.Outcome, s.Error}).Error())
	}
}

// waits says which inputs wait and for what.
func (l *log) waits(q []api.Queued) {
	if len(q) == 0 {
		return
	}
	verb := "wait"
	if len(q) == 1 {
		verb = "waits"
	}
	l.say(wordQueued, fmt.Sprintf("%s %s; /continue goes on with what waits", text.Plural(len(q), "input"), verb))
	for i, x := range q {
		if i == maxQueueShown {
			l.drawn(fmt.Sprintf("… %d more", len(q)-i))
			break
		}
		l.drawn("- " + text.Clip(text.CleanLine(x.Text), 100))
	}
}

// opening introduces a session, and recalls where it stands when it is not new.
func (l *log) opening(s *api.State) {
	i := s.Info
	line := i.ID
	if called := cmp.Or(i.Name, i.Title); called != "" {
		line += " " + called
	}
	for _, x := range [][2]string{{"", i.Model}, {"effort ", i.Effort}, {"", i.Workspace}, {"", permission(i.Policy)}} {
		if x[1] != "" {
			line += " - " + x[0] + x[1]
		}
	}
	if i.Model == "" {
		line += " - no model chosen"
	}
	line += " - /help"
	l.warn(wordSession, line)
	if i.Model == "" {
		l.warn(wordNotice, "No model yet. /model demo shows octavo at work without one; or leave and type octavo --login anthropic. More: octavo help models")
	}
	l.recall(s)
	l.waits(s.Queue)
}

// permission is a policy in words (ui.md 2, "permission mode").
func permission(policy string) string {
	switch policy {
	case "unsafe_host":
		return "full access"
	case "controlled_bash_approval":
		return "safe mode: changes and commands ask first"
	case "controlled":
		return "controlled: changes ask first"
	}
	return policy
}

// recall shows the last thing a person said, the end of the answer to it, and whether it came to an end.
func (l *log) recall(s *api.State) {
	l.recallSummary(s.Entries)
	asked := lastEntry(s.Entries, api.EntryUser)
	if asked < 0 {
		return
	}
	prompt := strings.Split(strings.Trim(said(s.Entries[asked]), "\n"), "\n")
	if len(prompt) > maxPromptShown {
		prompt = append(prompt[:maxPromptShown], "…")
	}
	l.echo(strings.Join(prompt, "\n"))
	rest := s.Entries[asked:]
	if i := lastEntry(rest, api.EntryAssistant); i >= 0 {
		l.tail(joined(rest[i].Parts, api.PartText), maxRecalled)
	}
	l.recallRuns(rest)
	if s.Turn != nil {
		return
	}
	rest = slices.DeleteFunc(slices.Clone(rest), func(e api.Entry) bool { return e.Kind == api.EntryShell })
	switch last := rest[len(rest)-1]; {
	case last.Settled == nil:
		l.say(wordInterrupted, "this has no answer yet; /continue goes on")
	case last.Settled.Outcome != api.SettledCompleted:
		why := ""
		if last.Settled.Error != "" {
			why = " (" + last.Settled.Error + ")"
		}
		l.say(wordInterrupted, "the last turn did not complete"+why+"; /continue goes on")
	}
}

// recallSummary shows the start of the summary that a session begins with, until something was answered.
func (l *log) recallSummary(entries []api.Entry) {
	i := lastEntry(entries, api.EntrySummary)
	if i < 0 || lastEntry(entries[i:], api.EntryAssistant) >= 0 {
		return
	}
	l.say(wordNotice, "this session starts with a summary of the one before:")
	l.head(strings.Trim(text.Clean(joined(entries[i].Parts, api.PartText)), "\n"), maxSummaryShown)
}

// recallRuns shows the last commands of the person's own.
func (l *log) recallRuns(entries []api.Entry) {
	left := 0
	for _, e := range entries {
		if e.Kind == api.EntryShell {
			left++
		}
	}
	for _, e := range entries {
		if e.Kind != api.EntryShell {
			continue
		}
		if left <= maxRunsShown {
			l.ran(e)
		}
		left--
	}
}

func lastEntry(entries []api.Entry, k api.EntryKind) int {
	for i, e := range slices.Backward(entries) {
		if e.Kind == k {
			return i
		}
	}
	return -1
}

// said is what a person said, as the transcript shows it.
func said(e api.Entry) string {
	s := e.Display
	if s == "" {
		s = joined(e.Parts, api.PartText)
	}
	n := 0
	for _, p := range e.Parts {
		if p.Type == api.PartImage {
			n++
		}
	}
	if n > 0 && e.Display == "" {
		s += "\n[" + text.Plural(n, "picture") + "]"
	}
	return s
}

// phaseText says what a turn is doing.
func phaseText(t *api.TurnState) string {
	switch t.Phase {
	case api.PhasePreparing:
		return "preparing"
	case api.PhaseWaiting:
		return "waiting for the model"
	case api.PhaseGenerating:
		return "the model is answering"
	case api.PhaseTools:
		switch n := len(t.Tools); {
		case n == 1:
			return toolTitle(t.Tools[0].Call)
		case n > 1:
			return fmt.Sprintf("%s and %d more", toolTitle(t.Tools[0].Call), n-1)
		}
		return "running tools"
	case api.PhaseRetrying:
		return "waiting to ask the model again"
	case api.PhaseInterrupting:
		return "interrupting"
	case api.PhaseSummarizing:
		return "writing a summary"
	}
	return string(t.Phase)
}

func toolTitle(c api.Call) string {
	if c.Title != "" {
		return text.Clip(text.CleanLine(c.Title), 80)
	}
	return c.Tool
}
