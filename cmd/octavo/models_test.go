package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octavo/ext/builtin/models"
	"octavo/ext/model/modeltest"
)

// openaiToo is a second provider, which the catalogue knows, under a name of the person's own.
const openaiToo = `
[providers.work]
endpoint = "https://api.openai.com/v1"
api_key_env = "WORK_KEY"
[providers.work.models.gpt-5]
context_tokens = 12345
[providers.work.models.in-house]
`

func (d *desk) configure(more string) {
	d.t.Helper()
	name := filepath.Join(d.home, "config.toml")
	b, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, more...), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// rows are the lines of a table without its head, each as its fields.
func rows(table string) [][]string {
	var all [][]string
	for _, line := range strings.Split(strings.TrimRight(table, "\n"), "\n")[1:] {
		all = append(all, strings.Fields(line))
	}
	return all
}

func TestListModels(t *testing.T) {
	d := newDesk(t).connect()
	d.configure(openaiToo)

	out := d.ok("", "--list-models")
	listed := rows(out)
	for i, want := range []string{"* local scripted ? ? ? ? ? ?", "* work gpt-5 12.3K ", "* work in-house ? ? ? ? ? ?"} {
		if got := strings.Join(listed[i], " "); !strings.HasPrefix(got, want) {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
	if last := strings.Join(listed[len(listed)-1], " "); !strings.HasPrefix(last, "demo scripted ? ? ? yes free free") {
		t.Errorf("the demo is told as %q", last)
	}
	listed = listed[:len(listed)-1]
	for _, row := range listed[3:] {
		if row[0] != "work" || row[1] == "gpt-5" {
			t.Errorf("not another model of a configured provider: %q", row)
		}
	}
	if len(listed) < 10 {
		t.Errorf("%d lines", len(listed))
	}

	all := rows(d.ok("", "--list-models", "all"))
	all = slices.DeleteFunc(all, func(row []string) bool { return row[0] == "demo" })
	if len(all) < 1000 || !slices.EqualFunc(listed, all[:len(listed)], slices.Equal) {
		t.Errorf("all has %d lines, or does not begin like the list without it", len(all))
	}
	for _, row := range all[len(listed):] {
		if row[0] != "-" || row[1] == "openai" || row[1] == "work" {
			t.Fatalf("not a provider that is not configured: %q", row)
		}
	}
}

func TestListModelsSearches(t *testing.T) {
	d := newDesk(t).connect()
	d.configure(openaiToo)
	for _, args := range [][]string{{"--list-models", "GPT-5", "work"}, {"--list-models=gpt-5 work"}, {"--list-models=work", "gpt-5"}} {
		found := rows(d.ok("", args...))
		if len(found) < 2 || found[0][2] != "gpt-5" {
			t.Errorf("%v: %q", args, found)
		}
		for _, row := range found {
			if !strings.Contains(strings.Join(row, " "), "gpt-5") {
				t.Errorf("%v found %q", args, row)
			}
		}
	}
	if found := rows(d.ok("", "--list-models", "all", "anthropic/", "opus")); len(found) == 0 || found[0][1] != "anthropic" {
		t.Errorf("all with words: %q", found)
	}
	if found := rows(d.ok("", "--list-models", "wkinhouse")); len(found) != 1 || found[0][2] != "in-house" {
		t.Errorf("letters in order: %q", found)
	}
	o := d.run("", "--list-models", "claude")
	if o.code != 0 || o.stdout != "" || !strings.Contains(o.stderr, "octavo --list-models all claude") {
		t.Errorf("nothing among the configured ones: %+v", o)
	}
	if o := d.run("", "--list-models", "all", "\x1bqqqzzzxxx"); o.code != 0 || o.stdout != "" || o.stderr != "no model is found\n" {
		t.Errorf("nothing at all: %+v", o)
	}
}

// What the catalogue knows of a model counts in a session as what config.toml says does.
func TestEffortsOfTheCatalogue(t *testing.T) {
	d := newDesk(t).connect()
	d.configure(openaiToo)
	o := d.run("", "-p", "--model", "work/gpt-5", "--reasoning", "max", "hi")
	if o.code != 1 || !strings.Contains(o.stderr, "work/gpt-5 takes the efforts ") || !strings.Contains(o.stderr, "high") {
		t.Errorf("an effort that the model does not take: %+v", o)
	}
	x := d.talk("--model", "work/gpt-5")
	x.say("/model")
	x.see("* work/gpt-5")
	x.see("the catalogue knows ")
	x.see("of work: octavo --list-models work")
	x.say("/quit")
	x.end()
}

func TestListModelsWithoutConfiguration(t *testing.T) {
	d := newDesk(t)
	o := d.run("", "--list-models", "claude")
	if o.code != 0 || !strings.Contains(o.stdout, "anthropic") || !strings.Contains(o.stderr, "octavo --login PROVIDER") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(d.home); err == nil {
		t.Error("a list has made the home")
	}
}

func TestListModelsAsJSON(t *testing.T) {
	d := newDesk(t).connect()
	d.configure(openaiToo)
	lines := strings.Split(strings.TrimRight(d.ok("", "--mode", "json", "--list-models", "all"), "\n"), "\n")
	if len(lines) < 1000 {
		t.Fatalf("%d lines", len(lines))
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"context_tokens", "max_output_tokens", "reasons", "efforts", "images", "price"} {
		if v, there := first[field]; !there || v != nil {
			t.Errorf("%s of an unknown model is %v, want null", field, v)
		}
	}
	var second listedModel
	if err := json.Unmarshal([]byte(lines[1]), &second); err != nil {
		t.Fatal(err)
	}
	if second.Type != "model" || second.Provider != "work" || second.Model != "gpt-5" || second.Name == "" || !second.Configured || !second.Usable ||
		*second.ContextTokens != 12345 || second.Price == nil || second.Price.Input <= 0 || !*second.Reasons || len(second.Efforts) == 0 {
		t.Errorf("%+v", second)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("no JSON: %s", line)
		}
	}
	if o := d.run("", "--mode", "loud", "--list-models"); o.code != 2 {
		t.Errorf("a mode that there is not: %+v", o)
	}
}

func TestDollars(t *testing.T) {
	for micro, want := range map[int64]string{0: "free", 1: "0.000001", 2800: "0.0028", 3_125_000: "3.125", 25_000_000: "25", 1_000_000_000_000: "1000000"} {
		if got := dollars(micro); got != want {
			t.Errorf("%d microdollars are %q, want %q", micro, got, want)
		}
	}
}

func TestNearMatchesAreFew(t *testing.T) {
	var listed []listedModel
	for range maxNear + 1 {
		listed = append(listed, listedModel{Provider: "p", Model: "a-b"})
	}
	if got := len(matching(listed[:maxNear], []string{"ab"})); got != maxNear {
		t.Errorf("%d of %d", got, maxNear)
	}
	if got := len(matching(listed, []string{"ab"})); got != maxNear {
		t.Errorf("%d of %d", got, maxNear+1)
	}
	if got := len(matching(listed, []string{"a-b"})); got != maxNear+1 {
		t.Errorf("of what matches %d of %d", got, maxNear+1)
	}
}

// The catalogue costs milliseconds, which who does not need it does not pay (deps.md 1). The runs are in this process, so that its
// counter can be asked; every other test of lists runs the built program.
func TestCatalogueIsLeftAloneWhenNotNeeded(t *testing.T) {
	d := newDesk(t, modeltest.Say("Hello.")).connect()
	t.Setenv("OCTAVO_HOME", d.home)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, args := range [][]string{{"--version"}, {"--help"}, {"-p", "--workspace", d.repo, "hi"}, {"doctor"}, {"--wrong"}} {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		code := run(args, null, null, null)
		null.Close()
		if want := map[bool]int{true: exitUsage}[args[0] == "--wrong"]; code != want {
			t.Errorf("octavo %s: exit %d, want %d", strings.Join(args, " "), code, want)
		}
		if models.Loaded() {
			t.Fatalf("octavo %s decoded the catalogue", strings.Join(args, " "))
		}
	}
	if d.server.Requests() == nil {
		t.Error("the prompt was not sent")
	}
}
