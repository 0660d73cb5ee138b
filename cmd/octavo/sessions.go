package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

func newSessions(p *process, f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "look at stored sessions",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var q api.SessionQuery
	var here, asJSON bool
	list := &cobra.Command{
		Use:   "list",
		Short: "list sessions, the most recently used first",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.listSessions(c.Context(), c, f, q, here, asJSON)
		},
	}
	list.Flags().StringVar(&q.Text, "query", "", "only those with this in id, name, first prompt or workspace")
	list.Flags().BoolVar(&here, "here", false, "only this workspace's")
	list.Flags().IntVar(&q.Limit, "limit", 50, "most lines")
	list.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	c.AddCommand(list)
	return c
}

func (p *process) listSessions(ctx context.Context, c *cobra.Command, f *flags, q api.SessionQuery, here, asJSON bool) error {
	if q.Limit < 1 || q.Limit > api.MaxSessions {
		return usagef("--limit is 1 to %d", api.MaxSessions)
	}
	s, _, dir, err := p.settings(c, f)
	if err != nil {
		return err
	}
	if here {
		q.Workspace = s.Workspace
	}
	a, err := app.New(ctx, app.Options{Settings: s, Dir: dir})
	if err != nil {
		return err
	}
	infos, err := a.Sessions(ctx, q)
	if closeErr := a.Close(ctx); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(p.stdout)
		for _, i := range infos {
			if err := out.Encode(i); err != nil {
				return err
			}
		}
		return nil
	}
	if len(infos) == 0 {
		fmt.Fprintln(p.stderr, "no session found")
		return nil
	}
	fmt.Fprintln(p.stdout, render.HeadedTable([]string{"id", "used", "entries", "model", "name or first prompt", "workspace"},
		sessionRows(infos), p.renderOptions(s)))
	return nil
}

func sessionRows(infos []api.SessionInfo) [][]string {
	var rows [][]string
	for _, i := range infos {
		title := i.Name
		if title == "" {
			title = i.Preview
		}
		rows = append(rows, []string{i.ID, i.Updated.Local().Format(time.DateTime), fmt.Sprint(i.Entries), i.Model,
			text.Cut(text.CleanLine(title), 50, "…"), i.Workspace})
	}
	return rows
}
