package session

import (
	"context"
	"fmt"
	"strings"

	"octavo/ext/model"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// Bounds of a title.
const (
	maxTitle       = 80 // bytes of one that a model writes
	titleMaxOutput = 64 // tokens that it may take
)

// titler tells the model how to write a title.
const titler = `You give a coding session its title. The message is the start of what the person asked for; do not answer it.
Write only the title: 3 to 7 words in the person's language that say what it is about, without quotes and without a full stop.`

// entitle has a small model call the session something, beside the first turn. What it costs is a usage row of its own
// (product.md 5); a failure leaves the session without a title and nothing else.
func (a *actor) entitle(first string) {
	if a.o.Titler == nil || a.row.Name != "" || a.row.Title != "" || strings.TrimSpace(first) == "" {
		return
	}
	chosen, err := a.o.Models.Resolve(a.row.Model)
	if err != nil {
		return
	}
	up := a.o.Titler(chosen)
	if up == nil {
		return
	}
	f := frozen{upstream: up, request: model.Request{Model: up.Model, Maker: up.ID(), System: []string{titler}, MaxOutput: titleMaxOutput,
		Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{model.Text(first)}}}}}
	if takes(up.Info, "off") && len(up.Info.Efforts) > 0 {
		f.request.Effort = "off"
	}
	r := &run{}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	a.titling = r.cancel
	a.work.Go(func() {
		defer r.cancel()
		title, row, err := a.askTitle(r, f)
		_ = a.Session.do(context.Background(), func(a *actor) {
			a.titling = nil
			if err == nil {
				if err := a.keepTitle(title, row); err != nil {
					a.fail(lost("the session's title", err))
				}
			}
			a.leave()
		})
	})
}

// askTitle makes the request. A row that is returned with an error is stored already.
func (s *Session) askTitle(r *run, f frozen) (string, sessionstore.Request, error) {
	answer, row, err := s.request(r, f, requestHooks{kind: sessionstore.RequestBackground})
	if err != nil {
		return "", row, err
	}
	return s.o.Redact.Text(clip(model.PlainText(answer.Parts))), row, nil
}

// clip makes a title of what a model wrote.
func clip(said string) string {
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	said = strings.Trim(text.CleanLine(said), " \"'`#*.")
	return strings.TrimSpace(text.CutBytes(said, maxTitle))
}

func (a *actor) keepTitle(title string, row sessionstore.Request) error {
	if err := a.commit(sessionstore.UsageStored, "", nil, sessionstore.Change{Requests: []sessionstore.Request{row}}); err != nil {
		return fmt.Errorf("its usage: %w", err)
	}
	if title == "" {
		return nil
	}
	if err := a.o.Store.PatchSession(context.Background(), a.id, sessionstore.SessionPatch{Title: &title}); err != nil {
		return err
	}
	a.row.Title = title
	a.changed()
	return nil
}
