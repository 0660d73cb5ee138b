package export

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"octavo/app/api"
)

// What the head of a document says it is.
const (
	documentFormat  = "octavo-session-export"
	documentVersion = 1
)

// totals is the usage of a session. What is not known of its cost is null, and never left out.
type totals struct {
	api.Usage
	CostMicro *int64 `json:"cost_micro"`
}

// image is a stored picture.
type image struct {
	MIME  string  `json:"mime"`
	Data  *string `json:"data"`            // base64; null when the picture could not be read
	Error string  `json:"error,omitempty"` // why
}

// document writes one JSON object: octavo-session-export (product.md 5, docs/export.md). Each entry has a line of its own.
type document struct {
	out    *output
	images list     // the hashes seen so far
	mimes  []string // of each
	listed int      // members of the list or object that is being written
	buf    bytes.Buffer
}

// open implements teller.
func (d *document) open(s Session) error {
	d.out.WriteString("{\n")
	for _, m := range []struct {
		name  string
		value any
	}{
		{"format", documentFormat},
		{"version", documentVersion},
		{"exported", s.Exported.UTC().Format(time.RFC3339)},
		{"octavo", s.Version},
		{"redacted", d.out.hide.once != nil},
		{"session", s.Info},
		{"tags", append([]string{}, s.Tags...)},
		{"usage", totals{Usage: s.Usage, CostMicro: s.Usage.CostMicro}},
	} {
		fmt.Fprintf(d.out, "%q: ", m.name)
		if err := d.value(m.value); err != nil {
			return err
		}
		d.out.WriteString(",\n")
	}
	d.out.WriteString(`"forks": [`)
	for _, f := range s.Forks {
		if err := d.member("", f); err != nil {
			return err
		}
	}
	d.end("],\n")
	d.out.WriteString(`"entries": [`)
	return nil
}

// entry implements teller.
func (d *document) entry(e api.Entry) error {
	for _, p := range e.Parts {
		if p.Image != nil && p.Image.SHA256 != "" && d.images.add(p.Image.SHA256) {
			d.mimes = append(d.mimes, p.Image.MIME)
		}
	}
	return d.member("", e)
}

// close implements teller.
func (d *document) close() error {
	d.end("],\n")
	d.out.WriteString(`"images": {`)
	for i, hash := range d.images.order {
		m := image{MIME: d.mimes[i]}
		data, missing := d.out.picture(hash)
		if missing == "" {
			encoded := base64.StdEncoding.EncodeToString(data)
			m.Data = &encoded
		}
		m.Error = missing
		if err := d.member(hash, m); err != nil {
			return err
		}
		if err := d.out.failure(); err != nil {
			return err
		}
	}
	d.end("}\n}\n")
	return nil
}

// member writes one more member of what is being written, on its own line; name is that of an object's.
func (d *document) member(name string, v any) error {
	if d.listed > 0 {
		d.out.WriteByte(',')
	}
	d.listed++
	d.out.WriteByte('\n')
	if name != "" {
		if err := d.value(name); err != nil {
			return err
		}
		d.out.WriteString(": ")
	}
	return d.value(v)
}

// end closes what was being written.
func (d *document) end(mark string) {
	if d.listed > 0 {
		d.out.WriteByte('\n')
	}
	d.listed = 0
	d.out.WriteString(mark)
}

// value writes v on one line.
func (d *document) value(v any) error {
	d.buf.Reset()
	enc := json.NewEncoder(&d.buf)
	enc.SetEscapeHTML(false) // <, > and & are meant to be read
	if err := enc.Encode(v); err != nil {
		return err
	}
	d.out.Write(escapeHidden(bytes.TrimSuffix(d.buf.Bytes(), []byte("\n"))))
	return nil
}

// escapeHidden writes as \u those characters of a JSON text that a terminal or an editor would obey and not show. It changes nothing
// of what the text means: beyond ASCII and in DEL a JSON text has only what stands in its strings.
func escapeHidden(b []byte) []byte {
	at := bytes.IndexFunc(b, hidden)
	if at < 0 {
		return b
	}
	out := bytes.Clone(b[:at])
	for b = b[at:]; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		switch {
		case !hidden(r):
			out = append(out, b[:size]...)
		case r > 0xffff:
			const surrogates, half = 0x10000, 0x400
			r -= surrogates
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r/half, 0xdc00+r%half)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[size:]
	}
	return out
}

// hidden reports whether r does something without being seen: DEL, C1, directions, tags. encoding/json escapes C0 itself.
func hidden(r rune) bool {
	return 0x7f <= r && r <= 0x9f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r >= 0xe0000 && r <= 0xe0fff
}

// list is a set in the order in which its members came.
type list struct {
	order []string
	known map[string]bool
}

func newList() list { return list{known: map[string]bool{}} }

// add reports whether s is new.
func (l *list) add(s string) bool {
	if l.known[s] {
		return false
	}
	l.known[s] = true
	l.order = append(l.order, s)
	return true
}
