package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/composition"
)

// Commands implements api.Session.
func (s *Session) Commands(context.Context) ([]api.CommandInfo, error) {
	var out []api.CommandInfo
	for _, c := range s.o.Composition.Commands {
		info := api.CommandInfo{Name: c.Name, Description: c.Description, Usage: c.Usage(), Extension: c.Extension}
		for _, a := range c.Arguments {
			info.Arguments = append(info.Arguments, api.ArgumentInfo(a))
		}
		out = append(out, info)
	}
	return out, nil
}

// Run implements api.Session.
func (s *Session) Run(ctx context.Context, line string) (_ api.Outcome, err error) {
	defer s.hush(&err)
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	c, err := findCommand(s.o.Composition, name)
	if err != nil {
		return api.Outcome{}, err
	}
	args, err := parseArguments(c.Command, rest)
	if err != nil {
		return api.Outcome{}, err
	}
	var out ext.Outcome
	err = guard(func() (err error) {
		out, err = c.Run(&ext.CommandCall{Context: ctx, Session: s.id, Workspace: s.o.Row.Workspace, Bridge: &bridge{s}}, args)
		return err
	})
	if err != nil {
		return api.Outcome{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	out = s.o.Redact.outcome(out)
	answer := api.Outcome{Text: out.Text, Data: out.Data}
	if out.Go != nil {
		answer.Go, answer.Session = out.Go.To, out.Go.Session
	}
	if out.Turn != nil {
		r, err := s.Submit(ctx, api.Input{Kind: api.InputChat, Text: out.Turn.Text, Display: out.Turn.Display})
		if err != nil {
			return answer, err
		}
		answer.Receipt = &r
	}
	return answer, nil
}

// findCommand takes a name or the unique start of one.
func findCommand(c *composition.Composition, name string) (composition.Command, error) {
	var starts []composition.Command
	var names []string
	for _, k := range c.Commands {
		if k.Name == name {
			return k, nil
		}
		if len(name) > 1 && strings.HasPrefix(k.Name, name) {
			starts = append(starts, k)
			names = append(names, k.Name)
		}
	}
	switch len(starts) {
	case 0:
		return composition.Command{}, fmt.Errorf("there is no command %s; /help lists them", name)
	case 1:
		return starts[0], nil
	default:
		return composition.Command{}, fmt.Errorf("%s could be %s", name, strings.Join(names, " or "))
	}
}

// parseArguments gives each argument one token and the last the rest of the line (plugins.md 5.2).
func parseArguments(c ext.Command, rest string) (map[string]string, error) {
	args := map[string]string{}
	rest = strings.TrimSpace(rest)
	for i, a := range c.Arguments {
		var value string
		if i == len(c.Arguments)-1 {
			value, rest = rest, ""
		} else {
			j := strings.IndexAny(rest, " \t\n")
			if j < 0 {
				j = len(rest)
			}
			value, rest = rest[:j], strings.TrimSpace(rest[j:])
		}
		if value == "" {
			if a.Required {
				return nil, fmt.Errorf("%s needs %s\nusage: %s", c.Name, a.Name, c.Usage())
			}
			continue
		}
		if len(a.Choices) > 0 && !slices.Contains(a.Choices, value) {
			return nil, fmt.Errorf("%s: %s is %s\nusage: %s", c.Name, a.Name, strings.Join(a.Choices, " or "), c.Usage())
		}
		args[a.Name] = value
	}
	if rest != "" {
		return nil, fmt.Errorf("%s takes nothing after it\nusage: %s", c.Name, c.Usage())
	}
	return args, nil
}
