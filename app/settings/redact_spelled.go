package settings

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// spelled looks for keys in all their spellings at once, whatever their number. It does not change once made.
//
// It looks at the text through a window of a few bytes. The last three of them say how far the window can move without passing over
// the beginning of a spelling, and only where they say 0 are the spellings compared. So it reads a fraction of most texts.
type spelled struct {
	spellings []string // longest first
	longest   int      // bytes
	first     [256]bool
	window    int // bytes; no spelling is shorter
	skips     [1 << skipBits]uint8
}

const (
	maxWindow = 16 // bytes; a larger one hardly skips more
	skipBits  = 13 // keeps the table within a processor's nearest cache
	block     = 3  // bytes of the window that are looked at
)

// newSpelled looks for spellings, none of which is shorter than MinRedacted; nil for none.
func newSpelled(spellings map[string]bool) *spelled {
	if len(spellings) == 0 {
		return nil
	}
	k := &spelled{spellings: longestFirst(spellings), window: maxWindow}
	k.longest = len(k.spellings[0])
	k.window = min(k.window, len(k.spellings[len(k.spellings)-1]))
	for i := range k.skips {
		k.skips[i] = uint8(k.window - block + 1)
	}
	for _, s := range k.spellings {
		k.first[s[0]] = true
		for end := block; end <= k.window; end++ {
			skip := &k.skips[slot(s[end-block], s[end-block+1], s[end-block+2])]
			*skip = min(*skip, uint8(k.window-end))
		}
	}
	return k
}

// slot is the place of three bytes in the table.
func slot(a, b, c byte) uint32 {
	const golden = 2654435769 // 2^32 divided by the golden ratio: spreads what is alike
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * golden >> (32 - skipBits)
}

// find is where the first spelling from an offset on begins and ends, the longest that begins there; -1 when there is none.
func (k *spelled) find(text string, from int) (start, end int) {
	for at := from + k.window; at <= len(text); {
		if skip := k.skips[slot(text[at-3], text[at-2], text[at-1])]; skip > 0 {
			at += int(skip)
			continue
		}
		start = at - k.window
		for _, s := range k.spellings {
			if strings.HasPrefix(text[start:], s) {
				return start, start + len(s)
			}
		}
		at++
	}
	return -1, -1
}

// replace returns text without the keys. A nil k knows none.
func (k *spelled) replace(text string) string {
	if k == nil {
		return text
	}
	start, end := k.find(text, 0)
	if start < 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for start >= 0 {
		b.WriteString(text[done:start])
		b.WriteString(redacted)
		done = end
		start, end = k.find(text, done)
	}
	b.WriteString(text[done:])
	return b.String()
}

// divide returns as much of the start of text, without the keys, as does not depend on what follows text, and the rest as it is.
func (k *spelled) divide(text string) (shown, rest string) {
	if k == nil {
		return text, ""
	}
	var b strings.Builder
	done := 0
	open := k.open(text, 0)
	for {
		start, end := k.find(text, done)
		if start < 0 || open <= start {
			break
		}
		b.WriteString(text[done:start])
		b.WriteString(redacted)
		if done = end; open < done {
			open = k.open(text, done)
		}
	}
	if done == 0 {
		return text[:open], text[open:]
	}
	b.WriteString(text[done:open])
	return b.String(), text[open:]
}

// open is the first offset at which a spelling begins that goes on beyond the end of text, and the end of text when there is none.
func (k *spelled) open(text string, from int) int {
	for i := max(from, len(text)-k.longest+1); i < len(text); i++ {
		if k.first[text[i]] && k.begin(text[i:]) {
			return i
		}
	}
	return len(text)
}

// begin reports whether a spelling begins with part and is longer.
func (k *spelled) begin(part string) bool {
	for _, s := range k.spellings {
		if len(s) <= len(part) {
			break // the other ones are no longer
		}
		if strings.HasPrefix(s, part) {
			return true
		}
	}
	return false
}

// spellings are the ways in which texts write a key: as it is, within a URL, within a string of JSON, and each of these in base64. None
// is shorter than the key.
func spellings(key string) []string {
	query := url.QueryEscape(key)
	written := []string{key, query, strings.ReplaceAll(query, "%2F", "/"), url.PathEscape(key)}
	for _, html := range []bool{true, false} {
		s := withinJSON(key, html)
		written = append(written, s, strings.ReplaceAll(s, "/", `\/`))
	}
	slices.Sort(written)
	written = slices.Compact(written) // most keys are the same everywhere
	all := slices.Clone(written)
	for _, s := range written {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			all = append(all, e.EncodeToString([]byte(s)))
			for before := range 3 {
				all = append(all, withinBase64(e.WithPadding(base64.NoPadding), s, before))
			}
		}
	}
	return all
}

// withinJSON is what stands between the quotes of a string that is a key. html says whether what is special in HTML is escaped, too.
func withinJSON(key string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(key) // a string into memory: it cannot fail
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// withinBase64 is the characters that s alone decides when it stands in a longer text that is encoded, after before more bytes
// than a multiple of three. They hold all of it but a few bits at either end.
func withinBase64(e *base64.Encoding, s string, before int) string {
	all := e.EncodeToString(append(make([]byte, before), s...))
	return all[(8*before+5)/6 : 8*(before+len(s))/6]
}
