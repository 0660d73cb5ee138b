package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"octavo/ext/builtin/models"
)

// today is a catalogue in the form of models.dev: one model that the program knows and says it costs other than it does, and more.
func today(more ...string) string {
	return `{"openai":{"npm":"@ai-sdk/openai","models":{"gpt-5":{"name":"GPT-5 of today","reasoning":true,"limit":{"context":500000,"output":60000},
		"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.1,"output":9.9}},"gpt-99":{}` + strings.Join(more, "") + `}}}`
}

// source serves catalogues on this machine.
func source(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func sends(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) }
}

func TestCatalog(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.home, models.File)
	for _, args := range [][]string{{"catalog"}, {"catalog", "info"}} {
		out := d.ok("", args...)
		for _, want := range []string{"built in    ", " models of ", "catwalk v", "downloaded  none", "-> octavo catalog update"} {
			if !strings.Contains(out, want) {
				t.Errorf("%v does not say %q:\n%s", args, want, out)
			}
		}
	}
	if _, err := os.Stat(d.home); err == nil {
		t.Error("looking has made the home")
	}

	url := source(t, sends(today(`,"x\u001b[31m":{},"broken":7`)))
	o := d.run("", "catalog", "update", "--url", url)
	if o.code != 0 || !strings.Contains(o.stderr, "downloading") {
		t.Fatalf("%+v", o)
	}
	for _, want := range []string{"Written to " + file, ": 3 models of 1 provider, without 1 model that octavo does not understand.", "new          2: openai/gpt-99, openai/x", "other price  1: openai/gpt-5\n", "gone         none\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("an update does not say %q:\n%s", want, o.stdout)
		}
	}
	if strings.Contains(o.stdout, "\x1b") {
		t.Errorf("a model's id reaches the terminal as it is: %q", o.stdout)
	}
	if out := d.ok("", "catalog"); !strings.Contains(out, "downloaded  3 models of 1 provider, ") || !strings.Contains(out, " ago), without 1 model") || !strings.Contains(out, file) {
		t.Error(out)
	}

	if err := os.WriteFile(file, []byte("<html>\x1b[31m"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := d.ok("", "catalog"); !strings.Contains(out, "downloaded  not used: "+file+": it is a web page") || !strings.Contains(out, "update replaces it") {
		t.Error(out)
	}
	if o := d.run("", "--list-models", "all", "gpt-5"); o.code != 0 || o.stderr != "" && strings.Contains(o.stderr, "web page") {
		t.Errorf("a broken catalogue disturbs a list: %+v", o)
	}
}

func TestCatalogUpdateThatFails(t *testing.T) {
	d := newDesk(t).connect()
	asked := 0
	good := source(t, func(w http.ResponseWriter, r *http.Request) { asked++; sends(today())(w, r) })
	d.ok("", "catalog", "update", "--url", good)
	file := filepath.Join(d.home, models.File)
	before, err := os.ReadFile(file)
	if err != nil || asked != 1 {
		t.Fatal(err, asked)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--url", source(t, http.NotFound)}, 1, "it answered 404 Not Found\nThe catalogue stays as it was"},
		{[]string{"--url", source(t, sends(today()[1:]))}, 1, "is not a catalogue"},
		{[]string{"--url", "http://models.example/api.json"}, 2, "--url: only https is taken"},
		{[]string{"--url", good, "--offline"}, 1, "octavo is offline"},
		{[]string{"--url", good, "now"}, 2, `takes no "now"`},
	} {
		o := d.run("", append([]string{"catalog", "update"}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.want) || o.stdout != "" {
			t.Errorf("%v: %+v", c.args, o)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(before, now) {
			t.Errorf("%v: the catalogue has changed (%v)", c.args, err)
		}
	}
	if asked != 1 {
		t.Errorf("octavo has downloaded %d times", asked)
	}
	if o := d.run("", "catalog", "renew"); o.code != 2 {
		t.Errorf("a word that there is not: %+v", o)
	}
}

func TestCatalogUpdateIsInterrupted(t *testing.T) {
	d := newDesk(t)
	reached := make(chan struct{})
	cmd := d.command("catalog", "update", "--url", source(t, func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
	}))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-d.ctx.Done():
		t.Error("nothing was downloaded")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit %d: %s", code, &errs)
	}
	if _, err := os.Stat(filepath.Join(d.home, models.File)); err == nil {
		t.Error("half a catalogue was written")
	}
}

func TestUpdateNamesAFew(t *testing.T) {
	var names []string
	for i := range maxNamed + 2 {
		names = append(names, fmt.Sprintf("p/%d", i))
	}
	for n, want := range map[int]string{0: "none", 1: "1: p/0", maxNamed: "10: p/0, p/1, p/2, p/3, p/4, p/5, p/6, p/7, p/8, p/9",
		maxNamed + 2: "12: p/0, p/1, p/2, p/3, p/4, p/5, p/6, p/7, p/8, p/9 and 2 more"} {
		if got := someOf(names[:n]); got != want {
			t.Errorf("of %d: %q", n, got)
		}
	}
}

// What is downloaded counts in lists and in sessions, and what both catalogues know is listed once.
func TestListModelsOfBothCatalogues(t *testing.T) {
	d := newDesk(t).connect()
	d.configure(openaiToo)
	before := rows(d.ok("", "--list-models", "all"))
	d.ok("", "catalog", "update", "--url", source(t, sends(today(`,"gpt-5-mini":{"limit":{"context":777000}}`))))
	after := rows(d.ok("", "--list-models", "all"))
	if len(after) != len(before)+1 { // gpt-99
		t.Errorf("%d lines instead of %d", len(after), len(before)+1)
	}
	seen := map[string]int{}
	for _, row := range after {
		id := strings.Join(strings.Fields(strings.TrimLeft(strings.Join(row[:3], " "), "*- "))[:2], "/")
		if seen[id]++; seen[id] == 2 {
			t.Errorf("%s is listed twice", id)
		}
	}
	for id, want := range map[string]string{
		"work/gpt-5":      "* work gpt-5 12.3K 60K ", // the window is config.toml's
		"work/gpt-5-mini": "work gpt-5-mini 777K ",
		"work/gpt-99":     "work gpt-99 ? ? ? ? ? ?",
	} {
		var found []string
		for _, row := range after {
			if line := strings.Join(row, " "); strings.HasPrefix(line, want) {
				found = append(found, line)
			}
		}
		if len(found) != 1 || seen[id] != 1 {
			t.Errorf("%s: %q, listed %d times", id, found, seen[id])
		}
	}
	if out := d.ok("", "--list-models", "work/gpt-5"); !strings.Contains(out, "9.9") {
		t.Errorf("not today's price:\n%s", out)
	}
	o := d.run("", "-p", "--model", "work/gpt-5", "--reasoning", "max", "hi")
	if o.code != 1 || !strings.Contains(o.stderr, "work/gpt-5 takes the efforts ") || !strings.Contains(o.stderr, "high") {
		t.Errorf("the levels of the built-in catalogue are lost: %+v", o)
	}
}

func TestListModelsOfBothWithoutConfiguration(t *testing.T) {
	d := newDesk(t)
	d.ok("", "catalog", "update", "--url", source(t, sends(today())))
	var found []listedModel
	for line := range strings.Lines(d.ok("", "--mode", "json", "--list-models", "openai/gpt-5")) {
		var m listedModel
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Provider == "openai" && m.Model == "gpt-5" {
			found = append(found, m)
		}
	}
	if len(found) != 1 || found[0].Name != "GPT-5 of today" || found[0].Price == nil || found[0].Price.Input != 1_100_000 ||
		*found[0].Images || !*found[0].Reasons || len(found[0].Efforts) == 0 {
		t.Errorf("%+v", found)
	}
}
