package files

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"octavo/pages/text"
)

const (
	// maxRowRunes is where a line of a search result is clipped (product.md 6), in characters.
	maxRowRunes = 300
	// rowLead is how many bytes before a match far along its line are shown.
	rowLead = 80
)

// row is one line of a search result.
type row struct {
	line  int
	text  string // clipped
	match bool   // else it is context
}

// fileHits are the rows of one file, in order.
type fileHits struct {
	path    string // relative to the searched directory
	rows    []row
	matches int
}

// hits gathers what a search finds, in order, until there is enough. The engines feed it and stop when it says so.
type hits struct {
	max     int // matches
	context int // lines around each
	room    int // bytes of rows, roughly

	files    []fileHits
	matches  int
	bytes    int
	searched int  // files looked into
	more     bool // there are matches beyond max
	full     bool // there is no more room
	late     bool // the deadline came first
	capped   bool // there are too many files to search them all
	omitted  int  // matches that no row can show
}

func (h *hits) enough() bool { return h.more || h.full }

// begin starts a file, whose rows follow.
func (h *hits) begin(path string) { h.files = append(h.files, fileHits{path: path}) }

// add takes the next row of the file that was begun and reports whether more are wanted.
func (h *hits) add(r row) bool {
	if h.enough() {
		return false
	}
	f := &h.files[len(h.files)-1]
	switch {
	case r.match && h.matches == h.max:
		h.more = true
	case h.bytes > h.room:
		h.full = true
	default:
		f.rows = append(f.rows, r)
		h.bytes += len(f.path) + len(r.text) + 8
		if r.match {
			f.matches++
			h.matches++
		}
		return true
	}
	f.rows = f.rows[:h.settled(f)]
	return false
}

// settled is how many rows of a file belong to matches among them: context before a match that is not taken does not.
func (h *hits) settled(f *fileHits) int {
	last := -1
	for i, r := range f.rows {
		if r.match {
			last = i
		}
	}
	if last < 0 {
		return 0
	}
	n := last + 1
	for n < len(f.rows) && f.rows[n].line <= f.rows[last].line+h.context {
		n++
	}
	return n
}

// end finishes the file that was begun; one that turned out to be no text is taken out again.
func (h *hits) end(isText bool) {
	last := len(h.files) - 1
	f := h.files[last]
	if isText && f.matches > 0 {
		return
	}
	h.files = h.files[:last]
	h.matches -= f.matches
	for _, r := range f.rows {
		h.bytes -= len(f.path) + len(r.text) + 8
	}
}

// close drops a file that was cut short before its first match.
func (h *hits) close() {
	if last := len(h.files) - 1; last >= 0 && h.files[last].matches == 0 {
		h.files = h.files[:last]
	}
}

// take adds what was found in one file by itself.
func (h *hits) take(f fileHits) {
	h.begin(f.path)
	for _, r := range f.rows {
		if !h.add(r) {
			break
		}
	}
	h.end(true)
}

// write shows the rows in at most room bytes. name turns a file's path into the one that is shown.
func (h *hits) write(b *strings.Builder, room int, name func(string) string) {
	for _, f := range h.files {
		shown := name(f.path)
		for i, r := range f.rows {
			line := fmt.Sprintf("%s-%d  %s\n", shown, r.line, r.text)
			if r.match {
				line = fmt.Sprintf("%s:%d  %s\n", shown, r.line, r.text)
			}
			if gap := h.context > 0 && b.Len() > 0 && (i == 0 || f.rows[i-1].line+1 < r.line); gap {
				line = "--\n" + line
			}
			if b.Len()+len(line) > room {
				h.full = true
				return
			}
			b.WriteString(line)
		}
	}
}

// excerpt is a line as a result shows it, clipped around the match that begins at start. Bytes that are not UTF-8 are read as
// Windows-1252, as read does.
func excerpt(line []byte, start int) string {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	from := 0
	if start > maxRowRunes-rowLead && len(line) > maxRowRunes {
		from = min(start-rowLead, len(line))
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	// One character more than is shown, so that clipping sees whether there is more.
	const window = (maxRowRunes + 1) * utf8.UTFMax
	rest := line[from:]
	shown := text.CutBytes(string(rest[:min(len(rest), window+utf8.UTFMax)]), window)
	if !utf8.ValidString(shown) {
		shown = windows1252.decode([]byte(shown))
	}
	shown = text.Clip(shown, maxRowRunes)
	if from > 0 {
		shown = "…" + shown
	}
	return strings.ReplaceAll(shown, "\x00", "␀")
}
