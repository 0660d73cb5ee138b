package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"octavo/app/api"
	"octavo/app/session"
	"octavo/app/settings"
	"octavo/pages/text"
	"octavo/sessionstore"
)

const sessionsHelp = `Looks at stored sessions and changes what is kept of them. It asks no model and starts no session.

A session is meant by its id, the start of its id, or its name. With --mode json each line of the output is one
JSON object with a type; fields that say nothing are left out. What a session is in JSON:

  type "session", id, name, title, tags, preview, workspace, model, effort, policy, private, entries
  created, updated        times in RFC 3339
  parent, parent_entry    the session it was forked from, and the last entry they share
  stage                   idle, interrupted, or where a turn stands: model, tool
  deleted, purged_after   when it was deleted, and from when on it may be removed for good`

func newSessions(p *process, f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "look at stored sessions, rename, export, delete, repair",
		Long:  sessionsHelp,
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&f.mode, "mode", "", "json: one JSON object a line")
	c.AddCommand(newSessionsList(p, f), newSessionsInspect(p, f), newSessionsRename(p, f), newSessionsTag(p, f),
		newSessionsExport(p, f), newSessionsDelete(p, f), newSessionsRestore(p, f), newSessionsPurge(p, f), newSessionsRepair(p, f))
	return c
}

// between takes so many arguments; most 0 is any number. what says of what.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return usagef("%s takes %s; %s --help shows how", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

// shelf is the stored sessions while a command works on them.
type shelf struct {
	*process
	store    *sessionstore.Store // nil when nothing was ever stored
	settings *settings.Settings
	json     bool
}

// shelf opens what is stored for use.
func (p *process) shelf(c *cobra.Command, f *flags, use func(context.Context, *shelf) error) (err error) {
	x, err := p.closedShelf(c, f)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(x.settings.Home, sessionstore.FileName)); errors.Is(err, fs.ErrNotExist) {
		return use(c.Context(), x) // looking makes no home
	}
	if x.store, err = sessionstore.Open(c.Context(), sessionstore.Options{Dir: x.settings.Home}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.store.Close()) }()
	if err := use(c.Context(), x); !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return nil // a reader that has seen enough is none
}

func (p *process) closedShelf(c *cobra.Command, f *flags) (*shelf, error) {
	if f.mode != "" && f.mode != "json" {
		return nil, usagef("%s: --mode is json, not %q; without it there is text", c.CommandPath(), f.mode)
	}
	s, _, _, err := p.settings(c, f)
	if err != nil {
		return nil, err
	}
	if s.Home == "" {
		return nil, settings.ErrNoHome
	}
	return &shelf{process: p, settings: s, json: f.mode == "json"}, nil
}

// onSessions makes the RunE of a command that works on the sessions it is given.
func (p *process) onSessions(f *flags, use func(context.Context, *shelf, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return p.shelf(c, f, func(ctx context.Context, x *shelf) error { return use(ctx, x, args) })
	}
}

// line writes one line of --mode json.
func (x *shelf) line(v any) error { return json.NewEncoder(x.stdout).Encode(v) }

// say writes one line for a person. Its arguments are cleaned.
func (x *shelf) say(format string, args ...any) error {
	_, err := fmt.Fprintln(x.stdout, text.CleanLine(fmt.Sprintf(format, args...)))
	return err
}

// did tells of a session that was changed, in JSON or in words. What cannot be written ends no work that is half done: the process
// remembers it.
func (x *shelf) did(v any, format string, args ...any) {
	if x.json {
		_ = x.line(v)
	} else {
		_ = x.say(format, args...)
	}
}

// sessionLine is a session in JSON; sessionsHelp tells of it.
type sessionLine struct {
	Type string `json:"type"`
	api.SessionInfo
	ParentEntry int64      `json:"parent_entry,omitempty"`
	Stage       string     `json:"stage"`
	Deleted     *time.Time `json:"deleted,omitempty"`
	PurgedAfter *time.Time `json:"purged_after,omitempty"`
}

func newSessionLine(v sessionstore.Session) sessionLine {
	l := sessionLine{Type: "session", SessionInfo: session.Info(v), ParentEntry: v.ParentSeq, Stage: string(v.Stage)}
	if gone := v.Gone(); !gone.IsZero() {
		l.Deleted, l.PurgedAfter = &v.Deleted, &gone
	}
	return l
}

// called is what a person calls a session.
func called(v sessionstore.Session) string { return session.Info(v).Called() }

// label names a session in a sentence.
func label(v sessionstore.Session) string {
	if name := text.Cut(text.CleanLine(called(v)), maxCalled, "…"); name != "" {
		return fmt.Sprintf("%s (%s)", v.ID, name)
	}
	return v.ID
}

// maxCalled is how much of what a session is called a sentence repeats, in cells.
const maxCalled = 50

// day is how times are written that a person has to keep.
func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// among says where a session that was asked for was looked for.
type among int

const (
	amongLive among = iota
	amongDeleted
	amongAll
)

// find is the session a person means.
func (x *shelf) find(ctx context.Context, asked string, where among) (sessionstore.Session, error) {
	none := fmt.Errorf("there is no session %q; octavo sessions list shows them, octavo sessions list --deleted what was deleted", asked)
	if x.store == nil {
		return sessionstore.Session{}, none
	}
	live, err := x.store.Resolve(ctx, asked)
	if err != nil && !errors.Is(err, sessionstore.ErrNotFound) || err == nil && where != amongDeleted {
		return live, err
	}
	deleted, trashErr := x.deleted(ctx, asked)
	switch {
	case trashErr == nil && where != amongLive:
		return deleted, nil
	case trashErr == nil:
		return sessionstore.Session{}, fmt.Errorf("session %s is deleted; octavo sessions restore %s brings it back", label(deleted), deleted.ID)
	case err == nil:
		return sessionstore.Session{}, fmt.Errorf("session %s is not deleted; octavo sessions delete %s does that", label(live), live.ID)
	case errors.Is(trashErr, sessionstore.ErrNotFound):
		return sessionstore.Session{}, none
	}
	return sessionstore.Session{}, trashErr
}

// deleted finds a deleted session as the store finds others: by exact id, else by exact name, else by the start of its id.
func (x *shelf) deleted(ctx context.Context, asked string) (sessionstore.Session, error) {
	rows, err := x.store.Sessions(ctx, sessionstore.Filter{Deleted: true})
	if err != nil {
		return sessionstore.Session{}, err
	}
	for _, fits := range []func(sessionstore.Session) bool{
		func(v sessionstore.Session) bool { return v.ID == asked },
		func(v sessionstore.Session) bool { return v.Name == asked },
		func(v sessionstore.Session) bool { return strings.HasPrefix(v.ID, asked) },
	} {
		some := slices.DeleteFunc(slices.Clone(rows), func(v sessionstore.Session) bool { return asked == "" || !fits(v) })
		switch {
		case len(some) == 1:
			return some[0], nil
		case len(some) > 1:
			return sessionstore.Session{}, &sessionstore.AmbiguousError{Prefix: asked, Candidates: some[:min(len(some), sessionstore.MaxCandidates)]}
		}
	}
	return sessionstore.Session{}, sessionstore.ErrNotFound
}

// findAll is find for several, each once.
func (x *shelf) findAll(ctx context.Context, asked []string, where among) ([]sessionstore.Session, error) {
	var list []sessionstore.Session
	for _, a := range asked {
		v, err := x.find(ctx, a, where)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o sessionstore.Session) bool { return o.ID == v.ID }) {
			list = append(list, v)
		}
	}
	return list, nil
}

// lockAll takes sessions for this command alone, all of them or none.
func (x *shelf) lockAll(ctx context.Context, list []sessionstore.Session) (release func() error, err error) {
	var locks []*sessionstore.Lock
	release = func() (err error) {
		for _, l := range locks {
			err = errors.Join(err, l.Release())
		}
		return err
	}
	for _, v := range list {
		l, err := x.store.LockSession(ctx, v.ID)
		if held := (*sessionstore.HeldError)(nil); errors.As(err, &held) {
			held.Next = "close it there first"
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		locks = append(locks, l)
	}
	return release, nil
}

// openElsewhere says who has a session open; "" when nobody has.
func openElsewhere(h *sessionstore.HeldError) string {
	switch {
	case h == nil:
		return ""
	case h.PID == 0:
		return "open in another process"
	}
	return fmt.Sprintf("open in process %d (%s, since %s)", h.PID, text.CleanLine(h.Command), h.Since.Local().Format(stamp))
}

// stamp is how a moment is written.
const stamp = "2006-01-02 15:04"

// canAsk says that somebody is there to answer a question.
func (p *process) canAsk() bool { return echo(p.stdin) != nil && echo(p.stderr) != nil }

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 1000

// agree asks on the terminal. Only a y agrees, and only one that was typed after the question stood there.
func (p *process) agree(ctx context.Context, question string) (bool, error) {
	if err := flush(p.stdin)(); err != nil {
		return false, err
	}
	fmt.Fprint(p.stderr, question+" [y/N] ")
	line, err := receive(ctx, p.stdin, maxAnswer, true)
	if !strings.HasSuffix(line, "\n") {
		fmt.Fprintln(p.stderr) // it was ended without an answer
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", err
}

// eachStored goes through stored sessions for a shell that completes, which makes no home and shows no error.
func eachStored(ctx context.Context, f sessionstore.Filter, use func(sessionstore.Session)) cobra.ShellCompDirective {
	const answer = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	home, err := settings.Home(nil)
	if err == nil {
		_, err = os.Stat(filepath.Join(home, sessionstore.FileName))
	}
	if err != nil {
		return answer
	}
	store, err := sessionstore.Open(ctx, sessionstore.Options{Dir: home})
	if err != nil {
		return answer
	}
	defer store.Close()
	rows, err := store.Sessions(ctx, f)
	if err == nil {
		for _, v := range rows {
			use(v)
		}
	}
	return answer
}

// completeSessions has a shell complete ids and names, for as many arguments as the command takes; most 0 is any number.
func completeSessions(where among, most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var rows []sessionstore.Session
		keep := func(v sessionstore.Session) { rows = append(rows, v) }
		var directive cobra.ShellCompDirective
		if where != amongDeleted {
			directive = eachStored(c.Context(), sessionstore.Filter{}, keep)
		}
		if where != amongLive {
			directive = eachStored(c.Context(), sessionstore.Filter{Deleted: true}, keep)
		}
		words := sessionCompletions(rows, args, begun)
		return words[:min(len(words), maxCompleted)], directive
	}
}

// sessionCompletions are the ids, and then the names, that begin as what was begun.
func sessionCompletions(rows []sessionstore.Session, given []string, begun string) (words []cobra.Completion) {
	for _, named := range []bool{false, true} {
		for _, v := range rows {
			word, about := v.ID, called(v)
			if named {
				word, about = v.Name, v.ID
			}
			if word == "" || !strings.HasPrefix(word, begun) || slices.Contains(given, word) || text.CleanLine(word) != word {
				continue
			}
			words = append(words, cobra.CompletionWithDesc(word, text.Cut(text.CleanLine(about), maxCalled, "…")))
		}
	}
	return words
}
