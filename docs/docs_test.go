package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"octavo/docs"
)

func TestEveryTopicHasItsDocument(t *testing.T) {
	for _, topic := range docs.Topics() {
		if s := docs.Text(topic.Name); !strings.HasPrefix(s, "# ") || topic.About == "" {
			t.Errorf("%s: %.40q, %q", topic.Name, s, topic.About)
		}
	}
	if s := docs.Text("nothing"); s != "" {
		t.Errorf("a topic that is none: %q", s)
	}
}

// link finds what a document refers to beside itself.
var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

func TestDocumentsReferToWhatIsThere(t *testing.T) {
	for _, pattern := range []string{"*.md", "../*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(b), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
					t.Errorf("%s refers to %s: %v", name, m[1], err)
				}
			}
		}
	}
}
