package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages/text"
)

// maxTyped is the longest key that is taken from a terminal, in bytes. A terminal cuts a longer line without a word, some at 1024.
const maxTyped = 1000

// credentials runs --login or --logout (product.md 3.2), which need no workspace and no session.
func (p *process) credentials(c *cobra.Command, f *flags, args []string) error {
	name := "login"
	if c.Flags().Changed("logout") {
		name = "logout"
	}
	beside := []string{name, "workspace", "workspace-trusted", "trust-workspace", "color", "offline", "strict-config"}
	if name == "login" {
		beside = append(beside, "keyring")
	}
	var wrong error
	c.Flags().Visit(func(given *pflag.Flag) {
		if !slices.Contains(beside, given.Name) && wrong == nil {
			wrong = usagef("--%s and --%s exclude each other", name, given.Name)
		}
	})
	if len(args) > 0 && wrong == nil { // not repeated: it may be a key
		wrong = usagef("--%s takes the name of a provider and nothing else; a key is asked for, or read from standard input", name)
	}
	switch {
	case wrong != nil:
		return wrong
	case name == "logout":
		return p.logout(c.Context(), c, f, f.logout)
	default:
		return p.login(c.Context(), c, f, f.login, f.keyring)
	}
}

// account is whose key --login and --logout are about.
type account struct {
	settings *settings.Settings
	provider settings.Provider
	profile  ext.Profile
	label    string // fit for a terminal
}

// account finds a provider that is configured or preset.
func (p *process) account(c *cobra.Command, f *flags, name string) (account, error) {
	layer, err := f.layer(c)
	if err != nil {
		return account{}, err
	}
	home, err := settings.Home(nil)
	if err != nil {
		return account{}, err
	}
	s, warnings, err := settings.Load(settings.Sources{Home: home, Flags: layer})
	p.configured = s
	for _, w := range warnings {
		fmt.Fprintln(p.stderr, "[config] "+text.Clean(w.String()))
	}
	if err != nil {
		return account{}, err
	}
	provider, ok := s.Providers[name]
	if !ok {
		if provider, err = (settings.Setup{Preset: name}).Request(); err != nil {
			// The name is not repeated: it may be a key that was given in the wrong place.
			return account{}, fmt.Errorf("there is no provider of that name; use one of %s", strings.Join(keyTakers(s), ", "))
		}
	}
	profile := provider.Profile(home, nil)
	return account{s, provider, profile, text.CleanLine(profile.Label)}, nil
}

// keyTakers lists the providers that take a key: what is configured, then what is preset.
func keyTakers(s *settings.Settings) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		if !s.Providers[name].NoAuth {
			names = append(names, name)
		}
	}
	for _, preset := range settings.Presets() {
		if _, configured := s.Providers[preset.Name]; !configured && preset.APIKeyEnv != "" {
			names = append(names, preset.Name)
		}
	}
	return names
}

// login asks for a provider's key, has the provider look at it and stores it in auth.json or in the system keyring.
func (p *process) login(ctx context.Context, c *cobra.Command, f *flags, provider string, keyring bool) error {
	a, err := p.account(c, f, provider)
	if err != nil {
		return err
	}
	if a.provider.NoAuth {
		return fmt.Errorf("%s takes no key", a.label)
	}
	before, err := settings.StoredKey(a.settings.Home, provider) // where nothing could be stored nothing is asked
	if err != nil {
		return err
	}
	key, err := p.askKey(ctx, a.label)
	if err != nil {
		return err
	}
	if err := p.tryKey(ctx, a, key); err != nil {
		return err
	}
	if keyring {
		err = settings.WriteKeyring(ctx, a.settings.Home, provider, key)
	} else {
		err = settings.WriteKey(ctx, a.settings.Home, provider, key)
	}
	if err != nil {
		return err
	}
	if before.Keyring && !keyring {
		if err := settings.ForgetKeyring(ctx, provider); err != nil {
			fmt.Fprintf(p.stderr, "Warning: the former key is still in the system keyring: %s\n", text.Clean(err.Error()))
		}
	}
	p.tellStored(a, keyring)
	return nil
}

// tellStored says where a key is now and what to type next.
func (p *process) tellStored(a account, keyring bool) {
	where := filepath.Join(a.settings.Home, settings.AuthFile)
	if keyring {
		where = fmt.Sprintf("the system keyring (service %s, user %s)", settings.KeyringService, a.provider.Name)
	}
	fmt.Fprintf(p.stdout, "The key is stored in %s.\n", text.CleanLine(where))
	for _, other := range elsewhere(a.provider) {
		fmt.Fprintf(p.stdout, "It comes before %s, which has one too.\n", other)
	}
	if chosen, id, err := a.settings.ResolveModel(a.settings.Model); err == nil && chosen.Name == a.provider.Name {
		fmt.Fprintf(p.stdout, "The default model, %s/%s, uses it: octavo\n", chosen.Name, text.CleanLine(id))
	} else {
		fmt.Fprintf(p.stdout, "Next: octavo --model %s/MODEL\n", a.provider.Name)
	}
}

// elsewhere is where else a provider's key comes from.
func elsewhere(provider settings.Provider) []string {
	var all []string
	if name := provider.APIKeyEnv; name != "" && strings.TrimSpace(os.Getenv(name)) != "" {
		all = append(all, "$"+name)
	}
	if provider.APIKeyCommand != "" {
		all = append(all, "api_key_command")
	}
	return all
}

// tryKey asks the provider for its models with a key. It fails when the key is refused; when that cannot be learned it says so.
func (p *process) tryKey(ctx context.Context, a account, key string) error {
	if a.settings.Offline {
		fmt.Fprintln(p.stderr, "The key was not tried (--offline).")
		return nil
	}
	ask := func(key func() (string, error)) ([]string, error) {
		ctx, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		profile := a.profile
		profile.Key, profile.KeySource = key, ""
		return probe(ctx, profile)
	}
	models, err := ask(func() (string, error) { return key, nil })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var hide settings.Redactor
	hide.Add(key)
	switch {
	case model.ClassOf(err) == model.ErrAuth:
		return fmt.Errorf("%s; nothing was written", hide.Redact(err.Error()))
	case err != nil:
		fmt.Fprintf(p.stderr, "Warning: the key could not be tried: %s\n", hide.Redact(text.Clean(err.Error())))
		return nil
	}
	// Some list their models to anyone, which says nothing of a key.
	if _, err := ask(nil); err == nil {
		fmt.Fprintf(p.stdout, "%s has %s, and tells that without a key, too: the first request will show whether it takes this one.\n",
			a.label, text.Plural(len(models), "model"))
		return nil
	}
	fmt.Fprintf(p.stdout, "%s: accepted, %s.\n", a.label, text.Plural(len(models), "model"))
	return nil
}

// logout removes a provider's key from auth.json and from the system keyring.
func (p *process) logout(ctx context.Context, c *cobra.Command, f *flags, provider string) error {
	a, err := p.account(c, f, provider)
	if err != nil {
		return err
	}
	was, err := settings.RemoveKey(ctx, a.settings.Home, provider)
	if err != nil {
		return fmt.Errorf("%w; nothing was removed", err)
	}
	var from []string
	if was.File {
		from = append(from, filepath.Join(a.settings.Home, settings.AuthFile))
	}
	if was.Keyring {
		from = append(from, "the system keyring")
	}
	if len(from) == 0 {
		fmt.Fprintf(p.stdout, "There was no stored key of %s.\n", a.label)
	} else {
		fmt.Fprintf(p.stdout, "The key of %s was removed from %s.\n", a.label, text.CleanLine(strings.Join(from, " and ")))
	}
	for _, other := range elsewhere(a.provider) {
		fmt.Fprintf(p.stderr, "Warning: octavo goes on using the key of %s.\n", other)
	}
	return nil
}

// askKey reads a key: from a person who does not see it, or from what is piped in.
func (p *process) askKey(ctx context.Context, label string) (string, error) {
	if !term.IsTerminal(p.stdin.Fd()) {
		given, err := receive(ctx, p.stdin, settings.MaxKey+len("\r\n"), false)
		if err != nil {
			return "", err
		}
		return settings.ParseKey(given, "standard input")
	}
	typed, err := p.typed(ctx, fmt.Sprintf("Key for %s (input is hidden): ", label))
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(typed) == "":
		return "", errors.New("no key was typed, and nothing was written")
	case len(typed) > maxTyped:
		return "", fmt.Errorf("a terminal may have cut a key of more than %d bytes; pipe it in: octavo --login NAME < FILE", maxTyped)
	}
	return settings.ParseKey(typed, "the terminal")
}

// typed asks for a line that is not echoed. However it ends, the terminal is as it was before.
func (p *process) typed(ctx context.Context, question string) (line string, err error) {
	before, err := term.GetState(p.stdin.Fd())
	if err != nil {
		return "", err
	}
	// A shell that takes over meanwhile, after ctrl+z, would turn the echo on.
	signal.Ignore(syscall.SIGTSTP)
	defer signal.Reset(syscall.SIGTSTP)
	defer func() { err = errors.Join(err, term.Restore(p.stdin.Fd(), before)) }()
	if err := echo(p.stdin)(false); err != nil {
		return "", fmt.Errorf("the terminal would show the key: %w", err)
	}
	fmt.Fprint(p.stderr, question)
	line, err = receive(ctx, p.stdin, maxTyped+len("\n"), true)
	fmt.Fprintln(p.stderr) // the line end that was typed was not echoed
	// What was pasted behind the line must not become a command of the shell.
	return strings.TrimRight(line, "\r\n"), errors.Join(err, flush(p.stdin)())
}

// receive reads f to its end, or to that of its first line, and to the byte after limit at most. Unlike a Read it ends with ctx.
func receive(ctx context.Context, f *os.File, limit int, line bool) (string, error) {
	ended, end, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer ended.Close()
	stop := context.AfterFunc(ctx, func() { end.Close() })
	defer func() {
		if stop() {
			end.Close()
		}
	}()
	in, wake := int(f.Fd()), int(ended.Fd())
	var got []byte
	piece := make([]byte, 4096)
	for {
		var ready unix.FdSet
		ready.Set(in)
		ready.Set(wake)
		if _, err := unix.Select(max(in, wake)+1, &ready, nil, nil, nil); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := f.Read(piece)
		got = append(got, piece[:n]...)
		switch {
		case line && bytes.IndexByte(piece[:n], '\n') >= 0, len(got) > limit, errors.Is(err, io.EOF):
			return string(got), nil
		case err != nil:
			return "", err
		}
	}
}
