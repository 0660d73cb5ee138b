// Package shell is the built-in extension of the tool bash: one command line, run by a shell in a process group of its own
// (product.md 6). It knows the workspace and the policy it was made with; it knows no session's conversation, no screen and no
// other tool.
//
// How a command lives and dies is octavo/ext/spawn's. What it prints takes three ways (stream.go): as it came into a temporary
// file once it is too much (spill.go, spilldir.go), as cleaned text to the person while it runs (live.go), and as text for the model
// (result.go). Whether it may run without a question is decided from its syntax tree (readonly.go), word by word (word.go, inside.go), by
// a table of programs (rule.go, rules.go, find.go, git.go), and for git from the repository that it would obey (repository.go,
// gitconfig.go, gitindex.go).
package shell

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"octavo/ext"
)

// Name is the extension's name.
const Name = "shell"

// Bounds of Options.Timeout (product.md 4, bash_timeout_secs) and of a call's own timeout_ms.
const (
	DefaultTimeout = 120 * time.Second
	MinTimeout     = time.Second // of the option; a call may ask for as little as 1 ms
	MaxTimeout     = time.Hour
)

// Bounds of Options.MaxOutputBytes (product.md 4, max_output_bytes), in bytes.
const (
	DefaultOutputBytes = 50 << 10
	MinOutputBytes     = 1 << 10
	MaxOutputBytes     = 1 << 20
)

// Options is what configuration says about the shell.
type Options struct {
	ShellPath      string        // a Bash-compatible shell; "" looks for one
	Timeout        time.Duration // of a call that names none; 0 is DefaultTimeout, others are clamped to the bounds
	MaxOutputBytes int           // text of one result for the model; 0 is DefaultOutputBytes, others are clamped to the bounds
	TempDir        string        // absolute, where overlong output is kept; "" is the system's directory for temporary files
}

const instructions = `bash runs one command line in the workspace. Every call is a fresh shell: directory and variables do not carry over; give cwd, or cd first. Standard input is empty, there is no terminal, and nothing may ask questions: use flags such as --yes.
What a command leaves running ends with the call; there is no background. For long work give timeout_ms.
A failed command's result begins with nonzero_exit, timeout or cancelled. Output too long for a result is cut in the middle; full_output_path names a file that has all of it: look at it with grep, head, tail or sed -n.`

// New makes the extension.
func New(o Options) ext.Extension {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	o.Timeout = min(max(o.Timeout, MinTimeout), MaxTimeout)
	if o.MaxOutputBytes == 0 {
		o.MaxOutputBytes = DefaultOutputBytes
	}
	o.MaxOutputBytes = min(max(o.MaxOutputBytes, MinOutputBytes), MaxOutputBytes)
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	var swept sync.Once
	return ext.Extension{
		Name:        Name,
		Description: "run shell commands",
		Source:      "built-in",
		Prepare: func(ctx context.Context, p ext.Prep) (*ext.Contribution, error) {
			swept.Do(func() { sweep(ctx, o.TempDir, maxSweepNames) })
			b := &bash{Options: o, policy: p.Policy, workspace: p.Workspace, spills: &spills{base: o.TempDir}}
			contribution := &ext.Contribution{
				Instructions: instructions,
				Tools:        []ext.Tool{b.tool()},
				Close:        b.spills.close,
			}
			if _, err := b.shell(); err != nil {
				contribution.Warnings = []string{fmt.Sprintf("bash cannot run commands: %v", err)}
			}
			return contribution, nil
		},
	}
}
