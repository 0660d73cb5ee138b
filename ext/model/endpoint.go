package model

import (
	"fmt"
	"net/http"
	"strings"
)

// Endpoint is one provider as a wire's adapter reaches it. It is read-only once built.
type Endpoint struct {
	Provider string // configured name, for errors
	Model    string // the provider's own id of the model, for errors
	URL      string // base URL without a trailing slash
	Headers  map[string]string

	// Key reads the API key; nil sends none. It is read for each request and held no longer.
	Key func() (string, error)
	// KeySource says where the key comes from, for a person: "$OPENAI_API_KEY", "auth.json". Never the key.
	KeySource string
	// KeyHeader and KeyPrefix say how the wire sends the key; empty means "Authorization" and "Bearer ".
	KeyHeader string
	KeyPrefix string
}

// header makes the headers of one request and the redactor that knows what of them is secret.
func (e *Endpoint) header() (http.Header, redactor, error) {
	h := make(http.Header, len(e.Headers)+4)
	var hide redactor
	for name, value := range e.Headers {
		if !headerName(name) || !headerValue(value) {
			return nil, hide, &Error{
				Class:    ErrRequest,
				Provider: e.Provider,
				Message:  fmt.Sprintf("the header %q cannot be sent; correct it in the provider's configuration", hide.line(name, maxWords)),
			}
		}
		h.Set(name, value)
		if secretHeader(name) {
			hide.addHeader(value)
		}
	}
	if e.Key == nil {
		return h, hide, nil
	}
	key, err := e.Key()
	if err != nil {
		return nil, hide, &Error{
			Class:    ErrAuth,
			Provider: e.Provider,
			Message:  fmt.Sprintf("cannot read the key%s: %s", e.from(), hide.line(err.Error(), maxWords)),
			Err:      err,
		}
	}
	if key = strings.TrimSpace(key); key == "" {
		return h, hide, nil
	}
	if !headerValue(key) {
		return nil, hide, &Error{
			Class:    ErrAuth,
			Provider: e.Provider,
			Message:  "the key" + e.from() + " has line breaks or control characters inside; set it again",
		}
	}
	hide.add(key)
	name, prefix := e.KeyHeader, e.KeyPrefix
	if name == "" {
		name, prefix = "Authorization", "Bearer "
	}
	h.Set(name, prefix+key)
	return h, hide, nil
}

// from names the source of the key for a sentence, with a blank before it; "" when there is none.
func (e *Endpoint) from() string {
	if e.KeySource == "" {
		return ""
	}
	return " in " + e.KeySource
}

// headerName reports whether a header can be called so: one or more of HTTP's token characters.
func headerName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// headerValue reports whether a header can carry s.
func headerValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// secretHeader reports whether a header's value must not be shown. What looks like a credential is one.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	for _, word := range [...]string{"auth", "key", "token", "cookie", "secret", "password", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
