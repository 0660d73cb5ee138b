package api

import (
	"context"
	"sync"
)

// Stream is one client's view of a session: the State when it attached, and every Event after it.
type Stream struct {
	State  *State // belongs to the client, who may Apply to it
	Events <-chan Event

	mu      sync.Mutex
	pending []Event
	wake    chan struct{} // holds a token while pending has something to send
	ended   bool
	err     error
}

// MaxPending is how many events wait for a slow client, after deltas that follow one another were joined.
const MaxPending = 4096

// MaxJoined is the size in bytes up to which fragments are joined; it keeps the cost of one Push constant.
const MaxJoined = 4096

// NewStream makes the stream of a client that attached at state and starts to deliver. The caller feeds it with Push and ends it
// with End; it also ends with ctx. wait returns when its goroutine is gone.
func NewStream(ctx context.Context, state *State) (s *Stream, wait func()) {
	out := make(chan Event)
	s = &Stream{State: state, Events: out, wake: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		s.deliver(ctx, out)
	}()
	return s, func() { <-done }
}

// Push adds an event without waiting. It reports false once the stream has ended.
func (s *Stream) Push(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if n := len(s.pending); n == 0 || !join(&s.pending[n-1], e) {
		if n >= MaxPending {
			s.ended, s.err, s.pending = true, ErrLagged, nil
		} else {
			s.pending = append(s.pending, e)
		}
	}
	s.signal()
	return !s.ended
}

// End lets what is pending be delivered and then closes Events. Only the first End counts, and none after ErrLagged.
func (s *Stream) End(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
	}
	s.signal()
}

// Err says why Events was closed: what End was given, ErrLagged, or the error of the context. Nil before.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Stream) deliver(ctx context.Context, out chan<- Event) {
	defer func() { s.End(ctx.Err()) }()
	for {
		s.mu.Lock()
		batch, ended := s.pending, s.ended
		s.pending = nil
		s.mu.Unlock()
		for _, e := range batch {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		if ended {
			return
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// join makes last stand for next as well when both are fragments of the same text. It never touches what last shares with
// other streams.
func join(last *Event, next Event) bool {
	if last.Type != next.Type || next.first() != last.Seq+1 || !last.complete() || !next.complete() {
		return false
	}
	switch next.Type {
	case EventDelta:
		a, b := last.Delta, next.Delta
		if a.Kind != b.Kind || a.Index != b.Index || b.Kind == DeltaCall || len(a.Text) >= MaxJoined {
			return false
		}
		d := *a
		d.Text += b.Text
		last.Delta = &d
	case EventProgress:
		if last.Progress.CallID != next.Progress.CallID || len(last.Progress.Text) >= MaxJoined {
			return false
		}
		p := *last.Progress
		p.Text += next.Progress.Text
		last.Progress = &p
	default:
		return false
	}
	if last.From == 0 {
		last.From = last.Seq
	}
	last.Seq, last.Time = next.Seq, next.Time
	return true
}
