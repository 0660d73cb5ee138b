package plain_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octavo/app/api"
	"octavo/app/plain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; it is only used up by a failure.
const patience = 30 * time.Second

// screen is an output that can be waited for.
type screen struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	grown  chan struct{} // closed when more was written
	writes int
	limit  int   // bytes after which a write fails; 0 none
	err    error // of that write
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil && s.buf.Len()+len(p) > s.limit {
		return 0, s.err
	}
	s.writes++
	s.buf.Write(p)
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	return len(p), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// await waits until want stands n times in the output.
func (s *screen) await(t *testing.T, want string, n int) {
	t.Helper()
	timeout := time.After(patience)
	for {
		s.mu.Lock()
		if strings.Count(s.buf.String(), want) >= n {
			s.mu.Unlock()
			return
		}
		if s.grown == nil {
			s.grown = make(chan struct{})
		}
		grown := s.grown
		s.mu.Unlock()
		select {
		case <-grown:
		case <-timeout:
			t.Fatalf("%q did not come; so far:\n%s", want, s)
		}
	}
}

// typist is an input that knows when what was typed has been read: its reader is back for more.
type typist struct {
	mu      sync.Mutex
	cond    sync.Cond
	pending []byte
	waiting bool
	over    bool
}

func newTypist() *typist {
	k := &typist{}
	k.cond.L = &k.mu
	return k
}

func (k *typist) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = true
	k.cond.Broadcast()
	for len(k.pending) == 0 && !k.over {
		k.cond.Wait()
	}
	k.waiting = false
	if len(k.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, k.pending)
	k.pending = k.pending[n:]
	return n, nil
}

// keys types without waiting.
func (k *typist) keys(s string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, s...)
	k.cond.Broadcast()
}

// taken waits until everything was read and marked.
func (k *typist) taken() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.pending) > 0 || !k.waiting {
		k.cond.Wait()
	}
}

func (k *typist) eof() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.cond.Broadcast()
}

// clock is time that passes when a test says so.
type clock struct {
	mu    sync.Mutex
	ticks map[time.Duration]chan time.Time
	at    time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) tick(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.ticks[d] = ch
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ticks[d] == ch {
			delete(c.ticks, d)
		}
	}
}

// pass lets d go by. It reports whether anybody waited for it.
func (c *clock) pass(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	ch := c.ticks[d]
	if ch != nil {
		ch <- c.at
	}
	return ch != nil
}

// set lets d go by without anybody being told.
func (c *clock) set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// talk is a conversation under test.
type talk struct {
	t          *testing.T
	stage      *stage
	out, err   *screen
	typist     *typist
	clock      *clock
	interrupts chan struct{}
	home       home
	echo       []bool
	cancel     context.CancelFunc
	ended      chan error
}

// home opens the sessions that a test provides.
type home func(api.OpenRequest) (api.Session, error)

func (home) Sessions(context.Context, api.SessionQuery) ([]api.SessionInfo, error) { return nil, nil }
func (home) Models(context.Context) ([]api.ModelInfo, error)                       { return nil, nil }
func (h home) Open(_ context.Context, r api.OpenRequest) (api.Session, error)      { return h(r) }

func startTalk(t *testing.T, s *stage, set func(*talk, *plain.Options), prompts ...api.Input) *talk {
	t.Helper()
	k := &talk{t: t, stage: s, out: &screen{}, err: &screen{}, typist: newTypist(), interrupts: make(chan struct{}),
		clock: &clock{ticks: map[time.Duration]chan time.Time{}, at: noon}, ended: make(chan error, 1)}
	o := plain.Options{Stdin: k.typist, Stdout: k.out, Stderr: k.err, Now: k.clock.now, Tick: k.clock.tick, Interrupts: k.interrupts}
	if set != nil {
		set(k, &o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go func() { k.ended <- plain.Interactive(ctx, k.home, s, prompts, o) }()
	t.Cleanup(func() {
		cancel()
		k.typist.eof()
	})
	return k
}

// terminal makes a talk one at a terminal, which shows what is typed by itself.
func terminal(k *talk, o *plain.Options) {
	o.Terminal = true
	o.Echo = func(on bool) error {
		k.echo = append(k.echo, on)
		return nil
	}
}

func (k *talk) line(s string) {
	k.typist.keys(s + "\n")
	k.typist.taken()
}

// pause lets a person at a terminal take a breath after a line: nothing is pasted.
func (k *talk) pause() {
	for began := false; ; time.Sleep(time.Millisecond) {
		k.clock.mu.Lock()
		wait := k.clock.ticks[10*time.Millisecond]
		if wait != nil {
			began = true
			k.clock.at = k.clock.at.Add(10 * time.Millisecond)
			select {
			case wait <- k.clock.at:
			default: // it was not looked at yet
			}
		}
		k.clock.mu.Unlock()
		if began && wait == nil {
			return
		}
	}
}

func (k *talk) expect(want string) { k.t.Helper(); k.out.await(k.t, want, 1) }

func (k *talk) interrupt() {
	k.t.Helper()
	select {
	case k.interrupts <- struct{}{}:
	case <-time.After(patience):
		k.t.Fatal("the interrupt was not taken")
	}
}

// end waits for the conversation to end.
func (k *talk) end() error {
	k.t.Helper()
	select {
	case err := <-k.ended:
		return err
	case <-time.After(patience):
		k.t.Fatalf("the conversation did not end; so far:\n%s", k.out)
		return nil
	}
}
