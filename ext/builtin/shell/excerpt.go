package shell

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"octavo/pages/text"
)

// excerpt keeps the beginning and the end of a text of any length, limit bytes of each, in memory of at most three times that.
type excerpt struct {
	limit int
	total int64
	lines int64  // ends of lines in all of it
	head  []byte // the first limit bytes
	tail  []byte // what came last after head
}

func (e *excerpt) add(s string) {
	e.total += int64(len(s))
	e.lines += int64(strings.Count(s, "\n"))
	n := min(len(s), e.limit-len(e.head))
	e.head = append(e.head, s[:n]...)
	e.tail = append(e.tail, s[n:]...)
	if len(e.tail) > 2*e.limit {
		e.tail = e.tail[:copy(e.tail, e.tail[len(e.tail)-e.limit:])]
	}
}

// leftOutBytes is more than the line takes that says what is missing.
const leftOutBytes = 80

// text gives all of it when that is no more than budget bytes; else a third of the budget of its beginning and the rest of its
// end, where commands report what came of them. It cuts between lines unless that costs half of a part.
func (e *excerpt) text(budget int) (s string, whole bool) {
	end := e.tail
	if e.total == int64(len(e.head)+len(e.tail)) {
		end = append(e.head[:len(e.head):len(e.head)], e.tail...)
		if e.total <= int64(budget) {
			return string(end), true
		}
	}
	budget = max(0, budget-leftOutBytes)
	first := cutHead(e.head, budget/3)
	last := cutTail(end, budget-budget/3)
	missing := e.total - int64(len(first)) - int64(len(last))
	lines := e.lines - int64(bytes.Count(first, []byte("\n"))+bytes.Count(last, []byte("\n")))
	mark := "… " + text.Plural(int(missing), "byte")
	if lines > 0 {
		mark += fmt.Sprintf(" (%s)", text.Plural(int(lines), "line"))
	}
	mark += " left out …\n"
	if len(first) > 0 && first[len(first)-1] != '\n' {
		mark = "\n" + mark
	}
	return string(first) + mark + string(last), false
}

// cutHead is the start of b of at most n bytes.
func cutHead(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	if i := bytes.LastIndexByte(b[:n], '\n') + 1; i > n/2 {
		return b[:i]
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// cutTail is the end of b of at most n bytes.
func cutTail(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	at := len(b) - n
	if b[at-1] == '\n' {
		return b[at:]
	}
	if i := bytes.IndexByte(b[at:], '\n') + 1; 0 < i && i < n/2 {
		return b[at+i:]
	}
	for at < len(b) && !utf8.RuneStart(b[at]) {
		at++
	}
	return b[at:]
}
