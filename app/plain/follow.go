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
	lost, err := f.apply(e, open)
	switch {
	case err != nil:
		return err
	case lost:
		return f.catchUp(w)
	}
	return w.event(f.state, e)
}

// apply takes what came out of the stream into the State. lost says that what is missing can only be had by attaching anew.
func (f *follower) apply(e api.Event, open bool) (lost bool, err error) {
	if open {
		return f.state.Apply(e) != nil, nil
	}
	switch err := f.stream.Err(); {
	case errors.Is(err, api.ErrLagged):
		return true, nil
	case err == nil:
		return false, api.ErrClosed
	default:
		return false, err
	}
}

// catchUp attaches anew and tells w of the entries that were stored meanwhile.
func (f *follower) catchUp(w watcher) error {
	g, err := f.reattach()
	for err == nil && !g.closed() {
		err = f.fill(&g, w, api.MaxEntries)
	}
	if err != nil {
		return err
	}
	return w.caughtUp(f.state)
}

// gap is the entries that a follower missed: those after the one and up to the other.
type gap struct{ after, until int64 }

func (g gap) closed() bool { return g.after >= g.until }

// reattach attaches anew and answers what was stored meanwhile.
func (f *follower) reattach() (gap, error) {
	after := f.state.Info.Entries
	err := f.attach()
	return gap{after, f.state.Info.Entries}, err
}

// fill tells w of the next entries of a gap, limit at most. An error of w is returned when all of these have been passed.
func (f *follower) fill(g *gap, w watcher, limit int) error {
	entries, err := f.session.Entries(f.ctx, api.Range{After: g.after, Before: g.until + 1, Limit: limit})
	if err != nil {
		return fmt.Errorf("read what session %s stored meanwhile: %w", f.session.ID(), err)
	}
	if len(entries) == 0 {
		g.after = g.until
	}
	var told error
	for _, e := range entries {
		if g.after = e.Seq; told == nil {
			told = w.missed(e)
		}
	}
	return told
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
