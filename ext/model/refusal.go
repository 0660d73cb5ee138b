package model

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that is believed.
const MaxRetryAfter = 30 * 24 * time.Hour

// Words that providers use. They are compared with the lower-cased code, type and message of a refusal.
type wordlist []string

func (w wordlist) in(s string) bool {
	for _, word := range w {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// The phrases that say "the request does not fit the window" at OpenAI, Anthropic, Gemini, OpenRouter, llama.cpp, LM Studio,
// vLLM, Ollama, Mistral, Groq, xAI, Cerebras, Bedrock and those who copy them.
var overflowWords = wordlist{
	"context_length_exceeded", "exceed_context_size", "context_window_exceeded", "model_context_window", "context length exceeded",
	"maximum context length", "maximum prompt length", "maximum model length", "max_model_len",
	"exceeds the context", "exceed the context", "exceeds the available context", "exceeds the model's context", "exceeds model context",
	"exceeds the model's maximum context", "exceeds context", "exceeded the context", "context size has been exceeded", "context overflow",
	"when context the overflows", "when the context overflows", "greater than the context length", "larger than the context",
	"longer than the model's context", "longer than the context", "context window is full", "too large for model with",
	"prompt is too long", "prompt too long", "input is too long", "input length exceeds", "input length and `max_tokens` exceed",
	"input token count", "input tokens exceed", "reduce the length of the messages", "reduce the length of the input",
	"string_above_max_length", "request_too_large", "too many tokens in the prompt", "requested tokens exceed context",
}

var quotaWords = wordlist{
	"insufficient_quota", "insufficient quota", "exceeded your current quota", "billing_hard_limit", "billing_not_active",
	"insufficient_balance", "insufficient balance", "insufficient credits", "insufficient_credits", "insufficient_funds", "insufficient funds",
	"credit balance is too low", "out of credits", "requires more credits", "quota_exceeded", "payment required", "payment_required",
	"usage_limit_reached", "spending limit", "add credits", "billing_error", "api usage limits",
}

var authWords = wordlist{
	"invalid_api_key", "invalid api key", "api key not valid", "api_key_invalid", "incorrect api key", "authentication_error",
	"invalid authentication", "unauthenticated", "unauthorized", "no auth credentials", "missing api key", "permission_error",
}

var overloadWords = wordlist{
	"overloaded", "server_overloaded", "service_unavailable", "temporarily unavailable", "at capacity", "engine is currently", "bad gateway",
	"upstream connect error",
}

var rateWords = wordlist{"rate_limit", "rate limit", "ratelimit", "too many requests", "too_many_requests", "resource_exhausted", "throttl"}

var missingWords = wordlist{
	"model_not_found", "model not found", "no such model", "unknown model", "model does not exist", "not a valid model", "invalid model",
	"unknown_model", "no models loaded", "not_found_error",
}

// Classify reads a provider's refusal: the class it belongs to and the provider's own words, neither cleaned nor redacted. status is the
// HTTP status, or 0 for an error that came inside a stream; body is what came with it. Where status and words disagree the
// words win, because compatible servers agree on few statuses.
func Classify(status int, body []byte) (ErrorClass, string) {
	r := readRefusal(body, 1)
	if status == 0 {
		status = r.status
	}
	said := strings.ToLower(r.code + " " + r.kind + " " + r.words)
	switch {
	case status == http.StatusTooManyRequests && quotaWords.in(said):
		return ErrQuota, r.words
	case status == http.StatusTooManyRequests:
		return ErrRateLimit, r.words // even "request too large for tokens per minute": waiting is what helps
	case overflowWords.in(said) || status == http.StatusRequestEntityTooLarge:
		return ErrOverflow, r.words
	case status == http.StatusPaymentRequired || quotaWords.in(said):
		return ErrQuota, r.words
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return ErrAuth, r.words
	case overloadStatus(status):
		return ErrOverloaded, r.words
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return ErrNotFound, r.words
	case status == http.StatusRequestTimeout || status == 0 && strings.Contains(said, "timeout_error"):
		return ErrTimeout, r.words
	case authWords.in(said) && status < http.StatusInternalServerError:
		return ErrAuth, r.words
	case missingWords.in(said) && status < http.StatusInternalServerError:
		return ErrNotFound, r.words
	case overloadWords.in(said) && (status == 0 || status >= http.StatusInternalServerError):
		return ErrOverloaded, r.words
	case rateWords.in(said) && (status == 0 || status >= http.StatusInternalServerError):
		return ErrRateLimit, r.words
	case status >= 300 && status < http.StatusInternalServerError, status == 0 && strings.Contains(said, "invalid_"):
		return ErrRequest, r.words // inside a stream only words tell: invalid_request_error, invalid_prompt, invalid_image, ...
	default:
		return ErrServer, r.words
	}
}

// overloadStatus reports the statuses that mean "not now" (plugins.md 3.6).
func overloadStatus(status int) bool {
	return status >= 502 && status <= 504 || status >= 520 && status <= 524 || status == 529
}

type refusal struct {
	code, kind, words string
	status            int // an HTTP status the body names; 0 when it names none
}

// readRefusal understands the shapes in use: {"error": {...}}, {"error": "..."}, a list with one of these, {"message": ...},
// {"detail": ...}, and plain text. A router may put what its upstream said inside; routers is how many of these are followed.
func readRefusal(body []byte, routers int) refusal {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if len(body) > 0 && body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	inner := body
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		inner = outer.Error
	}
	var text string
	if json.Unmarshal(inner, &text) == nil {
		return refusal{words: text}
	}
	var o struct {
		Message  json.RawMessage `json:"message"`
		Detail   json.RawMessage `json:"detail"`
		Code     json.RawMessage `json:"code"`
		Type     json.RawMessage `json:"type"`
		Status   json.RawMessage `json:"status"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(inner, &o) != nil {
		if len(body) > 0 && (body[0] == '{' || body[0] == '[' || body[0] == '<') {
			return refusal{} // JSON of an unknown shape, or a web page: no words for a person
		}
		return refusal{words: string(body)}
	}
	r := refusal{code: word(o.Code), kind: word(o.Type) + " " + word(o.Status), words: word(o.Message)}
	if r.words == "" {
		r.words = word(o.Detail)
	}
	var meta struct {
		Raw json.RawMessage `json:"raw"` // what a router's own upstream said
	}
	_ = json.Unmarshal(o.Metadata, &meta) // of another shape: nothing to read
	if raw := word(meta.Raw); raw != "" && routers > 0 {
		r.words = strings.TrimSpace(r.words + " " + readRefusal([]byte(raw), routers-1).words)
	}
	for _, named := range [...]string{r.code, word(o.Status)} {
		if n, err := strconv.Atoi(named); err == nil && n >= 400 && n <= 599 {
			r.status = n
			break
		}
	}
	return r
}

// word is a JSON string's text, a number's or other value's own notation, and "" for null.
func word(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// RetryAfter reads how long a response asks to be left alone: retry-after-ms, then Retry-After as seconds or as a date. A date
// is measured against the response's own Date, so that a wrong clock on either side does no harm, else against now. It is 0
// when nothing, or nothing sensible, was asked for, and never above MaxRetryAfter.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 {
		return boundedWait(ms / 1000)
	}
	said := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(said, 64); err == nil {
		return boundedWait(seconds)
	}
	at, err := http.ParseTime(said)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return boundedWait(at.Sub(now).Seconds())
}

func boundedWait(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	if seconds >= MaxRetryAfter.Seconds() {
		return MaxRetryAfter
	}
	return time.Duration(seconds * float64(time.Second))
}
