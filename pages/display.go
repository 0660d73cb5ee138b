// Package pages is plain data that any front end can draw: what a tool shows, later page documents and presentation
// snapshots, each with its bounds. It knows no model, session, terminal or colour.
package pages

// Display is what the result of a tool shows a person beside what the model reads. Text beside a Diff says of the change what its
// lines cannot.
type Display struct {
	Title string `json:"title,omitempty"` // one line
	Diff  *Diff  `json:"diff,omitempty"`
	Text  string `json:"text,omitempty"` // preformatted lines
}

// Diff is the change of one file as unified hunks. An empty Hunks with New, Removed and Binary false means the bytes did not
// change.
type Diff struct {
	Path    string `json:"path"`              // as a person would name it, relative to the workspace where it lies inside
	New     bool   `json:"new,omitempty"`     // the file did not exist before
	Removed bool   `json:"removed,omitempty"` // the file does not exist after
	Added   int    `json:"added"`             // lines, counted over the whole change even when Cut
	Deleted int    `json:"deleted"`           // lines, counted over the whole change even when Cut
	Binary  bool   `json:"binary,omitempty"`  // a side is no text and counts as no lines
	Hunks   []Hunk `json:"hunks,omitempty"`
	Cut     bool   `json:"cut,omitempty"` // hunks beyond MaxDiffLines were left out, or a line was cut at MaxDiffLineBytes: not to be applied
}

// Hunk is a run of changed lines with their context. Line numbers count from 1; a side without lines has its start at the
// line before, as in a unified diff.
type Hunk struct {
	OldStart int        `json:"old_start"`
	OldLines int        `json:"old_lines"`
	NewStart int        `json:"new_start"`
	NewLines int        `json:"new_lines"`
	Lines    []DiffLine `json:"lines"`
}

// DiffLine is one line of a hunk, without its line ending.
type DiffLine struct {
	Op    LineOp `json:"op"`
	Text  string `json:"text"`
	NoEOL bool   `json:"no_eol,omitempty"` // the file ends here without a line ending
}

// LineOp says on which side of a change a line stands.
type LineOp string

const (
	LineSame    LineOp = " "
	LineAdded   LineOp = "+"
	LineDeleted LineOp = "-"
)

const (
	// MaxDiffLines is how many lines a Diff carries at most; the counts go on.
	MaxDiffLines = 2000
	// MaxDiffLineBytes is where a single line of a Diff is cut.
	MaxDiffLineBytes = 1024
	// MaxReviewLines and MaxReviewBytes are how large a change may be that a person is asked to approve: changed lines, and bytes of
	// all lines that the diff shows. Nobody can be asked about more than that.
	MaxReviewLines = 5000
	MaxReviewBytes = 512 << 10
)
