package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages"
	"octavo/pages/text"
)

const (
	maxTitle   = 160 // characters of a title
	maxHeading = 100 // characters of a prompt in a list of prompts
)

// clean is text.Clean for a file, in which tabs do no harm and belong to code that somebody may copy.
func clean(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return text.Clean(s)
	}
	const private = '\ue000' // and those after it: characters without a meaning, of which one that s does not have stands for a tab
	tab := private
	for strings.ContainsRune(s, tab) {
		tab++
	}
	return strings.ReplaceAll(text.Clean(strings.ReplaceAll(s, "\t", string(tab))), string(tab), "\t")
}

// block is a text of several lines without empty ones around it.
func block(s string) string { return strings.Trim(clean(s), "\n") }

// output is what a program wrote: of a line that it drew again and again the last state.
func programOutput(s string) string { return block(text.LastOverwrites(s)) }

// title is what a session is called.
func title(i api.SessionInfo) string {
	if s := strings.TrimSpace(text.CleanLine(i.Called())); s != "" {
		return text.Clip(s, maxTitle)
	}
	return i.ID
}

// fact is one thing to know of a session.
type fact struct{ name, value string }

// facts is what stands at the head of a page: what one asks first, and the rest. What is not known is left out, except the cost.
func facts(s Session, redacts bool) (first, more []fact) {
	i, zone := s.Info, s.Exported.Location()
	credentials := "left as they were"
	if redacts {
		credentials = "replaced by " + redacted + " where they were recognized"
	}
	return known(
			fact{"Model", model(i)},
			fact{"Workspace", i.Workspace},
			fact{"Started", when(i.Created, zone)},
			fact{"Last used", when(i.Updated, zone)},
			fact{"Tokens", tokens(s.Usage)},
			fact{"Cost", cost(s.Usage, s.Info.Scripted)},
			fact{"Tags", strings.Join(s.Tags, ", ")},
		), known(
			fact{"Session", i.ID},
			fact{"Forked from", i.Parent},
			fact{"Forks", forks(s.Forks)},
			fact{"Effort", i.Effort},
			fact{"Permissions", permissions(i.Policy)},
			fact{"Exported", exported(s)},
			fact{"Credentials", credentials},
		)
}

func known(all ...fact) []fact {
	var list []fact
	for _, f := range all {
		if f.value = text.CleanLine(f.value); f.value != "" {
			list = append(list, f)
		}
	}
	return list
}

func model(i api.SessionInfo) string {
	if i.Scripted {
		return i.Model + " (a demo: a script answers)"
	}
	return i.Model
}

func exported(s Session) string {
	out := when(s.Exported, s.Exported.Location())
	if s.Version != "" {
		out = strings.TrimPrefix(out+" by octavo "+s.Version, " ")
	}
	return out
}

func forks(list []api.SessionInfo) string {
	var names []string
	for _, f := range list {
		name := title(f)
		if name != f.ID {
			name += " (" + f.ID + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// when is a time to the minute; "" when it is not known.
func when(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format("2006-01-02 15:04 MST")
}

// permissions is a policy in words (ui.md 2, "permission mode").
func permissions(policy string) string {
	switch policy {
	case "unsafe_host":
		return "full access"
	case "controlled_bash_approval":
		return "safe mode: changes and commands asked first"
	case "controlled":
		return "controlled: changes asked first"
	}
	return policy
}

// tokens says what a session read and wrote; "" when nothing was counted.
func tokens(u api.Usage) string {
	if u.Requests == 0 {
		return ""
	}
	out := text.Count(u.Input+u.CacheRead+u.CacheWrite) + " read"
	if u.CacheRead > 0 {
		out += " (" + text.Count(u.CacheRead) + " from cache)"
	}
	out += ", " + text.Count(u.Output) + " written"
	if u.Reasoning > 0 {
		out += " (" + text.Count(u.Reasoning) + " reasoning)"
	}
	out += " in " + text.Plural(int(u.Requests), "request")
	if u.Unreported > 0 {
		out += ", without " + text.Plural(int(u.Unreported), "request") + " whose tokens are unknown"
	}
	return out
}

// cost says what a session cost, as far as it is known (decision 19). What octavo's demo says costs nothing, because no model said it.
func cost(u api.Usage, scripted bool) string {
	if scripted && (u.CostMicro == nil || *u.CostMicro == 0) {
		return "nothing (octavo's demo: a script, no model)"
	}
	if u.CostMicro == nil {
		return "unknown"
	}
	out := text.Money(*u.CostMicro)
	if u.Unpriced > 0 {
		out += ", without " + text.Plural(int(u.Unpriced), "request") + " whose price is unknown"
	}
	return out
}

// callTitle is one line for a call, with its tool first.
func callTitle(c api.Call) string {
	tool, name := text.CleanLine(c.Tool), text.CleanLine(c.Title)
	switch {
	case name == "":
		name = tool
	case !strings.HasPrefix(name, tool):
		name = tool + " " + name
	}
	return text.Clip(name, maxTitle)
}

// state is how a call ended: a mark, a word, and whether that is what one hopes for.
type state struct{ mark, word, class string }

// states has the words of plain mode.
var states = map[api.ResultOutcome]state{
	api.ResultOK:        {"✓", "ok", "good"},
	api.ResultError:     {"✗", "failed", "bad"},
	api.ResultRefused:   {"⊘", "refused", "bad"},
	api.ResultCancelled: {"■", "cancelled", "odd"},
	api.ResultNotRun:    {"–", "not run", "odd"},
	api.ResultUnknown:   {"?", "outcome unknown", "bad"},
}

// callState is the state of a call; e is its result entry, or nil.
func callState(e *api.Entry) state {
	if e == nil {
		return state{"…", "no result yet", "odd"}
	}
	s, known := states[e.Result.Outcome]
	if !known {
		s = state{"?", text.CleanLine(string(e.Result.Outcome)), "odd"}
	}
	if e.Result.Duration >= time.Millisecond {
		s.word += ", " + text.Duration(e.Result.Duration)
	}
	return s
}

// endings are the ways in which a turn ends.
var endings = map[api.SettledOutcome]state{
	api.SettledCompleted:   {"✓", "Completed", "good"},
	api.SettledInterrupted: {"■", "Interrupted", "odd"},
	api.SettledFailed:      {"✗", "Failed", "bad"},
	api.SettledMaxTurns:    {"■", "Stopped by the request limit", "bad"},
	api.SettledCostLimit:   {"■", "Stopped by the cost limit", "bad"},
	api.SettledContextFull: {"■", "Stopped by a full context window", "bad"},
	api.SettledAbandoned:   {"✗", "Cut off", "bad"},
}

// ending is how a turn ended, in one line without the error.
func ending(s api.Settled) state {
	end, known := endings[s.Outcome]
	if !known {
		end = state{"?", text.CleanLine(string(s.Outcome)), "odd"}
	}
	if s.Duration > 0 {
		link := " after "
		if s.Outcome == api.SettledCompleted {
			link = " in "
		}
		end.word += link + text.Duration(s.Duration)
	}
	if s.Steps > 0 {
		end.word += ", " + text.Plural(s.Steps, "request")
	}
	if len(s.Files) > 0 {
		end.word += ", " + text.Plural(len(s.Files), "file") + " changed"
	}
	return end
}

// said joins the text of an entry's parts.
func said(e api.Entry) string {
	var texts []string
	for _, p := range e.Parts {
		if p.Type != api.PartReasoning && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// images are the pictures of an entry.
func images(e api.Entry) []api.Image {
	var all []api.Image
	for _, p := range e.Parts {
		if p.Image != nil {
			all = append(all, *p.Image)
		}
	}
	return all
}

// imageName is what a picture is called.
func imageName(i api.Image) string {
	if name := strings.TrimSpace(text.CleanLine(i.Name)); name != "" {
		return text.Clip(name, maxTitle)
	}
	return "picture"
}

// imageSize is the kind and the size of a picture.
func imageSize(i api.Image) string {
	out := text.CleanLine(i.MIME)
	if i.Width > 0 && i.Height > 0 {
		out += fmt.Sprintf(", %d × %d", i.Width, i.Height)
	}
	return strings.TrimPrefix(out, ", ")
}

// indented is a JSON text laid out for reading, or false when it is none.
func indented(s string) (string, bool) {
	var b bytes.Buffer
	if s = strings.ToValidUTF8(s, "\ufffd"); json.Indent(&b, []byte(s), "", "  ") != nil {
		return s, false
	}
	return b.String(), true
}

// changeWords says what kind of change a diff is where its lines do not.
func changeWords(d pages.Diff) []string {
	var words []string
	switch {
	case d.New:
		words = append(words, "new")
	case d.Removed:
		words = append(words, "removed")
	}
	switch {
	case d.Binary:
		words = append(words, "binary")
	case d.Added == 0 && d.Deleted == 0 && (d.New || d.Removed):
		words = append(words, "empty")
	case d.Added == 0 && d.Deleted == 0:
		words = append(words, "no change")
	}
	return words
}

// left is how many lines of a change a diff does not show.
func left(d pages.Diff) (added, deleted int) {
	if !d.Cut {
		return 0, 0
	}
	added, deleted = d.Added, d.Deleted
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case pages.LineAdded:
				added--
			case pages.LineDeleted:
				deleted--
			}
		}
	}
	return max(0, added), max(0, deleted)
}

// headline is the title of what a result shows, where that says more than the title of its call, its output and its diff; else "".
func headline(d *pages.Display, callTitle, out string) string {
	line := text.CleanLine(d.Title)
	if line == callTitle || d.Diff != nil || strings.HasPrefix(out, line) {
		return ""
	}
	return text.Clip(line, maxTitle)
}

// withoutReturns takes the \r from the ends of a diff's lines where every line has one: then it says nothing of the change.
func withoutReturns(d pages.Diff) pages.Diff {
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if !strings.HasSuffix(l.Text, "\r") {
				return d
			}
		}
	}
	hunks := make([]pages.Hunk, len(d.Hunks))
	for i, h := range d.Hunks {
		lines := make([]pages.DiffLine, len(h.Lines))
		for j, l := range h.Lines {
			l.Text = strings.TrimSuffix(l.Text, "\r")
			lines[j] = l
		}
		h.Lines = lines
		hunks[i] = h
	}
	d.Hunks = hunks
	return d
}

// noteName says who made a note, or of what kind an entry is that this octavo does not know.
func noteName(e api.Entry) string {
	name := text.CleanLine(e.Origin)
	if e.Kind != api.EntryNote {
		name = text.CleanLine(string(e.Kind)) + " " + name
	}
	if name = strings.TrimSpace(name); name == "" {
		return "note"
	}
	return name
}

// runBy says who ran the command of a shell entry, and whether a model knows.
func runBy(e api.Entry) string {
	if e.Origin == api.OriginExcluded {
		return you + " ran (no model read it)"
	}
	return you + " ran"
}

// steered is the origin of what a person said while octavo worked.
const steered = "steer"
