package models

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"charm.land/catwalk/pkg/catwalk"

	"octavo/ext/model"
)

// maxPrice is the highest price that is believed, in microdollars for a million tokens: a dollar for a token.
const maxPrice = 1_000_000_000_000

// priceOf is a row's price, nil when it is not known (decision 19).
//
// The rows write 0 both for "costs nothing" and for "not said": of models that a subscription pays for, and of models whose price
// nobody filled in. So nothing for input and nothing for output is a price only where the row's id or name has the word "free".
//
// The two cached fields are not used alike (deps.md 7). In the rows of Anthropic, Bedrock and the newest of OpenAI the first is a
// write and the second a read; in others either or both are the read; in some the first is a write and the second nothing. A write
// costs more than plain input and a read does not, which tells them apart: the read is the smallest of the two that is above 0 and
// not above the input price, the write is the first when it is above it. What is neither is billed as input.
func priceOf(m catwalk.Model) *model.Price {
	var fields [4]int64
	for i, dollars := range [...]float64{m.CostPer1MIn, m.CostPer1MOut, m.CostPer1MInCached, m.CostPer1MOutCached} {
		var ok bool
		if fields[i], ok = microdollars(dollars); !ok {
			return nil
		}
	}
	p := &model.Price{Input: fields[0], Output: fields[1]}
	if p.Input == 0 && p.Output == 0 {
		if !markedFree(m.ID) && !markedFree(m.Name) {
			return nil
		}
		return p
	}
	for _, cached := range fields[2:] {
		if cached > 0 && cached <= p.Input && (p.CacheRead == nil || cached < *p.CacheRead) {
			p.CacheRead = model.Count(cached)
		}
	}
	if written := fields[2]; written > p.Input {
		p.CacheWrite = model.Count(written)
	}
	return p
}

// markedFree reports whether one of the words of an id or a name is "free".
func markedFree(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.Contains(words, "free")
}

// microdollars turns dollars into whole microdollars, half of one rounded up. It works on the decimal that the number was written
// as, not on its binary fraction: multiplied, 1.005 would be a little less than 1,005,000. It fails for what is no price: below
// zero, above maxPrice, or no number.
func microdollars(dollars float64) (micro int64, ok bool) {
	if !(dollars >= 0 && dollars <= maxPrice/1e6) { // also refuses what is no number
		return 0, false
	}
	const digits = 6
	// Abs takes the sign off a negative zero.
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(dollars), 'f', -1, 64), ".")
	fraction += strings.Repeat("0", digits+1)
	micro, err := strconv.ParseInt(whole+fraction[:digits], 10, 64)
	if err != nil {
		return 0, false
	}
	if fraction[digits] >= '5' {
		micro++
	}
	return micro, true
}
