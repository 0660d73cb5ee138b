package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	// ConnectLimit is how long a connection may take to come about, and again its TLS handshake.
	ConnectLimit = 10 * time.Second
	// FirstLimit is how long the first byte of an answer may take, connecting included. A local model reads a long prompt
	// for minutes before it says anything.
	FirstLimit = 5 * time.Minute
	// IdleLimit is how long a stream may be silent once it has begun. Keep-alive comments break the silence.
	IdleLimit = 2 * time.Minute
	// ProbeLimit is how long asking an endpoint for its models may take.
	ProbeLimit = 15 * time.Second

	// MaxRefusal is how much of an error's body is read, in bytes.
	MaxRefusal = 64 << 10
	// MaxDocument is the largest JSON document that is read, in bytes: a list of models.
	MaxDocument = 8 << 20

	keepAlive      = 60 * time.Second // plugins.md 8.8
	idlePerHost    = 8                // plugins.md 8.8
	maxHeaderBytes = 64 << 10
	drainLimit     = 100 * time.Millisecond
	drainBytes     = 4 << 10
)

var (
	errSilent  = errors.New("the provider was silent for too long")
	errDrained = errors.New("the rest of the response is not wanted")
)

// Limits are the times an exchange may take. A zero field stands for the constant of its name.
type Limits struct {
	Connect, First, Idle, Probe time.Duration
}

func (l Limits) withDefaults() Limits {
	for _, f := range [...]struct {
		limit    *time.Duration
		standard time.Duration
	}{{&l.Connect, ConnectLimit}, {&l.First, FirstLimit}, {&l.Idle, IdleLimit}, {&l.Probe, ProbeLimit}} {
		if *f.limit <= 0 {
			*f.limit = f.standard
		}
	}
	return l
}

// Client is what every wire shares on top of HTTP: limits, keep-alive connections, refusals turned into *Error, and secrets
// kept out of these. It speaks HTTP/1.1, because one stream to a connection needs nothing more, follows no redirect, because
// the key would go with it, and repeats a request only when a kept connection turned out to be dead (plugins.md 8.8). It is
// safe for concurrent use; Close it to let go of idle connections.
type Client struct {
	http      http.Client
	transport *http.Transport
	limits    Limits
}

// NewClient makes a client with connections of its own.
func NewClient(l Limits) *Client {
	l = l.withDefaults()
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: l.Connect}).DialContext,
		TLSHandshakeTimeout:    l.Connect,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        keepAlive,
		DisableCompression:     true, // a compressed stream comes in lumps
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return &Client{
		http: http.Client{
			Transport:     t,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		transport: t,
		limits:    l,
	}
}

// Close closes idle connections. Exchanges that run are not disturbed.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Stream posts a JSON body to path below the endpoint and returns the reply once it has begun as an event stream. The caller
// closes it. Failures are an *Error or ctx's own error.
func (c *Client) Stream(ctx context.Context, e *Endpoint, path string, body []byte) (*Reply, error) {
	r, resp, err := c.send(ctx, e, http.MethodPost, path, body, c.limits.First)
	if err != nil {
		return nil, err
	}
	if err := r.checkStream(resp); err != nil {
		r.Close()
		return nil, err
	}
	r.events = NewSSEReader(r)
	return r, nil
}

// Get fetches a JSON document of at most MaxDocument bytes from path below the endpoint, within the limit for probes.
func (c *Client) Get(ctx context.Context, e *Endpoint, path string) ([]byte, error) {
	r, resp, err := c.send(ctx, e, http.MethodGet, path, nil, c.limits.Probe)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if kind := mediaType(resp); kind == "text/html" {
		return nil, r.Fail(&Error{Class: ErrMalformed, Message: webPage(e)})
	}
	doc, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, r.lost(err)
	}
	if len(doc) > MaxDocument {
		return nil, r.Fail(&Error{Class: ErrMalformed, Message: "the server's answer is larger than 8 MiB"})
	}
	return doc, nil
}

// send asks once, or twice when a kept connection was dead, and returns a reply whose status is 2xx.
func (c *Client) send(ctx context.Context, e *Endpoint, method, path string, body []byte, first time.Duration) (*Reply, *http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	header, hide, err := e.header()
	if err != nil {
		return nil, nil, err
	}
	r := &Reply{endpoint: e, hide: hide, outer: ctx, first: first, idle: min(c.limits.Idle, first)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.watch = time.AfterFunc(first, func() { r.cancel(errSilent) })

	var trip trip
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(r.ctx, trip.trace()), method, e.URL+path, bytes.NewReader(body))
	if err != nil {
		r.Close()
		return nil, nil, r.Fail(&Error{Class: ErrRequest, Message: "the endpoint is not a usable address; it looks like http://127.0.0.1:1234/v1"})
	}
	req.Header = header
	req.Header.Set("User-Agent", "octavo")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	} else {
		req.Header.Set("Accept", "application/json")
	}

	resp, err := c.http.Do(req)
	if err != nil && trip.dead() && r.ctx.Err() == nil {
		// The other kept connections are as old: without them the second attempt gets a new one. The request had no body
		// to rewind when GetBody is nil.
		c.transport.CloseIdleConnections()
		trip.reset()
		req.Body, _ = req.GetBody() // of a bytes.Reader; cannot fail
		resp, err = c.http.Do(req)
	}
	if err != nil {
		defer r.Close()
		if trip.connected.Load() {
			return nil, nil, r.lost(err)
		}
		return nil, nil, r.unsent(err)
	}
	r.body = resp.Body
	if resp.StatusCode/100 != 2 {
		defer r.Close()
		return nil, nil, r.refused(resp)
	}
	return r, resp, nil
}

// trip watches one attempt.
type trip struct{ connected, reused, answered atomic.Bool }

func (t *trip) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { t.connected.Store(true); t.reused.Store(i.Reused) },
		GotFirstResponseByte: func() { t.answered.Store(true) },
	}
}

func (t *trip) reset() {
	t.connected.Store(false)
	t.reused.Store(false)
	t.answered.Store(false)
}

// dead reports whether the attempt failed on a kept connection before a byte of response came.
func (t *trip) dead() bool { return t.reused.Load() && !t.answered.Load() }

// mediaType is the response's content type without its parameters; "" when it has none.
func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
