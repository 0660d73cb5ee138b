package model

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

const (
	// minSecret is the shortest secret that is looked for, in bytes. Replacing a shorter one ("none", "x", "ollama") would
	// garble the text and protect nothing.
	minSecret = 8
	redacted  = "[redacted]"
)

// credential finds what looks like a credential whoever put it there: servers echo what they were sent, proxies their own.
var credential = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=*-]{8,}` +
	`|\b(authorization|proxy-authorization|x-api-key|api[-_]?key|access[-_]token|client[-_]secret)(["']?\s*[:=]\s*["']?)[^\s"',;&}]{8,}` +
	`|\b(sk|pk|gsk|xai|hf|rk)[-_][A-Za-z0-9._*-]{8,}`)

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

// text returns s without secrets.
func (r redactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return credential.ReplaceAllStringFunc(s, func(m string) string {
		if i := strings.LastIndexAny(m, ":= \t\"'"); i >= 0 {
			return m[:i+1] + redacted // keeps the name of what was there
		}
		return redacted
	})
}
