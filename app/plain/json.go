package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"octavo/app/api"
)

// JSON works through prompts as Print does and writes what happens to Stdout as JSON objects, one on each line ended by LF, each
// in one Write (product.md 1.5). docs/json.md is the vocabulary. The first line is about the session. The error is that of Print;
// it is told as a record as well when no agent_settled says it. A write that nobody reads is waited for, also after ctx has ended.
func JSON(ctx context.Context, s api.Session, prompts []api.Input, o Options) error {
	o = o.withDefaults()
	h, err := newHeadless(ctx, s, o)
	if err != nil {
		_ = WriteError(o.Stdout, err) // when that fails nothing else can be told either
		return err
	}
	defer h.close()
	w := &jsonWriter{out: o.Stdout}
	h.report = w
	header := sessionOf(recSession, h.state.Info)
	header.Timestamp = o.Now().UTC().Format(time.RFC3339Nano)
	h.tell(w.write(header))
	var began []any
	w.encoder, began = newEncoder(h.state)
	if h.broken == nil {
		h.tell(w.write(began...))
	}
	if h.broken == nil {
		err = h.run(ctx, prompts)
	} else if err = h.broken; !gone(err) {
		err = fmt.Errorf("the output could not be written: %w", err)
	}
	if err != nil && h.broken == nil && err != h.failed {
		h.tell(w.write(errorRecord{recError, err.Error()}))
	}
	return quiet(err)
}

// WriteError writes the record of a failure that came before there was a session, as JSON's only line.
func WriteError(out io.Writer, err error) error {
	return (&jsonWriter{out: out}).write(errorRecord{recError, err.Error()})
}

// jsonWriter reports a run as lines.
type jsonWriter struct {
	out     io.Writer
	encoder *encoder
	buf     bytes.Buffer
}

// event implements watcher.
func (w *jsonWriter) event(_ *api.State, e api.Event) error { return w.write(w.encoder.event(e)...) }

// missed implements watcher.
func (w *jsonWriter) missed(e api.Entry) error { return w.write(w.encoder.missed(e)...) }

// caughtUp implements watcher.
func (w *jsonWriter) caughtUp(s *api.State) error { return w.write(w.encoder.caughtUp(s)...) }

// command implements reporter.
func (w *jsonWriter) command(line string, out api.Outcome, err error) error {
	r := commandRecord{Type: recCommand, Command: line, Success: err == nil, Text: out.Text, Session: out.Session}
	if data := bytes.ToValidUTF8(out.Data, []byte("\ufffd")); json.Valid(data) {
		r.Data = data
	}
	if err != nil {
		r.Error = err.Error()
	}
	return w.write(r)
}

// write puts each record on a line.
func (w *jsonWriter) write(records ...any) error {
	for _, r := range records {
		w.buf.Reset()
		enc := json.NewEncoder(&w.buf)
		enc.SetEscapeHTML(false) // <, > and & are meant to be read
		if err := enc.Encode(r); err != nil {
			return err
		}
		if _, err := w.out.Write(w.buf.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
