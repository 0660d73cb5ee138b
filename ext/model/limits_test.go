package model

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The limits are tested at their real size, on the clock of a bubble and over pipes instead of sockets.

// head begins a response whose end is the end of the connection.
const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// piped is a client whose every connection is answered by serve, after the request was read.
func piped(serve func(c net.Conn)) (*Client, *Endpoint) {
	c := NewClient(Limits{})
	c.transport.Proxy = nil
	c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			req, err := http.ReadRequest(bufio.NewReader(theirs))
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			serve(theirs)
		}()
		return ours, nil
	}
	return c, &Endpoint{Provider: "prov", URL: "http://scripted.invalid"}
}

// drain reads a stream to its end and says how that came, and when.
func drain(c *Client, e *Endpoint, each func()) (events int, after time.Duration, err error) {
	start := time.Now()
	r, err := c.Stream(context.Background(), e, "/x", []byte("{}"))
	if err != nil {
		return 0, time.Since(start), err
	}
	defer r.Close()
	for ; ; events++ {
		if _, err := r.Next(); err == io.EOF {
			return events, time.Since(start), nil
		} else if err != nil {
			return events, time.Since(start), err
		}
		each()
	}
}

// hangs blocks until the client hangs up.
func hangs(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func TestLimits(t *testing.T) {
	const tick = time.Second
	say := func(c net.Conn, s string) { _, _ = io.WriteString(c, s) }
	for _, x := range []struct {
		name   string
		serve  func(c net.Conn)
		each   time.Duration // what the caller takes for each event
		events int
		after  time.Duration // when the limit strikes; 0: never
		words  string
	}{
		{"never answers", hangs, 0, 0, FirstLimit, "no answer came within 5m00s"},
		{"headers and no more", func(c net.Conn) { say(c, head); hangs(c) }, 0, 0, FirstLimit, "no answer came within 5m00s"},
		{"late headers do not start the limit again", func(c net.Conn) { time.Sleep(FirstLimit - tick); say(c, head); hangs(c) }, 0, 0, FirstLimit, "no answer came"},
		{"as late as may be", func(c net.Conn) { time.Sleep(FirstLimit - tick); say(c, head+"data: a\n\n") }, 0, 1, 0, ""},
		{"falls silent", func(c net.Conn) { say(c, head+"data: a\n\n"); hangs(c) }, 0, 1, IdleLimit, "nothing for 2m00s"},
		{"silent for as long as may be", func(c net.Conn) {
			say(c, head+"data: a\n\n")
			time.Sleep(IdleLimit - tick)
			say(c, "data: b\n\n")
		}, 0, 2, 0, ""},
		{"comments break the silence", func(c net.Conn) {
			say(c, head+"data: a\n\n")
			for range 10 {
				time.Sleep(IdleLimit - tick)
				say(c, ": still here\n\n")
			}
			say(c, "data: b\n\n")
		}, 0, 2, 0, ""},
		{"half an event is not silence", func(c net.Conn) {
			say(c, head)
			for _, b := range strings.Split("data: abc\n\n", "") {
				time.Sleep(IdleLimit - tick)
				say(c, b)
			}
		}, 0, 1, 0, ""},
		{"the caller's time is not the provider's", func(c net.Conn) {
			say(c, head+"data: a\n\n")
			say(c, "data: b\n\n")
		}, 10 * IdleLimit, 2, 0, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, e := piped(x.serve)
				defer c.Close()
				events, after, err := drain(c, e, func() { time.Sleep(x.each) })
				if events != x.events {
					t.Errorf("%d events, want %d", events, x.events)
				}
				if x.after == 0 {
					if err != nil {
						t.Errorf("after %v: %v", after, err)
					}
					return
				}
				if ClassOf(err) != ErrTimeout || after != x.after || !strings.Contains(err.Error(), x.words) {
					t.Errorf("after %v: %v; want %q after %v", after, err, x.words, x.after)
				}
			})
		})
	}
}

func TestProbeLimit(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"never answers": hangs,
		"drips":         func(c net.Conn) { _, _ = io.WriteString(c, head+"{"); hangs(c) },
	} {
		synctest.Test(t, func(t *testing.T) {
			c, e := piped(serve)
			defer c.Close()
			start := time.Now()
			_, err := c.Get(context.Background(), e, "/models")
			if ClassOf(err) != ErrTimeout || time.Since(start) != ProbeLimit {
				t.Errorf("%s: after %v: %v", name, time.Since(start), err)
			}
		})
	}
}

// A server that keeps a finished stream open costs drainLimit at most.
func TestDrainLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := piped(func(c net.Conn) { _, _ = io.WriteString(c, head+"data: a\n\ndata: [DONE]\n\n"); hangs(c) })
		defer c.Close()
		start := time.Now()
		if events, _, err := drain(c, e, func() {}); events != 1 || err != nil || time.Since(start) != drainLimit {
			t.Errorf("%d events, %v, after %v", events, err, time.Since(start))
		}
	})
}
