package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// sniffBytes is how far a file is looked at to tell text from binary; git looks as far.
const sniffBytes = 8000

// encoding is how the text of a file is written down. Editing keeps it.
type encoding int

const (
	utf8Plain   encoding = iota
	utf8BOM              // UTF-8 behind a byte order mark
	utf16Little          // behind a byte order mark
	utf16Big             // behind a byte order mark
	windows1252          // the superset of Latin-1 that Latin-1 files are really in; every byte is a character
	brokenUTF8           // UTF-8 with damage: shown, never written
	notText
)

func (e encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16LE", "UTF-16BE", "Windows-1252", "damaged UTF-8", "binary"}[e]
}

var (
	markUTF8  = []byte("\xef\xbb\xbf")
	markLE    = []byte("\xff\xfe")
	markBE    = []byte("\xfe\xff")
	markLE32  = []byte("\xff\xfe\x00\x00")
	replacing = string(utf8.RuneError)
)

// encodingOf tells how data is to be read.
func encodingOf(data []byte) encoding {
	switch {
	case bytes.HasPrefix(data, markUTF8):
		return utf8Or(data[len(markUTF8):], utf8BOM)
	case bytes.HasPrefix(data, markLE32):
		return notText
	case bytes.HasPrefix(data, markLE):
		return utf16Or(len(data), utf16Little)
	case bytes.HasPrefix(data, markBE):
		return utf16Or(len(data), utf16Big)
	default:
		return utf8Or(data, utf8Plain)
	}
}

func utf16Or(size int, e encoding) encoding {
	if size%2 != 0 {
		return notText
	}
	return e
}

// utf8Or is e when data is UTF-8, else what it is instead.
func utf8Or(data []byte, e encoding) encoding {
	head := data[:min(len(data), sniffBytes)]
	if bytes.IndexByte(head, 0) >= 0 {
		return notText
	}
	if utf8.Valid(data) {
		return e
	}
	if bytes.ContainsFunc(head, rareControl) {
		return notText
	}
	if e == utf8BOM {
		return brokenUTF8
	}
	// In text of one byte a character two letters rarely look like one of UTF-8; in damaged UTF-8 most do.
	valid, invalid := 0, 0
	for rest := data; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			invalid++
		case n > 1:
			valid++
		}
		rest = rest[n:]
	}
	if valid > invalid {
		return brokenUTF8
	}
	return windows1252
}

// rareControl reports control characters that text files do not hold.
func rareControl(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r)
}

// decode gives the text of data without its byte order mark. Only an encoding that can be written again gives all of it;
// damage reads as U+FFFD. notText has no text.
func (e encoding) decode(data []byte) string {
	switch e {
	case utf8BOM:
		return string(data[len(markUTF8):])
	case utf16Little:
		return decodeUTF16(data[2:], binary.LittleEndian)
	case utf16Big:
		return decodeUTF16(data[2:], binary.BigEndian)
	case windows1252:
		var b strings.Builder
		b.Grow(len(data) + len(data)/8)
		for _, c := range data {
			b.WriteRune(charmap.Windows1252.DecodeByte(c))
		}
		return b.String()
	case brokenUTF8:
		return strings.ToValidUTF8(string(bytes.TrimPrefix(data, markUTF8)), replacing)
	case notText:
		return ""
	default:
		return string(data)
	}
}

func decodeUTF16(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// encode writes text down. It fails when e cannot hold a character, which it names.
func (e encoding) encode(text string) ([]byte, error) {
	switch e {
	case utf8Plain:
		return []byte(text), nil
	case utf8BOM:
		return append(bytes.Clone(markUTF8), text...), nil
	case utf16Little:
		return encodeUTF16(markLE, text, binary.LittleEndian), nil
	case utf16Big:
		return encodeUTF16(markBE, text, binary.BigEndian), nil
	case windows1252:
		out := make([]byte, 0, len(text))
		for _, r := range text {
			c, ok := charmap.Windows1252.EncodeRune(r)
			if !ok {
				return nil, fmt.Errorf("%s has no character %q", e, r)
			}
			out = append(out, c)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("%s cannot be written", e)
	}
}

func encodeUTF16(mark []byte, text string, order binary.AppendByteOrder) []byte {
	out := make([]byte, 0, len(mark)+2*len(text))
	out = append(out, mark...)
	for _, r := range text {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			out = order.AppendUint16(order.AppendUint16(out, uint16(r1)), uint16(r2))
		} else {
			out = order.AppendUint16(out, uint16(r))
		}
	}
	return out
}

// editable decodes data and makes sure that writing the text again gives the same bytes, so that an edit changes only what it
// names.
func editable(data []byte) (string, encoding, error) {
	e := encodingOf(data)
	if e == notText || e == brokenUTF8 {
		return "", e, fmt.Errorf("it is %s", e)
	}
	text := e.decode(data)
	if e != utf8Plain && e != utf8BOM {
		if again, err := e.encode(text); err != nil || !bytes.Equal(again, data) {
			return "", e, fmt.Errorf("it is damaged %s", e)
		}
	}
	return text, e, nil
}

const (
	lf   = "\n"
	crlf = "\r\n"
)

// endings tells which line ending text uses more often, and whether it uses no other. A text without lines uses lf, alone.
func endings(text string) (ending string, alone bool) {
	all, long := strings.Count(text, lf), strings.Count(text, crlf)
	if long > all-long {
		return crlf, long == all
	}
	return lf, long == 0
}

// withEnding gives text the line ending of a file; a text that has "\r\n" itself is brought to one form first.
func withEnding(text, ending string) string {
	text = strings.ReplaceAll(text, crlf, lf)
	if ending == lf {
		return text
	}
	return strings.ReplaceAll(text, lf, ending)
}

// flat is a text whose "\r\n" became "\n", with the way back, so that what a model writes matches whatever a file uses.
type flat struct {
	text    string
	dropped []int // offsets in text of the "\n" whose "\r" was left out, ascending
}

func flatten(text string) flat {
	n := strings.Count(text, crlf)
	if n == 0 {
		return flat{text: text}
	}
	f := flat{dropped: make([]int, 0, n)}
	var b strings.Builder
	b.Grow(len(text) - n)
	for {
		i := strings.Index(text, crlf)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		f.dropped = append(f.dropped, b.Len())
		b.WriteByte('\n')
		text = text[i+len(crlf):]
	}
	b.WriteString(text)
	f.text = b.String()
	return f
}
