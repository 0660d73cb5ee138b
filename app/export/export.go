// Package export writes a session as one file that stands alone: JSON for programs (docs/export.md), a page for a browser, or
// Markdown (product.md 5). It knows a session as app/api tells it, and neither store nor terminal. Credentials are taken out of
// every string before anything is written.
package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"octavo/app/api"
)

// Format is a way of writing a session.
type Format string

const (
	JSON     Format = "json"
	HTML     Format = "html"
	Markdown Format = "markdown"
)

// Formats lists them, the one that loses nothing first.
var Formats = []Format{JSON, HTML, Markdown}

// ParseFormat reads the name of a format, or the ending of a file without its dot: also md, htm and capital letters.
func ParseFormat(s string) (Format, error) {
	switch f := Format(strings.ToLower(s)); f {
	case JSON, HTML, Markdown:
		return f, nil
	case "md":
		return Markdown, nil
	case "htm":
		return HTML, nil
	}
	return "", fmt.Errorf("there is no format %q; choose json, html or markdown", s)
}

// Ending is how the name of a file of this format ends, with its dot.
func (f Format) Ending() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// Session is what is exported.
type Session struct {
	Info  api.SessionInfo
	Usage api.Usage
	Tags  []string          // nil: those of Info
	Forks []api.SessionInfo // sessions forked from it; may be nil
	// Entries gives the entries, ascending, once. They are written as they come and never stand in memory together. An error ends
	// the export.
	Entries func(yield func(api.Entry, error) bool)
	// Blob is the bytes of a stored picture. A picture that cannot be read is told in its place and ends nothing. It may be nil
	// for Markdown, which has no pictures in it.
	Blob     func(sha256 string) ([]byte, error)
	Exported time.Time // its location is that of the times that a page or Markdown shows
	Version  string    // octavo's
}

// Options says what is taken out.
type Options struct {
	// Redact takes known keys out of a string; nil knows none. What looks like a credential is replaced in any case.
	Redact func(string) string
	// Secrets leaves everything as it is, known keys too.
	Secrets bool
}

// outputBuffer is how much is written at once, in bytes.
const outputBuffer = 64 << 10

// Write writes s to w as it is read: what stands in memory is an entry, a picture and, for a page, the list of prompts. The error is
// that of ctx, of the entries or of w; what was written by then is not whole.
func Write(ctx context.Context, w io.Writer, f Format, s Session, o Options) error {
	h := newHider(o)
	s = h.session(s)
	out := &output{Writer: bufio.NewWriterSize(w, outputBuffer), ctx: ctx, blob: s.Blob, hide: h}
	var t teller
	switch f {
	case JSON:
		t = &document{out: out, images: newList()}
	case HTML:
		t = &story{page: &htmlPage{output: out, session: s, shown: map[string]int{}}}
	case Markdown:
		t = &story{page: &markdownPage{output: out, session: s}}
	default:
		_, err := ParseFormat(string(f))
		return err
	}
	if err := tell(out, s, h, t); err != nil {
		return fmt.Errorf("export session %s: %w", s.Info.ID, err)
	}
	return nil
}

// teller writes one format.
type teller interface {
	open(Session) error
	entry(api.Entry) error
	close() error
}

func tell(out *output, s Session, h hider, t teller) error {
	if err := t.open(s); err != nil {
		return err
	}
	if s.Entries != nil {
		for e, err := range s.Entries {
			if err == nil {
				err = out.failure()
			}
			if err == nil {
				err = t.entry(without(h, e))
			}
			if err != nil {
				return err
			}
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	if err := out.failure(); err != nil {
		return err
	}
	return out.Flush()
}

// output is where a format writes. Its writer keeps its first error, so single writes need no look at theirs.
type output struct {
	*bufio.Writer
	ctx  context.Context
	blob func(sha256 string) ([]byte, error)
	hide hider
}

// failure is why there is no use in going on.
func (o *output) failure() error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	_, err := o.Write(nil) // which answers the error of an earlier one
	return err
}

// picture is the bytes of a stored picture, or why there are none.
func (o *output) picture(sha256 string) (data []byte, missing string) {
	if o.blob == nil {
		return nil, "pictures are not at hand"
	}
	if o.ctx.Err() != nil {
		return nil, "the export has ended" // as failure will say, too
	}
	data, err := o.blob(sha256)
	if err != nil {
		return nil, o.hide.text(err.Error())
	}
	return data, ""
}
