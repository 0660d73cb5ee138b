package settings

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// MinRedacted is the length, in bytes, from which a key is replaced wherever it stands. A shorter one may well be a word
// ("ollama", "none") whose blind replacement would maim the text without hiding anything: it is replaced only where a request
// carries it, after Bearer.
const MinRedacted = 8

// redacted stands where a key stood.
const redacted = "[redacted]"

// Redactor takes the keys it knows out of text that is going to be logged or shown. The zero value knows none, and is ready;
// its methods may be called from several goroutines.
type Redactor struct {
	mu       sync.RWMutex
	spelling map[string]bool
	replacer *strings.Replacer // of keys that are long enough
	short    map[string]bool
	bearer   *regexp.Regexp // the other ones, after Bearer
}

// header finds what an Authorization header carries, known or not.
var header = regexp.MustCompile(`(?i)\b(authorization"?[ \t]*[:=][ \t]*[\["]*(?:bearer|basic)[ \t]+)[^\s"',;\]]+`)

// Add has the redactor know a key, in the spellings that texts give it: as it is, within a URL, within JSON.
func (r *Redactor) Add(key string) {
	if key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(key) < MinRedacted {
		r.addShort(key)
		return
	}
	if r.spelling[key] {
		return
	}
	if r.spelling == nil {
		r.spelling = map[string]bool{}
	}
	quoted, _ := json.Marshal(key) // a string always can be
	for _, s := range []string{key, url.QueryEscape(key), url.PathEscape(key), strings.Trim(string(quoted), `"`)} {
		r.spelling[s] = true
	}
	var pairs []string
	for _, s := range longestFirst(r.spelling) {
		pairs = append(pairs, s, redacted)
	}
	r.replacer = strings.NewReplacer(pairs...)
}

func (r *Redactor) addShort(key string) {
	if r.short[key] {
		return
	}
	if r.short == nil {
		r.short = map[string]bool{}
	}
	r.short[key] = true
	var keys []string
	for _, s := range longestFirst(r.short) {
		keys = append(keys, regexp.QuoteMeta(s))
	}
	r.bearer = regexp.MustCompile(`(?i:\b(bearer[ \t]+))(?:` + strings.Join(keys, "|") + `)`)
}

// longestFirst orders keys so that one that begins with another does not leave its end behind.
func longestFirst(keys map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// Redact returns text without the keys.
func (r *Redactor) Redact(text string) string {
	r.mu.RLock()
	replacer, bearer := r.replacer, r.bearer
	r.mu.RUnlock()
	if replacer != nil {
		text = replacer.Replace(text)
	}
	if bearer != nil {
		text = bearer.ReplaceAllString(text, "${1}"+redacted)
	}
	return header.ReplaceAllString(text, "${1}"+redacted)
}

// Redactor knows every key of the configured providers that could be read when it was first asked for, and every one that a
// Profile's Key has read since.
func (s *Settings) Redactor() *Redactor {
	s.known.Do(func() {
		if s.Home != "" {
			if file, err := readAuth(s.Home); err == nil {
				for _, key := range file.keys {
					s.redactor.Add(strings.TrimSpace(key))
				}
			}
		}
		for _, p := range s.Providers {
			if p.APIKeyEnv != "" {
				value, _ := s.lookup(p.APIKeyEnv)
				s.redactor.Add(strings.TrimSpace(value))
			}
		}
	})
	return &s.redactor
}
