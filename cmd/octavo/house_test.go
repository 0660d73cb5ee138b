package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors is the house of docs/architecture.md: an import only ever points to a lower floor, or stays inside its folder.
var floors = map[string]int{
	"cmd": 6, "ui": 5, "app": 4, "ext": 3, "render": 2, "pages": 1, "themes": 1, "sessionstore": 1, "docs": 1,
}

// others are the top-level folders that hold no package.
var others = []string{"vhs", ".ci", ".git", "bin"}

// narrow lists what a folder may import of octavo at most, where that is less than the floors below.
var narrow = map[string][]string{
	"ui":         {"ui", "app/api", "pages", "render", "themes"},
	"app/plain":  {"app/plain", "app/api", "pages", "render", "themes"},
	"app/api":    {"pages"},
	"app/export": {"app/export", "app/api", "pages", "render"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "octavo/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "octavo/")
		var own []string
		for _, i := range p.Imports {
			if i, ok := strings.CutPrefix(i, "octavo/"); ok {
				own = append(own, i)
			}
		}
		p.Imports = own
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func top(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		from, known := floors[top(p.ImportPath)]
		if !known {
			t.Errorf("%s stands on no floor of the house", p.ImportPath)
		}
		for _, i := range p.Imports {
			if top(i) != top(p.ImportPath) && floors[top(i)] >= from {
				t.Errorf("%s imports %s, which is not on a lower floor", p.ImportPath, i)
			}
		}
	}
}

func TestFrontEndsSeeOnlyTheAPI(t *testing.T) {
	for _, p := range packages(t) {
		for folder, allowed := range narrow {
			if p.ImportPath != folder && !strings.HasPrefix(p.ImportPath, folder+"/") {
				continue
			}
			for _, i := range p.Imports {
				if !slices.ContainsFunc(allowed, func(a string) bool { return i == a || strings.HasPrefix(i, a+"/") }) {
					t.Errorf("%s imports %s; it may know only %s", p.ImportPath, i, strings.Join(allowed, ", "))
				}
			}
		}
	}
}

// TestNoCircleOfFolders takes each folder below a floor as one: two of them must not need each other, even where no two packages do.
func TestNoCircleOfFolders(t *testing.T) {
	folder := func(path string) string {
		parts := strings.Split(path, "/")
		return strings.Join(parts[:min(len(parts), 2)], "/")
	}
	needs := map[string]map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "ext/model/modeltest") {
			continue // a test's helper
		}
		for _, i := range p.Imports {
			if folder(i) != folder(p.ImportPath) {
				if needs[folder(p.ImportPath)] == nil {
					needs[folder(p.ImportPath)] = map[string]bool{}
				}
				needs[folder(p.ImportPath)][folder(i)] = true
			}
		}
	}
	done := map[string]bool{}
	var visit func(string, []string)
	visit = func(at string, path []string) {
		if i := slices.Index(path, at); i >= 0 {
			t.Fatalf("a circle: %s", strings.Join(append(path[i:], at), " -> "))
		}
		if done[at] {
			return
		}
		for next := range needs[at] {
			visit(next, append(path, at))
		}
		done[at] = true
	}
	for at := range needs {
		visit(at, nil)
	}
}

func TestTestHelpersStayOutOfTheProgram(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			if strings.Contains(i, "modeltest") && !strings.Contains(p.ImportPath, "modeltest") {
				t.Errorf("%s imports the test helper %s", p.ImportPath, i)
			}
		}
	}
}

func TestTopLevelFolders(t *testing.T) {
	root := filepath.Join("..", "..")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, floor := floors[e.Name()]; e.IsDir() && !floor && !slices.Contains(others, e.Name()) {
			t.Errorf("the folder %s is not in the house", e.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(fmt.Errorf("this is not the root: %w", err))
	}
}
