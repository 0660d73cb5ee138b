package spawn

import "sync"

// Tail is a writer that keeps the last bytes written to it: the bounded standard error of a long-lived process. The zero value
// keeps nothing; it is safe for concurrent use.
type Tail struct {
	Limit int // bytes kept at most

	mu      sync.Mutex
	kept    []byte
	dropped int64
}

// Write never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if len(b) > t.Limit {
		t.dropped += int64(len(b) - t.Limit)
		b = b[len(b)-t.Limit:]
	}
	if over := len(t.kept) + len(b) - t.Limit; over > 0 {
		t.dropped += int64(over)
		t.kept = t.kept[:copy(t.kept, t.kept[over:])]
	}
	t.kept = append(t.kept, b...)
	return n, nil
}

// Bytes returns a copy of what is kept, and how many bytes before it were dropped. The first byte kept may be in the middle of
// a character.
func (t *Tail) Bytes() (kept []byte, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept...), t.dropped
}
