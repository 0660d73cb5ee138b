package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"octavo/app/session"
	"octavo/app/settings"
	"octavo/pages/text"
	"octavo/sessionstore"
)

const sessionsRepairHelp = `Checks everything that is stored and mends what can be mended. It copies the database before it changes anything, and
needs the home for itself: close every octavo first. A database that is damaged is replaced by a new one with all that can still be read, and
kept beside it. An entry that cannot be read is marked as lost, and its session goes on. Given a session, it tells of that session only.

  octavo sessions repair
  octavo sessions repair 0198a3f2

It exits with 1 when something is lost or stays wrong. With --mode json: a line of type finding with session, text and mended
for each thing that was found, then one of type repair with backup or damaged, sessions, entries, attachments and broken.`

func newSessionsRepair(p *process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:               "repair [ID]",
		Short:             "check what is stored and mend what can be mended",
		Long:              sessionsRepairHelp,
		Args:              between(0, 1, "at most one session"),
		ValidArgsFunction: completeSessions(amongAll, 1),
		RunE:              func(c *cobra.Command, args []string) error { return p.repair(c, f, args) },
	}
}

// repair does not need the configuration to be sound.
func (p *process) repair(c *cobra.Command, f *flags, args []string) error {
	ctx := c.Context()
	if f.mode != "" && f.mode != "json" {
		return usagef("%s: --mode is json, not %q; without it there is text", c.CommandPath(), f.mode)
	}
	home, err := settings.Home(nil)
	if err == nil && home == "" {
		err = settings.ErrNoHome
	}
	if err != nil {
		return err
	}
	x := &shelf{process: p, json: f.mode == "json"}
	r, err := sessionstore.Repair(ctx, sessionstore.Options{Dir: home, Payloads: session.Payloads()})
	switch {
	case errors.Is(err, sessionstore.ErrNotFound):
		fmt.Fprintln(p.stderr, "nothing is stored in "+text.CleanLine(home)+" yet")
		return nil
	case err != nil && r.Backup != "":
		return fmt.Errorf("%w\nThe database as it was found is in %s", err, r.Backup)
	case err != nil:
		return err
	}
	if len(args) > 0 {
		if r, err = x.narrow(ctx, home, args[0], r); err != nil {
			return err
		}
	}
	x.showRepair(r)
	if r.Broken() {
		return errors.New("not everything could be mended; the lines with LOST tell what")
	}
	return nil
}

// narrow leaves of a report what is about one session and the home.
func (x *shelf) narrow(ctx context.Context, home, asked string, r sessionstore.RepairReport) (_ sessionstore.RepairReport, err error) {
	if x.store, err = sessionstore.Open(ctx, sessionstore.Options{Dir: home}); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, x.store.Close()) }()
	v, err := x.find(ctx, asked, amongAll)
	if err != nil {
		return r, err
	}
	var findings []sessionstore.Finding
	for _, f := range r.Findings {
		if f.Session == v.ID || f.Session == "" {
			findings = append(findings, f)
		}
	}
	r.Findings = findings
	return r, nil
}

// findingLine is a Finding in JSON, repairLine the end of a repair.
type findingLine struct {
	Type    string `json:"type"` // "finding"
	Session string `json:"session,omitempty"`
	Text    string `json:"text"`
	Mended  bool   `json:"mended"`
}

type repairLine struct {
	Type        string `json:"type"` // "repair"
	Backup      string `json:"backup,omitempty"`
	Damaged     string `json:"damaged,omitempty"`
	Sessions    int64  `json:"sessions"`
	Entries     int64  `json:"entries"`
	Attachments int64  `json:"attachments"`
	Broken      bool   `json:"broken"`
}

// showRepair tells what was done. That it could not be written is told after what was found: the process remembers it.
func (x *shelf) showRepair(r sessionstore.RepairReport) {
	if x.json {
		for _, f := range r.Findings {
			_ = x.line(findingLine{"finding", f.Session, f.Text, f.Mended})
		}
		_ = x.line(repairLine{"repair", r.Backup, r.Damaged, r.Sessions, r.Entries, r.Blobs, r.Broken()})
		return
	}
	var out []string
	for _, f := range r.Findings {
		state := "mended  "
		if !f.Mended {
			state = "LOST    "
		}
		if f.Session != "" {
			state += "session " + f.Session + ": "
		}
		out = append(out, state+f.Text)
	}
	out = append(out, fmt.Sprintf("checked %s, %s, %s", text.Plural(int(r.Sessions), "session"), text.Plural(int(r.Entries), "entry"),
		text.Plural(int(r.Blobs), "attachment")))
	switch {
	case r.Damaged != "":
		out = append(out, "the damaged database is kept as "+r.Damaged)
	case r.Backup != "":
		out = append(out, "the database as it was found is copied to "+r.Backup)
	case len(r.Findings) == 0:
		out = append(out, "nothing is wrong")
	}
	for i := range out {
		out[i] = text.CleanLine(out[i])
	}
	fmt.Fprintln(x.stdout, strings.Join(out, "\n"))
}
