package demo

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/pages/text"
)

const (
	// maxHeard is how long what a person says may be to be acted on, in bytes. Rules of single words make no sense of more.
	maxHeard = 1000
	// heardTail is how much of the end of a message is looked at, in bytes. A paragraph that begins before it is too long.
	heardTail = 8 << 10
	// maxObject is how long a name, a path or a text to search for may be, in bytes.
	maxObject = 200
)

// heard is what a person said, as the word rules read it: the last paragraph of their message. What was piped in or inlined stands
// in paragraphs before it, and is no order.
type heard struct {
	line   string // the paragraph, clean
	long   bool   // it is longer than maxHeard: it has no words
	code   string // what first stands in backticks, "" when nothing does
	codeAt int    // where in the paragraph that begins
	quote  string // what first stands in double quotes
	words  []word // without what is quoted in either way
	single bool   // the paragraph is all of the message, and one line
}

// word is one word of a paragraph.
type word struct {
	raw string // without punctuation around it
	low string // in lower case, with plain apostrophes
	end int    // where in the paragraph it ends
}

// hear reads a message of any size.
func hear(message string) heard {
	tail := message[max(0, len(message)-heardTail):]
	tail = strings.TrimSpace(text.Clean(tail))
	at := strings.LastIndex(tail, "\n\n")
	h := heard{line: strings.TrimSpace(tail[max(0, at):])}
	h.single = at < 0 && len(message) <= heardTail && !strings.Contains(h.line, "\n")
	if len(h.line) > maxHeard || at < 0 && len(message) > heardTail {
		return heard{long: true}
	}
	h.split()
	return h
}

// split finds the words and what is quoted.
func (h *heard) split() {
	for at := 0; at < len(h.line); {
		rest := h.line[at:]
		first, size := utf8.DecodeRuneInString(rest)
		switch inside, n := span(rest); {
		case n > 0 && first == '`':
			if h.code == "" {
				h.code, h.codeAt = inside, at
			}
			at += n
		case n > 0:
			if h.quote == "" {
				h.quote = inside
			}
			at += n
		case unicode.IsSpace(first):
			at += size
		default:
			n := wordEnd(rest)
			h.add(rest[:n], at+n)
			at += n
		}
	}
}

// wordEnd is where the word ends that s begins with: before white space or a backtick, after at least one byte.
func wordEnd(s string) int {
	if i := strings.IndexFunc(s[1:], func(r rune) bool { return unicode.IsSpace(r) || r == '`' }); i >= 0 {
		return 1 + i
	}
	return len(s)
}

// add takes a word, unless it is nothing but punctuation. A dot may begin a name, so it stays in front.
func (h *heard) add(raw string, end int) {
	raw = strings.TrimLeft(raw, "([{<\"'“”‘’,;:!?*`")
	raw = strings.TrimRight(raw, ")]}>\"'“”‘’,;:!?*.…`")
	if raw != "" {
		h.words = append(h.words, word{raw, strings.ReplaceAll(strings.ToLower(raw), "’", "'"), end})
	}
}

// quotes are the marks around what is quoted.
var quotes = [...]struct{ open, close string }{{"```", "```"}, {"``", "``"}, {"`", "`"}, {"“", "”"}, {`"`, `"`}}

// span is what stands in quotes at the start of s, and how many bytes that takes with its marks; 0 when nothing does.
func span(s string) (inside string, n int) {
	for _, q := range quotes {
		rest, ok := strings.CutPrefix(s, q.open)
		if !ok {
			continue
		}
		if i := strings.Index(rest, q.close); i > 0 {
			return strings.TrimSpace(rest[:i]), len(q.open) + i + len(q.close)
		}
	}
	return "", 0
}

// polite are the words that may stand before an order.
var polite = []string{"please", "can", "could", "will", "you", "now", "then", "ok", "okay", "hey", "hi", "hello", "octavo", "just", "and", "also"}

// order is the index of the first word that is not polite; len(h.words) when there is none.
func (h heard) order() int {
	i := slices.IndexFunc(h.words, func(w word) bool { return !slices.Contains(polite, w.low) })
	if i < 0 {
		return len(h.words)
	}
	return i
}

// begins reports whether the first word that is not polite is one of words.
func (h heard) begins(words []string) bool {
	i := h.order()
	return i < len(h.words) && slices.Contains(words, h.words[i].low)
}

// index is where a word first stands; -1 when it does not.
func (h heard) index(low string) int {
	return slices.IndexFunc(h.words, func(w word) bool { return w.low == low })
}

// nots are the words that turn an order around. No rule of words can tell what they turn around, so nothing is done.
var nots = []string{"not", "don't", "dont", "never", "no", "stop", "without", "nothing", "cannot", "can't", "won't", "doesn't", "mustn't",
	"shouldn't", "avoid"}

// not is the first word of the paragraph that turns something around; "" when there is none.
func (h heard) not() string {
	for _, w := range h.words {
		if slices.Contains(nots, w.low) {
			return w.low
		}
	}
	return ""
}

// The words that are no object of run, search or read, and those that may stand before what is searched for.
var (
	vague = []string{"a", "an", "the", "some", "something", "any", "anything", "my", "your", "our", "this", "that", "it", "out", "me", "one", "all",
		"command", "commands", "tests", "file", "files"}
	filler = []string{"for", "is", "the", "a", "an", "any", "every", "all", "word", "words", "text", "string", "me"}
)

// command is the command that the paragraph orders to be run; "" when it orders none. Only a message of one line that begins with
// the order is one, and the command follows it, so that neither a question about a command nor a text that was piped in runs anything.
func (h heard) command() string {
	if !h.single || !h.begins([]string{"run", "execute"}) {
		return ""
	}
	verb, more := h.words[h.order()], h.words[h.order()+1:]
	switch {
	case h.code != "":
		between := func(w word) bool { return w.end <= h.codeAt && !slices.Contains(vague, w.low) }
		if h.codeAt < verb.end || slices.ContainsFunc(more, between) {
			return ""
		}
		return h.code
	case len(more) == 0:
		return h.quote
	case slices.Contains(vague, more[0].low):
		return ""
	}
	rest := strings.TrimSpace(h.line[verb.end:])
	return strings.TrimRight(strings.TrimSuffix(rest, "please"), " ,")
}

// subject is what the paragraph wants searched for; "" when it names nothing.
func (h heard) subject() string {
	for _, quoted := range []string{h.code, h.quote} {
		if quoted != "" && len(quoted) <= maxObject && !strings.Contains(quoted, "\n") {
			return quoted
		}
	}
	at := slices.IndexFunc(h.words, func(w word) bool {
		return slices.Contains([]string{"search", "find", "grep", "look", "where", "where's"}, w.low)
	})
	if at < 0 {
		return ""
	}
	for _, w := range h.words[at+1:] {
		switch {
		case slices.Contains(filler, w.low):
		case slices.Contains(vague, w.low) || len(w.raw) > maxObject:
			return ""
		default:
			return w.raw
		}
	}
	return ""
}

// path is what looks like the path of a file in the paragraph; "" when nothing does.
func (h heard) path() string {
	for _, quoted := range []string{h.code, h.quote} {
		if pathLike(quoted) {
			return quoted
		}
	}
	for _, w := range h.words {
		if pathLike(w.raw) {
			return w.raw
		}
	}
	return ""
}

// file is the file that the paragraph wants read; "" when it names none. After read, open and cat it may look like anything that stands
// in quotes, or alone.
func (h heard) file() string {
	if !h.begins([]string{"read", "open", "cat"}) {
		return h.path()
	}
	for _, quoted := range []string{h.code, h.quote} {
		if quoted != "" && len(quoted) <= maxObject && !strings.Contains(quoted, "\n") {
			return quoted
		}
	}
	if i := h.order() + 1; i == len(h.words)-1 && h.words[i].low != "readme" && !slices.Contains(vague, h.words[i].low) {
		return text.CutBytes(h.words[i].raw, maxObject)
	}
	return h.path()
}

// maxEnding is how long the ending of a file's name is that is taken for one, in bytes.
const maxEnding = 5

// pathLike reports whether something looks like the path of a file: it is short, has a slash or ends as files do, and has no white
// space.
func pathLike(raw string) bool {
	if len(raw) > maxObject || strings.ContainsFunc(raw, unicode.IsSpace) {
		return false
	}
	if strings.Contains(raw, "/") {
		return true
	}
	dot := strings.LastIndexByte(raw, '.')
	ending := raw[dot+1:]
	return dot >= 0 && ending != "" && len(ending) <= maxEnding &&
		!strings.ContainsFunc(ending, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
