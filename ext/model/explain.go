package model

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"octavo/pages/text"
)

// How much of what a provider says is kept, in bytes: its words within a sentence, a whole sentence, a body for diagnostics.
const (
	maxWords   = 400
	maxMessage = 1000
	maxBody    = 4 << 10
)

// explain is the sentence for a person about a refusal: what failed, in the provider's words, and what to do next.
func explain(e *Endpoint, err *Error, words string) string {
	said := func(what string) string {
		if words == "" {
			return what
		}
		return what + ": " + strings.TrimRight(words, ". ")
	}
	switch err.Class {
	case ErrAuth:
		if e.Key == nil {
			return said("access was refused, and no key is configured") + "; set one for this provider"
		}
		return said("the key"+e.from()+" was refused") + "; check that it is set, current and meant for this endpoint"
	case ErrQuota:
		return said("the account's allowance is used up") + "; check its plan and billing, or choose another model"
	case ErrRateLimit:
		if err.RetryAfter > LastingDelay {
			return said("too many requests") + "; try again in " + wait(err.RetryAfter) + ", or choose another model"
		}
		if err.RetryAfter > 0 {
			return said("too many requests") + "; the provider asks to wait " + wait(err.RetryAfter)
		}
		return said("too many requests") + "; wait a little and try again"
	case ErrOverloaded:
		if err.RetryAfter > LastingDelay {
			return said("the provider is overloaded or out of order") + "; try again in " + wait(err.RetryAfter)
		}
		return said("the provider is overloaded or out of order") + "; try again later"
	case ErrOverflow:
		return said("the request does not fit the window of "+quoteModel(e)) + "; choose a model with a larger window, or go on from a summary"
	case ErrNotFound:
		return said(fmt.Sprintf("%s is not there, or %s is not the address of its API", quoteModel(e), address(e))) + "; check the model's name and the endpoint"
	case ErrRequest:
		return said("the provider refuses the request") + "; mend what it names, or choose another model"
	case ErrTimeout:
		return said("the provider gave up waiting") + "; try again"
	case ErrMalformed:
		return said("the answer breaks the rules of its wire") + "; check the endpoint and its wire"
	default:
		return said("the provider failed") + "; try again, or choose another model"
	}
}

// unreachable is the sentence about a request that never left.
func unreachable(e *Endpoint, err error) string {
	at := "cannot reach " + address(e) + ": "
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return at + "there is no host called " + dns.Name + "; check the endpoint and the network"
	case errors.As(err, &dns):
		return at + "the name " + dns.Name + " cannot be looked up; check the network"
	case errors.Is(err, syscall.ECONNREFUSED):
		return at + "connection refused; is the server running?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return at + "no way there from here; check the network"
	case errors.As(err, &cert):
		return at + "its certificate is not trusted: " + cert.Unwrap().Error()
	case errors.Is(err, http.ErrSchemeMismatch):
		return at + "it does not speak TLS; should the endpoint begin with http://?"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return at + "no connection came about in time; check the endpoint and the network"
	}
	var outer *url.Error // its text repeats method and address
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return at + err.Error()
}

func webPage(e *Endpoint) string {
	return address(e) + " answered with a web page instead of a model; check the endpoint (most end in /v1)"
}

// address is the endpoint as it may be shown: a password in it is not.
func address(e *Endpoint) string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return "the endpoint"
	}
	return u.Redacted()
}

func quoteModel(e *Endpoint) string {
	if e.Model == "" {
		return "the model"
	}
	return fmt.Sprintf("the model %q", e.Model)
}

// wait is a duration for a person, rounded up: what is said to help must not be too short.
func wait(d time.Duration) string {
	if d > time.Second {
		d = (d + time.Second - 1).Truncate(time.Second)
	}
	return text.Duration(d)
}
