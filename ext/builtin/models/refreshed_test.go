package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/model"
)

// gpt is a model as models.dev writes it, of which the embedded catalogue knows the levels.
const gpt = `{"id":"gpt-5","name":"GPT-5 of today","family":"gpt","attachment":true,"reasoning":true,"tool_call":true,"temperature":false,
	"knowledge":"2024-09-30","release_date":"2025-08-07","last_updated":"2025-08-07","open_weights":false,
	"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.1,"output":9.9,"cache_read":0.11},
	"limit":{"context":500000,"input":300000,"output":60000}}`

// entries of providers in the form of models.dev.
func openAI(models string) string {
	return `"openai":{"id":"openai","env":["OPENAI_API_KEY"],"npm":"@ai-sdk/openai","name":"OpenAI","doc":"https://platform.openai.com/docs/models","models":{` + models + `}}`
}

func at(id, api, models string) string {
	return fmt.Sprintf(`%q:{"models":{%s},"id":%q,"npm":"@ai-sdk/openai-compatible","api":%q,"name":"N","doc":"D"}`, id, models, id, api)
}

func catalogueFile(providers ...string) string { return "{" + strings.Join(providers, ",\n") + "}" }

// homeWith is a home with a refreshed catalogue.
func homeWith(t testing.TB, content string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, File), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func describe(home, endpoint, id string) model.Info {
	return ext.Describe(New(Options{Home: home}).Models, ext.Profile{Endpoint: endpoint}, id)
}

func TestRefreshedOverEmbedded(t *testing.T) {
	home := homeWith(t, catalogueFile(openAI(`"gpt-5":`+gpt+`,"gpt-99":{"name":"GPT-99","reasoning":true,"limit":{"context":1000000,"output":9000},
		"reasoning_options":[{"type":"toggle"},{"type":"effort","values":["none","high",null,"turbo","low"]}]},"gpt-5-mini":{"name":"says nothing"}`)))
	embedded, ok := Catalogue().Lookup(openaiURL, "gpt-5")
	if !ok || len(embedded.Efforts) < 3 || embedded.Price == nil {
		t.Fatalf("the embedded row has changed: %+v", embedded)
	}
	no, read := false, int64(110_000)
	want := model.Info{ContextTokens: 500_000, MaxOutputTokens: 60_000, Efforts: embedded.Efforts, Images: &no,
		Price: &model.Price{Input: 1_100_000, Output: 9_900_000, CacheRead: &read}}
	if d := cmp.Diff(want, describe(home, openaiURL, "gpt-5")); d != "" {
		t.Errorf("of both (-want +got):\n%s", d)
	}
	if d := cmp.Diff(model.Info{ContextTokens: 1_000_000, MaxOutputTokens: 9000, Efforts: []string{"off", "low", "high"}}, describe(home, openaiURL, "gpt-99")); d != "" {
		t.Errorf("of the refreshed one alone (-want +got):\n%s", d)
	}
	for _, id := range []string{"gpt-5-mini", "gpt-4o"} {
		known, ok := Catalogue().Lookup(openaiURL, id)
		if d := cmp.Diff(known, describe(home, openaiURL, id)); d != "" || !ok {
			t.Errorf("%s of the embedded one alone (-want +got):\n%s", id, d)
		}
	}
	small := homeWith(t, catalogueFile(openAI(`"gpt-5":{"limit":{"context":1000}}`)))
	if i := describe(small, openaiURL, "gpt-5"); i.ContextTokens != 1000 || i.MaxOutputTokens != 0 {
		t.Errorf("a fresh window below the embedded limit of an answer: %+v", i)
	}
	listed := map[string]ext.CatalogueModel{}
	for _, row := range New(Options{Home: home}).Models[0].List() {
		listed[row.Provider+"/"+row.ID] = row
	}
	if d := cmp.Diff(ext.CatalogueModel{Provider: "openai", ID: "gpt-5", Name: "GPT-5 of today", Reasons: true, Info: want}, listed["openai/gpt-5"]); d != "" || len(listed) != 3 {
		t.Errorf("%d are listed (-want +got):\n%s", len(listed), d)
	}
}

func TestFreshOf(t *testing.T) {
	yes, no := true, false
	n := model.Count
	whole := func(rest string) string { return `{"name":"N","limit":{"context":100,"output":10}` + rest + `}` }
	for name, c := range map[string]struct {
		id, raw string
		want    model.Info
	}{
		"nothing":                     {"m", `{}`, model.Info{}},
		"nulls":                       {"m", `{"name":null,"reasoning":null,"modalities":null,"cost":null,"limit":null,"reasoning_options":null}`, model.Info{}},
		"limits":                      {"m", whole(``), model.Info{ContextTokens: 100, MaxOutputTokens: 10}},
		"limits as large as may be":   {"m", `{"limit":{"context":1e9,"output":999999999}}`, model.Info{ContextTokens: maxTokens, MaxOutputTokens: maxTokens - 1}},
		"limits that are too large":   {"m", `{"limit":{"context":1000000001,"output":1e300}}`, model.Info{}},
		"limits below zero":           {"m", `{"limit":{"context":-1,"output":-1}}`, model.Info{}},
		"the window as limit":         {"m", `{"limit":{"context":100,"output":100}}`, model.Info{ContextTokens: 100}},
		"no window":                   {"m", `{"limit":{"output":100}}`, model.Info{MaxOutputTokens: 100}},
		"pictures":                    {"m", `{"modalities":{"input":["text","image"],"output":["text"]}}`, model.Info{Images: &yes}},
		"pictures of one kind":        {"m", `{"modalities":{"input":["image/png"]}}`, model.Info{Images: &yes}},
		"no pictures":                 {"m", `{"modalities":{"input":["text","imagery"],"output":["audio","text"]}}`, model.Info{Images: &no}},
		"does not think":              {"m", `{"reasoning":false,"reasoning_options":[{"type":"effort","values":["low"]}]}`, model.Info{Efforts: []string{"off"}}},
		"thinks somehow":              {"m", `{"reasoning":true,"reasoning_options":[{"type":"budget_tokens","min":1}]}`, model.Info{}},
		"levels of another form":      {"m", `{"reasoning":true,"reasoning_options":{"effort":true}}`, model.Info{}},
		"a price":                     {"m", `{"cost":{"input":0.39999999999999997,"output":2,"cache_read":0.0000005,"cache_write":3}}`, model.Info{Price: &model.Price{Input: 400_000, Output: 2_000_000, CacheRead: n(1), CacheWrite: n(3_000_000)}}},
		"cached for nothing":          {"m", `{"cost":{"input":1,"output":2,"cache_read":0,"cache_write":0}}`, model.Info{Price: &model.Price{Input: 1_000_000, Output: 2_000_000}}},
		"steps of a price":            {"m", `{"cost":{"input":1,"output":2,"tiers":[{"input":3}],"context_over_200k":{"input":3,"output":4}}}`, model.Info{Price: &model.Price{Input: 1_000_000, Output: 2_000_000}}},
		"half a price":                {"m", `{"cost":{"input":1}}`, model.Info{}},
		"a price below zero":          {"m", `{"cost":{"input":1,"output":-2}}`, model.Info{}},
		"a price that nobody has":     {"m", `{"cost":{"input":1,"output":1000001}}`, model.Info{}},
		"a subscription":              {"m", `{"cost":{"input":0,"output":0,"cache_read":0}}`, model.Info{}},
		"free by id":                  {"x/m:free", `{"cost":{"input":0,"output":0}}`, model.Info{Price: &model.Price{}}},
		"free by name":                {"m", `{"name":"M (Free)","cost":{"input":0,"output":0}}`, model.Info{Price: &model.Price{}}},
		"fields that are not read":    {"m", whole(`,"tool_call":{"supported":true},"interleaved":7,"status":["x"],"doc":{}`), model.Info{ContextTokens: 100, MaxOutputTokens: 10}},
		"a name as long as may be":    {strings.Repeat("m", MaxName), `{"name":"` + strings.Repeat("n", MaxName) + `"}`, model.Info{}},
		"wrong: an id that is longer": {strings.Repeat("m", MaxName+1), `{}`, model.Info{}},
		"wrong: a longer name":        {"m", `{"name":"` + strings.Repeat("n", MaxName+1) + `"}`, model.Info{}},
		"wrong: no id":                {"", `{}`, model.Info{}},
		"wrong: a list":               {"m", `[]`, model.Info{}},
		"wrong: null":                 {"m", `null`, model.Info{}},
		"wrong: a number for a name":  {"m", `{"name":7}`, model.Info{}},
		"wrong: a text for a price":   {"m", `{"cost":{"input":"1","output":2}}`, model.Info{}},
		"wrong: a text for a limit":   {"m", `{"limit":{"context":"200k"}}`, model.Info{}},
		"wrong: a text for thinking":  {"m", `{"reasoning":"yes"}`, model.Info{}},
		"wrong: a text for a list":    {"m", `{"modalities":{"input":"text"}}`, model.Info{}},
		"wrong: broken inside":        {"m", `{"name":"N",]}`, model.Info{}},
	} {
		f, err := freshOf(c.id, []byte(c.raw), false)
		if wrong := strings.HasPrefix(name, "wrong: "); wrong != errors.Is(err, errStrange) || wrong != (err != nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.want, f.Info); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if _, err := freshOf("m", []byte(`{"modalities":{"output":["image"]}}`), false); !errors.Is(err, errMute) {
		t.Errorf("a model of pictures: %v", err)
	}
	switched, err := freshOf("m", []byte(`{"reasoning":true,"reasoning_options":[{"type":"effort","values":["max","low"]}]}`), true)
	if !slices.Equal(switched.Info.Efforts, []string{"off", "low", "max"}) {
		t.Errorf("on Anthropic's wire: %q, %v", switched.Info.Efforts, err)
	}
}

// What the embedded row gives to a fresh one that leaves something open, where the two do not agree on thinking.
func TestEffortsOfBothRows(t *testing.T) {
	thinker, _ := rows().row("openai", "gpt-5")
	mute, ok := rows().row("openai", "gpt-4o")
	if !ok || mute.Reasons || !thinker.Reasons {
		t.Fatal("the embedded rows have changed")
	}
	for _, c := range []struct {
		id, raw string
		reasons bool
		want    []string
	}{
		{"gpt-5", `{}`, true, thinker.Info.Efforts},
		{"gpt-5", `{"reasoning":true,"reasoning_options":[{"type":"effort","values":["max"]}]}`, true, thinker.Info.Efforts},
		{"gpt-5", `{"reasoning":false}`, false, []string{"off"}},
		{"gpt-4o", `{}`, false, []string{"off"}},
		{"gpt-4o", `{"reasoning":true}`, true, nil},
		{"gpt-4o", `{"reasoning":true,"reasoning_options":[{"type":"effort","values":["max"]}]}`, true, []string{"max"}},
		{"nobody's", `{}`, false, nil},
	} {
		f, err := freshOf(c.id, []byte(c.raw), false)
		if err != nil {
			t.Fatal(err)
		}
		if f = f.over("openai"); f.Reasons != c.reasons || !slices.Equal(f.Info.Efforts, c.want) {
			t.Errorf("%s with %s: thinks %v at %q, want %v at %q", c.id, c.raw, f.Reasons, f.Info.Efforts, c.reasons, c.want)
		}
	}
}

func TestWhoAnswersAtAnEndpoint(t *testing.T) {
	row := func(window int) string { return fmt.Sprintf(`"m":{"name":"M","limit":{"context":%d}}`, window) }
	home := homeWith(t, catalogueFile(
		openAI(row(1)),
		`"google":{"npm":"@ai-sdk/google","models":{`+row(2)+`}}`,
		`"mistral":{"npm":"@ai-sdk/mistral","models":{`+row(3)+`}}`,
		at("moonshotai", "https://api.moonshot.ai/v1", row(4)),
		at("zai", "https://api.z.ai/api/paas/v4", row(5)),
		at("zai-coding-plan", "https://api.z.ai/api/coding/paas/v4", row(6)),
		at("opencode", "https://opencode.ai/zen/v1", row(7)),
		at("someone", "https://llm.someone.example/v1/", row(8)),
		at("someone-eu", "https://eu.llm.someone.example/v1", row(9)),
		at("nebius", "https://new.nebius.example/v1", row(10)),
		at("lmstudio", "http://127.0.0.1:1234/v1", row(11)),
		at("intranet", "http://models/v1", row(12)),
		at("template", "https://{region}.example/v1", row(13)),
		`"mute":{"models":7}`, `"strange":[]`, `"empty":{}`,
	))
	c := New(Options{Home: home}).Models[0]
	for endpoint, want := range map[string]struct {
		provider string
		window   int
	}{
		"https://api.openai.com/v1":                               {"openai", 1},
		"https://api.openai.com":                                  {"openai", 1},
		"https://generativelanguage.googleapis.com/v1beta/openai": {"gemini", 2},
		"https://api.mistral.ai/v1":                               {"mistral", 3},
		"https://API.Moonshot.ai./v1":                             {"moonshot", 4},
		"https://api.z.ai/api/paas/v4":                            {"zai", 5},
		"https://api.z.ai/api/coding/paas/v4":                     {"zai-coding-plan", 6},
		"https://api.z.ai/api/coding":                             {"zai-coding-plan", 6},
		"https://api.z.ai/api/anthropic":                          {"zai", 5}, // either: the smaller window
		"https://opencode.ai/zen/v1":                              {"opencode-zen", 7},
		"https://llm.someone.example/v1":                          {"someone", 8},
		"https://llm.someone.example:8443/elsewhere":              {"someone", 8},
		"https://eu.llm.someone.example/v1":                       {"someone-eu", 9},
		"https://new.nebius.example/v1":                           {"nebius", 10},
		"https://api.tokenfactory.nebius.com/v1":                  {"nebius", 10},

		"https://opencode.ai/":             {},
		"https://api.anthropic.com/v1":     {},
		"https://someone.example/v1":       {},
		"http://127.0.0.1:1234/v1":         {},
		"http://models/v1":                 {},
		"http://box.local/v1":              {},
		"https://[2001:db8::1]/v1":         {},
		"ftp://llm.someone.example/v1":     {},
		"https://region.example/v1":        {},
		"https://api.openai.com.evil.test": {},
		"":                                 {},
	} {
		provider, ok := c.Provider(endpoint)
		if provider != want.provider || ok != (want.provider != "") {
			t.Errorf("%s is answered by %q (%v), want %q", endpoint, provider, ok, want.provider)
		}
		i, ok := c.Lookup(endpoint, "m")
		if i.ContextTokens != want.window || ok != (want.window != 0) {
			t.Errorf("%s: window %d (%v), want %d", endpoint, i.ContextTokens, ok, want.window)
		}
		if _, ok := c.Lookup(endpoint, "n"); ok {
			t.Errorf("%s knows a model that nobody has", endpoint)
		}
	}
	var names []string
	for _, row := range c.List() {
		names = append(names, row.Provider)
	}
	if d := cmp.Diff(strings.Fields("gemini intranet lmstudio mistral moonshot nebius openai opencode-zen someone someone-eu template zai zai-coding-plan"), names); d != "" {
		t.Errorf("listed (-want +got):\n%s", d)
	}
}

// Where an address does not tell which of several providers answers, what all of them promise counts (plugins.md 8.7).
func TestSeveralProvidersAtOneAddress(t *testing.T) {
	one := `"m":{"reasoning":true,"limit":{"context":100,"output":20},"modalities":{"input":["text","image"]},"cost":{"input":1,"output":2},
		"reasoning_options":[{"type":"effort","values":["low","medium","high"]}]}`
	two := `"m":{"reasoning":true,"limit":{"context":90,"output":30},"modalities":{"input":["text"]},"cost":{"input":1,"output":3},
		"reasoning_options":[{"type":"effort","values":["medium","high","max"]}]}`
	same := `"m":{"limit":{"context":0,"output":30},"cost":{"input":1,"output":2}}`
	no, yes := false, true
	price := &model.Price{Input: 1_000_000, Output: 2_000_000}
	for name, c := range map[string]struct {
		rows []string
		want model.Info
	}{
		"no agreement": {[]string{one, two}, model.Info{ContextTokens: 90, MaxOutputTokens: 20, Images: &no, Efforts: []string{"medium", "high"}}},
		"one does not say much": {[]string{one, same, `"other":{}`},
			model.Info{ContextTokens: 100, MaxOutputTokens: 20, Images: &yes, Price: price}},
		"one alone lists it": {[]string{`"other":{}`, two}, model.Info{ContextTokens: 90, MaxOutputTokens: 30, Images: &no,
			Efforts: []string{"medium", "high", "max"}, Price: &model.Price{Input: 1_000_000, Output: 3_000_000}}},
		"one writes it wrong": {[]string{`"m":[]`, one}, model.Info{ContextTokens: 100, MaxOutputTokens: 20, Images: &yes,
			Efforts: []string{"low", "medium", "high"}, Price: price}},
	} {
		for _, rows := range [][]string{c.rows, reversed(c.rows)} {
			var providers []string
			for i, row := range rows {
				providers = append(providers, at(fmt.Sprint("p", i), "https://one.example/v1", row))
			}
			got := describe(homeWith(t, catalogueFile(providers...)), "https://one.example/v1", "m")
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	}
	// A price on which they do not agree is not taken from the embedded row either. Whether it thinks is.
	var known ext.CatalogueModel
	for _, row := range Catalogue().List() {
		if row.Provider == "zai" && row.Info.Price != nil && len(row.Info.Efforts) > 1 {
			known = row
		}
	}
	row := func(cost int, thinks bool) string {
		return fmt.Sprintf(`%q:{"reasoning":%v,"cost":{"input":%d,"output":2}}`, known.ID, thinks, cost)
	}
	home := homeWith(t, catalogueFile(at("zai", "https://api.z.ai/api/paas/v4", row(1, false)), at("zai-coding-plan", "https://api.z.ai/api/coding/paas/v4", row(2, true))))
	i := describe(home, "https://api.z.ai/api/anthropic", known.ID)
	if known.ID == "" || i.Price != nil || i.ContextTokens == 0 || !slices.Equal(i.Efforts, known.Info.Efforts) {
		t.Errorf("%q: %+v", known.ID, i)
	}
}

func reversed(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// A file that cannot be used is as none, and Inspect says why.
func TestUselessFiles(t *testing.T) {
	good := catalogueFile(openAI(`"gpt-5":` + gpt))
	for name, c := range map[string]struct{ content, why string }{
		"empty":           {"", "breaks off after 0 bytes"},
		"spaces":          {" \n", "breaks off after 2 bytes"},
		"truncated":       {good[:len(good)/2], "breaks off after"},
		"almost whole":    {good[:len(good)-1], "breaks off after"},
		"a web page":      {"\n<!DOCTYPE html><html></html>", "web page"},
		"a list":          {"[" + good + "]", "byte 1: an object was expected"},
		"something after": {good + "}", "the end was expected"},
		"no colon":        {`{"openai" {}}`, "byte 11: a colon"},
		"no comma":        {`{"openai":{} "x":{}}`, "byte 14: a comma"},
		"no name":         {`{openai:{}}`, "byte 2: the name of a member"},
		"a bad name":      {`{"\x":{}}`, "the name of a member"},
		"no value":        {`{"openai":}`, "byte 11: a value"},
		"no model":        {catalogueFile(openAI(``)), "lists no model"},
		"only wrong ones": {catalogueFile(openAI(`"gpt-5":[]`)), "lists no model"},
	} {
		home := homeWith(t, c.content)
		known, _ := Catalogue().Lookup(openaiURL, "gpt-5")
		if d := cmp.Diff(known, describe(home, openaiURL, "gpt-5")); d != "" {
			t.Errorf("%s is not as none (-want +got):\n%s", name, d)
		}
		r := Inspect(home)
		if r.Err == nil || !strings.Contains(r.Err.Error(), c.why) || !strings.Contains(r.Err.Error(), r.Path) || r.Fetched.IsZero() {
			t.Errorf("%s: %+v", name, r)
		}
		if list := New(Options{Home: home}).Models[0].List(); len(list) != 0 {
			t.Errorf("%s lists %+v", name, list)
		}
	}
	for name, make := range map[string]func(string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		home := t.TempDir()
		if err := make(filepath.Join(home, File)); err != nil {
			t.Fatal(err)
		}
		if r := Inspect(home); r.Err == nil || !strings.Contains(r.Err.Error(), "is not a file") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, home := range map[string]string{"no file": t.TempDir(), "no home": filepath.Join(t.TempDir(), "none")} {
		if r := Inspect(home); r.Err != nil || !r.Fetched.IsZero() || r.Models != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, ok := New(Options{}).Models[0].Lookup(openaiURL, "gpt-5"); ok {
		t.Error("without a home something is refreshed")
	}
}

func TestInspectCounts(t *testing.T) {
	home := homeWith(t, catalogueFile(openAI(`"gpt-5":`+gpt+`,"a":7,"b":{"limit":[]},"dall-e":{"modalities":{"output":["image"]}},"gpt-5":`+gpt),
		at("someone", "https://llm.someone.example/v1", `"x":{}`), at("mute", "https://mute.example", `"x":[]`),
		at(strings.Repeat("p", MaxName+1), "https://long.example", `"x":{},"y":{}`)))
	if r := Inspect(home); r.Err != nil || r.Providers != 2 || r.Models != 2 || r.Skipped != 5 {
		t.Errorf("%+v", r)
	}
}

func TestBoundsOfTheFile(t *testing.T) {
	content := catalogueFile(openAI(`"gpt-5":` + gpt))
	home := homeWith(t, content)
	if _, _, err := read(home, int64(len(content))); err != nil {
		t.Errorf("as large as may be: %v", err)
	}
	if _, _, err := read(home, int64(len(content)-1)); err == nil || !strings.Contains(err.Error(), "it is larger than") {
		t.Errorf("a byte more: %v", err)
	}
	var b strings.Builder
	for i := range MaxModels {
		fmt.Fprintf(&b, `"%d":{},`, i)
	}
	models := strings.TrimSuffix(b.String(), ",")
	if d, err := take([]byte(catalogueFile(openAI(models)))); err != nil {
		t.Errorf("as many models as may be: %v", err)
	} else if list, skipped := d.all(); len(list) != MaxModels || skipped != 0 {
		t.Errorf("%d of them are listed, %d skipped", len(list), skipped)
	}
	if _, err := take([]byte(catalogueFile(openAI(models), at("someone", "", `"m":{}`)))); err == nil || !strings.Contains(err.Error(), "more than 100000 models") {
		t.Errorf("one more: %v", err)
	}
}

// The file is read when it is needed, and once.
func TestFileIsReadLate(t *testing.T) {
	home := t.TempDir()
	c := New(Options{Home: home}).Models[0]
	for _, endpoint := range []string{"http://127.0.0.1:11434/v1", "http://localhost:1234", "http://gpu-box:8000/v1", "http://10.1.2.3/v1", "https://box.lan", "x"} {
		c.Provider(endpoint)
		c.Lookup(endpoint, "gpt-5")
		c.Choices(endpoint)
	}
	file := filepath.Join(home, File)
	if err := os.WriteFile(file, []byte(catalogueFile(openAI(`"gpt-5":`+gpt))), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if i, ok := New(Options{Home: home}).Models[0].Lookup(openaiURL, "gpt-5"); !ok || i.ContextTokens != 500_000 {
				t.Errorf("it was read too early: %+v", i)
			}
			c.List()
		})
	}
	all.Wait()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Lookup(openaiURL, "gpt-5"); !ok {
		t.Error("it was read again")
	}
	list := c.List()
	list[0].ID = "changed"
	if c.List()[0].ID == "changed" {
		t.Error("a caller can change the catalogue's list")
	}
}

// Whatever is valid JSON is taken apart as encoding/json does it, and nothing else brings it down.
func FuzzTake(f *testing.F) {
	f.Add(catalogueFile(openAI(`"gpt-5":`+gpt), at("a", "https://a.example", `"m\"\\":{"x":[{}]}`)))
	for _, seed := range []string{`{}`, `{"p":{"models":{"m":[[{"]":"}"}]]},"models":{"n":1}}}`, `{"p":{"models":{"\u00e9\n":"\\\""}},"p":{"models":{}}}`, `{"p":{"models":{"m":{}`,
		`{"p":{"models":{"m":[}}}`, "{\"\xff\":{\"models\":{\"\xfe\":null}}}", ` { "p" : { "models" : { "m" : -1e9 , "n" : tru } } } `, `{"p":{"models":{"m":"\\"}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		d, err := take([]byte(content))
		if err == nil {
			d.all()
			d.behind("api.openai.com", "/v1")
		}
		if !json.Valid([]byte(content)) {
			return
		}
		var top map[string]json.RawMessage
		if json.Unmarshal([]byte(content), &top) != nil || top == nil {
			if err == nil {
				t.Fatalf("%q is taken for a catalogue", content)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		want := map[string]map[string]string{}
		for id, raw := range top {
			var fields map[string]json.RawMessage
			if id == "" || len(id) > MaxName || json.Unmarshal(raw, &fields) != nil || fields == nil {
				continue
			}
			want[id] = map[string]string{}
			var models map[string]json.RawMessage
			if json.Unmarshal(fields["models"], &models) == nil {
				for m, raw := range models {
					want[id][m] = string(raw)
				}
			}
		}
		got := map[string]map[string]string{}
		for _, p := range d.providers {
			got[p.id] = map[string]string{}
			for m, i := range p.at() {
				got[p.id][m] = string(p.models[i].raw)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", content, diff)
		}
	})
}

// threeMegabytes is a catalogue as large as models.dev's was: a hundred providers, the wanted one among them.
func threeMegabytes() string {
	var providers []string
	for p := range 100 {
		var models []string
		for m := range 58 {
			models = append(models, fmt.Sprintf("%q:%s", fmt.Sprintf("vendor/model-%d", m), strings.Replace(gpt, "GPT-5 of today", strings.Repeat("n", 120), 1)))
		}
		providers = append(providers, at(fmt.Sprintf("provider-%d", p), fmt.Sprintf("https://api.provider-%d.example/v1", p), strings.Join(models, ",")))
	}
	providers = append(providers, openAI(`"gpt-5":`+gpt))
	return catalogueFile(providers...)
}

// BenchmarkFirstLookup is what a session pays once for a refreshed catalogue of 3 MB, beside BenchmarkFirstUse.
func BenchmarkFirstLookup(b *testing.B) {
	content := threeMegabytes()
	home := homeWith(b, content)
	rows() // its own benchmark is BenchmarkFirstUse
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		documents.Clear()
		if _, ok := refreshed(home).Lookup(openaiURL, "gpt-5"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkRefreshedLookup(b *testing.B) {
	c := refreshed(homeWith(b, threeMegabytes()))
	b.ReportAllocs()
	for b.Loop() {
		c.Lookup("https://api.provider-50.example/v1", "vendor/model-40")
	}
}

// BenchmarkFirstList decodes all of it, as --list-models does.
func BenchmarkFirstList(b *testing.B) {
	home := homeWith(b, threeMegabytes())
	rows()
	for b.Loop() {
		documents.Clear()
		if len(refreshed(home).List()) < 4000 {
			b.Fatal("rows are missing")
		}
	}
}
