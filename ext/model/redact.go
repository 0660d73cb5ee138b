package model

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"octavo/pages/text"
)

const (
	// minSecret is the shortest secret that is looked for, in bytes. Replacing a shorter one ("none", "x", "ollama") would
	// garble the text and protect nothing.
	minSecret = 8
	redacted  = "[redacted]"
)

// credential finds what may be a credential, whoever put it there: servers echo what they were sent, proxies their own.
var credential = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=*-]{8,}` +
	`|\b(authorization|proxy-authorization|x-api-key|api[-_]?key|access[-_]token|client[-_]secret)(["']?\s*[:=]\s*["']?)[^\s"',;&}]{8,}` +
	`|\b(sk|pk|gsk|xai|hf|rk)[-_][A-Za-z0-9._~+/=*-]{8,}`)

// redactor removes secrets from text. The zero value knows none, but still removes what looks like one.
type redactor struct{ secrets []string }

// add makes secret known, as it is and as JSON and URLs write it.
func (r *redactor) add(secret string) {
	if len(secret) < minSecret {
		return
	}
	r.secrets = append(r.secrets, secret)
	quoted, err := json.Marshal(secret)
	for _, form := range [...]string{strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret)} {
		if err == nil && form != secret {
			r.secrets = append(r.secrets, form)
		}
	}
}

// addHeader makes a header's value known, whole and without the scheme before it.
func (r *redactor) addHeader(value string) {
	r.add(value)
	if _, credentials, ok := strings.Cut(value, " "); ok {
		r.add(strings.TrimSpace(credentials))
	}
}

// text returns s without secrets.
func (r redactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return credential.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.LastIndexAny(m, ":= \t\"'") + 1 // after the name of what is there
		if !random(m[at:]) {
			return m
		}
		return m[:at] + redacted
	})
}

// random reports whether a word looks made by a machine: "Bearer authentication" names a scheme, not a token.
func random(word string) bool {
	return strings.ContainsAny(word, "0123456789") || len(word) >= 24
}

// line is outside text as a sentence may quote it: clean, without secrets, on one line, at most n bytes.
func (r redactor) line(s string, n int) string { return r.present(s, n, text.CleanLine) }

// block is the same for text of several lines.
func (r redactor) block(s string, n int) string { return r.present(s, n, text.Clean) }

// present cleans first: a secret with control characters in it would be whole again afterwards. What is too long to be kept
// is cut before all that costs time, and may then end in the front part of a secret, which is dropped.
func (r redactor) present(s string, n int, clean func(string) string) string {
	cut := len(s) >= MaxRefusal
	s = r.text(clean(text.CutBytes(s, MaxRefusal)))
	if cut {
		longest := 0
		for _, secret := range r.secrets {
			longest = max(longest, len(secret))
		}
		s = text.CutBytes(s, max(len(s)-longest, 0))
	}
	if len(s) <= n {
		return s
	}
	return text.CutBytes(s, n-len("…")) + "…"
}
