package code

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is compared word by word. Beyond them a change is shown line by line only.
const (
	// maxWords is of how many words a line may have that is compared with another.
	maxWords = 256
	// maxCompared is how many pairs of lines are looked at, to find the pairs in lines that were deleted and added together. Where there
	// are more the first deleted one goes with the first added one, and so on.
	maxCompared = 2500
	// alike is from how much of them is the same, in percent, two lines are a pair.
	alike = 40
)

// part is a part of a line, in bytes.
type part struct{ from, to int }

// lineWords is a line as words, each with a number that equal words share.
type lineWords struct {
	text   string
	parts  []part
	ids    []int
	sorted []weighed // without blanks
	weight int       // bytes that are no blanks
}

type weighed struct{ id, bytes int }

// vocabulary numbers words.
type vocabulary map[string]int

func (v vocabulary) line(s string) lineWords {
	w := lineWords{text: s}
	for i := 0; i < len(s); {
		n := wordLength(s[i:])
		id, ok := v[s[i:i+n]]
		if !ok {
			id = len(v)
			v[s[i:i+n]] = id
		}
		w.parts = append(w.parts, part{i, i + n})
		w.ids = append(w.ids, id)
		if !isBlank(s[i]) {
			w.sorted = append(w.sorted, weighed{id, n})
			w.weight += n
		}
		if i += n; len(w.ids) > maxWords {
			return lineWords{}
		}
	}
	slices.SortFunc(w.sorted, func(a, b weighed) int { return a.id - b.id })
	return w
}

// wordLength is how many bytes the word has that s begins with: letters and digits, blanks, or a single other character.
func wordLength(s string) int {
	kind := func(s string) (kind, size int) {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == ' ' || r == '\t':
			return 1, size
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 2, size
		}
		return 0, size
	}
	first, n := kind(s)
	if first == 0 {
		return n
	}
	for n < len(s) {
		k, size := kind(s[n:])
		if k != first {
			break
		}
		n += size
	}
	return n
}

// similarity is how much of two lines is the same, in percent of both.
func similarity(a, b lineWords) int {
	if a.weight+b.weight == 0 {
		return 0
	}
	same := 0
	for i, j := 0, 0; i < len(a.sorted) && j < len(b.sorted); {
		switch x, y := a.sorted[i], b.sorted[j]; {
		case x.id == y.id:
			same += x.bytes
			i, j = i+1, j+1
		case x.id < y.id:
			i++
		default:
			j++
		}
	}
	return 200 * same / (a.weight + b.weight)
}

// pair is a deleted and an added line that are one line, changed.
type pair struct{ old, new int }

// pairs finds the pairs among lines that were deleted and added in one place. They keep the order of both.
func pairs(old, new []lineWords) []pair {
	if len(old) == 0 || len(new) == 0 {
		return nil
	}
	if len(old)*len(new) > maxCompared {
		var found []pair
		for i := range min(len(old), len(new)) {
			if similarity(old[i], new[i]) >= alike {
				found = append(found, pair{i, i})
			}
		}
		return found
	}
	// best[i][j] is how similar the best pairs of the lines from i and from j on are, all together.
	wide := len(new) + 1
	best := make([]int, (len(old)+1)*wide)
	like := make([]int, len(old)*len(new))
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			b := max(best[(i+1)*wide+j], best[i*wide+j+1])
			if s := similarity(old[i], new[j]); s >= alike {
				like[i*len(new)+j] = s
				b = max(b, best[(i+1)*wide+j+1]+s)
			}
			best[i*wide+j] = b
		}
	}
	var found []pair
	for i, j := 0, 0; i < len(old) && j < len(new); {
		s := like[i*len(new)+j]
		switch b := best[i*wide+j]; {
		case s > 0 && b == best[(i+1)*wide+j+1]+s:
			found = append(found, pair{i, j})
			i, j = i+1, j+1
		case b == best[(i+1)*wide+j]:
			i++
		default:
			j++
		}
	}
	return found
}

// changes gives the parts of two lines that the other does not have. What differs only in how far it is indented has none.
func changes(old, new lineWords) (inOld, inNew []part) {
	a, b := old.ids, new.ids
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[start:len(a)-end], b[start:len(b)-end]

	// common[i][j] is how many bytes of words the rest of a from i and of b from j on have in common.
	wide := len(b) + 1
	common := make([]int32, (len(a)+1)*wide)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			c := max(common[(i+1)*wide+j], common[i*wide+j+1])
			if a[i] == b[j] {
				p := old.parts[start+i]
				c = max(c, common[(i+1)*wide+j+1]+int32(p.to-p.from))
			}
			common[i*wide+j] = c
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch c := common[i*wide+j]; {
		case a[i] == b[j]:
			i, j = i+1, j+1
		case c == common[(i+1)*wide+j]:
			inOld = append(inOld, old.parts[start+i])
			i++
		default:
			inNew = append(inNew, new.parts[start+j])
			j++
		}
	}
	inOld = append(inOld, old.parts[start+i:start+len(a)]...)
	inNew = append(inNew, new.parts[start+j:start+len(b)]...)
	return old.joined(inOld), new.joined(inNew)
}

// joined puts changed words together where only blanks stand between them, and leaves out indentation.
func (w lineWords) joined(changed []part) []part {
	var all []part
	for _, p := range changed {
		if p.from == 0 && isBlank(w.text[0]) {
			continue
		}
		if n := len(all); n > 0 && strings.Trim(w.text[all[n-1].to:p.from], " \t") == "" {
			all[n-1].to = p.to
			continue
		}
		all = append(all, p)
	}
	return all
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
