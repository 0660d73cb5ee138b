package shell

import (
	"regexp"
	"slices"
	"strings"
)

// sums is for the programs that compute check sums.
var sums = rule{short: "bctwz", long: []string{"check", "quiet", "status", "tag", "text", "binary", "zero", "strict", "ignore-missing"}}

// rules are the programs that are known, by the name that finds them on PATH.
//
// Not here, although they are used for reading: awk and sed with more than line numbers (they write files and run programs),
// xargs and env and timeout (they run programs), go, cargo and npm (they download), less and man (they run programs), tee, xxd,
// tar, curl, ps (it shows the environment of others).
var rules = map[string]rule{
	"true":  {words: true},
	"false": {words: true},
	":":     {words: true},
	"echo": {judge: func(j *judge, args []arg) bool {
		return !slices.ContainsFunc(args, func(a arg) bool { return !j.isWord(a) })
	}},
	"printf": {judge: func(j *judge, args []arg) bool {
		// -v sets a variable, and so does %n.
		return len(args) > 0 && args[0].exact() && j.operand(args[0]) && !printsInto.MatchString(args[0].text) &&
			!slices.ContainsFunc(args, func(a arg) bool { return !j.isWord(a) })
	}},
	"test":   {judge: tests},
	"[":      {judge: tests},
	"pwd":    {short: "LP", most: -1},
	"whoami": {most: -1},
	"nproc":  {most: -1, long: []string{"all"}},
	"uname":  {short: "asnrvmpio", most: -1},
	"id":     {short: "ugGnr", most: -1},
	"date": {short: "u", words: true, check: func(_ []string, o []arg) bool {
		return len(o) == 0 || len(o) == 1 && o[0].exact() && o[0].text[:min(1, len(o[0].text))] == "+"
	}},
	"seq":      {short: "w", valued: "sf", words: true},
	"basename": {short: "az", valued: "s", words: true},
	"dirname":  {short: "z", words: true},
	"type":     {short: "atpPf", words: true},
	"which":    {short: "a", words: true},
	"command": {judge: func(_ *judge, args []arg) bool {
		// Only the first word is an option; without one of these the rest is run.
		return len(args) == 2 && args[0].exact() && (args[0].text == "-v" || args[0].text == "-V") && args[1].exact()
	}},

	"ls": {short: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1", long: []string{"all", "almost-all", "color[=", "human-readable", "recursive",
		"reverse", "size", "sort=", "time=", "time-style=", "full-time", "group-directories-first", "inode", "directory", "classify[=", "ignore=", "hide="}},
	"cat":       {short: "AbeEnstTuv", long: []string{"number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"}},
	"tac":       {},
	"nl":        {valued: "bdfhilnsvw"},
	"head":      {short: "qvz", valued: "nc", digits: true, long: []string{"lines=", "bytes=", "quiet", "verbose"}},
	"tail":      {short: "qvz", valued: "nc", digits: true, long: []string{"lines=", "bytes=", "quiet", "verbose"}},
	"wc":        {short: "clLmw", long: []string{"bytes", "chars", "lines", "words", "max-line-length"}},
	"cut":       {short: "snz", valued: "bcdf", long: []string{"fields=", "delimiter=", "complement", "only-delimited", "bytes=", "characters="}},
	"tr":        {short: "cCdst", words: true},
	"rev":       {},
	"fold":      {short: "bs", valued: "w"},
	"expand":    {short: "i", valued: "t"},
	"paste":     {short: "sz", valued: "d"},
	"join":      {short: "iz", valued: "12aeojtv"},
	"comm":      {short: "123z"},
	"column":    {short: "tnx", valued: "sco"},
	"od":        {short: "abcdfilosvx", valued: "AjNtwS"},
	"hexdump":   {short: "bcCdovx", valued: "ns"},
	"strings":   {short: "af", valued: "ntse"},
	"base64":    {short: "d", valued: "w", long: []string{"decode", "wrap="}},
	"cksum":     {},
	"md5sum":    sums,
	"sha1sum":   sums,
	"sha256sum": sums,
	"sha512sum": sums,
	"stat":      {short: "tf", valued: "c", long: []string{"format=", "printf=", "terse"}},
	"file":      {short: "bihk", long: []string{"brief", "mime", "mime-type", "mime-encoding"}},
	"realpath":  {short: "emsz", long: []string{"relative-to=", "canonicalize-existing"}},
	"readlink":  {short: "femnz"},
	"du":        {short: "abchkmsx", valued: "d", long: []string{"max-depth=", "summarize", "human-readable", "all", "total", "apparent-size", "exclude="}},
	"df":        {short: "ahiklPT"},
	"tree":      {short: "adfpshugDFNiJCn", valued: "LIP", long: []string{"noreport", "dirsfirst", "gitignore", "prune"}},
	"cmp":       {short: "bls"},
	"diff": {short: "abBcdeEipqstTuwyZ", valued: "CUIWx", long: []string{"unified[=", "context[=", "brief", "side-by-side",
		"ignore-all-space", "ignore-space-change", "ignore-blank-lines", "ignore-case", "text", "color[=", "exclude=", "stat",
		"no-dereference", "minimal", "width=", "suppress-common-lines", "strip-trailing-cr"}},
	"sort": {short: "bcCdfghiMnrRsuVz", valued: "kt", long: []string{"numeric-sort", "reverse", "unique", "version-sort", "human-numeric-sort",
		"ignore-case", "key=", "field-separator=", "general-numeric-sort", "stable", "check"}},
	"uniq": {short: "cdDiuz", valued: "fsw", most: 1, long: []string{"count", "repeated", "unique", "ignore-case"}},
	"jq": {short: "rcnsSejMC", patterns: 1, long: []string{"raw-output", "compact-output", "null-input", "slurp", "sort-keys", "exit-status", "raw-input", "tab"},
		check: func(_ []string, o []arg) bool {
			// A program can name modules and data to read.
			return len(o) > 0 && !strings.Contains(o[0].text, "import") && !strings.Contains(o[0].text, "include")
		}},
	"grep":  grep,
	"egrep": grep,
	"fgrep": grep,
	"rg": {short: "nNiIsSvwxcloFPUuaq0pH.", valued: "ABCmgtTeMdrj", patterns: 1, long: []string{"files", "hidden", "no-ignore",
		"ignore-case", "smart-case", "case-sensitive", "fixed-strings", "line-number", "no-line-number", "heading", "no-heading", "no-filename",
		"with-filename", "files-with-matches", "files-without-match", "count", "count-matches", "multiline", "multiline-dotall", "word-regexp",
		"line-regexp", "type-list", "json", "stats", "sort=", "sortr=", "glob=", "iglob=", "type=", "type-not=", "max-count=", "context=",
		"after-context=", "before-context=", "max-depth=", "color=", "only-matching", "invert-match", "trim", "vimgrep", "max-columns=", "regexp=",
		"column", "passthru", "pcre2", "text", "null", "no-messages", "no-ignore-vcs", "no-config", "quiet", "max-filesize=", "replace="}},
	"sed": {short: "nEr", patterns: 1, long: []string{"quiet", "silent", "regexp-extended"}, check: func(options []string, o []arg) bool {
		return len(o) > 0 && printsLines.MatchString(o[0].text)
	}},
	"find": {judge: finds},
	"git":  {judge: gits},
}

var grep = rule{short: "EFGPivwxcLlqsonHhbZzaIUTyr", valued: "ABCemdD", digits: true, patterns: 1, long: []string{
	"include=", "exclude=", "exclude-dir=", "color[=", "colour[=", "count", "ignore-case", "line-number", "recursive", "extended-regexp",
	"fixed-strings", "perl-regexp", "basic-regexp", "word-regexp", "line-regexp", "invert-match", "files-with-matches", "files-without-match",
	"only-matching", "max-count=", "context=", "after-context=", "before-context=", "no-filename", "with-filename", "null", "text", "no-messages",
	"quiet", "silent", "byte-offset", "regexp=", "binary-files="}}

var (
	printsInto  = regexp.MustCompile(`%[-+ #0-9.*']*n`)
	printsLines = regexp.MustCompile(`^ *([0-9]+|\$)(,([+~]?[0-9]+|\$))?p( *; *([0-9]+|\$)(,([+~]?[0-9]+|\$))?p)* *;? *([0-9]+q;?)?$`)
)

// tests admits test and [ with words that are known: -v and -R compute what stands in brackets after a name.
func tests(_ *judge, args []arg) bool {
	for _, a := range args {
		if !a.exact() && !a.loop || a.text == "-v" || a.text == "-R" {
			return false
		}
	}
	return true
}
