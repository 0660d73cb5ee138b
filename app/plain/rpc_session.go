package plain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"octavo/app/api"
)

// nothing is the answer null.
var nothing *struct{}

// newSession leaves the session for a new one with the same model.
func (v *service) newSession(ctx context.Context, _ request) (any, *fault) {
	return v.goTo(ctx, v.fresh())
}

// fresh asks for a new session like this one.
func (v *service) fresh() api.OpenRequest {
	i := v.state.Info
	return api.OpenRequest{Model: i.Model, Effort: i.Effort, Policy: v.open.Policy, Private: v.open.Private}
}

// switched is the session that a request wants to go to.
func switched(r request) (string, *fault) {
	id, f := r.fields.text("sessionId")
	if f == nil && id == "" {
		id, f = r.fields.text("sessionPath") // what Pi's clients call it
	}
	if f == nil && id == "" {
		f = faultf(codeRequest, "sessionId is missing; it has to be an id, the start of one, or a name")
	}
	return id, f
}

func checkSwitch(r request) *fault {
	_, f := switched(r)
	return f
}

// switchSession leaves the session for another.
func (v *service) switchSession(ctx context.Context, r request) (any, *fault) {
	id, f := switched(r)
	if f != nil {
		return nil, f
	}
	if id == v.session.ID() {
		return sessionData{SessionID: id}, nil
	}
	got, f := v.goTo(ctx, api.OpenRequest{ID: id})
	if f != nil && f.Code == codeFailed && !v.listed(ctx, id) {
		f.Code = codeNotFound
	}
	return got, f
}

// listed reports whether a session that goes by a name can be found.
func (v *service) listed(ctx context.Context, id string) bool {
	list, err := v.client.Sessions(ctx, api.SessionQuery{Text: id})
	return err != nil || slices.ContainsFunc(list, func(i api.SessionInfo) bool { return i.Name == id || strings.HasPrefix(i.ID, id) })
}

// goTo opens a session and leaves the present one for it. The new one is opened first, so that one that cannot be opened costs nothing.
func (v *service) goTo(ctx context.Context, open api.OpenRequest) (any, *fault) {
	s, err := v.client.Open(ctx, open)
	if err != nil {
		return nil, faultOf(err)
	}
	v.leave()
	return v.arrive(ctx, s)
}

// leave closes the session.
func (v *service) leave() {
	v.close()
	if err := v.session.Close(v.ctxToClose()); err != nil {
		v.out.put(noticeRecord{Type: recNotice, Level: api.NoticeError, Text: err.Error()})
	}
}

// arrive goes on in s.
func (v *service) arrive(ctx context.Context, s api.Session) (any, *fault) {
	v.follower = nil
	if err := v.enter(ctx, s); err != nil {
		v.lost = err
		return nil, faultOf(err)
	}
	return sessionData{SessionID: s.ID()}, nil
}

// reload opens the session anew, so that everything that a session reads when it is opened is read again.
func (v *service) reload(ctx context.Context, _ request) (any, *fault) {
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	switch i := now.Info; {
	case i.Private:
		return nil, faultf(codeNotAvailable, "a session that is not kept ends when it is closed: send new_session")
	case i.Entries == 0 && i.Name == "" && len(now.Queue) == 0:
		return v.goTo(ctx, v.fresh()) // there is nothing of it to be opened
	}
	v.leave()
	s, err := v.client.Open(ctx, api.OpenRequest{ID: v.session.ID()})
	if err != nil {
		v.follower, v.closed = nil, true
		v.lost = errors.Join(errors.New("the session could not be opened again"), err)
		return nil, faultOf(err)
	}
	return v.arrive(ctx, s)
}
