package models

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"octavo/ext"
	"octavo/ext/model"
)

const (
	anthropicURL = "https://api.anthropic.com/v1"
	openaiURL    = "https://api.openai.com/v1"
)

func TestProviderAt(t *testing.T) {
	for endpoint, want := range map[string]string{
		anthropicURL:                     "anthropic",
		"https://API.Anthropic.com.:443": "anthropic",
		openaiURL:                        "openai",
		"https://eu.api.openai.com/v1":   "openai",
		"https://us-central1-aiplatform.googleapis.com":             "vertexai",
		"https://mine.openai.azure.com/openai/v1":                   "azure",
		"https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1": "bedrock-europe",
		"https://opencode.ai/zen/go/v1":                             "opencode-go",
		"https://opencode.ai/zen/v1":                                "opencode-zen",
		"https://opencode.ai/zen/gone/v1":                           "opencode-zen",
		"https://open.bigmodel.cn/api/coding/paas/v4":               "zhipu-coding",
		"https://open.bigmodel.cn/api/coding":                       "zhipu-coding",
		"https://open.bigmodel.cn/api/codings":                      "zhipu",

		"":                                   "",
		"api.openai.com/v1":                  "",
		"file://api.openai.com/v1":           "",
		"https://opencode.ai":                "",
		"https://.api.openai.com":            "",
		"https://api.openai.com.evil.test":   "",
		"https://evilapi.openai.com":         "",
		"https://openai.azure.com":           "",
		"https://.openai.azure.com":          "",
		"https://evil.test/api.openai.com":   "",
		"https://api.openai.com@evil.test/":  "",
		"https://evil.test:443#api.x.ai":     "",
		"http://127.0.0.1:1234/v1":           "",
		"http://[::1]:11434/v1":              "",
		"http://localhost:8080":              "",
		"http://192.168.1.7:8000/v1":         "",
		"https://models.example.com/openai/": "",
		"http://%zz":                         "",
	} {
		if got, ok := providerAt(endpoint); got != want || ok != (want != "") {
			t.Errorf("%q is answered by %q (%v), want %q", endpoint, got, ok, want)
		}
	}
}

// The table of addresses and the data have to name the same providers, also after the data was updated.
func TestAddressesFitTheData(t *testing.T) {
	reached := map[string]bool{}
	for _, a := range addresses {
		reached[a.provider] = true
	}
	for _, p := range embedded.GetAll() {
		id := string(p.ID)
		if !reached[id] {
			t.Errorf("no address leads to %s (%s)", id, p.APIEndpoint)
		}
		delete(reached, id)
		if !strings.HasPrefix(p.APIEndpoint, "http") {
			continue // a variable's name, or nothing
		}
		if got, _ := providerAt(p.APIEndpoint); got != id {
			t.Errorf("%s is answered by %q, want %s", p.APIEndpoint, got, id)
		}
	}
	for id := range reached {
		t.Errorf("an address leads to %s, which the data does not have", id)
	}
}

// Every row is worth believing, and is found where its provider answers.
func TestEveryRowIsSane(t *testing.T) {
	list := Catalogue().List()
	if len(list) < 1000 {
		t.Fatalf("only %d rows", len(list))
	}
	unpriced := 0
	for _, row := range list {
		i := row.Info
		at := row.Provider + "/" + row.ID
		if row.ID == "" || row.Provider == "" {
			t.Fatalf("a row without a name: %+v", row)
		}
		if i.ContextTokens < 0 || i.MaxOutputTokens < 0 || i.ContextTokens > 0 && i.MaxOutputTokens > i.ContextTokens {
			t.Errorf("%s: window %d, answer %d", at, i.ContextTokens, i.MaxOutputTokens)
		}
		if i.Images == nil {
			t.Errorf("%s: nothing is known of pictures", at)
		}
		inOrder := slices.IsSortedFunc(i.Efforts, func(a, b string) int { return slices.Index(model.Efforts, a) - slices.Index(model.Efforts, b) })
		if !inOrder || len(slices.Compact(slices.Clone(i.Efforts))) != len(i.Efforts) ||
			slices.ContainsFunc(i.Efforts, func(e string) bool { return !slices.Contains(model.Efforts, e) }) {
			t.Errorf("%s: efforts %q", at, i.Efforts)
		}
		if !row.Reasons && !slices.Equal(i.Efforts, []string{"off"}) {
			t.Errorf("%s does not think and takes %q", at, i.Efforts)
		}
		p := i.Price
		if p == nil {
			unpriced++
			continue
		}
		if p.Input < 0 || p.Output < 0 || p.Input > maxPrice || p.Output > maxPrice ||
			p.CacheRead != nil && (*p.CacheRead <= 0 || *p.CacheRead > p.Input) || p.CacheWrite != nil && *p.CacheWrite <= p.Input {
			t.Errorf("%s: price %+v", at, p)
		}
		if p.Cost(model.Usage{Input: model.Count(1000), Output: model.Count(1000)}) == nil {
			t.Errorf("%s: its price prices nothing", at)
		}
	}
	if unpriced > len(list)/10 {
		t.Errorf("%d of %d rows have no price: the rule for free models no longer fits the data", unpriced, len(list))
	}
	list[0] = ext.CatalogueModel{}
	if again := Catalogue().List(); again[0].ID == "" {
		t.Error("a caller can change the catalogue's list")
	}
}

// Facts of the best-known families, by rule: their numbers change with the data.
func TestWellKnownFamilies(t *testing.T) {
	claude, gpt := 0, 0
	for _, row := range Catalogue().List() {
		i, p := row.Info, row.Info.Price
		switch {
		case row.Provider == "anthropic":
			claude++
			if i.ContextTokens < 200_000 || i.MaxOutputTokens < 8192 || !*i.Images || p == nil || p.CacheRead == nil || p.CacheWrite == nil {
				t.Errorf("%s: %+v", row.ID, i)
				continue
			}
			// A read is a tenth of input, a write of five minutes a quarter more.
			if *p.CacheRead != p.Input/10 || *p.CacheWrite != p.Input+p.Input/4 || p.Output <= p.Input {
				t.Errorf("%s: price %+v, read %d, write %d", row.ID, *p, *p.CacheRead, *p.CacheWrite)
			}
			if row.Reasons && len(i.Efforts) > 0 && !slices.Contains(i.Efforts, "off") {
				t.Errorf("%s cannot be kept from thinking: %q", row.ID, i.Efforts)
			}
		case row.Provider == "openai" && strings.HasPrefix(row.ID, "gpt-5"):
			gpt++
			if i.ContextTokens < 256_000 || !row.Reasons || !slices.Contains(i.Efforts, "high") || p == nil || p.Output <= p.Input {
				t.Errorf("%s: %+v", row.ID, i)
			}
			if p != nil && p.CacheRead != nil && *p.CacheRead != p.Input/10 {
				t.Errorf("%s: a read costs %d of %d", row.ID, *p.CacheRead, p.Input)
			}
		}
	}
	if claude < 5 || gpt < 5 {
		t.Errorf("%d Claude and %d GPT-5 models", claude, gpt)
	}
}

func TestLookup(t *testing.T) {
	c := Catalogue()
	for _, row := range c.List() {
		if row.Provider != "openai" {
			continue
		}
		got, ok := c.Lookup(openaiURL, row.ID)
		if !ok || got.ContextTokens != row.Info.ContextTokens || got.Price != row.Info.Price {
			t.Errorf("%s: %+v, %v; listed as %+v", row.ID, got, ok, row.Info)
		}
		for _, elsewhere := range []string{anthropicURL, "http://127.0.0.1:1/v1"} {
			if _, ok := c.Lookup(elsewhere, row.ID); ok {
				t.Errorf("%s is also known at %s", row.ID, elsewhere)
			}
		}
	}
	for _, id := range []string{"", "no-such-model", "openai/gpt-5", "GPT-5"} {
		if i, ok := c.Lookup(openaiURL, id); ok {
			t.Errorf("%q is known: %+v", id, i)
		}
	}
}

// What is recommended is listed, and work and small tasks have a model at the providers that people begin with.
func TestChoices(t *testing.T) {
	c := Catalogue()
	for provider, chosen := range rows().choices {
		for _, id := range []string{chosen.main, chosen.small} {
			if _, listed := rows().row(provider, id); id != "" && !listed {
				t.Errorf("%s recommends %q, which it does not list", provider, id)
			}
		}
	}
	for _, endpoint := range []string{anthropicURL, openaiURL, "https://openrouter.ai/api/v1", "https://generativelanguage.googleapis.com/v1beta/openai"} {
		main, small := c.Choices(endpoint)
		if main == "" || small == "" {
			t.Errorf("%s: %q and %q", endpoint, main, small)
		}
		if _, ok := c.Lookup(endpoint, main); !ok {
			t.Errorf("%s does not list %q", endpoint, main)
		}
	}
	table := newTable([]catwalk.Provider{{ID: "p", DefaultLargeModelID: "m", DefaultSmallModelID: "gone", Models: []catwalk.Model{{ID: "m"}}}})
	if got := table.choices["p"]; got != (choice{main: "m"}) {
		t.Errorf("of a model that is not listed: %+v", got)
	}
}

func TestInfoOfStrangeRows(t *testing.T) {
	efforts := func(wire catwalk.Type, thinks bool, levels ...string) string {
		return strings.Join(effortsOf(wire, catwalk.Model{CanReason: thinks, ReasoningLevels: levels}), " ")
	}
	for _, c := range [...]struct{ got, want string }{
		{efforts(catwalk.TypeOpenAI, false), "off"},
		{efforts(catwalk.TypeOpenAI, false, "low"), "off"},
		{efforts(catwalk.TypeOpenAI, true), ""},
		{efforts(catwalk.TypeAnthropic, true), ""},
		{efforts(catwalk.TypeOpenAI, true, "turbo"), ""},
		{efforts(catwalk.TypeOpenAI, true, "max", "none", "turbo", "low", "low"), "off low max"},
		{efforts(catwalk.TypeAnthropic, true, "low", "max"), "off low max"},
		{efforts(catwalk.TypeAnthropic, true, "none", "max"), "off max"},
	} {
		if c.got != c.want {
			t.Errorf("efforts %q, want %q", c.got, c.want)
		}
	}
	for _, c := range [...]struct {
		window, answer         int64
		wantWindow, wantAnswer int
	}{
		{maxTokens, maxTokens, maxTokens, maxTokens}, {maxTokens + 1, maxTokens + 1, 0, 0}, {-1, -1, 0, 0},
		{100, 100, 100, 100}, {100, 101, 100, 0}, {0, 100, 0, 100},
	} {
		i := infoOf(catwalk.TypeOpenAI, catwalk.Model{ContextWindow: c.window, DefaultMaxTokens: c.answer})
		if i.ContextTokens != c.wantWindow || i.MaxOutputTokens != c.wantAnswer {
			t.Errorf("window %d and answer %d are taken for %d and %d", c.window, c.answer, i.ContextTokens, i.MaxOutputTokens)
		}
	}
	table := newTable([]catwalk.Provider{{}, {Models: []catwalk.Model{{ID: "nobody's"}}},
		{ID: "p", Models: []catwalk.Model{{ID: "m", Name: "first"}, {ID: ""}, {ID: "m", Name: "second"}}}})
	if len(table.list) != 1 || table.list[0].Name != "first" {
		t.Errorf("rows %+v", table.list)
	}
}

// untouched is set in the process that must not decode the catalogue: the other tests of this one do.
const untouched = "OCTAVO_TEST_CATALOGUE_UNTOUCHED"

func TestUnknownHostsDecodeNothing(t *testing.T) {
	if os.Getenv(untouched) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnknownHostsDecodeNothing$", "-test.v")
		cmd.Env = append(os.Environ(), untouched+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestUnknownHostsDecodeNothing") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	catalogues := New(Options{Home: t.TempDir()}).Models
	c := catalogues[1]
	for _, endpoint := range []string{"http://127.0.0.1:1234/v1", "http://10.0.0.5/v1", "https://models.example.com", "nonsense", ""} {
		for _, c := range catalogues {
			if i, ok := c.Lookup(endpoint, "gpt-5"); ok {
				t.Errorf("%s: %+v", endpoint, i)
			}
			if main, small := c.Choices(endpoint); main != "" || small != "" {
				t.Errorf("%s: %q and %q are recommended", endpoint, main, small)
			}
		}
	}
	if provider, ok := c.Provider(openaiURL); provider != "openai" || !ok {
		t.Errorf("OpenAI is %q", provider)
	}
	if Loaded() {
		t.Fatal("the catalogue was decoded")
	}
	if c.Lookup(openaiURL, "gpt-5"); !Loaded() {
		t.Fatal("Loaded does not tell")
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		newTable(embedded.GetAll())
	}
}

func BenchmarkLookup(b *testing.B) {
	c := Catalogue()
	for name, endpoint := range map[string]string{"Known": openaiURL, "LastInTable": "https://router.huggingface.co/v1", "Loopback": "http://127.0.0.1:1234/v1"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Lookup(endpoint, "gpt-5")
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	c := Catalogue()
	b.ReportAllocs()
	for b.Loop() {
		c.List()
	}
}
