package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/sessionstore"
)

// bridge is what a command may do to its session.
type bridge struct{ s *Session }

func (b *bridge) Model(ctx context.Context) (ext.ModelState, error) {
	var m ext.ModelState
	err := b.s.do(ctx, func(a *actor) { m = a.modelState() })
	return m, err
}

func (a *actor) modelState() ext.ModelState {
	m := ext.ModelState{Model: a.row.Model, Effort: a.row.Effort, Known: a.o.Models.Known()}
	if up, err := a.o.Models.Resolve(a.row.Model); err == nil {
		m.Model, m.Efforts, m.Catalogued, m.Scripted = up.ID(), up.Info.Efforts, a.o.Models.Catalogued(up), up.Info.Scripted
	}
	return m
}

func (b *bridge) SelectModel(ctx context.Context, id, effort string) (ext.ModelState, error) {
	if _, err := b.s.SelectModel(ctx, id, effort); err != nil {
		return ext.ModelState{}, err
	}
	return b.Model(ctx)
}

func (b *bridge) NextModel(ctx context.Context, step int) (ext.ModelState, error) {
	state, err := b.Model(ctx)
	if err != nil {
		return state, err
	}
	id, effort, ok := b.s.o.Models.Next(state.Model, step)
	if !ok {
		return state, errors.New("there are no models to switch among; --models or models in config.toml lists them")
	}
	return b.SelectModel(ctx, id, effort)
}

// SelectModel implements api.Session.
func (s *Session) SelectModel(ctx context.Context, id, effort string) (info api.SessionInfo, err error) {
	defer s.hush(&err)
	doErr := s.do(ctx, func(a *actor) {
		if err = a.selectModel(id, effort); err == nil {
			info = a.info()
		}
	})
	return info, cmp.Or(doErr, err)
}

func (a *actor) selectModel(id, effort string) error {
	if id == "" {
		id = a.row.Model
	} else if clean := a.o.Redact.Text(id); clean != id { // a model's name is stored and sent
		return fmt.Errorf("the model %s holds an API key: name one as provider/model", clean)
	}
	up, err := a.o.Models.Resolve(id)
	if err != nil {
		return err
	}
	if effort == "" {
		effort = a.row.Effort
		if !takes(up.Info, effort) {
			effort = "" // the level belonged to the model before
		}
	}
	if !takes(up.Info, effort) {
		return fmt.Errorf("%s takes the efforts %s, not %q", up.ID(), strings.Join(levels(up.Info), ", "), effort)
	}
	name := up.ID()
	if err := a.o.Store.PatchSession(context.Background(), a.id, sessionstore.SessionPatch{Model: &name, Effort: &effort}); err != nil {
		return err
	}
	a.row.Model, a.row.Effort = name, effort
	a.changed()
	return nil
}

// takes reports whether an effort can be asked of a model: one of its own levels, or any level while its own are not known.
func takes(i model.Info, effort string) bool {
	return effort == "" || slices.Contains(levels(i), effort)
}

func levels(i model.Info) []string {
	if len(i.Efforts) == 0 {
		return model.Efforts
	}
	return i.Efforts
}

func (b *bridge) Rename(ctx context.Context, name string) error { return b.s.Rename(ctx, name) }

// Rename implements api.Session.
func (s *Session) Rename(ctx context.Context, name string) (err error) {
	defer s.hush(&err)
	name = s.o.Redact.Text(name)
	doErr := s.do(ctx, func(a *actor) {
		if err = a.o.Store.PatchSession(ctx, a.id, sessionstore.SessionPatch{Name: &name}); err == nil {
			a.row.Name = name
			a.changed()
		}
	})
	return cmp.Or(doErr, err)
}

func (b *bridge) Queue(ctx context.Context, text string) error {
	_, err := b.s.Submit(ctx, api.Input{Kind: api.InputFollowUp, Text: text})
	return err
}

func (b *bridge) Continue(ctx context.Context) error {
	_, err := b.s.resume(ctx)
	return err
}

func (b *bridge) Sessions(ctx context.Context, query string, everywhere bool) ([]ext.SessionLine, error) {
	q := api.SessionQuery{Text: query}
	if !everywhere {
		q.Workspace = b.s.o.Row.Workspace
	}
	infos, err := b.s.o.Home.Sessions(ctx, q)
	if err != nil {
		return nil, err
	}
	lines := make([]ext.SessionLine, 0, len(infos))
	for _, i := range infos {
		lines = append(lines, ext.SessionLine{ID: i.ID, Name: i.Name, Title: i.Title, Preview: i.Preview, Workspace: i.Workspace,
			Updated: i.Updated.Format(time.RFC3339), Entries: i.Entries})
	}
	return lines, nil
}

func (b *bridge) Commands(context.Context) ([]ext.Command, error) {
	var out []ext.Command
	for _, c := range b.s.o.Composition.Commands {
		out = append(out, c.Command)
	}
	return out, nil
}

func (b *bridge) Report(ctx context.Context) (ext.Report, error) {
	var r ext.Report
	var err error
	doErr := b.s.do(ctx, func(a *actor) {
		if err = a.load(ctx); err == nil {
			r = a.report()
		}
	})
	return r, errors.Join(doErr, err)
}

func (a *actor) report() ext.Report {
	u := a.state.Usage
	r := ext.Report{ID: a.id, Name: a.row.Name, Workspace: a.row.Workspace, Model: a.row.Model, Effort: a.row.Effort,
		Policy: string(a.o.Policy), Entries: a.state.Info.Entries, Requests: u.Requests, Input: u.Input, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning, CostMicro: u.CostMicro, Unpriced: u.Unpriced,
		Unreported: u.Unreported, Window: a.info().Window, Context: a.fills(), Inactive: map[string]string{}, Scripted: a.info().Scripted}
	for _, i := range a.o.Composition.Inactive {
		r.Inactive[i.Extension] = i.Reason
	}
	return r
}

func (b *bridge) Fork(ctx context.Context, at int64, summary bool) (string, error) {
	if summary {
		return b.s.forkSummary(ctx)
	}
	return b.s.fork(ctx, at)
}
