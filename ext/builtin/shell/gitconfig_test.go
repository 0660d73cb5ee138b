package shell

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var tameConfigs = []string{
	"", "\n", "# a comment", "[core]", "[core]\n\tbare = false\n\tfilemode\n", "[CORE] BARE=false", "[core] ; c\n bare = true # fsmonitor = x", "[core][user]name=x",
	"[remote \"origin\"]\r\n\turl = x\r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\r\n", "[branch \"a \\\"b\\\\]\"]\n merge = x\n vscode-merge-base = y", "[user]\nname = \"[core]\"",
	"[user]\nname = a \\\" b", "[submodule \"x\"]\n active = true\n url = y", "[extensions]\nworktreeConfig = true", "[unknown]\n[core]\nbare",
}

var wildConfigs = []string{
	"[core]\nfsmonitor = x", "[core]\nfsmonitor", "[core] fsmonitor=false", "[CoRe]\nFsMonitor = x", "[core]\nbare=false\n\t fsmonitor =x", "[core]\r\nfsmonitor=x\r\n", "[core]bare=x\n[core]fsmonitor=x",
	"[core][core]fsmonitor=x", "[user][core]fsmonitor=x", "[core]\nhooksPath=x", "[core]\nsshCommand=x", "[core]\npager=x", "[core]\neditor=x", "[core]\nworktree=/", "[core]\nattributesFile=/x", "[core]\nsplitIndex=true",
	"[diff]\nexternal=x", "[diff \"a\"]\ntextconv=x", "[diff \"a\"]\ncommand=x", "[diff \"a\"]\nalgorithm=x", "[filter \"lfs\"]\nclean=x", "[filter \"x\"]\nsmudge=x", "[filter \"x\"]\nprocess=x",
	"[lfs \"extension.x\"]\nclean=y", "[include]\npath=x", "[includeIf \"gitdir:/\"]\npath=x", "[alias]\nst=!x", "[pager]\nlog=x", "[gpg]\nprogram=x", "[gpg \"ssh\"]\nprogram=x", "[log]\nshowSignature=true",
	"[blame]\nignoreRevsFile=/x", "[mailmap]\nfile=/x", "[remote \"o\"]\nuploadpack=x", "[remote \"o\"]\npromisor=true", "[remote \"o\"]\nvcs=x", "[extensions]\npartialClone=o", "[extensions]\nobjectFormat=sha256", "[submodule]\nrecurse=true",
	"[diff]\nsubmodule=log", "[status]\nsubmoduleSummary=true", "[protocol \"ext\"]\nallow=always", "[url \"x\"]\ninsteadOf=y", "[credential]\nhelper=x", "[hook \"x\"]\ncommand=y", "[merge \"x\"]\ndriver=y",
	// Not understood, whatever git makes of them.
	"bare=x", "[core", "[core]]", "[core x]", "[core.fsmonitor]", "[branch.a]\nmerge=x", "[core \"x]", "[core]\nbare=a\\\nfsmonitor=x", "# a\\\n", "[core]\n9=x", "[core]\nbare x", "[core]\rfsmonitor=x",
	"[core]\nbare=x\x00", "[core]\nbare=\x1b", "[core]\nbare=\xff", "\ufeff[core]\nbare=x", "[core]\n\vbare=x",
}

func TestTameConfiguration(t *testing.T) {
	for _, text := range tameConfigs {
		if !tame(text) {
			t.Errorf("asks about %q", text)
		}
	}
	for _, text := range wildConfigs {
		if tame(text) {
			t.Errorf("admits %q", text)
		}
	}
	for section, keys := range tameKeys {
		if strings.ToLower(section) != section || strings.ToLower(strings.Join(keys, "")) != strings.Join(keys, "") {
			t.Errorf("%s %v are compared in lower case", section, keys)
		}
	}
}

// TestTameConfigurationAsGitReadsIt asks git for the variables of what is admitted.
func TestTameConfigurationAsGitReadsIt(t *testing.T) {
	needGit(t)
	path := filepath.Join(t.TempDir(), "config")
	for _, text := range slices.Concat(tameConfigs, wildConfigs) {
		if !tame(text) {
			continue
		}
		put(t, path, text)
		out, err := exec.Command("git", "config", "--file", path, "--name-only", "--list").Output()
		if err != nil {
			t.Errorf("git does not read %q: %v", text, err)
		}
		for _, name := range strings.Fields(strings.ReplaceAll(string(out), " ", "_")) {
			section, rest, _ := strings.Cut(name, ".")
			key := rest
			if i := strings.LastIndexByte(rest, '.'); i >= 0 {
				section, key = section+".*", rest[i+1:]
			}
			if known := tameKeys[section]; !slices.Contains(known, key) && !slices.Contains(known, "*") {
				t.Errorf("%q sets %s", text, name)
			}
		}
	}
}

func TestConfigurationBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if !tameConfig(path) {
		t.Error("asks about a file that is not there")
	}
	text := "[core]\n#" + strings.Repeat("x", maxGitConfig-len("[core]\n#"))
	if put(t, path, text); !tameConfig(path) {
		t.Errorf("a file of %d bytes is not read", len(text))
	}
	if put(t, path, text+"x"); tameConfig(path) {
		t.Errorf("a file of %d bytes is read", len(text)+1)
	}
	if put(t, path, ""); tameConfig(filepath.Join(path, "below")) {
		t.Error("what cannot be read is taken for tame")
	}
}

func FuzzTameConfiguration(f *testing.F) {
	for _, text := range slices.Concat(tameConfigs, wildConfigs) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !tame(text) {
			return
		}
		for _, worse := range []string{text + "\n[core]\nfsmonitor=x", text + "\n[include]path=x", "[alias]x=y\n" + text} {
			if tame(worse) {
				t.Errorf("admits %q", worse)
			}
		}
	})
}
