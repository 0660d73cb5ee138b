package shell

import "octavo/ext"

// code is the first word of what the model reads when a call did not go well, so that a program can decide on it (product.md
// 6). A command that ran has a result, with its output; the others are refusals.
type code string

const (
	nonzeroExit  code = "nonzero_exit"  // the command ran and failed
	timedOut     code = "timeout"       // the command and all it started were ended
	cancelled    code = "cancelled"     // likewise, because the turn ended
	spawnFailed  code = "spawn"         // there was no shell, or it would not start
	invalidCWD   code = "invalid_cwd"   // no such directory
	notPermitted code = "not_permitted" // by policy

	// One that product.md does not name, for calls that make no sense.
	badArguments code = "invalid_arguments"
)

// refuse makes the error that the model is told.
func refuse(c code, format string, args ...any) error {
	return ext.Refusef(string(c)+": "+format, args...)
}
