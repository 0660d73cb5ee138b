// Package session is one open session: an actor that owns its queue, turn, questions, totals and numbering, and the loop that
// works a turn. It knows extensions and the store; it knows no front end, no flag and no file of configuration.
package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

// Options is what a session is made of.
type Options struct {
	Store       *sessionstore.Store
	Lock        *sessionstore.Lock // held for this session; let go by Close
	Row         sessionstore.Session
	Composition *composition.Composition // closed by Close
	Policy      policy.Name
	Limits      Limits
	System      []string // core instructions and facts of the environment, in front of what extensions contribute
	Models      Models
	Home        Home
	Redact      Redaction
	// Notices are shown to the first client.
	Notices []api.Notice
	// Titler names the model that gives the session a title after its first words; nil, or an answer of nil, is none.
	Titler func(chosen *model.Upstream) *model.Upstream
	// Sleep waits between attempts; nil is the clock's.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Limits end a turn that goes on too long. Zero is no limit.
type Limits struct {
	Steps       int   // model requests of one turn
	CostMicro   int64 // microdollars of the session, checked before each request
	WarnAtMicro int64 // microdollars of the session at which a person is told once
}

// Models is where a session finds the model it runs on.
type Models interface {
	// Resolve makes the model of a name a person gave. The error says what to type instead; for "" it is api.ErrNoModel.
	Resolve(id string) (*model.Upstream, error)
	// Known lists every configured provider/model.
	Known() []string
	// Next is the model that step places lead to from the present one among those to switch among; !ok when there is none.
	Next(present string, step int) (id, effort string, ok bool)
	// Catalogued is how many models of the one who answers behind an upstream's endpoint are described by a catalogue, configured
	// or not; 0 when none knows the endpoint.
	Catalogued(up *model.Upstream) int
}

// Home is what a session may ask of the home it belongs to.
type Home interface {
	// Sessions lists sessions, newest first.
	Sessions(ctx context.Context, q api.SessionQuery) ([]api.SessionInfo, error)
}

// Session is the handle of an open session; it implements api.Session.
type Session struct {
	id      string
	o       Options
	mailbox chan func(*actor)
	done    chan struct{}  // closed when the actor is gone
	work    sync.WaitGroup // turns, summaries and streams
	closing sync.Once
	failure error              // why the actor ended by itself; read after done
	unread  context.CancelFunc // ends the streams of clients that do not read
	schemas schemas
}

var _ api.Session = (*Session)(nil)

// mailboxSize lets a burst of deltas pass without a switch of goroutines for each.
const mailboxSize = 256

// Open starts the actor of a session. What a crash left open is recovered first (design.md, "A turn, as data"): each open call
// gets a stored result or an unknown outcome, and nothing runs again. Options.Lock and Options.Composition are the session's
// from now on, also when Open fails.
func Open(ctx context.Context, o Options) (*Session, error) {
	o.Redact = o.Redact.settled()
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	s := &Session{id: o.Row.ID, o: o, mailbox: make(chan func(*actor), mailboxSize), done: make(chan struct{})}
	a, err := newActor(ctx, s)
	if err != nil {
		o.Composition.Close()
		return nil, errors.Join(err, o.Lock.Release())
	}
	go a.loop()
	return s, nil
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// do runs f on the actor and waits for it.
func (s *Session) do(ctx context.Context, f func(*actor)) error {
	ran := make(chan struct{})
	select {
	case s.mailbox <- func(a *actor) { f(a); close(ran) }:
	case <-s.done:
		return s.ended()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-ran:
		return nil
	case <-s.done:
		select {
		case <-ran: // it was the actor's last act
			return nil
		default:
			return s.ended()
		}
	}
}

// post hands f to the actor without waiting for it to run. It is dropped once the actor is gone.
func (s *Session) post(f func(*actor)) {
	select {
	case s.mailbox <- f:
	case <-s.done:
	}
}

func (s *Session) ended() error {
	if s.failure != nil {
		return s.failure
	}
	return api.ErrClosed
}

// Attach implements api.Session.
func (s *Session) Attach(ctx context.Context, answers bool) (*api.Stream, error) {
	var stream *api.Stream
	err := s.do(ctx, func(a *actor) { stream = a.attach(ctx, answers) })
	return stream, err
}

// Entries implements api.Session. It reads the store and does not wait for the actor.
func (s *Session) Entries(ctx context.Context, r api.Range) ([]api.Entry, error) {
	if r.Limit <= 0 || r.Limit > api.MaxEntries {
		r.Limit = api.MaxEntries
	}
	return s.stored(ctx, r)
}

func (s *Session) stored(ctx context.Context, r api.Range) ([]api.Entry, error) {
	return Entries(ctx, s.o.Store, s.id, r, s.o.Redact)
}

// Entries reads entries of a stored session, ascending, whether it is open or deleted or neither, and takes out of them what redact
// says. A limit of 0 is none.
func Entries(ctx context.Context, store *sessionstore.Store, id string, r api.Range, redact Redaction) ([]api.Entry, error) {
	stored, err := store.Entries(ctx, id, sessionstore.Range{After: r.After, Before: r.Before, Limit: r.Limit, Newest: r.Newest})
	if err != nil {
		return nil, err
	}
	redact = redact.settled()
	out := make([]api.Entry, 0, len(stored))
	for _, se := range stored {
		e, err := decode(se)
		if err != nil {
			return nil, err
		}
		e.rec = redacted(redact, e.rec)
		out = append(out, e.view(se.Seq, se.Turn, se.Time))
	}
	return out, nil
}

// Interrupt implements api.Session.
func (s *Session) Interrupt(ctx context.Context, next bool) error {
	var idle bool
	err := s.do(ctx, func(a *actor) { idle = !a.interrupt(next) })
	if err == nil && idle {
		return api.ErrIdle
	}
	return err
}

// Close implements api.Session. It waits until the turn has settled and every goroutine of the session is gone.
func (s *Session) Close(ctx context.Context) error {
	s.closing.Do(func() { s.post(func(a *actor) { a.close() }) })
	select {
	case <-s.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	// Clients get a moment to read what is left; one that does not read must not keep the session.
	stop := time.AfterFunc(closeGrace, s.unread)
	defer stop.Stop()
	s.work.Wait()
	s.unread()
	return s.failure
}

// closeGrace is how long a client may take to read its last events.
const closeGrace = 2 * time.Second

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lost makes the error of a commit that failed: what happened since can no longer be recorded.
func lost(what string, err error) error {
	return fmt.Errorf("%s could not be stored: %w", what, err)
}

// toolSpecs is what the model is offered.
func toolSpecs(c *composition.Composition) []model.ToolSpec {
	specs := make([]model.ToolSpec, 0, len(c.Tools))
	for _, t := range c.Tools {
		specs = append(specs, model.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return specs
}

var _ ext.Bridge = (*bridge)(nil)
