package settings

// RedactedStream takes keys out of text that comes in fragments, which may cut a key anywhere: what Write and Flush return, put
// together, is what the text would be without them, however it is cut. Only keys shorter than MinRedacted stay. It holds back what
// may be the start of a key until more of the text shows whether it is, which is always less than the longest spelling of one. It
// belongs to one goroutine.
type RedactedStream struct {
	r    *Redactor
	held string
}

// Stream begins a text that comes in fragments.
func (r *Redactor) Stream() *RedactedStream { return &RedactedStream{r: r} }

// Write takes the next fragment and returns what can be shown by now, which may be "".
func (s *RedactedStream) Write(fragment string) (shown string) {
	text := fragment
	if s.held != "" {
		text = s.held + fragment
	}
	shown, s.held = s.r.spelled().divide(text)
	return shown
}

// Flush ends the text and returns what was held back.
func (s *RedactedStream) Flush() string {
	rest := s.r.spelled().replace(s.held)
	s.held = ""
	return rest
}

// spelled looks for the keys that are replaced wherever they stand; nil when there are none.
func (r *Redactor) spelled() *spelled {
	if known := r.keys.Load(); known != nil {
		return known.spelled
	}
	return nil
}
