// Package instructions contributes what a person and a project ask of every model: AGENTS.md files, from the home and, in a
// trusted workspace, from its root down to where octavo was started. It knows no session.
package instructions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"octavo/ext"
)

const (
	// MaxFile is how large one file may be, in bytes; a larger one is left out with a warning (plugins.md 4.11).
	MaxFile = 1 << 20
	// MaxFiles bounds how many files are read.
	MaxFiles = 128
)

// names are the files read in each folder; the first that exists stands for the folder. Case is ignored.
var names = []string{"AGENTS.md", "CLAUDE.md"}

// Options say where to look.
type Options struct {
	Files bool   // context_files: false reads nothing at all
	Dir   string // where octavo was started, absolute; files from the workspace down to it are read, root first
}

// New makes the extension.
func New(o Options) ext.Extension {
	return ext.Extension{
		Name:        "instructions",
		Description: "AGENTS.md of the home and of a trusted workspace",
		Source:      "built-in",
		Prepare: func(_ context.Context, p ext.Prep) (*ext.Contribution, error) {
			if !o.Files {
				return nil, nil
			}
			return gather(p, o.Dir)
		},
	}
}

// gather reads the person's file first and the project's from root to leaf, so that the nearest has the last word.
func gather(p ext.Prep, dir string) (*ext.Contribution, error) {
	var c ext.Contribution
	var blocks []string
	folders := []string{p.Home}
	inProject := 0
	if p.Trusted {
		down := path(p.Workspace, dir)
		folders, inProject = append(folders, down...), len(down)
	} else if file, err := find(p.Workspace); err == nil && file != "" {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is not read because this workspace is not trusted: --workspace-trusted reads it", filepath.Base(file)))
	}
	for i, folder := range folders {
		if folder == "" {
			continue
		}
		if len(blocks) >= MaxFiles {
			c.Warnings = append(c.Warnings, fmt.Sprintf("only the first %d instruction files were read", MaxFiles))
			break
		}
		file, err := find(folder)
		if err != nil || file == "" {
			continue
		}
		root := ""
		if i >= len(folders)-inProject {
			root = p.Workspace
		}
		text, warning, err := read(file, root)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			c.Warnings = append(c.Warnings, warning)
		}
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, fmt.Sprintf("<instructions path=%q>\n%s\n</instructions>", file, strings.TrimSpace(text)))
		}
	}
	if len(blocks) > 0 {
		c.Context = "Instructions of the person and of the project. Where they differ the later block wins; the person's own words in the conversation win over all.\n\n" +
			strings.Join(blocks, "\n\n")
	}
	return &c, nil
}

// path lists the folders from root down to leaf, both included; only root when leaf lies elsewhere.
func path(root, leaf string) []string {
	folders := []string{root}
	rel, err := filepath.Rel(root, leaf)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return folders
	}
	at := root
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		folders = append(folders, at)
	}
	return folders
}

// find answers the instruction file of a folder, "" when it has none.
func find(folder string) (string, error) {
	for _, name := range names { // the usual spelling costs no listing
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && !info.IsDir() {
			return filepath.Join(folder, name), nil
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		for _, e := range entries {
			if strings.EqualFold(e.Name(), name) && !e.IsDir() {
				return filepath.Join(folder, e.Name()), nil
			}
		}
	}
	return "", nil
}

// read answers the text of a file. One that leads out of root (when root is set), is no regular file, or is too large is left out
// with a warning; one that is not UTF-8 is an error, because half-read instructions mislead.
func read(file, root string) (text, warning string, err error) {
	f, err := open(file, root)
	if err != nil {
		if errors.Is(err, errOutside) || errors.Is(err, errIrregular) {
			return "", fmt.Sprintf("%s is left out: %v", file, err), nil
		}
		return "", "", fmt.Errorf("read instructions: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return "", "", fmt.Errorf("read instructions %s: %w", file, err)
	}
	if len(data) > MaxFile {
		return "", fmt.Sprintf("%s is left out: it is larger than %d bytes", file, MaxFile), nil
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(data) {
		return "", "", fmt.Errorf("instructions %s: not valid UTF-8; save it as UTF-8", file)
	}
	return string(data), "", nil
}

var (
	errOutside   = errors.New("it leads out of the workspace")
	errIrregular = errors.New("it is no regular file")
)

// open opens file without ever blocking on a pipe or a device.
func open(file, root string) (*os.File, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errIrregular // a link to nothing
		}
		return nil, err
	}
	if root != "" {
		rel, err := filepath.Rel(root, real)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, errOutside
		}
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	return os.Open(real)
}
