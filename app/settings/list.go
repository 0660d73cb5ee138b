package settings

import (
	"bytes"
	"slices"
)

// editList changes a list of strings element by element, so that the comments beside those that stay remain. It declines (false)
// when more than leaving some out and adding some at the end would be needed; the caller then writes the list anew. Whether the
// result holds what it should is for the caller to find out.
func editList(doc []byte, it *item, old any, value []any) ([]byte, bool) {
	was, ok := old.([]any)
	if !ok || len(was) == 0 || len(was) != len(it.elements) || bytes.IndexByte(doc[it.value:it.end], '\n') < 0 {
		return nil, false
	}
	keep := make([]bool, len(was))
	kept := 0
	for i, e := range was {
		if kept < len(value) && e == value[kept] {
			keep[i] = true
			kept++
		}
	}
	if kept == 0 {
		return nil, false
	}
	last := 0
	for i := range keep {
		if keep[i] {
			last = i
		}
	}
	for i := len(was) - 1; i >= 0; i-- { // from the end, so that the places of what comes before stay right
		if i == last {
			var ok bool
			if doc, ok = appendElements(doc, it.elements[i], value[kept:]); !ok {
				return nil, false
			}
		}
		if !keep[i] {
			doc = removeElement(doc, it.elements[i])
		}
	}
	return doc, true
}

// removeElement takes out an element and its comma: the whole line when it has one of its own.
func removeElement(doc []byte, at [2]int) []byte {
	start, end := at[0], afterComma(doc, at[1])
	line, next := lineStart(doc, start), lineEnd(doc, end)
	alone := len(bytes.TrimSpace(doc[line:start])) == 0
	rest := bytes.TrimSpace(doc[end:next])
	if alone && (len(rest) == 0 || rest[0] == '#') {
		return splice(doc, line, next, "")
	}
	for end < len(doc) && (doc[end] == ' ' || doc[end] == '\t') {
		end++
	}
	return splice(doc, start, end, "")
}

// appendElements adds values after an element, each on a line of its own when that element has one.
func appendElements(doc []byte, at [2]int, values []any) ([]byte, bool) {
	if len(values) == 0 {
		return doc, true
	}
	line := lineStart(doc, at[0])
	indent := doc[line:at[0]]
	end := afterComma(doc, at[1])
	rest := bytes.TrimSpace(doc[end:lineEnd(doc, end)])
	alone := len(bytes.TrimSpace(indent)) == 0 && (len(rest) == 0 || rest[0] == '#')
	comma := end > at[1]
	var text []byte
	for i, v := range values {
		s, err := encodeValue(v)
		if err != nil {
			return nil, false
		}
		switch {
		case alone:
			text = append(text, slices.Concat(indent, []byte(s), []byte(","), []byte(newline(doc)))...)
		case comma && i == 0:
			text = append(text, " "+s...)
		default:
			text = append(text, ", "+s...)
		}
	}
	if !alone {
		if comma {
			text = append(text, ',')
		}
		return splice(doc, end, end, string(text)), true
	}
	doc = splice(doc, lineEnd(doc, end), lineEnd(doc, end), string(text))
	if !comma {
		doc = splice(doc, at[1], at[1], ",")
	}
	return doc, true
}

// afterComma is behind the comma that follows an element on its line, or at when there is none.
func afterComma(doc []byte, at int) int {
	i := at
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\t') {
		i++
	}
	if i < len(doc) && doc[i] == ',' {
		return i + 1
	}
	return at
}
