package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octavo/app/settings"
	"octavo/pages/text"
	"octavo/render"
	"octavo/sessionstore"
)

const (
	defaultDays  = 30     // how far octavo usage looks back, today included
	maxDays      = 36_500 // of --days: a hundred years; --all has no end
	mostSessions = 20     // in the table of sessions, unless it is asked for with --by
	maxLabel     = 50     // cells of a session's name
)

// demoProvider is the provider whose answers are scripted: there is nothing to bill.
const demoProvider = settings.DemoProvider

const usageHelp = `Shows what octavo's requests used: tokens, and money where a price is known. Purged sessions count, too.

  octavo usage                      the last 30 days, and the most expensive sessions in them
  octavo usage --days 7 --by model  one week, told apart by model
  octavo usage --session refactor   one session, from its beginning

Days are those of your time zone. --workspace looks at the sessions of that folder only. It asks no provider.`

// usageFlags are the command line of octavo usage.
type usageFlags struct {
	days    int
	since   string
	all     bool
	by      string
	session string
	mode    string
}

func newUsage(p *process, f *flags) *cobra.Command {
	var u usageFlags
	c := &cobra.Command{
		Use:   "usage",
		Short: "show what was used: tokens and money",
		Long:  usageHelp,
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return p.usage(c.Context(), c, f, u) },
	}
	l := c.Flags()
	l.SortFlags = false
	l.IntVar(&u.days, "days", defaultDays, "the last so many days, today included")
	l.StringVar(&u.since, "since", "", "from this day on, as YYYY-MM-DD")
	l.BoolVar(&u.all, "all", false, "from the beginning")
	l.StringVar(&u.by, "by", "", "one table, by day, session, model or kind of request")
	l.StringVar(&u.session, "session", "", "only this session: id, start of an id, or name")
	l.StringVar(&u.mode, "mode", "", "json: one JSON object a line")
	return c
}

// check refuses what cannot be meant.
func (u usageFlags) check(c *cobra.Command) error {
	changed := c.Flags().Changed
	for _, pair := range [][2]string{{"days", "since"}, {"days", "all"}, {"since", "all"}} {
		if changed(pair[0]) && changed(pair[1]) {
			return usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	switch {
	case u.days < 1 || u.days > maxDays:
		return usagef("--days is 1 to %d, not %d; --all looks at everything", maxDays, u.days)
	case changed("by") && !slices.Contains([]string{byDay, bySession, byModel, byKind}, u.by):
		return usagef("--by is day, session, model or kind, not %q", u.by)
	case changed("session") && u.session == "":
		return usagef("--session needs a session: its id, the start of its id, or its name (octavo usage --by session shows them)")
	case !slices.Contains([]string{"", "json"}, u.mode):
		return usagef("--mode is json, not %q; without it there are tables", u.mode)
	}
	return nil
}

// What --by takes.
const (
	byDay     = "day"
	bySession = "session"
	byModel   = "model"
	byKind    = "kind"
)

// period is the time that is looked at.
type period struct {
	from time.Time // zero: the beginning
	head string    // in front of a table
	when string    // in a sentence
}

// period is what the flags say, on the clock and in the time zone of now. A session is looked at from its beginning.
func (u usageFlags) period(c *cobra.Command, now time.Time) (period, error) {
	year, month, day := now.Date()
	switch {
	case u.since != "" || c.Flags().Changed("since"):
		since, err := time.Parse(time.DateOnly, u.since)
		if err != nil || u.since > now.Format(time.DateOnly) {
			return period{}, usagef("--since is a day up to today, as %s, not %q", now.Format(time.DateOnly), u.since)
		}
		year, month, day = since.Date()
		return period{beginning(year, month, day, now.Location()), "Since " + u.since, "since " + u.since}, nil
	case u.all || u.session != "" && !c.Flags().Changed("days"):
		return period{head: "All time", when: "so far"}, nil
	case u.days == 1:
		return period{beginning(year, month, day, now.Location()), "Today", "today"}, nil
	}
	days := text.Plural(u.days, "day")
	return period{beginning(year, month, day-u.days+1, now.Location()), "Last " + days, "in the last " + days}, nil
}

// beginning is when a day begins in a zone, which need not be at midnight and may be at the first of two: clocks are changed at night.
func beginning(year int, month time.Month, day int, zone *time.Location) time.Time {
	const step = 15 * time.Minute // clocks are changed by multiples of it
	want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	for t.Add(-step).Format(time.DateOnly) >= want {
		t = t.Add(-step)
	}
	for t.Format(time.DateOnly) < want {
		t = t.Add(step)
	}
	return t
}

// zoneNote names the time zone of days where it may not be the one that a person has in mind: one that was set for this process,
// or the UTC of a server.
func zoneNote(now time.Time) string {
	const machines = "Local"
	name := now.Location().String()
	if name == machines {
		if name, _ = now.Zone(); name != time.UTC.String() {
			return ""
		}
	}
	return "days are in " + text.CleanLine(name)
}

// usage prints what was used (product.md 5). It asks no provider and leaves a home that is not there alone.
func (p *process) usage(ctx context.Context, c *cobra.Command, f *flags, u usageFlags) error {
	if err := u.check(c); err != nil {
		return err
	}
	now := time.Now()
	when, err := u.period(c, now)
	if err != nil {
		return err
	}
	// The folder of --workspace may be gone; what was used in it is not.
	elsewhere := *f
	elsewhere.workspace = ""
	s, _, dir, err := p.settings(c, &elsewhere)
	if err != nil {
		return err
	}
	q := sessionstore.SpendingQuery{From: when.from, By: u.grouping(now.Location())}
	if c.Flags().Changed("workspace") {
		if q.Workspace, err = workspaceOf(f.workspace, dir); err != nil {
			return err
		}
	}
	rows, err := spent(ctx, s.Home, u.session, q)
	if err != nil {
		return err
	}
	if u.mode == "json" {
		return p.usageLines(rows)
	}
	b := &usageReport{period: when, workspace: text.CleanLine(q.Workspace), zone: zoneNote(now), options: p.renderOptions(s)}
	if len(rows) == 0 {
		fmt.Fprintln(p.stderr, b.nothing())
		return nil
	}
	tables, legend := b.tables(u.by, rows)
	fmt.Fprintln(p.stdout, strings.Join(tables, "\n\n"))
	if len(legend) > 0 {
		fmt.Fprintln(p.stderr, text.Wrap(strings.Join(legend, "\n"), b.options.Width))
	}
	return nil
}

// workspaceOf is the folder as sessions have it, or as it was asked for when it is no more.
func workspaceOf(asked, dir string) (string, error) {
	if found, err := findWorkspace(asked, dir); err == nil {
		return found, nil
	}
	return filepath.Abs(asked)
}

// grouping is what the store tells apart. Tables need the models in any case, to know which answers were scripted.
func (u usageFlags) grouping(zone *time.Location) sessionstore.Grouping {
	all, table := u.by == "", u.mode != "json"
	return sessionstore.Grouping{Zone: zone, Day: all || u.by == byDay, Session: all || u.by == bySession, Model: all || table || u.by == byModel,
		Kind: u.by == byKind || all && !table}
}

// spent asks the store. It waits for no session and holds none up: what another octavo has open can be read.
func spent(ctx context.Context, home, session string, q sessionstore.SpendingQuery) (rows []sessionstore.Spending, err error) {
	if _, err := os.Stat(filepath.Join(home, sessionstore.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	store, err := sessionstore.Open(ctx, sessionstore.Options{Dir: home})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if session != "" {
		if q.Session, err = spender(ctx, store, session); err != nil {
			return nil, err
		}
	}
	return store.Spending(ctx, q)
}

// spender finds the session that a person means, also one that is deleted or purged.
func spender(ctx context.Context, store *sessionstore.Store, asked string) (string, error) {
	found, err := store.Resolve(ctx, asked)
	if !errors.Is(err, sessionstore.ErrNotFound) {
		return found.ID, err
	}
	rows, err := store.Spending(ctx, sessionstore.SpendingQuery{By: sessionstore.Grouping{Session: true}})
	if err != nil {
		return "", err
	}
	var ids []string
	for _, r := range rows {
		if r.Session == asked {
			return asked, nil
		}
		if r.Name == asked || strings.HasPrefix(r.Session, asked) {
			ids = append(ids, r.Session)
		}
	}
	switch {
	case len(ids) == 0:
		return "", fmt.Errorf("no session has the id or name %q; octavo usage --all --by session shows those that used something", asked)
	case len(ids) > 1:
		return "", fmt.Errorf("%q names several sessions; give more of the id: %s", asked, strings.Join(ids[:min(len(ids), sessionstore.MaxCandidates)], ", "))
	}
	return ids[0], nil
}

// usedLine is one line of octavo usage --mode json; what is not known and what is not told apart is null (decision 19).
type usedLine struct {
	Type       string    `json:"type"` // "usage"
	Day        *string   `json:"day"`
	Session    *string   `json:"session"`
	Name       string    `json:"name,omitempty"`
	Title      string    `json:"title,omitempty"`
	Preview    string    `json:"preview,omitempty"`
	Workspace  string    `json:"workspace,omitempty"`
	Deleted    bool      `json:"deleted,omitempty"` // can be restored
	Purged     bool      `json:"purged,omitempty"`
	Provider   *string   `json:"provider"`
	Model      *string   `json:"model"` // the provider's own id
	Kind       *string   `json:"kind"`  // turn, summarizer or background
	Requests   int64     `json:"requests"`
	Input      *int64    `json:"input"` // tokens
	CacheRead  *int64    `json:"cache_read"`
	CacheWrite *int64    `json:"cache_write"`
	Output     *int64    `json:"output"`
	Reasoning  *int64    `json:"reasoning"` // part of output
	Cost       *exactSum `json:"cost"`      // dollars, of the requests that have a price
	Unpriced   int64     `json:"unpriced"`
	Unreported int64     `json:"unreported"`
}

// exactSum is money to the last picodollar.
type exactSum struct{ micro, pico int64 }

// MarshalJSON writes it as a decimal number of dollars.
func (s exactSum) MarshalJSON() ([]byte, error) {
	const dollar = 1_000_000
	return fmt.Appendf(nil, "%d.%06d%06d", s.micro/dollar, s.micro%dollar, s.pico), nil
}

func (p *process) usageLines(rows []sessionstore.Spending) error {
	out := json.NewEncoder(p.stdout)
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	for _, r := range rows {
		known := func(n int64) *int64 {
			if n == 0 && unreported(r.Totals) {
				return nil
			}
			return &n
		}
		line := usedLine{Type: "usage", Day: given(r.Day), Session: given(r.Session), Workspace: r.Workspace, Deleted: r.Deleted, Purged: r.Purged,
			Provider: given(r.Provider), Model: given(r.Model), Kind: given(r.Kind), Requests: r.Requests,
			Input: known(r.Input), CacheRead: known(r.CacheRead), CacheWrite: known(r.CacheWrite), Output: known(r.Output),
			Reasoning: known(r.Reasoning), Unpriced: r.Unpriced, Unreported: r.Unreported}
		if !r.Private {
			line.Name, line.Title, line.Preview = r.Name, r.Title, r.Preview
		}
		if r.Requests > r.Unpriced {
			line.Cost = &exactSum{r.CostMicro, r.CostPico}
		}
		if out.Encode(line) != nil {
			return p.stdout.failure() // a reader that has seen enough is none
		}
	}
	return nil
}

// unreported says that no request told its tokens: a sum of nothing is then not known.
func unreported(t sessionstore.Totals) bool { return t.Requests > 0 && t.Unreported >= t.Requests }

// used is one row of a table.
type used struct {
	label  string // a day, a session's name, a model, a kind
	id     string // of the session
	models []modelShare
	last   time.Time
	demo   int64 // requests with scripted answers
	sessionstore.Totals
}

// modelShare is how many requests a model answered.
type modelShare struct {
	provider, model string
	requests        int64
}

func (m modelShare) String() string {
	switch {
	case m.model == "":
		return "unknown model"
	case m.provider == "":
		return m.model
	}
	return m.provider + "/" + m.model
}

// add counts a part. What is scripted has no price and needs none.
func (u *used) add(s sessionstore.Spending) {
	if s.Provider == demoProvider {
		u.demo += s.Requests
		s.Unpriced, s.CostMicro, s.CostPico = 0, 0, 0
	}
	u.Totals.Add(s.Totals)
	if s.Last.After(u.last) {
		u.last = s.Last
	}
	m := modelShare{text.CleanLine(s.Provider), text.CleanLine(s.Model), s.Requests}
	at := slices.IndexFunc(u.models, func(x modelShare) bool { return x.provider == m.provider && x.model == m.model })
	if at < 0 {
		u.models = append(u.models, m)
		return
	}
	u.models[at].requests += m.requests
}

// merge adds a whole row to a sum of rows.
func (u *used) merge(row *used) {
	u.demo += row.demo
	u.Totals.Add(row.Totals)
}

// notKnown is a sum that is not known, which is never shown as nothing (decision 19).
const notKnown = "unknown"

// money is a row's cost.
func (u *used) money() string {
	switch {
	case u.Requests == u.demo:
		return demoProvider
	case u.Requests-u.demo <= u.Unpriced:
		return notKnown
	case u.CostMicro == 0 && u.CostPico > 0:
		return text.Money(1) // less than can be shown, and not nothing
	}
	return text.Money(u.CostMicro)
}

// partly says that a cost is that of only some of the requests.
func (u *used) partly() bool { return u.Unpriced > 0 && u.Unpriced < u.Requests-u.demo }

// note marks a cost or a sum that is only the known part, and says when part of it was scripted.
func (u *used) note(narrow bool) string {
	var notes []string
	if u.partly() {
		notes = append(notes, fmt.Sprintf("+%d unpriced", u.Unpriced))
	}
	if u.Unreported > 0 {
		notes = append(notes, fmt.Sprintf("%d unreported", u.Unreported))
	}
	if u.demo > 0 && u.demo < u.Requests {
		notes = append(notes, fmt.Sprintf("%d demo", u.demo))
	}
	if narrow && len(notes) > 1 {
		notes = notes[:1] // the legend tells of the others
	}
	return strings.Join(notes, ", ")
}

// modelNames lists the models, the most used first; where there is little room only that one, and how many more.
func (u *used) modelNames(narrow bool) string {
	models := slices.Clone(u.models)
	slices.SortStableFunc(models, func(a, b modelShare) int { return cmp.Compare(b.requests, a.requests) })
	if narrow && len(models) > 0 {
		name := cmp.Or(models[0].model, models[0].String())
		if len(models) > 1 {
			return fmt.Sprintf("%s +%d", name, len(models)-1)
		}
		return name
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.String()
	}
	return strings.Join(names, ", ")
}

// sessionLabel is what a person knows a session by.
func sessionLabel(s sessionstore.Spending) string {
	switch {
	case s.Purged:
		return "purged " + s.Session
	case s.Private:
		return "private session"
	}
	label := text.Cut(text.CleanLine(cmp.Or(s.Name, s.Title, s.Preview, s.Session)), maxLabel, "…")
	if s.Deleted {
		label += " (deleted)"
	}
	return label
}

// usageKey is what rows of a table are told apart by.
func usageKey(s sessionstore.Spending, by string) string {
	switch by {
	case byDay:
		return s.Day
	case bySession:
		return s.Session
	case byModel:
		return s.Provider + "\n" + s.Model // neither has a newline
	}
	return s.Kind
}

// newUsed is a row of a table without its sums.
func newUsed(s sessionstore.Spending, by string) *used {
	switch by {
	case bySession:
		return &used{label: sessionLabel(s), id: s.Session}
	case byModel:
		return &used{label: modelShare{text.CleanLine(s.Provider), text.CleanLine(s.Model), 0}.String()}
	}
	return &used{label: usageKey(s, by)}
}

// fold makes rows of a table: days from the newest on, the rest from the most expensive on.
func fold(rows []sessionstore.Spending, by string) []*used {
	var list []*used
	found := map[string]*used{}
	for _, r := range rows {
		key := usageKey(r, by)
		if found[key] == nil {
			found[key] = newUsed(r, by)
			list = append(list, found[key])
		}
		found[key].add(r)
	}
	slices.SortStableFunc(list, func(a, b *used) int {
		if by == byDay {
			return cmp.Compare(b.label, a.label)
		}
		return cmp.Or(cmp.Compare(b.CostMicro, a.CostMicro), cmp.Compare(b.CostPico, a.CostPico), b.last.Compare(a.last))
	})
	return list
}

// usageReport is what a person reads.
type usageReport struct {
	period    period
	workspace string // clean; empty: all
	zone      string // a line of the legend, or empty
	options   render.Options
}

// nothing is said instead of empty tables.
func (b *usageReport) nothing() string {
	s := "nothing was used " + b.period.when
	if b.workspace != "" {
		s += " in " + b.workspace
	}
	if !b.period.from.IsZero() {
		s += "; octavo usage --all looks further back"
	}
	return s
}

// tables gives the tables and the lines that explain them.
func (b *usageReport) tables(by string, rows []sessionstore.Spending) (tables, legend []string) {
	kinds, most := []string{byDay, bySession}, mostSessions
	if by != "" {
		kinds, most = []string{by}, len(rows)
	}
	var shown []*used
	for _, by := range kinds {
		list := fold(rows, by)
		shown = append(shown, list...)
		if by == byDay {
			tables = append(tables, b.table(by, list, len(list)))
		} else {
			tables = append(tables, b.table(by, list, most))
		}
	}
	return tables, b.legend(shown, slices.Contains(kinds, byDay))
}

// table shows rows under a heading and over their total; what goes beyond most rows is put into one.
func (b *usageReport) table(by string, rows []*used, most int) string {
	head := b.period.head
	if b.workspace != "" {
		head += ", " + b.workspace
	}
	head += ", by " + by
	total := &used{label: "total"}
	for _, u := range rows {
		total.merge(u)
	}
	if len(rows) > most {
		head += fmt.Sprintf(": the %d most expensive of %d", most, len(rows))
		rest := &used{label: text.Plural(len(rows)-most, "more session")}
		for _, u := range rows[most:] {
			rest.merge(u)
		}
		rows = append(slices.Clone(rows[:most]), rest)
	}
	if b.options.Width > 0 {
		head = text.Cut(head, b.options.Width, "…")
	}
	heads, cells := layout(usageColumns(by), append(slices.Clone(rows), total), b.options.Width)
	return b.options.Palette.Strong.Paint(head) + "\n" + render.HeadedTable(heads, cells, b.options)
}

// legend explains the words and marks of the rows shown.
func (b *usageReport) legend(shown []*used, dated bool) (legend []string) {
	var unknown, unpriced, unreported, demo bool
	for _, u := range shown {
		unknown = unknown || u.money() == notKnown
		unpriced = unpriced || u.partly()
		unreported = unreported || u.Unreported > 0
		demo = demo || u.demo > 0
	}
	for _, l := range []struct {
		needed bool
		line   string
	}{
		{unknown, "unknown: neither config.toml nor the catalogue has a price, or the provider did not report the tokens"},
		{unpriced, "+N unpriced: the cost is a known part, not counting N requests without a price"},
		{unreported, "N unreported: the sums are known parts, not counting N requests without token counts"},
		{demo, "demo: scripted, nothing is billed"},
		{b.workspace != "", "purged sessions belong to no workspace any more and are left out"},
		{dated && b.zone != "", b.zone},
	} {
		if l.needed {
			legend = append(legend, l.line)
		}
	}
	return legend
}

// column is one column of a table.
type column struct {
	head, narrow string // its name, and where there is little room
	cell         func(u *used, narrow bool) string
	right        bool // numbers end in line
	least        int  // down to how many cells it gives way; 0: it does not
	goes         int  // at which squeeze it is left out; 0: it stays
}

// Squeezes: what is done, one after the other, until a table finds room. Marks of what is not known stay to the end.
const (
	squeezeID = iota + 1
	squeezeWords
	squeezeWrite
	squeezeRead
	squeezeModel
	squeezeRequests
	squeezeTokens
)

func usageColumns(by string) []column {
	tokens := func(of func(*used) int64) func(*used, bool) string {
		return func(u *used, _ bool) string {
			n := of(u)
			if n == 0 && unreported(u.Totals) {
				return notKnown
			}
			return text.Count(n)
		}
	}
	first := column{head: by, cell: func(u *used, _ bool) string { return u.label }}
	columns := []column{first,
		{head: "requests", narrow: "reqs", right: true, goes: squeezeRequests, cell: func(u *used, _ bool) string { return text.Count(u.Requests) }},
		{head: "input", right: true, goes: squeezeTokens, cell: tokens(func(u *used) int64 { return u.Input })},
		{head: "cache read", narrow: "c.read", right: true, goes: squeezeRead, cell: tokens(func(u *used) int64 { return u.CacheRead })},
		{head: "cache write", narrow: "c.write", right: true, goes: squeezeWrite, cell: tokens(func(u *used) int64 { return u.CacheWrite })},
		{head: "output", right: true, goes: squeezeTokens, cell: tokens(func(u *used) int64 { return u.Output })},
		{head: "cost", right: true, cell: func(u *used, _ bool) string { return u.money() }},
		{cell: (*used).note},
	}
	switch by {
	case bySession:
		columns[0].least = 16
		columns = slices.Insert(columns, 1, column{head: "model", least: 10, goes: squeezeModel, cell: (*used).modelNames})
		columns = append(columns, column{head: "id", goes: squeezeID, cell: func(u *used, _ bool) string { return u.id }})
	case byModel:
		columns[0].least = 16
	}
	return columns
}

// layout makes cells of rows that find room in width, if that is not 0: squeeze by squeeze, and at the end too wide all the same,
// which the table then cuts. It pads numbers itself, because a table begins all columns in line.
func layout(columns []column, rows []*used, width int) (head []string, cells [][]string) {
	for squeeze := 0; ; squeeze++ {
		shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.goes > 0 && c.goes <= squeeze })
		narrow := squeeze >= squeezeWords
		head, cells = fill(shown, rows, narrow)
		widths := measure(head, cells)
		fits := giveWay(shown, widths, width)
		if !fits && squeeze < squeezeTokens {
			continue
		}
		for i, c := range shown {
			head[i] = c.place(head[i], widths[i])
			for _, row := range cells {
				row[i] = c.place(row[i], widths[i])
			}
		}
		return head, cells
	}
}

// fill writes out every cell.
func fill(columns []column, rows []*used, narrow bool) (head []string, cells [][]string) {
	for _, c := range columns {
		name := c.head
		if narrow {
			name = cmp.Or(c.narrow, name)
		}
		head = append(head, name)
	}
	for _, u := range rows {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.cell(u, narrow)
		}
		cells = append(cells, row)
	}
	return head, cells
}

func measure(head []string, cells [][]string) []int {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, cells...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	return widths
}

// giveWay takes cells from the widest columns that give way, until all find room in width; it reports whether they do.
func giveWay(columns []column, widths []int, width int) bool {
	const gap = 2 // between two columns of a table
	total := -gap
	for _, w := range widths {
		if w > 0 {
			total += w + gap
		}
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, c := range columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

// place puts a cell into its column's width.
func (c column) place(cell string, width int) string {
	cell = text.Cut(cell, width, "…")
	if c.right {
		return strings.Repeat(" ", width-text.Width(cell)) + cell
	}
	return cell
}
