package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext/model"
	"octavo/render/picture"
	"octavo/sessionstore"
)

// Submit implements api.Session.
func (s *Session) Submit(ctx context.Context, in api.Input) (_ api.Receipt, err error) {
	defer s.hush(&err)
	if in.Kind == api.InputContinue {
		return s.resume(ctx)
	}
	q, err := s.accept(ctx, in)
	if err != nil {
		return api.Receipt{}, err
	}
	var r api.Receipt
	if doErr := s.do(ctx, func(a *actor) { r, err = a.submit(q) }); doErr != nil {
		return r, doErr
	}
	return r, err
}

// accept checks an input and stores its pictures; it changes nothing of the session.
func (s *Session) accept(ctx context.Context, in api.Input) (queued, error) {
	q := queued{ID: uuid.Must(uuid.NewV7()).String(), Kind: in.Kind}
	switch {
	case in.Kind != api.InputChat && in.Kind != api.InputFollowUp:
		return q, fmt.Errorf("an input of kind %q: want chat, follow_up or continue", in.Kind)
	case strings.TrimSpace(in.Text) == "" && len(in.Images) == 0:
		return q, errors.New("the input is empty")
	case len(in.Text) > api.MaxInput || len(in.Display) > api.MaxInput:
		return q, fmt.Errorf("the input has %d bytes, at most %d fit; put long text into a file and name the file", max(len(in.Text), len(in.Display)), api.MaxInput)
	case !utf8.ValidString(in.Text) || !utf8.ValidString(in.Display):
		return q, errors.New("the input is not valid UTF-8")
	case len(in.Images) > api.MaxInputImages:
		return q, fmt.Errorf("%d images in one input, at most %d", len(in.Images), api.MaxInputImages)
	}
	total := 0
	for _, i := range in.Images {
		if total += len(i.Data); total > api.MaxInputBytes {
			return q, fmt.Errorf("the images of one input have more than %d bytes", api.MaxInputBytes)
		}
	}
	q.Rec = record{Display: in.Display, Origin: string(in.Kind)}
	if in.Text != "" {
		q.Rec.Parts = append(q.Rec.Parts, model.Text(in.Text))
	}
	for _, i := range in.Images {
		img, err := s.storeImage(ctx, i.Name, i.Data)
		if err != nil {
			return q, err
		}
		q.Rec.Parts = append(q.Rec.Parts, model.Part{Type: model.PartImage, Image: img})
	}
	said := q.Rec.Parts
	if q.Rec = redacted(s.o.Redact, q.Rec); model.PlainText(said) != model.PlainText(q.Rec.Parts) {
		s.post(func(a *actor) {
			a.notice(api.NoticeWarning, "", "what you said held an API key: the key was taken out of it, and no model was told it")
		})
	}
	return q, nil
}

// storeImage checks that data is a picture a model can read, makes it fit, and puts it where entries can refer to it.
func (s *Session) storeImage(ctx context.Context, name string, data []byte) (*model.Image, error) {
	pic, err := picture.Fit(data, picture.Limits{})
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", name, err)
	}
	sum, err := s.o.Store.PutBlob(ctx, pic.Data)
	if err != nil {
		return nil, fmt.Errorf("store image %q: %w", name, err)
	}
	return &model.Image{MIME: pic.MIME, SHA256: sum, Width: pic.Width, Height: pic.Height, Name: name}, nil
}

// submit starts a turn with q, or queues it while one runs. It is durable when submit returns.
func (a *actor) submit(q queued) (api.Receipt, error) {
	if a.closed {
		return api.Receipt{}, api.ErrClosed
	}
	if err := a.ready(); err != nil {
		return api.Receipt{}, err
	}
	if a.run == nil {
		// What waited since an earlier run comes first: it was said first.
		return a.begin(append(a.queue[:len(a.queue):len(a.queue)], q))
	}
	payload, err := json.Marshal(q)
	if err != nil {
		return api.Receipt{}, err
	}
	err = a.commit(sessionstore.InputAccepted, "", nil, sessionstore.Change{
		Enqueue: []sessionstore.Input{{ID: q.ID, Kind: string(q.Kind), Payload: payload}}})
	if errors.Is(err, sessionstore.ErrQueueFull) {
		return api.Receipt{}, fmt.Errorf("%d inputs wait already; let the turn end or interrupt it first", sessionstore.MaxQueue)
	}
	if err != nil {
		return api.Receipt{}, lost("the input", err)
	}
	a.queue = append(a.queue, q)
	a.emit(api.Event{Type: api.EventQueue, Queue: viewQueue(a.queue)})
	return api.Receipt{Turn: a.run.ID, Queued: true}, nil
}

// ready says why a turn cannot start.
func (a *actor) ready() error {
	_, err := a.o.Models.Resolve(a.row.Model)
	return err
}

// resume goes on with what waits in the queue or with an unfinished conversation.
func (s *Session) resume(ctx context.Context) (api.Receipt, error) {
	var r api.Receipt
	var err error
	doErr := s.do(ctx, func(a *actor) {
		switch {
		case a.closed:
			err = api.ErrClosed
		case a.run != nil:
			err = errors.New("a turn is running already")
		default:
			if err = a.ready(); err != nil {
				return
			}
			if err = a.load(ctx); err != nil {
				return
			}
			r, err = a.goOn()
		}
	})
	if doErr != nil {
		return r, doErr
	}
	return r, err
}

func (a *actor) goOn() (api.Receipt, error) {
	if len(a.queue) > 0 || a.history.awaitsModel() {
		return a.begin(a.queue[:len(a.queue):len(a.queue)])
	}
	last := len(a.state.Entries) - 1
	if last >= 0 && a.state.Entries[last].Settled != nil && a.state.Entries[last].Settled.Outcome != api.SettledCompleted {
		text := entry{api.EntryNote, record{Origin: "octavo", Parts: []model.Part{model.Text("Continue where you stopped.")}}}
		return a.begin(nil, text)
	}
	return api.Receipt{}, errors.New("there is nothing to continue: the last turn is complete and nothing waits")
}

// load reads the conversation for the first request of this run.
func (a *actor) load(ctx context.Context) error {
	if a.history != nil {
		return nil
	}
	h := &history{}
	err := a.o.Store.EachEntry(ctx, a.id, 0, func(se sessionstore.Entry) error {
		e, err := decode(se)
		if err == nil {
			e.rec = redacted(a.o.Redact, e.rec)
			h.add(e)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	h.lose() // no call runs yet
	a.history = h
	return nil
}
