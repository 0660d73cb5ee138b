package themes

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// MaxFiles bounds the theme files that are looked at in one folder.
const MaxFiles = 256

// Folder is a folder of theme files. It has no goroutine: whoever has a clock calls Changed. It is for one goroutine at a time.
type Folder struct {
	Dir string

	seen map[string]stamp // by name; nil before the first Changed
}

// stamp is what a file was when Changed last looked.
type stamp struct {
	modified time.Time
	size     int64
	sum      [sha256.Size]byte
	settled  bool // it was old enough then for its time and size to tell of the next change
}

// Names lists the themes in the folder, sorted, and says why other files that end in .toml are none. A folder that is not there is
// empty.
func (f *Folder) Names() (names []string, problems []error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, []error{&Error{File: f.Dir, Err: reason(err)}}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), Extension)
		if !ok || strings.HasPrefix(name, ".") || e.IsDir() {
			continue
		}
		if err := checkName(name); err != nil {
			problems = append(problems, &Error{File: f.path(name), Err: err})
			continue
		}
		if len(names) == MaxFiles {
			problems = append(problems, &Error{File: f.Dir, Err: fmt.Errorf("holds more than %d themes: those after %s are left out",
				MaxFiles, names[len(names)-1])})
			break
		}
		names = append(names, name)
	}
	return names, problems
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name+Extension) }

// Has reports whether there is a file of this name.
func (f *Folder) Has(name string) bool {
	if checkName(name) != nil {
		return false
	}
	info, err := os.Stat(f.path(name))
	return err == nil && info.Mode().IsRegular()
}

// Load reads one theme. The error is an *Error.
func (f *Folder) Load(name string) (*Source, error) {
	file := f.path(name)
	if err := checkName(name); err != nil {
		return nil, &Error{File: file, Err: err}
	}
	data, err := readFile(file)
	if err != nil {
		return nil, &Error{File: file, Err: reason(err)}
	}
	return Parse(file, data)
}

// readFile reads a regular file, up to one byte more than Parse takes. It does not wait where a named pipe stands.
func readFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

// reason leaves the path out of an error that names it already.
func reason(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}

// settling is how long after it was written a file may be written again without its time showing it, on file systems that keep
// whole seconds.
const settling = 2 * time.Second

// Changed gives the names whose files came, went or have other bytes since the last call, sorted. The first call gives none: it
// says what the others compare with. A file whose time and size are the same is not read again, unless it was written just before
// the last call.
func (f *Folder) Changed() []string {
	var (
		names, _ = f.Names()
		now      = make(map[string]stamp, len(names))
		changed  []string
	)
	for _, name := range names {
		before, known := f.seen[name]
		after, ok := stampOf(f.path(name), before)
		if !ok {
			continue
		}
		now[name] = after
		if !known || before.sum != after.sum {
			changed = append(changed, name)
		}
	}
	for name := range f.seen {
		if _, still := now[name]; !still {
			changed = append(changed, name)
		}
	}
	first := f.seen == nil
	if f.seen = now; first {
		return nil
	}
	slices.Sort(changed)
	return changed
}

// stampOf takes the stamp of a file, from the one before where that still holds. It is not ok when there is no file to read.
func stampOf(file string, before stamp) (stamp, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}, false
	}
	if before.settled && before.modified.Equal(info.ModTime()) && before.size == info.Size() {
		return before, true
	}
	looked := time.Now()
	data, err := readFile(file)
	if err != nil {
		return stamp{}, false
	}
	return stamp{info.ModTime(), info.Size(), sha256.Sum256(data), looked.Sub(info.ModTime()) > settling}, true
}

// Names lists every theme there is to choose: the built-ins in their order, then the files of the folders by name.
func Names(folders ...*Folder) []string {
	names := append([]string{AutoName}, Builtin()...)
	own := len(names)
	for _, f := range folders {
		more, _ := f.Names()
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names[own:])
	return names
}

// Find gives the theme of a name. Of folders with a file of the name the last one has it, before the built-in of the name; a
// reserved name is always the built-in (ui.md 15).
func Find(name string, folders ...*Folder) (*Source, error) {
	for _, f := range slices.Backward(folders) {
		if f.Has(name) {
			return f.Load(name)
		}
	}
	if src, err := Load(name); err == nil {
		return src, nil
	}
	return nil, noTheme(name, Names(folders...))
}
