// Package commands contributes the slash commands every session has: model, effort, name, reports, forks and leaving. It knows a
// session only through the command bridge.
package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"octavo/ext"
	"octavo/pages/text"
)

// New makes the extension.
func New() ext.Extension {
	return ext.Extension{
		Name:        "commands",
		Description: "slash commands for model, session, cost and context",
		Required:    true,
		Source:      "built-in",
		Static:      ext.Contribution{Commands: all()},
	}
}

func all() []ext.Command {
	word := func(name, description string) []ext.Argument {
		return []ext.Argument{{Name: name, Description: description}}
	}
	return []ext.Command{
		{Name: "/help", Description: "list the commands, or explain one", Arguments: word("command", "a command's name"), Run: help},
		{Name: "/model", Description: "show the model, or choose another for the next request",
			Arguments: []ext.Argument{{Name: "model", Description: "provider/model; next or previous of those to switch among"}, {Name: "effort", Description: "reasoning level"}}, Run: chooseModel},
		{Name: "/effort", Description: "show how much the model thinks, or change it", Arguments: word("level", "off, minimal, low, medium, high, xhigh, max"), Run: chooseEffort},
		{Name: "/name", Description: "show the session's name, or change it", Arguments: word("name", "at most 256 bytes"), Run: name},
		{Name: "/status", Description: "this session: model, policy, counts, what could not be loaded", Run: status},
		{Name: "/cost", Description: "tokens and money of this session", Run: cost},
		{Name: "/context", Description: "what fills the model's window", Run: window},
		{Name: "/sessions", Description: "list sessions of this workspace; all lists every one",
			Arguments: []ext.Argument{{Name: "all", Description: "all, or text to look for"}}, Run: sessions},
		{Name: "/resume", Description: "leave this session and open another", Arguments: []ext.Argument{{Name: "session", Description: "id, its start, or name", Required: true}}, Run: resume},
		{Name: "/new", Description: "leave this session and start a fresh one", Run: goTo(ext.GoNew)},
		{Name: "/fork", Description: "go on in a copy of this session, or in one that starts with a summary of it",
			Arguments: word("entry", "the number of the last entry to copy, or summary to start with one that the model writes"), Run: fork},
		{Name: "/queue", Description: "say something after the running turn instead of into it",
			Arguments: []ext.Argument{{Name: "text", Description: "what to say", Required: true}}, Run: queue},
		{Name: "/continue", Description: "go on with what was interrupted or waits", Run: proceed},
		{Name: quit, Description: "leave octavo", Run: goTo(ext.GoQuit)},
		{Name: otherQuit, Description: "leave octavo", Run: goTo(ext.GoQuit)},
	}
}

// The two names of one command, which a list shows as one.
const (
	quit      = "/quit"
	otherQuit = "/exit"
)

// answer pairs text for a person with the same as data.
func answer(shown string, data any) (ext.Outcome, error) {
	b, err := json.Marshal(data)
	return ext.Outcome{Text: shown, Data: b}, err
}

func help(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	commands, err := c.Bridge.Commands(c)
	if err != nil {
		return ext.Outcome{}, err
	}
	if one := args["command"]; one != "" {
		return explain(commands, "/"+strings.TrimPrefix(one, "/"))
	}
	has := func(name string) bool {
		return slices.ContainsFunc(commands, func(k ext.Command) bool { return k.Name == name })
	}
	var rows [][2]string
	width := 0
	for _, k := range commands {
		usage := text.CleanLine(k.Usage())
		switch {
		case k.Name == otherQuit && has(quit):
			continue
		case k.Name == quit && has(otherQuit):
			usage += " (or " + otherQuit + ")"
		}
		rows = append(rows, [2]string{usage, text.CleanLine(k.Description)})
		width = max(width, text.Width(usage))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s  %s\n", text.Pad(r[0], width), r[1])
	}
	b.WriteString("A command may be shortened as long as it stays unique.")
	return ext.Outcome{Text: b.String()}, nil
}

func explain(commands []ext.Command, name string) (ext.Outcome, error) {
	for _, k := range commands {
		if k.Name != name {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n%s", text.CleanLine(k.Usage()), text.CleanLine(k.Description))
		for _, a := range k.Arguments {
			fmt.Fprintf(&b, "\n  %s: %s", text.CleanLine(a.Name), text.CleanLine(a.Description))
		}
		return ext.Outcome{Text: b.String()}, nil
	}
	return ext.Outcome{}, fmt.Errorf("there is no command %s; /help lists them", name)
}

func chooseModel(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	if args["model"] == "" {
		m, err := c.Bridge.Model(c)
		if err != nil {
			return ext.Outcome{}, err
		}
		return answer(showModel(m), m)
	}
	var m ext.ModelState
	var err error
	switch args["model"] {
	case "next":
		m, err = c.Bridge.NextModel(c, 1)
	case "previous":
		m, err = c.Bridge.NextModel(c, -1)
	default:
		m, err = c.Bridge.SelectModel(c, args["model"], args["effort"])
	}
	if err != nil {
		return ext.Outcome{}, err
	}
	return answer("from the next request on: "+modelLine(m), m)
}

func chooseEffort(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	if args["level"] == "" {
		m, err := c.Bridge.Model(c)
		if err != nil {
			return ext.Outcome{}, err
		}
		return answer(modelLine(m), m)
	}
	m, err := c.Bridge.SelectModel(c, "", args["level"])
	if err != nil {
		return ext.Outcome{}, err
	}
	return answer("from the next request on: "+modelLine(m), m)
}

func modelLine(m ext.ModelState) string {
	line := modelLabel(m.Model, m.Effort, m.Scripted)
	if len(m.Efforts) > 0 {
		line += " (" + strings.Join(m.Efforts, ", ") + ")"
	}
	return text.CleanLine(line)
}

// modelLabel names a model and how much it thinks.
func modelLabel(name, effort string, isScript bool) string {
	if name == "" {
		return "no model"
	}
	if isScript {
		name += " (" + scripted + ")"
	}
	if effort == "" {
		return name + " · effort: the model's own"
	}
	return name + " · effort " + effort
}

func showModel(m ext.ModelState) string {
	var b strings.Builder
	b.WriteString(modelLine(m))
	for _, known := range m.Known {
		mark := "  "
		if known == m.Model {
			mark = "* "
		}
		b.WriteString("\n" + mark + text.CleanLine(known))
	}
	if m.Catalogued > 0 {
		provider, _, _ := strings.Cut(m.Model, "/")
		fmt.Fprintf(&b, "\nthe catalogue knows %s of %s: octavo --list-models %[2]s",
			text.Plural(m.Catalogued, "model"), text.CleanLine(provider))
	}
	switch {
	case m.Scripted:
		b.WriteString("\noctavo --login PROVIDER connects a model; octavo help models says more")
	case len(m.Known) == 0:
		b.WriteString("\nno model is configured: /model demo shows octavo at work without one, octavo setup --help connects one")
	}
	return b.String()
}

func name(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	if given, ok := args["name"]; ok {
		if err := c.Bridge.Rename(c, given); err != nil {
			return ext.Outcome{}, err
		}
	}
	r, err := c.Bridge.Report(c)
	if err != nil {
		return ext.Outcome{}, err
	}
	shown := text.CleanLine(r.Name)
	if shown == "" {
		shown = "this session has no name; /name NAME gives it one"
	}
	return answer(shown, map[string]string{"name": r.Name})
}

func status(c *ext.CommandCall, _ map[string]string) (ext.Outcome, error) {
	r, err := c.Bridge.Report(c)
	if err != nil {
		return ext.Outcome{}, err
	}
	lines := [][2]string{{"session", r.ID}, {"name", r.Name}, {"workspace", r.Workspace}, {"model", modelLabel(r.Model, r.Effort, r.Scripted)}, {"policy", r.Policy},
		{"entries", fmt.Sprint(r.Entries)}, {"requests", fmt.Sprint(r.Requests)}, {"cost", money(r)}}
	for _, e := range slices.Sorted(maps.Keys(r.Inactive)) {
		lines = append(lines, [2]string{"inactive", e + ": " + r.Inactive[e]})
	}
	return answer(facts(lines), r)
}

func cost(c *ext.CommandCall, _ map[string]string) (ext.Outcome, error) {
	r, err := c.Bridge.Report(c)
	if err != nil {
		return ext.Outcome{}, err
	}
	tokens := text.Count
	if r.Requests > 0 && r.Unreported >= r.Requests {
		tokens = func(int64) string { return "unknown" }
	}
	lines := [][2]string{{"requests", fmt.Sprint(r.Requests)}, {"input", tokens(r.Input)}, {"cache read", tokens(r.CacheRead)},
		{"cache write", tokens(r.CacheWrite)}, {"output", tokens(r.Output)}, {"of it reasoning", tokens(r.Reasoning)}, {"cost", money(r)}}
	if r.Unreported > 0 {
		lines = append(lines, [2]string{"not reported", text.Plural(int(r.Unreported), "request") + " without token counts: the sums are known parts"})
	}
	return answer(facts(lines), r)
}

// scripted is said wherever the demo is named.
const scripted = "octavo's demo: a script, no model"

// money never shows an unknown cost as nothing (decision 19).
func money(r ext.Report) string {
	switch {
	case r.Scripted && (r.CostMicro == nil || *r.CostMicro == 0):
		return "nothing (" + scripted + ")"
	case r.CostMicro == nil && r.Requests == 0:
		return "nothing yet"
	case r.CostMicro == nil:
		return "unknown: neither config.toml nor the catalogue has a price for this model"
	case r.Unpriced > 0:
		return fmt.Sprintf("%s, not counting %s without a price", text.Money(*r.CostMicro), text.Plural(int(r.Unpriced), "request"))
	default:
		return text.Money(*r.CostMicro)
	}
}

func window(c *ext.CommandCall, _ map[string]string) (ext.Outcome, error) {
	r, err := c.Bridge.Report(c)
	if err != nil {
		return ext.Outcome{}, err
	}
	var lines [][2]string
	total := 0
	for _, p := range r.Context {
		lines = append(lines, [2]string{p.Name, "about " + text.Count(int64(p.Tokens))})
		total += p.Tokens
	}
	whole := "about " + text.Count(int64(total)) + " tokens"
	if r.Window > 0 {
		whole += fmt.Sprintf(" of %s (%d%%)", text.Count(int64(r.Window)), total*100/r.Window)
	} else {
		whole += "; the model's window is not known (context_tokens in config.toml tells it)"
	}
	return answer(facts(append(lines, [2]string{"in all", whole})), r)
}

func sessions(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	query := args["all"]
	everywhere := query == "all"
	if everywhere {
		query = ""
	}
	list, err := c.Bridge.Sessions(c, query, everywhere)
	if err != nil {
		return ext.Outcome{}, err
	}
	if len(list) == 0 {
		return answer("no session found", list)
	}
	ids := shortened(list)
	var lines []string
	for i, s := range list {
		here := "  "
		if s.ID == c.Session {
			here = "* "
		}
		line := fmt.Sprintf("%s%s  %s  %5d entries  ", here, text.CleanLine(ids[i]), localTime(s.Updated), s.Entries)
		title := text.CleanLine(cmp.Or(s.Name, s.Title, s.Preview))
		lines = append(lines, strings.TrimRight(line+text.Cut(title, max(minTitle, rowWidth-text.Width(line)), "…"), " "))
		if s.Workspace != c.Workspace {
			lines = append(lines, "    in "+text.CleanLine(s.Workspace))
		}
	}
	return answer(strings.Join(lines, "\n"), list)
}

const (
	rowWidth = 80                   // cells of a row of a list of sessions
	minTitle = 20                   // cells of a title at least, whatever stands before it
	idStart  = len("01890000-0000") // what of an id tells sessions apart that a person starts
)

// shortened are the ids of sessions as a list shows them: their starts, where those tell them apart; /resume takes them.
func shortened(list []ext.SessionLine) []string {
	start := func(id string) string { return id[:min(len(id), idStart)] }
	count := map[string]int{}
	for _, s := range list {
		count[start(s.ID)]++
	}
	ids := make([]string, len(list))
	for i, s := range list {
		if ids[i] = s.ID; count[start(s.ID)] == 1 {
			ids[i] = start(s.ID)
		}
	}
	return ids
}

// localTime is a moment as a clock on the wall says it; what is no moment stays as it is.
func localTime(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return text.CleanLine(stamp)
	}
	return at.Local().Format("2006-01-02 15:04")
}

func resume(_ *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	return ext.Outcome{Go: &ext.Go{To: ext.GoSession, Session: args["session"]}}, nil
}

func goTo(where string) func(*ext.CommandCall, map[string]string) (ext.Outcome, error) {
	return func(*ext.CommandCall, map[string]string) (ext.Outcome, error) {
		return ext.Outcome{Go: &ext.Go{To: where}}, nil
	}
}

func fork(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	at, summary := int64(0), args["entry"] == "summary"
	if given := args["entry"]; given != "" && !summary {
		var err error
		if at, err = strconv.ParseInt(given, 10, 64); err != nil || at < 1 {
			return ext.Outcome{}, fmt.Errorf("%q is neither the number of an entry nor summary", given)
		}
	}
	id, err := c.Bridge.Fork(c, at, summary)
	if err != nil {
		return ext.Outcome{}, err
	}
	out, err := answer("going on in session "+id, map[string]string{"session": id})
	out.Go = &ext.Go{To: ext.GoSession, Session: id}
	return out, err
}

func queue(c *ext.CommandCall, args map[string]string) (ext.Outcome, error) {
	if err := c.Bridge.Queue(c, args["text"]); err != nil {
		return ext.Outcome{}, err
	}
	return ext.Outcome{Text: "queued: it is said when nothing runs any more"}, nil
}

func proceed(c *ext.CommandCall, _ map[string]string) (ext.Outcome, error) {
	return ext.Outcome{}, c.Bridge.Continue(c)
}

// facts shows names and values in two columns, without those that have no value.
func facts(lines [][2]string) string {
	width := 0
	for i := range lines {
		lines[i][0], lines[i][1] = text.CleanLine(lines[i][0]), text.CleanLine(lines[i][1])
		width = max(width, text.Width(lines[i][0]))
	}
	var b strings.Builder
	for _, l := range lines {
		if l[1] == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s  %s", text.Pad(l[0], width), l[1])
	}
	return b.String()
}
