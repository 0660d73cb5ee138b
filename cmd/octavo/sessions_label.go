package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octavo/sessionstore"
)

const sessionsRenameHelp = `Gives a session a name, which stands above the title that a model gave it. Names can be given
to --resume and to the other commands instead of an id. An empty name takes the name away.

  octavo sessions rename 0198a3f2 "parser rewrite"
  octavo sessions rename "parser rewrite" ""`

func newSessionsRename(p *process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:               "rename ID NAME",
		Short:             "name a session",
		Long:              sessionsRenameHelp,
		Args:              between(2, 2, `a session and its new name, "" for none`),
		ValidArgsFunction: completeSessions(amongLive, 1),
		RunE: p.onSessions(f, func(ctx context.Context, x *shelf, args []string) error {
			v, err := x.find(ctx, args[0], amongLive)
			if err != nil {
				return err
			}
			name := x.settings.Redactor().RedactKeys(strings.TrimSpace(args[1]))
			if err := x.store.PatchSession(ctx, v.ID, sessionstore.SessionPatch{Name: &name}); err != nil {
				return err
			}
			v.Name = name
			if err := x.changed(v, "its name", "/name"); err != nil {
				return err
			}
			var several *sessionstore.AmbiguousError
			if _, err := x.store.Resolve(ctx, name); errors.As(err, &several) {
				fmt.Fprintln(x.stderr, "Other sessions have this name, too; it takes the id to tell them apart.")
			}
			switch {
			case x.json:
				return x.line(newSessionLine(v))
			case name == "":
				return x.say("session %s has no name now", label(v))
			}
			return x.say("session %s is named %s", v.ID, name)
		}),
	}
}

// changed says where a change is not seen yet: whoever has a session open has read its row already.
func (x *shelf) changed(v sessionstore.Session, what, there string) error {
	holder, err := x.store.Holder(v.ID)
	if err == nil && holder != nil {
		fmt.Fprintf(x.stderr, "It is %s, which shows %s when it opens the session again; %s changes it there at once.\n", openElsewhere(holder), what, there)
	}
	return err
}

const sessionsTagHelp = `Adds tags to a session and takes tags away; without tags it shows those it has. A tag is a word of at most 64 bytes,
and a session has at most 32. Flags go before the session.

  octavo sessions tag 0198a3f2 urgent parser    adds two
  octavo sessions tag 0198a3f2 -urgent +later   takes one away and adds one
  octavo sessions list --tag parser`

func newSessionsTag(p *process, f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:               "tag ID [TAG | +TAG | -TAG]...",
		Short:             "tag a session, or show its tags",
		Long:              sessionsTagHelp,
		Args:              between(1, 0, "a session and tags"),
		ValidArgsFunction: completeTags,
		RunE: p.onSessions(f, func(ctx context.Context, x *shelf, args []string) error {
			where := amongLive
			if len(args) == 1 {
				where = amongAll
			}
			v, err := x.find(ctx, args[0], where)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				if v.Tags, err = retagged(v.Tags, args[1:]); err != nil {
					return err
				}
				for i, tag := range v.Tags {
					v.Tags[i] = x.settings.Redactor().RedactKeys(tag)
				}
				if err := x.store.PatchSession(ctx, v.ID, sessionstore.SessionPatch{Tags: &v.Tags}); err != nil {
					return err
				}
			}
			switch {
			case x.json:
				return x.line(newSessionLine(v))
			case len(v.Tags) == 0:
				fmt.Fprintln(x.stderr, "no tags")
				return nil
			}
			return x.say("%s", strings.Join(v.Tags, " "))
		}),
	}
	c.Flags().SetInterspersed(false) // -TAG is no flag
	return c
}

// retagged applies changes to tags.
func retagged(tags, changes []string) ([]string, error) {
	tags = slices.Clone(tags)
	for _, change := range changes {
		switch tag := strings.TrimLeft(change, "+-"); {
		case tag == "" || len(change)-len(tag) > 1:
			return nil, usagef("%q is no tag; TAG and +TAG add one, -TAG takes it away, and flags go before the session", change)
		case change[0] == '-':
			tags = slices.DeleteFunc(tags, func(t string) bool { return t == tag })
		case !slices.Contains(tags, tag):
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags, nil
}

// completeTags completes the session and then the tags that any session has.
func completeTags(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeSessions(amongLive, 1)(c, args, begun)
	}
	words := map[string]bool{}
	directive := eachStored(c.Context(), sessionstore.Filter{}, func(v sessionstore.Session) {
		for _, t := range v.Tags {
			words[t] = true
		}
	})
	var list []cobra.Completion
	for word := range words {
		for _, sign := range []string{"", "+", "-"} {
			if strings.HasPrefix(sign+word, begun) && (sign == "" || strings.HasPrefix(begun, sign)) {
				list = append(list, sign+word)
			}
		}
	}
	slices.Sort(list)
	return list, directive
}
