package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"octavo/ext/spawn"
)

const (
	// maxWalked is how many files are searched without ripgrep.
	maxWalked = 200_000
	// maxListBytes bounds the list of files that git gives.
	maxListBytes = 64 << 20
	// walkBatch is how many files are searched between two looks at whether there is enough.
	walkBatch = 256
)

// walk searches without ripgrep: the same files, but no more than most, line by line and several at a time.
func walk(ctx context.Context, q *query, most int, found *hits) error {
	s, err := newScanner(q, found.room)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(q.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names := []string{q.file}
	if q.file == "" {
		l := &lister{query: q, root: root, most: most}
		if err := l.list(ctx); err != nil {
			return err
		}
		names = l.names
		if found.capped = len(names) > most; found.capped {
			names = names[:most]
		}
	}
	for batch := range slices.Chunk(names, walkBatch) {
		results := make([]scanned, len(batch))
		var group errgroup.Group
		group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
		for i, name := range batch {
			group.Go(func() error {
				data, _, err := readRegular(ctx, root, name)
				if err == nil {
					results[i] = s.scan(name, data)
				}
				return nil // what cannot be read, is too large or changes is left out
			})
		}
		_ = group.Wait()
		for _, r := range results {
			if r.searched {
				found.searched++
			}
			if len(r.rows) == 0 {
				continue
			}
			if found.take(r.fileHits); found.enough() {
				return nil
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// lister gathers the files to search.
type lister struct {
	*query
	root  *os.Root
	most  int      // it stops at one more, so that the cut is seen
	names []string // relative to root
}

// list lists the files by path: those that git tracks or would track, where it is a git repository.
func (l *lister) list(ctx context.Context) error {
	known, err := gitFiles(ctx, l.dir)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		err = l.below(ctx, ".")
	}
	for _, name := range known {
		name = strings.TrimSuffix(name, "/")
		info, gone := l.root.Lstat(name)
		switch {
		case gone != nil: // deleted, but still tracked
		case info.IsDir(): // a repository within the repository
			err = l.below(ctx, name)
		case info.Mode().IsRegular() && l.fits(name):
			l.names = append(l.names, name)
		}
		if err != nil || len(l.names) > l.most {
			break
		}
	}
	slices.SortFunc(l.names, comparePaths)
	l.names = slices.Compact(l.names) // git lists unmerged files more than once
	return err
}

// below adds the files below dir. It follows no symbolic link, and what cannot be listed is left out.
func (l *lister) below(ctx context.Context, dir string) error {
	return fs.WalkDir(l.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || name == dir:
			return nil
		case d.Name() == ".git" || !l.hidden && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && l.fits(name):
			if l.names = append(l.names, name); len(l.names) > l.most {
				return fs.SkipAll
			}
		}
		return nil
	})
}

func (l *lister) fits(name string) bool {
	dotted := strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
	return (l.hidden || !dotted) && l.wants(name)
}

// comparePaths orders paths as walking directory after directory meets them.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// gitFiles asks git for the files below dir that it does not ignore; none when dir is in no repository, git is not there, or
// git ignores all of dir, which whoever names such a directory does not mean.
func gitFiles(ctx context.Context, dir string) ([]string, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, nil
	}
	var list limited
	result, err := spawn.Run(ctx, spawn.Command{
		Path: git,
		// A repository's own configuration may name a program as its file system monitor: none is run.
		Args:   []string{"-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"},
		Dir:    dir,
		Env:    gitEnvironment(),
		Stdout: &list,
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !result.Success() || list.Len() == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(list.String(), "\x00"), "\x00"), nil
}

// gitEnvironment leaves out what would point git at another repository than the directory's.
func gitEnvironment() []string {
	return slices.DeleteFunc(spawn.Environment("GIT_OPTIONAL_LOCKS=0"), func(v string) bool {
		for _, name := range []string{"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_PREFIX=", "GIT_CONFIG"} {
			if strings.HasPrefix(v, name) {
				return true
			}
		}
		return false
	})
}

// limited is a buffer that takes maxListBytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxListBytes {
		return 0, errors.New("git lists too many files")
	}
	return l.Buffer.Write(p)
}

// scanner looks through one file after the other, from several goroutines.
type scanner struct {
	*query
	room int
	need []byte                // every match begins with it
	find func(line []byte) int // where the first match in a line begins; -1 without one
}

func newScanner(q *query, room int) (*scanner, error) {
	s := &scanner{query: q, room: room}
	if !q.regex && !q.ignoreCase {
		s.need = []byte(q.text)
		s.find = func(line []byte) int { return bytes.Index(line, s.need) }
		return s, nil
	}
	pattern := q.text
	if !q.regex {
		pattern = regexp.QuoteMeta(pattern)
	}
	if q.ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, badRegex(err.Error())
	}
	prefix, _ := re.LiteralPrefix()
	s.need = []byte(prefix)
	s.find = func(line []byte) int {
		if at := re.FindIndex(line); at != nil {
			return at[0]
		}
		return -1
	}
	return s, nil
}

// scanned is what was found in one file.
type scanned struct {
	fileHits
	searched bool
}

func (s *scanner) scan(name string, data []byte) scanned {
	switch e := encodingOf(data); e {
	case utf16Little, utf16Big, utf8BOM:
		data = []byte(e.decode(data))
	default:
		if bytes.IndexByte(data, 0) >= 0 {
			return scanned{searched: true}
		}
	}
	if !bytes.Contains(data, s.need) {
		return scanned{searched: true}
	}
	found := &hits{max: s.max + 1, context: s.context, room: s.room}
	found.begin(name)
	s.lines(data, found)
	return scanned{found.files[0], true}
}

// lines adds the matching lines of a text with their context.
func (s *scanner) lines(data []byte, found *hits) {
	type numbered struct {
		number int
		line   []byte
	}
	var before []numbered // lines since the last one added, at most context of them
	after := 0            // how many more are context of the last match
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		at := s.find(line)
		switch {
		case at >= 0:
			for _, b := range before {
				found.add(row{b.number, excerpt(b.line, 0), false})
			}
			before, after = before[:0], s.context
			if !found.add(row{number, excerpt(line, at), true}) {
				return
			}
		case after > 0:
			after--
			found.add(row{number, excerpt(line, 0), false})
		case s.context > 0:
			if len(before) == s.context {
				before = slices.Delete(before, 0, 1)
			}
			before = append(before, numbered{number, line})
		}
	}
}
