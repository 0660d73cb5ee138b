// Package files is the built-in extension of the four file tools: read, search, edit and write (product.md 6, decision 5). It
// knows the workspace and the policy it was made with; it knows no session's conversation, no screen and no other tool.
//
// Paths are resolved before anything is opened, every symbolic link followed, and what lies outside the workspace is told from
// what lies inside (path.go). Text is read in whatever encoding it is in and written back in the same (text.go). Changes go
// through one door (change.go): a file is replaced as a whole or not at all (replace.go), by one call at a time (lock.go), and
// never when something else changed it since the session last read it (seen.go).
package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/pages/text"
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
	MaxOutputBytes int         // text of one result for the model; 0 is DefaultOutputBytes, others are clamped to the bounds
	Policy         policy.Name // a controlled one keeps the tools inside the workspace whatever ExternalPaths says
	ExternalPaths  bool        // paths outside the workspace may be used
	AllowEdit      bool        // offers edit
	AllowWrite     bool        // offers write
	Search         bool        // offers search
}

const instructions = `File tools: paths are relative to the workspace. Use read, search, edit and write for files rather than shell commands.
Read a file before you change it. edit replaces exact text that is in the file once: copy it from what read shows, without the line numbers; give several changes of one file in one call as edits. write replaces a whole file, or creates one.
A refusal begins with one word. stale_file: something else changed the file (a formatter, the person), so read it again.`

// New makes the extension.
func New(o Options) ext.Extension {
	return newExtension(o).declare()
}

func newExtension(o Options) *extension {
	o.MaxOutputBytes = outputBytes(o.MaxOutputBytes)
	return &extension{Options: o, ripgrep: sync.OnceValue(findRipgrep)}
}

func (x *extension) declare() ext.Extension {
	return ext.Extension{
		Name:        Name,
		Description: "read, search, edit and write files",
		Required:    true,
		Source:      "built-in",
		Ledger:      seenTables(),
		Prepare:     x.prepare,
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
	locks   locks
	replacer
}

// tools is what the tools of one session share.
type tools struct {
	*extension
	workspace
	seen *seen
}

func (x *extension) prepare(_ context.Context, p ext.Prep) (*ext.Contribution, error) {
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
		workspace: workspace{root: root, home: home, external: x.ExternalPaths && !x.Policy.WorkspaceOnly()},
		seen:      newSeen(p.Session, p.Ledger),
	}
	c := &ext.Contribution{Instructions: instructions, Tools: []ext.Tool{t.readTool()}}
	if x.Search {
		c.Tools = append(c.Tools, t.searchTool())
	}
	if x.AllowEdit {
		c.Tools = append(c.Tools, t.editTool())
	}
	if x.AllowWrite {
		c.Tools = append(c.Tools, t.writeTool())
	}
	return c, nil
}

// target is the only thing about a call that classifying it needs.
type target struct {
	path string
	verb string
}

// intent classifies a call by where its path leads. A path that cannot be resolved leads nowhere known and is refused.
func (t *tools) intent(g target, inside, outside policy.Class) policy.Intent {
	p, err := t.locate(g.path)
	if err != nil {
		return policy.Intent{Class: policy.Unknown, Title: g.verb, Reason: err.Error()}
	}
	class := inside
	if !p.inside {
		class = outside
	}
	return policy.Intent{Class: class, Title: g.verb + " " + p.shown}
}

// at resolves the path of a call that is about to run.
func (t *tools) at(path string) (place, error) {
	p, err := t.locate(path)
	if err != nil {
		return place{}, err
	}
	return p, t.admit(p)
}

// describe is the object of a line about a call: the path as it was written, relative to the workspace where its text shows
// that it lies inside. It looks at no file.
func (t *tools) describe(path string) string {
	abs, err := t.absolute(path)
	if err != nil {
		return printable(path)
	}
	abs = filepath.Clean(abs)
	if rel, ok := below(t.root, abs); ok {
		return printable(rel)
	}
	return printable(abs)
}

// invoke wraps a tool's own function: arguments are decoded, every error is one that the model is told, and whatever the
// function did about its bounds, no text is longer than the model is to see.
func invoke[A any](t *tools, run func(*ext.Call, A) (ext.Output, error)) func(*ext.Call, json.RawMessage) (ext.Output, error) {
	return func(c *ext.Call, raw json.RawMessage) (ext.Output, error) {
		var args A
		var out ext.Output
		err := decode(raw, &args)
		if err == nil {
			out, err = run(c, args)
		}
		if err != nil {
			told := refuseOS("finish the call", err).Error()
			return ext.Output{}, ext.Refused(text.CutBytes(told, t.MaxOutputBytes))
		}
		for i, p := range out.Parts {
			out.Parts[i].Text = text.CutBytes(p.Text, t.MaxOutputBytes)
		}
		return out, nil
	}
}
