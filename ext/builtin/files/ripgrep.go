package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"octavo/ext/spawn"
	"octavo/pages/text"
)

const (
	// maxEventBytes bounds one line of ripgrep's output. A line of the largest file searched fits, unless it is mostly escapes.
	maxEventBytes = maxFileBytes + maxFileBytes/2
	// maxComplaintBytes is how much of what ripgrep complains about is kept.
	maxComplaintBytes = 2 << 10
)

// ripgrep searches with the program at path. It walks and matches; what it finds is filtered, clipped and counted as the
// other engine's finds are.
func ripgrep(ctx context.Context, program string, q *query, found *hits) error {
	events := &eventReader{query: q, found: found}
	complaint := &head{max: maxComplaintBytes}
	result, err := spawn.Run(ctx, spawn.Command{Path: program, Args: ripgrepArgs(q), Dir: q.dir, Stdout: events, Stderr: complaint})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	case result.ExitCode == 2 && complaint.Len() > 0 && q.regex:
		return badRegex(complaint.said())
	case result.ExitCode > 1 && complaint.Len() > 0, result.ExitCode > 2, result.Signal != 0:
		return fmt.Errorf("ripgrep ended with status %d, signal %d: %s", result.ExitCode, result.Signal, complaint.said())
	}
	return nil // 0: found, 1: nothing found, 2 in silence: some files could not be read
}

func ripgrepArgs(q *query) []string {
	args := []string{
		"--json", "--no-config", "--no-messages", "--sort", "path", "--crlf",
		"--no-ignore-dot", // only git's rules, as without ripgrep
		"--glob", "!.git",
		fmt.Sprintf("--max-filesize=%d", maxFileBytes),
		fmt.Sprintf("--context=%d", q.context),
	}
	if !q.regex {
		args = append(args, "--fixed-strings")
	}
	if q.ignoreCase {
		args = append(args, "--ignore-case")
	} else {
		args = append(args, "--case-sensitive")
	}
	if q.hidden {
		args = append(args, "--hidden")
	}
	// A type leaves files out without bringing ignored ones back, which a --glob would.
	if name := q.glob.name(); name != "" {
		args = append(args, "--type-add", "octavo:"+name, "--type", "octavo")
	}
	return append(args, "-e", q.text, "--", "./"+q.file)
}

// event is one line of ripgrep's output.
type event struct {
	Type string `json:"type"`
	Data struct {
		Path       blob `json:"path"`
		Lines      blob `json:"lines"`
		Line       int  `json:"line_number"`
		Submatches []struct {
			Start int `json:"start"`
		} `json:"submatches"`
		BinaryOffset *int64 `json:"binary_offset"`
		Stats        struct {
			Searches int `json:"searches"`
		} `json:"stats"`
	} `json:"data"`
}

// blob is text, or bytes where it is no UTF-8.
type blob struct {
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
}

func (b blob) content() []byte {
	if b.Bytes != nil {
		return b.Bytes
	}
	return []byte(b.Text)
}

var errEnough = errors.New("enough was found")

// eventReader takes ripgrep's output as it comes. Its Write fails with errEnough when no more is wanted, which ends ripgrep.
type eventReader struct {
	query *query
	found *hits

	line   []byte // the beginning of an event
	skip   bool   // the rest of a line that is too long is left out
	wanted bool   // rows of the current file are
}

func (e *eventReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece, after, complete := bytes.Cut(rest, []byte("\n"))
		rest = after
		switch {
		case e.skip:
		case len(e.line)+len(piece) > maxEventBytes:
			e.skip = true
			if bytes.HasPrefix(append(e.line, piece[:min(len(piece), 20)]...), []byte(`{"type":"match"`)) {
				e.found.omitted++
			}
			e.line = nil
		default:
			e.line = append(e.line, piece...)
		}
		if !complete {
			continue
		}
		if !e.skip && !e.take(e.line) {
			return 0, errEnough
		}
		e.line, e.skip = e.line[:0], false
	}
	return len(p), nil
}

// take reads one event and reports whether more are wanted.
func (e *eventReader) take(line []byte) bool {
	var ev event
	if json.Unmarshal(line, &ev) != nil {
		return true // not ours to understand; the status says whether it failed
	}
	switch ev.Type {
	case "begin":
		path := strings.TrimPrefix(string(ev.Data.Path.content()), "./")
		if e.wanted = e.query.wants(path); e.wanted {
			e.found.begin(path)
		}
	case "match", "context":
		if !e.wanted {
			return true
		}
		start := 0
		if len(ev.Data.Submatches) > 0 {
			start = ev.Data.Submatches[0].Start
		}
		return e.found.add(row{ev.Data.Line, excerpt(ev.Data.Lines.content(), start), ev.Type == "match"})
	case "end":
		if e.wanted {
			e.found.end(ev.Data.BinaryOffset == nil)
		}
		e.wanted = false
	case "summary":
		e.found.searched = ev.Data.Stats.Searches
	}
	return true
}

// head keeps the first max bytes that are written to it.
type head struct {
	bytes.Buffer
	max int
}

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.WriteString(text.CutBytes(string(p), h.max-h.Len()))
	return len(p), nil
}

// said is what was written as one line.
func (h *head) said() string { return text.CleanLine(squeeze(h.String())) }
