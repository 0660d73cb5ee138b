package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what words are made of: a word is a run of one class. Where no spaces stand between words, a change of script is the
// best sign of one that there is without a dictionary.
type class uint8

const (
	spaceClass class = iota
	letterClass
	hanClass
	hiraganaClass
	katakanaClass
	otherClass
	chipClass // each is a word
)

// classOf is the class of the unit at a byte of a line.
func classOf(s string, at int) class {
	r, _ := utf8.DecodeRuneInString(s[at:])
	switch {
	case strings.HasPrefix(s[at:], mark):
		return chipClass
	case unicode.IsSpace(r):
		return spaceClass
	case unicode.Is(unicode.Han, r):
		return hanClass
	case unicode.Is(unicode.Hiragana, r):
		return hiraganaClass
	case unicode.Is(unicode.Katakana, r), r == 'ー':
		return katakanaClass
	case r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return letterClass
	}
	return otherClass
}

// wordAfter is the end of the first word behind p, past spaces and newlines.
func (s *state) wordAfter(p place) place {
	for s.class(p) == spaceClass {
		q := s.next(p)
		if q == p {
			return p
		}
		p = q
	}
	kind := s.class(p)
	for {
		p = s.next(p)
		if kind == chipClass || s.class(p) != kind {
			return p
		}
	}
}

// wordBefore is the start of the last word before p.
func (s *state) wordBefore(p place) place {
	kind := spaceClass
	for q := range s.before(p) {
		switch c := s.class(q); {
		case kind == spaceClass:
			kind = c
		case kind == chipClass || c != kind:
			return p
		}
		p = q
	}
	return p
}

// class is the class of what stands behind p. A newline, and the end of the text, are space.
func (s *state) class(p place) class {
	if text := s.lines[p.line].text; p.at < len(text) {
		return classOf(text, p.at)
	}
	return spaceClass
}
