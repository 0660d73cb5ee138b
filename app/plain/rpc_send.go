package plain

import (
	"bytes"
	"encoding/json"
	"time"

	"octavo/pages/text"
)

const (
	// maxUnread is how many bytes may wait for a client that does not read; then nothing more of it is read either.
	maxUnread = 2 * MaxFrame
	// eventRoom is how many bytes may wait before events and answers of any size do; fragments are then skipped (api.ErrLagged).
	eventRoom = 1 << 20
	// maxWrite is how much is handed to the client in one write, in bytes, so that it shows whether the client reads.
	maxWrite = 64 << 10
	// maxSilence is how long a client may read nothing at the end before octavo leaves without it.
	maxSilence = 10 * time.Second
)

// sender writes records one after the other without making anybody wait. Its owner has to call wrote with what comes out of done.
type sender struct {
	outlet *outlet
	buf    []byte // what waits, in whole lines apart from its start
	flying int    // bytes of it that are being written
	writes int    // that have ended
	failed error  // of the first that failed; nothing is written after it
	line   bytes.Buffer
}

func newSender(o *outlet) *sender { return &sender{outlet: o} }

// room reports whether less than n bytes wait.
func (s *sender) room(n int) bool { return len(s.buf) < n }

// done tells of the end of a write.
func (s *sender) done() <-chan written { return s.outlet.wrote }

// put sends a record. It is a line of MaxFrame bytes at most: what does not fit is cut in its texts, and says so. fits is false when
// it cannot be made to fit, and then nothing is sent.
func (s *sender) put(record any) (fits bool) {
	line := encodeLine(&s.line, record)
	if len(line) > MaxFrame {
		if line = shrink(line, MaxFrame); line == nil {
			return false
		}
	}
	if s.failed == nil {
		s.buf = append(append(s.buf, line...), '\n')
		s.write()
	}
	if s.line.Cap() > keptFrame {
		s.line = bytes.Buffer{}
	}
	return true
}

// write hands over more unless a write is under way.
func (s *sender) write() {
	if s.flying == 0 && len(s.buf) > 0 {
		s.flying = min(len(s.buf), maxWrite)
		s.outlet.writes <- s.buf[:s.flying] // its goroutine waits for this
	}
}

// wrote notes the end of a write and goes on.
func (s *sender) wrote(w written) {
	s.buf = s.buf[s.flying:]
	s.flying = 0
	s.writes++
	if s.failed = w.err; s.failed != nil || len(s.buf) == 0 && cap(s.buf) > keptFrame {
		s.buf = nil
	}
	s.write()
}

// empty reports whether everything is written or never will be.
func (s *sender) empty() bool { return s.flying == 0 }

// encodeLine encodes a record as JSON without a line end. The result is valid until buf is used again.
func encodeLine(buf *bytes.Buffer, record any) []byte {
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // <, > and & are meant to be read
	if err := enc.Encode(record); err != nil {
		panic("plain: a record that is no JSON: " + err.Error()) // a defect of its type, not of its content
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// shrink makes an object fit into limit bytes: its longest texts are cut, and "truncated" is true in it. It answers nil when the texts
// are not what makes it long.
func shrink(line []byte, limit int) []byte {
	var whole map[string]any
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if dec.Decode(&whole) != nil {
		return nil
	}
	if len(line)-escaped*longTexts(whole) > limit {
		return nil
	}
	whole["truncated"] = true
	var buf bytes.Buffer
	for most := limit / 8; most >= maxRequestID; most /= 4 {
		if cut := encodeLine(&buf, cutTexts(whole, most)); len(cut) <= limit {
			return cut
		}
	}
	return nil
}

// escaped is how many bytes JSON may take to write one.
const escaped = len(`\u0000`)

// longTexts is how many bytes the texts in v have that can be cut.
func longTexts(v any) (n int) {
	switch v := v.(type) {
	case string:
		if len(v) > maxRequestID {
			n = len(v)
		}
	case []any:
		for _, x := range v {
			n += longTexts(x)
		}
	case map[string]any:
		for _, x := range v {
			n += longTexts(x)
		}
	}
	return n
}

// cutTexts cuts every text in v to most bytes.
func cutTexts(v any, most int) any {
	switch v := v.(type) {
	case string:
		return text.HeadTail(v, most)
	case []any:
		for i := range v {
			v[i] = cutTexts(v[i], most)
		}
	case map[string]any:
		for k := range v {
			v[k] = cutTexts(v[k], most)
		}
	}
	return v
}
