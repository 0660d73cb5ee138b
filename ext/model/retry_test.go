package model_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"octavo/ext/model"
)

func TestRetry(t *testing.T) {
	fail := func(c model.ErrorClass, after time.Duration) error {
		return fmt.Errorf("turn: %w", &model.Error{Class: c, RetryAfter: after})
	}
	const no = -1
	for _, c := range []struct {
		name  string
		err   error
		waits []time.Duration // after attempt 1, 2, ...; no: it gives up
	}{
		{"unsent", fail(model.ErrUnsent, 0), []time.Duration{
			250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, no, no}},
		{"refused", &model.Error{Class: model.ErrUnsent, Err: syscall.ECONNREFUSED}, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, no}},
		{"timeout", fail(model.ErrTimeout, 0), []time.Duration{250 * time.Millisecond}},
		{"cut", fail(model.ErrCut, 0), []time.Duration{250 * time.Millisecond}},
		{"overloaded", fail(model.ErrOverloaded, 0), []time.Duration{250 * time.Millisecond}},
		{"overloaded asks for more", fail(model.ErrOverloaded, 3*time.Second), []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second, 4 * time.Second}},
		{"overloaded for long", fail(model.ErrOverloaded, time.Hour), []time.Duration{no}},
		{"rate limit", fail(model.ErrRateLimit, 0), []time.Duration{4 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second, no}},
		{"rate limit asks for little", fail(model.ErrRateLimit, time.Second), []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second, time.Second, time.Second, no}},
		{"rate limit, longest wait", fail(model.ErrRateLimit, model.LastingDelay), []time.Duration{model.LastingDelay}},
		{"rate limit, lasting", fail(model.ErrRateLimit, model.LastingDelay+1), []time.Duration{no}},
		{"server", fail(model.ErrServer, 0), []time.Duration{no}},
		{"malformed", fail(model.ErrMalformed, 0), []time.Duration{no}},
		{"auth", fail(model.ErrAuth, 0), []time.Duration{no}},
		{"quota", fail(model.ErrQuota, time.Second), []time.Duration{no}},
		{"overflow", fail(model.ErrOverflow, 0), []time.Duration{no}},
		{"not found", fail(model.ErrNotFound, 0), []time.Duration{no}},
		{"request", fail(model.ErrRequest, 0), []time.Duration{no}},
		{"untrusted certificate", &model.Error{Class: model.ErrUnsent, Err: &tls.CertificateVerificationError{Err: errors.New("expired")}}, []time.Duration{no}},
		{"cancelled", context.Canceled, []time.Duration{no}},
		{"nothing", nil, []time.Duration{no}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range c.waits {
				got, again := model.Retry{}.Next(i+1, c.err)
				if again != (want != no) || again && got != want {
					t.Errorf("after attempt %d: %v %v, want %v", i+1, got, again, want)
				}
			}
		})
	}
	if _, again := (model.Retry{}).Next(0, fail(model.ErrCut, 0)); again {
		t.Error("there is no attempt 0")
	}
}

func TestRetryJitterOnlyLengthens(t *testing.T) {
	err := &model.Error{Class: model.ErrRateLimit, RetryAfter: 10 * time.Second}
	for name, c := range map[string]struct {
		jitter   func(time.Duration) time.Duration
		min, max time.Duration
	}{
		"random":   {rand.N[time.Duration], 10 * time.Second, 12 * time.Second},
		"negative": {func(time.Duration) time.Duration { return -time.Hour }, 10 * time.Second, 10 * time.Second},
		"too much": {func(time.Duration) time.Duration { return time.Hour }, 12 * time.Second, 12 * time.Second},
		"half":     {func(max time.Duration) time.Duration { return max / 2 }, 11 * time.Second, 11 * time.Second},
	} {
		got, again := model.Retry{Jitter: c.jitter}.Next(1, err)
		if !again || got < c.min || got > c.max {
			t.Errorf("%s: %v, want %v to %v", name, got, c.min, c.max)
		}
	}
}
