package model

import (
	"errors"
	"fmt"
	"time"
)

// ErrorClass is what a caller decides on when a request fails (plugins.md 3.6).
type ErrorClass string

const (
	ErrUnsent     ErrorClass = "connection" // the request never reached the provider
	ErrTimeout    ErrorClass = "timeout"    // no answer, or no further event, within the limit
	ErrCut        ErrorClass = "cut"        // the stream ended before the answer did
	ErrOverloaded ErrorClass = "overloaded" // 502-504, 520-524, 529, or an overload reported inside the stream
	ErrRateLimit  ErrorClass = "rate_limit" // 429
	ErrQuota      ErrorClass = "quota"      // the account has no money or allowance left
	ErrAuth       ErrorClass = "auth"       // 401, 403: the key is missing, wrong or expired
	ErrOverflow   ErrorClass = "overflow"   // the request does not fit the model's window
	ErrNotFound   ErrorClass = "not_found"  // 404: no such model or endpoint
	ErrRequest    ErrorClass = "request"    // any other 4xx: the provider refuses what was asked
	ErrServer     ErrorClass = "server"     // 500 and other 5xx
	ErrMalformed  ErrorClass = "malformed"  // the answer breaks the wire's rules
)

// Error is a failed request. Message is one sentence for a person, cleaned of control sequences and of keys; Body is the start
// of what the provider sent, likewise cleaned, for diagnostics.
type Error struct {
	Class      ErrorClass
	Provider   string
	Status     int           // HTTP status; 0 when there was none
	RetryAfter time.Duration // what the provider asked for; 0 when it asked for nothing
	Message    string
	Body       string
	Err        error // the cause, when there is one
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d)", e.Provider, e.Message, e.Status)
	}
	return fmt.Sprintf("%s: %s", e.Provider, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of err, or "" when it is no *Error.
func ClassOf(err error) ErrorClass {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
