package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/pages/text"
)

const (
	// maxQueryBytes bounds what is searched for (product.md 6).
	maxQueryBytes = 64 << 10
	// defaultMatches and maxMatches are how many matches a search gives when it does not say, and at most.
	defaultMatches = 50
	maxMatches     = 1000
	// maxContext is how many lines around a match can be asked for (product.md 6).
	maxContext = 1000
	// searchTime is when a search stops with what it has found.
	searchTime = 30 * time.Second
	// searchNoteBytes is what the lines before and after the rows take, generously.
	searchNoteBytes = 512
)

// searchBounds are those bounds of a search that tests make smaller, since they cannot be reached in the time of a test.
type searchBounds struct {
	time  time.Duration // searchTime
	files int           // maxWalked
}

const searchSchema = `{
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1, "description": "Text to find within one line."},
    "path": {"type": "string", "minLength": 1, "description": "Directory or file to search. Default: the workspace."},
    "glob": {"type": "string", "minLength": 1, "description": "Only files that fit: *.go, src/**/*.ts, *.{c,h}; !*_test.go excludes."},
    "mode": {"type": "string", "enum": ["literal", "regex"], "description": "How query is read. Default literal."},
    "max_results": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Matching lines at most. Default 50."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "The same as max_results."},
    "ignoreCase": {"type": "boolean", "description": "Upper and lower case are the same. Default false."},
    "context": {"type": "integer", "minimum": 0, "maximum": 1000, "description": "Lines to show before and after each match. Default 0."},
    "hidden": {"type": "boolean", "description": "Search files and directories whose names begin with a dot, too. Default true."}
  },
  "required": ["query"],
  "additionalProperties": false
}`

type searchArgs struct {
	Query      string  `json:"query"`
	Path       *string `json:"path"`
	Glob       string  `json:"glob"`
	Mode       string  `json:"mode"`
	MaxResults *count  `json:"max_results"`
	Limit      *count  `json:"limit"`
	IgnoreCase bool    `json:"ignoreCase"`
	Context    count   `json:"context"`
	Hidden     *bool   `json:"hidden"`
}

// where is the path that is searched.
func (a searchArgs) where() string {
	if a.Path == nil {
		return "."
	}
	return *a.Path
}

// query is a search in the terms of the engines.
type query struct {
	text       string
	regex      bool
	ignoreCase bool
	hidden     bool
	context    int
	max        int
	glob       glob

	dir  string                  // absolute, where it begins
	file string                  // the only file to search, in dir; "" for all
	full func(rel string) string // path of a file, as the tools name files
}

// wants reports whether a file is to be searched. A file that was named is, whatever the glob.
func (q *query) wants(rel string) bool {
	return q.file != "" || q.glob.fits(rel, q.full(rel))
}

// query checks the arguments but for the path.
func (a searchArgs) query() (*query, error) {
	q := &query{text: a.Query, ignoreCase: a.IgnoreCase, hidden: true, context: int(a.Context), max: defaultMatches}
	for _, limit := range []*count{a.Limit, a.MaxResults} {
		if limit != nil {
			q.max = int(*limit)
		}
	}
	if a.Hidden != nil {
		q.hidden = *a.Hidden
	}
	switch a.Mode {
	case "", "literal":
	case "regex":
		q.regex = true
	default:
		return nil, refuse(badArguments, "the mode is literal or regex, not %s", printable(a.Mode))
	}
	var err error
	q.glob, err = parseGlob(a.Glob)
	switch {
	case err != nil:
		return nil, err
	case q.text == "":
		return nil, refuse(badArguments, "the query is empty")
	case len(q.text) > maxQueryBytes:
		return nil, refuse(tooLarge, "the query has %s; at most %s can be searched for", text.Bytes(int64(len(q.text))), text.Bytes(maxQueryBytes))
	case strings.ContainsAny(q.text, "\x00\n\r"):
		return nil, refuse(badArguments, "the query has a line ending or NUL; matches lie within one line, so search for a part of one")
	case q.max < 1 || q.max > maxMatches:
		return nil, refuse(badArguments, "max_results is between 1 and %d", maxMatches)
	case q.context < 0 || q.context > maxContext:
		return nil, refuse(badArguments, "context is between 0 and %d", maxContext)
	}
	return q, nil
}

func (t *tools) searchTool() ext.Tool {
	return ext.Tool{
		Name: "search",
		Description: "Find lines in files. Gives path:line and the line, sorted by path, and the number of matches. " +
			"Files that git ignores, binary files and .git are left out.",
		Parameters: json.RawMessage(searchSchema),
		Intent:     intent[searchArgs](t, "search", policy.WorkspaceRead, policy.HostRead),
		Invoke:     invoke(t, t.search),
		Describe: describe("search", func(a searchArgs) string {
			line := quoted(a.Query)
			if where := t.named(a.where()); where != "." {
				line += " in " + where
			}
			if a.Glob != "" {
				line += " (" + printable(text.Clip(a.Glob, maxQuotedRunes)) + ")"
			}
			return line
		}),
	}
}

// maxQuotedRunes is how much of a query is repeated.
const maxQuotedRunes = 60

func quoted(query string) string { return fmt.Sprintf("%q", text.Clip(query, maxQuotedRunes)) }

// place puts the search where its path leads.
func (q *query) place(p place) error {
	if p.missing() {
		return refuse(ioFailed, "%s", absence(p))
	}
	if !p.info.IsDir() && p.info.Size() > maxFileBytes {
		return refuse(tooLarge, "%s has %s; files up to %s are searched. Use bash with grep", p.shown, text.Bytes(p.info.Size()), text.Bytes(maxFileBytes))
	}
	raw := p.abs
	if p.inside {
		raw = p.name
	}
	if p.info.IsDir() {
		q.dir = p.abs
		q.full = func(rel string) string { return path.Join(raw, rel) }
		return nil
	}
	q.dir, q.file = filepath.Split(p.abs)
	q.full = func(string) string { return raw }
	return nil
}

func (t *tools) search(c *ext.Call, a searchArgs) (ext.Output, error) {
	q, err := a.query()
	if err != nil {
		return ext.Output{}, err
	}
	p, err := t.at(a.where())
	if err != nil {
		return ext.Output{}, err
	}
	if err := q.place(p); err != nil {
		return ext.Output{}, err
	}
	found := &hits{max: q.max, context: q.context, room: t.MaxOutputBytes}
	ctx, stop := context.WithTimeoutCause(c, t.bounds.time, errLate)
	defer stop()
	if rg := t.ripgrep(); rg != "" {
		err = ripgrep(ctx, rg, q, found)
	} else {
		err = walk(ctx, q, t.bounds.files, found)
	}
	if err != nil && !errors.Is(context.Cause(ctx), errLate) {
		return ext.Output{}, refuseOS("search "+p.shown, err)
	}
	found.late = err != nil
	found.close()
	return t.report(q, p, found), nil
}

var errLate = errors.New("the search takes too long")

// report writes the result of a search.
func (t *tools) report(q *query, p place, h *hits) ext.Output {
	what := fmt.Sprintf("%s (%s) in %s", quoted(q.text), q.manner(), p.shown)
	if q.glob.written != "" {
		what += ", glob " + printable(q.glob.written)
	}
	if h.matches == 0 {
		body := "no match for " + what
		if h.late {
			body += " so far"
		} else {
			body += "; searched " + q.scope(h.searched)
		}
		return titled(body+"\n"+t.caveats(h), "no match for "+what)
	}
	count := fmt.Sprintf("%s in %s", text.Plural(h.matches, "match"), text.Plural(len(h.files), "file"))
	var rows strings.Builder
	h.write(&rows, t.MaxOutputBytes-searchNoteBytes-len(what), func(rel string) string { return printable(q.full(rel)) })
	return titled(count+" for "+what+"\n"+rows.String()+t.caveats(h), count+" for "+what)
}

// caveats are the lines that say what a result does not show.
func (t *tools) caveats(h *hits) string {
	var b strings.Builder
	switch {
	case h.full:
		fmt.Fprintf(&b, "[the result is full at %s, there is more: narrow query, path or glob, or ask for less context]\n", text.Bytes(int64(t.MaxOutputBytes)))
	case h.more:
		fmt.Fprintf(&b, "[stopped at %s, there are more: narrow query, path or glob, or raise max_results]\n", text.Plural(h.matches, "match"))
	case h.capped:
		fmt.Fprintf(&b, "[only the first %s were searched: narrow path or glob]\n", text.Plural(t.bounds.files, "file"))
	case h.late:
		fmt.Fprintf(&b, "[stopped after %s, not everything was searched: narrow path or glob]\n", text.Duration(t.bounds.time))
	}
	if h.omitted > 0 {
		fmt.Fprintf(&b, "[%s on lines too long to be shown]\n", text.Plural(h.omitted, "match"))
	}
	return b.String()
}

// scope says which files were looked into.
func (q *query) scope(searched int) string {
	if q.file != "" {
		return "that file"
	}
	scope := text.Plural(searched, "file")
	switch {
	case q.glob.written != "":
		scope = "the files that fit" // ripgrep counts more when the glob is about directories
	case searched == 0:
		scope = "every file" // ripgrep counts none when it finds nothing
	}
	scope += ", without what git ignores, binary files and .git"
	if !q.hidden {
		scope += ", and without hidden files"
	}
	return scope
}

func (q *query) manner() string {
	manner := "literal"
	if q.regex {
		manner = "regex"
	}
	if q.ignoreCase {
		manner += ", any case"
	}
	return manner
}

func badRegex(why string) error {
	return refuse(badArguments, "the query is no regular expression: %s; with mode literal it would be taken as it is", why)
}
