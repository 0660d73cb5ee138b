package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

const (
	// MaxCommandBytes bounds a command (product.md 6: 128 KiB). It is the most that Linux takes as one argument: 128 KiB with
	// the NUL that ends it.
	MaxCommandBytes = 128<<10 - 1
	maxCWDBytes     = 4 << 10
)

const parameters = `{
	"type": "object",
	"properties": {
		"command": {
			"type": "string",
			"minLength": 1,
			"description": "The command line, given to bash -c as it is. Several lines are one script."
		},
		"cwd": {
			"type": "string",
			"description": "Directory to run in, relative to the workspace. Default: the workspace."
		},
		"timeout_ms": {
			"type": "integer",
			"minimum": 1,
			"maximum": 3600000,
			"description": "Milliseconds after which the command and all it started are ended. Default: %d."
		}
	},
	"required": ["command"],
	"additionalProperties": false
}`

// arguments is one call as the model wrote it.
type arguments struct {
	Command string `json:"command"`
	CWD     string `json:"cwd"`
	// A float because JSON Schema calls 5.0 an integer too, and some models write it.
	Timeout float64 `json:"timeout_ms"`
}

func decode(raw json.RawMessage) (arguments, error) {
	var a arguments
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, refuse(badArguments, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return a, refuse(badArguments, "something follows the arguments")
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return a, refuse(badArguments, "the command is empty")
	case len(a.Command) > MaxCommandBytes:
		return a, refuse(badArguments, "the command has %d bytes, the most is %d; write a script to a file and run that", len(a.Command), MaxCommandBytes)
	case strings.ContainsRune(a.Command, 0):
		return a, refuse(badArguments, "the command has a NUL character, which no shell takes; write $'\\0' or use printf")
	case len(a.CWD) > maxCWDBytes || strings.ContainsRune(a.CWD, 0):
		return a, refuse(invalidCWD, "cwd is no path: it is too long or has a NUL character")
	case a.Timeout != math.Trunc(a.Timeout) || a.Timeout < 0 || a.Timeout > float64(MaxTimeout/time.Millisecond):
		return a, refuse(badArguments, "timeout_ms is a whole number from 1 to %d", MaxTimeout/time.Millisecond)
	}
	return a, nil
}

func schema(timeout time.Duration) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(parameters, timeout/time.Millisecond))
}
