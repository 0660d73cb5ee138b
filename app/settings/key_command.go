package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"octavo/ext/spawn"
	"octavo/pages/text"
)

const (
	// KeyCommandTimeout is how long api_key_command may take; it may ask a person for a passphrase. The key it prints is kept for
	// the life of the process and never asked for again, so a changed one needs a new octavo.
	KeyCommandTimeout = 30 * time.Second
	// MaxKeyCommand bounds api_key_command, in bytes.
	MaxKeyCommand = 4096

	maxComplaint   = 4 << 10 // bytes that are kept of what a command writes to standard error
	complaintShown = 160     // bytes of its first line that an error repeats
	commandShown   = 60      // cells of a command that are shown
)

var (
	errCommandTime = errors.New("the time of api_key_command is over")
	errCommandSays = errors.New("api_key_command prints more than a key")
)

// keyLength is from how many bytes on a lone word with a digit in it counts as a key that was put in the place of a command.
const keyLength = 20

// keyCommand does not repeat what it refuses: a likely mistake is to write the key itself.
func keyCommand(v any) error {
	line := strings.TrimSpace(v.(string))
	inKey := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.+=:", r)
	}
	if len(line) >= keyLength && strings.ContainsAny(line, "0123456789") && strings.TrimFunc(line, inKey) == "" {
		return errors.New("must be a command that prints the key, such as pass show openai, and one long word must be its path; " +
			"the key itself is never written here")
	}
	return lineOf(v)
}

// fromCommand says how to get the key that a provider's api_key_command prints.
func (f *fetches) fromCommand(p Provider, home string) keyPlace {
	limit, dir := cmp.Or(f.commandTime, KeyCommandTimeout), cmp.Or(home, "/")
	id := "command " + p.APIKeyCommand
	shown := text.Cut(text.CleanLine(p.APIKeyCommand), commandShown, "…")
	return keyPlace{source: "command: " + shown, fetch: func(ctx context.Context) (string, error) {
		return f.get(ctx, id, func() (string, error) {
			key, err := runKeyCommand(p.APIKeyCommand, dir, limit)
			if err != nil {
				return "", fmt.Errorf("api_key_command of %s %w; run it in a shell to see why: %s", p.label(), err, shown)
			}
			return key, nil
		})
	}}
}

// runKeyCommand runs a command line of the person's own configuration, with the person's own environment: a password store needs
// what spawn.Environment takes out, such as GPG_TTY or a token. It runs in octavo's home and not in the workspace, whose files must
// not decide what it does. The error goes on from the command's name and never holds what the command wrote to standard output.
func runKeyCommand(line, dir string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errCommandTime)
	defer cancel()
	out, complaint := &head{limit: MaxKey + len("\r\n"), over: errCommandSays}, &head{limit: maxComplaint}
	result, err := spawn.Run(ctx, spawn.Command{
		Path: "/bin/sh",
		// The agent of a password store, which leaves the session, is meant to stay and to remember the passphrase. By this variable
		// spawn would find and end it.
		Args:   []string{"-c", "unset OCTAVO_SPAWN\n" + line},
		Dir:    dir,
		Env:    append(os.Environ(), "PWD="+dir),
		Stdout: out,
		Stderr: complaint,
	})
	switch {
	case errors.Is(err, errCommandTime):
		return "", fmt.Errorf("did not end within %v", limit)
	case errors.Is(err, errCommandSays):
		return "", fmt.Errorf("printed more than a key, which is one line of at most %d bytes", MaxKey)
	case err != nil:
		return "", fmt.Errorf("could not be run (%w)", err)
	case result.Signal != 0:
		return "", fmt.Errorf("was ended by a signal (%v)%s", result.Signal, complaint.firstLine(out))
	case result.ExitCode != 0:
		return "", fmt.Errorf("exited with %d%s", result.ExitCode, complaint.firstLine(out))
	case len(strings.TrimSpace(out.String())) == 0:
		return "", fmt.Errorf("printed nothing%s", complaint.firstLine(out))
	}
	key, err := ParseKey(out.String(), "its output")
	if err != nil {
		return "", fmt.Errorf("printed no key (%w)", err)
	}
	return key, nil
}

// head keeps the first bytes that are written to it. What goes beyond is dropped, or refused with over.
type head struct {
	limit int
	over  error
	kept  []byte
}

func (h *head) Write(b []byte) (int, error) {
	room := min(len(b), h.limit-len(h.kept))
	h.kept = append(h.kept, b[:room]...)
	if room < len(b) && h.over != nil {
		return room, h.over
	}
	return len(b), nil
}

func (h *head) String() string { return string(h.kept) }

// firstLine is the first line with something on it, after a colon, without what the command printed, and "" when there is none.
func (h *head) firstLine(printed *head) string {
	var keys Redactor
	first, _, _ := strings.Cut(strings.TrimSpace(printed.String()), "\n")
	keys.Add(strings.TrimSpace(first))
	line, _, _ := strings.Cut(strings.TrimSpace(text.Clean(h.String())), "\n")
	line = keys.Redact(strings.TrimSpace(line))
	if line == "" {
		return ""
	}
	return ": " + text.CutBytes(line, complaintShown)
}
