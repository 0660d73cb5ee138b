package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// echo answers the switch of a terminal's echo of typed characters; nil where f is no terminal.
func echo(f *os.File) func(on bool) error {
	fd := int(f.Fd())
	if _, err := unix.IoctlGetTermios(fd, getTermios); err != nil {
		return nil
	}
	return func(on bool) error {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil {
			return err
		}
		t.Lflag &^= unix.ECHO
		if on {
			t.Lflag |= unix.ECHO
		}
		return unix.IoctlSetTermios(fd, setTermios, t)
	}
}

// flush answers how to throw away what was typed at a terminal and not read yet; nil where f is no terminal.
func flush(f *os.File) func() error {
	fd := int(f.Fd())
	if _, err := unix.IoctlGetTermios(fd, getTermios); err != nil {
		return nil
	}
	return func() error { return flushInput(fd) }
}
