package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

const (
	maxHead   = 4096 // bytes of git's files that are read
	maxBranch = 200  // bytes of a branch's name
)

// gitHead says what is checked out in a folder that has a .git, from git's own files, which is quicker than to start git. What it
// answers is told to the model of a workspace that need not be trusted, so a name is only passed on if git would take it.
func gitHead(workspace string) (head string, ok bool) {
	dir := filepath.Join(workspace, ".git")
	if link, ok := readSmall(dir); ok { // a linked worktree or a submodule
		target, ok := strings.CutPrefix(strings.TrimSpace(link), "gitdir: ")
		if !ok {
			return "", false
		}
		if dir = target; !filepath.IsAbs(dir) {
			dir = filepath.Join(workspace, dir)
		}
	}
	text, ok := readSmall(filepath.Join(dir, "HEAD"))
	text = strings.TrimSpace(text)
	switch ref, symbolic := strings.CutPrefix(text, "ref: "); {
	case !ok:
		return "", false
	case !symbolic:
		return "no branch", isHash(text)
	default:
		branch, ok := strings.CutPrefix(ref, "refs/heads/")
		if !ok || !isBranch(branch) {
			return "a branch with an unusual name", true
		}
		return branch, true
	}
}

// isHash reports whether s could be the name of a commit, SHA-1 or SHA-256.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// isBranch follows git's rules for names of branches, and refuses what would stand out of the text around it.
func isBranch(s string) bool {
	if s == "" || len(s) > maxBranch || !utf8.ValidString(s) || strings.ContainsAny(s, "~^:?*[\\<>\"`") ||
		strings.Contains(s, "..") || strings.Contains(s, "@{") || strings.HasSuffix(s, ".") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// readSmall reads a regular file, without waiting for whatever else may stand there.
func readSmall(path string) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxHead+1))
	return string(b), err == nil && len(b) <= maxHead
}
