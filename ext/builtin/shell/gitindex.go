package shell

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
)

// maxGitIndex is how long an index may be to be read at all, in bytes; some 600,000 files fit.
const maxGitIndex = 64 << 20

// The parts of an index that are of interest (gitformat-index): a header, entries of a fixed part and a name, extensions of a
// signature, a length and data, and a check sum over it all.
const (
	indexHeader    = 12
	indexEntry     = 62 // without flags of version 3, name and padding
	indexModeAt    = 24
	indexFlagsAt   = 60
	indexExtension = 8
	indexSum       = 20

	indexNameMask  = 0x0fff
	indexExtended  = 0x4000
	indexTypeMask  = 0xf000 // of a mode
	indexRegular   = 0x8000
	indexSymlink   = 0xa000
	indexSignature = "DIRC"
)

// indexExtensions add nothing to the entries: the tree of a commit, conflicts that were resolved, what is untracked. Others say
// that entries are elsewhere in the file, or in another, or that a program watches them.
var indexExtensions = []string{"TREE", "REUC", "UNTR"}

// plainIndex reports whether an index, if there is one, lists files and symbolic links only. In a submodule git would run
// itself, and obey the configuration it finds there.
func plainIndex(path string) bool {
	f, size, err := openRegular(path, maxGitIndex)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return plainEntries(bufio.NewReaderSize(f, 64<<10), size)
}

// plainEntries reads an index of so many bytes.
func plainEntries(r *bufio.Reader, size int64) bool {
	x := indexReader{Reader: r}
	h, err := x.take(indexHeader)
	if err != nil || string(h[:4]) != indexSignature {
		return false
	}
	version, count := binary.BigEndian.Uint32(h[4:]), binary.BigEndian.Uint32(h[8:])
	if version < 2 || version > 4 {
		return false
	}
	before := 0 // length of the name before, which those of version 4 share the beginning of
	for range count {
		if before, err = x.entry(version, before); err != nil {
			return false
		}
	}
	for x.at <= size-indexSum-indexExtension {
		h, err := x.take(indexExtension)
		if err != nil || !slices.Contains(indexExtensions, string(h[:4])) {
			return false
		}
		if x.skip(int(binary.BigEndian.Uint32(h[4:]))) != nil {
			return false
		}
	}
	return x.at == size-indexSum
}

// indexReader counts what it reads.
type indexReader struct {
	*bufio.Reader
	at int64
}

var errEntry = errors.New("an entry that is not understood")

// take returns the next n bytes, fewer than the reader's buffer has, which are valid until the next call.
func (x *indexReader) take(n int) ([]byte, error) {
	b, err := x.Peek(n)
	if err == nil {
		err = x.skip(n)
	}
	return b, err
}

func (x *indexReader) skip(n int) error {
	m, err := x.Discard(n)
	x.at += int64(m)
	return err
}

// entry reads one, and returns the length of its name.
func (x *indexReader) entry(version uint32, before int) (name int, err error) {
	begin := x.at
	b, err := x.take(indexEntry)
	if err != nil {
		return 0, err
	}
	flags := binary.BigEndian.Uint16(b[indexFlagsAt:])
	if kind := binary.BigEndian.Uint32(b[indexModeAt:]) & indexTypeMask; kind != indexRegular && kind != indexSymlink {
		return 0, errEntry
	}
	// The longest length says that the name is at least that long.
	if name = int(flags & indexNameMask); name == indexNameMask {
		return 0, errEntry
	}
	if flags&indexExtended != 0 {
		if version < 3 {
			return 0, errEntry
		}
		if err := x.skip(2); err != nil {
			return 0, err
		}
	}
	if version < 4 {
		// One to eight NULs fill up to a multiple of eight.
		return name, x.skip(name + 8 - (int(x.at-begin)+name)%8)
	}
	dropped, err := x.count()
	rest := name - (before - dropped)
	if err != nil || dropped > before || rest < 0 {
		return 0, errEntry
	}
	return name, x.skip(rest + 1)
}

// count reads a number as git packs them: seven bits in a byte, and each further byte adds one to those before.
func (x *indexReader) count() (int, error) {
	for n := 0; ; n++ {
		b, err := x.ReadByte()
		if err != nil {
			return 0, err
		}
		x.at++
		if n = n<<7 | int(b&0x7f); b < 0x80 {
			return n, nil
		}
		if n > indexNameMask {
			return 0, errEntry
		}
	}
}
