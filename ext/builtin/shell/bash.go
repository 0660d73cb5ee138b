package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/ext/spawn"
	"octavo/pages/text"
)

// maxTitle is how many characters of a command a line for a person shows.
const maxTitle = 120

// bash is the tool of one session.
type bash struct {
	Options
	policy    policy.Name // all but unsafe_host keep the working directory inside the workspace
	workspace string      // absolute, symbolic links resolved
	spills    *spills
}

func (b *bash) tool() ext.Tool {
	return ext.Tool{
		Name: "bash",
		Description: "Run a command line with bash in the workspace and read its exit status and output. " +
			"A fresh shell each time, without input or terminal; what it leaves running is ended.",
		Parameters: schema(b.Timeout),
		Intent:     b.intent,
		Invoke:     b.invoke,
		Describe:   describe,
	}
}

func describe(raw json.RawMessage) string {
	var a arguments
	if json.Unmarshal(raw, &a) != nil || strings.TrimSpace(a.Command) == "" {
		return "run"
	}
	title, _ := summary(a.Command)
	return title
}

// summary is a command on one line, and whether that line says all of it.
func summary(command string) (title string, whole bool) {
	all := text.Visible(strings.TrimSpace(command))
	first, rest, _ := strings.Cut(all, "\n")
	first = text.CleanLine(first) // only tabs are left to clean
	title = text.Clip(first, maxTitle)
	whole = title == first && strings.TrimSpace(rest) == ""
	if !whole && title == first {
		title += " …"
	}
	return "run: " + title, whole
}

func (b *bash) intent(raw json.RawMessage) policy.Intent {
	a, err := decode(raw)
	if err != nil {
		return policy.Intent{Class: policy.Unknown, Title: describe(raw), Reason: err.Error()}
	}
	i := policy.Intent{Class: policy.HostProcess}
	var whole bool
	if i.Title, whole = summary(a.Command); !whole {
		i.Detail = text.Visible(a.Command)
	}
	dir, err := b.directory(a.CWD)
	if err != nil {
		return i // the call is refused before anything runs
	}
	if a.CWD != "" {
		i.Title += " (in " + text.Visible(a.CWD) + ")"
	}
	i.ReadOnly = readOnly(a.Command, dir, b.workspace)
	return i
}

// directory resolves a call's cwd. It follows symbolic links, so that what a controlled policy judges is where the command
// really starts.
func (b *bash) directory(cwd string) (string, error) {
	dir := cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.workspace, dir)
	}
	named := cwd
	if named == "" {
		named = dir
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return "", refuse(invalidCWD, "%s cannot be used as working directory: %v", named, err)
		case b.workspaceGone():
			return "", refuse(invalidCWD, "there is no directory %s any more, which is the workspace; only the person can bring it back", b.workspace)
		}
		return "", refuse(invalidCWD, "there is no directory %s", named)
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", refuse(invalidCWD, "%s is not a directory", named)
	}
	if b.policy.WorkspaceOnly() && !within(b.workspace, dir) {
		return "", refuse(notPermitted, "%s is outside the workspace, and the policy %s keeps commands inside it", named, b.policy)
	}
	return dir, nil
}

func (b *bash) workspaceGone() bool {
	_, err := os.Stat(b.workspace)
	return errors.Is(err, fs.ErrNotExist)
}

// within reports whether path is root or below it; both are clean and absolute.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// shell finds what runs commands (product.md 6): the configured shell, /bin/bash, bash on PATH, sh. $SHELL is not read: it is
// the person's choice for typing, and may be no shell of this language.
func (b *bash) shell() (string, error) {
	if b.ShellPath != "" {
		path, err := exec.LookPath(b.ShellPath)
		if err != nil {
			return "", fmt.Errorf("the configured shell_path %s is no program that can be run (%w). Set shell_path to a shell that understands Bash, "+
				"such as /bin/bash, or remove it so that one is found; then start octavo again", b.ShellPath, errors.Unwrap(err))
		}
		return path, nil
	}
	for _, name := range []string{"/bin/bash", "bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is neither bash nor sh on this machine; set shell_path to a shell")
}

// errTimeout is why the context of a command ended that took too long.
var errTimeout = errors.New("the time is over")

func (b *bash) invoke(c *ext.Call, raw json.RawMessage) (ext.Output, error) {
	a, err := decode(raw)
	if err != nil {
		return ext.Output{}, err
	}
	dir, err := b.directory(a.CWD)
	if err != nil {
		return ext.Output{}, err
	}
	shell, err := b.shell()
	if err != nil {
		return ext.Output{}, refuse(spawnFailed, "%v", err)
	}
	timeout := b.Timeout
	if a.Timeout > 0 {
		timeout = time.Duration(a.Timeout) * time.Millisecond
	}
	ctx, stop := context.WithTimeoutCause(c, timeout, errTimeout)
	defer stop()

	shown := startLive(c.Progress)
	record := &record{limit: b.MaxOutputBytes}
	stdout := newStream("stdout", record, shown, b.spills, c.Redact)
	stderr := newStream("stderr", record, shown, b.spills, c.Redact)
	result, err := spawn.Run(ctx, spawn.Command{
		Path: shell, Args: []string{"-c", a.Command}, Dir: dir, Env: spawn.Environment("PWD=" + dir),
		Stdout: stdout, Stderr: stderr,
	})
	stdout.end()
	stderr.end()
	shown.end()

	var start *spawn.StartError
	if errors.As(err, &start) {
		if c.Err() != nil {
			return ext.Output{}, refuse(cancelled, "the turn ended before the command began")
		}
		return ext.Output{}, refuse(spawnFailed, "%s did not start: %v", shell, start.Err)
	}
	o := outcome{Result: result, timeout: timeout}
	switch {
	case errors.Is(err, errTimeout):
		o.code = timedOut
	case err != nil && c.Err() != nil:
		o.code = cancelled
	case err != nil:
		return ext.Output{}, refuse(spawnFailed, "%v; the command ran, and what it did is done", err)
	case !result.Success():
		o.code = nonzeroExit
	}
	return o.output(record, stdout, stderr), nil
}
