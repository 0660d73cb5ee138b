package plain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octavo/app/api"
)

// MaxWaiting is how many inputs may wait in the session, how many reads and changes of session for their turn, and how many slash
// commands may run at once; one more is refused with queue_full (product.md 1.5).
const MaxWaiting = 64

// RPC lets a program drive octavo (product.md 1.5, docs/rpc.md): it reads requests from Stdin, one JSON object on each line, and writes
// answers and events to Stdout in the same form. It works until Stdin ends; what runs then is interrupted, settled and told, and the
// error is nil.
//
// It takes s over: it goes from session to session as it is asked to, and closes each one it leaves, also when it returns. open is
// what s was opened with; new sessions are opened with its policy and privacy.
//
// The error says why it ended before Stdin did: the cause of ctx, a session or an input that failed. It is told as a record as well.
// That nobody reads Stdout any more is none. A client that reads nothing is not waited for without end.
func RPC(ctx context.Context, c api.Client, s api.Session, open api.OpenRequest, o Options) error {
	o = o.withDefaults()
	out := newOutlet(o.Stdout)
	defer out.close()
	v := &service{client: c, session: s, open: open, o: o, out: newSender(out), results: make(chan func()), always: make(chan struct{})}
	close(v.always)
	// A program that steers expects one thing to be read at a time (product.md 1.5).
	v.manner = api.Behaviour{Steering: api.QueueOne, FollowUp: api.QueueOne}
	v.outer, v.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	defer v.giveUp()
	v.group()
	v.frames = readFrames(o.Stdin)
	defer v.frames.stop()
	v.input = v.frames.frames
	if err := v.enter(ctx, s); err != nil {
		v.end(err)
	}
	v.run(ctx)
	if v.follower != nil {
		v.close()
	}
	switch {
	case v.cause != nil:
		return v.cause
	case v.out.failed != nil && !gone(v.out.failed):
		return fmt.Errorf("the output could not be written: %w", v.out.failed)
	}
	return nil
}

// service is one run of RPC, over one session after the other. One goroutine does all of it but what takes time: shell and slash
// commands and what is read from the store run beside it and hand their results over.
type service struct {
	client  api.Client
	session api.Session
	open    api.OpenRequest
	o       Options
	*follower
	encoder *encoder
	gap     gap // entries that were missed and are told before anything new
	behind  bool
	out     *sender

	frames *frameReader
	input  <-chan frame // nil once nothing more is taken

	always  chan struct{} // closed
	results chan func()   // of jobs; each is run once
	jobs    int
	outer   context.Context // of jobs
	giveUp  context.CancelFunc
	slash   context.Context // of slash commands, one context for all
	abort   context.CancelFunc
	slashes int
	bash    *bash
	reader  *reader
	reads   []request
	reading bool
	changes []request
	manner  api.Behaviour // what the client asked for, in every session
	lost    error         // why there is no session any more

	leaving bool // the input has ended; what is read is answered before the end
	ending  bool
	closed  bool  // the session is
	settled bool  // its stream has ended
	cause   error // why octavo ends, when that is not the end of the input
	told    bool  // it was told
	silence silence
}

// answer sends what became of a request.
func (v *service) answer(r request, data any, f *fault) {
	record := responseRecord{Type: rpcResponse, ID: r.id, Command: r.shownCommand(), Success: f == nil, Data: data, Error: f}
	if f != nil {
		record.Data = nil
	}
	if !v.out.put(record) {
		record.Success, record.Data, record.Error = false, nil, faultf(codeFailed, "the answer would have more than %d bytes", MaxFrame)
		v.out.put(record)
	}
}

// job does work beside the loop; finish gets what it gave, in the loop.
func job[T any](v *service, work func() T, finish func(T)) {
	v.jobs++
	go func() {
		got := work()
		v.results <- func() {
			v.jobs--
			finish(got)
		}
	}()
}

// group begins a group of slash commands that one abort ends.
func (v *service) group() { v.slash, v.abort = context.WithCancel(v.outer) }

// enter makes s the session that is served.
func (v *service) enter(ctx context.Context, s api.Session) error {
	v.session, v.reader = s, &reader{client: v.client, session: s}
	now, err := s.Behave(ctx, v.manner)
	if err != nil {
		return err
	}
	v.manner = now
	f, err := follow(ctx, s, true)
	if err != nil {
		return err
	}
	v.follower, v.behind = f, false
	header := sessionOf(recSession, f.state.Info)
	header.Timestamp = v.o.Now().UTC().Format(time.RFC3339Nano)
	var began []any
	v.encoder, began = newEncoder(f.state)
	v.tell(append([]any{header}, began...))
	return nil
}

// end ends everything: nothing more is taken, what runs is ended and told. The first cause counts.
func (v *service) end(cause error) {
	if v.ending {
		return
	}
	v.ending, v.cause, v.input = true, cause, nil
	v.silence.begin(v.o)
	v.giveUp()
	v.abort()
	for _, r := range append(v.changes, v.reads...) {
		v.answer(r, nil, faultf(codeClosing, "octavo ends"))
	}
	v.changes, v.reads = nil, nil
	if v.follower == nil {
		v.settled = true
	}
	if v.closed {
		return
	}
	s := v.session
	job(v, func() error { return s.Close(v.ctxToClose()) }, func(err error) {
		if v.closed = true; v.cause == nil {
			v.cause = err
		}
	})
}

// ctxToClose is never over: closing a session is not given up.
func (v *service) ctxToClose() context.Context { return context.WithoutCancel(v.outer) }

// came takes a line of the client, or the end of its input.
func (v *service) came(ctx context.Context, f frame, open bool) {
	switch {
	case !open && v.frames.failed != nil:
		v.end(fmt.Errorf("read stdin: %w", v.frames.failed))
	case !open:
		v.leaving, v.input = true, nil
	case f.fault != nil:
		v.answer(request{}, nil, f.fault)
	default:
		r, fault := parseRequest(f.body)
		if fault != nil {
			v.answer(r, nil, fault)
			return
		}
		v.serve(ctx, r)
	}
}

// faultOf is an error of the session as a client is told of it.
func faultOf(err error) *fault {
	code := codeFailed
	switch {
	case err == nil:
		return nil
	case errors.Is(err, api.ErrNoModel):
		code = codeNoModel
	case errors.Is(err, api.ErrIdle):
		code = codeIdle
	case errors.Is(err, api.ErrClosed):
		code = codeClosing
	case errors.Is(err, context.Canceled):
		code = codeCancelled
	}
	return &fault{code, err.Error()}
}
