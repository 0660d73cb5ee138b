package model

import (
	"bytes"
	"encoding/json"
	"errors"
)

// DecodeLoosely decodes a JSON object into a struct. A field of another type than the struct says is left as it is, because servers
// that copy a wire differ in details; only what is no JSON object at all is an error.
func DecodeLoosely(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte{'{'}) {
		return nil
	}
	return err
}

// Present reports a JSON value that is there and not null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// NotThisWire is the error for an event that cannot be read.
func NotThisWire(event []byte, err error) *Error {
	return &Error{Class: ErrMalformed, Message: "the stream has an event that is no JSON of this wire: " + err.Error() + "; check the endpoint and its wire", Body: string(event), Err: err}
}

// Reported is the error that a provider reports inside a stream, where there is no status. body is the provider's own.
func Reported(body []byte) *Error {
	class, _ := Classify(0, body)
	return &Error{Class: class, Body: string(body)}
}

// Unexplained is the error of a provider that breaks off with an error and does not say which.
func Unexplained() *Error {
	return &Error{Class: ErrServer, Message: "the provider broke its answer off with an error that it does not explain"}
}
