package keys

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"octavo/pages/text"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

const (
	// MaxFile bounds keys.toml, in bytes (product.md 2.5).
	MaxFile = 256 << 10
	// MaxKeys bounds the keys of one action.
	MaxKeys = 8

	unbound = "none" // in the place of a key
	vimName = "vim"

	allNames = "octavo help keyboard lists all names"
)

// Overrides is what keys.toml says. The zero value says nothing.
type Overrides struct {
	source string
	vim    bool
	rows   []override
}

// override is the keys of one action.
type override struct {
	action Action
	keys   []string // canonical; none unbinds
	line   int
	column int
}

// Parse reads keys.toml: lines such as
//
//	"app.message.followUp" = "ctrl+q"
//	"list.edit" = ["ctrl+e", "f2"]
//	"app.mouse.toggle" = "none"
//	vim = true
//
// Names may also be written without quotes, or in tables. source is what problems call the file. A file that is no TOML, or too
// large, has no effect at all; otherwise only the lines with a problem have none.
func Parse(source string, data []byte) (Overrides, []Problem) {
	o, problems := read(source, data)
	return o, bounded(problems)
}

func read(source string, data []byte) (Overrides, []Problem) {
	r := reader{data: data, o: Overrides{source: source}}
	if len(data) > MaxFile {
		r.problem(-1, "", "is larger than %d KiB: octavo keeps its own keys", MaxFile>>10)
		return Overrides{source: source}, r.problems
	}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil { // finds what no grammar does, such as a key that is there twice
		r.syntax(err)
		return Overrides{source: source}, r.problems
	}
	r.read()
	return r.o, r.problems
}

// reader goes through one file that is sound TOML.
type reader struct {
	data     []byte
	o        Overrides
	problems []Problem
}

// problem notes one at an offset of the file; -1 for the whole.
func (r *reader) problem(offset int, name, format string, args ...any) {
	p := Problem{Source: r.o.source, Name: name, Text: fmt.Sprintf(format, args...)}
	if offset >= 0 {
		p.Line, p.Column = r.place(offset)
	}
	r.problems = append(r.problems, p)
}

func (r *reader) place(offset int) (line, column int) {
	before := r.data[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

func (r *reader) syntax(err error) {
	const most = 200 // cells: a message may quote a key of any length
	p := Problem{Source: r.o.source, Text: "is no TOML, so octavo keeps its own keys: " +
		text.Cut(text.CleanLine(strings.TrimPrefix(err.Error(), "toml: ")), most, "…")}
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		p.Line, p.Column = at.Position()
	}
	r.problems = append(r.problems, p)
}

func (r *reader) read() {
	var (
		p     unstable.Parser
		table []string
		skip  bool // the table has a problem itself
	)
	p.Reset(r.data)
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			var offset int
			table, offset = path(n, nil)
			skip = !r.header(name(table), offset, n.Kind)
		case unstable.KeyValue:
			if !skip {
				r.keyValue(n, table)
			}
		}
	}
	if err := p.Error(); err != nil {
		r.syntax(err)
	}
}

// header looks at a table by itself, which may be empty.
func (r *reader) header(table string, offset int, kind unstable.Kind) bool {
	begins := func(b Binding) bool { return strings.HasPrefix(string(b.Action), table+".") }
	switch {
	case kind == unstable.ArrayTable:
		r.problem(offset, quote(table), "is a list of tables: write [one] pair of brackets")
	case !slices.ContainsFunc(bindings[:], begins):
		r.problem(offset, quote(table), "begins no name of an action: %s", allNames)
	default:
		return true
	}
	return false
}

// path is the keys of a table or of a key with its value, and where they begin.
func path(n *unstable.Node, table []string) (full []string, offset int) {
	full, offset = slices.Clone(table), -1
	for k := n.Key(); k.Next(); {
		if offset < 0 {
			offset = int(k.Node().Raw.Offset)
		}
		full = append(full, string(k.Node().Data))
	}
	return full, offset
}

// name is a path as the table of bindings has it.
func name(path []string) string { return strings.Join(path, ".") }

func (r *reader) keyValue(n *unstable.Node, table []string) {
	full, offset := path(n, table)
	if v := n.Value(); v.Kind == unstable.InlineTable {
		for c := v.Children(); c.Next(); {
			r.keyValue(c.Node(), full)
		}
	} else {
		r.value(name(full), offset, v)
	}
}

// value stores one line of the file.
func (r *reader) value(id string, offset int, v *unstable.Node) {
	if id == vimName {
		if v.Kind != unstable.Bool {
			r.problem(offset, id, "must be true or false")
			return
		}
		r.o.vim = string(v.Data) == "true"
		return
	}
	i := slices.IndexFunc(bindings[:], func(b Binding) bool { return string(b.Action) == id })
	if i < 0 {
		hint := ""
		if len(r.problems) < MaxProblems { // nobody reads on, and looking takes time
			hint = suggestion(id)
		}
		r.problem(offset, quote(id), "is nothing that a key can do%s", hint)
		return
	}
	b := bindings[i]
	keys, err := keysOf(v)
	if err != nil {
		r.problem(offset, id, "%v%s", err, keeps(b))
		return
	}
	if slices.ContainsFunc(r.o.rows, func(o override) bool { return o.action == b.Action }) {
		r.problem(offset, id, "is there twice: the first counts")
		return
	}
	line, column := r.place(offset)
	r.o.rows = append(r.o.rows, override{b.Action, keys, line, column})
}

// suggestion goes on after a name that is none.
func suggestion(id string) string {
	names := make([]string, len(bindings))
	for i, b := range bindings {
		names[i] = string(b.Action)
	}
	if near := closest(id, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ": " + allNames
}

// keeps goes on after what is wrong with the keys of a binding.
func keeps(b Binding) string {
	if len(b.Keys) == 0 {
		return "; it stays without a key"
	}
	return "; octavo keeps " + strings.Join(b.Keys, ", ")
}

func errKeys() error {
	return fmt.Errorf(`must be a key such as "ctrl+k", a list of at most %d keys, or "none"`, MaxKeys)
}

// keysOf reads a key or a list of them.
func keysOf(v *unstable.Node) ([]string, error) {
	var written []string
	switch v.Kind {
	case unstable.String:
		if string(v.Data) == unbound {
			return nil, nil
		}
		written = []string{string(v.Data)}
	case unstable.Array:
		for c := v.Children(); c.Next(); {
			n := c.Node()
			if n.Kind != unstable.String || string(n.Data) == unbound {
				return nil, errKeys()
			}
			written = append(written, string(n.Data))
		}
	}
	if len(written) == 0 && v.Kind != unstable.Array || len(written) > MaxKeys {
		return nil, errKeys()
	}
	keys := make([]string, 0, len(written))
	for _, w := range written {
		key, err := Normalise(w)
		if err != nil {
			return nil, err
		}
		if slices.Contains(keys, key) {
			return nil, fmt.Errorf("has %s twice", key)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
