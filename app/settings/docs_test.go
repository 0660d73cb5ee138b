package settings_test

import (
	"flag"
	"os"
	"testing"

	"octavo/app/settings"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

func TestDocsAreWhatTheTableSays(t *testing.T) {
	const file = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(file, []byte(settings.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), settings.Markdown()); diff != "" {
		t.Errorf("docs/configuration.md is out of date; run go test ./app/settings -run Docs -update (-file +table):\n%s", diff)
	}
}
