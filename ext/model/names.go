package model

import (
	"fmt"
	"hash/fnv"
)

// CallIDs gives the calls of a conversation ids that a strict wire takes: letters, digits, _ and -, at most Max of them, each
// one once. The calls of a conversation may come from several models, some of which number anew in every answer. It is used
// once, in the conversation's order, and gives the same conversation the same ids.
type CallIDs struct {
	Max int

	used map[string]bool
	now  map[string]string // what the newest call of an id is called
	next map[string]int    // the number to try for the next call of an id; those before it are taken
}

// Call is the id to send for the next call, which came with id.
func (c *CallIDs) Call(id string) string {
	if c.used == nil {
		c.used, c.now, c.next = make(map[string]bool), make(map[string]string), make(map[string]int)
	}
	safe := SafeName(id, c.Max)
	n := max(c.next[id], 2)
	for ; c.used[safe]; n++ {
		safe = SafeName(fmt.Sprintf("%s_%d", id, n), c.Max)
	}
	c.used[safe], c.now[id], c.next[id] = true, safe, n
	return safe
}

// Result is the id to send with the result of the newest call that came with id.
func (c *CallIDs) Result(id string) string {
	if safe, ok := c.now[id]; ok {
		return safe
	}
	return SafeName(id, c.Max)
}

// SafeName is s when it has letters, digits, _ and - only and 1 to most bytes, else something like it that has, with a digest of
// s at its end so that two names stay two.
func SafeName(s string, most int) string {
	safe := []byte(s)
	changed := s == "" || len(s) > most
	for i, c := range safe {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			continue
		}
		safe[i], changed = '_', true
	}
	if !changed {
		return s
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // cannot fail
	end := fmt.Sprintf("_%08x", h.Sum32())
	return string(safe[:min(len(safe), most-len(end))]) + end
}
