package main

import (
	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/app/settings"
	"octavo/ext/builtin"
	"octavo/ext/model"
	"octavo/ext/policy"
)

// maxCompleted is how many sessions a shell is offered, the newest.
const maxCompleted = 50

// completes tells shells which values the flags of a session take. What is slow or goes out of this machine is not asked.
func (p *process) completes(root *cobra.Command, f *flags) {
	words := func(list ...string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	var policies, providers []string
	for _, n := range policy.Names {
		policies = append(policies, string(n))
	}
	for _, preset := range settings.Presets() {
		providers = append(providers, preset.Name+"\t"+preset.Label)
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"mode": words("interactive", "json", "rpc"), "color": words("auto", "always", "never"), "reasoning": words(model.Efforts...),
		"effect-policy": words(policies...), "tools": words("read", "search", "edit", "write", "bash"),
		"exclude-tools": words("read", "search", "edit", "write", "bash"), "login": words(providers...), "logout": words(providers...),
		"model": func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.modelWords(c, f)
		},
		"resume": completeSessions(amongLive, 0), "fork": completeSessions(amongLive, 0),
	} {
		if root.Flag(flag) != nil {
			_ = root.RegisterFlagCompletionFunc(flag, complete) // fails only for a flag that is not there
		}
	}
	_ = root.MarkFlagDirname("workspace")
}

func (p *process) modelWords(c *cobra.Command, f *flags) ([]string, cobra.ShellCompDirective) {
	s, _, _, err := p.settings(c, f)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, m := range app.ListModels(s, builtin.Catalogues(s.Home)) {
		words = append(words, m.ID+"\t"+m.Name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
