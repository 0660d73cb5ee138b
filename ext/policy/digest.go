package policy

import (
	"bytes"

	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Digest names one exact call for "this exact call for the session": the tool and its arguments, insensitive to white space
// and key order of the JSON but to nothing else: 1 is not 1.0, and "A" is not "\u0041". Arguments that are not exactly one JSON
// value have a digest of their bytes.
func Digest(tool string, args []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, args) == nil { // which refuses what follows the value, too
		args = (&sorter{in: compact.Bytes()}).value(nil)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(tool), tool)
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}

// sorter copies valid, compact JSON with the members of its objects in order of their keys. It leaves every literal as it was
// written, which decoding would not: numbers lose their form, and broken UTF-8 becomes one and the same character.
type sorter struct {
	in []byte
	at int
}

type member struct {
	key  []byte // as written, with its quotes
	text []byte // key, colon and value
}

// value appends the value at the present place to dst.
func (s *sorter) value(dst []byte) []byte {
	switch s.in[s.at] {
	case '{':
		return s.object(dst)
	case '[':
		return s.array(dst)
	case '"':
		return append(dst, s.str()...)
	}
	start := s.at
	for s.at < len(s.in) && !strings.ContainsRune(",]}", rune(s.in[s.at])) {
		s.at++
	}
	return append(dst, s.in[start:s.at]...)
}

// str reads a string with its quotes.
func (s *sorter) str() []byte {
	start := s.at
	for s.at++; s.in[s.at] != '"'; s.at++ {
		if s.in[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.in[start:s.at]
}

func (s *sorter) array(dst []byte) []byte {
	for s.in[s.at] != ']' {
		dst = append(dst, s.in[s.at]) // the bracket, later a comma
		if s.at++; s.in[s.at] != ']' {
			dst = s.value(dst)
		}
	}
	s.at++
	return append(dst, ']')
}

func (s *sorter) object(dst []byte) []byte {
	var members []member
	for s.in[s.at] != '}' {
		if s.at++; s.in[s.at] == '}' {
			break
		}
		key := s.str()
		s.at++ // the colon
		members = append(members, member{key, s.value(append(slices.Clone(key), ':'))})
	}
	s.at++
	if !ambiguous(members) {
		slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	}
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, m.text...)
	}
	return append(dst, '}')
}

// ambiguous reports whether a reader could take two members for the same, as encoding/json does with keys that differ in case
// alone. Which of them counts then depends on their order, so the order must be kept.
func ambiguous(members []member) bool {
	if len(members) < 2 {
		return false
	}
	keys := make([]string, len(members))
	for i, m := range members {
		var key string
		if json.Unmarshal(m.key, &key) != nil {
			return true
		}
		keys[i] = fold(key)
	}
	slices.Sort(keys)
	return len(slices.Compact(keys)) < len(members)
}

// fold gives strings that differ in case alone the same form.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		for next := unicode.SimpleFold(r); ; next = unicode.SimpleFold(next) {
			if next <= r { // the orbit has wrapped around to its least rune
				return next
			}
		}
	}, s)
}
