package settings

import (
	"context"
	"time"
)

// SetKeyTimes changes how long a command and the keyring may take to give a key; 0 is the constant.
func (s *Settings) SetKeyTimes(command, keyring time.Duration) {
	s.fetches.commandTime, s.fetches.keyringTime = command, keyring
}

// SetKeyring puts ask in the place of the library's.
func (s *Settings) SetKeyring(ask func(service, user string) (string, error)) { s.fetches.ask = ask }

// ChangeKeyring has a call change the keyring.
func ChangeKeyring(ctx context.Context, call func() error) error {
	return changeKeyring(ctx, "do without", call)
}
