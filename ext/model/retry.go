package model

import (
	"crypto/tls"
	"errors"
	"syscall"
	"time"
)

const (
	// MaxAttempts is how often one request is sent in all (plugins.md 3.6).
	MaxAttempts = 8
	// RefusedAttempts is how often one is sent when nothing listens at the address: a server that restarts is back in a moment,
	// and nobody should wait half a minute to hear that theirs is not running.
	RefusedAttempts = 3
	// FirstDelay is the wait after the first failure; it doubles with each one, about 32 s in all.
	FirstDelay = 250 * time.Millisecond
	// LastingDelay is the longest wait a provider can ask for before its limit counts as lasting: then nobody sits waiting,
	// the turn fails and the error says when to come back.
	LastingDelay = 60 * time.Second

	// jitterShare is the part of a delay that Jitter may add: one in jitterShare.
	jitterShare = 5
)

// rateDelays are the waits for a provider that says "too many requests" and not for how long (plugins.md 8.6).
func rateDelays() [4]time.Duration {
	return [4]time.Duration{4 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second}
}

// Retry is the policy of asking again after a failure (plugins.md 3.6, 8.6; product.md 7). It keeps no state and reads no
// clock: the caller counts, waits and can be cancelled while it does. The zero value is the policy without jitter.
//
// What may be repeated is only what cannot have an effect twice: an answer is used whole or not at all, so asking again costs
// tokens at worst. A plain 500 and a malformed answer are not repeated, because they come back.
type Retry struct {
	// Jitter spreads clients that failed together. It returns what to add to a delay, from 0 up to but not including max;
	// rand.N[time.Duration] of math/rand/v2 fits. nil adds nothing.
	Jitter func(max time.Duration) time.Duration
}

// Next says whether to ask again after attempt attempts (1 for the first) of which the last failed with err, and how long to
// wait before. A wait the provider asked for is never shortened.
func (r Retry) Next(attempt int, err error) (delay time.Duration, again bool) {
	var e *Error
	if attempt < 1 || attempt >= MaxAttempts || !errors.As(err, &e) || e.RetryAfter > LastingDelay {
		return 0, false
	}
	switch e.Class {
	case ErrUnsent:
		// A certificate that does not verify will not verify in a moment either.
		if cert := (*tls.CertificateVerificationError)(nil); errors.As(err, &cert) {
			return 0, false
		}
		if errors.Is(err, syscall.ECONNREFUSED) && attempt >= RefusedAttempts {
			return 0, false
		}
		delay = backoff(attempt)
	case ErrTimeout, ErrCut, ErrOverloaded:
		delay = backoff(attempt)
	case ErrRateLimit:
		delays := rateDelays()
		switch {
		case e.RetryAfter > 0:
			delay = e.RetryAfter
		case attempt <= len(delays):
			delay = delays[attempt-1]
		default:
			return 0, false
		}
	default:
		return 0, false
	}
	return r.spread(max(delay, e.RetryAfter)), true
}

func backoff(attempt int) time.Duration { return FirstDelay << (attempt - 1) }

// spread adds jitter, which lengthens only.
func (r Retry) spread(d time.Duration) time.Duration {
	most := d / jitterShare
	if r.Jitter == nil || most <= 0 {
		return d
	}
	return d + min(max(r.Jitter(most), 0), most)
}
