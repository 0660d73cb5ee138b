package model_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"octavo/ext/model"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   model.ErrorClass
		words  string
	}{
		// Statuses alone.
		{301, "", model.ErrRequest, ""},
		{400, `{"error":{"message":"bad field"}}`, model.ErrRequest, "bad field"},
		{401, `{"error":{"message":"Incorrect API key provided"}}`, model.ErrAuth, "Incorrect API key provided"},
		{402, `{"error":{"code":402,"message":"Insufficient credits"}}`, model.ErrQuota, "Insufficient credits"},
		{403, `{"message":"no"}`, model.ErrAuth, "no"},
		{404, `not here`, model.ErrNotFound, "not here"},
		{405, ``, model.ErrNotFound, ""},
		{408, ``, model.ErrTimeout, ""},
		{413, ``, model.ErrOverflow, ""},
		{422, `{"detail":"field required"}`, model.ErrRequest, "field required"},
		{429, `{"error":{"message":"slow down"}}`, model.ErrRateLimit, "slow down"},
		{500, `oops`, model.ErrServer, "oops"},
		{501, ``, model.ErrServer, ""},
		{502, `<html>`, model.ErrOverloaded, ""},
		{503, `{"error":{"message":"Loading model","code":503}}`, model.ErrOverloaded, "Loading model"},
		{504, ``, model.ErrOverloaded, ""},
		{505, ``, model.ErrServer, ""},
		{519, ``, model.ErrServer, ""},
		{520, ``, model.ErrOverloaded, ""},
		{524, ``, model.ErrOverloaded, ""},
		{525, ``, model.ErrServer, ""},
		{529, ``, model.ErrOverloaded, ""},
		// Words over statuses.
		{429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, model.ErrQuota, "You exceeded your current quota"},
		{429, `{"error":{"message":"Request too large for model x on tokens per minute"}}`, model.ErrRateLimit, "Request too large for model x on tokens per minute"},
		{403, `{"error":{"message":"Your credit balance is too low"}}`, model.ErrQuota, "Your credit balance is too low"},
		{400, `{"error":{"message":"API key not valid."}}`, model.ErrAuth, "API key not valid."},
		{400, `{"error":{"message":"x is not a valid model ID","code":400}}`, model.ErrNotFound, "x is not a valid model ID"},
		{400, `{"error":{"code":"model_not_found","message":"The model does not exist"}}`, model.ErrNotFound, "The model does not exist"},
		{500, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, model.ErrOverloaded, "Overloaded"},
		{400, `{"error":{"message":"the overloaded operator is refused"}}`, model.ErrRequest, "the overloaded operator is refused"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, model.ErrQuota, "You have reached your specified API usage limits."},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: bad"}}`, model.ErrRequest, "messages.1: bad"},
		// Inside a stream there is no status: the kind of error tells.
		{0, `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`, model.ErrRequest, "bad"},
		{0, `{"type":"error","error":{"type":"timeout_error","message":"late"}}`, model.ErrTimeout, "late"},
		{0, `{"type":"error","error":{"type":"permission_error","message":"no"}}`, model.ErrAuth, "no"},
		{0, `{"type":"error","error":{"type":"billing_error","message":"no"}}`, model.ErrQuota, "no"},
		{0, `{"code":"server_error","message":"boom"}`, model.ErrServer, "boom"},
		// The window is too small, as the common servers say it.
		{400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`, model.ErrOverflow, "too long"},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"}}`, model.ErrOverflow, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"},
		{400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`, model.ErrOverflow, "request (9000 tokens) exceeds the available context size (4096 tokens)"},
		{500, `{"error":{"message":"Context size has been exceeded."}}`, model.ErrOverflow, "Context size has been exceeded."},
		{400, `{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, model.ErrOverflow, "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"},
		{400, `{"error":{"message":"The number of tokens to keep from the initial prompt is greater than the context length"}}`, model.ErrOverflow, "The number of tokens to keep from the initial prompt is greater than the context length"},
		{400, `{"object":"error","message":"The decoder prompt (length 9000) is longer than the maximum model length of 4096.","code":400}`, model.ErrOverflow, "The decoder prompt (length 9000) is longer than the maximum model length of 4096."},
		{400, `{"error":"the input length exceeds the context length"}`, model.ErrOverflow, "the input length exceeds the context length"},
		{400, `{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}`, model.ErrOverflow, "prompt is too long: 213462 tokens > 200000 maximum"},
		{400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}]`, model.ErrOverflow, "The input token count (1200000) exceeds the maximum number of tokens allowed"},
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"maximum context length is 10\"}}"}}}`, model.ErrOverflow, "Provider returned error maximum context length is 10"},
		// Inside a stream: no status but what the error names.
		{0, `{"error":{"code":502,"message":"provider disconnected"}}`, model.ErrOverloaded, "provider disconnected"},
		{0, `{"error":{"code":"429","message":"later"}}`, model.ErrRateLimit, "later"},
		{0, `{"error":{"message":"Rate limit reached"}}`, model.ErrRateLimit, "Rate limit reached"},
		{0, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, model.ErrOverloaded, "Overloaded"},
		{0, `{"error":{"message":"CUDA error","code":3}}`, model.ErrServer, "CUDA error"},
		{0, `{"error":{"message":"bad","code":12345}}`, model.ErrServer, "bad"},
		{0, ``, model.ErrServer, ""},
		// Odd shapes.
		{500, `{"error":{"message":null}}`, model.ErrServer, ""},
		{500, `{"error":null,"message":"m"}`, model.ErrServer, "m"},
		{500, `{"error":{"message":"m","metadata":"text","code":null}}`, model.ErrServer, "m"},
		{500, `{"error":{"message":{"a":1}}}`, model.ErrServer, `{"a":1}`},
		{500, `{"error":[1]}`, model.ErrServer, ""},
		{500, `{"error":{"message":"cut`, model.ErrServer, ""},
		{500, `<!doctype html>`, model.ErrServer, ""},
		{500, `[]`, model.ErrServer, ""},
	} {
		if got, words := model.Classify(c.status, []byte(c.body)); got != c.want || words != c.words {
			t.Errorf("%d %s\n got %q, %q\nwant %q, %q", c.status, c.body, got, words, c.want, c.words)
		}
	}
}

// Nesting is not followed for ever.
func TestClassifyDeep(t *testing.T) {
	deep := []byte(strings.Repeat(`{"metadata":{"raw":`, 4000) + `"maximum context length"` + strings.Repeat("}}", 4000))
	if got, _ := model.Classify(400, deep); got != model.ErrRequest {
		t.Errorf("got %q", got)
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":1,"metadata":{"raw":"{}"}}}`, `[{"error":"x"}]`, `plain`, `{"detail":[{"loc":1}]}`} {
		f.Add(400, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if class, _ := model.Classify(status, body); class == "" {
			t.Fatalf("%d %q has no class", status, body)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		headers map[string]string
		want    time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", map[string]string{"Retry-After": " 20 "}, 20 * time.Second},
		{"a fraction", map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{"milliseconds win", map[string]string{"Retry-After": "20", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{"a date", map[string]string{"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30 * time.Second},
		{"a date by the server's clock", map[string]string{"Retry-After": "Mon, 30 Nov 2026 15:00:30 GMT", "Date": "Mon, 30 Nov 2026 15:00:00 GMT"}, 30 * time.Second},
		{"a date that has passed", map[string]string{"Retry-After": "Mon, 30 Nov 2026 11:59:00 GMT"}, 0},
		{"negative", map[string]string{"Retry-After": "-5"}, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"nonsense", map[string]string{"Retry-After": "soon"}, 0},
		{"longest", map[string]string{"Retry-After": "2591999"}, model.MaxRetryAfter - time.Second},
		{"too long", map[string]string{"Retry-After": "2592001"}, model.MaxRetryAfter},
		{"absurd", map[string]string{"Retry-After": "1e300"}, model.MaxRetryAfter},
		{"infinite", map[string]string{"Retry-After": "Inf"}, model.MaxRetryAfter},
	} {
		h := make(http.Header)
		for k, v := range c.headers {
			h.Set(k, v)
		}
		if got := model.RetryAfter(h, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
