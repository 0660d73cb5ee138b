package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// layRepository makes a directory that git takes for a repository's, without git.
func layRepository(t testing.TB, dir string) {
	t.Helper()
	for _, d := range []string{"objects", "refs/heads", "hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	put(t, filepath.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// place is a workspace below a directory of its own, with symbolic links resolved.
func place(t *testing.T) (base, ws string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range redirecting {
		if _, set := os.LookupEnv(name); set {
			t.Setenv(name, "") // so that it comes back
			os.Unsetenv(name)
		}
	}
	ws = filepath.Join(base, "ws")
	if err := os.MkdirAll(filepath.Join(ws, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	return base, ws
}

// gitIn runs the real git, apart from the configuration of whoever runs the test. What only looks may fail.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := c.CombinedOutput(); err != nil && args[0] != "status" && args[0] != "log" {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git to compare with")
	}
}

// committed is a workspace with a real repository of one commit.
func committed(t *testing.T) (base, ws string) {
	t.Helper()
	needGit(t)
	base, ws = place(t)
	gitIn(t, ws, "init", "-q")
	put(t, filepath.Join(ws, "src", "a.go"), "x\n")
	gitIn(t, ws, "add", ".")
	gitIn(t, ws, "commit", "-q", "-m", "one")
	return base, ws
}

// TestGitThatRunsWhatTheWorkspaceNames is about repositories that run a program on "git status". Each is shown to do so.
func TestGitThatRunsWhatTheWorkspaceNames(t *testing.T) {
	for name, c := range map[string]struct {
		lay func(t *testing.T, ws, program string)
		in  string // where git is run
	}{
		"a bare repository in a folder": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "init", "-q", "--bare", "inner")
			put(t, filepath.Join(ws, "inner", "config"), "[core]\nrepositoryformatversion=0\nbare=false\nworktree=.\nfsmonitor=\""+program+"; false\"\n")
		}, "inner"},
		"a bare repository with its parts elsewhere": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "clone", "-q", "--bare", ".git", "store")
			gitIn(t, filepath.Join(ws, "store"), "config", "diff.x.textconv", program+"; cat")
			put(t, filepath.Join(ws, "store", "info", "attributes"), "* diff=x\n")
			head, err := os.ReadFile(filepath.Join(ws, "store", "HEAD"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(ws, "inner", "HEAD"), string(head))
			put(t, filepath.Join(ws, "inner", "commondir"), "../store\n")
		}, "inner"},
		"a nested repository": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "init", "-q", "inner")
			gitIn(t, filepath.Join(ws, "inner"), "config", "core.fsmonitor", program+"; false")
		}, "inner"},
		"a submodule": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "init", "-q", "inner")
			gitIn(t, filepath.Join(ws, "inner"), "commit", "-q", "--allow-empty", "-m", "one")
			gitIn(t, ws, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
			gitIn(t, filepath.Join(ws, "inner"), "config", "core.fsmonitor", program+"; false")
		}, "."},
		"the configuration": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "config", "core.fsmonitor", program+"; false")
		}, "src"},
		"configuration that is included": {func(t *testing.T, ws, program string) {
			put(t, filepath.Join(ws, "evil"), "[core]\nfsmonitor=\""+program+"; false\"\n")
			gitIn(t, ws, "config", "include.path", "../evil")
		}, "."},
		"the configuration of the worktree": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "config", "extensions.worktreeConfig", "true")
			gitIn(t, ws, "config", "--worktree", "core.fsmonitor", program+"; false")
		}, "."},
		"a filter": {func(t *testing.T, ws, program string) {
			gitIn(t, ws, "config", "filter.x.clean", program+"; cat")
			put(t, filepath.Join(ws, ".gitattributes"), "* filter=x\n")
			put(t, filepath.Join(ws, "src", "a.go"), "y\n")
		}, "."},
		"a hook": {func(t *testing.T, ws, program string) {
			put(t, filepath.Join(ws, ".git", "hooks", "post-index-change"), "#!/bin/sh\n"+program+"\n")
			put(t, filepath.Join(ws, "src", "a.go"), "x\n") // which git looks at again, and remembers
		}, "."},
		"a .git that leads to a folder": {func(t *testing.T, ws, program string) {
			if err := os.Rename(filepath.Join(ws, ".git"), filepath.Join(ws, "inner")); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(ws, ".git"), "gitdir: inner\n")
			gitIn(t, ws, "config", "core.fsmonitor", program+"; false")
		}, "."},
		"a .git that is none, and a bare repository": {func(t *testing.T, ws, program string) {
			put(t, filepath.Join(ws, ".git", "HEAD"), "broken\n")
			gitIn(t, ws, "init", "-q", "--bare", ".")
			put(t, filepath.Join(ws, "config"), "[core]\nrepositoryformatversion=0\nbare=false\nworktree=.\nfsmonitor=\""+program+"; false\"\n")
		}, "."},
	} {
		t.Run(name, func(t *testing.T) {
			base, ws := committed(t)
			if !readOnly("git status", ws, ws) {
				t.Fatal("asks about a plain repository")
			}
			ran := filepath.Join(base, "ran")
			c.lay(t, ws, "touch "+ran)
			for _, command := range []string{"cd " + c.in + " && git status", "git -C " + c.in + " status", "git -C " + ws + " -C " + c.in + " diff"} {
				if readOnly(command, ws, ws) {
					t.Errorf("runs unasked: %s", command)
				}
			}
			dir := filepath.Join(ws, c.in)
			if readOnly("git status", dir, ws) {
				t.Error("runs unasked with it as cwd")
			}
			gitIn(t, dir, "status")
			if gitIn(t, dir, "log", "-p"); absent(ran) {
				t.Error("git did not run the program; this shows nothing")
			}
		})
	}
}

func TestGitOfTheWorkspaceOnlyLooks(t *testing.T) {
	base, ws := committed(t)
	tree := filepath.Join(base, "tree")
	gitIn(t, ws, "branch", "other")
	gitIn(t, ws, "remote", "add", "origin", "https://example.org/x.git")
	gitIn(t, ws, "config", "branch.main.vscode-merge-base", "origin/main")
	gitIn(t, ws, "worktree", "add", "-q", tree, "other")
	for _, root := range []string{ws, tree} {
		for _, dir := range []string{root, filepath.Join(root, "src")} {
			for _, command := range []string{"git status", "git log -p", "git diff; git show", "git version"} {
				if !readOnly(command, dir, root) {
					t.Errorf("asks about %s in %s", command, dir)
				}
			}
		}
	}
	// Without a repository of its own git would go on above.
	for _, command := range []string{"git status", "git log"} {
		if readOnly(command, filepath.Join(ws, "src"), filepath.Join(ws, "src")) {
			t.Errorf("%s runs unasked in a part of a repository", command)
		}
	}
	// One that only claims to be a worktree.
	claim := filepath.Join(base, "claim")
	b, err := os.ReadFile(filepath.Join(tree, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(claim, ".git"), string(b))
	if readOnly("git log -p", claim, claim) {
		t.Error("reads somebody else's repository unasked")
	}
	gitIn(t, ws, "config", "diff.external", "x")
	if readOnly("git diff", tree, tree) {
		t.Error("the configuration that worktrees share is not looked at")
	}
}

func TestRepositoryIsFoundAsGitDoes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(git, ws string) error
		want   bool
	}{
		"plain":            {func(_, _ string) error { return nil }, true},
		"no configuration": {func(git, _ string) error { return os.Remove(filepath.Join(git, "config")) }, true},
		"a commit": {func(git, _ string) error {
			return os.WriteFile(filepath.Join(git, "HEAD"), []byte(strings.Repeat("a", 40)+"\n"), 0o600)
		}, true},
		"another hook":    {func(git, _ string) error { return os.WriteFile(filepath.Join(git, "hooks", "pre-commit"), nil, 0o700) }, true},
		"no HEAD":         {func(git, _ string) error { return os.Remove(filepath.Join(git, "HEAD")) }, false},
		"a broken HEAD":   {func(git, _ string) error { return os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: x\n"), 0o600) }, false},
		"half a commit":   {func(git, _ string) error { return os.WriteFile(filepath.Join(git, "HEAD"), []byte("abc\n"), 0o600) }, false},
		"no objects":      {func(git, _ string) error { return os.RemoveAll(filepath.Join(git, "objects")) }, false},
		"no refs":         {func(git, _ string) error { return os.RemoveAll(filepath.Join(git, "refs")) }, false},
		"parts elsewhere": {func(git, _ string) error { return os.WriteFile(filepath.Join(git, "commondir"), []byte("../x"), 0o600) }, false},
		"no .git":         {func(git, _ string) error { return os.RemoveAll(git) }, false},
		"a link":          {func(git, ws string) error { return errorOf(os.Rename(git, ws+"/x"), os.Symlink("x", git)) }, false},
		"HEAD is a link": {func(git, _ string) error {
			return errorOf(os.Remove(git+"/HEAD"), os.Symlink("refs/heads/x", git+"/HEAD"))
		}, false},
		"config is a link": {func(git, _ string) error {
			return errorOf(os.Rename(git+"/config", git+"/c"), os.Symlink("c", git+"/config"))
		}, false},
		"config is a folder": {func(git, _ string) error { return errorOf(os.Remove(git+"/config"), os.Mkdir(git+"/config", 0o700)) }, false},
		"HEAD at the root":   {func(_, ws string) error { return os.WriteFile(filepath.Join(ws, "HEAD"), nil, 0o600) }, false},
		"HEAD above":         {func(_, ws string) error { return os.WriteFile(filepath.Join(ws, "src", "HEAD"), nil, 0o600) }, false},
		".git above":         {func(_, ws string) error { return os.WriteFile(filepath.Join(ws, "src", ".git"), nil, 0o600) }, false},
		"hooks is a file": {func(git, _ string) error {
			return errorOf(os.Remove(git+"/hooks"), os.WriteFile(git+"/hooks", nil, 0o600))
		}, false},
		"a broken index": {func(git, _ string) error { return os.WriteFile(filepath.Join(git, "index"), nil, 0o600) }, false},
		"a gitdir of nothing": {func(git, _ string) error {
			return errorOf(os.RemoveAll(git), os.WriteFile(git, []byte("gitdir: \n"), 0o600))
		}, false},
	} {
		_, ws := place(t)
		git := filepath.Join(ws, ".git")
		layRepository(t, git)
		if err := c.change(git, ws); err != nil {
			t.Fatal(err)
		}
		if got := looksOnly(filepath.Join(ws, "src"), ws); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	_, ws := place(t)
	layRepository(t, filepath.Join(ws, ".git"))
	if looksOnly(filepath.Join(ws, ".git", "refs"), ws) || looksOnly(filepath.Dir(ws), ws) {
		t.Error("looks in .git or outside")
	}
	for _, name := range redirecting {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "x")
			if looksOnly(ws, ws) {
				t.Error("the variable is not looked at")
			}
		})
	}
}

// errorOf is the first of them.
func errorOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
