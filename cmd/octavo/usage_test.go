package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the days of these tests are the same on every machine

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model/modeltest"
	"octavo/pages/text"
	"octavo/render"
	"octavo/sessionstore"
)

// priced is a second model of the desk's provider, one with a price. What it reads from the cache makes remainders.
const priced = `
[providers.local.models.priced]
price = { input = 3000000, cache_read = 300001, output = 15000000 }
`

// usageRows reads a table: its rows by their first field, total included.
func usageRows(t *testing.T, out, heading string) map[string][]string {
	t.Helper()
	_, rest, found := strings.Cut(out, heading+"\n")
	if !found {
		t.Fatalf("no %q in:\n%s", heading, out)
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	fields := map[string][]string{}
	for _, row := range rows(rest) {
		fields[row[0]] = row[1:]
	}
	return fields
}

func utcDay() string { return time.Now().UTC().Format(time.DateOnly) }

func TestUsage(t *testing.T) {
	d := newDesk(t,
		modeltest.Say("one").Usage(modeltest.Tokens{Prompt: 3000, Cached: 1000, Completion: 100}),
		modeltest.Say("two").Usage(modeltest.Tokens{Prompt: 500, Completion: 7}),
		modeltest.Say("three").NoUsage(),
	).connect()
	d.env = []string{"TZ=UTC"}
	d.configure(priced)
	d.ok("", "-p", "--model", "local/priced", "--name", "with a price", "first words")
	d.ok("", "-p", "--continue", "--model", "local/scripted", "second words")
	d.ok("", "-p", "and now another")

	// Another octavo that has a session open is not in the way.
	x := d.talk("--continue")
	x.see(">")
	o := d.run("", "usage")
	x.say("/quit")
	x.end()
	if o.code != 0 || strings.Contains(o.stdout, "\x1b") {
		t.Fatalf("%+v", o)
	}
	// 2000 tokens at 3 dollars a million, 1000 at 0.300001, and 100 at 15.
	byDay := usageRows(t, o.stdout, "Last 30 days, by day")
	for _, label := range []string{utcDay(), "total"} {
		want := "3 2.5K 1K 0 107 $0.0078 +2 unpriced, 1 unreported"
		if got := strings.Join(byDay[label], " "); got != want {
			t.Errorf("%s is %q, want %q", label, got, want)
		}
	}
	for _, want := range []string{
		"with a price     local/priced, local/scripted         2     2.5K          1K            0      107  $0.0078  +1 unpriced ",
		"and now another  local/scripted                       1  unknown     unknown      unknown  unknown  unknown  1 unreported ",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the sessions lack %q:\n%s", want, o.stdout)
		}
	}
	for _, want := range []string{"+N unpriced: ", "unknown: ", "N unreported: ", "days are in UTC\n"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("the legend lacks %q: %q", want, o.stderr)
		}
	}

	byModel := usageRows(t, d.ok("", "usage", "--days", "1", "--by", "model"), "Today, by model")
	if got := strings.Join(byModel["local/scripted"], " "); got != "2 500 0 0 7 unknown 1 unreported" {
		t.Errorf("a model without a price: %q", got)
	}
	byKind := usageRows(t, d.ok("", "usage", "--all", "--by", "kind"), "All time, by kind")
	if len(byKind) != 2 || byKind["turn"][0] != "3" {
		t.Errorf("kinds %v", byKind)
	}
	one := d.run("", "usage", "--session", "with a price", "--by", "day")
	if got := usageRows(t, one.stdout, "All time, by day"); got["total"][0] != "2" || one.code != 0 {
		t.Errorf("one session: %+v", one)
	}
	if o := d.run("", "usage", "--workspace", "/no/longer/there"); o.code != 0 || o.stdout != "" ||
		o.stderr != "nothing was used in the last 30 days in /no/longer/there; octavo usage --all looks further back\n" {
		t.Errorf("a folder that is gone: %+v", o)
	}
	if o := d.run("", "usage", "--workspace", d.repo, "--by", "kind"); o.code != 0 || !strings.Contains(o.stderr, "purged sessions") ||
		strings.Contains(o.stderr, "days are in") || usageRows(t, o.stdout, "Last 30 days, "+d.repo+", by kind")["total"][0] != "3" {
		t.Errorf("this folder: %+v", o)
	}
}

func TestUsageAsJSON(t *testing.T) {
	d := newDesk(t,
		modeltest.Say("one").Usage(modeltest.Tokens{Prompt: 3000, Cached: 1000, Completion: 100}),
		modeltest.Say("two").NoUsage(),
	).connect()
	d.env = []string{"TZ=UTC"}
	d.configure(priced)
	d.ok("", "-p", "--model", "local/priced", "--name", "words", "first words")
	d.ok("", "-p", "--continue", "--model", "local/scripted", "second words")
	id := d.stored().row.ID

	out := d.ok("", "usage", "--mode", "json")
	want := fmt.Sprintf(`{"type":"usage","day":%q,"session":%q,"name":"words","preview":"first words","workspace":%q,`+
		`"provider":"local","model":"priced","kind":"turn","requests":1,"input":2000,"cache_read":1000,"cache_write":0,"output":100,"reasoning":0,`+
		`"cost":0.007800001000,"unpriced":0,"unreported":0}`, utcDay(), id, d.repo)
	if first, _, _ := strings.Cut(out, "\n"); first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	all := lines(t, out)
	if len(all) != 2 {
		t.Fatalf("%s", out)
	}
	for _, field := range []string{"input", "cache_read", "cache_write", "output", "reasoning", "cost"} {
		if v, there := all[1][field]; v != nil || !there {
			t.Errorf("%s is not known, and %v", field, v)
		}
	}
	one := lines(t, d.ok("", "usage", "--mode", "json", "--by", "kind", "--session", id[:18]))
	if len(one) != 1 || one[0]["kind"] != "turn" || one[0]["requests"] != 2.0 || one[0]["unpriced"] != 1.0 || one[0]["unreported"] != 1.0 ||
		one[0]["input"] != 2000.0 {
		t.Errorf("%v", one)
	}
	for _, field := range []string{"day", "session", "provider", "model"} {
		if v, there := one[0][field]; v != nil || !there {
			t.Errorf("%s is not told apart, and %v", field, v)
		}
	}
	o := d.run("", "usage", "--mode", "json", "--days", "0")
	if o.code != 2 || len(lines(t, o.stdout)) != 1 {
		t.Errorf("a bad flag: %+v", o)
	}
}

// What is gone can still be asked for, by the start of its id.
func TestUsageOfPurgedSessions(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two")).connect()
	d.ok("", "-p", "--name", "gone", "hello")
	gone := d.stored().row.ID
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PurgeSession(d.ctx, gone); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	d.ok("", "-p", "--name", "waits", "hello")
	waits := d.stored().row.ID
	if store, err = sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.DeleteSession(d.ctx, waits); err != nil {
		t.Fatal(err)
	}
	out := d.ok("", "usage", "--by", "session")
	for _, want := range []string{"purged " + gone, "waits (deleted)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, asked := range []string{gone, gone[:20], "waits", waits} {
		if got := lines(t, d.ok("", "usage", "--mode", "json", "--session", asked)); len(got) != 1 || got[0]["requests"] != 1.0 {
			t.Errorf("%s: %v", asked, got)
		}
	}
	if o := d.run("", "usage", "--session", "019"); waits[:3] == "019" && (o.code != 1 || !strings.Contains(o.stderr, gone) || !strings.Contains(o.stderr, waits)) {
		t.Errorf("a start of several: %+v", o)
	}
	if o := d.run("", "usage", "--session", "nobody"); o.code != 1 || !strings.Contains(o.stderr, "octavo usage --all --by session") {
		t.Errorf("nobody: %+v", o)
	}
}

func TestUsageWithoutAnything(t *testing.T) {
	d := newDesk(t)
	o := d.run("", "usage")
	if o.code != 0 || o.stdout != "" || o.stderr != "nothing was used in the last 30 days; octavo usage --all looks further back\n" {
		t.Errorf("%+v", o)
	}
	if o := d.run("", "usage", "--all"); o.code != 0 || o.stdout != "" || o.stderr != "nothing was used so far\n" {
		t.Errorf("%+v", o)
	}
	if o := d.run("", "usage", "--mode", "json"); o != (outcome{}) {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(d.home); err == nil {
		t.Error("looking has made the home")
	}
	d.connect()
	d.ok("", "usage")
	if _, err := os.Stat(filepath.Join(d.home, sessionstore.FileName)); err == nil {
		t.Error("looking has made a store")
	}
}

func TestUsageCommandLine(t *testing.T) {
	d := newDesk(t)
	tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "", []string{"--days", "1"}},
		{0, "", []string{"--days", fmt.Sprint(maxDays)}},
		{2, "--days is 1 to 36500, not 0", []string{"--days", "0"}},
		{2, "--days is 1 to 36500, not 36501", []string{"--days", fmt.Sprint(maxDays + 1)}},
		{0, "", []string{"--since", "2020-02-29"}},
		{2, "--since is a day up to today, as 20", []string{"--since", "2021-02-29"}},
		{2, "--since is a day up to today", []string{"--since", "yesterday"}},
		{2, "--since is a day up to today", []string{"--since", ""}},
		{2, "--since is a day up to today", []string{"--since", tomorrow}},
		{2, "--days and --since exclude each other", []string{"--days", "3", "--since", "2026-01-01"}},
		{2, "--since and --all exclude each other", []string{"--all", "--since", "2026-01-01"}},
		{2, "--by is day, session, model or kind, not \"week\"", []string{"--by", "week"}},
		{2, "--by is day, session", []string{"--by", ""}},
		{2, "--mode is json, not \"loud\"", []string{"--mode", "loud"}},
		{2, "--session needs a session", []string{"--session", ""}},
		{2, "takes no \"now\"", []string{"now"}},
	} {
		o := d.run("", append([]string{"usage"}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.want) || c.code != 0 && !strings.HasPrefix(o.stderr, "Error: ") {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, o.code, c.code, c.want, o.stderr)
		}
	}
}

// spendings are what a store could have: a long name, several models, scripted answers, and all that can be unknown.
func spendings() []sessionstore.Spending {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	row := func(day, session, name, provider, model string, t sessionstore.Totals) sessionstore.Spending {
		return sessionstore.Spending{Day: day, Session: session, Name: name, Provider: provider, Model: model, Last: at, Totals: t}
	}
	const refactor, demo, local = "01a0d000-0000-7000-8000-000000000001", "01a0d000-0000-7000-8000-000000000002", "01a0d000-0000-7000-8000-000000000003"
	purged := row("2026-11-29", "01a0d000-0000-7000-8000-000000000004", "", "anthropic", "claude-sonnet-4.5",
		sessionstore.Totals{Requests: 1, Input: 12, Output: 3, CostPico: 7})
	purged.Purged = true
	return []sessionstore.Spending{
		row("2026-11-30", refactor, "refactor the store: \x1b[31mlong\x1b[0m words\nof a person", "anthropic", "claude-sonnet-4.5",
			sessionstore.Totals{Requests: 1234, Input: 1_234_567, CacheRead: 45_678_901, CacheWrite: 345_678, Output: 99_999, CostMicro: 12_345_678, Unreported: 3, Unpriced: 2}),
		row("2026-11-30", refactor, "refactor the store: \x1b[31mlong\x1b[0m words\nof a person", "openai", "gpt-5",
			sessionstore.Totals{Requests: 7, Input: 4_000, Output: 800, CostMicro: 420_000}),
		row("2026-11-30", demo, "a tour", demoProvider, "tour", sessionstore.Totals{Requests: 4, Input: 1_000, Output: 50, Unpriced: 4}),
		row("2026-11-29", local, "", "local", "qwen3", sessionstore.Totals{Requests: 2, Unreported: 2, Unpriced: 2}),
		purged,
		row("2026-11-28", demo, "a tour", demoProvider, "tour", sessionstore.Totals{Requests: 1, Input: 10, Output: 5, Unpriced: 1}),
	}
}

func TestUsageTables(t *testing.T) {
	for width, want := range map[int]string{60: at60, 120: at120} {
		b := &usageReport{period: period{head: "Last 30 days"}, options: render.Options{Width: width}}
		tables, _ := b.tables("", spendings())
		if diff := cmp.Diff(want, "\n"+strings.Join(tables, "\n\n")+"\n"); diff != "" {
			t.Errorf("%d cells, -want +got:\n%s", width, diff)
		}
	}
	b := &usageReport{zone: "days are in Europe/Berlin"}
	_, legend := b.tables("", spendings())
	want := []string{
		"unknown: neither config.toml nor the catalogue has a price, or the provider did not report the tokens",
		"+N unpriced: the cost is a known part, not counting N requests without a price",
		"N unreported: the sums are known parts, not counting N requests without token counts",
		"demo: scripted, nothing is billed",
		"days are in Europe/Berlin",
	}
	if diff := cmp.Diff(want, legend); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, legend = b.tables(bySession, spendings()[1:2]); legend != nil {
		t.Errorf("nothing needs to be explained: %q", legend)
	}
}

const at60 = `
Last 30 days, by day
day         reqs  input  output      cost
2026-11-30  1.2K   1.2M    100K    $12.77  +2 unpriced
2026-11-29     3     12       3  <$0.0001  +2 unpriced
2026-11-28     1     10       5      demo
total       1.2K   1.2M    100K    $12.77  +4 unpriced

Last 30 days, by session
session               input   output      cost
refactor the stor…     1.2M     100K    $12.77  +2 unpriced
purged 01a0d000-0…       12        3  <$0.0001
a tour                   1K       55      demo
01a0d000-0000-700…  unknown  unknown   unknown  2 unreported
total                  1.2M     100K    $12.77  +4 unpriced
`

const at120 = `
Last 30 days, by day
day         requests  input  cache read  cache write  output      cost
2026-11-30      1.2K   1.2M       45.6M         345K    100K    $12.77  +2 unpriced, 3 unreported, 4 demo
2026-11-29         3     12           0            0       3  <$0.0001  +2 unpriced, 2 unreported
2026-11-28         1     10           0            0       5      demo
total           1.2K   1.2M       45.6M         345K    100K    $12.77  +4 unpriced, 5 unreported, 5 demo

Last 30 days, by session
session                           model                 reqs    input   c.read  c.write   output      cost
refactor the store: long words⏎…  claude-sonnet-4.5 +1  1.2K     1.2M    45.6M     345K     100K    $12.77  +2 unpriced
purged 01a0d000-0000-7000-8000-…  claude-sonnet-4.5        1       12        0        0        3  <$0.0001
a tour                            tour                     5       1K        0        0       55      demo
01a0d000-0000-7000-8000-0000000…  qwen3                    2  unknown  unknown  unknown  unknown   unknown  2 unreported
total                                                   1.2K     1.2M    45.6M     345K     100K    $12.77  +4 unpriced
`

// Whatever the width, marks stay on costs that are only known in part, and nothing unknown looks like nothing.
func TestUsageTablesAtEveryWidth(t *testing.T) {
	zero := regexp.MustCompile(`\$0\.00(\s|$)`)
	for width := 30; width <= 220; width++ {
		for _, by := range []string{"", byDay, bySession, byModel, byKind} {
			b := &usageReport{period: period{head: "Last 30 days"}, options: render.Options{Width: width}}
			tables, _ := b.tables(by, spendings())
			all := strings.Join(tables, "\n")
			for line := range strings.Lines(all) {
				if w := text.Width(strings.TrimRight(line, "\n")); w > width {
					t.Fatalf("by %q: %d cells, want %d: %q", by, w, width, line)
				}
			}
			if zero.MatchString(all) || strings.ContainsAny(all, "\x1b") {
				t.Fatalf("by %q at %d:\n%s", by, width, all)
			}
			if width >= 40 && (!strings.Contains(all, "$12.77  +4 unpriced") || by != byKind && !strings.Contains(all, "demo")) {
				t.Fatalf("by %q at %d:\n%s", by, width, all)
			}
		}
	}
}

func TestUsageShowsTheMostExpensiveSessions(t *testing.T) {
	var rows []sessionstore.Spending
	for i := range mostSessions {
		rows = append(rows, sessionstore.Spending{Session: fmt.Sprintf("s%02d", i), Provider: "p", Model: "m",
			Totals: sessionstore.Totals{Requests: 1, CostMicro: int64(i) * 1_000_000}})
	}
	b := &usageReport{period: period{head: "Today"}}
	tables, _ := b.tables("", rows)
	got := strings.Split(tables[1], "\n")
	if len(got) != 3+mostSessions || !strings.HasPrefix(got[2], "s19 ") || strings.Contains(tables[1], "more") {
		t.Errorf("as many as are shown:\n%s", tables[1])
	}
	rows = append(rows, sessionstore.Spending{Session: "s99", Provider: "p", Model: "m", Totals: sessionstore.Totals{Requests: 3, Unpriced: 3}})
	tables, _ = b.tables("", rows)
	got = strings.Split(tables[1], "\n")
	if len(got) != 4+mostSessions || got[0] != "Today, by session: the 20 most expensive of 21" ||
		strings.Join(strings.Fields(got[2+mostSessions]), " ") != "1 more session 3 0 0 0 0 unknown" ||
		strings.Join(strings.Fields(got[3+mostSessions]), " ") != "total 23 0 0 0 0 $190.00 +3 unpriced" {
		t.Errorf("one more:\n%s", tables[1])
	}
	if tables, _ = b.tables(bySession, rows); strings.Contains(tables[0], "more") || !strings.Contains(tables[0], "s99") {
		t.Errorf("asked for:\n%s", tables[0])
	}
}

func TestPrivateSessionsStayPrivate(t *testing.T) {
	rows := []sessionstore.Spending{{Session: "s", Name: "secret", Preview: "secret", Private: true, Totals: sessionstore.Totals{Requests: 1}}}
	tables, _ := (&usageReport{}).tables("", rows)
	if all := strings.Join(tables, ""); strings.Contains(all, "secret") || !strings.Contains(all, "private session") {
		t.Error(all)
	}
}

func TestExactSums(t *testing.T) {
	for want, s := range map[string]exactSum{
		"0.000000000000":             {},
		"0.000000000001":             {0, 1},
		"0.000001999999":             {1, 999_999},
		"12.345678000001":            {12_345_678, 1},
		"9223372036854.775807999999": {math.MaxInt64, 999_999},
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("%+v is %s (%v), want %s", s, got, err, want)
		}
	}
}

// A day begins at midnight, unless clocks are changed then.
func TestDaysBegin(t *testing.T) {
	for _, c := range []struct {
		zone    string
		y, m, d int
		want    string
	}{
		{"UTC", 2026, 11, 0, "2026-10-31T00:00:00Z"},
		{"Asia/Kathmandu", 2026, 11, 30, "2026-11-29T18:15:00Z"},
		{"America/New_York", 2026, 3, 9, "2026-03-09T04:00:00Z"},
		{"America/Sao_Paulo", 2018, 11, 4, "2018-11-04T03:00:00Z"}, // there is no midnight: one o'clock is the first
		{"America/Sao_Paulo", 2018, 2, 18, "2018-02-18T03:00:00Z"}, // eleven o'clock comes twice before it
		{"America/Havana", 2026, 11, 1, "2026-11-01T04:00:00Z"},    // midnight comes twice
		{"Pacific/Apia", 2011, 12, 31, "2011-12-30T10:00:00Z"},     // and the day before it never
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := beginning(c.y, time.Month(c.m), c.d, zone).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%d-%d-%d in %s begins at %s, want %s", c.y, c.m, c.d, c.zone, got, c.want)
		}
	}
}

func TestTheZoneOfDaysIsNamedWhenItIsNotObvious(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for want, zone := range map[string]*time.Location{"days are in UTC": time.UTC, "days are in Europe/Berlin": berlin} {
		if got := zoneNote(now.In(zone)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := zoneNote(now.In(time.FixedZone("Local", 3600))); got != "" {
		t.Errorf("the machine's own: %q", got)
	}
}
