package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/app/api"
	"octavo/app/plain"
	"octavo/app/settings"
	"octavo/pages/text"
	"octavo/render"
)

// settings loads the configuration for the command line.
func (p *process) settings(c *cobra.Command, f *flags) (s *settings.Settings, warnings []settings.Warning, dir string, err error) {
	layer, err := f.layer(c)
	if err != nil {
		return nil, nil, "", err
	}
	if dir, err = startDir(); err != nil {
		return nil, nil, "", err
	}
	workspace, err := findWorkspace(f.workspace, dir)
	if err != nil {
		return nil, nil, "", err
	}
	home, err := settings.Home(nil)
	if err != nil {
		return nil, nil, "", err
	}
	s, warnings, err = settings.Load(settings.Sources{Home: home, Workspace: workspace, Trusted: f.trusted, Flags: layer})
	p.configured = s
	return s, warnings, dir, err
}

// mode is a way to talk to a session.
type mode int

const (
	modeLines mode = iota
	modePrint
	modeJSON
	modeRPC
)

// choose picks the mode (product.md 1.1).
func (p *process) choose(f *flags, s *settings.Settings) mode {
	switch {
	case f.mode == "rpc":
		return modeRPC
	case f.mode == "json":
		return modeJSON
	case f.print || !term.IsTerminal(p.stdin.Fd()) && !s.Plain && f.mode != "interactive":
		return modePrint
	default:
		return modeLines
	}
}

// session opens a session and hands it to a front end.
func (p *process) session(ctx context.Context, c *cobra.Command, f *flags, args []string) (err error) {
	if err := f.check(c); err != nil {
		return err
	}
	s, warnings, dir, err := p.settings(c, f)
	for _, w := range warnings {
		fmt.Fprintln(p.stderr, "[config] "+text.Clean(w.String()))
	}
	if err != nil {
		return err
	}
	m := p.choose(f, s)
	prompts, err := p.gather(ctx, m, dir, args)
	if err != nil {
		return err
	}
	o := p.appOptions(s, dir, f)
	o.Titles = m == modeLines || m == modeRPC // where somebody will look for the session again
	a, err := app.New(ctx, o)
	if err != nil {
		return err
	}
	// The end of the context asks for the end of the work; closing it properly is not given up.
	defer func() {
		closing := a.Close(context.WithoutCancel(ctx))
		if closing != nil && p.told && err == nil {
			_ = plain.WriteError(p.stdout, closing) // the error that main reports says the same
		}
		err = errors.Join(err, closing)
	}()
	open, err := f.open(m)
	if err != nil {
		return err
	}
	session, err := a.Open(ctx, open)
	if err != nil {
		return err
	}
	front := p.plainOptions(s, f)
	switch m {
	case modeRPC:
		p.told = true
		return plain.RPC(ctx, a, session, open, front)
	case modeJSON:
		p.told = true
		return plain.JSON(ctx, session, prompts, front)
	case modePrint:
		return plain.Print(ctx, session, prompts, front)
	default:
		p.interactive.Store(true)
		defer p.interactive.Store(false)
		return plain.Interactive(ctx, a, session, prompts, front)
	}
}

// open is the session that the command line asks for.
func (f *flags) open(m mode) (api.OpenRequest, error) {
	r := api.OpenRequest{ID: f.resume, Latest: f.continued, Name: f.name, Model: f.model, Effort: f.reasoning, Policy: f.policy(), Private: f.noSession}
	if f.noSession && m == modeLines {
		return r, usagef("--no-session is for -p and --mode json or rpc; /quit an interactive session and octavo sessions delete it")
	}
	if f.fork == "" {
		return r, nil
	}
	r.Fork = true
	id, entry, cut := strings.Cut(f.fork, "@")
	if r.ID = id; cut {
		n, err := strconv.ParseInt(entry, 10, 64)
		if err != nil || n < 1 {
			return r, usagef("--fork ID@ENTRY takes the number of an entry, not %q; octavo sessions inspect ID --entries lists them", entry)
		}
		r.ForkAt = n
	}
	if r.ID == "" {
		return r, usagef("--fork needs a session: its id, the start of its id, or its name")
	}
	return r, nil
}

func (p *process) appOptions(s *settings.Settings, dir string, f *flags) app.Options {
	o := app.Options{Settings: s, Dir: dir, OnlyTools: f.tools, ExcludeTools: f.excludeTools, Observe: observe()}
	if f.noTools {
		o.OnlyTools = []string{}
	}
	return o
}

// gather makes prompts of the command line and of what is piped in.
func (p *process) gather(ctx context.Context, m mode, dir string, args []string) ([]api.Input, error) {
	if m == modeRPC {
		return nil, refusePrompts(args)
	}
	home, _ := os.UserHomeDir() // only for ~/ in @PATH; without one such a path is not found, which says enough
	g := plain.GatherOptions{Args: args, Dir: dir, Home: home}
	if m != modeLines && !term.IsTerminal(p.stdin.Fd()) {
		g.Stdin = p.stdin
	}
	prompts, err := plain.Gather(ctx, g)
	if err != nil {
		return nil, err
	}
	switch {
	case m == modeLines && len(prompts) > 1:
		return nil, usagef("an interactive session takes one prompt; -p takes several")
	case m == modeLines && len(prompts) == 1 && len(prompts[0].Images) > 0:
		return nil, usagef("an interactive session takes no image on the command line; -p does")
	case m != modeLines && len(prompts) == 0:
		return nil, usagef("there is no prompt: give one as an argument, or pipe one in")
	}
	return prompts, nil
}

// colour decides once how much colour stdout gets (deps.md 5): the configuration, then NO_COLOR and the terminal as termenv
// reads them.
func (p *process) colour(s *settings.Settings) termenv.Profile {
	switch s.Color {
	case "never":
		return termenv.Ascii
	case "always":
		return termenv.ANSI
	}
	out := termenv.NewOutput(p.stdout)
	if out.EnvNoColor() {
		return termenv.Ascii
	}
	return out.EnvColorProfile()
}

// defaultWidth is taken where stdout has no width of its own, in cells.
const defaultWidth = 100

func (p *process) renderOptions(s *settings.Settings) render.Options {
	o := render.Options{Palette: render.NewPalette(p.colour(s))}
	if term.IsTerminal(p.stdout.Fd()) {
		if w, _, err := term.GetSize(p.stdout.Fd()); err == nil && w > 0 {
			o.Width = w
		} else {
			o.Width = defaultWidth
		}
	}
	return o
}

func (p *process) plainOptions(s *settings.Settings, f *flags) plain.Options {
	r := p.renderOptions(s)
	return plain.Options{Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Terminal: term.IsTerminal(p.stdout.Fd()),
		Palette: r.Palette, Width: r.Width, Redact: s.Redactor().RedactKeys, Dumb: os.Getenv("TERM") == "dumb", ShowReasoning: f.showReasoning, Interrupts: p.interrupts, Echo: echo(p.stdin),
		Flush: flush(p.stdin)}
}
