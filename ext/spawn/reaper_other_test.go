//go:build unix && !linux

package spawn_test

import "errors"

func becomeReaper() error { return errors.ErrUnsupported }
