package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/pages/text"
	"octavo/render"
	"octavo/sessionstore"
)

const sessionsInspectHelp = `Shows what is stored of a session: facts, what it used, and the sessions it was forked from and into.
It changes nothing; the session may be deleted, or open elsewhere.

  octavo sessions inspect 0198a3f2
  octavo sessions inspect "parser rewrite" --entries    with one line for each entry: number, time, kind, first words
  octavo --fork 0198a3f2@12                             goes on in a copy of the entries 1 to 12

With --mode json: a line of type session as octavo sessions --help tells it, with state, holder (a process), waiting
(inputs), pictures and picture_bytes; lines of type usage for each model and kind of request, as octavo usage --mode json
has them; lines of type fork for each session of the tree, with id, name, depth, parent, parent_entry, self and deleted;
with --entries lines of type entry, with seq, time, kind, turn and text.`

func newSessionsInspect(p *process, f *flags) *cobra.Command {
	var listed bool
	c := &cobra.Command{
		Use:               "inspect ID",
		Short:             "show facts, costs and forks of a session",
		Long:              sessionsInspectHelp,
		Args:              between(1, 1, "one session"),
		ValidArgsFunction: completeSessions(amongAll, 1),
		RunE: p.onSessions(f, func(ctx context.Context, x *shelf, args []string) error {
			v, err := x.find(ctx, args[0], amongAll)
			if err != nil {
				return err
			}
			return x.inspect(ctx, v, listed)
		}),
	}
	c.Flags().BoolVar(&listed, "entries", false, "one line for each entry")
	return c
}

// inspected is the line of type session of octavo sessions inspect.
type inspected struct {
	sessionLine
	State        string `json:"state"` // in words
	Holder       int    `json:"holder,omitempty"`
	Waiting      int    `json:"waiting,omitempty"`
	Pictures     int    `json:"pictures,omitempty"`
	PictureBytes int64  `json:"picture_bytes,omitempty"`
}

func (x *shelf) inspect(ctx context.Context, v sessionstore.Session, listed bool) error {
	facts, err := x.facts(ctx, v)
	if err != nil {
		return err
	}
	used, err := x.store.Spending(ctx, sessionstore.SpendingQuery{Session: v.ID, By: sessionstore.Grouping{Model: true, Kind: x.json}})
	if err != nil {
		return err
	}
	tree, err := x.tree(ctx, v)
	if err != nil {
		return err
	}
	if x.json {
		if err := x.line(facts); err != nil {
			return err
		}
		if err := x.usageLines(used); err != nil {
			return err
		}
		for _, n := range tree {
			if err := x.line(n.line(v)); err != nil {
				return err
			}
		}
	} else if err := x.showInspected(v, facts, used, tree); err != nil {
		return err
	}
	if !listed {
		return nil
	}
	return x.showEntries(ctx, v)
}

// facts asks the store for what the row of a session does not say.
func (x *shelf) facts(ctx context.Context, v sessionstore.Session) (inspected, error) {
	f := inspected{sessionLine: newSessionLine(v)}
	inputs, err := x.store.Inputs(ctx, v.ID)
	if err != nil {
		return f, err
	}
	f.Waiting = len(inputs)
	if f.Pictures, f.PictureBytes, err = x.store.Attached(ctx, v.ID); err != nil {
		return f, err
	}
	holder, err := x.store.Holder(v.ID)
	if err != nil {
		return f, err
	}
	if holder != nil {
		f.Holder = holder.PID
	}
	f.State = state(v, openElsewhere(holder))
	return f, nil
}

// state says in words where a session stands.
func state(v sessionstore.Session, held string) string {
	amid := v.Stage == sessionstore.StageModel || v.Stage == sessionstore.StageTool
	switch {
	case !v.Deleted.IsZero():
		return "deleted: octavo sessions restore " + v.ID + " brings it back until " + day(v.Gone())
	case held != "" && amid:
		return "at work, " + held
	case held != "":
		return held
	case amid:
		return "interrupted, octavo ended in the middle of a turn: octavo --resume " + v.ID + " goes on"
	case v.Stage == sessionstore.StageInterrupted:
		return "interrupted: octavo --resume " + v.ID + " goes on"
	}
	return "idle"
}

func (x *shelf) showInspected(v sessionstore.Session, f inspected, used []sessionstore.Spending, tree []branch) error {
	o := x.renderOptions(x.settings)
	lines := [][2]string{
		{"id", v.ID}, {"name", v.Name}, {"title", v.Title}, {"began with", v.Preview}, {"tags", strings.Join(v.Tags, " ")},
		{"workspace", v.Workspace}, {"model", v.Model}, {"effort", v.Effort}, {"policy", v.Policy},
		{"created", v.Created.Local().Format(stamp)}, {"used", v.Updated.Local().Format(stamp)},
		{"entries", strconv.FormatInt(v.Entries, 10)}, {"state", f.State},
	}
	if f.Waiting > 0 {
		lines = append(lines, [2]string{"waiting", text.Plural(f.Waiting, "input") + "; /continue in the session reads what waits"})
	}
	if f.Pictures > 0 {
		lines = append(lines, [2]string{"pictures", fmt.Sprintf("%d, %s", f.Pictures, text.Bytes(f.PictureBytes))})
	}
	if v.Parent != "" {
		lines = append(lines, [2]string{"forked from", fmt.Sprintf("%s@%d", v.Parent, v.ParentSeq)})
	}
	if v.Private {
		lines = append(lines, [2]string{"private", "not listed, and removed when it is closed"})
	}
	out := []string{factLines(lines, o)}
	if len(used) > 0 {
		b := &usageReport{period: period{head: "Usage", when: "so far"}, options: o}
		rows := fold(used, byModel)
		table := []string{b.table(byModel, rows, len(rows))}
		for _, l := range b.legend(rows, false) {
			table = append(table, o.Palette.Muted.Paint(text.Wrap(l, o.Width)))
		}
		out = append(out, strings.Join(table, "\n"))
	}
	if len(tree) > 1 || v.Parent != "" {
		out = append(out, treeLines(tree, v, o))
	}
	_, err := fmt.Fprintln(x.stdout, strings.Join(out, "\n\n"))
	return err
}

// factLines shows names and values, without those that have no value. A value that finds no room goes on below itself.
func factLines(lines [][2]string, o render.Options) string {
	const gap = 2
	width := 0
	for _, l := range lines {
		if l[1] != "" {
			width = max(width, text.Width(l[0]))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		value := text.CleanLine(l[1])
		if value == "" {
			continue
		}
		if o.Width > 0 {
			value = text.Wrap(value, max(1, o.Width-width-gap))
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(o.Palette.Muted.Paint(text.Pad(l[0], width)) + strings.Repeat(" ", gap) + indentRest(value, width+gap))
	}
	return b.String()
}

// branch is one session in the tree of forks.
type branch struct {
	session sessionstore.Session
	depth   int
}

// tree is the session's oldest ancestor that is still stored with everything that was forked from it, in the order of the copied
// entries. Deleted sessions are part of it; sessions that are private or purged are not, unless it is the session itself.
func (x *shelf) tree(ctx context.Context, v sessionstore.Session) ([]branch, error) {
	all := map[string]sessionstore.Session{v.ID: v}
	for _, deleted := range []bool{false, true} {
		rows, err := x.store.Sessions(ctx, sessionstore.Filter{Deleted: deleted})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			all[r.ID] = r
		}
	}
	children := map[string][]sessionstore.Session{}
	for _, r := range all {
		children[r.Parent] = append(children[r.Parent], r)
	}
	root, passed := v, map[string]bool{v.ID: true}
	for {
		parent, there := all[root.Parent]
		if !there || passed[parent.ID] {
			break
		}
		root = parent
		passed[root.ID] = true
	}
	var list []branch
	shown := map[string]bool{}
	var add func(sessionstore.Session, int)
	add = func(s sessionstore.Session, depth int) {
		if shown[s.ID] {
			return
		}
		shown[s.ID] = true
		list = append(list, branch{s, depth})
		below := children[s.ID]
		slices.SortFunc(below, func(a, b sessionstore.Session) int {
			return cmp.Or(cmp.Compare(a.ParentSeq, b.ParentSeq), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
		})
		for _, c := range below {
			add(c, depth+1)
		}
	}
	add(root, 0)
	return list, nil
}

// forkLine is a session of the tree in JSON.
type forkLine struct {
	Type        string `json:"type"` // "fork"
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"` // what it is called
	Depth       int    `json:"depth"`          // below the oldest ancestor
	Parent      string `json:"parent,omitempty"`
	ParentEntry int64  `json:"parent_entry,omitempty"`
	Self        bool   `json:"self,omitempty"`
	Deleted     bool   `json:"deleted,omitempty"`
}

func (n branch) line(self sessionstore.Session) forkLine {
	s := n.session
	return forkLine{Type: "fork", ID: s.ID, Name: called(s), Depth: n.depth, Parent: s.Parent, ParentEntry: s.ParentSeq,
		Self: s.ID == self.ID, Deleted: !s.Deleted.IsZero()}
}

// maxIndent is up to how many cells forks of forks are indented; deeper ones stand where their ancestors do.
const maxIndent = 16

func treeLines(tree []branch, self sessionstore.Session, o render.Options) string {
	lines := []string{o.Palette.Strong.Paint("Forks") + o.Palette.Muted.Paint("  * this session, @N its last entry that is copied")}
	if root := tree[0].session; root.Parent != "" {
		lines = append(lines, fmt.Sprintf("  %s is no longer stored; @%d of it:", text.CleanLine(root.Parent), root.ParentSeq))
	}
	for _, n := range tree {
		mark := "  "
		if n.session.ID == self.ID {
			mark = "* "
		}
		line := mark + strings.Repeat(" ", min(2*n.depth, maxIndent))
		if n.depth > 0 {
			line += fmt.Sprintf("@%d ", n.session.ParentSeq)
		}
		line += n.session.ID
		if !n.session.Deleted.IsZero() {
			line += " (deleted)"
		}
		if name := text.CleanLine(called(n.session)); name != "" {
			line += "  " + name
		}
		if o.Width > 0 {
			line = text.Cut(line, o.Width, "…")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const (
	// entriesAtATime is how many entries are in memory at most.
	entriesAtATime = 64
	// maxWords is how much of an entry its line is made of, in bytes; maxEntryLine how long that is where nothing tells the width.
	maxWords     = 1 << 10
	maxEntryLine = 200
)

// entryLine is an entry in JSON.
type entryLine struct {
	Type string        `json:"type"` // "entry"
	Seq  int64         `json:"seq"`
	Time time.Time     `json:"time"`
	Kind api.EntryKind `json:"kind"`
	Turn string        `json:"turn,omitempty"`
	Text string        `json:"text"`
}

// eachEntry goes through the entries of a session as they are stored.
func (x *shelf) eachEntry(ctx context.Context, id string, redact session.Redaction, use func(api.Entry) error) error {
	for after := int64(0); ; {
		page, err := session.Entries(ctx, x.store, id, api.Range{After: after, Limit: entriesAtATime}, redact)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			if err := use(e); err != nil {
				return err
			}
			after = e.Seq
		}
	}
}

func (x *shelf) showEntries(ctx context.Context, v sessionstore.Session) error {
	o := x.renderOptions(x.settings)
	digits := len(strconv.FormatInt(v.Entries, 10))
	if !x.json && v.Entries > 0 {
		if _, err := fmt.Fprintln(x.stdout, "\n"+o.Palette.Strong.Paint("Entries")); err != nil {
			return err
		}
	}
	return x.eachEntry(ctx, v.ID, session.Redaction{Text: x.settings.Redactor().Redact}, func(e api.Entry) error {
		if x.json {
			return x.line(entryLine{"entry", e.Seq, e.Time, e.Kind, e.Turn, words(e)})
		}
		line := fmt.Sprintf("%*d  %s  %-9s  %s", digits, e.Seq, e.Time.Local().Format(stamp), text.CleanLine(string(e.Kind)), words(e))
		_, err := fmt.Fprintln(x.stdout, text.Cut(line, cmp.Or(o.Width, maxEntryLine), "…"))
		return err
	})
}

// outcomes says in words how a call ended, where the outcome itself does not.
var outcomes = map[api.ResultOutcome]string{api.ResultError: "failed", api.ResultNotRun: "not run", api.ResultUnknown: "outcome unknown"}

// words are the first words of an entry in one clean line, or what stands for it.
func words(e api.Entry) string {
	switch {
	case e.Settled != nil:
		return strings.TrimSuffix(strings.ReplaceAll(string(e.Settled.Outcome), "_", " ")+": "+start(e.Settled.Error), ": ")
	case e.Call != nil:
		title := start(cmp.Or(e.Call.Title, e.Call.Tool))
		if e.Call.Title != "" && e.Call.Tool != "" && !strings.HasPrefix(title, e.Call.Tool) {
			title = start(e.Call.Tool) + " " + title
		}
		if e.Result != nil {
			title += " - " + cmp.Or(outcomes[e.Result.Outcome], start(string(e.Result.Outcome)))
		}
		return title
	}
	if e.Display != "" {
		return start(e.Display)
	}
	var said, calls []string
	for _, part := range e.Parts {
		switch {
		case part.Type == api.PartText && strings.TrimSpace(part.Text) != "":
			said = append(said, start(part.Text))
		case part.Image != nil:
			said = append(said, start("[picture "+cmp.Or(part.Image.Name, part.Image.MIME)+"]"))
		case part.Call != nil:
			calls = append(calls, start(part.Call.Tool))
		}
	}
	if len(calls) > 0 {
		said = append(said, "[calls "+strings.Join(calls, ", ")+"]")
	}
	return strings.Join(said, " ")
}

// start is the beginning of a text as one clean line.
func start(s string) string { return text.CleanLine(text.CutBytes(strings.TrimSpace(s), maxWords)) }
