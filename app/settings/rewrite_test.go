package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An editor takes no lock: what it saves between our reading and our renaming must not be lost.
func TestRewriteMakesTheChangeAnewWhenTheFileChangedUnderIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), ConfigFile)
	runs := 0
	err := rewrite(t.Context(), file, func(old []byte, _ fs.FileMode) ([]byte, error) {
		if runs++; runs == 1 {
			if err := os.WriteFile(file, []byte("# theirs\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return append(old, "# ours\n"...), nil
	})
	got, _ := os.ReadFile(file)
	if err != nil || runs != 2 || string(got) != "# theirs\n# ours\n" {
		t.Errorf("%v after %d runs: %q", err, runs, got)
	}
}

func TestRewriteGivesUpOnAFileThatKeepsChanging(t *testing.T) {
	file := filepath.Join(t.TempDir(), ConfigFile)
	runs := 0
	err := rewrite(t.Context(), file, func(old []byte, _ fs.FileMode) ([]byte, error) {
		runs++
		theirs := []byte(strings.Repeat("# theirs\n", runs))
		if err := os.WriteFile(file, theirs, 0o600); err != nil {
			t.Fatal(err)
		}
		return []byte("# ours\n"), nil
	})
	got, _ := os.ReadFile(file)
	if !errors.Is(err, ErrChanged) || runs != writeAttempts || strings.Contains(string(got), "ours") {
		t.Errorf("%v after %d runs: %q", err, runs, got)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 2 {
		t.Errorf("left: %v", entries)
	}
}
