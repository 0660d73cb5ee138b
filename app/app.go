// Package app is the composition root: it opens the store, knows the extensions and the models, and opens sessions for front
// ends, who see only api.Client. It knows no flag and no screen.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/builtin"
	"octavo/ext/composition"
	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

// Options is what an App is made of.
type Options struct {
	Settings *settings.Settings // its Workspace and Home are the App's
	Dir      string             // where octavo was started, absolute
	// OnlyTools and ExcludeTools narrow what the model is offered; nil OnlyTools offers all.
	OnlyTools, ExcludeTools []string
	// Titles has a small model give sessions their titles; it is a billed request of its own.
	Titles bool
	// Observe is handed to the store; nil outside tests.
	Observe func(sessionstore.Point, sessionstore.Phase)
}

// App is one running octavo.
type App struct {
	o          Options
	store      *sessionstore.Store
	extensions []ext.Extension
	ledgers    map[string]*sessionstore.Ledger
	models     *models
	client     *model.Client

	mu      sync.Mutex
	open    map[string]*session.Session // by id
	opening sync.WaitGroup
	closed  bool // no further session may begin to open
}

var _ api.Client = (*App)(nil)

// New opens the home and every extension's tables. Close lets go of them.
func New(ctx context.Context, o Options) (*App, error) {
	s := o.Settings
	if s.Home == "" {
		return nil, settings.ErrNoHome
	}
	store, err := sessionstore.Open(ctx, sessionstore.Options{Dir: s.Home, Observe: o.Observe})
	if err != nil {
		return nil, err
	}
	client := model.NewClient(model.Limits{})
	a := &App{o: o, store: store, client: client, ledgers: map[string]*sessionstore.Ledger{}, open: map[string]*session.Session{},
		extensions: builtin.All(builtin.Deps{Home: s.Home, Dir: o.Dir, MaxOutputBytes: s.MaxOutputBytes,
			ExternalPaths: s.AllowExternalPaths, AllowEdit: s.AllowEdit, AllowWrite: s.AllowWrite,
			AllowShell: s.AllowShell && s.AllowProcess, ShellPath: s.ShellPath, BashTimeout: s.BashTimeout, ContextFiles: s.ContextFiles,
			Client: client})}
	if err := a.openLedgers(ctx); err != nil {
		client.Close()
		return nil, errors.Join(err, store.Close())
	}
	if a.models, err = newModels(s, a.extensions); err != nil {
		client.Close()
		return nil, errors.Join(err, store.Close())
	}
	return a, nil
}

// Store is the home's store, for reports and maintenance.
func (a *App) Store() *sessionstore.Store { return a.store }

// Close closes every session that is still open or just being opened, then the store. Open fails from then on.
func (a *App) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.opening.Wait()
	a.mu.Lock()
	open := slices.Collect(maps.Values(a.open))
	clear(a.open)
	a.mu.Unlock()
	var errs []error
	for _, s := range open {
		errs = append(errs, s.Close(ctx))
	}
	a.client.Close()
	if errors.Join(errs...) == nil {
		errs = append(errs, a.sweep(ctx, time.Now()))
	}
	return errors.Join(append(errs, a.store.Close())...)
}

// Sessions implements api.Client.
func (a *App) Sessions(ctx context.Context, q api.SessionQuery) ([]api.SessionInfo, error) {
	if q.Limit <= 0 || q.Limit > api.MaxSessions {
		q.Limit = api.MaxSessions
	}
	rows, err := a.store.Sessions(ctx, sessionstore.Filter{Workspace: q.Workspace, Query: q.Text, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	out := make([]api.SessionInfo, 0, len(rows))
	for _, r := range rows {
		out = append(out, session.Info(r))
	}
	return out, nil
}

// Open implements api.Client. It fails with sessionstore.ErrClosed after Close.
func (a *App) Open(ctx context.Context, r api.OpenRequest) (_ api.Session, err error) {
	defer func() { err = redaction(a.o.Settings).Error(err) }()
	if !a.beginOpen() {
		return nil, sessionstore.ErrClosed
	}
	defer a.opening.Done()
	row, fresh, err := a.row(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Fork {
		if row, err = a.fork(ctx, row, r.ForkAt); err != nil {
			return nil, err
		}
	}
	lock, err := a.store.LockSession(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	var chosen found
	if r.Model == "" && row.Model == "" && a.o.Settings.Model == "" {
		chosen = a.discover(ctx)
	}
	s, err := a.openLocked(ctx, row, fresh, r, chosen, lock)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.open[row.ID] = s
	a.mu.Unlock()
	return &opened{s, a}, nil
}

// beginOpen counts an Open in, unless the App is closed.
func (a *App) beginOpen() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.opening.Add(1)
	}
	return !a.closed
}

// opened is a session that its App forgets when it is closed.
type opened struct {
	*session.Session
	app *App
}

func (o *opened) Close(ctx context.Context) error {
	err := o.Session.Close(ctx)
	if err != nil && ctx.Err() != nil {
		return err // it may not have ended; App.Close waits for it again
	}
	o.app.mu.Lock()
	defer o.app.mu.Unlock()
	if o.app.open[o.ID()] == o.Session { // it may have been opened again meanwhile
		delete(o.app.open, o.ID())
	}
	return err
}

// row finds the session's row, or makes one that is not stored yet.
func (a *App) row(ctx context.Context, r api.OpenRequest) (row sessionstore.Session, fresh bool, err error) {
	switch {
	case r.ID != "":
		row, err = a.store.Resolve(ctx, r.ID)
		if errors.Is(err, sessionstore.ErrNotFound) {
			err = a.notThere(ctx, r.ID)
		}
		return row, false, err
	case r.Latest:
		row, err = a.latest(ctx)
		return row, false, err
	}
	now := time.Now().UTC()
	return sessionstore.Session{ID: uuid.Must(uuid.NewV7()).String(), Workspace: a.o.Settings.Workspace, Created: now, Updated: now,
		Stage: sessionstore.StageIdle, Private: r.Private}, true, nil
}

// notThere says why a session is not found: one in the trash can be had back.
func (a *App) notThere(ctx context.Context, id string) error {
	deleted, err := a.store.Sessions(ctx, sessionstore.Filter{Deleted: true, Query: id})
	if err != nil {
		return err
	}
	for _, row := range deleted {
		if strings.HasPrefix(row.ID, id) || row.Name == id {
			return fmt.Errorf("session %s is deleted; octavo sessions restore %[1]s brings it back", row.ID)
		}
	}
	return fmt.Errorf("there is no session %q; octavo sessions list shows them", id)
}

// fork stores a copy of a session that begins like it.
func (a *App) fork(ctx context.Context, from sessionstore.Session, at int64) (sessionstore.Session, error) {
	into := sessionstore.Session{ID: uuid.Must(uuid.NewV7()).String(), Created: time.Now().UTC(), Private: from.Private}
	if err := session.Fork(ctx, a.store, from.ID, at, into); err != nil {
		return sessionstore.Session{}, err
	}
	return a.store.Session(ctx, into.ID)
}

// latest is the workspace's most recent session in which something was said.
func (a *App) latest(ctx context.Context) (sessionstore.Session, error) {
	rows, err := a.store.Sessions(ctx, sessionstore.Filter{Workspace: a.o.Settings.Workspace, Limit: api.MaxSessions})
	if err != nil {
		return sessionstore.Session{}, err
	}
	for _, r := range rows {
		if r.Entries > 0 {
			return r, nil
		}
	}
	return sessionstore.Session{}, fmt.Errorf("there is no session in %s yet; start one without --continue", a.o.Settings.Workspace)
}

// openLocked takes lock over; it is released when an error is returned.
func (a *App) openLocked(ctx context.Context, row sessionstore.Session, fresh bool, r api.OpenRequest, chosen found, lock *sessionstore.Lock) (s *session.Session, err error) {
	handed, stored := false, false
	defer func() {
		if err != nil && stored && fresh { // a session that never opened is nothing to list
			err = errors.Join(err, a.store.PurgeSession(context.WithoutCancel(ctx), row.ID))
		}
		if err != nil && !handed {
			err = errors.Join(err, lock.Release())
		}
	}()
	if !fresh { // another process may have changed it before it was locked
		if row, err = a.store.Session(ctx, row.ID); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(row.Workspace); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the session's workspace %s is no longer there; put it back, or start a new session elsewhere", row.Workspace)
	}
	if row, err = a.settleRow(ctx, row, fresh, r, chosen); err != nil {
		return nil, err
	}
	stored = true
	set := a.o.Settings
	trusted := set.Trusted && row.Workspace == set.Workspace
	c, err := composition.Compose(ctx, composition.Selection{Extensions: a.extensions, Ledgers: a.ledgers,
		Only: a.o.OnlyTools, Exclude: a.o.ExcludeTools,
		Prep: ext.Prep{Session: row.ID, Workspace: row.Workspace, Trusted: trusted, Home: set.Home, Policy: policy.Name(row.Policy)}})
	if err != nil {
		return nil, err
	}
	if set.SystemPrompt != nil {
		// It replaces all composed instructions, even when it is empty (product.md 4).
		c.Instructions, c.Contexts = nil, nil
	}
	var notices []api.Notice
	if chosen.model != "" {
		notices = append(notices, api.Notice{Level: api.NoticeInfo, Text: fmt.Sprintf("%s answers, because nobody chose a model and %s; --model or "+
			"model in config.toml chooses another", chosen.model, chosen.why)})
	}
	for _, miss := range a.models.missing() {
		notices = append(notices, api.Notice{Level: api.NoticeWarning, Text: fmt.Sprintf("models: no model is known that fits %q; octavo --list-models shows them", miss)})
	}
	handed = true
	return session.Open(ctx, session.Options{Notices: notices, Titler: a.titler(), Store: a.store, Lock: lock, Row: row, Composition: c, Policy: policy.Name(row.Policy),
		Limits: session.Limits{Steps: set.MaxTurns, CostMicro: set.MaxCostMicrodollars, WarnAtMicro: set.CostWarningMicrodollars},
		System: system(set, row.Workspace), Models: a.models, Home: a, Redact: redaction(set)})
}

// settleRow stores a new row, and in an old one what the request or the configuration chooses: an explicit choice beats the
// session's own, which beats the configuration (product.md 4).
func (a *App) settleRow(ctx context.Context, row sessionstore.Session, fresh bool, r api.OpenRequest, chosen found) (sessionstore.Session, error) {
	old := row
	set := a.o.Settings
	if clean := set.Redactor().RedactKeys(r.Model); clean != r.Model {
		return row, fmt.Errorf("the model %s holds an API key: name one as provider/model", clean)
	}
	row.Model = cmp.Or(r.Model, row.Model, set.Model, chosen.model)
	row.Effort = cmp.Or(r.Effort, row.Effort, set.Reasoning)
	row.Name = cmp.Or(set.Redactor().RedactKeys(strings.TrimSpace(r.Name)), row.Name)
	row.Policy = cmp.Or(r.Policy, string(set.EffectPolicy))
	if old.Policy != "" && r.Policy == "" {
		row.Policy = string(policy.Stricter(policy.Name(old.Policy), set.EffectPolicy))
	}
	if _, err := policy.Parse(row.Policy); err != nil {
		return row, err
	}
	up, err := a.models.Resolve(row.Model)
	switch {
	case err == nil:
		if r.Model != "" {
			row.Model = up.ID()
		}
		if row.Effort, err = effort(up, r.Effort, row.Effort); err != nil {
			return row, err
		}
	case r.Model != "":
		return row, err
	}
	if fresh {
		return row, a.store.CreateSession(ctx, row)
	}
	if row.Name == old.Name && row.Model == old.Model && row.Effort == old.Effort && row.Policy == old.Policy {
		return row, nil
	}
	return row, a.store.PatchSession(ctx, row.ID, sessionstore.SessionPatch{Name: &row.Name, Model: &row.Model, Effort: &row.Effort, Policy: &row.Policy})
}

// redaction takes the keys that the settings know out of what a session stores and shows.
func redaction(set *settings.Settings) session.Redaction {
	r := set.Redactor()
	return session.Redaction{Text: r.RedactKeys, Stream: func() (func(string) string, func() string) {
		s := r.Stream()
		return s.Write, s.Flush
	}}
}

// effort narrows the level in force to those the model is known to take: one that was asked for now must be among them, one that was
// meant for another model is dropped in favour of the model's own default (product.md 7).
func effort(up *model.Upstream, asked, inForce string) (string, error) {
	levels := up.Info.Efforts
	if len(levels) == 0 {
		levels = model.Efforts
	}
	if inForce == "" || slices.Contains(levels, inForce) {
		return inForce, nil
	}
	if asked != "" {
		return "", fmt.Errorf("%s takes the efforts %s, not %q", up.ID(), strings.Join(levels, ", "), asked)
	}
	return "", nil
}
