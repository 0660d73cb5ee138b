package session

import (
	"cmp"
	"context"
	"fmt"

	"octavo/app/api"
)

// Behave implements api.Session.
func (s *Session) Behave(ctx context.Context, b api.Behaviour) (now api.Behaviour, err error) {
	defer s.hush(&err)
	for _, m := range []api.QueueMode{b.Steering, b.FollowUp} {
		if m != "" && m != api.QueueAll && m != api.QueueOne {
			return now, fmt.Errorf("a queue mode is %s or %s, not %q", api.QueueAll, api.QueueOne, m)
		}
	}
	err = s.do(ctx, func(a *actor) {
		if b.Steering != "" {
			a.manner.steerOne = b.Steering == api.QueueOne
		}
		if b.FollowUp != "" {
			a.manner.followAll = b.FollowUp == api.QueueAll
		}
		if b.AutoRetry != nil {
			a.manner.noRetry = !*b.AutoRetry
		}
		now = a.manner.behaviour()
	})
	return now, err
}

func (m manner) behaviour() api.Behaviour {
	b := api.Behaviour{Steering: api.QueueAll, FollowUp: api.QueueOne, AutoRetry: ptr(!m.noRetry)}
	if m.steerOne {
		b.Steering = api.QueueOne
	}
	if m.followAll {
		b.FollowUp = api.QueueAll
	}
	return b
}

// AbortRetry implements api.Session.
func (s *Session) AbortRetry(ctx context.Context) error {
	var err error
	doErr := s.do(ctx, func(a *actor) {
		if a.run == nil || a.run.giveUp == nil {
			err = api.ErrIdle
			return
		}
		a.run.giveUp()
		a.run.giveUp = nil
	})
	return cmp.Or(doErr, err)
}
