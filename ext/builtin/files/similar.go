package files

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"octavo/pages/text"
)

const (
	// maxSuggestions is how many near misses are shown (product.md 6).
	maxSuggestions = 3
	// minLikeness is how alike a text must be to be suggested, from 0 to 1.
	minLikeness = 0.5
	// maxScanned bounds how much of a file is looked through for near misses, in bytes.
	maxScanned = 8 << 20
	// maxCandidates is how many lines like the most telling line of old are compared in full.
	maxCandidates = 24
	// maxShownLines and maxShownBytes bound one suggestion.
	maxShownLines = 12
	maxShownBytes = 600
	// maxProfiled bounds what is compared of one text, in bytes.
	maxProfiled = 4096
)

// profile counts the pairs of neighbouring bytes of a text, to compare many others with it. It is for one goroutine.
type profile struct {
	pairs   [1 << 16]uint16
	total   int
	scratch [1 << 16]uint16 // counts of the text being compared, all 0 between comparisons
}

func profileOf(s string) *profile {
	s = s[:min(len(s), maxProfiled)]
	p := &profile{total: max(0, len(s)-1)}
	for i := 1; i < len(s); i++ {
		p.pairs[pairAt(s, i)]++
	}
	return p
}

func pairAt(s string, i int) uint16 { return uint16(s[i-1])<<8 | uint16(s[i]) }

// likeness is the Dice coefficient of two texts' pairs: 1 when they have the same, 0 when they share none.
func (p *profile) likeness(s string) float64 {
	s = s[:min(len(s), maxProfiled)]
	other := len(s) - 1
	// The lengths alone bound the likeness, which spares most lines of a file the counting.
	if other <= 0 || p.total == 0 || 2*float64(min(p.total, other)) < minLikeness*float64(p.total+other) {
		return 0
	}
	shared := 0
	for i := 1; i < len(s); i++ {
		pair := pairAt(s, i)
		if p.scratch[pair]++; p.scratch[pair] <= p.pairs[pair] {
			shared++
		}
	}
	for i := 1; i < len(s); i++ {
		p.scratch[pairAt(s, i)] = 0
	}
	return 2 * float64(shared) / float64(p.total+other)
}

// similarNames picks the names most like name, best first.
func similarNames(name string, names []string) []string {
	type scored struct {
		name  string
		score float64
	}
	var like []scored
	p := profileOf(strings.ToLower(name))
	for _, n := range names {
		score := p.likeness(strings.ToLower(n))
		if strings.EqualFold(n, name) {
			score = 1
		}
		if score >= minLikeness {
			like = append(like, scored{n, score})
		}
	}
	slices.SortStableFunc(like, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, l := range like[:min(len(like), maxSuggestions)] {
		out = append(out, printable(l.name))
	}
	return out
}

// numbered is what a line looks like when a model copied it with the number that read prints.
var numbered = regexp.MustCompile(`(?m)^ *\d+ \| ?`)

// advise says why old may not be in the text, with the places most like it.
func (f flat) advise(old string) string {
	if bare := numbered.ReplaceAllString(old, ""); bare != old && strings.Contains(f.text, bare) {
		return "old is not in the file, but it is without the line numbers that read prints; leave them out"
	}
	near := f.nearest(old)
	if len(near) == 0 {
		return "old is not in the file, nor anything like it; read the file and copy the text exactly"
	}
	var b strings.Builder
	b.WriteString("old is not in the file; copy the text exactly, white space included. Most like it:")
	for _, n := range near {
		fmt.Fprintf(&b, "\n%s", n)
	}
	return b.String()
}

// nearest describes the places of the text most like old, best first. It looks for lines like the longest of old's and
// compares their surroundings in full.
func (f flat) nearest(old string) []string {
	wanted := strings.Split(strings.Trim(old, lf), lf)
	anchor := 0
	for i, l := range wanted {
		if len(strings.TrimSpace(l)) > len(strings.TrimSpace(wanted[anchor])) {
			anchor = i
		}
	}
	lines := strings.Split(f.text[:min(len(f.text), maxScanned)], lf)

	type candidate struct {
		line  int // index of the first line
		score float64
	}
	byScore := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.line, b.line))
	}
	var top []candidate
	telling := profileOf(strings.TrimSpace(wanted[anchor]))
	for i, l := range lines {
		score := telling.likeness(strings.TrimSpace(l))
		if score < minLikeness {
			continue
		}
		top = append(top, candidate{max(0, i-anchor), score})
		if len(top) > 4*maxCandidates {
			slices.SortFunc(top, byScore)
			top = top[:maxCandidates]
		}
	}
	slices.SortFunc(top, byScore)
	top = top[:min(len(top), maxCandidates)]

	window := func(from int) string { return strings.Join(lines[from:min(from+len(wanted), len(lines))], lf) }
	whole := profileOf(squeeze(strings.Join(wanted, lf)))
	for i := range top {
		top[i].score = whole.likeness(squeeze(window(top[i].line)))
	}
	slices.SortFunc(top, byScore)

	var out []string
	var taken []int
	for _, c := range top {
		overlaps := slices.ContainsFunc(taken, func(l int) bool { return max(l, c.line)-min(l, c.line) < len(wanted) })
		if c.score < minLikeness || overlaps {
			continue
		}
		taken = append(taken, c.line)
		out = append(out, suggestion(window(c.line), old, c.line+1))
		if len(out) == maxSuggestions {
			break
		}
	}
	return out
}

// suggestion shows one near miss with its line numbers.
func suggestion(part, old string, line int) string {
	lines := strings.Split(part, lf)
	last := line + len(lines) - 1
	var b strings.Builder
	if last > line {
		fmt.Fprintf(&b, "lines %d-%d", line, last)
	} else {
		fmt.Fprintf(&b, "line %d", line)
	}
	if squeeze(part) == squeeze(old) {
		b.WriteString(" (differs only in white space)")
	}
	b.WriteString(":\n")
	shown := lines[:min(len(lines), maxShownLines)]
	body := strings.Join(shown, lf)
	cut := text.CutBytes(body, maxShownBytes)
	b.WriteString(cut)
	if len(cut) < len(body) || len(shown) < len(lines) {
		b.WriteString("…")
	}
	return b.String()
}

// squeeze makes every run of white space one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
