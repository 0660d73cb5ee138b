package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octavo/ext/builtin/models"
	"octavo/pages/text"
)

const catalogHelp = `Says what octavo knows of models, and renews it.

  octavo catalog                             what is known, and how old it is
  octavo catalog update                      download today's catalogue from ` + models.Source + `
  octavo --list-models all claude            look something up in it

A catalogue is part of the program. A downloaded one stands above it: its windows, abilities and
prices count where it has the model. Nothing is downloaded unless you ask for it.`

func newCatalog(p *process, f *flags) *cobra.Command {
	info := func(c *cobra.Command, _ []string) error { return p.showCatalog(c, f) }
	c := &cobra.Command{
		Use:   "catalog",
		Short: "look at the catalogue of models, or renew it",
		Long:  catalogHelp,
		Args:  noArguments,
		RunE:  info,
	}
	var address string
	update := &cobra.Command{
		Use:   "update",
		Short: "download today's catalogue",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return p.updateCatalog(c.Context(), c, f, address) },
	}
	update.Flags().StringVar(&address, "url", models.Source, "where to download it: https, or http on this machine")
	c.AddCommand(&cobra.Command{Use: "info", Short: "what is known, and how old it is", Args: noArguments, RunE: info}, update)
	return c
}

// showCatalog says what there is, and what to type.
func (p *process) showCatalog(c *cobra.Command, f *flags) error {
	s, _, _, err := p.settings(c, f)
	if err != nil {
		return err
	}
	version, providers, count := models.Embedded()
	fmt.Fprintf(p.stdout, "built in    %s, catwalk %s\n", amount(count, providers), cmp.Or(version, "of unknown version"))
	r := models.Inspect(s.Home)
	next := "octavo catalog update downloads today's"
	switch {
	case r.Err != nil:
		fmt.Fprintf(p.stdout, "downloaded  not used: %s\n", text.CleanLine(r.Err.Error()))
		next = "octavo catalog update replaces it"
	case r.Fetched.IsZero():
		fmt.Fprintln(p.stdout, "downloaded  none")
	default:
		fmt.Fprintf(p.stdout, "downloaded  %s, %s (%s ago)%s\n            %s\n", amount(r.Models, r.Providers), r.Fetched.Local().Format(time.DateTime),
			text.Duration(time.Since(r.Fetched)), strange(r.Skipped), text.CleanLine(r.Path))
	}
	fmt.Fprintf(p.stdout, "            -> %s\n", next)
	return nil
}

func amount(count, providers int) string {
	return text.Plural(count, "model") + " of " + text.Plural(providers, "provider")
}

// strange says how much of a catalogue was left out.
func strange(skipped int) string {
	if skipped == 0 {
		return ""
	}
	return ", without " + text.Plural(skipped, "model") + " that octavo does not understand"
}

func (p *process) updateCatalog(ctx context.Context, c *cobra.Command, f *flags, address string) error {
	if err := models.CheckSource(address); err != nil {
		return usagef("--url: %w", err)
	}
	s, _, _, err := p.settings(c, f)
	if err != nil {
		return err
	}
	if s.Offline {
		return fmt.Errorf("octavo is offline (--offline, or offline in config.toml) and downloads nothing; the catalogue stays as it is")
	}
	fmt.Fprintln(p.stderr, "downloading the catalogue of models; ctrl+c leaves everything as it is")
	change, err := models.Update(ctx, s.Home, address)
	if err != nil {
		return fmt.Errorf("%w\nThe catalogue stays as it was; octavo catalog update tries again", err)
	}
	r := change.Refreshed
	fmt.Fprintf(p.stdout, "Written to %s: %s%s.\n", text.CleanLine(r.Path), amount(r.Models, r.Providers), strange(r.Skipped))
	for _, x := range [...]struct {
		what  string
		names []string
	}{{"new", change.New}, {"other price", change.Repriced}, {"gone", change.Gone}} {
		fmt.Fprintf(p.stdout, "%-11s  %s\n", x.what, someOf(x.names))
	}
	return nil
}

// maxNamed is how many of the models that an update changes are named.
const maxNamed = 10

// someOf counts names and says the first of them.
func someOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	said := make([]string, 0, maxNamed)
	for _, name := range names[:min(len(names), maxNamed)] {
		said = append(said, text.CleanLine(name))
	}
	s := fmt.Sprintf("%d: %s", len(names), strings.Join(said, ", "))
	if more := len(names) - len(said); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
