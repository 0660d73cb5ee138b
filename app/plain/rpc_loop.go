package plain

import (
	"context"
	"math"
	"time"

	"octavo/app/api"
)

// run serves until everything has ended and been told.
func (v *service) run(ctx context.Context) {
	defer v.silence.stop()
	over := ctx.Done()
	for !v.finished() {
		if err := v.rest(ctx); err != nil {
			v.end(err)
			continue
		}
		select {
		case e, open := <-v.events():
			v.happened(e, open)
		case <-v.missing():
			v.tellMissed()
		case f, open := <-v.incoming():
			v.came(ctx, f, open)
		case <-v.bash.output():
			v.tellOutput(false)
		case finish := <-v.results:
			finish()
		case w := <-v.out.done():
			if v.out.wrote(w); v.out.failed != nil {
				v.end(nil)
			}
		case <-v.silence.ticks:
			if v.silence.lasts(v.out.writes) && v.jobs == 0 {
				v.out.outlet.abandon()
				return
			}
		case <-over:
			over = nil
			v.end(context.Cause(ctx))
		}
	}
}

// finished reports whether nothing is left to do, and tells why octavo ends before the last of it.
func (v *service) finished() bool {
	if !v.ending || v.jobs > 0 || !v.closed || !v.settled || v.behind {
		return false
	}
	if v.cause != nil && !v.told {
		v.told = true
		v.out.put(errorRecord{recError, v.cause.Error()})
	}
	return v.out.empty()
}

// silence notices that a client does not read at the end.
type silence struct {
	ticks  <-chan time.Time // nil before the end
	end    func()
	writes int // at the tick before
}

func (s *silence) begin(o Options) { s.ticks, s.end = o.Tick(maxSilence) }

func (s *silence) stop() {
	if s.ticks != nil {
		s.end()
	}
}

// lasts reports whether nothing was read since the tick before.
func (s *silence) lasts(writes int) bool {
	lasts := writes == s.writes
	s.writes = writes
	return lasts
}

// rest does what waits for quiet.
func (v *service) rest(ctx context.Context) error {
	if v.leaving && (!v.reading && len(v.reads) == 0 || !v.out.room(eventRoom)) {
		v.end(nil)
	}
	if v.ending {
		return nil
	}
	if len(v.changes) > 0 && v.still() && !v.leaving {
		idle, err := v.idle()
		if err != nil {
			return err
		}
		if idle && !v.reading {
			r := v.changes[0]
			v.changes = v.changes[1:]
			return v.change(ctx, r)
		}
		if idle {
			return nil // what reads has to end first, and nothing more begins to
		}
	}
	v.readOn()
	return nil
}

// still reports whether nothing that a change of session would end runs, as far as events have told.
func (v *service) still() bool {
	return v.state.Turn == nil && !v.behind && v.bash == nil && v.slashes == 0
}

// events is where the next event comes from; nil while the client has enough to read.
func (v *service) events() <-chan api.Event {
	if v.settled || v.behind || !v.out.room(eventRoom) {
		return nil
	}
	return v.stream.Events
}

// missing is ready while missed entries can be told.
func (v *service) missing() <-chan struct{} {
	if !v.behind || !v.out.room(eventRoom) {
		return nil
	}
	return v.always
}

// incoming is where the next request comes from; nil while none can be taken.
func (v *service) incoming() <-chan frame {
	if !v.out.room(maxUnread) {
		return nil
	}
	return v.input
}

// happened tells of an event.
func (v *service) happened(e api.Event, open bool) {
	lost, err := v.apply(e, open)
	switch {
	case err != nil:
		v.settled = true
		v.end(err) // unless octavo ends already, the session ended by itself
	case lost:
		v.fallBehind()
	default:
		v.tell(v.encoder.event(e))
	}
}

// fallBehind attaches anew, because the client read too slowly.
func (v *service) fallBehind() {
	g, err := v.reattach()
	if err != nil {
		v.settled = true
		v.end(err)
		g.until = math.MaxInt64 - 1 // all that is stored
	}
	v.gap, v.behind = g, true
}

// missedAtOnce is how many missed entries are read at once; each may be large.
const missedAtOnce = 32

// tellMissed tells of the next missed entries, and goes on from the State after the last.
func (v *service) tellMissed() {
	if !v.gap.closed() {
		if err := v.fill(&v.gap, teller{v}, missedAtOnce); err != nil {
			v.settled, v.behind = true, false
			v.end(err)
		}
		return
	}
	if v.behind = false; !v.settled { // otherwise the State is that of before
		v.tell(v.encoder.caughtUp(v.state))
	}
}

// teller tells of what was missed.
type teller struct{ v *service }

// event implements watcher; events are told by happened.
func (t teller) event(*api.State, api.Event) error { return nil }

// missed implements watcher.
func (t teller) missed(e api.Entry) error {
	t.v.tell(t.v.encoder.missed(e))
	return nil
}

// caughtUp implements watcher.
func (t teller) caughtUp(*api.State) error { return nil }

// tell sends events. One that cannot be made to fit is named all the same.
func (v *service) tell(records []any) {
	for _, r := range records {
		if !v.out.put(r) {
			v.out.put(noticeRecord{Type: recNotice, Level: api.NoticeWarning, Text: "an event was too long to be told; get_entries has what is stored"})
		}
	}
}
