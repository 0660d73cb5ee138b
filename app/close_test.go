package app_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"octavo/app/api"
	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

func TestCloseClosesWhatIsOpen(t *testing.T) {
	d := newDesk(t, modeltest.Stall(2))
	d.head = "model = 'local/scripted'"
	a := d.start()
	idle, busy := d.open(a, api.OpenRequest{Name: "idle"}), d.open(a, api.OpenRequest{Name: "busy"})
	stream, err := busy.Attach(d.ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	for e := range stream.Events {
		if e.Delta != nil {
			break
		}
	}
	ended := make(chan *api.Settled, 1)
	go func() {
		var last *api.Settled
		for e := range stream.Events {
			if e.Entry != nil && e.Entry.Settled != nil {
				last = e.Entry.Settled
			}
		}
		ended <- last
	}()
	d.end(a)
	if settled := <-ended; settled == nil || settled.Outcome != api.SettledInterrupted {
		t.Errorf("the turn that ran: %+v", settled)
	}
	if _, err := idle.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: "late"}); !errors.Is(err, api.ErrClosed) {
		t.Errorf("an input afterwards: %v", err)
	}
	d.close(idle) // closing it again is no error
	if _, err := a.Open(d.ctx, api.OpenRequest{}); !errors.Is(err, sessionstore.ErrClosed) {
		t.Errorf("Open afterwards: %v", err)
	}
	d.end(a)
	b := d.start() // nothing is held any more
	d.close(d.open(b, api.OpenRequest{ID: "idle"}))
	d.close(d.open(b, api.OpenRequest{ID: "busy"}))
}

// However Open and Close meet, no session outlives its App.
func TestCloseWhileOpening(t *testing.T) {
	d := newDesk(t)
	for range 5 {
		a := d.start()
		opened := make(chan error, 4)
		for i := range cap(opened) {
			go func() {
				s, err := a.Open(d.ctx, api.OpenRequest{Name: fmt.Sprint("n", i)})
				if err == nil {
					_, err = s.Commands(d.ctx)
				}
				opened <- err
			}()
		}
		d.end(a)
		for range cap(opened) {
			if err := <-opened; err != nil && !errors.Is(err, sessionstore.ErrClosed) {
				t.Errorf("open: %v", err)
			}
		}
	}
}

func TestCloseThatIsNotWaitedForIsTriedAgain(t *testing.T) {
	d := newDesk(t)
	a := d.start()
	s := d.open(a, api.OpenRequest{Name: "mine"})
	ctx, cancel := context.WithCancel(d.ctx)
	cancel()
	if err := s.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("close: %v", err)
	}
	d.end(a) // waits for the session, whatever its own Close came to
	b := d.start()
	d.close(d.open(b, api.OpenRequest{ID: "mine"}))
}

func TestCancelledOpen(t *testing.T) {
	d := newDesk(t)
	a := d.start()
	d.close(d.open(a, api.OpenRequest{Name: "mine"}))
	ctx, cancel := context.WithCancel(d.ctx)
	cancel()
	for _, r := range []api.OpenRequest{{}, {ID: "mine"}, {Latest: true}} {
		if _, err := a.Open(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	same(t, "sessions", len(d.list(a, api.SessionQuery{})), 1)
	d.close(d.open(a, api.OpenRequest{ID: "mine"}))
}
