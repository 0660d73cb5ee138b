package sessionstore

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds, in bytes unless they say otherwise. A value over its bound is refused
// with ErrInvalid and nothing changes.
const (
	MaxID         = 128       // session, input, request and turn ids
	MaxName       = 256       // a session's name, model, effort, policy; kinds, providers
	MaxPath       = 4096      // workspaces and endpoints
	MaxPreview    = 200       // cut, not refused
	MaxPayload    = 16 << 20  // one entry or input
	MaxAppend     = 1024      // entries in one change
	MaxReferences = 256       // blobs of one entry
	MaxQueue      = 64        // inputs that wait in a session (product.md 1.5; plugins.md 3.2 has 32)
	MaxRequests   = 256       // request rows in one change
	MaxErrorText  = 4096      // a request's error; cut, not refused
	MaxEntries    = 1<<32 - 1 // entries of one session, a number
)

func checkText(what, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("%s is %d bytes long, at most %d: %w", what, len(s), limit, ErrInvalid)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is not UTF-8: %w", what, ErrInvalid)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%s contains a control character: %w", what, ErrInvalid)
	}
	return nil
}

// checkPath allows what a file system does: any bytes but NUL.
func checkPath(what, s string) error {
	if len(s) > MaxPath {
		return fmt.Errorf("%s is %d bytes long, at most %d: %w", what, len(s), MaxPath, ErrInvalid)
	}
	if strings.ContainsRune(s, 0) {
		return fmt.Errorf("%s contains a NUL: %w", what, ErrInvalid)
	}
	return nil
}

// checkSessionID keeps ids usable as file names and as the range of a prefix.
func checkSessionID(id string) error {
	if id == "" || len(id) > MaxID || !plainID(id) || id[0] == '.' {
		return fmt.Errorf("session id %.40q: 1 to %d letters, digits, '.', '_' or '-', not starting with '.': %w", id, MaxID, ErrInvalid)
	}
	return nil
}

func plainID(id string) bool {
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// checkKey is for identifiers that must say something.
func checkKey(what, s string, limit int) error {
	if s == "" {
		return fmt.Errorf("%s is empty: %w", what, ErrInvalid)
	}
	return checkText(what, s, limit)
}

func checkPayload(what string, b []byte) error {
	if len(b) > MaxPayload {
		return fmt.Errorf("%s is %d bytes long, at most %d: %w", what, len(b), MaxPayload, ErrInvalid)
	}
	return nil
}

// preview makes one line of at most MaxPreview bytes out of a text.
func preview(text string) string {
	// A longer head cannot matter unless it is nearly all space.
	const head = 64 * MaxPreview
	line := strings.Join(strings.FieldsFunc(cut(text, head), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	return strings.TrimRight(cut(strings.ToValidUTF8(line, "\uFFFD"), MaxPreview), " ")
}

// cut shortens s to at most limit bytes without splitting a rune.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
