// Package builtin lists the extensions that are part of octavo, in the order that decides collisions (decision 9). It knows each
// of them and nothing else.
package builtin

import (
	"time"

	"octavo/ext"
	"octavo/ext/builtin/commands"
	"octavo/ext/builtin/files"
	"octavo/ext/builtin/instructions"
	"octavo/ext/builtin/openai"
	"octavo/ext/builtin/shell"
	"octavo/ext/model"
)

// Deps is what the built-in extensions are told of the configuration.
type Deps struct {
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
	return append(all,
		instructions.New(instructions.Options{Files: d.ContextFiles, Dir: d.Dir}),
		commands.New(),
		openai.New(d.Client))
}
