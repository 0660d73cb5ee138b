package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"octavo/ext/model"
	"octavo/ext/policy"
)

// Bounds of values (product.md 4).
const (
	MinBashTimeoutSecs = 1
	MaxBashTimeoutSecs = 3600
	MinOutputBytes     = 1 << 10
	MaxOutputBytes     = 1 << 20
	MaxTurns           = 100_000
	MaxMicrodollars    = 1_000_000_000_000 // a million dollars
	MaxSystemPrompt    = 512 << 10         // bytes
	MaxProviderName    = 64                // bytes
	MaxModelID         = 256               // bytes
	MaxLabel           = 128               // bytes
	MaxEndpoint        = 2048              // bytes
	MaxPath            = 4096              // bytes
	MaxEnvName         = 128               // bytes
	MaxHeaderValue     = 4096              // bytes
	MaxTokens          = 1_000_000_000
	MaxPrice           = 1_000_000_000_000 // microdollars for a million tokens
)

// DefaultWire is spoken with a provider whose table names no other.
const DefaultWire = "openai-chat"

// row is a key with what only this package needs of it.
type row struct {
	Key
	// field points to the place of the value in a *Settings, *Provider or *model.Info; see store.
	field func(any) any
	// valid looks at a value of the right type and bounds; nil when every such value will do.
	valid func(any) error
}

// isHost reports whether the key is octavo's own and not one of a provider.
func (r row) isHost() bool { return !strings.Contains(r.Name, ".") }

// below returns the rest of the key's name when it stands directly below prefix, which is "" or ends with a dot.
func (r row) below(prefix string) (name string, ok bool) {
	name, ok = strings.CutPrefix(r.Name, prefix)
	return name, ok && !strings.Contains(name, ".")
}

// value checks v against the key.
func (r row) value(v any) (any, error) {
	v, err := r.check(v)
	if err == nil && r.valid != nil {
		err = r.valid(v)
	}
	return v, err
}

// parse checks text against the key.
func (r row) parse(text string) (any, error) {
	v, err := r.Parse(text)
	if err == nil && r.valid != nil {
		err = r.valid(v)
	}
	return v, err
}

func host(f func(*Settings) any) func(any) any {
	return func(t any) any { return f(t.(*Settings)) }
}

func ofProvider(f func(*Provider) any) func(any) any {
	return func(t any) any { return f(t.(*Provider)) }
}

func ofModel(f func(*model.Info) any) func(any) any {
	return func(t any) any { return f(t.(*model.Info)) }
}

func ofPrice(f func(*model.Price) any) func(any) any {
	return ofModel(func(i *model.Info) any {
		if i.Price == nil {
			i.Price = new(model.Price)
		}
		return f(i.Price)
	})
}

// rows is the table. Keys of one table stand together, in the order they are documented in.
var rows = []row{
	{Key{Name: "model", Type: String, Min: 1, Max: MaxProviderName + 1 + MaxModelID, Env: "OCTAVO_MODEL",
		Doc: "The model that answers: `provider/model`, or a model's id alone when one provider lists it."},
		host(func(s *Settings) any { return &s.Model }), lineOf},
	{Key{Name: "models", Type: List, Ordered: true, Default: []string{}, Min: 1, Max: MaxProviderName + 1 + MaxModelID, Env: "OCTAVO_MODELS",
		Doc: "The models to switch among, in order: `provider/model`, with `*` and `?` for any characters, and `:level` for an effort."},
		host(func(s *Settings) any { return &s.ModelScope }), nil},
	{Key{Name: "title_model", Type: String, Min: 1, Max: MaxProviderName + 1 + MaxModelID, Env: "OCTAVO_TITLE_MODEL",
		Doc: "The model that gives sessions their titles, or `off`. Unset: the small model that the catalogue names for the session's provider."},
		host(func(s *Settings) any { return &s.TitleModel }), lineOf},
	{Key{Name: "reasoning", Type: String, Allowed: model.Efforts, Env: "OCTAVO_REASONING",
		Doc: "How much the model thinks before it answers. Unset leaves the model's own default."},
		host(func(s *Settings) any { return &s.Reasoning }), nil},
	{Key{Name: "system_prompt", Type: String, Max: MaxSystemPrompt, Env: "OCTAVO_SYSTEM_PROMPT",
		Doc: "Replaces all of octavo's own instructions, even when it is empty."},
		host(func(s *Settings) any { return &s.SystemPrompt }), nil},
	{Key{Name: "plain", Type: Bool, Default: false, Env: "OCTAVO_PLAIN",
		Doc: "Lines instead of a full screen."},
		host(func(s *Settings) any { return &s.Plain }), nil},
	{Key{Name: "color", Type: String, Default: "auto", Allowed: []string{"auto", "always", "never"}, Env: "OCTAVO_COLOR",
		Doc: "Colour: when the terminal has it, always, or never."},
		host(func(s *Settings) any { return &s.Color }), nil},
	{Key{Name: "effect_policy", Type: String, Default: string(policy.UnsafeHost), Allowed: policyNames(), Env: "OCTAVO_EFFECT_POLICY",
		Project: Stricter, Doc: "Which tool calls run, which ask and which are refused. `controlled_bash_approval` is what `--safe-mode` sets."},
		host(func(s *Settings) any { return &s.EffectPolicy }), nil},
	{Key{Name: "allow_external_paths", Type: Bool, Default: true, Env: "OCTAVO_ALLOW_EXTERNAL_PATHS", Project: Off,
		Doc: "File tools may leave the workspace. Always false under a controlled policy."},
		host(func(s *Settings) any { return &s.AllowExternalPaths }), nil},
	{Key{Name: "allow_edit", Type: Bool, Default: true, Env: "OCTAVO_ALLOW_EDIT", Project: Off,
		Doc: "The `edit` tool is offered."},
		host(func(s *Settings) any { return &s.AllowEdit }), nil},
	{Key{Name: "allow_write", Type: Bool, Default: true, Env: "OCTAVO_ALLOW_WRITE", Project: Off,
		Doc: "The `write` tool is offered."},
		host(func(s *Settings) any { return &s.AllowWrite }), nil},
	{Key{Name: "allow_process", Type: Bool, Default: true, Env: "OCTAVO_ALLOW_PROCESS", Project: Off,
		Doc: "Tools may start programs. False switches the shell off too."},
		host(func(s *Settings) any { return &s.AllowProcess }), nil},
	{Key{Name: "allow_shell", Type: Bool, Default: true, Env: "OCTAVO_ALLOW_SHELL", Project: Off,
		Doc: "The `bash` tool is offered."},
		host(func(s *Settings) any { return &s.AllowShell }), nil},
	{Key{Name: "shell_path", Type: String, Min: 1, Max: MaxPath, Env: "OCTAVO_SHELL_PATH",
		Doc: "Absolute path of a Bash-compatible shell. Unset: `/bin/bash`, then `bash` and `sh` on PATH."},
		host(func(s *Settings) any { return &s.ShellPath }), absolutePath},
	{Key{Name: "bash_timeout_secs", Type: Int, Default: int64(120), Min: MinBashTimeoutSecs, Max: MaxBashTimeoutSecs,
		Env: "OCTAVO_BASH_TIMEOUT_SECS", Project: Lower, Doc: "Seconds a shell command may take."},
		host(func(s *Settings) any { return &s.BashTimeout }), nil},
	{Key{Name: "max_output_bytes", Type: Int, Default: int64(50 << 10), Min: MinOutputBytes, Max: MaxOutputBytes,
		Env: "OCTAVO_MAX_OUTPUT_BYTES", Project: Lower, Doc: "Bytes of one tool result that the model reads."},
		host(func(s *Settings) any { return &s.MaxOutputBytes }), nil},
	{Key{Name: "max_turns", Type: Int, Min: 1, Max: MaxTurns, Env: "OCTAVO_MAX_TURNS", Project: Lower,
		Doc: "Model requests in one run. Unset: no limit."},
		host(func(s *Settings) any { return &s.MaxTurns }), nil},
	{Key{Name: "max_cost_microdollars", Type: Int, Min: 1, Max: MaxMicrodollars, Env: "OCTAVO_MAX_COST_MICRODOLLARS", Project: Lower,
		Doc: "What a session may cost, in millionths of a dollar, before it stops. Unset: no limit."},
		host(func(s *Settings) any { return &s.MaxCostMicrodollars }), nil},
	{Key{Name: "cost_warning_microdollars", Type: Int, Min: 1, Max: MaxMicrodollars, Env: "OCTAVO_COST_WARNING_MICRODOLLARS", Project: Lower,
		Doc: "What a session may cost, in millionths of a dollar, before it says so. Unset: no warning."},
		host(func(s *Settings) any { return &s.CostWarningMicrodollars }), nil},
	{Key{Name: "context_files", Type: Bool, Default: true, Env: "OCTAVO_CONTEXT_FILES", Project: Off,
		Doc: "Instructions of AGENTS.md files reach the model."},
		host(func(s *Settings) any { return &s.ContextFiles }), nil},
	{Key{Name: "offline", Type: Bool, Default: false, Env: "OCTAVO_OFFLINE", Project: On,
		Doc: "No discovery and no remote reads; models are still asked."},
		host(func(s *Settings) any { return &s.Offline }), nil},
	{Key{Name: "strict_config", Type: Bool, Default: false, Env: "OCTAVO_STRICT_CONFIG", Project: On,
		Doc: "An unknown key is an error instead of a warning."},
		host(func(s *Settings) any { return &s.StrictConfig }), nil},
	{Key{Name: "enabled_extensions", Type: List, Default: []string{}, Min: 1, Max: MaxPath, Env: "OCTAVO_EXTENSIONS", Project: Suggest,
		Doc: "Names of extensions to start. The environment and `--enable-extension` add to it."},
		host(func(s *Settings) any { return &s.EnabledExtensions }), each(extensionName)},
	{Key{Name: "trusted_extensions", Type: List, Default: []string{}, Min: 1, Max: MaxPath, Env: "OCTAVO_TRUSTED_EXTENSIONS",
		Doc: "Extensions that may run: `name`, or `name@/path/of/extension.toml`. The environment and `--trust-extension` add to it."},
		host(func(s *Settings) any { return &s.TrustedExtensions }), each(extensionGrant)},

	{Key{Name: "providers.NAME.label", Type: String, Min: 1, Max: MaxLabel,
		Doc: "Name for people. Unset: NAME."},
		ofProvider(func(p *Provider) any { return &p.Label }), lineOf},
	{Key{Name: "providers.NAME.wire", Type: String, Default: DefaultWire, Min: 1, Max: 64,
		Doc: "The protocol the endpoint speaks."},
		ofProvider(func(p *Provider) any { return &p.Wire }), wireName},
	{Key{Name: "providers.NAME.endpoint", Type: String, Min: 1, Max: MaxEndpoint,
		Doc: "Base URL, http or https; needed."},
		ofProvider(func(p *Provider) any { return &p.Endpoint }), endpointOf},
	{Key{Name: "providers.NAME.api_key_env", Type: String, Min: 1, Max: MaxEnvName,
		Doc: "The environment variable that holds the key when auth.json has none."},
		ofProvider(func(p *Provider) any { return &p.APIKeyEnv }), envName},
	{Key{Name: "providers.NAME.api_key_command", Type: String, Min: 1, Max: MaxKeyCommand,
		Doc: "A line of `/bin/sh` that prints the key when neither auth.json nor the variable has one, such as `pass show openai`. It runs in octavo's home."},
		ofProvider(func(p *Provider) any { return &p.APIKeyCommand }), keyCommand},
	{Key{Name: "providers.NAME.no_auth", Type: Bool, Default: false,
		Doc: "The endpoint takes requests without a key."},
		ofProvider(func(p *Provider) any { return &p.NoAuth }), nil},
	{Key{Name: "providers.NAME.headers", Type: Map, Max: MaxHeaderValue,
		Doc: "Further request headers. Never a place for credentials."},
		ofProvider(func(p *Provider) any { return &p.Headers }), headers},
	{Key{Name: "providers.NAME.models.ID.context_tokens", Type: Int, Min: 1, Max: MaxTokens,
		Doc: "Size of the model's window, input and output together."},
		ofModel(func(i *model.Info) any { return &i.ContextTokens }), nil},
	{Key{Name: "providers.NAME.models.ID.max_output_tokens", Type: Int, Min: 1, Max: MaxTokens,
		Doc: "The longest answer."},
		ofModel(func(i *model.Info) any { return &i.MaxOutputTokens }), nil},
	{Key{Name: "providers.NAME.models.ID.efforts", Type: List, Allowed: model.Efforts,
		Doc: "Reasoning levels the model takes."},
		ofModel(func(i *model.Info) any { return &i.Efforts }), nil},
	{Key{Name: "providers.NAME.models.ID.images", Type: Bool,
		Doc: "Whether the model reads pictures. Unset: unknown."},
		ofModel(func(i *model.Info) any { return &i.Images }), nil},
	{Key{Name: "providers.NAME.models.ID.price.input", Type: Int, Max: MaxPrice,
		Doc: "Microdollars for a million tokens read; needed with a price."},
		ofPrice(func(p *model.Price) any { return &p.Input }), nil},
	{Key{Name: "providers.NAME.models.ID.price.output", Type: Int, Max: MaxPrice,
		Doc: "Microdollars for a million tokens written; needed with a price."},
		ofPrice(func(p *model.Price) any { return &p.Output }), nil},
	{Key{Name: "providers.NAME.models.ID.price.cache_read", Type: Int, Max: MaxPrice,
		Doc: "Microdollars for a million tokens read from the cache. Unset: as `input`."},
		ofPrice(func(p *model.Price) any { return &p.CacheRead }), nil},
	{Key{Name: "providers.NAME.models.ID.price.cache_write", Type: Int, Max: MaxPrice,
		Doc: "Microdollars for a million tokens written to the cache. Unset: as `input`."},
		ofPrice(func(p *model.Price) any { return &p.CacheWrite }), nil},
}

func policyNames() []string {
	names := make([]string, len(policy.Names))
	for i, n := range policy.Names {
		names[i] = string(n)
	}
	return names
}

// Keys lists every key, in the order of the documentation. The slice is the caller's.
func Keys() []Key {
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = r.Key
		keys[i].Allowed = slices.Clone(r.Allowed)
	}
	return keys
}

// rowOf finds a key of the host by its name; keys below [providers] are not among them, because their names are patterns.
func rowOf(name string) (row, error) {
	var names []string
	for _, r := range rows {
		if r.isHost() {
			if r.Name == name {
				return r, nil
			}
			names = append(names, r.Name)
		}
	}
	err := fmt.Errorf("unknown key %q", name)
	if near := closest(name, names); near != "" {
		err = fmt.Errorf("unknown key %q; did you mean %q?", name, near)
	}
	return row{}, err
}

// store puts a checked value where field points.
func store(place, v any) {
	switch p := place.(type) {
	case *string:
		*p = v.(string)
	case **string:
		s := v.(string)
		*p = &s
	case *policy.Name:
		*p = policy.Name(v.(string))
	case *bool:
		*p = v.(bool)
	case **bool:
		b := v.(bool)
		*p = &b
	case *int:
		*p = int(v.(int64))
	case *int64:
		*p = v.(int64)
	case **int64:
		n := v.(int64)
		*p = &n
	case *time.Duration:
		*p = time.Duration(v.(int64)) * time.Second
	case *[]string:
		*p = slices.Clone(v.([]string))
	case *map[string]string:
		*p = maps.Clone(v.(map[string]string))
	default:
		panic(errors.New("settings: a row's field points to a type that store does not know"))
	}
}

// load reads what store has put, in the form that check returns; nil when it is unset.
func load(place any) any {
	switch p := place.(type) {
	case *string:
		if *p != "" {
			return *p
		}
	case **string:
		if *p != nil {
			return **p
		}
	case *policy.Name:
		return string(*p)
	case *bool:
		return *p
	case **bool:
		if *p != nil {
			return **p
		}
	case *int:
		if *p != 0 {
			return int64(*p)
		}
	case *int64:
		if *p != 0 {
			return *p
		}
	case **int64:
		if *p != nil {
			return **p
		}
	case *time.Duration:
		return int64(*p / time.Second)
	case *[]string:
		return slices.Clone(*p)
	case *map[string]string:
		return maps.Clone(*p)
	}
	return nil
}
