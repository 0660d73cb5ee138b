package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/pages/textdiff"
)

const (
	// maxReviews is how many previewed calls are remembered, the latest: more than wait for an answer at any time, since no more
	// calls than one answer may make do.
	maxReviews = 2 * model.MaxCalls
	// maxHeadBytes is how much is shown of binary content that a change replaces.
	maxHeadBytes = 64
)

// review shows the change to a person who decides on it: all of it, with every character that can be seen or not (the front end
// marks the latter), or a refusal when it is more than a person can look at. It differs from compare where that smooths over what
// the bytes say: line endings are left out only where the file had no others and gets no others, and content that is no text in
// the file's encoding is shown byte for byte. What a model writes is text, so only what was there before can be binary.
func (c *change) review(verb string) (*pages.Display, error) {
	before, note := c.before()
	after := string(c.data)
	if c.encoding != utf8Plain {
		after = c.encoding.decode(c.data)
	}
	if onlyCRLF(before) && onlyCRLF(after) {
		before, after = flatten(before).text, flatten(after).text
	}
	d, err := textdiff.Whole(c.at.shown, []byte(before), []byte(after), textdiff.Options{New: c.was == nil})
	var beyond *textdiff.TooLargeError
	if errors.As(err, &beyond) {
		return nil, refuse(tooLarge, "%v cannot be reviewed by a person; make it in smaller steps", beyond)
	}
	if err != nil {
		return nil, err
	}
	d.Binary = c.was != nil && encodingOf(c.was.data) == notText
	return &pages.Display{Title: fmt.Sprintf("%s %s +%d -%d", verb, c.at.shown, d.Added, d.Deleted), Diff: d, Text: note}, nil
}

// before is the text that the change replaces, and what has to be said about it.
func (c *change) before() (body, note string) {
	if c.was == nil {
		return "", ""
	}
	body, e, err := editable(c.was.data)
	switch {
	case err == nil:
		return body, ""
	case e == notText:
		head := c.was.data[:min(len(c.was.data), maxHeadBytes)]
		return "", fmt.Sprintf("replaces binary content: %s, %s, sha256 %s\n%s",
			binaryKind(c.was.data), text.Bytes(int64(len(c.was.data))), c.was.hash, hex.Dump(head))
	default:
		return string(c.was.data), fmt.Sprintf("%v; it becomes UTF-8", err)
	}
}

// onlyCRLF reports whether every line of s ends in \r\n.
func onlyCRLF(s string) bool {
	ending, alone := endings(s)
	return ending == crlf && alone
}

// reviewed is the file that a person saw when asked about a call.
type reviewed struct{ abs, hash string }

// reviewedAt is the file at a place as it is now; no hash when nothing is there.
func reviewedAt(p place, f *content) reviewed {
	if f == nil {
		return reviewed{abs: p.abs}
	}
	return reviewed{p.abs, f.hash}
}

// reviews remembers, from the preview of a call until the call, which content of which file was previewed. What a person allows is
// that change and no other: while the question is open anybody may change the file, or a link on the way to it.
type reviews struct {
	mu    sync.Mutex
	known map[string]reviewed
	order []string // keys, the earliest first
}

// reviewKey names a call: by its id, and by its arguments because no provider promises that ids never come again.
func reviewKey(c *ext.Call, a arguments) (string, error) {
	written, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("remember the preview: %w", err)
	}
	sum := sha256.Sum256(written)
	return c.ID + " " + hex.EncodeToString(sum[:]), nil
}

func (r *reviews) note(key string, what reviewed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]reviewed{}
	}
	r.forget(key)
	r.known[key] = what
	if r.order = append(r.order, key); len(r.order) > maxReviews {
		r.forget(r.order[0])
	}
}

// take gives what was previewed for a call, once; false when nobody was asked.
func (r *reviews) take(key string) (reviewed, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what, ok := r.known[key]
	r.forget(key)
	return what, ok
}

// forget removes a key; r.mu is held.
func (r *reviews) forget(key string) {
	if _, ok := r.known[key]; !ok {
		return
	}
	delete(r.known, key)
	for i, k := range r.order {
		if k == key {
			r.order = append(r.order[:i], r.order[i+1:]...)
			return
		}
	}
}

// decideReviewed is decide, bound to what was previewed: the change is refused unless it is one of the file that the person saw.
// That comes before whatever decide itself finds wrong with another file.
func decideReviewed(ctx context.Context, p place, decide plan, saw reviewed) (*change, error) {
	c, err := decide(ctx, p)
	var now reviewed
	if err == nil {
		now = reviewedAt(c.at, c.was)
	} else {
		f, loadErr := current(ctx, p)
		if loadErr != nil {
			return nil, err
		}
		now = reviewedAt(p, f)
	}
	if now != saw {
		return nil, refuse(staleFile, "%s was changed by something else after the person was shown this change; nothing was written. Read it again", p.shown)
	}
	return c, err
}

// previewed makes a tool's preview of a planned change and binds the call to it.
func (t *tools) previewed(c *ext.Call, a arguments, verb string, planned *change) (*pages.Display, error) {
	d, err := planned.review(verb)
	if err != nil {
		return nil, err
	}
	key, err := reviewKey(c, a)
	if err != nil {
		return nil, err
	}
	t.reviews.note(key, reviewedAt(planned.at, planned.was))
	d.Text = strings.TrimRight(d.Text, "\n")
	return d, nil
}
