package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octavo/ext/model"
	"octavo/ext/policy"
)

// TestEachSideOfABound has for each bound what just fits and what just does not.
func TestEachSideOfABound(t *testing.T) {
	for _, n := range []int{0, 1} { // 1: one more than fits
		fits := n == 0
		word := strings.Repeat("x", maxObject+n)
		name := strings.Repeat("x", maxNameBytes-len(".md")+n) + ".md"
		path := strings.Repeat("x", maxObject-len(".md")+n) + ".md"
		ending := "x." + strings.Repeat("y", maxEnding+n)
		lines := slices.Repeat([]string{"line"}, maxBlockLines+n)
		old := reading{lines: []string{strings.Repeat("x", maxOld+n)}}
		counted := reading{lines: []string{fmt.Sprintf("%s%d", counter, maxEdits-1+n)}}
		_, _, editable := change(old)
		_, next, _ := change(counted)
		file := result{text: "a: lines 1-999 of 999, hash=" + strings.Repeat("0", hashDigits) + "\n" + strings.Repeat("     1 | x\n", maxLines+n)}
		f, _ := file.reading()
		files := result{text: fmt.Sprintf("exit_status=0\n  %d .go\n", maxFiles-1+n)}
		orders := strings.Repeat("user: look\n", maxOrders+n)
		summary := answer(model.Request{Messages: []model.Message{user("<conversation>\nuser: first\n" + strings.TrimPrefix(orders, "user: look\n"))}}).text
		for what, got := range map[string]bool{
			"maxObject, search":   hear("search for "+word).subject() == word,
			"maxObject, in marks": hear("search for `"+word+"`").subject() == word,
			"maxObject, path":     hear("show "+path).path() == path,
			"maxNameBytes":        scratchNamed(name),
			"maxEnding":           pathLike(ending),
			"maxBlockLines":       !strings.Contains(block("", lines), "1 more line"),
			"maxQuoted":           !strings.Contains(code(strings.Repeat("x", maxQuoted+n)), "…"),
			"maxSentence":         !strings.Contains(result{refusal: strings.Repeat("x", maxSentence+n)}.why(), "…"),
			"maxOld":              editable,
			"maxEdits":            strings.HasPrefix(next, fmt.Sprintf("%s%d", counter, maxEdits)) && !strings.Contains(next, addition),
			"maxLines":            len(f.lines) == maxLines+n,
			"maxFiles":            !strings.Contains(fileCount(files, ""), "or more"),
			"maxOrders":           strings.Contains(summary, "`first`"),
		} {
			if got != fits {
				t.Errorf("%s and %d: it fits: %v", what, n, got)
			}
		}
	}
}

// TestMaxScratch removes scratch files in two goes when there are too many for one.
func TestMaxScratch(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	for range maxScratch + 1 {
		r.say("make a file")
	}
	contains(t, r.say("clean up"), fmt.Sprintf("Removed: %d scratch files", maxScratch))
	r.holds(map[string]string{scratchName: scratchText(scratchName)})
	contains(t, r.say("clean up"), "Removed: 1 scratch file")
	r.holds(map[string]string{})
}
