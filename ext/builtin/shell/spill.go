package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Bounds of kept output (product.md 6). An owner is one session.
const (
	maxSpillBytes = 16 << 20 // of one stream
	maxSpillTotal = 64 << 20 // of an owner
	maxSpillFiles = 32       // of an owner
)

// spills are the temporary files with output that was too long for a result. They are private (directory 0700, files 0600),
// the oldest go when there are too many, and all go when the session closes, or with the next octavo when this one was killed.
type spills struct {
	base string // where dir is made

	mu     sync.Mutex
	dir    string   // "" until it is needed
	lock   *os.File // on dir while it is ours
	closed bool
	files  []*spill // oldest first
	total  int64
}

// spill is one stream's file. Its stream writes it from one goroutine.
type spill struct {
	owner *spills
	path  string
	file  *os.File // nil when written
	size  int64    // guarded by owner.mu
	cut   bool     // there was more than maxSpillBytes, or the disk was full
}

var errSpillsClosed = errors.New("the session is closing")

// create starts a file for a stream of that name.
func (s *spills) create(name string) (*spill, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errSpillsClosed
	}
	f, err := s.open(name)
	if errors.Is(err, fs.ErrNotExist) && s.dir != "" {
		// Something tidied the directory for temporary files while octavo ran.
		s.leave()
		f, err = s.open(name)
	}
	if err != nil {
		return nil, err
	}
	sp := &spill{owner: s, path: f.Name(), file: f}
	s.files = append(s.files, sp)
	s.evict()
	return sp, nil
}

func (s *spills) open(name string) (*os.File, error) {
	if s.dir == "" {
		var err error
		if s.dir, s.lock, err = makeSpillDir(s.base); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(s.dir, fmt.Sprintf("bash-*-%s.txt", name))
}

// evict removes the oldest files that are not being written until the owner is within its bounds.
func (s *spills) evict() {
	for i := 0; i < len(s.files) && (len(s.files) > maxSpillFiles || s.total > maxSpillTotal); {
		if old := s.files[i]; old.file == nil {
			s.forget(i)
		} else {
			i++
		}
	}
}

func (s *spills) forget(i int) {
	old := s.files[i]
	_ = os.Remove(old.path) // gone already is as good
	s.total -= old.size
	s.files = slices.Delete(s.files, i, i+1)
}

// close removes everything.
func (s *spills) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // nobody is left to be told
	}
	s.leave()
	s.files, s.total = nil, 0
}

// leave gives the directory up.
func (s *spills) leave() {
	if s.lock != nil {
		_ = s.lock.Close() // only read
	}
	s.dir, s.lock = "", nil
}

// write adds b as far as the bound lets it.
func (sp *spill) write(b []byte) {
	if sp.cut {
		return
	}
	if room := maxSpillBytes - sp.size; int64(len(b)) > room {
		b, sp.cut = b[:room], true
	}
	n, err := sp.file.Write(b)
	if err != nil {
		sp.cut = true
	}
	sp.owner.mu.Lock()
	defer sp.owner.mu.Unlock()
	sp.size += int64(n)
	sp.owner.total += int64(n)
	sp.owner.evict()
}

// end closes the file, which stays to be read.
func (sp *spill) end() {
	sp.owner.mu.Lock()
	defer sp.owner.mu.Unlock()
	sp.close()
	sp.owner.evict()
}

// remove closes and deletes the file.
func (sp *spill) remove() {
	sp.owner.mu.Lock()
	defer sp.owner.mu.Unlock()
	sp.close()
	if i := slices.Index(sp.owner.files, sp); i >= 0 {
		sp.owner.forget(i)
	}
}

func (sp *spill) close() {
	if sp.file == nil {
		return
	}
	if err := sp.file.Close(); err != nil {
		sp.cut = true
	}
	sp.file = nil
}
