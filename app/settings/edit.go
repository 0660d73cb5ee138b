package settings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrUneditable means that a file is written in a way that a change could not be made in without touching something else. The
// person makes it by hand.
var ErrUneditable = errors.New("cannot be changed without changing something else in the file: edit it by hand")

// edit returns doc with the value at path (string, bool, int64, []any, map[string]any), or without it when value is nil. Values,
// comments and order of everything else stay as they are: the result is parsed again and compared before it is returned.
func edit(file string, doc []byte, path []string, value any) ([]byte, error) {
	before, err := parse(file, doc)
	if err != nil {
		return nil, err
	}
	old, err := lookup(before.tree, path)
	if err != nil {
		return nil, &Error{Place: before.place(path), Key: dotted(path), Err: err}
	}
	if same(old, value) {
		return doc, nil
	}
	want := with(before.tree, path, value)
	out, err := change(doc, path, old, value)
	if err != nil {
		return nil, &Error{Place: before.place(path), Key: dotted(path), Err: err}
	}
	after := map[string]any{}
	if err := toml.Unmarshal(out, &after); err != nil || !same(pruned(after, path), pruned(want, path)) {
		return nil, &Error{Place: before.place(path), Key: dotted(path), Err: ErrUneditable}
	}
	return out, nil
}

// lookup finds the value at path; nil when there is none.
func lookup(t map[string]any, path []string) (any, error) {
	var v any = t
	for i, name := range path {
		t, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("cannot be set: %s is no table", dotted(path[:i]))
		}
		if v, ok = t[name]; !ok {
			return nil, nil
		}
	}
	return v, nil
}

// with copies the tables along path and sets or removes the value there.
func with(t map[string]any, path []string, value any) map[string]any {
	t = maps.Clone(t)
	if t == nil {
		t = map[string]any{}
	}
	switch {
	case len(path) > 1:
		sub, ok := t[path[0]].(map[string]any)
		if !ok && value == nil {
			return t
		}
		t[path[0]] = with(sub, path[1:], value)
	case value == nil:
		delete(t, path[0])
	default:
		t[path[0]] = value
	}
	return t
}

// pruned drops the empty tables along path: whether one is left when its last key goes depends on how it was written.
func pruned(t map[string]any, path []string) map[string]any {
	if len(path) < 2 {
		return t
	}
	sub, ok := t[path[0]].(map[string]any)
	if !ok {
		return t
	}
	t = maps.Clone(t)
	if sub = pruned(sub, path[1:]); len(sub) == 0 {
		delete(t, path[0])
	} else {
		t[path[0]] = sub
	}
	return t
}

// change makes the fewest edits that turn old into value. Tables are changed key by key, so that comments within them stay.
func change(doc []byte, path []string, old, value any) ([]byte, error) {
	oldTable, wasTable := old.(map[string]any)
	table, isTable := value.(map[string]any)
	switch {
	case same(old, value):
		return doc, nil
	case wasTable && isTable && len(table) > 0:
		names := maps.Clone(oldTable)
		maps.Copy(names, table)
		var err error
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if doc, err = change(doc, append(slices.Clone(path), name), oldTable[name], table[name]); err != nil {
				return nil, err
			}
		}
		return doc, nil
	case value == nil:
		return remove(doc, path)
	case old == nil:
		return insert(doc, path, value)
	case wasTable || isTable:
		doc, err := remove(doc, path)
		if err != nil {
			return nil, err
		}
		return insert(doc, path, value)
	default:
		return replace(doc, path, old, value)
	}
}

// find is the key-value that holds path exactly, however deep in inline tables.
func find(items []*item, path []string) *item {
	var found *item
	for _, it := range items {
		it.each(func(it *item) {
			if it.kind == unstable.KeyValue && !it.inArray && slices.Equal(it.path, path) {
				found = it
			}
		})
	}
	return found
}

func replace(doc []byte, path []string, old, value any) ([]byte, error) {
	items, err := outline(doc)
	if err != nil {
		return nil, err
	}
	it := find(items, path)
	if it == nil {
		return nil, ErrUneditable
	}
	if list, ok := value.([]any); ok {
		if out, ok := editList(doc, it, old, list); ok && holds(out, path, value) {
			return out, nil
		}
	}
	text, err := encodeValue(value)
	if err != nil {
		return nil, err
	}
	return splice(doc, it.value, it.end, text), nil
}

// holds reports whether doc can be parsed and has the value at path.
func holds(doc []byte, path []string, value any) bool {
	t := map[string]any{}
	if toml.Unmarshal(doc, &t) != nil {
		return false
	}
	v, err := lookup(t, path)
	return err == nil && same(v, value)
}

// splice returns doc with text in place of the bytes from start to end.
func splice(doc []byte, start, end int, text string) []byte {
	return slices.Concat(doc[:start], []byte(text), doc[end:])
}

// insert adds a value where none is: within the table that is already written there, else under a header of its own.
func insert(doc []byte, path []string, value any) ([]byte, error) {
	items, err := outline(doc)
	if err != nil {
		return nil, err
	}
	parent := path[:len(path)-1]
	table, isTable := value.(map[string]any)
	for n := len(parent); n > 0; n-- {
		if it := find(items, parent[:n]); it != nil && it.inline {
			return insertInline(doc, it, path[n:], value)
		}
	}
	if isTable {
		return insertTable(doc, items, path, table)
	}
	text, err := encodeValue(value)
	if err != nil {
		return nil, err
	}
	if at, name, ok := lineFor(doc, items, path); ok {
		return insertLine(doc, at, dotted(name)+" = "+text), nil
	}
	return insertTable(doc, items, parent, map[string]any{path[len(path)-1]: value})
}

// lineFor finds where a line for path belongs: after the last key of its table, and how the key is written there.
func lineFor(doc []byte, items []*item, path []string) (at int, name []string, ok bool) {
	parent := path[:len(path)-1]
	if len(parent) == 0 {
		return rootLine(doc, items), path, true
	}
	at = -1
	for _, it := range items {
		switch {
		case it.inArray:
		case it.kind == unstable.Table && slices.Equal(it.path, parent):
			at, name = lineEnd(doc, it.end), path[len(parent):]
		case it.kind == unstable.KeyValue && hasPrefix(parent, it.table) && len(it.path) > len(parent) && hasPrefix(it.path, parent):
			at, name = lineEnd(doc, it.end), path[len(it.table):]
		}
	}
	return at, name, at >= 0
}

// rootLine is where a key outside every table belongs: after the last one, else before the first header and the comment that
// stands directly above it, unless that is the comment the file begins with.
func rootLine(doc []byte, items []*item) int {
	at := -1
	for _, it := range items {
		if it.kind != unstable.KeyValue {
			if at >= 0 {
				return at
			}
			at = lineStart(doc, it.start)
			for above := at; above > 0; {
				above = lineStart(doc, above-1)
				if line := bytes.TrimSpace(doc[above:lineEnd(doc, above)]); len(line) == 0 || line[0] != '#' {
					return at
				} else if above > 0 {
					at = above
				} else {
					return lineStart(doc, it.start)
				}
			}
			return at
		}
		at = lineEnd(doc, it.end)
	}
	if at < 0 {
		return len(doc)
	}
	return at
}

// insertLine adds a line of its own at the beginning of the line at, or at the end of the file. A header that follows gets a
// blank line before it.
func insertLine(doc []byte, at int, line string) []byte {
	nl := newline(doc)
	text := line + nl
	if at > 0 && doc[at-1] != '\n' {
		text = nl + text
	}
	if rest := bytes.TrimLeft(doc[at:], " \t"); len(rest) > 0 && (rest[0] == '[' || rest[0] == '#') && blankBefore(doc, at) {
		text += nl
	}
	return splice(doc, at, at, text)
}

// blankBefore reports whether the line before at is blank, or there is none.
func blankBefore(doc []byte, at int) bool {
	return at == 0 || len(bytes.TrimSpace(doc[lineStart(doc, at-1):at])) == 0
}

// insertTable adds a table under its header, after what already stands under the same parent, else at the end of the file.
func insertTable(doc []byte, items []*item, path []string, table map[string]any) ([]byte, error) {
	text, err := encodeTable(path, table)
	if err != nil {
		return nil, err
	}
	at := len(doc)
	for i, it := range items {
		if len(path) > 1 && hasPrefix(it.path, path[:len(path)-1]) && (i+1 == len(items) || items[i+1].kind != unstable.KeyValue) {
			at = lineEnd(doc, it.end)
		}
	}
	nl := newline(doc)
	if at > 0 && doc[at-1] != '\n' {
		text = "\n" + text
	}
	if at > 0 && !blankBefore(doc, at) {
		text = "\n" + text
	}
	if at < len(doc) && len(bytes.TrimSpace(doc[at:lineEnd(doc, at)])) > 0 {
		text += "\n"
	}
	return splice(doc, at, at, strings.ReplaceAll(text, "\n", nl)), nil
}

// insertInline adds a key-value at the end of an inline table.
func insertInline(doc []byte, table *item, name []string, value any) ([]byte, error) {
	text, err := encodeValue(value)
	if err != nil {
		return nil, err
	}
	text = dotted(name) + " = " + text
	if n := len(table.inside); n > 0 {
		end := table.inside[n-1].end
		return splice(doc, end, end, ", "+text), nil
	}
	return splice(doc, table.value, table.end, "{ "+text+" }"), nil
}

func lineStart(doc []byte, at int) int { return bytes.LastIndexByte(doc[:at], '\n') + 1 }

// lineEnd is the beginning of the next line, or the end of the file.
func lineEnd(doc []byte, at int) int {
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(doc)
}

// newline is how the lines of a file end.
func newline(doc []byte) string {
	if i := bytes.IndexByte(doc, '\n'); i > 0 && doc[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
