package render_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"octavo/pages/textdiff"
	"octavo/render"
)

func TestUnified(t *testing.T) {
	d := textdiff.Make("dir/put.go", []byte(lines(1, 8)+"x"), []byte("line 1\n"+lines(3, 8)+"y\n"), textdiff.Options{})
	checkPicture(t, render.Unified(*d), `
--- a/dir/put.go
+++ b/dir/put.go
@@ -1,9 +1,8 @@
 line 1
-line 2
 line 3
 line 4
 line 5
 line 6
 line 7
 line 8
-x
\ No newline at end of file
+y
`)
	if got := render.Unified(*textdiff.Make("f", []byte("a"), []byte("a"), textdiff.Options{})); got != "" {
		t.Errorf("no change is %q", got)
	}
}

// TestUnifiedApplies hands the text to the programs that it is for.
func TestUnifiedApplies(t *testing.T) {
	for _, tool := range []struct {
		name string
		args []string
	}{
		{"git", []string{"apply", "--whitespace=nowarn"}},
		{"patch", []string{"--strip=1", "--binary", "--force"}},
	} {
		if _, err := exec.LookPath(tool.name); err != nil {
			t.Logf("%s is not installed: its half of this test cannot run", tool.name)
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			for _, test := range []struct {
				name, path string
				old, new   string
				options    textdiff.Options
			}{
				{name: "one line", path: "f", old: lines(1, 20), new: lines(1, 9) + "x\n" + lines(11, 20)},
				{name: "several hunks", path: "f", old: lines(1, 90), new: "x\n" + lines(1, 40) + lines(43, 90) + "y\n"},
				{name: "new", path: "dir/f", new: "a\nb\n", options: textdiff.Options{New: true}},
				{name: "new without newline at the end", path: "f", new: "a", options: textdiff.Options{New: true}},
				{name: "new and empty", path: "dir/f", options: textdiff.Options{New: true}},
				{name: "removed", path: "dir/f", old: "a\nb", options: textdiff.Options{Removed: true}},
				{name: "removed and empty", path: "f", options: textdiff.Options{Removed: true}},
				{name: "emptied", path: "f", old: "a\n", new: ""},
				{name: "filled", path: "f", old: "", new: "a\nb"},
				{name: "newline at the end gained", path: "f", old: "a\nb", new: "a\nb\n"},
				{name: "newline at the end lost", path: "f", old: "a\nb\n", new: "a\nb"},
				{name: "no newline at the end, before and after", path: "f", old: lines(1, 9) + "x", new: lines(2, 9) + "x"},
				{name: "last line changed without newline", path: "f", old: "a\nb", new: "a\nc"},
				{name: "Windows lines", path: "f", old: "a\r\nb\r\n", new: "a\r\nc\r\n"},
				{name: "not UTF-8", path: "f", old: "a\xff\n\x1b[31m\n", new: "\xfe\n\x1b[31m\n"},
				{name: "a name with spaces", path: "a dir/a file", old: "a\n", new: "b\n"},
				{name: "a name with quotes", path: `a "quoted" \ name`, old: "a\n", new: "b\n"},
				{name: "a name with controls", path: "a\tname\nof two\x1b[lines", old: "a\n", new: "b\n"},
				{name: "a name in another script", path: "日本/é", old: "a\n", new: "b\n"},
			} {
				t.Run(test.name, func(t *testing.T) {
					dir := t.TempDir()
					run := func(stdin, name string, args ...string) {
						t.Helper()
						cmd := exec.CommandContext(t.Context(), name, args...)
						cmd.Dir = dir
						cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
						cmd.Stdin = strings.NewReader(stdin)
						if out, err := cmd.CombinedOutput(); err != nil {
							t.Fatalf("%s: %v\n%s\n%s", name, err, out, stdin)
						}
					}
					if tool.name == "git" {
						run("", "git", "init", "--quiet")
					}
					path := filepath.Join(dir, test.path)
					if !test.options.New {
						if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(path, []byte(test.old), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					d := textdiff.Make(test.path, []byte(test.old), []byte(test.new), test.options)
					run(render.Unified(*d), tool.name, tool.args...)
					got, err := os.ReadFile(path)
					switch {
					case test.options.Removed:
						if !os.IsNotExist(err) {
							t.Errorf("the removed file is still there: %q, %v", got, err)
						}
					case err != nil:
						t.Error(err)
					case !bytes.Equal(got, []byte(test.new)):
						t.Errorf("applied gives %q, want %q", got, test.new)
					}
				})
			}
		})
	}
}
