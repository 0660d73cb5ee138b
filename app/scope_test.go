package app

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

var scopeKnown = []string{
	"anthropic/claude-opus-5", "anthropic/claude-sonnet-5", "openai/gpt-5", "openai/gpt-5-mini", "openrouter/openai/gpt-5",
	"openrouter/qwen/qwen3-coder:free", "ollama/qwen3:8b", "ollama/gpt-oss:20b", "ollama/Größe",
}

func TestScope(t *testing.T) {
	m := func(ids ...string) (all []ScopedModel) {
		for _, id := range ids {
			id, effort, _ := strings.Cut(id, "@")
			all = append(all, ScopedModel{id, effort})
		}
		return all
	}
	for _, c := range []struct {
		patterns []string
		want     []ScopedModel
		misses   []string
	}{
		{nil, nil, nil},
		{[]string{"", " , ,"}, nil, nil},
		{[]string{"openai/*"}, m("openai/gpt-5", "openai/gpt-5-mini"), nil},
		{[]string{"openai/gpt-5-mini", "openai/*"}, m("openai/gpt-5-mini", "openai/gpt-5"), nil},
		{[]string{"openai/gpt-5-mini , anthropic/*:HIGH"}, m("openai/gpt-5-mini", "anthropic/claude-opus-5@high", "anthropic/claude-sonnet-5@high"), nil},
		{[]string{"OpenAI/GPT-5"}, m("openai/gpt-5"), nil},
		{[]string{"gpt-5"}, m("openai/gpt-5"), nil},
		{[]string{"openai/gpt-5*"}, m("openai/gpt-5", "openai/gpt-5-mini"), nil},
		{[]string{"openrouter/*"}, m("openrouter/openai/gpt-5", "openrouter/qwen/qwen3-coder:free"), nil},
		{[]string{"*/gpt-5"}, m("openai/gpt-5", "openrouter/openai/gpt-5"), nil},
		{[]string{"*gpt-5"}, m("openai/gpt-5", "openrouter/openai/gpt-5"), nil},
		{[]string{"claude-????-5:max", "claude-*:low"}, m("anthropic/claude-opus-5@max", "anthropic/claude-sonnet-5@low"), nil},
		{[]string{"openai?gpt-5"}, m("openai/gpt-5", "openrouter/openai/gpt-5"), nil},
		{[]string{"gr??E"}, m("ollama/Größe"), nil},
		{[]string{"qwen3:8b", "gpt-oss:20b:low", "*:free"}, m("ollama/qwen3:8b", "ollama/gpt-oss:20b@low", "openrouter/qwen/qwen3-coder:free"), nil},
		{[]string{"*", "openai/*:high"}, m(scopeKnown...), nil},
		{[]string{"mine/new:8b", "mine/new:8b:low", "mine/x/y:off"}, m("mine/new:8b", "mine/x/y@off"), []string{"mine/new:8b", "mine/new:8b:low", "mine/x/y:off"}},
		{[]string{"nothing", "mine/*", "/x", "x/", "mine/n?w", "openai/gpt-5:turbo"}, m("openai/gpt-5:turbo"),
			[]string{"nothing", "mine/*", "/x", "x/", "mine/n?w", "openai/gpt-5:turbo"}},
	} {
		s, err := ParseScope(c.patterns)
		if err != nil {
			t.Errorf("%q: %v", c.patterns, err)
			continue
		}
		got, misses := s.Match(scopeKnown)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.patterns, d)
		}
		if d := cmp.Diff(c.misses, misses); d != "" {
			t.Errorf("misses of %q (-want +got):\n%s", c.patterns, d)
		}
	}
}

func TestScopeBounds(t *testing.T) {
	many := func(n int) []string { return slices.Repeat([]string{"a/b"}, n) }
	long := strings.Repeat("x", MaxPatternBytes)
	for name, c := range map[string]struct {
		patterns []string
		fails    string
	}{
		"as many as may be":        {many(MaxPatterns), ""},
		"one more":                 {many(MaxPatterns + 1), "more than 64 patterns"},
		"with commas, as many":     {[]string{strings.Join(many(MaxPatterns), ",") + ","}, ""},
		"with commas, one more":    {[]string{strings.Join(many(MaxPatterns+1), ",")}, "more than 64 patterns"},
		"as long as may be":        {[]string{long}, ""},
		"a byte more":              {[]string{long + "x"}, "321 bytes; the most is 320"},
		"long together, not each":  {[]string{long + "," + long}, ""},
		"a level without a model":  {[]string{"a/b", ":high"}, "a level and no model"},
		"no level without a model": {[]string{":turbo"}, ""},
	} {
		s, err := ParseScope(c.patterns)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && s.patterns != nil {
			t.Errorf("%s: half a scope", name)
		}
	}
}

func TestScopeNext(t *testing.T) {
	ids := []ScopedModel{{"a/1", ""}, {"a/2", "high"}, {"a/3", ""}}
	for _, c := range []struct {
		present string
		step    int
		want    string
	}{
		{"a/1", 1, "a/2"}, {"a/2", 1, "a/3"}, {"a/3", 1, "a/1"}, {"a/1", -1, "a/3"}, {"a/3", -1, "a/2"}, {"a/2", 0, "a/2"},
		{"a/1", 4, "a/2"}, {"a/1", -4, "a/3"}, {"a/2", math.MaxInt, ids[(1+math.MaxInt%3)%3].ID}, {"a/1", math.MinInt, ids[(3+math.MinInt%3)%3].ID},
		{"b/1", 1, "a/1"}, {"b/1", 2, "a/1"}, {"", -1, "a/3"}, {"A/1", 0, "a/1"},
	} {
		if got, ok := (Scope{}).Next(ids, c.present, c.step); !ok || got.ID != c.want {
			t.Errorf("%d from %q leads to %q (%v), want %q", c.step, c.present, got.ID, ok, c.want)
		}
	}
	if got, ok := (Scope{}).Next(ids, "a/1", 1); !ok || got.Effort != "high" {
		t.Errorf("the level is lost: %+v", got)
	}
	if got, ok := (Scope{}).Next(ids[:1], "a/1", 1); !ok || got.ID != "a/1" {
		t.Errorf("the only one leads to %+v (%v)", got, ok)
	}
	if got, ok := (Scope{}).Next(nil, "a/1", 1); ok {
		t.Errorf("nothing leads to %+v", got)
	}
}

// plainFits is what a glob means, without care for time.
func plainFits(glob, s []rune) bool {
	switch {
	case len(glob) == 0:
		return len(s) == 0
	case glob[0] == '*':
		return plainFits(glob[1:], s) || len(s) > 0 && plainFits(glob, s[1:])
	case len(s) == 0:
		return false
	}
	return (glob[0] == '?' || unicode.ToLower(glob[0]) == unicode.ToLower(s[0])) && plainFits(glob[1:], s[1:])
}

func FuzzScopeMatch(f *testing.F) {
	for _, seed := range [][2]string{{"a*b?c*", "p/aXbYc"}, {"*", "/"}, {"***a", "b/aaa"}, {"p/*:high", "p/m:high"}, {"İ*", "x/i̇"}, {"\xff?", "\xff/\xfe"}, {"ǅ", "p/ǆ"}, {"x/y", "z/y"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, id string) {
		if len(glob) > 24 || len(id) > 48 || strings.Count(glob, "*") > 4 {
			return // plainFits takes time
		}
		s, err := ParseScope([]string{glob})
		if err != nil {
			return
		}
		var all []string
		for p := range strings.SplitSeq(glob, ",") {
			if p = strings.TrimSpace(p); p != "" {
				all = append(all, p)
			}
		}
		if len(all) != len(s.patterns) {
			t.Fatalf("%q has %d patterns, read as %d", glob, len(all), len(s.patterns))
		}
		known := []string{id, "p/" + id}
		var want []string
		for i, p := range all {
			bare := strings.TrimSuffix(p, p[len(s.patterns[i].name):])
			for _, k := range known {
				_, behind, ok := strings.Cut(k, "/")
				if plainFits([]rune(bare), []rune(k)) || ok && !strings.Contains(bare, "/") && plainFits([]rune(bare), []rune(behind)) {
					if !slices.Contains(want, k) {
						want = append(want, k)
					}
				}
			}
		}
		matched, misses := s.Match(known)
		var got []string
		for _, m := range matched {
			if slices.Contains(got, m.ID) {
				t.Fatalf("%q gives %q twice", glob, m.ID)
			}
			if slices.Contains(known, m.ID) {
				got = append(got, m.ID)
			} else if !slices.ContainsFunc(misses, func(miss string) bool { return strings.HasPrefix(miss, m.ID) }) {
				t.Fatalf("%q gives %q, which nobody knows", glob, m.ID)
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%q of %q gives %q, want %q", glob, known, got, want)
		}
	})
}

func BenchmarkScopeMatch(b *testing.B) {
	known := make([]string, 5000)
	for i := range known {
		known[i] = fmt.Sprintf("provider-%d/some/long-model-name-%d", i%100, i)
	}
	s, err := ParseScope(slices.Repeat([]string{"*long*name*9", "provider-7/*", "gpt-5"}, MaxPatterns/3))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Match(known)
	}
}
