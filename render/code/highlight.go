package code

import (
	"container/list"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
)

const (
	// MaxSource is up to how many bytes a text is highlighted.
	MaxSource = 64 << 10
	// MaxCached and MaxCachedBytes bound what a Highlighter remembers, in texts and in bytes of memory.
	MaxCached      = 256
	MaxCachedBytes = 8 << 20
)

// Chroma's regular expressions cannot be interrupted, and some of them take seconds over a text made for it.
const (
	// Patience is how long a caller waits for one text, or for all of one diff. What comes later is remembered for the next call.
	Patience = 200 * time.Millisecond
	// MaxJob is how long one text may take. A language that takes longer is not asked again by the Highlighter, which in a program means
	// not before it is started again.
	MaxJob = time.Second
)

// Highlighter highlights code and remembers what it highlighted, the texts that were asked for last. It may be used by several
// goroutines at once, and does one text after the other in a goroutine of its own, which the first text that is new starts and Close
// ends. A nil one highlights nothing.
type Highlighter struct {
	lexer    func(language string) chroma.Lexer
	patience time.Duration
	maxJob   time.Duration

	jobs    chan *job // without a buffer: who gets rid of a job knows that it is being worked on
	closing chan struct{}
	worker  sync.WaitGroup

	mu              sync.Mutex
	started, closed bool
	slow            map[string]bool // languages that are not asked again
	known           map[key]*list.Element
	order           list.List // of *entry, the one asked for last in front
	bytes           int
}

type key struct{ language, source string }

// entry is what is known of a text.
type entry struct {
	key
	lines []render.Line
	plain bool // the lexer could not do it
	bytes int
}

// job is a text on its way to the worker and back. The entry is there, or nil for none, when done is closed.
type job struct {
	key
	entry *entry
	done  chan struct{}
}

// NewHighlighter makes a Highlighter, which has to be closed.
func NewHighlighter() *Highlighter {
	return &Highlighter{
		lexer: lexerOf, patience: Patience, maxJob: MaxJob, jobs: make(chan *job), closing: make(chan struct{}), slow: map[string]bool{},
		known: map[key]*list.Element{},
	}
}

// Close ends the work and waits until it has ended, which may take as long as chroma needs for the token it is at. After it Lines gives
// what is remembered. It may be called more than once.
func (h *Highlighter) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.worker.Wait()
}

// Lines gives the lines of a text, cleaned (text.Clean) and not wrapped, with a role for each part of them. False says that they are
// plain: the language is none that Language gives, the text has more than MaxSource bytes, the context ended, it was not done within
// Patience, its language was slow before (MaxJob), or chroma failed. It waits, so it is nothing for a View.
func (h *Highlighter) Lines(ctx context.Context, language, source string) ([]render.Line, bool) {
	return h.lines(ctx, key{language, strings.TrimSuffix(text.Clean(source), "\n")})
}

// Cached is Lines for what is remembered as highlighted; it never highlights and never waits.
func (h *Highlighter) Cached(language, source string) ([]render.Line, bool) {
	e := h.remembered(key{language, strings.TrimSuffix(text.Clean(source), "\n")})
	if e == nil || e.plain {
		return nil, false
	}
	return e.lines, true
}

// colour gives lines of their own for a text in which everything but tabs and line ends is visible.
func (h *Highlighter) colour(ctx context.Context, language, source string) []render.Line {
	lines, _ := h.lines(ctx, key{language, strings.TrimSuffix(source, "\n")})
	return append([]render.Line(nil), lines...)
}

// waiting gives a context for as long as a caller waits.
func (h *Highlighter) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if h == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, h.patience)
}

func (h *Highlighter) lines(ctx context.Context, k key) ([]render.Line, bool) {
	e := h.remembered(k)
	if e == nil {
		e = h.ask(ctx, k)
	}
	if e == nil {
		return cutLines(k.source, nil), false
	}
	return e.lines, !e.plain
}

func (h *Highlighter) remembered(k key) *entry {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.known[k]
	if !ok {
		return nil
	}
	h.order.MoveToFront(e)
	return e.Value.(*entry)
}

// ask has a text highlighted, as long as there is patience. Nil is for a text that is not, or not yet.
func (h *Highlighter) ask(ctx context.Context, k key) *entry {
	if h == nil || k.language == "" || len(k.source) > MaxSource || ctx.Err() != nil || h.lexer(k.language) == nil || !h.admits(k.language) {
		return nil
	}
	ctx, cancel := h.waiting(ctx)
	defer cancel()
	j := &job{key: k, done: make(chan struct{})}
	select {
	case h.jobs <- j:
	case <-h.closing:
		return nil
	case <-ctx.Done():
		return nil
	}
	select {
	case <-j.done:
		return j.entry
	case <-ctx.Done():
		return nil
	}
}

// admits sees to it that there is a worker, and reports whether it may be asked for a language.
func (h *Highlighter) admits(language string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.slow[language] {
		return false
	}
	if !h.started {
		h.started = true
		h.worker.Go(h.work)
	}
	return true
}

func (h *Highlighter) work() {
	for {
		select {
		case <-h.closing:
			return
		case j := <-h.jobs:
			// Another caller may have asked for the same meanwhile.
			if j.entry = h.remembered(j.key); j.entry == nil && h.admits(j.language) {
				j.entry = h.highlight(j.key)
			}
			close(j.done)
		}
	}
}

// highlight does one text and remembers what came of it, unless it took too long or there is no time left.
func (h *Highlighter) highlight(k key) *entry {
	began := time.Now()
	late := func() bool { return time.Since(began) > h.maxJob }
	stop := func() bool {
		select {
		case <-h.closing:
			return true
		default:
			return late()
		}
	}
	spans, ok := tokenise(h.lexer(k.language), k.source, stop)
	if late() {
		h.mu.Lock()
		h.slow[k.language] = true
		h.mu.Unlock()
		return nil
	}
	if !ok && stop() {
		return nil
	}
	e := &entry{key: k, lines: cutLines(k.source, spans), plain: !ok}
	if ok {
		for i := range e.lines {
			e.lines[i].Role = themes.RoleText // what has no role is ordinary, unlike code that nothing is known of
		}
	}
	h.keep(e)
	return e
}

// What a line and a run take in memory, beside the text, which is that of the source.
const (
	lineBytes = 96
	runBytes  = 72
)

func (h *Highlighter) keep(e *entry) {
	e.bytes = len(e.source) + len(e.lines)*lineBytes
	for _, l := range e.lines {
		e.bytes += len(l.Runs) * runBytes
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.bytes > MaxCachedBytes {
		return
	}
	h.known[e.key] = h.order.PushFront(e)
	h.bytes += e.bytes
	for h.order.Len() > MaxCached || h.bytes > MaxCachedBytes {
		last := h.order.Remove(h.order.Back()).(*entry)
		delete(h.known, last.key)
		h.bytes -= last.bytes
	}
}

// cutLines cuts a text and its spans into lines. An empty text has none.
func cutLines(source string, spans []span) []render.Line {
	if source == "" {
		return nil
	}
	lines := make([]render.Line, 0, strings.Count(source, "\n")+1)
	runs := make([]render.Run, 0, len(spans))
	for at := 0; ; {
		end := len(source)
		if i := strings.IndexByte(source[at:], '\n'); i >= 0 {
			end = at + i
		}
		first := len(runs)
		for len(spans) > 0 && spans[0].from < end {
			s := spans[0]
			if from, to := max(s.from, at), min(s.to, end); from < to {
				runs = append(runs, render.Run{From: from - at, To: to - at, Role: s.role})
			}
			if s.to > end {
				break
			}
			spans = spans[1:]
		}
		lines = append(lines, render.Line{Text: source[at:end], Runs: runs[first:len(runs):len(runs)], Role: themes.RoleCode, Fill: true})
		if end == len(source) {
			return lines
		}
		at = end + 1
	}
}
