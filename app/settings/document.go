package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxFile bounds every file this package reads or writes, in bytes (product.md 4).
const MaxFile = 1 << 20

// document is one parsed TOML file.
type document struct {
	file   string
	tree   map[string]any
	places map[string]Place // of each key and table header, by joined path; the first one counts
}

// parse reads TOML. Its error is an *Error with line and column.
func parse(file string, data []byte) (*document, error) {
	d := &document{file: file, tree: map[string]any{}, places: map[string]Place{}}
	if err := toml.Unmarshal(data, &d.tree); err != nil {
		e := &Error{Place: Place{File: file}, Err: errors.New(strings.TrimPrefix(err.Error(), "toml: "))}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			e.Line, e.Column = at.Position()
		}
		return nil, e
	}
	items, err := outline(data)
	if err != nil {
		return nil, &Error{Place: Place{File: file}, Err: err}
	}
	lines := lineCounter{data: data, line: 1}
	for _, it := range items {
		it.each(func(it *item) {
			line, column := lines.at(it.start)
			d.note(it, Place{File: file, Line: line, Column: column})
		})
	}
	return d, nil
}

// note remembers where the path of it, and every shorter path first met there, stands.
func (d *document) note(it *item, p Place) {
	for n := len(it.path); n > 0; n-- {
		path := join(it.path[:n])
		if _, known := d.places[path]; known {
			return
		}
		d.places[path] = p
	}
}

// place finds where path stands: itself, else the nearest table around it.
func (d *document) place(path []string) Place {
	for n := len(path); n > 0; n-- {
		if p, ok := d.places[join(path[:n])]; ok {
			return p
		}
	}
	return Place{File: d.file}
}

// join makes one string of a path. The parts of a path may hold dots.
func join(path []string) string { return strings.Join(path, "\x00") }

// dotted writes a path as TOML does.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = encodeKey(p)
	}
	return strings.Join(parts, ".")
}

// lineCounter turns rising offsets into lines and columns, reading the data once.
type lineCounter struct {
	data  []byte
	line  int
	start int // of the line
	from  int // everything before it is counted
}

func (c *lineCounter) at(offset int) (line, column int) {
	if offset < c.from { // never in a document in order; correct all the same
		*c = lineCounter{data: c.data, line: 1}
	}
	for i := bytes.IndexByte(c.data[c.from:offset], '\n'); i >= 0; i = bytes.IndexByte(c.data[c.from:offset], '\n') {
		c.line++
		c.from += i + 1
		c.start = c.from
	}
	c.from = offset
	return c.line, offset - c.start + 1
}

// item is one expression of a TOML file: a table header, or a key and its value.
type item struct {
	kind       unstable.Kind // Table, ArrayTable or KeyValue
	path       []string      // from the root, the table it stands in included
	table      []string      // path of the table it stands in, as written in the header; nil at the root
	start, end int           // the key and value, or the keys of a header without their brackets
	value      int           // where the value begins
	inline     bool          // the value is an inline table
	inside     []*item       // the key-values of that table
	elements   [][2]int      // of an array whose elements all are strings: where each stands
	inArray    bool          // it stands below an array of tables
}

func (it *item) each(f func(*item)) {
	f(it)
	for _, in := range it.inside {
		in.each(f)
	}
}

// outline lists the expressions of a document that has been found to be valid.
func outline(data []byte) ([]*item, error) {
	var (
		p       unstable.Parser
		items   []*item
		table   []string
		inArray bool
		arrays  = map[string]bool{} // paths of arrays of tables
	)
	p.Reset(data)
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.KeyValue:
			it := keyValue(data, n, table, table)
			it.each(func(it *item) { it.inArray = inArray })
			items = append(items, it)
		case unstable.Table, unstable.ArrayTable:
			it := &item{kind: n.Kind}
			it.path, it.start, it.end = keysOf(n)
			table = it.path
			if n.Kind == unstable.ArrayTable {
				arrays[join(table)] = true
			}
			inArray = belowArray(arrays, table)
			it.inArray = inArray
			items = append(items, it)
		}
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return items, nil
}

// belowArray reports whether a table is an element of an array of tables, or below one.
func belowArray(arrays map[string]bool, table []string) bool {
	if len(arrays) == 0 {
		return false
	}
	for n := range table {
		if arrays[join(table[:n+1])] {
			return true
		}
	}
	return false
}

func keyValue(data []byte, n *unstable.Node, parent, table []string) *item {
	it := &item{kind: unstable.KeyValue, table: table}
	keys, start, end := keysOf(n)
	it.path = append(append([]string{}, parent...), keys...)
	it.start, it.end = start, int(n.Raw.Offset+n.Raw.Length)
	it.value = end + 1 + bytes.IndexByte(data[end:], '=')
	for it.value < it.end && (data[it.value] == ' ' || data[it.value] == '\t') {
		it.value++
	}
	switch v := n.Value(); v.Kind {
	case unstable.InlineTable:
		it.inline = true
		for c := v.Children(); c.Next(); {
			if c.Node().Kind == unstable.KeyValue {
				it.inside = append(it.inside, keyValue(data, c.Node(), it.path, table))
			}
		}
	case unstable.Array:
		for c := v.Children(); c.Next(); {
			e := c.Node()
			if e.Kind != unstable.String {
				it.elements = nil
				break
			}
			it.elements = append(it.elements, [2]int{int(e.Raw.Offset), int(e.Raw.Offset + e.Raw.Length)})
		}
	}
	return it
}

// keysOf reads the keys of a header or key-value and where they begin and end.
func keysOf(n *unstable.Node) (path []string, start, end int) {
	start = -1
	for k := n.Key(); k.Next(); {
		raw := k.Node().Raw
		if start < 0 {
			start = int(raw.Offset)
		}
		end = int(raw.Offset + raw.Length)
		path = append(path, string(k.Node().Data))
	}
	return path, start, end
}

func hasPrefix(path, prefix []string) bool {
	if len(path) < len(prefix) {
		return false
	}
	for i := range prefix {
		if path[i] != prefix[i] {
			return false
		}
	}
	return true
}

// readFile reads a regular file of at most MaxFile bytes, through symbolic links. A file that is not there is nil without an
// error; a link to nothing is an error, because somebody meant it to lead somewhere.
func readFile(name string) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(name, readFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(name); err == nil {
			return nil, nil, errors.New("is a symbolic link to nothing")
		}
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, reason(err)
	}
	return readOpen(f)
}

// readInside is readFile for a file below dir that no symbolic link may lead out of it.
func readInside(dir, name string) ([]byte, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, reason(err)
	}
	defer root.Close()
	f, err := root.OpenFile(name, readFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, reason(err)
	}
	return readOpen(f)
}

// readFlags do not wait for a writer when a named pipe stands where a file should.
const readFlags = os.O_RDONLY | syscall.O_NONBLOCK

func readOpen(f *os.File) ([]byte, fs.FileInfo, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("is %s, not a file", kindOf(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, nil, reason(err)
	}
	if len(data) > MaxFile {
		return nil, nil, fmt.Errorf("is larger than %d bytes", MaxFile)
	}
	return data, info, nil
}

// reason leaves the path out of an error that is going to be shown behind it.
func reason(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a device"
	}
}
