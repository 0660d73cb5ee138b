package textdiff

import (
	"bytes"
	"math"
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"

	"octavo/pages"
)

// MaxComparedLines is up to how many lines, old and new together and without what both begin and end with, are compared line by
// line. It keeps two files of 32 MiB without a common line within a fraction of a second, and in memory of their own size.
const MaxComparedLines = 200_000

// exactChanges is up to how many changed lines lcs finds a shortest answer. Beyond it lcs takes the middle for one block, which
// would show a renamed variable as a rewritten file.
const exactChanges = 100

// A change replaces the old lines [Start, End) by the new lines [ReplStart, ReplEnd).
type change = lcs.Diff

// pair is the part of two texts in which they differ, with the lines of context around it.
type pair struct {
	before      int // lines that stand before the pair, in both texts
	lead, trail int // lines of context that the pair begins and ends with; both sides have them
	old, new    side
}

// side is one text of a pair as lines with their endings. Of a text too large to be compared only as many lines are split off
// as a diff can show.
type side struct {
	lines [][]byte
	count int
}

// trim takes away what both texts begin and end with, but for Context lines. The texts are not equal.
func trim(old, new []byte) pair {
	start := commonPrefix(old, new)
	start = bytes.LastIndexByte(old[:start], '\n') + 1 // a line that is not whole is a changed one
	end := commonSuffix(old[start:], new[start:])
	if i := bytes.IndexByte(old[len(old)-end:], '\n'); i >= 0 {
		end -= i + 1
	} else {
		end = 0
	}

	var p pair
	for ; p.lead < Context && start > 0; p.lead++ {
		start = bytes.LastIndexByte(old[:start-1], '\n') + 1
	}
	for ; p.trail < Context && end > 0; p.trail++ {
		if i := bytes.IndexByte(old[len(old)-end:], '\n'); i >= 0 {
			end -= i + 1
		} else {
			end = 0
		}
	}
	p.before = bytes.Count(old[:start], []byte{'\n'})
	old, new = old[start:len(old)-end], new[start:len(new)-end]
	p.old.count, p.new.count = countLines(old), countLines(new)
	limit := math.MaxInt
	if p.tooLarge() {
		limit = pages.MaxDiffLines + 2*Context
	}
	p.old.lines, p.new.lines = splitLines(old, limit), splitLines(new, limit)
	return p
}

func (p *pair) tooLarge() bool {
	return p.old.count+p.new.count-2*(p.lead+p.trail) > MaxComparedLines
}

// changes lists in order what makes the new side out of the old one.
func (p *pair) changes() []change {
	if p.tooLarge() {
		return []change{p.block()}
	}
	t := number(p.old.lines, p.new.lines)
	changes := lcs.DiffRunes(t.old, t.new)
	if size(changes) <= exactChanges {
		return changes
	}
	return t.anchored()
}

// block is everything but the context as one change.
func (p *pair) block() change {
	return change{Start: p.lead, End: p.old.count - p.trail, ReplStart: p.lead, ReplEnd: p.new.count - p.trail}
}

func size(changes []change) (lines int) {
	for _, c := range changes {
		lines += c.End - c.Start + c.ReplEnd - c.ReplStart
	}
	return lines
}

// numbered is two texts with a number for each line, the same for equal lines, so that comparing lines is comparing numbers. The
// numbers are runes because those are what lcs compares.
type numbered struct {
	old, new []rune
	kinds    int // numbers are below it
}

func number(old, new [][]byte) numbered {
	known := make(map[string]rune, len(old))
	ids := func(lines [][]byte) []rune {
		ids := make([]rune, len(lines))
		for i, l := range lines {
			id, ok := known[string(l)]
			if !ok {
				id = rune(len(known))
				known[string(l)] = id
			}
			ids[i] = id
		}
		return ids
	}
	t := numbered{old: ids(old), new: ids(new)}
	t.kinds = len(known)
	return t
}

// anchored compares texts with many changes in pieces: lines that occur once on each side and in the same order are taken to be
// the same line, and only what lies between two of them is compared.
func (t numbered) anchored() []change {
	var changes []change
	end := anchor{len(t.old), len(t.new)}
	var from anchor
	for _, to := range append(t.anchors(), end) {
		old, new := t.old[from.old:to.old], t.new[from.new:to.new]
		switch {
		case len(old) == 0 && len(new) == 0:
		case len(old) == 0 || len(new) == 0:
			changes = append(changes, change{Start: from.old, End: to.old, ReplStart: from.new, ReplEnd: to.new})
		default:
			for _, c := range lcs.DiffRunes(old, new) {
				changes = append(changes, change{
					Start: from.old + c.Start, End: from.old + c.End,
					ReplStart: from.new + c.ReplStart, ReplEnd: from.new + c.ReplEnd,
				})
			}
		}
		from = anchor{to.old + 1, to.new + 1}
	}
	return changes
}

// anchor is a line that both sides have once: its index on each.
type anchor struct{ old, new int }

// anchors gives the longest run of anchors that stand in the same order on both sides, in that order (patience sorting).
func (t numbered) anchors() []anchor {
	inOld, inNew := t.places(t.old), t.places(t.new)
	var found []anchor
	var before []int // of each found anchor, the one that precedes it in its run
	var ends []int   // ends[k] is, of the runs of length k+1, the end that comes earliest on the new side
	for i, id := range t.old {
		if inOld[id] != i || inNew[id] < 0 {
			continue
		}
		next := anchor{i, inNew[id]}
		k, _ := slices.BinarySearchFunc(ends, next.new, func(end, at int) int { return found[end].new - at })
		if k == len(ends) {
			ends = append(ends, 0)
		}
		ends[k] = len(found)
		if k > 0 {
			before = append(before, ends[k-1])
		} else {
			before = append(before, nowhere)
		}
		found = append(found, next)
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([]anchor, len(ends))
	at := ends[len(ends)-1]
	for k := len(run) - 1; k >= 0; k-- {
		run[k] = found[at]
		at = before[at]
	}
	return run
}

const (
	nowhere    = -1
	repeatedly = -2
)

// places gives for each number where it stands, if it does so once.
func (t numbered) places(ids []rune) []int {
	at := make([]int, t.kinds)
	for id := range at {
		at[id] = nowhere
	}
	for i, id := range ids {
		if at[id] == nowhere {
			at[id] = i
		} else {
			at[id] = repeatedly
		}
	}
	return at
}
