package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octavo/app"
	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a person's home and workspace, with a model server.
type desk struct {
	t         testing.TB
	ctx       context.Context
	home      string
	workspace string
	server    *modeltest.Server
	head      string // of config.toml, in front of the provider
	trusted   bool
	options   app.Options
}

func newDesk(t testing.TB, replies ...modeltest.Reply) *desk {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	d := &desk{t: t, ctx: ctx, home: filepath.Join(root, "home"), workspace: filepath.Join(root, "work"), server: modeltest.New(t)}
	d.server.Script(replies...)
	for _, dir := range []string{d.home, d.workspace} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// settings loads the configuration as it now is.
func (d *desk) settings() *settings.Settings {
	d.t.Helper()
	d.write(filepath.Join(d.home, settings.ConfigFile), fmt.Sprintf(`%s
[providers.local]
endpoint = %q
no_auth = true
[providers.local.models.scripted]
context_tokens = 1000000
efforts = ["low", "high"]
[providers.local.models.other]
`, d.head, d.server.URL()))
	s, warnings, err := settings.Load(settings.Sources{Home: d.home, Workspace: d.workspace, Trusted: d.trusted,
		Lookup: func(string) (string, bool) { return "", false }})
	if err != nil || len(warnings) > 0 {
		d.t.Fatal(err, warnings)
	}
	return s
}

// start starts an octavo, which ends with the test.
func (d *desk) start() *app.App {
	d.t.Helper()
	o := d.options
	o.Settings, o.Dir = d.settings(), d.workspace
	a, err := app.New(d.ctx, o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.end(a) })
	return a
}

func (d *desk) end(a *app.App) {
	d.t.Helper()
	if err := a.Close(d.ctx); err != nil {
		d.t.Errorf("close: %v", err)
	}
}

func (d *desk) open(a *app.App, r api.OpenRequest) api.Session {
	d.t.Helper()
	s, err := a.Open(d.ctx, r)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) close(s api.Session) {
	d.t.Helper()
	if err := s.Close(d.ctx); err != nil {
		d.t.Errorf("close session: %v", err)
	}
}

// fails opens a session and wants an error that says all of parts.
func (d *desk) fails(a *app.App, r api.OpenRequest, parts ...string) error {
	d.t.Helper()
	s, err := a.Open(d.ctx, r)
	if err == nil {
		d.close(s)
		d.t.Fatalf("%+v was opened", r)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			d.t.Errorf("the error of %+v does not say %q: %v", r, p, err)
		}
	}
	return err
}

// info is what a session says of itself.
func (d *desk) info(s api.Session) api.SessionInfo {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	stream, err := s.Attach(ctx, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return stream.State.Info
}

// say says something and waits until the turn has settled.
func (d *desk) say(s api.Session, text string) api.Settled {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	stream, err := s.Attach(ctx, false)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := s.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: text}); err != nil {
		d.t.Fatal(err)
	}
	for e := range stream.Events {
		if e.Entry != nil && e.Entry.Settled != nil {
			return *e.Entry.Settled
		}
	}
	d.t.Fatalf("the stream ended before the turn: %v", stream.Err())
	return api.Settled{}
}

// system is what stood in front of the newest request.
func (d *desk) system() string {
	d.t.Helper()
	requests := d.server.Requests()
	if len(requests) == 0 {
		d.t.Fatal("the model was not asked")
	}
	var blocks []string
	for _, m := range requests[len(requests)-1].Chat.Messages {
		if m.Role == "system" {
			blocks = append(blocks, m.Text)
		}
	}
	return strings.Join(blocks, "\n")
}

func (d *desk) list(a *app.App, q api.SessionQuery) []string {
	d.t.Helper()
	infos, err := a.Sessions(d.ctx, q)
	if err != nil {
		d.t.Fatal(err)
	}
	ids := []string{}
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return ids
}
