package plain

import (
	"strings"
	"unicode/utf8"

	"octavo/app/api"
)

// draft is an answer that is being told in fragments.
type draft struct {
	blocks []block
	calls  []int // block of each tool call
}

type block struct {
	kind string // text, thinking, toolcall
	done bool
	rest runes
}

func (e *encoder) openMessage() {
	if e.message == nil {
		e.message = &draft{}
		e.put(messageRecord{Type: recMessageStart, Message: message{Role: "assistant", Content: []content{}}})
	}
}

// withdraw ends an answer that is void: no message_end with its text will come.
func (e *encoder) withdraw() {
	if e.message == nil {
		return
	}
	e.closeBlocks()
	e.message = nil
	e.put(messageRecord{Type: recMessageEnd, Withdrawn: true, Message: message{Role: "assistant", Content: []content{}, StopReason: "error"}})
}

func (e *encoder) delta(d api.Delta) {
	if e.run == "" {
		return
	}
	e.openMessage()
	m := e.message
	switch d.Kind {
	case api.DeltaText:
		e.fragment(e.block("text"), d.Text)
	case api.DeltaReasoning:
		e.fragment(e.block("thinking"), d.Text)
	case api.DeltaCall:
		e.closeText()
		m.calls = append(m.calls, len(m.blocks))
		m.blocks = append(m.blocks, block{kind: "toolcall"})
		e.update(updateEvent{Type: "toolcall_start", ContentIndex: len(m.blocks) - 1, ID: d.CallID, ToolName: d.Tool})
	case api.DeltaArguments:
		if d.Index >= 0 && d.Index < len(m.calls) {
			e.fragment(m.calls[d.Index], d.Text)
		}
	}
}

// block is the number of the block that text of a kind goes to; a new one when the last is of another kind.
func (e *encoder) block(kind string) int {
	m := e.message
	last := len(m.blocks) - 1
	if last >= 0 && m.blocks[last].kind == kind && !m.blocks[last].done {
		return last
	}
	e.closeText()
	m.blocks = append(m.blocks, block{kind: kind})
	e.update(updateEvent{Type: kind + "_start", ContentIndex: last + 1})
	return last + 1
}

func (e *encoder) fragment(i int, s string) {
	b := &e.message.blocks[i]
	if s = b.rest.whole(s); s != "" && !b.done {
		e.update(updateEvent{Type: b.kind + "_delta", ContentIndex: i, Delta: s})
	}
}

// closeText ends open blocks of text. Those of tool calls stay open: arguments of several calls may come in turns.
func (e *encoder) closeText() {
	for i := range e.message.blocks {
		if e.message.blocks[i].kind != "toolcall" {
			e.closeBlock(i)
		}
	}
}

func (e *encoder) closeBlocks() {
	for i := range e.message.blocks {
		e.closeBlock(i)
	}
}

func (e *encoder) closeBlock(i int) {
	b := &e.message.blocks[i]
	if b.done {
		return
	}
	b.done = true
	e.update(updateEvent{Type: b.kind + "_end", ContentIndex: i})
}

func (e *encoder) update(u updateEvent) { e.put(updateRecord{recMessageUpdate, u}) }

// runes keeps a character together that comes in two fragments. The zero value is ready.
type runes struct{ held string }

// whole answers what can be told now: at most three bytes are held back, the start of a character.
func (r *runes) whole(s string) string {
	s = r.held + s
	r.held = ""
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if !utf8.FullRuneInString(s[i:]) {
			s, r.held = s[:i], strings.Clone(s[i:])
		}
		break
	}
	return s
}
