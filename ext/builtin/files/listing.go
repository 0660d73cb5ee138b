package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"octavo/ext"
	"octavo/pages/text"
)

// maxEntries is how many names of a directory are read; a directory with more is listed in part.
const maxEntries = 10_000

// list gives the names in a directory: directories end in "/", symbolic links say where they lead. A model that reads a
// directory wants to know what is there; a refusal would only cost it another call.
func (t *tools) list(c *ext.Call, p place, offset, limit int) (ext.Output, error) {
	entries, whole, err := entriesOf(c, p)
	if err != nil {
		return ext.Output{}, refuseOS("list "+p.shown, err)
	}
	total := len(entries)
	count := text.Plural(total, "entry")
	if !whole {
		count = "more than " + count
	}
	if total == 0 {
		return titled(fmt.Sprintf("%s is an empty directory", p.shown), p.shown+": empty directory"), nil
	}
	if offset > total {
		return ext.Output{}, refuse(badArguments, "offset %d is past the end: the directory %s has %s", offset, p.shown, count)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a directory with %s", p.shown, count)
	if !whole {
		b.WriteString(", too many to be sorted: these are some")
	}
	b.WriteString(":\n")
	shown := 0
	for _, e := range entries[offset-1:] {
		row := entryLine(e) + "\n"
		if shown == limit || b.Len()+len(row) > t.MaxOutputBytes-readNoteBytes {
			break
		}
		b.WriteString(row)
		shown++
	}
	if next := offset + shown; next <= total {
		fmt.Fprintf(&b, "[%d more; continue with offset=%d]\n", total-next+1, next)
	}
	return titled(b.String(), fmt.Sprintf("%s: %s", p.shown, count)), nil
}

func entriesOf(c *ext.Call, p place) (entries []fs.DirEntry, whole bool, err error) {
	root, err := p.open()
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	dir, err := root.Open(p.name)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	for len(entries) <= maxEntries { // one more, so that the cut is seen
		if err := c.Err(); err != nil {
			return nil, false, err
		}
		some, err := dir.ReadDir(min(1000, maxEntries+1-len(entries)))
		entries = append(entries, some...)
		if errors.Is(err, io.EOF) {
			whole = true
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	entries = entries[:min(len(entries), maxEntries)]
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, whole, nil
}

func entryLine(e fs.DirEntry) string {
	name := printable(e.Name())
	switch m := e.Type(); {
	case m.IsDir():
		return name + "/"
	case m&fs.ModeSymlink != 0:
		return name + " (symbolic link)"
	case !m.IsRegular():
		return name + " (" + kindOf(m) + ")"
	default:
		return name
	}
}
