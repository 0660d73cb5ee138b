package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"octavo/ext"
)

// ErrNoModel means that no model is configured; the text of an error that wraps it is NoModel's.
var ErrNoModel = errors.New("no model is configured")

// maxListed is how many names an error lists.
const maxListed = 20

// ResolveModel finds the endpoint and the model that a person means. The provider is everything up to the first slash, for a
// model's id may hold slashes too; when no provider has that name, or there is no slash, the text is an id that exactly one
// provider must list. It does not ask the endpoint. "" is an error that wraps ErrNoModel.
func (s *Settings) ResolveModel(text string) (profile ext.Profile, modelID string, err error) {
	if text == "" {
		return profile, "", fmt.Errorf("%w%s", ErrNoModel, strings.TrimPrefix(s.NoModel(), ErrNoModel.Error()))
	}
	if text == DemoProvider {
		text = DemoModel
	}
	if provider, id, ok := strings.Cut(text, "/"); ok {
		if p, known := s.provider(provider); known {
			if err := CheckModelID(id); err != nil {
				return profile, "", fmt.Errorf("model %s: %w", show(text), err)
			}
			return s.profile(p), id, nil
		}
	}
	var listing []string
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		if _, ok := s.Providers[name].Models[text]; ok {
			listing = append(listing, name)
		}
	}
	switch len(listing) {
	case 1:
		return s.profile(s.Providers[listing[0]]), text, nil
	case 0:
		return profile, "", s.unknownModel(text)
	default:
		for i := range listing {
			listing[i] += "/" + text
		}
		return profile, "", fmt.Errorf("model %s is listed by several providers: write %s", show(text), listed(listing, " or "))
	}
}

func (s *Settings) unknownModel(text string) error {
	if len(s.Providers) == 0 && !strings.Contains(text, "/") {
		return fmt.Errorf("model %s is not known: write provider/model, such as anthropic/%s.\n%s", show(text), show(text), setupAdvice())
	}
	const preset = "octavo help models lists those that need no configuration"
	names := slices.Sorted(maps.Keys(s.Providers))
	provider, id, slash := strings.Cut(text, "/")
	if !slash {
		return fmt.Errorf("model %s is listed by no provider: write provider/model. Known models: %s. Providers: %s; %s",
			show(text), listed(s.Models(), ", "), listed(names, ", "), preset)
	}
	hint := "."
	if near := closest(provider, s.providerNames()); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near+"/"+id)
	}
	return fmt.Errorf("model %s: no provider is named %s%s Providers: %s; %s", show(text), show(provider), hint, listed(names, ", "), preset)
}

// Models lists every model that configuration names, as provider/model, sorted.
func (s *Settings) Models() []string {
	var all []string
	for name, p := range s.Providers {
		for id := range p.Models {
			all = append(all, name+"/"+id)
		}
	}
	slices.Sort(all)
	return all
}

// listed joins at most maxListed names and counts the rest; "none" when there are none.
func listed(names []string, between string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], between) + fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return strings.Join(names, between)
}

// setupAdvice is what to type to have a model.
func setupAdvice() string {
	return `To have one:
  octavo --login anthropic         with a key; or openai, gemini, openrouter ... or set ANTHROPIC_API_KEY ...
  octavo                           once LM Studio, Ollama, llama.cpp or vLLM runs on this machine
  octavo setup --preset NAME --yes to keep one as the default; octavo setup --help for any other endpoint
  octavo --model demo              to look around first: a script inside octavo, offline and free`
}

// NoModel is what every mode shows when it needs a model and none is configured: what to type.
func (s *Settings) NoModel() string {
	if len(s.Providers) == 0 {
		text := ErrNoModel.Error() + ".\n"
		for _, problem := range s.KeyProblems() {
			text += "A key is there and cannot be used: " + problem.Error() + "\n"
		}
		return text + setupAdvice()
	}
	names := slices.Sorted(maps.Keys(s.Providers))
	example := names[0] + "/MODEL"
	if models := s.Models(); len(models) > 0 {
		example = models[0]
	}
	return fmt.Sprintf("%v, but providers are: %s. Choose a model:\n  octavo --model %s\nor keep one: model = %q in config.toml. octavo --model demo needs none.",
		ErrNoModel, listed(names, ", "), example, example)
}
