package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/pages/text"
	"octavo/render"
	"octavo/sessionstore"
)

var sessionsDeleteHelp = fmt.Sprintf(`Deletes sessions: they are not listed any more and cannot be gone on with. For %d days octavo sessions restore
brings them back; then they may be removed for good. A session that is open is not deleted.

  octavo sessions delete 0198a3f2
  octavo sessions delete --yes 0198a3f2 "parser rewrite"
  octavo sessions list --deleted`, sessionstore.TrashDays)

func newSessionsDelete(p *process, f *flags) *cobra.Command {
	var sure bool
	c := &cobra.Command{
		Use:               "delete ID...",
		Short:             fmt.Sprintf("delete sessions; for %d days they can be restored", sessionstore.TrashDays),
		Long:              sessionsDeleteHelp,
		Args:              between(1, 0, "sessions"),
		ValidArgsFunction: completeSessions(amongLive, 0),
		RunE: p.onSessions(f, func(ctx context.Context, x *shelf, args []string) error {
			list, err := x.findAll(ctx, args, amongAll)
			if err != nil {
				return err
			}
			return x.trash(ctx, list, sure)
		}),
	}
	c.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask, as it does on a terminal for several sessions")
	return c
}

func (x *shelf) trash(ctx context.Context, list []sessionstore.Session, sure bool) (err error) {
	var live []sessionstore.Session
	for _, v := range list {
		if v.Deleted.IsZero() {
			live = append(live, v)
		}
	}
	release, err := x.lockAll(ctx, live)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if len(live) > 1 && !sure && x.canAsk() {
		for _, v := range live {
			fmt.Fprintln(x.stderr, "  "+label(v))
		}
		if yes, err := x.agree(ctx, "Delete these "+text.Plural(len(live), "session")+"?"); err != nil || !yes {
			fmt.Fprintln(x.stderr, "Nothing was deleted.")
			return err
		}
	}
	for _, v := range list {
		already := !v.Deleted.IsZero()
		if !already {
			if err := x.store.DeleteSession(ctx, v.ID); err != nil {
				return err
			}
		}
		now, err := x.deleted(ctx, v.ID)
		if err != nil {
			return err
		}
		how := "is deleted"
		if already {
			how = "was deleted already"
		}
		x.did(newSessionLine(now), "session %s %s; octavo sessions restore %s brings it back until %s", label(now), how, now.ID, day(now.Gone()))
	}
	return nil
}

const sessionsRestoreHelp = `Brings deleted sessions back as they were.

  octavo sessions list --deleted
  octavo sessions restore 0198a3f2`

func newSessionsRestore(p *process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:               "restore ID...",
		Short:             "bring deleted sessions back",
		Long:              sessionsRestoreHelp,
		Args:              between(1, 0, "deleted sessions"),
		ValidArgsFunction: completeSessions(amongDeleted, 0),
		RunE: p.onSessions(f, func(ctx context.Context, x *shelf, args []string) error {
			list, err := x.findAll(ctx, args, amongDeleted)
			if err != nil {
				return err
			}
			for _, v := range list {
				if err := x.store.RestoreSession(ctx, v.ID); err != nil {
					return err
				}
				if v, err = x.store.Session(ctx, v.ID); err != nil {
					return err
				}
				x.did(newSessionLine(v), "session %s is restored; octavo --resume %s goes on", label(v), v.ID)
			}
			return nil
		}),
	}
}

const sessionsPurgeHelp = `Removes deleted sessions for good: what was said and done in them, their pictures, and what extensions keep of them.
Nothing brings them back. What they used stays in octavo usage. It asks first, unless --yes is given.

  octavo sessions delete 0198a3f2
  octavo sessions purge 0198a3f2
  octavo sessions purge --all --yes    everything that is deleted

With --mode json: a line of type purged with the id for each session.`

func newSessionsPurge(p *process, f *flags) *cobra.Command {
	var sure, all bool
	c := &cobra.Command{
		Use:               "purge ID... | --all",
		Short:             "remove deleted sessions for good",
		Long:              sessionsPurgeHelp,
		ValidArgsFunction: completeSessions(amongDeleted, 0),
		Args: func(c *cobra.Command, args []string) error {
			if all != (len(args) == 0) {
				return usagef("octavo sessions purge takes deleted sessions or --all; octavo sessions list --deleted shows them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return p.purge(c, f, args, sure) },
	}
	c.Flags().BoolVar(&all, "all", false, "every deleted session")
	c.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return c
}

// purge opens an app, because extensions clean up what they keep of a session.
func (p *process) purge(c *cobra.Command, f *flags, args []string, sure bool) (err error) {
	ctx := c.Context()
	x, err := p.closedShelf(c, f)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(x.settings.Home, sessionstore.FileName)); errors.Is(err, fs.ErrNotExist) {
		_, err := x.findAll(ctx, args, amongDeleted)
		return err
	}
	dir, err := startDir()
	if err != nil {
		return err
	}
	a, err := app.New(ctx, app.Options{Settings: x.settings, Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	x.store = a.Store()
	list, err := x.findAll(ctx, args, amongDeleted)
	if err == nil && len(args) == 0 {
		list, err = x.store.Sessions(ctx, sessionstore.Filter{Deleted: true})
	}
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(x.stderr, "no session is deleted")
		return nil
	}
	return x.removeForGood(ctx, list, sure)
}

func (x *shelf) removeForGood(ctx context.Context, list []sessionstore.Session, sure bool) (err error) {
	release, err := x.lockAll(ctx, list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if !sure {
		if err := x.showWhatGoes(ctx, list); err != nil {
			return err
		}
		if !x.canAsk() {
			return errors.New("nothing was removed; add --yes to remove them for good without being asked")
		}
		if yes, err := x.agree(ctx, "Remove "+text.Plural(len(list), "session")+" for good?"); err != nil || !yes {
			fmt.Fprintln(x.stderr, "Nothing was removed.")
			return err
		}
	}
	for _, v := range list {
		if err := x.store.PurgeSession(ctx, v.ID); err != nil {
			return err
		}
		x.did(purgedLine{"purged", v.ID}, "session %s is removed for good", label(v))
	}
	return nil
}

// purgedLine is a session that is gone, in JSON.
type purgedLine struct {
	Type string `json:"type"` // "purged"
	ID   string `json:"id"`
}

// showWhatGoes lists on stderr what a purge would remove.
func (x *shelf) showWhatGoes(ctx context.Context, list []sessionstore.Session) error {
	var rows [][]string
	for _, v := range list {
		pictures, size, err := x.store.Attached(ctx, v.ID)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%d entries", v.Entries)
		if pictures > 0 {
			what += fmt.Sprintf(", %s (%s)", text.Plural(pictures, "picture"), text.Bytes(size))
		}
		rows = append(rows, []string{v.ID, text.Cut(text.CleanLine(called(v)), maxCalled, "…"), what, "deleted " + day(v.Deleted)})
	}
	o := render.Options{Width: x.renderOptions(x.settings).Width}
	fmt.Fprintln(x.stderr, strings.TrimRight(render.Table(rows, o), "\n"))
	fmt.Fprintln(x.stderr, "This cannot be undone. What they used stays in octavo usage.")
	return nil
}
