package modeltest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"
)

// Script is a sequence of replies, one for each request.
type Script []Line

// Line is one step of a script.
type Line struct {
	Reply  Reply
	Repeat int  // how often it answers; 0 is once
	Loop   bool // the script goes on here after its end
}

// cursor walks a script.
type cursor struct {
	lines Script
	at    int // next line
	times int // how often it answered already
}

func (c *cursor) next() (Reply, bool) {
	if c.at >= len(c.lines) && !c.rewind() {
		return Reply{}, false
	}
	l := c.lines[c.at]
	if c.times++; c.times >= max(l.Repeat, 1) {
		c.at, c.times = c.at+1, 0
	}
	return l.Reply, true
}

// rewind goes back to the line that loops, if there is one.
func (c *cursor) rewind() bool {
	for i, l := range c.lines {
		if l.Loop {
			c.at = i
			return true
		}
	}
	return false
}

func (c *cursor) left() int {
	n := -c.times
	for i, l := range c.lines {
		if l.Loop {
			return math.MaxInt
		}
		if i >= c.at {
			n += max(l.Repeat, 1)
		}
	}
	return n
}

// talk is one conversation's way through a script.
type talk struct {
	cursor
	failed bool // its last request got no answer, so that the same one may come again
}

// Format says what a script is, for people.
const Format = `A script answers one request with each line, which is a JSON object; blank lines and lines that begin with # are skipped.
  say, say_file            the answer's text, or a file with it (looked for beside the script)
  reasoning                what is thought before
  calls, text              tools to call, and what is said before:
                           [{"name": "read", "args": {"path": "go.mod"}}], args may be text to the letter, id is made when it lacks
  status, body, headers    a refusal
  raw                      a response body to the letter
  cut, stall, hangup       break off, or fall silent, after so many events; close without a word
  finish, usage            the finish reason; {"prompt": 9, "cached": 0, "written": 0, "completion": 9, "reasoning": 0}
  chunk                    runes in a delta
  first_ms, delay_ms       wait before the first event, and before each later one
  repeat, loop             answer so often; go on here after the script's end
`

// ParseScript reads a script in Format. What it names is looked for in dir.
func ParseScript(r io.Reader, dir string) (Script, error) {
	var sc Script
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxRequest)
	for n := 1; in.Scan(); n++ {
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		l, err := parseLine(text, dir)
		if err != nil {
			return nil, fmt.Errorf("script line %d: %w", n, err)
		}
		sc = append(sc, l)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return sc, nil
}

// scriptLine is a line as it is written.
type scriptLine struct {
	Say       string            `json:"say"`
	SayFile   string            `json:"say_file"`
	Text      string            `json:"text"`
	Reasoning string            `json:"reasoning"`
	Calls     []scriptCall      `json:"calls"`
	Status    int               `json:"status"`
	Body      string            `json:"body"`
	Headers   map[string]string `json:"headers"`
	Raw       *string           `json:"raw"`
	Cut       *int              `json:"cut"`
	Stall     *int              `json:"stall"`
	Hangup    bool              `json:"hangup"`
	Finish    string            `json:"finish"`
	Usage     *Tokens           `json:"usage"`
	Chunk     int               `json:"chunk"`
	FirstMS   float64           `json:"first_ms"`
	DelayMS   float64           `json:"delay_ms"`
	Repeat    int               `json:"repeat"`
	Loop      bool              `json:"loop"`
}

type scriptCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

func parseLine(text []byte, dir string) (Line, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l scriptLine
	if err := dec.Decode(&l); err != nil {
		return Line{}, err
	}
	if l.SayFile != "" {
		name := l.SayFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return Line{}, err
		}
		l.Say = string(b)
	}
	r := Say(l.Say+l.Text).WithReasoning(l.Reasoning).Chunk(l.Chunk).
		Pace(milliseconds(l.FirstMS), milliseconds(l.DelayMS))
	for _, c := range l.Calls {
		if c.Name == "" {
			return Line{}, fmt.Errorf("a call needs a name")
		}
		args := string(c.Args)
		if len(c.Args) == 0 {
			args = "{}"
		} else if c.Args[0] == '"' {
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return Line{}, err
			}
		}
		r.calls = append(r.calls, ToolCall{ID: c.ID, Name: c.Name, Arguments: args})
	}
	switch {
	case l.Status != 0:
		r = Status(l.Status, l.Body)
	case l.Raw != nil:
		r = Raw(*l.Raw)
	case l.Hangup:
		r = Hangup()
	}
	for name, value := range l.Headers {
		r = r.Header(name, value)
	}
	if l.Finish != "" {
		r = r.Finish(l.Finish)
	}
	if l.Usage != nil {
		r = r.Usage(*l.Usage)
	}
	if l.Cut != nil {
		r = r.Cut(*l.Cut)
	}
	if l.Stall != nil {
		r = r.Stall(*l.Stall)
	}
	return Line{Reply: r, Repeat: l.Repeat, Loop: l.Loop}, nil
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
