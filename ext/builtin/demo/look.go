package demo

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"octavo/pages/text"
)

const (
	// listLines is how many entries of a folder are asked for.
	listLines = 2000
	// headLines is how many lines of a file are asked for when only its head matters.
	headLines = 40
	// headShown is how many of them are repeated.
	headShown = 4
	// maxFound is how many places of a word are asked for, and foundShown how many are repeated.
	maxFound   = 20
	foundShown = 6
	// maxFiles is where counting files stops; countEndings says it to the shell.
	maxFiles = 20_000
	// maxKinds is how many kinds of files are named.
	maxKinds = 6
	// maxCommits is how many commits are named; askGit says it to git.
	maxCommits = 3
)

// The commands of looking around. None of them changes anything, and git is kept from starting programs that a repository's own
// configuration names.
// Counting prints how many files there are of each ending, and of each name without one, which has a "/" before it or is alone.
const (
	countTracked = `git -c core.fsmonitor=false ls-files -coz --exclude-standard | ` + countEndings
	countFound   = `find . -maxdepth 4 -type f -print0 2>/dev/null | ` + countEndings
	countEndings = `tr '\0' '\n' | head -n 20000 | grep -aoE '(^|/)[^/.]+$|\.[^/.]+$' | sort | uniq -c | sort -rn`
	askGit       = `git log --no-show-signature --oneline --decorate --no-color -n 3`
)

// sourceKinds are endings of source files.
var sourceKinds = []string{".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".rs", ".c", ".h", ".cc", ".cpp", ".java", ".kt", ".rb", ".php",
	".swift", ".cs", ".scala", ".ex", ".hs", ".ml", ".lua", ".pl", ".r", ".sql", ".sh"}

// sourceGlob and sourceLine find the first line of the first source file below a folder.
const (
	sourceGlob = "*.{go,py,js,ts,tsx,jsx,rs,c,h,cc,cpp,java,kt,rb,php,swift,cs,scala,ex,hs,ml,lua,pl,r,sql,sh}"
	sourceLine = "."
)

// first is the file that says most about a folder: its README, or its first source file; "" when it has neither.
func (l listing) first() string {
	source := ""
	for _, name := range l.names {
		name = strings.TrimSuffix(name, " (symbolic link)")
		switch {
		case strings.HasPrefix(name, `"`): // a name that is quoted, because not all of it can be seen
		case strings.HasPrefix(strings.ToLower(name), "readme"):
			return name
		case source == "" && slices.Contains(sourceKinds, path.Ext(name)):
			source = name
		}
	}
	return source
}

// lookAround lists the workspace, reads what says most about it, counts files and asks git, as far as there are tools for it.
func lookAround(t *turn) {
	listed, ok := t.one("I begin with the top folder.", read(".", listLines))
	if !ok {
		return
	}
	here, ok := listed.listing()
	if !ok {
		t.end(listed.why(), "So I have seen nothing of this workspace.")
		return
	}
	say, calls := "", []call(nil)
	name := here.first()
	_, searches := t.tools["search"]
	switch {
	case name != "":
		say, calls = "Next I read "+code(name)+".", []call{read(name, headLines)}
	case searches:
		say = "There is no README and no source file here, so I search the folders below."
		calls = []call{search(sourceLine, sourceGlob, "regex", 1)}
	}
	_, commands := t.tools["bash"]
	repository := commands && here.has(".git")
	switch {
	case repository:
		say += " Then I count files by their endings and ask git for the latest commits."
		calls = append(calls, bash(countTracked), bash(askGit))
	case commands:
		say += " Then I count files by their endings."
		calls = append(calls, bash(countFound))
	}
	var seen []result
	if len(calls) > 0 {
		if seen, ok = t.do(strings.TrimSpace(say), calls...); !ok {
			return
		}
	}
	told := []string{"This is what the tools answered.", "**Top folder:** " + here.contents() + "."}
	if name != "" {
		told = append(told, headOf(seen[0], name))
	} else if searches {
		head, ok := firstSource(t, seen[0])
		if !ok {
			return
		}
		told = append(told, head)
	}
	switch last := len(seen) - 1; {
	case repository:
		told = append(told, fileCount(seen[last-1], "that git knows or would add"), commits(seen[last]))
	case commands:
		told = append(told, fileCount(seen[last], "down to the fourth level"), "**git:** not asked, because there is no `.git` in this folder.")
	}
	t.end(append(told, "All of this is counted and quoted by a script. A model reads on from here and can say what the code does.")...)
}

// firstSource reads the source file that a search found. false ends the scene.
func firstSource(t *turn, found result) (told string, ok bool) {
	if found.failed {
		return "**Source files:** not found. " + found.why(), true
	}
	name := ""
	if _, rows := foundRows(found); len(rows) > 0 {
		name, _, _ = strings.Cut(rows[0], ":")
	}
	if name == "" {
		return "There is neither a README nor a source file that I know the ending of.", true
	}
	head, ok := t.one("The search found "+code(name)+", so I read that.", read(name, headLines))
	if !ok {
		return "", false
	}
	return headOf(head, name), true
}

// contents says in a line what is in a folder.
func (l listing) contents() string {
	if len(l.names)+len(l.dirs) == 0 {
		return "it is empty"
	}
	line := text.Plural(len(l.names)+len(l.dirs), "entry")
	if !l.whole {
		line = "more than " + line
	}
	var dirs []string
	for _, d := range l.dirs[:min(len(l.dirs), maxKinds)] {
		dirs = append(dirs, code(d+"/"))
	}
	if len(dirs) == 0 {
		return line
	}
	line += fmt.Sprintf(", of which %s: %s", text.Plural(len(l.dirs), "folder"), strings.Join(dirs, ", "))
	if len(l.dirs) > len(dirs) {
		line += " and others"
	}
	return line
}

// fileCount says how many files there are of those that were counted, from what countEndings printed.
func fileCount(r result, which string) string {
	if !r.ran() {
		return "**Files:** not counted. " + r.why()
	}
	_, rows := r.command()
	total, bare, others := 0, 0, 0
	var kinds []string
	for _, row := range rows {
		number, ending, _ := strings.Cut(strings.TrimSpace(row), " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > maxFiles {
			continue
		}
		total += n
		switch {
		case !strings.HasPrefix(ending, "."):
			bare += n
		case len(kinds) < maxKinds:
			kinds = append(kinds, fmt.Sprintf("%d %s", n, code(ending)))
		default:
			others += n
		}
	}
	if bare > 0 {
		kinds = append(kinds, fmt.Sprintf("%d without an ending", bare))
	}
	if others > 0 {
		kinds = append(kinds, fmt.Sprintf("%d of other kinds", others))
	}
	switch {
	case total == 0:
		return fmt.Sprintf("**Files** %s: none.", which)
	case total >= maxFiles:
		return fmt.Sprintf("**Files** %s: %d or more, where I stopped counting: %s.", which, maxFiles, strings.Join(kinds, ", "))
	}
	return fmt.Sprintf("**Files** %s: %d, of which %s.", which, total, strings.Join(kinds, ", "))
}

// commits says what git answered to askGit.
func commits(r result) string {
	if !r.ran() {
		return "**git:** not asked. " + r.why()
	}
	_, rows := r.command()
	if r.failed || len(rows) == 0 {
		return "**git:** it names no commits."
	}
	on := ""
	if _, head, ok := strings.Cut(rows[0], "HEAD -> "); ok {
		if end := strings.IndexAny(head, ",)"); end > 0 {
			on = " on branch " + code(head[:end])
		}
	}
	return fmt.Sprintf("**git:** the latest commits%s:\n\n%s", on, block("", rows[:min(len(rows), maxCommits)]))
}

// headOf says how a file begins.
func headOf(r result, name string) string {
	f, ok := r.reading()
	if !ok {
		if r.failed {
			return fmt.Sprintf("**%s:** not read. %s", code(name), r.why())
		}
		first, _, _ := strings.Cut(r.text, "\n")
		return fmt.Sprintf("**%s** is no text: %s.", code(name), code(first))
	}
	lines := slices.DeleteFunc(slices.Clone(f.lines), func(s string) bool { return strings.TrimSpace(s) == "" })
	long := text.Plural(f.total, "line")
	if len(lines) == 0 {
		return fmt.Sprintf("**%s** has %s, and nothing stands in those that I see.", code(name), long)
	}
	return fmt.Sprintf("**%s** has %s and begins like this:\n\n%s", code(name), long, block("", lines[:min(len(lines), headShown)]))
}

// readFile reads the file that the person names, or the one that says most about the workspace.
func readFile(t *turn) {
	name := t.object
	if name == "" {
		listed, ok := t.one("You named no file, so I look what there is.", read(".", listLines))
		if !ok {
			return
		}
		here, ok := listed.listing()
		if !ok {
			t.end(listed.why(), "So I have read nothing.")
			return
		}
		if name = here.first(); name == "" {
			t.end("The top folder has neither a README nor a source file.", "Name a file, for example \"read docs/notes.txt\", and I read that.")
			return
		}
	}
	seen, ok := t.one("I read "+code(name)+".", read(name, maxLines))
	if !ok {
		return
	}
	if here, ok := seen.listing(); ok {
		t.end(fmt.Sprintf("**%s** is a folder: %s.", code(name), here.contents()), "That was a list of names and no file.")
		return
	}
	if seen.failed {
		t.end(headOf(seen, name), "So I have read nothing.")
		return
	}
	t.end(headOf(seen, name), "A script stops here; a model could tell you what it means.")
}

// foundRows reads a result of search: its first line, and one row for each place.
func foundRows(r result) (head string, rows []string) {
	head, body, _ := strings.Cut(r.text, "\n")
	if r.failed || strings.HasPrefix(head, "no match") {
		return head, nil
	}
	for row := range strings.Lines(body) {
		if row = strings.TrimRight(row, "\n"); row != "" && !strings.HasPrefix(row, "[") && len(rows) < maxFound {
			rows = append(rows, row)
		}
	}
	return head, rows
}

// anyWord is what is searched for when the person names nothing.
const anyWord = "TODO"

// searchWord searches for what the person names.
func searchWord(t *turn) {
	word := cmp.Or(t.object, anyWord)
	found, ok := t.one("I search the workspace for "+code(word)+".", search(word, "", "literal", maxFound))
	if !ok {
		return
	}
	head, rows := foundRows(found)
	switch {
	case found.failed:
		t.end(found.why(), "Nothing was found out.")
	case len(rows) == 0:
		t.end("The tool says: "+clipped(head, maxSentence)+".", "So the word is not in the files that were searched.")
	default:
		t.end("The tool says: "+clipped(head, maxSentence)+".", block("", rows[:min(len(rows), foundShown)]), "These are the first places, as they were found.")
	}
}

// readTwo makes two reads in one answer.
func readTwo(t *turn) {
	listed, ok := t.one("I look which files there are.", read(".", listLines))
	if !ok {
		return
	}
	here, ok := listed.listing()
	if !ok {
		t.end(listed.why(), "So I have read nothing.")
		return
	}
	names := slices.DeleteFunc(slices.Clone(here.names), func(s string) bool { return strings.ContainsAny(s, ` "`) })
	if len(names) < 2 {
		t.end("The top folder has fewer than two plain files, and this scene needs two.", "Nothing was read at once.")
		return
	}
	names = names[:2]
	say := fmt.Sprintf("Now I read %s and %s in one answer. Reads change nothing, so octavo runs them together.", code(names[0]), code(names[1]))
	both, ok := t.do(say, read(names[0], headLines), read(names[1], headLines))
	if !ok {
		return
	}
	t.end(headOf(both[0], names[0]), headOf(both[1], names[1]), "Both results came back in the order of the calls, whichever was ready first.")
}
