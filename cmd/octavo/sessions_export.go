package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"octavo/app/api"
	"octavo/app/export"
	"octavo/app/session"
	"octavo/pages/text"
	"octavo/sessionstore"
)

const sessionsExportHelp = `Writes a session into one file that stands alone: json for programs, html for a browser, or markdown. Keys that octavo
knows and what looks like a credential are taken out, unless --include-secrets is given.

  octavo sessions export 0198a3f2 --format html           writes octavo-0198a3f2-....html in this folder
  octavo sessions export "parser rewrite" --output talk.md
  octavo sessions export 0198a3f2 | jq .                  what is piped on goes to no file

The ending of PATH chooses the format when --format does not; else it is json. A file is readable for its owner only.
With --mode json: a line of type export with id, path and format.`

// exporting is the command line of octavo sessions export.
type exporting struct {
	format, output string
	force, secrets bool
}

func newSessionsExport(p *process, f *flags) *cobra.Command {
	var e exporting
	c := &cobra.Command{
		Use:               "export ID",
		Short:             "write a session into a file: json, html or markdown",
		Long:              sessionsExportHelp,
		Args:              between(1, 1, "one session"),
		ValidArgsFunction: completeSessions(amongAll, 1),
		RunE: func(c *cobra.Command, args []string) error {
			format, err := e.choose()
			if err != nil {
				return err
			}
			return p.shelf(c, f, func(ctx context.Context, x *shelf) error {
				v, err := x.find(ctx, args[0], amongAll)
				if err != nil {
					return err
				}
				return x.export(ctx, v, format, e)
			})
		},
	}
	l := c.Flags()
	l.SortFlags = false
	l.StringVar(&e.format, "format", "", "json, html or markdown")
	l.StringVarP(&e.output, "output", "o", "", "write to this `PATH`; - is standard output")
	l.BoolVar(&e.force, "force", false, "replace a file that is there")
	l.BoolVar(&e.secrets, "include-secrets", false, "take nothing out")
	var formats []cobra.Completion
	for _, format := range export.Formats {
		formats = append(formats, string(format))
	}
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	return c
}

// toStdout is the path that means standard output.
const toStdout = "-"

// choose is the format that the command line asks for.
func (e exporting) choose() (export.Format, error) {
	asked, from := cmp.Or(e.format, string(export.JSON)), "--format"
	if ending := strings.TrimPrefix(filepath.Ext(e.output), "."); e.format == "" && e.output != "" && e.output != toStdout {
		asked, from = ending, "the ending of --output"
	}
	format, err := export.ParseFormat(asked)
	if err != nil {
		return "", usagef("%s: %w", from, err)
	}
	return format, nil
}

// exportLine tells in JSON what was written.
type exportLine struct {
	Type   string        `json:"type"` // "export"
	ID     string        `json:"id"`
	Path   string        `json:"path"`
	Format export.Format `json:"format"`
}

func (x *shelf) export(ctx context.Context, v sessionstore.Session, format export.Format, e exporting) error {
	s, err := x.exported(ctx, v)
	if err != nil {
		return err
	}
	o := export.Options{Redact: x.settings.Redactor().Redact, Secrets: e.secrets}
	if e.output == toStdout || e.output == "" && !x.json && !term.IsTerminal(x.stdout.Fd()) {
		if x.json {
			return usagef("--mode json and an export share no standard output; name a file with --output")
		}
		return export.Write(ctx, x.stdout, format, s, o)
	}
	path := cmp.Or(e.output, "octavo-"+v.ID[:min(len(v.ID), idStart)]+format.Ending())
	if err := export.WriteFile(ctx, path, e.force, format, s, o); err != nil {
		return err
	}
	if x.json {
		return x.line(exportLine{"export", v.ID, path, format})
	}
	if e.secrets {
		fmt.Fprintln(x.stderr, "Nothing was taken out of it: look through it before you give it to anyone.")
	}
	size := ""
	if info, err := os.Stat(path); err == nil {
		size = ", " + text.Bytes(info.Size())
	}
	return x.say("session %s is exported to %s%s", label(v), path, size)
}

// exported is a session as the export wants it.
func (x *shelf) exported(ctx context.Context, v sessionstore.Session) (export.Session, error) {
	t, err := x.store.Totals(ctx, v.ID)
	if err != nil {
		return export.Session{}, err
	}
	info := session.Info(v)
	info.Scripted = strings.HasPrefix(info.Model, demoProvider+"/")
	s := export.Session{Info: info, Tags: v.Tags, Exported: time.Now(), Version: versionText(),
		Usage: api.Usage{Requests: t.Requests, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output,
			Reasoning: t.Reasoning, Unpriced: t.Unpriced, Unreported: t.Unreported},
		Blob: func(sha256 string) ([]byte, error) { return x.store.Blob(ctx, sha256) }}
	if t.Requests > t.Unpriced {
		s.Usage.CostMicro = &t.CostMicro
	}
	rows, err := x.store.Sessions(ctx, sessionstore.Filter{})
	for _, r := range rows {
		if r.Parent == v.ID {
			s.Forks = append(s.Forks, session.Info(r))
		}
	}
	s.Entries = func(yield func(api.Entry, error) bool) {
		enough := errors.New("nobody reads on")
		err := x.eachEntry(ctx, v.ID, session.Redaction{}, func(e api.Entry) error {
			if !yield(e, nil) {
				return enough
			}
			return nil
		})
		if err != nil && err != enough {
			yield(api.Entry{}, err)
		}
	}
	return s, err
}
