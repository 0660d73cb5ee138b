// Package instructions contributes what a person and a project ask of every model: AGENTS.md files, from the home and, in a
// trusted workspace, from its root down to where octavo was started. It knows no session.
package instructions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"octavo/ext"
	"octavo/pages/text"
)

const (
	// MaxFile is how large one file may be, in bytes; a larger one is left out with a warning (plugins.md 4.11).
	MaxFile = 1 << 20
	// MaxFiles bounds how many files are opened.
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
		Prepare: func(ctx context.Context, p ext.Prep) (*ext.Contribution, error) {
			if !o.Files {
				return nil, nil
			}
			return gather(ctx, p, o.Dir)
		},
	}
}

// gather reads the person's file first and the project's from root to leaf, so that the nearest has the last word.
func gather(ctx context.Context, p ext.Prep, dir string) (*ext.Contribution, error) {
	var c ext.Contribution
	warn := func(format string, args ...any) {
		c.Warnings = append(c.Warnings, text.CleanLine(fmt.Sprintf(format, args...)))
	}
	files := lookIn(p, dir, warn)
	if len(files) > MaxFiles {
		warn("only the first %d of %d instruction files are read", MaxFiles, len(files))
		files = files[:MaxFiles]
	}
	var blocks []string
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		words, err := f.read()
		var leftOut leftOutError
		if errors.As(err, &leftOut) {
			warn("%s is left out: %v", f.path, leftOut)
			continue
		}
		if err != nil {
			return nil, err
		}
		if words = strings.TrimSpace(words); words != "" {
			blocks = append(blocks, block(f.path, words))
		}
	}
	if len(blocks) > 0 {
		c.Context = "Instructions of the person and of the project. Where they differ the later block wins; the person's own words in the conversation win over all.\n\n" +
			strings.Join(blocks, "\n\n")
	}
	return &c, nil
}

// lookIn finds the files that are to be read, in order.
func lookIn(p ext.Prep, dir string, warn func(format string, args ...any)) []file {
	var files []file
	look := func(folder, root string) {
		path, err := find(folder)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			warn("%s is not searched for instructions: %v", folder, err)
		case path != "":
			files = append(files, file{path, root})
		}
	}
	if p.Home != "" {
		look(p.Home, "")
	}
	if p.Trusted {
		for _, folder := range folders(p.Workspace, dir) {
			if folder != p.Home {
				look(folder, p.Workspace)
			}
		}
		return files
	}
	for _, folder := range folders(p.Workspace, dir) {
		if path, err := find(folder); err == nil && path != "" && folder != p.Home {
			name, err := filepath.Rel(p.Workspace, path)
			if err != nil {
				name = path
			}
			warn("%s of this workspace is not read, because the workspace is not trusted; --workspace-trusted reads it", name)
		}
	}
	return files
}

// block labels the text of a file with its path, in an element that the text cannot end.
func block(path, words string) string {
	return fmt.Sprintf("<instructions path=%s>\n%s\n</instructions>", inert(fmt.Sprintf("%q", path)), inert(words))
}

// tag is what a model could read as the beginning or the end of the element around a file's text, loosely spelled.
var tag = regexp.MustCompile(`(?i)<([\s\p{Cf}]*/?[\s\p{Cf}]*instructions)`)

// inert writes such a tag so that it is text.
func inert(s string) string { return tag.ReplaceAllString(s, "&lt;$1") }

// folders lists the folders from root down to leaf, both included; only root when leaf lies elsewhere.
func folders(root, leaf string) []string {
	list := []string{root}
	rel, err := filepath.Rel(root, leaf)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return list
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		list = append(list, at)
	}
	return list
}
