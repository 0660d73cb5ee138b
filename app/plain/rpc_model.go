package plain

import (
	"context"
	"errors"
	"slices"

	"octavo/app/api"
)

// allLevels are the levels of thinking that there are; which of them a model takes may not be known.
func allLevels() []string { return []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"} }

// modelNamed is the model that a session runs on.
func modelNamed(ctx context.Context, c api.Client, i api.SessionInfo) (modelData, error) {
	list, err := c.Models(ctx)
	if err != nil {
		return modelData{}, err
	}
	if at := indexOf(list, i.Model); at >= 0 {
		return modelOf(list[at]), nil
	}
	return modelOf(api.ModelInfo{ID: i.Model, Context: i.Window, Scripted: i.Scripted}), nil
}

func indexOf(list []api.ModelInfo, id string) int {
	return slices.IndexFunc(list, func(m api.ModelInfo) bool { return m.ID == id })
}

// levelsOf is what the model of a session can be asked for.
func levelsOf(ctx context.Context, c api.Client, i api.SessionInfo) ([]string, *fault) {
	if i.Model == "" {
		return nil, faultf(codeNoModel, "%v; set_model chooses one of get_available_models", api.ErrNoModel)
	}
	m, err := modelNamed(ctx, c, i)
	switch {
	case err != nil:
		return nil, faultOf(err)
	case len(m.ThinkingLevels) > 0:
		return m.ThinkingLevels, nil
	case m.Reasoning != nil && !*m.Reasoning:
		return allLevels()[:1], nil
	}
	return allLevels(), nil
}

// setModel chooses the model of the next request on: provider and modelId, or model as provider/modelId.
func (v *service) setModel(ctx context.Context, r request) (any, *fault) {
	model, f := r.fields.text("model")
	if f == nil && model == "" {
		var provider, id string
		if provider, f = r.fields.needText("provider"); f == nil {
			id, f = r.fields.needText("modelId")
		}
		model = provider + "/" + id
	}
	if f != nil {
		return nil, f
	}
	info, f := v.choose(ctx, model, "")
	if f != nil {
		return nil, f
	}
	m, err := modelNamed(ctx, v.client, info)
	return m, faultOf(err)
}

// choose changes model or level.
func (v *service) choose(ctx context.Context, model, level string) (api.SessionInfo, *fault) {
	info, err := v.session.SelectModel(ctx, model, level)
	f := faultOf(err)
	if f != nil && f.Code == codeFailed && model != "" {
		f.Code = codeNotFound
	}
	return info, f
}

// cycleModel chooses the next model of the scope, or of the configuration where there is no scope. It answers null when there is no
// other.
func (v *service) cycleModel(ctx context.Context, _ request) (any, *fault) {
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	list, err := v.client.Models(ctx)
	if err != nil {
		return nil, faultOf(err)
	}
	scoped := slices.ContainsFunc(list, func(m api.ModelInfo) bool { return m.Scoped })
	list = slices.DeleteFunc(slices.Clone(list), func(m api.ModelInfo) bool { return scoped && !m.Scoped || !scoped && !m.Configured })
	at := indexOf(list, now.Info.Model)
	if len(list) == 0 || len(list) == 1 && at == 0 {
		return nothing, nil
	}
	next := list[(at+1)%len(list)]
	info, f := v.choose(ctx, next.ID, next.Effort)
	if f != nil {
		return nil, f
	}
	return cycledData{Model: modelOf(next), ThinkingLevel: info.Effort, IsScoped: scoped}, nil
}

// setLevel chooses how much the model thinks from the next request on.
func (v *service) setLevel(ctx context.Context, r request) (any, *fault) {
	level, f := r.fields.needText("level")
	if f != nil {
		return nil, f
	}
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	levels, f := levelsOf(ctx, v.client, now.Info)
	switch {
	case f != nil:
		return nil, f
	case !slices.Contains(levels, level):
		return nil, faultf(codeRequest, "level has to be %s", alternatives(levels))
	}
	return v.level(ctx, level)
}

// cycleLevel chooses the next level of those that the model takes. It answers null when there is no other.
func (v *service) cycleLevel(ctx context.Context, _ request) (any, *fault) {
	now, f := v.look()
	if f != nil {
		return nil, f
	}
	levels, f := levelsOf(ctx, v.client, now.Info)
	switch at := slices.Index(levels, now.Info.Effort); {
	case f != nil:
		return nil, f
	case len(levels) == 1:
		return nothing, nil
	default:
		return v.level(ctx, levels[(at+1)%len(levels)])
	}
}

func (v *service) level(ctx context.Context, level string) (any, *fault) {
	info, f := v.choose(ctx, "", level)
	return levelData{info.Effort}, f
}

func (v *service) setSteering(ctx context.Context, r request) (any, *fault) {
	mode, f := r.fields.mode()
	return v.behave(ctx, api.Behaviour{Steering: mode}, f)
}

func (v *service) setFollowUp(ctx context.Context, r request) (any, *fault) {
	mode, f := r.fields.mode()
	return v.behave(ctx, api.Behaviour{FollowUp: mode}, f)
}

func (v *service) setRetry(ctx context.Context, r request) (any, *fault) {
	on, f := r.fields.needFlag("enabled")
	return v.behave(ctx, api.Behaviour{AutoRetry: &on}, f)
}

func (f fields) mode() (api.QueueMode, *fault) {
	if !f.has("mode") {
		return "", faultf(codeRequest, "mode is missing; it has to be %s or %s", api.QueueAll, api.QueueOne)
	}
	mode, fault := f.oneOf("mode", string(api.QueueAll), string(api.QueueOne))
	return api.QueueMode(mode), fault
}

// behave changes how the session works; what a client chose goes with it to every session.
func (v *service) behave(ctx context.Context, b api.Behaviour, f *fault) (any, *fault) {
	if f != nil {
		return nil, f
	}
	now, err := v.session.Behave(ctx, b)
	if err == nil {
		v.manner = now
	}
	return modesOf(v.manner), faultOf(err)
}

// maxName bounds the name of a session, in bytes.
const maxName = 256

func (v *service) rename(ctx context.Context, r request) (any, *fault) {
	name, f := r.fields.needText("name")
	switch {
	case f != nil:
		return nil, f
	case len(name) > maxName:
		return nil, faultf(codeRequest, "name has %d bytes, at most %d fit", len(name), maxName)
	}
	err := v.session.Rename(ctx, name)
	if errors.Is(err, api.ErrClosed) {
		return nil, faultOf(err)
	}
	if err != nil {
		return nil, faultf(codeRequest, "%v", err)
	}
	return nil, nil
}
