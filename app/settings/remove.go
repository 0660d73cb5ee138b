package settings

import (
	"bytes"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// span is a stretch of a file, from its first byte to the one after its last.
type span struct{ start, end int }

// remove takes out everything at and below path. A comment on the line of a key goes with it, and so does what stands between
// the header of a table and its last key; every other comment stays.
func remove(doc []byte, path []string) ([]byte, error) {
	items, err := outline(doc)
	if err != nil {
		return nil, err
	}
	var gone []span
	for i := 0; i < len(items); i++ {
		it := items[i]
		switch {
		case it.inArray:
			return nil, ErrUneditable
		case it.kind != unstable.KeyValue && hasPrefix(it.path, path):
			last := it
			for i+1 < len(items) && items[i+1].kind == unstable.KeyValue {
				i++
				last = items[i]
			}
			gone = append(gone, span{lineStart(doc, it.start), lineEnd(doc, last.end)})
		case hasPrefix(it.path, path):
			gone = append(gone, span{lineStart(doc, it.start), lineEnd(doc, it.end)})
		case it.inline && hasPrefix(path, it.path):
			gone = append(gone, inlineSpans(it, path)...)
		}
	}
	if len(gone) == 0 {
		return nil, ErrUneditable
	}
	for _, s := range slices.Backward(gone) {
		// A table that stood between two blank lines leaves one.
		if blankBefore(doc, s.start) && s.end < len(doc) && len(bytes.TrimSpace(doc[s.end:lineEnd(doc, s.end)])) == 0 && doc[s.end-1] == '\n' {
			s.end = lineEnd(doc, s.end)
		}
		for s.end == len(doc) && s.start > 0 && blankBefore(doc, s.start) { // and one at the end takes its blank line along
			s.start = lineStart(doc, s.start-1)
		}
		doc = splice(doc, s.start, s.end, "")
	}
	return doc, nil
}

// inlineSpans finds path within an inline table, with the comma that parts it from its neighbours.
func inlineSpans(table *item, path []string) []span {
	var gone []span
	in := table.inside
	for i, it := range in {
		switch {
		case !hasPrefix(it.path, path):
			if it.inline && hasPrefix(path, it.path) {
				gone = append(gone, inlineSpans(it, path)...)
			}
		case i > 0:
			gone = append(gone, span{in[i-1].end, it.end})
		case len(in) > 1:
			gone = append(gone, span{it.start, in[1].start})
		default:
			gone = append(gone, span{it.start, it.end})
		}
	}
	return gone
}
