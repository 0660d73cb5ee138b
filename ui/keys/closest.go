package keys

import (
	"slices"
	"strings"
)

// closest finds the name that was probably meant: the nearest within a third of its length, at most three slips of a finger away.
// Ties go to the first; "" when none is near.
func closest(name string, names []string) string {
	const most = 3
	best, near := most+1, ""
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < best && d <= (len(n)+2)/3 {
			best, near = d, n
		}
	}
	return near
}

// distance is how many letters have to be put in, left out or changed to make b of a. Names that differ in length by more than
// any slip are as far apart as that, so that a long one costs nothing.
func distance(a, b string) int {
	if len(a) > 2*len(b)+1 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			slip := 1
			if a[i] == b[j] {
				slip = 0
			}
			row[j+1] = min(before[j]+slip, before[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
