package settings

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// MinRedacted is the length, in bytes, from which a key is replaced wherever it stands. A shorter one may well be a word
// ("ollama", "none") whose blind replacement would maim the text without hiding anything: it is replaced only where a request
// carries it, after Bearer.
const MinRedacted = 8

// redacted stands where a key stood.
const redacted = "[redacted]"

// Redactor takes the keys it knows out of text that is going to be logged, shown, stored or sent. The zero value knows none, and is
// ready; its methods may be called from several goroutines.
type Redactor struct {
	mu    sync.Mutex // held while a key is added
	known map[string]bool
	names map[string]bool      // keys that are words, however long
	keys  atomic.Pointer[keys] // nil: none
}

// spare has the keys that are names treated like short ones. The server of a person's own machine takes any key, and is often given
// its own name.
func (r *Redactor) spare(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = map[string]bool{}
	for _, name := range names {
		r.names[name] = true
	}
}

// keys are those that a Redactor knows at one moment. They do not change.
type keys struct {
	spelled *spelled // those that are long enough; nil when none is
	short   []string // the other ones, longest first
}

// Add has the redactor know a key, in every spelling that texts give it. One that no provider can be sent, because it is longer than
// MaxKey or no text, is not looked for, nor one that is a part of the mark, which would be found in whatever was redacted before.
func (r *Redactor) Add(key string) {
	if len(key) > MaxKey || !utf8.ValidString(key) || strings.Contains(redacted, key) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key] {
		return
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[key] = true
	long, short := map[string]bool{}, map[string]bool{}
	for key := range r.known {
		if len(key) < MinRedacted || r.names[key] {
			short[key] = true
			continue
		}
		for _, s := range spellings(key) {
			long[s] = true
		}
	}
	r.keys.Store(&keys{newSpelled(long), longestFirst(short)})
}

// longestFirst orders texts so that one that begins with another does not leave its end behind.
func longestFirst(texts map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// RedactKeys returns text without the keys. It leaves alone whatever else a text says of credentials: this is what conversations and
// files are read with, which have to stay as they are. Doing so twice changes nothing.
func (r *Redactor) RedactKeys(text string) string {
	known := r.keys.Load()
	if known == nil {
		return text
	}
	text = known.spelled.replace(text)
	if len(known.short) > 0 {
		text = replaceAfter(text, "bearer", 0, known.carried)
	}
	return text
}

// carried finds a short key at the start of text, after Bearer.
func (k *keys) carried(text string) (start, end int) {
	start = len("bearer")
	for start < len(text) && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	for _, key := range k.short {
		if start > len("bearer") && strings.HasPrefix(text[start:], key) {
			return start, start + len(key)
		}
	}
	return 0, 0
}

var header = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?i:authorization)"?[ \t]*[:=][ \t]*[\["]*(?i:bearer|basic)[ \t]+)(?:` + regexp.QuoteMeta(redacted) + `|[^\s"'\\,;\]]+)`)
})

// carried finds what an Authorization header carries, known or not, at the start of text.
func carried(text string) (start, end int) {
	m := header().FindStringSubmatchIndex(text)
	if m == nil {
		return 0, 0
	}
	return m[3], m[1]
}

// Redact returns text, such as a line of a log or an error, without the keys and without what an Authorization header carries, known
// or not. Doing so twice changes nothing.
func (r *Redactor) Redact(text string) string {
	return replaceAfter(r.RedactKeys(text), "authorization", 7, carried) // z is rare
}

// replaceAfter replaces what secret finds in the text that begins with a word; an end of 0 is nothing. The word, lower-case letters of
// ASCII that stand in text in any case, is looked for by one letter of it, the one at rare, so that most texts cost little.
func replaceAfter(text, word string, rare int, secret func(string) (start, end int)) string {
	for _, letter := range [...]byte{word[rare], word[rare] - 'a' + 'A'} {
		var b strings.Builder
		done := 0
		for from := 0; ; {
			i := strings.IndexByte(text[from:], letter)
			if i < 0 {
				break
			}
			from += i + 1
			at := from - 1 - rare
			if at < done || at+len(word) > len(text) || !strings.EqualFold(text[at:at+len(word)], word) || at > 0 && wordByte(text[at-1]) {
				continue
			}
			if start, end := secret(text[at:]); end > 0 {
				b.WriteString(text[done : at+start])
				b.WriteString(redacted)
				done = at + end
				from = max(from, done)
			}
		}
		if done > 0 {
			b.WriteString(text[done:])
			text = b.String()
		}
	}
	return text
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Redactor knows every key of the configured and preset providers that could be read when it was first asked for, what their headers
// carry as credentials, and every key that a Profile's Key has read since. One that only a command or the keyring has is therefore
// not known before the first request that is sent with it. A key that is a provider's name, such as lm-studio, is taken for the word
// it is.
func (s *Settings) Redactor() *Redactor {
	s.known.Do(func() {
		s.redactor.spare(s.providerNames())
		for _, key := range s.storedKeys() {
			s.redactor.Add(strings.TrimSpace(key))
		}
		for _, name := range s.providerNames() {
			p, _ := s.provider(name)
			if p.APIKeyEnv != "" {
				value, _ := s.lookup(p.APIKeyEnv)
				s.redactor.Add(strings.TrimSpace(value))
			}
			for header, value := range p.Headers {
				if carriesCredential(header) {
					s.redactor.Add(credential(value))
				}
			}
		}
	})
	return &s.redactor
}

// storedKeys are the keys in auth.json, also in one that octavo does not use because others can read it.
func (s *Settings) storedKeys() map[string]string {
	if s.Home == "" {
		return nil
	}
	file := filepath.Join(s.Home, AuthFile)
	data, _, err := readFile(file)
	if err != nil {
		return nil // who needs a key is told why there is none
	}
	a, err := parseAuth(file, data)
	if err != nil {
		return nil
	}
	return a.keys
}

// carriesCredential reports whether a configured header is one whose value is nobody's business.
func carriesCredential(header string) bool {
	header = strings.ToLower(header)
	for _, word := range [...]string{"auth", "key", "token", "cookie", "secret", "password", "credential"} {
		if strings.Contains(header, word) {
			return true
		}
	}
	return false
}

// credential is a header's value without the scheme in front of it.
func credential(value string) string {
	value = strings.TrimSpace(value)
	if _, after, ok := strings.Cut(value, " "); ok {
		return strings.TrimSpace(after)
	}
	return value
}
