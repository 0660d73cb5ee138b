package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/sessionstore"
)

func TestPreferences(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	if _, ok, err := s.Preference(ctx, "theme"); ok || err != nil {
		t.Errorf("unset: %v, %v", ok, err)
	}
	for _, value := range []string{"dark", "", strings.Repeat("x", sessionstore.MaxPreference)} {
		if err := s.SetPreference(ctx, "theme", value); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Preference(ctx, "theme"); got != value || !ok || err != nil {
			t.Errorf("%d bytes, %v, %v", len(got), ok, err)
		}
	}
	for _, c := range []struct{ key, value string }{
		{"", "v"}, {"a\nb", "v"}, {strings.Repeat("k", sessionstore.MaxName+1), "v"},
		{"k", strings.Repeat("x", sessionstore.MaxPreference+1)},
	} {
		if err := s.SetPreference(ctx, c.key, c.value); !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("key of %d, value of %d bytes: %v", len(c.key), len(c.value), err)
		}
	}
}

func TestPromptHistory(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	add := func(workspace, text string) {
		t.Helper()
		if err := s.AddPrompt(ctx, workspace, text); err != nil {
			t.Fatal(err)
		}
	}
	check := func(workspace string, limit int, want ...string) {
		t.Helper()
		if got, err := s.Prompts(ctx, workspace, limit); err != nil || !slices.Equal(got, want) {
			t.Errorf("prompts of %q: %.60q, %v", workspace, got, err)
		}
	}
	add("/a", "one")
	add("/b", "two")
	add("/a", "one") // repeats the newest of its workspace
	add("/a", " \n")
	add("/a", "three")
	add("/a", "one")
	check("/a", 0, "one", "three", "one")
	check("", 0, "one", "three", "two", "one")
	check("", 2, "one", "three")
	check("/c", 0)

	add("/a", strings.Repeat("x", sessionstore.MaxPromptText))
	if err := s.AddPrompt(ctx, "/a", strings.Repeat("x", sessionstore.MaxPromptText+1)); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("long prompt: %v", err)
	}
	for i := range sessionstore.MaxPrompts {
		add("/full", fmt.Sprint(i))
	}
	got, err := s.Prompts(ctx, "", sessionstore.MaxPrompts+1)
	if err != nil || len(got) != sessionstore.MaxPrompts || got[0] != "999" || got[len(got)-1] != "0" {
		t.Errorf("%d kept, %v", len(got), err)
	}
}
