package sdkcheck

import (
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"octavo/ext/builtin/claude"
	"octavo/ext/model/modeltest"
)

// The program itself, with its own instructions and tools, in a conversation of two prompts: it thinks, looks at a text and a picture
// at once, answers, and is asked again. Each of its requests is one that the official client could have written.
func TestProgram(t *testing.T) {
	octavo := filepath.Join(t.TempDir(), "octavo")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", octavo, "./cmd/octavo")
	build.Dir = filepath.Join("..", "..", "..", "..") // octavo's own module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, version := range []string{"", "2026-10-21"} {
		for _, w := range wires {
			if version != "" && w.Name != claude.Wire {
				continue
			}
			t.Run(strings.TrimSuffix(w.Name+"/"+w.model+"/"+version, "/"), func(t *testing.T) {
				s := modeltest.New(t)
				s.Script(
					modeltest.Calls(modeltest.Call("read", `{"path":"a.txt"}`), modeltest.Call("read", `{"path":"a.png"}`)).WithReasoning("Both <at> once.").WithText("I look."),
					modeltest.Say("A text and a picture.").WithReasoning("That is all.").Usage(modeltest.Tokens{Prompt: 1000, Cached: 900, Completion: 9}),
					modeltest.Say("Yes."))
				p := program{binary: octavo, home: filepath.Join(t.TempDir(), "home"), folder: t.TempDir()}
				p.fill(t)
				p.run(t, "setup", "--wire", w.Name, "--endpoint", s.URL(), "--provider", "prov", "--manual-model", w.model, "--no-auth", "--yes")
				if version != "" {
					p.configure(t, "\n[providers.prov.headers]\nanthropic-version = \""+version+"\"\n")
				}
				p.run(t, "-p", "--reasoning", "high", "what is there?")
				p.run(t, "-p", "--continue", "sure?")
				sent := s.Requests()
				if len(sent) != 3 {
					t.Fatalf("%d requests", len(sent))
				}
				for i, r := range sent {
					if lost, err := lose(w, r.Body); err != nil || lost != "" {
						t.Errorf("request %d: %v\nwhat the official client makes of it (-octavo +official):\n%s", i+1, err, lost)
					}
					if version != "" && r.Header.Get("Anthropic-Version") != version {
						t.Errorf("request %d: %v", i+1, r.Header)
					}
				}
				// What the comparison is for is in the last one.
				last, pictures, thoughts, calls := sent[2].Chat, 0, 0, 0
				for _, m := range last.Messages {
					pictures, calls, thoughts = pictures+len(m.Images), calls+len(m.Calls), thoughts+len(m.Reasoning)
					if m.Fields["reasoning_content"] != nil {
						thoughts++
					}
				}
				if marks := strings.Count(string(sent[2].Body), "cache_control"); pictures != 1 || calls != 2 || thoughts != 2 || len(last.Tools) < 5 || (marks > 0) != (w.Wire == modeltest.WireMessages) {
					t.Errorf("%d pictures, %d calls, %d thoughts, %d tools, %d marks: %s", pictures, calls, thoughts, len(last.Tools), marks, sent[2].Body)
				}
			})
		}
	}
}

// program is octavo with a home and a folder to work in.
type program struct{ binary, home, folder string }

func (p program) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.binary, args...)
	cmd.Dir = p.folder
	cmd.Env = []string{"OCTAVO_HOME=" + p.home, "HOME=" + p.folder, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("octavo %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// fill puts a text and a picture into the folder.
func (p program) fill(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, "a.txt"), []byte("a text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(p.folder, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// configure adds to the configuration that octavo setup wrote.
func (p program) configure(t *testing.T, more string) {
	t.Helper()
	name := filepath.Join(p.home, "config.toml")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, more...), 0o600); err != nil {
		t.Fatal(err)
	}
}
