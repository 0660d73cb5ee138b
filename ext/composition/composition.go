// Package composition makes one session's composition out of a list of extensions: who contributes what, in which order. It
// knows no session and runs no tool; what it makes is immutable until Close.
package composition

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"octavo/ext"
	"octavo/sessionstore"
)

// PrepareTime bounds the preparation of one extension.
const PrepareTime = 10 * time.Second

// MaxTools is how many tools a composition offers a model.
const MaxTools = 256

// toolName is what every wire accepts as the name of a tool.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

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
	Requested    []string // in order
	Active       []string // in order
	Inactive     []Inactive
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
// and reported in Inactive; a Required one that cannot be active is an error, and then everything prepared is closed.
func Compose(ctx context.Context, s Selection) (*Composition, error) {
	c := &Composition{}
	var parts []part
	taken := map[string]string{} // claim to extension
	for _, e := range s.Extensions {
		c.Requested = append(c.Requested, e.Name)
		p, err := prepare(ctx, e, s)
		if err == nil {
			err = claim(taken, p)
			if err != nil {
				c.closeAll(p.closers())
			}
		}
		if err != nil {
			c.Inactive = append(c.Inactive, Inactive{e.Name, err.Error()})
			continue
		}
		parts = append(parts, p)
	}
	parts = c.dropUnmet(parts)
	for _, p := range parts {
		c.add(p)
	}
	if err := c.offer(s.Only, s.Exclude); err != nil {
		c.Close()
		return nil, err
	}
	for _, e := range s.Extensions {
		if e.Required && !slices.Contains(c.Active, e.Name) {
			c.Close()
			return nil, fmt.Errorf("extension %s is required and cannot run: %s", e.Name, c.reason(e.Name))
		}
	}
	return c, nil
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

// dropUnmet takes out, again and again, the parts whose requirements are not there.
func (c *Composition) dropUnmet(parts []part) []part {
	for {
		var active []string
		for _, p := range parts {
			active = append(active, p.extension.Name)
		}
		i := slices.IndexFunc(parts, func(p part) bool { return missing(p.extension, active) != "" })
		if i < 0 {
			return parts
		}
		p := parts[i]
		c.Inactive = append(c.Inactive, Inactive{p.extension.Name, "requires " + missing(p.extension, active) + ", which is not active"})
		c.closeAll(p.closers())
		parts = slices.Delete(parts, i, i+1)
	}
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

func prepare(ctx context.Context, e ext.Extension, s Selection) (part, error) {
	p := part{extension: e, gives: []ext.Contribution{e.Static}}
	if e.Prepare == nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, PrepareTime)
	defer cancel()
	prep := s.Prep
	prep.Ledger = s.Ledgers[e.Name]
	err := guard(func() error {
		g, err := e.Prepare(ctx, prep)
		if err == nil && g != nil {
			p.gives = append(p.gives, *g)
		}
		return err
	})
	return p, err
}

// claim takes the names that p contributes, all or none.
func claim(taken map[string]string, p part) error {
	mine := map[string]bool{}
	take := func(kind, name string) error {
		key := kind + " " + name
		if owner, ok := taken[key]; ok {
			return fmt.Errorf("the %s %s is taken by %s", kind, name, owner)
		}
		if mine[key] {
			return fmt.Errorf("the %s %s is declared twice", kind, name)
		}
		mine[key] = true
		return nil
	}
	tools := 0
	for key := range taken {
		if strings.HasPrefix(key, "tool ") {
			tools++
		}
	}
	for _, g := range p.gives {
		for _, t := range g.Tools {
			if !toolName.MatchString(t.Name) {
				return fmt.Errorf("%q is no name for a tool: 1 to 64 of A-Z a-z 0-9 _ -", t.Name)
			}
			if t.Intent == nil || t.Invoke == nil {
				return fmt.Errorf("the tool %s lacks its intent or its function", t.Name)
			}
			if err := take("tool", t.Name); err != nil {
				return err
			}
			if tools++; tools > MaxTools {
				return fmt.Errorf("more than %d tools", MaxTools)
			}
		}
		for _, k := range g.Commands {
			if len(k.Name) < 2 || k.Name[0] != '/' || strings.ContainsAny(k.Name, " \t\r\n") || k.Run == nil {
				return fmt.Errorf("%q is no command: a slash and one word, with a function", k.Name)
			}
			if err := take("command", k.Name); err != nil {
				return err
			}
		}
	}
	for key := range mine {
		taken[key] = p.extension.Name
	}
	return nil
}

// errPanic marks an error that was a panic in an extension.
var errPanic = errors.New("panic")

// guard turns a panic of f into its error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f()
}
