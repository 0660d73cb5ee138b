package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"octavo/pages/text"
)

const (
	maxRequestID = 256 // bytes of an id as it is written
	maxTypeShown = 64  // bytes of the type of a request that names no command
)

// request is one command of a client.
type request struct {
	id      json.RawMessage // a string or a number, as written; nil when there is none
	command string
	fields  fields
}

// parseRequest reads a line. What can be read of it is answered also when it is no request, so that the answer can name it.
func parseRequest(b []byte) (r request, f *fault) {
	if !utf8.Valid(b) {
		return r, faultf(codeFrame, "the line is not valid UTF-8")
	}
	if f := checkJSON(b); f != nil {
		return r, f
	}
	if json.Unmarshal(b, &r.fields) != nil || r.fields == nil {
		return r, faultf(codeRequest, "a request is a JSON object such as {\"type\":\"get_state\"}")
	}
	if r.id, f = r.fields.id(); f != nil {
		return r, f
	}
	r.command, f = r.fields.needText("type")
	return r, f
}

// checkJSON says where JSON breaks off. It does not say what stands there, which may be a secret.
func checkJSON(b []byte) *fault {
	var v json.RawMessage
	err := json.Unmarshal(b, &v)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && syntax.Offset < int64(len(b)):
		return faultf(codeJSON, "the line is not JSON (byte %d); write one object on each line", syntax.Offset)
	}
	return faultf(codeJSON, "the line is not JSON; write one whole object on each line")
}

// shownCommand is a command's name as an answer repeats it.
func (r request) shownCommand() string { return text.CutBytes(r.command, maxTypeShown) }

// fields are the fields of a request. A null is as good as a field that is not there; fields that a command does not know are passed
// over.
type fields map[string]json.RawMessage

func (f fields) has(name string) bool {
	raw, ok := f[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// id is the request's id, as it was written.
func (f fields) id() (json.RawMessage, *fault) {
	if !f.has("id") {
		return nil, nil
	}
	raw := f["id"]
	if c := raw[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return nil, faultf(codeRequest, "id has to be a string or a number")
	}
	if len(raw) > maxRequestID {
		return nil, faultf(codeRequest, "id has more than %d bytes", maxRequestID)
	}
	return raw, nil
}

// read decodes a field that is there; what says what it has to be.
func (f fields) read(name, what string, into any) *fault {
	if f.has(name) && json.Unmarshal(f[name], into) != nil {
		return faultf(codeRequest, "%s has to be %s", name, what)
	}
	return nil
}

func (f fields) need(name, what string, into any) *fault {
	if !f.has(name) {
		return faultf(codeRequest, "%s is missing; it has to be %s", name, what)
	}
	return f.read(name, what, into)
}

// text is a text, "" when it is not there.
func (f fields) text(name string) (s string, fault *fault) {
	fault = f.read(name, "a string", &s)
	return s, fault
}

func (f fields) needText(name string) (s string, fault *fault) {
	fault = f.need(name, "a string", &s)
	return s, fault
}

// flag is a truth, false when it is not there.
func (f fields) flag(name string) (b bool, fault *fault) {
	fault = f.read(name, "true or false", &b)
	return b, fault
}

func (f fields) needFlag(name string) (b bool, fault *fault) {
	fault = f.need(name, "true or false", &b)
	return b, fault
}

// number is a whole number from low to high, otherwise when it is not there.
func (f fields) number(name string, low, high, otherwise int64) (int64, *fault) {
	n, what := otherwise, fmt.Sprintf("a whole number from %d to %d", low, high)
	if fault := f.read(name, what, &n); fault != nil {
		return 0, fault
	}
	if n < low || n > high {
		return 0, faultf(codeRequest, "%s has to be %s", name, what)
	}
	return n, nil
}

// oneOf is one of some words, "" when it is not there.
func (f fields) oneOf(name string, words ...string) (string, *fault) {
	s, fault := f.text(name)
	if fault != nil || s == "" && !f.has(name) {
		return "", fault
	}
	for _, w := range words {
		if s == w {
			return s, nil
		}
	}
	return "", faultf(codeRequest, "%s has to be %s", name, alternatives(words))
}

// alternatives is words as a sentence lists them.
func alternatives(words []string) string {
	var b bytes.Buffer
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	return b.String()
}
