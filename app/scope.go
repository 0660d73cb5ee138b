package app

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/ext/model"
)

const (
	// MaxPatterns is how many patterns a scope may have.
	MaxPatterns = 64
	// MaxPatternBytes is how long one of them may be.
	MaxPatternBytes = 320
)

// Scope is an ordered choice of models, written as patterns (product.md 3.2). The zero Scope chooses none.
type Scope struct{ patterns []pattern }

// ScopedModel is a model of a scope.
type ScopedModel struct {
	ID     string // provider/model
	Effort string // the level that its pattern asks for; "" for none in particular
}

type pattern struct {
	written string
	name    string // without the level
	glob    []rune // name in small letters
	effort  string
}

// ParseScope reads patterns, each of which may be several with commas between. A pattern is provider/model, in which * stands for any
// characters and ? for one, "/" included; without a "/" it is also held against the part behind the provider. Letters count alike
// whether small or not. A level of model.Efforts may follow behind a colon; another colon belongs to the model, as in qwen3:8b. It
// fails for more than MaxPatterns, for one longer than MaxPatternBytes, and for a level without a model.
func ParseScope(patterns []string) (Scope, error) {
	var s Scope
	for _, several := range patterns {
		for written := range strings.SplitSeq(several, ",") {
			if written = strings.TrimSpace(written); written == "" {
				continue
			}
			if len(written) > MaxPatternBytes {
				return Scope{}, fmt.Errorf("a pattern of models has %d bytes; the most is %d", len(written), MaxPatternBytes)
			}
			if len(s.patterns) == MaxPatterns {
				return Scope{}, fmt.Errorf("there are more than %d patterns of models; name a provider's models together, as provider/*", MaxPatterns)
			}
			p := pattern{written: written, name: written}
			if i := strings.LastIndexByte(written, ':'); i >= 0 {
				if level := strings.ToLower(written[i+1:]); slices.Contains(model.Efforts, level) {
					p.name, p.effort = written[:i], level
				}
			}
			if p.name == "" {
				return Scope{}, fmt.Errorf("the pattern %q has a level and no model; *%s means every model", written, written)
			}
			for _, r := range p.name {
				p.glob = append(p.glob, unicode.ToLower(r))
			}
			s.patterns = append(s.patterns, p)
		}
	}
	return s, nil
}

// Match are the known models, each as provider/model, that the scope chooses: in the order of its patterns, for one pattern in that
// of known, and each once. misses are the patterns that no known model fits, as they were written. One of them that names a model in
// full is taken at its word, for a person may know more than the catalogue.
func (s Scope) Match(known []string) (matched []ScopedModel, misses []string) {
	taken := map[string]bool{}
	take := func(id, effort string) {
		if !taken[id] {
			taken[id] = true
			matched = append(matched, ScopedModel{id, effort})
		}
	}
	for _, p := range s.patterns {
		hit := false
		for _, id := range known {
			if p.fits(id) {
				hit = true
				take(id, p.effort)
			}
		}
		if hit {
			continue
		}
		misses = append(misses, p.written)
		if provider, modelID, ok := strings.Cut(p.name, "/"); ok && provider != "" && modelID != "" && !strings.ContainsAny(p.name, "*?") {
			take(p.name, p.effort)
		}
	}
	return matched, misses
}

// Next is the model that step places lead to from the present one among those that Match gave, the ends being neighbours. From one
// that is not among them a step forward leads to the first and a step back to the last. It reports false when there is none.
func (Scope) Next(ids []ScopedModel, present string, step int) (ScopedModel, bool) {
	if len(ids) == 0 {
		return ScopedModel{}, false
	}
	at := slices.IndexFunc(ids, func(m ScopedModel) bool { return m.ID == present })
	switch {
	case at >= 0:
		at = ((at+step%len(ids))%len(ids) + len(ids)) % len(ids)
	case step < 0:
		at = len(ids) - 1
	default:
		at = 0
	}
	return ids[at], true
}

func (p pattern) fits(id string) bool {
	if globFits(p.glob, id) {
		return true
	}
	_, modelID, ok := strings.Cut(id, "/")
	return ok && !strings.Contains(p.name, "/") && globFits(p.glob, modelID)
}

// globFits holds a glob in small letters against all of s. Where a star took too little it goes back to the newest one only, which
// is enough.
func globFits(glob []rune, s string) bool {
	star, resume := -1, 0 // the newest star, and where in s what follows it is tried
	g := 0
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case g < len(glob) && glob[g] == '*':
			star, resume = g, at
			g++
		case g < len(glob) && (glob[g] == '?' || glob[g] == unicode.ToLower(r)):
			g++
			at += size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[resume:])
			resume += size
			g, at = star+1, resume
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}
