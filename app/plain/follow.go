package plain

import (
	"context"
	"errors"
	"fmt"

	"octavo/app/api"
)

// watcher is told what happens in a session, in order.
type watcher interface {
	// event is told of an event; the State has it already.
	event(*api.State, api.Event) error
	// missed is told of an entry whose event was lost because this client fell behind; the State is further already.
	missed(api.Entry) error
	// caughtUp follows the last missed entry. What was not stored is lost, apart from what the State shows of it.
	caughtUp(*api.State) error
}

// follower is one client's view of a session. It attaches again when it fell too far behind, so that a slow reader of our output
// costs fragments, and never a fact.
type follower struct {
	session api.Session
	answers bool
	ctx     context.Context // of the streams; ends with close, not with the caller's
	cancel  context.CancelFunc
	stream  *api.Stream
	state   *api.State
}

// follow attaches to a session. The follower outlives ctx, because what ctx interrupts has still to be watched to its end.
func follow(ctx context.Context, s api.Session, answers bool) (*follower, error) {
	f := &follower{session: s, answers: answers, ctx: context.WithoutCancel(ctx)}
	return f, f.attach()
}

func (f *follower) attach() error {
	ctx, cancel := context.WithCancel(f.ctx)
	stream, err := f.session.Attach(ctx, f.answers)
	if err != nil {
		cancel()
		return fmt.Errorf("watch session %s: %w", f.session.ID(), err)
	}
	f.close()
	f.stream, f.state, f.cancel = stream, stream.State, cancel
	return nil
}

func (f *follower) close() {
	if f.cancel != nil {
		f.cancel()
	}
}

// take hands what came out of the stream to w. An error of w is returned; the State is up to date all the same.
func (f *follower) take(e api.Event, open bool, w watcher) error {
	if open {
		if err := f.state.Apply(e); err != nil {
			return f.catchUp(w) // a gap: what is missing can only be had anew
		}
		return w.event(f.state, e)
	}
	switch err := f.stream.Err(); {
	case errors.Is(err, api.ErrLagged):
		return f.catchUp(w)
	case err == nil:
		return api.ErrClosed
	default:
		return err
	}
}

// catchUp attaches anew and tells w of the entries that were stored meanwhile.
func (f *follower) catchUp(w watcher) error {
	after := f.state.Info.Entries
	if err := f.attach(); err != nil {
		return err
	}
	var told error
	for until := f.state.Info.Entries; after < until && told == nil; {
		entries, err := f.session.Entries(f.ctx, api.Range{After: after, Before: until + 1})
		if err != nil {
			return fmt.Errorf("read what session %s stored meanwhile: %w", f.session.ID(), err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if after = e.Seq; told == nil {
				told = w.missed(e)
			}
		}
	}
	if told != nil {
		return told
	}
	return w.caughtUp(f.state)
}

// idle reports whether nothing runs and nothing is about to: neither is there an event that was not read yet. A State without a
// turn does not say so alone, because a follow-up starts right after the turn before it, and what was just submitted may have
// begun without our having read of it.
func (f *follower) idle() (bool, error) {
	if f.state.Turn != nil {
		return false, nil
	}
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	now, err := f.session.Attach(ctx, false)
	if err != nil {
		return false, err
	}
	return now.State.Seq == f.state.Seq, nil
}
