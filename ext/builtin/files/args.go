package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// count is a whole number of a call's arguments. JSON Schema calls 5.0 an integer too, and some models write it.
type count int

// maxCount bounds what a count can be; nothing here needs more.
const maxCount = math.MaxInt32

func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxCount {
		return fmt.Errorf("%.20s is no whole number between -%d and %d", b, maxCount, maxCount)
	}
	*c = count(f)
	return nil
}

// decode reads a call's arguments strictly: one object, no unknown names, and every string exactly what was written.
func decode(args json.RawMessage, into any) error {
	if err := wholeText(args); err != nil {
		return refuse(invalidUTF8, "the arguments have %v; send the call again", err)
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return refuse(badArguments, "%s cannot be a %s", wrong.Field, wrong.Value)
		}
		return refuse(badArguments, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(badArguments, "something follows the arguments")
	}
	return nil
}

// wholeText finds what encoding/json would silently turn into U+FFFD and so into a file: bytes that are not UTF-8 and halves
// of surrogate pairs.
func wholeText(args []byte) error {
	if !utf8.Valid(args) {
		return errors.New("bytes that are not UTF-8")
	}
	for {
		i := bytes.IndexByte(args, '\\')
		if i < 0 || i+1 >= len(args) {
			return nil
		}
		if args[i+1] != 'u' {
			args = args[i+2:]
			continue
		}
		r, ok := escaped(args[i:])
		args = args[min(i+6, len(args)):]
		if !ok || !utf16.IsSurrogate(r) {
			continue // a bad escape is for the decoder to refuse
		}
		low, ok := escaped(args)
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return fmt.Errorf("half a character (\\u%04x)", r)
		}
		args = args[6:]
	}
}

// escaped reads the \uXXXX that b begins with.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
