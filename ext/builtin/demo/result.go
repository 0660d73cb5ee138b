package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"octavo/ext/model"
	"octavo/pages/text"
)

const (
	// maxResult is how much of a result is read, in bytes. Whatever is beyond is left to a model.
	maxResult = 256 << 10
	// maxLines is how many lines of a file are asked for, and taken.
	maxLines = 200
)

// result is what came of a call.
type result struct {
	text    string
	failed  bool
	refusal string // why the call did not run, or what its tool refused; "" when it ran
}

// readResult reads what a model is told: the text of the tool, or {"error": why} where there is none. nil is no result.
func readResult(r *model.ToolResult) result {
	if r == nil {
		return result{failed: true, refusal: "it has no result"}
	}
	out := result{text: text.CutBytes(model.PlainText(r.Parts), maxResult), failed: r.IsError}
	var told struct {
		Error string `json:"error"`
	}
	if r.IsError && strings.HasPrefix(out.text, "{") && json.Unmarshal([]byte(out.text), &told) == nil {
		out.refusal = told.Error
	}
	return out
}

// refusals are what octavo says of calls that did not run to their end, and what that means in words of the script.
var refusals = []struct{ begins, means string }{
	{"the person refused this call: ", "You refused the call with the words %s. It did not run, and that is that."},
	{"the person refused this call", "You refused the call. It did not run, and that is that."},
	{"the policy ", "octavo refused the call: %s."},
	{"not run", "The call did not run, because the turn was interrupted first."},
	{"interrupted by the person", "You interrupted the call. What it had done by then is done."},
	{"cancelled: ", "You interrupted the call. What it had done by then is done."},
	{"timeout: ", "The command took too long and was ended."},
}

// why says what became of a call that failed.
func (r result) why() string {
	told := r.refusal
	if told == "" {
		told = r.text
	}
	for _, known := range refusals {
		rest, ok := strings.CutPrefix(told, known.begins)
		if !ok {
			continue
		}
		if !strings.Contains(known.means, "%s") {
			return known.means
		}
		if known.begins == "the policy " {
			rest = told
		}
		return fmt.Sprintf(known.means, clipped(rest, maxSentence))
	}
	return fmt.Sprintf("The call failed: %s.", clipped(told, maxSentence))
}

// reading is a result of read for a text file.
type reading struct {
	name        string // as the tool names the file: where its path led, relative to the workspace
	hash        string // SHA-256 of all of it
	last, total int    // lines that are shown, from the first, and that there are
	lines       []string
}

// reading reads a result of read; false when it is none of a text file.
func (r result) reading() (reading, bool) {
	head, body, _ := strings.Cut(r.text, "\n")
	name, facts, ok := cutLast(head, ": lines ")
	f := reading{name: name, hash: hashIn(head)}
	if !ok {
		name, _, empty := cutLast(head, " is empty, hash=")
		f.name = name
		return f, !r.failed && empty && f.hash != ""
	}
	first := 0
	if n, _ := fmt.Sscanf(facts, "%d-%d of %d", &first, &f.last, &f.total); r.failed || n != 3 || f.hash == "" {
		return reading{}, false
	}
	for row := range strings.Lines(body) {
		if number, line, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " | "); ok && isNumber(strings.TrimSpace(number)) {
			f.lines = append(f.lines, line)
		}
		if len(f.lines) == maxLines {
			break
		}
	}
	return f, true
}

func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil }

// cutLast cuts s around the last separator.
func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// hashDigits is how long a SHA-256 is in hexadecimal.
const hashDigits = 64

// hashIn finds the hash that a line of a file tool names; "" when it names none.
func hashIn(line string) string {
	_, rest, _ := cutLast(line, "hash=")
	if len(rest) < hashDigits || strings.Trim(rest[:hashDigits], "0123456789abcdef") != "" {
		return ""
	}
	return rest[:hashDigits]
}

// listing is a result of read for a directory: what is in it, sorted by name.
type listing struct {
	names []string // rows of what is no directory: a plain file's is its name
	dirs  []string
	whole bool // there is no more
}

// listing reads a result of read; false when it is none of a directory.
func (r result) listing() (listing, bool) {
	head, body, _ := strings.Cut(r.text, "\n")
	if r.failed || strings.HasSuffix(head, " is an empty directory") {
		return listing{whole: true}, !r.failed
	}
	if !strings.Contains(head, " is a directory with ") {
		return listing{}, false
	}
	l := listing{whole: !strings.Contains(head, " is a directory with more than ")}
	for row := range strings.Lines(body) {
		row = strings.TrimSuffix(row, "\n")
		if dir, ok := strings.CutSuffix(row, "/"); ok {
			l.dirs = append(l.dirs, dir)
		} else if strings.HasPrefix(row, "[") && strings.Contains(row, " more; continue with offset=") {
			l.whole = false
		} else if row != "" {
			l.names = append(l.names, row)
		}
	}
	return l, true
}

// has reports whether something has a name, in whatever case: to some file systems it is the same. Rows of what is neither a plain
// file nor a directory go on in parentheses.
func (l listing) has(name string) bool {
	same := func(row string) bool {
		bare, _, _ := strings.Cut(row, " (")
		return strings.EqualFold(row, name) || strings.EqualFold(bare, name)
	}
	return slices.ContainsFunc(l.names, same) || slices.ContainsFunc(l.dirs, same)
}

// command reads a result of bash: how the command ended, in the words of the tool, and the lines that it printed.
func (r result) command() (status string, output []string) {
	for row := range strings.Lines(r.text) {
		row = strings.TrimRight(row, "\r\n")
		switch {
		case status == "":
			status = row
		case strings.HasPrefix(row, "[complete_") || strings.HasPrefix(row, "[truncated_") || strings.HasPrefix(row, "[binary_"):
		case row == "(no output)":
		default:
			output = append(output, row)
		}
	}
	return status, output
}

// ran reports whether a command began: then there is a status, also when it failed.
func (r result) ran() bool {
	status, _, _ := strings.Cut(r.text, "\n")
	return r.refusal == "" && (strings.Contains(status, "exit_status=") || strings.Contains(status, "signal="))
}
