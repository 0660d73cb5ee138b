package model_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"octavo/ext/model"
)

// The key appears in no error, however the server sends it back.
func TestClientHidesSecrets(t *testing.T) {
	const key, header = `sEcret+key/with="odd\chars`, "Basic another-secret-value"
	echo := map[string]string{
		"plain":         `{"error":{"message":"bad key ` + strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `"`, `\"`) + `"}}`,
		"text":          "refused: " + key,
		"authorization": "headers were Authorization: Bearer " + key,
		"url":           "GET /?key=" + url.QueryEscape(key) + " and " + url.PathEscape(key),
		"header":        `{"error":"x-goog-api-key was another-secret-value"}`,
		"at the bound":  strings.Repeat("x", model.MaxRefusal-len(key)/2) + key,
		"late":          strings.Repeat("x", 390) + key,
		"over and over": strings.Repeat(key, model.MaxRefusal/len(key)) + key,
		"in disguise":   "bad key " + key[:9] + "\x1b[1m" + key[9:],
	}
	for name, body := range echo {
		for _, status := range []int{200, 400, 401, 500} {
			c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Location", "/?key="+url.QueryEscape(key))
				w.WriteHeader(status)
				io.WriteString(w, body)
			})
			e.Key = func() (string, error) { return key, nil }
			e.Headers = map[string]string{"X-Goog-Api-Key": header}
			_, _, err := exchange(t.Context(), c, e)
			shown := fmt.Sprintf("%v %+v", err, err)
			var got *model.Error
			if errors.As(err, &got) {
				shown += got.Message + got.Body
			}
			for _, secret := range []string{key, "another-secret-value", url.QueryEscape(key), url.PathEscape(key), "sEcret"} {
				if strings.Contains(shown, secret) {
					t.Errorf("%s, status %d: %q is shown: %s", name, status, secret, shown)
				}
			}
		}
	}
}

// A malformed response is quoted by net/http's own error; that must not show the key either.
func TestClientHidesSecretsInCauses(t *testing.T) {
	l := listen(t, func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			fmt.Fprintf(c, "%s\r\n\r\n", req.Header.Get("Authorization"))
		}
		c.Close()
	})
	c := model.NewClient(model.Limits{})
	defer c.Close()
	e := &model.Endpoint{Provider: "prov", URL: "http://" + l.Addr().String(), Key: func() (string, error) { return "planted-key-123", nil }}
	_, _, err := exchange(t.Context(), c, e)
	got := want(t, err, model.ErrCut)
	if strings.Contains(fmt.Sprint(err, got.Err, got.Body), "planted") {
		t.Errorf("the key is shown: %v: %v", err, got.Err)
	}
}

// What looks like a credential is hidden even when nobody knows it.
func TestClientHidesCredentials(t *testing.T) {
	c, e := serve(t, model.Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, `upstream said: Authorization: Bearer abcdefgh12345678, api_key="zyxwvuts98765", sk-proj-AAAABBBBCCCC1234, max_tokens: 4096123456; use Bearer authentication and hf-transformers`)
	})
	_, _, err := exchange(t.Context(), c, e)
	got := want(t, err, model.ErrRequest, "max_tokens: 4096123456; use Bearer authentication and hf-transformers")
	for _, secret := range []string{"abcdefgh", "zyxwv", "AAAABBBB"} {
		if strings.Contains(got.Message+got.Body, secret) {
			t.Errorf("%s is shown: %s", secret, got.Message)
		}
	}
}
