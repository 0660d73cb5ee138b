// Package files is the built-in extension of the four file tools: read, search, edit and write (product.md 6, decision 5). It
// knows the workspace and the policy it was made with; it knows no session's conversation, no screen and no other tool.
//
// Paths are resolved before anything is opened, every symbolic link followed, and what lies outside the workspace is told from
// what lies inside (path.go). Text is read in whatever encoding it is in and written back in the same (text.go). Changes go
// through one door (change.go): a file is replaced as a whole or not at all (replace.go), by one call at a time (lock.go), never
// when something else changed it since the session last read it (seen.go), and as the person saw it who was asked (review.go).
package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"octavo/ext"
	"octavo/sessionstore"
)

// Name is the extension's name.
const Name = "files"

// Bounds of Options.MaxOutputBytes (product.md 4, max_output_bytes), in bytes.
const (
	DefaultOutputBytes = 50 << 10
	MinOutputBytes     = 1 << 10
	MaxOutputBytes     = 1 << 20
)

// Options is what configuration says about file tools. The zero value offers read alone, inside the workspace.
type Options struct {
	MaxOutputBytes int  // text of one result for the model; 0 is DefaultOutputBytes, others are clamped to the bounds
	ExternalPaths  bool // paths outside the workspace may be used, unless the session's policy keeps inside it
	AllowEdit      bool // offers edit
	AllowWrite     bool // offers write
	Search         bool // offers search
}

// What the model is told beside the tools' own descriptions.
const (
	useInstructions  = "For files use the file tools rather than shell commands; their paths are relative to the workspace."
	editInstructions = "edit replaces exact text that is in the file once: copy it from what read shows, without the line numbers, " +
		"and give several changes of one file in one call as edits."
	writeInstructions = "write makes a new file, or replaces the whole of one that was read before."
	staleInstructions = "A refusal that begins with stale_file means that something else changed the file, for example a formatter or the person: read it again."
)

// New makes the extension.
func New(o Options) ext.Extension {
	return newExtension(o).declare()
}

func newExtension(o Options) *extension {
	o.MaxOutputBytes = outputBytes(o.MaxOutputBytes)
	return &extension{Options: o, ripgrep: sync.OnceValue(findRipgrep), bounds: searchBounds{searchTime, maxWalked}}
}

func (x *extension) declare() ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "read, search, edit and write files",
		Required:    true,
		Source:      "built-in",
		Ledger:      tables(),
		Prepare:     x.prepare,
	}
}

// tables describes what the extension stores.
func tables() *sessionstore.LedgerSpec {
	return &sessionstore.LedgerSpec{
		Extension: Name,
		Schema:    []sessionstore.Migration{{Name: "seen", Apply: createSeenTable}, {Name: "temp", Apply: createTempTable}},
		Clean: func(_ context.Context, tx *sessionstore.Tx, session string) error {
			return tx.Exec("DELETE FROM x_files_seen WHERE session = ?", session)
		},
	}
}

func outputBytes(n int) int {
	if n == 0 {
		return DefaultOutputBytes
	}
	return min(max(n, MinOutputBytes), MaxOutputBytes)
}

// findRipgrep looks for ripgrep on PATH; "" when there is none, or only one in a relative directory.
func findRipgrep() string {
	path, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	return path
}

// extension is what the sessions of a process share.
type extension struct {
	Options
	ripgrep func() string // path of ripgrep, "" without it
	bounds  searchBounds
	locks   locks
	replacer
}

// tools is what the tools of one session share.
type tools struct {
	*extension
	workspace
	seen    *seen
	temps   temps
	reviews reviews
}

func (x *extension) prepare(ctx context.Context, p ext.Prep) (*ext.Contribution, error) {
	root, err := filepath.EvalSymlinks(p.Workspace)
	if err != nil {
		return nil, fmt.Errorf("the workspace cannot be used: %w", err)
	}
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("the workspace %s is no absolute path", p.Workspace)
	}
	home, _ := os.UserHomeDir() // without one, "~/" is refused
	if !filepath.IsAbs(home) {
		home = ""
	}
	t := &tools{
		extension: x,
		workspace: workspace{root: root, home: home, external: x.ExternalPaths && !p.Policy.WorkspaceOnly()},
		seen:      newSeen(p.Session, p.Ledger),
		temps:     temps{p.Ledger},
	}
	t.temps.sweep(ctx)
	offered := []ext.Tool{t.readTool()}
	told := []string{useInstructions}
	if x.Search {
		offered = append(offered, t.searchTool())
	}
	if x.AllowEdit {
		offered, told = append(offered, t.editTool()), append(told, editInstructions)
	}
	if x.AllowWrite {
		offered, told = append(offered, t.writeTool()), append(told, writeInstructions)
	}
	if x.AllowEdit || x.AllowWrite {
		told = append(told, staleInstructions)
	}
	return &ext.Contribution{Instructions: strings.Join(told, "\n"), Tools: offered}, nil
}
