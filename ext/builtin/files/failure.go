package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"octavo/ext"
)

// code is the first word of every refusal of these tools, so that a program can decide on it and a model learns few words
// (product.md 6). A sentence for the model follows: what failed, why, what to do next.
type code string

const (
	staleFile    code = "stale_file"    // the file is not what the session read, or was never read
	noMatch      code = "no_match"      // old is not in the file
	ambiguous    code = "ambiguous"     // old is in the file more than once
	invalidUTF8  code = "invalid_utf8"  // a text that cannot be kept to the byte in the file's encoding
	tooLarge     code = "too_large"     // beyond a bound of size
	isDirectory  code = "is_directory"  // a file is needed
	cancelled    code = "cancelled"     // the turn ended first; nothing was changed
	ioFailed     code = "io"            // the system said no: missing, full, broken
	notPermitted code = "not_permitted" // by policy, by permission bits, or by the kind of file

	// One that product.md does not name, for calls that make no sense.
	badArguments code = "invalid_arguments"
)

// refuse makes the error that the model is told.
func refuse(c code, format string, args ...any) error {
	return ext.Refusef(string(c)+": "+format, args...)
}

// refuseOS classifies an error of the operating system. doing is a verb phrase with its object, for example "read main.go".
func refuseOS(doing string, err error) error {
	var told ext.Refused
	if errors.As(err, &told) {
		return told
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refuse(cancelled, "the turn ended before octavo could %s; nothing was changed", doing)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return refuse(notPermitted, "cannot %s: %s", doing, reason(err))
	case errors.Is(err, syscall.EISDIR):
		return refuse(isDirectory, "cannot %s: it is a directory", doing)
	default:
		return refuse(ioFailed, "cannot %s: %s", doing, reason(err))
	}
}

// reason is what the system said, without the path that its wrapper repeats in a form the model did not write.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
