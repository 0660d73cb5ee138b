package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// operand reports whether the word cannot become an option.
func (j *judge) operand(a arg) bool {
	switch {
	case a.loop || a.text == "":
		return true
	case a.dynamic || a.text[0] == '-':
		return false
	case a.glob && strings.IndexByte("*?[", a.text[0]) >= 0:
		names, ok := j.matches(a)
		return ok && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, j.dir+"/-") })
	}
	return true
}

// matches lists the paths that a pattern stands for, which are absolute.
func (j *judge) matches(a arg) (paths []string, ok bool) {
	pattern := a.pattern
	if !filepath.IsAbs(a.text) {
		pattern = escape(j.dir) + "/" + pattern
	}
	paths, err := filepath.Glob(pattern)
	return paths, err == nil && len(paths) <= maxMatches
}

// inside reports whether a path leads to nothing outside the workspace.
func (j *judge) inside(a arg) bool {
	if a.loop {
		return true
	}
	if a.dynamic {
		return false
	}
	for part := range strings.SplitSeq(a.text, "/") {
		// ".*" matches ".." in some versions of bash.
		if part == ".." || a.glob && strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") {
			return false
		}
	}
	if filepath.IsAbs(a.text) && !within(j.workspace, filepath.Clean(a.text)) {
		return false
	}
	if !a.glob {
		if filepath.IsAbs(a.text) {
			return j.leadsInside(a.text)
		}
		return j.leadsInside(filepath.Join(j.dir, a.text))
	}
	paths, ok := j.matches(a)
	return ok && !slices.ContainsFunc(paths, func(p string) bool { return !j.leadsInside(p) })
}

func escape(path string) string {
	var a arg
	a.quoted(path)
	return a.pattern
}

// leadsInside follows symbolic links. What does not exist cannot be read.
func (j *judge) leadsInside(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return os.IsNotExist(err)
	}
	return within(j.workspace, real)
}
