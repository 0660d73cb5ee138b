package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// What is said where a wire wants words and there are none.
const (
	NoOutput  = "(no output)"
	GoneImage = "(a picture that is no longer kept)"
)

// EncodeJSON writes a request's body: one line, in which code stays readable because <, > and & are not escaped.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Schema is the tool's parameters as a wire may send them: an object without properties when there are none.
func (t ToolSpec) Schema() (json.RawMessage, error) {
	if len(t.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	if !json.Valid(t.Parameters) {
		return nil, fmt.Errorf("the parameters of tool %s are no JSON", t.Name)
	}
	return t.Parameters, nil
}

// JoinBlocks makes one instruction text of several; "" when there is none.
func JoinBlocks(blocks []string) string {
	kept := make([]string, 0, len(blocks))
	for _, b := range blocks {
		if b != "" {
			kept = append(kept, b)
		}
	}
	return strings.Join(kept, "\n\n")
}

// DataURL is the picture as a URL that holds it.
func (i *Image) DataURL() string { return i.encode("data:" + i.MIME + ";base64,") }

// Base64 is the picture's data in base64.
func (i *Image) Base64() string { return i.encode("") }

// encode writes prefix and data into memory of the right size.
func (i *Image) encode(prefix string) string {
	var b strings.Builder
	b.Grow(len(prefix) + base64.StdEncoding.EncodedLen(len(i.Data)))
	b.WriteString(prefix)
	w := base64.NewEncoder(base64.StdEncoding, &b)
	_, _ = w.Write(i.Data) // a Builder does not fail
	_ = w.Close()
	return b.String()
}
