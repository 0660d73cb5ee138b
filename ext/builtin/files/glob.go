package files

import (
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxGlobBytes = 1024
	// maxBraces bounds the alternatives of a glob, each brace of which at least doubles the work.
	maxBraces = 6
)

// glob narrows a search to files whose path fits a pattern. Both engines filter through it, so that a pattern means the same
// with and without ripgrep. Without a slash it is about the file's name, in any directory; with one about the path, from the
// searched directory or from the workspace. "dir/" is everything below any such directory. A leading "!" excludes instead. It
// never brings back what ignore rules leave out.
type glob struct {
	written string // as the model wrote it; "" fits everything
	pattern string
	negated bool
	whole   bool // the pattern is about the whole path
}

func parseGlob(written string) (glob, error) {
	if len(written) > maxGlobBytes || strings.Count(written, "{") > maxBraces {
		return glob{}, refuse(badArguments, "the glob is too complicated: at most %d bytes and %d braces are taken", maxGlobBytes, maxBraces)
	}
	g := glob{written: written, pattern: written}
	g.pattern, g.negated = strings.CutPrefix(g.pattern, "!")
	if dir, ok := strings.CutSuffix(g.pattern, "/"); ok && dir != "" {
		g.pattern = dir + "/**"
		if !strings.HasPrefix(dir, "/") {
			g.pattern = "**/" + g.pattern
		}
	}
	g.pattern = strings.TrimPrefix(strings.TrimPrefix(g.pattern, "/"), "./")
	if written != "" && (g.pattern == "" || !doublestar.ValidatePattern(g.pattern)) {
		return glob{}, refuse(badArguments, "the glob %s is not well formed; examples: *.go, src/**/*.ts, *.{c,h}, !*_test.go", printable(written))
	}
	g.whole = strings.Contains(g.pattern, "/") || strings.HasPrefix(written, "/")
	return g, nil
}

// fits reports whether a file is to be searched. rel is its path from the searched directory, full the one from the workspace.
func (g glob) fits(rel, full string) bool {
	if g.written == "" {
		return true
	}
	if !g.whole {
		return doublestar.MatchUnvalidated(g.pattern, path.Base(rel)) != g.negated
	}
	return (doublestar.MatchUnvalidated(g.pattern, rel) || doublestar.MatchUnvalidated(g.pattern, full)) != g.negated
}

// plainName is a pattern that every matcher of globs understands alike.
var plainName = regexp.MustCompile(`^[\w.*?-]*(\{[\w.*?,-]*\})?[\w.*?-]*$`)

// name is a pattern that the names of all fitting files match, for ripgrep to leave out others early; "" when there is none.
func (g glob) name() string {
	last := path.Base(g.pattern)
	if g.written == "" || g.negated || strings.Contains(last, "**") || !plainName.MatchString(last) {
		return ""
	}
	if strings.Count(g.pattern, "{") != strings.Count(last, "{") { // a brace may span a slash
		return ""
	}
	return last
}
