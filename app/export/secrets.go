package export

import (
	"regexp"
	"strings"
	"sync"
)

// shape is what a well-known kind of credential looks like.
type shape struct {
	signs   []string // a text without any of these has none, and is not searched
	pattern string   // its group is what is replaced
	made    bool     // the group has to look made by a machine, too: names and placeholders stay
}

// shapes are looked for in this order. An underscore may have a backslash before it, as Markdown writes it.
var shapes = []shape{
	{[]string{"sk-"}, `\b(sk-[A-Za-z0-9_-]{20,})`, true},                                                             // Anthropic, OpenAI, OpenRouter, DeepSeek
	{[]string{"ghp", "gho", "ghu", "ghs", "ghr"}, `\b(gh[opusr]\\?_[A-Za-z0-9]{20,})`, true},                         // GitHub
	{[]string{"github"}, `\b(github\\?_pat\\?_[A-Za-z0-9_\\]{20,})`, true},                                           // GitHub, fine-grained
	{[]string{"glpat-"}, `\b(glpat-[A-Za-z0-9_-]{16,})`, true},                                                       // GitLab
	{[]string{"xox"}, `\b(xox[abeoprs]-[A-Za-z0-9-]{10,})`, true},                                                    // Slack
	{[]string{"xapp-"}, `\b(xapp-[A-Za-z0-9-]{16,})`, true},                                                          // Slack
	{[]string{"AKIA", "ASIA"}, `\b(A[KS]IA[A-Z0-9]{16})\b`, false},                                                   // AWS, the id
	{[]string{"ecret", "ECRET"}, `(?i)secret_?access_?key["']?\s{0,8}[:=]\s{0,8}["']?([A-Za-z0-9/+=]{40})\b`, false}, // AWS, the key
	{[]string{"AIza"}, `\b(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)`, false},                                       // Google
	{[]string{"ya29."}, `\b(ya29\.[A-Za-z0-9_-]{20,})`, true},                                                        // Google OAuth
	{[]string{"hf"}, `\b(hf\\?_[A-Za-z0-9]{20,})`, true},                                                             // Hugging Face
	{[]string{"gsk"}, `\b(gsk\\?_[A-Za-z0-9]{20,})`, true},                                                           // Groq
	{[]string{"xai-", "nvapi-", "pplx-"}, `\b((?:xai|nvapi|pplx)-[A-Za-z0-9_-]{20,})`, true},                         // xAI, NVIDIA, Perplexity
	{[]string{"npm", "pypi-"}, `\b(npm\\?_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,})`, true},                          // package registries
	{[]string{"_live", "_test"}, `\b([rs]k\\?_(?:live|test)\\?_[A-Za-z0-9]{16,})`, true},                             // Stripe
	{[]string{"eyJ"}, `\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`, false},                    // JSON web tokens
	{[]string{"uthorization", "UTHORIZATION"}, `(?i)\bauthorization["']?\s{0,8}[:=]\s{0,8}["'\[]{0,2}(?:bearer|basic|token)\s{1,8}` + value, false},
	{[]string{"-key", "-Key", "-KEY"}, `(?i)\bx-(?:goog-)?api-key["']?\s{0,8}[:=]\s{0,8}["'\[]{0,2}` + value, false},
	{[]string{"://"}, `\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'"<>]{0,128}:([^\s/@'"<>$%{\[\\][^\s/@'"<>\\]{0,255})@`, false}, // a password in a URL
}

// value is what a header carries. What begins like a variable or a placeholder is none.
const value = `([^\s"',;$<>{%\[\]\\][^\s"',;<>\]\\]*)`

var patterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(shapes))
	for i, s := range shapes {
		list[i] = regexp.MustCompile(s.pattern)
	}
	return list
})

// credentials replaces what looks like a credential. Doing so twice changes nothing.
func credentials(s string) string {
	s = privateKeys(s)
	for i, shape := range shapes {
		if shape.in(s) {
			s = shape.replace(patterns()[i], s)
		}
	}
	return s
}

func (s shape) in(text string) bool {
	for _, sign := range s.signs {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func (s shape) replace(p *regexp.Regexp, text string) string {
	var b strings.Builder
	done := 0
	for _, m := range p.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[2], m[3]
		if from > 0 && strings.HasPrefix(text[from-1:], redacted) {
			continue // was one
		}
		if !s.made || machineMade(text[from:to]) {
			b.WriteString(text[done:from])
			b.WriteString(redacted)
			done = to
		}
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// leastRun is how many letters and digits in a row a word made by a machine has at least.
const leastRun = 16

// machineMade tells a token from a name of several words, such as sk-folding-cube-animation, and from a row of x.
func machineMade(word string) bool {
	run, longest, digits := 0, 0, 0
	for _, c := range []byte(word) {
		if c == '_' || c == '-' || c == '.' || c == '\\' {
			run = 0
			continue
		}
		if '0' <= c && c <= '9' {
			digits++
		}
		run++
		longest = max(longest, run)
	}
	return digits > 0 && longest >= leastRun
}

// maxKey is how long a private key may be after its first line, in bytes; the largest in use have 13 KiB.
const maxKey = 16 << 10

var (
	keyBegin = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----`)
	})
	keyEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----`)
	})
	// keyBody is what follows the beginning of a key whose end was cut off. Lines may be numbered, quoted, or end in a written \n.
	keyBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[^A-Za-z0-9+/=]{0,16}(?:\\[nr])*(?:[0-9]{1,7}[^A-Za-z0-9+/=]{1,4})?[A-Za-z0-9+/=]{40,})+[A-Za-z0-9+/=]*`)
	})
	keyRun = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[A-Za-z0-9+/=]{40}`)
	})
)

const keySign = "PRIVATE KEY"

// privateKeys replaces private keys in PEM, armour and all. The mere first line of one, as code has it, stays.
func privateKeys(s string) string {
	if !strings.Contains(s, keySign) {
		return s
	}
	var b strings.Builder
	for {
		m := keyBegin().FindStringIndex(s)
		if m == nil {
			break
		}
		rest := s[m[1]:]
		near := rest[:min(len(rest), maxKey)]
		if next := keyBegin().FindStringIndex(near); next != nil {
			near = near[:next[0]]
		}
		size := 0
		if end := keyEnd().FindStringIndex(near); end != nil {
			if keyRun().MatchString(near[:end[0]]) {
				size = end[1]
			}
		} else if body := keyBody().FindString(near); body != "" {
			size = len(body)
		}
		if size == 0 {
			b.WriteString(s[:m[1]])
		} else {
			b.WriteString(s[:m[0]])
			b.WriteString(redacted)
		}
		s = rest[size:]
	}
	return b.String() + s
}

// keyLines follows a private key over lines that come one by one. The zero value stands before one.
type keyLines struct{ begun, inside bool }

// has reports whether a line carries a part of a private key. The lines around one, which say that it is one, do not.
func (k *keyLines) has(line string) bool {
	if strings.Contains(line, keySign) {
		*k = keyLines{begun: keyBegin().MatchString(line) && !keyEnd().MatchString(line)}
		return false
	}
	if !k.begun {
		return false
	}
	line = strings.TrimSuffix(strings.Trim(line, " \t\r\"'`+,;"), `\n`)
	if line == "" || strings.HasPrefix(line, "Proc-Type:") || strings.HasPrefix(line, "DEK-Info:") {
		return false
	}
	// The last line of a key may be short, and look like any word.
	k.inside = strings.Trim(line, base64Letters) == "" && (k.inside || len(line) >= 40)
	k.begun = k.inside
	return k.inside
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
