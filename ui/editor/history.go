package editor

import (
	"slices"
	"strings"
)

// History is the prompts before this one, for a draft to go through (ui.md 13). The draft is put aside meanwhile, with its chips and
// what can be undone in it, and so is a prompt that was changed: nothing that was composed is lost before it is sent. It is not
// safe for concurrent use.
type History struct {
	prompts []prompt
	at      int // the prompt that the draft shows; -1 for none
	aside   map[int]Draft
}

type prompt struct {
	text   string
	folded string // for Search; "" until it is asked for
}

// NewHistory takes prompts, newest first: those of the workspace, then those of all others, or as many groups as there are. One
// that was there before, or is blank or longer than MaxText, is left out, and so are those beyond MaxHistory and MaxHistoryBytes.
func NewHistory(groups ...[]string) *History {
	h := &History{at: -1, aside: map[int]Draft{}}
	seen := map[string]bool{}
	bytes := 0
	for _, group := range groups {
		for _, s := range group {
			if len(s) > MaxText {
				continue
			}
			if s = clean(s); len(s) > MaxText || strings.TrimSpace(s) == "" || seen[s] {
				continue
			}
			if bytes += len(s); bytes > MaxHistoryBytes || len(h.prompts) == MaxHistory {
				return h
			}
			seen[s] = true
			h.prompts = append(h.prompts, prompt{text: s})
		}
	}
	return h
}

// Len is the number of prompts.
func (h *History) Len() int { return len(h.prompts) }

// Browsing reports whether the draft is put aside.
func (h *History) Browsing() bool { return h.at >= 0 }

// Shows reports whether b shows a prompt as it was: then up and down can go on to the next one wherever the cursor is.
func (h *History) Shows(b *Buffer) bool {
	return h.at >= 0 && b.Len() == len(h.prompts[h.at].text) && b.Value() == h.prompts[h.at].text
}

// Previous shows the prompt before the one that b shows. It does nothing at the oldest.
func (h *History) Previous(b *Buffer) bool { return h.show(b, h.at+1) }

// Next shows the prompt after the one that b shows, and after the newest the draft. It does nothing in the draft.
func (h *History) Next(b *Buffer) bool { return h.show(b, h.at-1) }

// Show shows the prompt with the Index of a Match.
func (h *History) Show(b *Buffer, index int) bool { return index >= 0 && h.show(b, index) }

// Leave shows the draft again.
func (h *History) Leave(b *Buffer) bool { return h.show(b, -1) }

// Sent makes a prompt the newest one, once b was sent, and gives b the draft that was put aside, or empties it.
func (h *History) Sent(b *Buffer, text string) {
	b.Put(h.aside[-1])
	h.at, h.aside = -1, map[int]Draft{}
	text = clean(text)
	if strings.TrimSpace(text) == "" || len(text) > MaxText {
		return
	}
	h.prompts = slices.DeleteFunc(h.prompts, func(p prompt) bool { return p.text == text })
	h.prompts = slices.Insert(h.prompts, 0, prompt{text: text})
	bytes := 0
	for i, p := range h.prompts {
		if bytes += len(p.text); bytes > MaxHistoryBytes || i == MaxHistory {
			h.prompts = slices.Delete(h.prompts, i, len(h.prompts))
			break
		}
	}
}

// show puts aside what b shows and gives it another prompt, or the draft.
func (h *History) show(b *Buffer, at int) bool {
	if at == h.at || at < -1 || at >= len(h.prompts) {
		return false
	}
	if h.at < 0 || !h.Shows(b) {
		h.aside[h.at] = b.Take()
	}
	h.at = at
	d, ok := h.aside[at]
	b.Put(d)
	delete(h.aside, at)
	if !ok {
		b.splice(place{}, place{}, fragment{}, fragment{text: h.prompts[at].text})
		b.cursor = b.end()
	}
	return true
}
