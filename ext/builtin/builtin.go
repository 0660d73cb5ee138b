// Package builtin lists the extensions that are part of octavo, in the order that decides collisions (decision 9). It knows each
// of them and nothing else.
package builtin

import (
	"fmt"
	"strings"
	"time"

	"octavo/ext"
	"octavo/ext/builtin/claude"
	"octavo/ext/builtin/commands"
	"octavo/ext/builtin/demo"
	"octavo/ext/builtin/files"
	"octavo/ext/builtin/instructions"
	"octavo/ext/builtin/models"
	"octavo/ext/builtin/openai"
	"octavo/ext/builtin/shell"
	"octavo/ext/model"
)

// Deps is what the built-in extensions are told of the configuration.
type Deps struct {
	Home           string // octavo's, absolute
	Dir            string // where octavo was started, absolute
	MaxOutputBytes int
	ExternalPaths  bool
	AllowEdit      bool
	AllowWrite     bool
	AllowShell     bool
	ShellPath      string
	BashTimeout    time.Duration
	ContextFiles   bool
	Client         *model.Client // what every wire sends with; its owner closes it
}

// All lists them.
func All(d Deps) []ext.Extension {
	all := []ext.Extension{files.New(files.Options{
		MaxOutputBytes: d.MaxOutputBytes, ExternalPaths: d.ExternalPaths,
		AllowEdit: d.AllowEdit, AllowWrite: d.AllowWrite, Search: true,
	})}
	if d.AllowShell {
		all = append(all, shell.New(shell.Options{
			ShellPath: d.ShellPath, Timeout: d.BashTimeout, MaxOutputBytes: d.MaxOutputBytes,
		}))
	}
	all = append(all,
		instructions.New(instructions.Options{Files: d.ContextFiles, Dir: d.Dir}),
		commands.New())
	return append(append(all, wires(d.Client)...), models.New(models.Options{Home: d.Home}))
}

// Catalogues lists what built-in extensions know of models with a home of octavo, for a caller who has no session.
func Catalogues(home string) []ext.Catalogue { return models.New(models.Options{Home: home}).Models }

// wires lists the extensions that make models answer.
func wires(c *model.Client) []ext.Extension {
	return []ext.Extension{claude.New(c), openai.New(c), demo.New()}
}

// Provider finds the built-in provider that speaks a wire, for a caller who has no session: setup and doctor.
func Provider(c *model.Client, wire string) (ext.Provider, error) {
	var spoken []string
	for _, e := range wires(c) {
		for _, p := range e.Providers {
			if p.Wire == wire {
				return p, nil
			}
			spoken = append(spoken, p.Wire)
		}
	}
	return ext.Provider{}, fmt.Errorf("no extension speaks the wire %q; the wires are %s", wire, strings.Join(spoken, ", "))
}
