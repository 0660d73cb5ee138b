package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is a prompt that holds what was looked for.
type Match struct {
	Index int // for Show; 0 is the newest prompt
	Text  string
	Spans []Span // where it does, from left to right
}

// Span is a range of bytes.
type Span struct{ From, To int }

// Search finds the prompts that hold query, newest first, at most MaxMatches of them. Upper and lower case are the same. An empty
// query finds all.
func (h *History) Search(query string) []Match {
	query = fold(query)
	var out []Match
	for i := range h.prompts {
		if len(out) == MaxMatches {
			break
		}
		p := &h.prompts[i]
		if p.folded == "" {
			p.folded = fold(p.text)
		}
		if spans := find(p.folded, query); query == "" || spans != nil {
			out = append(out, Match{i, p.text, spans})
		}
	}
	return out
}

// find gives the places of query that do not overlap.
func find(s, query string) []Span {
	if query == "" {
		return nil
	}
	var out []Span
	for at := 0; ; {
		i := strings.Index(s[at:], query)
		if i < 0 {
			return out
		}
		out = append(out, Span{at + i, at + i + len(query)})
		at += i + len(query)
	}
}

// fold makes upper and lower case the same without moving a byte. The few letters whose lower case has another length stay.
func fold(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if low := unicode.ToLower(r); utf8.RuneLen(low) == utf8.RuneLen(r) {
			return low
		}
		return r
	}, s)
}
