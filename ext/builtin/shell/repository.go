package shell

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

const (
	// maxGitLink is how much is read of the small files that lead from one part of a repository to another, in bytes.
	maxGitLink = 4 << 10
	// maxGitConfig is how long a repository's configuration may be to be read at all, in bytes.
	maxGitConfig = 256 << 10
)

// redirecting are the variables by which git is told of a repository other than the one it would find.
var redirecting = []string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE",
}

// repository is what git uses in a working tree. The two directories differ in one that "git worktree" has made.
type repository struct {
	own    string // with HEAD, the index and config.worktree
	shared string // with config, hooks, objects and refs
}

// looksOnly reports whether git, run in dir to look at something, runs no program that what lies in the workspace names. Even
// "git status" obeys the configuration and a hook of the repository it finds, and any directory can be laid out as one; so the
// repository must be the workspace's own, and neither its configuration nor its hooks nor those of a submodule may name a
// program that looking runs. Both paths are absolute, symbolic links resolved.
//
// What the person's own configuration and environment name is trusted.
func looksOnly(dir, workspace string) bool {
	r, ok := findRepository(dir, workspace)
	if !ok || !tameConfig(filepath.Join(r.shared, "config")) || !tameConfig(filepath.Join(r.own, "config.worktree")) {
		return false
	}
	// Git runs this one whenever it writes the index, as status and diff do to remember what they found out about files.
	return absent(r.shared, "hooks", "post-index-change") && plainIndex(filepath.Join(r.own, "index"))
}

// findRepository finds the workspace's own repository, when that is the one git finds from dir. It asks for more than git does,
// so that git neither stops before it nor goes on to a directory above.
func findRepository(dir, workspace string) (r repository, ok bool) {
	for _, name := range redirecting {
		if _, set := os.LookupEnv(name); set {
			return r, false
		}
	}
	if !within(workspace, dir) {
		return r, false
	}
	for ; dir != workspace; dir = filepath.Dir(dir) {
		if !absent(dir, ".git") || !absent(dir, "HEAD") {
			return r, false
		}
	}
	// A directory with a HEAD may be a bare repository, of which objects and refs can be anywhere.
	if !absent(workspace, "HEAD") {
		return r, false
	}
	link := filepath.Join(workspace, ".git")
	info, err := os.Lstat(link)
	switch {
	case err != nil:
		return r, false
	case info.IsDir():
		r = repository{own: link, shared: link}
		ok = absent(link, "commondir")
	case info.Mode().IsRegular():
		r, ok = linkedRepository(link)
	}
	return r, ok && r.valid()
}

// linkedRepository follows a .git that is a file, as "git worktree add" makes it. It must be linked from the other side too:
// anybody can write a file that leads to somebody else's repository.
func linkedRepository(link string) (r repository, ok bool) {
	to, ok := readLink(link, "gitdir: ")
	if !ok {
		return r, false
	}
	if r.own, ok = resolve(filepath.Dir(link), to); !ok || filepath.Base(filepath.Dir(r.own)) != "worktrees" {
		return r, false
	}
	back, ok := readLink(filepath.Join(r.own, "gitdir"), "")
	if !ok {
		return r, false
	}
	if back, ok = resolve(r.own, back); !ok || back != link {
		return r, false
	}
	common, ok := readLink(filepath.Join(r.own, "commondir"), "")
	if !ok {
		return r, false
	}
	r.shared, ok = resolve(r.own, common)
	return r, ok && r.shared == filepath.Dir(filepath.Dir(r.own)) && absent(r.shared, "commondir")
}

// head is what HEAD says: the name of a branch, or a commit.
var head = regexp.MustCompile(`^(ref: refs/[!-~]|[0-9a-f]{40}\n?$)`)

// valid reports whether git, too, takes r for a repository.
func (r repository) valid() bool {
	b, err := readRegular(filepath.Join(r.own, "HEAD"), maxGitLink)
	return err == nil && head.Match(b) &&
		unix.Access(filepath.Join(r.shared, "objects"), unix.X_OK) == nil && unix.Access(filepath.Join(r.shared, "refs"), unix.X_OK) == nil
}

// readLink reads a file of one line with a path.
func readLink(path, prefix string) (to string, ok bool) {
	b, err := readRegular(path, maxGitLink)
	if err != nil {
		return "", false
	}
	b, ok = bytes.CutPrefix(bytes.TrimSuffix(b, []byte("\n")), []byte(prefix))
	return string(b), ok && len(b) > 0 && !bytes.ContainsAny(b, "\r\n\x00")
}

func resolve(from, to string) (path string, ok bool) {
	if !filepath.IsAbs(to) {
		to = filepath.Join(from, to)
	}
	path, err := filepath.EvalSymlinks(to)
	return path, err == nil
}

// absent reports whether a name is known not to exist.
func absent(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return errors.Is(err, fs.ErrNotExist)
}

var errNotPlain = errors.New("not a regular file within its bound")

// openRegular opens a file that is no symbolic link, pipe or device and has at most limit bytes.
func openRegular(path string, limit int64) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > limit) {
		err = errNotPlain
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// readRegular reads what openRegular opens.
func readRegular(path string, limit int64) ([]byte, error) {
	f, _, err := openRegular(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errNotPlain
	}
	return b, err
}
