package shell

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// tameKeys are the variables of a repository's configuration that make git neither run a program nor read a file nor fetch
// anything when it is asked to look, by section; those of a section with a subsection have ".*" after its name, and "*" is any
// variable. All others are taken for such that do: fsmonitor, textconv, command, external, filters, aliases, hooksPath, include,
// pager, promisor and worktree, for some.
var tameKeys = map[string][]string{
	"core": strings.Fields("repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol " +
		"safecrlf abbrev quotepath whitespace longpaths protecthfs protectntfs compression loosecompression sharedrepository untrackedcache " +
		"preloadindex trustctime checkstat commitgraph multipackindex warnambiguousrefs commentchar"),
	"extensions":  {"worktreeconfig", "relativeworktrees"},
	"remote":      {"pushdefault"},
	"remote.*":    strings.Fields("url pushurl fetch push mirror tagopt prune prunetags skipdefaultupdate skipfetchall followremotehead gh-resolved"),
	"branch":      {"autosetupmerge", "autosetuprebase", "sort"},
	"branch.*":    {"*"},
	"submodule":   {"active"},
	"submodule.*": {"url", "active"},
	"user":        {"name", "email", "signingkey", "useconfigonly"},
	"author":      {"name", "email"},
	"committer":   {"name", "email"},
	"commit":      {"gpgsign"},
	"tag":         {"gpgsign", "sort"},
	"pull":        {"rebase", "ff"},
	"push":        {"default", "autosetupremote", "followtags"},
	"fetch":       {"prune", "prunetags"},
	"rebase":      {"autostash", "autosquash", "updaterefs"},
	"merge":       {"conflictstyle", "ff"},
	"rerere":      {"enabled"},
	"init":        {"defaultbranch"},
	"color":       {"ui"},
	"advice":      {"*"},
	"gc":          {"auto"},
	"maintenance": {"auto", "strategy"},
	"gui":         {"wmstate", "geometry"},
	"status":      strings.Fields("showuntrackedfiles short branch relativepaths showstash aheadbehind renames"),
	"diff":        strings.Fields("algorithm renames colormoved mnemonicprefix noprefix context"),
	"log":         {"date", "decorate"},
	"lfs":         {"repositoryformatversion"},
	"lfs.*":       {"access", "locksverify"},
}

var (
	configSection  = regexp.MustCompile(`^\[([A-Za-z0-9-]+)([ \t]+"(?:[^"\\]|\\.)*")?\]`)
	configVariable = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|$)`)
)

// tameConfig reports whether a file of configuration, if there is one, has nothing but tame variables.
func tameConfig(path string) bool {
	b, err := readRegular(path, maxGitConfig)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return tame(string(b))
}

// tame reports whether text is configuration with nothing but tame variables. A value that goes on in the next line is not
// understood, so that every line stands for itself.
func tame(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, odd) {
		return false
	}
	var known []string // the tame variables of the section
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(line, `\`) {
			return false
		}
		// Sections and a variable may share a line.
		for line = blank(line); strings.HasPrefix(line, "["); {
			m := configSection.FindStringSubmatch(line)
			if m == nil {
				return false
			}
			name := strings.ToLower(m[1])
			if m[2] != "" {
				name += ".*"
			}
			known = tameKeys[name]
			line = blank(line[len(m[0]):])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		m := configVariable.FindStringSubmatch(line)
		if m == nil || !slices.Contains(known, strings.ToLower(m[1])) && !slices.Contains(known, "*") {
			return false
		}
	}
	return true
}

func blank(line string) string { return strings.TrimLeft(line, " \t") }
