package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"octavo/app/api"
)

// How a prompt goes to a run that is under way.
const (
	behaveSteer    = "steer"
	behaveFollowUp = "followUp"
)

// look is the session as it is now; what events have told may be older.
func (v *service) look() (*api.State, *fault) {
	s, err := look(v.outer, v.session)
	return s, faultOf(err)
}

func look(ctx context.Context, s api.Session) (*api.State, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	now, err := s.Attach(ctx, false)
	if err != nil {
		return nil, err
	}
	return now.State, nil
}

// prompt says something to the model, or runs it when it is a slash command.
func (v *service) prompt(ctx context.Context, r request) *fault {
	in, f := r.fields.input(api.InputChat)
	if f != nil {
		return f
	}
	behaviour, f := r.fields.oneOf("streamingBehavior", behaveSteer, behaveFollowUp)
	if f != nil {
		return f
	}
	names, err := commandNames(ctx, v.session)
	if err != nil {
		return faultOf(err)
	}
	if names.has(in) {
		return v.runSlash(r, in.Text)
	}
	now, f := v.look()
	switch {
	case f != nil:
		return f
	case now.Turn != nil && behaviour == "":
		return faultf(codeBusy, "a run is active: streamingBehavior says whether this is to steer it or to followUp")
	case behaviour == behaveFollowUp:
		in.Kind = api.InputFollowUp
	}
	got, f := v.submit(ctx, in, now)
	if f == nil {
		v.answer(r, got, nil)
	}
	return f
}

// steer says something that the running turn reads at its next step; while idle it starts a run.
func (v *service) steer(ctx context.Context, r request) (any, *fault) {
	return v.say(ctx, r, api.InputChat)
}

// followUp says something that starts a run of its own after the running one; while idle, at once.
func (v *service) followUp(ctx context.Context, r request) (any, *fault) {
	return v.say(ctx, r, api.InputFollowUp)
}

func (v *service) say(ctx context.Context, r request, kind api.InputKind) (any, *fault) {
	in, f := r.fields.input(kind)
	if f != nil {
		return nil, f
	}
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	return v.submit(ctx, in, now)
}

// submit stores an input in a session that looks like now.
func (v *service) submit(ctx context.Context, in api.Input, now *api.State) (any, *fault) {
	if now.Turn != nil && len(now.Queue) >= MaxWaiting {
		return nil, faultf(codeQueueFull, "%d inputs wait already; let the run read them, or abort it", MaxWaiting)
	}
	got, err := v.session.Submit(ctx, in)
	if err != nil {
		return nil, faultOf(err)
	}
	return receiptOf(got), nil
}

// input is what a request says.
func (f fields) input(kind api.InputKind) (api.Input, *fault) {
	in := api.Input{Kind: kind}
	var fault *fault
	if in.Text, fault = f.needText("message"); fault != nil {
		return in, fault
	}
	if in.Images, fault = f.images(); fault != nil {
		return in, fault
	}
	switch {
	case strings.TrimSpace(in.Text) == "" && len(in.Images) == 0:
		return in, faultf(codeRequest, "message is blank")
	case len(in.Text) > api.MaxInput:
		return in, faultf(codeRequest, "message has %d bytes, at most %d fit; put long text into a file and name the file", len(in.Text), api.MaxInput)
	}
	return in, nil
}

// images are the pictures of a request. What they are is told from their bytes, whatever mimeType says.
func (f fields) images() ([]api.InputImage, *fault) {
	const what = `a list of {"data","mimeType"}, with data in base64`
	var given []struct {
		Data     *[]byte `json:"data"`
		MIMEType string  `json:"mimeType"`
		Name     string  `json:"name"`
	}
	if fault := f.read("images", what, &given); fault != nil {
		return nil, fault
	}
	if len(given) > api.MaxInputImages {
		return nil, faultf(codeRequest, "images has %d pictures, at most %d fit", len(given), api.MaxInputImages)
	}
	var images []api.InputImage
	for _, i := range given {
		if i.Data == nil || len(*i.Data) == 0 {
			return nil, faultf(codeRequest, "images has to be %s", what)
		}
		images = append(images, api.InputImage{Name: i.Name, Data: *i.Data})
	}
	return images, nil
}

// runSlash runs a slash command and answers with what it said.
func (v *service) runSlash(r request, line string) *fault {
	if v.slashes >= MaxWaiting {
		return faultf(codeQueueFull, "%d slash commands run already", MaxWaiting)
	}
	v.slashes++
	r.fields = nil // it may be long until the answer
	ctx, session := v.slash, v.session
	job(v, func() ran {
		out, err := session.Run(ctx, line)
		if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = context.Canceled
		}
		return ran{out, err}
	}, func(got ran) {
		v.slashes--
		if got.err != nil {
			v.answer(r, nil, faultOf(got.err))
			return
		}
		v.answer(r, outcomeOf(line, got.out), nil)
	})
	return nil
}

func outcomeOf(line string, out api.Outcome) commandData {
	d := commandData{Command: line, Text: out.Text, Go: out.Go, Session: out.Session}
	if data := bytes.ToValidUTF8(out.Data, []byte("\ufffd")); json.Valid(data) {
		d.Data = data
	}
	if out.Receipt != nil {
		d.Receipt = receiptOf(*out.Receipt)
	}
	return d
}

// interrupt ends the running turn and the slash commands that run. It answers when that is asked for; events tell of the end.
func (v *service) interrupt(ctx context.Context, _ request) (any, *fault) {
	v.abort()
	v.group()
	err := v.session.Interrupt(ctx, false)
	if errors.Is(err, api.ErrIdle) && v.slashes > 0 {
		return nil, nil
	}
	return nil, faultOf(err)
}

// abortRetry gives up a request that waits to be made again.
func (v *service) abortRetry(ctx context.Context, _ request) (any, *fault) {
	return nil, faultOf(v.session.AbortRetry(ctx))
}

// settleAsk answers a question. What was answered is in no record, since it may be a secret.
func (v *service) settleAsk(ctx context.Context, r request) (any, *fault) {
	id, f := r.fields.needText("ask")
	if f != nil {
		return nil, f
	}
	var a api.Answer
	if a.Option, f = r.fields.text("option"); f != nil {
		return nil, f
	}
	if a.Text, f = r.fields.text("text"); f != nil {
		return nil, f
	}
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	i := slices.IndexFunc(now.Asks, func(q api.Ask) bool { return q.ID == id })
	if i < 0 {
		return nil, faultf(codeNotFound, "no such question is open")
	}
	if options := optionIDs(now.Asks[i]); a.Option != "" && !slices.Contains(options, a.Option) {
		return nil, faultf(codeRequest, "option has to be %s", alternatives(options))
	}
	return nil, faultOf(v.session.Answer(ctx, id, a))
}

func optionIDs(a api.Ask) []string {
	ids := make([]string, 0, len(a.Options))
	for _, o := range a.Options {
		ids = append(ids, o.ID)
	}
	return ids
}
