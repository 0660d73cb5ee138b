package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

const (
	// maxPathBytes bounds a path argument; it is what Linux takes.
	maxPathBytes = 4096
	// maxLinks is how many symbolic links one path may lead through, as in the kernel.
	maxLinks = 40
)

// workspace is what path arguments are read against.
type workspace struct {
	root     string // absolute, symbolic links resolved
	home     string // the person's home directory for "~/"; "" when there is none
	external bool   // paths that lead outside root are allowed
}

// place is where a path argument leads once every symbolic link is followed.
type place struct {
	abs    string // absolute; what it names may be missing, nothing in it is a symbolic link
	shown  string // for the model and for a person: relative to the workspace inside it, absolute elsewhere
	inside bool   // below the workspace, or the workspace itself
	info   fs.FileInfo
	base   string // an existing directory above abs (or abs itself), from which it is opened
	name   string // abs relative to base
}

// missing reports whether nothing is there yet.
func (p place) missing() bool { return p.info == nil }

// open gives a handle on p.base. Everything is opened, made and renamed through it: it follows no symbolic link that leads
// out of base, so that a link put in place after the path was judged cannot lead a call out of the workspace.
func (p place) open() (*os.Root, error) {
	r, err := os.OpenRoot(p.base)
	if err != nil {
		return nil, refuseOS("open "+p.shown, err)
	}
	return r, nil
}

// locate resolves a path that a model wrote. It looks at directories and links and opens nothing. A path that does not exist
// is placed by its nearest existing ancestor. What is neither a regular file nor a directory is refused, since reading a
// device or a pipe may block or never end.
func (w workspace) locate(arg string) (place, error) {
	path, err := w.absolute(arg)
	if err != nil {
		return place{}, err
	}
	at, err := follow(w.root, path)
	if err != nil {
		if errors.Is(err, errTooManyLinks) {
			return place{}, refuse(notPermitted, "%s leads through more than %d symbolic links; name the real file", printable(arg), maxLinks)
		}
		if errors.Is(err, syscall.ENOTDIR) {
			return place{}, refuse(ioFailed, "a part of %s is a file and not a directory; check the path", printable(arg))
		}
		return place{}, refuseOS("look at "+printable(arg), err)
	}
	p := w.place(at)
	switch {
	case p.missing():
		if strings.HasSuffix(path, "/") {
			return place{}, refuse(isDirectory, "%s names a directory, which does not exist; name a file", printable(arg))
		}
	case !p.info.Mode().IsRegular() && !p.info.IsDir():
		return place{}, refuse(notPermitted, "%s is %s; only regular files and directories can be used", p.shown, kindOf(p.info.Mode()))
	}
	return p, nil
}

// admit refuses a place outside the workspace where the configuration keeps file tools inside.
func (w workspace) admit(p place) error {
	if p.inside || w.external {
		return nil
	}
	return refuse(notPermitted, "%s is outside the workspace, and file tools are kept inside it; use a path below %s", p.shown, printable(w.root))
}

// absolute reads the spellings of a path: relative to the workspace, absolute, "~/" and "file://". It does not collapse
// "..", which means the parent of wherever a symbolic link led.
func (w workspace) absolute(arg string) (string, error) {
	if arg == "" {
		return "", refuse(badArguments, "the path is empty; \".\" is the workspace")
	}
	if len(arg) > maxPathBytes {
		return "", refuse(badArguments, "the path has %d bytes; at most %d are taken", len(arg), maxPathBytes)
	}
	path := arg
	if rest, ok := strings.CutPrefix(arg, "file:"); ok && strings.HasPrefix(rest, "//") {
		u, err := url.Parse(arg)
		if err != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
			return "", refuse(badArguments, "%s is not a file address; write the plain path", printable(arg))
		}
		if u.Host != "" && u.Host != "localhost" {
			return "", refuse(notPermitted, "%s is on another machine; only local files can be used", printable(arg))
		}
		path = u.Path
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return "", refuse(notPermitted, "the path %s has control characters or is no UTF-8; octavo opens no such file by name", printable(path))
	}
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		if w.home == "" {
			return "", refuse(ioFailed, "%s cannot be resolved: no home directory is known", printable(path))
		}
		return w.home + path[1:], nil
	case filepath.IsAbs(path):
		return path, nil
	default:
		return w.root + "/" + path, nil
	}
}

// place describes a resolved path.
func (w workspace) place(at resolved) place {
	p := place{abs: at.path, info: at.info, base: w.root}
	rel, inside := below(w.root, at.path)
	p.inside, p.name, p.shown = inside, rel, printable(rel)
	if !inside {
		p.shown = printable(at.path)
		p.base = at.path
		if at.info == nil || !at.info.IsDir() {
			p.base = filepath.Dir(at.path)
			if at.info == nil {
				p.base = at.ancestor
			}
		}
		p.name, _ = below(p.base, at.path)
	}
	return p
}

// below gives path relative to dir when it is dir or lies in it. Both are absolute and clean.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	prefix := strings.TrimSuffix(dir, "/") + "/"
	return strings.CutPrefix(path, prefix)
}

// resolved is a path without symbolic links.
type resolved struct {
	path     string
	info     fs.FileInfo // nil when nothing is there
	ancestor string      // nearest existing directory; meaningful when nothing is there
}

var errTooManyLinks = errors.New("too many symbolic links")

// follow resolves an absolute path one element at a time, as the kernel does, except that the elements after a missing one are
// taken as they are written. root is known to be resolved, which saves looking at each of its elements again.
func follow(root, path string) (resolved, error) {
	at, rest := "/", path
	if below, ok := strings.CutPrefix(path, root+"/"); ok {
		at, rest = root, below
	}
	todo := strings.Split(rest, "/")
	links, gap := 0, "" // gap is the ancestor of the first missing element
	for len(todo) > 0 {
		element := todo[0]
		todo = todo[1:]
		switch element {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, element)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if _, under := below(gap, at); gap == "" || !under {
				gap = at
			}
			at = next
		case err != nil:
			return resolved{}, err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return resolved{}, errTooManyLinks
			}
			target, err := os.Readlink(next)
			if err != nil {
				return resolved{}, err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			todo = append(strings.Split(target, "/"), todo...)
		default:
			at = next
		}
	}
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return resolved{path: at, ancestor: gap}, nil
	}
	if err != nil {
		return resolved{}, err
	}
	return resolved{path: at, info: info}, nil
}

// kindOf names a file that is neither regular nor a directory.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	default:
		return fmt.Sprintf("a special file (%s)", m.Type())
	}
}

// printable shows a name that may hold anything: as it is when every rune can be seen, else quoted with escapes, so that a
// file's name can neither break a result's lines nor reach a terminal's control sequences.
func printable(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}
