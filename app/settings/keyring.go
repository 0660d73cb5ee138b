package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

// KeyringService is the service under which octavo's keys stand in the system keyring; the user is the provider's name.
const KeyringService = "octavo"

const (
	// KeyringTimeout is how long the keyring may take to give a key. A locked one may ask a person first: who answers later than
	// that has the key with the next request.
	KeyringTimeout = 5 * time.Second
	// KeyringWriteTimeout is how long it may take to change one, which a person waits for.
	KeyringWriteTimeout = time.Minute
)

// keyringSource is the keyring as a KeyState names it.
const keyringSource = "the system keyring"

var (
	errNoBus       = errors.New("there is no session bus")
	errKeyringSlow = errors.New("it does not answer; it may be waiting to be unlocked")
)

// fromKeyring says how to get the key of a provider that auth.json says is in the keyring.
func (f *fetches) fromKeyring(p Provider) keyPlace {
	id := "keyring " + p.Name
	ask := f.ask
	if ask == nil {
		ask = keyring.Get
	}
	return keyPlace{source: keyringSource, fetch: func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(f.keyringTime, KeyringTimeout), errKeyringSlow)
		defer cancel()
		key, err := f.get(ctx, id, func() (string, error) { return askKeyring(p, ask) })
		if errors.Is(err, errKeyringSlow) {
			return "", keyringError(err, insteadOfKeyring(p.Name))
		}
		return key, err
	}}
}

func askKeyring(p Provider, ask func(service, user string) (string, error)) (key string, err error) {
	err = callKeyring(func() error {
		key, err = ask(KeyringService, p.Name)
		return err
	})
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", fmt.Errorf("%w for %s: %s says that it is in the system keyring, which has none; store it with octavo --login %s --keyring",
			ErrNoKey, p.label(), AuthFile, p.Name)
	case err != nil:
		return "", keyringError(err, insteadOfKeyring(p.Name))
	}
	return usable(key, keyringSource)
}

// keyringError says what to do about a keyring that does not do what it should: mend that, or something else instead.
func keyringError(err error, instead string) error {
	next := "unlock it, or create its default keyring, and try again"
	if errors.Is(err, errNoBus) {
		next = "start octavo in a desktop session or with dbus-run-session"
	}
	return fmt.Errorf("the system keyring cannot be used: %w; %s, or %s", err, next, instead)
}

func insteadOfKeyring(provider string) string {
	return fmt.Sprintf("keep the key in %s: octavo --login %s, without --keyring", AuthFile, provider)
}

// callKeyring makes one call of the keyring's library. Where there is no session bus the library would start one with dbus-launch,
// which nobody would end and whose keyring would be empty. It also fails with a panic when the bus goes away during a question.
func callKeyring(call func() error) (err error) {
	if !sessionBus() {
		return errNoBus
	}
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("it broke off (%v)", failed)
		}
	}()
	return call()
}

// sessionBus reports whether the library finds what it speaks to the keyring over without starting it.
func sessionBus() bool {
	if runtime.GOOS == "darwin" {
		return true // the keychain needs none
	}
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}

// changeKeyring makes a call that changes the keyring. The library knows no context: a call that is given up goes on by itself until
// the keyring answers it or the process ends, and holds nothing else.
func changeKeyring(ctx context.Context, instead string, call func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, KeyringWriteTimeout, errKeyringSlow)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- callKeyring(call) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return keyringError(err, instead)
	}
	return nil
}

// WriteKeyring stores a provider's key in the system keyring, and in auth.json the mark that it is there in place of a key. Everything
// else in the file stays. It may wait KeyringWriteTimeout for a person to unlock the keyring; the error says what to do.
func WriteKeyring(ctx context.Context, home, provider, key string) error {
	if err := CheckProviderName(provider); err != nil {
		return err
	}
	key, err := usable(key, "the input")
	if err != nil {
		return err
	}
	if _, err := readAuth(home); err != nil { // without the mark nobody would find the key
		return err
	}
	set := func() error { return keyring.Set(KeyringService, provider, key) }
	if err := changeKeyring(ctx, insteadOfKeyring(provider), set); err != nil {
		return err
	}
	return writeAuth(ctx, home, provider, "", true)
}

// ForgetKeyring takes a provider's key out of the system keyring, and leaves auth.json alone. One that is not there is no error.
func ForgetKeyring(ctx context.Context, provider string) error {
	instead := fmt.Sprintf("take its entry out of %s yourself, which leaves the key in the keyring (service %s, user %s)", AuthFile, KeyringService, provider)
	return changeKeyring(ctx, instead, func() error {
		if err := keyring.Delete(KeyringService, provider); !errors.Is(err, keyring.ErrNotFound) {
			return err
		}
		return nil
	})
}

// Stored says where octavo itself keeps a provider's key.
type Stored struct{ File, Keyring bool }

// StoredKey says where home's auth.json has a provider's key, or says that it is. It does not ask the keyring.
func StoredKey(home, provider string) (Stored, error) {
	a, err := readAuth(home)
	return Stored{File: a.keys[provider] != "", Keyring: a.ringed[provider]}, err
}

// RemoveKey takes a provider's key out of auth.json and, if it is marked so, out of the system keyring, and says where it was. When
// the keyring cannot be reached nothing is removed.
func RemoveKey(ctx context.Context, home, provider string) (Stored, error) {
	was, err := StoredKey(home, provider)
	if err != nil {
		return Stored{}, err
	}
	if was.Keyring {
		if err := ForgetKeyring(ctx, provider); err != nil {
			return Stored{}, err
		}
	}
	return was, WriteKey(ctx, home, provider, "")
}
