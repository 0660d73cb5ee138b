package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/builtin"
	"octavo/ext/model"
)

// probeTime is how long setup and doctor wait for an endpoint.
const probeTime = 5 * time.Second

const setupHelp = `Connects a model. It shows what it would write to config.toml and writes it only with --yes.

  octavo setup --preset ollama --yes
  octavo setup --endpoint http://127.0.0.1:8080/v1 --provider local --manual-model qwen3 --no-auth --yes
  octavo setup --preset openrouter --model anthropic/claude-sonnet-4.5 --yes

A key is read from the environment variable named by --api-key-env, each time it is needed; it is
never written to config.toml.`

func newSetup(p *process, f *flags) *cobra.Command {
	var q settings.Setup
	var yes, cancel bool
	c := &cobra.Command{
		Use:   "setup",
		Short: "connect a model",
		Long:  setupHelp,
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if yes && cancel {
				return usagef("--yes and --cancel exclude each other")
			}
			return p.setup(c.Context(), q, f.offline, yes, cancel)
		},
	}
	l := c.Flags()
	l.SortFlags = false
	l.StringVar(&q.Preset, "preset", "", "a known endpoint: "+strings.Join(presetNames(), ", "))
	l.StringVar(&q.Endpoint, "endpoint", "", "base URL of its API, such as http://127.0.0.1:8080/v1")
	l.StringVar(&q.Wire, "wire", "", "the protocol it speaks: openai-chat (default), openai-responses or anthropic-messages")
	l.StringVar(&q.Provider, "provider", "", "the name under which octavo knows it")
	l.StringVar(&q.Label, "label", "", "its name for people")
	l.StringVar(&q.Model, "model", "", "the default model; the endpoint must have it")
	l.StringVar(&q.ManualModel, "manual-model", "", "the default model, whether the endpoint lists it or not")
	l.StringVar(&q.APIKeyEnv, "api-key-env", "", "the environment variable that holds the key")
	l.BoolVar(&q.NoAuth, "no-auth", false, "the endpoint takes no key")
	l.BoolVar(&q.Default, "default", false, "make its model the default although another is")
	l.BoolVar(&q.Replace, "replace", false, "change a provider that is configured already")
	l.BoolVar(&yes, "yes", false, "write it")
	l.BoolVar(&cancel, "cancel", false, "write nothing")
	return c
}

func presetNames() []string {
	var names []string
	for _, p := range settings.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func (p *process) setup(ctx context.Context, q settings.Setup, offline, yes, cancel bool) error {
	home, err := settings.Home(nil)
	if err != nil {
		return err
	}
	want, err := q.Request()
	if err != nil {
		return usageError{err}
	}
	if !offline && q.ManualModel == "" {
		if q.Available, err = available(ctx, home, want); err != nil {
			fmt.Fprintf(p.stderr, "The models of %s are not known: %v\n", want.Endpoint, err)
			if q.Model != "" {
				return fmt.Errorf("model %s could not be looked up; mend that and try again, or take it unchecked with --manual-model %s", q.Model, q.Model)
			}
		}
	}
	plan, err := q.Plan(home, nil)
	if err != nil {
		return err
	}
	fmt.Fprint(p.stdout, plan.Text)
	switch {
	case cancel:
		fmt.Fprintln(p.stdout, "\nNothing was written.")
		return nil
	case !plan.Changes():
		return nil
	case !yes:
		fmt.Fprintln(p.stdout, "\nNothing was written yet: add --yes to write it.")
		return nil
	}
	if err := plan.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "\nWritten to %s.\n", plan.Config)
	if plan.Model == "" {
		fmt.Fprintf(p.stdout, "No default model is set: octavo --model %s/MODEL\n", plan.Provider.Name)
	}
	return nil
}

// available asks an endpoint for its models.
func available(ctx context.Context, home string, want settings.Provider) ([]string, error) {
	profile := want.Profile(home, nil)
	if profile.Key != nil {
		if _, err := profile.Key(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	models, err := probe(ctx, profile)
	slices.Sort(models)
	return models, err
}

// probe asks an endpoint whether it is there and which models it has.
func probe(ctx context.Context, profile ext.Profile) ([]string, error) {
	client := model.NewClient(model.Limits{})
	defer client.Close()
	provider, err := builtin.Provider(client, profile.Wire)
	if err != nil {
		return nil, err
	}
	up, err := provider.Resolve(profile, "any")
	if err != nil {
		return nil, err
	}
	return up.Probe(ctx)
}
