package files

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/render/picture"
)

const (
	// defaultLines is how many lines a read gives when it does not say (product.md 6).
	defaultLines = 500
	// maxLineRunes is where a line is clipped (product.md 6), in characters.
	maxLineRunes = 2000
	// readNoteBytes is what the head and the tail of a result take beside its lines, generously.
	readNoteBytes = 512
)

const readSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "File to read: relative to the workspace, absolute, ~/ or file://. A directory gives a listing; PNG, JPEG, GIF and WebP files are shown as pictures."},
    "offset": {"type": "integer", "minimum": 1, "description": "First line, counted from 1. Default 1."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines at most. Default 500."}
  },
  "required": ["path"],
  "additionalProperties": false
}`

type readArgs struct {
	Path   string `json:"path"`
	Offset *count `json:"offset"`
	Limit  *count `json:"limit"`
}

func (a readArgs) where() string { return a.Path }

// window reads the part of the file that is asked for.
func (a readArgs) window() (offset, limit int, err error) {
	offset, limit = 1, defaultLines
	if a.Offset != nil {
		offset = int(*a.Offset)
	}
	if a.Limit != nil {
		limit = int(*a.Limit)
	}
	if offset < 1 || limit < 1 {
		return 0, 0, refuse(badArguments, "offset and limit count from 1")
	}
	return offset, limit, nil
}

func (t *tools) readTool() ext.Tool {
	return ext.Tool{
		Name: "read",
		Description: "Read a file. Text comes as numbered lines (\"   12 | text\"; the number and bar are not part of the file) with the SHA-256 of the whole file. " +
			"Lines are clipped at 2,000 characters; a long file ends with the offset to continue from. A directory gives a listing, a picture is shown.",
		Parameters: json.RawMessage(readSchema),
		Intent:     intent[readArgs](t, "read", policy.WorkspaceRead, policy.HostRead),
		Invoke:     invoke(t, t.read),
		Describe: describe("read", func(a readArgs) string {
			offset, limit, err := a.window()
			if err != nil || a.Offset == nil && a.Limit == nil {
				return t.named(a.Path)
			}
			return fmt.Sprintf("%s:%d-%d", t.named(a.Path), offset, offset+limit-1)
		}),
	}
}

func (t *tools) read(c *ext.Call, a readArgs) (ext.Output, error) {
	offset, limit, err := a.window()
	if err != nil {
		return ext.Output{}, err
	}
	p, err := t.at(a.Path)
	if err != nil {
		return ext.Output{}, err
	}
	if !p.missing() && p.info.IsDir() {
		return t.list(c, p, offset, limit)
	}
	f, err := load(c, p)
	if err != nil {
		return ext.Output{}, err
	}
	out, err := t.show(c, p, f, offset, limit)
	if err == nil {
		t.seen.note(c, p.abs, f.hash)
	}
	return out, err
}

func (t *tools) show(c *ext.Call, p place, f *content, offset, limit int) (ext.Output, error) {
	if mime := picture.Type(f.data); mime != "" {
		return showPicture(c, p, f, mime)
	}
	e := encodingOf(f.data)
	if e == notText {
		line := fmt.Sprintf("%s is binary: %s, %s, hash=%s", p.shown, binaryKind(f.data), text.Bytes(int64(len(f.data))), f.hash)
		return titled(line, fmt.Sprintf("%s: binary, %s", p.shown, text.Bytes(int64(len(f.data))))), nil
	}
	return t.showText(p, f, e, offset, limit)
}

func (t *tools) showText(p place, f *content, e encoding, offset, limit int) (ext.Output, error) {
	body := e.decode(f.data)
	total := strings.Count(body, lf)
	ended := strings.HasSuffix(body, lf)
	if !ended && body != "" {
		total++
	}
	if body == "" {
		return titled(fmt.Sprintf("%s is empty, hash=%s", p.shown, f.hash), p.shown+": empty"), nil
	}
	if offset > total {
		return ext.Output{}, refuse(badArguments, "offset %d is past the end: %s has %s", offset, p.shown, text.Plural(total, "line"))
	}
	lines := numberLines(body, offset, limit, t.MaxOutputBytes-readNoteBytes)
	last := offset + lines.count - 1

	var b strings.Builder
	fmt.Fprintf(&b, "%s: lines %d-%d of %d, hash=%s", p.shown, offset, last, total, f.hash)
	if e != utf8Plain {
		fmt.Fprintf(&b, ", %s", e)
	}
	if ending, alone := endings(body); ending == crlf {
		b.WriteString(", CRLF line endings")
	} else if !alone {
		b.WriteString(", some CRLF line endings")
	}
	if !ended && last == total {
		b.WriteString(", no newline at the end")
	}
	b.WriteString("\n")
	b.WriteString(lines.text)
	if last < total {
		why := ""
		if lines.full {
			why = fmt.Sprintf("the result is full at %s; ", text.Bytes(int64(t.MaxOutputBytes)))
		}
		fmt.Fprintf(&b, "[%s%s left; continue with offset=%d]\n", why, text.Plural(total-last, "line"), last+1)
	}
	return titled(b.String(), fmt.Sprintf("%s: lines %d-%d of %d", p.shown, offset, last, total)), nil
}

// titled is an output whose title on the screen says less than the model reads.
func titled(body, title string) ext.Output {
	out := ext.TextOutput(body)
	out.Display = &pages.Display{Title: title}
	return out
}

// numberedLines is a run of whole lines as read shows them.
type numberedLines struct {
	text  string
	count int
	full  bool // room ran out before the lines that were asked for
}

// numberLines shows up to limit lines of body from line offset on, in at most room bytes, but at least one line. offset is
// within body.
func numberLines(body string, offset, limit, room int) numberedLines {
	for range offset - 1 {
		body = body[strings.IndexByte(body, '\n')+1:]
	}
	var b strings.Builder
	n := 0
	for body != "" && n < limit {
		line, rest, _ := strings.Cut(body, lf)
		row := fmt.Sprintf("%6d | %s\n", offset+n, clip(strings.TrimSuffix(line, "\r"), maxLineRunes))
		if b.Len()+len(row) > room {
			if n > 0 {
				return numberedLines{b.String(), n, true}
			}
			row = text.CutBytes(row, room) + "…\n" // one line of many wide characters in a very small result
		}
		b.WriteString(row)
		body = rest
		n++
	}
	return numberedLines{text: b.String(), count: n}
}

// clip cuts a line after n characters and says how long it was. NUL, which no model can be sent, becomes its picture.
func clip(line string, n int) string {
	line = strings.ReplaceAll(line, "\x00", "␀")
	if len(line) <= n {
		return line
	}
	seen := 0
	for i := range line {
		if seen == n {
			return fmt.Sprintf("%s… [line clipped: it has %d characters]", line[:i], utf8.RuneCountInString(line))
		}
		seen++
	}
	return line
}
