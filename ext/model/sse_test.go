package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
)

// readAll drains a stream into "name|data" strings.
func readAll(r io.Reader) (events []string, done bool, err error) {
	sse := model.NewSSEReader(r)
	for {
		ev, err := sse.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return events, sse.Done(), err
		}
		events = append(events, ev.Name+"|"+string(ev.Data))
	}
}

func TestSSE(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
		done     bool
	}{
		{"nothing", "", nil, false},
		{"one event", "data: a\n\n", []string{"|a"}, false},
		{"only one blank is dropped", "data:  a\n\ndata:b\n\n", []string{"| a", "|b"}, false},
		{"lines join", "data: a\ndata: b\ndata:\ndata: c\n\n", []string{"|a\nb\n\nc"}, false},
		{"empty data is an event", "data\n\ndata:\n\n", []string{"|", "|"}, false},
		{"CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}, false},
		{"comments, ids, retries, unknown", ": OPENROUTER PROCESSING\n\nid: 7\nretry: 5\nfoo: bar\ndata: a\n: x\n\n", []string{"|a"}, false},
		{"a name does not outlive its event", "event: x\ndata: a\n\ndata: b\n\nevent: y\n\ndata: c\n\n", []string{"x|a", "|b", "|c"}, false},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}, false},
		{"done", "data: a\n\ndata: [DONE]\n\ndata: late\n\n", []string{"|a"}, true},
		{"done without blank line", "data: a\n\ndata: [DONE]\n", []string{"|a"}, true},
		{"done without line ending", "data: a\n\ndata: [DONE]", []string{"|a"}, true},
		{"done with blanks", "data:[DONE] \r\n", nil, true},
		{"done within an event is data", "data: a\ndata: [DONE]\n\n", []string{"|a\n[DONE]"}, false},
		{"the end completes an event of whole lines", "data: a\n", []string{"|a"}, false},
		{"the end drops half a line", "data: a\n\ndata: {\"half", []string{"|a"}, false},
		{"no colon", "data: a\nnonsense\n\n", []string{"|a"}, false},
	} {
		for reader, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader} {
			t.Run(c.name+"/"+reader, func(t *testing.T) {
				got, done, err := readAll(wrap(strings.NewReader(c.in)))
				if diff := cmp.Diff(c.want, got); diff != "" || done != c.done || err != nil {
					t.Errorf("done %v, want %v; err %v; events (-want +got):\n%s", done, c.done, err, diff)
				}
			})
		}
	}
}

func TestSSEBounds(t *testing.T) {
	line := func(n int) string { return "data:" + strings.Repeat("x", n-len("data:")) }
	for _, c := range []struct {
		name, in string
		want     error
		bytes    int
	}{
		{"longest line", line(model.MaxEventLine) + "\n\n", nil, model.MaxEventLine - len("data:")},
		{"longest line, CR LF", line(model.MaxEventLine) + "\r\n\r\n", nil, model.MaxEventLine - len("data:")},
		{"line too long", line(model.MaxEventLine+1) + "\n\n", model.ErrLineTooLong, 0},
		{"line too long, CR LF", line(model.MaxEventLine+1) + "\r\n\r\n", model.ErrLineTooLong, 0},
		{"endless line", line(10 << 20), model.ErrLineTooLong, 0},
		{"largest event", strings.Repeat("data:"+strings.Repeat("x", 1023)+"\n", model.MaxEvent/1024) + "data:\n\n", nil, model.MaxEvent},
		{"event too large", strings.Repeat("data:"+strings.Repeat("x", 1023)+"\n", model.MaxEvent/1024) + "data:x\n\n", model.ErrEventTooLarge, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sse := model.NewSSEReader(strings.NewReader(c.in))
			ev, err := sse.Next()
			if !errors.Is(err, c.want) || len(ev.Data) != c.bytes {
				t.Fatalf("got %d bytes and %v, want %d bytes and %v", len(ev.Data), err, c.bytes, c.want)
			}
			if _, again := sse.Next(); c.want != nil && !errors.Is(again, c.want) {
				t.Errorf("an error must stay, then got %v", again)
			}
		})
	}
}

func TestSSEKeepsReadersError(t *testing.T) {
	broken := errors.New("broken")
	got, _, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %q and %v: an event that was not finished must not be delivered when the reader fails", got, err)
	}
}

func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: e\r\ndata: a\r\ndata: b\r\n\r\n", ": c\n\ndata: [DONE]", "data", "\ufeffdata:x\n\n", "data: [DONE]\n\nx"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, done, err := readAll(bytes.NewReader(in))
		again, done2, err2 := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if diff := cmp.Diff(whole, again); diff != "" || done != done2 || !errors.Is(err2, err) {
			t.Fatalf("how reads are cut must not matter: %v %v, %v %v\n%s", done, done2, err, err2, diff)
		}
		for _, ev := range whole {
			if strings.Contains(ev, "\r\n") {
				t.Fatalf("line ending in %q", ev)
			}
		}
	})
}

func BenchmarkSSE(b *testing.B) {
	var stream bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&stream, "event: delta\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token %d\"}}]}\n\n", i)
	}
	b.ReportAllocs()
	b.SetBytes(int64(stream.Len()))
	for b.Loop() {
		sse := model.NewSSEReader(bytes.NewReader(stream.Bytes()))
		for {
			if _, err := sse.Next(); err != nil {
				break
			}
		}
	}
}
