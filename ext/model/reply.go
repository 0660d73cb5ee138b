package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// Reply is a response that has begun. One goroutine uses it and closes it. Every error that leaves an exchange goes through
// it, because it knows what must not be shown.
type Reply struct {
	endpoint *Endpoint
	hide     redactor
	outer    context.Context // the caller's
	ctx      context.Context // ends when outer does, or when a limit is crossed
	cancel   context.CancelCauseFunc
	watch    *time.Timer   // runs only while something is awaited from the provider, never while the caller works
	first    time.Duration // limit until the first byte of the body
	idle     time.Duration // limit between bytes after that
	begun    bool          // a byte of the body has come
	body     io.ReadCloser
	events   *SSEReader
	ended    bool // the wire's own end mark has come
}

// Next returns the next event of a stream: io.EOF at its end, else an *Error or the context's error. The event's data is valid
// until the next call.
func (r *Reply) Next() (SSE, error) {
	if r.begun {
		r.watch.Reset(r.idle)
	}
	ev, err := r.events.Next()
	r.watch.Stop()
	if err != nil && err != io.EOF {
		return SSE{}, r.lost(err)
	}
	return ev, err
}

// Done reports whether the stream ended with [DONE].
func (r *Reply) Done() bool { return r.events != nil && r.events.Done() }

// Read reads the body; whatever comes postpones the limit.
func (r *Reply) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if n > 0 {
		r.begun = true
		r.watch.Reset(r.idle)
	}
	return n, err
}

// Close ends the exchange. A response that is at its end leaves its connection to the next request.
func (r *Reply) Close() {
	r.watch.Stop()
	if r.body != nil {
		if (r.Done() || r.ended) && r.ctx.Err() == nil {
			r.drain()
		}
		r.body.Close() // nothing is left to do about its error
	}
	r.cancel(context.Canceled)
}

// drain reads the few bytes that close a chunked body after its end mark. A server that keeps the response open costs drainLimit
// and its connection.
func (r *Reply) drain() {
	stop := time.AfterFunc(drainLimit, func() { r.cancel(errDrained) })
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, r.body, drainBytes)
}

// checkStream refuses a response that is no event stream. A server that names no type, or plain text, is believed.
func (r *Reply) checkStream(resp *http.Response) error {
	switch kind := mediaType(resp); kind {
	case "text/event-stream", "text/plain", "application/octet-stream", "":
		return nil
	case "application/json":
		body, err := r.head()
		if err != nil {
			return err
		}
		var doc struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(body, &doc) == nil && len(doc.Error) > 0 && string(doc.Error) != "null" {
			class, _ := Classify(0, body)
			return r.Fail(&Error{Class: class, Body: string(body)})
		}
		return r.Fail(&Error{
			Class:   ErrMalformed,
			Message: "the server answered with one JSON document instead of a stream; it seems unable to stream; check the endpoint and its wire",
			Body:    string(body),
		})
	default:
		body, err := r.head()
		if err != nil {
			return err
		}
		message := "the server answered with " + kind + " instead of a stream; check the endpoint"
		if kind == "text/html" {
			message = webPage(r.endpoint)
		}
		return r.Fail(&Error{Class: ErrMalformed, Message: message, Body: string(body)})
	}
}

// head reads the start of a body that is no answer. What could be read before an error is enough.
func (r *Reply) head() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxRefusal))
	if err != nil && r.outer.Err() != nil {
		return nil, r.outer.Err()
	}
	return body, nil
}

// refused turns a response with an error status into an *Error.
func (r *Reply) refused(resp *http.Response) error {
	body, err := r.head()
	if err != nil {
		return err
	}
	class, _ := Classify(resp.StatusCode, body)
	e := &Error{
		Class:      class,
		Status:     resp.StatusCode,
		RetryAfter: RetryAfter(resp.Header, time.Now()),
		Body:       string(body),
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		e.Message = "the server redirects to " + to + ", which is not followed because the key would go with it; if that is the right address, set it as the endpoint"
	}
	return r.Fail(e)
}

// lost explains an exchange that broke off after its request may have been accepted.
func (r *Reply) lost(err error) error {
	if ended := r.outer.Err(); ended != nil {
		return ended
	}
	switch cause := context.Cause(r.ctx); {
	case errors.Is(err, ErrLineTooLong), errors.Is(err, ErrEventTooLarge):
		return r.Fail(&Error{Class: ErrMalformed, Message: "the answer breaks the rules of its wire: " + err.Error() + "; try again, or choose another model", Err: err})
	case cause == errSilent && r.begun:
		return r.Fail(&Error{Class: ErrTimeout, Message: "the answer stopped coming: nothing for " + wait(r.idle), Err: cause})
	case cause == errSilent:
		return r.Fail(&Error{Class: ErrTimeout, Message: "no answer came within " + wait(r.first), Err: cause})
	default:
		return r.Fail(&Error{Class: ErrCut, Message: "the connection was lost before the answer was complete", Err: err})
	}
}

// unsent explains a request that never left.
func (r *Reply) unsent(err error) error {
	if ended := r.outer.Err(); ended != nil {
		return ended
	}
	return r.Fail(&Error{Class: ErrUnsent, Message: unreachable(r.endpoint, err), Err: err})
}

// Fail completes an adapter's error before it is returned: an *Error without Message gets one made of its Class and of what
// Body says, and every *Error is cleaned, cut and freed of secrets. Other errors pass as they are.
func (r *Reply) Fail(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	sealed := *e
	sealed.Provider = r.endpoint.Provider
	if sealed.Message == "" {
		_, words := Classify(sealed.Status, []byte(sealed.Body))
		sealed.Message = explain(r.endpoint, &sealed, r.hide.line(words, maxWords))
	}
	sealed.Message = r.hide.line(sealed.Message, maxMessage)
	sealed.Body = r.hide.block(sealed.Body, maxBody)
	if sealed.Err != nil {
		sealed.Err = cause{text: r.hide.line(sealed.Err.Error(), maxMessage), err: sealed.Err}
	}
	return &sealed
}

// cause is an underlying error that can be recognised but does not tell secrets.
type cause struct {
	text string
	err  error
}

func (c cause) Error() string { return c.text }
func (c cause) Unwrap() error { return c.err }
