package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve plays a source of catalogues that always sends the same.
func serve(t *testing.T, content string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) }))
	t.Cleanup(s.Close)
	return s.URL + "/api.json?token=secret"
}

// only checks that a home holds the catalogue and nothing else.
func only(t *testing.T, home, want string) {
	t.Helper()
	files, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if want == "" && len(files) == 0 {
		return
	}
	got, err := os.ReadFile(filepath.Join(home, File))
	if err != nil || string(got) != want || len(files) != 1 {
		t.Errorf("%d files, the catalogue has %d bytes, want %d (%v)", len(files), len(got), len(want), err)
	}
}

func TestUpdate(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new", "home")
	first := catalogueFile(openAI(`"gpt-5":`+gpt), at("someone", "https://llm.someone.example/v1", `"a":{"cost":{"input":1,"output":2}},"b":{},"c":[]`))
	c, err := Update(t.Context(), home, serve(t, first))
	if err != nil {
		t.Fatal(err)
	}
	only(t, home, first)
	if i, err := os.Stat(c.Refreshed.Path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
	if r := c.Refreshed; r.Models != 3 || r.Providers != 2 || r.Skipped != 1 || time.Since(r.Fetched) > time.Minute {
		t.Errorf("%+v", r)
	}
	// Beside what the program knows itself, of which nothing goes.
	if got := fmt.Sprint(c.New, c.Repriced, c.Gone); got != "[someone/a someone/b] [openai/gpt-5] []" {
		t.Error(got)
	}
	if r := Inspect(home); r.Err != nil || r.Models != 3 || r.Skipped != 1 {
		t.Errorf("%+v", r)
	}

	second := catalogueFile(openAI(`"gpt-5":`+gpt), at("someone", "https://llm.someone.example/v1", `"a":{"cost":{"input":1,"output":3}},"d":{}`))
	if c, err = Update(t.Context(), home, serve(t, second)); err != nil {
		t.Fatal(err)
	}
	only(t, home, second)
	if got := fmt.Sprint(c.New, c.Repriced, c.Gone); got != "[someone/d] [someone/a] [someone/b]" {
		t.Error(got)
	}
	if c, err = Update(t.Context(), home, serve(t, second)); err != nil || len(c.New)+len(c.Repriced)+len(c.Gone) > 0 {
		t.Errorf("the same again: %+v, %v", c, err)
	}
	// A file that cannot be used counts for nothing, and is replaced.
	if err := os.WriteFile(c.Refreshed.Path, []byte("broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err = Update(t.Context(), home, serve(t, first)); err != nil || fmt.Sprint(c.New, c.Repriced, c.Gone) != "[someone/a someone/b] [openai/gpt-5] []" {
		t.Errorf("over a broken one: %+v, %v", c, err)
	}
	if i, err := os.Stat(c.Refreshed.Path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
}

// Whatever is wrong with what comes, the old catalogue stays as it is, or none is made.
func TestUpdateThatFails(t *testing.T) {
	good := catalogueFile(openAI(`"gpt-5":` + gpt))
	size := int64(len(good))
	for name, c := range map[string]struct {
		content, why string
		most         int64
	}{
		"as large as may be":       {good, "", size},
		"a byte larger":            {good + " ", "it is larger than", size},
		"truncated":                {good[:len(good)-2], "breaks off after", size},
		"a web page":               {"<!DOCTYPE html>" + good, "web page", size * 2},
		"nothing":                  {"", "breaks off after 0 bytes", size},
		"no object":                {"null", "an object was expected", size},
		"no model":                 {catalogueFile(openAI("")), "it lists no model", size},
		"no model of the form":     {catalogueFile(openAI(`"m":7`)), "it lists no model", size},
		"models.dev's other files": {`{"gpt-5":` + gpt + `}`, "it lists no model", size},
		"damaged where it is not read": {strings.Replace(good, `"env":["OPENAI_API_KEY"]`, `"env":["OPENAI_API_KEY"}`, 1),
			"damaged JSON", size},
	} {
		for _, old := range []string{"", catalogueFile(openAI(`"old":{}`))} {
			home := t.TempDir()
			if old != "" {
				home = homeWith(t, old)
			}
			_, err := update(t.Context(), home, serve(t, c.content), limits{c.most, UpdateLimit})
			if c.why == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				only(t, home, c.content)
				continue
			}
			if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "http://127.0.0.1:") {
				t.Errorf("%s: %v", name, err)
			}
			only(t, home, old)
		}
	}
}

func TestUpdateFromAServerThatMisbehaves(t *testing.T) {
	old := catalogueFile(openAI(`"old":{}`))
	good := catalogueFile(openAI(`"gpt-5":` + gpt))
	hops := 0
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		why    string
	}{
		"not found": {http.NotFound, "it answered 404 Not Found"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			fmt.Fprint(w, good)
		}, "it broke off"},
		"says that it is huge": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(MaxFile+1))
			fmt.Fprint(w, good)
		}, "it is larger than 32 MiB"},
		"slow":                  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "it took longer than 50ms"},
		"passes on to http":     {http.RedirectHandler("http://models.example/api.json?secret", http.StatusFound).ServeHTTP, "passes on to http://models.example/api.json: only https"},
		"passes on to https":    {http.RedirectHandler("https://127.0.0.1:1/", http.StatusFound).ServeHTTP, "passes on from http to https://127.0.0.1:1/"},
		"passes on to a file":   {http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP, "names no host"},
		"passes on to a person": {http.RedirectHandler("http://me:secret@127.0.0.1:1/", http.StatusFound).ServeHTTP, "holds a user name"},
		"passes on for ever":    {http.RedirectHandler("/", http.StatusFound).ServeHTTP, "passed on more than 5 times"},
		"passes on as often as may be": {func(w http.ResponseWriter, r *http.Request) {
			if hops++; hops <= MaxRedirects {
				http.Redirect(w, r, "/"+fmt.Sprint(hops), http.StatusFound)
				return
			}
			fmt.Fprint(w, good)
		}, ""},
	} {
		s := httptest.NewServer(c.handle)
		home := homeWith(t, old)
		l := limits{MaxFile, UpdateLimit}
		if name == "slow" {
			l.time = 50 * time.Millisecond
		}
		_, err := update(t.Context(), home, s.URL, l)
		s.Close()
		if c.why == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			only(t, home, good)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		only(t, home, old)
	}
	if _, err := Update(t.Context(), homeWith(t, old), "http://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "download of http://127.0.0.1:1/: ") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestUpdateIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a person has changed their mind")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"openai":{`)
		w.(http.Flusher).Flush()
		cancel(why)
		<-r.Context().Done()
	}))
	defer s.Close()
	old := catalogueFile(openAI(`"old":{}`))
	home := homeWith(t, old)
	if _, err := Update(ctx, home, s.URL); !errors.Is(err, why) {
		t.Error(err)
	}
	only(t, home, old)
}

func TestSources(t *testing.T) {
	for address, why := range map[string]string{
		Source: "", "HTTPS://models.example": "", "http://127.0.0.1:8080/api.json": "", "http://[::1]/": "", "http://LOCALHOST:1": "", "http://127.9.9.9": "",
		"http://models.dev/api.json": "only https", "http://10.0.0.1": "only https", "http://localhost.evil.test": "only https", "ftp://models.dev": "only https",
		"file:///etc/passwd": "no host", "models.dev/api.json": "no host", "": "no host", "https://": "no host", "https://me:secret@models.dev": "user name", "http://%zz": "no URL",
	} {
		err := CheckSource(address)
		if (err == nil) != (why == "") || err != nil && (!strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", address, err)
		}
	}
	// From https nothing leads to http, not even to this machine's.
	to := &http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/"}}
	from := []*http.Request{{URL: &url.URL{Scheme: "https", Host: "models.dev"}}}
	if err := follow(to, from); err == nil {
		t.Error("a download goes from https to http")
	}
	to.URL.Scheme = "https"
	if err := follow(to, from); err != nil {
		t.Error(err)
	}
}
