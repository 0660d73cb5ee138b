package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	script := filepath.Join(t.TempDir(), "demo.jsonl")
	if err := os.WriteFile(script, []byte(`{"say":"hello"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	printed, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"--models", "a,b", "--restart", script}, out) }()
	url, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(strings.TrimSpace(url)+"/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(body), `"content":"hell"`) || err != nil {
		t.Errorf("%s %v", body, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"no-such-file"}, {bad}, {"--port", "70000", os.DevNull}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
