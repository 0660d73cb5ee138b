package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
	"octavo/sessionstore"
)

const sessionsListHelp = `Lists sessions, the most recently used first; of deleted ones, the one deleted last.

  octavo sessions list --here            those of this workspace
  octavo sessions list --query parser    those with the word in their id, name, title, first prompt, tags or workspace
  octavo sessions list --tag urgent
  octavo sessions list --deleted         what octavo sessions restore can bring back, and until when

With --mode json each line is a session: octavo sessions --help tells its fields.`

// listing is the command line of octavo sessions list.
type listing struct {
	sessionstore.Filter
	here, all, json bool
	limit           int
}

func newSessionsList(p *process, f *flags) *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:   "list",
		Short: "list sessions, the most recently used first",
		Long:  sessionsListHelp,
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			switch changed := c.Flags().Changed; {
			case changed("all") && changed("limit"):
				return usagef("--all and --limit exclude each other")
			case l.limit < 1 || l.limit > api.MaxSessions:
				return usagef("--limit is 1 to %d, not %d; --all lists every session", api.MaxSessions, l.limit)
			}
			return p.shelf(c, f, l.show)
		},
	}
	g := c.Flags()
	g.SortFlags = false
	g.StringVar(&l.Query, "query", "", "only those with this in id, name, title, first prompt, tags or workspace")
	g.StringVar(&l.Tag, "tag", "", "only those with this tag")
	g.BoolVar(&l.here, "here", false, "only this workspace's")
	g.BoolVar(&l.Deleted, "deleted", false, "those that were deleted and can be restored")
	g.IntVar(&l.limit, "limit", 50, "most lines")
	g.BoolVar(&l.all, "all", false, "every one, however many")
	g.BoolVar(&l.json, "json", false, "the same as --mode json")
	return c
}

func (l *listing) show(ctx context.Context, x *shelf) error {
	if l.here {
		l.Workspace = x.settings.Workspace
	}
	var rows []sessionstore.Session
	if x.store != nil {
		var err error
		if !l.all && !l.Deleted {
			l.Limit = l.limit
		}
		if rows, err = x.store.Sessions(ctx, l.Filter); err != nil {
			return err
		}
	}
	if l.Deleted {
		slices.SortStableFunc(rows, func(a, b sessionstore.Session) int { return b.Deleted.Compare(a.Deleted) })
		if !l.all {
			rows = rows[:min(len(rows), l.limit)]
		}
	}
	if x.json || l.json {
		for _, v := range rows {
			if err := x.line(newSessionLine(v)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(x.stderr, "no session found")
		return nil
	}
	o := x.renderOptions(x.settings)
	head, cells := l.table(rows, o.Width)
	_, err := fmt.Fprintln(x.stdout, render.HeadedTable(head, cells, o))
	return err
}

// From how many cells on a list has room for more columns than the first ones.
const (
	roomForFacts     = 90
	roomForWorkspace = 130
)

// table is what a list shows in so many cells; 0 is a reader that has all room.
func (l *listing) table(rows []sessionstore.Session, width int) (head []string, cells [][]string) {
	room := func(least int) bool { return width == 0 || width >= least }
	head = []string{"id", "used", "name or first prompt"}
	if l.Deleted {
		head[1] = "until"
	}
	if room(roomForFacts) {
		head = append(head, "tags", "entries", "model")
	}
	if room(roomForWorkspace) {
		head = append(head, "workspace")
	}
	ids := shortened(rows, width)
	for i, v := range rows {
		name := text.Cut(text.CleanLine(called(v)), maxCalled, "…")
		row := []string{ids[i], v.Updated.Local().Format(stamp), name}
		if l.Deleted {
			row[1] = v.Gone().Local().Format(time.DateOnly)
		}
		if tags := strings.Join(v.Tags, " "); room(roomForFacts) {
			row = append(row, tags, fmt.Sprint(v.Entries), v.Model)
		} else if tags != "" {
			row[2] = strings.TrimSpace(name + "  #" + strings.Join(v.Tags, " #"))
		}
		if room(roomForWorkspace) {
			row = append(row, v.Workspace)
		}
		cells = append(cells, row)
	}
	return head, cells
}

// idStart is how much of an id names one moment, up to a thousandth of a second: enough to tell sessions apart that a person starts.
const idStart = len("01890000-0000")

// shortened are the ids as they are shown: on a screen their beginnings, where that tells them apart.
func shortened(rows []sessionstore.Session, width int) []string {
	count := map[string]int{}
	start := func(id string) string { return id[:min(len(id), idStart)] }
	for _, v := range rows {
		count[start(v.ID)]++
	}
	ids := make([]string, len(rows))
	for i, v := range rows {
		if ids[i] = v.ID; width > 0 && count[start(v.ID)] == 1 {
			ids[i] = start(v.ID)
		}
	}
	return ids
}
