package files

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"octavo/ext"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/pages/textdiff"
	"octavo/render"
)

// change is what a call is about to make of one file. It is planned first, which touches nothing, so that a preview and the
// call itself show the same.
type change struct {
	at       place
	was      *content // nil: there is no file
	data     []byte
	encoding encoding // in which data was written
	diff     *pages.Diff
}

// none reports that the file already is what it is to become.
func (c *change) none() bool { return c.was != nil && bytes.Equal(c.was.data, c.data) }

// newChange compares the file at p with what it is to become, written in an encoding.
func newChange(p place, was *content, data []byte, e encoding) (*change, error) {
	if len(data) > maxFileBytes {
		return nil, refuse(tooLarge, "%s would have %s; at most %s can be written", p.shown, text.Bytes(int64(len(data))), text.Bytes(maxFileBytes))
	}
	c := &change{at: p, was: was, data: data, encoding: e}
	c.diff = c.compare()
	return c, nil
}

// compare makes the diff that people and models read: of the text, whatever the encoding, and without the "\r" of line endings
// unless only they change. Binary content counts as no lines.
func (c *change) compare() *pages.Diff {
	var before string
	if c.was != nil {
		before = encodingOf(c.was.data).decode(c.was.data)
	}
	after := encodingOf(c.data).decode(c.data)
	if b, a := flatten(before).text, flatten(after).text; b != a {
		before, after = b, a
	}
	d := textdiff.Make(c.at.shown, []byte(before), []byte(after), textdiff.Options{New: c.was == nil})
	d.Binary = encodingOf(c.data) == notText || c.was != nil && encodingOf(c.was.data) == notText
	return d
}

// display is what a person sees of the change that was made.
func (c *change) display(verb string) *pages.Display {
	return &pages.Display{Title: fmt.Sprintf("%s %s %s", verb, c.at.shown, c.counts()), Diff: c.diff}
}

func (c *change) counts() string { return fmt.Sprintf("+%d -%d", c.diff.Added, c.diff.Deleted) }

// summary is the line that names the file and what it is now (product.md 6).
func (c *change) summary() string {
	line := fmt.Sprintf("%s %s hash=%s", c.at.shown, c.counts(), hashOf(c.data))
	if c.was != nil && !c.none() && hardLinks(c.was.info) > 1 {
		line += "\nnote: the file had other hard links; they keep the old content"
	}
	return line
}

// unified is the diff for the model, in at most room bytes.
func (c *change) unified(room int) string {
	all := render.Unified(*c.diff)
	if len(all) <= room && !c.diff.Cut {
		return all
	}
	cut := text.CutBytes(all, max(0, room))
	if i := strings.LastIndexByte(cut, '\n'); i >= 0 {
		cut = cut[:i+1]
	}
	return cut + "[the rest of the diff is left out; read the file to see it]\n"
}

// current loads what is at p; nil when nothing is.
func current(ctx context.Context, p place) (*content, error) {
	if p.missing() {
		return nil, nil
	}
	return load(ctx, p)
}

// plan decides on a change of the file at a path.
type plan func(ctx context.Context, p place) (*change, error)

// apply plans a change and makes it, while no other call changes that file. A call that a person was asked about makes the
// change that was shown, or none.
func (t *tools) apply(ctx *ext.Call, a arguments, decide plan) (*change, error) {
	key, err := reviewKey(ctx, a)
	if err != nil {
		return nil, err
	}
	saw, asked := t.reviews.take(key)
	path := a.where()
	p, err := t.at(path)
	if err != nil {
		return nil, err
	}
	unlock, err := t.locks.lock(ctx, p.abs)
	if err != nil {
		return nil, refuseOS("change "+p.shown, err)
	}
	defer unlock()
	if p, err = t.at(path); err != nil { // it may have been made, or made a link, while another call had the file
		return nil, err
	}
	var c *change
	if asked {
		c, err = decideReviewed(ctx, p, decide, saw)
	} else {
		c, err = decide(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	if !c.none() {
		if err := t.replace(ctx, t.temps, c.at, c.was, c.data); err != nil {
			return nil, err
		}
	}
	// The file is changed: that is remembered even when the turn ends just now.
	t.seen.note(context.WithoutCancel(ctx), c.at.abs, hashOf(c.data))
	return c, nil
}

// guard refuses to change what the session does not know. expected is the hash that the call names, if it does; it is the
// model's own statement of what it has seen and so stands above what the session remembers. Without it, a file that was read
// must still be what was read; one that was never read may be changed only where unread says so.
func (t *tools) guard(ctx context.Context, p place, f *content, expected string, unread bool) error {
	if expected != "" {
		if !strings.EqualFold(expected, f.hash) {
			return refuse(staleFile, "%s has the hash %s and not the expected one; read it again", p.shown, f.hash)
		}
		return nil
	}
	hash, err := t.seen.hash(ctx, p.abs)
	switch {
	case err != nil:
		return refuseOS("recall what was read of "+p.shown, err)
	case hash == "" && !unread:
		return refuse(staleFile, "%s exists and was not read in this session; read it before you replace it, or use edit", p.shown)
	case hash != "" && hash != f.hash:
		return refuse(staleFile, "%s was changed by something else since this session last read or wrote it; read it again", p.shown)
	}
	return nil
}

// result is the output of a change: head and summary, then the rest as far as there is room.
func (t *tools) result(c *change, head, verb string, showDiff bool) ext.Output {
	body := head + "\n" + c.summary() + "\n"
	switch {
	case c.none():
		body += "(no change)\n"
	case showDiff:
		body += c.unified(t.MaxOutputBytes - len(body) - 80)
	}
	out := ext.TextOutput(body)
	out.Display = c.display(verb)
	return out
}
