package shell

import (
	"slices"
	"strings"
)

// What git is asked to show, and how, in options that several of its commands share.
var (
	diffLong = strings.Fields("stat[= shortstat numstat name-only name-status patch no-patch raw summary compact-summary dirstat[= unified= " +
		"cached staged word-diff[= color[= no-color color-words[= ignore-all-space ignore-space-change ignore-blank-lines ignore-cr-at-eol find-renames[= " +
		"find-copies[= no-renames diff-filter= exit-code check no-ext-diff no-textconv minimal histogram patience full-index " +
		"abbrev[= relative[= quiet text merge-base binary function-context inter-hunk-context= pickaxe-regex pickaxe-all")
	logLong = append(strings.Fields("oneline graph decorate[= no-decorate all no-merges merges reverse max-count= skip= since= until= after= before= "+
		"author= committer= grep= format= pretty[= abbrev-commit no-abbrev-commit date= follow first-parent left-right cherry-pick cherry-mark full-history "+
		"simplify-by-decoration tags[= branches[= remotes[= topo-order date-order author-date-order boundary invert-grep all-match "+
		"regexp-ignore-case extended-regexp fixed-strings perl-regexp no-walk source ancestry-path count not no-show-signature"), diffLong...)
	listLong = strings.Fields("list contains= no-contains= merged[= no-merged[= sort= format= points-at= column[= no-column color[= no-color abbrev[= no-abbrev ignore-case")
)

const (
	diffShort = "pusRzwbaqW"
	diffValue = "SG"
	diffPart  = "UMCBl"
)

// gitRules are the commands of git that only look. Arguments are revisions and paths; both are judged as paths, which no
// revision of use fails.
var gitRules = map[string]rule{
	"status":        {short: "sbvz", attached: "u", long: strings.Fields("short branch porcelain[= long untracked-files[= ignored[= show-stash ahead-behind no-ahead-behind no-renames verbose")},
	"diff":          {short: diffShort, attached: diffPart, valued: diffValue, digits: true, long: diffLong},
	"show":          {short: diffShort, attached: diffPart, valued: diffValue + "n", digits: true, long: logLong},
	"log":           {short: diffShort + "iEFPcm", attached: diffPart, valued: diffValue + "nL", digits: true, long: logLong},
	"rev-list":      {valued: "n", digits: true, long: logLong},
	"shortlog":      {short: "sne", long: logLong},
	"blame":         {short: "wslecfnbt", valued: "L", attached: "CM", long: strings.Fields("date= porcelain line-porcelain show-email show-name show-number abbrev= root")},
	"describe":      {long: strings.Fields("tags always dirty[= abbrev= all long exact-match candidates= match= exclude= first-parent contains")},
	"rev-parse":     {short: "q", long: strings.Fields("show-toplevel abbrev-ref[= short[= verify git-dir is-inside-work-tree symbolic-full-name absolute-git-dir quiet show-prefix show-cdup git-common-dir is-bare-repository")},
	"ls-files":      {short: "cdmosuzt", long: strings.Fields("others exclude-standard cached modified deleted stage error-unmatch full-name ignored unmerged eol")},
	"ls-tree":       {short: "rtdlz", long: strings.Fields("name-only name-status full-tree full-name long abbrev[=")},
	"cat-file":      {short: "tspe"},
	"merge-base":    {long: strings.Fields("all octopus is-ancestor independent fork-point")},
	"name-rev":      {long: strings.Fields("name-only tags always")},
	"show-ref":      {short: "sdq", long: strings.Fields("heads tags head dereference hash[= verify quiet")},
	"for-each-ref":  {long: strings.Fields("format= sort= count= contains= no-contains= merged[= no-merged[= points-at=")},
	"count-objects": {short: "vH"},
	"check-ignore":  {short: "vnq"},
	"diff-tree":     {short: diffShort + "rtcm", attached: diffPart, valued: diffValue, long: append([]string{"root", "no-commit-id"}, diffLong...)},
	"grep": {short: "nilcwvEFPqhHLoIz", valued: "ABCem", digits: true, patterns: 1, long: strings.Fields("line-number ignore-case files-with-matches name-only count " +
		"word-regexp extended-regexp fixed-strings perl-regexp cached untracked heading break color[= show-function function-context max-depth= and or not all-match")},
	"branch":   {short: "arv", long: append(strings.Fields("show-current all remotes verbose"), listLong...), check: lists("--list")},
	"tag":      {short: "l", attached: "n", long: listLong, check: lists("-l", "--list")},
	"remote":   {short: "v", long: []string{"verbose"}, check: only("", "get-url")},
	"stash":    {short: diffShort, long: logLong, check: only("list", "show")},
	"reflog":   {valued: "n", digits: true, long: logLong, check: only("", "show")},
	"worktree": {short: "vz", long: []string{"porcelain", "verbose"}, check: only("list")},
	"version":  {},
}

// lists admits what branch and tag do unless they are given a name to make; by is what makes names mere patterns. ("branch -l"
// is none: to older versions it is an order to make a log.)
func lists(by ...string) func([]string, []arg) bool {
	return func(options []string, operands []arg) bool {
		return len(operands) == 0 || slices.ContainsFunc(options, func(o string) bool { return slices.Contains(by, o) })
	}
}

// only admits the named first operands; "" stands for none at all.
func only(names ...string) func([]string, []arg) bool {
	return func(_ []string, operands []arg) bool {
		first := ""
		if len(operands) > 0 {
			if first = operands[0].text; first == "" || !operands[0].exact() {
				return false
			}
		}
		return slices.Contains(names, first)
	}
}

// gits judges a call of git. Of the options before the command only those are admitted that lead to no other configuration.
func gits(j *judge, args []arg) bool {
	for len(args) > 0 {
		if !args[0].exact() {
			return false
		}
		switch name := args[0].text; name {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs":
			args = args[1:]
		case "--version":
			return len(args) == 1
		case "-c": // the one setting that keeps git from starting a program
			if len(args) < 2 || !args[1].exact() || args[1].text != "core.fsmonitor=false" {
				return false
			}
			args = args[2:]
		case "-C":
			if len(args) < 2 {
				return false
			}
			dir, ok := j.directory(args[1])
			if !ok {
				return false
			}
			// What follows is relative to it, also a further -C.
			there := *j
			there.dir = dir
			j, args = &there, args[2:]
		default:
			r, known := gitRules[name]
			return known && r.admit(j, args[1:]) && (name == "version" || j.git())
		}
	}
	return false
}

// git reports whether git only looks in the directory; the answer is kept, for a command that asks git many times.
func (j *judge) git() bool {
	only, known := j.repositories[j.dir]
	if !known {
		only = looksOnly(j.dir, j.workspace)
		j.repositories[j.dir] = only
	}
	return only
}
