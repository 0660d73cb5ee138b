// Package composition makes one session's composition out of a list of extensions: who contributes what, in which order. It
// knows no session and runs no tool; what it makes is immutable until Close.
package composition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"octavo/ext"
	"octavo/sessionstore"
)

// Labelled is text with the name of the extension that contributed it.
type Labelled struct{ Extension, Text string }

// Tool is a tool with the extension that contributed it.
type Tool struct {
	ext.Tool
	Extension string
}

// Command is a command with the extension that contributed it.
type Command struct {
	ext.Command
	Extension string
}

// Inactive is an extension that was asked for and is not active, with the reason.
type Inactive struct{ Extension, Reason string }

// Composition is the outcome of preparing a selection for one session (plugins.md 2.5).
type Composition struct {
	Requested    []string   // in order
	Active       []string   // in order
	Inactive     []Inactive // in order
	Tools        []Tool
	Commands     []Command
	Instructions []Labelled
	Contexts     []Labelled
	Warnings     []Labelled

	closers []closer
}

type closer struct {
	extension string
	close     func()
}

// Selection is what to compose and for whom.
type Selection struct {
	Extensions []ext.Extension // in registry order, which decides collisions
	Prep       ext.Prep        // Ledger is filled in for each extension
	Ledgers    map[string]*sessionstore.Ledger
	// Only offers just these tools when it is not nil; Exclude then takes tools away. A name that no active extension
	// contributes is an error.
	Only, Exclude []string
}

// part is one extension with all it contributes.
type part struct {
	extension ext.Extension
	gives     []ext.Contribution // static before prepared
}

// Compose prepares every selected extension in order. An extension that fails, collides or lacks a requirement is left out whole
// and reported in Inactive. A Required one that cannot be active is an error, and so is the end of ctx; then everything prepared is
// closed.
func Compose(ctx context.Context, s Selection) (*Composition, error) {
	c := &Composition{}
	parts, err := c.gather(ctx, s)
	if err != nil {
		c.closeParts(parts)
		return nil, err
	}
	for _, p := range c.dropUnmet(parts) {
		c.add(p)
	}
	// The reason of each in the order of the request, whenever it was found.
	slices.SortStableFunc(c.Inactive, func(a, b Inactive) int {
		return slices.Index(c.Requested, a.Extension) - slices.Index(c.Requested, b.Extension)
	})
	if err := c.check(s); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// gather prepares the extensions and takes their names. Those that fail are closed and inactive; the others are answered even with
// an error, which is the end of ctx.
func (c *Composition) gather(ctx context.Context, s Selection) ([]part, error) {
	var parts []part
	taken := newClaims()
	for _, e := range s.Extensions {
		if err := ctx.Err(); err != nil {
			return parts, fmt.Errorf("prepare extensions: %w", err)
		}
		p := part{extension: e, gives: []ext.Contribution{e.Static}}
		err := taken.name(e.Name)
		c.Requested = append(c.Requested, e.Name)
		if err == nil {
			err = p.prepare(ctx, s)
		}
		if err == nil {
			err = taken.take(p)
		}
		if err != nil {
			c.closeParts([]part{p})
			c.Inactive = append(c.Inactive, Inactive{e.Name, err.Error()})
			continue
		}
		parts = append(parts, p)
	}
	if err := ctx.Err(); err != nil {
		return parts, fmt.Errorf("prepare extensions: %w", err)
	}
	return parts, nil
}

// check refuses a composition without what must be there, and keeps the tools that were asked for.
func (c *Composition) check(s Selection) error {
	for _, e := range s.Extensions {
		if e.Required && !slices.Contains(c.Active, e.Name) {
			return fmt.Errorf("extension %s is required and cannot run: %s", e.Name, c.reason(e.Name))
		}
	}
	return c.offer(s.Only, s.Exclude)
}

// Close closes what extensions hold, in reverse order of preparation, once.
func (c *Composition) Close() {
	held := c.closers
	c.closers = nil
	slices.Reverse(held)
	c.closeAll(held)
}

// Tool finds an active tool by its name.
func (c *Composition) Tool(name string) (Tool, bool) {
	i := slices.IndexFunc(c.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return c.Tools[i], true
}

// offer keeps the tools that were asked for.
func (c *Composition) offer(only, exclude []string) error {
	for _, name := range slices.Concat(only, exclude) {
		if _, ok := c.Tool(name); !ok {
			var names []string
			for _, t := range c.Tools {
				names = append(names, t.Name)
			}
			return fmt.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
		}
	}
	c.Tools = slices.DeleteFunc(c.Tools, func(t Tool) bool {
		return only != nil && !slices.Contains(only, t.Name) || slices.Contains(exclude, t.Name)
	})
	return nil
}

func (c *Composition) reason(name string) string {
	for _, i := range c.Inactive {
		if i.Extension == name {
			return i.Reason
		}
	}
	return "not selected"
}

func (c *Composition) closeAll(cs []closer) {
	for _, x := range cs {
		if err := guard(func() error { x.close(); return nil }); err != nil {
			c.Warnings = append(c.Warnings, Labelled{x.extension, "closing: " + err.Error()})
		}
	}
}

// closeParts closes parts in reverse order of preparation.
func (c *Composition) closeParts(parts []part) {
	var held []closer
	for _, p := range parts {
		held = append(held, p.closers()...)
	}
	slices.Reverse(held)
	c.closeAll(held)
}

// dropUnmet takes out, again and again, the parts whose requirements are not there.
func (c *Composition) dropUnmet(parts []part) []part {
	var active []string
	for _, p := range parts {
		active = append(active, p.extension.Name)
	}
	for before := -1; before != len(active); {
		before = len(active)
		for _, p := range parts {
			name := p.extension.Name
			if need := missing(p.extension, active); need != "" && slices.Contains(active, name) {
				active = slices.DeleteFunc(active, func(a string) bool { return a == name })
				c.Inactive = append(c.Inactive, Inactive{name, "requires " + need + ", which is not active"})
			}
		}
	}
	var kept, dropped []part
	for _, p := range parts {
		if slices.Contains(active, p.extension.Name) {
			kept = append(kept, p)
		} else {
			dropped = append(dropped, p)
		}
	}
	c.closeParts(dropped)
	return kept
}

func missing(e ext.Extension, active []string) string {
	for _, r := range e.Requires {
		if !slices.Contains(active, r) {
			return r
		}
	}
	return ""
}

func (c *Composition) add(p part) {
	name := p.extension.Name
	c.Active = append(c.Active, name)
	c.closers = append(c.closers, p.closers()...)
	for _, g := range p.gives {
		for _, t := range g.Tools {
			c.Tools = append(c.Tools, Tool{t, name})
		}
		for _, k := range g.Commands {
			c.Commands = append(c.Commands, Command{k, name})
		}
		for _, w := range g.Warnings {
			c.Warnings = append(c.Warnings, Labelled{name, w})
		}
		if strings.TrimSpace(g.Instructions) != "" {
			c.Instructions = append(c.Instructions, Labelled{name, g.Instructions})
		}
		if strings.TrimSpace(g.Context) != "" {
			c.Contexts = append(c.Contexts, Labelled{name, g.Context})
		}
	}
}

func (p part) closers() []closer {
	var cs []closer
	for _, g := range p.gives {
		if g.Close != nil {
			cs = append(cs, closer{p.extension.Name, g.Close})
		}
	}
	return cs
}
