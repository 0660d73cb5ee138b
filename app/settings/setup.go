package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"octavo/ext/model"

	"github.com/aymanbagabas/go-udiff"
)

// Preset is an endpoint that needs no description.
type Preset struct {
	Name      string // of the preset, and of the provider when no other is given
	Label     string
	Endpoint  string
	APIKeyEnv string // "": no key is needed
	Wire      string
}

// presets are in the order in which octavo chooses among them when nobody has chosen a model: first those whose key is found, then
// the servers of this machine that answer.
var presets = []Preset{
	{"anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "anthropic-messages"},
	{"openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "openai-responses"},
	{"gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", DefaultWire},
	{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", DefaultWire},
	{"xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", DefaultWire},
	{"deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", DefaultWire},
	{"mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", DefaultWire},
	{"moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", DefaultWire},
	{"zai", "Z.AI", "https://api.z.ai/api/coding/paas/v4", "ZAI_API_KEY", DefaultWire},
	{"minimax", "MiniMax", "https://api.minimax.io/anthropic/v1", "MINIMAX_API_KEY", "anthropic-messages"},
	{"groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", DefaultWire},
	{"cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", DefaultWire},
	{"fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", DefaultWire},
	{"together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", DefaultWire},
	{"nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", DefaultWire},
	{"huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN", DefaultWire},
	{"baseten", "Baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", DefaultWire},
	{"opencode-zen", "OpenCode Zen", "https://opencode.ai/zen/v1", "OPENCODE_API_KEY", DefaultWire},

	{"lm-studio", "LM Studio", "http://127.0.0.1:1234/v1", "", DefaultWire},
	{"ollama", "Ollama", "http://127.0.0.1:11434/v1", "", DefaultWire},
	{"llama-cpp", "llama.cpp", "http://127.0.0.1:8080/v1", "", DefaultWire},
	{"vllm", "vLLM", "http://127.0.0.1:8000/v1", "", DefaultWire},
}

// Presets lists what octavo setup --preset takes. The slice is the caller's.
func Presets() []Preset { return slices.Clone(presets) }

// Setup is what a person asks octavo setup for (product.md 3.3). Empty strings are flags that were not given; what is given
// stands above the preset.
type Setup struct {
	Preset      string
	Provider    string
	Label       string
	Endpoint    string
	Wire        string // DefaultWire when neither it nor a preset names one
	APIKeyEnv   string
	NoAuth      bool
	Model       string // becomes the default; must be among Available when that was asked for
	ManualModel string // becomes the default unchecked, and is written down as one of the provider's
	Replace     bool   // an existing provider of the name may be changed
	Default     bool   // the model becomes the default although another is

	// Available are the models that the endpoint says it has; nil when it was not asked (--offline) or did not say.
	Available []string
}

// Plan is a change of config.toml for a person to look at. Nothing is written before Apply.
type Plan struct {
	Config   string   // absolute path of the file
	Provider Provider // what will be configured
	Model    string   // the default model, provider/model, once the plan is applied; "" for none
	Text     string   // the whole change for a person, warnings included; ends with a line feed
	Warnings []string // one line each

	before []byte // nil: there was no file
	after  []byte
}

// Request resolves the preset and checks what was asked, without looking at any file: the provider as it would be written. A
// caller uses it to ask the endpoint for its models before it makes the plan.
func (q Setup) Request() (Provider, error) {
	p := Provider{Name: q.Provider, Label: q.Label, Wire: q.Wire, Endpoint: q.Endpoint, APIKeyEnv: q.APIKeyEnv, NoAuth: q.NoAuth}
	if q.NoAuth && q.APIKeyEnv != "" {
		return p, errors.New("--no-auth and --api-key-env exclude each other")
	}
	if q.Model != "" && q.ManualModel != "" {
		return p, errors.New("--model and --manual-model exclude each other")
	}
	if q.Preset != "" {
		i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == q.Preset })
		if i < 0 {
			return p, fmt.Errorf("no preset is named %s: use one of %s", show(q.Preset), strings.Join(presetNames(), ", "))
		}
		p = p.withPreset(presets[i])
	}
	if p.Wire == "" {
		p.Wire = DefaultWire
	}
	switch {
	case p.Endpoint == "":
		return p, fmt.Errorf("setup needs --endpoint URL, or --preset with one of %s", strings.Join(presetNames(), ", "))
	case p.Name == "":
		return p, errors.New("setup needs --provider NAME beside --endpoint")
	case !p.NoAuth && p.APIKeyEnv == "":
		return p, errors.New("setup needs --api-key-env VARIABLE, or --no-auth for an endpoint that takes no key")
	}
	for _, id := range []string{q.Model, q.ManualModel} {
		if id == "" {
			continue
		}
		if err := CheckModelID(id); err != nil {
			return p, err
		}
	}
	if q.ManualModel != "" {
		p.Models = map[string]model.Info{q.ManualModel: {}}
	}
	if err := CheckEndpoint(p.Endpoint); err != nil {
		return p, fmt.Errorf("--endpoint %s %w", show(p.Endpoint), err)
	}
	_, err := p.checked()
	p.Endpoint = canonicalEndpoint(p.Endpoint)
	return p, err
}

// withPreset fills what was not asked for otherwise.
func (p Provider) withPreset(preset Preset) Provider {
	if p.Name == "" {
		p.Name = preset.Name
	}
	if p.Label == "" {
		p.Label = preset.Label
	}
	if p.Endpoint == "" {
		p.Endpoint = preset.Endpoint
	}
	if p.Wire == "" {
		p.Wire = preset.Wire
	}
	if !p.NoAuth && p.APIKeyEnv == "" {
		p.APIKeyEnv = preset.APIKeyEnv
		p.NoAuth = preset.APIKeyEnv == ""
	}
	return p
}

func presetNames() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.Name)
	}
	return names
}

// Plan works out the change of home's config.toml. lookup reads the environment; nil is os.LookupEnv. It writes nothing. An error
// says what to do about it: an existing provider without Replace, a model the endpoint does not have, a file that is broken.
func (q Setup) Plan(home string, lookup func(string) (string, bool)) (*Plan, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if !filepath.IsAbs(home) {
		return nil, ErrNoHome
	}
	p, err := q.Request()
	if err != nil {
		return nil, err
	}
	plan := &Plan{Config: filepath.Join(home, ConfigFile), Provider: p}
	if plan.before, _, err = readFile(plan.Config); err != nil {
		return nil, &Error{Place: Place{File: plan.Config}, Err: err}
	}
	doc, err := parse(plan.Config, plan.before)
	if err != nil {
		return nil, err
	}
	now := read(doc)
	if err := errors.Join(now.errs...); err != nil {
		return nil, err
	}
	present, exists := now.providers[p.Name]
	if exists && !q.Replace {
		return nil, fmt.Errorf("provider %s is configured already, for %s: add --replace to change it, or choose another --provider NAME",
			p.Name, present.Endpoint)
	}
	chosen, err := q.choose()
	if err != nil {
		return nil, err
	}
	if err := plan.write(q, p, now, chosen); err != nil {
		return nil, err
	}
	plan.warn(home, lookup)
	plan.describe(exists, chosen, q.Available)
	return plan, nil
}

// choose finds the id of the model that is to become the default; "" leaves that to the person.
func (q Setup) choose() (string, error) {
	switch {
	case q.ManualModel != "":
		return q.ManualModel, nil
	case q.Model != "" && q.Available != nil && !slices.Contains(q.Available, q.Model):
		hint := ""
		if near := closest(q.Model, q.Available); near != "" {
			hint = fmt.Sprintf(" Did you mean %q?", near)
		}
		return "", fmt.Errorf("the endpoint has no model %s.%s It has: %s. --manual-model takes an id unchecked",
			show(q.Model), hint, printable(listed(q.Available, ", ")))
	case q.Model == "" && len(q.Available) == 1:
		if CheckModelID(q.Available[0]) == nil {
			return q.Available[0], nil
		}
	}
	return q.Model, nil
}

// write makes the new text of the file: the provider, and the default model when none is set or another is asked for.
func (plan *Plan) write(q Setup, p Provider, now contents, chosen string) error {
	var err error
	if plan.after, err = edit(plan.Config, plan.before, []string{"providers", p.Name}, p.table()); err != nil {
		return err
	}
	present, ok := now.values.values["model"]
	if ok && (!q.Default || chosen == "") {
		plan.Model = present.value.(string)
		return nil
	}
	if chosen == "" {
		return nil
	}
	plan.Model = p.Name + "/" + chosen
	plan.after, err = edit(plan.Config, plan.after, []string{"model"}, plan.Model)
	return err
}

func (plan *Plan) warn(home string, lookup func(string) (string, bool)) {
	p := plan.Provider
	warn := func(format string, args ...any) { plan.Warnings = append(plan.Warnings, fmt.Sprintf(format, args...)) }
	if p.NoAuth {
		return
	}
	if overheard(p.Endpoint) {
		warn("%s is not encrypted: the key can be read on the way; use https if the server has it", p.Endpoint)
	}
	key := (&Settings{Home: home, Providers: map[string]Provider{p.Name: p}, lookup: lookup}).KeyState(p.Name)
	if key.Err != nil {
		warn("%s", key.Err)
	}
}

func (plan *Plan) describe(exists bool, chosen string, available []string) {
	var b strings.Builder
	p := plan.Provider
	if plan.before == nil {
		fmt.Fprintf(&b, "octavo will create %s:\n\n", plan.Config)
		indent(&b, string(plan.after))
	} else if string(plan.before) == string(plan.after) {
		fmt.Fprintf(&b, "%s says all of this already; nothing to write.\n", plan.Config)
	} else {
		fmt.Fprintf(&b, "octavo will change %s (- goes, + comes):\n\n", plan.Config)
		indent(&b, changes(string(plan.before), string(plan.after)))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Provider: %s at %s", p.label(), p.Endpoint)
	if exists {
		b.WriteString(", in place of the present one")
	}
	b.WriteString("\n")
	if p.NoAuth {
		b.WriteString("Key:      none is sent\n")
	} else {
		fmt.Fprintf(&b, "Key:      from %s, else $%s, read when a request is made\n", AuthFile, p.APIKeyEnv)
	}
	mine := p.Name + "/" + chosen
	switch {
	case plan.Model == "":
		fmt.Fprintf(&b, "Model:    none chosen; use --model %s/ID", p.Name)
		if len(available) > 0 {
			fmt.Fprintf(&b, " with one of: %s", printable(listed(available, ", ")))
		}
		b.WriteString("\n")
	case plan.Model != mine && chosen != "":
		fmt.Fprintf(&b, "Model:    %s stays the default; --default makes it this one, octavo --model %s uses it once\n", plan.Model, mine)
	case plan.Model != mine:
		fmt.Fprintf(&b, "Model:    %s stays the default\n", plan.Model)
	default:
		fmt.Fprintf(&b, "Model:    %s\n", plan.Model)
	}
	for _, w := range plan.Warnings {
		fmt.Fprintf(&b, "Warning:  %s\n", w)
	}
	plan.Text = b.String()
}

// changes is a unified diff without the names of the files, which are one.
func changes(before, after string) string {
	diff := udiff.Unified("", "", before, after)
	if i := strings.Index(diff, "@@"); i >= 0 {
		diff = diff[i:]
	}
	return diff
}

func indent(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			b.WriteString("\n")
			continue
		}
		b.WriteString("  " + printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
}

// printable is one line of what an endpoint or a file says, without what could move a cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && oneLine(string(r)) != nil {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Changes reports whether applying the plan changes the file.
func (plan *Plan) Changes() bool {
	return plan.before == nil || string(plan.before) != string(plan.after)
}

// Apply writes the plan. If config.toml no longer holds what the plan was made from, the error wraps ErrChanged and nothing is
// written.
func (plan *Plan) Apply(ctx context.Context) error {
	return rewrite(ctx, plan.Config, func(now []byte, _ fs.FileMode) ([]byte, error) {
		if (plan.before == nil) != (now == nil) || string(now) != string(plan.before) {
			return nil, ErrChanged
		}
		return plan.after, nil
	})
}
