package plain

import (
	"context"
	"sync/atomic"

	"octavo/app/api"
)

// attention listens for what ends work, the end of a context and a person's interrupts, while the goroutine of the front end may
// be stuck in a write that nobody reads. It does nothing but interrupt the session and pass the word on.
type attention struct {
	heard   chan interrupted // interrupts, for the front end
	session atomic.Pointer[api.Session]
	first   atomic.Pointer[context.CancelFunc] // what an interrupt ends instead of the turn; nil for nothing
	outlets []*outlet                          // given up when a person insists
	quit    chan struct{}
	done    chan struct{}
}

// interrupted is an interrupt by a person.
type interrupted struct {
	already bool // the session has been told, and was at work
	first   bool // what comes before the turn was ended instead
}

// attend begins to listen, until stop.
func attend(ctx context.Context, s api.Session, interrupts <-chan struct{}, outlets ...*outlet) *attention {
	a := &attention{heard: make(chan interrupted), outlets: outlets, quit: make(chan struct{}), done: make(chan struct{})}
	a.watch(s)
	go func() {
		defer close(a.done)
		a.listen(ctx, interrupts)
	}()
	return a
}

// watch says which session is interrupted from now on.
func (a *attention) watch(s api.Session) { a.session.Store(&s) }

// put says what an interrupt ends instead of the turn, until put(nil).
func (a *attention) put(first context.CancelFunc) {
	if first == nil {
		a.first.Store(nil)
		return
	}
	a.first.Store(&first)
}

// stop ends listening and waits for it.
func (a *attention) stop() {
	close(a.quit)
	<-a.done
}

func (a *attention) listen(ctx context.Context, interrupts <-chan struct{}) {
	ended, ctx := ctx.Done(), context.WithoutCancel(ctx)
	var word interrupted           // what the front end has to hear yet,
	var waiting chan<- interrupted // which is nil when that is nothing
	abandoned := false
	for {
		select {
		case <-ended:
			ended = nil
			_ = a.interrupt(ctx)
		case <-interrupts:
			if waiting != nil {
				// The one before is not even heard of. When that is because of a write, only leaving is left.
				if !abandoned && a.stuck() {
					abandoned = true
					for _, o := range a.outlets {
						o.abandon()
					}
				}
				continue
			}
			word = interrupted{}
			select {
			case a.heard <- word:
			default:
				if first := a.first.Load(); first != nil {
					(*first)()
					word.first = true
				} else {
					word.already = a.interrupt(ctx) == nil
				}
				waiting = a.heard
			}
		case waiting <- word:
			waiting = nil
		case <-a.quit:
			return
		}
	}
}

func (a *attention) interrupt(ctx context.Context) error {
	return (*a.session.Load()).Interrupt(ctx, false)
}

func (a *attention) stuck() bool {
	for _, o := range a.outlets {
		if o.stuck() {
			return true
		}
	}
	return false
}
